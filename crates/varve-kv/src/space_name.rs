//! The names that a space may have: one rule for all engines.

use crate::KvError;

/// Longest name of a space, in bytes.
pub const SPACE_NAME_BYTES_MAX: usize = 48;

/// The name of the file that an embedded engine locks, in the folder of its spaces. No space has
/// this name.
pub const LOCK_FILE: &str = "LOCK";

/// Whether a space may have this name: 1 to [`SPACE_NAME_BYTES_MAX`] ASCII letters, digits and `_`,
/// but not [`LOCK_FILE`].
#[must_use]
pub fn is_space_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    (1..=SPACE_NAME_BYTES_MAX).contains(&name.len()) && name.bytes().all(plain) && name != LOCK_FILE
}

/// Refuses a name that no space may have.
///
/// # Errors
/// [`KvError::InvalidName`] unless [`is_space_name`].
pub fn check_space_name(name: &str) -> Result<(), KvError> {
    if is_space_name(name) {
        return Ok(());
    }
    Err(KvError::InvalidName {
        space: name.to_owned(),
    })
}
