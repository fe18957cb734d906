//! Refuses another label for a vertex that has edges.
//!
//! The row of an edge has the labels of its ends: reads take them from there, and the rights of a
//! client decide by them. So a vertex keeps its label as long as it has edges.

use varve_encoding::row::{self, Header, RowKind};
use varve_model::{EdgeId, ElementId, Instant, Period, VertexId, VertexLabelId};

use super::sequenced::{current_row, stored_labels, stored_parts};
use super::{Outcome, Working, WorkingSet};
use crate::error::GraphError;
use crate::write::incident::{Reach, Room, incident_edges};

/// Another label for a vertex, in a period in which it has a state.
struct Relabelled {
    period: Period,
    before: VertexLabelId,
    after: VertexLabelId,
}

impl WorkingSet<'_> {
    /// Refuses the request if it leaves an edge that names another label for an end than the
    /// request gives it.
    pub(super) fn check_labels(&self) -> Result<(), GraphError> {
        if !self.has_vertices {
            return Ok(());
        }
        for working in &self.elements {
            // Nearly every insert: a vertex without a row exists neither now nor later.
            if working.current.is_none() && working.period.from.is_none() {
                continue;
            }
            if let ElementId::Vertex(id) = &*working.id {
                for relabelled in self.relabelled(working)? {
                    self.check_edges(id, &relabelled)?;
                }
            }
        }
        Ok(())
    }

    fn relabelled(&self, working: &Working<'_>) -> Result<Vec<Relabelled>, GraphError> {
        let mut found = Vec::new();
        for (period, content) in working.states() {
            let (period, after) = (self.span(period), row::vertex_label(content)?);
            if let Some(current) = &working.current
                && self.decides(&current.header, period)
                && row::vertex_label(&current.content)? == after
            {
                continue;
            }
            let stored = current_row(self.reader, &working.id)?;
            for (period, before) in
                stored_labels(self.reader, &working.id, stored.as_deref(), period)?
            {
                if before != after {
                    found.push(Relabelled {
                        period,
                        before,
                        after,
                    });
                }
            }
        }
        Ok(found)
    }

    /// As [`decides`], now.
    pub(super) fn decides(&self, header: &Header, period: Period) -> bool {
        decides(header, period, self.now)
    }

    fn check_edges(&self, vertex: &VertexId, to: &Relabelled) -> Result<(), GraphError> {
        let mut room = Room::of(self.graph.limits());
        let own = self.elements.iter().filter_map(|own| match &*own.id {
            ElementId::Edge(id) if id.source == *vertex || id.target == *vertex => Some(id.clone()),
            _ => None,
        });
        let stored = incident_edges(self.reader, vertex, Reach::Ever, &mut room)?;
        for edge in own.chain(stored) {
            let Some(content) = self.mislabelled(&edge, vertex, to)? else {
                continue;
            };
            let id = ElementId::Edge(edge);
            return Err(match self.is_hidden(&id, &content, to.period.from)? {
                true => GraphError::denied_unnamed("write", self.graph.name(), &id),
                false => self.has_edges(vertex, to),
            });
        }
        Ok(())
    }

    fn has_edges(&self, vertex: &VertexId, to: &Relabelled) -> GraphError {
        let name = |label| self.schema.vertex_label_name(label);
        GraphError::invalid(format!(
            "Vertex '{vertex}' has edges, so its label '{}' cannot become '{}': delete the vertex first",
            name(to.before),
            name(to.after)
        ))
    }

    /// A state of an edge in the period that names another label for the vertex.
    fn mislabelled(
        &self,
        edge: &EdgeId,
        vertex: &VertexId,
        to: &Relabelled,
    ) -> Result<Option<Vec<u8>>, GraphError> {
        let names_other = |content: &[u8]| {
            let ((source, target), _) = row::edge_ends(content)?;
            Ok::<_, GraphError>(
                (edge.source == *vertex && source != to.after)
                    || (edge.target == *vertex && target != to.after),
            )
        };
        let id = ElementId::Edge(edge.clone());
        let own = self.working_of(&id);
        if let Some(own) = own.filter(|own| !matches!(own.outcome, Outcome::Untouched)) {
            for (_, content) in own.states() {
                if names_other(content)? {
                    return Ok(Some(content.to_vec()));
                }
            }
            return Ok(None);
        }
        for part in stored_parts(self.reader, &id, to.period)? {
            if let Some(content) = part.content
                && names_other(&content)?
            {
                return Ok(Some(content));
            }
        }
        Ok(None)
    }
}

/// Whether a current row alone decides the state in a whole period.
pub(super) fn decides(header: &Header, period: Period, now: Instant) -> bool {
    let is_forever = header.kind == RowKind::Put && header.until == Instant::FOREVER;
    let since = match header.overlaid {
        true => now,
        false => header.period().from.min(now),
    };
    is_forever && since <= period.from
}
