//! Cypher on graphs with a declared schema, and on transactions that run at the same time.

use std::sync::Arc;
use std::time::Duration;

use varve_cypher::temporal::Clock;
use varve_cypher::{Context, CypherError, Graph, Map, NoProcedures, Sizes};
use varve_graph::optimistic::{OptimisticLimits, OptimisticTransaction};
use varve_graph::schema::{
    BaseType, NewEdgeLabel, NewIndexLabel, NewPropertyKey, NewVertexLabel, SchemaMode,
};
use varve_graph::write::WritePeriod;
use varve_graph::{Graph as StoredGraph, GraphOptions, Registry};
use varve_kv::MemoryEngine;
use varve_model::schema::{EdgeLabelType, Frequency, IdStrategy, IndexType};
use varve_model::time::{SystemClock, parse_instant};
use varve_model::{Cardinality, DataType, Instant, TemporalScope};
use varve_view::{CancelToken, Meter, MeterLimits};

/// A graph in memory.
struct World {
    _registry: Registry,
    graph: Arc<StoredGraph>,
}

/// Rows as text, and the rows that were read for them.
type Outcome = Result<(Vec<String>, u64), String>;

fn world(mode: SchemaMode) -> World {
    let options = GraphOptions::new(Arc::new(SystemClock));
    let registry = Registry::open(Arc::new(MemoryEngine::new()), options).expect("a registry");
    let graph = registry.create_with("g", mode).expect("a graph");
    World {
        _registry: registry,
        graph,
    }
}

/// People with a primary key, whose age has an index and whose town has none; they know each other
/// once, and rate each other once a year.
fn people() -> World {
    let world = world(SchemaMode::Declared);
    let catalogue = world.graph.catalogue();
    for (name, data_type) in [
        ("name", DataType::Text),
        ("age", DataType::Int),
        ("town", DataType::Text),
        ("year", DataType::Int),
    ] {
        let key = NewPropertyKey {
            data_type,
            ..NewPropertyKey::named(name)
        };
        catalogue.create_property_key(key).expect("a key");
    }
    let person = NewVertexLabel {
        id_strategy: Some(IdStrategy::PrimaryKey),
        primary_keys: vec!["name".into()],
        properties: vec!["name".into(), "age".into(), "town".into()],
        nullable_keys: vec!["age".into(), "town".into()],
        ..NewVertexLabel::named("person")
    };
    catalogue.create_vertex_label(person).expect("a label");
    let knows = NewEdgeLabel::between("knows", "person", "person");
    catalogue.create_edge_label(knows).expect("a label");
    let rates = NewEdgeLabel {
        frequency: Some(Frequency::Multiple),
        sort_keys: vec!["year".into()],
        properties: vec!["year".into()],
        ..NewEdgeLabel::between("rates", "person", "person")
    };
    catalogue.create_edge_label(rates).expect("a label");
    let index = NewIndexLabel::on(
        "byAge",
        BaseType::VertexLabel,
        "person",
        IndexType::Range,
        &["age"],
    );
    let index = catalogue.create_index_label(index).expect("an index");
    let tasks = world.graph.tasks();
    let done = tasks.wait_until_done(index.task, Duration::from_secs(60));
    done.expect("an index of all");
    world.done("UNWIND range(0, 199) AS i CREATE (:person {name: 'p' + i, age: i, town: 't' + i})");
    world
}

fn meter() -> Meter {
    let limits = MeterLimits {
        rows_max: 1_000_000,
        bytes_max: 1 << 26,
        deadline: None,
    };
    Meter::new(limits, CancelToken::default())
}

fn rows(prepared: &varve_cypher::Prepared, graph: Graph<'_>) -> Result<Vec<String>, CypherError> {
    let parameters = Map::new();
    let context = Context {
        graph,
        parameters: &parameters,
        clock: Clock::now(),
        procedures: &NoProcedures,
    };
    let mut rows = varve_cypher::run(prepared, context)?;
    let mut texts = Vec::new();
    while let Some(batch) = rows.next()? {
        for (row, count) in batch.rows() {
            let values: Vec<String> = row.iter().map(ToString::to_string).collect();
            texts.extend((0..count).map(|_| values.join(" ")));
        }
    }
    Ok(texts)
}

impl World {
    fn begin(&self) -> OptimisticTransaction {
        let begun = self.graph.begin(OptimisticLimits::default());
        begun.expect("a transaction")
    }

