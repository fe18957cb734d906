//! The graphs that scripts work on, by the names that clients use for them.

use std::collections::HashMap;
use std::sync::Arc;

use varve_graph::read::View;
use varve_graph::registry::Leased;
use varve_gremlin::bind::Bound;
use varve_gremlin::execute::{Host, Named, Results, SchemaRequest, Source};
use varve_model::TemporalScope;
use varve_query::{QueryError, Value};
use varve_view::{Meter, MeterLimits, ViewError};

use super::{reading, scripting};
use crate::blocking::yield_to_others;
use crate::errors::ApiError;
use crate::hugegraph::{graph_scope, scope_instant, scope_version};
use crate::request::RequestContext;
use crate::route::Action;
use crate::state::AppState;

/// What comes before the name of a graph in the name of its traversal source.
pub(super) const SOURCE_PREFIX: &str = "__g_";
/// The graph space of every graph, which clients of 1.7 put before its name.
pub(super) const SPACE_PREFIX: &str = "DEFAULT-";
/// The graph that `g` means where there are several and no alias says.
const DEFAULT_GRAPH: &str = "hugegraph";

/// Runs the traversals of one request.
pub(super) struct GraphHost<'c> {
    context: &'c RequestContext,
    aliases: HashMap<String, String>,
    pub(super) scope: TemporalScope,
    meter: Meter,
    /// The graph of the last traversal.
    pub(super) graph: Option<Arc<Leased>>,
    /// Why a traversal was refused, in the words of the server.
    pub(super) refused: Option<ApiError>,
}

impl<'c> GraphHost<'c> {
    pub(super) fn new(
        context: &'c RequestContext,
        aliases: HashMap<String, String>,
    ) -> Result<Self, ApiError> {
        let config = context.state().config();
        let limits = MeterLimits {
            rows_max: config.max_traversal_rows,
            bytes_max: config.max_traversal_bytes as u64,
            deadline: Some(context.deadline()),
        };
        Self::within(context, aliases, limits)
    }

    /// As [`GraphHost::new`], with limits of its own.
    pub(super) fn within(
        context: &'c RequestContext,
        aliases: HashMap<String, String>,
        limits: MeterLimits,
    ) -> Result<Self, ApiError> {
        let host = Self {
            context,
            scope: graph_scope(context.query()?)?,
            meter: Meter::new(limits, context.cancel_token()).pausing(yield_to_others),
            graph: None,
            refused: None,
            aliases,
        };
        for (name, wanted) in &host.aliases {
            if global(context.state(), wanted).is_none() {
                return Err(ApiError::illegal_argument(format!(
                    "Could not rebind [{name}] to [{wanted}] as [{wanted}] not in the Graph or \
                     TraversalSource global bindings"
                )));
            }
        }
        Ok(host)
    }

    /// The view that a traversal asks for.
    fn view(&mut self, source: &Source, bound: &Bound) -> Result<(Arc<Leased>, View), ApiError> {
        let (Source::Traversal(name) | Source::Graph(name)) = source;
        let name = graph_named(self.context.state(), &self.aliases, name)?;
        self.context.decide(Action::Read, &name)?;
        let leased = self.context.leased_named(&name)?;
        let mut scope = self.scope;
        for (key, value) in &bound.with {
            let text = value.to_string();
            match key.as_str() {
                "as_of" => scope.valid = Some(scope_instant("as_of", &text)?),
                "as_of_tx" => scope.transaction = Some(scope_version(&text)?),
                _ => {}
            }
        }
        let view = leased.graph.view(scope)?;
        // Results are shown with the names of one schema.
        let is_other = |before: &Arc<Leased>| !Arc::ptr_eq(&before.graph, &leased.graph);
        if self.graph.as_ref().is_some_and(is_other) {
            return Err(ApiError::not_supported("A script may read one graph only"));
        }
        self.graph = Some(Arc::clone(&leased));
        Ok((leased, view))
    }
}

impl GraphHost<'_> {
    /// Ends the script: no script catches what the server refuses.
    fn refuse(&mut self, error: ApiError) -> QueryError {
        let told = ViewError::Store(error.message().to_owned().into());
        self.refused = Some(error);
        QueryError::View(told)
    }

    /// Does what a script asks of the schema.
    fn apply(&mut self, graph: &str, request: &SchemaRequest) -> Result<Value, ApiError> {
        let name = graph_named(self.context.state(), &self.aliases, graph)?;
        let action = match scripting::changes(request.action) {
            true => Action::Schema,
            false => Action::Read,
        };
        self.context.decide(action, &name)?;
        let leased = self.context.leased_named(&name)?;
        scripting::apply(&leased.graph, request, || {
            self.meter.check().map_err(|_| self.context.too_late())
        })
    }
}

/// The graph that a global name means: `X`, `__g_X`, `DEFAULT-X` or `__g_DEFAULT-X`.
fn global(state: &AppState, name: &str) -> Option<String> {
    let plain = name.strip_prefix(SOURCE_PREFIX).unwrap_or(name);
    let inner = plain.strip_prefix(SPACE_PREFIX).unwrap_or(plain);
    let mut meant = [name, plain, inner].into_iter();
    let found = meant.find(|name| state.graphs().has(name));
    found.map(str::to_owned)
}

/// The graph that a name in a script means: an alias or a global name; `g` and `graph` else mean
/// the default graph, or the only one.
pub(super) fn graph_named(
    state: &AppState,
    aliases: &HashMap<String, String>,
    name: &str,
) -> Result<String, ApiError> {
    let wanted = aliases.get(name).map_or(name, String::as_str);
    if let Some(graph) = global(state, wanted) {
        return Ok(graph);
    }
    let graphs = state.graphs().names();
    let default = match graphs.as_slice() {
        [only] => Some(only.clone()),
        _ => graphs.into_iter().find(|name| name == DEFAULT_GRAPH),
    };
    default
        .filter(|_| matches!(wanted, "g" | "graph"))
        .ok_or_else(|| missing(wanted))
}

fn missing(name: &str) -> ApiError {
    ApiError::gremlin(
        "groovy.lang.MissingPropertyException",
        format!("No such property: {name}"),
    )
}

impl Host for GraphHost<'_> {
    fn check(&self) -> Result<(), QueryError> {
        Ok(self.meter.check()?)
    }

    fn hold(&self, bytes: usize) -> Result<(), QueryError> {
        Ok(self.meter.hold(bytes)?)
    }

    fn named(&self, name: &str) -> Option<Named> {
        let wanted = self.aliases.get(name).map_or(name, String::as_str);
        graph_named(self.context.state(), &self.aliases, name).ok()?;
        match name == "g" || wanted.starts_with(SOURCE_PREFIX) {
            true => Some(Named::Source),
            false => Some(Named::Graph),
        }
    }

    fn run(
        &mut self,
        source: &Source,
        bound: &Bound,
        most: Option<u64>,
    ) -> Result<Results, QueryError> {
        let found = self.view(source, bound);
        let (leased, view) = found.map_err(|error| self.refuse(error))?;
        reading::results(&view, leased.schema.as_ref(), &self.meter, bound, most)
    }

    fn schema(&mut self, graph: &str, request: &SchemaRequest) -> Result<Value, QueryError> {
        let done = self.apply(graph, request);
        done.map_err(|error| match scripting::catchable(error) {
            Ok(told) => told,
            Err(refused) => self.refuse(refused),
        })
    }
}
