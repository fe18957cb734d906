//! Dense numbers for the vertex keys that a request meets.

use hashbrown::HashTable;
use varve_view::{Meter, ViewError};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::search::VertexNumber;

/// Bytes of a vertex without its key: an end, and a slot of the table.
const VERTEX_BYTES: usize = 16;

/// Keys in the order in which they were met.
#[derive(Debug)]
pub(crate) struct Keys {
    bytes: Vec<u8>,
    /// The end of each key in `bytes`.
    ends: Vec<usize>,
    table: HashTable<VertexNumber>,
    /// Random for each request, so that crafted ids do not collide.
    seed: u64,
}

impl Keys {
    pub(crate) fn new() -> Self {
        use std::hash::{BuildHasher, RandomState};
        Self {
            bytes: Vec::new(),
            ends: Vec::new(),
            table: HashTable::new(),
            seed: RandomState::new().hash_one(0),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn get(&self, number: VertexNumber) -> &[u8] {
        key(&self.bytes, &self.ends, number)
    }

    /// The number of a key. A new key gets the next number.
    pub(crate) fn number(
        &mut self,
        wanted: &[u8],
        meter: &Meter,
    ) -> Result<VertexNumber, ViewError> {
        let (bytes, ends, seed) = (&self.bytes, &self.ends, self.seed);
        let hash = xxh3_64_with_seed(wanted, seed);
        let is_it = |number: &VertexNumber| key(bytes, ends, *number) == wanted;
        if let Some(number) = self.table.find(hash, is_it) {
            return Ok(*number);
        }
        meter.hold(wanted.len() + VERTEX_BYTES)?;
        let next = VertexNumber::try_from(self.ends.len());
        let number = next.map_err(|_| ViewError::Memory {
            max: u64::from(u32::MAX),
        })?;
        self.bytes.extend_from_slice(wanted);
        self.ends.push(self.bytes.len());
        let (bytes, ends) = (&self.bytes, &self.ends);
        let rehash = |number: &VertexNumber| xxh3_64_with_seed(key(bytes, ends, *number), seed);
        self.table.insert_unique(hash, number, rehash);
        Ok(number)
    }
}

fn key<'a>(bytes: &'a [u8], ends: &[usize], number: VertexNumber) -> &'a [u8] {
    let at = number as usize;
    let start = at.checked_sub(1).map_or(0, |before| ends[before]);
    &bytes[start..ends[at]]
}
