//! All simple paths between two vertices, shortest first.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;
use varve_view::Flow;

use crate::path::path_bytes;
use crate::walks::Nexts;
use crate::{Capacity, Path, Search, Step, TraversalError, VertexNumber};

/// A request for simple paths.
#[derive(Debug, Clone, Copy)]
pub struct SimplePaths {
    /// The most edges of a path.
    pub depth: u64,
    /// The most vertices that the search may add to partial paths or reach from the target,
    /// counting repeats.
    pub capacity: Capacity,
    /// The most paths.
    pub limit: u64,
    /// Whether only the paths with the fewest edges are returned.
    pub nearest: bool,
}

/// The name of these searches in HugeGraph's messages.
const WHAT: &str = "paths";

/// A search for paths to one target.
struct Finder<'s, 'v> {
    search: &'s mut Search<'v>,
    back: Step,
    ask: &'s SimplePaths,
    target: VertexNumber,
    /// The distance to the target of each vertex that was reached from it.
    distance: FxHashMap<VertexNumber, u64>,
    frontier: Vec<VertexNumber>,
    /// The neighbours of vertices that paths go through.
    nexts: Nexts,
    /// Whether a path was dropped because of its length. Then a longer path may reach the target.
    is_cut: bool,
    touched: u64,
    found: Vec<Path>,
}

/// The paths of 1 to `depth` edges from `source` to `target` that visit no vertex twice. Shorter
/// paths come first, paths of equal length in storage order. Paths over parallel edges count as
/// one. There is no path from a vertex to itself.
///
/// # Errors
/// [`TraversalError::Capacity`] if the capacity is exceeded, and those of the view.
pub fn simple_paths(
    search: &mut Search<'_>,
    source: VertexNumber,
    target: VertexNumber,
    step: &Step,
    ask: &SimplePaths,
) -> Result<Vec<Path>, TraversalError> {
    if source == target {
        return Ok(Vec::new());
    }
    let mut finder = Finder {
        // The search back from the target has no degree limit, which would hide paths through
        // vertices with many edges.
        back: Step {
            max_degree: None,
            skip_degree: None,
            ..step.reversed()
        },
        search,
        ask,
        target,
        distance: FxHashMap::from_iter([(target, 0)]),
        frontier: vec![target],
        nexts: Nexts::vertices(step),
        is_cut: false,
        touched: 2,
        found: Vec::new(),
    };
    let mut path = vec![source];
    for length in 1..=ask.depth {
        finder.is_cut = false;
        finder.extend(&mut path, length)?;
        let is_enough = ask.nearest && !finder.found.is_empty();
        if is_enough || !finder.is_cut || finder.found.len() as u64 >= ask.limit {
            break;
        }
        finder.reach_further(length)?;
    }
    Ok(finder.found)
}

/// [`simple_paths`] from each source to each target, in the order of the sources. The capacity
/// applies to each pair.
///
/// # Errors
/// As [`simple_paths`].
pub fn paths_of_pairs(
    search: &mut Search<'_>,
    sources: &[VertexNumber],
    targets: &[VertexNumber],
    step: &Step,
    ask: &SimplePaths,
) -> Result<Vec<Path>, TraversalError> {
    let mut found = Vec::new();
    for source in sources {
        for target in targets {
            let limit = ask.limit - found.len() as u64;
            if limit == 0 {
                return Ok(found);
            }
            let ask = SimplePaths { limit, ..*ask };
            found.extend(simple_paths(search, *source, *target, step, &ask)?);
        }
    }
    Ok(found)
}

impl Finder<'_, '_> {
    fn touch(&mut self, vertices: usize) -> Result<(), TraversalError> {
        self.touched += vertices as u64;
        self.ask.capacity.check(self.touched, WHAT)
    }

    /// Reaches the vertices at this distance from the target.
    fn reach_further(&mut self, distance: u64) -> Result<(), TraversalError> {
        let from = std::mem::take(&mut self.frontier);
        let (known, meter) = (&mut self.distance, self.search.meter());
        let mut frontier = Vec::new();
        self.search.expand(&from, &self.back, &mut |hop| {
            if let Entry::Vacant(place) = known.entry(hop.to) {
                meter.hold(size_of::<(VertexNumber, u64)>())?;
                place.insert(distance);
                frontier.push(hop.to);
            }
            Ok(Flow::Continue(()))
        })?;
        self.touch(frontier.len())?;
        self.frontier = frontier;
        Ok(())
    }

    /// Finds all extensions of a partial path by exactly `left` edges to the target.
    fn extend(&mut self, path: &mut Vec<VertexNumber>, left: u64) -> Result<(), TraversalError> {
        // A stack of the neighbours still to be tried at each vertex of the path.
        let mut open = vec![self.neighbours(path, left)?];
        while let Some(choices) = open.last_mut() {
            let Some(vertex) = choices.pop() else {
                open.pop();
                if !open.is_empty() {
                    path.pop();
                }
                continue;
            };
            path.push(vertex);
            self.touch(1)?;
            // The neighbours are cached, so this step reads nothing. It counts as a row so that the
            // limits end the search.
            self.search.meter().row()?;
            let left = left - open.len() as u64;
            if left == 0 {
                self.found.push(Path {
                    vertices: path.clone(),
                });
                self.search.meter().hold(path_bytes(path.len()))?;
                path.pop();
                if self.found.len() as u64 >= self.ask.limit {
                    path.truncate(1);
                    return Ok(());
                }
                continue;
            }
            open.push(self.neighbours(path, left)?);
        }
        Ok(())
    }

    /// The neighbours of the path's last vertex that are not on the path and that can reach the
    /// target within `left` edges, in reverse storage order.
    fn neighbours(
        &mut self,
        path: &[VertexNumber],
        left: u64,
    ) -> Result<Vec<VertexNumber>, TraversalError> {
        let Some(&from) = path.last() else {
            return Ok(Vec::new());
        };
        self.nexts.read(self.search, [from])?;
        let is_all_known = self.frontier.is_empty();
        let (distance, target, is_cut) = (&self.distance, self.target, &mut self.is_cut);
        let may_lead = |vertex: &VertexNumber| {
            if *vertex == target {
                return left == 1;
            }
            let at = distance.get(vertex);
            if (at.is_none() && is_all_known) || path.contains(vertex) {
                return false;
            }
            let leads = at.is_some_and(|at| *at < left);
            *is_cut |= !leads;
            leads
        };
        let all = self.nexts.of(from).iter().rev().map(|next| next.to);
        let leading: Vec<VertexNumber> = all.filter(may_lead).collect();
        if left > 1 {
            // The path continues from each of these vertices, so their neighbours are read
            // together.
            self.nexts.read(self.search, leading.iter().copied())?;
        }
        Ok(leading)
    }
}
