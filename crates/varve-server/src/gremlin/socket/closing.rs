//! How a WebSocket is closed: code, reason, and the closing handshake.

use std::io::ErrorKind;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::error::CapacityError;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error, Message, Utf8Bytes};

use super::metered::Metered;

/// How long the client may take to answer the close frame.
const CLOSE_WAIT: Duration = Duration::from_secs(1);

/// A close code and its reason.
pub(super) type Farewell = (CloseCode, &'static str);

pub(super) const STOPS: Farewell = (CloseCode::Away, "The server stops");
pub(super) const NO_LOGIN: Farewell = (CloseCode::Policy, "The client has not logged in in time");
pub(super) const TOO_MUCH: Farewell = (
    CloseCode::Policy,
    "The client must log in before it sends so much",
);

/// The close code and reason of an error.
pub(super) fn reason(error: &Error) -> Farewell {
    match error {
        Error::Capacity(CapacityError::MessageTooLong { .. }) => (
            CloseCode::Size,
            "The message is larger than server.max_body_bytes",
        ),
        Error::Io(error) if error.kind() == ErrorKind::PermissionDenied => TOO_MUCH,
        Error::Io(_) => (CloseCode::Again, "The server is too busy"),
        Error::Utf8(_) => (CloseCode::Invalid, "The text is not UTF-8"),
        _ => (CloseCode::Protocol, "The frame violates RFC 6455"),
    }
}

/// Sends the reason, and closes the connection.
pub(super) async fn close(socket: &mut WebSocketStream<Metered>, (code, reason): Farewell) {
    let frame = CloseFrame {
        code,
        reason: Utf8Bytes::from_static(reason),
    };
    let closing = async {
        if socket.send(Message::Close(Some(frame))).await.is_ok() {
            while let Some(Ok(_)) = socket.next().await {}
        }
    };
    // A client that does not answer has lost the connection anyway.
    let _ = tokio::time::timeout(CLOSE_WAIT, closing).await;
}
