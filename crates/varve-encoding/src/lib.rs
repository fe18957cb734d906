//! Every key and value of Varve as bytes that sort in the promised order, and back.
//!
//! The only crate that knows byte positions. `docs/storage-format.md` describes the same layouts
//! for readers.

pub mod change;
pub mod counts;
pub mod datum;
pub mod index;
pub mod key;
pub mod row;
pub mod tables;
pub mod value;

#[cfg(test)]
mod testing;

/// Stored bytes that do not decode: damage, or data of a newer version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} does not decode at byte {at}: {hex}")]
pub struct DecodeError {
    /// What was expected.
    pub what: &'static str,
    /// Position of the first byte that does not fit.
    pub at: usize,
    /// The start of the bytes, in hexadecimal.
    pub hex: String,
}

impl DecodeError {
    /// An error at position `at` of `bytes`.
    #[cold]
    #[must_use]
    pub fn new(what: &'static str, bytes: &[u8], at: usize) -> Self {
        use std::fmt::Write;
        let mut hex = String::new();
        for byte in bytes.iter().take(64) {
            let _ = write!(hex, "{byte:02x}");
        }
        Self { what, at, hex }
    }
}
