//! A backup of a shared engine is one committed state, however much is written meanwhile, and any
//! engine restores it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use varve_encoding::tables::LARGE;
use varve_graph::backup::{Backup, BackupKind, copy_spaces, write_backup};
use varve_graph::registry::SYSTEM_GRAPH;
use varve_graph::verify::verify;
use varve_graph::write::{EndCheck, Mutation, WriteRequest};
use varve_graph::{ErrorKind, Graph, GraphOptions, Registry};
use varve_kv::{Engine, MemoryEngine};
use varve_kv_parted::{PartOptions, PartRule, PartedEngine};
use varve_model::time::SystemClock;
use varve_model::{
    CommitVersion, Edge, EdgeId, EdgeLabelId, Element, ElementId, PropertyKeyId, TemporalScope,
    Value, Vertex, VertexId, VertexLabelId,
};
use varve_testkit::{ScatteredEngine, SharedMemory};

const IDS: i64 = 40;

fn registry(engine: Arc<dyn Engine>) -> Registry {
    Registry::open(engine, GraphOptions::new(Arc::new(SystemClock))).expect("a registry")
}

/// A store without snapshots, in which large partitions are in parts, as on a cluster.
fn cluster() -> Arc<SharedMemory> {
    let rules: Vec<PartRule> = LARGE
        .iter()
        .map(|large| PartRule {
            table: large.table,
            together: large.together,
            of_prefix: large.of_prefix,
        })
        .collect();
    let options = PartOptions { bytes_max: 2_000 };
    let parted = PartedEngine::new(Arc::new(ScatteredEngine::new()), &rules, options);
    SharedMemory::of(Box::new(parted))
}

fn shared() -> (Arc<SharedMemory>, Registry) {
    let shared = cluster();
    let registry = registry(shared.server("a"));
    (shared, registry)
}

fn vertex(id: i64, number: i32) -> Mutation {
    let properties = [(PropertyKeyId(1), Value::Int(number))];
    let vertex = Vertex {
        id: VertexId::Number(id),
        label: VertexLabelId(1),
        properties: properties.into_iter().collect(),
    };
    Mutation::PutVertex {
        vertex,
        fresh: false,
    }
}

fn edge_id(source: i64, target: i64) -> EdgeId {
    EdgeId {
        source: VertexId::Number(source),
        parent: EdgeLabelId(1),
        label: EdgeLabelId(1),
        sort_values: "".into(),
        target: VertexId::Number(target),
    }
}

fn edge(source: i64, target: i64) -> Mutation {
    let edge = Edge {
        id: edge_id(source, target),
        source_label: VertexLabelId(1),
        target_label: VertexLabelId(1),
        properties: Default::default(),
    };
    let ends = EndCheck::Skip;
    Mutation::PutEdge { edge, ends }
}

/// Writes one commit; `number` determines it.
fn write(graph: &Arc<Graph>, number: i32) {
    let id = i64::from(number.wrapping_mul(7_919)).rem_euclid(IDS);
    let other = i64::from(number.wrapping_mul(31)).rem_euclid(IDS);
    let mutations = vec![vertex(id, number), vertex(other, number), edge(id, other)];
    graph
        .write_now(&WriteRequest::now(mutations))
        .expect("written");
}

/// The states of all elements at a version.
fn states(graph: &Graph, version: CommitVersion) -> BTreeMap<String, Option<Element>> {
    let scope = TemporalScope {
        valid: Some(version.instant()),
        transaction: Some(version),
    };
    let mut states = BTreeMap::new();
    for source in 0..IDS {
        let id = VertexId::Number(source);
        let found = graph.vertex(&id, scope).expect("read");
        states.insert(
            ElementId::Vertex(id).to_string(),
            found.map(Element::Vertex),
        );
        for target in 0..IDS {
            let id = edge_id(source, target);
            let found = graph.edge(&id, scope).expect("read");
            states.insert(ElementId::Edge(id).to_string(), found.map(Element::Edge));
        }
    }
    states
}

/// Backs up `g` while it is written to. Returns the registry, and versions before and during that.
fn backed_up(folder: &Path) -> (Arc<SharedMemory>, Registry, Vec<CommitVersion>) {
    let (shared, registry) = shared();
    registry.make_system().expect("a system graph");
    let graph = registry.create("g").expect("a graph");
    let mut versions = Vec::new();
    for number in 0..200 {
        write(&graph, number);
        if number % 50 == 49 {
            versions.push(graph.published());
        }
    }
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writing = scope.spawn(|| {
            let mut number = 200;
            while !done.load(Ordering::Acquire) {
                write(&graph, number);
                number += 1;
            }
        });
        let manifest = write_backup(&registry, folder).expect("a backup");
        done.store(true, Ordering::Release);
        writing.join().expect("written");
        assert_eq!(manifest.kind, BackupKind::Rows);
        assert_eq!(manifest.graphs, ["g", SYSTEM_GRAPH]);
    });
    (shared, registry, versions)
}

