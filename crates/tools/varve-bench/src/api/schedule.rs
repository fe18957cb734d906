//! The times at which requests are due. Both load models are plain arithmetic on nanoseconds
//! since the row's start, so that they can be tested on a virtual clock.

use std::time::Duration;

use crate::result::{Load, Model};

/// Nanoseconds since the row's start.
pub(crate) type Nanos = u64;

/// When a user starts, and until when it plans requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Life {
    pub(crate) start: Nanos,
    /// The last instant at which a paced request may be planned. A closed user plans only before
    /// it.
    pub(crate) end: Nanos,
}

/// The users of the paced and the closed model.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Users {
    users: u32,
    /// 0: each request follows the last answer at once.
    period: Nanos,
    ramp: Nanos,
    hold: Nanos,
}

impl Users {
    pub(crate) fn of(load: &Load) -> Self {
        let period = match load.model {
            Model::Paced => load.period_s.unwrap_or(1.0),
            Model::Closed => 0.0,
        };
        Self {
            users: load.users.max(1),
            period: nanos(period),
            ramp: nanos(load.ramp_s),
            hold: nanos(load.hold_s),
        }
    }

    /// All paced users live equally long, so that all of them send equally often; they stop in the
    /// order in which they started. Closed users stop together.
    pub(crate) fn life(&self, user: u32) -> Life {
        let start = (u128::from(self.ramp) * u128::from(user) / u128::from(self.users)) as Nanos;
        let end = match self.period {
            0 => self.ramp + self.hold,
            _ => start + self.ramp + self.hold,
        };
        Life { start, end }
    }

    /// The number of users that have started by `now` and are still to plan requests.
    pub(crate) fn alive(&self, now: Nanos) -> u32 {
        let started = |by: Nanos| match self.ramp {
            0 => self.users,
            ramp => u64::from(self.users).min(by * u64::from(self.users) / ramp + 1) as u32,
        };
        let stopped = match now.checked_sub(self.ramp + self.hold) {
            Some(past) if self.period > 0 => started(past),
            _ => 0,
        };
        // A user that sends its last request late is not counted any more, but sends.
        (started(now) - stopped).max(1)
    }

    pub(crate) const fn period(&self) -> Nanos {
        self.period
    }

    /// The number of samples of a user that is never late; `None` in the closed model.
    pub(crate) fn samples_per_user(&self) -> Option<f64> {
        (self.period > 0).then(|| ((self.ramp + self.hold) / self.period + 1) as f64)
    }
}

/// The position of a user in its plan: the request that it sends next or waits for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Course {
    /// As [`Life::end`].
    end: Nanos,
    /// 0: only the next request is planned.
    period: Nanos,
    /// When the request is to be sent; for a late user, when it became free.
    due: Nanos,
    planned: Nanos,
}

/// The consequences of an answer for its user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Answered {
    /// Planned requests that were never sent, because the user was waiting or its last request was
    /// sent late.
    pub(crate) omitted: u64,
    /// When the next request is due; `None` when the user stops.
    pub(crate) next: Option<Nanos>,
}

impl Course {
    /// The course of a user with this life.
    pub(crate) const fn new(life: Life, period: Nanos) -> Self {
        Self {
            end: life.end,
            period,
            due: life.start,
            planned: life.start,
        }
    }

    pub(crate) const fn due(&self) -> Nanos {
        self.due
    }

    /// Plans the request after the one that was sent at `sent` and whose user is free again at
    /// `free`. The next request is never sent before `free`, and a late user does not catch up.
    ///
    /// `record` gets the planned times of all requests whose wait ends with this answer:
    /// - the request that was sent,
    /// - the requests that were omitted until it was sent,
    /// - if the user stops, the requests that were omitted since.
    pub(crate) fn answered(
        &mut self,
        sent: Nanos,
        free: Nanos,
        mut record: impl FnMut(Nanos),
    ) -> Answered {
        record(self.planned);
        if self.period == 0 {
            (self.planned, self.due) = (free, free);
            return Answered {
                omitted: 0,
                next: (free < self.end).then_some(free),
            };
        }
        let mut omitted = self.leave_out(self.planned, sent, &mut record);
        // If the request was sent several periods late, the requests planned until then are
        // omitted; they are recorded above.
        let passed = sent.saturating_sub(self.due) / self.period;
        let next = self.due + (passed + 1) * self.period;
        if next.max(free) <= self.end {
            (self.planned, self.due) = (next, next.max(free));
            return Answered {
                omitted,
                next: Some(self.due),
            };
        }
        omitted += self.leave_out(next - self.period, free, &mut record);
        Answered {
            omitted,
            next: None,
        }
    }

