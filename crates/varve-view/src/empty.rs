//! A graph without elements, for queries that read none.

use varve_model::{
    Condition, EdgeId, EdgeLabel, EdgeLabelId, Element, ElementId, Properties, PropertyKey,
    PropertyKeyId, TemporalScope, VertexId, VertexLabel, VertexLabelId,
};

use crate::{
    EdgeFound, Expand, Flow, GraphView, Meter, Neighbour, PastVersion, ScanAsk, ScanPosition,
    ScannedElement, SchemaView, ViewError,
};

/// An open graph without elements, labels and keys.
#[derive(Debug, Clone, Copy, Default)]
pub struct EmptyGraph;

impl GraphView for EmptyGraph {
    fn put_vertex_key(&self, _: &VertexId, _: &mut Vec<u8>) {}

    fn vertex_id(&self, _: &[u8]) -> Result<VertexId, ViewError> {
        Ok(VertexId::Number(0))
    }

    fn edge_id(&self, _: &[u8], _: &[u8]) -> Result<EdgeId, ViewError> {
        Err(ViewError::NoIndex("no edges".to_owned()))
    }

    fn neighbours(
        &self,
        _: &[&[u8]],
        _: &Expand<'_>,
        _: &Meter,
        _: &mut dyn FnMut(usize, &Neighbour<'_>) -> Flow,
    ) -> Result<(), ViewError> {
        Ok(())
    }

    fn vertices(
        &self,
        _: &[&[u8]],
        _: &[PropertyKeyId],
        _: &Meter,
        _: &mut dyn FnMut(usize, VertexLabelId, Properties),
    ) -> Result<(), ViewError> {
        Ok(())
    }

    fn scan(
        &self,
        _: &ScanAsk<'_>,
        _: Option<&ScanPosition>,
        _: usize,
        _: &Meter,
        _: &mut dyn FnMut(&ScannedElement<'_>) -> Flow,
    ) -> Result<Option<ScanPosition>, ViewError> {
        Ok(None)
    }

    fn estimate(&self, _: &ScanAsk<'_>, _: u64, _: &Meter) -> Result<Option<u64>, ViewError> {
        Ok(None)
    }

    fn edges(
        &self,
        _: &[EdgeId],
        _: &[PropertyKeyId],
        _: &Meter,
        _: &mut dyn FnMut(usize, EdgeFound<'_>),
    ) -> Result<(), ViewError> {
        Ok(())
    }

    fn edges_given(
        &self,
        _: &VertexId,
        _: &Meter,
        _: &mut dyn FnMut(EdgeId),
    ) -> Result<(), ViewError> {
        Ok(())
    }

    fn versions(
        &self,
        _: &ElementId,
        _: &Meter,
        _: &mut dyn FnMut(PastVersion) -> Flow,
    ) -> Result<(), ViewError> {
        Ok(())
    }

    fn element_at(
        &self,
        _: &ElementId,
        _: TemporalScope,
        _: &Meter,
    ) -> Result<Option<Element>, ViewError> {
        Ok(None)
    }

    fn satisfies(&self, _: &[Condition], _: &Properties) -> bool {
        false
    }
}

impl SchemaView for EmptyGraph {
    fn is_open(&self) -> bool {
        true
    }

    fn property_key(&self, _: PropertyKeyId) -> Option<&PropertyKey> {
        None
    }

    fn property_key_named(&self, _: &str) -> Option<&PropertyKey> {
        None
    }

    fn property_keys(&self) -> Vec<PropertyKeyId> {
        Vec::new()
    }

    fn vertex_label(&self, _: VertexLabelId) -> Option<&VertexLabel> {
        None
    }

    fn vertex_label_named(&self, _: &str) -> Option<&VertexLabel> {
        None
    }

    fn edge_label(&self, _: EdgeLabelId) -> Option<&EdgeLabel> {
        None
    }

    fn edge_label_named(&self, _: &str) -> Option<&EdgeLabel> {
        None
    }
}
