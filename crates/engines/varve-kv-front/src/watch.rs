//! The watch: one thread that maintains the idle spaces.
//!
//! It freezes tables that are old, and large ones when memory is short. It also starts deferred
//! work. An idle space whose tables are flushed costs one check per second and no thread.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use crate::space::Shared;

/// The interval of checks, unless a space needs a shorter one.
const LOOK: Duration = Duration::from_secs(1);

/// The thread and the spaces that it checks. The thread ends with the last space.
#[derive(Default)]
pub struct Watch {
    state: Mutex<WatchList>,
    changed: Condvar,
}

#[derive(Default)]
struct WatchList {
    spaces: Vec<Arc<Entry>>,
    running: bool,
}

/// A watched space; `shared` is `None` once the space is closed.
struct Entry {
    shared: Mutex<Option<Arc<Shared>>>,
    every: Duration,
}

/// A space's registration with the watch. Dropping it removes the space, and waits for a running
/// check of it.
pub(crate) struct Watched {
    watch: Arc<Watch>,
    entry: Arc<Entry>,
}

impl Watch {
    /// Adds a space.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub(crate) fn add(self: &Arc<Self>, shared: &Arc<Shared>) -> Result<Watched, std::io::Error> {
        let entry = Arc::new(Entry {
            shared: Mutex::new(Some(Arc::clone(shared))),
            every: (shared.config.options.age_max / 4).min(LOOK),
        });
        let mut state = self.state.lock();
        if !state.running {
            let watch = Arc::clone(self);
            std::thread::Builder::new()
                .name("varve-watch".to_owned())
                .spawn(move || watch.run())?;
            state.running = true;
        }
        state.spaces.push(Arc::clone(&entry));
        drop(state);
        self.changed.notify_one();
        Ok(Watched {
            watch: Arc::clone(self),
            entry,
        })
    }

    fn run(&self) {
        let mut looked = Instant::now();
        loop {
            let mut state = self.state.lock();
            let Some(every) = state.spaces.iter().map(|space| space.every).min() else {
                state.running = false;
                return;
            };
            if !self
                .changed
                .wait_until(&mut state, looked + every)
                .timed_out()
            {
                // The list of spaces has changed; the time of the next check has not.
                continue;
            }
            looked = Instant::now();
            let spaces = state.spaces.clone();
            drop(state);
            for space in spaces {
                if let Some(shared) = &*space.shared.lock() {
                    // A space whose check panics reports the failure to its writers; the other
                    // spaces are still checked.
                    let _ = catch_unwind(AssertUnwindSafe(|| shared.look()));
                }
            }
        }
    }
}

impl std::fmt::Debug for Watch {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let spaces = self.state.lock().spaces.len();
        let mut shown = formatter.debug_struct("Watch");
        shown.field("spaces", &spaces).finish_non_exhaustive()
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let mut state = self.watch.state.lock();
        state
            .spaces
            .retain(|space| !Arc::ptr_eq(space, &self.entry));
        drop(state);
        self.watch.changed.notify_one();
        *self.entry.shared.lock() = None;
    }
}
