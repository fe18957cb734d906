//! The bytes below a WebSocket: received bytes are charged before they are kept, and sent bytes are
//! counted.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::fragments::Fragments;
use crate::admission::{BodyShare, SMALL_BODY_BYTES};
use crate::answers::Sending;
use crate::errors::ApiError;
use crate::route::Class;
use crate::runtime::ConnectionState;
use crate::state::WorkerHandle;

/// Bytes of a control frame from a client before its payload: the opcode, the length, the mask.
const CONTROL_HEAD_BYTES: usize = 6;

type Growing = Pin<Box<dyn Future<Output = Result<BodyShare, ApiError>>>>;

/// An upgraded connection whose messages are charged while they arrive, as bodies are.
pub(super) struct Metered {
    io: TokioIo<Upgraded>,
    fragments: Fragments,
    worker: Arc<WorkerHandle>,
    connection: Arc<ConnectionState>,
    /// Bytes that have arrived since the last whole message.
    arrived: usize,
    /// Bytes that one message may have.
    pub(super) bytes_max: usize,
    share: BodyShare,
    growing: Option<Growing>,
    /// Why no more is read.
    pub(super) refused: Option<ApiError>,
    /// The part that is being sent.
    pub(super) sending: Option<Arc<Sending>>,
}

impl Metered {
    pub(super) fn new(
        upgraded: Upgraded,
        worker: Arc<WorkerHandle>,
        connection: Arc<ConnectionState>,
    ) -> Self {
        let message_bytes_max = worker.state.config().max_body_bytes;
        Self {
            io: TokioIo::new(upgraded),
            fragments: Fragments::new(message_bytes_max),
            worker,
            connection,
            arrived: 0,
            bytes_max: usize::MAX,
            share: BodyShare::default(),
            growing: None,
            refused: None,
            sending: None,
        }
    }

    /// Ends a complete message, and returns its share of the budget.
    pub(super) fn take_share(&mut self) -> BodyShare {
        self.arrived = 0;
        self.connection.message_ended();
        std::mem::take(&mut self.share)
    }

    /// Records a control frame with `payload` bytes, between messages or within one. It neither
    /// completes a message nor extends its time.
    pub(super) fn control_arrived(&mut self, payload: usize) {
        let frame = CONTROL_HEAD_BYTES + payload;
        self.arrived = self.arrived.saturating_sub(frame);
        match self.arrived {
            0 => drop(self.take_share()),
            _ => self.connection.message_lost(frame),
        }
    }

    /// Waits until the budget has room for `bytes` bytes of one message.
    fn poll_room(&mut self, context: &mut Context<'_>, bytes: usize) -> Poll<io::Result<()>> {
        if bytes <= SMALL_BODY_BYTES || bytes <= self.share.bytes() {
            return Poll::Ready(Ok(()));
        }
        let growing = self.growing.get_or_insert_with(|| {
            let worker = Arc::clone(&self.worker);
            let mut share = std::mem::take(&mut self.share);
            Box::pin(async move {
                if let Some(gate) = worker.state.admission().gate(Class::Read) {
                    gate.grow(&mut share, bytes, 2 * bytes).await?;
                }
                Ok(share)
            })
        });
        let grown = ready!(growing.as_mut().poll(context));
        self.growing = None;
        match grown {
            Ok(share) => {
                self.share = share;
                Poll::Ready(Ok(()))
            }
            Err(refused) => {
                self.refused = Some(refused);
                Poll::Ready(Err(io::ErrorKind::OutOfMemory.into()))
            }
        }
    }

    fn took(&self, written: &Poll<io::Result<usize>>) {
        if let (Poll::Ready(Ok(bytes)), Some(sending)) = (written, &self.sending) {
            sending.took(*bytes);
        }
    }
}

impl AsyncRead for Metered {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.arrived > self.bytes_max {
            return Poll::Ready(Err(io::ErrorKind::PermissionDenied.into()));
        }
        let wanted = self.arrived + buffer.remaining();
        ready!(self.poll_room(context, wanted))?;
        let Self { io, fragments, .. } = &mut *self;
        let before = fragments.arrived;
        let read = fragments.poll_read(io, context, buffer);
        // Includes parts of heads, which the codec does not see yet.
        let bytes = (fragments.arrived - before) as usize;
        if bytes > 0 {
            self.arrived += bytes;
            self.connection.message_arrived(bytes);
        }
        read
    }
}

impl AsyncWrite for Metered {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write(context, bytes);
        self.took(&written);
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(context)
    }
}
