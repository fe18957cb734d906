//! Copying: vertices by a scan, edges of some labels by the neighbours of batches of vertices.

use varve_model::{Direction, Properties, PropertyKeyId};
use varve_view::{Elements, Expand, Flow, Found, GraphView, Meter, Neighbour, ScanAsk, ViewError};

use super::table::Table;
use super::vertices::Vertices;
use super::{Adjacency, Node, Projection, ProjectionAsk};
use crate::TraversalError;

/// Vertices whose edges are read together: enough that a cluster answers them in one round.
const BATCH: usize = 1_024;
/// Elements that are scanned in one piece.
pub(super) const SCAN: usize = 65_536;
/// What an edge takes in one direction, and its weight.
pub(super) const EDGE_BYTES: usize = size_of::<Node>();
pub(super) const WEIGHT_BYTES: usize = size_of::<f64>();

pub(super) fn projection(
    view: &dyn GraphView,
    ask: &ProjectionAsk<'_>,
    meter: &Meter,
) -> Result<Projection, TraversalError> {
    let mut vertices = vertices(view, ask, meter)?;
    vertices.sort();
    let table = Table::new(&vertices, meter)?;
    let direction = ask.direction.unwrap_or(Direction::Out);
    let side = match ask.labels.is_empty() {
        true => super::scanned::side(view, ask, &vertices, &table, direction, meter)?,
        false => side(view, ask, &vertices, &table, direction, meter)?,
    };
    meter.release(table.bytes());
    drop(table);
    let second = match ask.direction {
        Some(_) => None,
        None => Some(transposed(&side, meter)?),
    };
    let sides = std::iter::once(&side).chain(&second);
    let bytes = vertices.bytes() + sides.map(Adjacency::bytes).sum::<usize>();
    Ok(Projection {
        vertices,
        direction: ask.direction,
        first: side,
        second,
        bytes,
    })
}

fn vertices(
    view: &dyn GraphView,
    ask: &ProjectionAsk<'_>,
    meter: &Meter,
) -> Result<Vertices, ViewError> {
    let scan = ScanAsk {
        elements: Elements::Vertices(&[]),
        conditions: &[],
        order: None,
        properties: &[],
    };
    let mut vertices = Vertices::default();
    let (mut from, mut failed) = (None, None);
    loop {
        let mut take = |found: &Found<'_>| {
            let Found::Vertex { key, vertex } = found else {
                return Flow::Continue(());
            };
            let wanted = ask.vertex_labels;
            if !wanted.is_empty() && !wanted.contains(&vertex.label) {
                return Flow::Continue(());
            }
            match vertices.push(key, vertex.label, meter) {
                Ok(()) => Flow::Continue(()),
                Err(error) => {
                    failed = Some(error);
                    Flow::Break(())
                }
            }
        };
        from = view.scan(&scan, from.as_ref(), SCAN, meter, &mut take)?;
        match (failed.take(), &from) {
            (Some(error), _) => return Err(error),
            (None, None) => return Ok(vertices),
            (None, Some(_)) => {}
        }
    }
}

/// The edges of all vertices in one direction.
fn side(
    view: &dyn GraphView,
    ask: &ProjectionAsk<'_>,
    vertices: &Vertices,
    table: &Table,
    direction: Direction,
    meter: &Meter,
) -> Result<Adjacency, TraversalError> {
    let properties = ask.weight.as_slice();
    let expand = Expand {
        direction: Some(direction),
        labels: ask.labels,
        properties,
    };
    let mut copy = Copy {
        side: Adjacency::with_vertices(vertices.len(), meter)?,
        keys: Vec::new(),
        ends: Vec::new(),
        weights: Vec::new(),
    };
    let nodes: Vec<Node> = vertices.numbers().collect();
    for batch in nodes.chunks(BATCH) {
        let keys: Vec<&[u8]> = batch.iter().map(|node| vertices.key(*node)).collect();
        let mut failed = None;
        let mut take = |at: usize, edge: &Neighbour<'_>| match copy.take(at, edge, ask) {
            Ok(()) => Flow::Continue(()),
            Err(error) => {
                failed = Some(error);
                Flow::Break(())
            }
        };
        view.neighbours(&keys, &expand, meter, &mut take)?;
        if let Some(error) = failed {
            return Err(error);
        }
        copy.settle(batch.len(), vertices, table, meter)?;
    }
    copy.side.others.shrink_to_fit();
    copy.side.weights.shrink_to_fit();
    Ok(copy.side)
}

/// The copy of one direction, and the edges of a batch that are not numbered yet. To number them
/// together lets the processor look several up at a time.
struct Copy {
    side: Adjacency,
    /// The other ends' keys, and for each the position of its vertex and where it ends in `keys`.
    keys: Vec<u8>,
    ends: Vec<(u32, u32)>,
    weights: Vec<f64>,
}

