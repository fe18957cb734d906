//! Definitions of indexes and unique values of open graphs: they cover labels and keys that come
//! later, take values of all types, and outlive the process.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use varve_encoding::tables::{INDEX, VERTEX};
use varve_graph::index::check_existing;
use varve_graph::optimistic::{OptimisticLimits, OptimisticTransaction};
use varve_graph::schema::{
    BaseType, Definition, DefinitionKind, DefinitionState, NewDefinition, NewIndexLabel,
    PropertyType, ScalarType, SchemaKind, SchemaMode,
};
use varve_graph::tasks::{TaskId, TaskStatus};
use varve_graph::verify::verify;
use varve_graph::write::WritePeriod;
use varve_graph::{ErrorKind, Graph, GraphError, GraphOptions, Registry};
use varve_kv::{Batch, Durability, MemoryEngine, Row, TableId};
use varve_model::schema::IndexType;
use varve_model::{
    Clock, Condition, ElementId, Instant, Predicate, TemporalScope, Value, VertexId,
};
use varve_testkit::ManualClock;
use varve_view::{
    EdgeAddition, Elements, Flow, GraphView, GraphWriter, Meter, PropertyWrite, ScanAsk,
    ScannedElement, VertexAddition, ViewError,
};

const START: Instant = Instant(1_700_000_000_000_000);

fn registry(engine: &Arc<MemoryEngine>) -> Registry {
    let clock = Arc::new(ManualClock::new(START)) as Arc<dyn Clock>;
    Registry::open(Arc::clone(engine) as _, GraphOptions::new(clock)).expect("a registry")
}

fn open_graph() -> (Registry, Arc<Graph>) {
    let registry = registry(&Arc::new(MemoryEngine::new()));
    let graph = registry.create_with("g", SchemaMode::Open);
    (registry, graph.expect("a graph"))
}

fn define(
    graph: &Graph,
    kind: DefinitionKind,
    name: &str,
    (label, keys): (&str, &[&str]),
) -> Result<(Arc<Definition>, Vec<TaskId>), GraphError> {
    let new = NewDefinition {
        name: name.to_owned(),
        kind,
        is_of_edges: false,
        label: label.to_owned(),
        keys: keys.iter().map(|key| (*key).to_owned()).collect(),
        types: Vec::new(),
    };
    graph.catalogue().owned_by(None).create_definition(new)
}

/// Defines, and waits until all parts are built.
fn defined(graph: &Graph, kind: DefinitionKind, name: &str, of: (&str, &[&str])) {
    let (_, tasks) = define(graph, kind, name, of).expect(name);
    for task in tasks {
        assert_eq!(ended(graph, task), TaskStatus::Success, "{name}");
    }
}

fn ended(graph: &Graph, task: TaskId) -> TaskStatus {
    let done = graph.tasks().wait_until_done(task, Duration::from_secs(60));
    done.expect("the task").status
}

fn begin(graph: &Arc<Graph>) -> OptimisticTransaction {
    graph.begin(OptimisticLimits::default()).expect("begun")
}

fn commit(transaction: OptimisticTransaction) -> Result<(), GraphError> {
    transaction.commit(WritePeriod::default()).map(drop)
}

fn property<'p>(key: &'p str, value: &'p Value) -> PropertyWrite<'p> {
    PropertyWrite {
        key,
        value,
        cardinality: None,
        meta: &[],
    }
}

fn add(
    graph: &Arc<Graph>,
    label: &str,
    properties: &[(&str, Value)],
) -> Result<VertexId, GraphError> {
    let transaction = begin(graph);
    let properties = properties.iter().map(|(key, value)| property(key, value));
    let vertex = VertexAddition {
        label: Some(label),
        id: None,
        properties: &properties.collect::<Vec<_>>(),
    };
    let id = transaction.add_vertex(&vertex, &Meter::unlimited());
    commit(transaction).map(|()| id.expect("a vertex"))
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

/// The vertices of these labels with this value, by an index; `None` if no index serves it.
fn found(graph: &Arc<Graph>, labels: &[&str], key: &str, value: &Value) -> Option<Vec<VertexId>> {
    let schema = graph.schema();
    let labels: Vec<_> = labels
        .iter()
        .map(|label| schema.vertex_label_by_name(label).expect("a label").id)
        .collect();
    let conditions = [Condition {
        key: schema.property_key_by_name(key).expect("a key").id,
        predicate: Predicate::Eq(value.clone()),
    }];
    let ask = ScanAsk {
        elements: Elements::Vertices(&labels),
        conditions: &conditions,
        order: None,
        properties: &[],
    };
    let view = graph.view(TemporalScope::NOW).expect("a view");
    let mut found = BTreeSet::new();
    let visit = &mut |element: &ScannedElement<'_>| {
        if let ScannedElement::Vertex { key, .. } = element {
            found.insert(varve_encoding::key::decode_vertex_id(key).expect("an id"));
        }
        Flow::Continue(())
    };
    match view.scan(&ask, None, usize::MAX, &Meter::unlimited(), visit) {
        Ok(None) => Some(found.into_iter().collect()),
        Ok(Some(_)) => panic!("there is more"),
        Err(ViewError::NoIndex(_)) => None,
        Err(error) => panic!("{error}"),
    }
}

