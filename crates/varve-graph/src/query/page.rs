//! Page tokens: where a listing goes on.
//!
//! A token is the base64 of: format (1 byte), fingerprint of the plan (8), number of choices (2),
//! the choices (1 each), leg (4), position in the leg. The fingerprint covers the query and the
//! plan that serves it, the choices say which of several possible indexes were used; so a token
//! goes on with the plan it was made by, and one made for another query is refused.

use base64::Engine as _;
use base64::alphabet::STANDARD as ALPHABET;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use crate::{ErrorKind, GraphError};

/// Reads tokens with and without padding; HugeGraph's clients send both.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &ALPHABET,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);
const FORMAT: u8 = 1;

/// A place between two results of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bookmark {
    /// Fingerprint of the plan.
    pub(super) plan: u64,
    /// Which option was taken where there were several.
    pub(super) choices: Vec<u8>,
    /// Which leg of the plan.
    pub(super) leg: u32,
    /// The last place passed in that leg, in the leg's own form; empty for its start.
    pub(super) position: Vec<u8>,
}

impl Bookmark {
    pub(super) fn to_token(&self) -> String {
        BASE64.encode(self.to_bytes())
    }

    /// What a token encodes.
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

    /// Reads a token; a space in it stands for `+`, as URLs that were not encoded have it.
    ///
    /// # Errors
    /// [`ErrorKind::BadPage`] when it is not one of ours.
    pub(super) fn parse(token: &str) -> Result<Self, GraphError> {
        let token = token.replace(' ', "+");
        match BASE64.decode(&token) {
            Ok(bytes) => Self::from_bytes(&bytes),
            Err(_) => Err(invalid(token.as_bytes())),
        }
    }

    /// Reads what [`Bookmark::to_bytes`] made.
    ///
    /// # Errors
    /// As [`Bookmark::parse`].
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

    /// The error for a token that is well formed but belongs to another query or an index that is
    /// gone.
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
