//! A test graph's catalogue on an in-memory engine, which can be closed, reopened and made to fail.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use varve_kv::{Engine, MemoryEngine, Space};
use varve_model::schema::SchemaStatus;
use varve_model::value::{Cardinality, DataType};
use varve_model::{Clock, Datum};
use varve_testkit::{Faults, FaultyEngine};

use crate::schema::*;
use crate::tasks::{
    Task, TaskBodies, TaskId, TaskProgress, TaskSpec, TaskStatus, TaskTables, Tasks,
};
use crate::{ErrorKind, GraphError};

pub(super) struct StoppedClock;

impl Clock for StoppedClock {
    fn now(&self) -> varve_model::Instant {
        varve_model::Instant::from_millis(1_795_288_973_380)
    }
}

type Body = dyn Fn(&TaskSpec, &TaskProgress) -> Result<String, GraphError> + Send + Sync;

/// Task bodies that record their calls, and then run the test's own body.
pub(super) struct Elements {
    pub(super) seen: Mutex<Vec<String>>,
    body: Box<Body>,
}

impl TaskBodies for Elements {
    fn run(&self, task: &TaskSpec, progress: &TaskProgress) -> Result<String, GraphError> {
        let line = format!("{} {}", task.task_type.name(), task.name);
        self.seen.lock().push(line);
        (self.body)(task, progress)
    }
}

pub(super) struct Bench {
    engine: FaultyEngine,
    pub(super) faults: Arc<Faults>,
    open: Option<(Arc<Catalogue>, Arc<Tasks>)>,
}

impl Bench {
    pub(super) fn new() -> Self {
        let (engine, faults) = FaultyEngine::new(Box::new(MemoryEngine::new()));
        let mut bench = Self {
            engine,
            faults,
            open: None,
        };
        bench.reopen();
        bench
    }

    /// A bench with the property keys of most tests: texts name, city, lang; ints age, price; date;
    /// weight; sets and others.
    pub(super) fn with_keys() -> Self {
        let bench = Self::new();
        use Cardinality::{List, Set, Single};
        for (name, data_type, cardinality) in [
            ("name", DataType::Text, Single),
            ("age", DataType::Int, Single),
            ("city", DataType::Text, Single),
            ("lang", DataType::Text, Single),
            ("date", DataType::Date, Single),
            ("price", DataType::Int, Single),
            ("weight", DataType::Double, Single),
            ("hobby", DataType::Text, Set),
            ("nums", DataType::Int, List),
            ("obj", DataType::Object, Single),
        ] {
            let key = NewPropertyKey {
                data_type,
                cardinality,
                ..NewPropertyKey::named(name)
            };
            bench.create_property_key(key).expect(name);
        }
        bench
    }

    /// A bench with the labels of the recorded graph: person, software, knows (several times),
    /// created (once).
    pub(super) fn with_labels() -> Self {
        let bench = Self::with_keys();
        bench.create_vertex_label(person()).expect("person");
        let software = NewVertexLabel {
            properties: texts(&["name", "lang", "price"]),
            primary_keys: texts(&["name"]),
            nullable_keys: texts(&["price"]),
            ..NewVertexLabel::named("software")
        };
        bench.create_vertex_label(software).expect("software");
        bench.create_edge_label(knows()).expect("knows");
        let created = NewEdgeLabel {
            properties: texts(&["date", "city", "weight"]),
            nullable_keys: texts(&["city", "weight"]),
            ..NewEdgeLabel::between("created", "person", "software")
        };
        bench.create_edge_label(created).expect("created");
        bench
    }

    /// Closes the graph if it is open.
    pub(super) fn close(&mut self) {
        if let Some((catalogue, tasks)) = self.open.take() {
            tasks.stop();
            drop(catalogue);
        }
    }

    pub(super) fn space(&self) -> Arc<dyn Space> {
        let tables = varve_encoding::tables::TABLES;
        self.engine.open("g", tables, true).expect("the space")
    }

    /// Closes the graph and opens it again from its store. Tasks wait until [`Bench::start`].
    pub(super) fn reopen(&mut self) {
        self.close();
        let space = self.space();
        let clock: Arc<dyn Clock> = Arc::new(StoppedClock);
        let tasks = Tasks::open(
            Arc::clone(&space),
            TaskTables::default(),
            Arc::clone(&clock),
        );
        let tasks = Arc::new(tasks.expect("the tasks"));
        let tables = SchemaTables::default();
        let catalogue = Catalogue::open(space, tables, "hugegraph", clock, Arc::clone(&tasks));
        self.open = Some((Arc::new(catalogue.expect("the catalogue")), tasks));
    }

