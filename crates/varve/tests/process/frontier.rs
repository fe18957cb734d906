//! A hop from many vertices on a cluster: their edges are asked for together, not one after the
//! other. A listing in the past reads the events only of elements whose row does not decide.

use serde_json::json;

use crate::open_graph::{Store, data};
use crate::server::ServerProcess;

/// The vertices of the frontier, each with an edge to one more.
const FRONTIER: usize = 1_000;
/// The most waits for all of them: the engine has 64 requests under way at once.
const WAITS_MAX: u64 = 60;
/// The most requests: the edges of each, and what else a traversal reads of each.
const REQUESTS_MAX: u64 = 3 * FRONTIER as u64;

/// The most requests of a listing of all of them in the past.
const LISTING_REQUESTS_MAX: u64 = 60;

/// A counter of the engine.
fn counter(server: &ServerProcess, name: &str) -> u64 {
    let (_, text) = server.ask("GET", "/metrics?type=prometheus", "");
    let text = text.as_str().expect("text").to_owned();
    let start = format!("varve_engine_{name} ");
    let line = text.lines().find(|line| line.starts_with(&start));
    let value = line.and_then(|line| line.rsplit(' ').next());
    let value: f64 = value.and_then(|value| value.parse().ok()).expect(name);
    value as u64
}

#[test]
fn a_hop_from_a_thousand_vertices_waits_a_few_times() {
    let Some(store) = Store::of_cluster() else {
        println!("skipped: VARVE_TEST_CASSANDRA names no node");
        return;
    };
    let server = store.serve();
    server.must("POST", "/graphs/open", r#"{"schema":"open"}"#);
    let last = FRONTIER - 1;
    data(
        &server,
        &format!(
            "g.addV('v').property(T.id,'root').iterate(); for (i in 0..{last}) {{
               g.addV('v').property(T.id,'m'+i).as('m').addE('e').from(__.V('root')).iterate();
               g.addV('v').property(T.id,'l'+i).addE('e').from(__.V('m'+i)).iterate() }}"
        ),
    );
    let kout = "/graphs/open/traversers/kout?source=%22root%22&max_depth=2&nearest=true";
    for (name, ask) in [("out().out()", None), ("kout, depth 2", Some(kout))] {
        let before = ["cluster_requests_total", "cluster_read_waits_total"]
            .map(|name| counter(&server, name));
        match ask {
            None => assert_eq!(
                data(&server, "g.V('root').out().out().count()"),
                json!([FRONTIER])
            ),
            Some(path) => {
                let found = server.must("GET", path, "");
                assert_eq!(found["vertices"].as_array().map(Vec::len), Some(FRONTIER));
            }
        }
        let after = ["cluster_requests_total", "cluster_read_waits_total"]
            .map(|name| counter(&server, name));
        let [requests, waits] = [0, 1].map(|at| after[at] - before[at]);
        println!("{name}: {requests} requests in {waits} waits");
        assert!(waits <= WAITS_MAX, "{name}: {waits} waits");
        assert!(requests <= REQUESTS_MAX, "{name}: {requests} requests");
    }
    let now = format!("{:.6}", jiff::Timestamp::now());
    for (what, elements) in [("vertices", 2 * FRONTIER + 1), ("edges", 2 * FRONTIER)] {
        let before = counter(&server, "cluster_requests_total");
        let path = format!("/graphs/open/graph/{what}?limit=-1&as_of_tx={now}");
        let found = server.must("GET", &path, "");
        assert_eq!(found[what].as_array().map(Vec::len), Some(elements));
        let requests = counter(&server, "cluster_requests_total") - before;
        println!("{what} in the past: {requests} requests");
        assert!(
            requests <= LISTING_REQUESTS_MAX,
            "{what}: {requests} requests"
        );
    }
}
