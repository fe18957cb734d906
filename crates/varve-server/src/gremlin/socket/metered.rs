//! The bytes below a WebSocket: received bytes are charged before they are kept, and sent bytes are
//! counted.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use varve_session::budget::admission::{BodyShare, SMALL_BODY_BYTES};

use super::Incoming;
use super::fragments::Fragments;
use crate::answers::Sending;
use crate::errors::ApiError;
use crate::route::Class;
use crate::runtime::ConnectionState;
use crate::state::WorkerHandle;

/// Bytes that an unauthenticated client may have sent and not got answered.
const STRANGER_BYTES_MAX: usize = 64 * 1024;
/// Bytes that the server holds for a message that waits, beside its own.
const WAITING_BYTES: usize = size_of::<Incoming>();
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
    /// Set while the client is not authenticated.
    stranger: Option<Stranger>,
    share: BodyShare,
    growing: Option<Growing>,
    /// Why no more is read.
    pub(super) refused: Option<ApiError>,
    /// The part that is being sent.
    pub(super) sending: Option<Arc<Sending>>,
}

/// The bytes of an unauthenticated client. They are bounded, and are not charged to the budget of
/// bodies, so that they take nothing from authenticated clients.
#[derive(Default)]
struct Stranger {
    /// Bytes of messages that wait for the login.
    waiting: usize,
    /// The share of the budget of strangers.
    share: Option<OwnedSemaphorePermit>,
}

impl Stranger {
    /// Charges the bytes that wait, and `arrived` bytes of the next message. Few bytes are free:
    /// the number of connections bounds them.
    fn charge(&mut self, budget: &Arc<Semaphore>, arrived: usize) -> io::Result<()> {
        let bytes = self.waiting + arrived;
        if bytes > STRANGER_BYTES_MAX {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let charged = self.share.as_ref().map_or(0, |share| share.num_permits());
        let more = bytes.saturating_sub(SMALL_BODY_BYTES + charged);
        if more == 0 {
            return Ok(());
        }
        let more = Arc::clone(budget).try_acquire_many_owned(more as u32);
        let more = more.map_err(|_| io::ErrorKind::OutOfMemory)?;
        match &mut self.share {
            Some(share) => share.merge(more),
            share => *share = Some(more),
        }
        Ok(())
    }
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
            stranger: None,
            share: BodyShare::default(),
            growing: None,
            refused: None,
            sending: None,
        }
    }

    /// From now on the client is not authenticated.
    pub(super) fn begin_login(&mut self) {
        self.stranger = Some(Stranger::default());
    }

    /// The client is authenticated.
    pub(super) fn end_login(&mut self) {
        self.stranger = None;
    }

    /// Counts a message of `bytes` bytes that waits for the login. Returns false if there is no
    /// room for it.
    pub(super) fn hold(&mut self, bytes: usize) -> bool {
        let Some(stranger) = &mut self.stranger else {
            return true;
        };
        stranger.waiting += bytes + WAITING_BYTES;
        let budget = self.worker.state.admission().strangers();
        stranger.charge(budget, 0).is_ok()
    }

    /// No message waits for the login any more.
    pub(super) fn release_waiting(&mut self) {
        self.stranger = self.stranger.take().map(|_| Stranger::default());
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
        let arrived = self.arrived;
        let Self {
            stranger, worker, ..
        } = &mut *self;
        match stranger {
            Some(stranger) => stranger.charge(worker.state.admission().strangers(), arrived)?,
            None => ready!(self.poll_room(context, arrived + buffer.remaining()))?,
        }
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
