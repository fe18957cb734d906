//! Every read of the graph against the model's answer.

use std::collections::BTreeSet;
use std::sync::Arc;

use varve_encoding::{key, row};
use varve_graph::read::{HistoryPage, Spell, VersionKind, View};
use varve_graph::verify::verify;
use varve_kv::{ClusteringRange, Flow};
use varve_model::schema::Retention;
use varve_model::{
    CommitVersion, Condition, Direction, Edge, EdgeLabelId, Element, ElementId, Instant, Period,
    Predicate, Properties, PropertyKeyId, TemporalScope, Value, VertexId, VertexLabelId,
};
use varve_testkit::Random;
use varve_testkit::model::{ModelView, Point};
use varve_testkit::view_suite::{self, Questions};
use varve_view::{AccessPolicy, Coverage, ElementPolicy};

use crate::engines::POINTS_MAX;
use crate::queries;
use crate::world::World;

/// Every how many points all listings are asked too.
const QUERIED: usize = 4;

/// Random questions to the view at each point.
const VIEW_QUESTIONS: usize = 3;

pub(crate) type Outcome = Result<(), String>;

/// The present, as every operation leaves it.
pub(crate) fn present(world: &World) -> Outcome {
    let point = Point {
        valid: world.now(),
        version: CommitVersion::MAX,
    };
    point_reads(world, TemporalScope::NOW, point, &world.ids)?;
    queries::all(world, TemporalScope::NOW, point, &world.ids, false)
}

/// All points of interest, in the end.
pub(crate) fn everything(world: &World) -> Outcome {
    for (at, (scope, point)) in points(world).into_iter().enumerate() {
        let ids = comparable(world, scope);
        let reported = |wrong| format!("at {scope:?}: {wrong}");
        point_reads(world, scope, point, &ids).map_err(reported)?;
        if at % QUERIED == 0 {
            let paged = at % (4 * QUERIED) == 0;
            queries::all(world, scope, point, &ids, paged).map_err(reported)?;
        }
    }
    histories(world)?;
    sound(world)
}

/// The stored graph satisfies its invariants, and holds what the model says exists now.
pub(crate) fn sound(world: &World) -> Outcome {
    let report = verify(world.graph(), 2, &mut |_| true).map_err(|error| error.to_string())?;
    if !report.is_sound() {
        return Err(format!("verification: {:?}", report.problems));
    }
    let point = Point {
        valid: world.now(),
        version: CommitVersion::MAX,
    };
    differ(
        "vertices",
        world.model.vertices(point).len() as u64,
        report.vertices,
    )?;
    differ("edges", world.model.edges(point).len() as u64, report.edges)
}

/// The elements that the graph promises an answer for: those of labels without history only for
/// what is now or later.
fn comparable(world: &World, scope: TemporalScope) -> Vec<ElementId> {
    let past = scope.transaction.is_some() || scope.valid.is_some_and(|at| at < world.now());
    let forgotten = |id: &ElementId| {
        world.model.events.iter().any(|event| {
            let rules = event
                .state
                .as_ref()
                .map(|state| world.model.schema.rules(state));
            event.id == *id && rules.is_some_and(|rules| rules.retention != Retention::All)
        })
    };
    world
        .ids
        .iter()
        .filter(|id| !past || !forgotten(id))
        .cloned()
        .collect()
}

/// Where periods and commits begin and end, a microsecond around them, and now; in both times.
fn points(world: &World) -> Vec<(TemporalScope, Point)> {
    let now = world.now();
    let mut instants = BTreeSet::from([now, Instant::MIN, Instant(i64::MAX - 1)]);
    let mut versions: Vec<Option<CommitVersion>> = vec![None];
    for event in &world.model.events {
        for boundary in [event.period.from, event.period.to] {
            instants.extend([-1, 0, 1].map(|step| boundary.plus_micros(step)));
        }
        versions.push(Some(event.version));
        let before = CommitVersion(event.version.0 - 1);
        versions.extend([
            Some(before),
            Some(CommitVersion::last_at(event.version.instant())),
        ]);
    }
    versions.dedup();
    instants.remove(&Instant::FOREVER);
    let mut scopes = vec![TemporalScope::NOW];
    scopes.extend(instants.iter().map(|valid| TemporalScope {
        valid: Some(*valid),
        transaction: None,
    }));
    // Every version with some of the instants, each time others.
    let instants: Vec<Instant> = instants.into_iter().collect();
    for (at, version) in versions.iter().enumerate() {
        let spread = (0..4).map(|step| instants[(at * 7 + step * 11) % instants.len()]);
        let valid = spread.map(Some).chain([None]);
        scopes.extend(valid.map(|valid| TemporalScope {
            valid,
            transaction: *version,
        }));
    }
    let step = scopes.len().div_ceil(POINTS_MAX);
    let chosen = scopes.into_iter().step_by(step);
    let point = |scope: TemporalScope| Point {
        valid: scope.valid.unwrap_or(now),
        version: scope.transaction.unwrap_or(CommitVersion::MAX),
    };
    // A transaction time to come is refused.
    let past = chosen.filter(|scope| {
        scope
            .transaction
            .is_none_or(|version| version <= CommitVersion::last_at(now))
    });
    past.map(|scope| (scope, point(scope))).collect()
}

