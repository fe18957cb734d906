//! Latches: short, in-process protection of elements and unique values between reading and publication.
//!
//! A fixed table of slots; a key maps to a slot by hash, so two keys may share one (they then wait for each other
//! without need, which is harmless). A commit takes all its slots in ascending order, so commits never wait in a circle.
//! Latches belong to the commit, not to a thread: the committer releases what another thread took.

use std::sync::Arc;

use parking_lot::{Condvar, Mutex};
use rustc_hash::FxHashMap;
use varve_encoding::key;
use varve_model::{Direction, EdgeId};

/// Slots a graph has. 16 bytes each.
const SLOTS: usize = 1 << 14;

/// What a latch protects, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LatchKey {
    slot: usize,
    exclusive: bool,
}

impl LatchKey {
    /// For a key that will be changed.
    pub(crate) fn exclusive(key: &[u8]) -> Self {
        Self {
            slot: slot_of(key),
            exclusive: true,
        }
    }

    /// For an edge that will be changed.
    pub(crate) fn of_edge(id: &EdgeId) -> Self {
        let mut own = key::vertex_id(&id.source);
        own.extend_from_slice(&key::edge_clustering(id, Direction::Out));
        Self::exclusive(&own)
    }

    /// For a key that must stay as it is.
    pub(crate) fn shared(key: &[u8]) -> Self {
        Self {
            slot: slot_of(key),
            exclusive: false,
        }
    }
}

fn slot_of(key: &[u8]) -> usize {
    // The hash is not stored, any good one will do.
    (xxhash_rust::xxh3::xxh3_64(key) as usize) & (SLOTS - 1)
}

#[derive(Debug, Default)]
struct State {
    shared: u32,
    exclusive: bool,
    /// Commits that wait for the slot exclusively; new shared ones let them pass.
    waiting: u32,
}

#[derive(Debug, Default)]
struct Slot {
    state: Mutex<State>,
    freed: Condvar,
}

/// The latch table of a graph.
#[derive(Debug)]
pub(crate) struct Latches {
    slots: Box<[Slot]>,
}

/// Latches held by one commit; released when dropped.
#[derive(Debug)]
pub(crate) struct LatchSet {
    table: Arc<Latches>,
    held: Vec<LatchKey>,
}

impl Latches {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            slots: (0..SLOTS).map(|_| Slot::default()).collect(),
        })
    }

    /// Takes every latch of `keys`, waiting for those that are taken.
    pub(crate) fn acquire(self: &Arc<Self>, keys: Vec<LatchKey>) -> LatchSet {
        let mut set = LatchSet {
            table: Arc::clone(self),
            held: Vec::with_capacity(keys.len()),
        };
        for key in normalized(keys) {
            self.slots[key.slot].lock(key.exclusive);
            set.held.push(key);
        }
        set
    }

    /// Takes every latch of `keys` if none is taken; otherwise none.
    pub(crate) fn try_acquire(self: &Arc<Self>, keys: Vec<LatchKey>) -> Option<LatchSet> {
        let mut set = LatchSet {
            table: Arc::clone(self),
            held: Vec::with_capacity(keys.len()),
        };
        for key in normalized(keys) {
            if !self.slots[key.slot].try_lock(key.exclusive) {
                return None;
            }
            set.held.push(key);
        }
        Some(set)
    }
}

/// Ascending by slot, one key a slot, exclusive if one of them is.
fn normalized(mut keys: Vec<LatchKey>) -> Vec<LatchKey> {
    keys.sort_unstable();
    let mut merged: Vec<LatchKey> = Vec::with_capacity(keys.len());
    for key in keys {
        match merged.last_mut() {
            Some(last) if last.slot == key.slot => last.exclusive |= key.exclusive,
            _ => merged.push(key),
        }
    }
    merged
}

impl LatchSet {
    /// Takes one more latch exclusively without waiting. `false` when another commit holds it, or this one holds its
    /// slot shared.
    pub(crate) fn try_add(&mut self, key: LatchKey) -> bool {
        if let Some(held) = self.held.iter().find(|held| held.slot == key.slot) {
            return held.exclusive;
        }
        let taken = self.table.slots[key.slot].try_lock(key.exclusive);
        if taken {
            self.held.push(key);
        }
        taken
    }

