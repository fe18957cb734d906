//! Tokens: JSON Web Tokens (RFC 7519) signed with HS256 and a secret of this installation.

use std::collections::HashSet;

use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use serde::{Deserialize, Serialize};

/// Bytes of the secret.
pub(crate) const SECRET_BYTES: usize = 32;

/// The claims of a token. The first three are HugeGraph's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claims {
    /// The user's name.
    pub user_name: String,
    /// The user's id.
    pub user_id: String,
    /// When it expires, in seconds since 1970.
    pub exp: i64,
    /// When it was issued, in seconds since 1970.
    pub iat: i64,
    /// The token's id.
    pub jti: String,
    /// The version of the user's credential: another password invalidates the token.
    pub ver: u64,
}

/// Signs tokens and checks them.
pub(crate) struct Signer {
    encoding: EncodingKey,
    decoding: DecodingKey,
    validation: Validation,
}

impl Signer {
    /// A signer with this secret.
    #[must_use]
    pub(crate) fn new(secret: &[u8]) -> Self {
        // No other algorithm is accepted, whatever a token's header says.
        let mut validation = Validation::new(Algorithm::HS256);
        validation.required_spec_claims = HashSet::from(["exp".to_owned()]);
        validation.leeway = 0;
        validation.validate_aud = false;
        Self {
            encoding: EncodingKey::from_secret(secret),
            decoding: DecodingKey::from_secret(secret),
            validation,
        }
    }

    /// The token with these claims; `None` when it cannot be signed.
    #[must_use]
    pub(crate) fn sign(&self, claims: &Claims) -> Option<String> {
        let header = Header::new(Algorithm::HS256);
        jsonwebtoken::encode(&header, claims, &self.encoding).ok()
    }

    /// The claims of a token, if it was signed with this secret and has not expired.
    #[must_use]
    pub(crate) fn check(&self, token: &str) -> Option<Claims> {
        let decoded = jsonwebtoken::decode::<Claims>(token, &self.decoding, &self.validation);
        decoded.ok().map(|decoded| decoded.claims)
    }
}

impl std::fmt::Debug for Signer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Signer")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;

    fn claims(exp: i64) -> Claims {
        Claims {
            user_name: "a".to_owned(),
            user_id: "-30:a".to_owned(),
            exp,
            iat: 0,
            jti: "1".to_owned(),
            ver: 7,
        }
    }

    #[test]
    fn a_token_is_known_by_its_own_secret_until_its_time_is_over() {
        let signer = Signer::new(&[1; SECRET_BYTES]);
        let late = claims(i64::from(u32::MAX));
        let token = signer.sign(&late).expect("signed");
        assert_eq!(signer.check(&token), Some(late));
        assert_eq!(Signer::new(&[2; SECRET_BYTES]).check(&token), None);
        let over = signer.sign(&claims(1)).expect("signed");
        assert_eq!(signer.check(&over), None);
    }

    #[test]
    fn a_token_without_a_signature_is_refused_whatever_its_header_says() {
        let signer = Signer::new(&[1; SECRET_BYTES]);
        let body = serde_json::to_vec(&claims(i64::from(u32::MAX))).expect("JSON");
        for header in [
            r#"{"alg":"none"}"#,
            r#"{"alg":"HS256"}"#,
            r#"{"alg":"HS512"}"#,
        ] {
            let parts = [header.as_bytes(), &body].map(|part| URL_SAFE_NO_PAD.encode(part));
            assert_eq!(signer.check(&format!("{}.{}.", parts[0], parts[1])), None);
            assert_eq!(signer.check(&parts.join(".")), None);
        }
        let token = signer.sign(&claims(i64::from(u32::MAX))).expect("signed");
        for at in 0..token.len() {
            let mut bytes = token.clone().into_bytes();
            bytes[at] ^= 4;
            let damaged = String::from_utf8_lossy(&bytes);
            // The last character has unused bits.
            assert!(
                at + 1 == token.len() || signer.check(&damaged).is_none(),
                "{at}"
            );
        }
    }
}
