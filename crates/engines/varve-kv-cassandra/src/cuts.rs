//! Cuts: the keys at which partitions and tables with many tombstones are read in parts, as found
//! by earlier reads.
//!
//! Each part costs a request with every read. So cuts are forgotten if they are not used, if the
//! tombstones may be gone meanwhile, or if there is no memory for them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use varve_kv::TableId;

/// How long cuts are remembered after their last use.
const REMEMBERED: Duration = Duration::from_secs(600);
/// The longest time for which cuts are remembered, even if they are used: then the tombstones may
/// be gone, and each cut costs a request.
const REMEMBERED_LONGEST: Duration = Duration::from_secs(3_600);
/// The approximate memory of all targets with their cuts.
const BYTES_MAX: usize = 4 << 20;
/// The memory of the cuts of one target, and their largest number.
const PLACE_BYTES_MAX: usize = BYTES_MAX / 4;
const CUTS_MAX: usize = 4_096;
/// The approximate memory of a target besides its key, and of a cut besides its bytes.
const PLACE_BYTES: usize = 160;
const CUT_BYTES: usize = 40;
/// Adjacent parts are joined while their reads took less than 1/`TOGETHER` of a failed read: then
/// they have fewer tombstones than that one.
const TOGETHER: u32 = 4;

/// A part that was read, and the duration of its requests.
#[derive(Debug, Clone)]
pub(crate) struct Done {
    pub(crate) from: Vec<u8>,
    pub(crate) took: Duration,
}

/// The unit that is read in parts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Whole {
    /// A partition, given by its stored key, in parts by clustering keys.
    Partition(Vec<u8>),
    /// The keys of all partitions with a token, by clustering keys.
    Token(i64),
    /// A table, by tokens.
    Table,
}

/// The unit that is read in parts, and its table.
pub(crate) type CutTarget = (TableId, Whole);

/// The known cuts of partitions and tables.
#[derive(Debug, Default)]
pub(crate) struct Cuts {
    any: AtomicBool,
    kept: Mutex<CutCache>,
}

#[derive(Debug, Default)]
struct CutCache {
    of: HashMap<CutTarget, Known>,
    bytes: usize,
}

#[derive(Debug)]
struct Known {
    found: Instant,
    until: Instant,
    at: Vec<Vec<u8>>,
}

/// The memory of a target with its cuts.
fn bytes_of(place: &CutTarget, cuts: &[Vec<u8>]) -> usize {
    let key = match &place.1 {
        Whole::Partition(key) => key.len(),
        Whole::Token(_) | Whole::Table => 0,
    };
    let cuts: usize = cuts.iter().map(|cut| CUT_BYTES + cut.len()).sum();
    PLACE_BYTES + key + cuts
}

/// Returns how many of these cuts of one target may be remembered, from the first on.
fn room(cuts: &[Vec<u8>]) -> usize {
    let mut bytes = 0;
    let fits = |cut: &&Vec<u8>| {
        bytes += CUT_BYTES + cut.len();
        bytes <= PLACE_BYTES_MAX
    };
    cuts.iter().take(CUTS_MAX).take_while(fits).count()
}

impl CutCache {
    fn insert(&mut self, place: CutTarget, known: Known) {
        self.bytes += bytes_of(&place, &known.at);
        self.of.insert(place, known);
    }

    fn remove(&mut self, place: &CutTarget) -> Option<Known> {
        let known = self.of.remove(place)?;
        self.bytes -= bytes_of(place, &known.at);
        Some(known)
    }

    /// Forgets expired targets and, while the others use too much memory, those that expire first.
    fn forget(&mut self, now: Instant) {
        let bytes = &mut self.bytes;
        self.of.retain(|place, known| {
            let stays = known.until > now;
            if !stays {
                *bytes -= bytes_of(place, &known.at);
            }
            stays
        });
        while self.bytes > BYTES_MAX {
            let first = self.of.iter().min_by_key(|(_, known)| known.until);
            let Some(first) = first.map(|(place, _)| place.clone()) else {
                return;
            };
            self.remove(&first);
        }
    }
}

impl Cuts {
    /// Returns the cuts of a target, ascending.
    pub(crate) fn of(&self, place: &CutTarget) -> Vec<Vec<u8>> {
        self.of_at(place, Instant::now())
    }

    fn of_at(&self, place: &CutTarget, now: Instant) -> Vec<Vec<u8>> {
        if !self.any.load(Ordering::Acquire) {
            return Vec::new();
        }
        let mut kept = self.kept.lock();
        match kept.of.get_mut(place) {
            Some(known) if known.until > now => {
                known.until = (now + REMEMBERED).min(known.found + REMEMBERED_LONGEST);
                known.at.clone()
            }
            _ => Vec::new(),
        }
    }

    /// Remembers the cuts between parts that were read, instead of the known ones in the range of
    /// these parts. `failed` is the duration of a failed read.
    pub(crate) fn learn(&self, place: CutTarget, done: Vec<Done>, failed: Duration) {
        self.learn_at(place, done, failed, Instant::now());
    }