fn sound(graph: &Arc<Graph>) {
    let report = verify(graph, 10, &mut |_| true).expect("verified");
    assert!(report.is_sound(), "{:?}", report.problems);
}

#[test]
fn an_index_covers_label_sets_and_keys_that_come_later_and_outlives_the_process() {
    let engine = Arc::new(MemoryEngine::new());
    let before;
    {
        let registry = registry(&engine);
        let graph = registry
            .create_with("g", SchemaMode::Open)
            .expect("a graph");
        before = add(&graph, "A", &[("x", text("one"))]).expect("a vertex");
        let index = ("A", &["x"][..]);
        let (definition, tasks) =
            define(&graph, DefinitionKind::Range, "i", index).expect("an index");
        assert_eq!(definition.parts.len(), 1);
        for task in tasks {
            assert_eq!(ended(&graph, task), TaskStatus::Success);
        }
        let part = graph.schema().index_label(definition.parts[0]).cloned();
        let part = part.expect("a part").name.clone();
        let range = DefinitionKind::Range;
        for (name, kind, index) in [
            ("i", range, ("C", &["y"][..])),
            (&*part, range, ("C", &["y"])),
            ("j", range, index),
            ("j", DefinitionKind::Unique, index),
        ] {
            let refused = define(&graph, kind, name, index);
            assert_eq!(refused.expect_err("taken").kind, ErrorKind::Existed);
        }
        let (base, fields) = (BaseType::VertexLabel, ["x"]);
        let label = NewIndexLabel::on("i", base, "A", IndexType::Search, &fields);
        let refused = graph.catalogue().create_index_label(label);
        assert_eq!(refused.expect_err("taken").kind, ErrorKind::Existed);
        registry.close();
    }
    let registry = registry(&engine);
    let graph = registry.get("g").expect("there");
    let later = add(&graph, "A::B", &[("x", text("one"))]).expect("a vertex");
    add(&graph, "B", &[("x", text("one"))]).expect("a vertex");
    add(&graph, "A::Z", &[("y", text("one"))]).expect("a vertex");
    let mut both = vec![before, later];
    both.sort();
    let sets = ["A", "A::B", "A::Z"];
    assert_eq!(found(&graph, &sets, "x", &text("one")), Some(both.clone()));
    assert_eq!(found(&graph, &["B"], "x", &text("one")), None);
    // The key takes values of other types now.
    add(&graph, "A", &[("x", Value::Long(1))]).expect("a number");
    add(&graph, "A::B", &[("x", Value::Double(1.0))]).expect("a number");
    assert_eq!(found(&graph, &sets, "x", &text("one")), Some(both));
    assert_eq!(found(&graph, &sets, "x", &Value::Long(1)), None);
    sound(&graph);
    let schema = graph.schema();
    let definition = &schema.definitions()[0];
    assert_eq!(definition.parts.len(), 2);
    assert_eq!(definition.state(&schema), DefinitionState::Complete);
    let part = &schema
        .index_label(definition.parts[0])
        .expect("a part")
        .name;
    let changes = graph.catalogue().owned_by(None);
    let refused = changes.remove(SchemaKind::IndexLabel, part);
    assert_eq!(refused.expect_err("of i").kind, ErrorKind::NotAllowed);
    changes.remove_definition("i").expect("removed");
    assert_eq!(found(&graph, &sets, "x", &text("one")), None);
    let gone = changes.remove_definition("i").expect_err("gone");
    assert_eq!(gone.kind, ErrorKind::NotFound);
}

