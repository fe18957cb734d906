//! A graph with a random history, and the same history in the testkit's model.

use std::fmt::Write as _;
use std::sync::Arc;

use varve_cypher::temporal::Clock;
use varve_cypher::{Context, Graph, Map, NoProcedures, Prepared, Sizes, Value};
use varve_graph::optimistic::OptimisticLimits;
use varve_graph::schema::{NewEdgeLabel, NewPropertyKey, NewVertexLabel, SchemaMode};
use varve_graph::write::{EndCheck, Missing, Mutation, WritePeriod, WriteRequest};
use varve_graph::{Graph as StoredGraph, GraphOptions, Registry};
use varve_kv::MemoryEngine;
use varve_model::Value as Stored;
use varve_model::schema::{Frequency, IdStrategy};
use varve_model::{
    CommitVersion, DataType, EdgeLabelId, Element, ElementId, Instant, Period, Properties,
    PropertyKeyId, TemporalScope, VertexId, VertexLabelId,
};
use varve_testkit::model::{Change, Event, Model, ModelSchema, Point, Request};
use varve_testkit::{ManualClock, Random};
use varve_view::{GraphView, Meter, SchemaView};

/// Where the clock starts: 2023-11-14.
const START: i64 = 1_700_000_000_000_000;
const SECOND: i64 = 1_000_000;
const NODES: usize = 6;
const EDGES: usize = 10;
const COMMITS: usize = 40;

/// A graph, its history, and the ids of the elements that it ever had.
pub(crate) struct World {
    _registry: Registry,
    graph: Arc<StoredGraph>,
    clock: Arc<ManualClock>,
    pub(crate) model: Model,
    pub(crate) nodes: Vec<ElementId>,
    pub(crate) edges: Vec<ElementId>,
}

impl World {
    pub(crate) fn random(mode: SchemaMode, random: &mut Random) -> World {
        let clock = Arc::new(ManualClock::new(Instant(START)));
        let options = GraphOptions::new(clock.clone());
        let registry = Registry::open(Arc::new(MemoryEngine::new()), options).expect("a registry");
        let graph = registry.create_with("g", mode).expect("a graph");
        if matches!(mode, SchemaMode::Declared) {
            declare(&graph);
        }
        let mut world = World {
            _registry: registry,
            graph,
            clock,
            model: Model::default(),
            nodes: Vec::new(),
            edges: Vec::new(),
        };
        world.begin(matches!(mode, SchemaMode::Declared), random);
        for _ in 0..COMMITS {
            world.clock.step(SECOND * (1 + random.below(5) as i64));
            match random.one_in(3) {
                true => world.change_by_query(random),
                false => world.change(random),
            }
        }
        world
    }

    /// Adds all elements in one commit, and puts what the graph stored into the model.
    fn begin(&mut self, is_declared: bool, random: &mut Random) {
        let label = |at: usize| match (is_declared, at % 4) {
            (_, 0) => ":A",
            (_, 1) => ":B",
            (true, _) => ":A",
            (false, 2) => ":A:B",
            (false, _) => "",
        };
        let nodes = (0..NODES).map(|at| format!("(n{at}{} {{i: {at}, x: {}}})", label(at), at % 3));
        let edges = (0..EDGES).map(|at| {
            let (from, to, name) = match (is_declared, random.one_in(2)) {
                (true, true) => (4 * random.below(2), 2 + random.below(2), "R"),
                (true, false) => (2 + random.below(2), 1 + 4 * random.below(2), "S"),
                (false, is_r) => {
                    let name = if is_r { "R" } else { "S" };
                    (random.below(NODES), random.below(NODES), name)
                }
            };
            format!("(n{from})-[:{name} {{k: {at}}}]->(n{to})")
        });
        let parts: Vec<String> = nodes.chain(edges).collect();
        let transaction = self
            .graph
            .begin(OptimisticLimits::default())
            .expect("begun");
        let schema = self.graph.schema();
        let text = format!("CREATE {}", parts.join(", "));
        let prepared = varve_cypher::prepare(&text, &*schema, &NoProcedures, Sizes::UNKNOWN);
        let prepared = prepared.unwrap_or_else(|error| panic!("{text}: {error}"));
        let meter = Meter::unlimited();
        rows(
            &prepared,
            Graph {
                view: &transaction,
                schema: &transaction,
                writer: Some(&transaction),
                meter: &meter,
            },
        );
        let version = transaction
            .commit(WritePeriod::default())
            .expect("a commit");
        let version = version.expect("a change");
        self.learn(version);
    }

