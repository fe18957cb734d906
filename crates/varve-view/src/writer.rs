//! The trait through which queries change a graph.

use std::sync::Arc;

use varve_model::{Cardinality, CommitVersion, EdgeId, ElementId, Value, VertexId};

use crate::{ErrorKind, Flow, GraphView, Meter, SchemaView, ViewError};

/// A property that a query writes.
#[derive(Debug, Clone, Copy)]
pub struct PropertyWrite<'a> {
    /// Its key.
    pub key: &'a str,
    /// Its value, in the type of the query.
    pub value: &'a Value,
    /// How it is combined with existing values; `None` = by the graph's rule for the key.
    pub cardinality: Option<Cardinality>,
    /// Its meta-properties: properties of the property itself.
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

/// Selects values of a vertex under one key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occurrence {
    /// All values.
    All,
    /// The value with this number.
    Number(u32),
}

/// Repeats a search on the given view, the newest state of the graph. Calls the visitor with each
/// element found, until the visitor breaks.
pub type Search = dyn Fn(
        (&dyn GraphView, &dyn SchemaView),
        &Meter,
        &mut dyn FnMut(&ElementId) -> Flow,
    ) -> Result<(), ViewError>
    + Send
    + Sync;

/// A view that can be changed. Its own reads see the changes at once; other readers see them when
/// they are committed. They are committed together, unless the writer commits intermediate changes
/// ([`GraphWriter::begin_change`], [`GraphWriter::commit_part`]). The commit checks what the
/// changes depend on: see [`GraphWriter::expect_absent`].
///
/// A change that is refused has no effect.
pub trait GraphWriter: GraphView + SchemaView {
    /// Adds a vertex. By the graph's rules, an existing vertex with this id is replaced, or is an
    /// error.
    ///
    /// # Errors
    /// When the schema does not allow it, a limit is exceeded, intermediate changes cannot be
    /// committed, or the store fails.
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

    /// Writes a meta-property of the value with this key and number. `None` removes the
    /// meta-property.
    ///
    /// # Errors
    /// As [`GraphWriter::set_property`], and when the graph has no meta-properties.
    fn set_meta(
        &self,
        vertex: &VertexId,
        property: (&str, u32),
        meta: (&str, Option<&Value>),
        meter: &Meter,
    ) -> Result<(), ViewError>;

    /// Removes a property of an element, if the element has it.
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

    /// Gives a vertex another vertex label, which is created if the graph is open. Its id, its
    /// properties and its edges stay.
    ///
    /// # Errors
    /// As [`GraphWriter::set_property`], and when labels of vertices cannot change. The commit
    /// fails if the vertex has states with other labels in the period of the changes.
    fn set_label(&self, _: &VertexId, _: &str, _: &Meter) -> Result<(), ViewError> {
        let message = "vertices of this graph cannot change their label";
        Err(ViewError::failed(ErrorKind::NotSupported, message))
    }

    /// Removes an element, if it exists. The edges of a vertex are removed with it.
    ///
    /// # Errors
    /// When a limit is exceeded, intermediate changes cannot be committed, or the store fails.
    fn remove(&self, element: &ElementId, meter: &Meter) -> Result<(), ViewError>;

    /// Commits the changes so far, waits until they are stored, and continues on the newest state.
    /// Returns the version of the commit; `None` without changes. After an error,
    /// [`GraphWriter::drop_part`] must be called before the writer is used again.
    ///
    /// # Errors
    /// [`ErrorKind::Conflict`] when another commit has changed what this one depends on;
    /// [`ErrorKind::NotSupported`] when the changes can only be committed together; as
    /// [`GraphWriter::add_vertex`].
    fn commit_part(&self, _: &Meter) -> Result<Option<CommitVersion>, ViewError> {
        Err(ViewError::failed(
            ErrorKind::NotSupported,
            "the changes can only be committed together",
        ))
    }

    /// Drops the changes since the last commit, and continues on the newest state.
    ///
    /// # Errors
    /// As [`GraphWriter::commit_part`], but never [`ErrorKind::Conflict`].
    fn drop_part(&self, _: &Meter) -> Result<(), ViewError> {
        Err(ViewError::failed(
            ErrorKind::NotSupported,
            "the changes can only be dropped together",
        ))
    }

    /// The number of changes so far.
    fn changes(&self) -> u64;

    /// Returns the value of [`GraphWriter::changes`] after the last change that may concern the
    /// element; 0 if there was none.
    fn changed_at(&self, element: &ElementId) -> u64;

    /// Makes the commit depend on a search that found nothing. The commit repeats the search, and
    /// is refused if the search finds an element that the commit itself does not change. Commits
    /// with the same `name` run one after another, so that the later one finds what the earlier one
    /// added.
    fn expect_absent(&self, name: Vec<u8>, search: Arc<Search>);
}
