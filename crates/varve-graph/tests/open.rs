//! Open graphs: schema on first use, ids and edges of any kind, values of any kind, searches of
//! several values at points of both times.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use varve_graph::element::{EdgeForm, EdgeInput, NewEdge, RawValue, Rules, VertexInput};
use varve_graph::query::{self, VertexQuery};
use varve_graph::schema::{
    BaseType, FirstUse, GraphMode, LabelUse, NewIndexLabel, Schema, SchemaMode,
};
use varve_graph::verify::verify;
use varve_graph::write::{EndCheck, Mutation, WriteRequest};
use varve_graph::{ErrorKind, Graph, GraphOptions, Registry};
use varve_kv::{Flow, MemoryEngine};
use varve_model::schema::IndexType;
use varve_model::value::{DateTime, Duration};
use varve_model::{
    Cardinality, Clock, CommitVersion, Condition, DataType, EdgeId, Instant, Predicate, Properties,
    PropertyKeyId, TemporalScope, Value, Vertex, VertexId, VertexLabelId,
};
use varve_testkit::ManualClock;

const START: Instant = Instant(1_700_000_000_000_000);
const NAME: PropertyKeyId = PropertyKeyId(1);
const AGE: PropertyKeyId = PropertyKeyId(2);
const ANY: PropertyKeyId = PropertyKeyId(3);
const PERSON: VertexLabelId = VertexLabelId(1);

fn registry(engine: &Arc<MemoryEngine>) -> Registry {
    let clock = Arc::new(ManualClock::new(START)) as Arc<dyn Clock>;
    let options = GraphOptions::new(clock);
    Registry::open(Arc::clone(engine) as _, options).expect("a registry")
}

fn used() -> FirstUse<'static> {
    FirstUse {
        vertex_labels: vec![LabelUse {
            name: "person",
            ids: None,
            keys: vec![
                ("name", DataType::Text),
                ("age", DataType::Int),
                ("any", DataType::Object),
            ],
        }],
        edge_labels: vec![LabelUse {
            name: "knows",
            ..LabelUse::default()
        }],
        ..FirstUse::default()
    }
}

/// An open graph with the label person, whose names and ages are indexed, and the label knows.
fn graph(registry: &Registry) -> Arc<Graph> {
    let graph = registry
        .create_with("g", SchemaMode::Open)
        .expect("a graph");
    let catalogue = graph.catalogue();
    catalogue.ensure(&used()).expect("the schema");
    for (name, index_type, field) in [
        ("byName", IndexType::Secondary, "name"),
        ("byAge", IndexType::Range, "age"),
    ] {
        let base = BaseType::VertexLabel;
        let index = NewIndexLabel {
            rebuild: false,
            ..NewIndexLabel::on(name, base, "person", index_type, &[field])
        };
        catalogue.create_index_label(index).expect("an index");
    }
    graph
}

fn put(graph: &Arc<Graph>, id: i64, properties: &Properties) -> CommitVersion {
    let vertex = Vertex {
        id: VertexId::Number(id),
        label: PERSON,
        properties: properties.clone(),
    };
    let fresh = false;
    let put = Mutation::PutVertex { vertex, fresh };
    let request = WriteRequest::now(vec![put]);
    graph.write_now(&request).expect("written")
}

#[test]
fn an_open_graph_stays_open_when_it_is_cleared_and_opened_again() {
    let engine = Arc::new(MemoryEngine::new());
    {
        let registry = registry(&engine);
        graph(&registry);
        registry.create("declared").expect("a graph");
        let cleared = registry.clear("g").expect("cleared");
        assert!(cleared.schema().is_open());
        assert_eq!(cleared.schema().all_vertex_labels().count(), 0);
        cleared.catalogue().ensure(&used()).expect("made again");
        registry.close();
    }
    let registry = registry(&engine);
    let schema = registry.get("g").expect("there").schema();
    assert_eq!(schema.mode(), SchemaMode::Open);
    assert!(schema.vertex_label_by_name("person").is_some());
    let declared = registry.get("declared").expect("there");
    assert_eq!(declared.schema().mode(), SchemaMode::Declared);
    let refused = declared.catalogue().ensure(&used()).expect_err("declared");
    assert_eq!(refused.kind, ErrorKind::NotAllowed);
}