    fn within(&self, transaction: &OptimisticTransaction, text: &str) -> Outcome {
        let prepared =
            varve_cypher::prepare(text, &*self.graph.schema(), &NoProcedures, Sizes::UNKNOWN);
        let prepared = prepared.map_err(|error| error.to_string())?;
        let meter = meter();
        let graph = Graph {
            view: transaction,
            schema: transaction,
            writer: Some(transaction),
            meter: &meter,
        };
        let rows = rows(&prepared, graph).map_err(|error| error.to_string())?;
        Ok((rows, meter.rows()))
    }

    fn run(&self, text: &str) -> Outcome {
        let schema = self.graph.schema();
        let prepared = varve_cypher::prepare(text, &*schema, &NoProcedures, Sizes::UNKNOWN);
        let prepared = prepared.map_err(|error| error.to_string())?;
        if prepared.writes() {
            let transaction = self.begin();
            let done = self.within(&transaction, text)?;
            let committed = transaction.commit(WritePeriod::default());
            committed.map_err(|error| error.to_string())?;
            return Ok(done);
        }
        let view = self.graph.view(TemporalScope::NOW).expect("a view");
        let meter = meter();
        let graph = Graph {
            view: &view,
            schema: &*schema,
            writer: None,
            meter: &meter,
        };
        let rows = rows(&prepared, graph).map_err(|error| error.to_string())?;
        Ok((rows, meter.rows()))
    }

    /// Runs a query that must succeed.
    fn done(&self, text: &str) -> Vec<String> {
        self.run(text)
            .unwrap_or_else(|error| panic!("{text:.100}: {error}"))
            .0
    }

    /// The error of a query that must fail.
    fn fault(&self, text: &str) -> String {
        match self.run(text) {
            Ok((rows, _)) => panic!("{text:.100}: {} rows", rows.len()),
            Err(error) => error,
        }
    }
}

#[test]
fn conditions_use_primary_keys_and_indexes_where_there_are_any() {
    let world = people();
    for (text, rows, read_max) in [
        ("MATCH (n:person {name: 'p7'}) RETURN n.age", &["7"][..], 10),
        (
            "MATCH (n:person) WHERE n.age = 7 RETURN n.name",
            &["'p7'"],
            10,
        ),
        (
            "MATCH (n:person) WHERE 7.0 = n.age RETURN n.name",
            &["'p7'"],
            10,
        ),
        (
            "MATCH (n:person) WHERE n.town = 't7' RETURN n.name",
            &["'p7'"],
            500,
        ),
        (
            "MATCH (n) WHERE n.town = 't7' RETURN n.name",
            &["'p7'"],
            500,
        ),
        ("MATCH (n:person {age: 'x'}) RETURN n.name", &[], 500),
        (
            "MATCH (n:person) WHERE n.missing = 1 RETURN n.name",
            &[],
            500,
        ),
        ("MATCH (n:missing) RETURN n", &[], 0),
        ("MATCH (n:person) RETURN n.age LIMIT 1", &["0"], 100),
        (
            "UNWIND [3, 4] AS x MATCH (n:person {age: x}) RETURN n.age",
            &["3", "4"],
            20,
        ),
    ] {
        let (found, read) = world.run(text).expect(text);
        let found: Vec<String> = found.iter().map(|row| row.replace('"', "'")).collect();
        let unquoted = |row: &String| row.replace('\'', "");
        let wanted: Vec<String> = rows.iter().map(|row| row.replace('\'', "")).collect();
        assert_eq!(
            found.iter().map(unquoted).collect::<Vec<_>>(),
            wanted,
            "{text}"
        );
        assert!(read <= read_max, "{text}: {read} rows read");
    }
}

#[test]
fn an_id_is_looked_up() {
    let world = people();
    let id = world.done("MATCH (n:person {name: 'p7'}) RETURN elementId(n)");
    let id = id[0].trim_matches(['\'', '"']).to_owned();
    for text in [
        format!("MATCH (n) WHERE elementId(n) = '{id}' RETURN n.age"),
        format!(
            "WITH ['no', '{id}'] AS ids MATCH (n:person) WHERE elementId(n) IN ids RETURN n.age"
        ),
    ] {
        let (found, read) = world.run(&text).expect(&text);
        assert_eq!(found, ["7"], "{text}");
        assert!(read <= 10, "{text}: {read} rows read");
    }
}

