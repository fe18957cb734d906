//! One directory for the servers of a cluster: one server leads it, and the others have a copy.
//!
//! Only the leader changes the directory. The other servers poll it for changes. A copy is no
//! longer valid once the leader has not answered for [`AuthOptions::copy_seconds`].
//!
//! [`AuthOptions::copy_seconds`]: super::AuthOptions::copy_seconds

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use varve_graph::{ErrorKind, GraphError};
use varve_model::time::TemporalScope;

use super::state::LiveDirectory;
use super::{Auth, AuthError, random, unix_seconds};
use crate::directory::{Change, Directory, Entry, TokenSecret};
use crate::store::Store;
use crate::token::SECRET_BYTES;

/// The key that all servers of one cluster share, and by which they authenticate to each other.
pub struct ClusterKey {
    keyed: Hmac<Sha256>,
}

/// The largest difference between two servers' clocks, in seconds.
const CLOCKS_APART: i64 = 300;

/// The message that a proof authenticates.
#[derive(Debug, Clone, Copy)]
enum About<'a> {
    Request {
        seconds: i64,
    },
    /// The answer to the request with this proof.
    Answer {
        request: &'a str,
    },
}

impl ClusterKey {
    /// The shortest key, in bytes.
    pub const BYTES_MIN: usize = 32;

    /// Creates the key from its bytes; `None` if there are too few.
    #[must_use]
    pub fn new(key: &[u8]) -> Option<Self> {
        let keyed = Hmac::new_from_slice(key).ok()?;
        (key.len() >= Self::BYTES_MIN).then_some(Self { keyed })
    }

    fn code_of(&self, about: About<'_>, body: &[u8]) -> Hmac<Sha256> {
        let mut mac = self.keyed.clone();
        match about {
            About::Request { seconds } => mac.update(format!("request {seconds} ").as_bytes()),
            About::Answer { request } => mac.update(format!("answer {request} ").as_bytes()),
        }
        mac.update(body);
        mac
    }

    /// The proof of a request with this body, valid for 5 minutes.
    #[must_use]
    pub fn proof(&self, body: &[u8]) -> String {
        self.proof_at(unix_seconds(), body)
    }

    fn proof_at(&self, seconds: i64, body: &[u8]) -> String {
        let code = self.code_of(About::Request { seconds }, body).finalize();
        format!("{seconds}.{}", URL_SAFE_NO_PAD.encode(code.into_bytes()))
    }

    /// Whether a server with this key sent a request with this proof and body in the last 5
    /// minutes.
    #[must_use]
    pub fn verifies(&self, proof: &str, body: &[u8]) -> bool {
        let Some((seconds, code)) = proof.split_once('.') else {
            return false;
        };
        let (Ok(seconds), Ok(code)) = (seconds.parse(), URL_SAFE_NO_PAD.decode(code)) else {
            return false;
        };
        let expected = self.code_of(About::Request { seconds }, body);
        unix_seconds().abs_diff(seconds) <= CLOCKS_APART.unsigned_abs()
            && expected.verify_slice(&code).is_ok()
    }

    /// The proof of an answer with this body. `request` is the proof of the answered request.
    #[must_use]
    pub fn proof_of_answer(&self, request: &str, body: &[u8]) -> String {
        let code = self.code_of(About::Answer { request }, body).finalize();
        URL_SAFE_NO_PAD.encode(code.into_bytes())
    }

    /// Whether a server with this key sent this answer.
    #[must_use]
    pub fn verifies_answer(&self, proof: &str, request: &str, body: &[u8]) -> bool {
        let expected = self.code_of(About::Answer { request }, body);
        let code = URL_SAFE_NO_PAD.decode(proof);
        code.is_ok_and(|code| expected.verify_slice(&code).is_ok())
    }
}

impl std::fmt::Debug for ClusterKey {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("ClusterKey")
    }
}

/// The version of a server's directory.
#[derive(Debug, Default)]
pub(super) struct Version {
    text: String,
    /// The number of versions in this term.
    count: u64,
    confirmed: Option<Instant>,
}

/// A directory with its secrets, for another server of the same cluster.
#[derive(Serialize, Deserialize)]
pub struct DirectoryCopy {
    /// The leader's version of the directory.
    pub version: String,
    /// Its entries.
    pub entries: Vec<Entry>,
}

