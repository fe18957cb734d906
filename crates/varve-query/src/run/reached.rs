//! Vertices that were reached, as keys: each once in a segment, without an element and without a
//! row.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use varve_view::{Expand as Ask, Flow};

use super::BATCH_MAX;
use super::context::Context;
use super::expand::{Expand, Keys, Starts};
use super::row::Row;
use crate::QueryError;

/// Bytes of a vertex besides its key, those that reading it takes included.
const REACHED_BYTES: usize = 6 * size_of::<(u64, u64)>();

/// Vertex keys, and how often each was reached.
#[derive(Default)]
pub(super) struct Reached {
    pub(super) keys: Keys,
    /// By vertex, its segment and how often it was reached.
    pub(super) bulks: Vec<(u32, u64)>,
    places: HashTable<(u64, usize)>,
    hasher: foldhash::fast::RandomState,
    /// Vertices that were charged, and the bytes of all charges.
    charged: usize,
    held: usize,
}

impl Reached {
    pub(super) const fn len(&self) -> usize {
        self.keys.len()
    }

    /// Adds a vertex that a row leads to.
    pub(super) fn add(&mut self, from: &Row, key: &[u8]) {
        let hash = self.hasher.hash_one((from.segment, key));
        let Self { keys, bulks, .. } = self;
        let is = |(own, at): &(u64, usize)| {
            *own == hash && bulks[*at].0 == from.segment && keys.get(*at) == key
        };
        match self.places.entry(hash, is, |(own, _)| *own) {
            Entry::Occupied(place) => {
                let bulk = &mut bulks[place.get().1].1;
                *bulk = bulk.saturating_add(from.bulk);
            }
            Entry::Vacant(place) => {
                place.insert((hash, bulks.len()));
                bulks.push((from.segment, from.bulk));
                keys.push_with(|bytes| bytes.extend_from_slice(key));
            }
        }
    }

    /// Charges what was added since.
    pub(super) fn charge(&mut self, cx: &Context<'_>) -> Result<(), QueryError> {
        let bytes = self.len() * REACHED_BYTES + self.keys.bytes();
        let more = bytes.saturating_sub(self.held);
        cx.meter.hold(more)?;
        self.held += more;
        self.charged = self.len();
        Ok(())
    }

    /// Gives back what was charged.
    pub(super) fn release(self, cx: &Context<'_>) {
        cx.meter.release(self.held);
    }

    /// Adds the neighbours of the vertices that come next; false when no more come.
    pub(super) fn walk(
        &mut self,
        expand: &mut Expand,
        cx: &mut Context<'_>,
    ) -> Result<bool, QueryError> {
        let Some(Starts { rows, keys }) = expand.next_from(cx, BATCH_MAX)? else {
            return Ok(false);
        };
        let Some(labels) = expand.labels.of(cx) else {
            return Ok(true);
        };
        let ask = Ask {
            direction: expand.direction,
            labels: &labels,
            properties: &[],
        };
        let mut outcome = Ok(());
        cx.view
            .neighbours(&keys.slices(), &ask, cx.meter, &mut |at, seen| {
                self.add(&rows[at], seen.other);
                if self.len() - self.charged >= BATCH_MAX {
                    outcome = self.charge(cx);
                }
                match outcome {
                    Ok(()) => Flow::Continue(()),
                    Err(_) => Flow::Break(()),
                }
            })?;
        outcome?;
        self.charge(cx)?;
        Ok(true)
    }
}