#[test]
fn an_index_of_two_keys_has_the_elements_of_before_the_second_one() {
    let (_registry, graph) = open_graph();
    defined(&graph, DefinitionKind::Range, "i", ("A", &["x", "y"]));
    let first = add(&graph, "A", &[("x", text("one"))]).expect("a vertex");
    let second = add(&graph, "A", &[("x", text("one")), ("y", text("two"))]);
    let mut both = vec![first, second.expect("a vertex")];
    both.sort();
    let state = || {
        let schema = graph.schema();
        schema.definitions()[0].state(&schema)
    };
    let end = std::time::Instant::now() + Duration::from_secs(60);
    while state() == DefinitionState::Building {
        assert!(std::time::Instant::now() < end, "it is built");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(found(&graph, &["A"], "x", &text("one")), Some(both));
    sound(&graph);
}

#[test]
fn definitions_share_the_index_of_a_label_set_until_the_last_one_goes() {
    let (_registry, graph) = open_graph();
    defined(&graph, DefinitionKind::Range, "a", ("A", &["x"]));
    defined(&graph, DefinitionKind::Text, "b", ("B", &["x"]));
    let one = add(&graph, "A::B", &[("x", text("one"))]).expect("a vertex");
    let schema = graph.schema();
    assert_eq!(schema.definitions()[0].parts, schema.definitions()[1].parts);
    let changes = graph.catalogue().owned_by(None);
    changes.remove_definition("a").expect("removed");
    let by_index = || found(&graph, &["A::B"], "x", &text("one"));
    assert_eq!(by_index(), Some(vec![one]));
    changes.remove_definition("b").expect("removed");
    assert_eq!(by_index(), None);
    // An index label of REST does not remove one of a definition.
    add(&graph, "A::B", &[("x", text("two")), ("y", text("y"))]).expect("a vertex");
    defined(&graph, DefinitionKind::Range, "a", ("A", &["x"]));
    let (base, fields) = (BaseType::VertexLabel, ["x", "y"]);
    let own = NewIndexLabel::on("own", base, "A::B", IndexType::Secondary, &fields);
    graph.catalogue().create_index_label(own).expect("an index");
    let schema = graph.schema();
    let part = schema.definitions()[0].parts[0];
    let part = schema.index_label(part).expect("a part");
    assert_eq!(part.status, varve_model::schema::SchemaStatus::Created);
}

#[test]
fn values_are_unique_over_all_label_sets() {
    let (_registry, graph) = open_graph();
    let list = |items: &[i64]| Value::List(items.iter().map(|one| Value::Long(*one)).collect());
    add(&graph, "A", &[("x", text("one"))]).expect("a vertex");
    defined(&graph, DefinitionKind::Unique, "u", ("A", &["x"]));
    let values = [Value::Long(1), Value::Double(2.0), list(&[1]), text("two")];
    for value in &values {
        add(&graph, "A::B", &[("x", value.clone())]).expect("a vertex");
        add(&graph, "B", &[("x", value.clone())]).expect("another label");
    }
    add(&graph, "A", &[("x", list(&[1, 1]))]).expect("another list");
    let equal = [Value::Double(1.0), Value::Long(2), list(&[1]), text("one")];
    for value in equal.iter().chain(&values) {
        for label in ["A", "A::B", "A::C"] {
            let refused = add(&graph, label, &[("x", value.clone())]).expect_err("taken");
            assert_eq!(refused.kind, ErrorKind::Unique, "{value:?}");
            assert!(
                refused.message.contains("Unique constraint u("),
                "{}",
                refused.message
            );
        }
    }
    let other = add(&graph, "B", &[("x", text("one"))]).expect("another label");
    // A vertex that gets the label gets the constraint.
    let transaction = begin(&graph);
    transaction
        .set_label(&other, "A::B", &Meter::unlimited())
        .expect("set");
    assert_eq!(
        commit(transaction).expect_err("taken").kind,
        ErrorKind::Unique
    );
    sound(&graph);
    graph
        .catalogue()
        .owned_by(None)
        .remove_definition("u")
        .expect("removed");
    add(&graph, "A::C", &[("x", text("one"))]).expect("no constraint");
}

/// The rows of a table, each with its partition, clustering key and value.
fn rows(graph: &Graph, table: TableId) -> Vec<[Vec<u8>; 3]> {
    let mut rows = Vec::new();
    let mut keep = |row: Row<'_>| {
        rows.push([row.partition, row.clustering, row.value].map(<[u8]>::to_vec));
        Flow::Continue(())
    };
    let scanned = graph.space().scan_table(table, None, &mut keep);
    scanned.expect("scanned");
    rows
}

