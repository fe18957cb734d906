//! Walks: ordered lists of instances, each served by an index.

use std::ops::ControlFlow;

use super::{Link, StoredRelationship};
use crate::error::OmrsError;
use crate::instances::Primitive;
use crate::types::TypeIndex;

/// The kind of instances of a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Subject {
    /// Entities, proxies included.
    Entities,
    /// Relationships.
    Relationships,
}

/// Selects the instances that a walk visits, and their order. Instances with equal values are
/// ordered by GUID, which ascends even if the walk is reversed.
#[derive(Debug, Clone)]
pub struct Walk<'a> {
    /// Entities or relationships.
    pub subject: Subject,
    /// Their type, with its subtypes; `None` = all types.
    pub of: Option<TypeIndex>,
    /// The instances of that type to visit, and their order.
    pub by: WalkBy<'a>,
    /// Whether the order is reversed.
    pub reverse: bool,
    /// Continues after this position, which an earlier walk of the same kind returned.
    pub after: Option<&'a [u8]>,
}

/// The order of a walk, or a value that all its instances have.
#[derive(Debug, Clone)]
pub enum WalkBy<'a> {
    /// All, by GUID.
    Guid,
    /// All, by create time; those without one first.
    CreateTime,
    /// All, by update time; those that were never updated first.
    UpdateTime,
    /// Instances whose type has the property, by its value; those without a value first. Only for
    /// properties of single values: primitives, and enums (by symbolic name).
    Property(&'a str),
    /// Instances whose property has this value.
    PropertyIs(&'a str, &'a Primitive),
    /// Instances whose string property, or whose enum's symbolic name, starts with this text;
    /// ordered by value.
    PropertyStarts(&'a str, &'a str),
    /// Instances with this text as the whole value of a string property, or as a string or symbolic
    /// name nested in a property.
    Text(&'a str),
    /// As [`WalkBy::Text`], for texts that start with this one. An instance may be visited more
    /// than once.
    TextStarts(&'a str),
    /// Entities that carry at least one of the classifications of these names.
    Classified(&'a [String], Listing),
    /// Entities whose first classification of this name has this value of this property.
    ClassifiedWith(&'a str, &'a str, &'a Primitive),
    /// Instances whose home is the metadata collection with this id.
    Home(&'a str),
    /// Instances in status DELETED.
    Deleted(Listing),
    /// All other instances.
    Live(Listing),
}

/// The order of instances that have a value in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listing {
    /// By GUID.
    Guid,
    /// By create time; those without one first.
    CreateTime,
    /// By update time; those that were never updated first.
    UpdateTime,
}

/// A text that an instance has or had, or its start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextHint {
    /// The whole text.
    Is(String),
    /// The start of the text.
    Starts(String),
}

/// Called with each link, and the content of its row; `Break` ends the walk.
pub type VisitLink<'v> = &'v mut dyn FnMut(Link, &[u8]) -> Result<ControlFlow<()>, OmrsError>;

/// As [`VisitLink`], for the links of several entities. The first argument is the position of the
/// link's entity; `Break` ends the visits of that entity only.
pub type VisitLinkAt<'v> =
    &'v mut dyn FnMut(usize, Link, &[u8]) -> Result<ControlFlow<()>, OmrsError>;

/// Called with the head of each relationship, and a function that reads the whole relationship;
/// `Break` ends the walk.
pub type VisitHead<'v> = &'v mut dyn FnMut(
    &StoredRelationship,
    &dyn Fn() -> Result<StoredRelationship, OmrsError>,
) -> Result<ControlFlow<()>, OmrsError>;

/// Tests a text.
pub type TestText<'t> = &'t mut dyn FnMut(&str) -> Result<bool, OmrsError>;
