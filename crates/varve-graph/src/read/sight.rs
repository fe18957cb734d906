//! The rule of visibility, for reads, histories and writes.
//!
//! A policy covers a vertex's state at a point if it covers the state's label and its conditions
//! hold. At another point than now, they must also hold in the present state, if there is one. A
//! policy covers an edge's state in the same way, and only if it also covers both ends at that
//! point. The label of an end decides without a read, unless the policy has conditions on it.

use varve_encoding::row::{edge_parts, vertex_label, vertex_parts};
use varve_encoding::tables::{EDGE, VERTEX};
use varve_encoding::{DecodeError, key};
use varve_kv::{Reader, TableId};
use varve_model::{Direction, EdgeLabelId, Instant, TemporalScope, VertexLabelId};
use varve_view::{Coverage, ElementPolicy};

use super::view::{Point, read_element};
use crate::error::GraphError;
use crate::index::tokenizer;
use crate::query::pick;

/// Says whether an end of an edge is covered: by its partition key, and its label in the edge.
pub(crate) type CoversEnd<'a> = &'a mut dyn FnMut(&[u8], VertexLabelId) -> Result<bool, GraphError>;

/// A policy, applied to states at one point.
#[derive(Clone, Copy)]
pub(crate) struct Sight<'a> {
    pub(crate) reader: &'a dyn Reader,
    pub(crate) policy: &'a ElementPolicy,
    /// Whether the point is the present, so that the state is the present one.
    pub(crate) is_now: bool,
    pub(crate) now: Instant,
}

impl Sight<'_> {
    /// Whether the policy covers a vertex with this state at the point.
    pub(crate) fn vertex(&self, partition: &[u8], content: &[u8]) -> Result<bool, GraphError> {
        if !covers_vertex(self.policy, content)? {
            return Ok(false);
        }
        match self.policy.vertex(vertex_label(content)?) {
            Coverage::Where(_) => self.holds_now(
                (VERTEX, partition, key::VERTEX_CLUSTERING),
                &mut |content| covers_vertex(self.policy, content),
            ),
            Coverage::Nothing | Coverage::All => Ok(true),
        }
    }

    /// Whether the policy covers an edge with this state at the point.
    pub(crate) fn edge(
        &self,
        (partition, clustering): (&[u8], &[u8]),
        content: &[u8],
        end: CoversEnd<'_>,
    ) -> Result<bool, GraphError> {
        let damaged = || DecodeError::new("an edge key", clustering, 0);
        let (direction, label, other) = key::edge_parts(clustering).ok_or_else(damaged)?;
        let (source_label, target_label, _) = edge_parts(content)?;
        let (own_label, other_label) = match direction {
            Direction::Out => (source_label, target_label),
            Direction::In => (target_label, source_label),
        };
        Ok(covers_edge(self.policy, label, content)?
            && end(partition, own_label)?
            && end(other, other_label)?
            && self.edge_alone((partition, clustering), label, content)?)
    }

    /// As [`Sight::edge`], regardless of the ends.
    pub(crate) fn edge_alone(
        &self,
        (partition, clustering): (&[u8], &[u8]),
        label: EdgeLabelId,
        content: &[u8],
    ) -> Result<bool, GraphError> {
        if !covers_edge(self.policy, label, content)? {
            return Ok(false);
        }
        match self.policy.edge(label) {
            Coverage::Where(_) => self.holds_now((EDGE, partition, clustering), &mut |content| {
                covers_edge(self.policy, label, content)
            }),
            Coverage::Nothing | Coverage::All => Ok(true),
        }
    }

    /// Whether the policy covers an end of an edge with this label; `None` if its state decides.
    pub(crate) fn end_by_label(&self, label: VertexLabelId) -> Option<bool> {
        match self.policy.vertex(label) {
            Coverage::Nothing => Some(false),
            Coverage::All => Some(true),
            Coverage::Where(_) => None,
        }
    }

    /// Whether the policy covers the present state of an element, if there is one.
    fn holds_now(
        &self,
        (table, partition, clustering): (TableId, &[u8], &[u8]),
        covers: &mut dyn FnMut(&[u8]) -> Result<bool, DecodeError>,
    ) -> Result<bool, GraphError> {
        if self.is_now {
            return Ok(true);
        }
        let point = Point {
            scope: TemporalScope::NOW,
            now: self.now,
        };
        let mut covered = Ok(true);
        let found = &mut |content: &[u8]| covered = covers(content);
        read_element(self.reader, table, partition, clustering, point, found)?;
        Ok(covered?)
    }
}

/// Whether a policy covers a vertex with this content.
fn covers_vertex(policy: &ElementPolicy, content: &[u8]) -> Result<bool, DecodeError> {
    let (label, reader) = vertex_parts(content)?;
    Ok(match policy.vertex(label) {
        Coverage::Where(any_of) => {
            let properties = pick(reader, any_of.keys())?;
            any_of.holds(&properties, &tokenizer::contains_words)
        }
        coverage => *coverage == Coverage::All,
    })
}

/// Whether a policy covers an edge with this label and content, regardless of its ends.
fn covers_edge(
    policy: &ElementPolicy,
    label: EdgeLabelId,
    content: &[u8],
) -> Result<bool, DecodeError> {
    Ok(match policy.edge(label) {
        Coverage::Where(any_of) => {
            let properties = pick(edge_parts(content)?.2, any_of.keys())?;
            any_of.holds(&properties, &tokenizer::contains_words)
        }
        coverage => *coverage == Coverage::All,
    })
}
