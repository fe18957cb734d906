//! A hash table from vertex keys to numbers, used while a projection is built.

use std::ops::Range;

use varve_view::{Meter, ViewError};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::Node;
use super::vertices::Vertices;

/// An open-addressing hash table. A slot has the upper half of a key's hash and the number plus
/// one; 0 = empty.
#[derive(Debug)]
pub(super) struct Table {
    slots: Vec<u64>,
    /// Random for each projection, so that crafted ids do not collide.
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

    fn mask(&self) -> usize {
        self.slots.len() - 1
    }

    fn hash(&self, key: &[u8]) -> u64 {
        xxh3_64_with_seed(key, self.seed)
    }

    /// The number of the vertex with this key.
    pub(super) fn find(&self, key: &[u8], vertices: &Vertices) -> Option<Node> {
        let hash = self.hash(key);
        let mut at = hash as usize & self.mask();
        loop {
            let (slot, found) = self.candidate(hash, at);
            let node = Self::node(slot)?;
            if vertices.key(node) == key {
                return Some(node);
            }
            at = (found + 1) & self.mask();
        }
    }

    /// The first slot from `at` on that is empty or may belong to a key with this hash, and its
    /// index.
    #[inline]
    fn candidate(&self, hash: u64, mut at: usize) -> (u64, usize) {
        loop {
            let slot = self.slots[at];
            if slot == 0 || slot >> 32 == hash >> 32 {
                return (slot, at);
            }
            at = (at + 1) & self.mask();
        }
    }

    fn node(slot: u64) -> Option<Node> {
        (slot as u32).checked_sub(1)
    }

    /// Looks up many keys at once: see [`Batch`].
    pub(super) fn find_each(&self, vertices: &Vertices, batch: &mut Batch) {
        let Batch { keys, probes } = batch;
        let mut from = 0;
        for probe in &mut *probes {
            let end = probe.end as usize;
            probe.hash = self.hash(&keys[from..end]);
            from = end;
            probe.slot = self.slots[probe.hash as usize & self.mask()];
        }
        for probe in &mut *probes {
            if probe.slot != 0 && probe.slot >> 32 != probe.hash >> 32 {
                (probe.slot, _) = self.candidate(probe.hash, probe.hash as usize & self.mask());
            }
            probe.node = Self::node(probe.slot);
            probe.key = probe.node.map_or(0..0, |node| vertices.place(node));
        }
        let mut from = 0;
        for probe in &mut *probes {
            let key = &keys[from..probe.end as usize];
            from = probe.end as usize;
            if probe.node.is_some() && vertices.at(&probe.key) != key {
                probe.node = self.find(key, vertices);
            }
        }
    }
}

/// Keys that are looked up together. Each step is done for all keys before the next step, so that
/// their cache misses overlap.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// The concatenated keys.
    keys: Vec<u8>,
    probes: Vec<Probe>,
}

/// A key of a [`Batch`].
#[derive(Debug)]
struct Probe {
    /// The end of the key in [`Batch::keys`].
    end: u32,
    hash: u64,
    slot: u64,
    /// The position of the key of the vertex in the slot.
    key: Range<usize>,
    /// The vertex; at first a candidate, verified by the last step.
    node: Option<Node>,
}

impl Batch {
    #[inline]
    pub(super) fn push(&mut self, key: &[u8]) {
        self.keys.extend_from_slice(key);
        self.probes.push(Probe {
            end: self.keys.len() as u32,
            hash: 0,
            slot: 0,
            key: 0..0,
            node: None,
        });
    }

    pub(super) fn len(&self) -> usize {
        self.probes.len()
    }

    pub(super) fn clear(&mut self) {
        self.keys.clear();
        self.probes.clear();
    }

    /// The results of [`Table::find_each`], in the order of the keys.
    pub(super) fn found(&self) -> impl Iterator<Item = Option<Node>> + '_ {
        self.probes.iter().map(|probe| probe.node)
    }
}
