//! Latches: short, in-process locks on elements and unique values, held from the read of a commit
//! to its publication.
//!
//! The table has a fixed number of slots, and a key's hash selects its slot. Two keys with the same
//! slot wait for each other without need, which is harmless. A commit takes all its slots in
//! ascending order, so there are no deadlocks. Latches belong to the commit, not to a thread: the
//! committer releases latches that another thread took.
//!
//! A batch takes some hundred to some thousand latches. So taking a free one is one atomic
//! operation, and with this number of slots two concurrent batches seldom share one. Vertices and
//! unique values have slots of two bytes, held shared or exclusively; edges are only latched
//! exclusively, so their slots are single bits. Slots are allocated in segments on first use, so a
//! graph with few writes has few. Waiting is rare, so all waiting threads share one condition
//! variable.

use std::sync::atomic::{AtomicU16, AtomicU64, AtomicUsize, Ordering, fence};
use std::sync::{Arc, OnceLock};

use parking_lot::{Condvar, Mutex};
use rustc_hash::FxHashMap;

use crate::deadline;
use crate::error::GraphError;

/// The number of slots for vertices and unique values; the first is reserved for the schema.
const SLOTS: u32 = 1 << 19;
/// The number of slots for edges.
const EDGE_SLOTS: u32 = 1 << 22;
const BITS: u32 = u64::BITS;
/// Slots, or 64-bit words of edge slots, in one segment.
const SEGMENT: usize = 1 << 12;

/// Flag of a slot: held exclusively.
const EXCLUSIVE: u16 = 1 << 15;
/// Flag of a slot: a thread waits to hold it exclusively, so no new shared holder gets it.
const AWAITED: u16 = 1 << 14;
/// The most commits that can hold a slot shared; the bits above are the flags.
const SHARED_MAX: u16 = AWAITED - 1;

/// A request for a latch. The lowest bit is set if the latch is exclusive; the other bits are the
/// slot. The slots of edges follow the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LatchKey(u32);

impl LatchKey {
    /// Every write holds this latch, shared, from before it reads the schema until it is stored.
    pub(crate) const SCHEMA: Self = Self(0);
    /// The schema's latch, exclusive: acquiring it waits until all writes with an older schema have
    /// ended.
    pub(crate) const SCHEMA_EXCLUSIVE: Self = Self(1);

    /// The exclusive latch of a key that will be changed.
    pub(crate) fn exclusive(key: &[u8]) -> Self {
        Self(slot_of(key) << 1 | 1)
    }

    /// The latch of an edge that will be changed; `key` is its partition key and clustering key at
    /// its source.
    pub(crate) fn edge(key: &[u8]) -> Self {
        Self((SLOTS + (hash(key) & (EDGE_SLOTS - 1))) << 1 | 1)
    }

    /// The shared latch of a key that must not change.
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
    /// The number of threads that wait, or are about to.
    waiting: AtomicUsize,
    parked: Mutex<()>,
    freed: Condvar,
}

/// A fixed number of integers, zero at first, allocated in segments on first use.
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

/// The latches held by one commit; dropping it releases them.
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

    /// Takes every latch of `keys`, and waits for those that others hold.
    ///
    /// # Errors
    /// [`ErrorKind::Busy`](crate::ErrorKind::Busy) when this thread's deadline passes first; none
    /// is held then.
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

    /// Takes every latch of `keys` if all are free; otherwise none.
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
            // This clears `AWAITED`; other waiting threads set it again.
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

    /// Makes a shared latch exclusive, if it has only one holder.
    fn try_raise(&self, key: LatchKey) -> bool {
        // This clears `AWAITED`; waiting threads set it again.
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

    /// Waits until `key` is free, and takes it. Returns `false` if this thread's deadline passes
    /// first.
    fn wait_for(&self, key: LatchKey) -> bool {
        // Counted before the last attempt, so a thread that frees the slot after it sees the count.
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
            // Threads that the flag kept out try again, and others that wait for the exclusive
            // latch set it again.
            self.slots
                .at(key.slot())
                .fetch_and(!AWAITED, Ordering::AcqRel);
            self.freed.notify_all();
        }
        drop(parked);
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        taken
    }

    /// Wakes the waiting threads after slots were freed.
    fn wake(&self) {
        fence(Ordering::SeqCst);
        if self.waiting.load(Ordering::SeqCst) > 0 {
            // Once this lock is taken, every thread whose attempt preceded the release waits on
            // `freed`.
            drop(self.parked.lock());
            self.freed.notify_all();
        }
    }
}

/// Sorts the keys by slot and keeps one for each, exclusive if one of them is.
fn normalized(mut keys: Vec<LatchKey>) -> Vec<LatchKey> {
    keys.sort_unstable();
    // Of two keys with one slot, the exclusive one is the later.
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
    /// Takes one more exclusive latch without waiting. Returns `false` if another commit holds its
    /// slot, or this one holds it shared.
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

    /// Takes one more latch without waiting; makes a shared one exclusive if this commit is its
    /// only holder. Returns `false` if other commits prevent it.
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

    pub(crate) fn held(&self) -> &[LatchKey] {
        &self.held
    }

    /// Takes more latches without waiting. Returns `false` at the first one that cannot be taken;
    /// the latches before it stay held. A latch cannot be taken if another commit holds it, or if
    /// it is exclusive and this commit holds its slot shared.
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
            // This request arrives while the other thread waits, or after; in both cases no latch
            // is freed.
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
