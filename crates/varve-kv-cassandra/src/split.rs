//! Smaller ranges of keys, for reads that removed rows stand in the way of.
//!
//! A node gives a read up that has stepped over many tombstones without a page of rows (`tombstone_failure_threshold`), and a page
//! of fewer rows does not help where they lie one after the other. Of a smaller range of keys it does. Where in a partition the tombstones
//! are nobody tells, so a range that fails is cut by the bytes of its keys, again and again; parts of it without anything cost
//! little. What was found to be read in one go is remembered for a while, so that only the first read of a partition has to search.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use varve_kv::{KvError, TableId, patience};

use crate::failure::Failure;

/// Parts into which a range is cut. Of many, most have nothing; of few, the range that fails has to be read more often.
const WAYS: u128 = 16;
/// Bytes of keys that are reckoned with as a number.
const DIGITS: usize = 8;
/// How long cuts are remembered: the tombstones may be gone then, and each cut costs a request.
const REMEMBERED: Duration = Duration::from_secs(600);
/// Partitions whose cuts are remembered.
const PARTITIONS_MAX: usize = 256;
/// Cuts of one partition that are.
const CUTS_MAX: usize = 4_096;
/// Parts that were read go together while they took less than this share of a read that failed: then their tombstones are
/// fewer than that one's.
const TOGETHER: u32 = 4;

/// Reads of one search that may fail, where nobody waits for its end.
const FAILURES_MAX: usize = 300;

/// How long a search may go on: as long as its caller may wait, and for some failures at most. What it holds, a latch say, others wait
/// for.
#[derive(Debug)]
pub(crate) struct Bounds {
    until: Option<Instant>,
    failures: usize,
    /// Of all reads that failed, how long the longest took, and the shortest.
    longest: Duration,
    shortest: Option<Duration>,
}

impl Bounds {
    /// Those of this thread.
    pub(crate) fn new() -> Self {
        Self {
            until: patience::deadline(),
            failures: 0,
            longest: Duration::ZERO,
            shortest: None,
        }
    }

    /// Counts a read that failed so; an error if it is to be the last.
    pub(crate) fn failed(&mut self, took: Duration, failure: KvError) -> Result<(), KvError> {
        self.failures += 1;
        self.longest = self.longest.max(took);
        self.shortest = Some(self.shortest.map_or(took, |shortest| shortest.min(took)));
        match self.failures < FAILURES_MAX {
            true => Ok(()),
            false => Err(failure),
        }
    }

    /// To be asked before each read of a search: an error if it could not be over in time. The caller hears of it while it waits.
    pub(crate) fn in_time(&self, space: &str) -> Result<(), KvError> {
        let ends = Instant::now() + self.longest;
        match self.until.is_some_and(|until| ends >= until) {
            false => Ok(()),
            true => Err(Failure::Tombstones(format!(
                "the request's time was over before all was read in small pieces, of which {} were still too large",
                self.failures
            ))
            .into_error(space)),
        }
    }

    /// A row was found: failures of before do not count any more.
    pub(crate) fn found(&mut self) {
        self.failures = 0;
    }

    /// How long the shortest read took that failed, if one has.
    pub(crate) fn shortest(&self) -> Option<Duration> {
        self.shortest
    }
}

/// The first of the eight bytes of `key` at `at`, what is missing being zero, as a number.
fn digits(key: &[u8], at: usize) -> u128 {
    let byte = |at: usize| key.get(at).copied().unwrap_or(0);
    (at..at + DIGITS).fold(0, |number, at| number << 8 | u128::from(byte(at)))
}

