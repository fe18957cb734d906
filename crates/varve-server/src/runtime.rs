//! Serving threads: one for each core, each with its own listener, single-threaded runtime and
//! connections.
//!
//! The kernel spreads connections over the listeners by hash, which is uneven for few connections;
//! so a thread that has more connections than another hands a new one over to the one with the
//! fewest.

mod addresses;
mod bad_head;
mod connection;
mod listener;
mod transport;

use std::cell::RefCell;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener as StdListener, TcpStream as StdStream};
use std::panic;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use slab::Slab;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::task::LocalSet;

pub(crate) use self::addresses::counted_as;
use self::addresses::{Addresses, ConnectionSlot};
pub(crate) use self::connection::ConnectionState;
use self::connection::{Handle, TimeLimits};
use crate::answers::Pace;
use crate::config::ServerConfig;
use crate::cypher;
use crate::health::Trouble;
use crate::identity;
use crate::setup::SetupError;
use crate::sharing::{ask_for_ever, keep_up_for_ever};
use crate::state::{ADMIN_THREADS, AppState, Door, WorkerHandle};

/// Time to wait after a failure to accept, such as being out of descriptors.
const ACCEPT_BACK_OFF: Duration = Duration::from_millis(100);

/// Failures to accept are logged at most this often.
const ACCEPT_LOG_INTERVAL: Duration = Duration::from_secs(5);

/// The interval of the sweeper, unless a quarter of the shortest time limit is less.
const SWEEP_INTERVAL_MS: u64 = 250;
/// How long connections are still read after the last one was accepted.
const BEFORE_STOP: Duration = Duration::from_millis(5);

/// A server that runs. Dropping it does not stop it: see [`RunningServer::stop`].
#[derive(Debug)]
pub struct RunningServer {
    address: SocketAddr,
    admin_address: Option<SocketAddr>,
    gremlin_address: Option<SocketAddr>,
    bolt_address: Option<SocketAddr>,
    state: Arc<AppState>,
    stop: watch::Sender<bool>,
    threads: Vec<JoinHandle<()>>,
}

/// The state that the threads of one listener share, beside the server's.
struct Shared {
    state: Arc<AppState>,
    door: Door,
    /// Open connections of each thread.
    open: Box<[AtomicUsize]>,
    addresses: Arc<Addresses>,
    /// TLS handshakes in work of each address.
    handshakes: Arc<Addresses>,
    inboxes: Vec<mpsc::UnboundedSender<Handed>>,
}

/// A connection that is handed to another thread, and its slot among those of its address.
type Handed = (StdStream, Option<ConnectionSlot>);

/// The sockets of one address: connections wait in the kernel until a thread accepts them.
#[derive(Debug)]
pub struct Listeners {
    address: SocketAddr,
    sockets: Vec<StdListener>,
}

impl Listeners {
    /// Listens on the address that `config` names.
    pub fn bind(config: &ServerConfig) -> Result<Self, SetupError> {
        listener::raise_descriptor_limit();
        Self::at(config.address(), config.thread_count(), config.backlog)
    }

    /// Listens on an address, with one socket for each thread.
    fn at(address: SocketAddr, threads: usize, backlog: i32) -> Result<Self, SetupError> {
        let bound = listener::bind(address, threads, backlog);
        let sockets = bound.map_err(|source| SetupError::Io {
            what: format!("listen on {address}"),
            source,
        })?;
        let address = sockets[0].local_addr().map_err(|source| SetupError::Io {
            what: "get the bound address".to_owned(),
            source,
        })?;
        Ok(Self { address, sockets })
    }

    /// The address, with the bound port if 0 was configured.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The same sockets for another server, which may serve them before or after this one.
    pub fn share(&self) -> Result<Self, SetupError> {
        let sockets: io::Result<_> = self.sockets.iter().map(StdListener::try_clone).collect();
        Ok(Self {
            address: self.address,
            sockets: sockets.map_err(|source| SetupError::Io {
                what: format!("share the sockets of {}", self.address),
                source,
            })?,
        })
    }
}

