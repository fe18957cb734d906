//! Authenticates clients, and caches credentials that were verified.
//!
//! Clients send a name and a password with every request, and hashing a password takes 20 ms by
//! design. So a verified header is cached under its keyed hash, with the version of the user's
//! credential. Each use compares that version with the current directory: a change of the password,
//! a logout and a removal take effect with the next request.

mod copy;
mod state;
mod tokens;

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use arc_swap::{ArcSwap, ArcSwapOption};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit, Mac};
use parking_lot::{Mutex, RwLock};
use sha2::Sha256;
use varve_graph::{ErrorKind, GraphError};
use varve_model::time::TemporalScope;

use self::copy::Version;
pub use self::copy::{ClusterKey, DirectoryCopy};
use self::state::LiveDirectory;
use crate::account::Account;
use crate::api_token::API_TOKEN_PREFIX;
use crate::changes::{DirectoryError, Made, NAME_BYTES_MAX, NewPassword};
use crate::directory::{Change, Directory, Entry};
use crate::header::{HeaderError, Proof};
use crate::password::{self, PASSWORD_BYTES_MAX};
use crate::record::{Id, RecordKind};
use crate::rights::Rights;
use crate::store::Store;
use crate::throttle::Throttle;

/// How long a verified header is accepted from the cache.
const KEEP_PASSWORD: Duration = Duration::from_secs(300);

/// Verified headers cached at once. A part of the cache that is full is emptied.
const PROOFS_MAX: usize = 100_000;

/// Parts of the cache, each with its own lock.
const PARTS: usize = 16;

/// Options of authentication.
#[derive(Debug, Clone)]
pub struct AuthOptions {
    /// Characters that a password must have.
    pub password_length_min: usize,
    /// Seconds for which a token is valid.
    pub token_seconds: i64,
    /// Seconds for which a copy of the directory is valid after its leader has confirmed it.
    pub copy_seconds: u32,
}

/// An authenticated client.
#[derive(Debug, Clone, PartialEq)]
pub struct Principal {
    /// The user's id.
    pub id: Id,
    /// The user's name.
    pub name: String,
    /// When the user was made, in milliseconds since 1970.
    pub created: i64,
    /// The rights of the client.
    pub rights: Rights,
    /// The id of the API token with which the client authenticated; `None` without one.
    pub api_token: Option<String>,
    /// Whether that token allows less than the user's rights.
    pub is_restricted: bool,
    version: u64,
}

impl Principal {
    /// The user's identity in records that outlive the user.
    #[must_use]
    pub fn account(&self) -> Account {
        Account {
            id: self.id.clone(),
            created: self.created,
        }
    }
}

