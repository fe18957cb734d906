//! The verifier finds every kind of damage that it promises to find, and nothing in a sound graph.

use std::sync::Arc;

use parking_lot::Mutex;
use varve_encoding::row::Header;
use varve_encoding::tables::{
    CHANGE, COUNTER, EDGE, EVENT, EVENT_INDEX, INDEX, META, PENDING, SCHEMA, TABLES, TX, VERTEX,
};
use varve_graph::schema::{BaseType, NewEdgeLabel, NewIndexLabel, NewPropertyKey, NewVertexLabel};
use varve_graph::verify::{VerifyReport, repair, verify};
use varve_graph::write::{EndCheck, Mutation, WritePeriod, WriteRequest};
use varve_graph::{Graph, GraphOptions};
use varve_kv::{
    Batch, Durability, Engine, Flow, KvError, MemoryEngine, Reader, ReaderLayer, Space, SpaceLayer,
    TableId,
};
use varve_model::schema::{IdStrategy, IndexType};
use varve_model::value::DataType;
use varve_model::{
    Clock, Edge, EdgeId, EdgeLabelId, Instant, Properties, PropertyKeyId, Value, Vertex, VertexId,
    VertexLabelId,
};
use varve_testkit::{ManualClock, ScatteredEngine, WatchedEngine};

const START: Instant = Instant(1_700_000_000_000_000);
const AGE: PropertyKeyId = PropertyKeyId(1);
const PERSON: VertexLabelId = VertexLabelId(1);
const KNOWS: EdgeLabelId = EdgeLabelId(1);

fn vertex(id: &str, age: i32) -> Mutation {
    let properties = [(AGE, Value::Int(age))].into_iter().collect();
    let vertex = Vertex {
        id: VertexId::text(id),
        label: PERSON,
        properties,
    };
    Mutation::PutVertex {
        vertex,
        fresh: false,
    }
}

fn edge(source: &str, target: &str) -> Mutation {
    let id = EdgeId {
        source: VertexId::text(source),
        parent: KNOWS,
        label: KNOWS,
        sort_values: "".into(),
        target: VertexId::text(target),
    };
    let properties = Properties::new();
    let edge = Edge {
        id,
        source_label: PERSON,
        target_label: PERSON,
        properties,
    };
    Mutation::PutEdge {
        edge,
        ends: EndCheck::Skip,
    }
}

/// Persons a (changed once, with a future state), b and a dangling edge's missing end; a knows b.
fn graph() -> Arc<Graph> {
    let clock = Arc::new(ManualClock::new(START));
    let graph = with_labels(&MemoryEngine::new(), &clock);
    for (name, index_type) in [("byAge", IndexType::Range), ("unique", IndexType::Unique)] {
        let index = NewIndexLabel::on(name, BaseType::VertexLabel, "person", index_type, &["age"]);
        graph
            .catalogue()
            .create_index_label(NewIndexLabel {
                rebuild: false,
                ..index
            })
            .expect("an index");
    }
    let write = |mutations, from: Option<i64>| {
        let period = WritePeriod {
            from: from.map(|after| START.plus_micros(after)),
            to: None,
        };
        graph
            .write_now(&WriteRequest {
                mutations,
                period,
                ..WriteRequest::default()
            })
            .expect("written");
    };
    write(
        vec![
            vertex("a", 1),
            vertex("b", 2),
            edge("a", "b"),
            edge("b", "nobody"),
        ],
        None,
    );
    clock.step(1_000);
    write(vec![vertex("a", 3), edge("a", "b")], None);
    write(vec![vertex("a", 4)], Some(1_000_000));
    graph
}

/// A graph of persons who know each other.
fn with_labels(engine: &dyn Engine, clock: &Arc<ManualClock>) -> Arc<Graph> {
    with_labels_in(engine.open("g", TABLES, true).expect("a space"), clock)
}

