//! Random histories of a stored graph: commits with periods of the past and the future, which
//! correct what was said before, and deletions. The model is given the same requests.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use varve_graph::read::View;
use varve_graph::schema::{NewEdgeLabel, NewPropertyKey, NewVertexLabel};
use varve_graph::write::{EndCheck, Missing, Mutation, WritePeriod, WriteRequest};
use varve_graph::{DurabilityMode, Graph, GraphOptions, Registry};
use varve_kv::MemoryEngine;
use varve_model::schema::IdStrategy;
use varve_model::{
    CommitVersion, DataType, Edge, EdgeId, EdgeLabelId, Element, ElementId, Instant, Properties,
    PropertyKeyId, TemporalScope, Value, Vertex, VertexId, VertexLabelId,
};
use varve_testkit::model::{Change, Model, ModelSchema, ModelView, Point, Request};
use varve_testkit::{ManualClock, Random};

/// The property of vertices and edges: a whole number below [`VALUES`].
pub(crate) const KEY: PropertyKeyId = PropertyKeyId(1);
const VALUES: usize = 4;
const NAME: PropertyKeyId = PropertyKeyId(2);
/// All properties; the second one is a text.
pub(crate) const KEYS: [(PropertyKeyId, &str); 2] = [(KEY, "age"), (NAME, "name")];
pub(crate) const NAMES: [&str; 4] = ["ann", "bob", "Cy", " zoe "];
pub(crate) const VERTEX_LABELS: [&str; 2] = ["person", "software"];
pub(crate) const EDGE_LABELS: [&str; 3] = ["knows", "created", "wrote"];

/// Where the clock starts: 2023-11-14.
const START: Instant = Instant(1_700_000_000_000_000);
/// How many microseconds before now a period begins at most.
const BACK: usize = 1_500;
/// How many points of a history are read.
const POINTS: u64 = 10;

pub(crate) struct History {
    graph: Arc<Graph>,
    _registry: Registry,
    clock: Arc<ManualClock>,
    model: Model,
    vertices: usize,
    edges: Vec<EdgeId>,
    /// The version of the first commit.
    first: CommitVersion,
}

thread_local! {
    /// The history that was read last, with its seed.
    static LAST: RefCell<Option<(u64, Rc<History>)>> = const { RefCell::new(None) };
}

/// A point of a history, as the graph shows it and as the model does.
pub(crate) fn point(seed: u64, random: &mut Random) -> (View, ModelView) {
    let history = history(seed / POINTS);
    let (scope, point) = history.draw(random);
    let view = history.graph.view(scope).expect("a view");
    (view, ModelView::new(&history.model, point))
}

/// The same at a point where each edge joins two vertices that exist. What is said of an edge that
/// leads nowhere may depend on whether its end was read.
pub(crate) fn whole_point(seed: u64, random: &mut Random) -> (View, ModelView) {
    loop {
        let (view, model) = point(seed, random);
        if is_whole(&model) {
            return (view, model);
        }
    }
}

fn is_whole(model: &ModelView) -> bool {
    let exists = |id: &VertexId| model.all_vertices().iter().any(|vertex| vertex.id == *id);
    let mut edges = model.all_edges().iter();
    edges.all(|edge| exists(&edge.id.source) && exists(&edge.id.target))
}

fn history(seed: u64) -> Rc<History> {
    LAST.with_borrow_mut(|last| match last {
        Some((of, history)) if *of == seed => Rc::clone(history),
        _ => {
            let history = Rc::new(History::new(seed));
            *last = Some((seed, Rc::clone(&history)));
            history
        }
    })
}

