//! The measurements of the suite: a histogram for each row, the failed test cases, and optionally
//! the evidence of each call.

use super::client::{Failure, Timed};
use super::evidence::Evidence;
use super::profile::{Profile, ROWS, Row};
use crate::histogram::Times;
use crate::result::{Buckets, Columns, FailedCase, Load, Model, More, Row as ResultRow};

/// Failed test cases of a profile that are recorded in full; further ones are only counted.
const KEPT_FAILURES: usize = 20;

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
    times: Option<Times>,
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

    /// Completes the evidence files; later calls can still be added.
    ///
    /// # Errors
    /// When evidence could not be written, now or earlier.
    pub(crate) fn complete_evidence(&mut self) -> anyhow::Result<()> {
        self.evidence.as_mut().map_or(Ok(()), Evidence::complete)
    }

    /// Adds a call to `row`. `case` names the profile and the type that it was made for.
    pub(crate) fn add(&mut self, row: Row, case: (Profile, &str), call: &Timed) {
        self.calls += 1;
        let tally = &mut self.rows[row.position()];
        tally.instances += call.answer.instances;
        tally.bytes += call.bytes;
        let ns = u64::try_from(call.elapsed.as_nanos()).unwrap_or(u64::MAX);
        tally.times.get_or_insert_default().record(ns);
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

    pub(crate) fn calls(&self) -> u64 {
        self.calls
    }

    pub(crate) fn failures(&self) -> u64 {
        self.failed
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = ResultRow> {
        let rows = ROWS.iter().zip(&self.rows);
        rows.map(|(info, tally)| tally.result(info.row))
    }

    pub(crate) fn failed_cases(&self) -> &[FailedCase] {
        &self.failures
    }
}

impl RowTally {
    fn result(&self, row: Row) -> ResultRow {
        let times = self.times.as_ref();
        let times = times.map(Buckets::from).unwrap_or_default();
        let elapsed_s = times.mean() * times.count() as f64 / 1e9;
        ResultRow {
            profile: row.profile.name().to_owned(),
            scenario: row.method.to_owned(),
            label: row.method.to_owned(),
            skipped: self.not_supported.then(|| "not supported".to_owned()),
            load: Load {
                model: Model::Closed,
                users: 1,
                ..Load::default()
            },
            repeat: 1,
            items_per_request: 1,
            elapsed_s,
            columns: Columns::of(&times, elapsed_s, 0, self.bytes),
            more: More {
                items_per_s: self.instances as f64 / elapsed_s.max(1e-9),
                received_body_bytes: self.bytes,
                ..More::of(&times)
            },
            histogram_ns: times,
            ..ResultRow::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::metadata::answer::Answer;

    #[test]
    fn a_row_has_whole_milliseconds_cut_off_and_microseconds() {
        let mut recorder = Recorder::new(None);
        let row = Row::new(Profile::EntityCreation, "addEntity");
        for us in [900, 1_900, 2_500] {
            let call = Timed {
                answer: Answer {
                    instances: 1,
                    ..Answer::default()
                },
                elapsed: Duration::from_micros(us),
                bytes: 10,
            };
            recorder.add(row, (row.profile, "Asset"), &call);
        }
        recorder.not_supported(Row::new(Profile::EntityUndo, "undoEntityUpdate"));
        assert_eq!(recorder.calls(), 3);
        let rows: Vec<ResultRow> = recorder.rows().collect();
        let add = &rows[0];
        assert_eq!(add.histogram_ns.median_whole_ms(), Some(1.0));
        assert!((add.columns.median_us - 1_900.0).abs() < 2.0, "{add:?}");
        assert!((add.columns.max_us - 2_500.0).abs() < 4.0, "{add:?}");
        assert_eq!(add.columns.samples, 3);
        assert_eq!(add.more.received_body_bytes, 30);
        assert!((add.more.items_per_s * add.elapsed_s - 3.0).abs() < 1e-6);
        let undo = rows.iter().find(|it| it.skipped.is_some()).expect("a row");
        assert_eq!(
            (undo.label.as_str(), undo.columns.samples),
            ("undoEntityUpdate", 0)
        );
    }
}