fn with_labels_in(space: Arc<dyn Space>, clock: &Arc<ManualClock>) -> Arc<Graph> {
    let options = GraphOptions::new(Arc::clone(clock) as Arc<dyn Clock>);
    let graph = Graph::open("g", space, &options).expect("a graph");
    let catalogue = graph.catalogue();
    let age = NewPropertyKey {
        data_type: DataType::Int,
        ..NewPropertyKey::named("age")
    };
    catalogue.create_property_key(age).expect("a key");
    let person = NewVertexLabel {
        id_strategy: Some(IdStrategy::CustomizeString),
        properties: vec!["age".into()],
        ..NewVertexLabel::named("person")
    };
    catalogue.create_vertex_label(person).expect("a label");
    let knows = NewEdgeLabel::between("knows", "person", "person");
    catalogue.create_edge_label(knows).expect("a label");
    graph
}

fn verified(graph: &Arc<Graph>) -> VerifyReport {
    verify(graph, 2, &mut |_| true).expect("the store works")
}

type Row = (Vec<u8>, Vec<u8>, Vec<u8>);

fn rows(graph: &Arc<Graph>, table: TableId) -> Vec<Row> {
    let mut rows = Vec::new();
    let keep = |row: varve_kv::Row<'_>| {
        (
            row.partition.to_vec(),
            row.clustering.to_vec(),
            row.value.to_vec(),
        )
    };
    graph
        .space()
        .scan_table(table, None, &mut |row| {
            rows.push(keep(row));
            Flow::Continue(())
        })
        .expect("scanned");
    rows
}

/// Changes the stored rows behind the graph's back; the first problem must say `wanted`.
fn damaged(wanted: &str, damage: impl Fn(&Arc<Graph>, &mut Batch)) {
    let graph = graph();
    let mut batch = Batch::new();
    damage(&graph, &mut batch);
    assert!(!batch.is_empty(), "{wanted}: nothing was damaged");
    graph
        .space()
        .write(&batch, Durability::Buffered)
        .expect("written");
    let report = verified(&graph);
    assert!(
        report
            .problems
            .iter()
            .any(|problem| problem.contains(wanted)),
        "wanted '{wanted}', but found {:?}",
        report.problems
    );
}

#[test]
fn a_sound_graph_is_counted() {
    let report = verified(&graph());
    assert!(report.is_sound(), "{:?}", report.problems);
    assert_eq!(
        (report.vertices, report.edges, report.dangling_edges),
        (2, 2, 1)
    );
    // The first states of a and of a's edge, and what a will be.
    assert_eq!(report.events, 3);
    assert_eq!((report.markers, report.untidied, report.pending), (0, 0, 1));
    assert!(report.index_entries > 0 && report.event_index_entries > 0);
}

#[test]
fn a_verification_can_be_ended() {
    let mut steps = 0;
    let ended = verify(&graph(), 1, &mut |_| {
        steps += 1;
        false
    });
    assert_eq!((ended.expect("the store works").edges, steps), (0, 1));
}

#[test]
fn events_are_found_where_an_engine_has_its_own_order_of_partitions() {
    const PERSONS: usize = 20;
    let clock = Arc::new(ManualClock::new(START));
    let graph = with_labels(&ScatteredEngine::new(), &clock);
    for age in 1..=2 {
        let mutations = (0..PERSONS).map(|at| vertex(&format!("p{at}"), age));
        let request = WriteRequest::now(mutations.collect());
        graph.write_now(&request).expect("written");
        clock.step(1_000);
    }
    let mut batch = Batch::new();
    for (partition, clustering, value) in rows(&graph, VERTEX) {
        let (header, _) = Header::decode(&value).expect("a row");
        let event = varve_encoding::key::event_clustering(&clustering, header.version);
        batch.put(EVENT, &partition, &event, &value);
    }
    graph
        .space()
        .write(&batch, Durability::Buffered)
        .expect("written");
    let report = verified(&graph);
    let of_two_places = |problem: &&String| problem.contains("is in two places");
    let found = report.problems.iter().filter(of_two_places).count();
    assert_eq!(found, PERSONS, "{:?}", report.problems);
}

