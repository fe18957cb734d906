//! Conditions of searches, and their evaluation for an instance.
//!
//! The contract's searches have conditions in four forms: properties to compare with, trees of
//! conditions on properties, trees of conditions on classifications, and one text for all string
//! properties. Each form is converted to a [`Condition`], which [`Condition::holds`] evaluates for
//! an instance. The planner of searches derives the index scans of a search from its condition.
//! Strings in conditions are Java regular expressions ([`Pattern`]).

mod build;
mod condition;
mod effort;
mod field;
mod number;
mod pattern;
mod target;
mod value;

pub use build::{
    classification_condition, classifications_condition, property_condition, search_condition,
    text_condition,
};
pub use condition::{Condition, Test};
pub use effort::Effort;
#[cfg(test)]
pub(crate) use field::HEADER_FIELDS;
pub(crate) use field::header_field;
pub use field::{FieldValue, is_header_field};
pub use pattern::{Pattern, Shape};
pub use target::{Carried, Facts, Target};
pub use value::{SortValue, compare_primitives};
