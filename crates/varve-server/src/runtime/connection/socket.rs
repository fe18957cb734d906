//! The socket of a connection as hyper sees it.

use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, ready};

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;
use smallvec::SmallVec;
use tokio::io::{AsyncRead, Interest, ReadBuf};

use super::{ConnectionState, Handle};
use crate::runtime::bad_head;
use crate::runtime::transport::Transport;

/// The first bytes of an HTTP/2 connection that starts without negotiation.
const HTTP2_PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The most bytes of a refused body that are read and discarded, so that the client sees the answer
/// and not a reset.
const LINGER_BYTES: usize = 256 * 1024 * 1024;

/// Parts of an answer that together have at most this many bytes are joined before they are
/// written.
const JOINED_BYTES: usize = 1024;

/// The socket as hyper sees it. It replays the bytes that were sniffed. It also notes the times
/// from which the sweeper decides whether the connection is cut.
pub(super) struct Socket {
    stream: TokioIo<Transport>,
    state: Arc<ConnectionState>,
    replay: [u8; HTTP2_PREFACE.len()],
    replay_from: u8,
    replay_to: u8,
    discarded: usize,
    /// The answer that is sent in place of hyper's to a bad head, and how many bytes of it are
    /// sent.
    instead: Option<(Box<[u8]>, usize)>,
}

impl Socket {
    pub(super) fn new(stream: Transport, state: Arc<ConnectionState>) -> Self {
        Self {
            stream: TokioIo::new(stream),
            state,
            replay: [0; HTTP2_PREFACE.len()],
            replay_from: 0,
            replay_to: 0,
            discarded: 0,
            instead: None,
        }
    }

    /// Reads until it is known whether the client speaks HTTP/2. `None` if the client closed its
    /// side or the socket failed before, if the connection is cut, or if the server is stopping and
    /// nothing is left to read.
    pub(super) async fn sniff(&mut self, handle: &Handle) -> Option<bool> {
        poll_fn(|context| {
            handle.wake_with(context.waker());
            if self.state.cut.load(Ordering::Relaxed) {
                return Poll::Ready(None);
            }
            loop {
                let filled = usize::from(self.replay_to);
                let seen = &self.replay[..filled];
                if !HTTP2_PREFACE.starts_with(seen) {
                    return Poll::Ready(Some(false));
                }
                if filled == HTTP2_PREFACE.len() {
                    return Poll::Ready(Some(true));
                }
                let mut buffer = ReadBuf::new(&mut self.replay[filled..]);
                let read = Pin::new(self.stream.inner_mut()).poll_read(context, &mut buffer);
                // Requests that arrived before the stop are still answered.
                if read.is_pending() && self.state.is_stopping() {
                    return Poll::Ready(None);
                }
                match ready!(read) {
                    Ok(()) if !buffer.filled().is_empty() => {
                        self.replay_to += buffer.filled().len() as u8;
                        self.state.read_some();
                    }
                    Ok(()) | Err(_) => return Poll::Ready(None),
                }
            }
        })
        .await
    }

    fn poll_discard(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let now = self.state.now();
        if self.state.linger_since.load(Ordering::Relaxed) == 0 {
            self.state.linger_since.store(now.max(1), Ordering::Relaxed);
        }
        let mut scratch = [0; 16 * 1024];
        while self.discarded < LINGER_BYTES {
            let mut buffer = ReadBuf::new(&mut scratch);
            match ready!(Pin::new(self.stream.inner_mut()).poll_read(context, &mut buffer)) {
                Ok(()) if !buffer.filled().is_empty() => self.discarded += buffer.filled().len(),
                Ok(()) | Err(_) => return Poll::Ready(()),
            }
        }
        Poll::Ready(())
    }

    /// If `bytes` are hyper's answer to a bad head, sends the server's own answer in their place,
    /// and reports `bytes` as written. `None` for all other bytes.
    fn poll_replace(
        &mut self,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Option<Poll<io::Result<usize>>> {
        if self.instead.is_none() {
            self.instead = Some((bad_head::instead_of(bytes)?.into(), 0));
            // The client may still be sending; if its bytes stayed unread, it would see a reset.
            self.state.linger();
        }
        let (answer, sent) = self.instead.as_mut()?;
        while *sent < answer.len() {
            let stream = Pin::new(&mut self.stream);
            match stream.poll_write(context, &answer[*sent..]) {
                Poll::Ready(Ok(count)) if count > 0 => *sent += count,
                Poll::Ready(Ok(_)) => {
                    return Some(Poll::Ready(Err(io::ErrorKind::WriteZero.into())));
                }
                other => return Some(other),
            }
        }
        self.instead = None;
        Some(Poll::Ready(Ok(bytes.len())))
    }

    /// Notes when a client has closed its side while the server runs a read for it. hyper does not
    /// notice, since it does not read the socket meanwhile.
    fn look_for_client(&self, context: &mut Context<'_>) {
        if !self.state.is_reading() || self.state.gone_since.load(Ordering::Relaxed) != 0 {
            return;
        }
        // Costs no system call: the runtime is notified of the end together with what can be read.
        let ready = pin!(self.stream.inner().tcp().ready(Interest::READABLE));
        if let Poll::Ready(Ok(ready)) = ready.poll(context)
            && ready.is_read_closed()
        {
            let now = self.state.now().max(1);
            self.state.gone_since.store(now, Ordering::Relaxed);
        }
    }

    fn wrote(&self, written: &Poll<io::Result<usize>>) {
        self.mark_write(written.is_pending());
    }

    /// Records since when a write has waited for the client; 0 if none waits.
    fn mark_write(&self, is_pending: bool) {
        let mark = if is_pending {
            self.state.now().max(1)
        } else {
            0
        };
        if mark == 0 || self.state.write_since.load(Ordering::Relaxed) == 0 {
            self.state.write_since.store(mark, Ordering::Relaxed);
        }
    }
}

impl Read for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        mut cursor: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let (from, to) = (usize::from(self.replay_from), usize::from(self.replay_to));
        if from < to {
            let count = (to - from).min(cursor.remaining());
            cursor.put_slice(&self.replay[from..from + count]);
            self.replay_from += count as u8;
            return Poll::Ready(Ok(()));
        }
        ready!(Pin::new(&mut self.stream).poll_read(context, cursor))?;
        self.state.read_some();
        Poll::Ready(Ok(()))
    }
}

impl Write for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let replaced = self.poll_replace(context, bytes);
        let written = match replaced {
            Some(written) => written,
            None => Pin::new(&mut self.stream).poll_write(context, bytes),
        };
        self.wrote(&written);
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.look_for_client(context);
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        if self.stream.inner().is_secure() {
            // TLS buffers the bytes until the client takes them.
            self.mark_write(flushed.is_pending());
        }
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_shutdown(context))?;
        if self.state.linger.load(Ordering::Relaxed) {
            ready!(self.poll_discard(context));
        }
        Poll::Ready(Ok(()))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        // A head and a small body are joined: one write of both is cheaper than a vectored one.
        let total: usize = slices.iter().map(|slice| slice.len()).sum();
        if total <= JOINED_BYTES {
            let mut joined: SmallVec<[u8; JOINED_BYTES]> = SmallVec::new();
            for slice in slices {
                joined.extend_from_slice(slice);
            }
            return self.poll_write(context, &joined);
        }
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.wrote(&written);
        written
    }
}