    fn learn(&mut self, version: CommitVersion) {
        let schema = self.graph.schema();
        let vertex_labels = schema.vertex_labels().expect("labels").into_iter();
        let edge_labels = SchemaView::edge_labels(&*schema)
            .expect("labels")
            .into_iter();
        self.model.schema = ModelSchema {
            vertex_labels: vertex_labels
                .filter_map(|id| SchemaView::vertex_label(&*schema, id).cloned())
                .collect(),
            edge_labels: edge_labels
                .filter_map(|id| SchemaView::edge_label(&*schema, id).cloned())
                .collect(),
            index_labels: Vec::new(),
        };
        // Elements of open graphs may have any property; the model looks for those of the label.
        let all = ["i", "k", "x"].map(|name| self.key(name));
        for label in &mut self.model.schema.vertex_labels {
            label.properties = all.into();
        }
        for label in &mut self.model.schema.edge_labels {
            label.properties = all.into();
        }
        for element in self.elements() {
            let id = element.id();
            match &id {
                ElementId::Vertex(_) => self.nodes.push(id.clone()),
                ElementId::Edge(_) => self.edges.push(id.clone()),
            }
            self.model.events.push(Event {
                version,
                period: Period::since(version.instant()),
                id,
                state: Some(element),
                idle: false,
            });
        }
        self.model.commits.push((version, version));
        assert_eq!((self.nodes.len(), self.edges.len()), (NODES, EDGES));
    }

    /// The elements of the present, with the nodes in the order of their numbers.
    fn elements(&self) -> Vec<Element> {
        let view = self.graph.view(TemporalScope::NOW).expect("a view");
        let meter = Meter::unlimited();
        let mut keys = Vec::new();
        let text = "MATCH (n) RETURN n ORDER BY n.i";
        let schema = self.graph.schema();
        let prepared = varve_cypher::prepare(text, &*schema, &NoProcedures, Sizes::UNKNOWN);
        let graph = Graph {
            view: &view,
            schema: &*schema,
            writer: None,
            meter: &meter,
        };
        for row in values(&prepared.expect("a query"), graph) {
            let [Value::Node(node)] = &row[..] else {
                panic!("no node")
            };
            keys.push(node.key.to_vec());
        }
        let mut elements = Vec::new();
        for key in &keys {
            let id = view.vertex_id(key).expect("an id");
            let vertex = view.vertex(&id).expect("read").expect("a vertex");
            elements.push(Element::Vertex(vertex));
        }
        let prepared = varve_cypher::prepare(
            "MATCH ()-[r]->() RETURN r ORDER BY r.k",
            &*schema,
            &NoProcedures,
            Sizes::UNKNOWN,
        );
        for row in values(&prepared.expect("a query"), graph) {
            let [Value::Relationship(one)] = &row[..] else {
                panic!("no relationship")
            };
            let edge = view.edge(&one.id).expect("read").expect("an edge");
            elements.push(Element::Edge(edge));
        }
        elements
    }

    /// One commit with one or more changes in a random period, unless the model refuses it.
    fn change(&mut self, random: &mut Random) {
        let now = self.graph.now();
        let near = |random: &mut Random| now.plus_micros(SECOND * (random.below(80) as i64 - 50));
        let from = random.one_in(2).then(|| near(random));
        let to = random.one_in(2).then(|| near(random));
        let changes = (0..1 + random.below(3)).map(|_| self.one_change(random));
        let request = Request {
            changes: changes.collect(),
            from,
            to,
            skip_unchanged: false,
        };
        // A write that ends before it is stored is refused.
        if to.is_some_and(|to| from.is_none() && to <= now.plus_micros(SECOND)) {
            return;
        }
        let Ok(plan) = self.model.plan(&request, now) else {
            return;
        };
        let stored = WriteRequest {
            mutations: request.changes.iter().map(mutation).collect(),
            period: WritePeriod { from, to },
            ..WriteRequest::default()
        };
        let version = self.graph.write_now(&stored);
        let version = version.unwrap_or_else(|error| panic!("{request:?}: {error}"));
        // A deletion of nothing may be no commit.
        if version > self.model.last_version() {
            self.model.commit(&plan, version);
        }
    }

