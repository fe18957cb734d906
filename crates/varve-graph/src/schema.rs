//! The schema of a graph: its schema elements, the rules for changing them, and their stored form.
//!
//! Readers take a [`Schema`], an immutable snapshot, from [`Catalogue::current`]. The [`Catalogue`]
//! applies changes one at a time; each is stored durably before it is published. The long parts of
//! a change (to index existing elements, to delete those of a removed label) are tasks, stored in
//! the same write as the change itself.

mod bodies;
mod catalogue;
mod default_value;
mod definition;
mod draft;
mod edge_label;
mod index_label;
mod kind;
mod label;
mod mode;
mod name;
mod note;
mod open;
mod owned;
mod presentation;
mod property_key;
mod record;
mod removal;
mod request;
mod retention;
mod rule;
mod snapshot;
mod user_data;
mod vertex_label;
mod view;

#[cfg(test)]
mod tests;

pub use bodies::SchemaBodies;
pub use catalogue::{Catalogue, SchemaTables};
pub use default_value::default_value;
pub(crate) use definition::PARTITION as DEFINITIONS;
pub use definition::{Definition, DefinitionKind, DefinitionState, NewDefinition};
pub use kind::{SchemaElement, SchemaKind};
pub use mode::{GraphMode, ReadMode, SchemaMode};
pub use name::{NAME_LENGTH_LIMIT, check_name};
pub(crate) use note::{CHANGED_NOTE, Changed, changed_in};
pub use open::{FirstUse, LabelUse, OPEN_SCHEMA_MAX};
pub(crate) use open::{has_all, put_mode};
pub use owned::OwnedChanges;
pub use presentation::{
    Entries, Presentation, PresentedElement, PresentedLabel, PresentedNames, PresentedType,
    Presenter,
};
pub use request::{
    Action, BaseType, EdgeLabelChange, IndexLabelChange, LabelChange, NewEdgeLabel, NewIndexLabel,
    NewPropertyKey, NewVertexLabel, PropertyKeyChange, UserData, VertexLabelChange, WithTask,
};
pub use retention::{HISTORY, parse_retention, retention_text};
pub use rule::{PropertyType, ScalarType, types_text};
pub use snapshot::{Schema, is_queryable};
