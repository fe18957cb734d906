//! The identity of a client, from the head of its request.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};
use varve_auth::{Auth, AuthError, DirectoryError, Principal, Proof, Proved};
use varve_session::principal::PendingLogin;
use varve_session::{Failure, Identity};

use crate::errors::ApiError;
use crate::sharing::FORWARDED;
use crate::state::AppState;
use crate::tls::ClientCertificate;

/// The identity that a request's head claims.
pub(crate) enum Claimed {
    /// A verified identity, and the certificate that it was verified by.
    Known(Identity, Option<Arc<ClientCertificate>>),
    /// A password that must be checked first.
    Pending(Box<PendingLogin>),
}

/// What a client has proved its identity with.
#[derive(Debug)]
pub(crate) enum ClientProof {
    /// Its certificate.
    Certificate(Arc<ClientCertificate>),
    /// A token in its header.
    Token(String),
    /// A password, or nothing.
    Other,
}

impl ClientProof {
    /// The proof of a client with these headers, or with this certificate.
    pub(crate) fn of(headers: &HeaderMap, certificate: Option<&Arc<ClientCertificate>>) -> Self {
        if let Some(certificate) = certificate {
            return Self::Certificate(Arc::clone(certificate));
        }
        let header = headers.get(AUTHORIZATION).map(HeaderValue::as_bytes);
        match header.map(Proof::parse) {
            Some(Ok(Proof::Token(token))) => Self::Token(token),
            _ => Self::Other,
        }
    }

    /// The current identity of a client that authenticated earlier with this proof. 401 if it is
    /// no longer valid; 503 if the users are not known. An identity without a user stays as it is.
    pub(crate) fn renewed(
        &self,
        state: &AppState,
        before: &Identity,
    ) -> Result<Identity, ApiError> {
        let database = state.database();
        match self {
            Self::Certificate(certificate) => {
                if database.current_auth()?.is_none() {
                    return Ok(before.clone());
                }
                let user = user_of(state, certificate);
                Ok(Identity::User(user.ok_or(AuthError::Failed)?))
            }
            Self::Token(token) => Ok(database.renewed(before, Some(token))?),
            Self::Other => Ok(database.renewed(before, None)?),
        }
    }
}

/// Authenticates the client of a WebSocket by one of its messages. If the proof is a token, also
/// returns a header with it, with which each request checks the token again. 401 if the proof is
/// wrong, or authentication is off; 429 after too many failures; 503 if the users are not known.
pub(crate) async fn proved(
    state: &AppState,
    proof: Proof,
    address: IpAddr,
) -> Result<(Identity, Option<HeaderValue>), ApiError> {
    let header = match &proof {
        Proof::Token(token) => {
            let header = HeaderValue::try_from(format!("Bearer {token}"));
            let mut header = header.map_err(|_| AuthError::Failed)?;
            header.set_sensitive(true);
            Some(header)
        }
        Proof::Password { .. } => None,
    };
    Ok((state.database().log_in(proof, address).await?, header))
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

/// The user of a client's certificate. `None` if it is not valid (any more), it names no user, the
/// user does not exist, or authentication is off.
pub(crate) fn user_of(state: &AppState, certificate: &ClientCertificate) -> Option<Arc<Principal>> {
    let name = state.tls()?.user_of(certificate)?;
    state.auth()?.user(name)
}

/// The identity of a request: by its `Authorization` header, else by the client's certificate. The
/// certificate of a request that another server forwards does not count.
///
/// # Errors
/// 400 for several or malformed `Authorization` headers; 401 for a wrong or missing proof; 429
/// after too many failures; 503 if the users are not known.
pub(crate) fn claimed(
    state: &AppState,
    headers: &HeaderMap,
    (address, certificate): (IpAddr, Option<&Arc<ClientCertificate>>),
) -> Result<Claimed, ApiError> {
    let Some(auth) = state.database().current_auth()? else {
        return Ok(Claimed::Known(Identity::Anybody, None));
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
        && let Some(certificate) = certificate
        && let Some(user) = user_of(state, certificate)
    {
        let certificate = Some(Arc::clone(certificate));
        return Ok(Claimed::Known(Identity::User(user), certificate));
    }
    match auth.prove(header, address)? {
        Proved::Known(principal) => Ok(Claimed::Known(Identity::User(principal), None)),
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
            AuthError::Header(_) => Self::bad_request(error.to_string()),
            // The original has no kind of its own for it.
            AuthError::Directory(DirectoryError::Conflict(message)) => Self::huge(message),
            error => Failure::from(error).into(),
        }
    }
}
