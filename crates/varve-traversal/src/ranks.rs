//! Ranks of vertices by random walks from a vertex: by steps, or after some rounds.

use rustc_hash::{FxHashMap, FxHashSet};
use varve_model::Direction;
use varve_view::Meter;

use crate::walks::Nexts;
use crate::{Capacity, Search, Step, TraversalError, VertexNumber};

const RANK_BYTES: usize = 2 * size_of::<(VertexNumber, Ranked)>();

/// The largest number of paths counted to one vertex. Beyond it, the shares do not change in f64.
const PATHS_MAX: f64 = 1e300;

/// Vertices with their ranks, in the order of the answer.
pub type Ranks = Vec<(VertexNumber, f64)>;

/// A step of a neighbour rank.
#[derive(Debug, Clone, PartialEq)]
pub struct RankStep {
    /// The edges and vertices of the step.
    pub step: Step,
    /// The number of vertices of its layer that are returned, highest ranks first.
    pub top: usize,
}

/// The rank of a vertex, and the number of paths by which it was reached.
#[derive(Debug, Clone, Copy, Default)]
struct Ranked {
    rank: f64,
    paths: f64,
}

/// The vertices of a layer, in the order in which they were met.
#[derive(Debug, Default)]
struct Layer {
    order: Vec<VertexNumber>,
    of: FxHashMap<VertexNumber, Ranked>,
}

impl Layer {
    fn entry(
        &mut self,
        vertex: VertexNumber,
        meter: &Meter,
    ) -> Result<&mut Ranked, TraversalError> {
        let order = &mut self.order;
        if !self.of.contains_key(&vertex) {
            meter.hold(RANK_BYTES)?;
            order.push(vertex);
        }
        Ok(self.of.entry(vertex).or_default())
    }

    fn ranks(&self) -> Ranks {
        let ranks = self.order.iter();
        ranks
            .map(|vertex| (*vertex, self.of[vertex].rank))
            .collect()
    }
}

/// The rank that the vertices of the last layer give to others.
struct Given {
    /// To vertices of the same layer: vertex and rank.
    same: Vec<(VertexNumber, f64)>,
    /// To vertices of earlier layers: layer, vertex and rank.
    earlier: Vec<(usize, VertexNumber, f64)>,
    /// The number of parts in which each vertex gives rank away.
    degrees: FxHashMap<VertexNumber, f64>,
}

impl Given {
    /// Computes the shares. `made` counts the partial paths to new vertices.
    fn of(
        layers: &[Layer],
        nexts: &Nexts,
        alpha: f64,
        (made, capacity): (&mut f64, Capacity),
        meter: &Meter,
    ) -> Result<Self, TraversalError> {
        let last = layers.len() - 1;
        let (mut same, mut earlier) = (Vec::new(), Vec::new());
        let mut degrees: FxHashMap<VertexNumber, f64> = FxHashMap::default();
        for vertex in &layers[last].order {
            let own = layers[last].of[vertex];
            let (mut known, mut degree) = (FxHashSet::default(), 0.0);
            let (from_same, from_earlier) = (same.len(), earlier.len());
            for next in nexts.of(*vertex) {
                meter.row()?;
                match layer_of(layers, next.to) {
                    Some(layer) if layer == last => {
                        if known.insert(next.to) {
                            same.push((next.to, 0.0));
                        }
                    }
                    Some(0) => {}
                    Some(layer) => {
                        if known.insert(next.to) {
                            earlier.push((layer, next.to, 0.0));
                        }
                    }
                    None => {
                        degree += own.paths;
                        *made += own.paths;
                        // The cast saturates: a number beyond u64 exceeds any capacity.
                        capacity.check(*made as u64, "neighbor rank")?;
                    }
                }
            }
            degree += known.len() as f64;
            meter.hold(known.len() * 4 * size_of::<(usize, VertexNumber, f64)>())?;
            for (_, given) in &mut same[from_same..] {
                *given = own.rank * alpha / degree;
            }
            for (_, _, given) in &mut earlier[from_earlier..] {
                *given = own.rank * alpha / degree;
            }
            meter.hold(2 * size_of::<(VertexNumber, f64)>())?;
            degrees.insert(*vertex, degree);
        }
        Ok(Self {
            same,
            earlier,
            degrees,
        })
    }
}

