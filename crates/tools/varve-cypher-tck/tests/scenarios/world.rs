//! One scenario: its graph, its parameters, and the last result.

use std::sync::Arc;
use std::time::{Duration, Instant};

use varve_cypher::temporal::Clock;
use varve_cypher::{Context, CypherError, Graph, Map, Sizes, Value};
use varve_cypher_tck::compare::{self, Answer};
use varve_cypher_tck::gherkin::{ExpectedError, Order, Scenario, Step, Table};
use varve_cypher_tck::literal::Literal;
use varve_graph::optimistic::OptimisticLimits;
use varve_graph::schema::SchemaMode;
use varve_graph::write::WritePeriod;
use varve_graph::{Graph as StoredGraph, GraphOptions, Registry};
use varve_kv::MemoryEngine;
use varve_model::TemporalScope;
use varve_model::time::SystemClock;
use varve_view::{CancelToken, Meter, MeterLimits};

use crate::graph::{Content, literal_of};
use crate::procedures::TestProcedures;

/// The time of one query.
const QUERY_TIME: Duration = Duration::from_secs(10);

/// Why a query failed.
struct Failure {
    /// Class, phase and detail, if the language raised it.
    named: Option<(&'static str, &'static str, &'static str)>,
    message: String,
}

impl From<CypherError> for Failure {
    fn from(error: CypherError) -> Self {
        let named = match &error {
            CypherError::Error(error) => {
                Some((error.class.name(), error.phase.name(), error.detail))
            }
            CypherError::View(_) => None,
        };
        Self {
            named,
            message: error.to_string(),
        }
    }
}

impl From<varve_graph::GraphError> for Failure {
    fn from(error: varve_graph::GraphError) -> Self {
        Self {
            named: None,
            message: error.to_string(),
        }
    }
}

/// The state of a scenario.
pub(crate) struct World {
    _registry: Registry,
    graph: Arc<StoredGraph>,
    parameters: Map,
    procedures: TestProcedures,
    last: Option<Result<Answer, Failure>>,
    effects: Vec<(String, u64)>,
}

/// The value of a literal without elements.
pub(crate) fn value_of(literal: &Literal) -> Value {
    match literal {
        Literal::Boolean(truth) => Value::Boolean(*truth),
        Literal::Integer(number) => Value::Integer(*number),
        Literal::Float(number) => Value::Float(*number),
        Literal::Text(text) => Value::string(text),
        Literal::List(items) => Value::list(items.iter().map(value_of).collect()),
        Literal::Map(entries) => {
            let entries = entries.iter();
            let entries = entries.map(|(key, value)| (Arc::from(key.as_str()), value_of(value)));
            Value::map(entries.collect())
        }
        _ => Value::Null,
    }
}

fn meter() -> Meter {
    let limits = MeterLimits {
        rows_max: 10_000_000,
        bytes_max: 1 << 30,
        deadline: Some(Instant::now() + QUERY_TIME),
    };
    Meter::new(limits, CancelToken::default())
}

impl World {
    pub(crate) fn new() -> Self {
        let options = GraphOptions::new(Arc::new(SystemClock));
        let engine = Arc::new(MemoryEngine::new());
        let registry = Registry::open(engine, options).expect("a registry");
        let graph = registry.create_with("tck", SchemaMode::Open);
        Self {
            graph: graph.expect("a graph"),
            _registry: registry,
            parameters: Map::new(),
            procedures: TestProcedures::default(),
            last: None,
            effects: Vec::new(),
        }
    }

    /// Runs all steps.
    pub(crate) fn run(mut self, scenario: &Scenario) -> Result<(), String> {
        let counts = scenario
            .steps
            .iter()
            .any(|step| matches!(step, Step::SideEffects(_)));
        for step in &scenario.steps {
            self.step(step, counts)?;
        }
        match self.last {
            Some(Err(failure)) => Err(format!("failed: {}", failure.message)),
            _ => Ok(()),
        }
    }

    fn step(&mut self, step: &Step, counts: bool) -> Result<(), String> {
        match step {
            Step::EmptyGraph => Ok(()),
            Step::NamedGraph(name) => {
                let text = binary_tree(name).ok_or_else(|| format!("skipped: the graph {name}"))?;
                self.prepare(&text)
            }
            Step::Executed(text) => self.prepare(text),
            Step::Parameters(pairs) => {
                for (name, text) in pairs {
                    let value = value_of(&Literal::read(text)?);
                    self.parameters.insert(Arc::from(name.as_str()), value);
                }
                Ok(())
            }
            Step::Procedure(signature, table) => self.procedures.add(signature, table),
            Step::Query(text) => {
                let shown = |failure: Failure| failure.message;
                let before = match counts {
                    true => Some(self.content().map_err(shown)?),
                    false => None,
                };
                self.last = Some(self.execute(text));
                if let Some(before) = before {
                    self.effects = self.content().map_err(shown)?.effects(&before);
                }
                Ok(())
            }
            Step::Control(text) => {
                self.last = Some(self.execute(text));
                Ok(())
            }
            Step::Result(order, table) => self.compare(*order, table),
            Step::EmptyResult => match self.last.take() {
                Some(Ok(answer)) if answer.rows.is_empty() => Ok(()),
                Some(Ok(answer)) => Err(format!("{} rows instead of none", answer.rows.len())),
                Some(Err(failure)) => Err(format!("failed: {}", failure.message)),
                None => Err("no query".to_owned()),
            },
            Step::Error(expected) => self.expect_error(expected),
            Step::SideEffects(expected) => {
                if let Some(Err(failure)) = &self.last {
                    return Err(format!("failed: {}", failure.message));
                }
                let mut expected = expected.clone();
                expected.retain(|(_, count)| *count > 0);
                expected.sort();
                match expected == self.effects {
                    true => Ok(()),
                    false => Err(format!(
                        "side effects {:?} instead of {expected:?}",
                        self.effects
                    )),
                }
            }
            Step::Unknown(text) => Err(format!("skipped: {text}")),
        }
    }