#[test]
fn what_a_declared_schema_cannot_store_is_refused() {
    let world = people();
    for text in [
        "CREATE ()",
        "CREATE (:person:robot {name: 'x'})",
        "MATCH (n:person {name: 'p1'}) SET n:robot",
        "MATCH (n:person {name: 'p1'}) REMOVE n:person",
    ] {
        let fault = world.fault(text);
        assert!(fault.starts_with("NotSupported"), "{text}: {fault}");
    }
    for text in [
        "CREATE (:robot)",
        "CREATE (:person {age: 3})",
        "CREATE (:person {name: 'x', colour: 'red'})",
        "MATCH (n:person {name: 'p1'}) SET n.age = 'old'",
        "MATCH (n:person {name: 'p1'}) SET n.town = date('2024-01-01')",
    ] {
        world.fault(text);
    }
    assert_eq!(world.done("MATCH (n) RETURN count(*)"), ["200"]);
}

#[test]
fn a_relationship_that_exists_is_not_overwritten() {
    let world = people();
    let ends = "MATCH (a:person {name: 'p1'}), (b:person {name: 'p2'})";
    world.done(&format!("{ends} CREATE (a)-[:knows]->(b)"));
    let fault = world.fault(&format!("{ends} CREATE (a)-[:knows]->(b)"));
    assert!(fault.contains("RelationshipExists"), "{fault}");
    world.done(&format!("{ends} MERGE (a)-[:knows]->(b)"));
    world.done(&format!(
        "{ends} CREATE (a)-[:rates {{year: 1}}]->(b), (a)-[:rates {{year: 2}}]->(b)"
    ));
    let fault = world.fault(&format!("{ends} CREATE (a)-[:rates {{year: 2}}]->(b)"));
    assert!(fault.contains("RelationshipExists"), "{fault}");
    assert_eq!(world.done("MATCH ()-[r]->() RETURN count(r)"), ["3"]);
}

#[test]
fn of_two_merges_at_the_same_time_one_is_refused() {
    for mode in [SchemaMode::Open, SchemaMode::Declared] {
        let world = match mode {
            SchemaMode::Open => world(mode),
            SchemaMode::Declared => people(),
        };
        let text = "MERGE (n:person {name: 'new'}) RETURN count(n)";
        let (first, second) = (world.begin(), world.begin());
        assert_eq!(world.within(&first, text).expect("merged").0, ["1"]);
        assert_eq!(world.within(&second, text).expect("merged").0, ["1"]);
        first.commit(WritePeriod::default()).expect("a commit");
        assert!(second.commit(WritePeriod::default()).is_err());
        assert_eq!(
            world.done("MATCH (n:person {name: 'new'}) RETURN count(n)"),
            ["1"]
        );
    }
}

#[test]
fn relationships_are_merged_once() {
    let world = world(SchemaMode::Open);
    world.done("CREATE (:A), (:B)");
    let text = "MATCH (a:A), (b:B) MERGE (a)-[r:R {k: 1}]->(b) RETURN count(r)";
    let (first, second) = (world.begin(), world.begin());
    world.within(&first, text).expect("merged");
    world.within(&second, text).expect("merged");
    first.commit(WritePeriod::default()).expect("a commit");
    assert!(second.commit(WritePeriod::default()).is_err());
    assert_eq!(world.done("MATCH ()-[r:R]->() RETURN count(r)"), ["1"]);
}

#[test]
fn deep_and_long_queries_need_little_stack() {
    let work = || {
        let world = world(SchemaMode::Open);
        let long = |clauses: usize| format!("{} RETURN a", "WITH 1 AS a ".repeat(clauses));
        assert_eq!(world.done(&long(500)), ["1"]);
        for text in [
            long(20_000),
            format!("{} RETURN 1", "MATCH () ".repeat(5_000)),
        ] {
            let fault = world.fault(&text);
            assert!(fault.contains("TooDeep"), "{fault}");
        }
        let many = "CREATE () ".repeat(2_000);
        world.done(&many);
        assert_eq!(world.done("MATCH (n) RETURN count(n)"), ["2000"]);
        let nested = format!(
            "{}RETURN 1 AS x{}",
            "CALL { ".repeat(20),
            " } RETURN x".repeat(20)
        );
        assert_eq!(world.done(&nested), ["1"]);
        let union = vec!["RETURN 1 AS x"; 3_000].join(" UNION ALL ");
        assert_eq!(world.done(&union).len(), 3_000);
    };
    let thread = std::thread::Builder::new().stack_size(2 << 20);
    thread
        .spawn(work)
        .expect("a thread")
        .join()
        .expect("an end");
}

