//! The trait through which queries change a graph.

use std::sync::Arc;

use varve_model::{Cardinality, EdgeId, ElementId, Value, VertexId};

use crate::{Flow, GraphView, Meter, SchemaView, ViewError};

/// A property that a query writes.
#[derive(Debug, Clone, Copy)]
pub struct PropertyWrite<'a> {
    /// Its key.
    pub key: &'a str,
    /// Its value, in the type of the query.
    pub value: &'a Value,
    /// How it is combined with existing values; `None` = by the graph's rule for the key.
    pub cardinality: Option<Cardinality>,
    /// Properties of the property itself.
    pub meta: &'a [(&'a str, Value)],
}

/// A vertex that a query adds.
#[derive(Debug, Clone, Copy)]
pub struct VertexAddition<'a> {
    /// Its label; `None` = the default label.
    pub label: Option<&'a str>,
    /// Its id; `None` = by the label's id strategy.
    pub id: Option<&'a Value>,
    /// Its properties; several with the same key if the graph allows that.
    pub properties: &'a [PropertyWrite<'a>],
}

/// An edge that a query adds.
#[derive(Debug, Clone, Copy)]
pub struct EdgeAddition<'a> {
    /// Its label.
    pub label: &'a str,
    /// Its id; `None` = by the label's rule.
    pub id: Option<&'a Value>,
    /// Its source.
    pub source: &'a VertexId,
    /// Its target.
    pub target: &'a VertexId,
    /// Its properties.
    pub properties: &'a [PropertyWrite<'a>],
}

/// Which of a vertex's values of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occurrence {
    /// All values.
    All,
    /// The value with this number.
    Number(u32),
}

/// Repeats a search on the newest state of the graph and calls the visitor with each element found,
/// until the visitor breaks.
pub type Search = dyn Fn(
        (&dyn GraphView, &dyn SchemaView),
        &Meter,
        &mut dyn FnMut(&ElementId) -> Flow,
    ) -> Result<(), ViewError>
    + Send
    + Sync;

/// A view that can be changed. Its own reads see the changes at once. Others see them, all
/// together, when they are committed. The commit checks what the changes depend on: see
/// [`GraphWriter::expect_absent`].
///
/// A change that is refused has no effect.
pub trait GraphWriter: GraphView + SchemaView {
    /// Adds a vertex.
    ///
    /// # Errors
    /// When the schema does not allow it, a limit is exceeded, or the store fails.
    fn add_vertex(&self, vertex: &VertexAddition<'_>, meter: &Meter)
    -> Result<VertexId, ViewError>;

    /// Adds an edge between vertices that exist.
    ///
    /// # Errors
    /// As [`GraphWriter::add_vertex`], and when an end does not exist.
    fn add_edge(&self, edge: &EdgeAddition<'_>, meter: &Meter) -> Result<EdgeId, ViewError>;

    /// Called before an element is read in order to change it. A writer that commits intermediate
    /// changes does so here, and then shows the newest state.
    ///
    /// # Errors
    /// When the changes so far cannot be committed.
    fn begin_change(&self, _element: &ElementId, _meter: &Meter) -> Result<(), ViewError> {
        Ok(())
    }

    /// Writes a property of an element.
    ///
    /// # Errors
    /// As [`GraphWriter::add_vertex`], and when the element does not exist.
    fn set_property(
        &self,
        element: &ElementId,
        property: &PropertyWrite<'_>,
        meter: &Meter,
    ) -> Result<(), ViewError>;

    /// Writes a property of a property: `None` removes it.
    ///
    /// # Errors
    /// As [`GraphWriter::set_property`].
    fn set_meta(
        &self,
        vertex: &VertexId,
        property: (&str, u32),
        meta: (&str, Option<&Value>),
        meter: &Meter,
    ) -> Result<(), ViewError>;

    /// Removes a property of an element, if it has it.
    ///
    /// # Errors
    /// As [`GraphWriter::set_property`].
    fn remove_property(
        &self,
        element: &ElementId,
        key: &str,
        which: Occurrence,
        meter: &Meter,
    ) -> Result<(), ViewError>;

    /// Removes an element, if it exists, and with a vertex all its edges.
    ///
    /// # Errors
    /// When a limit is exceeded, or the store fails.
    fn remove(&self, element: &ElementId, meter: &Meter) -> Result<(), ViewError>;

    /// The number of changes so far.
    fn changes(&self) -> u64;

    /// Returns the value of [`GraphWriter::changes`] after the last change that may concern the
    /// element; 0 if there was none.
    fn changed_at(&self, element: &ElementId) -> u64;

    /// Makes the commit depend on a search that found nothing. Of two commits with the same name,
    /// the second one repeats its search after the first one, and is refused if the search finds an
    /// element.
    fn expect_absent(&self, name: Vec<u8>, search: Arc<Search>);
}
