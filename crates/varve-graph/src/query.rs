//! Queries: listing vertices and edges by label, properties and adjacency, at one point of both
//! times.
//!
//! The [`planner`] turns a query into legs, which are walked one after the other. A leg lists ids,
//! scans an index, scans the edges of a vertex, or scans the whole table. Index entries are hints:
//! each candidate is read at the query's point of both times, and all conditions are checked on its
//! state. Results are passed on as they are found and never collected. A limit ends the walk, and a
//! page token continues it. So the cost of a query depends on the rows that it reads.
//!
//! Results have the order of the walk: ids as listed, index entries by value and element, edges by
//! their keys.

mod alternatives;
mod bounds;
mod delivery;
mod filter;
mod full;
mod intervals;
mod merge;
mod page;
mod plan;
mod planner;
mod resolver;
mod run;
mod scan;
mod sort_keys;
mod sources;
#[cfg(test)]
mod tests;

use varve_encoding::key;
use varve_encoding::row::{decode_edge, decode_vertex};
use varve_encoding::tables::{EDGE, VERTEX};
use varve_kv::{Flow, TableId};
use varve_model::{
    Condition, Direction, Edge, EdgeId, EdgeLabelId, Vertex, VertexId, VertexLabelId,
};

pub use delivery::QUERY_CAPACITY;
pub use filter::owned_value;
pub(crate) use filter::pick;
pub use resolver::{Resolver, RowHeader, RowKey};
pub(crate) use run::FoundRow;
pub(crate) use scan::{edge_ends, estimate, scan};

use crate::GraphError;
use crate::schema::Schema;
use delivery::Delivery;
use filter::Filter;
use page::Bookmark;
use plan::{Page, Parts, Plan};
use run::{RowVisitor, Run};

/// A query for vertices.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct VertexQuery {
    /// Only vertices of this label.
    pub label: Option<VertexLabelId>,
    /// The conditions that their properties must all satisfy.
    pub conditions: Vec<Condition>,
    /// How many matches to skip; a negative number skips none.
    pub offset: i64,
    /// How many matches to return at most; -1 for all, up to [`QUERY_CAPACITY`].
    pub limit: i64,
    /// `None` without paging; else the page token, empty for the first page.
    pub page: Option<String>,
}

/// A query for edges.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EdgeQuery {
    /// Only edges of this vertex, in one direction or both.
    pub vertex: Option<(VertexId, Option<Direction>)>,
    /// Only edges of one of these labels; a PARENT label includes its SUB labels. Empty for all
    /// labels.
    pub labels: Vec<EdgeLabelId>,
    /// The conditions that their properties must all satisfy.
    pub conditions: Vec<Condition>,
    /// How many matches to skip; a negative number skips none.
    pub offset: i64,
    /// How many matches to return at most; -1 for all, up to [`QUERY_CAPACITY`].
    pub limit: i64,
    /// `None` without paging; else the page token, empty for the first page.
    pub page: Option<String>,
}

/// Receives the id and the content of each vertex.
pub type VertexVisitor<'a> = dyn FnMut(&VertexId, &[u8]) -> Flow + 'a;
/// Receives the id and the content of each edge.
pub type EdgeVisitor<'a> = dyn FnMut(&EdgeId, &[u8]) -> Flow + 'a;

/// The token of the next page; `None` after the last page and without paging.
pub type NextPage = Option<String>;

/// Passes the vertices of `query` to `visit` as id and content (see [`Resolver`]), until it breaks.
///
/// # Errors
/// - [`crate::ErrorKind::InvalidArgument`] for an invalid range;
/// - [`crate::ErrorKind::NoIndex`] if no index serves the query;
/// - [`crate::ErrorKind::BadPage`] for a token of another query;
/// - [`crate::ErrorKind::LimitExceeded`] if a query without paging has no limit and more than
///   [`QUERY_CAPACITY`] matches, or examines more candidates than that before it has all it wants;
///   what was visited until then is incomplete;
/// - failures of the engine.
pub fn vertices(
    resolver: &dyn Resolver,
    schema: &Schema,
    query: &VertexQuery,
    visit: &mut VertexVisitor<'_>,
) -> Result<NextPage, GraphError> {
    let delivery = Delivery::new("vertices", query.offset, query.limit, query.page.is_some())?;
    let asked = Asked {
        table: VERTEX,
        conditions: &query.conditions,
        page: query.page.as_deref(),
    };
    let parts = planner::vertices(schema, query)?;
    asked.answer(resolver, delivery, parts, &mut |row| {
        Ok(visit(&key::decode_vertex_id(row.partition)?, row.content))
    })
}

