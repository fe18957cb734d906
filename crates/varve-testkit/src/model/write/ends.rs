//! Whether the ends of an edge exist where the edge does.

use varve_model::{Element, ElementId, Period, VertexId, VertexLabelId};

use super::{Refusal, Work};

impl Work<'_> {
    /// Checks that the ends of an edge exist wherever in the period of the request the edge will.
    pub(super) fn check_ends(&self, edge: &Element) -> Result<(), Refusal> {
        let Period { from, mut to } = self.period;
        if let Some((ttl, start)) = self.model.ttl(edge) {
            let end = start.unwrap_or(from).plus_micros(ttl * 1_000);
            to = to.min(end.max(from.plus_micros(1)));
        }
        self.check_ends_within(edge, Period { from, to })
    }

    /// Checks the same where the edge does not exist yet.
    pub(super) fn check_extension(&self, edge: &Element) -> Result<(), Refusal> {
        if self.model.ttl(edge).is_some() {
            return Ok(());
        }
        let parts = self.parts(&edge.id()).into_iter();
        let mut gaps = parts.filter(|part| part.state.is_none());
        gaps.try_for_each(|gap| self.check_ends_within(edge, gap.period))
    }

    fn check_ends_within(&self, edge: &Element, within: Period) -> Result<(), Refusal> {
        let Element::Edge(edge) = edge else {
            return Ok(());
        };
        let ends = [
            (&edge.id.source, edge.source_label),
            (&edge.id.target, edge.target_label),
        ];
        match ends
            .iter()
            .all(|(id, label)| self.has_end(id, *label, within))
        {
            true => Ok(()),
            false => Err(Refusal::Ends),
        }
    }

    /// Whether a vertex has a label throughout a period; a label with a time to live is judged at
    /// the start only.
    fn has_end(&self, id: &VertexId, label: VertexLabelId, within: Period) -> bool {
        let parts = self.parts(&ElementId::Vertex(id.clone()));
        let mut parts = parts.iter().filter(|part| part.period.overlaps(within));
        let has = |state: &Option<Element>| matches!(state, Some(Element::Vertex(vertex)) if vertex.label == label);
        let first = parts.next().and_then(|part| part.state.as_ref());
        match first {
            Some(Element::Vertex(vertex)) if vertex.label == label => {
                let is_mortal = first.is_some_and(|state| self.model.ttl(state).is_some());
                is_mortal || parts.all(|part| has(&part.state))
            }
            _ => false,
        }
    }
}