    fn learn_at(&self, place: CutTarget, mut done: Vec<Done>, failed: Duration, now: Instant) {
        done.sort_by(|a, b| a.from.cmp(&b.from));
        let mut at: Vec<Vec<u8>> = Vec::new();
        let mut took = Duration::ZERO;
        for part in done {
            if took.saturating_add(part.took) > failed / TOGETHER {
                at.push(part.from);
                took = Duration::ZERO;
            }
            took = took.saturating_add(part.took);
        }
        at.dedup();
        let (Some(first), Some(last)) = (at.first(), at.last()) else {
            return;
        };
        let mut kept = self.kept.lock();
        kept.forget(now);
        let before = kept.remove(&place).map_or_else(Vec::new, |known| known.at);
        let beside = before.iter().filter(|cut| *cut < first || *cut > last);
        let mut all: Vec<Vec<u8>> = beside.cloned().collect();
        all.append(&mut at);
        all.sort();
        let room = room(&all);
        if room < all.len() {
            // If there are too many, keeps the earlier cuts, which have proved useful; or the first
            // ones if there were none.
            match before.is_empty() {
                true => all.truncate(room),
                false => all = before,
            }
        }
        let known = Known {
            found: now,
            until: now + REMEMBERED,
            at: all,
        };
        kept.insert(place, known);
        kept.forget(now);
        self.any.store(!kept.of.is_empty(), Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_in_one_go_is_remembered() {
        let place = |table: u8| (TableId(table), Whole::Partition(b"p".to_vec()));
        let known = Cuts::default();
        let of = |known: &Cuts| known.of(&place(1));
        assert!(of(&known).is_empty());
        let done = |parts: &[(u8, u64)]| {
            let part = |(from, took): &(u8, u64)| Done {
                from: vec![*from],
                took: Duration::from_millis(*took),
            };
            parts.iter().map(part).collect()
        };
        let failed = Duration::from_millis(100);
        let parts = [
            (5, 20),
            (0, 1),
            (2, 1),
            (1, 1),
            (6, 3),
            (3, 1),
            (7, 90),
            (8, 1),
        ];
        known.learn(place(1), done(&parts), failed);
        assert_eq!(
            of(&known),
            [[6], [7], [8]],
            "parts that took little go together"
        );
        known.learn(place(1), done(&[(2, 30), (3, 30), (4, 30)]), failed);
        assert_eq!(of(&known), [[2], [3], [4], [6], [7], [8]]);
        assert!(known.of(&place(2)).is_empty());
        assert!(known.of(&(TableId(1), Whole::Token(1))).is_empty());
    }

    /// Parts that begin at these keys and took too long to be joined.
    fn slow(keys: impl IntoIterator<Item = Vec<u8>>) -> Vec<Done> {
        let took = Duration::MAX;
        let done = |from| Done { from, took };
        keys.into_iter().map(done).collect()
    }

    fn partition(n: u32) -> CutTarget {
        let key = [&n.to_be_bytes()[..], &[0; 1_000]].concat();
        (TableId(1), Whole::Partition(key))
    }

    #[test]
    fn of_too_many_places_the_one_that_was_used_least_lately_is_forgotten() {
        let (known, begun) = (Cuts::default(), Instant::now());
        let at = |n: u32| begun + Duration::from_millis(n.into());
        let many = u32::try_from(BYTES_MAX / 1_000).expect("few");
        for n in 0..many {
            known.learn_at(partition(n), slow([vec![1]]), Duration::ZERO, at(n));
            assert_eq!(known.of_at(&partition(0), at(n)), [[1]], "{n}");
        }
        assert_eq!(known.of_at(&partition(many - 1), at(many)), [[1]]);
        assert!(known.of_at(&partition(1), at(many)).is_empty());
        let kept = known.kept.lock();
        assert!(kept.bytes <= BYTES_MAX && kept.of.len() > 1_000);
        let bytes = kept.of.iter().map(|(place, it)| bytes_of(place, &it.at));
        assert_eq!(bytes.sum::<usize>(), kept.bytes);
    }

    #[test]
    fn what_is_used_is_remembered_but_not_for_ever() {
        let (known, begun, place) = (Cuts::default(), Instant::now(), partition(1));
        known.learn_at(place.clone(), slow([vec![1]]), Duration::ZERO, begun);
        let step = REMEMBERED - Duration::from_secs(1);
        let mut now = begun;
        while now + step < begun + REMEMBERED_LONGEST {
            now += step;
            assert_eq!(known.of_at(&place, now), [[1]], "{:?}", now - begun);
        }
        let over = begun + REMEMBERED_LONGEST;
        assert!(known.of_at(&place, over).is_empty());
        known.learn_at(place.clone(), slow([vec![1]]), Duration::ZERO, over);
        assert!(known.of_at(&place, over + REMEMBERED).is_empty());
    }

    #[test]
    fn of_too_many_cuts_of_a_place_those_of_before_stay() {
        let (known, place) = (Cuts::default(), partition(1));
        let key = |n: usize, length: usize| {
            let mut key = n.to_be_bytes().to_vec();
            key.resize(length, 1);
            key
        };
        let learn = |keys: Vec<Vec<u8>>| known.learn(place.clone(), slow(keys), Duration::ZERO);
        learn((1..=CUTS_MAX + 9).map(|n| key(n, 8)).collect());
        let first: Vec<_> = (1..=CUTS_MAX).map(|n| key(n, 8)).collect();
        assert_eq!(known.of(&place), first);
        learn(vec![key(CUTS_MAX + 1, 8)]);
        assert_eq!(known.of(&place), first);
        // The same for fewer cuts that are long.
        let few = PLACE_BYTES_MAX / 60_000;
        learn((1..=100).map(|n| key(n, 60_000)).collect());
        assert_eq!(known.of(&place), first);
        let other = (TableId(1), Whole::Table);
        let long = (1..=100).map(|n| key(n, 60_000));
        known.learn(other.clone(), slow(long), Duration::ZERO);
        assert_eq!(known.of(&other).len(), few);
        assert!(known.kept.lock().bytes <= BYTES_MAX);
    }
}
