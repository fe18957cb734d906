//! Whether an edge would be stored whose ends may be vertices that are not stored yet.

use varve_encoding::key;
use varve_model::{Period, VertexLabelId};

use super::{PlannedEdge, PlannedEnd, WorkingSet};
use crate::error::GraphError;

impl WorkingSet<'_> {
    pub(super) fn check_edge(&mut self, edge: &PlannedEdge) -> Result<(), GraphError> {
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
