//! Open graphs and what Gremlin changes in them: the same on disk and on a cluster.
//! `VARVE_TEST_CASSANDRA=host:port` says where a node is; without it they are on disk.

use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value as Json, json};
use tempfile::TempDir;

use crate::server::{ServerProcess, VARVE};

/// Where a test keeps its data: a folder, or a keyspace of its own.
pub(crate) enum Store {
    Folder(TempDir),
    Cluster { node: String, keyspace: String },
}

impl Store {
    /// On the node that is given, else on disk.
    pub(crate) fn new() -> Self {
        Self::of_cluster().unwrap_or_else(|| Self::Folder(tempfile::tempdir().expect("a folder")))
    }

    /// On the node that is given.
    pub(crate) fn of_cluster() -> Option<Self> {
        static STORES: AtomicU32 = AtomicU32::new(0);
        let node = std::env::var("VARVE_TEST_CASSANDRA").ok()?;
        let number = STORES.fetch_add(1, Ordering::Relaxed);
        let keyspace = format!("o{}x{number}", std::process::id());
        Some(Self::Cluster { node, keyspace })
    }

    pub(crate) fn serve(&self) -> ServerProcess {
        ServerProcess::start(&mut self.command("serve"))
    }

    /// The program with this subcommand, on the store.
    pub(crate) fn command(&self, subcommand: &str) -> Command {
        let mut command = Command::new(VARVE);
        command.arg(subcommand);
        match self {
            Self::Folder(folder) => {
                command.arg("--data-dir").arg(folder.path());
            }
            Self::Cluster { node, keyspace } => {
                command
                    .env("VARVE_STORAGE_ENGINE", "cassandra")
                    .env("VARVE_STORAGE_CASSANDRA_CONTACT_POINTS", node)
                    .env("VARVE_STORAGE_CASSANDRA_REPLICATION", "1")
                    .env("VARVE_STORAGE_CASSANDRA_KEYSPACE", keyspace);
            }
        }
        command
    }
}

fn sent(server: &ServerProcess, script: &str) -> (u16, Json) {
    let body = json!({"gremlin": script, "aliases": {"g": "__g_open"}}).to_string();
    server.ask("POST", "/gremlin", &body)
}

/// The results of a script.
#[track_caller]
pub(crate) fn data(server: &ServerProcess, script: &str) -> Json {
    let (status, answer) = sent(server, script);
    assert_eq!(status, 200, "{script}: {answer}");
    answer["result"]["data"].clone()
}

#[track_caller]
fn is(server: &ServerProcess, script: &str, wanted: Json) {
    assert_eq!(data(server, script), wanted, "{script}");
}

#[track_caller]
fn refused(server: &ServerProcess, script: &str, message: &str) {
    let (status, answer) = sent(server, script);
    assert!(status >= 400, "{script}: {status} {answer}");
    assert!(answer.to_string().contains(message), "{script}: {answer}");
}