fn point_reads(world: &World, scope: TemporalScope, point: Point, ids: &[ElementId]) -> Outcome {
    let view = world
        .graph()
        .view(scope)
        .map_err(|error| error.to_string())?;
    for id in ids {
        let wanted = world.model.state(id, point);
        let direct = read(world, id, scope)?;
        differ(&format!("{id}"), wanted, direct.as_ref())?;
        let viewed = match id {
            ElementId::Vertex(id) => view.vertex(id).map(|found| found.map(Element::Vertex)),
            ElementId::Edge(id) => view.edge(id).map(|found| found.map(Element::Edge)),
        };
        let viewed = viewed.map_err(|error| error.to_string())?;
        differ(&format!("{id} in a view"), wanted, viewed.as_ref())?;
    }
    let mut vertices: BTreeSet<VertexId> = BTreeSet::new();
    for id in ids {
        match id {
            ElementId::Vertex(id) => drop(vertices.insert(id.clone())),
            ElementId::Edge(id) => vertices.extend([id.source.clone(), id.target.clone()]),
        }
    }
    for vertex in &vertices {
        for direction in [Direction::Out, Direction::In] {
            let mut wanted = world.model.adjacent(vertex, direction, point);
            wanted.retain(|edge| ids.contains(&ElementId::Edge(edge.id.clone())));
            let mut found = adjacent(
                &view,
                vertex,
                &ClusteringRange::prefix(&key::direction_prefix(direction)),
            )?;
            found.retain(|edge| ids.contains(&ElementId::Edge(edge.id.clone())));
            differ(&format!("{direction:?} edges of {vertex}"), &wanted, &found)?;
        }
    }
    if ids.len() == world.ids.len() {
        graph_view(world, &view, point, vertices)?;
    }
    Ok(())
}

/// The view answers queries as the model does.
fn graph_view(world: &World, view: &View, point: Point, vertices: BTreeSet<VertexId>) -> Outcome {
    let schema = &world.model.schema;
    let labels = schema.edge_labels.iter();
    let unknown = EdgeLabelId(9_999);
    let questions = Questions {
        vertices: &vertices.into_iter().collect::<Vec<_>>(),
        vertex_labels: &(schema.vertex_labels.iter())
            .map(|label| label.id)
            .chain([VertexLabelId(9_999)])
            .collect::<Vec<_>>(),
        labels: &labels
            .map(|label| label.id)
            .chain([unknown])
            .collect::<Vec<_>>(),
        properties: &(1..=8).map(PropertyKeyId).collect::<Vec<_>>(),
    };
    let seed = point.valid.0 as u64 ^ point.version.0;
    let random = &mut Random::new(seed);
    let model = ModelView::new(&world.model, point);
    view_suite::compare(view, &model, &questions, random, VIEW_QUESTIONS)?;
    let all = Arc::new(policy_of(&questions, &mut || Coverage::All));
    let guarded = view.clone().guarded_by(Some(&all));
    view_suite::compare(&guarded, &model, &questions, random, VIEW_QUESTIONS)
        .map_err(|wrong| format!("guarded by a policy that hides nothing: {wrong}"))?;
    let is_now = view.scope().is_now();
    let policy = Arc::new(policy_of(&questions, &mut || match random.below(4) {
        0 => Coverage::Nothing,
        // Of the past they are about two states.
        1 if is_now => some_condition(random),
        _ => Coverage::All,
    }));
    let guarded = view.clone().guarded_by(Some(&policy));
    let shown = shown(&model, &policy);
    view_suite::compare(&guarded, &shown, &questions, random, VIEW_QUESTIONS)
        .map_err(|wrong| format!("guarded by {policy:?}: {wrong}"))
}