impl History {
    fn new(seed: u64) -> Self {
        let clock = Arc::new(ManualClock::new(START));
        let mut options = GraphOptions::new(Arc::clone(&clock) as _);
        options.durability = DurabilityMode::None;
        let registry = Registry::open(Arc::new(MemoryEngine::new()), options);
        let registry = registry.expect("a registry");
        let graph = registry.create("g").expect("a graph");
        let schema = create_schema(&graph);
        let mut random = Random::new(seed);
        let mut history = Self {
            clock,
            graph,
            _registry: registry,
            model: Model::new(schema),
            vertices: 2 + random.below(7),
            edges: Vec::new(),
            first: CommitVersion::ZERO,
        };
        let all = (0..history.vertices).map(|at| put_vertex(at, &mut random));
        history.commit(all.collect(), Some(Instant(START.0 - BACK as i64)), None);
        history.first = history.graph.published();
        for _ in 0..10 + random.below(15) {
            history.step(&mut random);
        }
        history
    }

    /// One request, a moment later.
    fn step(&mut self, random: &mut Random) {
        self.clock.step(1 + random.below(200) as i64);
        let changes = (0..1 + random.below(4)).map(|_| self.change(random));
        let changes = changes.collect();
        let now = self.graph.now();
        let from = random
            .one_in(2)
            .then(|| now.plus_micros(random.below(BACK + 500) as i64 - BACK as i64));
        let to = random.one_in(3).then(|| {
            let start = from.unwrap_or(now);
            start.plus_micros(1 + random.below(1_000) as i64)
        });
        self.commit(changes, from, to);
    }

    fn change(&mut self, random: &mut Random) -> Change {
        let delete = |id| Change::Delete {
            id,
            refuse_missing: false,
        };
        match random.below(20) {
            // The first vertex stays: no point is without a vertex.
            0 => delete(ElementId::Vertex(id(1 + random.below(self.vertices - 1)))),
            1..=3 if !self.edges.is_empty() => {
                delete(ElementId::Edge(random.pick(&self.edges).clone()))
            }
            4..=7 => put_vertex(random.below(self.vertices), random),
            _ => self.put_edge(random),
        }
    }

    fn put_edge(&mut self, random: &mut Random) -> Change {
        let ends = [random.below(self.vertices), random.below(self.vertices)];
        let label = EdgeLabelId(1 + random.below(EDGE_LABELS.len()) as u32);
        let edge = Edge {
            id: EdgeId {
                source: id(ends[0]),
                parent: label,
                label,
                sort_values: random.below(2).to_string().into(),
                target: id(ends[1]),
            },
            source_label: label_of(ends[0]),
            target_label: label_of(ends[1]),
            properties: value(random),
        };
        self.edges.push(edge.id.clone());
        Change::Put {
            element: Element::Edge(edge),
            check_ends: false,
        }
    }

    /// Gives a request to the graph and to the model.
    fn commit(&mut self, changes: Vec<Change>, from: Option<Instant>, to: Option<Instant>) {
        let (now, before) = (self.graph.now(), self.graph.published());
        let mutations = changes.iter().map(mutation).collect();
        let request = Request {
            changes,
            from,
            to,
            skip_unchanged: false,
        };
        let plan = self.model.plan(&request, now).expect("a plan");
        let written = self.graph.write_now(&WriteRequest {
            mutations,
            period: WritePeriod { from, to },
            ..WriteRequest::default()
        });
        let version = written.expect("stored");
        if version != before {
            self.model.commit(&plan, version);
        }
    }

    /// A point of both times; the present in one of six cases.
    fn draw(&self, random: &mut Random) -> (TemporalScope, Point) {
        let now = self.graph.now();
        let span = (now.0 - START.0) as usize + BACK;
        let mut scope = TemporalScope::NOW;
        if !random.one_in(3) {
            let back = random.below(span + 300) as i64 - 300;
            scope.valid = Some(now.plus_micros(-back));
        }
        if random.one_in(2) {
            let event = random.pick(&self.model.events);
            let version = CommitVersion(event.version.0 - random.below(2) as u64);
            scope.transaction = Some(version.max(self.first));
        }
        let point = Point {
            valid: scope.valid.unwrap_or(now),
            version: scope.transaction.unwrap_or(CommitVersion::MAX),
        };
        (scope, point)
    }
}

