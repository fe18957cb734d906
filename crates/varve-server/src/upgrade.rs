//! Upgrades a connection from HTTP/1.1 to a WebSocket: the handshake, and the handler that serves
//! the connection afterwards.

use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use http::header::{
    CONNECTION, HeaderName, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY,
    SEC_WEBSOCKET_VERSION, UPGRADE,
};
use http::request::Parts;
use http::{HeaderMap, Method, StatusCode};
use hyper::upgrade::{OnUpgrade, Upgraded};
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use crate::errors::ApiError;
use crate::request::RequestContext;
use crate::respond::{Body, ContentType, Response};
use crate::runtime::ConnectionState;

/// The version of the protocol that RFC 6455 names.
const VERSION: &str = "13";

/// Serves a WebSocket to its end. The context is that of the request for the upgrade.
pub(crate) type SocketHandler =
    fn(Upgraded, RequestContext, Arc<ConnectionState>) -> Pin<Box<dyn Future<Output = ()>>>;

/// The upgrade of a connection, set by the request for it; `None` unless there was one.
pub(crate) type Slot = Rc<RefCell<Option<Box<Upgrade>>>>;

/// A connection that becomes a WebSocket once the answer 101 was sent.
#[derive(Debug)]
pub(crate) struct Upgrade {
    pub(crate) on: OnUpgrade,
    pub(crate) context: RequestContext,
    pub(crate) handler: SocketHandler,
}

impl Upgrade {
    /// Waits for the upgrade, and serves the WebSocket to its end. A failed upgrade is only logged.
    pub(crate) async fn serve(self, connection: Arc<ConnectionState>) {
        match self.on.await {
            Ok(upgraded) => (self.handler)(upgraded, self.context, connection).await,
            Err(error) => tracing::debug!(%error, "the upgrade to a WebSocket failed"),
        }
    }
}

/// Whether this is a request for a WebSocket: GET with the header `Upgrade: websocket`.
pub(crate) fn is_asked_for(parts: &Parts) -> bool {
    parts.method == Method::GET && lists(&parts.headers, &UPGRADE, "websocket")
}

/// The answer that upgrades the connection to a WebSocket, and the future of the upgraded
/// connection.
///
/// # Errors
/// 400 if the version is not 13, the key is missing, or `Connection` does not list `Upgrade`.
pub(crate) fn accept(parts: &mut Parts) -> Result<(Response, OnUpgrade), ApiError> {
    let headers = &parts.headers;
    let version = headers.get(SEC_WEBSOCKET_VERSION);
    if version.is_none_or(|version| version != VERSION) {
        return Err(ApiError::bad_request(format!(
            "A WebSocket needs the header Sec-WebSocket-Version: {VERSION}"
        )));
    }
    let key = headers
        .get(SEC_WEBSOCKET_KEY)
        .ok_or_else(|| ApiError::bad_request("The header Sec-WebSocket-Key is missing"))?;
    let accepted = HeaderValue::from_str(&derive_accept_key(key.as_bytes()))
        .expect("Base64 is a header's value");
    let is_upgrade = lists(headers, &CONNECTION, "upgrade");
    let promised = parts.extensions.remove::<OnUpgrade>();
    let on = promised
        .filter(|_| is_upgrade)
        .ok_or_else(|| ApiError::bad_request("The header Connection: Upgrade is missing"))?;
    let status = StatusCode::SWITCHING_PROTOCOLS;
    let response = Response::new(status, ContentType::JsonBare, Body::default())
        .header(UPGRADE, HeaderValue::from_static("websocket"))
        .header(CONNECTION, HeaderValue::from_static("upgrade"))
        .header(SEC_WEBSOCKET_ACCEPT, accepted);
    Ok((response, on))
}

/// Whether a header lists this word, in any case.
fn lists(headers: &HeaderMap, name: &HeaderName, word: &str) -> bool {
    let values = headers.get_all(name).iter();
    values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|part| part.trim().eq_ignore_ascii_case(word))
}
