//! Bolt, the protocol of Neo4j's drivers, over TCP or TLS.
//!
//! The door is a transport on the session layer: it knows messages, states and records, and no type
//! of HTTP. It runs Cypher ([`crate::cypher`]); `records` makes messages of rows. `inbox`
//! and `outbox` have the bytes of a connection, `desk` answers its requests, `rows` passes records
//! from the thread that reads the graph to the client that asks for them.

mod config;
mod desk;
mod failure;
mod inbox;
mod login;
mod outbox;
mod query;
mod records;
mod rows;
mod transaction;
mod values;

use std::io;
use std::sync::Arc;

use bytes::BytesMut;
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
    let database = Arc::clone(worker.state.database());
    let inbox = Inbox::new(reader, Arc::clone(&connection), database);
    let desk = Desk::new(worker, &connection, version);
    let mut conversation = Conversation {
        inbox,
        outbox,
        desk,
        connection,
    };
    if let Err(error) = conversation.hold().await {
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

/// Requests and answers, one after the other.
struct Conversation<S> {
    inbox: Inbox<S>,
    outbox: Outbox<S>,
    desk: Desk,
    connection: Arc<ConnectionState>,
}

impl<S: AsyncRead + AsyncWrite> Conversation<S> {
    async fn hold(&mut self) -> io::Result<()> {
        while let Some(message) = self.next().await? {
            let next = self.answer(&message).await?;
            if self.inbox.is_empty() || next == Next::Close {
                self.outbox.flush().await?;
            }
            if next == Next::Close || self.connection.is_stopping() {
                return self.outbox.flush().await;
            }
            self.inbox.limit(self.desk.is_known());
        }
        Ok(())
    }

    /// The next message; `None` when the client has gone, the server stops, or the time for the
    /// login is over.
    async fn next(&mut self) -> io::Result<Option<BytesMut>> {
        loop {
            let left = self.desk.time_left();
            let over = async {
                match left {
                    Some(left) => tokio::time::sleep(left).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                message = self.inbox.next() => return message,
                () = self.connection.stops() => return Ok(None),
                () = over => if self.desk.time_is_over() == Next::Close {
                    return Ok(None);
                },
            }
        }
    }

    /// Answers a message. A RESET ends the request in work as soon as it arrives.
    async fn answer(&mut self, message: &[u8]) -> io::Result<Next> {
        let (desk, outbox) = (&mut self.desk, &mut self.outbox);
        let request = match Request::read(message, desk.version) {
            Ok(request) => request,
            Err(error) => return desk.refuse(&error, outbox),
        };
        // Before the login a RESET has no effect ahead of its turn.
        if !desk.is_known() {
            return desk.answer(request, outbox).await;
        }
        if self.inbox.has_reset() {
            desk.interrupt();
            return desk.answer(request, outbox).await;
        }
        tokio::select! {
            biased;
            next = desk.answer(request, outbox) => return next,
            arrived = self.inbox.reset_arrives() => arrived?,
        }
        desk.interrupt();
        desk.ignored(outbox)
    }
}
