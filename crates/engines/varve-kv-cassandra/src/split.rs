//! Splits ranges of keys, for reads that meet too many tombstones.
//!
//! A node gives up a read that has skipped many tombstones without filling a page
//! (`tombstone_failure_threshold`). Smaller pages do not help if the tombstones are adjacent, but
//! smaller ranges of keys do. The position of the tombstones in a partition is unknown. So a failed
//! range is split by the bytes of its keys, repeatedly; empty parts cost little. Ranges that could
//! be read are remembered for a while, so that only the first read of a partition has to search.

use std::time::{Duration, Instant};

use varve_kv::{KvError, deadline};

use crate::cuts::{CutTarget, Cuts, Done};
use crate::failure::Failure;

/// The number of parts into which a range is split. With many parts, most are empty; with few, more
/// failing reads are needed.
const WAYS: u128 = 16;
/// The number of key bytes that are handled as one number.
const DIGITS: usize = 8;
/// Reads of one search that may fail without a row between them, even without a deadline.
const FAILURES_MAX: usize = 300;

/// The limits of a search: the deadline of its caller, and a number of failures. Other callers may
/// wait for something that the search holds, such as a latch.
#[derive(Debug)]
pub(crate) struct Bounds {
    until: Option<Instant>,
    /// Failures since a row was found.
    failures: usize,
    failures_of_all: usize,
    /// The longest and the shortest duration of a failed read.
    longest: Duration,
    shortest: Option<Duration>,
}

impl Bounds {
    /// Creates limits with this thread's deadline.
    pub(crate) fn new() -> Self {
        Self {
            until: deadline::current(),
            failures: 0,
            failures_of_all: 0,
            longest: Duration::ZERO,
            shortest: None,
        }
    }

    /// Counts a failed read; returns an error if no more may fail.
    pub(crate) fn failed(&mut self, took: Duration, failure: KvError) -> Result<(), KvError> {
        self.failures += 1;
        self.failures_of_all += 1;
        self.longest = self.longest.max(took);
        self.shortest = Some(self.shortest.map_or(took, |shortest| shortest.min(took)));
        match self.failures < FAILURES_MAX {
            true => Ok(()),
            false => Err(failure),
        }
    }

    /// Must be called before each read of a search. Returns an error if the read could not end
    /// before the deadline, so that the caller gets the error in time.
    pub(crate) fn in_time(&self, space: &str) -> Result<(), KvError> {
        let ends = Instant::now() + self.longest;
        if self.until.is_none_or(|until| ends < until) {
            return Ok(());
        }
        let late = "the deadline passed before all was read in small pieces";
        let failure = match self.failures_of_all {
            // No read has failed: the cluster, or an earlier step of the request, was slow. A retry
            // may succeed.
            0 => Failure::NotDone(late.to_owned()),
            failures => {
                Failure::Tombstones(format!("{late}, of which {failures} were still too large"))
            }
        };
        Err(failure.into_error(space))
    }

    /// Notes that a row was found: earlier failures do not count any more.
    pub(crate) fn found(&mut self) {
        self.failures = 0;
    }

    /// The duration of the shortest failed read, if there is one.
    pub(crate) fn shortest(&self) -> Option<Duration> {
        self.shortest
    }
}

/// Returns the eight bytes of `key` from `at` on as a number, missing bytes being zero.
fn digits(key: &[u8], at: usize) -> u128 {
    let byte = |at: usize| key.get(at).copied().unwrap_or(0);
    (at..at + DIGITS).fold(0, |number, at| number << 8 | u128::from(byte(at)))
}

/// Returns ascending keys that split the range from `from` up to but without `to` (`None`: to the
/// end); empty if the range cannot be split.
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
    // Below, the range covers all keys with the current prefix of `from`, so it has no end.
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

/// Returns the parts of a range between these ascending keys, the first part last.
pub(crate) fn parts<K: Ord + Clone>(
    (from, to): (K, Option<K>),
    cuts: impl IntoIterator<Item = K>,
) -> Vec<(K, Option<K>)> {
    let inside = |cut: &K| *cut > from && to.as_ref().is_none_or(|to| cut < to);
    let cuts: Vec<K> = cuts.into_iter().filter(inside).collect();
    let ends = cuts.iter().cloned().map(Some).chain([to.clone()]);
    let mut parts: Vec<_> = [from.clone()]
        .into_iter()
        .chain(cuts.clone())
        .zip(ends)
        .collect();
    parts.reverse();
    parts
}

/// The results of a read in parts.
#[derive(Debug)]
pub(crate) struct Search {
    pub(crate) bounds: Bounds,
    done: Vec<Done>,
    /// The start of the part that is being read.
    at: Option<Vec<u8>>,
}

impl Search {
    pub(crate) fn new() -> Self {
        Self {
            bounds: Bounds::new(),
            done: Vec::new(),
            at: None,
        }
    }

    /// Notes that the read of a part begins.
    pub(crate) fn begin(&mut self, from: Vec<u8>) {
        self.at = Some(from);
    }

    /// Notes that the part was read.
    pub(crate) fn end(&mut self, took: Duration) {
        if let Some(from) = self.at.take() {
            self.done.push(Done { from, took });
        }
    }

    /// Ends the search early: the part that is being read and the ones in `left` are remembered as
    /// they are, for the next search.
    pub(crate) fn broken_off(&mut self, left: impl IntoIterator<Item = Vec<u8>>) {
        let left = self.at.take().into_iter().chain(left);
        let took = Duration::MAX;
        self.done.extend(left.map(|from| Done { from, took }));
    }

