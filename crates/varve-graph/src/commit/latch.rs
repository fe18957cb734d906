//! Latches: short, in-process protection of elements and unique values between reading and
//! publication.
//!
//! A fixed table of slots; a key maps to a slot by hash, so two keys may share one (they then wait
//! for each other without need, which is harmless). A commit takes all its slots in ascending
//! order, so commits never wait in a circle. Latches belong to the commit, not to a thread: the
//! committer releases what another thread took.
//!
//! A batch takes some hundred to some thousand latches, so taking one that is free is one atomic
//! operation, and there are so many slots that two batches on their way seldom share one. Vertices
//! and unique values have slots of two bytes, shared or exclusive; edges are only ever latched
//! exclusively, so theirs are single bits. Slots are made in segments when they are first needed,
//! so that a graph that is hardly written has few. Who must wait does so at one place for the whole
//! table: that is rare.

use std::sync::atomic::{AtomicU16, AtomicU64, AtomicUsize, Ordering, fence};
use std::sync::{Arc, OnceLock};

use parking_lot::{Condvar, Mutex};
use rustc_hash::FxHashMap;

use crate::deadline;
use crate::error::GraphError;

/// Slots for vertices and unique values; the first is the schema's alone.
const SLOTS: u32 = 1 << 19;
/// Slots for edges.
const EDGE_SLOTS: u32 = 1 << 22;
const BITS: u32 = u64::BITS;
/// Slots, or words of edges' slots, that are made together.
const SEGMENT: usize = 1 << 12;

/// In a slot: it is held exclusively.
const EXCLUSIVE: u16 = 1 << 15;
/// In a slot: somebody waits to hold it exclusively, so new shared holders let him pass.
const AWAITED: u16 = 1 << 14;
/// The most commits that hold a slot shared; the rest is the two flags.
const SHARED_MAX: u16 = AWAITED - 1;

/// What a latch protects, and how: the slot, edges' after the others, and in the lowest bit whether
/// exclusively.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LatchKey(u32);

impl LatchKey {
    /// Every write holds it from before it looks at the schema until it is stored.
    pub(crate) const SCHEMA: Self = Self(0);
    /// For who waits until all writes with an older schema have ended.
    pub(crate) const SCHEMA_EXCLUSIVE: Self = Self(1);

    /// For a key that will be changed.
    pub(crate) fn exclusive(key: &[u8]) -> Self {
        Self(slot_of(key) << 1 | 1)
    }

    /// For an edge that will be changed; `key` is its source's partition key and its clustering key
    /// there.
    pub(crate) fn edge(key: &[u8]) -> Self {
        Self((SLOTS + (hash(key) & (EDGE_SLOTS - 1))) << 1 | 1)
    }

    /// For a key that must stay as it is.
    pub(crate) fn shared(key: &[u8]) -> Self {
        Self(slot_of(key) << 1)
    }

    const fn slot(self) -> u32 {
        self.0 >> 1
    }

    const fn is_exclusive(self) -> bool {
        self.0 & 1 == 1
    }
}

fn hash(key: &[u8]) -> u32 {
    crate::hash::of(key) as u32
}

fn slot_of(key: &[u8]) -> u32 {
    // The first slot is the schema's.
    (hash(key) & (SLOTS - 1)).max(1)
}

/// The latch table of a graph.
#[derive(Debug)]
pub(crate) struct Latches {
    slots: Segmented<AtomicU16>,
    edges: Segmented<AtomicU64>,
    /// Threads that wait, or are about to look again before they do.
    waiting: AtomicUsize,
    parked: Mutex<()>,
    freed: Condvar,
}

/// So many numbers, all zero at first.
#[derive(Debug)]
struct Segmented<T>(Box<[OnceLock<Box<[T]>>]>);

impl<T: Default> Segmented<T> {
    fn new(count: usize) -> Self {
        let segments = count.div_ceil(SEGMENT);
        Self((0..segments).map(|_| OnceLock::new()).collect())
    }

