//! Reads of the explorer: a graph at one point of both times, within limits.

use varve_graph::read::View;
use varve_graph::schema::Schema;
use varve_model::{
    CommitVersion, EdgeId, ElementId, Instant, PropertyKeyId, TemporalScope, VertexId,
};
use varve_view::{Flow, GraphView, Meter, SchemaView, ViewError};

use super::config::ExploreConfig;
use super::state::{self, State};
use crate::JsonWriter;
use crate::errors::ApiError;
use crate::request::RequestContext;
use crate::wire::time::{instant_text, scope as graph_scope};

/// The graph at one point of both times.
pub(super) struct Snapshot {
    /// The client's view at that point.
    shown: View,
    /// The view at the same transaction time with all valid times, if `shown` has one valid time.
    every: Option<View>,
    /// The instant of valid time.
    pub(super) valid: Instant,
    /// The last commit that the view includes.
    pub(super) version: CommitVersion,
    /// Whether the request names neither time.
    is_now: bool,
    /// Whether the client's policy may hide elements.
    is_guarded: bool,
}

impl Snapshot {
    /// The client's view of the request's graph at `scope`. Both times become fixed: a later
    /// request with the same times gets the same answer.
    pub(super) fn of(context: &RequestContext, scope: TemporalScope) -> Result<Self, ApiError> {
        let leased = context.served()?;
        let is_now = scope.is_now();
        let transaction = match (scope.valid, scope.transaction) {
            (Some(_), None) => Some(leased.graph.published()),
            (_, transaction) => transaction,
        };
        let scope = TemporalScope {
            transaction,
            ..scope
        };
        let shown = context.view(&leased, scope)?;
        let every = match scope.valid {
            None => None,
            Some(_) => {
                let scope = TemporalScope {
                    valid: None,
                    transaction: shown.scope().transaction,
                };
                Some(context.view(&leased, scope)?)
            }
        };
        let version = match shown.scope().transaction {
            Some(version) => version,
            None => shown.last_commit()?,
        };
        Ok(Self {
            valid: shown.valid(),
            version,
            is_now,
            is_guarded: context.access_to(&leased).is_some(),
            shown,
            every,
        })
    }

    /// The client's view at that point.
    pub(super) fn view(&self) -> &dyn GraphView {
        &self.shown
    }

    /// The view at the same transaction time with all valid times.
    pub(super) fn every(&self) -> &dyn GraphView {
        self.every.as_ref().unwrap_or(&self.shown)
    }

    pub(super) fn schema(&self) -> &Schema {
        self.shown.schema()
    }

    /// The state of an element; `None` if it does not exist.
    pub(super) fn state(&self, id: &ElementId, meter: &Meter) -> Result<Option<State>, ViewError> {
        // If the deciding version is hidden, an older one must not replace it.
        let here = TemporalScope::NOW;
        if self.is_guarded && self.shown.element_at(id, here, meter)?.is_none() {
            return Ok(None);
        }
        state::state(self.every(), id, self.valid, meter)
    }

    /// The states of the existing vertices among these, in order.
    pub(super) fn vertices(
        &self,
        ids: impl IntoIterator<Item = VertexId>,
        meter: &Meter,
    ) -> Result<Vec<State>, ViewError> {
        let ids = ids.into_iter().map(ElementId::Vertex);
        let states = ids.filter_map(|id| self.state(&id, meter).transpose());
        states.collect()
    }

    /// The states of the existing edges among these, in order.
    pub(super) fn edges(
        &self,
        ids: impl IntoIterator<Item = EdgeId>,
        meter: &Meter,
    ) -> Result<Vec<State>, ViewError> {
        let ids = ids.into_iter().map(ElementId::Edge);
        let states = ids.filter_map(|id| self.state(&id, meter).transpose());
        states.collect()
    }

    /// Visits the edges that ever left a vertex. They are candidates: their versions decide when
    /// each exists.
    pub(super) fn ever_edges_of(
        &self,
        source: &VertexId,
        looked: &mut dyn FnMut(bool) -> Flow,
        visit: &mut dyn FnMut(EdgeId) -> Flow,
    ) -> Result<(), ApiError> {
        Ok(self.shown.ever_edges_of(source, looked, visit)?)
    }

    /// Writes both times as an object. A request with these times gets the same answer.
    pub(super) fn write(&self, json: &mut JsonWriter) {
        json.begin_object();
        write_instant(json, "as_of", self.valid);
        json.key("as_of_tx").string(&self.version.to_string());
        write_instant(json, "recorded_at", self.version.instant());
        json.key("now").boolean(self.is_now);
        json.end_object();
    }
}

/// Writes a member that is an instant; null for the ends of time.
pub(super) fn write_instant(json: &mut JsonWriter, name: &str, instant: Instant) {
    json.key(name);
    match instant_text(instant) {
        Some(text) => json.string(&text),
        None => json.null(),
    };
}

/// The graph of a request at its point of both times, and the meter of the read.
pub(super) struct ReadRequest<'c> {
    pub(super) context: &'c RequestContext,
    pub(super) snapshot: Snapshot,
    pub(super) meter: Meter,
}

impl<'c> ReadRequest<'c> {
    /// A read at the times of the query parameters.
    pub(super) fn of(context: &'c RequestContext) -> Result<Self, ApiError> {
        Self::at(context, graph_scope(context.query()?)?)
    }

    /// A read at these times.
    pub(super) fn at(context: &'c RequestContext, scope: TemporalScope) -> Result<Self, ApiError> {
        let snapshot = Snapshot::of(context, scope)?;
        let meter = context.session.meter();
        Ok(Self {
            context,
            snapshot,
            meter,
        })
    }

    pub(super) fn schema(&self) -> &Schema {
        self.snapshot.schema()
    }

    pub(super) fn limits(&self) -> &'c ExploreConfig {
        &self.context.state().config().explore
    }

    /// Converts the error of a read through the view into the client's.
    pub(super) fn or_refuse<T>(&self, read: Result<T, ViewError>) -> Result<T, ApiError> {
        read.map_err(|error| self.context.session.failed_read(error).into())
    }

    /// All property keys, ascending.
    pub(super) fn property_keys(&self) -> Vec<PropertyKeyId> {
        SchemaView::property_keys(self.schema())
    }
}

/// The vertex key of an id.
pub(super) fn vertex_key(view: &dyn GraphView, id: &VertexId) -> Vec<u8> {
    let mut key = Vec::new();
    view.put_vertex_key(id, &mut key);
    key
}
