//! Another label for a vertex of an open graph.
//!
//! An edge stores the labels of its ends, so the edges of the vertex are rewritten with it.

use std::sync::Arc;

use varve_model::{EdgeId, Element, ElementId, PropertyKeyId, VertexId, VertexLabelId};
use varve_view::{Meter, ViewError};

use super::OptimisticTransaction;
use crate::element::not_there;
use crate::error::{ErrorKind, GraphError};
use crate::schema::{FirstUse, LabelUse};

impl OptimisticTransaction {
    /// Gives a vertex another label. Its edges at the commit's point of time follow; the commit is
    /// refused if the vertex has others in the period of the changes, or a state with another label
    /// than now. With the label that it has, only the latter is checked.
    pub(super) fn relabel(
        &self,
        id: &VertexId,
        label: &str,
        meter: &Meter,
    ) -> Result<(), ViewError> {
        if !self.is_open() {
            return Err(GraphError::new(
                ErrorKind::NotSupported,
                "A vertex of a graph with a declared schema keeps its label: only open graphs \
                 can change labels",
            )
            .into());
        }
        let element = ElementId::Vertex(id.clone());
        let mut edges = self.edges_of(id, meter)?;
        // The vertex and its edges must be changed in one commit.
        if meter.apart(|| self.commit_if_due(Some(&element), edges.len() + 1))? {
            edges = self.edges_of(id, meter)?;
        }
        edges.sort_unstable();
        edges.dedup();
        meter.apart(|| {
            let label = self.label_for(id, label)?;
            if self.relabel_vertex(id, label)? == label {
                return Ok(());
            }
            let mut edges = edges.iter();
            Ok(edges.try_for_each(|edge| self.relabel_end(edge, id, label))?)
        })
    }

    /// The label with this name, which takes the keys of the vertex.
    fn label_for(&self, id: &VertexId, name: &str) -> Result<VertexLabelId, GraphError> {
        let missing = || not_there(&ElementId::Vertex(id.clone()));
        let vertex = self.vertex(id)?.ok_or_else(missing)?;
        let before = Arc::clone(self.schema.current());
        let key = |(id, _): (PropertyKeyId, _)| {
            let key = before.property_key(id)?;
            Some((&*key.name, key.data_type))
        };
        let label = LabelUse {
            name,
            ids: before
                .vertex_label(vertex.label)
                .map(|label| label.id_strategy),
            keys: vertex.properties.iter().filter_map(key).collect(),
        };
        let schema = self.ensure(&FirstUse {
            vertex_labels: vec![label],
            ..FirstUse::default()
        })?;
        Ok(schema.require_vertex_label(name)?.id)
    }

    /// Returns the label before.
    fn relabel_vertex(
        &self,
        id: &VertexId,
        label: VertexLabelId,
    ) -> Result<VertexLabelId, GraphError> {
        let element = ElementId::Vertex(id.clone());
        self.load_vertex(id)?;
        let now = self.vertex(id)?.ok_or_else(|| not_there(&element))?;
        let before = now.label;
        let own = element.clone();
        let step = move |state: Option<Element>| match state {
            // The new label is made of the one before: it is wrong for a state with another one.
            Some(Element::Vertex(vertex)) if vertex.label != before && vertex.label != label => {
                Err(GraphError::invalid(format!(
                    "The labels of '{own}' cannot change: in the period of the change, it has \
                     states with other labels than now"
                )))
            }
            Some(Element::Vertex(mut vertex)) => {
                vertex.label = label;
                Ok(Element::Vertex(vertex))
            }
            _ => Err(not_there(&own)),
        };
        if let Element::Vertex(vertex) = step(Some(Element::Vertex(now)))? {
            self.change_vertex(id, Some(vertex))?;
        }
        self.state.write().keep_step(&element, Arc::new(step));
        Ok(before)
    }

    fn relabel_end(
        &self,
        id: &EdgeId,
        vertex: &VertexId,
        label: VertexLabelId,
    ) -> Result<(), GraphError> {
        let element = ElementId::Edge(id.clone());
        let (own, vertex) = (element.clone(), vertex.clone());
        let step = move |state: Option<Element>| match state {
            Some(Element::Edge(mut edge)) => {
                if edge.id.source == vertex {
                    edge.source_label = label;
                }
                if edge.id.target == vertex {
                    edge.target_label = label;
                }
                Ok(Element::Edge(edge))
            }
            _ => Err(not_there(&own)),
        };
        self.load_edge(id)?;
        let now = self.loaded_edge(id);
        if let Element::Edge(edge) = step(now.map(Element::Edge))? {
            self.change_edge(id, Some(edge))?;
        }
        self.state.write().keep_step(&element, Arc::new(step));
        Ok(())
    }
}