#[test]
fn a_verification_finds_unique_values_held_twice() {
    let (_registry, graph) = open_graph();
    defined(&graph, DefinitionKind::Unique, "u", ("A", &["x"]));
    let mut entries = Vec::new();
    for (label, value) in [("A", "one"), ("A::B", "two")] {
        add(&graph, label, &[("x", text(value))]).expect("a vertex");
        entries.push(rows(&graph, INDEX));
    }
    sound(&graph);
    // The second vertex gets the value of the first one, with the entries that go with it.
    let id = graph.schema().definitions()[0].id.0.to_be_bytes();
    let is_unique = |row: &&[Vec<u8>; 3]| row[0].starts_with(&[&[1], &id[..]].concat());
    let (first, all) = (&entries[0], &entries[1]);
    let taken = first.iter().find(is_unique).expect("an entry");
    let mut own = all.iter().filter(is_unique);
    let own = own.find(|row| row[1] != taken[1]).expect("an entry");
    let vertices = rows(&graph, VERTEX);
    let value = |row: &&[Vec<u8>; 3]| row[2].windows(3).position(|it| it == b"two");
    let row = vertices.iter().find(|row| value(row).is_some());
    let [partition, clustering, content] = row.expect("the second vertex");
    let at = value(&row.expect("the second vertex")).expect("its value");
    let mut changed = content.clone();
    changed[at..at + 3].copy_from_slice(b"one");
    let mut batch = Batch::new();
    batch.put(VERTEX, partition, clustering, &changed);
    batch.put(INDEX, &taken[0], &own[1], &[]);
    let space = graph.space();
    space.write(&batch, Durability::Buffered).expect("written");
    let report = verify(&graph, 1, &mut |_| true).expect("verified");
    let mut problems = report.problems.iter();
    assert!(
        problems.any(|problem| problem.contains("hold the same unique values of u")),
        "{:?}",
        report.problems
    );
}

#[test]
fn a_constraint_that_the_data_violates_is_not_complete() {
    let (_registry, graph) = open_graph();
    for label in ["A", "A::B"] {
        add(&graph, label, &[("x", text("one"))]).expect("a vertex");
    }
    let (_, tasks) = define(&graph, DefinitionKind::Unique, "u", ("A", &["x"])).expect("defined");
    let ends: BTreeSet<_> = tasks
        .iter()
        .map(|task| ended(&graph, *task).name())
        .collect();
    assert!(ends.contains(TaskStatus::Failed.name()), "{ends:?}");
    let schema = graph.schema();
    assert_eq!(
        schema.definitions()[0].state(&schema),
        DefinitionState::Failed
    );
}

#[test]
fn one_of_many_writers_gets_a_unique_value() {
    let (_registry, graph) = open_graph();
    defined(&graph, DefinitionKind::Unique, "u", ("A", &["x", "y"]));
    let writers = (0..8).map(|writer| {
        let graph = Arc::clone(&graph);
        std::thread::spawn(move || {
            let label = if writer % 2 == 0 { "A" } else { "A::B" };
            let mut added = 0;
            for value in 0..20 {
                let properties = [("x", Value::Long(value)), ("y", text("y"))];
                added += usize::from(add(&graph, label, &properties).is_ok());
            }
            added
        })
    });
    let writers: Vec<_> = writers.collect();
    let added: usize = writers
        .into_iter()
        .map(|one| one.join().expect("ended"))
        .sum();
    assert_eq!(added, 20);
    sound(&graph);
}

