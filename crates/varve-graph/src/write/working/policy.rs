//! What the writer of a request may do with the elements that it touches.
//!
//! An element must be covered as it was, in the whole of the period that is written, and as it will
//! be. What may not be read is not there: it can't be updated, deleted, or be the end of an edge.
//! Everything is looked at under the latches, before the commit is handed over: a refused request
//! leaves no trace.

use std::sync::Arc;

use varve_encoding::row;
use varve_model::{ElementId, Instant, VertexId, VertexLabelId};
use varve_view::{AccessPolicy, Coverage, ElementPolicy};

use super::sequenced::stored_parts;
use super::{Outcome, Working, WorkingSet, resolve_at};
use crate::error::GraphError;
use crate::read::{covers_edge, covers_vertex};

/// Which image of an element is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Image {
    Before,
    After,
}

impl WorkingSet<'_> {
    pub(super) fn access(&self) -> Option<&Arc<AccessPolicy>> {
        self.request.access.as_ref()
    }

    /// Refuses the request where it touches what the writer may not.
    pub(super) fn check_access(&self) -> Result<(), GraphError> {
        let Some(access) = self.access() else {
            return Ok(());
        };
        for working in &self.elements {
            let (policy, permission) = match working.outcome {
                Outcome::Untouched => continue,
                Outcome::Delete => (&access.delete, "delete"),
                Outcome::Put(_) | Outcome::Parts(_) => (&access.write, "write"),
            };
            let within = self.span(working.period);
            for part in stored_parts(self.reader, &working.id, within)? {
                let Some(content) = &part.content else {
                    continue;
                };
                if !self.covers(policy, &working.id, content)? {
                    return Err(self.refused(permission, &working.id, content)?);
                }
                let valid = part.period.from.unwrap_or(within.from).max(within.from);
                self.check_ends(working, policy, (Image::Before, valid), content)?;
            }
            for (period, content) in working.states() {
                if !self.covers(policy, &working.id, content)? {
                    return Err(self.denied(permission, &working.id));
                }
                let valid = period.from.unwrap_or(within.from);
                self.check_ends(working, policy, (Image::After, valid), content)?;
            }
        }
        Ok(())
    }

    fn denied(&self, permission: &str, id: &ElementId) -> GraphError {
        GraphError::denied(permission, self.graph.name(), id)
    }

    /// The refusal to change a stored state: what may not be read is not named.
    fn refused(
        &self,
        permission: &str,
        id: &ElementId,
        content: &[u8],
    ) -> Result<GraphError, GraphError> {
        Ok(match self.is_hidden(id, content)? {
            true => GraphError::denied_unnamed(permission, self.graph.name(), id),
            false => self.denied(permission, id),
        })
    }

    fn covers(
        &self,
        policy: &ElementPolicy,
        id: &ElementId,
        content: &[u8],
    ) -> Result<bool, GraphError> {
        Ok(match id {
            ElementId::Vertex(_) => covers_vertex(policy, content)?,
            ElementId::Edge(id) => covers_edge(policy, id.label, content)?,
        })
    }

    /// Refuses an edge one of whose ends the writer may neither read nor treat so.
    fn check_ends(
        &self,
        working: &Working<'_>,
        policy: &ElementPolicy,
        (image, valid): (Image, Instant),
        content: &[u8],
    ) -> Result<(), GraphError> {
        let ElementId::Edge(id) = &*working.id else {
            return Ok(());
        };
        let ((source, target), _) = row::edge_ends(content)?;
        for (end, label) in [(&id.source, source), (&id.target, target)] {
            if !self.knows_end(policy, (end, label), image, valid)? {
                return Err(match image {
                    Image::Before => self.refused("write", &working.id, content)?,
                    // As if it were not there.
                    Image::After => self.missing_end(end),
                });
            }
        }
        Ok(())
    }

    /// Whether the end of an edge may be read or treated as the edge is.
    fn knows_end(
        &self,
        policy: &ElementPolicy,
        (end, label): (&VertexId, VertexLabelId),
        image: Image,
        valid: Instant,
    ) -> Result<bool, GraphError> {
        let Some(access) = self.access() else {
            return Ok(true);
        };
        let policies = [&access.read, policy];
        let coverages = policies.map(|policy| policy.vertex(label));
        if coverages.contains(&&Coverage::All) {
            return Ok(true);
        }
        if coverages == [&Coverage::Nothing; 2] {
            return Ok(false);
        }
        let id = ElementId::Vertex(end.clone());
        let own = match image {
            Image::Before => None,
            Image::After => self.working_of(&id),
        };
        let own = own.and_then(|own| {
            let mut states = own.states();
            let state = states.find(|(period, _)| self.span(*period).covers(valid))?;
            Some(state.1.to_vec())
        });
        let content = match own {
            Some(content) => Some(content),
            None => resolve_at(self.reader, &id, valid)?.map(|resolved| resolved.content),
        };
        let Some(content) = content else {
            return Ok(false);
        };
        Ok(covers_vertex(policies[0], &content)? || covers_vertex(policies[1], &content)?)
    }

    /// Whether a state that is there may not be read, so that it is as if it were not there.
    pub(super) fn is_hidden(&self, id: &ElementId, content: &[u8]) -> Result<bool, GraphError> {
        let Some(access) = self.access() else {
            return Ok(false);
        };
        if !self.covers(&access.read, id, content)? {
            return Ok(true);
        }
        let ElementId::Edge(edge) = id else {
            return Ok(false);
        };
        let ((source, target), _) = row::edge_ends(content)?;
        for (end, label) in [(&edge.source, source), (&edge.target, target)] {
            if !self.knows_end(&access.read, (end, label), Image::Before, self.valid)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a vertex that is there may be the end of an edge of this request.
    pub(super) fn may_join(
        &self,
        end: &VertexId,
        label: VertexLabelId,
    ) -> Result<bool, GraphError> {
        match self.access() {
            None => Ok(true),
            Some(access) => self.knows_end(&access.write, (end, label), Image::After, self.valid),
        }
    }
}
