//! Login on an open WebSocket: SASL PLAIN, as TinkerPop's drivers do.
//!
//! The first request of an unauthenticated client waits, and is answered with the code 407. The
//! client then sends its name and password, and the waiting requests are answered. Until then one
//! message is read at a time. What waits is bounded, is charged to a budget of its own, and must
//! not wait longer than `server.request_timeout_ms`.

use std::cell::RefCell;
use std::collections::VecDeque;

use bytes::Bytes;
use futures_util::StreamExt as _;
use http::header::AUTHORIZATION;
use http::{HeaderValue, StatusCode};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use varve_auth::Proof;
use varve_graphson::{Format, Response, request_id};
use varve_session::Identity;
use varve_session::audit::Entry;
use varve_session::budget::admission::BodyShare;

use super::closing::{Farewell, NO_LOGIN, STOPS, TOO_MUCH, reason};
use super::metered::Metered;
use super::{Desk, Incoming, controlled, framed, response_part, send};
use crate::gremlin::message::Ask;
use crate::gremlin::status::{self, Refusal};
use crate::identity;
use crate::origin;
use crate::request::RequestContext;

/// The identity of a connection's client, and its login.
pub(super) struct Entrance {
    identity: RefCell<Identity>,
    /// The header with the token that the client sent in a message.
    header: RefCell<Option<HeaderValue>>,
}

impl Entrance {
    pub(super) fn new(identity: Identity) -> Self {
        Self {
            identity: RefCell::new(identity),
            header: RefCell::default(),
        }
    }

    /// Whether the client is authenticated, or need not be.
    pub(super) fn is_open(&self) -> bool {
        !matches!(*self.identity.borrow(), Identity::Unknown)
    }

    /// Sets the client's identity in a request.
    pub(super) fn name_in(&self, context: &mut RequestContext) {
        context.session.identity = self.identity.borrow().clone();
        if let Some(header) = &*self.header.borrow() {
            context.headers.insert(AUTHORIZATION, header.clone());
        }
    }
}

/// A message of an unauthenticated client, parsed.
struct Asked {
    format: Format,
    id: Option<u128>,
    ask: Result<Ask, Refusal>,
}

impl Desk {
    /// Lets the client log in, within the time of a request. Returns the messages that waited for
    /// the login, or how the connection ends.
    pub(super) async fn admit(
        &self,
        socket: &mut WebSocketStream<Metered>,
    ) -> Result<VecDeque<Incoming>, Option<Farewell>> {
        if self.entrance.is_open() {
            return Ok(VecDeque::new());
        }
        socket.get_mut().begin_login();
        let limit = self.context.state().config().request_timeout();
        let login = tokio::time::timeout(limit, self.await_login(socket)).await;
        let waiting = login.unwrap_or(Err(Some(NO_LOGIN)))?;
        socket.get_mut().end_login();
        Ok(waiting)
    }

    async fn await_login(
        &self,
        socket: &mut WebSocketStream<Metered>,
    ) -> Result<VecDeque<Incoming>, Option<Farewell>> {
        let mut waiting = VecDeque::new();
        loop {
            let incoming = self.next_of_stranger(socket).await?;
            let is_text = incoming.is_text;
            let Asked { format, id, ask } = self.parse(&incoming).await;
            let response = match ask {
                Err(refusal) => Some(refusal.response(id)),
                Ok(Ask::Authenticate(proof)) => match self.log_in(proof).await {
                    Ok(()) => {
                        if waiting.is_empty() {
                            self.reply(socket, format, &status::nothing(id), is_text)
                                .await?;
                        }
                        return Ok(waiting);
                    }
                    Err(refusal) if waiting.is_empty() => Some(refusal.response(id)),
                    Err(refusal) => {
                        socket.get_mut().release_waiting();
                        self.refuse_waiting(socket, &mut waiting, &refusal).await?;
                        None
                    }
                },
                Ok(Ask::Run(_) | Ask::Close(_)) => {
                    let challenge = waiting.is_empty().then(|| status::challenge(id));
                    if !socket.get_mut().hold(incoming.bytes.len()) {
                        return Err(Some(TOO_MUCH));
                    }
                    waiting.push_back(incoming);
                    challenge
                }
            };
            if let Some(response) = response {
                self.reply(socket, format, &response, is_text).await?;
            }
        }
    }