#[test]
fn an_index_of_edges_is_of_their_label() {
    let (_registry, graph) = open_graph();
    let new = NewDefinition {
        name: "e".to_owned(),
        kind: DefinitionKind::Range,
        is_of_edges: true,
        label: "T".to_owned(),
        keys: vec!["x".to_owned()],
        types: Vec::new(),
    };
    let changes = graph.catalogue().owned_by(None);
    changes.create_definition(new).expect("defined");
    let vertex = add(&graph, "T", &[("x", text("one"))]).expect("a vertex");
    let value = text("one");
    for label in ["T", "S"] {
        let transaction = begin(&graph);
        let edge = EdgeAddition {
            label,
            id: None,
            source: &vertex,
            target: &vertex,
            properties: &[property("x", &value)],
        };
        let added = transaction.add_edge(&edge, &Meter::unlimited());
        assert!(matches!(added.map(ElementId::Edge), Ok(ElementId::Edge(_))));
        commit(transaction).expect("committed");
    }
    let schema = graph.schema();
    let [part] = schema.definitions()[0].parts[..] else {
        panic!("one part");
    };
    let part = schema.index_label(part).expect("a part");
    let label = schema.edge_label_by_name("T").expect("a label");
    assert_eq!(part.base, varve_model::schema::IndexBase::Edge(label.id));
    assert!(
        schema
            .indexes_of_vertex_label(varve_model::VertexLabelId(1))
            .is_empty()
    );
    sound(&graph);
}

/// Defines a rule, and checks the elements of before.
fn ruled(
    graph: &Arc<Graph>,
    kind: DefinitionKind,
    name: &str,
    (label, keys): (&str, &[&str]),
) -> Result<(), GraphError> {
    let types = match kind {
        DefinitionKind::Type => vec![
            PropertyType::One(ScalarType::Integer),
            PropertyType::ListOf(vec![ScalarType::String]),
        ],
        _ => Vec::new(),
    };
    let new = NewDefinition {
        name: name.to_owned(),
        kind,
        is_of_edges: false,
        label: label.to_owned(),
        keys: keys.iter().map(|key| (*key).to_owned()).collect(),
        types,
    };
    let changes = graph.catalogue().owned_by(None);
    let (definition, tasks) = changes.create_definition(new).expect("defined");
    for task in tasks {
        assert_eq!(ended(graph, task), TaskStatus::Success);
    }
    assert_eq!(
        definition.state(&graph.schema()),
        DefinitionState::Building,
        "not checked"
    );
    let checked = check_existing(graph, definition.id, &mut || Ok(()));
    let state = graph
        .schema()
        .definitions()
        .last()
        .map(|one| one.is_checked);
    assert_eq!(state, Some(checked.is_ok()));
    checked
}

/// Sets or removes a property of a vertex, for a period.
fn set(
    graph: &Arc<Graph>,
    id: &VertexId,
    (key, value): (&str, Option<Value>),
    period: WritePeriod,
) -> Result<(), GraphError> {
    let transaction = begin(graph);
    let (element, meter) = (ElementId::Vertex(id.clone()), Meter::unlimited());
    let done = match &value {
        Some(value) => transaction.set_property(&element, &property(key, value), &meter),
        None => {
            let all = varve_view::Occurrence::All;
            transaction.remove_property(&element, key, all, &meter)
        }
    };
    done.expect("changed");
    transaction.commit(period).map(drop)
}

#[test]
fn every_state_from_now_on_keeps_the_rules_of_its_labels() {
    let engine = Arc::new(MemoryEngine::new());
    let (first, from);
    {
        let registry = registry(&engine);
        let graph = registry.create_with("g", SchemaMode::Open);
        let graph = graph.expect("a graph");
        from = WritePeriod {
            from: Some(graph.now().plus_micros(1_000_000_000)),
            to: None,
        };
        first = add(&graph, "A::B", &[("y", text("y"))]).expect("a vertex");
        add(&graph, "B", &[]).expect("another label");
        let refused = ruled(&graph, DefinitionKind::Exists, "e", ("A", &["x"]));
        let error = refused.expect_err("it has no x");
        assert_eq!(error.kind, ErrorKind::Constraint);
        let expected =
            format!("Constraint e: v[{first}] with label `A` must have the property `x`");
        assert_eq!(error.message, expected);
        let changes = graph.catalogue().owned_by(None);
        changes.remove_definition("e").expect("removed");
        // A planned state breaks the rule as well.
        set(
            &graph,
            &first,
            ("x", Some(Value::Long(1))),
            WritePeriod::default(),
        )
        .expect("set");
        set(&graph, &first, ("x", None), from).expect("planned");
        let refused = ruled(&graph, DefinitionKind::Exists, "e", ("A", &["x"]));
        assert_eq!(refused.expect_err("later").message, expected);
        changes.remove_definition("e").expect("removed");
        set(&graph, &first, ("x", Some(Value::Long(2))), from).expect("planned");
        ruled(&graph, DefinitionKind::Exists, "e", ("A", &["x"])).expect("kept");
        ruled(&graph, DefinitionKind::Type, "t", ("A", &["x"])).expect("kept");
        registry.close();
    }
    let registry = registry(&engine);
    let graph = registry.get("g").expect("there");
    check_writes(&graph, &first, from);
}

