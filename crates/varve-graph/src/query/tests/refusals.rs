//! Which queries are refused, with which messages, and which access path serves a query.

use varve_kv::{ClusteringRange, Flow, Reader, TableId};
use varve_model::schema::SchemaStatus;
use varve_model::{
    Condition, Direction, EdgeLabelId, Element, Predicate, Properties, PropertyKeyId,
    TemporalScope, Value, VertexId, VertexLabelId,
};

use super::world::*;
use crate::query::plan::Source;
use crate::query::{
    EdgeQuery, Resolver, RowHeader, RowKey, VertexQuery, collect_edges, collect_vertices, planner,
};
use crate::schema::Schema;
use crate::{ErrorKind, GraphError};

/// Label, conditions, message.
type Refused<'a> = (
    Option<VertexLabelId>,
    &'a [(PropertyKeyId, Predicate)],
    String,
);

fn condition(key: PropertyKeyId, predicate: Predicate) -> Condition {
    Condition { key, predicate }
}

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

fn of_vertices(
    label: Option<VertexLabelId>,
    conditions: &[(PropertyKeyId, Predicate)],
) -> VertexQuery {
    VertexQuery {
        label,
        conditions: conditions
            .iter()
            .map(|(key, predicate)| condition(*key, predicate.clone()))
            .collect(),
        limit: -1,
        ..VertexQuery::default()
    }
}

fn of_edges(label: Option<EdgeLabelId>, conditions: &[(PropertyKeyId, Predicate)]) -> EdgeQuery {
    EdgeQuery {
        labels: label.into_iter().collect(),
        conditions: of_vertices(None, conditions).conditions,
        limit: -1,
        ..EdgeQuery::default()
    }
}