/// Keys that cut the range from `from` up to `to` (without it; `None`: to the end), ascending; none if there is nothing to
/// cut.
pub(crate) fn cuts(from: &[u8], to: Option<&[u8]>) -> Vec<Vec<u8>> {
    let longest = from.len().max(to.map_or(0, <[u8]>::len));
    let key = |at: usize, number: u128| {
        let mut key = from.to_vec();
        key.resize(at, 0);
        key.extend_from_slice(&number.to_be_bytes()[16 - DIGITS..]);
        let length = key
            .iter()
            .rposition(|byte| *byte != 0)
            .map_or(0, |at| at + 1);
        key.truncate(length);
        key
    };
    // From where all keys that begin as `from` does are meant, there is no end.
    let mut end = to;
    let mut at = 0;
    while at <= longest {
        let low = digits(from, at);
        let high = end.map_or(1 << (8 * DIGITS), |to| digits(to, at));
        let width = high.saturating_sub(low);
        if width > 1 {
            let ways = width.min(WAYS);
            return (1..ways).map(|n| key(at, low + width * n / ways)).collect();
        }
        if width == 1 {
            if let Some(to) = end {
                let cut = key(at, high);
                if cut.as_slice() < to {
                    return vec![cut];
                }
            }
            end = None;
        }
        at += DIGITS;
    }
    Vec::new()
}

/// A part that was read, and how long its requests took.
#[derive(Debug, Clone)]
pub(crate) struct Done {
    pub(crate) from: Vec<u8>,
    pub(crate) took: Duration,
}

/// Where partitions were cut.
#[derive(Debug, Default)]
pub(crate) struct Cuts {
    any: AtomicBool,
    of: Mutex<HashMap<(TableId, Vec<u8>), Known>>,
}

#[derive(Debug)]
struct Known {
    until: Instant,
    at: Vec<Vec<u8>>,
}

impl Cuts {
    /// Those of a partition, ascending.
    pub(crate) fn of(&self, table: TableId, partition: &[u8]) -> Vec<Vec<u8>> {
        if !self.any.load(Ordering::Acquire) {
            return Vec::new();
        }
        let of = self.of.lock();
        match of.get(&(table, partition.to_vec())) {
            Some(known) if known.until > Instant::now() => known.at.clone(),
            _ => Vec::new(),
        }
    }

