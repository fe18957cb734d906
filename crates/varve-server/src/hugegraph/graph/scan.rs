//! `…/traversers/vertices|edges/shards` and `…/scan`: how backup tools read everything, shard by
//! shard.
//!
//! The whole graph is one shard, because the storage seam orders rows within a partition only.
//! A request with the parameter `page` gets one page. Without it, the answer has all elements, or
//! fails if there are too many. `start` and `end` are ignored.

use varve_graph::query::{self, EdgeQuery, VertexQuery};

use super::listing::Listing;
use super::submit::Target;
use super::timed::Timed;
use crate::errors::ApiError;
use crate::json::JsonWriter;
use crate::request::{Query, RequestContext};
use crate::respond::{HandlerResult, Response};
use crate::wire::{output, time};

/// The minimum of the parameter `split_size`, in bytes.
const SPLIT_SIZE_MIN: i64 = 1 << 20;
/// The bounds of the one shard, base64 of the least and the greatest byte.
const START: &str = "AA==";
const END: &str = "/w==";
/// Elements of a page, unless the request has a `page_limit`.
const PAGE_LIMIT: i64 = 100_000;

/// The shards of the graph: always one. `split_size` is checked, and has no other effect.
pub(super) fn shards(context: &RequestContext) -> HandlerResult {
    let split_size = context.query()?.integer("split_size", 0)?;
    if split_size < SPLIT_SIZE_MIN {
        return Err(ApiError::illegal_argument(format!(
            "The split-size must be >= {SPLIT_SIZE_MIN} bytes, but got {split_size}"
        )));
    }
    context.graph()?;
    let mut json = JsonWriter::with_capacity(64);
    json.begin_object().key("shards").begin_array();
    json.begin_object().key("start").string(START);
    json.key("end").string(END).key("length").integer(0);
    json.end_object().end_array().end_object();
    Ok(Response::ok(json.finish()))
}

/// Returns the limit and the page token of a scan. Without the `page` parameter the limit is -1: no
/// limit.
fn range(parameters: &Query) -> Result<(i64, Option<String>), ApiError> {
    let page = parameters.get("page").map(|token| token.replace(' ', "+"));
    let limit = match page {
        Some(_) => parameters.integer("page_limit", PAGE_LIMIT)?,
        None => -1,
    };
    if page.is_some() && limit < 0 {
        return Err(ApiError::illegal_argument(format!("Invalid limit {limit}")));
    }
    Ok((limit, page))
}

/// The vertices of a shard.
pub(super) fn vertices(context: &RequestContext) -> HandlerResult {
    let parameters = context.query()?;
    let target = Target::of(context)?;
    let schema = &*target.schema;
    let (limit, page) = range(parameters)?;
    let paging = page.is_some();
    let query = VertexQuery {
        limit,
        page,
        ..VertexQuery::default()
    };
    let view = context.view(&target, time::scope(parameters)?)?;
    let mut answer = Listing::start(context, "vertices");
    let page = query::vertices(
        &Timed::new(&view, context),
        schema,
        &query,
        &mut |id, row| answer.add(|json| output::vertex_row(json, schema, id, row)),
    )?;
    answer.finish(paging.then_some(page))
}

/// The edges of a shard, each once.
pub(super) fn edges(context: &RequestContext) -> HandlerResult {
    let parameters = context.query()?;
    let target = Target::of(context)?;
    let schema = &*target.schema;
    let (limit, page) = range(parameters)?;
    let paging = page.is_some();
    let query = EdgeQuery {
        limit,
        page,
        ..EdgeQuery::default()
    };
    let view = context.view(&target, time::scope(parameters)?)?;
    let mut answer = Listing::start(context, "edges");
    let page = query::edges(
        &Timed::new(&view, context),
        schema,
        &query,
        &mut |id, row| answer.add(|json| output::edge_row(json, schema, id, row)),
    )?;
    answer.finish(paging.then_some(page))
}
