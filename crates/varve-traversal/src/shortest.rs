//! Shortest paths by number of edges, searched from both ends.

use std::cell::Cell;

use rustc_hash::FxHashSet;
use varve_view::{Flow, Meter};

use crate::path::path_bytes;
use crate::{Capacity, Hop, Path, Search, Step, TraversalError, VertexNumber};

/// The name of these searches in HugeGraph's messages.
const WHAT: &str = "shortest path";
/// Vertices of a layer that are expanded first, if one path is wanted.
const FIRST: usize = 16;
/// The factor by which the next batch grows if the previous one did not suffice.
const GROWTH: usize = 4;

/// One side of a search: its layers, and the edges between consecutive layers.
#[derive(Debug)]
struct Side {
    frontier: Vec<VertexNumber>,
    /// The layer of each vertex, by number; `u32::MAX` = not reached.
    depth: Vec<u32>,
    /// For each layer after the first, pairs of a vertex and a vertex of the layer before from
    /// which it was reached: all such pairs, or one per vertex if only one path is wanted.
    parents: Vec<Vec<(VertexNumber, VertexNumber)>>,
}

const UNREACHED: u32 = u32::MAX;

impl Side {
    fn new(end: VertexNumber) -> Self {
        let mut side = Self {
            frontier: vec![end],
            depth: Vec::new(),
            parents: Vec::new(),
        };
        side.set_depth(end, 0);
        side
    }

    /// The number of the last layer.
    fn layer(&self) -> u32 {
        u32::try_from(self.parents.len()).unwrap_or(UNREACHED - 1)
    }

    fn depth(&self, vertex: VertexNumber) -> u32 {
        self.depth
            .get(vertex as usize)
            .copied()
            .unwrap_or(UNREACHED)
    }

    fn set_depth(&mut self, vertex: VertexNumber, depth: u32) {
        let at = vertex as usize;
        if self.depth.len() <= at {
            let room = (at + 1).next_power_of_two();
            self.depth.resize(room, UNREACHED);
        }
        self.depth[at] = depth;
    }

    /// Adds the next layer. If one path is wanted, stops at the first vertex for which `is_met`
    /// holds.
    fn grow(
        &mut self,
        search: &mut Search<'_>,
        step: &Step,
        all: bool,
        is_met: &dyn Fn(VertexNumber) -> bool,
        charge: &mut dyn FnMut() -> Result<(), TraversalError>,
    ) -> Result<(), TraversalError> {
        let depth = self.layer() + 1;
        let from = std::mem::take(&mut self.frontier);
        let meter = search.meter();
        let (mut next, mut parents) = (Vec::new(), Vec::new());
        let mut last = None;
        let met = Cell::new(false);
        let mut reach = |hop: &Hop<'_>| {
            let known = self.depth(hop.to);
            let pair = (hop.to, hop.from);
            // Parallel edges follow each other, or come in another direction. A pair counts once.
            if known == UNREACHED {
                self.set_depth(hop.to, depth);
                charge()?;
                next.push(hop.to);
                parents.push(pair);
            } else if all && known == depth && last != Some(pair) {
                parents.push(pair);
            } else {
                return Ok(Flow::Continue(()));
            }
            last = Some(pair);
            meter.hold(2 * size_of::<(VertexNumber, VertexNumber)>())?;
            met.set(!all && is_met(hop.to));
            Ok(match met.get() {
                true => Flow::Break(()),
                false => Flow::Continue(()),
            })
        };
        // If one path is wanted, few vertices are expanded at first: they may suffice.
        let (mut rest, mut count) = (from.as_slice(), if all { from.len() } else { FIRST });
        while !rest.is_empty() && !met.get() {
            let piece;
            (piece, rest) = rest.split_at(count.min(rest.len()));
            search.expand(piece, step, &mut reach)?;
            count *= GROWTH;
        }
        parents.sort_by_key(|(vertex, _)| *vertex);
        if all {
            // The sort was stable, so of equal pairs the first in storage order remains.
            let mut seen = FxHashSet::default();
            parents.retain(|pair| seen.insert(*pair));
        }
        self.frontier = next;
        self.parents.push(parents);
        Ok(())
    }

    /// All paths from a vertex of a layer to this side's end, without the vertex itself.
    fn ways(
        &self,
        vertex: VertexNumber,
        layer: usize,
        most: usize,
        meter: &Meter,
    ) -> Result<Vec<Vec<VertexNumber>>, TraversalError> {
        let mut ways: Vec<Vec<VertexNumber>> = vec![Vec::new()];
        for parents in self.parents[..layer].iter().rev() {
            let mut longer = Vec::new();
            for way in ways {
                let at = way.last().copied().unwrap_or(vertex);
                let start = parents.partition_point(|(child, _)| *child < at);
                let own = parents[start..]
                    .iter()
                    .take_while(|(child, _)| *child == at);
                let mut own = own.map(|(_, parent)| *parent).peekable();
                let mut way = way;
                while let Some(parent) = own.next() {
                    meter.row()?;
                    // The last parent takes over the path; the others get copies.
                    let mut longer_way = match own.peek() {
                        Some(_) => {
                            meter.hold(size_of_val(&way) + size_of_val(&way[..]))?;
                            way.clone()
                        }
                        None => std::mem::take(&mut way),
                    };
                    meter.hold(size_of_val(&parent))?;
                    longer_way.push(parent);
                    longer.push(longer_way);
                }
                if longer.len() >= most {
                    break;
                }
            }
            longer.truncate(most);
            ways = longer;
        }
        Ok(ways)
    }
}