/// Passes the edges of `query` to `visit` as id and content (see [`Resolver`]), until it breaks.
/// Ids are in the OUT form, whichever side an edge was read from.
///
/// # Errors
/// As [`vertices`].
pub fn edges(
    resolver: &dyn Resolver,
    schema: &Schema,
    query: &EdgeQuery,
    visit: &mut EdgeVisitor<'_>,
) -> Result<NextPage, GraphError> {
    let delivery = Delivery::new("edges", query.offset, query.limit, query.page.is_some())?;
    let asked = Asked {
        table: EDGE,
        conditions: &query.conditions,
        page: query.page.as_deref(),
    };
    let parts = planner::edges(schema, query)?;
    asked.answer(resolver, delivery, parts, &mut |row| {
        let (id, _) = key::decode_edge(row.partition, row.clustering)?;
        Ok(visit(&id, row.content))
    })
}

/// Returns the vertices of `query`, decoded.
///
/// # Errors
/// As [`vertices`], and when a row is damaged.
pub fn collect_vertices(
    resolver: &dyn Resolver,
    schema: &Schema,
    query: &VertexQuery,
) -> Result<(Vec<Vertex>, NextPage), GraphError> {
    let mut found = Ok(Vec::new());
    let page = vertices(resolver, schema, query, &mut |id, content| {
        push(&mut found, decode_vertex(id.clone(), content))
    })?;
    Ok((found?, page))
}

/// Returns the edges of `query`, decoded.
///
/// # Errors
/// As [`vertices`], and when a row is damaged.
pub fn collect_edges(
    resolver: &dyn Resolver,
    schema: &Schema,
    query: &EdgeQuery,
) -> Result<(Vec<Edge>, NextPage), GraphError> {
    let mut found = Ok(Vec::new());
    let page = edges(resolver, schema, query, &mut |id, content| {
        push(&mut found, decode_edge(id.clone(), content))
    })?;
    Ok((found?, page))
}

fn push<T, E>(found: &mut Result<Vec<T>, E>, element: Result<T, E>) -> Flow {
    match (found.as_mut(), element) {
        (Ok(all), Ok(element)) => {
            all.push(element);
            Flow::Continue(())
        }
        (_, Err(error)) => {
            *found = Err(error);
            Flow::Break(())
        }
        (Err(_), Ok(_)) => Flow::Break(()),
    }
}

/// The common part of vertex and edge queries.
struct Asked<'a> {
    table: TableId,
    conditions: &'a [Condition],
    page: Option<&'a str>,
}

impl Asked<'_> {
    fn answer(
        &self,
        resolver: &dyn Resolver,
        mut delivery: Delivery,
        parts: Parts,
        visit: &mut RowVisitor<'_>,
    ) -> Result<NextPage, GraphError> {
        if resolver.policy().is_some() {
            delivery.name_delivered();
        }
        let token = self.page.filter(|token| !token.is_empty());
        let bookmark = token.map(Bookmark::parse).transpose()?;
        if delivery.asks_for_nothing() {
            return Ok(None);
        }
        let page = match (&bookmark, self.page) {
            (Some(bookmark), _) => Page::From(bookmark),
            (None, Some(_)) => Page::First,
            (None, None) => Page::None,
        };
        let (scope, reader) = (resolver.scope(), resolver.reader());
        let plan = Plan::choose(parts, self.conditions, scope, reader, page)?;
        let (first, position) = match &bookmark {
            Some(bookmark) => (bookmark.leg as usize, bookmark.position.as_slice()),
            None => (0, [].as_slice()),
        };
        let mut run = Run {
            resolver,
            table: self.table,
            filter: Filter::new(self.conditions),
            delivery,
            walked: 0,
        };
        run.walk(&plan.legs, first, position, visit)?;
        let next = run.delivery.finish(plan.fingerprint, plan.choices)?;
        Ok(next.map(|bookmark| bookmark.to_token()))
    }
}