    /// Starts running tasks; `body` does the work on elements.
    pub(super) fn start(
        &self,
        body: impl Fn(&TaskSpec, &TaskProgress) -> Result<String, GraphError> + Send + Sync + 'static,
    ) -> Arc<Elements> {
        let elements = Arc::new(Elements {
            seen: Mutex::new(Vec::new()),
            body: Box::new(body),
        });
        let (catalogue, tasks) = self.open.as_ref().expect("open");
        let inner: Arc<dyn TaskBodies> = Arc::clone(&elements) as _;
        tasks.start(Arc::new(SchemaBodies::new(catalogue, inner)));
        elements
    }

    /// Starts running tasks whose work on elements succeeds at once.
    pub(super) fn start_easy(&self) -> Arc<Elements> {
        self.start(|_, _| Ok(String::new()))
    }

    pub(super) fn tasks(&self) -> &Arc<Tasks> {
        &self.open.as_ref().expect("open").1
    }

    /// Waits for a task and returns its status and result.
    pub(super) fn end_of(&self, id: TaskId) -> (TaskStatus, String) {
        let tasks = self.tasks();
        tasks
            .wait_until_done(id, Duration::from_secs(60))
            .expect("the task");
        let detail = tasks.detail(id).expect("the task");
        (detail.task.status, detail.result.unwrap_or_default())
    }

    pub(super) fn succeeds(&self, id: TaskId) {
        assert_eq!(self.end_of(id).0, TaskStatus::Success);
    }

    pub(super) fn task(&self, id: TaskId) -> Task {
        self.tasks().task(id).expect("the task")
    }

    /// Name and status of every visible index label.
    pub(super) fn indexes(&self) -> Vec<(String, SchemaStatus)> {
        let schema = self.current();
        let all = schema.all_index_labels();
        all.map(|index| (index.name.clone(), index.status))
            .collect()
    }
}

impl std::ops::Deref for Bench {
    type Target = Catalogue;

    fn deref(&self) -> &Catalogue {
        &self.open.as_ref().expect("open").0
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.close();
    }
}

pub(super) fn person() -> NewVertexLabel {
    NewVertexLabel {
        properties: texts(&["name", "age", "city"]),
        primary_keys: texts(&["name"]),
        nullable_keys: texts(&["city"]),
        ..NewVertexLabel::named("person")
    }
}

pub(super) fn knows() -> NewEdgeLabel {
    NewEdgeLabel {
        frequency: Some(varve_model::schema::Frequency::Multiple),
        properties: texts(&["date", "city", "weight"]),
        sort_keys: texts(&["date"]),
        nullable_keys: texts(&["city", "weight"]),
        ..NewEdgeLabel::between("knows", "person", "person")
    }
}

pub(super) fn texts(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

pub(super) fn data(members: &[(&str, Datum)]) -> UserData {
    let named = members.iter();
    named
        .map(|(name, value)| ((*name).to_owned(), value.clone()))
        .collect()
}

pub(super) fn text(value: &str) -> Datum {
    Datum::Text(value.to_owned())
}

pub(super) fn member_names(data: &Datum) -> Vec<&str> {
    match data {
        Datum::Map(members) => members.iter().map(|(name, _)| name.as_str()).collect(),
        _ => Vec::new(),
    }
}

/// Checks the kind and the message of an error.
#[track_caller]
pub(super) fn refused<T: std::fmt::Debug>(
    outcome: Result<T, GraphError>,
    kind: ErrorKind,
    message: &str,
) {
    let error = outcome.expect_err(message);
    assert_eq!((error.kind, error.message.as_str()), (kind, message));
}

/// Checks the message of an [`ErrorKind::InvalidArgument`].
#[track_caller]
pub(super) fn invalid<T: std::fmt::Debug>(outcome: Result<T, GraphError>, message: &str) {
    refused(outcome, ErrorKind::InvalidArgument, message);
}

/// Checks the message of an [`ErrorKind::NotAllowed`].
#[track_caller]
pub(super) fn not_allowed<T: std::fmt::Debug>(outcome: Result<T, GraphError>, message: &str) {
    refused(outcome, ErrorKind::NotAllowed, message);
}
