//! The trait through which queries change a graph.

use std::sync::Arc;

use varve_model::{Cardinality, EdgeId, ElementId, Value, VertexId};

use crate::{Flow, GraphView, Meter, SchemaView, ViewError};

/// A property that a query writes.
#[derive(Debug, Clone, Copy)]
pub struct PropertyWrite<'a> {
    /// Its key.
    pub key: &'a str,
    /// Its value, in the type that the query has it.
    pub value: &'a Value,
    /// How it joins what is there; `None` = as the graph says for the key.
    pub cardinality: Option<Cardinality>,
    /// Properties of the property itself.
    pub meta: &'a [(&'a str, Value)],
}

/// A vertex that a query adds.
#[derive(Debug, Clone, Copy)]
pub struct VertexAddition<'a> {
    /// Its label; `None` = the default one.
    pub label: Option<&'a str>,
    /// Its id; `None` = as the label says.
    pub id: Option<&'a Value>,
    /// Its properties; several of one key where the graph allows that.
    pub properties: &'a [PropertyWrite<'a>],
}

/// An edge that a query adds.
#[derive(Debug, Clone, Copy)]
pub struct EdgeAddition<'a> {
    /// Its label.
    pub label: &'a str,
    /// Its id; `None` = as the label says.
    pub id: Option<&'a Value>,
    /// Where it starts.
    pub source: &'a VertexId,
    /// Where it ends.
    pub target: &'a VertexId,
    /// Its properties.
    pub properties: &'a [PropertyWrite<'a>],
}

/// Which of the values that a vertex has for a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occurrence {
    /// All of them.
    All,
    /// The one with this number.
    Number(u32),
}

/// Repeats a search on the newest state of the graph and calls the visitor with what it finds,
/// until the visitor breaks.
pub type Search = dyn Fn(
        (&dyn GraphView, &dyn SchemaView),
        &Meter,
        &mut dyn FnMut(&ElementId) -> Flow,
    ) -> Result<(), ViewError>
    + Send
    + Sync;

/// A view that can be changed. It shows its own changes at once; others see them when they are
/// committed, all together. What the changes depend on is checked then: see
/// [`GraphWriter::expect_absent`].
///
/// A change that is refused leaves everything as it was.
pub trait GraphWriter: GraphView + SchemaView {
    /// Adds a vertex.
    ///
    /// # Errors
    /// When the schema does not allow it, over a limit, or when the store fails.
    fn add_vertex(&self, vertex: &VertexAddition<'_>, meter: &Meter)
    -> Result<VertexId, ViewError>;

    /// Adds an edge between vertices that exist.
    ///
    /// # Errors
    /// As [`GraphWriter::add_vertex`], and when an end does not exist.
    fn add_edge(&self, edge: &EdgeAddition<'_>, meter: &Meter) -> Result<EdgeId, ViewError>;

    /// Called before an element is read in order to change it. A writer that commits in between
    /// does so here, and then shows the newest state.
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

    /// Removes a property of an element, if it is there.
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

    /// Removes an element, if it is there; a vertex takes its edges with it.
    ///
    /// # Errors
    /// Over a limit, or when the store fails.
    fn remove(&self, element: &ElementId, meter: &Meter) -> Result<(), ViewError>;

    /// How many changes were made so far.
    fn changes(&self) -> u64;

    /// [`GraphWriter::changes`] after the last change that an element may have had; 0 if it had
    /// none.
    fn changed_at(&self, element: &ElementId) -> u64;

    /// Makes the commit depend on a search that found nothing: of two commits with the same name,
    /// the second repeats its search after the first, and is refused if it finds something then.
    fn expect_absent(&self, name: Vec<u8>, search: Arc<Search>);
}