fn id(place: usize) -> VertexId {
    VertexId::Number(place as i64)
}

/// The label of a vertex, whenever it exists.
const fn label_of(place: usize) -> VertexLabelId {
    VertexLabelId(1 + (place % VERTEX_LABELS.len()) as u32)
}

/// One in six elements has no number, and one in six has no name.
fn value(random: &mut Random) -> Properties {
    let number = Value::Int(random.below(VALUES) as i32);
    let number = (!random.one_in(6)).then_some((KEY, number));
    let name = Value::Text((*random.pick(&NAMES)).into());
    let name = (!random.one_in(6)).then_some((NAME, name));
    number.into_iter().chain(name).collect()
}

fn put_vertex(place: usize, random: &mut Random) -> Change {
    let vertex = Vertex {
        id: id(place),
        label: label_of(place),
        properties: value(random),
    };
    Change::Put {
        element: Element::Vertex(vertex),
        check_ends: false,
    }
}

fn mutation(change: &Change) -> Mutation {
    match change {
        Change::Put {
            element: Element::Vertex(vertex),
            ..
        } => Mutation::PutVertex {
            vertex: vertex.clone(),
            fresh: false,
        },
        Change::Put {
            element: Element::Edge(edge),
            ..
        } => Mutation::PutEdge {
            edge: edge.clone(),
            ends: EndCheck::Skip,
        },
        Change::Delete { id, .. } => Mutation::Delete {
            id: id.clone(),
            missing: Missing::Ignore,
        },
        other => unreachable!("no history has {other:?}"),
    }
}

/// Creates the labels, and says them as the model knows them.
fn create_schema(graph: &Graph) -> ModelSchema {
    let catalogue = graph.catalogue();
    for ((id, name), data_type) in KEYS.into_iter().zip([DataType::Int, DataType::Text]) {
        let key = NewPropertyKey {
            data_type,
            ..NewPropertyKey::named(name)
        };
        let made = catalogue.create_property_key(key).expect("a property key");
        assert_eq!(made.element.id, id);
    }
    let properties = || KEYS.map(|(_, name)| name.to_owned()).to_vec();
    for name in VERTEX_LABELS {
        let label = NewVertexLabel {
            id_strategy: Some(IdStrategy::CustomizeNumber),
            properties: properties(),
            nullable_keys: properties(),
            ..NewVertexLabel::named(name)
        };
        catalogue.create_vertex_label(label).expect("a label");
    }
    for name in EDGE_LABELS {
        let label = NewEdgeLabel {
            properties: properties(),
            nullable_keys: properties(),
            ..NewEdgeLabel::between(name, VERTEX_LABELS[0], VERTEX_LABELS[0])
        };
        catalogue.create_edge_label(label).expect("a label");
    }
    let schema = graph.schema();
    let vertex = |at| {
        schema
            .vertex_label(VertexLabelId(at))
            .map(|label| (**label).clone())
    };
    let edge = |at| {
        schema
            .edge_label(EdgeLabelId(at))
            .map(|label| (**label).clone())
    };
    ModelSchema {
        vertex_labels: (1..=2).filter_map(vertex).collect(),
        edge_labels: (1..=3).filter_map(edge).collect(),
        index_labels: Vec::new(),
    }
}

/// The points of a history differ, or its tests would show little.
#[test]
fn histories_have_different_graphs_at_different_points() {
    let mut differ = 0;
    for seed in 0..50 {
        let mut random = Random::new(seed);
        let shown = |random: &mut Random| {
            let (_, view) = point(seed * POINTS, random);
            let of = (view.all_vertices(), view.all_edges());
            format!("{of:?}")
        };
        let mut all: Vec<String> = (0..POINTS).map(|_| shown(&mut random)).collect();
        all.sort_unstable();
        all.dedup();
        differ += usize::from(all.len() >= 5);
    }
    assert!(differ >= 40, "of 50 histories {differ} have five graphs");
}