/// What is covered of each label that may be asked for.
fn policy_of(questions: &Questions<'_>, coverage: &mut dyn FnMut() -> Coverage) -> AccessPolicy {
    let vertices = questions.vertex_labels.iter();
    let edges = questions.labels.iter();
    AccessPolicy {
        read: ElementPolicy {
            vertices: vertices.map(|label| (*label, coverage())).collect(),
            edges: edges.map(|label| (*label, coverage())).collect(),
        },
        ..AccessPolicy::default()
    }
}

/// Elements that have a certain property.
fn some_condition(random: &mut Random) -> Coverage {
    let mut coverage = Coverage::default();
    coverage.add(vec![Condition {
        key: PropertyKeyId(1 + random.below(8) as u32),
        predicate: Predicate::Neq(Value::Boolean(true)),
    }]);
    coverage
}

/// The model without what a policy does not cover.
fn shown(model: &ModelView, policy: &AccessPolicy) -> ModelView {
    let policy = &policy.read;
    let covers = |coverage: &Coverage, properties: &Properties| match coverage {
        Coverage::Nothing => false,
        Coverage::All => true,
        Coverage::Where(any_of) => any_of.holds(properties, &|_, _| false),
    };
    let mut vertices = model.all_vertices().to_vec();
    vertices.retain(|vertex| covers(policy.vertex(vertex.label), &vertex.properties));
    let is_end = |id: &VertexId, label| match policy.vertex(label) {
        Coverage::Nothing => false,
        Coverage::All => true,
        Coverage::Where(_) => vertices.iter().any(|vertex| vertex.id == *id),
    };
    let mut edges = model.all_edges().to_vec();
    edges.retain(|edge| {
        covers(policy.edge(edge.id.label), &edge.properties)
            && is_end(&edge.id.source, edge.source_label)
            && is_end(&edge.id.target, edge.target_label)
    });
    ModelView::of(vertices, edges)
}

fn read(world: &World, id: &ElementId, scope: TemporalScope) -> Result<Option<Element>, String> {
    let found = match id {
        ElementId::Vertex(id) => world
            .graph()
            .vertex(id, scope)
            .map(|found| found.map(Element::Vertex)),
        ElementId::Edge(id) => world
            .graph()
            .edge(id, scope)
            .map(|found| found.map(Element::Edge)),
    };
    found.map_err(|error| error.to_string())
}

fn adjacent(view: &View, vertex: &VertexId, range: &ClusteringRange) -> Result<Vec<Edge>, String> {
    let mut edges = Vec::new();
    let partition = key::vertex_id(vertex);
    let visited = view.adjacent(vertex, range, &mut |found| {
        let (id, _) = key::decode_edge(&partition, found.clustering).expect("an edge's key");
        edges.push(row::decode_edge(id, found.content).expect("an edge's row"));
        Flow::Continue(())
    });
    visited.map_err(|error| error.to_string())?;
    Ok(edges)
}

/// Histories as of now and as of each commit.
fn histories(world: &World) -> Outcome {
    let mut versions: Vec<_> = world
        .model
        .events
        .iter()
        .map(|event| Some(event.version))
        .collect();
    versions.dedup();
    versions.push(None);
    for version in versions {
        let scope = TemporalScope {
            valid: None,
            transaction: version,
        };
        for id in comparable(
            world,
            TemporalScope {
                transaction: Some(CommitVersion::ZERO),
                ..scope
            },
        ) {
            history(world, &id, scope)
                .map_err(|wrong| format!("history of {id} at {version:?}: {wrong}"))?;
            timeline(world, &id, scope)
                .map_err(|wrong| format!("timeline of {id} at {version:?}: {wrong}"))?;
        }
    }
    events(world)
}