    /// Records the planned times after `from` up to `until`, one for each period within the user's
    /// life. Returns their number.
    fn leave_out(&self, from: Nanos, until: Nanos, record: &mut impl FnMut(Nanos)) -> u64 {
        let count = until.min(self.end).saturating_sub(from) / self.period;
        (1..=count).for_each(|at| record(from + at * self.period));
        count
    }
}

/// Seconds as nanoseconds; 0 for negative values, NaN and values too large for a [`Duration`].
pub(crate) fn nanos(seconds: f64) -> Nanos {
    Duration::try_from_secs_f64(seconds).map_or(0, |duration| duration.as_nanos() as Nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paced(users: u32, period: f64, ramp: f64, hold: f64) -> Users {
        let load = Load {
            model: Model::Paced,
            users,
            period_s: Some(period),
            ramp_s: ramp,
            hold_s: hold,
            ..Load::default()
        };
        Users::of(&load)
    }

    /// A request on the virtual clock.
    struct Sent {
        sent: Nanos,
        answered: Nanos,
        /// The planned times of this request and of the omitted ones whose wait its answer ends.
        planned: Vec<Nanos>,
    }

    /// Runs one user on a virtual clock, with the same arithmetic as a worker, against a server
    /// that answers after `service`.
    fn simulate(users: &Users, user: u32, service: impl Fn(Nanos) -> Nanos) -> Vec<Sent> {
        let mut course = Course::new(users.life(user), users.period());
        let mut all = Vec::new();
        loop {
            let sent = course.due();
            let answered = sent + service(sent);
            let mut planned = Vec::new();
            let recorded = course.answered(sent, answered, |at| planned.push(at));
            assert_eq!(planned.len() as u64, 1 + recorded.omitted);
            all.push(Sent {
                sent,
                answered,
                planned,
            });
            if recorded.next.is_none() {
                return all;
            }
        }
    }

    /// Service times and corrected times of all users in milliseconds, ascending.
    fn times(users: &Users, service: impl Fn(Nanos) -> Nanos) -> (Vec<f64>, Vec<f64>) {
        let (mut services, mut corrected) = (Vec::new(), Vec::new());
        for it in (0..users.users).flat_map(|user| simulate(users, user, &service)) {
            services.push((it.answered - it.sent) as f64 / 1e6);
            let planned = it.planned.iter();
            corrected.extend(planned.map(|at| (it.answered - at) as f64 / 1e6));
        }
        services.sort_by(f64::total_cmp);
        corrected.sort_by(f64::total_cmp);
        (services, corrected)
    }

    fn percentile(sorted: &[f64], percent: f64) -> f64 {
        let tenths = (percent * 10.0).round() as usize;
        sorted[(sorted.len() * tenths).div_ceil(1_000).max(1) - 1]
    }

    /// A server that answers within a millisecond, but freezes for a second every ten seconds.
    fn freezing(at: Nanos) -> Nanos {
        let phase = at % nanos(10.0);
        nanos(0.001) + nanos(1.0).saturating_sub(phase)
    }

    #[test]
    fn a_freeze_shows_in_the_times_from_the_plan() {
        // As in the published test: a freeze delays at most one request of each user.
        let (_, corrected) = times(&paced(1_000, 1.0, 30.0, 300.0), freezing);
        assert!(percentile(&corrected, 99.0) >= 899.0);
        // Fast users: most of the requests that a freeze delays are never sent. Service times hide
        // the freeze, corrected times do not.
        let (services, corrected) = times(&paced(20, 0.005, 1.0, 60.0), freezing);
        assert!(
            percentile(&services, 99.0) < 2.0,
            "{}",
            percentile(&services, 99.0)
        );
        assert!(
            percentile(&corrected, 99.0) >= 890.0,
            "{}",
            percentile(&corrected, 99.0)
        );
        assert!(percentile(&corrected, 50.0) < 2.0);
    }

    #[test]
    fn a_steady_delay_shows_equally_in_both() {
        let (services, corrected) = times(&paced(100, 1.0, 3.0, 30.0), |_| nanos(0.010));
        assert_eq!(services, corrected);
        assert_eq!(percentile(&services, 99.0), 10.0);
    }

    #[test]
    fn an_unsaturated_user_sends_331_requests_with_the_published_plan() {
        let users = paced(1_000, 1.0, 30.0, 300.0);
        assert_eq!(users.samples_per_user(), Some(331.0));
        for user in [0, 1, 17, 999] {
            assert_eq!(
                simulate(&users, user, |_| nanos(0.02)).len(),
                331,
                "user {user}"
            );
        }
        // All of them within the 360 s of ramp-up, hold and ramp-down.
        assert!(users.life(999).end <= nanos(360.0));
        assert!(users.life(999).end > nanos(359.9));
    }

    #[test]
    fn the_rule_holds_at_any_scale() {
        let users = paced(20, 0.01, 0.3, 3.0);
        assert_eq!(users.samples_per_user(), Some(331.0));
        assert_eq!(simulate(&users, 7, |_| 1_000).len(), 331);
    }

    #[test]
    fn a_late_user_sends_at_once_and_does_not_catch_up() {
        let users = paced(1, 1.0, 0.0, 10.0);
        let sends = simulate(&users, 0, |at| {
            if at == nanos(2.0) {
                nanos(3.5)
            } else {
                nanos(0.1)
            }
        });
        let at: Vec<f64> = sends.iter().map(|it| it.sent as f64 / 1e9).collect();
        assert_eq!(at, [0.0, 1.0, 2.0, 5.5, 6.5, 7.5, 8.5, 9.5]);
    }

    #[test]
    fn a_saturated_user_is_back_to_back() {
        let users = paced(1, 1.0, 30.0, 300.0);
        let sends = simulate(&users, 0, |_| nanos(5.591));
        assert_eq!(sends.len(), 60, "330 s of 5.591 s each");
    }

    /// The plan of one user, in milliseconds: the recorded times, and when it sends again.
    fn plan_after(course: &mut Course, sent: Nanos, free: Nanos) -> (Vec<Nanos>, Option<Nanos>) {
        let mut planned = Vec::new();
        let recorded = course.answered(sent, free, |at| planned.push(at));
        (planned, recorded.next)
    }

    #[test]
    fn what_a_late_user_left_out_is_recorded_with_the_request_that_follows() {
        let life = Life {
            start: 0,
            end: 1_000,
        };
        let mut course = Course::new(life, 100);
        assert_eq!(plan_after(&mut course, 0, 355), (vec![0], Some(355)));
        assert_eq!(
            plan_after(&mut course, 355, 360),
            (vec![100, 200, 300], Some(455))
        );
        assert_eq!(plan_after(&mut course, 455, 460), (vec![455], Some(555)));
        let mut closed = Course::new(life, 0);
        assert_eq!(
            plan_after(&mut closed, 0, 900),
            (vec![0], Some(900)),
            "closed: nothing is planned"
        );
        assert_eq!(plan_after(&mut closed, 900, 1_000).1, None);
    }

    #[test]
    fn what_was_left_out_until_the_end_is_recorded_with_the_last_answer() {
        let life = Life { start: 0, end: 400 };
        let mut course = Course::new(life, 100);
        assert_eq!(plan_after(&mut course, 0, 10), (vec![0], Some(100)));
        let all = vec![100, 200, 300, 400];
        assert_eq!(plan_after(&mut course, 100, 5_000), (all, None));
    }

    #[test]
    fn a_send_that_the_generator_delayed_counts_what_it_left_out_once() {
        let life = Life {
            start: 0,
            end: 1_000,
        };
        let mut course = Course::new(life, 100);
        assert_eq!(
            plan_after(&mut course, 230, 240),
            (vec![0, 100, 200], Some(300))
        );
        assert_eq!(plan_after(&mut course, 300, 310), (vec![300], Some(400)));
        // And all of them are within the user's life.
        assert_eq!(
            plan_after(&mut course, 1_250, 1_260),
            ((4..=10).map(|at| at * 100).collect(), None)
        );
    }

    #[test]
    fn every_planned_request_is_recorded_wherever_a_freeze_falls() {
        let users = paced(10, 0.01, 0.1, 2.0);
        for (from, to) in [(0.5, 1.5), (1.0, 2.05), (1.0, 30.0), (0.0, 30.0)] {
            let freeze = |at: Nanos| match (nanos(from)..nanos(to)).contains(&at) {
                true => nanos(to) - at,
                false => nanos(0.001),
            };
            let (services, corrected) = times(&users, freeze);
            // A user that goes on after the freeze plans from there, so less than one request of
            // each is lost.
            let planned = 10 * 211;
            assert!(
                (planned - 10..=planned).contains(&corrected.len()),
                "{from} to {to}: {}",
                corrected.len()
            );
            assert!(services.len() < 1_300);
            // Half of the plan is within the freeze, so a fifth of it waits longer than half the
            // freeze.
            let waits = nanos(to.min(2.0) - from) as f64 / 2e6;
            assert!(percentile(&corrected, 80.0) >= waits, "{from} to {to}");
        }
    }
}