    fn at(&self, number: u32) -> &T {
        let number = number as usize;
        let zeros = || (0..SEGMENT).map(|_| T::default()).collect();
        &self.0[number / SEGMENT].get_or_init(zeros)[number % SEGMENT]
    }
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
            slots: Segmented::new(SLOTS as usize),
            edges: Segmented::new((EDGE_SLOTS / BITS) as usize),
            waiting: AtomicUsize::new(0),
            parked: Mutex::new(()),
            freed: Condvar::new(),
        })
    }

    /// Takes every latch of `keys`, waiting for those that are taken.
    ///
    /// # Errors
    /// [`ErrorKind::Busy`](crate::ErrorKind::Busy) when the time that this thread has is over
    /// first; none is held then.
    pub(crate) fn acquire(self: &Arc<Self>, keys: Vec<LatchKey>) -> Result<LatchSet, GraphError> {
        let mut held = normalized(keys);
        let missed = held
            .iter()
            .position(|key| !self.try_lock(*key) && !self.wait_for(*key));
        held.truncate(missed.unwrap_or(held.len()));
        let set = self.set(held);
        match missed {
            None => Ok(set),
            Some(_) => Err(deadline::too_late()),
        }
    }

    /// A set without latches.
    pub(crate) fn none(self: &Arc<Self>) -> LatchSet {
        self.set(Vec::new())
    }

    /// Takes every latch of `keys` if none is taken; otherwise none.
    pub(crate) fn try_acquire(self: &Arc<Self>, keys: Vec<LatchKey>) -> Option<LatchSet> {
        let mut held = normalized(keys);
        let taken = held.iter().position(|key| !self.try_lock(*key));
        held.truncate(taken.unwrap_or(held.len()));
        let set = self.set(held);
        taken.is_none().then_some(set)
    }

    fn set(self: &Arc<Self>, held: Vec<LatchKey>) -> LatchSet {
        let table = Arc::clone(self);
        LatchSet { table, held }
    }

    fn try_lock(&self, key: LatchKey) -> bool {
        let slot = key.slot();
        if slot >= SLOTS {
            let (word, bit) = self.edge(slot);
            return word.fetch_or(bit, Ordering::AcqRel) & bit == 0;
        }
        let slot = self.slots.at(slot);
        let taken = if key.is_exclusive() {
            // Whoever else waited asks for it anew.
            slot.fetch_update(Ordering::AcqRel, Ordering::Acquire, |state| {
                (state & !AWAITED == 0).then_some(EXCLUSIVE)
            })
        } else {
            slot.fetch_update(Ordering::AcqRel, Ordering::Acquire, |state| {
                (state < SHARED_MAX).then_some(state + 1)
            })
        };
        taken.is_ok()
    }

    /// Makes the shared latch of the only holder exclusive.
    fn try_raise(&self, key: LatchKey) -> bool {
        // Whoever waits asks for it anew.
        let raised = |state| (state & !AWAITED == 1).then_some(EXCLUSIVE);
        let slot = self.slots.at(key.slot());
        slot.fetch_update(Ordering::AcqRel, Ordering::Acquire, raised)
            .is_ok()
    }

    fn unlock(&self, key: LatchKey) {
        let slot = key.slot();
        if slot >= SLOTS {
            let (word, bit) = self.edge(slot);
            word.fetch_and(!bit, Ordering::AcqRel);
        } else if key.is_exclusive() {
            self.slots.at(slot).fetch_and(!EXCLUSIVE, Ordering::AcqRel);
        } else {
            self.slots.at(slot).fetch_sub(1, Ordering::AcqRel);
        }
    }

    fn edge(&self, slot: u32) -> (&AtomicU64, u64) {
        let slot = slot - SLOTS;
        (self.edges.at(slot / BITS), 1 << (slot % BITS))
    }

    /// Waits until `key` could be taken, and takes it. `false` if the time of this thread was over
    /// first.
    fn wait_for(&self, key: LatchKey) -> bool {
        // Counted before the last look, so whoever frees the slot after that look sees that
        // somebody waits.
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let mut parked = self.parked.lock();
        let asks = key.is_exclusive() && key.slot() < SLOTS;
        let taken = loop {
            if asks {
                self.slots
                    .at(key.slot())
                    .fetch_or(AWAITED, Ordering::AcqRel);
            }
            fence(Ordering::SeqCst);
            if self.try_lock(key) {
                break true;
            }
            if !deadline::wait(&self.freed, &mut parked) {
                break false;
            }
        };
        if asks && !taken {
            // Whom it kept out looks again, and who else waits exclusively asks for it anew.
            self.slots
                .at(key.slot())
                .fetch_and(!AWAITED, Ordering::AcqRel);
            self.freed.notify_all();
        }
        drop(parked);
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        taken
    }

    /// Wakes those who wait, after slots were freed.
    fn wake(&self) {
        fence(Ordering::SeqCst);
        if self.waiting.load(Ordering::SeqCst) > 0 {
            // Who looked before the slots were freed is parked once this lock is had.
            drop(self.parked.lock());
            self.freed.notify_all();
        }
    }
}