fn backup_in(folder: &Path) -> Backup<'static> {
    Backup::in_folder(folder).expect("a backup")
}

/// Checks that a restored graph is a past state of the original.
fn is_a_past_state(restored: &Arc<Graph>, original: &Graph, versions: &[CommitVersion]) {
    let report = verify(restored, 1, &mut |_| true).expect("verified");
    assert!(report.is_sound(), "{:?}", report.problems);
    let newest = newest_version(restored);
    for version in versions.iter().copied().chain([newest]) {
        assert_eq!(
            states(restored, version),
            states(original, version),
            "{version}"
        );
    }
    // Versions go on above all that the backup has.
    write(restored, 1);
    assert!(restored.published() > newest);
}

/// The newest version of a stored event or row.
fn newest_version(graph: &Graph) -> CommitVersion {
    let view = graph.view(TemporalScope::NOW).expect("a view");
    let mut newest = CommitVersion::ZERO;
    for id in 0..IDS {
        view.visit_events(&ElementId::Vertex(VertexId::Number(id)), &mut |event| {
            newest = newest.max(event.version);
            std::ops::ControlFlow::Continue(())
        })
        .expect("read");
    }
    newest
}

#[test]
fn a_backup_while_writes_go_on_is_one_state_with_its_past() {
    let dir = tempfile::tempdir().expect("a folder");
    let folder = dir.path().join("backup");
    let (_, original, versions) = backed_up(&folder);
    let original = original.get("g").expect("the graph");
    backup_in(&folder).check().expect("sound");
    // To an engine that is not shared, and from it to another cluster.
    let memory = Arc::new(MemoryEngine::new());
    backup_in(&folder).restore_rows(&*memory).expect("restored");
    let other = cluster();
    let graphs = ["g".to_owned(), SYSTEM_GRAPH.to_owned()];
    copy_spaces(&*memory, &graphs, &*other.server("a")).expect("copied");
    for registry in [registry(memory), registry(other.server("b"))] {
        assert!(registry.system().expect("read").is_some());
        is_a_past_state(&registry.get("g").expect("restored"), &original, &versions);
    }
}

#[test]
fn a_graph_that_exists_is_not_overwritten() {
    let dir = tempfile::tempdir().expect("a folder");
    let folder = dir.path().join("backup");
    let (shared, registry, versions) = backed_up(&folder);
    let refused = backup_in(&folder)
        .restore_rows(&*shared.server("b"))
        .expect_err("it exists");
    assert_eq!(refused.kind, ErrorKind::Existed);
    let graph = registry.get("g").expect("the graph");
    assert!(states(&graph, versions[0]).values().any(Option::is_some));
}

#[test]
fn a_restore_that_did_not_end_is_no_graph_and_can_be_dropped() {
    let dir = tempfile::tempdir().expect("a folder");
    let folder = dir.path().join("backup");
    drop(backed_up(&folder));
    let rows = folder.join("graphs/g/rows");
    let mut bytes = std::fs::read(&rows).expect("read");
    let last = bytes.len() - 5;
    bytes[last] ^= 1;
    std::fs::write(&rows, bytes).expect("written");
    backup_in(&folder).check().expect_err("damaged");
    let other = cluster();
    backup_in(&folder)
        .restore_rows(&*other.server("a"))
        .expect_err("damaged");
    let registry = registry(other.server("a"));
    assert!(registry.get("g").is_err());
    let why = registry.why_unopened("g").expect("a reason");
    assert!(why.contains("did not end"), "{why}");
    registry.drop_graph("g").expect("dropped");
    registry.create("g").expect("created");
}

#[test]
fn a_cleared_graph_is_backed_up_as_it_is_now() {
    let dir = tempfile::tempdir().expect("a folder");
    let (_, registry) = shared();
    write(&registry.create("g").expect("a graph"), 1);
    registry.clear("g").expect("cleared");
    let folder = dir.path().join("backup");
    let manifest = write_backup(&registry, &folder).expect("of the empty graph");
    assert_eq!(manifest.graphs, ["g"]);
    let memory = Arc::new(MemoryEngine::new());
    backup_in(&folder).restore_rows(&*memory).expect("restored");
    let restored = self::registry(memory).get("g").expect("the graph");
    assert_eq!(newest_version(&restored), CommitVersion::ZERO);
}

#[test]
fn a_server_that_leads_no_graph_refuses_to_back_up() {
    let dir = tempfile::tempdir().expect("a folder");
    let (shared, leader) = shared();
    write(&leader.create("g").expect("a graph"), 1);
    let follower = registry(shared.server("b"));
    let folder = dir.path().join("backup");
    let refused = write_backup(&follower, &folder).expect_err("nothing to copy");
    assert!(refused.message.contains("'g' is led by"), "{refused}");
    assert!(!folder.exists());
    write_backup(&leader, &folder).expect("the same folder is free");
}