    /// Returns the parts, to be added to the cuts of another target with the same rows. The cuts
    /// that the other target has already are kept.
    pub(crate) fn parts(&self) -> (Vec<Done>, Duration) {
        let failed = self.bounds.shortest().unwrap_or(Duration::ZERO);
        (self.done.clone(), failed)
    }

    /// Remembers the parts, if any read has failed.
    pub(crate) fn learn(self, cuts: &Cuts, place: CutTarget) {
        if let Some(failed) = self.bounds.shortest() {
            cuts.learn(place, self.done, failed);
        }
    }
}

#[cfg(test)]
mod tests {
    use varve_kv::{ClusteringRange, TableId};

    use super::*;
    use crate::cuts::Whole;

    const NO_MORE: Option<&[u8]> = None;

    #[test]
    fn a_search_ends_with_the_time_of_its_caller() {
        let minute = Duration::from_secs(60);
        let failure = || Failure::Tombstones("too many".to_owned()).into_error("s");
        let later = Instant::now() + 10 * minute;
        let mut bounds = deadline::until(later, Bounds::new);
        assert!(bounds.in_time("s").is_ok());
        bounds.failed(minute, failure()).expect("it is the first");
        assert!(bounds.in_time("s").is_ok());
        // The next read may take as long, and would end after the deadline.
        bounds
            .failed(11 * minute, failure())
            .expect("it is the second");
        bounds.failed(minute, failure()).expect("it is the third");
        let over = bounds.in_time("s").unwrap_err();
        assert!(matches!(over, KvError::Tombstones { .. }), "{over}");
        for part in ["deadline passed", "3 were", "gc_grace_seconds"] {
            assert!(over.to_string().contains(part), "{over}");
        }
        assert_eq!(bounds.shortest(), Some(minute));
    }

    /// Nothing shows that tombstones took the time.
    #[test]
    fn a_search_without_failures_that_is_late_is_to_be_tried_again() {
        let bounds = deadline::until(Instant::now(), Bounds::new);
        let late = bounds.in_time("s").unwrap_err();
        assert!(matches!(late, KvError::Away { .. }), "{late}");
        let mut bounds = deadline::until(Instant::now(), Bounds::new);
        let failure = Failure::Tombstones("too many".to_owned()).into_error("s");
        bounds
            .failed(Duration::ZERO, failure)
            .expect("it is the first");
        bounds.found();
        let late = bounds.in_time("s").unwrap_err();
        assert!(matches!(late, KvError::Tombstones { .. }), "{late}");
        assert!(late.to_string().contains("1 were"), "{late}");
    }

    #[test]
    fn what_a_search_left_is_found_by_the_next_one_as_it_was() {
        let cuts_known = Cuts::default();
        let place = (TableId(1), Whole::Token(7));
        let mut rounds = 0;
        loop {
            rounds += 1;
            let mut search = Search::new();
            let mut todo = parts((Vec::new(), None), cuts_known.of(&place));
            let before: Vec<_> = todo.iter().map(|(from, _)| from.clone()).collect();
            // The first keys are read at once up to a part that fails; then the deadline passes.
            let narrow = |from: &[u8], to: &Option<Vec<u8>>| {
                to.as_ref()
                    .is_some_and(|to| from[..] <= b"aaa"[..] && to[..] <= b"aab"[..])
            };
            let failed = loop {
                let Some((from, to)) = todo.pop() else {
                    break false;
                };
                search.begin(from.clone());
                if to.as_ref().is_some_and(|to| to[..] <= b"aaa"[..])
                    || from[..] > b"aaa"[..]
                    || narrow(&from, &to)
                {
                    search.end(Duration::from_nanos(1));
                    continue;
                }
                let failure = Failure::Tombstones("too many".to_owned()).into_error("s");
                search
                    .bounds
                    .failed(Duration::from_secs(1), failure)
                    .expect("there are few");
                let cuts = cuts(&from, to.as_deref());
                todo.extend(parts((from, to), cuts));
                break true;
            };
            if !failed {
                break;
            }
            assert!(rounds < 20, "{before:?}");
            search.broken_off(todo.into_iter().map(|(from, _)| from));
            search.learn(&cuts_known, place.clone());
        }
        assert!(rounds > 2, "{rounds}");
    }

    #[test]
    fn parts_cover_their_range_and_begin_at_its_cuts() {
        let cut = parts((1, Some(9)), [0, 1, 4, 6, 9, 12]);
        assert_eq!(cut, [(6, Some(9)), (4, Some(6)), (1, Some(4))]);
        assert_eq!(parts((3, None), [1]), [(3, None)]);
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
                let case = format!("{from:?} to {to:?}");
                let cuts = cuts(from, to);
                assert!(cuts.is_sorted_by(|a, b| a < b), "{case}: {cuts:?}");
                assert!(
                    cuts.iter().all(|cut| cut.as_slice() > *from),
                    "{case}: {cuts:?}"
                );
                let below = |cut: &Vec<u8>| to.is_none_or(|to| cut.as_slice() < to);
                assert!(cuts.iter().all(below), "{case}: {cuts:?}");
            }
        }
        assert_eq!(cuts(b"", NO_MORE).len(), 15);
        assert_eq!(cuts(b"ab", Some(b"ab\0")), Vec::<Vec<u8>>::new());
        assert_eq!(cuts(b"ab\0", Some(b"ab\x02"))[0], b"ab\0\x20");
    }

    /// For every key in a range, repeated splitting around it ends with few keys.
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
}
