//! Opening an engine on a directory that was open in this process before.
//!
//! A process that another test starts shares the lock of every directory that is open at that
//! moment, until it has become its own program. So a directory that was closed may be locked still,
//! for as long as that takes.

use std::thread;
use std::time::{Duration, Instant};

use varve_kv::KvError;

/// Longer than any child takes until it is its own program.
const LOCKED_MAX: Duration = Duration::from_secs(60);

/// What `open` returns, which is tried again while another process uses the directory. An engine of
/// this process that lets its lock go late looks the same, and is waited for, too.
///
/// # Errors
/// What `open` returns, in use for a minute included.
pub fn once_unlocked<E>(open: impl Fn() -> Result<E, KvError>) -> Result<E, KvError> {
    let started = Instant::now();
    loop {
        match open() {
            Err(KvError::Unavailable { detail, .. })
                if detail.contains("another process") && started.elapsed() < LOCKED_MAX =>
            {
                thread::yield_now();
            }
            opened => return opened,
        }
    }
}
