//! The graphs that scripts work on, by the names that clients use for them, and what a script may
//! do with them.

use std::collections::HashMap;
use std::sync::Arc;

use http::StatusCode;
use varve_graph::optimistic::PartCheck;
use varve_graph::registry::ServedGraph;
use varve_graph::tasks::TaskProgress;
use varve_graph::{ErrorKind, Graph};
use varve_gremlin::execute::{Named, SchemaRequest};
use varve_query::{QueryError, Value};
use varve_session::budget::transactions::TransactionLimits;
use varve_session::work::Work;
use varve_session::{Failure, Identity};
use varve_view::{AccessPolicy, Meter, ViewError};

use super::scripting;
use crate::errors::ApiError;
use crate::request::RequestContext;
use crate::route::Action;
use crate::state::AppState;

/// The prefix of a graph's name in the name of its traversal source.
const SOURCE_PREFIX: &str = "__g_";
/// The graph space of every graph; clients of HugeGraph 1.7 put it before the graph's name.
const SPACE_PREFIX: &str = "DEFAULT-";
/// The graph that `g` means if there are several graphs and no alias names one.
const DEFAULT_GRAPH: &str = "hugegraph";

/// A graph's name without the prefixes of clients.
fn plain(name: &str) -> &str {
    let plain = name.strip_prefix(SOURCE_PREFIX).unwrap_or(name);
    plain.strip_prefix(SPACE_PREFIX).unwrap_or(plain)
}

/// The graphs of a script, with the rights of its client.
pub(super) enum Graphs<'c> {
    /// Those that the client of a request sees.
    OfClient(&'c RequestContext, HashMap<String, String>),
    /// The one of a job.
    OfJob(OwnGraph<'c>),
}

/// The graph of a job.
pub(super) struct OwnGraph<'c> {
    pub(super) graph: &'c Arc<Graph>,
    /// The user that submitted the job.
    pub(super) owner: Option<&'c str>,
    /// Checks whether the owner may still run the job.
    pub(super) check: Option<PartCheck>,
    pub(super) progress: &'c TaskProgress,
    pub(super) transactions: &'c TransactionLimits,
}

impl OwnGraph<'_> {
    fn check_owner(&self) -> Result<(), QueryError> {
        let checked = self.check.as_ref().map_or(Ok(()), |check| check());
        Ok(checked.map_err(ViewError::from)?)
    }
}

/// A graph that a script may work on, and its client's policy for the elements.
pub(super) type Found = (Arc<ServedGraph>, Option<Arc<AccessPolicy>>);

impl Graphs<'_> {
    /// The meaning of a name that no variable has.
    pub(super) fn named(&self, name: &str) -> Option<Named> {
        self.graph_named(name)?;
        let is_source = match self {
            Self::OfClient(context, aliases) => {
                let wanted = aliases.get(name).map_or(name, String::as_str);
                let names = Names::of(context);
                names.source(wanted).is_some() || wanted.starts_with(SOURCE_PREFIX)
            }
            Self::OfJob(_) => name.starts_with(SOURCE_PREFIX),
        };
        match name == "g" || is_source {
            true => Some(Named::Source),
            false => Some(Named::Graph),
        }
    }

    fn graph_named(&self, name: &str) -> Option<String> {
        match self {
            Self::OfClient(context, aliases) => Names::of(context).graph_named(aliases, name),
            Self::OfJob(own) => {
                let is_own = own.graph.name() == plain(name) || matches!(name, "g" | "graph");
                is_own.then(|| own.graph.name().to_owned())
            }
        }
    }

    /// The graph of this name, for an action on it.
    pub(super) fn find(&self, name: &str, action: Action) -> Result<Found, QueryError> {
        let wanted = || match self {
            Self::OfClient(_, aliases) => aliases.get(name).map_or(name, String::as_str),
            Self::OfJob(_) => name,
        };
        let graph = self.graph_named(name);
        let graph = graph.ok_or_else(|| QueryError::Unbound(wanted().to_owned()))?;
        match self {
            Self::OfClient(context, _) => {
                context.session.decide(action, &graph).map_err(failed)?;
                if action.changes() {
                    let checked = context.session.check_may_change();
                    checked.map_err(ViewError::from)?;
                }
                let served = context.session.served(&graph).map_err(ViewError::from)?;
                let access = context.session.access_to(&served);
                Ok((served, access))
            }
            Self::OfJob(own) => {
                let graph = Arc::clone(own.graph);
                let schema = graph.schema();
                Ok((Arc::new(ServedGraph { graph, schema }), None))
            }
        }
    }

    /// Checks before a commit that the graph of the work still exists and may be changed.
    pub(super) fn check_commit(&self, work: &mut Work) -> Result<(), QueryError> {
        let context = match self {
            Self::OfClient(context, _) => context,
            Self::OfJob(own) => return own.check_owner(),
        };
        if let Some(check) = work.check.as_ref().filter(|_| work.has_committed) {
            check().map_err(ViewError::from)?;
        }
        let name = work.graph.name().to_owned();
        context
            .session
            .decide(Action::Write, &name)
            .map_err(failed)?;
        let served = context.session.served(&name).map_err(ViewError::from)?;
        if Arc::ptr_eq(&served.graph, &work.graph) {
            let access = context.session.access_to(&served);
            return work.admit(access).map_err(failed);
        }
        work.roll_back();
        Err(failed(Failure::new(
            ErrorKind::InvalidArgument,
            format!(
                "The graph '{name}' was cleared or removed meanwhile: the transaction is rolled back"
            ),
        )))
    }

    /// A check that refuses further commits once the client has lost rights since the script's
    /// start.
    pub(super) fn part_check(&self) -> Option<PartCheck> {
        match self {
            Self::OfClient(context, _) => Some(context.part_check()),
            Self::OfJob(own) => own.check.clone(),
        }
    }

    /// The limits of transactions.
    pub(super) fn transactions(&self) -> &TransactionLimits {
        match self {
            Self::OfClient(context, _) => &context.session.database().transactions,
            Self::OfJob(own) => own.transactions,
        }
    }

    /// Carries out a script's request on the schema.
    pub(super) fn change_schema(
        &self,
        name: &str,
        request: &SchemaRequest,
        meter: &Meter,
    ) -> Result<Value, QueryError> {
        let action = match scripting::changes(request.action) {
            true => Action::Schema,
            false => Action::Read,
        };
        let (served, _) = self.find(name, action)?;
        let context = match self {
            Self::OfClient(context, _) => context,
            Self::OfJob(own) => {
                if action.changes() {
                    own.check_owner()?;
                }
                let check = || Ok(own.progress.check()?);
                let applied = scripting::apply((own.graph, own.owner), request, check);
                return applied.map_err(scripting::raised);
            }
        };
        let (identity, graph) = (context.identity(), served.graph.name());
        identity.check_query_of_schema(graph).map_err(failed)?;
        let owner = identity.owner();
        let check = || meter.check().map_err(|_| context.too_late());
        let applied = scripting::apply((&served.graph, owner.as_deref()), request, check);
        if action.changes() {
            let status = applied
                .as_ref()
                .map_or_else(ApiError::status, |_| StatusCode::OK);
            context.audit(Some(action), Some(graph), status);
        }
        applied.map_err(scripting::raised)
    }
}

