//! Delays logins after failures, by user and address, and by address alone. Nobody is locked out:
//! the same user can log in from another address.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// The number of failures of a user from one address at which waits begin.
const FREE: u32 = 10;

/// The number of failures of an address, with any names, at which waits begin. Many users may come
/// through one proxy.
const FREE_OF_ADDRESS: u32 = 100;

/// Failures are forgotten when none has followed for this long.
const FORGET: Duration = Duration::from_secs(300);

/// The longest wait after a failure; the first is a second, and each is twice the one before.
const WAIT_MAX: Duration = Duration::from_secs(60);

/// Users and addresses that are remembered. Over it the older half is forgotten.
const ENTRIES_MAX: usize = 100_000;

#[derive(Debug, Clone, Copy)]
struct Failures {
    count: u32,
    last: Instant,
}

impl Failures {
    fn wait_until(&self, free: u32) -> Option<Instant> {
        let over = self.count.checked_sub(free)?;
        let seconds = 1_u64.checked_shl(over.min(16)).unwrap_or(u64::MAX);
        Some(self.last + Duration::from_secs(seconds).min(WAIT_MAX))
    }
}

/// The source of a failure: a user from an address, or an address with any name.
type Source = (Option<String>, IpAddr);

/// The failures of the last minutes.
#[derive(Debug, Default)]
pub(crate) struct Throttle {
    failures: Mutex<HashMap<Source, Failures>>,
}

impl Throttle {
    /// How long this user must wait at this address before the next login is checked; `None` = no
    /// wait.
    pub(crate) fn wait(&self, user: &str, address: IpAddr, now: Instant) -> Option<Duration> {
        let failures = self.failures.lock();
        let until = |source: &Source| {
            let failures = failures.get(source)?;
            let is_fresh = now.saturating_duration_since(failures.last) < FORGET;
            let free = match source.0 {
                Some(_) => FREE,
                None => FREE_OF_ADDRESS,
            };
            failures.wait_until(free).filter(|_| is_fresh)
        };
        let until = sources(user, address).iter().filter_map(until).max()?;
        let wait = until.saturating_duration_since(now);
        (!wait.is_zero()).then_some(wait)
    }

    /// Records a failure.
    pub(crate) fn failed(&self, user: &str, address: IpAddr, now: Instant) {
        let mut failures = self.failures.lock();
        if failures.len() + 2 > ENTRIES_MAX {
            forget_oldest(&mut failures, now);
        }
        for source in sources(user, address) {
            let one = failures.entry(source).or_insert(Failures {
                count: 0,
                last: now,
            });
            if now.saturating_duration_since(one.last) >= FORGET {
                one.count = 0;
            }
            one.count = one.count.saturating_add(1);
            one.last = now;
        }
    }

    /// Forgets the failures of a user that has logged in.
    pub(crate) fn succeeded(&self, user: &str, address: IpAddr) {
        let [own, _] = sources(user, address);
        self.failures.lock().remove(&own);
    }
}

fn forget_oldest(failures: &mut HashMap<Source, Failures>, now: Instant) {
    failures.retain(|_, one| now.saturating_duration_since(one.last) < FORGET);
    if failures.len() + 2 > ENTRIES_MAX {
        let mut ages: Vec<Instant> = failures.values().map(|one| one.last).collect();
        let middle = ages.len() / 2;
        let (_, median, _) = ages.select_nth_unstable(middle);
        let median = *median;
        failures.retain(|_, one| one.last > median);
    }
}

fn sources(user: &str, address: IpAddr) -> [Source; 2] {
    let address = match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(six) => match six.to_ipv4_mapped() {
            Some(four) => IpAddr::V4(four),
            // A client with one IPv6 address usually has the whole /64 network.
            None => IpAddr::V6(Ipv6Addr::from_bits(six.to_bits() & (!0 << 64))),
        },
    };
    [(Some(user.to_owned()), address), (None, address)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    const HERE: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
    const THERE: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2));

    #[test]
    fn waits_double_up_to_a_minute_and_are_forgotten() {
        let (throttle, now) = (Throttle::default(), Instant::now());
        for _ in 0..FREE - 1 {
            throttle.failed("a", HERE, now);
            assert_eq!(throttle.wait("a", HERE, now), None);
        }
        for seconds in [1, 2, 4, 8, 16, 32, 60, 60] {
            throttle.failed("a", HERE, now);
            assert_eq!(
                throttle.wait("a", HERE, now),
                Some(Duration::from_secs(seconds))
            );
        }
        assert_eq!(throttle.wait("a", HERE, now + FORGET), None);
        assert_eq!(
            throttle.wait("a", THERE, now),
            None,
            "another address is free"
        );
    }

    #[test]
    fn an_address_that_tries_many_names_waits_too() {
        let (throttle, now) = (Throttle::default(), Instant::now());
        for number in 0..=FREE_OF_ADDRESS {
            throttle.failed(&number.to_string(), HERE, now);
        }
        assert!(throttle.wait("new", HERE, now).is_some());
        throttle.succeeded("0", HERE);
        assert!(
            throttle.wait("new", HERE, now).is_some(),
            "its own success frees no other"
        );
    }
}
