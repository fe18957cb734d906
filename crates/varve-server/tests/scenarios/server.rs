//! A server with graphs that were made over REST and filled over the wire.

use std::net::SocketAddr;
use std::sync::OnceLock;

use varve_graphson::Format;
use varve_server::{AppState, RunningServer, ServerConfig};

use crate::client::{Client, Door, http};
use crate::graphs;

/// The graphs that no scenario changes.
const READ: [&str; 4] = ["modern", "crew", "sink", "grateful"];

struct Server {
    address: SocketAddr,
    _running: RunningServer,
}

/// The address of the server, which all tests share.
pub(crate) fn address() -> SocketAddr {
    static SERVER: OnceLock<Server> = OnceLock::new();
    let server = SERVER.get_or_init(|| {
        let config = ServerConfig {
            port: 0,
            threads: 2,
            ..ServerConfig::default()
        };
        let state = AppState::new(config).expect("a state");
        let running = varve_server::start(&state).expect("a server");
        let address = running.address();
        let mut client = Client::connect(address, Door::Socket, Format::GraphBinary);
        for graph in READ {
            create(address, graph);
            fill(&mut client, graph, graph);
        }
        Server {
            address,
            _running: running,
        }
    });
    server.address
}

/// Makes an open graph.
pub(crate) fn create(address: SocketAddr, name: &str) {
    let path = format!("POST /graphs/{name}");
    let json = "content-type: application/json\r\n";
    let (status, body) = http(address, &path, json, br#"{"schema":"open"}"#);
    assert_eq!(status, 201, "{}", String::from_utf8_lossy(&body));
}

/// Fills a graph with what TinkerPop's graph `like` has.
pub(crate) fn fill(client: &mut Client, name: &str, like: &str) {
    for script in graphs::filling(like) {
        client.script(name, &script, Vec::new()).expect("filled");
    }
}
