//! Similarity of the neighbourhoods of two vertices.
//!
//! Adamic and Adar, "Friends and neighbors on the Web" (2003); Zhou, Lü and Zhang, "Predicting
//! missing links via local information" (2009); Jaccard's index.

use rustc_hash::FxHashSet;
use varve_view::{Expand, Flow};

use crate::neighbourhood::neighbours;
use crate::{Capacity, Search, Step, TraversalError, Tree, VertexNumber};

/// The largest degree of a common neighbour that is counted, as in HugeGraph.
const DEGREE_MAX: u64 = 10_000;

/// The common neighbours of all these vertices, in the storage order of the first.
///
/// # Errors
///
/// Those of the view.
pub fn same_neighbours(
    search: &mut Search<'_>,
    vertices: &[VertexNumber],
    step: &Step,
    limit: u64,
) -> Result<Vec<VertexNumber>, TraversalError> {
    let Some((first, others)) = vertices.split_first() else {
        return Ok(Vec::new());
    };
    let mut common = neighbours(search, *first, step, u64::MAX)?;
    for other in others {
        let theirs = neighbours(search, *other, step, u64::MAX)?;
        let theirs = FxHashSet::from_iter(theirs);
        common.retain(|vertex| theirs.contains(vertex));
    }
    common.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(common)
}

/// Jaccard's index of the neighbours of two vertices: the size of the intersection divided by that
/// of the union; 0 if neither vertex has neighbours.
///
/// # Errors
///
/// Those of the view.
pub fn jaccard(
    search: &mut Search<'_>,
    vertex: VertexNumber,
    other: VertexNumber,
    step: &Step,
) -> Result<f64, TraversalError> {
    let ours = neighbours(search, vertex, step, u64::MAX)?;
    let theirs = neighbours(search, other, step, u64::MAX)?;
    let ours = FxHashSet::from_iter(ours);
    let common = theirs
        .iter()
        .filter(|vertex| ours.contains(*vertex))
        .count();
    let all = ours.len() + theirs.len() - common;
    Ok(if all == 0 {
        0.0
    } else {
        common as f64 / all as f64
    })
}

/// Jaccard's index of a vertex with each vertex one or two steps away. The highest come first; of
/// equal ones the nearer, then in storage order. At most `top`.
///
/// # Errors
///
/// [`TraversalError::Capacity`] if more vertices are reached than the capacity allows, and those of
/// the view.
pub fn jaccard_of_near(
    search: &mut Search<'_>,
    vertex: VertexNumber,
    step: &Step,
    top: usize,
    capacity: Capacity,
) -> Result<Vec<(VertexNumber, f64)>, TraversalError> {
    let mut tree = Tree::new(vertex);
    let (mut touched, mut ours) = (1, FxHashSet::default());
    for layer in 0..2 {
        tree.grow(search, step, u64::MAX)?;
        touched += tree.last().len() as u64;
        capacity.check_reached(touched)?;
        if layer == 0 {
            ours.extend(tree.reached());
        }
    }
    let near: Vec<VertexNumber> = tree.reached().collect();
    search
        .meter()
        .hold(near.len() * size_of::<(VertexNumber, f64)>())?;
    let mut scores: Vec<(VertexNumber, f64)> = near.iter().map(|near| (*near, 0.0)).collect();
    let mut theirs = FxHashSet::default();
    let (mut at, mut common) = (0, 0);
    search.expand(&near, step, &mut |hop| {
        if near[at] != hop.from {
            theirs.clear();
            common = 0;
            while near[at] != hop.from {
                at += 1;
            }
        }
        if hop.to != hop.from && theirs.insert(hop.to) {
            common += usize::from(ours.contains(&hop.to));
            let all = ours.len() + theirs.len() - common;
            scores[at].1 = common as f64 / all as f64;
        }
        Ok(Flow::Continue(()))
    })?;
    scores.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    scores.truncate(top);
    Ok(scores)
}

/// The weight of a common neighbour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// 1 / ln(degree) (Adamic and Adar); infinite for degree 1.
    InverseLogDegree,
    /// 1 / degree (resource allocation).
    InverseDegree,
}

/// The sum of the weights of the common neighbours of two vertices; at most `limit` of them count.
/// The degree is counted in the step's direction and labels, up to 10,000; a neighbour of degree 0
/// adds nothing.
///
/// # Errors
///
/// Those of the view.
pub fn link_prediction(
    search: &mut Search<'_>,
    vertex: VertexNumber,
    other: VertexNumber,
    step: &Step,
    limit: u64,
    weight: Weight,
) -> Result<f64, TraversalError> {
    let common = same_neighbours(search, &[vertex, other], step, limit)?;
    let keys: Vec<Vec<u8>> = common.iter().map(|number| search.key(*number)).collect();
    let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
    let ask = Expand {
        direction: step.direction,
        labels: &step.labels,
        properties: &[],
    };
    let degrees = search
        .view()
        .degrees(&keys, &ask, DEGREE_MAX, search.meter())?;
    let weights = degrees.into_iter().filter(|degree| *degree > 0);
    let weight = |degree: u64| match weight {
        Weight::InverseLogDegree => 1.0 / (degree as f64).ln(),
        Weight::InverseDegree => 1.0 / degree as f64,
    };
    // A fold from 0.0, since `sum` of no numbers is -0.0.
    Ok(weights.map(weight).fold(0.0, |sum, weight| sum + weight))
}