/// Binds the address and starts the serving threads.
pub fn start(state: &Arc<AppState>) -> Result<RunningServer, SetupError> {
    start_on(Listeners::bind(state.config())?, state)
}

/// Starts the serving threads on sockets that are bound already, and those of `/admin`,
/// `/gremlin` and Bolt where they have listeners of their own.
pub fn start_on(listeners: Listeners, state: &Arc<AppState>) -> Result<RunningServer, SetupError> {
    let config = state.config();
    let address = listeners.address;
    let (stop, stopped) = watch::channel(false);
    let mut threads = spawn(listeners.sockets, state, Door::Main, &stopped)?;
    tracing::info!(%address, threads = threads.len(), "serving");
    let mut admin_address = None;
    if let Some(wanted) = config.admin_address()? {
        let listeners = Listeners::at(wanted, ADMIN_THREADS, config.backlog)?;
        let address = listeners.address;
        admin_address = Some(address);
        threads.extend(spawn(listeners.sockets, state, Door::Admin, &stopped)?);
        tracing::info!(%address, "serving /admin");
    }
    let mut gremlin_address = None;
    if let Some(wanted) = config.gremlin_address()? {
        let listeners = Listeners::at(wanted, config.thread_count(), config.backlog)?;
        let address = listeners.address;
        gremlin_address = Some(address);
        threads.extend(spawn(listeners.sockets, state, Door::Gremlin, &stopped)?);
        tracing::info!(%address, "serving /gremlin");
    }
    let mut bolt_address = None;
    if let Some(wanted) = config.bolt_address()? {
        let listeners = Listeners::at(wanted, config.thread_count(), config.backlog)?;
        let address = listeners.address;
        bolt_address = Some(address);
        threads.extend(spawn(listeners.sockets, state, Door::Bolt, &stopped)?);
        tracing::info!(%address, "serving Bolt");
    }
    Ok(RunningServer {
        address,
        admin_address,
        gremlin_address,
        bolt_address,
        state: Arc::clone(state),
        stop,
        threads,
    })
}

/// Starts one thread for each socket.
fn spawn(
    sockets: Vec<StdListener>,
    state: &Arc<AppState>,
    door: Door,
    stopped: &watch::Receiver<bool>,
) -> Result<Vec<JoinHandle<()>>, SetupError> {
    let count = sockets.len();
    let (inboxes, receivers): (Vec<_>, Vec<_>) =
        (0..count).map(|_| mpsc::unbounded_channel()).unzip();
    let open = (0..count).map(|_| AtomicUsize::new(0)).collect();
    let shared = Arc::new(Shared {
        state: Arc::clone(state),
        door,
        open,
        addresses: Addresses::new(state.config().max_connections_per_address),
        handshakes: Addresses::new(state.config().tls.max_handshakes / 4),
        inboxes,
    });
    let mut threads = Vec::with_capacity(count);
    for (index, (listener, inbox)) in sockets.into_iter().zip(receivers).enumerate() {
        let (shared, stopped) = (Arc::clone(&shared), stopped.clone());
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()
            .map_err(|source| SetupError::Io {
                what: "start a runtime".to_owned(),
                source,
            })?;
        let thread = thread::Builder::new()
            .name(match door {
                Door::Main => format!("varve-http-{index}"),
                Door::Admin => format!("varve-admin-{index}"),
                Door::Gremlin => format!("varve-gremlin-{index}"),
                Door::Bolt => format!("varve-bolt-{index}"),
            })
            .spawn(move || {
                let serve = Worker::serve(shared, index, listener, inbox, stopped);
                // The future of `block_on` is polled whenever any task is woken; a task of its own
                // is polled only when it is woken itself.
                let served = LocalSet::new()
                    .block_on(&runtime, async { tokio::task::spawn_local(serve).await });
                match served {
                    Ok(Ok(())) => {}
                    Ok(Err(error)) => {
                        tracing::error!(%error, thread = index, "a serving thread could not start");
                    }
                    Err(panicked) => panic::resume_unwind(panicked.into_panic()),
                }
            })
            .map_err(|source| SetupError::Io {
                what: "start a thread".to_owned(),
                source,
            })?;
        threads.push(thread);
    }
    Ok(threads)
}

