//! Values of Cypher.

mod convert;
mod element;
mod equality;
mod key;
mod order;
mod print;
mod shown;
mod types;

pub(crate) use element::Snapshot;
pub use element::{Content, Graph, Node, NodeKey, Path, Relationship};
pub(crate) use equality::{entry_of_map, equal};
pub(crate) use key::Key;
pub(crate) use order::{compare, is_unordered, order};
pub(crate) use print::Plain;
pub use shown::{Properties, ShownNode, ShownRelationship};
pub use types::{Map, Point, Value};
