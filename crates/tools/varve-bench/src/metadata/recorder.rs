//! The measurements of the suite: a histogram for each row, the failed test cases, and optionally
//! the evidence of each call.

use std::collections::BTreeMap;
use std::time::Duration;

use hdrhistogram::Histogram;

use super::client::Failure;
use super::evidence::Evidence;
use super::profile::{Profile, ROWS, Row};
use super::result::{FailedCase, RowResult};
use crate::histogram::{buckets, histogram, median_interval, median_of};

/// The longest time that a histogram distinguishes: half an hour, in nanoseconds. Longer times
/// count as this one.
const LONGEST_NS: u64 = 1_800_000_000_000;
/// Failed test cases of a profile that are recorded in full; further ones are only counted.
const KEPT_FAILURES: usize = 20;

/// A timed call that belongs to a row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call {
    pub(crate) elapsed: Duration,
    /// Instances in the answer.
    pub(crate) instances: u64,
    /// Bytes of the answer.
    pub(crate) bytes: u64,
}

/// The measurements so far.
#[derive(Debug)]
pub(crate) struct Recorder {
    rows: Vec<RowTally>,
    failures: Vec<FailedCase>,
    evidence: Option<Evidence>,
    calls: u64,
    failed: u64,
}

#[derive(Debug, Default)]
struct RowTally {
    histogram: Option<Histogram<u64>>,
    instances: u64,
    bytes: u64,
    not_supported: bool,
}

impl Recorder {
    pub(crate) fn new(evidence: Option<Evidence>) -> Self {
        Self {
            rows: ROWS.iter().map(|_| RowTally::default()).collect(),
            failures: Vec::new(),
            evidence,
            calls: 0,
            failed: 0,
        }
    }

    /// A recorder with the measurements of an earlier part: its rows, its recorded failures, and
    /// the number of all failures.
    pub(crate) fn again(
        evidence: Option<Evidence>,
        rows: &[RowResult],
        failures: Vec<FailedCase>,
        failed: u64,
    ) -> Self {
        let mut recorder = Self::new(evidence);
        for (info, tally) in ROWS.iter().zip(&mut recorder.rows) {
            let mut rows = rows.iter();
            if let Some(row) = rows.find(|row| info.is(row)) {
                *tally = RowTally::again(row);
            }
        }
        recorder.calls = rows.iter().map(|row| row.calls).sum();
        (recorder.failures, recorder.failed) = (failures, failed);
        recorder
    }

    /// Completes the evidence files; later calls can still be added. Returns the length of each
    /// file without its end, by the profile's id; empty without evidence.
    ///
    /// # Errors
    /// When evidence could not be written, now or earlier.
    pub(crate) fn complete_evidence(&mut self) -> anyhow::Result<BTreeMap<u16, u64>> {
        let evidence = self.evidence.as_mut();
        evidence.map_or(Ok(BTreeMap::new()), Evidence::complete)
    }

    /// Truncates the evidence to its last complete state, so that it can be read.
    ///
    /// # Errors
    /// When the files cannot be opened or written.
    pub(crate) fn cut_evidence_back(&mut self) -> anyhow::Result<()> {
        self.evidence.as_mut().map_or(Ok(()), Evidence::cut_back)
    }

    /// Adds a call to `row`. `case` names the profile and the type that it was made for.
    pub(crate) fn add(&mut self, row: Row, case: (Profile, &str), call: Call) {
        self.calls += 1;
        let tally = &mut self.rows[row.position()];
        tally.instances += call.instances;
        tally.bytes += call.bytes;
        let ns = call.elapsed.as_nanos().min(u128::from(LONGEST_NS)) as u64;
        let times = tally.histogram.get_or_insert_with(|| histogram(LONGEST_NS));
        times.saturating_record(ns.max(1));
        if let Some(evidence) = &mut self.evidence {
            evidence.add(row, case, call.elapsed);
        }
    }

    /// Records that the repository does not support the method of `row`.
    pub(crate) fn not_supported(&mut self, row: Row) {
        self.rows[row.position()].not_supported = true;
    }