fn refusal(schema: &Schema, query: &VertexQuery) -> GraphError {
    planner::vertices(schema, query)
        .map(|_| ())
        .expect_err("refused")
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn refusals_in_the_words_of_the_recording() {
    let schema = schema(1);
    let not_indexed = |names: &str, place: &str, kinds: &str| {
        format!(
            "Don't accept query based on properties [{names}] that are not indexed in {place}, may not match {kinds} condition"
        )
    };
    let cases: &[Refused<'_>] = &[
        (
            Some(PERSON),
            &[(AGE, Predicate::Neq(Value::Int(29)))],
            not_indexed("age", "label 'person'", "secondary/not-equal"),
        ),
        (
            Some(ITEM),
            &[(CITY, Predicate::Eq(text("x")))],
            not_indexed("city", "label 'item'", "secondary"),
        ),
        (
            None,
            &[(DATE, Predicate::Eq(Value::Date(0)))],
            not_indexed("date", "any label", "secondary"),
        ),
        (
            None,
            &[(NAME, Predicate::Eq(text("marko")))],
            not_indexed("name", "any label", "secondary"),
        ),
        (
            Some(ITEM),
            &[(NAME, Predicate::Eq(text("b1")))],
            not_indexed("name", "label 'item'", "secondary"),
        ),
        (
            Some(PERSON),
            &[(DATE, Predicate::Gt(Value::Date(0)))],
            not_indexed("date", "label 'person'", "secondary/range"),
        ),
        (
            None,
            &[(DATE, Predicate::Gt(Value::Date(0)))],
            not_indexed("date", "any label", "range"),
        ),
        (
            Some(ITEM),
            &[
                (ABOUT, Predicate::TextContains("x".into())),
                (CITY, Predicate::Eq(text("x"))),
            ],
            not_indexed("about, city", "label 'item'", "secondary/search"),
        ),
        // A search index does not serve equality, and an index on a text does not serve a range.
        (
            Some(PERSON),
            &[(ABOUT, Predicate::Eq(text("x")))],
            not_indexed("about", "label 'person'", "secondary"),
        ),
        (
            Some(HIDDEN),
            &[],
            "Don't accept query by label 'hidden(id=3)', label index is disabled".into(),
        ),
    ];
    for (label, conditions, message) in cases {
        let error = refusal(&schema, &of_vertices(*label, conditions));
        assert_eq!((error.kind, &error.message), (ErrorKind::NoIndex, message));
    }
    let error = planner::edges(
        &schema,
        &of_edges(Some(LIKES), &[(DATE, Predicate::Gt(Value::Date(0)))]),
    )
    .expect_err("refused");
    assert_eq!(
        error.message,
        not_indexed("date", "label 'likes'", "secondary/range")
    );
}

#[test]
fn equality_on_an_indexed_collection_has_its_own_words() {
    let error = refusal(
        &schema(1),
        &of_vertices(Some(PERSON), &[(HOBBY, Predicate::Eq(text("x")))]),
    );
    assert_eq!(
        (error.kind, error.message.as_str()),
        (
            ErrorKind::IllegalState,
            "The relation of property 'hobby' must be CONTAINS or TEXT_CONTAINS, but got EQ"
        )
    );
}

#[test]
fn an_index_that_is_being_built_is_not_used() {
    let mut schema = schema(1);
    let mut index = (**schema.indexes_of_vertex_label(HIDDEN).first().expect("one")).clone();
    index.status = SchemaStatus::Rebuilding;
    schema.put_index_label(index);
    let error = refusal(
        &schema,
        &of_vertices(Some(HIDDEN), &[(CITY, Predicate::Eq(text("x")))]),
    );
    assert_eq!(
        (error.kind, error.message.as_str()),
        (
            ErrorKind::InvalidArgument,
            "Can't query by label index 'index10(id=10)' due to it's in status REBUILDING(CREATED expected)"
        )
    );
}

#[test]
fn a_condition_without_index_is_checked_when_another_narrows() {
    let schema = schema(1);
    let narrowed: &[&[(PropertyKeyId, Predicate)]] = &[
        &[
            (AGE, Predicate::Eq(Value::Int(1))),
            (DATE, Predicate::Neq(Value::Date(0))),
        ],
        &[
            (HOBBY, Predicate::Contains(text("x"))),
            (SCORE, Predicate::Gt(Value::Double(0.5))),
        ],
        &[
            (ABOUT, Predicate::TextContains("x".into())),
            (NAME, Predicate::Neq(text("y"))),
        ],
    ];
    for conditions in narrowed {
        let parts =
            planner::vertices(&schema, &of_vertices(Some(PERSON), conditions)).expect("narrowed");
        assert!(
            parts
                .iter()
                .flatten()
                .flat_map(|way| &way.legs)
                .all(|leg| matches!(leg.source, Source::Entries(_)))
        );
    }
}

#[test]
fn the_primary_keys_are_a_look_up() {
    let conditions = [
        (AGE, Predicate::Gt(Value::Int(1))),
        (
            NAME,
            Predicate::Within(vec![text("b"), text("a"), text("b")]),
        ),
    ];
    let parts =
        planner::vertices(&schema(1), &of_vertices(Some(PERSON), &conditions)).expect("ids");
    let Source::Vertices(ids) = &parts[0][0].legs[0].source else {
        panic!("{parts:?}")
    };
    assert_eq!(ids, &[VertexId::text("1:b"), VertexId::text("1:a")]);
}

fn person(name: &str, properties: &[(PropertyKeyId, Value)]) -> Element {
    Element::Vertex(vertex(
        PERSON,
        name,
        0,
        properties.iter().cloned().collect(),
    ))
}

fn names(world: &World, conditions: &[(PropertyKeyId, Predicate)]) -> Vec<String> {
    let query = of_vertices(Some(PERSON), conditions);
    let (found, _) =
        collect_vertices(&At(world, TemporalScope::NOW), &world.schema, &query).expect("served");
    found.iter().map(|vertex| vertex.id.to_string()).collect()
}

#[test]
fn results_come_in_the_order_of_the_index() {
    let mut world = World::new(schema(1));
    for (name, age, city) in [
        ("marko", 29, "B"),
        ("josh", 32, "B"),
        ("vadas", 27, "H"),
        ("peter", 35, "S"),
        ("p1", 1, "S"),
    ] {
        world.put(person(name, &[(AGE, Value::Int(age)), (CITY, text(city))]));
    }
    let outside = Predicate::Outside(Value::Int(28), Value::Int(33));
    assert_eq!(
        names(&world, &[(AGE, outside)]),
        ["1:peter", "1:p1", "1:vadas"]
    );
    assert_eq!(
        names(
            &world,
            &[(CITY, Predicate::Within(vec![text("S"), text("B")]))]
        ),
        ["1:p1", "1:peter", "1:marko", "1:josh"]
    );
    assert_eq!(
        names(
            &world,
            &[(AGE, Predicate::Within(vec![Value::Int(29), Value::Int(27)]))]
        ),
        ["1:marko", "1:vadas"]
    );
    assert_eq!(
        names(
            &world,
            &[(AGE, Predicate::Eq(Value::List(vec![Value::Int(29)])))]
        ),
        Vec::<String>::new()
    );
}

#[test]
fn a_shard_index_serves_a_range_on_its_first_field() {
    let mut world = World::new(schema(4));
    for (id, score, age) in [(1, 2.5, 9), (2, 0.5, 8), (3, 2.5, 7), (4, 4.0, 6)] {
        let properties = [
            (SCORE, Value::Double(score)),
            (CITY, text("x")),
            (AGE, Value::Int(age)),
        ];
        let properties = properties.into_iter().collect();
        let name = id.to_string();
        world.put(Element::Vertex(vertex(HIDDEN, &name, id, properties)));
    }
    let found = |conditions: &[(PropertyKeyId, Predicate)]| {
        let query = of_vertices(Some(HIDDEN), conditions);
        let (found, _) = collect_vertices(&At(&world, TemporalScope::NOW), &world.schema, &query)
            .expect("served");
        found
            .iter()
            .map(|vertex| vertex.id.to_string())
            .collect::<Vec<_>>()
    };
    let above = (SCORE, Predicate::Gt(Value::Double(1.0)));
    assert_eq!(found(std::slice::from_ref(&above)), ["3", "1", "4"]);
    let low = (AGE, Predicate::Lt(Value::Int(8)));
    assert_eq!(found(&[above, low.clone()]), ["3", "4"]);
    let equal = (SCORE, Predicate::Eq(Value::Double(2.5)));
    assert_eq!(found(&[equal, low]), ["3"]);
}

#[test]
fn words_are_found_in_any_language() {
    let mut world = World::new(schema(1));
    world.put(person("a", &[(ABOUT, text("清华大学在北京"))]));
    world.put(person("b", &[(ABOUT, text("Likes Java and Rust"))]));
    world.put(person(
        "c",
        &[(TAGS, Value::List(vec![text("Red Wine"), text("tea")]))],
    ));
    let about = |words: &str| names(&world, &[(ABOUT, Predicate::TextContains(words.into()))]);
    assert_eq!(about("北京"), ["1:a"]);
    assert_eq!(about("rust 北京"), ["1:a", "1:b"]);
    assert_eq!(about("(java|go)"), ["1:b"]);
    assert_eq!(about("上海"), Vec::<String>::new());
    assert_eq!(
        names(&world, &[(TAGS, Predicate::TextContains("wine".into()))]),
        ["1:c"]
    );
}

#[test]
fn sort_keys_narrow_the_edges_of_a_vertex() {
    let schema = schema(1);
    let mut query = of_edges(
        Some(KNOWS),
        &[
            (DATE, Predicate::Eq(Value::Date(5))),
            (CITY, Predicate::Eq(text("x"))),
            (AGE, Predicate::Gt(Value::Int(3))),
        ],
    );
    query.vertex = Some((VertexId::text("1:a"), Some(Direction::Out)));
    let parts = planner::edges(&schema, &query).expect("adjacency");
    let [leg] = parts[0][0].legs.as_slice() else {
        panic!("{parts:?}")
    };
    let Source::Adjacent { range, .. } = &leg.source else {
        panic!("{leg:?}")
    };
    let key = |date: i64, city: &str, age: i32| {
        let sort: Properties = [
            (DATE, Value::Date(date)),
            (CITY, text(city)),
            (AGE, Value::Int(age)),
        ]
        .into_iter()
        .collect();
        let id = edge(KNOWS, &VertexId::text("1:a"), &VertexId::text("1:b"), sort).id;
        varve_encoding::key::edge_clustering(&id, Direction::Out)
    };
    assert!(range.contains(&key(5, "x", 4)) && range.contains(&key(5, "x", i32::MAX)));
    for outside in [
        key(5, "x", 3),
        key(5, "x", -4),
        key(5, "xy", 4),
        key(5, "w", 4),
        key(6, "x", 4),
        key(4, "x", 4),
    ] {
        assert!(!range.contains(&outside));
    }
}

#[test]
fn pages_of_other_queries_are_refused() {
    let mut world = World::new(schema(1));
    for name in ["a", "b", "c"] {
        world.put(person(name, &[(AGE, Value::Int(1))]));
    }
    let first = VertexQuery {
        limit: 1,
        page: Some(String::new()),
        ..of_vertices(Some(PERSON), &[])
    };
    let (_, token) = collect_vertices(&At(&world, TemporalScope::NOW), &world.schema, &first)
        .expect("first page");
    let token = token.expect("more");
    let other = VertexQuery {
        page: Some(token.clone()),
        ..of_vertices(Some(PERSON), &[(AGE, Predicate::Eq(Value::Int(1)))])
    };
    let error = collect_vertices(&At(&world, TemporalScope::NOW), &world.schema, &other)
        .expect_err("another query");
    assert_eq!(error.kind, ErrorKind::BadPage);
    assert!(
        error.message.starts_with("Invalid page: '0x01"),
        "{}",
        error.message
    );
    let edges = EdgeQuery {
        page: Some(token),
        limit: 1,
        ..EdgeQuery::default()
    };
    assert_eq!(
        collect_edges(&At(&world, TemporalScope::NOW), &world.schema, &edges)
            .expect_err("edges")
            .kind,
        ErrorKind::BadPage
    );
}

/// A resolver whose queries exceed their deadline at the first pause.
struct Over<'a>(At<'a>);