fn rules<T>(graph: &Arc<Graph>, work: impl FnOnce(&Schema, &Rules<'_>) -> T) -> T {
    let (schema, next) = (graph.schema(), || graph.next_vertex_id());
    let rules = Rules {
        schema: &schema,
        mode: GraphMode::None,
        next_vertex_id: &next,
        next_edge_number: &|| graph.next_edge_number(),
    };
    work(&schema, &rules)
}

fn vertex(graph: &Arc<Graph>, id: Option<RawValue<'_>>) -> VertexId {
    let input = VertexInput {
        label: Some(Cow::Borrowed("person")),
        id,
        properties: Some(Vec::new()),
    };
    let new = rules(graph, |_, rules| rules.vertex(input)).expect("accepted");
    let (vertex, fresh) = (new.vertex, new.fresh);
    let id = vertex.id.clone();
    let put = Mutation::PutVertex { vertex, fresh };
    graph
        .write_now(&WriteRequest::now(vec![put]))
        .expect("written");
    id
}

#[test]
fn a_label_takes_ids_of_every_kind() {
    let graph = graph(&registry(&Arc::new(MemoryEngine::new())));
    let drawn = vertex(&graph, None);
    assert!(matches!(drawn, VertexId::Number(number) if number > 1_000_000_000));
    let text = vertex(&graph, Some(RawValue::Text("1".into())));
    let number = vertex(&graph, Some(RawValue::Integer(1)));
    assert_eq!(
        (text.clone(), number.clone()),
        (VertexId::text("1"), VertexId::Number(1))
    );
    for id in [drawn, text, number] {
        let found = graph.vertex(&id, TemporalScope::NOW).expect("read");
        assert_eq!(found.map(|vertex| vertex.label), Some(PERSON));
    }
    assert!(
        verify(&graph, 1, &mut |_| true)
            .expect("verified")
            .is_sound()
    );
}

fn edge(graph: &Arc<Graph>, id: Option<&str>, ends: (i64, i64)) -> EdgeId {
    let input = EdgeInput {
        id: id.map(Cow::Borrowed),
        label: Some(Cow::Borrowed("knows")),
        source: Some(RawValue::Integer(ends.0)),
        source_label: None,
        target: Some(RawValue::Integer(ends.1)),
        target_label: None,
        properties: Some(Vec::new()),
    };
    let form = EdgeForm {
        labels_required: false,
        ends_checked: true,
    };
    let NewEdge { edge, labels_given } =
        rules(graph, |_, rules| rules.edge(input, form)).expect("accepted");
    let id = edge.id.clone();
    let ends = EndCheck::Exist { labels_given };
    let put = Mutation::PutEdge { edge, ends };
    graph
        .write_now(&WriteRequest::now(vec![put]))
        .expect("written");
    id
}

#[test]
fn parallel_edges_live_side_by_side_in_the_order_of_their_making() {
    let graph = graph(&registry(&Arc::new(MemoryEngine::new())));
    for id in [1, 2] {
        vertex(&graph, Some(RawValue::Integer(id)));
    }
    let made: Vec<EdgeId> = (0..5).map(|_| edge(&graph, None, (1, 2))).collect();
    let sorts: Vec<&str> = made.iter().map(|id| id.sort_values.as_str()).collect();
    assert!(sorts.is_sorted(), "{sorts:?}");
    let distinct: BTreeSet<&&str> = sorts.iter().collect();
    assert_eq!(distinct.len(), 5);
    // An edge that comes with its id, as from a dump, is that edge.
    assert_eq!(edge(&graph, Some(&made[2].to_string()), (1, 2)), made[2]);
    for id in &made {
        let found = graph.edge(id, TemporalScope::NOW).expect("read");
        let found = found.expect("there");
        assert_eq!((found.source_label, found.target_label), (PERSON, PERSON));
    }
    assert!(
        verify(&graph, 1, &mut |_| true)
            .expect("verified")
            .is_sound()
    );
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % bound
    }

    fn any(&mut self) -> Value {
        let number = self.below(5) as i32 - 2;
        match self.below(9) {
            0 => Value::Short(number as i16),
            1 => Value::BigInt(Box::new(number.into())),
            2 => Value::BigDecimal(Box::new(i64::from(number).into())),
            3 => Value::Char('x'),
            4 => Value::DateTime(DateTime {
                micros: i64::from(number),
                offset: 60,
            }),
            5 => Value::Duration(Duration {
                seconds: i64::from(number),
                nanos: 1,
            }),
            6 => Value::Map(vec![(Value::Int(number), self.any())]),
            7 => Value::List(vec![Value::Set(vec![self.any()]), Value::Long(1)]),
            _ => Value::Boolean(true),
        }
    }

    fn write(&mut self, properties: &mut Properties) {
        let cardinality = match self.below(3) {
            0 => Cardinality::Single,
            1 => Cardinality::List,
            _ => Cardinality::Set,
        };
        let (key, value) = match self.below(3) {
            0 => (NAME, Value::Text(format!("n{}", self.below(4)))),
            1 => (AGE, Value::Int(self.below(6) as i32)),
            _ => (ANY, self.any()),
        };
        let meta = match self.below(3) {
            0 => [(ANY, self.any())].into_iter().collect(),
            _ => Properties::new(),
        };
        match self.below(8) {
            0 => {
                properties.remove(key);
            }
            1 => {
                let number = properties.values(key).last().map_or(0, |one| one.number);
                properties.remove_value(key, number);
            }
            _ => drop(properties.write(key, cardinality, value, meta)),
        }
    }
}