#[test]
fn a_report_is_the_same_however_many_threads_make_it() {
    const PERSONS: usize = 60;
    let clock = Arc::new(ManualClock::new(START));
    let scattered = with_labels(&ScatteredEngine::new(), &clock);
    let whole = with_labels(&MemoryEngine::new(), &clock);
    let mutations = || {
        let person = |at: usize| format!("p{at}");
        let vertices = (0..PERSONS).map(move |at| vertex(&person(at), 1));
        // The last two targets do not exist.
        vertices.chain((0..PERSONS).map(move |at| edge(&person(at), &person(at + 2))))
    };
    for graph in [&scattered, &whole] {
        let request = WriteRequest::now(mutations().collect());
        graph.write_now(&request).expect("written");
        let mut batch = Batch::new();
        for table in [VERTEX, INDEX] {
            let mut rows = rows(graph, table);
            rows.sort_unstable();
            for (partition, clustering, value) in rows.iter().step_by(3) {
                if table == VERTEX {
                    batch.put(VERTEX, partition, clustering, &value[..1]);
                } else {
                    batch.delete(INDEX, partition, clustering);
                }
            }
        }
        let written = graph.space().write(&batch, Durability::Buffered);
        written.expect("written");
    }
    let with = |graph: &Arc<Graph>, threads: usize| {
        let mut read = 0;
        let report = verify(graph, threads, &mut |rows| {
            read = rows;
            true
        });
        (report.expect("the store works"), read)
    };
    let (report, read) = with(&scattered, 1);
    assert!(!report.is_sound());
    assert_eq!(report.problem_count, report.problems.len() as u64);
    for threads in [2, 5] {
        assert_eq!(with(&scattered, threads), (report.clone(), read));
    }
    // A table without cuts gives the same problems, in another order.
    let (mut in_one, read_in_one) = with(&whole, 2);
    let mut in_parts = report;
    in_one.problems.sort_unstable();
    in_parts.problems.sort_unstable();
    assert_eq!((in_one, read_in_one), (in_parts, read));
}

/// A space with cuts in the table of vertices, unreadable vertices, and tables whose rows cannot be
/// looked up.
struct Holed {
    inner: Arc<dyn Space>,
    cuts: Mutex<Vec<Vec<u8>>>,
    hole: Mutex<Vec<Vec<u8>>>,
    no_look_ups: Vec<TableId>,
}

fn unreadable() -> KvError {
    KvError::Corruption {
        space: "g".to_owned(),
        detail: "a hole".to_owned(),
    }
}

impl ReaderLayer for Holed {
    type Below<'a> = dyn Space;

