//! The identity of a client, and the checks of its rights.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};
use varve_auth::{
    Auth, AuthError, DirectoryError, Login, Permission, Principal, Proof, Proved, Reach,
    ResourceType, Rights,
};

use crate::errors::ApiError;
use crate::rights::Right;
use crate::sharing::FORWARDED;
use crate::state::AppState;
use crate::tls::ClientCertificate;

/// The identity of a client.
#[derive(Debug, Clone)]
pub(crate) enum Identity {
    /// Anybody: authentication is off, and everything is allowed.
    Anybody,
    /// A client without credentials: only routes that need no rights are allowed.
    Unknown,
    /// A user.
    User(Arc<Principal>),
    /// A user, authenticated by the client's certificate.
    Certified(Arc<Principal>, Arc<ClientCertificate>),
}

impl Identity {
    /// The user, if authentication is on and the client is authenticated.
    pub(crate) fn user(&self) -> Option<&Arc<Principal>> {
        match self {
            Self::User(principal) | Self::Certified(principal, _) => Some(principal),
            Self::Anybody | Self::Unknown => None,
        }
    }

    /// Whether the client may do everything.
    pub(crate) fn is_administrator(&self) -> bool {
        self.has(Rights::is_administrator)
    }

    /// Whether the client uses an API token that allows less than its user's rights.
    pub(crate) fn is_restricted(&self) -> bool {
        self.user().is_some_and(|user| user.is_restricted)
    }

    /// Whether the client may know that the graph exists: it may read some part of the graph.
    pub(crate) fn sees(&self, graph: &str) -> bool {
        self.has(|rights| rights.reaches(graph, Permission::Read))
    }

    /// Whether the client has every right on the graph.
    pub(crate) fn administers(&self, graph: &str) -> bool {
        self.has(|rights| rights.administer(graph))
    }

    /// The owner of the tasks that the client submits; `None` without a user.
    pub(crate) fn owner(&self) -> Option<String> {
        self.user().map(|user| user.account().to_string())
    }

    /// Whether the client may run scripts on at least one graph.
    pub(crate) fn may_run_scripts(&self) -> bool {
        self.has(|rights| rights.reaches_somewhere(Permission::Execute, ResourceType::Gremlin))
    }

    /// Whether authentication is off, or the user has these rights.
    fn has(&self, wanted: impl FnOnce(&Rights) -> bool) -> bool {
        match self {
            Self::Anybody => true,
            Self::Unknown => false,
            Self::User(principal) | Self::Certified(principal, _) => wanted(&principal.rights),
        }
    }

    /// 403 unless the client has each of these rights on all the graph's resources of the right's
    /// type.
    pub(crate) fn check(&self, graph: &str, rights: &[Right]) -> Result<(), ApiError> {
        let lacks = |right: &&Right| self.reach(graph, **right) != Reach::All;
        rights.iter().find(lacks).map_or(Ok(()), denied(graph))
    }

    /// 403 unless the client has each of these rights on the graph. For vertices and edges, a right
    /// on some of them is enough; for other types, it must be on all resources of the type.
    pub(crate) fn check_elements(&self, graph: &str, rights: &[Right]) -> Result<(), ApiError> {
        let lacks = |right: &&Right| match (right.1, self.reach(graph, **right)) {
            (ResourceType::Vertex | ResourceType::Edge, reach) => reach == Reach::Nothing,
            (_, reach) => reach != Reach::All,
        };
        rights.iter().find(lacks).map_or(Ok(()), denied(graph))
    }

    /// 403 if the client has none of these rights on any resource of the graph. Without `rights`
    /// there is no 403.
    pub(crate) fn check_one(&self, graph: &str, rights: &[Right]) -> Result<(), ApiError> {
        let has = |right: &Right| self.reach(graph, *right) != Reach::Nothing;
        match rights.iter().any(has) {
            true => Ok(()),
            false => rights.first().map_or(Ok(()), denied(graph)),
        }
    }

    fn reach(&self, graph: &str, (permission, kind): Right) -> Reach {
        match self {
            Self::Anybody => Reach::All,
            Self::Unknown => Reach::Nothing,
            Self::User(principal) | Self::Certified(principal, _) => {
                principal.rights.reach(graph, permission, kind)
            }
        }
    }
}