#[test]
fn values_take_the_types_of_their_keys() {
    let world = world(SchemaMode::Declared);
    let catalogue = world.graph.catalogue();
    let keys = [
        ("name", DataType::Text),
        ("small", DataType::Byte),
        ("count", DataType::Int),
        ("large", DataType::Long),
        ("half", DataType::Float),
        ("exact", DataType::Double),
        ("is", DataType::Boolean),
        ("born", DataType::Date),
        ("uuid", DataType::Uuid),
    ];
    for (name, data_type) in keys {
        let key = NewPropertyKey {
            data_type,
            ..NewPropertyKey::named(name)
        };
        catalogue.create_property_key(key).expect("a key");
    }
    for (name, cardinality) in [("days", Cardinality::List), ("tags", Cardinality::Set)] {
        let key = NewPropertyKey {
            data_type: if name == "days" {
                DataType::Date
            } else {
                DataType::Text
            },
            cardinality,
            ..NewPropertyKey::named(name)
        };
        catalogue.create_property_key(key).expect("a key");
    }
    let mut names: Vec<String> = keys.iter().map(|(name, _)| (*name).to_owned()).collect();
    names.extend(["days".to_owned(), "tags".to_owned()]);
    let thing = NewVertexLabel {
        id_strategy: Some(IdStrategy::PrimaryKey),
        primary_keys: vec!["name".into()],
        nullable_keys: names.iter().skip(1).cloned().collect(),
        properties: names,
        ..NewVertexLabel::named("thing")
    };
    catalogue.create_vertex_label(thing).expect("a label");
    world.done(
        "CREATE (:thing {name: 'a', small: 1, count: 2, large: 3, half: 0.5, exact: 0.1, is: true,
         born: localdatetime('2024-05-01T12:30:00.125'), days: [date('2024-05-01')],
         uuid: '835e1153-9281-4957-8691-cf79258e90eb', tags: ['x', 'y', 'x']})",
    );
    let read = "MATCH (n:thing) RETURN n.small + n.count + n.large, n.half, n.exact, n.is, n.born,
                n.days, n.uuid, n.tags";
    let found = "6 0.5 0.1 true 2024-05-01T12:30:00.125 [2024-05-01T00:00] \
                 835e1153-9281-4957-8691-cf79258e90eb ['x', 'y']";
    assert_eq!(world.done(read), [found]);
    world.done("MATCH (n:thing) SET n.born = datetime('2024-05-01T12:30+02:00'), n.count = 9");
    let read = "MATCH (n:thing) WHERE n.born < localdatetime('2025-01-01T00:00')
                RETURN n.born, n.count";
    assert_eq!(world.done(read), ["2024-05-01T10:30 9"]);
    for value in [
        "localdatetime('2024-05-01T12:30:00.0001')",
        "duration('P1D')",
        "time()",
    ] {
        world.fault(&format!("MATCH (n:thing) SET n.born = {value}"));
    }
    world.fault("MATCH (n:thing) SET n.small = 128");
}

#[test]
fn functions_tell_the_version_that_is_read() {
    let world = world(SchemaMode::Open);
    world.done("CREATE (:A {x: 1})-[:R]->(:B)");
    let read = "MATCH (a:A)-[r]->() RETURN a.x, valid_to(a), valid_from(a) <= datetime(),
                system_from(a) <= datetime(), version(a) = version(r)";
    assert_eq!(world.done(read), ["1 NULL true true true"]);
    let first = world.done("MATCH (a:A) RETURN version(a)");
    let period = WritePeriod {
        // In the year 2100.
        from: Some(Instant::from_millis(4_102_444_800_000)),
        to: None,
    };
    let transaction = world.begin();
    let changed = world.within(&transaction, "MATCH (a:A) SET a.x = 2 RETURN a.x");
    assert_eq!(changed.map(|found| found.0), Ok(vec!["2".to_owned()]));
    let fault = world.within(&transaction, "MATCH (a:A) RETURN version(a)");
    assert!(fault.is_err_and(|fault| fault.starts_with("NotSupported")));
    transaction.commit(period).expect("a commit");
    // The present is still that of the first version.
    assert_eq!(world.done(read), ["1 NULL true true true"]);
    assert_eq!(world.done("MATCH (a:A) RETURN version(a)"), first);
}