    /// One statement that changes an element of the present, with a period or without.
    fn change_by_query(&mut self, random: &mut Random) {
        let now = self.graph.now();
        let from = random.one_in(2);
        let from = from.then(|| now.plus_micros(SECOND * (random.below(80) as i64 - 50)));
        let to = from.filter(|_| random.one_in(2));
        let to = to.map(|from| from.plus_micros(SECOND * (1 + random.below(40) as i64)));
        let is_node = random.one_in(2);
        let all = if is_node { &self.nodes } else { &self.edges };
        let at = random.below(all.len());
        let id = all[at].clone();
        let (change, clause) = self.clause(&id, random);
        let pattern = match is_node {
            true => format!("(e {{i: {at}}})"),
            false => format!("()-[e {{k: {at}}}]->()"),
        };
        let mut text = format!("MATCH {pattern} {clause}");
        if let Some(from) = from {
            let _ = write!(text, " FOR VALID_TIME FROM {}", date_time(from));
        }
        if let Some(to) = to {
            let _ = write!(text, " TO {}", date_time(to));
        }
        let request = Request {
            changes: vec![change],
            from,
            to,
            skip_unchanged: false,
        };
        let exists = self.model.state(&id, self.now()).is_some();
        let planned = self.model.plan(&request, now);
        let stored = self.write(&text);
        if !exists {
            assert_eq!(stored, Ok(None), "{text}");
            return;
        }
        match (planned, stored) {
            (Err(_), Err(_)) => {}
            (Ok(plan), Ok(Some(version))) => {
                if version > self.model.last_version() {
                    self.model.commit(&plan, version);
                }
            }
            (planned, stored) => panic!("{text}: {planned:?}, but {stored:?}"),
        }
    }

    /// A change of an element that a query finds as `e`, and the clause for it.
    fn clause(&self, id: &ElementId, random: &mut Random) -> (Change, String) {
        let (id, x) = (id.clone(), self.key("x"));
        match random.below(3) {
            0 => {
                let value = random.below(4);
                let mut properties = Properties::new();
                properties.set(x, number(value));
                (
                    Change::Append { id, properties },
                    format!("SET e.x = {value}"),
                )
            }
            1 => (
                Change::Eliminate { id, keys: vec![x] },
                "REMOVE e.x".to_owned(),
            ),
            _ => {
                let refuse_missing = false;
                let change = Change::Delete { id, refuse_missing };
                (change, "DETACH DELETE e".to_owned())
            }
        }
    }

    /// Runs a statement that writes, and commits it with the period that it names.
    fn write(&self, text: &str) -> Result<Option<CommitVersion>, String> {
        let schema = self.graph.schema();
        let prepared = varve_cypher::prepare(text, &*schema, &NoProcedures, Sizes::UNKNOWN);
        let prepared = prepared.unwrap_or_else(|error| panic!("{text}: {error}"));
        let transaction = self
            .graph
            .begin(OptimisticLimits::default())
            .expect("begun");
        let meter = Meter::unlimited();
        let graph = Graph {
            view: &transaction,
            schema: &transaction,
            writer: Some(&transaction),
            meter: &meter,
        };
        let parameters = Map::new();
        let times = prepared.times(context(graph, &parameters)).expect(text);
        rows(&prepared, graph);
        let committed = transaction.commit(WritePeriod {
            from: times.from,
            to: times.to,
        });
        committed.map_err(|error| error.to_string())
    }

    /// Checks the history of each element against the model's events.
    pub(crate) fn check_histories(&self) {
        let schema = self.graph.schema();
        let meter = Meter::unlimited();
        let view = self.graph.view(TemporalScope::NOW).expect("a view");
        let graph = Graph {
            view: &view,
            schema: &*schema,
            writer: None,
            meter: &meter,
        };
        let key = self.key("x");
        for id in self.nodes.iter().chain(&self.edges) {
            let own = self.model.events.iter().filter(|event| event.id == *id);
            let (idle, mut stored): (Vec<&Event>, Vec<&Event>) = own.partition(|event| event.idle);
            stored.sort_by_key(|event| std::cmp::Reverse(event.version));
            let wanted = stored.iter().map(|event| {
                let x = event
                    .state
                    .as_ref()
                    .map(|state| state.properties().get(key));
                let x = x.map(|x| x.and_then(Stored::as_i64));
                (event.version.0.to_string(), x)
            });
            let rows = varve_cypher::history(&Value::string(id.to_string()), &graph);
            let found = rows.expect("a history").into_iter().map(|row| {
                let x = match &row[5] {
                    Value::Map(map) => Some(match map.get("x") {
                        Some(Value::Integer(x)) => Some(*x),
                        _ => None,
                    }),
                    _ => None,
                };
                let kind = if x.is_some() { "put" } else { "delete" };
                assert_eq!(row[4].to_string(), kind, "{id}");
                (row[0].to_string(), x)
            });
            // A graph need not store the deletion of nothing.
            let is_idle =
                |version: &str| idle.iter().any(|one| one.version.0.to_string() == version);
            let found: Vec<_> = found.filter(|(version, _)| !is_idle(version)).collect();
            assert_eq!(found, wanted.collect::<Vec<_>>(), "{id}");
        }
    }

