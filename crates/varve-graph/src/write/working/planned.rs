//! Whether edges would be stored whose ends may be vertices that are not stored yet: for dry runs.

use std::sync::Arc;

use varve_encoding::key;
use varve_model::{Period, VertexId, VertexLabelId};
use varve_view::AccessPolicy;

use super::{Keys, WorkingSet};
use crate::error::{ErrorKind, GraphError};
use crate::graph::Graph;
use crate::write::{WritePeriod, WriteRequest};

/// An end of an edge that would be written.
#[derive(Debug)]
pub struct PlannedEnd {
    /// The vertex.
    pub id: VertexId,
    /// The name of its label, which the schema may lack.
    pub label: String,
    /// When it will exist with that label, whatever is stored of it.
    pub planned: Vec<WritePeriod>,
}

/// An edge that would be written.
#[derive(Debug)]
pub struct PlannedEdge {
    /// The name of its label, which the schema may lack.
    pub label: String,
    /// Its valid period.
    pub period: WritePeriod,
    /// Its source and its target.
    pub ends: [PlannedEnd; 2],
}

/// For each edge, why a write of it would be refused for its period or its ends. Nothing is latched
/// or written.
///
/// # Errors
/// When the store fails or is damaged.
pub(crate) fn check_planned(
    graph: &Arc<Graph>,
    edges: &[PlannedEdge],
    access: Option<Arc<AccessPolicy>>,
) -> Result<Vec<Option<GraphError>>, GraphError> {
    let request = WriteRequest {
        access,
        ..WriteRequest::default()
    };
    let schema = graph.catalogue().current_guard();
    let mut working = WorkingSet::new(graph, &schema, &request, Keys::with_capacity(0))?;
    let mut refused = Vec::with_capacity(edges.len());
    for edge in edges {
        refused.push(match working.check_edge(edge) {
            Ok(()) => None,
            Err(error) if error.kind == ErrorKind::InvalidArgument => Some(error),
            Err(error) => return Err(error),
        });
    }
    Ok(refused)
}

impl WorkingSet<'_> {
    fn check_edge(&mut self, edge: &PlannedEdge) -> Result<(), GraphError> {
        edge.period.check(self.now, None)?;
        self.period = edge.period;
        self.valid = edge.period.from.unwrap_or(self.now);
        let mut within = self.span(edge.period);
        let label = self.schema.edge_label_by_name(&edge.label);
        if label.is_some_and(|label| label.ttl > 0) {
            // The properties may say when the time to live begins, so only the start is judged.
            within.to = within.from.plus_micros(1);
        }
        let [source, target] = &edge.ends;
        let labels = [
            self.label_with_planned(source, within)?,
            self.label_with_planned(target, within)?,
        ];
        for (end, stored) in [source, target].into_iter().zip(labels) {
            let named = self.schema.vertex_label_by_name(&end.label);
            if let Some(stored) = stored
                && named.is_none_or(|named| named.id != stored)
            {
                return Err(self.unmatched_name(&end.id, &end.label, stored));
            }
        }
        Ok(())
    }

    /// The label of a vertex in all of a period, with the states that are planned; `None` if it
    /// has but a planned label that the schema lacks.
    fn label_with_planned(
        &self,
        end: &PlannedEnd,
        within: Period,
    ) -> Result<Option<VertexLabelId>, GraphError> {
        let partition = key::vertex_id(&end.id);
        let known = self.schema.vertex_label_by_name(&end.label);
        // No label has this id.
        let none = VertexLabelId(u32::MAX);
        let own = known.map_or(none, |label| label.id);
        let planned = end.planned.iter().map(|period| self.span(*period));
        let mut planned: Vec<Period> = planned.collect();
        planned.sort_unstable_by_key(|period| period.from);
        let (mut states, mut reached) = (Vec::new(), within.from);
        for period in planned {
            let start = period.from.min(within.to);
            if let Some(gap) = Period::new(reached, start) {
                states.extend(self.stored_labels_within(&end.id, &partition, gap)?);
            }
            if let Some(rest) = Period::new(reached.max(start), period.to.min(within.to)) {
                states.push((rest, own));
                reached = rest.to;
            }
        }
        if let Some(gap) = Period::new(reached, within.to) {
            states.extend(self.stored_labels_within(&end.id, &partition, gap)?);
        }
        let label = self.lasting(&end.id, states, within)?;
        Ok(Some(label).filter(|label| *label != none))
    }
}