/// A request for shortest paths.
#[derive(Debug, Clone, Copy)]
pub struct Shortest {
    /// The most edges of a path.
    pub depth: u64,
    /// The most vertices reached from both ends, and the most paths.
    pub capacity: Capacity,
    /// Whether all shortest paths are returned, or one.
    pub all: bool,
}

/// The shortest paths from `source` to `target`; none if the target is further than `depth`. From a
/// vertex to itself: the path of that vertex alone.
///
/// # Errors
///
/// [`TraversalError::Capacity`] if the capacity is exceeded, and those of the view.
pub fn shortest_paths(
    search: &mut Search<'_>,
    source: VertexNumber,
    target: VertexNumber,
    step: &Step,
    ask: &Shortest,
) -> Result<Vec<Path>, TraversalError> {
    if source == target {
        let vertices = vec![source];
        return Ok(vec![Path { vertices }]);
    }
    let back = step.reversed();
    let (mut near, mut far) = (Side::new(source), Side::new(target));
    let mut touched = 2;
    let mut charge = || {
        touched += 1;
        ask.capacity.check(touched, WHAT)
    };
    for _ in 0..ask.depth {
        if near.frontier.len() <= far.frontier.len() {
            let is_met = |vertex| far.depth(vertex) == far.layer();
            near.grow(search, step, ask.all, &is_met, &mut charge)?;
        } else {
            let is_met = |vertex| near.depth(vertex) == near.layer();
            far.grow(search, &back, ask.all, &is_met, &mut charge)?;
        }
        let paths = joined(&near, &far, ask, search.meter())?;
        if !paths.is_empty() || near.frontier.is_empty() || far.frontier.is_empty() {
            return Ok(paths);
        }
    }
    Ok(Vec::new())
}

/// One shortest path for each connected pair of these vertices, from the earlier to the later in
/// the list. The capacity applies to each pair.
///
/// # Errors
/// As [`shortest_paths`].
pub fn paths_between_all(
    search: &mut Search<'_>,
    vertices: &[VertexNumber],
    step: &Step,
    ask: &Shortest,
) -> Result<Vec<Path>, TraversalError> {
    let one = Shortest { all: false, ..*ask };
    let mut found = Vec::new();
    for (at, source) in vertices.iter().enumerate() {
        for target in &vertices[at + 1..] {
            found.extend(shortest_paths(search, *source, *target, step, &one)?);
        }
    }
    Ok(found)
}

/// The paths through the vertices at which the last layers of both sides meet.
fn joined(
    near: &Side,
    far: &Side,
    ask: &Shortest,
    meter: &Meter,
) -> Result<Vec<Path>, TraversalError> {
    let (ahead, behind) = (near.parents.len(), far.parents.len());
    let meets = |vertex: &&VertexNumber| far.depth(**vertex) == far.layer();
    let meeting = near.frontier.iter().filter(meets);
    // One more than the capacity, so that an excess is detected.
    let most = |found: usize| match ask.all {
        true => ask.capacity.left(found as u64),
        false => 1,
    };
    let mut paths = Vec::new();
    for vertex in meeting {
        let starts = near.ways(*vertex, ahead, most(paths.len()), meter)?;
        let ends = far.ways(*vertex, behind, most(paths.len()), meter)?;
        for start in &starts {
            for end in &ends {
                let mut vertices: Vec<VertexNumber> = start.iter().rev().copied().collect();
                vertices.push(*vertex);
                vertices.extend(end);
                meter.row()?;
                meter.hold(path_bytes(vertices.len()))?;
                paths.push(Path { vertices });
                ask.capacity.check(paths.len() as u64, WHAT)?;
                if !ask.all {
                    return Ok(paths);
                }
            }
        }
    }
    Ok(paths)
}
