//! The prefix of the ids of a run, which distinguishes its elements from those of other runs.

use std::hash::{BuildHasher as _, RandomState};

use anyhow::{Result, bail};

use super::options::ApiArguments;
use super::payload::PREFIX;
use super::target::Target;
use crate::random::Random;

/// The most random prefixes that are tried.
const TRIED: u32 = 20;

/// The prefix of this run's ids, and whether an earlier run in this graph used it. The prefix is
/// the one in the options; without one, it is random and unused.
///
/// # Errors
/// When the server does not answer, its answer is neither 200 nor 404, or all tried prefixes were
/// used.
pub(crate) fn of_run(
    arguments: &ApiArguments,
    target: &mut Target,
) -> Result<([u8; PREFIX], bool)> {
    if let Some(prefix) = arguments.run_prefix {
        return Ok((prefix, target.has_run(prefix)?));
    }
    for _ in 0..TRIED {
        let prefix = random();
        if !target.has_run(prefix)? {
            return Ok((prefix, false));
        }
    }
    bail!("the graph has elements of too many runs: use an empty one, or name a --run-prefix")
}

/// A random prefix. There are 238,328, so two runs rarely choose the same one.
fn random() -> [u8; PREFIX] {
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    // The standard library seeds its hash tables with the system's random numbers.
    let mut random = Random::new(RandomState::new().hash_one(std::process::id()));
    [(); PREFIX].map(|()| DIGITS[random.below(DIGITS.len() as u64) as usize])
}
