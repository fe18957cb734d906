//! Page tokens, with which a listing is continued.
//!
//! A token is the base64 of these bytes; numbers are big-endian:
//!
//! | bytes | content |
//! |---|---|
//! | 1 | format, 1 |
//! | 8 | fingerprint of the plan's legs, the conditions and the point of both times |
//! | 2 | number of choices |
//! | 1 each | for each part of the plan, the number of the chosen alternative |
//! | 4 | number of the leg |
//! | rest | position in the leg |
//!
//! The alternatives of a part use different indexes. A query that continues makes the same choices,
//! so it uses the plan that made the token. A token of another query is refused, since its
//! fingerprint differs.

use base64::Engine as _;
use base64::alphabet::STANDARD as ALPHABET;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use crate::{ErrorKind, GraphError};

/// Accepts tokens with and without padding; HugeGraph's clients send both.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &ALPHABET,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);
const FORMAT: u8 = 1;

/// A decoded page token: a position between two results of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bookmark {
    /// Fingerprint of the plan.
    pub(super) plan: u64,
    /// For each part of the plan, the index of the alternative that was chosen.
    pub(super) choices: Vec<u8>,
    /// The index of the leg in the plan.
    pub(super) leg: u32,
    /// The last position in the leg that was visited, in the leg's own format; empty for its start.
    pub(super) position: Vec<u8>,
}

impl Bookmark {
    pub(super) fn to_token(&self) -> String {
        BASE64.encode(self.to_bytes())
    }

    /// The bytes that a token encodes.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![FORMAT];
        bytes.extend_from_slice(&self.plan.to_be_bytes());
        let choices = u16::try_from(self.choices.len()).expect("the planner bounds the choices");
        bytes.extend_from_slice(&choices.to_be_bytes());
        bytes.extend_from_slice(&self.choices);
        bytes.extend_from_slice(&self.leg.to_be_bytes());
        bytes.extend_from_slice(&self.position);
        bytes
    }

    /// Decodes a token. A space in it counts as `+`, since some clients do not percent-encode `+`.
    ///
    /// # Errors
    /// [`ErrorKind::BadPage`] for a text that is not a token.
    pub(super) fn parse(token: &str) -> Result<Self, GraphError> {
        let token = token.replace(' ', "+");
        match BASE64.decode(&token) {
            Ok(bytes) => Self::from_bytes(&bytes),
            Err(_) => Err(invalid(token.as_bytes())),
        }
    }

    /// Decodes the result of [`Bookmark::to_bytes`].
    ///
    /// # Errors
    /// [`ErrorKind::BadPage`] for bytes that are not those of a token.
    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self, GraphError> {
        Self::take(bytes).ok_or_else(|| invalid(bytes))
    }

    fn take(bytes: &[u8]) -> Option<Self> {
        let rest = bytes.strip_prefix(&[FORMAT])?;
        let (plan, rest) = rest.split_first_chunk::<8>()?;
        let (count, rest) = rest.split_first_chunk::<2>()?;
        let (choices, rest) = rest.split_at_checked(usize::from(u16::from_be_bytes(*count)))?;
        let (leg, position) = rest.split_first_chunk::<4>()?;
        Some(Self {
            plan: u64::from_be_bytes(*plan),
            choices: choices.to_vec(),
            leg: u32::from_be_bytes(*leg),
            position: position.to_vec(),
        })
    }

    /// The error for a valid token that belongs to another query or to a removed index.
    pub(super) fn refused(&self) -> GraphError {
        invalid(&self.to_bytes())
    }
}

fn invalid(bytes: &[u8]) -> GraphError {
    use std::fmt::Write;
    let mut hex = String::new();
    for byte in bytes {
        let _ = write!(hex, "{byte:02x}");
    }
    GraphError::new(ErrorKind::BadPage, format!("Invalid page: '0x{hex}'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_come_back() {
        let bookmark = Bookmark {
            plan: 0xFBEF_BEFB_EFBE_FBEF,
            choices: vec![0, 2],
            leg: 3,
            position: vec![0xFB; 40],
        };
        let token = bookmark.to_token();
        assert_eq!(Bookmark::parse(&token).expect("own token"), bookmark);
        assert!(token.contains('+'), "the case of the next line: {token}");
        assert_eq!(
            Bookmark::parse(&token.replace('+', " ")).expect("spaces"),
            bookmark
        );
        assert_eq!(
            Bookmark::parse(token.trim_end_matches('=')).expect("no padding"),
            bookmark
        );
    }

    #[test]
    fn others_are_refused_with_their_bytes() {
        for (token, message) in [
            ("xx", "Invalid page: '0xc7'"),
            ("!", "Invalid page: '0x21'"),
            (
                "AggKAAAAAAAAAAI=",
                "Invalid page: '0x02080a0000000000000002'",
            ),
        ] {
            let error = Bookmark::parse(token).expect_err(token);
            assert_eq!(
                (error.kind, error.message.as_str()),
                (ErrorKind::BadPage, message)
            );
        }
    }
}
