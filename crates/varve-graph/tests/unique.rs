//! Unique values: latches that fall together with those of the element itself, and holders that
//! change while a claim is checked.

use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use varve_encoding::key;
use varve_encoding::tables::{EVENT, TABLES};
use varve_graph::schema::{BaseType, NewEdgeLabel, NewIndexLabel, NewPropertyKey, NewVertexLabel};
use varve_graph::tasks::{TaskId, TaskStatus};
use varve_graph::write::{EndCheck, Mutation, WritePeriod, WriteRequest};
use varve_graph::{DurabilityMode, Graph, GraphOptions};
use varve_kv::{
    Engine, Flow, KvError, MemoryEngine, Reader, ReaderLayer, ScanRequest, Space, SpaceLayer,
};
use varve_model::schema::{IdStrategy, IndexType};
use varve_model::time::SystemClock;
use varve_model::value::DataType;
use varve_model::{
    Clock, Edge, EdgeId, EdgeLabelId, Instant, PropertyKeyId, Value, Vertex, VertexId,
    VertexLabelId,
};

/// Enough values that one of them falls on the slot of an end's latch, which an edge holds shared.
const VALUES: i64 = 20_000;

#[test]
fn a_value_whose_latch_the_request_holds_shared_is_claimed() {
    let space = MemoryEngine::new()
        .open("g", TABLES, true)
        .expect("a space");
    let mut options = GraphOptions::new(Arc::new(SystemClock));
    options.durability = DurabilityMode::None;
    let graph = Graph::open("g", space, &options).expect("a graph");
    let catalogue = graph.catalogue();
    let code = NewPropertyKey {
        data_type: DataType::Long,
        ..NewPropertyKey::named("code")
    };
    catalogue.create_property_key(code).expect("a key");
    catalogue
        .create_vertex_label(NewVertexLabel::named("v"))
        .expect("a label");
    let properties = vec!["code".to_owned()];
    let label = NewEdgeLabel {
        properties,
        ..NewEdgeLabel::between("e", "v", "v")
    };
    catalogue.create_edge_label(label).expect("a label");
    let index = NewIndexLabel::on(
        "unique",
        BaseType::EdgeLabel,
        "e",
        IndexType::Unique,
        &["code"],
    );
    catalogue
        .create_index_label(NewIndexLabel {
            rebuild: false,
            ..index
        })
        .expect("an index");
    let label = EdgeLabelId(1);
    for value in 0..VALUES {
        let id = EdgeId {
            source: VertexId::Number(1),
            parent: label,
            label,
            sort_values: "".into(),
            target: VertexId::Number(2),
        };
        let properties = [(PropertyKeyId(1), Value::Long(value))]
            .into_iter()
            .collect();
        let (source_label, target_label) = (VertexLabelId(1), VertexLabelId(1));
        let edge = Edge {
            id,
            source_label,
            target_label,
            properties,
        };
        let put = Mutation::PutEdge {
            edge,
            ends: EndCheck::Skip,
        };
        graph
            .write_now(&WriteRequest::now(vec![put]))
            .expect("claimed");
    }
}

const CODE: PropertyKeyId = PropertyKeyId(1);
/// How long a scan waits for a write that may have to wait for this scan's commit.
const MEETING: Duration = Duration::from_millis(300);
const TASK_MAX: Duration = Duration::from_secs(60);

