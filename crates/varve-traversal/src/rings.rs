//! Rings and rays: walks that close, and walks that cannot continue.

use rustc_hash::FxHashSet;

use crate::path::path_bytes;
use crate::walks::{Longer, Met, Nexts, Walks, keep};
use crate::{Capacity, Path, Search, Step, TraversalError, VertexNumber};

/// A request for rings or rays.
#[derive(Debug, Clone, Copy)]
pub struct Rings {
    /// The most edges of a walk, at least 1.
    pub depth: u64,
    /// Whether rings close at the source only; otherwise at any vertex of the walk. Ignored for
    /// rays.
    pub source_in_ring: bool,
    /// The most distinct vertices that may be met.
    pub capacity: Capacity,
    /// The most paths returned.
    pub limit: u64,
}

/// Whether the walk would return along the edge by which it came: a step in both directions sees
/// each edge from both ends. If there is an edge in each direction, the walk may return along the
/// other one.
fn goes_back(step: &Step, walks: &Walks, place: usize, both_ways: bool) -> bool {
    step.direction.is_none() && place + 1 == walks.edges() && !both_ways
}

/// Walks of up to `depth` edges from `source` that visit no vertex twice, except that the last
/// vertex is the source or, if requested, any vertex of the walk. Shorter rings come first, rings
/// of equal length in storage order. A ring and its reverse count as one; the first one met is
/// returned.
///
/// # Errors
/// [`TraversalError::Capacity`] if the capacity is exceeded, and those of the view.
pub fn rings(
    search: &mut Search<'_>,
    source: VertexNumber,
    step: &Step,
    ask: &Rings,
) -> Result<Vec<Path>, TraversalError> {
    let mut nexts = Nexts::vertices(step);
    let mut walks: Walks = Walks::from(&[source]);
    let mut met = Met::new(ask.capacity, "rings");
    met.meet(source)?;
    let meter = search.meter();
    let mut known: FxHashSet<Vec<VertexNumber>> = FxHashSet::default();
    let mut found = Vec::new();
    for left in (0..ask.depth).rev() {
        nexts.read(search, walks.ends())?;
        let mut longer = Longer::default();
        for (walk, end) in walks.ends().enumerate() {
            for next in nexts.of(end) {
                meter.row()?;
                let Some(place) = walks.place(walk, next.to) else {
                    met.meet(next.to)?;
                    if left > 0 {
                        longer.add(walk, next.to, (), meter)?;
                    }
                    continue;
                };
                if (place > 0 && ask.source_in_ring)
                    || goes_back(step, &walks, place, next.both_ways)
                {
                    continue;
                }
                let mut path = walks.path(walk);
                path.vertices.push(next.to);
                if known.insert(either_way(&path.vertices, place)) {
                    meter.hold(path_bytes(path.vertices.len()))?;
                    keep(&mut found, path, meter)?;
                }
                if found.len() as u64 >= ask.limit {
                    return Ok(found);
                }
            }
        }
        if longer.is_empty() {
            break;
        }
        walks.replace(longer);
    }
    Ok(found)
}

/// The normal form of a walk that closes at its vertex `place`: equal for both orientations.
fn either_way(walk: &[VertexNumber], place: usize) -> Vec<VertexNumber> {
    let (way_there, ring) = walk.split_at(place);
    let mirrored: Vec<VertexNumber> = ring.iter().rev().copied().collect();
    let ring = ring.min(&mirrored[..]);
    [way_there, ring].concat()
}

/// Walks of `depth` edges from `source` that visit no vertex twice, and shorter ones whose last
/// vertex has no further edge. With a step in both directions, the edge by which the walk came does
/// not count as further. A walk that can only return to one of its own vertices is a ring, not a
/// ray. Shorter rays come first, rays of equal length in storage order.
///
/// # Errors
/// As [`rings`].
pub fn rays(
    search: &mut Search<'_>,
    source: VertexNumber,
    step: &Step,
    ask: &Rings,
) -> Result<Vec<Path>, TraversalError> {
    let mut nexts = Nexts::vertices(step);
    let mut walks: Walks = Walks::from(&[source]);
    let mut met = Met::new(ask.capacity, "rays");
    met.meet(source)?;
    let meter = search.meter();
    let mut found = Vec::new();
    for left in (0..ask.depth).rev() {
        nexts.read(search, walks.ends())?;
        let mut longer = Longer::default();
        for (walk, end) in walks.ends().enumerate() {
            let mut ends_here = true;
            for next in nexts.of(end) {
                meter.row()?;
                match walks.place(walk, next.to) {
                    Some(place) if goes_back(step, &walks, place, next.both_ways) => continue,
                    Some(_) => {}
                    None => {
                        met.meet(next.to)?;
                        // Walks of the last round are returned after those that end in it.
                        if left > 0 || (longer.len() as u64) < ask.limit {
                            longer.add(walk, next.to, (), meter)?;
                        }
                    }
                }
                ends_here = false;
            }
            if ends_here {
                keep(&mut found, walks.path(walk), meter)?;
                if found.len() as u64 >= ask.limit {
                    return Ok(found);
                }
            }
        }
        walks.replace(longer);
        if walks.is_empty() {
            break;
        }
    }
    for walk in 0..walks.len() {
        if found.len() as u64 >= ask.limit {
            break;
        }
        meter.row()?;
        keep(&mut found, walks.path(walk), meter)?;
    }
    Ok(found)
}
