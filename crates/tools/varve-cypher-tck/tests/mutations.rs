//! Queries of the TCK with words left out, doubled and exchanged: whatever comes of them, nothing
//! panics, and no rows of a wrong width are given.
//!
//! `VARVE_TEST_CYPHER` names the folder of features; without it, our own features are used.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use varve_cypher::temporal::Clock;
use varve_cypher::{Context, Graph, Map, NoProcedures, Sizes, Value};
use varve_cypher_tck::gherkin::{Step, scenarios};
use varve_graph::optimistic::OptimisticLimits;
use varve_graph::schema::SchemaMode;
use varve_graph::write::WritePeriod;
use varve_graph::{Graph as StoredGraph, GraphOptions, Registry};
use varve_kv::MemoryEngine;
use varve_model::time::SystemClock;
use varve_view::{CancelToken, Meter, MeterLimits};

/// Mutations of each query.
const MUTATIONS: usize = 4;
const STACK_BYTES: usize = 64 << 20;

/// A small generator of numbers, the same each time.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).expect("small") % bound.max(1)
    }
}

/// The words and signs of a text.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut is_word = false;
    for c in text.chars() {
        let goes_on = c.is_alphanumeric() || c == '_';
        match words.last_mut() {
            Some(last) if goes_on && is_word => last.push(c),
            _ => words.push(c.to_string()),
        }
        is_word = goes_on;
    }
    words
}

fn mutated(text: &str, others: &[String], random: &mut Random) -> String {
    let mut words = words(text);
    for _ in 0..=random.below(3) {
        let at = random.below(words.len());
        match random.below(5) {
            0 => {
                words.remove(at);
            }
            1 => words.insert(at, words[at].clone()),
            2 => {
                let other = random.below(words.len());
                words.swap(at, other);
            }
            3 => {
                // Clauses of another query behind this one.
                let other = &others[random.below(others.len())];
                words.push("\n".to_owned());
                words.push(other.clone());
            }
            _ => {
                let other = self::words(&others[random.below(others.len())]);
                words[at].clone_from(&other[random.below(other.len())]);
            }
        }
        if words.is_empty() {
            words.push("RETURN 1".to_owned());
        }
    }
    words.concat()
}

fn run(graph: &Arc<StoredGraph>, text: &str, keeps: bool) -> Result<usize, String> {
    let limits = MeterLimits {
        rows_max: 100_000,
        bytes_max: 1 << 24,
        deadline: Some(Instant::now() + Duration::from_secs(2)),
    };
    let meter = Meter::new(limits, CancelToken::default());
    let schema = graph.schema();
    let prepared = varve_cypher::prepare(text, &*schema, &NoProcedures, Sizes::UNKNOWN);
    let prepared = prepared.map_err(|error| error.to_string())?;
    let begun = graph.begin(OptimisticLimits::default());
    let transaction = begun.map_err(|error| error.to_string())?;
    let parameters: Map = prepared
        .parameters()
        .iter()
        .map(|name| (Arc::from(name.as_str()), Value::Integer(1)))
        .collect();
    let context = Context {
        graph: Graph {
            view: &transaction,
            schema: &transaction,
            writer: Some(&transaction),
            meter: &meter,
        },
        parameters: &parameters,
        clock: Clock::now(),
        procedures: &NoProcedures,
    };
    let rows = varve_cypher::run(&prepared, context);
    let mut rows = rows.map_err(|error| error.to_string())?;
    let mut count = 0;
    while let Some(batch) = rows.next().map_err(|error| error.to_string())? {
        assert_eq!(batch.width(), prepared.columns().len(), "{text}");
        count += batch.len();
    }
    drop(rows);
    if keeps {
        let committed = transaction.commit(WritePeriod::default());
        committed.map_err(|error| error.to_string())?;
    }
    // Else the transaction is dropped: each query sees the same graph.
    Ok(count)
}

fn run_all() {
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/features").to_owned();
    let folder = std::env::var("VARVE_TEST_CYPHER").unwrap_or(own);
    let all = scenarios(Path::new(&folder)).expect("the features");
    let steps = all.iter().flat_map(|scenario| &scenario.steps);
    let texts = steps.filter_map(|step| match step {
        Step::Query(text) | Step::Executed(text) | Step::Control(text) => Some(text.clone()),
        _ => None,
    });
    let mut texts: Vec<String> = texts.collect();
    texts.sort();
    texts.dedup();
    let options = GraphOptions::new(Arc::new(SystemClock));
    let registry = Registry::open(Arc::new(MemoryEngine::new()), options).expect("a registry");
    let graph = registry
        .create_with("g", SchemaMode::Open)
        .expect("a graph");
    let setup = "CREATE (a:A:X {name: 'a', num: 1, list: [1, 2]})-[:KNOWS {num: 1}]->(b:B {name: 'b'}), \
                 (b)-[:REL]->(c:C {num: 3}), (c)-[:KNOWS]->(a), (a)-[:T]->(a), ()-[:LOVES]->(:Person)";
    run(&graph, setup, true).expect("a graph");
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut passed, mut failed) = (0, 0);
    for text in &texts {
        for _ in 0..MUTATIONS {
            let mutation = mutated(text, &texts, &mut random);
            let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                run(&graph, &mutation, false)
            }));
            match ran {
                Ok(Ok(_)) => passed += 1,
                Ok(Err(_)) => failed += 1,
                Err(_) => panic!("panicked: {mutation}"),
            }
        }
    }
    println!("{passed} mutations ran, {failed} were refused");
    assert!(passed > texts.len() / 4, "{passed} of {}", passed + failed);
}

#[test]
fn mutated_queries_do_not_panic() {
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
    thread
        .spawn(run_all)
        .expect("a thread")
        .join()
        .expect("an end");
}