    fn one_change(&self, random: &mut Random) -> Change {
        let is_node = random.one_in(2);
        let all = if is_node { &self.nodes } else { &self.edges };
        let id = random.pick(all).clone();
        if random.one_in(3) {
            return Change::Delete {
                id,
                refuse_missing: false,
            };
        }
        // The first state of the element has its label and what never changes.
        let mut events = self.model.events.iter();
        let first = events.find(|event| event.id == id && event.state.is_some());
        let mut element = first
            .and_then(|event| event.state.clone())
            .expect("a state");
        let schema = self.graph.schema();
        let key = schema.property_key_named("x").expect("a key").id;
        let properties = match &mut element {
            Element::Vertex(vertex) => &mut vertex.properties,
            Element::Edge(edge) => &mut edge.properties,
        };
        match random.one_in(4) {
            true => drop(properties.remove(key)),
            false => properties.set(key, number(random.below(4))),
        }
        if let Element::Vertex(vertex) = &mut element
            && SchemaView::is_open(&*schema)
            && random.one_in(4)
        {
            vertex.label = random.pick(&self.model.schema.vertex_labels).id;
        }
        Change::Put {
            element,
            check_ends: true,
        }
    }

    /// An instant where something may begin or end, just before it, or after it.
    pub(crate) fn instant(&self, random: &mut Random) -> Instant {
        let event = random.pick(&self.model.events);
        let near = match random.below(3) {
            0 => event.period.from,
            1 => event.period.to,
            _ => event.version.instant(),
        };
        let near = if near == Instant::FOREVER {
            self.graph.now()
        } else {
            near
        };
        near.plus_micros([-1, 0, 1][random.below(3)])
    }

    /// A point of both times: a commit or none, and an [instant](Self::instant) or none; `None` for
    /// the present.
    pub(crate) fn point(&self, random: &mut Random) -> Option<(TemporalScope, Point)> {
        if random.one_in(6) {
            return None;
        }
        let valid = self.instant(random);
        let version = random.pick(&self.model.commits).1;
        let transaction = (!random.one_in(3)).then_some(version);
        let scope = TemporalScope {
            valid: (!random.one_in(6)).then_some(valid),
            transaction,
        };
        let point = Point {
            valid: scope.valid.unwrap_or_else(|| self.graph.now()),
            version: transaction.unwrap_or(CommitVersion::MAX),
        };
        Some((scope, point))
    }

    pub(crate) fn key(&self, name: &str) -> PropertyKeyId {
        let schema = self.graph.schema();
        schema.property_key_named(name).expect("a key").id
    }

    pub(crate) fn label_of(&self, label: VertexLabelId) -> String {
        self.graph.schema().vertex_label_name(label).to_owned()
    }

    pub(crate) fn type_of(&self, label: EdgeLabelId) -> String {
        self.graph.schema().edge_label_name(label).to_owned()
    }

    /// The present.
    pub(crate) fn now(&self) -> Point {
        Point {
            valid: self.graph.now(),
            version: CommitVersion::MAX,
        }
    }

    /// The rows of a query, with the point in its text.
    pub(crate) fn ask(&self, text: &str, point: Option<(TemporalScope, Point)>) -> Vec<String> {
        let scope = point.map_or(TemporalScope::NOW, |(scope, _)| scope);
        let mut before = String::new();
        if let Some(valid) = scope.valid {
            let at = date_time(valid);
            before = format!("FOR VALID_TIME AS OF {at} ");
        }
        if let Some(version) = scope.transaction {
            before = format!("{before}FOR SYSTEM_TIME AS OF {} ", version.0);
        }
        let text = before + text;
        let schema = self.graph.schema();
        let meter = Meter::unlimited();
        let view = self.graph.view(TemporalScope::NOW).expect("a view");
        let graph = Graph {
            view: &view,
            schema: &*schema,
            writer: None,
            meter: &meter,
        };
        let sizes = Sizes {
            graph: Some((&view, &meter)),
        };
        let prepared = varve_cypher::prepare(&text, &*schema, &NoProcedures, sizes);
        let prepared = prepared.unwrap_or_else(|error| panic!("{text}: {error}"));
        let parameters = Map::new();
        let times = prepared.times(context(graph, &parameters)).expect(&text);
        let named = TemporalScope {
            valid: times.valid,
            transaction: times.system,
        };
        assert_eq!(scope, named, "{text}");
        let view = self.graph.view(scope).expect("a view");
        rows(
            &prepared,
            Graph {
                view: &view,
                ..graph
            },
        )
    }
}