/// A failure that ends a script.
pub(super) fn failed(failure: Failure) -> QueryError {
    QueryError::View(failure.into())
}

/// The graphs by the names that a client uses for them. A graph that the client may not know of
/// has no name.
#[derive(Clone, Copy)]
pub(super) struct Names<'a> {
    state: &'a AppState,
    identity: &'a Identity,
}

impl<'a> Names<'a> {
    pub(super) fn of(context: &'a RequestContext) -> Self {
        let (state, identity) = context.client();
        Self { state, identity }
    }

    /// An alias that names no graph: the alias, and the name that it should stand for.
    pub(super) fn unknown_alias(self, aliases: &HashMap<String, String>) -> Option<(&str, &str)> {
        let mut each = aliases.iter();
        let unknown = each.find(|(_, wanted)| self.meant(wanted).is_none());
        unknown.map(|(name, wanted)| (name.as_str(), wanted.as_str()))
    }

    /// The graph that a name in a script means: an alias or a global name.
    pub(super) fn graph_named(
        self,
        aliases: &HashMap<String, String>,
        name: &str,
    ) -> Option<String> {
        let wanted = aliases.get(name).map_or(name, String::as_str);
        self.meant(wanted)
    }

    fn has(self, graph: &str) -> bool {
        self.state.graphs().has(graph) && self.identity.sees(graph)
    }

    /// The graph that a global name means: `X`, `__g_X`, `DEFAULT-X` or `__g_DEFAULT-X`.
    fn global(self, name: &str) -> Option<String> {
        let source = name.strip_prefix(SOURCE_PREFIX).unwrap_or(name);
        let mut meant = [name, source, plain(name)].into_iter();
        let found = meant.find(|name| self.has(name));
        found.or_else(|| self.source(name)).map(str::to_owned)
    }

    /// The graph of a traversal source in the configuration, if the graph exists.
    fn source(self, name: &str) -> Option<&'a str> {
        let mut sources = self.state.config().gremlin_sources();
        let (_, graph) = sources.find(|(source, _)| *source == name)?;
        Some(graph).filter(|graph| self.has(graph))
    }

    /// The graph of a global name. If no graph has the name, `g` and `graph` mean the default
    /// graph, or the only one.
    fn meant(self, name: &str) -> Option<String> {
        if let Some(graph) = self.global(name) {
            return Some(graph);
        }
        if !matches!(name, "g" | "graph") {
            return None;
        }
        if self.has(DEFAULT_GRAPH) {
            return Some(DEFAULT_GRAPH.to_owned());
        }
        let mut seen = self.state.graphs().names();
        seen.retain(|name| self.identity.sees(name));
        match seen.as_slice() {
            [only] => Some(only.clone()),
            _ => None,
        }
    }
}
