//! When requests are due: the three load models as plain arithmetic on nanoseconds since the row's start, so that they
//! can be tested on a virtual clock.

use std::time::Duration;

use super::choice::Random;
use super::result::{Load, Model};

/// Nanoseconds since the row's start.
pub(crate) type Nanos = u64;

/// When a user starts and when it plans its last request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Life {
    pub(crate) start: Nanos,
    /// The last instant at which a request may be planned.
    pub(crate) end: Nanos,
}

/// The users of the paced and the closed model.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Users {
    users: u32,
    /// 0: back to back.
    period: Nanos,
    ramp: Nanos,
    hold: Nanos,
}

impl Users {
    /// `None` for the open model.
    pub(crate) fn of(load: &Load) -> Option<Self> {
        let period = match load.model {
            Model::Paced => load.period_s.unwrap_or(1.0),
            Model::Closed => 0.0,
            Model::Open => return None,
        };
        Some(Self {
            users: load.users.unwrap_or(1).max(1),
            period: nanos(period),
            ramp: nanos(load.ramp_s),
            hold: nanos(load.hold_s),
        })
    }

    /// Paced users live equally long, so that all send equally often: they stop in the order in which they started.
    /// Closed ones stop together.
    pub(crate) fn life(&self, user: u32) -> Life {
        let start = (u128::from(self.ramp) * u128::from(user) / u128::from(self.users)) as Nanos;
        let end = match self.period {
            0 => self.ramp + self.hold,
            _ => start + self.ramp + self.hold,
        };
        Life { start, end }
    }

    /// When the request after the one planned at `planned` and answered at `answered` is due: never before the last
    /// answer, and a user that is late does not catch up. `None` when the user stops.
    pub(crate) fn next(&self, life: Life, planned: Nanos, answered: Nanos) -> Option<Nanos> {
        match self.period {
            0 => Some(answered).filter(|at| *at < life.end),
            period => Some((planned + period).max(answered)).filter(|at| *at <= life.end),
        }
    }

    /// When the request that is due at `next` had been planned, the one before it having been due at `due`: earlier
    /// than `next` when the user is late.
    pub(crate) const fn planned(&self, due: Nanos, next: Nanos) -> Nanos {
        match self.period {
            0 => next,
            period => due + period,
        }
    }

    pub(crate) const fn period(&self) -> Nanos {
        self.period
    }

    /// Samples of a user that is never late.
    pub(crate) fn samples_per_user(&self) -> Option<f64> {
        (self.period > 0).then(|| ((self.ramp + self.hold) / self.period + 1) as f64)
    }
}

/// The instants at which the requests that a late user left out had been planned: every period after `planned` until
/// `sent`, at which the next one went.
pub(crate) fn omitted(planned: Nanos, sent: Nanos, period: Nanos) -> impl Iterator<Item = Nanos> {
    let count = sent
        .saturating_sub(planned)
        .checked_div(period)
        .unwrap_or(0);
    (1..=count).map(move |at| planned + at * period)
}

/// The arrivals of the open model, of one of several threads.
#[derive(Debug, Clone)]
pub(crate) struct Arrivals {
    gap: f64,
    next: f64,
    end: f64,
    poisson: Option<Random>,
}

impl Arrivals {
    /// `None` for the other models.
    pub(crate) fn of(load: &Load, thread: u32, threads: u32, seed: u64) -> Option<Self> {
        if load.model != Model::Open {
            return None;
        }
        let gap = 1e9 * f64::from(threads) / load.rate.unwrap_or(1.0).max(1e-6);
        let mut arrivals = Self {
            gap,
            next: gap * f64::from(thread) / f64::from(threads),
            end: (load.hold_s + load.ramp_s) * 1e9,
            poisson: load.poisson.then(|| Random::new(seed ^ u64::from(thread))),
        };
        if arrivals.poisson.is_some() {
            arrivals.next = arrivals.draw();
        }
        Some(arrivals)
    }

    /// The next arrival, or `None` when the row is over.
    pub(crate) fn due(&self) -> Option<Nanos> {
        (self.next < self.end).then_some(self.next as Nanos)
    }

    /// Goes on to the one after.
    pub(crate) fn advance(&mut self) {
        self.next += self.draw();
    }

