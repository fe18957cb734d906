//! Validates instances against their types, with the contract's exceptions.

mod instance;
mod properties;
mod reference;
mod type_filter;

pub use instance::{
    classification, classification_allowed, classification_given, classification_lock,
    expected_type, initial_status, instance_lock, instance_type, new_status, relationship_ends,
    update_lock,
};
pub use properties::{completed_properties, unique_properties};
pub use reference::{classification_copy, entity_copy, entity_proxy, relationship_copy};
pub use type_filter::{optional_type, type_filter};