/// Ascending by slot, one key a slot, exclusive if one of them is.
fn normalized(mut keys: Vec<LatchKey>) -> Vec<LatchKey> {
    keys.sort_unstable();
    // Of two on one slot the exclusive one comes later.
    keys.dedup_by(|later, earlier| {
        let same = later.slot() == earlier.slot();
        if same {
            *earlier = *later;
        }
        same
    });
    keys
}

impl LatchSet {
    /// Takes one more latch exclusively without waiting. `false` when another commit holds it, or
    /// this one holds its slot shared.
    pub(crate) fn try_add(&mut self, key: LatchKey) -> bool {
        if let Some(held) = self.held.iter().find(|held| held.slot() == key.slot()) {
            return held.is_exclusive();
        }
        let taken = self.table.try_lock(key);
        if taken {
            self.held.push(key);
        }
        taken
    }

    /// Takes one more latch without waiting, also exclusively where this commit alone holds it
    /// shared. `false` when others are in the way.
    pub(crate) fn try_hold(&mut self, key: LatchKey) -> bool {
        let same = |held: &LatchKey| held.slot() == key.slot();
        let Some(at) = self.held.iter().position(same) else {
            let taken = self.table.try_lock(key);
            if taken {
                self.held.push(key);
            }
            return taken;
        };
        if self.held[at].is_exclusive() || !key.is_exclusive() {
            return true;
        }
        let alone = self.table.try_raise(key);
        if alone {
            self.held[at] = key;
        }
        alone
    }

    /// What is held.
    pub(crate) fn held(&self) -> &[LatchKey] {
        &self.held
    }

    /// Takes more latches without waiting. `false` when another commit holds one of them, or this
    /// one holds a slot shared that is asked for exclusively; those before it are held then.
    pub(crate) fn try_add_all(&mut self, keys: Vec<LatchKey>) -> bool {
        let held = self
            .held
            .iter()
            .map(|held| (held.slot(), held.is_exclusive()));
        let held: FxHashMap<u32, bool> = held.collect();
        normalized(keys).into_iter().all(|key| {
            if let Some(exclusive) = held.get(&key.slot()) {
                return *exclusive || !key.is_exclusive();
            }
            let taken = self.table.try_lock(key);
            if taken {
                self.held.push(key);
            }
            taken
        })
    }
}

