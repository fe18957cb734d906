//! Checks of passwords: few at once, each on a thread of its own. The hash itself has a low
//! priority ([`varve_auth::password`]).
//!
//! A check takes some 20 ms of a core and 19 MiB by design. So a client that sends thousands of
//! wrong passwords only gets CPU time of few cores that no other request needs; most of its
//! requests are refused at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use varve_view::ErrorKind;

use crate::Failure;

/// The limits of logins.
#[derive(Debug, Clone, Copy)]
pub struct LoginLimits {
    /// Passwords that are checked at once.
    pub at_once: usize,
    /// Logins that wait for a check.
    pub waiting_max: usize,
    /// How long a login waits.
    pub wait_max: Duration,
    /// After how many seconds a refused login may be tried again.
    pub retry_after_seconds: u32,
}

/// The slots for checks, and the number of logins that wait for one.
#[derive(Debug)]
pub struct Logins {
    places: Arc<Semaphore>,
    waiting: AtomicUsize,
    limits: LoginLimits,
}

impl Logins {
    /// Nobody logs in yet.
    pub fn new(limits: LoginLimits) -> Self {
        let places = limits.at_once.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            places: Arc::new(Semaphore::new(places)),
            waiting: AtomicUsize::new(0),
            limits,
        }
    }

    /// Runs a check in its turn. The check keeps its slot to its end, even if its caller goes away.
    ///
    /// # Errors
    /// [`ErrorKind::Throttled`] when too many logins wait.
    pub async fn run<T: Send + 'static>(
        &self,
        check: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Failure> {
        let place = self.place().await?;
        let (give, take) = oneshot::channel();
        let work = move || {
            let checked = check();
            drop(place);
            let _ = give.send(checked);
        };
        let thread = std::thread::Builder::new().name("varve-login".to_owned());
        thread.spawn(work).map_err(|_| self.busy())?;
        take.await
            .map_err(|_| Failure::new(ErrorKind::Internal, "The check of a password has panicked"))
    }

    async fn place(&self) -> Result<OwnedSemaphorePermit, Failure> {
        if let Ok(place) = Arc::clone(&self.places).try_acquire_owned() {
            return Ok(place);
        }
        let waiting = Waiting::begin(&self.waiting);
        if waiting.before >= self.limits.waiting_max {
            return Err(self.busy());
        }
        let place = Arc::clone(&self.places).acquire_owned();
        let place = tokio::time::timeout(self.limits.wait_max, place).await;
        place.map_err(|_| self.busy())?.map_err(|_| self.busy())
    }

    fn busy(&self) -> Failure {
        Failure::throttled("Too many logins at once", self.limits.retry_after_seconds)
    }
}

/// A login that waits, counted until it is dropped.
struct Waiting<'w> {
    count: &'w AtomicUsize,
    /// How many waited already.
    before: usize,
}

impl<'w> Waiting<'w> {
    fn begin(count: &'w AtomicUsize) -> Self {
        let before = count.fetch_add(1, Ordering::Relaxed);
        Self { count, before }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future as _;
    use std::pin::pin;
    use std::sync::mpsc;
    use std::task::{Context, Poll, Waker};

    use super::*;

    fn logins(at_once: usize, waiting_max: usize) -> Logins {
        Logins::new(LoginLimits {
            at_once,
            waiting_max,
            wait_max: Duration::from_secs(1),
            retry_after_seconds: 1,
        })
    }

    #[tokio::test]
    async fn so_many_are_checked_at_once_so_many_wait_and_one_more_is_refused() {
        let logins = logins(1, 1);
        let (end, ended) = mpsc::channel::<()>();
        let mut context = Context::from_waker(Waker::noop());
        let mut first = Box::pin(logins.run(move || ended.recv().is_err()));
        assert!(first.as_mut().poll(&mut context).is_pending());
        let mut second = pin!(logins.run(|| 2));
        assert!(second.as_mut().poll(&mut context).is_pending());
        let refused = logins.run(|| 3).await;
        assert_eq!(
            refused.map_err(|error| error.kind),
            Err(ErrorKind::Throttled)
        );
        // The client of the first login has gone, but its check still runs.
        drop(first);
        assert!(matches!(second.as_mut().poll(&mut context), Poll::Pending));
        drop(end);
        assert_eq!(second.await.ok(), Some(2));
        assert_eq!(logins.waiting.load(Ordering::Relaxed), 0);
    }

    #[tokio::test]
    async fn a_panic_of_a_check_is_an_error() {
        let logins = logins(4, 1);
        let panicked = logins.run(|| panic!("a test panics")).await;
        let panicked: Result<(), _> = panicked;
        assert_eq!(
            panicked.map_err(|error| error.kind),
            Err(ErrorKind::Internal)
        );
        assert_eq!(logins.places.available_permits(), 4);
    }
}
