//! The load tool against the real server, on the in-memory engine.

use std::process::ExitCode;
use std::sync::Arc;

use varve_graph::{GraphOptions, Registry};
use varve_kv::memory::MemoryEngine;
use varve_model::time::SystemClock;
use varve_server::{AppState, RunningServer, ServerConfig};

use crate::bench;

fn server() -> RunningServer {
    let options = GraphOptions::new(Arc::new(SystemClock));
    let engine = Arc::new(MemoryEngine::new());
    let registry = Arc::new(Registry::open(engine, options).expect("an empty store"));
    registry.get_or_create("hugegraph").expect("a graph");
    let config = ServerConfig {
        port: 0,
        ..ServerConfig::default()
    };
    let state = AppState::with_graphs(config, registry).expect("a server");
    varve_server::start(&state).expect("a port")
}

#[test]
fn every_scenario_runs_without_an_error() {
    let server = server();
    let words = format!(
        "--url http://{} --preset smoke --requests 30 --warmup 0",
        server.address()
    );
    let (code, file) = bench(&words);
    assert_eq!(code, ExitCode::SUCCESS);
    assert_eq!(file.servers[0].name, "varve");
    assert_eq!(file.servers[0].engine.as_deref(), Some("memory"));
    assert!(file.servers[0].durability.is_some());
    let mut ran = 0;
    for row in file.measured() {
        assert_eq!(
            row.columns.error_percent, 0.0,
            "{}: {:?}",
            row.label, row.error_examples
        );
        assert_eq!(row.columns.samples, 30, "{}", row.label);
        let verified = row.verification.as_ref();
        assert!(
            verified.is_none_or(|it| it.checked > 0 && it.passed()),
            "{}: {verified:?}",
            row.label
        );
        ran += 1;
    }
    assert!(ran >= 20, "{ran} scenarios ran");
    server.stop();
}

#[test]
fn no_edge_is_written_twice_however_few_vertices_there_are() {
    let server = server();
    let words = format!(
        "--url http://{} --scenario single_insert_edges --model closed --users 2 --warmup 0 --requests 1000 --repeat 2 \
         --vertices 20 --vertices-per-request 20",
        server.address()
    );
    let (code, file) = bench(&words);
    assert_eq!(code, ExitCode::SUCCESS);
    let [first, second] = &file.rows[..] else {
        panic!("{:?}", file.rows);
    };
    assert_eq!(
        (first.columns.samples, first.columns.error_percent),
        (400, 0.0)
    );
    let verified = first.verification.as_ref().expect("edges are read back");
    assert!(verified.checked == 400 && verified.passed(), "{verified:?}");
    let early = first.ended_early.as_ref().expect("it ended early");
    assert!(early.contains("0 of the 400"), "{early}");
    let warning = file.environment.warnings.last().expect("a warning");
    assert!(warning.contains("use more --vertices"), "{warning}");
    let skipped = second.skipped.as_ref().expect("nothing is left");
    assert!(skipped.contains("0 of the 400"), "{skipped}");
    server.stop();
}

#[test]
fn graph_space_paths_work_too() {
    let server = server();
    let words = format!(
        "--url http://{} --paths graph-space --scenario single_insert_edges,edge_by_id --model closed --requests 20 --warmup 0",
        server.address()
    );
    let (code, file) = bench(&words);
    assert_eq!(code, ExitCode::SUCCESS);
    assert!(file.measured().all(|row| row.columns.error_percent == 0.0));
    server.stop();
}