impl Resolver for Over<'_> {
    fn reader(&self) -> &dyn Reader {
        self.0.reader()
    }

    fn scope(&self) -> TemporalScope {
        self.0.scope()
    }

    fn decides(&self, header: &RowHeader) -> bool {
        self.0.decides(header)
    }

    fn pause(&self) -> Result<(), GraphError> {
        Err(GraphError::new(ErrorKind::Busy, "over"))
    }

    fn visit_elements(
        &self,
        table: TableId,
        keys: &[RowKey],
        visit: &mut dyn FnMut(usize, &[u8]) -> Flow,
    ) -> Result<(), GraphError> {
        self.0.visit_elements(table, keys, visit)
    }

    fn visit_adjacent(
        &self,
        owner: &[u8],
        range: &ClusteringRange,
        visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
    ) -> Result<(), GraphError> {
        self.0.visit_adjacent(owner, range, visit)
    }
}

#[test]
fn a_full_scan_that_hands_nothing_out_ends_when_its_time_is_over() {
    let mut world = World::new(schema(1));
    for number in 0..1500 {
        world.put(person(&format!("p{number}"), &[]));
    }
    let schema = schema(1);
    let behind_all = VertexQuery {
        offset: 1_000_000,
        limit: 1,
        ..VertexQuery::default()
    };
    let now = || At(&world, TemporalScope::NOW);
    let found = collect_vertices(&now(), &schema, &behind_all).expect("no time is over");
    assert_eq!(found.0, []);
    let error = collect_vertices(&Over(now()), &schema, &behind_all).expect_err("over");
    assert_eq!(error.kind, ErrorKind::Busy);
}
