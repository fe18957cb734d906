//! A metadata repository that a server opens when it comes to lead the graph that keeps it.

use std::sync::mpsc;

use parking_lot::Mutex;
use varve_omrs::OmrsError;
use varve_omrs::error::Message;
use varve_omrs::graph_store::GraphStore;
use varve_omrs::json::Limits;
use varve_omrs::repository::{Options, Repository};
use varve_server::RepositoryOf;

use super::*;

const CALL: &str =
    "/servers/varve/open-metadata/repository-services/users/ada/metadata-collection-id";

/// A repository in the graph `g`, which is opened once `before` has come to an end.
fn metadata(
    before: impl Fn() -> Result<(), OmrsError> + Send + Sync + 'static,
) -> Option<Metadata> {
    let repository = RepositoryOf::graph("varve".to_owned(), 1 << 20, move |graph| {
        before()?;
        let options = Options {
            metadata_collection_id: None,
            metadata_collection_name: "varve".to_owned(),
            base_url: "http://h/servers/varve".to_owned(),
        };
        let store = Arc::new(GraphStore::open(graph));
        Ok(Arc::new(Repository::open(store, options)?))
    });
    Some(Metadata {
        repository,
        graph: "g".to_owned(),
        server_names: Vec::new(),
        limits: Limits::DEFAULT,
    })
}

fn server(
    shared: &Arc<SharedMemory>,
    config: ServerConfig,
    before: impl Fn() -> Result<(), OmrsError> + Send + Sync + 'static,
) -> Server {
    let server = Server::start_as(shared, config, metadata(before));
    server.state.graphs().ensure("g").unwrap();
    server
}

#[test]
fn a_store_that_is_away_while_the_repository_is_opened_is_a_503() {
    let shared = SharedMemory::new();
    let away = || Err(OmrsError::new(Message::StoreBusy, &["it is away"]));
    let server = server(&shared, ServerConfig::default(), away);
    let response = server.done("GET", CALL, &Value::Null);
    assert_eq!(response["relatedHTTPCode"], 503, "{response}");
}

#[test]
fn calls_that_come_while_the_repository_is_opened_hold_no_thread() {
    let shared = SharedMemory::new();
    let config = ServerConfig {
        blocking_threads: 2,
        ..ServerConfig::default()
    };
    let (begun, opening) = mpsc::channel();
    let (open, go_on) = mpsc::channel::<()>();
    let go_on = Mutex::new(go_on);
    let server = server(&shared, config, move || {
        begun.send(()).unwrap();
        // Closed once the test lets it go on.
        let _ = go_on.lock().recv();
        Ok(())
    });
    thread::scope(|scope| {
        let first = scope.spawn(|| server.done("GET", CALL, &Value::Null));
        opening.recv().unwrap();
        let others: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| server.done("GET", CALL, &Value::Null)))
            .collect();
        // As many as the pool has threads: were one of them held, one of these would not end.
        for _ in 0..4 {
            server.done("GET", "/graphs/g/schema/propertykeys", &Value::Null);
        }
        drop(open);
        for call in others.into_iter().chain([first]) {
            let response = call.join().unwrap();
            assert_eq!(response["relatedHTTPCode"], 200, "{response}");
        }
    });
}
