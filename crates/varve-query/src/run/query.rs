//! A query that runs.

use varve_view::{GraphView, GraphWriter, Meter, SchemaView};

use super::build::{self, Builder};
use super::context::{Context, Effect, Random};
use super::profile::{Measures, explained};
use super::row::Track;
use super::{BATCH_MAX, BoxedOperator, analysis};
use crate::plan::{Name, Op, Operator, Plan};
use crate::{QueryError, Value, rules};

/// What a query begins with.
#[derive(Debug, Clone, Default)]
pub struct QueryOptions {
    /// Side effects that are there before the first step, and how steps join them.
    pub side_effects: Vec<(Name, Value, Option<Operator>)>,
    /// What every traverser carries at first.
    pub sack: Option<Value>,
    /// How the sacks of equal traversers become one at a barrier; `None` = they stay apart.
    pub sack_merge: Option<Operator>,
    /// Whether equal traversers that meet at a barrier count once.
    pub once: bool,
    /// Whether every traverser remembers its path, asked for or not.
    pub paths: bool,
    /// What chance begins with; `None` = something else each time.
    pub seed: Option<u64>,
    /// Does not run the plan: the only result says what it is, as bound and as it would run.
    pub explain: bool,
    /// Leaves the plan as it is, hands on one row at a time, and makes no equal rows one: for tests
    /// that compare.
    pub as_written: bool,
}

/// A plan that runs on one view of a graph.
pub struct Query<'q> {
    cx: Context<'q>,
    chain: BoxedOperator,
}

impl<'q> Query<'q> {
    /// A query at its beginning.
    ///
    /// # Errors
    /// When the plan makes no sense.
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

    /// A query that may change the graph, at its beginning.
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
        let track = match options.paths {
            true => Track::Path,
            false => analysis::track(plan),
        };
        let rewritten = match options.as_written {
            true => plan.clone(),
            false => rules::rewritten(plan, schema, track == Track::Path),
        };
        let sack = options.sack.map(Box::new);
        let mut builder = Builder::new(schema, track, sack, options.as_written);
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

    /// The next results, each with how often it is there; `None` = no more. `demand`: how many are
    /// needed at least, if that many come.
    ///
    /// # Errors
    /// As the steps say.
    pub fn next(&mut self, demand: usize) -> Result<Option<Vec<(Value, u64)>>, QueryError> {
        let rows = self.chain.next(&mut self.cx, demand.clamp(1, BATCH_MAX))?;
        Ok(rows.map(|rows| rows.into_iter().map(|row| (row.value, row.bulk)).collect()))
    }

    /// Reads label and properties of every vertex within these values, so that they can be shown.
    ///
    /// # Errors
    /// When reading fails.
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

/// Every vertex within a value.
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
