//! A server with graphs that were made over REST and filled over the wire.

use std::sync::OnceLock;

use varve_graphson::Format;
use varve_testserver::TestServer;

use crate::client::{Client, Door};
use crate::graphs;

/// The graphs that no scenario changes.
const READ: [&str; 4] = ["modern", "crew", "sink", "grateful"];

/// The server that all tests share.
pub(crate) fn server() -> &'static TestServer {
    static SERVER: OnceLock<TestServer> = OnceLock::new();
    SERVER.get_or_init(|| {
        let server = TestServer::with_defaults();
        let mut client = Client::connect(&server, Door::Socket, Format::GraphBinary);
        for graph in READ {
            create(&server, graph);
            fill(&mut client, graph, graph);
        }
        server
    })
}

/// Makes an open graph.
pub(crate) fn create(server: &TestServer, name: &str) {
    let made = server.send("POST", &format!("/graphs/{name}"), r#"{"schema":"open"}"#);
    assert_eq!(made.status, 201, "{}", made.text());
}

/// Fills a graph with what TinkerPop's graph `like` has.
pub(crate) fn fill(client: &mut Client, name: &str, like: &str) {
    for script in graphs::filling(like) {
        client.script(name, &script, Vec::new()).expect("filled");
    }
}