impl RunningServer {
    /// The address that is served, with the bound port if 0 was configured.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address that `/admin` alone is served at, if it has a listener of its own.
    pub fn admin_address(&self) -> Option<SocketAddr> {
        self.admin_address
    }

    /// The address that TinkerPop's drivers alone are served at, if there is one.
    pub fn gremlin_address(&self) -> Option<SocketAddr> {
        self.gremlin_address
    }

    /// The address that Bolt is served at, if there is one.
    pub fn bolt_address(&self) -> Option<SocketAddr> {
        self.bolt_address
    }

    /// Asks for a graceful stop: no new connections, requests in work are answered within
    /// `shutdown_timeout_ms`.
    pub fn stop(&self) {
        self.state.set_stopping();
        self.stop.send_replace(true);
    }

    /// As [`RunningServer::stop`], and waits until no thread accepts connections any more: from
    /// then on they all go to another server on the same sockets.
    pub fn stop_accepting(&self) -> io::Result<()> {
        self.stop();
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        // Each thread drops its receiver when it has left its listener.
        runtime.block_on(self.stop.closed());
        Ok(())
    }

    /// Waits until all threads have ended; without a [`RunningServer::stop`] that is never.
    pub fn wait(self) {
        for thread in self.threads {
            if thread.join().is_err() {
                tracing::error!("a serving thread panicked");
            }
        }
    }

    /// Serves until SIGTERM or SIGINT, then stops gracefully and returns. Calls `ready` once the
    /// signals are handled; before that, they end the process.
    pub fn run_until_signal(self, ready: impl FnOnce(&Self)) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build()?;
        runtime.block_on(async {
            use tokio::signal::unix::{SignalKind, signal};
            let mut terminate = signal(SignalKind::terminate())?;
            let mut interrupt = signal(SignalKind::interrupt())?;
            ready(&self);
            tokio::select! {
                _ = terminate.recv() => tracing::info!("SIGTERM: stopping"),
                _ = interrupt.recv() => tracing::info!("SIGINT: stopping"),
            }
            Ok::<_, io::Error>(())
        })?;
        self.stop();
        self.wait();
        Ok(())
    }
}

/// One serving thread.
struct Worker {
    shared: Arc<Shared>,
    index: usize,
    handle: Arc<WorkerHandle>,
    connections: RefCell<Slab<Rc<Handle>>>,
    /// Milliseconds since the thread started plus one, advanced by the sweeper: exact enough for
    /// time limits, and cheap to read.
    clock: Arc<AtomicU64>,
}

impl Worker {
    async fn serve(
        shared: Arc<Shared>,
        index: usize,
        listener: StdListener,
        mut inbox: mpsc::UnboundedReceiver<Handed>,
        mut stopped: watch::Receiver<bool>,
    ) -> io::Result<()> {
        let listener = TcpListener::from_std(listener)?;
        let handle = Arc::new(WorkerHandle::new(
            Arc::clone(&shared.state),
            shared.door,
            index,
        ));
        let worker = Rc::new(Self {
            shared,
            index,
            handle,
            connections: RefCell::default(),
            clock: Arc::new(AtomicU64::new(1)),
        });
        let sweeper = tokio::task::spawn_local(Rc::clone(&worker).sweep());
        let watching = tokio::task::spawn_local(tend(Arc::clone(&worker.handle)));
        let accepting = Rc::clone(&worker).accept(listener);
        let taking = async {
            while let Some((stream, place)) = inbox.recv().await {
                worker.take_over(stream, place);
            }
        };
        tokio::select! {
            () = accepting => {}
            () = taking => {}
            _ = stopped.wait_for(|stop| *stop) => {}
        }
        // Other threads hand over no more connections; those already handed over are served.
        inbox.close();
        while let Some((stream, place)) = inbox.recv().await {
            worker.take_over(stream, place);
        }
        drop(stopped);
        worker.drain().await;
        sweeper.abort();
        watching.abort();
        Ok(())
    }

