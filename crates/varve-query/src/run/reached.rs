//! Vertices that were reached, as keys: each once in a segment, without an element and without a
//! row.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use indexmap::IndexSet;
use varve_view::{Expand as Ask, Flow};

use super::BATCH_MAX;
use super::context::Context;
use super::expand::{Expand, Starts};
use super::row::Row;
use crate::QueryError;

/// Bytes of a vertex, those that reading it takes included.
const REACHED_BYTES: usize = 2 * size_of::<(Vertex, u64, u32)>();
/// Keys of up to so many bytes stand in place.
const SHORT_MAX: usize = 23;
/// In place of the length of a key that is longer.
const LONG: u8 = u8::MAX;

/// A key, or the number of a long one; its length is at the end.
type Key = [u8; SHORT_MAX + 1];

fn word(key: &Key, at: usize) -> u64 {
    let (words, _) = key.as_chunks::<8>();
    u64::from_ne_bytes(words[at])
}

/// A vertex that was reached.
#[derive(Debug, Clone, Copy)]
pub(super) struct Vertex {
    /// Beside its count: adding to a count is one cache miss.
    key: Key,
    pub(super) segment: u32,
    /// How often.
    pub(super) bulk: u64,
}

/// Vertex keys by segment, each once, in the order in which they were reached.
#[derive(Default)]
pub(super) struct Reached {
    vertices: Vec<Vertex>,
    /// A vertex's hash and its position in `vertices`.
    places: HashTable<(u64, u32)>,
    hasher: foldhash::fast::RandomState,
    long: IndexSet<Box<[u8]>, foldhash::fast::RandomState>,
    long_bytes: usize,
    /// Vertices that were charged, and the bytes of all charges.
    charged: usize,
    held: usize,
}

impl Reached {
    pub(super) const fn len(&self) -> usize {
        self.vertices.len()
    }

    pub(super) fn vertices(&self) -> &[Vertex] {
        &self.vertices
    }

    /// The keys of the vertices.
    pub(super) fn keys(&self) -> Vec<&[u8]> {
        self.vertices
            .iter()
            .map(|vertex| self.key(vertex))
            .collect()
    }

    fn key<'k>(&'k self, vertex: &'k Vertex) -> &'k [u8] {
        match vertex.key {
            [a, b, c, d, .., LONG] => &self.long[u32::from_ne_bytes([a, b, c, d]) as usize],
            [.., length] => &vertex.key[..usize::from(length)],
        }
    }

    /// Puts the vertices in the order of their keys. None is added after that.
    pub(super) fn sort(&mut self) {
        let mut vertices = std::mem::take(&mut self.vertices);
        vertices.sort_unstable_by(|a, b| self.key(a).cmp(self.key(b)));
        self.vertices = vertices;
    }

    fn key_of(&mut self, bytes: &[u8]) -> Key {
        let mut key = [0; SHORT_MAX + 1];
        if let Some(place) = key[..SHORT_MAX].get_mut(..bytes.len()) {
            place.copy_from_slice(bytes);
            key[SHORT_MAX] = bytes.len() as u8;
            return key;
        }
        // Only a key that is new is copied.
        let number = self.long.get_index_of(bytes).unwrap_or_else(|| {
            self.long_bytes += bytes.len();
            self.long.insert_full(bytes.into()).0
        });
        key[..4].copy_from_slice(&(number as u32).to_ne_bytes());
        key[SHORT_MAX] = LONG;
        key
    }

    /// Adds a vertex that a row leads to.
    pub(super) fn add(&mut self, from: &Row, key: &[u8]) {
        let (key, segment) = (self.key_of(key), from.segment);
        let [a, b, c] = std::array::from_fn(|at| word(&key, at));
        let hash = self.hasher.hash_one((a, b, c, segment));
        let vertices = &mut self.vertices;
        let is = |(own, at): &(u64, u32)| {
            let known = &vertices[*at as usize];
            *own == hash && known.key == key && known.segment == segment
        };
        match self.places.entry(hash, is, |(own, _)| *own) {
            Entry::Occupied(place) => {
                let bulk = &mut vertices[place.get().1 as usize].bulk;
                *bulk = bulk.saturating_add(from.bulk);
            }
            Entry::Vacant(place) => {
                place.insert((hash, vertices.len() as u32));
                vertices.push(Vertex {
                    key,
                    segment,
                    bulk: from.bulk,
                });
            }
        }
    }

    /// Charges what was added since.
    pub(super) fn charge(&mut self, cx: &Context<'_>) -> Result<(), QueryError> {
        let bytes = self.len() * REACHED_BYTES + 2 * self.long_bytes;
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
