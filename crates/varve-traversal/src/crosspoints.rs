//! Crosspoints: vertices at which walks from two vertices meet.

use rustc_hash::FxHashMap;

use crate::path::path_bytes;
use crate::walks::{Nexts, Walks};
use crate::{Capacity, Path, Search, Step, TraversalError, VertexNumber};

/// The name of this search in HugeGraph's messages.
const WHAT: &str = "paths";

/// A request for crosspoints.
#[derive(Debug, Clone, Copy)]
pub struct Crosspoints {
    /// The most edges of both walks together.
    pub depth: u64,
    /// The most walks, counting walks to the same vertex repeatedly.
    pub capacity: Capacity,
    /// The most paths.
    pub limit: u64,
}

/// A path between two vertices that is joined from two walks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Crossing {
    /// The vertex at which the walks meet.
    pub crosspoint: VertexNumber,
    /// The path from the source through the crosspoint to the target.
    pub path: Path,
}

/// The paths of 1 to `depth` edges from `source` to `target` that visit no vertex twice. The first
/// half is walked from the source and the second half from the target, both along the step. If the
/// number of edges is odd, the source's half has one more. Shorter paths come first, paths of equal
/// length in storage order. There is no path from a vertex to itself.
///
/// # Errors
///
/// [`TraversalError::Capacity`] if the capacity is exceeded, and those of the view.
pub fn crosspoints(
    search: &mut Search<'_>,
    source: VertexNumber,
    target: VertexNumber,
    step: &Step,
    ask: &Crosspoints,
) -> Result<Vec<Crossing>, TraversalError> {
    let mut found = Vec::new();
    if source == target {
        return Ok(found);
    }
    let mut nexts = Nexts::vertices(step);
    let (mut near, mut far): (Walks, Walks) = (Walks::from(&[source]), Walks::from(&[target]));
    let mut touched = 2;
    let mut charge = || {
        touched += 1;
        ask.capacity.check(touched, WHAT)
    };
    for length in 1..=ask.depth {
        let side = match length % 2 {
            1 => &mut near,
            _ => &mut far,
        };
        side.grow(search, &mut nexts, &mut charge)?;
        if side.is_empty() {
            break;
        }
        meet(search, &near, &far, ask.limit, &mut found)?;
        if found.len() as u64 >= ask.limit {
            break;
        }
    }
    Ok(found)
}

/// Adds the paths made of two walks that end at the same vertex and share no other vertex.
fn meet(
    search: &Search<'_>,
    near: &Walks,
    far: &Walks,
    limit: u64,
    found: &mut Vec<Crossing>,
) -> Result<(), TraversalError> {
    let meter = search.meter();
    let held = far.len() * 4 * size_of::<(VertexNumber, usize)>();
    meter.hold(held)?;
    let mut ending_at: FxHashMap<VertexNumber, Vec<usize>> = FxHashMap::default();
    for (walk, end) in far.ends().enumerate() {
        ending_at.entry(end).or_default().push(walk);
    }
    for (walk, crosspoint) in near.ends().enumerate() {
        for other in ending_at.get(&crosspoint).into_iter().flatten() {
            meter.row()?;
            let back = far.path(*other).vertices;
            let way = back.iter().rev().skip(1);
            if way
                .clone()
                .any(|vertex| near.place(walk, *vertex).is_some())
            {
                continue;
            }
            let mut path = near.path(walk);
            path.vertices.extend(way);
            meter.hold(path_bytes(path.vertices.len()))?;
            found.push(Crossing { crosspoint, path });
            if found.len() as u64 >= limit {
                return Ok(());
            }
        }
    }
    meter.release(held);
    Ok(())
}