/// The 403 for a missing right.
fn denied(graph: &str) -> impl Fn(&Right) -> Result<(), ApiError> {
    move |(permission, kind)| {
        Err(ApiError::forbidden(format!(
            "Permission denied: {} Resource{{graph={graph},type={},operated=*}}",
            permission.name().to_ascii_lowercase(),
            kind.name()
        )))
    }
}

/// The identity that a request's head claims.
pub(crate) enum Claimed {
    /// A verified identity.
    Known(Identity),
    /// A password that must be checked first.
    Pending(Box<PendingLogin>),
}

/// The authentication of clients; `None` where it is off.
///
/// # Errors
/// 503 when this server's copy of the cluster's users is not current: no server leads the users, or
/// the leader has not confirmed the copy for too long.
fn current(state: &AppState) -> Result<Option<&Arc<Auth>>, ApiError> {
    match state.auth() {
        Some(auth) if !auth.is_current() => Err(ApiError::unavailable(
            "The users of the cluster are not known for the moment: no server leads them, or it cannot be reached",
            state.config().retry_after_seconds,
        )),
        auth => Ok(auth),
    }
}

/// The current identity of a client that authenticated earlier with this head. 401 if it is no
/// longer valid; 503 as [`current`]. An identity without a user stays as it is.
pub(crate) fn renewed(
    state: &AppState,
    headers: &HeaderMap,
    before: &Identity,
) -> Result<Identity, ApiError> {
    let (auth, principal) = match (current(state)?, before) {
        (Some(auth), Identity::User(principal)) => (auth, principal),
        (Some(_), Identity::Certified(_, certificate)) => {
            let now = certified(state, Some(certificate));
            return Ok(now.ok_or(AuthError::Failed)?);
        }
        _ => return Ok(before.clone()),
    };
    let header = headers.get(AUTHORIZATION).map(HeaderValue::as_bytes);
    let now = match header.map(Proof::parse) {
        Some(Ok(Proof::Token(token))) => auth.check(&token),
        _ => auth.again(principal),
    };
    Ok(Identity::User(now.ok_or(AuthError::Failed)?))
}

/// Authenticates the client of a WebSocket by one of its messages. If the proof is a token, also
/// returns a header with it, with which each request checks the token again. 401 if the proof is
/// wrong, or authentication is off; 429 after too many failures; 503 as [`current`].
pub(crate) async fn proved(
    state: &AppState,
    proof: Proof,
    address: IpAddr,
) -> Result<(Identity, Option<HeaderValue>), ApiError> {
    let auth = current(state)?.ok_or(AuthError::Missing)?;
    match proof {
        Proof::Token(token) => {
            let principal = auth.check(&token).ok_or(AuthError::Failed)?;
            let header = HeaderValue::try_from(format!("Bearer {token}"));
            let mut header = header.map_err(|_| AuthError::Failed)?;
            header.set_sensitive(true);
            Ok((Identity::User(principal), Some(header)))
        }
        Proof::Password { user, password } => {
            let principal = match auth.enter(&user, &password, address)? {
                Proved::Known(principal) => principal,
                Proved::Pending(login) => {
                    let login = PendingLogin::new(Arc::clone(auth), login);
                    login.finish(state).await?
                }
            };
            Ok((Identity::User(principal), None))
        }
    }
}

/// A password that is not checked yet.
pub(crate) struct PendingLogin {
    auth: Arc<Auth>,
    login: Login,
}

impl PendingLogin {
    pub(crate) fn new(auth: Arc<Auth>, login: Login) -> Self {
        Self { auth, login }
    }

    /// The user name.
    pub(crate) fn user(&self) -> &str {
        self.login.user()
    }

    /// Checks the password. That takes about 20 ms of a core by design ([`crate::logins`]).
    pub(crate) async fn finish(self, state: &AppState) -> Result<Arc<Principal>, ApiError> {
        let check = move || self.auth.finish(&self.login);
        Ok(state.logins().run(check).await??)
    }
}

/// The user name in the `Authorization` header of a refused client; `None` without one, for a token
/// and for a header that cannot be parsed.
pub(crate) fn name_in(headers: &HeaderMap) -> Option<String> {
    match Proof::parse(headers.get(AUTHORIZATION)?.as_bytes()) {
        Ok(Proof::Password { user, .. }) => Some(user),
        Ok(Proof::Token(_)) | Err(_) => None,
    }
}