/// A space without snapshots that calls a hook once, after the next scan of events of the holder,
/// or of any vertex if there is none.
struct Interrupted {
    inner: Arc<dyn Space>,
    holder: Mutex<Option<VertexId>>,
    hook: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl ReaderLayer for Interrupted {
    type Below<'a> = dyn Space;

    fn read<T>(&self, read: impl FnOnce(&Self::Below<'_>) -> T) -> T {
        read(&*self.inner)
    }

    fn scan(
        &self,
        request: ScanRequest<'_>,
        visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
    ) -> Result<(), KvError> {
        let holder = self.holder.lock().as_ref().map(key::vertex_id);
        let is_of = holder.is_none_or(|holder| *holder == *request.partition);
        let hook = (request.table == EVENT && is_of).then(|| self.hook.lock().take());
        self.inner.scan(request, visit)?;
        if let Some(hook) = hook.flatten() {
            hook();
        }
        Ok(())
    }
}

impl SpaceLayer for Interrupted {
    fn space(&self) -> &dyn Space {
        &*self.inner
    }

    fn snapshot(self: Arc<Self>) -> Option<Arc<dyn Reader>> {
        None
    }
}

fn code(id: i64, code: i64, period: WritePeriod) -> WriteRequest {
    let vertex = Vertex {
        id: VertexId::Number(id),
        label: VertexLabelId(1),
        properties: [(CODE, Value::Long(code))].into_iter().collect(),
    };
    let put = Mutation::PutVertex {
        vertex,
        fresh: false,
    };
    WriteRequest {
        period,
        ..WriteRequest::now(vec![put])
    }
}

fn interrupted() -> Arc<Interrupted> {
    let inner = MemoryEngine::new()
        .open("g", TABLES, true)
        .expect("a space");
    Arc::new(Interrupted {
        inner,
        holder: Mutex::default(),
        hook: Mutex::default(),
    })
}

fn with_codes(space: Arc<dyn Space>) -> Arc<Graph> {
    let options = GraphOptions::new(Arc::new(SystemClock));
    let graph = Graph::open("g", space, &options).expect("a graph");
    let catalogue = graph.catalogue();
    let key = NewPropertyKey {
        data_type: DataType::Long,
        ..NewPropertyKey::named("code")
    };
    catalogue.create_property_key(key).expect("a key");
    let label = NewVertexLabel {
        id_strategy: Some(IdStrategy::CustomizeNumber),
        properties: vec!["code".to_owned()],
        ..NewVertexLabel::named("v")
    };
    catalogue.create_vertex_label(label).expect("a label");
    graph
}

/// Makes the codes unique. Returns its task, which is finished where nothing is to be built.
fn make_unique(graph: &Arc<Graph>, rebuild: bool) -> TaskId {
    let index = NewIndexLabel::on(
        "unique",
        BaseType::VertexLabel,
        "v",
        IndexType::Unique,
        &["code"],
    );
    let index = NewIndexLabel { rebuild, ..index };
    let created = graph.catalogue().create_index_label(index);
    created.expect("an index").task
}

/// The holder gave its value up for a part of the future between the two reads of a claim: the one
/// still had no change then, the other looked only where the value was given up.
#[test]
fn a_holder_does_not_change_while_a_claim_of_its_value_is_checked() {
    let space = interrupted();
    let graph = with_codes(Arc::clone(&space) as Arc<dyn Space>);
    make_unique(&graph, false);
    let hours = |count: i64| Instant(SystemClock.now().0 + count * 3_600_000_000);
    let now = WritePeriod {
        from: None,
        to: None,
    };
    graph.write_now(&code(1, 7, now)).expect("written");
    let suspended = WritePeriod {
        from: Some(hours(1)),
        to: Some(hours(3)),
    };
    let later = WritePeriod {
        from: Some(hours(2)),
        to: None,
    };
    let (done, is_done) = mpsc::channel();
    let (writer, second) = (Arc::clone(&graph), code(1, 8, suspended));
    let waiting = Arc::new(Mutex::new(is_done));
    let meeting = Arc::clone(&waiting);
    *space.holder.lock() = Some(VertexId::Number(1));
    *space.hook.lock() = Some(Box::new(move || {
        thread::spawn(move || done.send(writer.write_now(&second).is_ok()));
        let _ = meeting.lock().recv_timeout(MEETING);
    }));
    let refused = graph.write_now(&code(2, 7, later));
    let refused = refused
        .map(|_| ())
        .expect_err("vertex 1 has the value from hour 3 on");
    assert!(
        refused.to_string().contains("Unique constraint"),
        "{refused}"
    );
    assert!(
        space.hook.lock().is_none(),
        "the claim read the holder's events"
    );
    let written = waiting.lock().recv();
    assert_eq!(written, Ok(true), "the holder is free again");
}

#[test]
fn a_holder_does_not_change_while_the_build_of_the_index_checks_its_value() {
    let space = interrupted();
    let graph = with_codes(Arc::clone(&space) as Arc<dyn Space>);
    let now = WritePeriod::default();
    let later = WritePeriod {
        from: Some(Instant(SystemClock.now().0 + 3_600_000_000)),
        to: None,
    };
    graph.write_now(&code(1, 7, now)).expect("written");
    graph.write_now(&code(2, 7, later)).expect("written");
    let (done, is_done) = mpsc::channel();
    let (writer, second) = (Arc::clone(&graph), code(1, 8, now));
    let waiting = Arc::new(Mutex::new(is_done));
    let meeting = Arc::clone(&waiting);
    let (met, has_met) = mpsc::channel();
    *space.hook.lock() = Some(Box::new(move || {
        thread::spawn(move || done.send(writer.write_now(&second).is_ok()));
        let _ = met.send(meeting.lock().recv_timeout(MEETING).is_ok());
    }));
    let task = make_unique(&graph, true);
    let ended = graph.tasks().wait_until_done(task, TASK_MAX);
    assert_eq!(ended.expect("known").status, TaskStatus::Failed);
    assert_eq!(has_met.recv(), Ok(false), "the writer waits for the check");
    assert_eq!(waiting.lock().recv(), Ok(true), "the holder is free again");
}
