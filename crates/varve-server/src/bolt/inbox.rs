//! The messages of a client that have arrived and are not answered.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncReadExt as _, ReadHalf};
use varve_bolt::framing::Decoder;
use varve_bolt::packstream;
use varve_bolt::request::Kind;
use varve_session::budget::admission::{BodyShare, SMALL_BODY_BYTES};
use varve_session::{Class, Database};

use crate::runtime::ConnectionState;

/// The most bytes of a message before the client is authenticated.
const STRANGERS_BYTES_MAX: usize = 8 * 1024;
/// The most bytes of a message afterwards. No query has parameters yet.
const MESSAGE_BYTES_MAX: usize = 256 * 1024;
/// Messages that are read ahead of their turn.
const AHEAD_MAX: usize = 64;
/// Bytes of messages with which no more are read ahead of their turn.
const AHEAD_BYTES_MAX: usize = 64 * 1024;
/// Bytes that are read at once.
const READ_BYTES: usize = 8 * 1024;

/// Reads a connection.
pub(super) struct Inbox<S> {
    reader: ReadHalf<S>,
    connection: Arc<ConnectionState>,
    database: Arc<Database>,
    decoder: Decoder,
    input: BytesMut,
    /// Bytes of the message that arrives.
    arrived: usize,
    ahead: VecDeque<BytesMut>,
    ahead_bytes: usize,
    /// RESETs among the messages that are ahead of their turn.
    resets: usize,
    /// What the messages take of the budget of bodies, unless they are small.
    share: BodyShare,
}

impl<S: AsyncRead> Inbox<S> {
    pub(super) fn new(
        reader: ReadHalf<S>,
        connection: Arc<ConnectionState>,
        database: Arc<Database>,
    ) -> Self {
        Self {
            reader,
            connection,
            database,
            decoder: Decoder::new(STRANGERS_BYTES_MAX),
            input: BytesMut::new(),
            arrived: 0,
            ahead: VecDeque::new(),
            ahead_bytes: 0,
            resets: 0,
            share: BodyShare::default(),
        }
    }

    /// Sets the limit of a message, by whether the client is authenticated.
    pub(super) fn limit(&mut self, is_known: bool) {
        self.decoder.set_message_bytes_max(match is_known {
            true => MESSAGE_BYTES_MAX,
            false => STRANGERS_BYTES_MAX,
        });
    }

    /// Whether no message waits.
    pub(super) fn is_empty(&self) -> bool {
        self.ahead.is_empty()
    }

    /// Whether a RESET is among the messages that wait.
    pub(super) const fn has_reset(&self) -> bool {
        self.resets > 0
    }

    /// The next message; `None` at the end of the connection. May be dropped before it is ready.
    pub(super) async fn next(&mut self) -> io::Result<Option<BytesMut>> {
        while self.ahead.is_empty() {
            if !self.read().await? {
                return Ok(None);
            }
        }
        let message = self.ahead.pop_front();
        if let Some(message) = &message {
            self.ahead_bytes -= message.len();
            self.resets -= usize::from(is_reset(message));
            self.share.shrink(self.ahead_bytes + self.arrived);
        }
        Ok(message)
    }

    /// Reads ahead until a RESET has arrived or the client has gone. May be dropped before it is
    /// ready.
    pub(super) async fn reset_arrives(&mut self) -> io::Result<()> {
        while self.resets == 0 {
            if self.ahead.len() >= AHEAD_MAX || self.ahead_bytes >= AHEAD_BYTES_MAX {
                return std::future::pending().await;
            }
            if !self.read().await? {
                return Err(io::ErrorKind::ConnectionAborted.into());
            }
        }
        Ok(())
    }

    /// Reads some bytes, and the messages in them; `false` at the end of the connection.
    async fn read(&mut self) -> io::Result<bool> {
        let bytes = self.ahead_bytes + self.arrived + READ_BYTES;
        if bytes > SMALL_BODY_BYTES
            && let Some(gate) = self.database.admission.gate(Class::Read)
        {
            let grown = gate.grow(&mut self.share, bytes, 2 * bytes).await;
            grown.map_err(io::Error::other)?;
        }
        self.input.reserve(READ_BYTES);
        let bytes = self.reader.read_buf(&mut self.input).await?;
        if bytes == 0 {
            return Ok(false);
        }
        self.arrived += bytes;
        self.connection.message_arrived(bytes);
        let decoded = |error| io::Error::new(io::ErrorKind::InvalidData, error);
        while let Some(message) = self.decoder.decode(&mut self.input).map_err(decoded)? {
            self.arrived = self.input.len();
            self.ahead_bytes += message.len();
            self.resets += usize::from(is_reset(&message));
            self.ahead.push_back(message);
        }
        if !self.decoder.in_message() {
            self.arrived = self.input.len();
            self.connection.message_ended();
        }
        Ok(true)
    }
}

fn is_reset(message: &[u8]) -> bool {
    let value = || packstream::read(message).ok();
    message.len() == 2
        && matches!(value(), Some(packstream::Value::Structure { tag, .. }) if tag == Kind::Reset.tag())
}
