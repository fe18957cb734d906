//! Paths through a graph.

use std::collections::HashSet;
use std::collections::hash_map::Entry;

use rustc_hash::{FxHashMap, FxHashSet};
use varve_model::EdgeId;
use varve_view::Flow;

use crate::{Search, Step, TraversalError, VertexNumber};

/// Vertices, each a neighbour of the one before.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path {
    /// The vertices, first to last.
    pub vertices: Vec<VertexNumber>,
}

/// The choice among parallel edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parallel {
    /// The first in storage order.
    First,
    /// The last in storage order.
    Last,
}

/// Bytes of a path with this number of vertices.
#[must_use]
pub fn path_bytes(vertices: usize) -> usize {
    size_of::<Path>() + vertices * size_of::<VertexNumber>()
}

/// Bytes of a pair of neighbours while its edge is searched for.
const PAIR_BYTES: usize = 2 * size_of::<(VertexNumber, VertexNumber)>();

/// A path, and for each edge the step by which it was walked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stepped {
    /// The vertices.
    pub path: Path,
    /// For each edge, the index of its step in the request.
    pub steps: Vec<usize>,
}

/// Pairs of neighbours on paths, whose edges are to be found.
#[derive(Default)]
pub(crate) struct Pairs {
    /// The pairs without repeats, in the order of the paths.
    pub(crate) all: Vec<(VertexNumber, VertexNumber)>,
    /// For each first vertex of a pair, its key and the second vertices.
    pub(crate) ends: FxHashMap<VertexNumber, (Vec<u8>, FxHashSet<VertexNumber>)>,
}

impl Pairs {
    pub(crate) fn of<'p>(
        search: &Search<'_>,
        paths: impl Iterator<Item = &'p Path>,
    ) -> Result<Self, TraversalError> {
        let mut pairs = Self::default();
        for path in paths {
            for pair in path.vertices.windows(2) {
                pairs.add(search, pair[0], pair[1])?;
            }
        }
        Ok(pairs)
    }

    fn add(
        &mut self,
        search: &Search<'_>,
        from: VertexNumber,
        to: VertexNumber,
    ) -> Result<(), TraversalError> {
        let held = |key: &[u8]| search.meter().hold(PAIR_BYTES + key.len());
        let (_, ends) = match self.ends.entry(from) {
            Entry::Occupied(place) => place.into_mut(),
            Entry::Vacant(place) => {
                let key = search.key(from);
                held(&key)?;
                place.insert((key, FxHashSet::default()))
            }
        };
        if ends.insert(to) {
            held(&[])?;
            self.all.push((from, to));
        }
        Ok(())
    }

    /// The first vertices of the pairs, without repeats, in the order of the paths.
    pub(crate) fn starts(&self) -> Vec<VertexNumber> {
        let mut seen = FxHashSet::default();
        let starts = self.all.iter().map(|(from, _)| *from);
        starts.filter(|from| seen.insert(*from)).collect()
    }

    /// One edge of the step for each pair, in the order of the pairs.
    fn edges(
        &self,
        search: &mut Search<'_>,
        step: &Step,
        parallel: Parallel,
    ) -> Result<Vec<EdgeId>, TraversalError> {
        let mut found: FxHashMap<(VertexNumber, VertexNumber), EdgeId> = FxHashMap::default();
        let view = search.view();
        search.expand(&self.starts(), step, &mut |hop| {
            let Some((key, ends)) = self.ends.get(&hop.from) else {
                return Ok(Flow::Continue(()));
            };
            if ends.contains(&hop.to) {
                let edge = view.edge_id(key, hop.edge)?;
                match (parallel, found.entry((hop.from, hop.to))) {
                    (_, Entry::Vacant(place)) => drop(place.insert(edge)),
                    (Parallel::Last, Entry::Occupied(mut place)) => drop(place.insert(edge)),
                    (Parallel::First, Entry::Occupied(_)) => {}
                }
            }
            Ok(Flow::Continue(()))
        })?;
        let each = self.all.iter().filter_map(|pair| found.remove(pair));
        Ok(each.collect())
    }
}

/// One edge for each pair of consecutive vertices of the paths, among those that the step follows.
/// Repeated pairs give one edge.
///
/// # Errors
///
/// Those of the view.
pub fn edges_of(
    search: &mut Search<'_>,
    paths: &[Path],
    step: &Step,
    parallel: Parallel,
) -> Result<Vec<EdgeId>, TraversalError> {
    let pairs = Pairs::of(search, paths.iter())?;
    Ok(distinct(pairs.edges(search, step, parallel)?))
}

/// One edge for each pair of consecutive vertices of the paths and the step that was walked between
/// them. Repeated pairs give one edge; of parallel edges, the last.
///
/// # Errors
///
/// Those of the view.
pub fn edges_of_steps<'p>(
    search: &mut Search<'_>,
    paths: impl Iterator<Item = &'p Stepped>,
    steps: &[&Step],
) -> Result<Vec<EdgeId>, TraversalError> {
    let mut pairs: Vec<Pairs> = steps.iter().map(|_| Pairs::default()).collect();
    for stepped in paths {
        for (pair, step) in stepped.path.vertices.windows(2).zip(&stepped.steps) {
            pairs[*step].add(search, pair[0], pair[1])?;
        }
    }
    let mut edges = Vec::new();
    for (pairs, step) in pairs.iter().zip(steps) {
        edges.extend(pairs.edges(search, step, Parallel::Last)?);
    }
    Ok(distinct(edges))
}

fn distinct(mut edges: Vec<EdgeId>) -> Vec<EdgeId> {
    let mut seen = HashSet::new();
    edges.retain(|edge| seen.insert(edge.clone()));
    edges
}