    fn prepare(&mut self, text: &str) -> Result<(), String> {
        let prepared = self.execute(text);
        let failed = |failure: Failure| format!("preparing failed: {}", failure.message);
        prepared.map(drop).map_err(failed)
    }

    fn compare(&mut self, order: Order, table: &Table) -> Result<(), String> {
        match self.last.take() {
            Some(Ok(answer)) => compare::result(&answer, order, table),
            Some(Err(failure)) => Err(format!("failed: {}", failure.message)),
            None => Err("no query".to_owned()),
        }
    }

    fn expect_error(&mut self, expected: &ExpectedError) -> Result<(), String> {
        let wanted = format!(
            "{} at {}: {}",
            expected.kind, expected.phase, expected.detail
        );
        match self.last.take() {
            Some(Err(Failure {
                named: Some((kind, phase, detail)),
                message,
            })) => {
                let is_same = kind == expected.kind
                    && (expected.phase == "any time" || phase == expected.phase)
                    && (expected.detail == "*" || detail == expected.detail);
                match is_same {
                    true => Ok(()),
                    false => Err(format!(
                        "{kind} at {phase}: {detail} instead of {wanted}: {message}"
                    )),
                }
            }
            Some(Err(failure)) => Err(format!("failed: {} instead of {wanted}", failure.message)),
            Some(Ok(_)) => Err(format!("no error instead of {wanted}")),
            None => Err("no query".to_owned()),
        }
    }

    fn content(&self) -> Result<Content, Failure> {
        let view = self.graph.view(TemporalScope::NOW)?;
        let schema = self.graph.schema();
        let meter = meter();
        let graph = Graph {
            view: &view,
            schema: &*schema,
            writer: None,
            meter: &meter,
        };
        Ok(Content::of(&graph)?)
    }

    /// Runs a query, and commits what it changes.
    fn execute(&self, text: &str) -> Result<Answer, Failure> {
        let meter = meter();
        let schema = self.graph.schema();
        let prepared = varve_cypher::prepare(text, &*schema, &self.procedures, Sizes::UNKNOWN)?;
        if !prepared.writes() {
            let view = self.graph.view(TemporalScope::NOW)?;
            let graph = Graph {
                view: &view,
                schema: &*schema,
                writer: None,
                meter: &meter,
            };
            return self.collect(&prepared, graph);
        }
        let transaction = self.graph.begin(OptimisticLimits::default())?;
        let graph = Graph {
            view: &transaction,
            schema: &transaction,
            writer: Some(&transaction),
            meter: &meter,
        };
        let answer = self.collect(&prepared, graph)?;
        transaction.commit(WritePeriod::default())?;
        Ok(answer)
    }

    fn collect(
        &self,
        prepared: &varve_cypher::Prepared,
        graph: Graph<'_>,
    ) -> Result<Answer, Failure> {
        let context = Context {
            graph,
            parameters: &self.parameters,
            clock: Clock::now(),
            procedures: &self.procedures,
        };
        let mut rows = varve_cypher::run(prepared, context)?;
        let columns = prepared.columns().iter().map(ToString::to_string);
        let mut answer = Answer {
            columns: columns.collect(),
            rows: Vec::new(),
        };
        while let Some(batch) = rows.next()? {
            for (row, count) in batch.rows() {
                let literals = row.iter().map(|value| literal_of(value, &graph));
                let literals = literals.collect::<Result<Vec<_>, _>>()?;
                for _ in 0..count {
                    answer.rows.push(literals.clone());
                }
            }
        }
        Ok(answer)
    }
}

/// The query that creates one of the TCK's two trees: a root with four children, which have two
/// children each and a circle among them.
fn binary_tree(name: &str) -> Option<String> {
    let right = match name {
        "binary-tree-1" => "X",
        "binary-tree-2" => "Y",
        _ => return None,
    };
    let mut text = "CREATE (a:A {name: 'a'})".to_owned();
    for branch in 1..=4 {
        let label = if branch <= 2 { "KNOWS" } else { "FOLLOWS" };
        text.push_str(&format!(
            ", (b{branch}:X {{name: 'b{branch}'}}), (a)-[:{label}]->(b{branch})"
        ));
        for (leaf, leaf_label) in [(1, "X"), (2, right)] {
            text.push_str(&format!(
                ", (c{branch}{leaf}:{leaf_label} {{name: 'c{branch}{leaf}'}}), \
                 (b{branch})-[:FRIEND]->(c{branch}{leaf})"
            ));
        }
    }
    for branch in 1..=4 {
        let next = branch % 4 + 1;
        text.push_str(&format!(", (b{branch})-[:FRIEND]->(b{next})"));
    }
    Some(text)
}