    async fn accept(self: Rc<Self>, listener: TcpListener) {
        let metrics = self.shared.state.metrics();
        let mut logged: Option<Instant> = None;
        loop {
            match listener.accept().await {
                Ok((stream, from)) => {
                    metrics.connections_accepted.fetch_add(1, Ordering::Relaxed);
                    self.place(stream, from.ip());
                }
                Err(error) => {
                    metrics.accept_errors.fetch_add(1, Ordering::Relaxed);
                    if logged.is_none_or(|at| at.elapsed() > ACCEPT_LOG_INTERVAL) {
                        logged = Some(Instant::now());
                        let open = self.shared.state.open_connections();
                        tracing::error!(%error, open, "cannot accept connections; open ones are still served");
                    }
                    if !is_passing(&error) {
                        tokio::time::sleep(ACCEPT_BACK_OFF).await;
                    }
                }
            }
        }
    }

    /// Serves a new connection, or hands it to the thread with the fewest connections.
    fn place(self: &Rc<Self>, stream: TcpStream, from: IpAddr) {
        let state = &self.shared.state;
        let before = state.open_connections.fetch_add(1, Ordering::Relaxed);
        let room = before < state.config().max_connections;
        let entered = room
            .then(|| self.shared.addresses.enter(from).ok())
            .flatten();
        let Some(place) = entered else {
            state.open_connections.fetch_sub(1, Ordering::Relaxed);
            state
                .metrics()
                .connections_refused
                .fetch_add(1, Ordering::Relaxed);
            let nowhere = http::Uri::from_static("/");
            state.note_trouble(Trouble::Busy, &nowhere, "too many connections are open");
            listener::refuse(&stream);
            return;
        };
        // Without `TCP_NODELAY`, small answers wait for the client's delayed acknowledgements. A
        // failure costs only that.
        let _ = stream.set_nodelay(true);
        let count = |index: usize| self.shared.open[index].load(Ordering::Relaxed);
        let fewest = (0..self.shared.open.len())
            .min_by_key(|index| count(*index))
            .unwrap_or(self.index);
        let target = if count(fewest) < count(self.index) {
            fewest
        } else {
            self.index
        };
        self.shared.open[target].fetch_add(1, Ordering::Relaxed);
        if target == self.index {
            self.adopt(stream, place);
            return;
        }
        let stream = match stream.into_std() {
            Ok(stream) => stream,
            Err(error) => return self.lose(target, &error),
        };
        // A stopping thread accepts none.
        if let Err(back) = self.shared.inboxes[target].send((stream, place)) {
            let (stream, place) = back.0;
            self.shared.open[target].fetch_sub(1, Ordering::Relaxed);
            self.shared.open[self.index].fetch_add(1, Ordering::Relaxed);
            self.take_over(stream, place);
        }
    }

    /// Serves a connection that another thread has accepted.
    fn take_over(self: &Rc<Self>, stream: StdStream, place: Option<ConnectionSlot>) {
        match TcpStream::from_std(stream) {
            Ok(stream) => self.adopt(stream, place),
            Err(error) => self.lose(self.index, &error),
        }
    }