impl Drop for LatchSet {
    fn drop(&mut self) {
        if self.held.is_empty() {
            return;
        }
        for key in &self.held {
            self.table.unlock(*key);
        }
        self.table.wake();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Instant;

    use crate::error::ErrorKind;

    fn take(table: &Arc<Latches>, keys: Vec<LatchKey>) -> LatchSet {
        table.acquire(keys).expect("there is time without end")
    }

    #[test]
    fn shared_ones_meet_and_exclusive_ones_do_not() {
        let table = Latches::new();
        let first = take(&table, vec![LatchKey::shared(b"a")]);
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
        let held = take(&table, vec![LatchKey::exclusive(b"b")]);
        assert!(
            table
                .try_acquire(vec![LatchKey::exclusive(b"a"), LatchKey::shared(b"b")])
                .is_none()
        );
        assert!(table.try_acquire(vec![LatchKey::exclusive(b"a")]).is_some());
        drop(held);
    }

    #[test]
    fn who_waits_exclusively_is_let_in_before_new_shared_ones() {
        let table = Latches::new();
        let shared = take(&table, vec![LatchKey::shared(b"a")]);
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| drop(take(&table, vec![LatchKey::exclusive(b"a")])));
            while table.try_acquire(vec![LatchKey::shared(b"a")]).is_some() {
                std::thread::yield_now();
            }
            drop(shared);
            waiter.join().expect("it was let in");
        });
        assert!(table.try_acquire(vec![LatchKey::shared(b"a")]).is_some());
    }

    #[test]
    fn who_has_no_more_time_holds_nothing_and_keeps_nobody_out() {
        let table = Latches::new();
        let held = take(&table, vec![LatchKey::shared(b"b")]);
        let wanted = [LatchKey::exclusive(b"a"), LatchKey::exclusive(b"b")];
        let refused = deadline::until(Instant::now(), || table.acquire(wanted.to_vec()));
        let kind = refused.map_or_else(|refused| Some(refused.kind), |_| None);
        assert_eq!(kind, Some(ErrorKind::Busy), "the other latch is held");
        assert!(table.try_acquire(vec![wanted[0]]).is_some(), "given back");
        let beside = table.try_acquire(vec![LatchKey::shared(b"b")]);
        assert!(beside.is_some(), "nobody waits any more");
        drop((held, beside));
        let free = deadline::until(Instant::now(), || table.acquire(wanted.to_vec()));
        assert!(free.is_ok(), "what is free needs no time");
    }

    #[test]
    fn whom_a_waiter_kept_out_goes_on_when_that_gives_up() {
        let table = Latches::new();
        let held = take(&table, vec![LatchKey::shared(b"a")]);
        std::thread::scope(|scope| {
            let over = Instant::now() + std::time::Duration::from_millis(100);
            let asked = vec![LatchKey::exclusive(b"a")];
            let waiter = scope.spawn({
                let table = &table;
                move || deadline::until(over, || table.acquire(asked).is_err())
            });
            while !waiter.is_finished() && table.try_acquire(vec![LatchKey::shared(b"a")]).is_some()
            {
                std::thread::yield_now();
            }
            // It comes while the waiter is there, or after; in either case nobody frees the latch.
            drop(take(&table, vec![LatchKey::shared(b"a")]));
            assert!(waiter.join().expect("it ends"));
        });
        drop(held);
    }

    #[test]
    fn the_only_shared_holder_can_become_the_exclusive_one() {
        let table = Latches::new();
        let mut one = take(&table, vec![LatchKey::shared(b"a")]);
        let other = take(&table, vec![LatchKey::shared(b"a")]);
        assert!(!one.try_hold(LatchKey::exclusive(b"a")));
        drop(other);
        assert!(one.try_hold(LatchKey::exclusive(b"a")));
        assert!(one.try_hold(LatchKey::shared(b"a")));
        assert!(one.try_hold(LatchKey::edge(b"e")));
        assert!(table.try_acquire(vec![LatchKey::shared(b"a")]).is_none());
        assert!(table.try_acquire(vec![LatchKey::edge(b"e")]).is_none());
        drop(one);
        assert!(
            table
                .try_acquire(vec![LatchKey::exclusive(b"a"), LatchKey::edge(b"e")])
                .is_some()
        );
    }

    #[test]
    fn edges_have_slots_of_their_own() {
        let table = Latches::new();
        let held = take(&table, vec![LatchKey::edge(b"a"), LatchKey::edge(b"b")]);
        assert!(table.try_acquire(vec![LatchKey::exclusive(b"a")]).is_some());
        assert!(table.try_acquire(vec![LatchKey::edge(b"b")]).is_none());
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| drop(take(&table, vec![LatchKey::edge(b"a")])));
            drop(held);
            waiter.join().expect("it was let in");
        });
        assert!(table.try_acquire(vec![LatchKey::edge(b"b")]).is_some());
    }

    #[test]
    fn of_two_on_one_slot_the_exclusive_one_counts() {
        let keys = [
            LatchKey::exclusive(b"a"),
            LatchKey::shared(b"a"),
            LatchKey::SCHEMA,
        ];
        assert_eq!(
            normalized(keys.to_vec()),
            [LatchKey::SCHEMA, LatchKey::exclusive(b"a")]
        );
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
                        let keys = [a, b].map(|k| match k % 2 {
                            0 => LatchKey::exclusive(&[k as u8]),
                            _ => LatchKey::edge(&[k as u8]),
                        });
                        let set = take(table, keys.to_vec());
                        assert_eq!(inside[a].fetch_add(1, Ordering::SeqCst), 0);
                        inside[a].fetch_sub(1, Ordering::SeqCst);
                        drop(set);
                    }
                });
            }
        });
    }
}
