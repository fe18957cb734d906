//! Unique values: no two elements hold the same at one instant, from now on.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use varve_kv::{Flow, Reader};
use varve_model::{CommitVersion, ElementId, Instant, Period};

use super::emit::{sides, unique_entries};
use super::working::{Outcome, WorkingSet, read_current, resolve_at};
use crate::commit::{LatchKey, LatchSet};
use crate::error::GraphError;
use crate::index;
use crate::read::scan_events;

/// How a claim ended.
pub(super) enum Claim {
    /// All values are claimed; the commit goes on with these latches.
    Held(LatchSet),
    /// Another commit holds this latch.
    Taken(LatchKey),
}

impl WorkingSet<'_> {
    /// Latches the unique values of every new state and checks that no other element holds them at any instant of the
    /// period from now on. The past is not checked: it has no unique values.
    pub(super) fn claim_unique(&self, mut latches: LatchSet) -> Result<Claim, GraphError> {
        if self.period.to.is_some_and(|to| to <= self.now) {
            return Ok(Claim::Held(latches));
        }
        let mut claimed: FxHashMap<Vec<u8>, usize> = FxHashMap::default();
        for (at, working) in self.elements.iter().enumerate() {
            let Outcome::Put(content) = &working.outcome else {
                continue;
            };
            for (label, entry) in unique_entries(self.schema, &working.id, content)? {
                let conflict = || {
                    let shown = match &*working.id {
                        ElementId::Vertex(id) => format!("v[{id}]"),
                        ElementId::Edge(id) => format!("e[{id}]"),
                    };
                    GraphError::invalid(format!(
                        "Unique constraint {}(id={}) conflict is found for {shown}",
                        label.name, label.id
                    ))
                };
                let latch = LatchKey::exclusive(&entry.partition);
                if !latches.try_add(latch) {
                    return Ok(Claim::Taken(latch));
                }
                if claimed
                    .insert(entry.partition.clone(), at)
                    .is_some_and(|other| other != at)
                {
                    return Err(conflict());
                }
                for holder in index::holders(self.reader, &entry.partition)? {
                    if holder != *working.id && self.still_holds(&holder, &entry.partition)? {
                        return Err(conflict());
                    }
                }
            }
        }
        Ok(Claim::Held(latches))
    }

    /// Whether `holder` has the unique values of a partition at any instant of the period, from now on.
    fn still_holds(&self, holder: &ElementId, partition: &[u8]) -> Result<bool, GraphError> {
        let has = |content: &[u8]| -> Result<bool, GraphError> {
            let own = unique_entries(self.schema, holder, content)?;
            Ok(own.iter().any(|(_, entry)| entry.partition == partition))
        };
        match self.outcome_of(holder) {
            Some(Outcome::Put(content)) => return has(content),
            Some(Outcome::Delete) => return Ok(false),
            Some(Outcome::Untouched) | None => {}
        }
        // The holder is not latched: without one state its rows could move between two looks.
        let state = Arc::clone(self.graph.space()).snapshot();
        for instant in self.changes_of(&*state, holder)? {
            if let Some(resolved) = resolve_at(&*state, holder, instant)?
                && has(&resolved.content)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The instants of the period, from now on, at which the state of an element may change, its start included.
    fn changes_of(&self, state: &dyn Reader, id: &ElementId) -> Result<Vec<Instant>, GraphError> {
        let from = self.valid.max(self.now);
        let to = self.period.to.unwrap_or(Instant::FOREVER);
        let mut instants = vec![from];
        let mut add = |period: Period| {
            for instant in [period.from, period.to] {
                if from < instant && instant < to {
                    instants.push(instant);
                }
            }
        };
        if let Some(current) = read_current(state, id)? {
            add(current.header.period());
        }
        let (_, sides) = sides(id);
        let (side, newest) = (&sides[0], CommitVersion::MAX);
        scan_events(
            state,
            &side.partition,
            &side.clustering,
            newest,
            &mut |header, _| {
                add(header.period());
                Flow::Continue(())
            },
        )?;
        instants.sort_unstable();
        instants.dedup();
        Ok(instants)
    }
}
