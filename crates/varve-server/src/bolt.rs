//! Bolt, the protocol of Neo4j's drivers, over TCP or TLS.
//!
//! The door is a transport on the session layer: it knows messages, states and records, and no type
//! of HTTP. It has no language yet: [`statement`] knows a few fixed queries by their texts. `inbox`
//! and `outbox` have the bytes of a connection, `desk` answers its requests, `rows` passes records
//! from the thread that reads the graph to the client that asks for them.

mod config;
mod desk;
mod failure;
mod inbox;
mod outbox;
mod rows;
mod statement;
mod values;

use std::io;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, split};
use varve_bolt::handshake::{self, HANDSHAKE_BYTES, NO_VERSION};
use varve_bolt::{Request, Version};

pub use self::config::BoltConfig;
use self::desk::{Desk, Next};
use self::inbox::Inbox;
use self::outbox::Outbox;
use crate::runtime::ConnectionState;
use crate::state::WorkerHandle;

/// Serves a connection to its end.
pub(crate) async fn serve(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    worker: Arc<WorkerHandle>,
    connection: Arc<ConnectionState>,
) {
    connection.became_socket();
    let limit = worker.state.config().request_timeout();
    let (mut reader, writer) = split(stream);
    let mut outbox = Outbox::new(writer, worker.state.config());
    let agreed = tokio::time::timeout(limit, agree(&mut reader, &mut outbox)).await;
    let version = match agreed {
        Ok(Ok(Some(version))) => version,
        Ok(Ok(None)) | Err(_) => return,
        Ok(Err(error)) => return tracing::debug!(%error, "no handshake of Bolt"),
    };
    let inbox = Inbox::new(reader, Arc::clone(&connection));
    let desk = Desk::new(worker, &connection, version);
    if let Err(error) = converse(inbox, outbox, desk, &connection).await {
        tracing::debug!(%error, "connection of Bolt ended");
    }
}

/// Chooses the version; `None` if the client has none that is served here.
async fn agree(
    reader: &mut (impl AsyncRead + Unpin),
    outbox: &mut Outbox<impl AsyncWrite + Unpin>,
) -> io::Result<Option<Version>> {
    let mut proposed = [0; HANDSHAKE_BYTES];
    reader.read_exact(&mut proposed).await?;
    let version = handshake::choose(&proposed).map_err(io::Error::other)?;
    let answer = version.map_or(NO_VERSION, Version::to_bytes);
    outbox.bytes().extend_from_slice(&answer);
    outbox.flush().await?;
    Ok(version)
}

/// Answers requests one after the other. A RESET ends the one in work as soon as it arrives.
async fn converse(
    mut inbox: Inbox<impl AsyncRead + Unpin>,
    mut outbox: Outbox<impl AsyncWrite + Unpin>,
    mut desk: Desk,
    connection: &ConnectionState,
) -> io::Result<()> {
    loop {
        let message = match desk.login_left() {
            None => inbox.next().await?,
            Some(left) => tokio::time::timeout(left, inbox.next()).await??,
        };
        let Some(message) = message else {
            return Ok(());
        };
        let next = match Request::read(&message, desk.version()) {
            Err(error) => desk.refuse(&error, &mut outbox)?,
            Ok(request) if inbox.has_reset() => {
                desk.interrupt();
                desk.answer(request, &mut outbox).await?
            }
            Ok(request) => tokio::select! {
                biased;
                next = desk.answer(request, &mut outbox) => next?,
                arrived = inbox.reset_arrives() => {
                    arrived?;
                    desk.interrupt();
                    desk.ignored(&mut outbox)?
                }
            },
        };
        if inbox.is_empty() || matches!(next, Next::Close) {
            outbox.flush().await?;
        }
        if matches!(next, Next::Close) || connection.is_stopping() {
            return outbox.flush().await;
        }
        if desk.is_known() {
            inbox.trust();
        }
    }
}
