//! Walks: ways through instances, each of which an index serves.

use std::ops::ControlFlow;

use super::{Instance, Link, StoredRelationship};
use crate::error::OmrsError;
use crate::instances::Primitive;
use crate::types::{InstanceStatus, TypeIndex};

/// Which kind of instances a walk is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Subject {
    /// Entities, proxies included.
    Entities,
    /// Relationships.
    Relationships,
}

/// A way through instances of a type: which of them, and in which order. Instances that are equal
/// in the order stand by their GUIDs, ascending whatever the direction.
#[derive(Debug, Clone)]
pub struct Walk<'a> {
    /// Entities or relationships.
    pub subject: Subject,
    /// Their type, subtypes included; `None` = all.
    pub of: Option<TypeIndex>,
    /// Which, and how they are ordered.
    pub by: WalkBy<'a>,
    /// The other way round.
    pub reverse: bool,
    /// Goes on after this place, which an earlier walk of the same kind returned.
    pub after: Option<&'a [u8]>,
}

/// The order of a walk, or what its instances have in common. Those with a value in common come by
/// GUID.
#[derive(Debug, Clone)]
pub enum WalkBy<'a> {
    /// All, by GUID.
    Guid,
    /// All, by the time they were made; without one first.
    CreateTime,
    /// All, by the time they were changed last; never changed first.
    UpdateTime,
    /// Those whose type has the property, by its value; without a value first. For single values:
    /// primitives and enums (by symbolic name).
    Property(&'a str),
    /// Those whose property has this value.
    PropertyIs(&'a str, &'a Primitive),
    /// Those whose string property, or whose enum's symbolic name, starts with this; ordered by its
    /// value.
    PropertyStarts(&'a str, &'a str),
    /// Those with this text as the whole value of some string property, or of a string or symbolic
    /// name nested in one.
    Text(&'a str),
    /// Those with such a text that starts with this. An instance may come more than once.
    TextStarts(&'a str),
    /// Entities that carry at least one of the classifications of these names.
    Classified(&'a [String], Listing),
    /// Entities that carry the classification of this name (the first), which has this value of
    /// this property.
    ClassifiedWith(&'a str, &'a str, &'a Primitive),
    /// Those whose home is the metadata collection with this id.
    Home(&'a str),
    /// Those in this status. Stores may know rare ones only, and not each listing
    /// ([`can_walk`](super::Read::can_walk)).
    Status(InstanceStatus, Listing),
    /// All but those in status DELETED, of stores that list these apart.
    Live(Listing),
}

/// The order in which instances are listed that have something in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listing {
    /// By GUID.
    Guid,
    /// By the time they were made; without one first.
    CreateTime,
    /// By the time they were changed last; never changed first.
    UpdateTime,
}

/// What is known of a text that an instance has, or had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextHint {
    /// The text.
    Is(String),
    /// What it starts with.
    Starts(String),
}

/// What a walk shows of one instance.
pub struct Step<'a> {
    /// Its place, for [`Walk::after`].
    pub place: &'a [u8],
    /// Where the walk's order is known in part only: what is known. Those of which the same is
    /// known come one after the other, in no order. `None` = the order is known.
    pub alike: Option<&'a [u8]>,
    /// The instance, as it is at the reader's point of time.
    pub instance: &'a dyn Instance,
}

/// What is done with each instance: `Break` ends the walk.
pub type Visit<'v> = &'v mut dyn FnMut(Step<'_>) -> Result<ControlFlow<()>, OmrsError>;

/// What is done with each link: `Break` ends the walk.
pub type VisitLink<'v> =
    &'v mut dyn FnMut(Link, Option<&[u8]>) -> Result<ControlFlow<()>, OmrsError>;

/// The same of links of several entities, with the position of each link's entity: `Break` ends the
/// walk of that entity's.
pub type VisitLinkAt<'v> =
    &'v mut dyn FnMut(usize, Link, Option<&[u8]>) -> Result<ControlFlow<()>, OmrsError>;

/// What is done with the head of each relationship, with what reads the whole of it: `Break` ends
/// the walk.
pub type VisitHead<'v> = &'v mut dyn FnMut(
    &StoredRelationship,
    &dyn Fn() -> Result<StoredRelationship, OmrsError>,
) -> Result<ControlFlow<()>, OmrsError>;

/// Whether a text passes a test.
pub type TestText<'t> = &'t mut dyn FnMut(&str) -> Result<bool, OmrsError>;
