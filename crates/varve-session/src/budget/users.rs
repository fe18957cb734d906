//! Limits of each user: requests in work, requests per second, and the memory of its queries. So no
//! user can exhaust what all users share.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::RwLock;
use varve_auth::Id;
use varve_graph::optimistic::HeldBytes;

use super::memory;
use crate::{Failure, Identity};

/// The burst: as many requests may come at once as the rate allows in this time.
const BURST: Duration = Duration::from_secs(1);

/// The limits of one user; 0 is no limit.
#[derive(Debug, Clone, Copy, Default)]
pub struct UserOptions {
    /// Requests in work.
    pub in_flight_max: u32,
    /// Requests per second.
    pub requests_per_second: u32,
    /// Bytes that its queries may hold together.
    pub query_bytes_max: usize,
}

/// The limits of each user, and the counters.
#[derive(Debug)]
pub struct UserLimits {
    /// 0 is no limit.
    in_flight_max: u32,
    /// Time between two requests, in nanoseconds; 0 is no limit.
    interval: u64,
    started: Instant,
    /// Bytes that the queries of one user may hold together; 0 is no limit.
    query_bytes_max: usize,
    users: RwLock<HashMap<Id, Arc<Meter>>>,
}

#[derive(Debug)]
struct Meter {
    in_flight: AtomicU32,
    /// When the last request would have come if requests came evenly, in nanoseconds since the
    /// start.
    due: AtomicU64,
    /// The memory of its queries.
    query_memory: Arc<HeldBytes>,
}

impl Meter {
    fn new(query_bytes_max: usize) -> Self {
        Self {
            in_flight: AtomicU32::new(0),
            due: AtomicU64::new(0),
            query_memory: memory::of_user(query_bytes_max),
        }
    }
}

/// Counts a request of a user as in work until it is dropped.
#[derive(Debug)]
pub struct UserTurn(Arc<Meter>);

impl Drop for UserTurn {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

impl UserLimits {
    /// These limits for each user.
    pub fn new(options: UserOptions) -> Self {
        let nanoseconds = BURST.as_nanos() as u64;
        Self {
            in_flight_max: options.in_flight_max,
            interval: nanoseconds
                .checked_div(u64::from(options.requests_per_second))
                .unwrap_or(0),
            started: Instant::now(),
            query_bytes_max: options.query_bytes_max,
            users: RwLock::default(),
        }
    }

    /// Begins a request; `None` where there is no limit.
    ///
    /// # Errors
    /// [`varve_view::ErrorKind::Throttled`] when its user exceeds a limit.
    pub fn enter(&self, identity: &Identity) -> Result<Option<UserTurn>, Failure> {
        let Some(user) = identity.user() else {
            return Ok(None);
        };
        if self.in_flight_max == 0 && self.interval == 0 {
            return Ok(None);
        }
        let meter = self.meter(&user.id);
        let before = meter.in_flight.fetch_add(1, Ordering::Relaxed);
        let turn = UserTurn(meter);
        if self.in_flight_max != 0 && before >= self.in_flight_max {
            return Err(Failure::throttled(
                format!(
                    "The user has {} requests in progress (auth.user_requests_in_flight)",
                    self.in_flight_max
                ),
                1,
            ));
        }
        self.pace(&turn.0)?;
        Ok(Some(turn))
    }

    fn meter(&self, user: &Id) -> Arc<Meter> {
        if let Some(meter) = self.users.read().get(user) {
            return Arc::clone(meter);
        }
        let mut users = self.users.write();
        let meter = users.entry(user.clone());
        Arc::clone(meter.or_insert_with(|| Arc::new(Meter::new(self.query_bytes_max))))
    }

    /// The memory budget of a client's queries; `None` where there is no limit.
    pub fn query_memory(&self, identity: &Identity) -> Option<Arc<HeldBytes>> {
        let user = identity.user().filter(|_| self.query_bytes_max != 0)?;
        Some(Arc::clone(&self.meter(&user.id).query_memory))
    }

    fn pace(&self, meter: &Meter) -> Result<(), Failure> {
        self.pace_at(meter, self.started.elapsed().as_nanos() as u64)
    }

    /// Counts a request that comes `now` nanoseconds after the start.
    fn pace_at(&self, meter: &Meter, now: u64) -> Result<(), Failure> {
        if self.interval == 0 {
            return Ok(());
        }
        let burst = BURST.as_nanos() as u64;
        let next = |due: u64| {
            let due = due.max(now) + self.interval;
            (due <= now + burst).then_some(due)
        };
        let taken = meter
            .due
            .try_update(Ordering::Relaxed, Ordering::Relaxed, next);
        match taken {
            Ok(_) => Ok(()),
            Err(_) => Err(Failure::throttled(
                "The user exceeds its requests per second (auth.user_requests_per_second)",
                1,
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_of_requests_may_come_at_once_and_the_rate_counts_then() {
        let limits = UserLimits::new(UserOptions {
            requests_per_second: 10,
            ..UserOptions::default()
        });
        let meter = Meter::new(0);
        let come = |now: u64| limits.pace_at(&meter, now).is_ok();
        assert_eq!((0..20).filter(|_| come(0)).count(), 10);
        let tenth = BURST.as_nanos() as u64 / 10;
        assert!(come(tenth) && !come(tenth));
        assert_eq!((0..20).filter(|_| come(30 * tenth)).count(), 10);
    }
}
