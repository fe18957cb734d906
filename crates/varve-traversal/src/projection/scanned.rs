//! Copying the edges of all labels by a scan: it costs rows, and no search for each vertex.

use varve_model::Direction;
use varve_view::{Elements, Flow, Found, GraphView, Meter, ScanAsk, ScannedEdge, ViewError};

use super::build::{EDGE_BYTES, SCAN, WEIGHT_BYTES, weight};
use super::table::Table;
use super::vertices::Vertices;
use super::{Adjacency, Node, ProjectionAsk};
use crate::TraversalError;

/// The edges as they come: both ends, and weights beside them if they are wanted.
#[derive(Default)]
struct Scanned {
    pairs: Vec<(Node, Node)>,
    weights: Vec<f64>,
    /// The source of the last edge and its number: edges of one vertex come together.
    source: (Vec<u8>, Option<Node>),
}

impl Scanned {
    fn take(
        &mut self,
        edge: &ScannedEdge<'_>,
        ask: &ProjectionAsk<'_>,
        (table, vertices): (&Table, &Vertices),
    ) -> Result<(), TraversalError> {
        if self.source.0 != edge.source {
            self.source.0.clear();
            self.source.0.extend_from_slice(edge.source);
            self.source.1 = table.find(edge.source, vertices);
        }
        let ends = self.source.1.zip(table.find(edge.target, vertices));
        if let Some(pair) = ends {
            self.pairs.push(pair);
            if let Some(key) = ask.weight {
                self.weights.push(weight(edge.properties, key)?);
            }
        }
        Ok(())
    }

    /// The edges by the vertex that they are walked from.
    fn sorted(&self, vertices: usize, direction: Direction) -> Result<Adjacency, ViewError> {
        let full = |_| ViewError::Memory {
            max: u64::from(u32::MAX),
        };
        let _ = u32::try_from(self.pairs.len()).map_err(full)?;
        let ends = |(source, target): (Node, Node)| match direction {
            Direction::Out => (source, target),
            Direction::In => (target, source),
        };
        let mut starts = vec![0_u32; vertices + 1];
        for pair in &self.pairs {
            starts[ends(*pair).0 as usize + 1] += 1;
        }
        for at in 0..vertices {
            starts[at + 1] += starts[at];
        }
        let mut next = starts.clone();
        let mut side = Adjacency {
            starts,
            others: vec![0; self.pairs.len()],
            weights: vec![0.0; self.weights.len()],
        };
        for (at, pair) in self.pairs.iter().enumerate() {
            let (from, other) = ends(*pair);
            let place = &mut next[from as usize];
            side.others[*place as usize] = other;
            if let Some(weight) = self.weights.get(at) {
                side.weights[*place as usize] = *weight;
            }
            *place += 1;
        }
        for node in 0..vertices {
            side.sort(side.starts[node] as usize..side.starts[node + 1] as usize);
        }
        Ok(side)
    }
}

/// The edges of all vertices in one direction.
pub(super) fn side(
    view: &dyn GraphView,
    ask: &ProjectionAsk<'_>,
    vertices: &Vertices,
    table: &Table,
    direction: Direction,
    meter: &Meter,
) -> Result<Adjacency, TraversalError> {
    let scan = ScanAsk {
        elements: Elements::Edges(&[]),
        conditions: &[],
        order: None,
        properties: ask.weight.as_slice(),
    };
    let weight_bytes = ask.weight.map_or(0, |_| WEIGHT_BYTES);
    let mut scanned = Scanned::default();
    let (mut from, mut held) = (None, 0);
    loop {
        let mut failed = None;
        let mut take = |found: &Found<'_>| {
            let Found::Edge(edge) = found else {
                return Flow::Continue(());
            };
            match scanned.take(edge, ask, (table, vertices)) {
                Ok(()) => Flow::Continue(()),
                Err(error) => {
                    failed = Some(error);
                    Flow::Break(())
                }
            }
        };
        from = view.scan(&scan, from.as_ref(), SCAN, meter, &mut take)?;
        if let Some(error) = failed {
            return Err(error);
        }
        // The pairs, and what is made of them.
        let bytes = scanned.pairs.len() * (3 * EDGE_BYTES + 2 * weight_bytes);
        meter.hold(bytes - held)?;
        held = bytes;
        if from.is_none() {
            break;
        }
    }
    meter.hold((vertices.len() + 1) * size_of::<u32>())?;
    let side = scanned.sorted(vertices.len(), direction)?;
    meter.release(scanned.pairs.len() * (2 * EDGE_BYTES + weight_bytes));
    Ok(side)
}
