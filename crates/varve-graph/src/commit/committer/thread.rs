//! The committer's own thread: it is started when it has work, and ends after some idle seconds.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant as MonotonicInstant;

use parking_lot::MutexGuard;
use varve_kv::{Batch, Durability};

use super::{CommitterState, DurabilityMode, Shared, put_version};

/// The next work of the committer's own thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    /// A sync is due.
    Sync,
    /// Commits wait, or the committer ends.
    Commits,
    /// Nothing for [`CommitterOptions::idle_max`](super::CommitterOptions::idle_max).
    None,
}

impl Shared {
    /// Wakes the committer's own thread, or starts it. If it cannot be started, the calling thread
    /// does its work.
    pub(super) fn wake(self: &Arc<Self>, mut state: MutexGuard<'_, CommitterState>) {
        if state.running {
            drop(state);
            self.arrived.notify_one();
            return;
        }
        let own = Arc::clone(self);
        let started = std::thread::Builder::new()
            .name("varve-commit".into())
            .spawn(move || own.run_to_the_end());
        state.running = true;
        match started {
            Ok(thread) => {
                if let Some(ended) = state.thread.replace(thread) {
                    // It has ended or is about to, and handles its own panics.
                    let _ = ended.join();
                }
            }
            Err(_) => {
                drop(state);
                self.run_to_the_end();
            }
        }
    }

    /// Runs the loop. After a panic, all waiting and later commits are refused and their latches
    /// are released, so that no thread waits for ever.
    fn run_to_the_end(&self) {
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| self.run()));
        if ended.is_err() {
            self.give_up();
            self.state.lock().running = false;
        }
        self.written.notify_all();
    }

    fn run(&self) {
        loop {
            let mut state = self.state.lock();
            let due = match self.wait_for_work(&mut state) {
                Work::None => {
                    state.running = false;
                    return;
                }
                work => work == Work::Sync,
            };
            let ends = state.stop && state.queue.is_empty();
            if due || (ends && state.unsynced_since.is_some()) {
                state.unsynced_since = None;
                drop(state);
                if let Err(error) = self.space.sync() {
                    self.fail(&error);
                    // If the disk was full, the sync is retried after another interval.
                    let now = MonotonicInstant::now();
                    self.state.lock().unsynced_since.get_or_insert(now);
                }
            } else if !state.queue.is_empty() {
                let group = self.next_group(&mut state);
                drop(state);
                self.write_group(group);
            }
            if ends {
                break;
            }
        }
        self.take_back();
        self.state.lock().running = false;
    }

    /// Stores the last version itself where the stored one is ahead of it, so that the versions of
    /// the next start follow it directly.
    fn take_back(&self) {
        let Some(ahead) = &self.ahead else { return };
        let state = self.state.lock();
        let last = state.last;
        let failed = state.failed.is_some();
        drop(state);
        if failed || ahead.load(Ordering::Acquire) <= last.0 {
            return;
        }
        let mut batch = Batch::new();
        put_version(&mut batch, last);
        // If this fails, versions jump by the lead.
        let _ = self.space.write(&batch, Durability::Buffered);
    }

    /// Waits for the next sync, for commits that no other thread writes, or for the end.
    fn wait_for_work(&self, state: &mut MutexGuard<'_, CommitterState>) -> Work {
        let mut waited_enough = false;
        loop {
            let idle = state.writing || (state.queue.is_empty() && !state.stop);
            state.timed = false;
            match (self.options.durability, state.unsynced_since) {
                (DurabilityMode::Interval(every), Some(since)) => {
                    let due = since + every;
                    if MonotonicInstant::now() >= due {
                        return Work::Sync;
                    }
                    if !idle {
                        return Work::Commits;
                    }
                    state.timed = true;
                    self.arrived.wait_until(state, due);
                }
                _ if !idle => return Work::Commits,
                _ if waited_enough => return Work::None,
                _ => {
                    waited_enough = self
                        .arrived
                        .wait_for(state, self.options.idle_max)
                        .timed_out()
                }
            }
        }
    }
}