/// The ranks of the vertices that each step leads to; first the source's own, 1. Each vertex gives
/// `alpha` of its rank away in equal parts: to each edge to a new vertex (once for each path by
/// which the giving vertex was reached), to each neighbour in its own layer, and to each neighbour
/// in an earlier layer but the source's. Rank given within a layer is passed on in the same step;
/// rank given to an earlier layer is not.
///
/// # Errors
///
/// [`TraversalError::Capacity`] if the partial paths exceed the capacity, and those of the view.
pub fn neighbour_rank(
    search: &mut Search<'_>,
    source: VertexNumber,
    steps: &[RankStep],
    alpha: f64,
    capacity: Capacity,
) -> Result<Vec<Ranks>, TraversalError> {
    let meter = search.meter();
    let mut layers = vec![Layer::default()];
    *layers[0].entry(source, meter)? = Ranked {
        rank: 1.0,
        paths: 1.0,
    };
    let mut made = 0.0;
    for step in steps {
        let last = layers.len() - 1;
        let mut nexts = Nexts::edges(&step.step, None, 0.0);
        nexts.read(search, layers[last].order.iter().copied())?;
        let given = Given::of(&layers, &nexts, alpha, (&mut made, capacity), meter)?;
        for (vertex, rank) in given.same {
            layers[last].entry(vertex, meter)?.rank += rank;
        }
        for (layer, vertex, rank) in given.earlier {
            layers[layer].entry(vertex, meter)?.rank += rank;
        }
        let mut new = Layer::default();
        for vertex in &layers[last].order {
            let own = layers[last].of[vertex];
            for next in nexts.of(*vertex) {
                meter.row()?;
                if layer_of(&layers, next.to).is_none() {
                    let to = new.entry(next.to, meter)?;
                    to.rank += own.paths * (own.rank * alpha / given.degrees[vertex]);
                    to.paths = (to.paths + own.paths).min(PATHS_MAX);
                }
            }
        }
        layers.push(new);
    }
    let tops = std::iter::once(usize::MAX).chain(steps.iter().map(|step| step.top));
    let ranks = layers.iter().zip(tops);
    Ok(ranks
        .map(|(layer, top)| highest(layer.ranks(), top))
        .collect())
}

/// The layer of a vertex; if it is in several, the last.
fn layer_of(layers: &[Layer], vertex: VertexNumber) -> Option<usize> {
    layers
        .iter()
        .rposition(|layer| layer.of.contains_key(&vertex))
}

fn highest(mut ranks: Ranks, top: usize) -> Ranks {
    ranks.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    ranks.truncate(top);
    ranks
}

/// The labels of the vertices that a personal rank returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WithLabel {
    /// The source's label.
    Same,
    /// The label at the other end of its edges.
    Other,
    /// Both.
    Both,
}

/// A request for a personal rank.
#[derive(Debug, Clone, Copy)]
pub struct PersonalRank {
    /// The direction in which edges leave the source.
    pub direction: Direction,
    /// The share of its rank that a vertex passes on.
    pub alpha: f64,
    /// The number of rounds.
    pub rounds: u64,
    /// The labels of the vertices to return.
    pub with_label: WithLabel,
    /// Whether the highest ranks come first; otherwise vertices come in the order in which they are
    /// met.
    pub sorted: bool,
    /// The most vertices returned.
    pub limit: usize,
}

/// Ranks of the vertices around a source, after some rounds of a random walk with restarts, over
/// edges between two different labels. In each round, a vertex passes on `alpha` of its rank in
/// equal parts over its edges; a vertex without edges keeps its rank; the source gets `1 - alpha`.
/// The source and its neighbours are not returned.
///
/// # Errors
///
/// Those of the view.
pub fn personal_rank(
    search: &mut Search<'_>,
    source: VertexNumber,
    step: &Step,
    ask: &PersonalRank,
) -> Result<Ranks, TraversalError> {
    let meter = search.meter();
    let towards = |direction| Step {
        direction: Some(direction),
        ..step.clone()
    };
    // The source's side and the other side: the vertices met, and their neighbours on the opposite
    // side.
    let mut sides = [ask.direction, ask.direction.opposite()].map(|direction| {
        (
            Layer::default(),
            Nexts::edges(&towards(direction), None, 0.0),
        )
    });
    sides[0].0.entry(source, meter)?.rank = 1.0;
    let mut near = FxHashSet::default();
    for round in 0..ask.rounds {
        let mut given: Vec<(usize, VertexNumber, f64)> = Vec::new();
        for (side, (layer, nexts)) in sides.iter_mut().enumerate() {
            nexts.read(search, layer.order.iter().copied())?;
            for vertex in &layer.order {
                let (rank, next) = (layer.of[vertex].rank, nexts.of(*vertex));
                if next.is_empty() {
                    meter.hold(size_of::<(usize, VertexNumber, f64)>())?;
                    given.push((side, *vertex, rank));
                }
                for next in next {
                    meter.row()?;
                    meter.hold(size_of::<(usize, VertexNumber, f64)>())?;
                    let degree = nexts.of(*vertex).len() as f64;
                    given.push((1 - side, next.to, rank * ask.alpha / degree));
                }
            }
        }
        for (layer, _) in &mut sides {
            layer.of.values_mut().for_each(|ranked| ranked.rank = 0.0);
        }
        meter.release(given.len() * size_of::<(usize, VertexNumber, f64)>());
        for (side, vertex, rank) in given {
            sides[side].0.entry(vertex, meter)?.rank += rank;
        }
        sides[0].0.entry(source, meter)?.rank += 1.0 - ask.alpha;
        if round == 0 {
            near.extend(sides[1].0.order.iter().copied());
        }
    }
    near.insert(source);
    let [(same, _), (other, _)] = &sides;
    let mut ranks = match ask.with_label {
        WithLabel::Same => same.ranks(),
        WithLabel::Other => other.ranks(),
        WithLabel::Both => [same.ranks(), other.ranks()].concat(),
    };
    ranks.retain(|(vertex, _)| !near.contains(vertex));
    if ask.sorted {
        return Ok(highest(ranks, ask.limit));
    }
    ranks.truncate(ask.limit);
    Ok(ranks)
}
