//! A server with some routes for tests, and a client that sends and reads raw bytes.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use http::StatusCode;
use socket2::{Domain, Socket, Type};
use varve_server::{
    Action, ApiError, AppState, Handler, HandlerResult, Metadata, Parameter, RequestContext,
    Response, Route, RunningServer, Scope, ServerConfig,
};

use crate::described;

/// A client gives up reading after this long: a hang fails the test in place of blocking it.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(20);

static ROUTES: &[Route] = &[
    Route::get("test/panic", Handler::Inline(|_| panic!("on purpose"))).reads(Scope::Server),
    Route::get(
        "test/panic-async",
        Handler::Async(|_| Box::pin(async { panic!("on purpose") })),
    )
    .reads(Scope::Server),
    Route::get(
        "test/panic-pooled",
        Handler::Pooled(|_| panic!("on purpose")),
    )
    .reads(Scope::Server),
    Route::get("test/list", Handler::Inline(list))
        .reads(Scope::Server)
        .with(&[Parameter::new("count", "long", "2000")])
        .gzip(),
    Route::post("test/echo", Handler::Inline(echo)).writes(Scope::Server),
    Route::put(
        "test/echo",
        Handler::Async(|context| Box::pin(async move { echo(&context) })),
    )
    .writes(Scope::Server)
    .batch(),
    Route::delete("test/echo", Handler::Inline(|_| Ok(Response::no_content())))
        .writes(Scope::Server),
    Route::post("test/typed", Handler::Inline(typed)).writes(Scope::Server),
    Route::put("test/held", Handler::Pooled(held)).writes(Scope::Server),
    Route::get("test/held", Handler::Pooled(held)).reads(Scope::Server),
    Route::get(
        "test/forever",
        Handler::Async(|_| Box::pin(std::future::pending())),
    )
    .reads(Scope::Server),
    Route::get("graphs/{graph}/test/{id}", Handler::Inline(parameters)).reads(Scope::Graph),
    Route::post("graphs/{graph}/test/query", Handler::Pooled(query)).queries(Scope::Graph),
];

/// Answers 2000 numbers, or as many as asked for.
fn list(context: &RequestContext) -> HandlerResult {
    let count = context.query()?.integer("count", 2000)?;
    let numbers: Vec<i64> = (0..count).collect();
    Ok(Response::of(StatusCode::OK, &numbers))
}

fn echo(context: &RequestContext) -> HandlerResult {
    Ok(Response::ok(context.body().clone()))
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Typed {
    name: String,
}

fn typed(context: &RequestContext) -> HandlerResult {
    let typed: Typed = context.json()?;
    if typed.name.is_empty() {
        return Err(ApiError::illegal_argument("The name can't be empty"));
    }
    Ok(Response::created(format!("{:?}", typed.name)))
}

fn parameters(context: &RequestContext) -> HandlerResult {
    let form = format!("{:?}", context.path_form());
    let values = [context.graph_name(), context.path_parameter("id"), &form];
    Ok(Response::of(StatusCode::OK, &values))
}

/// Reads or writes, as its body says.
fn query(context: &RequestContext) -> HandlerResult {
    let action = match context.json::<&str>()? {
        "write" => Action::Write,
        _ => Action::Read,
    };
    context.decide(action, context.graph_name())?;
    Ok(Response::ok("true"))
}

/// Where `PUT /test/held` waits until [`Gate::open`].
pub(crate) static GATE: Gate = Gate {
    open: Mutex::new(false),
    changed: Condvar::new(),
    inside: AtomicUsize::new(0),
};

/// Something that handlers of one test wait at. Only one test may use [`GATE`] at a time: see
/// [`Gate::take`].
pub(crate) struct Gate {
    open: Mutex<bool>,
    changed: Condvar,
    inside: AtomicUsize,
}

static GATE_OWNER: Mutex<()> = Mutex::new(());

impl Gate {
    /// Closes the gate for the time of one test.
    pub(crate) fn take(&self) -> std::sync::MutexGuard<'static, ()> {
        let owner = GATE_OWNER
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        *self.open.lock().unwrap() = false;
        self.inside.store(0, Ordering::SeqCst);
        owner
    }

    /// Lets all that wait go on.
    pub(crate) fn open(&self) {
        *self.open.lock().unwrap() = true;
        self.changed.notify_all();
    }

    /// Waits until so many handlers are waiting inside.
    pub(crate) fn wait_for(&self, count: usize) {
        let mut open = self.open.lock().unwrap();
        while self.inside.load(Ordering::SeqCst) < count {
            let (guard, timeout) = self.changed.wait_timeout(open, CLIENT_TIMEOUT).unwrap();
            assert!(!timeout.timed_out(), "no handler came to the gate");
            open = guard;
        }
    }
}

fn held(_: &RequestContext) -> HandlerResult {
    let mut open = GATE.open.lock().unwrap();
    GATE.inside.fetch_add(1, Ordering::SeqCst);
    GATE.changed.notify_all();
    while !*open {
        open = GATE.changed.wait(open).unwrap();
    }
    Ok(Response::ok("true"))
}

/// A running server that stops when it is dropped.
pub(crate) struct TestServer {
    pub(crate) state: Arc<AppState>,
    running: Option<RunningServer>,
}

impl TestServer {
    /// Starts with two threads on a free port.
    pub(crate) fn start(config: ServerConfig) -> Self {
        Self::on(config, varve_server::in_memory().unwrap(), None)
    }