    /// The next message of an unauthenticated client, in memory of exactly its size.
    async fn next_of_stranger(
        &self,
        socket: &mut WebSocketStream<Metered>,
    ) -> Result<Incoming, Option<Farewell>> {
        loop {
            let message = tokio::select! {
                biased;
                () = self.connection.stops() => return Err(Some(STOPS)),
                message = socket.next() => message.ok_or(None)?,
            };
            let (bytes, is_text) = match message.map_err(|error| Some(reason(&error)))? {
                Message::Binary(bytes) => (bytes, false),
                Message::Text(text) => (Bytes::from(text), true),
                control => {
                    let done = controlled(socket, self, &control).await;
                    done.map_err(|_| None)?;
                    continue;
                }
            };
            drop(socket.get_mut().take_share());
            return Ok(Incoming {
                bytes: Bytes::copy_from_slice(&bytes),
                is_text,
                share: BodyShare::default(),
            });
        }
    }

    async fn parse(&self, incoming: &Incoming) -> Asked {
        let framed = match framed(incoming) {
            Ok(framed) => framed,
            Err((error, format, id)) => {
                let ask = Err(Refusal::malformed(error.to_string()));
                return Asked { format, id, ask };
            }
        };
        let (format, message) = (framed.format, framed.message);
        let id = request_id(format, &message);
        let ask = self.read(format, message).await.map(|(ask, _)| ask);
        Asked { format, id, ask }
    }

    async fn reply(
        &self,
        socket: &mut WebSocketStream<Metered>,
        format: Format,
        response: &Response,
        is_text: bool,
    ) -> Result<(), Option<Farewell>> {
        let outgoing = response_part(format, response, is_text);
        send(socket, self, outgoing).await.map_err(|_| None)
    }

    /// Answers the messages that waited for a login that failed.
    async fn refuse_waiting(
        &self,
        socket: &mut WebSocketStream<Metered>,
        waiting: &mut VecDeque<Incoming>,
        refusal: &Refusal,
    ) -> Result<(), Option<Farewell>> {
        for incoming in std::mem::take(waiting) {
            let (format, id) = match framed(&incoming) {
                Ok(framed) => (framed.format, request_id(framed.format, &framed.message)),
                Err((_, format, id)) => (format, id),
            };
            let response = Refusal::unauthorized(refusal.message.as_str()).response(id);
            self.reply(socket, format, &response, incoming.is_text)
                .await?;
        }
        Ok(())
    }

    /// Authenticates the client. Each attempt is a line of the audit trail.
    async fn log_in(&self, proof: Result<Proof, Refusal>) -> Result<(), Refusal> {
        let name = match &proof {
            Ok(Proof::Password { user, .. }) => user.clone(),
            Ok(Proof::Token(_)) | Err(_) => String::new(),
        };
        let state = self.context.state();
        let proved = match proof {
            Ok(proof) => {
                let proved = identity::proved(state, proof, self.context.address).await;
                proved.map_err(|error| Refusal::unauthorized(error.client_text()))
            }
            Err(refusal) => Err(refusal),
        };
        let result = proved.map(|(identity, header)| {
            self.entrance.identity.replace(identity);
            self.entrance.header.replace(header);
        });
        let status = match &result {
            Ok(()) => StatusCode::OK,
            Err(_) => StatusCode::UNAUTHORIZED,
        };
        self.audit(Some(&name), status);
        result
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
            request: origin::request_id(context.headers()),
            address: context.address,
            method: "WEBSOCKET",
            route: Some(context.route().pattern),
            action: Some(context.route().access.action),
            graph: None,
            status: status.as_u16(),
        });
    }
}
