//! Login on an open WebSocket: SASL PLAIN, as TinkerPop's drivers do.
//!
//! The first request of an unauthenticated client is held and answered with the code 407. The
//! client then sends its name and password, and the held requests are answered. Until then its
//! messages must be small.

use std::cell::RefCell;
use std::net::IpAddr;
use std::rc::Rc;
use std::time::Duration;

use http::header::AUTHORIZATION;
use http::{HeaderValue, StatusCode};
use tokio::sync::Semaphore;
use varve_auth::{AuthError, Proof};
use varve_graphson::Format;

use super::{Desk, Ended};
use crate::audit::{self, Entry};
use crate::gremlin::status::{self, Refusal};
use crate::identity::{self, Identity};
use crate::request::RequestContext;
use crate::state::AppState;

/// Bytes that the messages of an unauthenticated client may have together.
pub(super) const UNKNOWN_BYTES_MAX: usize = 64 * 1024;
/// Requests that are held at once.
pub(super) const HELD_MAX: usize = 1_024;
/// How long a request is held.
const LOGIN_WAIT: Duration = Duration::from_secs(30);

/// The identity of a connection's client, and its login.
pub(super) struct Entrance {
    identity: RefCell<Identity>,
    /// The header with the token that the client sent in a message.
    header: RefCell<Option<HeaderValue>>,
    attempt: RefCell<Option<Rc<Attempt>>>,
}

/// A challenge that the client has not answered yet.
pub(super) struct Attempt {
    /// Has no permits until the login is decided. Then the held requests continue in their order.
    decided: Semaphore,
    /// Why the login failed.
    failure: RefCell<Option<String>>,
}

impl Entrance {
    pub(super) fn new(identity: Identity) -> Self {
        Self {
            identity: RefCell::new(identity),
            header: RefCell::default(),
            attempt: RefCell::default(),
        }
    }

    /// Whether the client is authenticated, or need not be.
    pub(super) fn is_open(&self) -> bool {
        !matches!(*self.identity.borrow(), Identity::Unknown)
    }

    /// Sets the client's identity in a request.
    pub(super) fn name_in(&self, context: &mut RequestContext) {
        context.identity = self.identity.borrow().clone();
        if let Some(header) = &*self.header.borrow() {
            context.headers.insert(AUTHORIZATION, header.clone());
        }
    }

    /// The challenge that a request waits for, and whether it must be sent.
    pub(super) fn challenge(&self) -> (Rc<Attempt>, bool) {
        let mut attempt = self.attempt.borrow_mut();
        let is_new = attempt.is_none();
        let attempt = attempt.get_or_insert_with(|| {
            Rc::new(Attempt {
                decided: Semaphore::new(0),
                failure: RefCell::default(),
            })
        });
        (Rc::clone(attempt), is_new)
    }

    /// Waits until the challenge is answered.
    pub(super) async fn wait(&self, attempt: &Rc<Attempt>) -> Result<(), Refusal> {
        let decided = tokio::time::timeout(LOGIN_WAIT, attempt.decided.acquire()).await;
        if decided.is_err() {
            // The next request is challenged again.
            let mut current = self.attempt.borrow_mut();
            current.take_if(|current| Rc::ptr_eq(current, attempt));
            return Err(Refusal::unauthorized(AuthError::Missing.to_string()));
        }
        match &*attempt.failure.borrow() {
            None => Ok(()),
            Some(failure) => Err(Refusal::unauthorized(failure.as_str())),
        }
    }

    /// Authenticates the client. Returns true if requests were held: they are answered in place of
    /// this one.
    pub(super) async fn log_in(
        &self,
        state: &AppState,
        proof: Result<Proof, Refusal>,
        address: IpAddr,
    ) -> Result<bool, Refusal> {
        let attempt = self.attempt.borrow_mut().take();
        let proved = match proof {
            Ok(proof) => {
                let proved = identity::proved(state, proof, address).await;
                proved.map_err(|error| Refusal::unauthorized(error.client_text()))
            }
            Err(refusal) => Err(refusal),
        };
        let result = proved.map(|(identity, header)| {
            self.identity.replace(identity);
            self.header.replace(header);
        });
        let Some(attempt) = attempt else {
            return result.map(|()| false);
        };
        if let Err(refusal) = result {
            attempt.failure.replace(Some(refusal.message));
        }
        attempt.decided.add_permits(Semaphore::MAX_PERMITS);
        Ok(true)
    }
}

impl Desk {
    /// Holds a request until its client is authenticated.
    pub(super) async fn hold(
        &self,
        format: Format,
        id: Option<u128>,
        is_text: bool,
    ) -> Result<(), Ended> {
        let (attempt, is_new) = self.entrance.challenge();
        if is_new {
            self.respond(format, &status::challenge(id), is_text)
                .await?;
        }
        self.entrance.wait(&attempt).await.map_err(Ended::Refused)
    }

    /// Authenticates the client.
    pub(super) async fn log_in(&self, proof: Result<Proof, Refusal>) -> Result<(), Ended> {
        if self.entrance.is_open() {
            return Ok(());
        }
        let name = match &proof {
            Ok(Proof::Password { user, .. }) => user.clone(),
            Ok(Proof::Token(_)) | Err(_) => String::new(),
        };
        let state = self.context.state();
        let login = self.entrance.log_in(state, proof, self.context.address);
        let login = login.await;
        let status = match self.entrance.is_open() {
            true => StatusCode::OK,
            false => StatusCode::UNAUTHORIZED,
        };
        self.audit(Some(&name), status);
        match login.map_err(Ended::Refused)? {
            true => Err(Ended::Silent),
            false => Ok(()),
        }
    }

    /// Writes a line of the audit trail for a message.
    pub(super) fn audit(&self, login: Option<&str>, status: StatusCode) {
        let context = &self.context;
        let Some(audit) = context.state().audit() else {
            return;
        };
        let identity = self.entrance.identity.borrow();
        audit.note(&Entry {
            user: identity.user().map(|user| user.name.as_str()),
            login,
            request: audit::request_id(context.headers()),
            address: context.address,
            method: "WEBSOCKET",
            route: Some(context.route()),
            action: Some(context.route().access.action),
            graph: None,
            status,
        });
    }
}
