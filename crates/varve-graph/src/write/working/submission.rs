//! Builds the batch of a prepared commit and submits it to the committer.

use smallvec::{SmallVec, smallvec};
use varve_encoding::key;
use varve_encoding::tables::EDGE;
use varve_model::ElementId;

use super::super::emit::{ROW_BYTES, pair_of};
use super::super::keys::{Keys, RowKeys};
use super::super::{Contention, EmitContext};
use super::emission::Emission;
use super::{Working, WorkingSet};
use crate::commit::{Additions, Commit, KnownPairs, LatchSet, PairHash, Ticket, record, ticket};
use crate::error::GraphError;

impl WorkingSet<'_> {
    pub(super) fn submit(
        self,
        latches: LatchSet,
        contention: Contention,
    ) -> Result<Ticket, GraphError> {
        let pairs = self.graph.pairs();
        let known = |hash| pairs.contain(hash);
        let now = self.now;
        let context = EmitContext {
            reader: self.reader,
            schema: self.schema,
            deriver: self.deriver.as_deref(),
            now,
            known_pair: &known,
            keeps_changes: self.graph.keeps_changes(),
        };
        let mut emission = Emission::new(context, self.labels, self.request.skip_unchanged);
        emission.reserve(self.elements.len() * 4 * ROW_BYTES);
        let new_pairs = new_pairs(&self.elements, &self.keys, pairs);
        for (working, new_pair) in self.elements.into_iter().zip(new_pairs) {
            let row = self.keys.of(working.keys);
            emission.element(working, row, new_pair)?;
        }
        let Emission {
            mut emitter,
            end,
            all_new,
            new_vertices,
            ..
        } = emission;
        if emitter.batch.is_empty() {
            return Ok(Ticket::done(self.graph.published()));
        }
        for (vertex, range) in self.swept {
            emitter.batch.sweep(EDGE, &key::vertex_id(&vertex), range);
        }
        let (ticket, completer) = ticket();
        let additions = Additions {
            pairs: std::mem::take(&mut emitter.new_pairs),
            vertices: new_vertices,
            numbers_bound: None,
        };
        let (mut batch, mut stamps) = emitter.finish();
        record(&mut batch, &mut stamps);
        let commit = Commit {
            now,
            end,
            batch,
            stamps,
            latches,
            completer,
            may_wait: contention == Contention::Wait,
            additions,
        };
        match all_new {
            true => self.graph.submit_new(commit)?,
            false => self.graph.submit(commit)?,
        }
        Ok(ticket)
    }
}

/// Returns the (edge label, source) entry of each edge among the elements, unless it is known to be
/// in the index.
fn new_pairs(
    elements: &[Working<'_>],
    keys: &Keys,
    known: &KnownPairs,
) -> SmallVec<[Option<PairHash>; 4]> {
    // Most requests are of one kind of element.
    if !elements
        .iter()
        .any(|it| matches!(*it.id, ElementId::Edge(_)))
    {
        return smallvec![None; elements.len()];
    }
    let mut scratch = Vec::new();
    let mut pairs: SmallVec<[Option<PairHash>; 4]> = elements
        .iter()
        .map(|working| match (&*working.id, keys.of(working.keys)) {
            (ElementId::Edge(edge), RowKeys::Edge { source, .. }) => {
                Some(pair_of(edge.label, source, &mut scratch))
            }
            _ => None,
        })
        .collect();
    // In a loop of its own, so that the processor overlaps the cache misses of the look-ups.
    for pair in &mut pairs {
        *pair = pair.filter(|pair| !known.contain(*pair));
    }
    pairs
}
