//! What the ids of a run begin with, so that its elements are none of another run's.

use std::hash::{BuildHasher as _, RandomState};

use anyhow::{Result, bail};

use super::options::ApiArguments;
use super::payload::PREFIX;
use super::target::Target;
use crate::random::Random;

/// Prefixes that are tried when the graph has elements of runs that had those before.
const TRIED: u32 = 20;

/// What this run's ids begin with, and whether an earlier run in this graph had it: the prefix that
/// was named, else one that none had.
///
/// # Errors
/// When the server does not tell, or as many prefixes as are tried were all used.
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

/// Two runs that start at once have the same one of 238,328 by chance only.
fn random() -> [u8; PREFIX] {
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    // The standard library's keys of hash tables come from the system's random numbers.
    let mut random = Random::new(RandomState::new().hash_one(std::process::id()));
    [(); PREFIX].map(|()| DIGITS[random.below(DIGITS.len() as u64) as usize])
}