    /// The same on these graphs, of which one may keep a metadata repository.
    pub(crate) fn on(
        config: ServerConfig,
        graphs: Arc<varve_graph::Registry>,
        metadata: Option<Metadata>,
    ) -> Self {
        let config = ServerConfig {
            port: 0,
            threads: 2,
            public_names: vec!["h".to_owned()],
            ..config
        };
        let state =
            AppState::with_metadata(config, graphs, &[ROUTES], metadata, Vec::new()).unwrap();
        let running = Some(varve_server::start(&state).unwrap());
        Self { state, running }
    }

    pub(crate) fn with_defaults() -> Self {
        Self::start(ServerConfig::default())
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.running.as_ref().unwrap().address()
    }

    pub(crate) fn gremlin_address(&self) -> SocketAddr {
        self.running.as_ref().unwrap().gremlin_address().unwrap()
    }

    pub(crate) fn connect(&self) -> Client {
        Client::connect(self.address())
    }

    /// Sends one request on a connection of its own. The exchange must be as the API's description
    /// says.
    #[track_caller]
    pub(crate) fn exchange(&self, request: &str) -> Answer {
        let mut client = self.connect();
        client.send(request.as_bytes());
        let answer = client.receive();
        described::check(request, &answer);
        answer
    }

    #[track_caller]
    pub(crate) fn get(&self, path: &str) -> Answer {
        self.exchange(&format!("GET {path} HTTP/1.1\r\nhost: h\r\n\r\n"))
    }

    pub(crate) fn request_stop(&self) {
        self.running.as_ref().unwrap().stop();
    }

    /// Waits for the end of a stop that was asked for.
    pub(crate) fn wait(mut self) {
        self.running.take().unwrap().wait();
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            running.stop();
            running.wait();
        }
    }
}

/// An answer as it came.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (known, value) = line.split_once(':')?;
            known.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    /// Asserts status and body.
    #[track_caller]
    pub(crate) fn is(&self, status: u16, body: &str) {
        assert_eq!((self.status, self.text()), (status, body));
    }
}

/// A connection.
pub(crate) struct Client {
    pub(crate) stream: TcpStream,
    buffer: Vec<u8>,
}

impl Client {
    pub(crate) fn connect(address: SocketAddr) -> Self {
        Self::on(TcpStream::connect(address).unwrap())
    }

    /// A connection that comes from another of this machine's addresses.
    pub(crate) fn connect_from(source: &str, address: SocketAddr) -> Self {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        let source = SocketAddr::new(source.parse().unwrap(), 0);
        socket.bind(&source.into()).unwrap();
        socket.connect(&address.into()).unwrap();
        Self::on(socket.into())
    }

    fn on(stream: TcpStream) -> Self {
        stream.set_read_timeout(Some(CLIENT_TIMEOUT)).unwrap();
        stream.set_write_timeout(Some(CLIENT_TIMEOUT)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self {
            stream,
            buffer: Vec::new(),
        }
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    pub(crate) fn get(&mut self, path: &str) -> Answer {
        self.send(format!("GET {path} HTTP/1.1\r\nhost: h\r\n\r\n").as_bytes());
        self.receive()
    }

    /// Reads one answer with a `content-length`.
    pub(crate) fn receive(&mut self) -> Answer {
        self.receive_for("GET")
    }

    /// The same for an answer to HEAD, which has no body whatever its length says.
    pub(crate) fn receive_for(&mut self, method: &str) -> Answer {
        let end = loop {
            if let Some(at) = self
                .buffer
                .windows(4)
                .position(|window| window == b"\r\n\r\n")
            {
                break at + 4;
            }
            assert!(
                self.fill() > 0,
                "closed after {:?}",
                String::from_utf8_lossy(&self.buffer)
            );
        };
        let head = String::from_utf8(self.buffer.drain(..end).collect()).unwrap();
        let mut answer = Answer {
            status: head[9..12].parse().unwrap(),
            head,
            body: Vec::new(),
        };
        let length = answer
            .header("content-length")
            .map_or(0, |text| text.parse().unwrap());
        if method == "HEAD" {
            return answer;
        }
        if answer.header("transfer-encoding") == Some("chunked") {
            answer.body = self.receive_chunks();
            return answer;
        }
        answer.body = self.take(length);
        answer
    }

    /// Reads a body that comes in chunks.
    fn receive_chunks(&mut self) -> Vec<u8> {
        let mut body = Vec::new();
        loop {
            let mut line = Vec::new();
            while !line.ends_with(b"\r\n") {
                line.extend(self.take(1));
            }
            let size = std::str::from_utf8(&line).unwrap().trim();
            let size = usize::from_str_radix(size, 16).unwrap();
            body.extend(self.take(size));
            assert_eq!(self.take(2), b"\r\n");
            if size == 0 {
                return body;
            }
        }
    }

    fn take(&mut self, length: usize) -> Vec<u8> {
        while self.buffer.len() < length {
            assert!(self.fill() > 0, "closed within a body");
        }
        self.buffer.drain(..length).collect()
    }

    /// Waits for more and returns it, whatever it is.
    pub(crate) fn receive_some(&mut self) -> String {
        while self.buffer.is_empty() {
            assert!(self.fill() > 0, "closed");
        }
        String::from_utf8(std::mem::take(&mut self.buffer)).unwrap()
    }

    /// Reads to the end of the connection and returns what came. A reset counts as an end.
    pub(crate) fn receive_rest(&mut self) -> Vec<u8> {
        while self.fill() > 0 {}
        std::mem::take(&mut self.buffer)
    }

    fn fill(&mut self) -> usize {
        let mut chunk = [0; 65536];
        match self.stream.read(&mut chunk) {
            Ok(count) => {
                self.buffer.extend_from_slice(&chunk[..count]);
                count
            }
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => 0,
            Err(error) => panic!("reading: {error}"),
        }
    }
}