/// Writes of vertices that have a whole number or texts as x, among them `first`, which has another
/// number in a later period.
fn check_writes(graph: &Arc<Graph>, first: &VertexId, later: WritePeriod) {
    let broken = |done: Result<(), GraphError>| {
        let error = done.expect_err("broken");
        assert_eq!(error.kind, ErrorKind::Constraint, "{error}");
        error.message
    };
    let added = |label: &str, value: Option<Value>| {
        let properties = value.map(|value| ("x", value));
        let properties: Vec<_> = properties.into_iter().collect();
        add(graph, label, &properties).map(drop)
    };
    assert!(broken(added("A::C", None)).contains("must have the property `x`"));
    for wrong in [
        text("1"),
        Value::Double(1.0),
        Value::List(vec![Value::Long(1)]),
    ] {
        let message = broken(added("A", Some(wrong)));
        let types = "the property `x` with the type `INTEGER | LIST<STRING NOT NULL>`";
        assert!(message.ends_with(types), "{message}");
    }
    for right in [
        Value::Long(1),
        Value::List(vec![text("1")]),
        Value::List(Vec::new()),
    ] {
        added("A", Some(right)).expect("kept");
    }
    added("B", None).expect("another label");
    let now = WritePeriod::default();
    broken(set(graph, first, ("x", None), now));
    broken(set(graph, first, ("x", Some(text("1"))), later));
    let past = WritePeriod {
        from: Some(START.plus_micros(-20_000_000)),
        to: Some(START),
    };
    let transaction = begin(graph);
    let vertex = VertexAddition {
        label: Some("A"),
        id: None,
        properties: &[],
    };
    let added = transaction.add_vertex(&vertex, &Meter::unlimited());
    added.expect("added");
    let committed = transaction.commit(past);
    committed.expect("the past is not judged");
    sound(graph);
    let changes = graph.catalogue().owned_by(None);
    changes.remove_definition("e").expect("removed");
    set(graph, first, ("x", None), now).expect("no such rule");
}

#[test]
fn a_key_is_unique_and_never_missing() {
    let (_registry, graph) = open_graph();
    let both = |x: i64| [("x", Value::Long(x)), ("y", text("y"))];
    add(&graph, "A", &both(1)).expect("a vertex");
    ruled(&graph, DefinitionKind::Key, "k", ("A", &["x", "y"])).expect("kept");
    for kind in [DefinitionKind::Range, DefinitionKind::Unique] {
        let refused = define(&graph, kind, "other", ("A", &["x", "y"]));
        assert_eq!(refused.expect_err("the same").kind, ErrorKind::Existed);
    }
    let refused = add(&graph, "A::B", &both(1)).expect_err("taken");
    assert_eq!(refused.kind, ErrorKind::Unique);
    let refused = add(&graph, "A", &both(2)[..1]).expect_err("no y");
    assert!(refused.message.ends_with("must have the property `y`"));
    add(&graph, "A::B", &both(2)).expect("a vertex");
    sound(&graph);
}

#[test]
fn a_verification_finds_elements_that_break_a_rule() {
    let (_registry, graph) = open_graph();
    let vertex = add(&graph, "A", &[]).expect("a vertex");
    let before = rows(&graph, VERTEX);
    set(
        &graph,
        &vertex,
        ("x", Some(Value::Long(1))),
        WritePeriod::default(),
    )
    .expect("set");
    ruled(&graph, DefinitionKind::Exists, "e", ("A", &["x"])).expect("kept");
    sound(&graph);
    let mut batch = Batch::new();
    for [partition, clustering, value] in &before {
        batch.put(VERTEX, partition, clustering, value);
    }
    graph
        .space()
        .write(&batch, Durability::Buffered)
        .expect("written");
    let report = verify(&graph, 10, &mut |_| true).expect("verified");
    let expected = format!("Constraint e: v[{vertex}] with label `A` must have the property `x`");
    assert!(report.problems.contains(&expected), "{:?}", report.problems);
}
