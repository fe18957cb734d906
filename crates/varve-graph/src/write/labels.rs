//! A cache of one entry for the labels of a commit's elements: consecutive elements of one label
//! need one look-up.

use std::cell::Cell;
use std::sync::Arc;

use varve_encoding::row;
use varve_model::schema::{IndexBase, Retention};
use varve_model::{ElementId, IndexLabel, PropertyKeyId};

use crate::error::GraphError;
use crate::schema::{Schema, SchemaElement};

/// The parts of an element's label that a write needs, and the indexes of the label.
#[derive(Debug, Clone, Copy)]
pub(super) struct Label<'a> {
    /// The label's kind and id.
    pub(super) base: IndexBase,
    pub(super) name: &'a str,
    /// `false` if the label is removed or being removed.
    pub(super) is_usable: bool,
    pub(super) retention: Retention,
    /// The time to live in milliseconds; none if it is not positive.
    pub(super) ttl: i64,
    /// The property that the time to live counts from.
    pub(super) ttl_start: Option<PropertyKeyId>,
    /// Whether the label index lists the elements.
    pub(super) is_listed: bool,
    /// The indexes that a write of the element must keep up to date.
    pub(super) indexes: &'a [Arc<IndexLabel>],
}

/// Looks up labels, and caches the last one.
pub(super) struct Labels<'a> {
    schema: &'a Schema,
    last: Cell<Option<Label<'a>>>,
}

impl<'a> Labels<'a> {
    pub(super) const fn new(schema: &'a Schema) -> Self {
        Self {
            schema,
            last: Cell::new(None),
        }
    }

    /// The label of an element with this row content.
    #[inline]
    pub(super) fn of(&self, id: &ElementId, content: &[u8]) -> Result<Label<'a>, GraphError> {
        let base = match id {
            ElementId::Vertex(_) => IndexBase::Vertex(row::vertex_label(content)?),
            ElementId::Edge(edge) => IndexBase::Edge(edge.label),
        };
        if let Some(last) = self.last.get()
            && last.base == base
        {
            return Ok(last);
        }
        let label = look_up(self.schema, base);
        self.last.set(Some(label));
        Ok(label)
    }
}

/// The label with this kind and id. An unknown one has no rules.
fn look_up(schema: &Schema, base: IndexBase) -> Label<'_> {
    let mut label = Label {
        base,
        name: "",
        is_usable: true,
        retention: Retention::All,
        ttl: 0,
        ttl_start: None,
        is_listed: false,
        indexes: &[],
    };
    macro_rules! fill {
        ($by_id:ident, $indexes:ident, $id:ident) => {{
            label.indexes = schema.$indexes($id);
            if let Some(known) = schema.$by_id($id) {
                label.name = &known.name;
                label.is_usable = known.is_usable();
                label.retention = known.retention;
                label.ttl = known.ttl;
                label.ttl_start = known.ttl_start_time;
                label.is_listed = known.enable_label_index;
            }
        }};
    }
    match base {
        IndexBase::Vertex(id) => fill!(vertex_label, indexes_of_vertex_label, id),
        IndexBase::Edge(id) => fill!(edge_label, indexes_of_edge_label, id),
        IndexBase::Olap => {}
    }
    label
}
