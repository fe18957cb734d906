//! A walk through a graph.

use std::collections::HashSet;
use std::collections::hash_map::Entry;

use rustc_hash::{FxHashMap, FxHashSet};
use varve_model::{EdgeId, VertexId};
use varve_view::{Flow, Meter};

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

/// Bytes that a path of so many vertices takes.
#[must_use]
pub fn path_bytes(vertices: usize) -> usize {
    size_of::<Path>() + vertices * size_of::<VertexNumber>()
}

/// Bytes that a pair of neighbours takes while an edge is looked for.
const PAIR_BYTES: usize = 2 * size_of::<(VertexNumber, VertexNumber)>();

/// Neighbours on paths, between which edges are looked for.
pub(crate) struct Pairs {
    /// Each pair once, in the order in which the paths have them.
    pub(crate) all: Vec<(VertexNumber, VertexNumber)>,
    /// What follows each vertex.
    pub(crate) ends: FxHashMap<VertexNumber, FxHashSet<VertexNumber>>,
}

impl Pairs {
    pub(crate) fn of<'p>(
        paths: impl Iterator<Item = &'p Path>,
        meter: &Meter,
    ) -> Result<Self, TraversalError> {
        let mut pairs = Self {
            all: Vec::new(),
            ends: FxHashMap::default(),
        };
        for path in paths {
            for pair in path.vertices.windows(2) {
                if pairs.ends.entry(pair[0]).or_default().insert(pair[1]) {
                    meter.hold(PAIR_BYTES)?;
                    pairs.all.push((pair[0], pair[1]));
                }
            }
        }
        Ok(pairs)
    }
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
    let pairs = Pairs::of(paths.iter(), search.meter())?;
    let mut found: FxHashMap<(VertexNumber, VertexNumber), EdgeId> = FxHashMap::default();
    for (from, ends) in &pairs.ends {
        let (view, key) = (search.view(), search.key(*from));
        search.expand(&[*from], step, &mut |hop| {
            if ends.contains(&hop.to) {
                let edge = view.edge_id(&key, hop.edge)?;
                match (parallel, found.entry((*from, hop.to))) {
                    (_, Entry::Vacant(place)) => drop(place.insert(edge)),
                    (Parallel::Last, Entry::Occupied(mut place)) => drop(place.insert(edge)),
                    (Parallel::First, Entry::Occupied(_)) => {}
                }
            }
            Ok(Flow::Continue(()))
        })?;
    }
    let each = pairs.all.iter().filter_map(|pair| found.remove(pair));
    let mut seen = HashSet::new();
    Ok(each.filter(|edge| seen.insert(edge.clone())).collect())
}
