//! Another label for a vertex with edges.

use std::collections::BTreeSet;

use varve_model::{Element, ElementId, Instant, Period, VertexId, VertexLabelId};

use super::super::Point;
use super::{Refusal, Work};

impl Work<'_> {
    /// Checks that no edge is left that names another label for an end than the request gives it.
    pub(super) fn check_labels(&self) -> Result<(), Refusal> {
        for (id, fate) in &self.outcomes {
            let ElementId::Vertex(vertex) = id else {
                continue;
            };
            for part in fate.parts(self.period) {
                let Some(Element::Vertex(new)) = &part.state else {
                    continue;
                };
                for (period, old) in self.stored(id, part.period) {
                    let Element::Vertex(old) = old else { continue };
                    if old.label != new.label && self.is_named_else((vertex, new.label), period) {
                        return Err(Refusal::Label);
                    }
                }
            }
        }
        Ok(())
    }

    /// The stored states of an element within a period.
    fn stored(&self, id: &ElementId, period: Period) -> Vec<(Period, Element)> {
        let starts: Vec<Instant> = self.model.changes_within(id, period).into_iter().collect();
        let ends = starts.iter().skip(1).copied().chain([period.to]);
        let state = |(from, to): (Instant, Instant)| {
            let at = Point {
                valid: from,
                ..self.at
            };
            Some((Period { from, to }, self.model.state(id, at)?.clone()))
        };
        starts.iter().copied().zip(ends).filter_map(state).collect()
    }

    /// Whether an edge of the vertex names another label for it in the period.
    fn is_named_else(&self, (vertex, label): (&VertexId, VertexLabelId), period: Period) -> bool {
        let touches = |id: &ElementId| matches!(id, ElementId::Edge(edge) if edge.source == *vertex || edge.target == *vertex);
        let stored = self.model.ids().into_iter();
        let edges: BTreeSet<ElementId> = stored
            .chain(self.outcomes.keys().cloned())
            .filter(touches)
            .collect();
        let names_other = |state: &Element| match state {
            Element::Edge(edge) => {
                (edge.id.source == *vertex && edge.source_label != label)
                    || (edge.id.target == *vertex && edge.target_label != label)
            }
            Element::Vertex(_) => false,
        };
        edges.iter().any(|id| match self.outcomes.get(id) {
            Some(fate) => {
                let states = fate.parts(self.period).into_iter();
                states
                    .filter_map(|part| part.state)
                    .any(|it| names_other(&it))
            }
            None => {
                let states = self.stored(id, period).into_iter();
                states.into_iter().any(|(_, state)| names_other(&state))
            }
        })
    }
}
