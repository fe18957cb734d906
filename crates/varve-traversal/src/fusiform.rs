//! Fusiform similarity: vertices that share neighbours with a vertex.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;
use varve_model::PropertyKeyId;
use varve_view::Flow;

use crate::neighbourhood::neighbours;
use crate::{Capacity, Search, Step, TraversalError, VertexNumber};

/// The name of this search in HugeGraph's messages.
const WHAT: &str = "fusiform similarity";

/// A request for vertices that share neighbours.
#[derive(Debug, Clone, Copy)]
pub struct Fusiform {
    /// The fewest neighbours of a source, at least 1.
    pub neighbours_min: u64,
    /// The least share of the source's neighbours that a similar vertex must have, in (0, 1].
    pub alpha: f64,
    /// The fewest similar vertices of a source, at least 1.
    pub similars_min: u64,
    /// The number of similar vertices returned, best first; `None` = all.
    pub top: Option<u64>,
    /// A property, and the fewest distinct values of it among the source and its returned vertices.
    pub groups: Option<(PropertyKeyId, u64)>,
    /// The most sources, neighbours and candidates.
    pub capacity: Capacity,
    /// The most sources returned.
    pub limit: u64,
}

/// A vertex that shares neighbours with a source.
#[derive(Debug, Clone, PartialEq)]
pub struct Similar {
    /// The vertex.
    pub vertex: VertexNumber,
    /// The number of shared neighbours, divided by the number of the source's neighbours.
    pub score: f64,
    /// The shared neighbours, in the storage order of the source.
    pub shared: Vec<VertexNumber>,
}

/// Each source with its similar vertices: highest score first; of equal scores, the one met first.
pub type Spindles = Vec<(VertexNumber, Vec<Similar>)>;

/// The similar vertices of each source, in the order of the sources. Candidates are the vertices
/// from which the step leads to neighbours of the source.
///
/// # Errors
///
/// [`TraversalError::Capacity`] if the capacity is exceeded, and those of the view.
pub fn fusiform_similarity(
    search: &mut Search<'_>,
    sources: &[VertexNumber],
    step: &Step,
    ask: &Fusiform,
) -> Result<Spindles, TraversalError> {
    let back = step.reversed();
    let mut touched = 0;
    let mut found = Vec::new();
    for source in sources {
        if found.len() as u64 >= ask.limit {
            break;
        }
        touched += 1;
        ask.capacity.check(touched, WHAT)?;
        let own = neighbours(search, *source, step, u64::MAX)?;
        touched += own.len() as u64;
        ask.capacity.check(touched, WHAT)?;
        if (own.len() as u64) < ask.neighbours_min {
            continue;
        }
        let mut charge = || {
            touched += 1;
            ask.capacity.check(touched, WHAT)
        };
        let mut similar = candidates(search, *source, &own, &back, &mut charge)?;
        similar.retain(|similar| similar.score >= ask.alpha);
        if (similar.len() as u64) < ask.similars_min {
            continue;
        }
        similar.sort_by(|a, b| b.score.total_cmp(&a.score));
        if let Some(top) = ask.top {
            similar.truncate(usize::try_from(top).unwrap_or(usize::MAX));
        }
        if let Some((key, least)) = ask.groups
            && groups(search, *source, &similar, key)? < least
        {
            continue;
        }
        found.push((*source, similar));
    }
    Ok(found)
}

/// The vertices, other than the source, reached from these neighbours by the reversed step.
fn candidates(
    search: &mut Search<'_>,
    source: VertexNumber,
    own: &[VertexNumber],
    back: &Step,
    charge: &mut dyn FnMut() -> Result<(), TraversalError>,
) -> Result<Vec<Similar>, TraversalError> {
    let meter = search.meter();
    let mut places: FxHashMap<VertexNumber, usize> = FxHashMap::default();
    let mut found: Vec<Similar> = Vec::new();
    search.expand(own, back, &mut |hop| {
        if hop.to == source || hop.to == hop.from {
            return Ok(Flow::Continue(()));
        }
        let place = match places.entry(hop.to) {
            Entry::Occupied(place) => *place.get(),
            Entry::Vacant(place) => {
                charge()?;
                meter.hold(2 * size_of::<Similar>())?;
                found.push(Similar {
                    vertex: hop.to,
                    score: 0.0,
                    shared: Vec::new(),
                });
                *place.insert(found.len() - 1)
            }
        };
        let shared = &mut found[place].shared;
        if shared.last() != Some(&hop.from) {
            meter.hold(2 * size_of::<VertexNumber>())?;
            shared.push(hop.from);
        }
        Ok(Flow::Continue(()))
    })?;
    for similar in &mut found {
        similar.score = similar.shared.len() as f64 / own.len() as f64;
    }
    Ok(found)
}

/// The number of distinct values of a property among a source and its similar vertices.
fn groups(
    search: &Search<'_>,
    source: VertexNumber,
    similar: &[Similar],
    key: PropertyKeyId,
) -> Result<u64, TraversalError> {
    let all = std::iter::once(source).chain(similar.iter().map(|similar| similar.vertex));
    let all: Vec<VertexNumber> = all.collect();
    let mut distinct = Vec::new();
    for value in search.values(&all, key)?.into_iter().flatten() {
        if !distinct.contains(&value) {
            distinct.push(value);
        }
    }
    Ok(distinct.len() as u64)
}
