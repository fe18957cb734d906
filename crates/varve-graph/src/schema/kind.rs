//! The four kinds of schema elements, and the interface that the catalogue needs of each.

use varve_model::schema::SchemaStatus;
use varve_model::{
    Datum, EdgeLabel, EdgeLabelId, IndexLabel, IndexLabelId, PropertyKey, PropertyKeyId,
    VertexLabel, VertexLabelId,
};

use crate::{ErrorKind, GraphError};

/// One of the four kinds of schema elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[allow(missing_docs, reason = "the names are the definition")]
pub enum SchemaKind {
    PropertyKey = 1,
    VertexLabel = 2,
    EdgeLabel = 3,
    IndexLabel = 4,
}

impl SchemaKind {
    /// Every kind, in an order such that the records of a kind refer to earlier kinds only.
    pub const ALL: [Self; 4] = [
        Self::PropertyKey,
        Self::VertexLabel,
        Self::EdgeLabel,
        Self::IndexLabel,
    ];

    /// The name in messages: `property key`.
    #[must_use]
    pub const fn readable(self) -> &'static str {
        match self {
            Self::PropertyKey => "property key",
            Self::VertexLabel => "vertex label",
            Self::EdgeLabel => "edge label",
            Self::IndexLabel => "index label",
        }
    }

    /// The name in task names: `PROPERTY_KEY`.
    #[must_use]
    pub const fn upper(self) -> &'static str {
        match self {
            Self::PropertyKey => "PROPERTY_KEY",
            Self::VertexLabel => "VERTEX_LABEL",
            Self::EdgeLabel => "EDGE_LABEL",
            Self::IndexLabel => "INDEX_LABEL",
        }
    }

    /// The stored byte of this kind: its partition in the schema table, its key in the counter
    /// table.
    #[must_use]
    pub const fn byte(self) -> u8 {
        self as u8
    }

    /// Returns the kind of a stored byte.
    #[must_use]
    pub fn from_byte(byte: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.byte() == byte)
    }

    /// Returns the error for a name in a path if no element of this kind has it.
    #[must_use]
    pub fn not_found(self, name: &str) -> GraphError {
        GraphError::not_found(format!(
            "{} with name '{name}' does not exist",
            self.readable()
        ))
    }

    /// Returns the error for a name in a body or query if no usable element of this kind has it.
    #[must_use]
    pub fn undefined(self, name: &str) -> GraphError {
        GraphError::invalid(format!("Undefined {}: '{name}'", self.readable()))
    }

    /// Returns the error for a change of an element that does not exist.
    #[must_use]
    pub fn not_updatable(self, name: &str) -> GraphError {
        GraphError::not_found(format!(
            "Can't update {} '{name}' since it doesn't exist",
            self.readable()
        ))
    }

    /// The error for a name that is taken.
    #[must_use]
    pub fn existed(self, name: &str) -> GraphError {
        let message = format!("The {} '{name}' has existed", self.readable());
        GraphError::new(ErrorKind::Existed, message)
    }
}

/// The common interface of all schema elements.
pub trait SchemaElement: Clone + Send + Sync + 'static {
    /// The type of the id.
    type Id: Copy;
    /// The kind of the element.
    const KIND: SchemaKind;

    /// The id.
    fn id(&self) -> Self::Id;
    /// The id as a number, unique within the kind.
    fn number(&self) -> u32;
    /// The number of an id.
    fn number_of(id: Self::Id) -> u32;
    /// The name.
    fn name(&self) -> &str;
    /// The status.
    fn status(&self) -> SchemaStatus;
    /// The status, mutable.
    fn status_mut(&mut self) -> &mut SchemaStatus;
    /// Free-form members.
    fn user_data(&self) -> &Datum;

    /// Whether the element is visible in lists and look-ups by name.
    fn is_visible(&self) -> bool {
        self.status() != SchemaStatus::Removed
    }

    /// Whether elements may be written with it.
    fn is_usable(&self) -> bool {
        matches!(
            self.status(),
            SchemaStatus::Created | SchemaStatus::Creating | SchemaStatus::Rebuilding
        )
    }

    /// `name(id=1)`, the form in some messages.
    fn tagged(&self) -> String {
        format!("{}(id={})", self.name(), self.number())
    }
}

macro_rules! schema_element {
    ($type:ident, $id:ident) => {
        impl SchemaElement for $type {
            type Id = $id;
            const KIND: SchemaKind = SchemaKind::$type;

            fn id(&self) -> $id {
                self.id
            }
            fn number(&self) -> u32 {
                self.id.0
            }
            fn number_of(id: $id) -> u32 {
                id.0
            }
            fn name(&self) -> &str {
                &self.name
            }
            fn status(&self) -> SchemaStatus {
                self.status
            }
            fn status_mut(&mut self) -> &mut SchemaStatus {
                &mut self.status
            }
            fn user_data(&self) -> &Datum {
                &self.user_data
            }
        }
    };
}
schema_element!(PropertyKey, PropertyKeyId);
schema_element!(VertexLabel, VertexLabelId);
schema_element!(EdgeLabel, EdgeLabelId);
schema_element!(IndexLabel, IndexLabelId);
