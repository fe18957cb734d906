//! The responses that a client has not taken.

use std::io;
use std::time::Duration;

use bytes::BytesMut;
use tokio::io::{AsyncWrite, AsyncWriteExt as _, WriteHalf};
use varve_bolt::{Response, Version, framing};

use crate::config::ServerConfig;

/// Bytes with which responses are sent before there are more.
pub(super) const FLUSH_BYTES: usize = 64 * 1024;

/// Writes a connection.
pub(super) struct Outbox<S> {
    writer: WriteHalf<S>,
    bytes: BytesMut,
    time_max: Duration,
}

impl<S: AsyncWrite> Outbox<S> {
    pub(super) fn new(writer: WriteHalf<S>, config: &ServerConfig) -> Self {
        Self {
            writer,
            bytes: BytesMut::new(),
            time_max: Duration::from_millis(config.write_timeout_ms),
        }
    }

    /// The bytes that are sent next; whole messages are appended.
    pub(super) const fn bytes(&mut self) -> &mut BytesMut {
        &mut self.bytes
    }

    /// Appends a response.
    pub(super) fn put(&mut self, response: &Response, version: Version) -> io::Result<()> {
        let written = framing::frame(&mut self.bytes, |bytes| response.write(version, bytes));
        written.map_err(io::Error::other)
    }

    /// Sends what is there. May be dropped before it is ready: the rest is sent later.
    pub(super) async fn flush(&mut self) -> io::Result<()> {
        while !self.bytes.is_empty() {
            let written = self.writer.write_buf(&mut self.bytes);
            let written = tokio::time::timeout(self.time_max, written).await??;
            if written == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
        }
        tokio::time::timeout(self.time_max, self.writer.flush()).await?
    }
}