/// A server with the open graph `open`, which has vertices of all kinds of ids, values of many
/// types, several values of one key, and parallel edges.
fn filled(store: &Store) -> ServerProcess {
    let server = store.serve();
    server.must("POST", "/graphs/open", r#"{"schema":"open"}"#);
    data(
        &server,
        "g.addV('person').property(T.id, 1).property('name', 'marko').property('age', 29)
          .addV('person').property(T.id, '1').property('name', 'text').property('age', 2.5d)
          .addV('thing').property(T.id, UUID('41d2e28a-20a4-4ab0-b379-d810dede3786'))
            .property(list, 'tag', 'a', 'since', 2001).property(list, 'tag', 'b')
            .property('map', ['k': 1, 2: [3.5m]]).iterate();
         g.V(1).as('a').V('1').as('b')
          .addE('knows').from('a').to('b').property('weight', 1)
          .addE('knows').from('a').to('b').property('weight', 2)
          .addE('knows').from('b').to('a').property('weight', 3).iterate()",
    );
    server
}

#[test]
fn labels_keys_and_values_are_made_on_first_use_and_stay() {
    let store = Store::new();
    let server = filled(&store);
    let stays = |server: &ServerProcess| {
        let graph = server.must("GET", "/graphs/open", "");
        assert_eq!(graph["schema"], "open", "{graph}");
        let age = server.must("GET", "/graphs/open/schema/propertykeys/age", "");
        assert_eq!(age["data_type"], "OBJECT", "INT, then DOUBLE: {age}");
        is(server, "g.V().hasLabel('person').count()", json!([2]));
        is(server, "g.V(1).out('knows').id()", json!(["1", "1"]));
        is(
            server,
            "g.V(1).outE('knows').values('weight')",
            json!([1, 2]),
        );
        is(server, "g.V('1').values('age')", json!([2.5]));
        let thing = "g.V(UUID('41d2e28a-20a4-4ab0-b379-d810dede3786'))";
        is(server, &format!("{thing}.values('tag')"), json!(["a", "b"]));
        let since = format!("{thing}.properties('tag').values('since')");
        is(server, &since, json!([2001]));
        is(server, "g.V().has('name','marko').id()", json!([1]));
        refused(server, "g.addV('person').property(T.id, 1)", "exists");
    };
    stays(&server);
    server.terminate();
    stays(&store.serve());
}

#[test]
fn a_script_is_a_transaction() {
    let store = Store::new();
    let server = filled(&store);
    // It sees what it has changed.
    let script = "g.V(1).property('age', 30).iterate();
                  g.addV('person').property(T.id, 2).addE('knows').from(__.V(1)).iterate();
                  g.V(1).out('knows').count()";
    is(&server, script, json!([3]));
    is(&server, "g.V(1).values('age')", json!([30]));
    // What fails leaves no trace, unless it has committed in between.
    refused(&server, "g.V(2).drop().iterate(); g.V().fail('no')", "no");
    is(&server, "g.V(2).count()", json!([1]));
    refused(
        &server,
        "g.V(2).drop().iterate(); g.tx().commit(); g.V(1).drop().iterate(); g.V().fail('no')",
        "no",
    );
    is(&server, "g.V(1, 2).id()", json!([1]));
    is(&server, "g.V(1).out('knows').count()", json!([2]));
    data(&server, "g.V(1).drop().iterate(); g.tx().rollback()");
    is(&server, "g.V(1).count()", json!([1]));
    // A vertex goes with its edges, and its past stays.
    data(&server, "g.V('1').drop()");
    is(&server, "g.E().count()", json!([0]));
    let history = server.must("GET", "/graphs/open/graph/vertices/1/history", "");
    let versions = history["versions"].as_array().map(Vec::len);
    assert_eq!(versions, Some(2), "{history}");
}

#[test]
fn changes_keep_the_states_before() {
    let store = Store::new();
    let server = filled(&store);
    data(
        &server,
        "g.with('valid_from','2020-01-01').with('valid_to','2021-01-01')
          .addV('person').property(T.id, 3).property('name', 'then')",
    );
    is(&server, "g.V(3).count()", json!([0]));
    let then = "g.with('as_of','2020-06-01').V(3).values('name')";
    is(&server, then, json!(["then"]));
    let now = data(
        &server,
        "g.V(1).call('tinker.search', ['search': 'none']).fold(); 0",
    );
    assert_eq!(now, json!([0]));
    let key = r#"{"name":"byName","base_type":"VERTEX_LABEL","base_value":"person",
                  "index_type":"SECONDARY","fields":["name"]}"#;
    server.must("POST", "/graphs/open/schema/indexlabels", key);
    is(
        &server,
        "g.V().has('person','name','marko').id()",
        json!([1]),
    );
    data(&server, "g.V(1).property('name', 'mark')");
    is(
        &server,
        "g.V().has('person','name','marko').id()",
        json!([]),
    );
    is(
        &server,
        "g.V().has('person','name','mark').id()",
        json!([1]),
    );
}

#[test]
fn transactions_side_by_side_lose_and_double_nothing() {
    const CLIENTS: u64 = 4;
    const ROUNDS: u64 = 5;
    let store = Store::new();
    let server = filled(&store);
    data(&server, "g.V(1).property('age', 0)");
    // Refused is as good as never sent.
    let done = |script: &str| {
        while let (status, answer) = sent(&server, script)
            && status != 200
        {
            assert_eq!(status, 503, "{script}: {answer}");
        }
    };
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let done = &done;
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    done("age = g.V(1).values('age').next(); g.V(1).property('age', age + 1)");
                    done(&format!(
                        "g.mergeV([(T.label):'round', (T.id):'r{round}'])
                          .option(onCreate, [by: {client}])"
                    ));
                    done(&format!(
                        "g.addV('client').property(T.id, 'c{client}.{round}')
                          .addE('was').to(__.V('r{round}'))"
                    ));
                }
            });
        }
    });
    is(&server, "g.V(1).values('age')", json!([CLIENTS * ROUNDS]));
    is(&server, "g.V().hasLabel('round').count()", json!([ROUNDS]));
    let edges = "g.V().hasLabel('round').inE('was').count()";
    is(&server, edges, json!([CLIENTS * ROUNDS]));
}

#[test]
fn an_open_graph_stays_open_when_it_is_cleared_and_its_copy_is_open() {
    let store = Store::new();
    let server = filled(&store);
    server.must("POST", "/graphs/copy?clone_graph_name=open", "");
    assert_eq!(server.must("GET", "/graphs/copy", "")["schema"], "open");
    let clear = "/graphs/open/clear?confirm_message=I%27m+sure+to+delete+all+data";
    server.must("DELETE", clear, "");
    is(&server, "g.V().count()", json!([0]));
    let script = "g.addV('new').property('fresh', 1b).iterate(); g.V().values('fresh')";
    is(&server, script, json!([1]));
}
