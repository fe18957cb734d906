//! One connection: its HTTP version, and the marks by which the sweeper cuts slow connections.

mod socket;

use std::cell::RefCell;
use std::future::poll_fn;
use std::net::{IpAddr, Ipv4Addr};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Poll, Waker};

use hyper::rt::Executor;
use hyper::server::conn::{http1, http2};
use tokio::net::TcpStream;

use self::socket::Socket;
use super::addresses::Addresses;
use super::transport::{self, Transport};
use crate::config::ServerConfig;
use crate::service::ConnectionService;
use crate::state::WorkerHandle;
use crate::tls::ClientCertificate;
use crate::upgrade::Slot;

/// How long the rest of a refused body is read and discarded.
const LINGER_MS: u64 = 2_000;

/// How long a read goes on after its client has closed its side of an HTTP/1 connection. The client
/// may have closed only its sending side, and still wait for the answer.
const GONE_MS: u64 = 500;

/// How long a WebSocket may stay open without a message. Pools of drivers keep connections open,
/// and not all of them send pings.
const SOCKET_IDLE_MS: u64 = 3_600_000;

/// hyper's limit of headers when none is set. hyper then keeps headers in uninitialized space on
/// the stack, which it need not fill for each request.
const HYPER_HEADERS: usize = 100;
/// Bytes of a request's head in HTTP/2, where one connection may have many requests.
const HTTP2_HEADER_BYTES: usize = 16 * 1024;
/// The flow-control windows of one stream and one connection of HTTP/2, in bytes.
const HTTP2_STREAM_WINDOW: u32 = 64 * 1024;
const HTTP2_CONNECTION_WINDOW: u32 = 256 * 1024;

/// The state of a connection, for the sweeper. Both are on the connection's thread, so relaxed
/// loads and stores suffice; the fields are atomic only because hyper requires sockets that are
/// `Send`. Times are in the serving thread's coarse milliseconds; 0 means "not now".
#[derive(Debug, Default)]
pub(crate) struct ConnectionState {
    clock: Arc<AtomicU64>,
    requests: AtomicU32,
    is_http2: AtomicBool,
    head_since: AtomicU64,
    write_since: AtomicU64,
    idle_since: AtomicU64,
    linger: AtomicBool,
    linger_since: AtomicU64,
    /// When the read in work began; HTTP/1 only.
    read_since: AtomicU64,
    /// When the client of that read closed its side.
    gone_since: AtomicU64,
    /// Whether an answer was not taken in time.
    late: AtomicBool,
    stop: AtomicBool,
    cut: AtomicBool,
    address: OnceLock<IpAddr>,
    /// The `Host` of its first request, if it may be this server ([`crate::origin::check`]).
    pub(crate) host: OnceLock<Box<[u8]>>,
    /// The client's certificate, where authentication is on.
    certificate: OnceLock<Arc<ClientCertificate>>,
    /// Whether it has become a WebSocket; its messages then count as requests.
    is_socket: AtomicBool,
    /// When the message that is arriving began, and its bytes so far.
    message_since: AtomicU64,
    message_bytes: AtomicUsize,
}

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

/// How long each state of a connection may last, in milliseconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct TimeLimits {
    head: u64,
    write: u64,
    idle: u64,
    body: u64,
    body_bytes_per_second: u64,
}

impl TimeLimits {
    pub(super) fn new(config: &ServerConfig) -> Self {
        Self {
            head: config.header_read_timeout_ms,
            write: config.write_timeout_ms,
            idle: config.idle_timeout_ms,
            body: config.body_read_timeout_ms,
            body_bytes_per_second: config.min_body_bytes_per_second,
        }
    }

    /// The shortest of them.
    pub(super) fn shortest(&self) -> u64 {
        self.head.min(self.write).min(self.idle).min(self.body)
    }
}

