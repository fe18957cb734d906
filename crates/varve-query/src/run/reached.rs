//! Reached vertices as keys: each once in a segment, without an element and without a row.

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

/// Bytes charged for a vertex, including those for reading it.
const REACHED_BYTES: usize = 2 * size_of::<(Vertex, u64, u32)>();
/// Keys of up to this many bytes are stored inline.
const SHORT_MAX: usize = 23;
/// Marks a longer key, in place of the length.
const LONG: u8 = u8::MAX;

/// An inline key, or the index of a long key; the last byte is the length or [`LONG`].
type Key = [u8; SHORT_MAX + 1];

fn word(key: &Key, at: usize) -> u64 {
    let (words, _) = key.as_chunks::<8>();
    u64::from_ne_bytes(words[at])
}

/// A reached vertex.
#[derive(Debug, Clone, Copy)]
pub(super) struct Vertex {
    /// Stored beside the count, so that increasing the count is one cache miss.
    key: Key,
    pub(super) segment: u32,
    /// The number of traversers that reached it.
    pub(super) bulk: u64,
}

/// Vertex keys by segment, without repeats, in the order in which they were first reached.
#[derive(Default)]
pub(super) struct Reached {
    vertices: Vec<Vertex>,
    /// Each vertex's hash, and its position in `vertices`.
    places: HashTable<(u64, u32)>,
    hasher: foldhash::fast::RandomState,
    long: IndexSet<Box<[u8]>, foldhash::fast::RandomState>,
    long_bytes: usize,
    /// The number of vertices charged.
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

    /// Sorts the vertices by their keys. No vertex may be added afterwards.
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
        // Only a new key is copied.
        let number = self.long.get_index_of(bytes).unwrap_or_else(|| {
            self.long_bytes += bytes.len();
            self.long.insert_full(bytes.into()).0
        });
        key[..4].copy_from_slice(&(number as u32).to_ne_bytes());
        key[SHORT_MAX] = LONG;
        key
    }

    /// Adds a vertex that was reached from a row.
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

    /// Charges the meter for vertices added since the last charge.
    pub(super) fn charge(&mut self, cx: &Context<'_>) -> Result<(), QueryError> {
        let bytes = self.len() * REACHED_BYTES + 2 * self.long_bytes;
        let more = bytes.saturating_sub(self.held);
        cx.meter.hold(more)?;
        self.held += more;
        self.charged = self.len();
        Ok(())
    }

    /// Returns all charged bytes to the meter.
    pub(super) fn release(self, cx: &Context<'_>) {
        cx.meter.release(self.held);
    }

    /// Adds the neighbours of the next input vertices. Returns false when the input has ended.
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