impl Copy {
    fn take(
        &mut self,
        at: usize,
        edge: &Neighbour<'_>,
        ask: &ProjectionAsk<'_>,
    ) -> Result<(), TraversalError> {
        self.keys.extend_from_slice(edge.other);
        let full = || ViewError::Memory {
            max: u64::from(u32::MAX),
        };
        let end = u32::try_from(self.keys.len()).map_err(|_| full())?;
        self.ends.push((at as u32, end));
        if let Some(key) = ask.weight {
            self.weights.push(weight(edge.properties, key)?);
        }
        Ok(())
    }

    /// Numbers the edges of a batch of so many vertices.
    fn settle(
        &mut self,
        vertices_in_batch: usize,
        vertices: &Vertices,
        table: &Table,
        meter: &Meter,
    ) -> Result<(), ViewError> {
        let is_weighted = !self.weights.is_empty();
        let edge_bytes = EDGE_BYTES + if is_weighted { WEIGHT_BYTES } else { 0 };
        meter.hold(edge_bytes * self.ends.len())?;
        let mut dropped = 0;
        let (mut from, mut next) = (0, 0);
        for at in 0..vertices_in_batch {
            let start = self.side.others.len();
            while let Some((_, end)) = self.ends.get(next).filter(|(of, _)| *of as usize == at) {
                let key = &self.keys[from..*end as usize];
                match table.find(key, vertices) {
                    Some(node) => {
                        self.side.others.push(node);
                        if is_weighted {
                            self.side.weights.push(self.weights[next]);
                        }
                    }
                    None => dropped += 1,
                }
                from = *end as usize;
                next += 1;
            }
            self.side.close(start)?;
        }
        meter.release(edge_bytes * dropped);
        self.keys.clear();
        self.ends.clear();
        self.weights.clear();
        Ok(())
    }
}

/// The weight of an edge with these properties.
pub(super) fn weight(properties: &Properties, key: PropertyKeyId) -> Result<f64, TraversalError> {
    let Some(value) = properties.get(key) else {
        return Ok(1.0);
    };
    let number = value.as_f64().or(value.as_i64().map(|whole| whole as f64));
    let wrong = || TraversalError::Weight(format!("{value:?}"));
    let usable = |weight: &f64| weight.is_finite() && *weight >= 0.0;
    number.filter(usable).ok_or_else(wrong)
}

impl Adjacency {
    fn with_vertices(count: usize, meter: &Meter) -> Result<Self, ViewError> {
        meter.hold((count + 1) * size_of::<u32>())?;
        let mut starts = Vec::with_capacity(count + 1);
        starts.push(0);
        Ok(Self {
            starts,
            ..Self::default()
        })
    }

    /// Ends the edges of a vertex that begin at `start`, and brings them into order.
    fn close(&mut self, start: usize) -> Result<(), ViewError> {
        let full = |_| ViewError::Memory {
            max: u64::from(u32::MAX),
        };
        let end = u32::try_from(self.others.len()).map_err(full)?;
        self.starts.push(end);
        self.sort(start..self.others.len());
        Ok(())
    }

    /// Brings the edges of one vertex into order.
    pub(super) fn sort(&mut self, own: std::ops::Range<usize>) {
        if self.others[own.clone()].is_sorted() {
            return;
        }
        if self.weights.is_empty() {
            self.others[own].sort_unstable();
            return;
        }
        let others = self.others[own.clone()].iter().copied();
        let weights = self.weights[own.clone()].iter().copied();
        let mut pairs: Vec<(Node, f64)> = others.zip(weights).collect();
        pairs.sort_by_key(|(other, _)| *other);
        for (at, (other, weight)) in own.zip(pairs) {
            self.others[at] = other;
            self.weights[at] = weight;
        }
    }

    fn bytes(&self) -> usize {
        let edges = self.others.len() * EDGE_BYTES + self.weights.len() * WEIGHT_BYTES;
        edges + self.starts.len() * size_of::<u32>()
    }
}

/// The same edges from their other ends. The neighbours of each come in ascending order.
fn transposed(side: &Adjacency, meter: &Meter) -> Result<Adjacency, ViewError> {
    meter.hold(side.bytes())?;
    let count = side.starts.len() - 1;
    let mut starts = vec![0_u32; count + 1];
    for other in &side.others {
        starts[*other as usize + 1] += 1;
    }
    for at in 0..count {
        starts[at + 1] += starts[at];
    }
    meter.check()?;
    let mut next = starts.clone();
    let mut others = vec![0; side.others.len()];
    let mut weights = vec![0.0; side.weights.len()];
    for node in 0..count as Node {
        for at in side.range(node) {
            let place = &mut next[side.others[at] as usize];
            others[*place as usize] = node;
            if let Some(weight) = side.weights.get(at) {
                weights[*place as usize] = *weight;
            }
            *place += 1;
        }
    }
    Ok(Adjacency {
        starts,
        others,
        weights,
    })
}