type Model = BTreeMap<i64, Properties>;

/// The model says what a search finds.
fn check(graph: &Arc<Graph>, scope: TemporalScope, model: &Model) {
    let view = graph.view(scope).expect("a view");
    for (id, properties) in model {
        let id = VertexId::Number(*id);
        let found = graph.vertex(&id, scope).expect("read").expect("there");
        assert!(found.properties.is_identical(properties), "{id}: {found:?}");
    }
    let mut conditions: Vec<Condition> = Vec::new();
    for number in 0..4 {
        let value = Value::Text(format!("n{number}"));
        conditions.push(Condition {
            key: NAME,
            predicate: Predicate::Eq(value),
        });
    }
    for number in 0..6 {
        for predicate in [
            Predicate::Eq(Value::Int(number)),
            Predicate::Gt(Value::Int(number)),
            Predicate::Between(Value::Int(1), Value::Int(number)),
        ] {
            conditions.push(Condition {
                key: AGE,
                predicate,
            });
        }
    }
    for condition in conditions {
        let wanted: Vec<i64> = model
            .iter()
            .filter(|(_, properties)| {
                let mut values = properties.values(condition.key);
                values.any(|one| condition.predicate.holds(one.value, &|_, _| false))
            })
            .map(|(id, _)| *id)
            .collect();
        let ask = VertexQuery {
            label: Some(PERSON),
            conditions: vec![condition.clone()],
            limit: -1,
            ..VertexQuery::default()
        };
        let mut found: Vec<i64> = Vec::new();
        query::vertices(&view, view.schema(), &ask, &mut |id, _| {
            let VertexId::Number(number) = id else {
                panic!("{id} is a number")
            };
            found.push(*number);
            Flow::Continue(())
        })
        .expect("found");
        found.sort_unstable();
        assert_eq!(found, wanted, "{condition:?}");
    }
}

#[test]
fn random_writes_of_several_values_are_found_at_every_point_of_transaction_time() {
    for seed in 0..20 {
        let mut random = Random(seed);
        let graph = graph(&registry(&Arc::new(MemoryEngine::new())));
        let mut model = Model::new();
        let mut past: Vec<(CommitVersion, Model)> = Vec::new();
        for step in 0..60 {
            let id = random.below(5) as i64;
            let properties = model.entry(id).or_default();
            random.write(properties);
            let version = put(&graph, id, properties);
            if step % 10 == 0 {
                check(&graph, TemporalScope::NOW, &model);
                past.push((version, model.clone()));
            }
        }
        for (version, model) in &past {
            let scope = TemporalScope {
                transaction: Some(*version),
                ..TemporalScope::NOW
            };
            check(&graph, scope, model);
        }
        let report = verify(&graph, 1, &mut |_| true).expect("verified");
        assert!(report.is_sound(), "seed {seed}: {:?}", report.problems);
    }
}