impl std::fmt::Debug for DirectoryCopy {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("DirectoryCopy")
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

impl Auth {
    /// Takes the lead: loads the directory from its store, and creates the secret of tokens if
    /// there is none yet. From then on this server can change the directory.
    ///
    /// # Errors
    /// When the store fails.
    pub fn lead(&self, store: Store) -> Result<(), AuthError> {
        let _alone = self.changing.lock();
        let mut directory = store.load(TemporalScope::NOW)?;
        if directory.token_secret().is_none() {
            let secret = STANDARD.encode(random::<SECRET_BYTES>()?);
            let change = [Change::Put(Entry::TokenSecret(TokenSecret { secret }))];
            store.commit(&change)?;
            directory = directory.after(&change);
        }
        let store = Arc::new(store);
        let now = Some(Instant::now());
        self.show(directory, self.next_version(&store), now);
        self.unsettled.store(false, Ordering::Relaxed);
        self.store.store(Some(store));
        Ok(())
    }

    /// Releases the directory's store: another server leads the directory, or is about to.
    pub fn follow(&self) {
        let _alone = self.changing.lock();
        if self.store.swap(None).is_some() {
            *self.version.lock() = Version::default();
        }
    }

    /// Whether this server can change the directory.
    #[must_use]
    pub fn leads(&self) -> bool {
        self.store
            .load()
            .as_ref()
            .is_some_and(|store| store.is_led())
    }

    /// Whether this server has the directory's store, perhaps without its lease.
    #[must_use]
    pub fn has_store(&self) -> bool {
        self.store.load().is_some()
    }

    /// Whether this server's directory is valid: it leads the directory, or the leader has
    /// confirmed the copy within `AuthOptions::copy_seconds`.
    #[must_use]
    pub fn is_current(&self) -> bool {
        match &*self.store.load() {
            Some(store) => store.is_led(),
            None => {
                let confirmed = self.version.lock().confirmed;
                let counts = Duration::from_secs(self.options.copy_seconds.into());
                confirmed.is_some_and(|at| at.elapsed() < counts)
            }
        }
    }

    /// The version of this server's directory.
    #[must_use]
    pub fn version(&self) -> String {
        self.version.lock().text.clone()
    }

    /// A copy for another server.
    ///
    /// # Errors
    /// When another server leads the directory.
    pub fn copy(&self) -> Result<DirectoryCopy, AuthError> {
        // A server that could not renew its lease may have been replaced.
        if !self.leads() {
            return Err(elsewhere().into());
        }
        // The version is read first: if the directory is newer, the copy is requested again.
        let version = self.version();
        let entries = self.directory().entries().collect();
        Ok(DirectoryCopy { version, entries })
    }

    /// Applies the leader's answer to a request that was sent at `asked`: its directory, or `None`
    /// if the copy of this server is current.
    pub fn take_copy(&self, copy: Option<DirectoryCopy>, asked: Instant) {
        let _alone = self.changing.lock();
        if self.has_store() {
            return;
        }
        match copy {
            Some(copy) => {
                let directory = Directory::of(copy.entries);
                self.show(directory, (copy.version, 0), Some(asked));
            }
            None => self.version.lock().confirmed = Some(asked),
        }
    }

    /// The uses of API tokens on this server that the directory does not have yet, at most `most`:
    /// the tokens' ids, and milliseconds since 1970.
    #[must_use]
    pub fn uses(&self, most: usize) -> Vec<(String, i64)> {
        let directory = self.directory();
        let used = directory.api_tokens().filter_map(|token| {
            let used = self.use_of(token);
            let is_new = used != token.used;
            Some((token.id.clone(), used.filter(|_| is_new)?))
        });
        used.take(most).collect()
    }

    /// Records uses of API tokens that another server reports.
    pub fn note_uses(&self, uses: &[(String, i64)]) {
        let state = self.state.load();
        for (id, used) in uses {
            if let Some(token) = state.api_tokens.get(id) {
                token.used.fetch_max(*used, Ordering::Relaxed);
            }
        }
    }

    /// The directory's store; an error if another server leads the directory.
    pub(super) fn led(&self) -> Result<Arc<Store>, AuthError> {
        Ok(self.store.load_full().ok_or_else(elsewhere)?)
    }

    pub(super) fn next_version(&self, store: &Store) -> (String, u64) {
        let count = self.version.lock().count + 1;
        (format!("{}-{count}", store.term()), count)
    }

    pub(super) fn show(
        &self,
        directory: Directory,
        (text, count): (String, u64),
        confirmed: Option<Instant>,
    ) {
        let state = LiveDirectory::of(directory, Some(&self.state.load()));
        self.state.store(Arc::new(state));
        *self.version.lock() = Version {
            text,
            count,
            confirmed,
        };
    }
}

fn elsewhere() -> GraphError {
    let message = "Another server leads the users of this cluster";
    GraphError::new(ErrorKind::Elsewhere, message)
}

#[cfg(test)]
mod tests;
