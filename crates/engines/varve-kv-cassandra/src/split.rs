//! Smaller ranges of keys, for reads that removed rows stand in the way of.
//!
//! A node gives a read up that has stepped over many tombstones without a page of rows
//! (`tombstone_failure_threshold`), and a page of fewer rows does not help where they lie one after
//! the other. Of a smaller range of keys it does. Where in a partition the tombstones are nobody
//! tells, so a range that fails is cut by the bytes of its keys, again and again; parts of it
//! without anything cost little. What was found to be read in one go is remembered for a while, so
//! that only the first read of a partition has to search.

use std::time::{Duration, Instant};

use varve_kv::{KvError, deadline};

use crate::cuts::{CutTarget, Cuts, Done};
use crate::failure::Failure;

/// Parts into which a range is cut. Of many, most have nothing; of few, the range that fails has to
/// be read more often.
const WAYS: u128 = 16;
/// Bytes of keys that are reckoned with as a number.
const DIGITS: usize = 8;
/// Reads of one search that may fail without a row between them, also where nobody waits for its
/// end.
const FAILURES_MAX: usize = 300;

/// How long a search may go on: as long as its caller may wait, and for some failures at most. What
/// it holds, a latch say, others wait for.
#[derive(Debug)]
pub(crate) struct Bounds {
    until: Option<Instant>,
    /// Since a row was found.
    failures: usize,
    failures_of_all: usize,
    /// Of all reads that failed, how long the longest took, and the shortest.
    longest: Duration,
    shortest: Option<Duration>,
}

impl Bounds {
    /// Those of this thread.
    pub(crate) fn new() -> Self {
        Self {
            until: deadline::current(),
            failures: 0,
            failures_of_all: 0,
            longest: Duration::ZERO,
            shortest: None,
        }
    }

    /// Counts a read that failed so; an error if it is to be the last.
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

    /// To be asked before each read of a search: an error if it could not be over in time. The
    /// caller hears of it while it waits.
    pub(crate) fn in_time(&self, space: &str) -> Result<(), KvError> {
        let ends = Instant::now() + self.longest;
        if self.until.is_none_or(|until| ends < until) {
            return Ok(());
        }
        let late = "the request's time was over before all was read in small pieces";
        let failure = match self.failures_of_all {
            // The cluster is slow, or what the request did before: another time it may be done.
            0 => Failure::NotDone(late.to_owned()),
            failures => {
                Failure::Tombstones(format!("{late}, of which {failures} were still too large"))
            }
        };
        Err(failure.into_error(space))
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

/// Keys that cut the range from `from` up to `to` (without it; `None`: to the end), ascending; none
/// if there is nothing to cut.
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

/// The parts of a range between these keys, which ascend; the first part comes last.
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

/// What was found out in reading something in parts.
#[derive(Debug)]
pub(crate) struct Search {
    pub(crate) bounds: Bounds,
    done: Vec<Done>,
    /// Where the part begins that is being read.
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

    /// A part is read, from here on.
    pub(crate) fn begin(&mut self, from: Vec<u8>) {
        self.at = Some(from);
    }

    /// That part was read.
    pub(crate) fn end(&mut self, took: Duration) {
        if let Some(from) = self.at.take() {
            self.done.push(Done { from, took });
        }
    }

    /// It ends before all was read: whoever searches next finds the part that is being read, and
    /// these, as they are.
    pub(crate) fn broken_off(&mut self, left: impl IntoIterator<Item = Vec<u8>>) {
        let left = self.at.take().into_iter().chain(left);
        let took = Duration::MAX;
        self.done.extend(left.map(|from| Done { from, took }));
    }

    /// The parts, for cuts of something else that has the same rows; what was known already counts
    /// as it is.
    pub(crate) fn parts(&self) -> (Vec<Done>, Duration) {
        let failed = self.bounds.shortest().unwrap_or(Duration::ZERO);
        (self.done.clone(), failed)
    }

    /// Remembers it, if anything was found out.
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

    /// Nothing says that the removed rows are what took the time.
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
            // The first keys are read in one go up to a part that fails; then the time is over.
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
}
