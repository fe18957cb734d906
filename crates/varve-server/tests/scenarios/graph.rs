//! An open graph in memory that scripts change.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use varve_graph::optimistic::{OptimisticLimits, OptimisticTransaction};
use varve_graph::schema::SchemaMode;
use varve_graph::write::WritePeriod;
use varve_graph::{Graph, GraphOptions, Registry};
use varve_gremlin::bind::Bound;
use varve_gremlin::execute::{Host, Results, Source, execute};
use varve_gremlin::parse_script;
use varve_kv::MemoryEngine;
use varve_model::time::SystemClock;
use varve_query::{Query, QueryError, Value};
use varve_view::{CancelToken, Meter, MeterLimits};

/// What fills the graph `modern`.
const MODERN: &str = "
g.addV('person').property(T.id,1).property('name','marko').property('age',29).as('marko').
  addV('person').property(T.id,2).property('name','vadas').property('age',27).as('vadas').
  addV('software').property(T.id,3).property('name','lop').property('lang','java').as('lop').
  addV('person').property(T.id,4).property('name','josh').property('age',32).as('josh').
  addV('software').property(T.id,5).property('name','ripple').property('lang','java').as('ripple').
  addV('person').property(T.id,6).property('name','peter').property('age',35).as('peter').
  addE('knows').from('marko').to('vadas').property('weight',0.5d).
  addE('knows').from('marko').to('josh').property('weight',1.0d).
  addE('created').from('marko').to('lop').property('weight',0.4d).
  addE('created').from('josh').to('ripple').property('weight',1.0d).
  addE('created').from('josh').to('lop').property('weight',0.4d).
  addE('created').from('peter').to('lop').property('weight',0.2d)";

pub(crate) struct OpenGraph {
    graph: Arc<Graph>,
    _registry: Registry,
}

impl OpenGraph {
    pub(crate) fn new() -> Self {
        let options = GraphOptions::new(Arc::new(SystemClock));
        let registry = Registry::open(Arc::new(MemoryEngine::new()), options).expect("opened");
        let graph = registry
            .create_with("g", SchemaMode::Open)
            .expect("a graph");
        Self {
            graph,
            _registry: registry,
        }
    }

    pub(crate) fn fill(&self) {
        self.run(MODERN, HashMap::new(), &[]).expect("filled");
    }

    /// The results of a script in a transaction of its own.
    pub(crate) fn run(
        &self,
        text: &str,
        bindings: HashMap<String, Value>,
        effects: &[(String, Value)],
    ) -> Result<Vec<Value>, String> {
        let script = parse_script(text).map_err(|error| format!("parse: {error}"))?;
        let begun = self.graph.begin(OptimisticLimits::default());
        let mut host = OneTransaction {
            transaction: begun.map_err(|error| error.to_string())?,
            effects,
        };
        let bindings = bindings.into_iter();
        let bindings = bindings.map(|(name, value)| (name.as_str().into(), value));
        let results = execute(&script, bindings.collect(), &mut host);
        let results = results.map_err(|error| error.to_string())?;
        let done = host.transaction.commit(WritePeriod::default());
        done.map_err(|error| error.to_string())?;
        let each = results.into_iter();
        Ok(each
            .flat_map(|(value, bulk)| std::iter::repeat_n(value, bulk as usize))
            .collect())
    }

    /// A vertex by its name.
    pub(crate) fn vertex(&self, name: &str) -> Option<Value> {
        let text = format!("g.V().has('name','{name}')");
        self.run(&text, HashMap::new(), &[]).ok()?.pop()
    }

    /// An edge by its ends and its label: `marko-knows->vadas`.
    pub(crate) fn edge(&self, text: &str) -> Option<Value> {
        let (source, rest) = text.split_once('-')?;
        let (label, target) = rest.split_once("->")?;
        let text = format!(
            "g.V().has('name','{source}').outE('{label}').where(__.inV().has('name','{target}'))"
        );
        self.run(&text, HashMap::new(), &[]).ok()?.pop()
    }
}

struct OneTransaction<'e> {
    transaction: OptimisticTransaction,
    effects: &'e [(String, Value)],
}

impl Host for OneTransaction<'_> {
    fn check(&self) -> Result<(), QueryError> {
        Ok(())
    }

    fn run(&mut self, _: &Source, bound: &Bound, most: Option<u64>) -> Result<Results, QueryError> {
        let limits = MeterLimits {
            rows_max: 1_000_000,
            bytes_max: 128 << 20,
            deadline: Some(Instant::now() + Duration::from_secs(60)),
        };
        let meter = Meter::new(limits, CancelToken::default());
        let mut options = bound.options.clone();
        for (name, value) in self.effects {
            let effect = (name.as_str().into(), value.clone(), None);
            options.side_effects.push(effect);
        }
        let mut query = Query::writing(&bound.plan, &self.transaction, &meter, options)?;
        let mut results = Vec::new();
        let most = most.map_or(usize::MAX, |most| most as usize);
        while results.len() < most {
            let Some(batch) = query.next(most - results.len())? else {
                break;
            };
            query.fill(&batch)?;
            results.extend(batch);
        }
        let mut left = most as u64;
        results.retain_mut(|(_, bulk)| {
            *bulk = (*bulk).min(left);
            left -= *bulk;
            *bulk > 0
        });
        Ok(results)
    }
}
