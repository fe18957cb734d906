//! The handshake: a client proposes versions, and the server answers the one it chooses.

use std::fmt;

use crate::error::{BoltError, Result};

/// The first bytes of each connection.
pub const MAGIC: [u8; 4] = [0x60, 0x60, 0xB0, 0x17];

/// The length of a client's handshake: the magic bytes and four proposals of four bytes.
pub const HANDSHAKE_BYTES: usize = 20;

/// The answer if no proposal fits. The server closes the connection after it.
pub const NO_VERSION: [u8; 4] = [0; 4];

/// The versions that the crate speaks: major, lowest minor and highest minor.
const SUPPORTED: [(u8, u8, u8); 2] = [(5, 0, 8), (4, 4, 4)];

/// A version of Bolt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// The major number.
    pub major: u8,
    /// The minor number.
    pub minor: u8,
}

impl Version {
    /// The oldest version supported.
    pub const V4_4: Version = Version::new(4, 4);
    /// The first version with element ids and with date-times in UTC.
    pub const V5_0: Version = Version::new(5, 0);
    /// The first version with LOGON and LOGOFF; before, HELLO has the credentials.
    pub const V5_1: Version = Version::new(5, 1);
    /// The first version with TELEMETRY.
    pub const V5_4: Version = Version::new(5, 4);
    /// The first version with GQL's status in failures.
    pub const V5_7: Version = Version::new(5, 7);
    /// The newest version supported.
    pub const V5_8: Version = Version::new(5, 8);

    /// The version `major.minor`, supported or not.
    #[must_use]
    pub const fn new(major: u8, minor: u8) -> Version {
        Version { major, minor }
    }

    /// The server's answer to the handshake.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 4] {
        [0, 0, self.minor, self.major]
    }
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.major, self.minor)
    }
}

/// Chooses the version for a client's handshake, or `None` if no proposal fits. The first proposal
/// that fits wins, as the client's order is its preference; within its range, the highest version.
///
/// A manifest (`00 00 01 FF`) fits no version, so the client's next proposals decide.
///
/// # Errors
/// [`BoltError::NotBolt`] if the bytes do not begin with [`MAGIC`].
pub fn choose(handshake: &[u8; HANDSHAKE_BYTES]) -> Result<Option<Version>> {
    let Some(proposals) = handshake.strip_prefix(&MAGIC) else {
        return Err(BoltError::NotBolt);
    };
    Ok(proposals.chunks_exact(4).find_map(highest))
}

/// The highest version supported in the range of a proposal `00 range minor major`.
fn highest(proposal: &[u8]) -> Option<Version> {
    let &[0, range, newest, major] = proposal else {
        return None;
    };
    let (_, low, high) = SUPPORTED.into_iter().find(|each| each.0 == major)?;
    let minor = newest.min(high);
    (minor >= low && minor >= newest.saturating_sub(range)).then_some(Version { major, minor })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(proposals: [[u8; 4]; 4]) -> Option<Version> {
        let mut bytes = [0; HANDSHAKE_BYTES];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4..].copy_from_slice(proposals.as_flattened());
        choose(&bytes).expect("magic bytes")
    }

    #[test]
    fn the_first_proposal_that_fits_is_chosen() {
        let none = [0; 4];
        let manifest = [0, 0, 1, 0xFF];
        let of = |major, minor| Some(Version { major, minor });
        // What the Python driver 6.4 and the JavaScript driver 6.3 send.
        let drivers = [manifest, [0, 8, 8, 5], [0, 2, 4, 4], [0, 0, 0, 3]];
        assert_eq!(chosen(drivers), of(5, 8));
        assert_eq!(chosen([[0, 2, 4, 4], [0, 8, 8, 5], none, none]), of(4, 4));
        assert_eq!(chosen([[0, 0, 3, 5], none, none, none]), of(5, 3));
        assert_eq!(chosen([none, none, none, [0, 0, 4, 4]]), of(4, 4));
        // Ranges that begin above what is supported.
        assert_eq!(chosen([[0, 3, 10, 5], none, none, none]), of(5, 8));
        assert_eq!(chosen([[0, 1, 10, 5], [0, 9, 6, 4], none, none]), of(4, 4));
        assert_eq!(chosen([[0, 0xFF, 0xFF, 5], none, none, none]), of(5, 8));
    }

    #[test]
    fn nothing_is_chosen_if_nothing_fits() {
        let old = [[0, 2, 3, 4], [0, 0, 0, 3], [0, 0, 0, 2], [0, 0, 0, 1]];
        assert_eq!(chosen(old), None);
        assert_eq!(chosen([[0; 4]; 4]), None);
        assert_eq!(
            chosen([[0, 0, 1, 0xFF], [0, 0, 0, 6], [0; 4], [1, 0, 8, 5]]),
            None
        );
    }

    #[test]
    fn another_protocol_is_refused() {
        let http = b"GET / HTTP/1.1\r\nHost";
        assert_eq!(choose(http), Err(BoltError::NotBolt));
    }

    #[test]
    fn the_answer_is_the_version_in_four_bytes() {
        assert_eq!(Version::V5_8.to_bytes(), [0, 0, 8, 5]);
        assert_eq!(Version::V4_4.to_string(), "4.4");
    }
}