    /// Takes more latches without waiting. `false` when another commit holds one of them, or this one holds a slot
    /// shared that is asked for exclusively; those before it are held then.
    pub(crate) fn try_add_all(&mut self, keys: Vec<LatchKey>) -> bool {
        let held = self.held.iter().map(|held| (held.slot, held.exclusive));
        let held: FxHashMap<usize, bool> = held.collect();
        normalized(keys).into_iter().all(|key| {
            if let Some(exclusive) = held.get(&key.slot) {
                return *exclusive || !key.exclusive;
            }
            let taken = self.table.slots[key.slot].try_lock(key.exclusive);
            if taken {
                self.held.push(key);
            }
            taken
        })
    }
}

impl Drop for LatchSet {
    fn drop(&mut self) {
        for key in &self.held {
            self.table.slots[key.slot].unlock(key.exclusive);
        }
    }
}

impl Slot {
    fn lock(&self, exclusive: bool) {
        let mut state = self.state.lock();
        if exclusive {
            state.waiting += 1;
            self.freed
                .wait_while(&mut state, |state| state.exclusive || state.shared > 0);
            state.waiting -= 1;
            state.exclusive = true;
        } else {
            self.freed
                .wait_while(&mut state, |state| state.exclusive || state.waiting > 0);
            state.shared += 1;
        }
    }

    fn try_lock(&self, exclusive: bool) -> bool {
        let mut state = self.state.lock();
        let free = !state.exclusive
            && if exclusive {
                state.shared == 0
            } else {
                state.waiting == 0
            };
        if free {
            if exclusive {
                state.exclusive = true;
            } else {
                state.shared += 1;
            }
        }
        free
    }

    fn unlock(&self, exclusive: bool) {
        let mut state = self.state.lock();
        if exclusive {
            state.exclusive = false;
        } else {
            state.shared -= 1;
        }
        if !state.exclusive && state.shared == 0 {
            self.freed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn shared_ones_meet_and_exclusive_ones_do_not() {
        let table = Latches::new();
        let first = table.acquire(vec![LatchKey::shared(b"a")]);
        assert!(table.try_acquire(vec![LatchKey::shared(b"a")]).is_some());
        assert!(table.try_acquire(vec![LatchKey::exclusive(b"a")]).is_none());
        drop(first);
        let mut only = table
            .try_acquire(vec![LatchKey::exclusive(b"a")])
            .expect("free again");
        assert!(table.try_acquire(vec![LatchKey::shared(b"a")]).is_none());
        assert!(only.try_add(LatchKey::exclusive(b"a")), "held by itself");
    }

    #[test]
    fn a_refused_set_leaves_nothing_behind() {
        let table = Latches::new();
        let held = table.acquire(vec![LatchKey::exclusive(b"b")]);
        assert!(
            table
                .try_acquire(vec![LatchKey::exclusive(b"a"), LatchKey::shared(b"b")])
                .is_none()
        );
        assert!(table.try_acquire(vec![LatchKey::exclusive(b"a")]).is_some());
        drop(held);
    }

    #[test]
    fn no_two_threads_hold_one_key_and_none_waits_for_ever() {
        let table = Latches::new();
        let inside: Vec<AtomicUsize> = (0..8).map(|_| AtomicUsize::new(0)).collect();
        std::thread::scope(|scope| {
            for seed in 0..8_usize {
                let (table, inside) = (&table, &inside);
                scope.spawn(move || {
                    for round in 0..2_000_usize {
                        let (a, b) = ((seed + round) % 8, (seed * 3 + round * 5) % 8);
                        let keys = [a, b].map(|k| LatchKey::exclusive(&[k as u8]));
                        let set = table.acquire(keys.to_vec());
                        assert_eq!(inside[a].fetch_add(1, Ordering::SeqCst), 0);
                        inside[a].fetch_sub(1, Ordering::SeqCst);
                        drop(set);
                    }
                });
            }
        });
    }
}