    /// Records a test case that ended early, in full for the first [`KEPT_FAILURES`] of a profile.
    pub(crate) fn failed(&mut self, profile: Profile, case: &str, failure: &Failure) {
        self.failed += 1;
        let kept = self.failures.iter();
        if kept.filter(|it| it.profile == profile.name()).count() >= KEPT_FAILURES {
            return;
        }
        self.failures.push(FailedCase {
            profile: profile.name().to_owned(),
            case: case.to_owned(),
            exception: failure.exception.clone(),
            message: failure.message.clone(),
            request: failure.request.clone(),
            answer: failure.answer.clone(),
        });
    }

    /// Timed calls so far.
    pub(crate) fn calls(&self) -> u64 {
        self.calls
    }

    /// Test cases that failed so far.
    pub(crate) fn failures(&self) -> u64 {
        self.failed
    }

    /// The rows and the failures so far.
    pub(crate) fn results(&self) -> (Vec<RowResult>, Vec<FailedCase>) {
        let rows = ROWS.iter().zip(&self.rows);
        let rows = rows.map(|(info, tally)| tally.result(info.row)).collect();
        (rows, self.failures.clone())
    }
}

impl RowTally {
    fn again(row: &RowResult) -> Self {
        let mut times = None;
        for (ns, count) in &row.histogram_ns.0 {
            let times = times.get_or_insert_with(|| histogram(LONGEST_NS));
            times.saturating_record_n(*ns, *count);
        }
        Self {
            histogram: times,
            instances: row.instances,
            bytes: row.bytes,
            not_supported: row.not_supported,
        }
    }

    fn result(&self, row: Row) -> RowResult {
        let mut result = RowResult {
            profile: row.profile.name().to_owned(),
            method: row.method.to_owned(),
            not_supported: self.not_supported,
            instances: self.instances,
            bytes: self.bytes,
            ..RowResult::default()
        };
        let Some(histogram) = &self.histogram else {
            return result;
        };
        let us = |ns: u64| ns as f64 / 1e3;
        let at = |quantile: f64| us(histogram.value_at_quantile(quantile));
        result.calls = histogram.len();
        result.median_ms = median_of(histogram, |ns| (ns / 1_000_000) as f64);
        result.median_us = median_of(histogram, us).unwrap_or_default();
        if let Some((low, high)) = median_interval(histogram) {
            (result.median_low_us, result.median_high_us) = (us(low), us(high));
        }
        result.mean_us = histogram.mean() / 1e3;
        result.p90_us = at(0.9);
        result.p99_us = at(0.99);
        result.max_us = us(histogram.max());
        result.histogram_ns = buckets(histogram);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_whole_milliseconds_cut_off_and_microseconds() {
        let mut recorder = Recorder::new(None);
        let row = Row::new(Profile::EntityCreation, "addEntity");
        for us in [900, 1_900, 2_500] {
            let call = Call {
                elapsed: Duration::from_micros(us),
                instances: 1,
                bytes: 10,
            };
            recorder.add(row, (row.profile, "Asset"), call);
        }
        recorder.not_supported(Row::new(Profile::EntityUndo, "undoEntityUpdate"));
        assert_eq!(recorder.calls(), 3);
        let (rows, _) = recorder.results();
        let again = Recorder::again(None, &rows, Vec::new(), 0);
        assert_eq!(again.calls(), 3);
        assert_eq!(again.results().0, rows);
        assert_eq!(rows[0].median_ms, Some(1.0));
        assert!((rows[0].median_us - 1_900.0).abs() < 2.0, "{:?}", rows[0]);
        assert!((rows[0].max_us - 2_500.0).abs() < 4.0, "{:?}", rows[0]);
        assert_eq!(
            (rows[0].calls, rows[0].instances, rows[0].bytes),
            (3, 3, 30)
        );
        let undo = rows.iter().find(|it| it.not_supported).expect("a row");
        assert_eq!(
            (undo.method.as_str(), undo.median_ms),
            ("undoEntityUpdate", None)
        );
    }
}