    fn read<T>(&self, read: impl FnOnce(&Self::Below<'_>) -> T) -> T {
        read(&*self.inner)
    }

    fn cuts(&self, table: TableId) -> Vec<Vec<u8>> {
        let cuts = (table == VERTEX).then(|| self.cuts.lock().clone());
        cuts.unwrap_or_default()
    }

    fn get_with(
        &self,
        table: TableId,
        partition: &[u8],
        clustering: &[u8],
        found: &mut dyn FnMut(&[u8]),
    ) -> Result<bool, KvError> {
        match self.no_look_ups.contains(&table) {
            true => Err(unreadable()),
            false => self.inner.get_with(table, partition, clustering, found),
        }
    }

    fn scan_table(
        &self,
        table: TableId,
        after: Option<(&[u8], &[u8])>,
        visit: &mut dyn FnMut(varve_kv::Row<'_>) -> Flow,
    ) -> Result<(), KvError> {
        let hole = self.hole.lock().clone();
        let mut damaged = false;
        self.inner.scan_table(table, after, &mut |row| {
            damaged = table == VERTEX && hole.iter().any(|key| key == row.partition);
            match damaged {
                true => Flow::Break(()),
                false => visit(row),
            }
        })?;
        match damaged {
            true => Err(unreadable()),
            false => Ok(()),
        }
    }
}

impl SpaceLayer for Holed {
    fn space(&self) -> &dyn Space {
        &*self.inner
    }

    fn snapshot(self: Arc<Self>) -> Option<Arc<dyn Reader>> {
        None
    }
}

fn holed(no_look_ups: &[TableId]) -> Arc<Holed> {
    Arc::new(Holed {
        inner: MemoryEngine::new()
            .open("g", TABLES, true)
            .expect("a space"),
        cuts: Mutex::default(),
        hole: Mutex::default(),
        no_look_ups: no_look_ups.to_vec(),
    })
}

#[test]
fn damage_at_the_edge_of_a_part_is_reported_once() {
    const PERSONS: usize = 12;
    let clock = Arc::new(ManualClock::new(START));
    let space = holed(&[]);
    let graph = with_labels_in(Arc::clone(&space) as Arc<dyn Space>, &clock);
    let mutations = (0..PERSONS).map(|at| vertex(&format!("p{at}"), 1));
    let request = WriteRequest::now(mutations.collect());
    graph.write_now(&request).expect("written");
    let keys: Vec<Vec<u8>> = rows(&graph, VERTEX).into_iter().map(|row| row.0).collect();
    *space.cuts.lock() = keys.iter().skip(1).step_by(3).cloned().collect();
    for begin in 0..PERSONS {
        for end in begin + 1..=PERSONS {
            *space.hole.lock() = keys[begin..end].to_vec();
            let report = verified(&graph);
            assert_eq!(report.problem_count, 1, "{begin} {end}: {report:?}");
            let problem = &report.problems[0];
            let says = |what: &str| problem.contains(what);
            assert!(says("vertex: cannot be read from"), "{problem}");
            assert_eq!(says("from the first row"), begin == 0, "{problem}");
            assert_eq!(says("to the end"), end == PERSONS, "{problem}");
            assert_eq!(report.vertices, (PERSONS - (end - begin)) as u64);
            let alone = verify(&graph, 1, &mut |_| true);
            assert_eq!(alone.expect("the store works"), report);
        }
    }
}

#[test]
fn a_pending_row_that_cannot_be_read_is_not_reported_as_missing() {
    let clock = Arc::new(ManualClock::new(START));
    let space = holed(&[PENDING]);
    let graph = with_labels_in(space as Arc<dyn Space>, &clock);
    let request = WriteRequest {
        period: WritePeriod {
            from: None,
            to: Some(START.plus_micros(1_000_000_000)),
        },
        ..WriteRequest::now(vec![vertex("ends", 1)])
    };
    graph.write_now(&request).expect("written");
    assert_eq!(rows(&graph, PENDING).len(), 1);
    assert!(verified(&graph).is_sound());
}

#[test]
fn missing_entries_are_found() {
    for table in [INDEX, EVENT_INDEX] {
        let count = rows(&graph(), table).len();
        for at in 0..count {
            let unique = rows(&graph(), table)[at].0[4] == 2 && rows(&graph(), table)[at].0[0] == 1;
            if table == EVENT_INDEX && unique {
                continue;
            }
            damaged("it has no entry in the index partition", |graph, batch| {
                let (partition, clustering, _) = &rows(graph, table)[at];
                batch.delete(table, partition, clustering);
            });
        }
    }
}

#[test]
fn a_lost_or_changed_side_of_an_edge_is_found() {
    for at in 0..4 {
        damaged("the two sides' rows differ", |graph, batch| {
            let (partition, clustering, _) = &rows(graph, EDGE)[at];
            batch.delete(EDGE, partition, clustering);
        });
    }
    let of_edges = |graph: &Arc<Graph>| {
        let events = rows(graph, EVENT).into_iter();
        events
            .filter(|(_, clustering, _)| clustering[0] != 0)
            .collect::<Vec<Row>>()
    };
    for at in 0..2 {
        damaged("the two sides' events", |graph, batch| {
            let (partition, clustering, _) = &of_edges(graph)[at];
            batch.delete(EVENT, partition, clustering);
        });
    }
}

#[test]
fn only_the_edges_whose_sides_differ_are_named() {
    let graph = graph();
    let mut batch = Batch::new();
    let (partition, clustering, _) = &rows(&graph, EDGE)[0];
    batch.delete(EDGE, partition, clustering);
    graph
        .space()
        .write(&batch, Durability::Buffered)
        .expect("written");
    let report = verified(&graph);
    let of_sides = |problem: &&String| problem.contains("the two sides");
    let named: Vec<&String> = report.problems.iter().filter(of_sides).collect();
    assert_eq!(named.len(), 1, "{:?}", report.problems);
}

#[test]
fn a_sound_graph_is_read_in_order_with_few_looks_at_single_rows() {
    const PERSONS: usize = 100;
    const KNOWN: usize = 10;
    let (engine, reads) = WatchedEngine::new(Arc::new(MemoryEngine::new()));
    let graph = with_labels(&engine, &Arc::new(ManualClock::new(START)));
    let person = |number: usize| format!("p{}", number % PERSONS);
    let mut mutations: Vec<Mutation> = (0..PERSONS).map(|at| vertex(&person(at), 1)).collect();
    for at in 0..PERSONS {
        mutations.extend((1..=KNOWN).map(|step| edge(&person(at), &person(at + step))));
    }
    let request = WriteRequest {
        mutations,
        ..WriteRequest::default()
    };
    graph.write_now(&request).expect("written");
    reads.forget();
    let report = verified(&graph);
    assert!(report.is_sound(), "{:?}", report.problems);
    assert_eq!(report.edges, (PERSONS * KNOWN) as u64);
    // Of a vertex its index entry, and as a source itself and its edges' common entry; of an edge
    // its target.
    let counted = reads.counted();
    let most = 3 * PERSONS + PERSONS * KNOWN;
    assert!(counted.gets <= most as u64, "{counted:?}");
    assert_eq!(counted.scans, 0, "{counted:?}");
}

/// The row of vertex a with its head changed.
fn with_head(graph: &Arc<Graph>, change: impl Fn(&mut Header)) -> Row {
    let (partition, clustering, value) = rows(graph, VERTEX).remove(0);
    let (mut header, content) = Header::decode(&value).expect("a row");
    change(&mut header);
    let mut changed = Vec::new();
    header.encode(&mut changed);
    changed.extend_from_slice(content);
    (partition, clustering, changed)
}

#[test]
fn wrong_heads_are_found() {
    let head = |wanted: &str, change: fn(&mut Header)| {
        damaged(wanted, |graph, batch| {
            let (partition, clustering, value) = with_head(graph, change);
            batch.put(VERTEX, &partition, &clustering, &value);
        });
    };
    head("not marked as overlaid", |header| header.overlaid = false);
    head("but not at", |header| header.until = Instant::FOREVER);
    head("is not pending", |header| {
        header.until = header.until.plus_micros(-1)
    });
    head("newer than the last commit", |header| {
        header.version.0 += 1 << 40
    });
    head("beyond the end of its period", |header| {
        header.to = START.plus_micros(2_000)
    });
    damaged("does not decode", |graph, batch| {
        let (partition, clustering, mut value) = with_head(graph, |_| {});
        value[0] |= 0x80;
        batch.put(VERTEX, &partition, &clustering, &value);
    });
}

#[test]
fn an_event_in_two_places_and_a_lost_row_are_found() {
    damaged("is in two places", |graph, batch| {
        let (partition, clustering, value) = with_head(graph, |_| {});
        let (header, _) = Header::decode(&value).expect("a row");
        let event = varve_encoding::key::event_clustering(&clustering, header.version);
        batch.put(EVENT, &partition, &event, &value);
    });
    damaged("but has no current row", |graph, batch| {
        let (partition, clustering, _) = with_head(graph, |_| {});
        batch.delete(VERTEX, &partition, &clustering);
    });
    damaged("contradicts its key", |graph, batch| {
        let (partition, mut clustering, value) = rows(graph, EVENT).remove(0);
        let last = clustering.len() - 1;
        clustering[last] ^= 1;
        batch.put(EVENT, &partition, &clustering, &value);
    });
}

#[test]
fn a_boundary_that_nobody_waits_for_is_found() {
    damaged("is not pending", |graph, batch| {
        let (partition, clustering, _) = &rows(graph, PENDING)[0];
        batch.delete(PENDING, partition, clustering);
    });
}

#[test]
fn unique_values_held_twice_are_found() {
    damaged("hold the same unique values", |graph, batch| {
        let all = rows(graph, VERTEX);
        let (a, b) = (&all[0], &all[1]);
        // b gets a's content, and the entries that go with it.
        batch.put(VERTEX, &b.0, &b.1, &a.2);
        let of_a = rows(graph, INDEX)
            .into_iter()
            .filter(|(partition, _, _)| partition[..5] == [1, 0, 0, 0, 2]);
        for (partition, _, _) in of_a {
            let mut element = vec![0x01];
            element.extend_from_slice(&b.0);
            batch.put(INDEX, &partition, &element, &[]);
        }
    });
}

#[test]
fn damaged_records_of_the_small_tables_are_found() {
    damaged("schema ", |graph, batch| {
        let (partition, clustering, _) = &rows(graph, SCHEMA)[0];
        batch.put(SCHEMA, partition, clustering, &[0xFF]);
    });
    let record = |wanted: &str, table, partition: &[u8], value: &[u8]| {
        damaged(wanted, |_, batch| {
            batch.put(table, partition, b"x", value);
        });
    };
    record("meta 76 78: ", META, b"v", &[0xFF]);
    record("tx 00000000 78: ", TX, &[0; 4], &[]);
    record("counter 00 78: ", COUNTER, &[0], b"short");
    record("change 00000000 78: ", CHANGE, &[0; 4], &[]);
}

#[test]
fn missing_entries_are_added_and_surplus_ones_removed() {
    let graph = graph();
    let mut batch = Batch::new();
    let entries = rows(&graph, INDEX);
    for (partition, clustering, _) in entries.iter().step_by(2) {
        batch.delete(INDEX, partition, clustering);
    }
    for (partition, clustering, _) in rows(&graph, EVENT_INDEX) {
        batch.delete(EVENT_INDEX, &partition, &clustering);
    }
    // The entry of an element that never was.
    let never = varve_graph::index::vertex_label_entry(PERSON, &VertexId::text("never"));
    batch.put(EVENT_INDEX, &never.partition, &never.clustering, &[]);
    let written = graph.space().write(&batch, Durability::Buffered);
    written.expect("written");
    let repaired = repair(&graph, 2, &mut |_| true).expect("repaired");
    assert!(!repaired.found.is_sound() && repaired.completed > 0);
    assert_eq!(repaired.removed, 1);
    let report = verified(&graph);
    assert!(report.is_sound(), "{:?}", report.problems);
    assert_eq!(report.surplus_entries, 0);
    let mut expected = entries;
    let mut found = rows(&graph, INDEX);
    expected.sort();
    found.sort();
    assert_eq!(found, expected);
    let again = repair(&graph, 1, &mut |_| true).expect("repaired");
    assert_eq!((again.completed, again.removed), (0, 0));
}

#[test]
fn a_repair_that_is_ended_changes_nothing() {
    let graph = graph();
    let mut batch = Batch::new();
    for (partition, clustering, _) in rows(&graph, INDEX) {
        batch.delete(INDEX, &partition, &clustering);
    }
    let written = graph.space().write(&batch, Durability::Buffered);
    written.expect("written");
    let ended = repair(&graph, 1, &mut |_| false).expect("read");
    assert_eq!((ended.completed, ended.removed), (0, 0));
    assert!(rows(&graph, INDEX).is_empty());
}
