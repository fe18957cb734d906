//! Checks a request against the policy of its writer.
//!
//! The policy must cover every state of an element in the written period, before the write and
//! after it, by the rule of [`Sight`]. An element that the writer may not read is treated as
//! absent: it can neither be updated or deleted nor be the end of an edge. All checks are made
//! under the latches, before the commit is submitted, so a refused request has no effect.

use std::sync::Arc;

use smallvec::{SmallVec, smallvec};
use varve_encoding::tables::VERTEX;
use varve_encoding::{key, row};
use varve_kv::ReaderExt;
use varve_model::{CommitVersion, ElementId, Instant, Period, VertexLabelId};
use varve_view::{AccessPolicy, ElementPolicy};

use super::sequenced::stored_parts;
use super::{Outcome, Working, WorkingSet, resolve_at};
use crate::error::GraphError;
use crate::read::{Sight, resolve};
use crate::write::keys::RowKeys;

/// A state of an element: its content, and an instant at which the element has it.
#[derive(Clone, Copy)]
struct State<'a> {
    content: &'a [u8],
    at: Instant,
}

impl WorkingSet<'_> {
    pub(in crate::write) fn access(&self) -> Option<&Arc<AccessPolicy>> {
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
            self.check_before(working, policy, permission)?;
            if let Outcome::Parts(parts) = &working.outcome {
                for end in parts.iter().filter(|part| part.is_end()) {
                    let within = self.span(end.period);
                    self.check_within(working, &access.delete, "delete", within)?;
                }
            }
            for (period, content) in working.states() {
                let at = self.span(period).from;
                self.check_after(working, policy, State { content, at })?;
            }
        }
        Ok(())
    }

    /// Refuses to change stored states that the policy does not cover. An element without a state
    /// in the period may exist now; then its present state decides who may give it others.
    fn check_before(
        &self,
        working: &Working<'_>,
        policy: &ElementPolicy,
        permission: &str,
    ) -> Result<(), GraphError> {
        let id = &*working.id;
        let within = self.span(working.period);
        let written: SmallVec<[Period; 1]> = match &working.outcome {
            // What an update leaves alone is not written.
            Outcome::Parts(_) => working.states().map(|state| self.span(state.0)).collect(),
            _ => smallvec![within],
        };
        let mut is_new = true;
        for within in written {
            is_new &= !self.check_within(working, policy, permission, within)?;
        }
        let at = self.now;
        if is_new
            && !within.covers(at)
            && let Some(present) = resolve_at(self.reader, id, at)?
        {
            let content = &present.content;
            self.check_stored(id, policy, permission, State { content, at })?;
        }
        Ok(())
    }

    /// Refuses to change states that are stored in a period and that the policy does not cover;
    /// returns whether there are any states.
    fn check_within(
        &self,
        working: &Working<'_>,
        policy: &ElementPolicy,
        permission: &str,
        within: Period,
    ) -> Result<bool, GraphError> {
        let mut has_any = false;
        for part in stored_parts(self.reader, &working.id, within)? {
            let Some(content) = &part.content else {
                continue;
            };
            has_any = true;
            let at = part.period.from.unwrap_or(within.from).max(within.from);
            self.check_stored(&working.id, policy, permission, State { content, at })?;
        }
        Ok(has_any)
    }

    fn check_stored(
        &self,
        id: &ElementId,
        policy: &ElementPolicy,
        permission: &str,
        state: State<'_>,
    ) -> Result<(), GraphError> {
        if self.covers(policy, id, state)? {
            return Ok(());
        }
        let graph = self.graph.name();
        Err(match self.is_hidden(id, state.content, state.at)? {
            true => GraphError::denied_unnamed(permission, graph, id),
            false => GraphError::denied(permission, graph, id),
        })
    }

    /// Refuses a new state that the policy does not cover. Refuses an edge if the writer may
    /// neither read nor write one of its ends, or names another label for it than it has.
    fn check_after(
        &self,
        working: &Working<'_>,
        policy: &ElementPolicy,
        state: State<'_>,
    ) -> Result<(), GraphError> {
        let sight = self.sight(policy, state.at);
        let (partition, clustering) = key::current(&working.id);
        let denied = || GraphError::denied("write", self.graph.name(), &working.id);
        let id = match &*working.id {
            ElementId::Edge(id) => id,
            ElementId::Vertex(_) => {
                let covered = sight.vertex(&partition, state.content)?;
                return covered.then_some(()).ok_or_else(denied);
            }
        };
        if !sight.edge_alone((&partition, &clustering), id.label, state.content)? {
            return Err(denied());
        }
        let (named, _) = row::edge_ends(state.content)?;
        // The ends of a stored edge have the labels that it names.
        let stored = working.current.as_ref().map(|current| &current.content);
        let stored = stored.filter(|content| !content.is_empty());
        let stored = stored.map(|content| row::edge_ends(content)).transpose()?;
        let is_kept = stored.is_some_and(|(ends, _)| ends == named);
        for (end, label) in [(&id.source, named.0), (&id.target, named.1)] {
            let partition = key::vertex_id(end);
            let by_label = self.knows_label(policy, label, state.at);
            if is_kept && by_label == Some(true) {
                continue;
            }
            // The error is the same as for an end that does not exist.
            let content = self.end_at(&partition, state.at)?;
            let content = content.ok_or_else(|| self.missing_end(end))?;
            let at = state.at;
            let content = &content[..];
            if !self.knows_vertex(policy, &partition, State { content, at })? {
                return Err(self.missing_end(end));
            }
            let own = row::vertex_label(content)?;
            if own != label {
                return Err(self.unmatched_end(end, label, own));
            }
        }
        Ok(())
    }

    fn sight<'s>(&'s self, policy: &'s ElementPolicy, at: Instant) -> Sight<'s> {
        Sight {
            reader: self.reader,
            policy,
            is_now: at == self.now,
            now: self.now,
        }
    }

    /// Whether a policy covers a stored state. The writer need only know the ends of an edge.
    fn covers(
        &self,
        policy: &ElementPolicy,
        id: &ElementId,
        state: State<'_>,
    ) -> Result<bool, GraphError> {
        let sight = self.sight(policy, state.at);
        let (partition, clustering) = key::current(id);
        match id {
            ElementId::Vertex(_) => sight.vertex(&partition, state.content),
            ElementId::Edge(_) => sight.edge(
                (&partition, &clustering),
                state.content,
                &mut |end, label| self.knows_end(policy, (end, label), state.at),
            ),
        }
    }

    /// Whether the writer may read the end of a stored edge, or change it in the same way as the
    /// edge.
    fn knows_end(
        &self,
        policy: &ElementPolicy,
        (partition, label): (&[u8], VertexLabelId),
        at: Instant,
    ) -> Result<bool, GraphError> {
        if let Some(known) = self.knows_label(policy, label, at) {
            return Ok(known);
        }
        match self.stored_at(partition, at)? {
            Some(content) => {
                let content = &content[..];
                self.knows_vertex(policy, partition, State { content, at })
            }
            None => Ok(false),
        }
    }

    /// As [`WorkingSet::knows_end`], by the end's label; `None` if its state decides.
    fn knows_label(
        &self,
        policy: &ElementPolicy,
        label: VertexLabelId,
        at: Instant,
    ) -> Option<bool> {
        let access = self.access()?;
        let each = [&access.read, policy];
        let each = each.map(|policy| self.sight(policy, at).end_by_label(label));
        match each {
            [Some(true), _] | [_, Some(true)] => Some(true),
            [Some(false), Some(false)] => Some(false),
            _ => None,
        }
    }

    /// Whether the writer may read a vertex with this state, or change it in the same way as an
    /// edge of it.
    fn knows_vertex(
        &self,
        policy: &ElementPolicy,
        partition: &[u8],
        state: State<'_>,
    ) -> Result<bool, GraphError> {
        let Some(access) = self.access() else {
            return Ok(true);
        };
        let covers = |policy| {
            self.sight(policy, state.at)
                .vertex(partition, state.content)
        };
        Ok(covers(&access.read)? || covers(policy)?)
    }

    /// The content of a vertex at an instant, after this request.
    fn end_at(&self, partition: &[u8], at: Instant) -> Result<Option<Vec<u8>>, GraphError> {
        let own = self.working_at(RowKeys::Vertex { partition });
        let own = own.and_then(|own| {
            let mut states = own.states();
            let state = states.find(|(period, _)| self.span(*period).covers(at))?;
            Some(state.1.to_vec())
        });
        match own {
            Some(content) => Ok(Some(content)),
            None => self.stored_at(partition, at),
        }
    }

    /// The stored content of a vertex at an instant.
    fn stored_at(&self, partition: &[u8], at: Instant) -> Result<Option<Vec<u8>>, GraphError> {
        let clustering = key::VERTEX_CLUSTERING;
        let row = self.reader.get(VERTEX, partition, clustering)?;
        let (row, newest) = (row.as_deref(), CommitVersion::MAX);
        let resolved = resolve(self.reader, partition, clustering, row, at, newest)?;
        Ok(resolved.map(|resolved| resolved.content))
    }

    /// Whether the writer may not read a stored state, so that the element is treated as absent.
    pub(super) fn is_hidden(
        &self,
        id: &ElementId,
        content: &[u8],
        at: Instant,
    ) -> Result<bool, GraphError> {
        match self.access() {
            None => Ok(false),
            Some(access) => Ok(!self.covers(&access.read, id, State { content, at })?),
        }
    }

    /// Whether a vertex with this state may be the end of an edge of this request.
    pub(super) fn may_join_with(
        &self,
        partition: &[u8],
        (content, label): (&[u8], VertexLabelId),
        at: Instant,
    ) -> Result<bool, GraphError> {
        let Some(access) = self.access() else {
            return Ok(true);
        };
        match self.knows_label(&access.write, label, at) {
            Some(known) => Ok(known),
            None => self.knows_vertex(&access.write, partition, State { content, at }),
        }
    }

    /// Whether an existing vertex with this label may be the end of an edge of this request.
    pub(super) fn may_join(
        &self,
        partition: &[u8],
        label: VertexLabelId,
    ) -> Result<bool, GraphError> {
        let Some(access) = self.access() else {
            return Ok(true);
        };
        let at = self.valid;
        if let Some(known) = self.knows_label(&access.write, label, at) {
            return Ok(known);
        }
        match self.end_at(partition, at)? {
            Some(content) => {
                let content = &content[..];
                self.knows_vertex(&access.write, partition, State { content, at })
            }
            None => Ok(false),
        }
    }
}