    /// Remembers the cuts between parts of a partition that were read, instead of what was known of the range that they make up.
    /// A read that failed took `failed`.
    pub(crate) fn learn(
        &self,
        (table, partition): (TableId, &[u8]),
        mut done: Vec<Done>,
        failed: Duration,
    ) {
        done.sort_by(|a, b| a.from.cmp(&b.from));
        let mut at: Vec<Vec<u8>> = Vec::new();
        let mut took = Duration::ZERO;
        for part in done {
            if took + part.took > failed / TOGETHER {
                at.push(part.from);
                took = Duration::ZERO;
            }
            took += part.took;
        }
        let (Some(first), Some(last)) = (at.first(), at.last()) else {
            return;
        };
        let now = Instant::now();
        let mut of = self.of.lock();
        of.retain(|_, known| known.until > now);
        let known = of.remove(&(table, partition.to_vec()));
        let before = known.map_or_else(Vec::new, |known| known.at);
        let before = before.into_iter().filter(|cut| cut < first || cut > last);
        let mut all: Vec<Vec<u8>> = before.collect();
        all.append(&mut at);
        all.sort();
        if of.len() < PARTITIONS_MAX && all.len() <= CUTS_MAX {
            let known = Known {
                until: now + REMEMBERED,
                at: all,
            };
            of.insert((table, partition.to_vec()), known);
        }
        self.any.store(!of.is_empty(), Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use varve_kv::ClusteringRange;

    use super::*;

    const NO_MORE: Option<&[u8]> = None;

    #[test]
    fn a_search_ends_with_the_time_of_its_caller() {
        let minute = Duration::from_secs(60);
        let failure = || Failure::Tombstones("too many".to_owned()).into_error("s");
        let later = Instant::now() + 10 * minute;
        let mut bounds = patience::until(later, Bounds::new);
        assert!(bounds.in_time("s").is_ok());
        bounds.failed(minute, failure()).expect("it is the first");
        assert!(bounds.in_time("s").is_ok());
        // The next may take as long, and nobody would hear of it.
        bounds
            .failed(11 * minute, failure())
            .expect("it is the second");
        bounds.failed(minute, failure()).expect("it is the third");
        let over = bounds.in_time("s").unwrap_err();
        assert!(matches!(over, KvError::Tombstones { .. }), "{over}");
        for part in ["request's time", "3 were", "gc_grace_seconds"] {
            assert!(over.to_string().contains(part), "{over}");
        }
        assert_eq!(bounds.shortest(), Some(minute));
    }

    #[test]
    fn a_search_that_nobody_waits_for_ends_with_its_failures() {
        let mut bounds = Bounds::new();
        let mut fail = |times: usize| {
            (0..times).find(|_| {
                let failure = Failure::Tombstones("too many".to_owned()).into_error("s");
                bounds.failed(Duration::from_secs(3_600), failure).is_err()
            })
        };
        assert_eq!(fail(FAILURES_MAX - 1), None);
        assert_eq!(fail(1), Some(0));
        bounds.found();
        assert!(bounds.in_time("s").is_ok());
        let failure = Failure::Tombstones("too many".to_owned()).into_error("s");
        assert!(bounds.failed(Duration::ZERO, failure).is_ok());
    }

    #[test]
    fn cuts_lie_inside_in_order() {
        let keys: [&[u8]; 12] = [
            b"",
            b"\0",
            b"\0\0\0\0\0\0\0\0\0\x05",
            b"\x01",
            b"\x01\0\0\x03",
            b"a",
            b"abcdefgh",
            b"abcdefgh\0",
            b"abcdefghijkl",
            b"abcdefgi",
            b"\xFF",
            b"\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF",
        ];
        for (n, from) in keys.iter().enumerate() {
            let ends = keys[n + 1..].iter().copied().map(Some);
            for to in ends.chain([NO_MORE]) {
                let told = format!("{from:?} to {to:?}");
                let cuts = cuts(from, to);
                assert!(cuts.is_sorted_by(|a, b| a < b), "{told}: {cuts:?}");
                assert!(
                    cuts.iter().all(|cut| cut.as_slice() > *from),
                    "{told}: {cuts:?}"
                );
                let below = |cut: &Vec<u8>| to.is_none_or(|to| cut.as_slice() < to);
                assert!(cuts.iter().all(below), "{told}: {cuts:?}");
            }
        }
        assert_eq!(cuts(b"", NO_MORE).len(), 15);
        assert_eq!(cuts(b"ab", Some(b"ab\0")), Vec::<Vec<u8>>::new());
        assert_eq!(cuts(b"ab\0", Some(b"ab\x02"))[0], b"ab\0\x20");
    }

    /// Whatever key a range holds, cutting on around it ends with few keys.
    #[test]
    fn cutting_on_comes_near_to_every_key() {
        let all: Vec<Vec<u8>> = (0..50_000_u32)
            .map(|n| [b"\x02common prefix\0\0\0\0".as_slice(), &n.to_be_bytes()].concat())
            .collect();
        for key in [&all[0], &all[17_001], &all[49_999]] {
            let mut range = ClusteringRange::all();
            let mut times = 0;
            while all.iter().filter(|key| range.contains(key)).count() > 10 {
                times += 1;
                assert!(times < 60, "{range:?}");
                let cuts = cuts(&range.from, range.to.as_deref());
                assert!(!cuts.is_empty(), "{range:?}");
                let next = cuts.partition_point(|cut| cut <= key);
                if let Some(end) = cuts.get(next) {
                    range.to = Some(end.clone());
                }
                if next > 0 {
                    range.from.clone_from(&cuts[next - 1]);
                }
                assert!(range.contains(key));
            }
        }
    }

    #[test]
    fn what_was_read_in_one_go_is_remembered() {
        let known = Cuts::default();
        let of = |known: &Cuts| known.of(TableId(1), b"p");
        assert!(of(&known).is_empty());
        let done = |parts: &[(u8, u64)]| {
            let part = |(from, took): &(u8, u64)| Done {
                from: vec![*from],
                took: Duration::from_millis(*took),
            };
            parts.iter().map(part).collect()
        };
        let place = (TableId(1), b"p".as_slice());
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
        known.learn(place, done(&parts), failed);
        assert_eq!(
            of(&known),
            [[6], [7], [8]],
            "parts that took little go together"
        );
        known.learn(place, done(&[(2, 30), (3, 30), (4, 30)]), failed);
        assert_eq!(of(&known), [[2], [3], [4], [6], [7], [8]]);
        assert!(known.of(TableId(2), b"p").is_empty());
    }
}
