//! Running queries.

use varve_view::{GraphView, GraphWriter, Meter, SchemaView};

use super::build::{self, Builder};
use super::context::{Context, Effect, Random};
use super::profile::{Measures, explained};
use super::row::{Row, Track, counted};
use super::{BATCH_MAX, BoxedOperator, analysis};
use crate::plan::{Name, Op, Operator, Plan};
use crate::{QueryError, Value, conditions, rules};

/// The initial state and the settings of a query.
#[derive(Debug, Clone, Default)]
pub struct QueryOptions {
    /// Side effects that exist before the first step, with the operator that combines later values.
    pub side_effects: Vec<(Name, Value, Option<Operator>)>,
    /// The initial sack of every traverser.
    pub sack: Option<Value>,
    /// The operator that combines the sacks of equal traversers at a barrier; `None` = the
    /// traversers are not merged.
    pub sack_merge: Option<Operator>,
    /// Whether equal traversers that meet at a barrier, an order or the end of a loop's round count
    /// as one.
    pub once: bool,
    /// Whether every traverser records its path, even if no step needs it.
    pub paths: bool,
    /// The seed of random numbers; `None` = a random seed.
    pub seed: Option<u64>,
    /// Does not run the plan: the only result describes the plan as bound and as rewritten.
    pub explain: bool,
    /// Applies no rules, passes one traverser at a time, and merges no traversers: for tests that
    /// compare results.
    pub as_written: bool,
}

/// A plan that runs on one view of a graph.
pub struct Query<'q> {
    cx: Context<'q>,
    chain: BoxedOperator,
}

impl<'q> Query<'q> {
    /// Makes a query that only reads.
    ///
    /// # Errors
    /// If the plan writes, or is invalid.
    pub fn new(
        plan: &Plan,
        view: &'q dyn GraphView,
        schema: &'q dyn SchemaView,
        meter: &'q Meter,
        options: QueryOptions,
    ) -> Result<Self, QueryError> {
        if plan.writes() {
            return Err(QueryError::invalid(
                "The query changes the graph, and this is a place where it may only be read",
            ));
        }
        Self::on(plan, (view, schema), None, meter, options)
    }

    /// Makes a query that may change the graph.
    ///
    /// # Errors
    /// As [`Query::new`].
    pub fn writing(
        plan: &Plan,
        writer: &'q dyn GraphWriter,
        meter: &'q Meter,
        options: QueryOptions,
    ) -> Result<Self, QueryError> {
        Self::on(plan, (writer, writer), Some(writer), meter, options)
    }

    fn on(
        plan: &Plan,
        (view, schema): (&'q dyn GraphView, &'q dyn SchemaView),
        writer: Option<&'q dyn GraphWriter>,
        meter: &'q Meter,
        options: QueryOptions,
    ) -> Result<Self, QueryError> {
        let plan = &*conditions::converted(plan, schema)?;
        let track = match options.paths {
            true => Track::Path,
            false => analysis::track(plan),
        };
        let rewritten = match options.as_written {
            true => plan.clone(),
            false => rules::rewritten(plan, schema, track == Track::Path),
        };
        let sack = options.sack.map(Box::new);
        let mut builder = Builder::new(schema, track, sack.clone(), options.as_written);
        builder.measures = rewritten.profiles().then(Measures::default);
        let chain = match options.explain {
            true => {
                let explained = Op::Inject(vec![explained(plan, &rewritten)]);
                build::query(&Plan::new(vec![explained]), &builder)?
            }
            false => build::query(&rewritten, &builder)?,
        };
        let effect = |(name, value, operator)| (name, Effect { value, operator });
        let mut effects = analysis::effects(&rewritten);
        effects.extend(options.side_effects.into_iter().map(effect));
        let cx = Context {
            view,
            schema,
            writer,
            meter,
            track,
            sack,
            projection: analysis::projection(&rewritten, schema),
            effects,
            sack_merge: options.sack_merge,
            once: options.once,
            merges: track != Track::Path && !options.as_written,
            random: Random::new(options.seed.unwrap_or_else(any_seed)),
            ticks: std::cell::Cell::new(0),
        };
        Ok(Self { cx, chain })
    }

    /// The next results, each with its count; `None` = no more. `demand`: the number of results
    /// that the caller needs, a hint.
    ///
    /// # Errors
    ///
    /// Those of the steps.
    pub fn next(&mut self, demand: usize) -> Result<Option<Vec<(Value, u64)>>, QueryError> {
        let watched = self.cx.meter.watched();
        let rows = self.chain.next(&mut self.cx, demand.clamp(1, BATCH_MAX));
        // What work that was told to stop has answered must not reach the client.
        let rows = match varve_view::work::is_over() {
            true => Err(self.cx.over()),
            false => rows,
        };
        drop(watched);
        let each = rows?.map(|rows| {
            let result = |row: Row| Ok((row.value, counted(row.bulk)?));
            rows.into_iter().map(result).collect()
        });
        each.transpose()
    }

    /// Reads the labels and properties of all elements within these values, so that the values can
    /// be rendered.
    ///
    /// # Errors
    /// If reading fails.
    pub fn fill(&self, values: &[(Value, u64)]) -> Result<(), QueryError> {
        let mut vertices = Vec::new();
        for (value, _) in values {
            gather_vertices(value, &mut vertices);
        }
        self.cx.fetch(vertices.into_iter())
    }
}

fn any_seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(0)
}

/// Collects every element within a value.
fn gather_vertices<'v>(value: &'v Value, out: &mut Vec<&'v Value>) {
    match value {
        Value::Vertex(_) | Value::VertexProperty(_) | Value::Edge(..) => out.push(value),
        Value::List(items) => items.iter().for_each(|item| gather_vertices(item, out)),
        Value::Set(items) => items.iter().for_each(|item| gather_vertices(item, out)),
        Value::Map(map) => map.iter().for_each(|(key, value)| {
            gather_vertices(key, out);
            gather_vertices(value, out);
        }),
        Value::Entry(entry) => {
            gather_vertices(&entry.0, out);
            gather_vertices(&entry.1, out);
        }
        Value::Path(path) => path
            .objects
            .iter()
            .for_each(|item| gather_vertices(item, out)),
        Value::Tree(tree) => gather_tree(tree, out),
        Value::Graph(graph) => graph
            .members()
            .for_each(|member| gather_vertices(member, out)),
        _ => {}
    }
}

fn gather_tree<'v>(tree: &'v crate::value::Tree, out: &mut Vec<&'v Value>) {
    for (key, below) in &tree.0 {
        gather_vertices(key, out);
        gather_tree(below, out);
    }
}
