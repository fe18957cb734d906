//! One connection: its HTTP version, and the marks by which the sweeper cuts slow connections.

mod socket;
mod state;

use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Poll, Waker};

use hyper::rt::Executor;
use hyper::server::conn::{http1, http2};
use tokio::net::TcpStream;

use self::socket::Socket;
pub(crate) use self::state::ConnectionState;
pub(super) use self::state::TimeLimits;
use super::addresses::Addresses;
use super::transport::{self, Transport};
use crate::bolt;
use crate::config::ServerConfig;
use crate::service::ConnectionService;
use crate::state::{Door, WorkerHandle};
use crate::upgrade::Slot;

/// hyper's limit of headers when none is set. hyper then keeps headers in uninitialized space on
/// the stack, which it need not fill for each request.
const HYPER_HEADERS: usize = 100;
/// Bytes of a request's head in HTTP/2, where one connection may have many requests.
const HTTP2_HEADER_BYTES: usize = 16 * 1024;
/// The flow-control windows of one stream and one connection of HTTP/2, in bytes.
const HTTP2_STREAM_WINDOW: u32 = 64 * 1024;
const HTTP2_CONNECTION_WINDOW: u32 = 256 * 1024;

/// A connection for the sweeper and for a stop.
#[derive(Debug)]
pub(super) struct Handle {
    pub(super) state: Arc<ConnectionState>,
    waker: RefCell<Option<Waker>>,
}

impl Handle {
    pub(super) fn new(clock: Arc<AtomicU64>) -> Self {
        Self {
            state: Arc::new(ConnectionState::new(clock)),
            waker: RefCell::default(),
        }
    }

    /// Asks for a graceful end: the request in work is answered, then the connection closes.
    pub(super) fn stop(&self) {
        self.state.stop.store(true, Ordering::Relaxed);
        self.wake();
    }

    /// Cuts the connection if it has been in its present state for too long. True if it was cut.
    pub(super) fn sweep(&self, limits: &TimeLimits) -> bool {
        let overdue = self.state.is_overdue(limits);
        if overdue {
            self.state.cut.store(true, Ordering::Relaxed);
        }
        // A connection whose read has been in work for a while checks whether its client is still
        // connected.
        if overdue || self.state.is_reading() {
            self.wake();
        }
        overdue
    }

    /// Runs until the work is done, or the connection is cut or the server stops.
    pub(super) async fn while_served<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let mut work = pin!(work);
        poll_fn(|context| {
            self.wake_with(context.waker());
            if self.state.cut.load(Ordering::Relaxed) || self.state.is_stopping() {
                return Poll::Ready(None);
            }
            work.as_mut().poll(context).map(Some)
        })
        .await
    }

    /// Sets the waker for a cut or a stop.
    fn wake_with(&self, waker: &Waker) {
        let mut known = self.waker.borrow_mut();
        if !known.as_ref().is_some_and(|known| known.will_wake(waker)) {
            *known = Some(waker.clone());
        }
    }

    fn wake(&self) {
        if let Some(waker) = self.waker.borrow().as_ref() {
            waker.wake_by_ref();
        }
    }
}

/// Spawns HTTP/2 streams on the connection's own core.
#[derive(Debug, Clone, Copy)]
struct LocalExecutor;

impl<F> Executor<F> for LocalExecutor
where
    F: Future<Output = ()> + 'static,
{
    fn execute(&self, future: F) {
        tokio::task::spawn_local(future);
    }
}

/// Serves a connection to its end. `handshakes`: TLS handshakes in work, by address.
pub(super) async fn serve(
    stream: TcpStream,
    worker: Arc<WorkerHandle>,
    handle: &Handle,
    handshakes: &Arc<Addresses>,
) {
    let state = &handle.state;
    let _ = stream.peer_addr().map(|peer| state.address.set(peer.ip()));
    let stream = match worker.state.tls() {
        None => Transport::Plain(stream),
        Some(tls) => match transport::secure(stream, tls, handshakes, handle).await {
            Some(stream) => {
                let certificate = worker.state.auth().and_then(|_| stream.certificate(tls));
                let _ = certificate.map(|one| state.certificate.set(Arc::new(one)));
                stream
            }
            None => {
                let metrics = worker.state.metrics();
                metrics
                    .tls_handshakes_failed
                    .fetch_add(1, Ordering::Relaxed);
                return;
            }
        },
    };
    if worker.door == Door::Bolt {
        let served = async {
            bolt::serve(stream, worker, Arc::clone(state)).await;
            Ok(())
        };
        // It checks for a stop itself, since a stop wakes its task.
        return drive(served, handle, |_| {}).await;
    }
    let mut socket = Socket::new(stream, Arc::clone(state));
    let Some(is_http2) = socket.sniff(handle).await else {
        return;
    };
    let upgrade = Slot::default();
    let service = ConnectionService {
        worker: Arc::clone(&worker),
        connection: Arc::clone(state),
        upgrade: Rc::clone(&upgrade),
    };
    let config = worker.state.config();
    if is_http2 {
        state.is_http2.store(true, Ordering::Relaxed);
        state.head_since.store(0, Ordering::Relaxed);
        let connection = http2_builder(config).serve_connection(socket, service);
        drive(connection, handle, |connection| {
            connection.graceful_shutdown()
        })
        .await;
    } else {
        let connection = http1_builder(config)
            .serve_connection(socket, service)
            .with_upgrades();
        drive(connection, handle, |connection| {
            connection.graceful_shutdown()
        })
        .await;
        let upgrade = upgrade.borrow_mut().take();
        if let Some(upgrade) = upgrade {
            state.became_socket();
            let served = async {
                upgrade.serve(Arc::clone(state)).await;
                Ok(())
            };
            // The WebSocket checks for a stop itself, since a stop wakes its task.
            drive(served, handle, |_| {}).await;
        }
    }
}

fn http1_builder(config: &ServerConfig) -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        .max_buf_size(config.max_header_bytes)
        .half_close(true);
    if config.max_headers != HYPER_HEADERS {
        builder.max_headers(config.max_headers);
    }
    // Not `pipeline_flush`: with bytes left over it drops answers that were not flushed when the
    // connection ends.
    builder
}

fn http2_builder(config: &ServerConfig) -> http2::Builder<LocalExecutor> {
    let mut builder = http2::Builder::new(LocalExecutor);
    builder
        .max_concurrent_streams(config.max_http2_streams)
        .max_header_list_size(config.max_header_bytes.min(HTTP2_HEADER_BYTES) as u32)
        .initial_stream_window_size(HTTP2_STREAM_WINDOW)
        .initial_connection_window_size(HTTP2_CONNECTION_WINDOW);
    builder
}

/// Polls a connection until it ends, is cut, or has ended gracefully after a stop.
async fn drive<C>(connection: C, handle: &Handle, end_gracefully: impl Fn(Pin<&mut C>))
where
    C: Future<Output = hyper::Result<()>>,
{
    let state = &handle.state;
    let mut connection = Box::pin(connection);
    let mut is_notified = false;
    poll_fn(|context| {
        handle.wake_with(context.waker());
        if state.cut.load(Ordering::Relaxed) {
            return Poll::Ready(());
        }
        // Polled before it is notified of a stop, so that requests that arrived earlier are
        // answered.
        let mut polled = connection.as_mut().poll(context);
        if polled.is_pending() && !is_notified && state.is_stopping() {
            is_notified = true;
            end_gracefully(connection.as_mut());
            polled = connection.as_mut().poll(context);
        }
        polled.map(|ended| {
            if let Err(error) = ended {
                tracing::debug!(%error, "connection ended");
            }
        })
    })
    .await;
}
