//! From vertex keys to numbers, while a projection is made.

use varve_view::{Meter, ViewError};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::Node;
use super::vertices::Vertices;

/// An open hash table. A slot has the upper half of a key's hash, and the number plus one.
#[derive(Debug)]
pub(super) struct Table {
    slots: Vec<u64>,
    /// Drawn for each projection, so that crafted ids do not collide.
    seed: u64,
}

impl Table {
    pub(super) fn new(vertices: &Vertices, meter: &Meter) -> Result<Self, ViewError> {
        use std::hash::{BuildHasher, RandomState};
        let count = (2 * vertices.len()).next_power_of_two().max(2);
        meter.hold(count * size_of::<u64>())?;
        let mut table = Self {
            slots: vec![0; count],
            seed: RandomState::new().hash_one(0),
        };
        let mask = count - 1;
        for node in vertices.numbers() {
            let hash = xxh3_64_with_seed(vertices.key(node), table.seed);
            let mut at = hash as usize & mask;
            while table.slots[at] != 0 {
                at = (at + 1) & mask;
            }
            table.slots[at] = (hash >> 32 << 32) | (u64::from(node) + 1);
        }
        Ok(table)
    }

    pub(super) fn bytes(&self) -> usize {
        self.slots.len() * size_of::<u64>()
    }

    /// The number of the vertex with this key.
    #[inline]
    pub(super) fn find(&self, key: &[u8], vertices: &Vertices) -> Option<Node> {
        let hash = xxh3_64_with_seed(key, self.seed);
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                return None;
            }
            let node = slot as u32 - 1;
            if slot >> 32 == hash >> 32 && vertices.key(node) == key {
                return Some(node);
            }
            at = (at + 1) & mask;
        }
    }
}
