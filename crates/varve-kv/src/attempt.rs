//! Work that is tried on a thread that must not wait.
//!
//! A read of a few rows from a cluster spends most of its time on hand-overs: to a thread that may
//! wait, to the driver's, and back. So short work is tried on the thread that serves the client. A
//! read there is answered if an earlier run of the same work has caused it; otherwise it fails, and
//! the engine notes what must be read. Then the caller awaits these reads and runs the work again,
//! from the start. Answers belong to one piece of work, so each read is made once for it.
//!
//! The failure of a read that was noted has no meaning: the result of such a run is discarded.

use std::any::Any;
use std::cell::RefCell;
use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;

/// The answer to a read.
pub type Answer = Arc<dyn Any + Send + Sync>;

/// A read that is still to be made; `None` if the work must run where it may wait.
pub type Need = Pin<Box<dyn Future<Output = Option<Answer>>>>;

/// The most runs of one piece of work.
const RUNS_MAX: usize = 4;

/// A piece of work that is tried.
#[derive(Default)]
struct Attempt {
    answers: HashMap<Vec<u8>, Answer>,
    needs: Vec<(Vec<u8>, Need)>,
    refused: bool,
}

thread_local! {
    static CURRENT: RefCell<Option<Attempt>> = const { RefCell::new(None) };
}

/// Whether work is being tried on this thread, so that nothing may wait.
#[must_use]
pub fn is_running() -> bool {
    CURRENT.with_borrow(Option::is_some)
}

/// Makes the work run where it may wait. To be called where work that is being tried would wait.
pub fn refuse() {
    with(|attempt| attempt.refused = true);
}

/// The answer to a read of the work that is being tried, if an earlier run has caused the read.
/// `name` identifies the read.
#[must_use]
pub fn answer<T: Any + Send + Sync>(name: &[u8]) -> Option<Arc<T>> {
    let known = CURRENT.with_borrow(|attempt| attempt.as_ref()?.answers.get(name).cloned());
    known?.downcast().ok()
}

/// Notes a read that the work needs which is being tried.
pub fn need(name: Vec<u8>, read: Need) {
    with(|attempt| attempt.needs.push((name, read)));
}

fn with(change: impl FnOnce(&mut Attempt)) {
    CURRENT.with_borrow_mut(|attempt| attempt.as_mut().map(change));
}

/// Runs `work` on this thread, again and again until a run has all its answers. Returns that run's
/// result; `None` if the work must run where it may wait.
pub async fn run<T>(mut work: impl FnMut() -> T) -> Option<T> {
    let mut attempt = Attempt::default();
    for _ in 0..RUNS_MAX {
        let (result, after) = once(attempt, &mut work);
        attempt = after;
        if attempt.refused {
            return None;
        }
        let needs = std::mem::take(&mut attempt.needs);
        if needs.is_empty() {
            return Some(result);
        }
        // A run is usually ended by its first read without an answer.
        for (name, read) in needs {
            attempt.answers.insert(name, read.await?);
        }
    }
    None
}

fn once<T>(attempt: Attempt, work: impl FnOnce() -> T) -> (T, Attempt) {
    /// Ends the attempt on this thread, also after a panic.
    struct End;
    impl Drop for End {
        fn drop(&mut self) {
            CURRENT.take();
        }
    }
    CURRENT.set(Some(attempt));
    let _end = End;
    let result = work();
    (result, CURRENT.take().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::task::{Context, Poll, Waker};

    use super::*;

    /// The result of futures that never wait.
    fn now<T>(future: impl Future<Output = T>) -> T {
        let mut future = std::pin::pin!(future);
        match future
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
        {
            Poll::Ready(result) => result,
            Poll::Pending => panic!("it waits"),
        }
    }

    /// Reads a number, which an engine has under the same number.
    fn read(number: u8, made: &Arc<std::sync::atomic::AtomicUsize>) -> Result<u8, ()> {
        if let Some(found) = answer::<u8>(&[number]) {
            return Ok(*found);
        }
        let made = Arc::clone(made);
        let read = async move {
            made.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            Some(Arc::new(number) as Answer)
        };
        need(vec![number], Box::pin(read));
        Err(())
    }

    #[test]
    fn work_runs_until_it_has_its_answers_and_makes_each_read_once() {
        let made = Arc::default();
        let runs = Cell::new(0);
        let sum = now(run(|| {
            runs.set(runs.get() + 1);
            Ok::<_, ()>(read(1, &made)? + read(1, &made)? + read(2, &made)?)
        }));
        assert_eq!(sum, Some(Ok(4)));
        assert_eq!((runs.get(), Arc::strong_count(&made)), (3, 1));
        assert_eq!(made.load(std::sync::atomic::Ordering::Relaxed), 2);
        assert!(!is_running());
    }

    #[test]
    fn work_that_waits_or_needs_many_runs_ends() {
        assert_eq!(now(run(refuse)), None);
        let failing = || need(vec![1], Box::pin(async { None }));
        assert_eq!(now(run(failing)), None);
        let made = Arc::default();
        let next = Cell::new(0);
        let endless = || {
            next.set(next.get() + 1);
            read(next.get(), &made)
        };
        assert_eq!(now(run(endless)), None);
        assert_eq!(usize::from(next.get()), RUNS_MAX);
    }

    #[test]
    fn a_panic_ends_the_attempt() {
        let run = std::panic::AssertUnwindSafe(|| now(run(|| panic!("on purpose"))));
        assert!(std::panic::catch_unwind(run).is_err());
        assert!(!is_running());
    }
}
