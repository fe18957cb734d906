//! The measurements of the workers: one tally for each worker, merged at the end, and a small
//! record of each second, merged while the row runs.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::histogram::Times;
use crate::result::{Buckets, ErrorExample, Second};

/// Bytes of the answer that an error example keeps.
const EXAMPLE_BYTES: usize = 300;

/// Elements that a request wrote and the server acknowledged: `count` elements from `first` on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Acknowledged {
    pub(crate) first: u64,
    pub(crate) count: u32,
}

#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Service times.
    pub(crate) service: Times,
    /// Times from the planned send.
    pub(crate) corrected: Times,
    pub(crate) connect: Times,
    pub(crate) omitted: u64,
    pub(crate) succeeded_items: u64,
    pub(crate) empty_answers: u64,
    pub(crate) errors: BTreeMap<Failure, u64>,
    pub(crate) examples: Vec<ErrorExample>,
    pub(crate) received: u64,
    pub(crate) received_body: u64,
    pub(crate) sent: u64,
    pub(crate) opened: u64,
    pub(crate) reconnects: u64,
    pub(crate) late: u64,
    pub(crate) late_max_us: u64,
    /// Whether no new elements were left to write.
    pub(crate) ran_out: bool,
    /// CPU time that the worker's thread used.
    pub(crate) cpu: Duration,
    /// Nanoseconds since the row's start.
    pub(crate) first_sent: Option<u64>,
    pub(crate) last_ended: u64,
    pub(crate) acknowledged_requests: u64,
    pub(crate) acknowledged_items: u64,
    /// The most acknowledged requests to keep: one for each element to read back.
    keep: usize,
    /// A random sample of the acknowledged requests; all of them while they are few.
    pub(crate) acknowledged: Vec<Acknowledged>,
}

impl Tally {
    /// A tally that keeps enough to read back `elements` elements.
    pub(crate) fn keeping(elements: u64) -> Self {
        Self {
            keep: usize::try_from(elements).unwrap_or(usize::MAX),
            ..Self::default()
        }
    }

    pub(crate) fn record_error(&mut self, failure: Failure, text: &[u8]) {
        let count = self.errors.entry(failure).or_default();
        *count += 1;
        if *count == 1 {
            let text = &text[..text.len().min(EXAMPLE_BYTES)];
            self.examples.push(ErrorExample {
                kind: failure.kind(),
                text: String::from_utf8_lossy(text).into_owned(),
            });
        }
    }

    /// Adds an acknowledged request to the sample by reservoir sampling; `chance` is a random
    /// number.
    pub(crate) fn record_acknowledged(&mut self, request: Acknowledged, chance: u64) {
        self.acknowledged_requests += 1;
        self.acknowledged_items += u64::from(request.count);
        if self.acknowledged.len() < self.keep {
            self.acknowledged.push(request);
            return;
        }
        let place = (chance % self.acknowledged_requests) as usize;
        if let Some(kept) = self.acknowledged.get_mut(place) {
            *kept = request;
        }
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.service.merge(&other.service);
        self.corrected.merge(&other.corrected);
        self.connect.merge(&other.connect);
        for (mine, others) in [
            (&mut self.omitted, other.omitted),
            (&mut self.succeeded_items, other.succeeded_items),
            (&mut self.empty_answers, other.empty_answers),
            (&mut self.received, other.received),
            (&mut self.received_body, other.received_body),
            (&mut self.sent, other.sent),
            (&mut self.opened, other.opened),
            (&mut self.reconnects, other.reconnects),
            (&mut self.late, other.late),
            (&mut self.acknowledged_requests, other.acknowledged_requests),
            (&mut self.acknowledged_items, other.acknowledged_items),
        ] {
            *mine += others;
        }
        for (failure, count) in other.errors {
            *self.errors.entry(failure).or_default() += count;
        }
        for example in other.examples {
            if self.examples.iter().all(|known| known.kind != example.kind) {
                self.examples.push(example);
            }
        }
        self.ran_out |= other.ran_out;
        self.cpu += other.cpu;
        self.late_max_us = self.late_max_us.max(other.late_max_us);
        self.last_ended = self.last_ended.max(other.last_ended);
        self.first_sent = match (self.first_sent, other.first_sent) {
            (Some(mine), Some(others)) => Some(mine.min(others)),
            (mine, others) => mine.or(others),
        };
        self.acknowledged.extend(other.acknowledged);
    }

    /// All samples, failed ones included.
    pub(crate) fn samples(&self) -> u64 {
        self.service.count()
    }

    pub(crate) fn failed(&self) -> u64 {
        self.errors.values().sum()
    }

    pub(crate) fn errors_by_kind(&self) -> BTreeMap<String, u64> {
        let errors = self.errors.iter();
        errors.map(|(failure, n)| (failure.kind(), *n)).collect()
    }