/// Whether a relationship exists at some instant at which one of its ends does not, or has another
/// label than the relationship names.
pub(crate) fn loses_an_end(model: &Model) -> bool {
    let version = CommitVersion::MAX;
    let each = model.events.iter();
    let mut instants = each.flat_map(|event| [event.period.from, event.period.to]);
    let ids = model.ids();
    instants.any(|valid| {
        let at = Point { valid, version };
        let has_end = |id: &VertexId, label| {
            let state = model.state(&ElementId::Vertex(id.clone()), at);
            matches!(state, Some(Element::Vertex(vertex)) if vertex.label == label)
        };
        ids.iter().any(|id| match model.state(id, at) {
            Some(Element::Edge(edge)) => {
                !has_end(&edge.id.source, edge.source_label)
                    || !has_end(&edge.id.target, edge.target_label)
            }
            _ => false,
        })
    })
}

/// The expression for an instant.
pub(crate) fn date_time(Instant(micros): Instant) -> String {
    let (seconds, rest) = (micros.div_euclid(SECOND), micros.rem_euclid(SECOND));
    format!(
        "datetime({{epochSeconds: {seconds}, nanosecond: {}}})",
        rest * 1_000
    )
}

fn number(value: usize) -> Stored {
    Stored::Long(value as i64)
}

fn context<'c>(graph: Graph<'c>, parameters: &'c Map) -> Context<'c> {
    Context {
        graph,
        parameters,
        clock: Clock::now(),
        procedures: &NoProcedures,
    }
}

fn values(prepared: &Prepared, graph: Graph<'_>) -> Vec<Vec<Value>> {
    let parameters = Map::new();
    let mut rows = varve_cypher::run(prepared, context(graph, &parameters)).expect("a query");
    let mut found = Vec::new();
    while let Some(batch) = rows.next().expect("rows") {
        for (row, count) in batch.rows() {
            found.extend((0..count).map(|_| row.to_vec()));
        }
    }
    found
}

fn rows(prepared: &Prepared, graph: Graph<'_>) -> Vec<String> {
    let rows = values(prepared, graph).into_iter();
    rows.map(|row| {
        let cells: Vec<String> = row.iter().map(ToString::to_string).collect();
        cells.join(" ")
    })
    .collect()
}

fn mutation(change: &Change) -> Mutation {
    match change.clone() {
        Change::Put {
            element: Element::Vertex(vertex),
            ..
        } => Mutation::PutVertex {
            vertex,
            fresh: false,
        },
        Change::Put {
            element: Element::Edge(edge),
            ..
        } => Mutation::PutEdge {
            edge,
            ends: EndCheck::Exist { labels_given: true },
        },
        Change::Delete { id, .. } => Mutation::Delete {
            id,
            missing: Missing::Ignore,
        },
        other => panic!("no history has {other:?}"),
    }
}

/// Nodes of labels A and B; R between nodes of A, S from A to B.
fn declare(graph: &StoredGraph) {
    let catalogue = graph.catalogue();
    for name in ["i", "x", "k"] {
        let key = NewPropertyKey {
            data_type: DataType::Long,
            ..NewPropertyKey::named(name)
        };
        catalogue.create_property_key(key).expect("a key");
    }
    for name in ["A", "B"] {
        let label = NewVertexLabel {
            id_strategy: Some(IdStrategy::Automatic),
            properties: vec!["i".into(), "x".into()],
            nullable_keys: vec!["x".into()],
            ..NewVertexLabel::named(name)
        };
        catalogue.create_vertex_label(label).expect("a label");
    }
    for (name, target) in [("R", "A"), ("S", "B")] {
        let label = NewEdgeLabel {
            frequency: Some(Frequency::Multiple),
            sort_keys: vec!["k".into()],
            properties: vec!["k".into(), "x".into()],
            nullable_keys: vec!["x".into()],
            ..NewEdgeLabel::between(name, "A", target)
        };
        catalogue.create_edge_label(label).expect("a label");
    }
}