/// The events as they are stored, of one element and of several vertices, all of them and only the
/// newest ones.
fn events(world: &World) -> Outcome {
    let text = |error: varve_graph::GraphError| error.to_string();
    let view = world.graph().view(TemporalScope::NOW).map_err(text)?;
    let page = HistoryPage {
        before: None,
        limit: usize::MAX,
    };
    let mut vertices = Vec::new();
    let mut of_vertices = Vec::new();
    for (at, id) in world.ids.iter().enumerate() {
        let listed = view.history(id, page).map_err(text)?.into_iter();
        let mut wanted: Vec<_> = listed
            .map(|past| (past.version, past.period, past.element.is_some()))
            .collect();
        // How many are wanted: never none, as a visitor is shown one before it can say so.
        let most = [1, 2, usize::MAX][at % 3];
        wanted.truncate(most);
        let mut found = Vec::new();
        view.visit_events(id, &mut |event| {
            found.push((event.version, event.period, event.content.is_some()));
            flow(found.len() < most)
        })
        .map_err(text)?;
        differ(&format!("events of {id}"), &wanted, &found)?;
        if let ElementId::Vertex(vertex) = id {
            vertices.push(vertex.clone());
            of_vertices.push((most, wanted));
        }
    }
    let mut found = vec![Vec::new(); vertices.len()];
    view.visit_events_of_vertices(&vertices, &mut |at, event| {
        found[at].push((event.version, event.period, event.content.is_some()));
        flow(found[at].len() < of_vertices[at].0)
    })
    .map_err(text)?;
    let wanted: Vec<_> = of_vertices.into_iter().map(|(_, wanted)| wanted).collect();
    differ("events of vertices", wanted, found)
}

fn flow(goes_on: bool) -> Flow {
    match goes_on {
        true => Flow::Continue(()),
        false => Flow::Break(()),
    }
}

/// The states along valid time, whole and page by page.
fn timeline(world: &World, id: &ElementId, scope: TemporalScope) -> Outcome {
    let view = world
        .graph()
        .view(scope)
        .map_err(|error| error.to_string())?;
    let mut looked = || Flow::Continue(());
    let mut page = |from: Instant, limit: usize| {
        let within = Period::since(from);
        view.timeline(id, within, limit, &mut looked)
            .map_err(|error| error.to_string())
    };
    let shown = |spell: Spell| (spell.period, spell.version, spell.element);
    let version = scope.transaction.unwrap_or(CommitVersion::MAX);
    let wanted = world.model.timeline(id, version);
    let all = page(Instant::MIN, usize::MAX)?;
    differ("end", None, all.next)?;
    let all: Vec<_> = all.spells.into_iter().map(shown).collect();
    differ("states", &wanted, &all)?;
    let (mut paged, mut from) = (Vec::new(), Some(Instant::MIN));
    while let Some(at) = from {
        let part = page(at, 2)?;
        paged.extend(part.spells.into_iter().map(shown));
        from = part.next;
    }
    differ("pages", &wanted, &paged)
}

fn history(world: &World, id: &ElementId, scope: TemporalScope) -> Outcome {
    let page = HistoryPage {
        before: None,
        limit: usize::MAX,
    };
    let found = world
        .graph()
        .history(id, scope, page)
        .map_err(|error| error.to_string())?;
    let version = scope.transaction.unwrap_or(CommitVersion::MAX);
    let wanted = world.model.history(id, version);
    // Deletions of nothing may be stored or not.
    let idle = |version: CommitVersion, period: Period| {
        let before = CommitVersion(version.0 - 1);
        !world.model.exists_within(id, period, before)
    };
    let reported: Vec<_> = found
        .iter()
        .filter(|past| past.element.is_some() || !idle(past.version, past.period))
        .map(|past| {
            assert_eq!(past.kind == VersionKind::Put, past.element.is_some());
            (past.version, past.period, past.element.clone())
        })
        .collect();
    let expected: Vec<_> = wanted
        .iter()
        .filter(|past| past.state.is_some() || !idle(past.version, past.period))
        .map(|past| (past.version, past.period, past.state.clone()))
        .collect();
    differ("events", &expected, &reported)?;
    for (at, past) in found.iter().enumerate() {
        let newer = found[..at]
            .iter()
            .rev()
            .find(|newer| newer.period.overlaps(past.period));
        differ(
            "superseded",
            newer.map(|newer| newer.version),
            past.superseded,
        )?;
    }
    // Page by page it is the same list.
    let mut paged = Vec::new();
    let mut before = None;
    loop {
        let page = HistoryPage { before, limit: 2 };
        let part = world
            .graph()
            .history(id, scope, page)
            .map_err(|error| error.to_string())?;
        let Some(last) = part.last() else { break };
        before = Some(last.version);
        paged.extend(part);
    }
    differ("pages", &found, &paged)
}

pub(crate) fn differ<T: PartialEq + std::fmt::Debug>(what: &str, wanted: T, found: T) -> Outcome {
    if wanted == found {
        return Ok(());
    }
    Err(format!("{what}:\n wanted {wanted:?}\n  found {found:?}"))
}