impl ConnectionState {
    /// The peer's address.
    pub(crate) fn address(&self) -> IpAddr {
        let address = self.address.get().copied();
        address.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED))
    }

    /// The client's certificate, where authentication is on.
    pub(crate) fn certificate(&self) -> Option<&Arc<ClientCertificate>> {
        self.certificate.get()
    }

    fn new(clock: Arc<AtomicU64>) -> Self {
        let now = clock.load(Ordering::Relaxed);
        Self {
            clock,
            idle_since: AtomicU64::new(now),
            ..Self::default()
        }
    }

    /// The serving thread's coarse milliseconds.
    pub(crate) fn now(&self) -> u64 {
        self.clock.load(Ordering::Relaxed)
    }

    /// Marks the connection as late, because its client does not take an answer in time: the
    /// sweeper cuts it.
    pub(crate) fn mark_late(&self) {
        self.late.store(true, Ordering::Relaxed);
    }

    /// Records that a request's head is complete.
    pub(crate) fn request_started(&self) {
        self.head_since.store(0, Ordering::Relaxed);
        let requests = self.requests.load(Ordering::Relaxed);
        self.requests.store(requests + 1, Ordering::Relaxed);
    }

    /// Records that a read has begun that may take long, over HTTP/1.
    pub(crate) fn read_began(&self) {
        self.read_since.store(self.now().max(1), Ordering::Relaxed);
    }

    /// Records that a WebSocket reads no more messages for now, so that its client is watched.
    pub(crate) fn reads_no_more(&self) {
        if self.read_since.load(Ordering::Relaxed) == 0 {
            self.read_began();
        }
    }

    /// Whether the client of a WebSocket that reads no more has closed its side.
    pub(crate) fn is_gone(&self) -> bool {
        self.gone_since.load(Ordering::Relaxed) != 0
    }

    /// Whether a read has been in work since before the clock last advanced.
    fn is_reading(&self) -> bool {
        let since = self.read_since.load(Ordering::Relaxed);
        since != 0 && since < self.now()
    }

    /// Records that a request's answer was handed over, or the request was given up.
    pub(crate) fn request_ended(&self) {
        self.idle_since.store(self.now(), Ordering::Relaxed);
        self.read_since.store(0, Ordering::Relaxed);
        self.gone_since.store(0, Ordering::Relaxed);
        let requests = self.requests.load(Ordering::Relaxed);
        self.requests.store(requests - 1, Ordering::Relaxed);
    }

    /// Makes the connection discard the rest of the request for a while before it closes.
    pub(crate) fn linger(&self) {
        self.linger.store(true, Ordering::Relaxed);
    }

    /// Whether the server is stopping.
    pub(crate) fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Records that the connection is a WebSocket from now on.
    pub(crate) fn became_socket(&self) {
        self.head_since.store(0, Ordering::Relaxed);
        self.is_socket.store(true, Ordering::Relaxed);
    }

    /// Counts received bytes of a message.
    pub(crate) fn message_arrived(&self, bytes: usize) {
        if self.message_since.load(Ordering::Relaxed) == 0 {
            self.message_since
                .store(self.now().max(1), Ordering::Relaxed);
        }
        let before = self.message_bytes.load(Ordering::Relaxed);
        self.message_bytes.store(before + bytes, Ordering::Relaxed);
    }

    /// Subtracts received bytes that belong to no message.
    pub(crate) fn message_lost(&self, bytes: usize) {
        let before = self.message_bytes.load(Ordering::Relaxed);
        self.message_bytes
            .store(before.saturating_sub(bytes), Ordering::Relaxed);
    }

    /// Records that the message is complete.
    pub(crate) fn message_ended(&self) {
        self.message_since.store(0, Ordering::Relaxed);
        self.message_bytes.store(0, Ordering::Relaxed);
        self.idle_since.store(self.now(), Ordering::Relaxed);
    }

    /// Whether a message arrives more slowly than a body may.
    fn is_message_late(&self, limits: &TimeLimits) -> bool {
        let since = self.message_since.load(Ordering::Relaxed);
        let bytes = self.message_bytes.load(Ordering::Relaxed) as u64;
        let earned = bytes * 1_000 / limits.body_bytes_per_second;
        since != 0 && self.now().saturating_sub(since) > limits.body + earned
    }

    fn read_some(&self) {
        if self.requests.load(Ordering::Relaxed) == 0
            && self.head_since.load(Ordering::Relaxed) == 0
            && !self.is_http2.load(Ordering::Relaxed)
            && !self.is_socket.load(Ordering::Relaxed)
        {
            self.head_since.store(self.now(), Ordering::Relaxed);
        }
    }

    /// Whether the connection has been in its present state for too long.
    fn is_overdue(&self, limits: &TimeLimits) -> bool {
        let now = self.now();
        let over = |since: &AtomicU64, limit: u64| {
            let since = since.load(Ordering::Relaxed);
            since != 0 && now.saturating_sub(since) > limit
        };
        let waiting = self.requests.load(Ordering::Relaxed) == 0;
        let (idle, is_late) = match self.is_socket.load(Ordering::Relaxed) {
            true => (SOCKET_IDLE_MS, self.is_message_late(limits)),
            false => (limits.idle, false),
        };
        is_late
            || self.late.load(Ordering::Relaxed)
            || over(&self.write_since, limits.write)
            || over(&self.linger_since, LINGER_MS)
            || over(&self.gone_since, GONE_MS)
            || (waiting && over(&self.head_since, limits.head))
            || (waiting
                && self.head_since.load(Ordering::Relaxed) == 0
                && self.write_since.load(Ordering::Relaxed) == 0
                && over(&self.idle_since, idle))
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
