//! The values that the repository and the store of its instances exchange: instances as they are
//! stored and rendered, walks, and choices of states.
//!
//! The store is [`GraphStore`](crate::graph_store::GraphStore). The rules of the contract are above
//! it, in the repository; bytes and indexes are in it.

mod candidate;
mod choice;
mod rendered;
mod stored;
mod walk;

pub use candidate::Candidate;
pub use choice::{Choice, Cost};
pub(crate) use rendered::EntityJson;
pub use rendered::{RenderedEntity, RenderedRelationship};
pub use stored::{LifeStatus, Link, StoredEntity, StoredRelationship, Version};
pub use walk::{
    Listing, Subject, TestText, TextHint, VisitHead, VisitLink, VisitLinkAt, Walk, WalkBy,
};
