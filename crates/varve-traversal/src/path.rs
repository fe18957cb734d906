//! A walk through a graph.

use std::collections::HashSet;

use rustc_hash::FxHashSet;
use varve_model::{EdgeId, VertexId};
use varve_view::Flow;

use crate::{Search, Step, TraversalError, VertexNumber};

/// Vertices, each a neighbour of the one before.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path {
    /// The vertices, first to last.
    pub vertices: Vec<VertexNumber>,
}

impl Path {
    /// The ids of its vertices.
    ///
    /// # Errors
    /// When the store is damaged.
    pub fn ids(&self, search: &Search<'_>) -> Result<Vec<VertexId>, TraversalError> {
        let ids = self.vertices.iter().map(|number| search.id(*number));
        ids.collect()
    }
}

/// Which one of several edges between two vertices stands for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parallel {
    /// The first in storage order.
    First,
    /// The last in storage order.
    Last,
}

/// One edge for each pair of consecutive vertices of the paths, each pair once, of those that the
/// step follows.
///
/// # Errors
/// As the view.
pub fn edges_of(
    search: &mut Search<'_>,
    paths: &[Path],
    step: &Step,
    parallel: Parallel,
) -> Result<Vec<EdgeId>, TraversalError> {
    let pairs = paths.iter().flat_map(|path| path.vertices.windows(2));
    let mut pairs: Vec<(VertexNumber, VertexNumber)> =
        pairs.map(|pair| (pair[0], pair[1])).collect();
    let mut seen = FxHashSet::default();
    pairs.retain(|pair| seen.insert(*pair));
    let mut edges = Vec::with_capacity(pairs.len());
    for (from, to) in pairs {
        let view = search.view();
        let key = search.key(from);
        let mut found = None;
        search.expand(&[from], step, &mut |hop| {
            if hop.to != to {
                return Ok(Flow::Continue(()));
            }
            found = Some(view.edge_id(&key, hop.edge)?);
            Ok(match parallel {
                Parallel::First => Flow::Break(()),
                Parallel::Last => Flow::Continue(()),
            })
        })?;
        edges.extend(found);
    }
    let mut seen = HashSet::new();
    edges.retain(|edge| seen.insert(edge.clone()));
    Ok(edges)
}