    /// Seconds from the first send to the last answer.
    pub(crate) fn elapsed_s(&self) -> f64 {
        let first = self.first_sent.unwrap_or_default();
        self.last_ended.saturating_sub(first) as f64 / 1e9
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Failure {
    Refused,
    ConnectTimeout,
    ConnectFailed,
    ReadTimeout,
    Reset,
    /// The connection was closed before the answer was whole.
    Closed,
    BadAnswer,
    /// The status is not one that the scenario expects.
    Status(u16),
    /// The status is right, but the body lacks the requested element, or some of the sent ones.
    WrongBody,
}

impl Failure {
    /// The kind's name in files and tables.
    pub(crate) fn kind(self) -> String {
        let name = match self {
            Self::Refused => "refused",
            Self::ConnectTimeout => "connect_timeout",
            Self::ConnectFailed => "connect_failed",
            Self::ReadTimeout => "read_timeout",
            Self::Reset => "reset",
            Self::Closed => "closed",
            Self::BadAnswer => "bad_answer",
            Self::Status(status) => return format!("http_{status}"),
            Self::WrongBody => "wrong_body",
        };
        name.to_owned()
    }
}

/// The current second.
#[derive(Debug, Default)]
pub(crate) struct Running {
    pub(crate) at: u32,
    errors: u64,
    times: Times,
}

/// The measurements of a worker in one second.
#[derive(Debug, Clone, Default)]
pub(crate) struct Part {
    /// Seconds since the row's start.
    pub(crate) at: u32,
    pub(crate) errors: u64,
    /// Users alive at the end of the second.
    pub(crate) users: u32,
    /// The times, ascending for each worker.
    times: Buckets,
}

impl Running {
    pub(crate) fn record(&mut self, nanos: u64, ok: bool) {
        self.errors += u64::from(!ok);
        self.times.record(nanos);
    }

    /// Ends the second and returns it; the next second has number `next`.
    pub(crate) fn roll(&mut self, next: u32, users: u32) -> Part {
        Part {
            at: std::mem::replace(&mut self.at, next),
            errors: std::mem::take(&mut self.errors),
            users,
            times: self.times.take(),
        }
    }
}

impl Part {
    /// Adds another worker's part of the same second.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.errors += other.errors;
        self.users += other.users;
        self.times.0.extend_from_slice(&other.times.0);
    }

    /// The second for the result file, without CPU and memory.
    pub(crate) fn second(&self) -> Second {
        let mut times = self.times.clone();
        times.0.sort_unstable();
        let us = |percent| times.percentile(percent) / 1_000;
        Second {
            at_s: self.at,
            samples: times.count(),
            errors: self.errors,
            average_us: times.mean() / 1e3,
            median_us: us(50.0),
            line99_us: us(99.0),
            max_us: us(100.0),
            users: self.users,
            ..Second::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_of_two_workers_are_one() {
        let (mut one, mut two) = (Running::default(), Running::default());
        for at in 1..=90_u64 {
            one.record(at * 1_000_000, true);
        }
        for at in 91..=100_u64 {
            two.record(at * 1_000_000, at != 100);
        }
        let mut part = one.roll(1, 3);
        part.merge(&two.roll(1, 4));
        let second = part.second();
        assert_eq!((second.samples, second.errors, second.users), (100, 1, 7));
        for (us, exact) in [(second.median_us, 50_000), (second.line99_us, 99_000)] {
            assert!(us.abs_diff(exact) <= exact / 100, "{us}");
        }
        assert_eq!(one.roll(2, 0).second().samples, 0, "the next one is empty");
    }

    #[test]
    fn percentiles_are_jmeters() {
        let mut tally = Tally::default();
        for us in 1..=1_000_u64 {
            tally.service.record(us * 1_000);
        }
        let buckets = Buckets::from(&tally.service);
        assert_eq!(buckets.count(), 1_000);
        for percent in [50.0, 90.0, 95.0, 99.0, 99.9, 100.0] {
            let (got, exact) = (buckets.percentile(percent) as f64, percent * 10_000.0);
            assert!((got / exact - 1.0).abs() < 0.001, "{percent} %: {got}");
        }
    }

    #[test]
    fn a_sample_of_the_acknowledged_is_kept() {
        let mut tally = Tally::keeping(2_000);
        for at in 0..10_000_u64 {
            let request = Acknowledged {
                first: at,
                count: 2,
            };
            tally.record_acknowledged(request, crate::random::mix(at));
        }
        assert_eq!(tally.acknowledged.len(), 2_000);
        assert_eq!(tally.acknowledged_items, 20_000);
        let late = tally
            .acknowledged
            .iter()
            .filter(|it| it.first >= 5_000)
            .count();
        assert!((800..1_200).contains(&late), "{late}");
    }

    #[test]
    fn merging_adds() {
        let (mut one, mut two) = (Tally::default(), Tally::default());
        one.service.record(1_000);
        one.record_error(Failure::Status(503), b"busy");
        two.service.record(3_000);
        two.record_error(Failure::Status(503), b"busy");
        two.record_error(Failure::Refused, b"");
        two.first_sent = Some(5);
        one.merge(two);
        assert_eq!((one.failed(), one.first_sent), (3, Some(5)));
        assert_eq!(Buckets::from(&one.service).count(), 2);
        assert_eq!(one.errors_by_kind()["http_503"], 2);
        assert_eq!(one.examples.len(), 2);
    }
}
