//! Checks a request against the policy of its writer.
//!
//! The policy must cover every state of an element in the written period, before the write and
//! after it. An element that the writer may not read is treated as absent: it can neither be
//! updated or deleted nor be the end of an edge. All checks are made under the latches, before the
//! commit is submitted, so a refused request has no effect.

use std::sync::Arc;

use varve_encoding::row;
use varve_model::{ElementId, Instant, VertexId, VertexLabelId};
use varve_view::{AccessPolicy, Coverage, ElementPolicy};

use super::sequenced::stored_parts;
use super::{Outcome, Working, WorkingSet, resolve_at};
use crate::error::GraphError;
use crate::read::{covers_edge, covers_vertex};

/// Which state of an element is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Image {
    Before,
    After,
}

impl WorkingSet<'_> {
    pub(super) fn access(&self) -> Option<&Arc<AccessPolicy>> {
        self.request.access.as_ref()
    }

    /// Refuses the request if it changes an element that the writer may not change.
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

    /// Returns the error for a change of a stored state. It does not name an element that the
    /// writer may not read.
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

    /// Refuses an edge if the writer may neither read nor change one of its ends.
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
                    // The error is the same as for an end that does not exist.
                    Image::After => self.missing_end(end),
                });
            }
        }
        Ok(())
    }

    /// Whether the writer may read the end of an edge, or change it in the same way as the edge.
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

    /// Whether the writer may not read an existing state, so that it is treated as absent.
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

    /// Whether an existing vertex may be the end of an edge of this request.
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
