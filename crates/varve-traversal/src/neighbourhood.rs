//! Vertices within some steps of a vertex: k-out and k-neighbor.

use crate::{Capacity, Search, Step, TraversalError, Tree, VertexNumber};

/// A k-out request.
#[derive(Debug, Clone, Copy)]
pub struct KOut {
    /// The number of steps, at least 1.
    pub depth: u64,
    /// Whether vertices nearer than `depth` are left out. If not, the result is the ends of all
    /// walks of `depth` edges that never return to the source.
    pub nearest: bool,
    /// The most vertices that may be met.
    pub capacity: Capacity,
    /// Whether the source and the last layer count against the capacity, as in HugeGraph's GET
    /// request.
    pub counts_all: bool,
    /// The most vertices returned.
    pub limit: u64,
}

/// The vertices at `depth` steps from `source`: the last layer of the tree.
///
/// # Errors
///
/// [`TraversalError::Capacity`] if the capacity is reached, and those of the view.
pub fn k_out(
    search: &mut Search<'_>,
    source: VertexNumber,
    step: &Step,
    ask: &KOut,
) -> Result<Tree, TraversalError> {
    let mut tree = Tree::new(source);
    let mut touched = u64::from(ask.counts_all);
    for remaining in (0..ask.depth).rev() {
        let most = if remaining == 0 { ask.limit } else { u64::MAX };
        match ask.nearest {
            true => tree.grow(search, step, most)?,
            false => tree.grow_walks(search, step, most)?,
        }
        touched += tree.last().len() as u64;
        let is_last = remaining == 0;
        if !is_last {
            ask.capacity.check_layer(touched, remaining)?;
        } else if ask.counts_all {
            // The last layer may use up the capacity; only more than that is an error.
            ask.capacity.check_layer(touched.saturating_sub(1), 0)?;
        }
        if tree.last().is_empty() {
            break;
        }
    }
    Ok(tree)
}

/// The vertices at 1 to `depth` steps from `source`, at most `limit`, nearest first.
///
/// # Errors
///
/// Those of the view.
pub fn k_neighbor(
    search: &mut Search<'_>,
    source: VertexNumber,
    step: &Step,
    depth: u64,
    limit: u64,
) -> Result<Tree, TraversalError> {
    let mut tree = Tree::new(source);
    let mut left = limit;
    for _ in 0..depth {
        tree.grow(search, step, left)?;
        left = left.saturating_sub(tree.last().len() as u64);
        if tree.last().is_empty() || left == 0 {
            break;
        }
    }
    Ok(tree)
}

/// The distinct neighbours of a vertex without the vertex itself, in storage order; at most
/// `limit`.
///
/// # Errors
///
/// Those of the view.
pub fn neighbours(
    search: &mut Search<'_>,
    vertex: VertexNumber,
    step: &Step,
    limit: u64,
) -> Result<Vec<VertexNumber>, TraversalError> {
    let tree = k_neighbor(search, vertex, step, 1, limit)?;
    Ok(tree.reached().collect())
}