#[test]
fn a_query_tells_its_times_its_kind_and_its_plan() {
    let world = people();
    let schema = world.graph.schema();
    let prepare = |text: &str| varve_cypher::prepare(text, &*schema, &NoProcedures, Sizes::UNKNOWN);
    let text = "FOR VALID_TIME AS OF $day MATCH (n:person {name: 'p7'}) RETURN n.age AS age";
    let prepared = prepare(text).expect("a query");
    assert_eq!(prepared.columns(), ["age"]);
    assert_eq!(prepared.parameters(), ["day"]);
    let view = world.graph.view(TemporalScope::NOW).expect("a view");
    let meter = meter();
    let parameters = Map::from_iter([("day".into(), varve_cypher::Value::string("2020-01-01"))]);
    let context = Context {
        graph: Graph {
            view: &view,
            schema: &*schema,
            writer: None,
            meter: &meter,
        },
        parameters: &parameters,
        clock: Clock::now(),
        procedures: &NoProcedures,
    };
    let times = prepared.times(context).expect("times");
    assert_eq!(times.valid, parse_instant("2020-01-01"));
    assert!(times.system.is_none());
    let plan = format!("{:?}", prepared.explain());
    assert!(plan.contains("(:person) by name"), "{plan}");
    for (text, kind) in [
        ("MATCH (n) RETURN n", "r"),
        ("MATCH (n:person) SET n.age = 1", "rw"),
        ("CREATE (:person {name: 'x'})", "w"),
        ("SHOW DATABASES", "s"),
    ] {
        assert_eq!(prepare(text).expect(text).kind().text(), kind, "{text}");
    }
    for text in [
        "MATCH (n) FOR VALID_TIME ALL RETURN n",
        "MATCH (n:$(1)) RETURN n",
    ] {
        let Err(CypherError::Error(error)) = prepare(text) else {
            panic!("{text} is not refused");
        };
        assert_eq!(error.class.name(), "NotSupported", "{text}: {error}");
    }
}

/// A relationship has its own type and that of the parent of its label, but it is one relationship.
#[test]
fn a_relationship_of_a_sub_label_is_matched_once() {
    let world = people();
    let catalogue = world.graph.catalogue();
    let linked = NewEdgeLabel {
        label_type: EdgeLabelType::Parent,
        ..NewEdgeLabel::named("linked")
    };
    catalogue.create_edge_label(linked).expect("a label");
    let likes = NewEdgeLabel {
        label_type: EdgeLabelType::Sub,
        parent: Some("linked".into()),
        ..NewEdgeLabel::between("likes", "person", "person")
    };
    catalogue.create_edge_label(likes).expect("a label");
    world.done("MATCH (a:person {name: 'p1'}), (b:person {name: 'p2'}) CREATE (a)-[:likes]->(b)");
    let both = "MATCH (a)-[:linked]->(b)<-[:likes]-(c) RETURN count(*)";
    assert_eq!(world.done(both), ["0"]);
    world.done("MATCH (a:person {name: 'p3'}), (b:person {name: 'p2'}) CREATE (a)-[:likes]->(b)");
    assert_eq!(world.done(both), ["2"]);
}

#[test]
fn a_pattern_has_a_limit_of_elements() {
    let world = people();
    let pattern = |nodes: usize| format!("MATCH {} RETURN 1 LIMIT 0", vec!["()"; nodes].join(", "));
    let fault = world.fault(&pattern(513));
    assert!(fault.contains("TooDeep"), "{fault}");
}

/// Values that different types of storage hold, some of them equal where a type is lost.
const VALUES: [&str; 20] = [
    "1",
    "1.0",
    "'1'",
    "true",
    "'2000-01-01'",
    "date('2000-01-01')",
    "localdatetime('2000-01-01T00:00')",
    "localdatetime('2000-01-01T00:00:00.0001')",
    "datetime('2000-01-01T00:00Z')",
    "datetime('2000-01-01T00:00[Europe/London]')",
    "localtime('00:00')",
    "time('00:00Z')",
    "duration('PT1S')",
    "duration('P1M')",
    "point({x: 1, y: 2})",
    "[1, 2]",
    "[1.0]",
    "['1']",
    "[date('2000-01-01')]",
    "[datetime('2000-01-01T00:00Z')]",
];

#[test]
fn a_key_of_an_open_graph_has_values_of_all_types() {
    for first in VALUES {
        for second in VALUES {
            let world = world(SchemaMode::Open);
            world.done(&format!("CREATE ({{k: {first}, at: 1}})"));
            world.done(&format!("CREATE ({{k: {second}, at: 2}})"));
            world.done(&format!("CREATE (n {{at: 3}}) SET n.k = {second}"));
            let read = "MATCH (n) WITH n ORDER BY n.at RETURN valueType(n.k), n.k";
            let wanted = format!(
                "UNWIND [1, 2, 3] AS at WITH CASE at WHEN 1 THEN {first} ELSE {second} END AS k RETURN valueType(k), k"
            );
            assert_eq!(world.done(read), world.done(&wanted), "{first}, {second}");
        }
    }
}
