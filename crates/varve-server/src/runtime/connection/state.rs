//! The state of one connection, and how long each part of it may last.

use std::future::poll_fn;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::Poll;

use crate::config::ServerConfig;
use crate::tls::ClientCertificate;

/// How long the rest of a refused body is read and discarded.
const LINGER_MS: u64 = 2_000;

/// How long a read goes on after its client has closed its side of an HTTP/1 connection. The client
/// may have closed only its sending side, and still wait for the answer.
const GONE_MS: u64 = 500;

/// How long a WebSocket may stay open without a message. Pools of drivers keep connections open,
/// and not all of them send pings.
const SOCKET_IDLE_MS: u64 = 3_600_000;

/// The state of a connection, for the sweeper. Both are on the connection's thread, so relaxed
/// loads and stores suffice; the fields are atomic only because hyper requires sockets that are
/// `Send`. Times are in the serving thread's coarse milliseconds; 0 means "not now".
#[derive(Debug, Default)]
pub(crate) struct ConnectionState {
    pub(super) clock: Arc<AtomicU64>,
    pub(super) requests: AtomicU32,
    pub(super) is_http2: AtomicBool,
    pub(super) head_since: AtomicU64,
    pub(super) write_since: AtomicU64,
    pub(super) idle_since: AtomicU64,
    pub(super) linger: AtomicBool,
    pub(super) linger_since: AtomicU64,
    /// When the read in work began; HTTP/1 only.
    pub(super) read_since: AtomicU64,
    /// When the client of that read closed its side.
    pub(super) gone_since: AtomicU64,
    /// Whether an answer was not taken in time.
    pub(super) late: AtomicBool,
    pub(super) stop: AtomicBool,
    pub(super) cut: AtomicBool,
    pub(super) address: OnceLock<IpAddr>,
    /// The `Host` of its first request, if it may be this server ([`crate::origin::check`]).
    pub(crate) host: OnceLock<Box<[u8]>>,
    /// The client's certificate, where authentication is on.
    pub(super) certificate: OnceLock<Arc<ClientCertificate>>,
    /// Whether it has messages, as a WebSocket or Bolt; these count as requests.
    pub(super) is_socket: AtomicBool,
    /// When the message that is arriving began, and its bytes so far.
    pub(super) message_since: AtomicU64,
    pub(super) message_bytes: AtomicUsize,
}

/// How long each state of a connection may last, in milliseconds.
#[derive(Debug, Clone, Copy)]
pub(in crate::runtime) struct TimeLimits {
    head: u64,
    write: u64,
    idle: u64,
    body: u64,
    body_bytes_per_second: u64,
}

impl TimeLimits {
    pub(in crate::runtime) fn new(config: &ServerConfig) -> Self {
        Self {
            head: config.header_read_timeout_ms,
            write: config.write_timeout_ms,
            idle: config.idle_timeout_ms,
            body: config.body_read_timeout_ms,
            body_bytes_per_second: config.min_body_bytes_per_second,
        }
    }

    /// The shortest of them.
    pub(in crate::runtime) fn shortest(&self) -> u64 {
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

    pub(super) fn new(clock: Arc<AtomicU64>) -> Self {
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
    pub(super) fn is_reading(&self) -> bool {
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

    /// Waits until the server stops: the connection's task is woken then.
    pub(crate) async fn stops(&self) {
        poll_fn(|_| match self.is_stopping() {
            true => Poll::Ready(()),
            false => Poll::Pending,
        })
        .await;
    }

    /// Records that the connection has messages from now on, as a WebSocket or Bolt.
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
    pub(super) fn is_message_late(&self, limits: &TimeLimits) -> bool {
        let since = self.message_since.load(Ordering::Relaxed);
        let bytes = self.message_bytes.load(Ordering::Relaxed) as u64;
        let earned = bytes * 1_000 / limits.body_bytes_per_second;
        since != 0 && self.now().saturating_sub(since) > limits.body + earned
    }

    pub(super) fn read_some(&self) {
        if self.requests.load(Ordering::Relaxed) == 0
            && self.head_since.load(Ordering::Relaxed) == 0
            && !self.is_http2.load(Ordering::Relaxed)
            && !self.is_socket.load(Ordering::Relaxed)
        {
            self.head_since.store(self.now(), Ordering::Relaxed);
        }
    }

    /// Whether the connection has been in its present state for too long.
    pub(super) fn is_overdue(&self, limits: &TimeLimits) -> bool {
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
