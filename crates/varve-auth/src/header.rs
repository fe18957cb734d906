//! The `Authorization` header (RFC 9110 §11.6.2): Basic (RFC 7617) and Bearer (RFC 6750); and the
//! message of SASL PLAIN (RFC 4616), which has the same content.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Longest header, in bytes.
pub const AUTHORIZATION_BYTES_MAX: usize = 8 * 1024;

/// The credentials that a client sends.
#[derive(Clone, PartialEq, Eq)]
pub enum Proof {
    /// A name and a password.
    Password {
        /// The name.
        user: String,
        /// The password.
        password: String,
    },
    /// A token.
    Token(String),
}

impl std::fmt::Debug for Proof {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Password { .. } => "Password",
            Self::Token(_) => "Token",
        })
    }
}

/// A malformed header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// Neither Basic nor Bearer.
    #[error("Only HTTP Basic or Bearer authentication is supported")]
    Scheme,
    /// Basic without a name and a password.
    #[error("Invalid syntax for username and password")]
    Syntax,
    /// Longer than [`AUTHORIZATION_BYTES_MAX`].
    #[error("The Authorization header has more than {AUTHORIZATION_BYTES_MAX} bytes")]
    Length,
}

impl Proof {
    /// Parses the value of a header.
    ///
    /// # Errors
    /// [`HeaderError`].
    pub fn parse(header: &[u8]) -> Result<Self, HeaderError> {
        if header.len() > AUTHORIZATION_BYTES_MAX {
            return Err(HeaderError::Length);
        }
        let text = std::str::from_utf8(header).map_err(|_| HeaderError::Scheme)?;
        let (scheme, rest) = text.trim().split_once(' ').ok_or(HeaderError::Scheme)?;
        let rest = rest.trim();
        if scheme.eq_ignore_ascii_case("bearer") && !rest.is_empty() {
            return Ok(Self::Token(rest.to_owned()));
        }
        if !scheme.eq_ignore_ascii_case("basic") || rest.is_empty() {
            return Err(HeaderError::Scheme);
        }
        let decoded = STANDARD.decode(rest).map_err(|_| HeaderError::Syntax)?;
        let pair = String::from_utf8(decoded).map_err(|_| HeaderError::Syntax)?;
        let (user, password) = pair.split_once(':').ok_or(HeaderError::Syntax)?;
        Ok(Self::Password {
            user: user.to_owned(),
            password: password.to_owned(),
        })
    }

    /// Parses a message of SASL PLAIN (RFC 4616). The authorization identity is ignored. A name
    /// without a password is a token.
    ///
    /// # Errors
    /// [`HeaderError`].
    pub fn parse_plain(message: &[u8]) -> Result<Self, HeaderError> {
        if message.len() > AUTHORIZATION_BYTES_MAX {
            return Err(HeaderError::Length);
        }
        let text = std::str::from_utf8(message).map_err(|_| HeaderError::Syntax)?;
        let mut parts = text.split('\0');
        match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some(_), Some(user), Some(password), None) if !user.is_empty() => Ok(match password {
                "" => Self::Token(user.to_owned()),
                _ => Self::Password {
                    user: user.to_owned(),
                    password: password.to_owned(),
                },
            }),
            _ => Err(HeaderError::Syntax),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn basic(pair: &str) -> Vec<u8> {
        format!("Basic {}", STANDARD.encode(pair)).into_bytes()
    }

    #[test]
    fn basic_takes_the_first_colon_and_utf_8() {
        let proof = Proof::parse(&basic("zoë:a:b")).expect("parsed");
        let wanted = Proof::Password {
            user: "zoë".to_owned(),
            password: "a:b".to_owned(),
        };
        assert_eq!(proof, wanted);
        assert_eq!(Proof::parse(&basic("zoe")), Err(HeaderError::Syntax));
        assert_eq!(Proof::parse(b"Basic %%%"), Err(HeaderError::Syntax));
    }

    #[test]
    fn sasl_plain_has_three_parts_and_a_name_alone_is_a_token() {
        let password = Proof::Password {
            user: "zoë".to_owned(),
            password: "a:b".to_owned(),
        };
        for message in ["\0zoë\0a:b", "admin\0zoë\0a:b"] {
            let proof = Proof::parse_plain(message.as_bytes());
            assert_eq!(proof.as_ref(), Ok(&password), "{message}");
        }
        let token = Proof::Token("abc".to_owned());
        assert_eq!(Proof::parse_plain(b"\0abc\0"), Ok(token));
        for bad in [
            &b""[..],
            b"abc",
            b"\0abc",
            b"\0\0",
            b"\0a\0b\0",
            b"\0\xff\0b",
        ] {
            assert_eq!(Proof::parse_plain(bad), Err(HeaderError::Syntax));
        }
        let long = vec![0; AUTHORIZATION_BYTES_MAX + 1];
        assert_eq!(Proof::parse_plain(&long), Err(HeaderError::Length));
    }

    #[test]
    fn schemes_are_known_in_any_case_and_others_are_refused() {
        let token = Proof::Token("abc".to_owned());
        assert_eq!(Proof::parse(b"bearer  abc"), Ok(token));
        for bad in [&b"Digest x"[..], b"Bearer", b"Bearer ", b"", b"\xff"] {
            assert_eq!(Proof::parse(bad), Err(HeaderError::Scheme));
        }
        let long = vec![b'a'; AUTHORIZATION_BYTES_MAX + 1];
        assert_eq!(Proof::parse(&long), Err(HeaderError::Length));
    }
}