/// The identity of a client without credentials.
pub(crate) fn unsaid(state: &AppState) -> Identity {
    match state.auth() {
        Some(_) => Identity::Unknown,
        None => Identity::Anybody,
    }
}

/// The identity of a client's certificate. `None` if there is no certificate, it is not valid (any
/// more), it names no user, the user does not exist, or authentication is off.
pub(crate) fn certified(
    state: &AppState,
    certificate: Option<&Arc<ClientCertificate>>,
) -> Option<Identity> {
    let certificate = certificate?;
    let name = state.tls()?.user_of(certificate)?;
    let principal = state.auth()?.user(name)?;
    Some(Identity::Certified(principal, Arc::clone(certificate)))
}

/// The identity of a request: by its `Authorization` header, else by the client's certificate. The
/// certificate of a request that another server forwards does not count.
///
/// # Errors
/// 400 for several or malformed `Authorization` headers; 401 for a wrong or missing proof; 429
/// after too many failures; 503 as [`current`].
pub(crate) fn claimed(
    state: &AppState,
    headers: &HeaderMap,
    (address, certificate): (IpAddr, Option<&Arc<ClientCertificate>>),
) -> Result<Claimed, ApiError> {
    let Some(auth) = current(state)? else {
        return Ok(Claimed::Known(Identity::Anybody));
    };
    // A server that forwards a request presents its own certificate.
    let certificate = certificate.filter(|_| !headers.contains_key(FORWARDED));
    let mut sent = headers.get_all(AUTHORIZATION).iter();
    let header = sent.next().map(HeaderValue::as_bytes);
    if sent.next().is_some() {
        return Err(ApiError::bad_request(
            "There is more than one Authorization header",
        ));
    }
    if header.is_none()
        && let Some(identity) = certified(state, certificate)
    {
        return Ok(Claimed::Known(identity));
    }
    match auth.prove(header, address)? {
        Proved::Known(principal) => Ok(Claimed::Known(Identity::User(principal))),
        Proved::Pending(login) => {
            let login = PendingLogin::new(Arc::clone(auth), login);
            Ok(Claimed::Pending(Box::new(login)))
        }
    }
}

/// The interval of checks for changes of users with an unknown outcome.
const SETTLED_EVERY: Duration = Duration::from_secs(1);

/// Settles changes of users with an unknown outcome, until the server ends.
pub(crate) async fn settle_changes(state: &AppState, auth: &Arc<Auth>) {
    loop {
        tokio::time::sleep(SETTLED_EVERY).await;
        if !auth.is_unsettled() {
            continue;
        }
        let auth = Arc::clone(auth);
        if let Ok(Err(error)) = state.run_blocking(move || auth.settle()).await {
            tracing::warn!(%error, "the outcome of a change of the users is unknown");
        }
    }
}

/// The interval at which the last uses of API tokens are stored.
const USES_STORED_EVERY: Duration = Duration::from_secs(60);

/// Stores the last uses of API tokens at regular intervals.
pub(crate) async fn store_uses(state: &AppState, auth: &Arc<Auth>) {
    loop {
        tokio::time::sleep(USES_STORED_EVERY).await;
        let auth = Arc::clone(auth);
        let now = jiff::Timestamp::now().as_millisecond();
        let stored = state.run_blocking(move || auth.store_uses(now)).await;
        match stored {
            Ok(Ok(())) | Err(_) => {}
            Ok(Err(error)) => tracing::warn!(%error, "the last uses of tokens could not be stored"),
        }
    }
}

impl From<AuthError> for ApiError {
    fn from(error: AuthError) -> Self {
        match error {
            AuthError::Missing | AuthError::Failed => Self::not_authorized(error.to_string()),
            AuthError::Header(_) => Self::bad_request(error.to_string()),
            AuthError::Throttled(wait) => Self::too_many_requests(
                error.to_string(),
                u32::try_from(wait.as_secs().max(1)).unwrap_or(u32::MAX),
            ),
            AuthError::Directory(DirectoryError::Invalid(message)) => {
                Self::illegal_argument(message)
            }
            AuthError::Directory(DirectoryError::Conflict(message)) => Self::huge(message),
            AuthError::Directory(DirectoryError::NotFound(message)) => Self::not_found(message),
            AuthError::Directory(DirectoryError::Denied(message)) => Self::forbidden(message),
            AuthError::Graph(error) => error.into(),
        }
    }
}
