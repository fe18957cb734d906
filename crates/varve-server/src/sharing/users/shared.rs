//! The cluster's key, and what a server remembers between two copies of the users.

use std::collections::HashMap;
use std::sync::Once;
use std::time::{Duration, Instant};

use http::HeaderValue;
use parking_lot::Mutex;
use varve_auth::{Account, Auth, ClusterKey, Principal};
use varve_graph::Registry;

use crate::config::{ConfigError, ServerConfig};
use crate::setup::SetupError;

/// The validity, in seconds, of a token for forwarded requests of a client with a certificate. The
/// clocks of servers may differ by some minutes, so the token is valid for longer than it is used
/// ([`TOKEN_USED`]).
const TOKEN_SECONDS: i64 = 360;
const TOKEN_USED: Duration = Duration::from_secs(30);
/// The most of these tokens that are cached.
const TOKENS_MAX: usize = 10_000;

/// The state with which a server copies the users from their leader.
#[derive(Debug)]
pub(crate) struct SharedUsers {
    pub(in crate::sharing) key: ClusterKey,
    /// Held while the leader is asked, so that an older copy does not replace a newer one. The
    /// value is when the last answered request began.
    pub(super) asking: tokio::sync::Mutex<Option<Instant>>,
    pub(super) uses_sent: Mutex<Instant>,
    /// Lets jobs run once the users are known.
    pub(super) jobs: Once,
    /// Tokens for clients that authenticate by certificates, and when they were made.
    tokens: Mutex<HashMap<Account, (String, Instant)>>,
}

impl SharedUsers {
    /// Reads the cluster's key. `None` unless several servers have the same users.
    ///
    /// # Errors
    /// When `auth.cluster_key_file` is missing, cannot be read or has no key.
    pub(crate) fn open(
        config: &ServerConfig,
        graphs: &Registry,
    ) -> Result<Option<Self>, SetupError> {
        if !graphs.is_shared() || !config.auth.enabled {
            return Ok(None);
        }
        let refused = |option, reason: &str| {
            Err(SetupError::Config(ConfigError {
                option,
                reason: reason.to_owned(),
            }))
        };
        let file = &config.auth.cluster_key_file;
        if file.as_os_str().is_empty() {
            return refused(
                "auth.cluster_key_file",
                "must be given with auth.enabled where servers share a store: they ask each other for the users",
            );
        }
        let key = std::fs::read_to_string(file).map_err(|source| SetupError::Io {
            what: format!("read {} (auth.cluster_key_file)", file.display()),
            source,
        })?;
        let Some(key) = ClusterKey::new(key.trim().as_bytes()) else {
            let reason = format!(
                "must have a key of at least {} bytes",
                ClusterKey::BYTES_MIN
            );
            return refused("auth.cluster_key_file", &reason);
        };
        Ok(Some(Self {
            key,
            asking: tokio::sync::Mutex::default(),
            uses_sent: Mutex::new(Instant::now()),
            jobs: Once::new(),
            tokens: Mutex::default(),
        }))
    }

    /// A header with a token for a client that authenticated by its certificate.
    pub(in crate::sharing) fn token(&self, auth: &Auth, client: &Principal) -> Option<HeaderValue> {
        let mut tokens = self.tokens.lock();
        let account = client.account();
        let kept = tokens.get(&account);
        let kept = kept.filter(|(token, made)| {
            // A token from before the last change of the user's password is invalid.
            made.elapsed() < TOKEN_USED && auth.check_token(token).is_some()
        });
        let token = match kept {
            Some((token, _)) => token.clone(),
            None => {
                let token = auth.token(client, Some(TOKEN_SECONDS)).ok()?;
                if tokens.len() >= TOKENS_MAX {
                    tokens.clear();
                }
                tokens.insert(account, (token.clone(), Instant::now()));
                token
            }
        };
        let mut header = HeaderValue::try_from(format!("Bearer {token}")).ok()?;
        header.set_sensitive(true);
        Some(header)
    }
}
