//! Passwords: argon2id (RFC 9106) from the `argon2` crate, in the PHC string format.

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};

/// Memory that one hash takes, in KiB: the second choice of OWASP's list.
const MEMORY_KIB: u32 = 19 * 1024;

/// Passes over that memory.
const PASSES: u32 = 2;

/// The nice value of threads that check passwords: waking serving threads preempt them. Below the
/// maximum, so that logins still proceed on a busy machine.
const NICENESS: i32 = 10;

/// Longest password, in bytes. More would only cost time.
pub const PASSWORD_BYTES_MAX: usize = 256;

/// A password that is refused, or cannot be hashed.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct PasswordError(String);

fn hasher() -> Argon2<'static> {
    let params = Params::new(MEMORY_KIB, PASSES, 1, None).unwrap_or_default();
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
}

/// The hash of a password, with a salt of its own. Takes some 20 ms and 19 MiB.
///
/// # Errors
/// When the system gives no random bytes.
pub fn hash(password: &str) -> Result<String, PasswordError> {
    let hash = hasher().hash_password(password.as_bytes());
    hash.map(|hash| hash.to_string())
        .map_err(|error| PasswordError(format!("The password cannot be hashed: {error}")))
}

/// Whether `hash` is a hash of `password`. Takes as long as [`hash`], whatever the result, on a
/// thread of low priority.
#[must_use]
pub fn verify(password: &str, hash: &str) -> bool {
    let Ok(hash) = PasswordHash::new(hash) else {
        return false;
    };
    aside(|| hasher().verify_password(password.as_bytes(), &hash).is_ok())
}

/// Runs work on a thread of low priority, and waits for it. The caller keeps its own priority: a
/// serving thread may wait for a lock that the caller holds.
fn aside<T: Send>(work: impl Fn() -> T + Sync) -> T {
    let nicely = || {
        // If this fails, the work has the same result, but disturbs other threads more.
        if rustix::process::getpriority_process(None).is_ok_and(|nice| nice < NICENESS) {
            let _ = rustix::process::setpriority_process(None, NICENESS);
        }
        work()
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("varve-password".to_owned());
        match thread.spawn_scoped(scope, nicely) {
            Ok(thread) => thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(_) => work(),
        }
    })
}

/// Refuses a password that is too short, in characters, or too long.
///
/// # Errors
/// Names the limit.
pub fn check(password: &str, length_min: usize) -> Result<(), PasswordError> {
    if password.len() > PASSWORD_BYTES_MAX {
        return Err(PasswordError(format!(
            "The password of user must have at most {PASSWORD_BYTES_MAX} bytes"
        )));
    }
    if password.chars().count() < length_min {
        return Err(PasswordError(format!(
            "The password of user must have at least {length_min} characters (auth.password_min_length)"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_known_again_and_hashes_differ() {
        let first = hash("corréct horse").expect("hashed");
        let second = hash("corréct horse").expect("hashed");
        assert_ne!(first, second);
        assert!(
            first.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"),
            "{first}"
        );
        assert!(verify("corréct horse", &first) && verify("corréct horse", &second));
        assert!(!verify("correct horse", &first) && !verify("", &first));
        assert!(!verify("x", "no hash"));
    }

    #[test]
    fn passwords_are_checked_at_a_low_priority_and_the_caller_keeps_its_own() {
        let niceness = || rustix::process::getpriority_process(None).expect("known");
        let own = niceness();
        assert_eq!(aside(niceness), own.max(NICENESS));
        assert_eq!(niceness(), own);
    }

    #[test]
    fn length_is_checked() {
        assert!(check("short", 8).is_err());
        assert!(check("longenough", 8).is_ok());
        assert!(check(&"x".repeat(257), 1).is_err());
    }
}