    fn draw(&mut self) -> f64 {
        match &mut self.poisson {
            None => self.gap,
            Some(random) => -(1.0 - random.unit()).ln() * self.gap,
        }
    }
}

/// Seconds as nanoseconds; nothing for what is negative or no number.
pub(crate) fn nanos(seconds: f64) -> Nanos {
    Duration::try_from_secs_f64(seconds).map_or(0, |duration| duration.as_nanos() as Nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paced(users: u32, period: f64, ramp: f64, hold: f64) -> Users {
        let load = Load {
            model: Model::Paced,
            users: Some(users),
            period_s: Some(period),
            ramp_s: ramp,
            hold_s: hold,
            ..Load::default()
        };
        Users::of(&load).expect("users")
    }

    /// A request on the virtual clock.
    struct Sent {
        planned: Nanos,
        sent: Nanos,
        answered: Nanos,
    }

    /// Runs one user on a virtual clock against a server that answers after `service`, as the worker does.
    fn simulate(users: &Users, user: u32, service: impl Fn(Nanos) -> Nanos) -> Vec<Sent> {
        let life = users.life(user);
        let (mut planned, mut due, mut all) = (life.start, life.start, Vec::new());
        loop {
            let answered = due + service(due);
            all.push(Sent {
                planned,
                sent: due,
                answered,
            });
            match users.next(life, due, answered) {
                Some(next) => (planned, due) = (users.planned(due, next), next),
                None => return all,
            }
        }
    }

    /// Service and corrected times of all users in milliseconds, ascending.
    fn times(users: &Users, service: impl Fn(Nanos) -> Nanos) -> (Vec<f64>, Vec<f64>) {
        let (mut services, mut corrected) = (Vec::new(), Vec::new());
        for it in (0..users.users).flat_map(|user| simulate(users, user, &service)) {
            services.push((it.answered - it.sent) as f64 / 1e6);
            let planned = [it.planned].into_iter();
            let planned = planned.chain(omitted(it.planned, it.sent, users.period()));
            corrected.extend(planned.map(|at| (it.answered - at) as f64 / 1e6));
        }
        services.sort_by(f64::total_cmp);
        corrected.sort_by(f64::total_cmp);
        (services, corrected)
    }

    fn percentile(sorted: &[f64], percent: f64) -> f64 {
        sorted[((sorted.len() as f64 * percent / 100.0).ceil() as usize).max(1) - 1]
    }

    /// A server that answers in a millisecond, but stands still for a second every ten seconds.
    fn freezing(at: Nanos) -> Nanos {
        let phase = at % nanos(10.0);
        nanos(0.001) + nanos(1.0).saturating_sub(phase)
    }

    #[test]
    fn a_freeze_shows_in_the_times_from_the_plan() {
        // As published: each user is hit by a freeze with at most one request.
        let (_, corrected) = times(&paced(1_000, 1.0, 30.0, 300.0), freezing);
        assert!(percentile(&corrected, 99.0) >= 899.0);
        // Quick users: most of what a freeze delays is never sent. Service times hide it, corrected ones do not.
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

    #[test]
    fn what_a_late_user_left_out_is_known() {
        let left: Vec<Nanos> = omitted(100, 355, 100).collect();
        assert_eq!(left, [200, 300]);
        assert_eq!(omitted(100, 100, 100).count(), 0);
        assert_eq!(
            omitted(100, 900, 0).count(),
            0,
            "closed: nothing is planned"
        );
    }

    #[test]
    fn open_arrivals_come_at_the_rate_from_all_threads_together() {
        for poisson in [false, true] {
            let load = Load {
                model: Model::Open,
                rate: Some(1_000.0),
                hold_s: 10.0,
                poisson,
                ..Load::default()
            };
            let mut all = 0;
            for thread in 0..2 {
                let mut arrivals = Arrivals::of(&load, thread, 2, 5).expect("open");
                let mut last = 0;
                while let Some(at) = arrivals.due() {
                    assert!(at >= last);
                    (last, all) = (at, all + 1);
                    arrivals.advance();
                }
            }
            assert!((9_700..=10_300).contains(&all), "{all}");
        }
    }
}