    /// Subtracts from the counts a lost connection that the thread `index` was to serve.
    fn lose(&self, index: usize, error: &io::Error) {
        tracing::warn!(%error, "a connection could not be passed to its serving thread");
        self.shared.open[index].fetch_sub(1, Ordering::Relaxed);
        let open = &self.shared.state.open_connections;
        open.fetch_sub(1, Ordering::Relaxed);
    }

    /// Serves a connection on this thread.
    fn adopt(self: &Rc<Self>, stream: TcpStream, place: Option<ConnectionSlot>) {
        let connection = Rc::new(Handle::new(Arc::clone(&self.clock)));
        let key = self.connections.borrow_mut().insert(Rc::clone(&connection));
        let open = Open {
            worker: Rc::clone(self),
            key,
            _place: place,
        };
        let handle = Arc::clone(&self.handle);
        tokio::task::spawn_local(async move {
            let handshakes = &open.worker.shared.handshakes;
            connection::serve(stream, handle, &connection, handshakes).await;
            drop(open);
        });
    }

    /// Advances the clock and cuts overdue connections.
    async fn sweep(self: Rc<Self>) {
        let limits = TimeLimits::new(self.shared.state.config());
        let pace = Pace::new(self.shared.state.config());
        let every = SWEEP_INTERVAL_MS.min(limits.shortest() / 4).max(5);
        let started = Instant::now();
        loop {
            tokio::time::sleep(Duration::from_millis(every)).await;
            self.clock
                .store(started.elapsed().as_millis() as u64 + 1, Ordering::Relaxed);
            self.handle.underway.mark_late(pace);
            let connections = self.connections.borrow();
            let cut = connections
                .iter()
                .filter(|(_, connection)| connection.sweep(&limits))
                .count();
            self.shared
                .state
                .metrics()
                .connections_cut
                .fetch_add(cut as u64, Ordering::Relaxed);
        }
    }

    /// Waits for the requests in work to end, at most `shutdown_timeout_ms`.
    async fn drain(&self) {
        // A request that has arrived is read before its connection is notified of the stop.
        tokio::time::sleep(BEFORE_STOP).await;
        for (_, connection) in self.connections.borrow().iter() {
            connection.stop();
        }
        let limit = Duration::from_millis(self.shared.state.config().shutdown_timeout_ms);
        let emptied = async {
            while !self.connections.borrow().is_empty() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        if tokio::time::timeout(limit, emptied).await.is_err() {
            let left = self.connections.borrow().len();
            tracing::warn!(
                left,
                thread = self.index,
                "connections closed: their requests took too long"
            );
        }
    }
}

/// Runs the server's background tasks, on one thread only: puts renewed certificates in use, stores
/// uses of tokens, settles changes of users, keeps the users of the cluster current, and asks other
/// servers for the positions of their graphs.
async fn tend(worker: Arc<WorkerHandle>) {
    if worker.door != Door::Main || worker.index != 0 {
        return;
    }
    let certificate = async {
        if let Some(tls) = worker.state.tls() {
            tls.watch().await;
        }
    };
    let tokens = async {
        if let Some(auth) = worker.state.auth() {
            let uses = identity::store_uses(&worker.state, auth);
            tokio::join!(uses, identity::settle_changes(&worker.state, auth));
        }
    };
    let users = keep_up_for_ever(&worker);
    let transactions = cypher::end_late(&worker.state);
    tokio::join!(
        certificate,
        tokens,
        users,
        ask_for_ever(&worker),
        transactions
    );
}

/// Errors that concern one connection only, after which the next can be accepted at once.
fn is_passing(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted};
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionReset | Interrupted
    )
}

/// Counts a connection for as long as it is served.
struct Open {
    worker: Rc<Worker>,
    key: usize,
    _place: Option<ConnectionSlot>,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.worker.connections.borrow_mut().remove(self.key);
        self.worker.shared.open[self.worker.index].fetch_sub(1, Ordering::Relaxed);
        self.worker
            .shared
            .state
            .open_connections
            .fetch_sub(1, Ordering::Relaxed);
    }
}
