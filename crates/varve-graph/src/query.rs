//! Queries: listing vertices and edges by label, properties and adjacency, at one point of both
//! times.
//!
//! A query is planned ([`planner`]) into legs that are walked one after the other: ids, index
//! entries, the edges of a vertex, or everything. Index entries are hints, so each candidate is
//! read at the asked point of both times and all conditions are checked on what is found. Nothing
//! is collected: elements are handed out as they are met, limits end the walk, and a page token
//! says where it goes on. So a query costs what it touches.
//!
//! Results come in the order of the walk: ids as listed, index entries by value and element, edges
//! by their keys.

mod alternatives;
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
pub use resolver::{Resolver, RowKey};
pub(crate) use run::FoundRow;
pub(crate) use scan::{edge_ends, estimate, scan};

use crate::GraphError;
use crate::schema::Schema;
use delivery::Delivery;
use filter::Filter;
use page::Bookmark;
use plan::{Page, Parts, Plan};
use run::{RowVisitor, Run};

/// Which vertices are asked for.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct VertexQuery {
    /// Only vertices of this label.
    pub label: Option<VertexLabelId>,
    /// What their properties must satisfy, all of it.
    pub conditions: Vec<Condition>,
    /// How many matches to leave out first; negative counts as none.
    pub offset: i64,
    /// How many to hand out; -1 for all, up to [`QUERY_CAPACITY`].
    pub limit: i64,
    /// `None` without paging, else the token of the page, empty for the first.
    pub page: Option<String>,
}

/// Which edges are asked for.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EdgeQuery {
    /// Only edges of this vertex, in one direction or both.
    pub vertex: Option<(VertexId, Option<Direction>)>,
    /// Only edges of one of these labels; a PARENT label stands for its SUB labels. None for any
    /// label.
    pub labels: Vec<EdgeLabelId>,
    /// What their properties must satisfy, all of it.
    pub conditions: Vec<Condition>,
    /// How many matches to leave out first; negative counts as none.
    pub offset: i64,
    /// How many to hand out; -1 for all, up to [`QUERY_CAPACITY`].
    pub limit: i64,
    /// `None` without paging, else the token of the page, empty for the first.
    pub page: Option<String>,
}

/// Receives vertices: id and content.
pub type VertexVisitor<'a> = dyn FnMut(&VertexId, &[u8]) -> Flow + 'a;
/// Receives edges: id and content.
pub type EdgeVisitor<'a> = dyn FnMut(&EdgeId, &[u8]) -> Flow + 'a;

/// The token of the next page; `None` at the end, and when no paging was asked for.
pub type NextPage = Option<String>;

/// Hands the vertices of `query` to `visit` as id and content (see [`Resolver`]), until it breaks.
///
/// # Errors
/// [`crate::ErrorKind::InvalidArgument`] for ranges that make no sense,
/// [`crate::ErrorKind::NoIndex`] when only a scan of a whole label could answer,
/// [`crate::ErrorKind::BadPage`] for a token of another query, [`crate::ErrorKind::LimitExceeded`]
/// when there are more than [`QUERY_CAPACITY`] and all were asked for (what was handed out until
/// then is no answer), and failures of the engine.
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

/// Hands the edges of `query` to `visit` as id and content (see [`Resolver`]), until it breaks. Ids
/// are the OUT form, whichever side an edge was read from.
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

/// The vertices of `query`, decoded.
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

/// The edges of `query`, decoded.
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

/// What vertex and edge queries have in common.
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
