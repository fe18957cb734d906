//! Shared parts of the explorer's requests: lists of ids, and limits.

use std::collections::HashSet;

use varve_model::{EdgeId, VertexId};

use super::read_request::ReadRequest;
use crate::errors::ApiError;
use crate::wire::ids::{OldForm, parse_edge_id, parse_vertex_id};

/// The vertices with these refs, each once.
pub(super) fn vertex_ids(refs: &[String]) -> Result<Vec<VertexId>, ApiError> {
    let mut seen = HashSet::new();
    let mut ids = Vec::with_capacity(refs.len());
    for text in refs {
        let id = parse_vertex_id(text)?;
        if seen.insert(id.clone()) {
            ids.push(id);
        }
    }
    Ok(ids)
}

/// The edges with these refs, each once.
pub(super) fn edge_ids(refs: &[String]) -> Result<Vec<EdgeId>, ApiError> {
    let mut seen = HashSet::new();
    let mut ids = Vec::with_capacity(refs.len());
    for text in refs {
        let id = parse_edge_id(text, OldForm::Accepted)
            .map_err(|error| ApiError::illegal_argument(error.message().to_owned()))?;
        if seen.insert(id.clone()) {
            ids.push(id);
        }
    }
    Ok(ids)
}

/// 400 if `count` exceeds the option.
pub(super) fn at_most(what: &str, count: usize, max: usize, option: &str) -> Result<(), ApiError> {
    match count <= max {
        true => Ok(()),
        false => Err(ApiError::limit_exceeded(format!(
            "{count} {what}, but a request may have at most {max} (explore.{option})"
        ))),
    }
}

/// A limit between `least` and `max`.
pub(super) fn limit(
    name: &str,
    value: i64,
    (least, max): (usize, usize),
    option: &str,
) -> Result<usize, ApiError> {
    let limit = usize::try_from(value).ok();
    limit
        .filter(|limit| (least..=max).contains(limit))
        .ok_or_else(|| {
            ApiError::illegal_argument(format!(
                "The {name} must be in [{least}, {max}] (explore.{option}), but got {value}"
            ))
        })
}

/// The limit in the query parameter `limit`.
pub(super) fn limit_of_query(
    request: &ReadRequest<'_>,
    default: usize,
    max: usize,
    option: &str,
) -> Result<usize, ApiError> {
    let query = request.context.query()?;
    let default = i64::try_from(default.min(max)).unwrap_or(i64::MAX);
    limit("limit", query.integer("limit", default)?, (1, max), option)
}
