//! Lightest paths by Dijkstra's algorithm ("A note on two problems in connexion with graphs",
//! 1959).

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;
use varve_model::{EdgeId, PropertyKeyId};
use varve_view::Flow;

use crate::path::{Pairs, path_bytes};
use crate::{Capacity, Path, Search, Step, TraversalError, VertexNumber};

/// The name of these searches in HugeGraph's messages.
const WHAT: &str = "shortest path";
/// The weight of an edge without the property.
const DEFAULT_WEIGHT: f64 = 1.0;

/// A request for lightest paths.
#[derive(Debug, Clone, Copy)]
pub struct Lightest {
    /// The property with an edge's weight; `None`: every edge has weight 1.
    pub weight: Option<PropertyKeyId>,
    /// The most vertices that may be settled.
    pub capacity: Capacity,
    /// Ends the search once this vertex is settled.
    pub target: Option<VertexNumber>,
    /// Ends the search once this many vertices other than the source are settled.
    pub limit: u64,
}

/// A path and the sum of its edges' weights.
#[derive(Debug, Clone, PartialEq)]
pub struct WeightedPath {
    /// The path, beginning at the source.
    pub path: Path,
    /// The sum of the weights.
    pub weight: f64,
}

/// A vertex in the queue: the lightest first; of equal weights, the one that was queued first.
#[derive(Debug, PartialEq)]
struct Waiting {
    weight: f64,
    turn: u64,
    vertex: VertexNumber,
    parent: VertexNumber,
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> Ordering {
        // Reversed: the heap pops its greatest entry.
        let by_weight = other.weight.total_cmp(&self.weight);
        by_weight.then(other.turn.cmp(&self.turn))
    }
}

/// The lightest path to each reachable vertex but the source, lightest first. With a target, only
/// the path to it, if there is one.
///
/// # Errors
///
/// [`TraversalError::Weight`] for an edge whose weight is negative or not a number,
/// [`TraversalError::Capacity`] if more vertices are settled than the capacity allows, and those of
/// the view.
pub fn lightest_paths(
    search: &mut Search<'_>,
    source: VertexNumber,
    step: &Step,
    ask: &Lightest,
) -> Result<Vec<WeightedPath>, TraversalError> {
    let step = Step {
        reads: ask.weight.into_iter().collect(),
        ..step.clone()
    };
    let meter = search.meter();
    let mut waiting = BinaryHeap::from([Waiting {
        weight: 0.0,
        turn: 0,
        vertex: source,
        parent: source,
    }]);
    // Each settled vertex, with its predecessor on the path.
    let mut settled: FxHashMap<VertexNumber, VertexNumber> = FxHashMap::default();
    let mut best: FxHashMap<VertexNumber, f64> = FxHashMap::from_iter([(source, 0.0)]);
    let mut turn = 0;
    let mut paths = Vec::new();
    while let Some(next) = waiting.pop() {
        if settled.contains_key(&next.vertex) {
            continue;
        }
        settled.insert(next.vertex, next.parent);
        ask.capacity.check(settled.len() as u64, WHAT)?;
        let is_wanted = match ask.target {
            Some(target) => next.vertex == target,
            None => next.vertex != source,
        };
        if is_wanted {
            let path = path_to(&settled, source, next.vertex);
            meter.hold(path_bytes(path.vertices.len()))?;
            let weight = next.weight;
            paths.push(WeightedPath { path, weight });
        }
        if paths.len() as u64 >= ask.limit || ask.target == Some(next.vertex) {
            break;
        }
        search.expand(&[next.vertex], &step, &mut |hop| {
            let weight = next.weight + weight_of(hop.properties, ask.weight)?;
            let known = best.get(&hop.to).copied().unwrap_or(f64::INFINITY);
            if weight < known || (known.is_infinite() && !settled.contains_key(&hop.to)) {
                best.insert(hop.to, weight);
                turn += 1;
                meter.hold(size_of::<Waiting>())?;
                waiting.push(Waiting {
                    weight,
                    turn,
                    vertex: hop.to,
                    parent: next.vertex,
                });
            }
            Ok(Flow::Continue(()))
        })?;
    }
    Ok(paths)
}

fn weight_of(
    properties: &varve_model::Properties,
    key: Option<PropertyKeyId>,
) -> Result<f64, TraversalError> {
    let Some(value) = key.and_then(|key| properties.get(key)) else {
        return Ok(DEFAULT_WEIGHT);
    };
    match value.as_f64() {
        Some(weight) if weight >= 0.0 => Ok(weight),
        _ => Err(TraversalError::Weight(format!("{value:?}"))),
    }
}

fn path_to(
    settled: &FxHashMap<VertexNumber, VertexNumber>,
    source: VertexNumber,
    vertex: VertexNumber,
) -> Path {
    let mut vertices = vec![vertex];
    let mut at = vertex;
    while at != source {
        at = settled[&at];
        vertices.push(at);
    }
    vertices.reverse();
    Path { vertices }
}

/// The lightest edge for each pair of consecutive vertices of the paths. Repeated pairs give one
/// edge; of equal weights, the last in storage order.
///
/// # Errors
/// As [`lightest_paths`].
pub fn lightest_edges(
    search: &mut Search<'_>,
    paths: &[WeightedPath],
    step: &Step,
    weight: Option<PropertyKeyId>,
) -> Result<Vec<EdgeId>, TraversalError> {
    let step = Step {
        reads: weight.into_iter().collect(),
        ..step.clone()
    };
    let pairs = Pairs::of(search, paths.iter().map(|found| &found.path))?;
    let mut lightest: FxHashMap<(VertexNumber, VertexNumber), (f64, EdgeId)> = FxHashMap::default();
    let view = search.view();
    search.expand(&pairs.starts(), &step, &mut |hop| {
        let Some((key, ends)) = pairs.ends.get(&hop.from) else {
            return Ok(Flow::Continue(()));
        };
        if ends.contains(&hop.to) {
            let pair = (hop.from, hop.to);
            let weight = weight_of(hop.properties, weight)?;
            if lightest
                .get(&pair)
                .is_none_or(|(least, _)| weight <= *least)
            {
                lightest.insert(pair, (weight, view.edge_id(key, hop.edge)?));
            }
        }
        Ok(Flow::Continue(()))
    })?;
    let each = pairs.all.iter().filter_map(|pair| lightest.remove(pair));
    Ok(each.map(|(_, edge)| edge).collect())
}