/// Why a client is refused, or a change of the directory fails.
#[derive(Debug, thiserror::Error)]
pub enum AuthError {
    /// The client sends no credentials.
    #[error("Authentication credentials are required")]
    Missing,
    /// The header is malformed.
    #[error(transparent)]
    Header(#[from] HeaderError),
    /// The credentials are wrong. The error does not say which part.
    #[error("Authentication failed")]
    Failed,
    /// Too many logins have failed: the client must wait.
    #[error("Too many failed logins: try again in {} s", .0.as_secs().max(1))]
    Throttled(Duration),
    /// The change is refused.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// The store fails.
    #[error(transparent)]
    Graph(#[from] GraphError),
}

/// A name and a password that are not checked yet; the check takes about 20 ms.
pub struct Login {
    user: String,
    password: String,
    address: IpAddr,
    proof: Option<ProofKey>,
}

/// The outcome of checking a header.
#[derive(Debug)]
pub enum Proved {
    /// The client is authenticated.
    Known(Arc<Principal>),
    /// A password that must be hashed first: [`Auth::finish`].
    Pending(Login),
}

type ProofKey = [u8; 32];

/// A verified header in the cache.
#[derive(Debug, Clone)]
struct ProvenHeader {
    user: Id,
    version: u64,
    /// The id of a login's token.
    token: Option<String>,
    /// The API token's id.
    api_token: Option<String>,
    until: Instant,
}

/// Authenticates clients, and holds the directory.
pub struct Auth {
    /// The directory's store; `None` while another server leads the directory and this one has a
    /// copy.
    store: ArcSwapOption<Store>,
    /// The version of the directory, and when the leader last confirmed it.
    version: Mutex<Version>,
    options: AuthOptions,
    state: ArcSwap<LiveDirectory>,
    /// Serializes changes of the directory.
    changing: Mutex<()>,
    /// Whether the outcome of a change is unknown.
    unsettled: AtomicBool,
    throttle: Throttle,
    /// The initial state of the keyed hash; its random key never leaves this process.
    keyed: Hmac<Sha256>,
    kept: [RwLock<HashMap<ProofKey, ProvenHeader>>; PARTS],
    /// A hash that no password has, against which unknown names are checked.
    nobody: String,
}

impl Auth {
    /// Reads the directory, and creates the secret of tokens if there is none yet.
    ///
    /// # Errors
    /// When the store fails, or the system gives no random bytes.
    pub fn open(store: Store, options: AuthOptions) -> Result<Self, AuthError> {
        let auth = Self::following(options)?;
        auth.lead(store)?;
        Ok(auth)
    }

    /// Authentication on a server that does not lead the directory. It has no users until it gets a
    /// copy of the directory ([`Auth::take_copy`]).
    ///
    /// # Errors
    /// When the system gives no random bytes.
    pub fn following(options: AuthOptions) -> Result<Self, AuthError> {
        let nobody = STANDARD.encode(random::<24>()?);
        Ok(Self {
            store: ArcSwapOption::empty(),
            version: Mutex::default(),
            options,
            state: ArcSwap::from_pointee(LiveDirectory::of(Directory::default(), None)),
            changing: Mutex::new(()),
            unsettled: AtomicBool::new(false),
            throttle: Throttle::default(),
            keyed: Hmac::new_from_slice(&random::<32>()?).map_err(|error| invalid(&error))?,
            kept: std::array::from_fn(|_| RwLock::default()),
            nobody: password::hash(&nobody).map_err(|error| invalid(&error))?,
        })
    }

    /// The current directory.
    #[must_use]
    pub fn directory(&self) -> Arc<Directory> {
        Arc::clone(&self.state.load().directory)
    }

    /// The directory at a point of both times.
    ///
    /// # Errors
    /// When the store fails.
    pub fn directory_at(&self, scope: TemporalScope) -> Result<Arc<Directory>, AuthError> {
        match scope.is_now() {
            true => Ok(self.directory()),
            false => Ok(Arc::new(self.led()?.load(scope)?)),
        }
    }

    /// Changes the directory. `change` computes the changes from the current directory; they are in
    /// effect when this returns.
    ///
    /// # Errors
    /// When `change` refuses, the store fails, or another server leads the directory.
    pub fn change(&self, change: impl FnOnce(&Directory) -> Made) -> Result<Id, AuthError> {
        let _alone = self.changing.lock();
        let store = self.led()?;
        self.settle_in(&store)?;
        let before = self.directory();
        let (id, changes) = change(&before)?;
        self.commit(&store, &changes)?;
        self.show(before.after(&changes), self.next_version(&store), None);
        Ok(id)
    }

    fn commit(&self, store: &Store, changes: &[Change]) -> Result<(), AuthError> {
        let stored = store.commit(changes);
        if let Err(error) = &stored
            && matches!(error.kind, ErrorKind::OutcomeUnknown | ErrorKind::Storage)
        {
            self.unsettled.store(true, Ordering::Relaxed);
        }
        Ok(stored?)
    }

    /// Whether the outcome of a change is unknown.
    #[must_use]
    pub fn is_unsettled(&self) -> bool {
        self.unsettled.load(Ordering::Relaxed)
    }

    /// Settles a change with an unknown outcome: reads what is stored.
    ///
    /// # Errors
    /// When the store still fails.
    pub fn settle(&self) -> Result<(), AuthError> {
        if !self.is_unsettled() {
            return Ok(());
        }
        let _alone = self.changing.lock();
        match self.led() {
            Ok(store) => self.settle_in(&store),
            // The next leader reads what is stored.
            Err(_) => Ok(()),
        }
    }

    fn settle_in(&self, store: &Store) -> Result<(), AuthError> {
        if !self.is_unsettled() {
            return Ok(());
        }
        // Commits are stored in order: once this one is stored, the outcome of all earlier ones is
        // final.
        let directory = self.directory();
        let secret = directory.token_secret().cloned().map(Entry::TokenSecret);
        store.commit(&secret.map(Change::Put).into_iter().collect::<Vec<_>>())?;
        self.show(
            store.load(TemporalScope::NOW)?,
            self.next_version(store),
            None,
        );
        self.unsettled.store(false, Ordering::Relaxed);
        Ok(())
    }

    /// Hashes a new password. Takes as long as a login.
    ///
    /// # Errors
    /// When it is too short or too long.
    pub fn new_password(&self, password: &str) -> Result<NewPassword, AuthError> {
        password::check(password, self.options.password_length_min)
            .map_err(|error| invalid(&error))?;
        Ok(NewPassword {
            hash: password::hash(password).map_err(|error| invalid(&error))?,
            version: u64::from_ne_bytes(random()?),
        })
    }

    /// Whether the white list lets clients come from this address.
    #[must_use]
    pub fn permits(&self, address: IpAddr) -> bool {
        let state = self.state.load();
        let networks = state.networks.as_ref();
        networks.is_none_or(|networks| networks.iter().any(|one| one.contains(address)))
    }

    /// A random password: the base64 text of 18 random bytes.
    ///
    /// # Errors
    /// When the system gives no random bytes.
    pub fn random_password(&self) -> Result<String, AuthError> {
        Ok(URL_SAFE_NO_PAD.encode(random::<18>()?))
    }

    /// The current principal of a client that authenticated earlier; `None` when that is no longer
    /// valid.
    #[must_use]
    pub fn again(&self, principal: &Principal) -> Option<Arc<Principal>> {
        let state = self.state.load();
        if let Some(token) = &principal.api_token {
            return state.principal_of_token(token).map(Arc::clone);
        }
        let now = state.principal(&principal.id)?;
        (now.version == principal.version).then(|| Arc::clone(now))
    }

    /// The user with this name. The caller has verified who the client is, for example by a
    /// certificate.
    #[must_use]
    pub fn user(&self, name: &str) -> Option<Arc<Principal>> {
        let state = self.state.load();
        state
            .principal(&RecordKind::User.id_of(name))
            .map(Arc::clone)
    }

    /// The user of this account as it is now; `None` if it was removed.
    #[must_use]
    pub fn user_of(&self, account: &Account) -> Option<Arc<Principal>> {
        let state = self.state.load();
        let user = state.principal(&account.id)?;
        (user.created == account.created).then(|| Arc::clone(user))
    }

    /// Authenticates a client by its `Authorization` header.
    ///
    /// # Errors
    /// When the header is missing, malformed or wrong, or the client must wait.
    pub fn prove(&self, header: Option<&[u8]>, address: IpAddr) -> Result<Proved, AuthError> {
        let header = header.ok_or(AuthError::Missing)?;
        let key = self.proof_key(header);
        if let Some(principal) = self.kept(&key) {
            return Ok(Proved::Known(principal));
        }
        match Proof::parse(header)? {
            Proof::Token(token) if token.starts_with(API_TOKEN_PREFIX) => {
                let principal = self.check_api_token(&token).ok_or(AuthError::Failed)?;
                self.keep(key, &principal, None, Instant::now() + KEEP_PASSWORD);
                Ok(Proved::Known(principal))
            }
            Proof::Token(token) => {
                let (principal, claims) = self.check_token(&token).ok_or(AuthError::Failed)?;
                let left = u64::try_from(claims.exp - unix_seconds()).unwrap_or(0);
                let until = Instant::now() + Duration::from_secs(left);
                self.keep(key, &principal, Some(claims.jti), until);
                Ok(Proved::Known(principal))
            }
            Proof::Password { user, password } => match self.enter(&user, &password, address)? {
                Proved::Known(principal) => {
                    self.keep(key, &principal, None, Instant::now() + KEEP_PASSWORD);
                    Ok(Proved::Known(principal))
                }
                Proved::Pending(mut login) => {
                    login.proof = Some(key);
                    Ok(Proved::Pending(login))
                }
            },
        }
    }

    /// Authenticates a client by name and password, or by an API token of the user as the password.
    /// A password that was verified is cached as a header is, since drivers open many connections
    /// with the same one.
    ///
    /// # Errors
    /// As [`Auth::prove`].
    pub fn enter(&self, user: &str, password: &str, address: IpAddr) -> Result<Proved, AuthError> {
        let mut login = self.login(user, password, address)?;
        // After the check of the wait, or guesses could go on at the speed of the cache.
        let key = self.password_key(user, password);
        if let Some(principal) = self.kept(&key) {
            return Ok(Proved::Known(principal));
        }
        login.proof = Some(key);
        // A password may begin like a token.
        match self.check_api_token(password) {
            Some(principal) if principal.name == user => Ok(Proved::Known(principal)),
            _ => Ok(Proved::Pending(login)),
        }
    }

    /// Begins a login with a name and a password that did not come in a header.
    ///
    /// # Errors
    /// [`AuthError::Throttled`]; [`AuthError::Failed`] when the name or the password exceeds its
    /// limit.
    pub fn login(&self, user: &str, password: &str, address: IpAddr) -> Result<Login, AuthError> {
        // No user has such a long name or password, and the throttle would store the name.
        if user.len() > NAME_BYTES_MAX || password.len() > PASSWORD_BYTES_MAX {
            return Err(AuthError::Failed);
        }
        self.check_wait(user, address)?;
        Ok(Login {
            user: user.to_owned(),
            password: password.to_owned(),
            address,
            proof: None,
        })
    }

    /// Hashes the password of a login and compares the hash. Takes about 20 ms, whether or not the
    /// user exists; less if the same proof was verified since the login began.
    ///
    /// # Errors
    /// [`AuthError::Failed`]; [`AuthError::Throttled`] when too many logins of this user or address
    /// have failed meanwhile.
    pub fn finish(&self, login: &Login) -> Result<Arc<Principal>, AuthError> {
        // Logins that came at the same time may have failed meanwhile.
        self.check_wait(&login.user, login.address)?;
        if let Some(principal) = login.proof.and_then(|key| self.kept(&key)) {
            return Ok(principal);
        }
        let state = self.state.load_full();
        let id = RecordKind::User.id_of(&login.user);
        let credential = state.directory.credential(&id);
        let hash = credential.map_or(self.nobody.as_str(), |credential| &credential.hash);
        let is_right = password::verify(&login.password, hash);
        let principal = match state.principal(&id) {
            Some(principal) if is_right => Arc::clone(principal),
            _ => {
                self.throttle
                    .failed(&login.user, login.address, Instant::now());
                return Err(AuthError::Failed);
            }
        };
        self.throttle.succeeded(&login.user, login.address);
        if let Some(key) = login.proof {
            self.keep(key, &principal, None, Instant::now() + KEEP_PASSWORD);
        }
        Ok(principal)
    }

    fn check_wait(&self, user: &str, address: IpAddr) -> Result<(), AuthError> {
        match self.throttle.wait(user, address, Instant::now()) {
            Some(wait) => Err(AuthError::Throttled(wait)),
            None => Ok(()),
        }
    }

    fn proof_key(&self, header: &[u8]) -> ProofKey {
        let mut mac = self.keyed.clone();
        mac.update(header);
        mac.finalize().into_bytes().into()
    }

    /// The key of a name and a password that did not come in a header. It begins with a byte that
    /// no header has.
    fn password_key(&self, user: &str, password: &str) -> ProofKey {
        let length = user.len().to_be_bytes();
        self.proof_key(&[&[0], &length[..], user.as_bytes(), password.as_bytes()].concat())
    }

    fn part(&self, key: &ProofKey) -> &RwLock<HashMap<ProofKey, ProvenHeader>> {
        &self.kept[usize::from(key[0]) % PARTS]
    }

    /// The principal of a cached header, if the header is still valid.
    fn kept(&self, key: &ProofKey) -> Option<Arc<Principal>> {
        let part = self.part(key).read();
        let kept = part.get(key)?;
        let state = self.state.load();
        let principal = match &kept.api_token {
            Some(token) => state.principal_of_token(token)?,
            None => state.principal(&kept.user)?,
        };
        let is_ended = |token: &String| state.directory.is_ended(token);
        let is_proved = kept.api_token.is_some() || principal.version == kept.version;
        let counts =
            is_proved && Instant::now() < kept.until && !kept.token.as_ref().is_some_and(is_ended);
        counts.then(|| Arc::clone(principal))
    }

    fn keep(&self, key: ProofKey, of: &Principal, token: Option<String>, until: Instant) {
        let mut part = self.part(&key).write();
        if part.len() >= PROOFS_MAX / PARTS {
            part.clear();
        }
        let kept = ProvenHeader {
            user: of.id.clone(),
            version: of.version,
            token,
            api_token: of.api_token.clone(),
            until,
        };
        part.insert(key, kept);
    }
}

impl std::fmt::Debug for Auth {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Auth")
    }
}

impl std::fmt::Debug for Login {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Login")
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}

impl Login {
    /// The user name of the login.
    #[must_use]
    pub fn user(&self) -> &str {
        &self.user
    }
}

fn invalid(error: &dyn std::fmt::Display) -> AuthError {
    AuthError::Directory(DirectoryError::Invalid(error.to_string()))
}

pub(crate) fn random<const N: usize>() -> Result<[u8; N], AuthError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)
        .map_err(|error| invalid(&format!("The system gives no random bytes: {error}")))?;
    Ok(bytes)
}

/// Seconds since 1970.
fn unix_seconds() -> i64 {
    unix_milliseconds() / 1_000
}

/// Milliseconds since 1970.
fn unix_milliseconds() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    })
}
