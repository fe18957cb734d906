//! Opens an engine on a directory that was open in this process before.
//!
//! A child process that another test starts inherits the locks of all directories that are open at
//! that moment, until its `exec`. So a closed directory may still be locked for that time.

use std::thread;
use std::time::{Duration, Instant};

use varve_kv::KvError;

/// Longer than any child needs until its `exec`.
const LOCKED_MAX: Duration = Duration::from_secs(60);

/// Calls `open`, and retries while another process uses the directory. It also waits for an engine
/// of this process that releases its lock late, since the two cannot be distinguished.
///
/// # Errors
/// The error of `open`, also if the directory is still in use after a minute.
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
