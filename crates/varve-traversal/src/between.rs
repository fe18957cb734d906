//! The edges from one vertex to another.

use varve_model::{Direction, EdgeId, EdgeLabelId};
use varve_view::Flow;

use crate::{Search, Step, TraversalError, VertexNumber};

/// A request for the edges between two vertices.
#[derive(Debug, Clone, Copy)]
pub struct Between<'a> {
    /// Edge labels; empty = all.
    pub labels: &'a [EdgeLabelId],
    /// Only edges with these sort values; `None` = any.
    pub sort_values: Option<&'a str>,
    /// The most edges to return.
    pub limit: u64,
}

/// The edges from `source` to `target` in storage order. The vertices need not exist.
///
/// # Errors
///
/// Those of the view.
pub fn edges_between(
    search: &mut Search<'_>,
    [source, target]: [VertexNumber; 2],
    ask: &Between<'_>,
) -> Result<Vec<EdgeId>, TraversalError> {
    let mut edges: Vec<EdgeId> = Vec::new();
    if ask.limit == 0 {
        return Ok(edges);
    }
    let step = Step {
        direction: Some(Direction::Out),
        labels: ask.labels.to_vec(),
        ..Step::default()
    };
    let (view, key) = (search.view(), search.key(source));
    search.expand(&[source], &step, &mut |hop| {
        if hop.to == target {
            let edge = view.edge_id(&key, hop.edge)?;
            if ask.sort_values.is_none_or(|own| edge.sort_values == own) {
                edges.push(edge);
            }
        }
        Ok(match edges.len() as u64 >= ask.limit {
            true => Flow::Break(()),
            false => Flow::Continue(()),
        })
    })?;
    Ok(edges)
}
