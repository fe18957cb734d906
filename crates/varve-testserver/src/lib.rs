//! A server in the process of a test; it is not part of the product.
//!
//! - [`TestServer`]: a server on a free port, with some routes for tests ([`routes`]). It checks
//!   each exchange against `docs/openapi.json`.
//! - [`Driver`]: a driver of TinkerPop on the WebSocket of any server.
//!
//! The client of tests and a server as a child process are in `varve-testkit`.

#![allow(
    clippy::unwrap_used,
    reason = "this crate is test code: a failed call is a failed test"
)]

mod described;
pub mod driver;
pub mod routes;

use std::net::SocketAddr;
use std::sync::Arc;

use varve_graph::Registry;
use varve_server::{AppState, Listeners, Metadata, RunningServer, ServerConfig};
use varve_testkit::http::{Answer, Connection, request};

pub use described::{DOCUMENT, check};
pub use driver::Driver;

/// A running server that stops when it is dropped.
pub struct TestServer {
    /// What its requests share.
    pub state: Arc<AppState>,
    running: Option<RunningServer>,
}

/// Options for a free port, two threads unless others are set, and the name `h`.
#[must_use]
pub fn on_a_free_port(config: ServerConfig) -> ServerConfig {
    ServerConfig {
        port: 0,
        threads: if config.threads == 0 {
            2
        } else {
            config.threads
        },
        public_names: vec!["h".to_owned()],
        ..config
    }
}

impl TestServer {
    /// Starts with these options on a free port, on an engine in memory.
    #[must_use]
    pub fn start(config: ServerConfig) -> Self {
        Self::on(config, varve_server::in_memory().unwrap(), None)
    }

    /// Starts with the default options.
    #[must_use]
    pub fn with_defaults() -> Self {
        Self::start(ServerConfig::default())
    }

    /// Starts on these graphs, of which one may keep a metadata repository.
    #[must_use]
    pub fn on(config: ServerConfig, graphs: Arc<Registry>, metadata: Option<Metadata>) -> Self {
        let config = on_a_free_port(config);
        let listeners = Listeners::bind(&config).unwrap();
        Self::on_listeners(listeners, config, graphs, metadata)
    }

    /// The same on listeners that are bound already; the options are used as they are.
    #[must_use]
    pub fn on_listeners(
        listeners: Listeners,
        config: ServerConfig,
        graphs: Arc<Registry>,
        metadata: Option<Metadata>,
    ) -> Self {
        let routes = [routes::ROUTES];
        let state = AppState::with_metadata(config, graphs, &routes, metadata, Vec::new());
        let state = state.unwrap();
        let running = Some(varve_server::start_on(listeners, &state).unwrap());
        Self { state, running }
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.running.as_ref().unwrap().address()
    }

    /// Where it listens for Gremlin, if it has a port for that.
    #[must_use]
    pub fn gremlin_address(&self) -> SocketAddr {
        self.running.as_ref().unwrap().gremlin_address().unwrap()
    }

    /// Where it listens for Bolt, if it has a port for that.
    #[must_use]
    pub fn bolt_address(&self) -> SocketAddr {
        self.running.as_ref().unwrap().bolt_address().unwrap()
    }

    /// A connection, for any bytes.
    #[must_use]
    pub fn connect(&self) -> Connection {
        Connection::to(self.address())
    }

    /// Sends one request on a connection of its own. The exchange must be as the API's description
    /// says.
    #[track_caller]
    pub fn exchange(&self, request: &(impl AsRef<[u8]> + ?Sized)) -> Answer {
        let mut connection = self.connect();
        connection.send(request.as_ref());
        let answer = connection.receive();
        check(request.as_ref(), &answer);
        answer
    }

    /// Sends a request with a JSON body; as [`TestServer::exchange`].
    #[track_caller]
    pub fn send(&self, method: &str, path: &str, body: &str) -> Answer {
        self.exchange(&request(method, path, "", body))
    }

    /// Sends a GET; as [`TestServer::exchange`].
    #[track_caller]
    pub fn get(&self, path: &str) -> Answer {
        self.send("GET", path, "")
    }

    /// Asks it to stop.
    pub fn request_stop(&self) {
        self.running.as_ref().unwrap().stop();
    }

    /// Waits for the end of a stop that was asked for.
    pub fn wait(mut self) {
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
