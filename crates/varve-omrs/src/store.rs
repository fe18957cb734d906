//! The values that the repository and the store of its instances exchange: instances as they are
//! stored and rendered, walks, and choices of states.
//!
//! The store is [`GraphStore`](crate::graph_store::GraphStore). The rules of the contract are above
//! it, in the repository; bytes and indexes are in it.

mod choice;
mod instance;
mod rendered;
mod stored;
mod walk;

pub use choice::{Choice, Cost, Everything};
pub use instance::{Candidate, Instance};
pub(crate) use rendered::EntityJson;
pub use rendered::{RenderedEntity, RenderedRelationship};
pub use stored::{LifeStatus, Link, StoredEntity, StoredInstance, StoredRelationship, Version};
pub use walk::{
    Listing, Step, Subject, TestText, TextHint, Visit, VisitHead, VisitLink, VisitLinkAt, Walk,
    WalkBy,
};
