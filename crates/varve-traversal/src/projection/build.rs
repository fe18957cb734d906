//! Building a projection: a scan of the vertices, then a scan of the edges of all labels, or the
//! neighbours of batches of vertices for some labels.

use varve_model::{Direction, Properties, PropertyKeyId};
use varve_view::{Elements, Expand, Flow, GraphView, Meter, ScanAsk, ScannedElement, ViewError};

use super::collect::Collector;
use super::table::Table;
use super::vertices::Vertices;
use super::{Adjacency, Node, Projection, ProjectionAsk};
use crate::TraversalError;

/// Vertices whose edges are read together: enough for a cluster to answer them in one round trip.
const BATCH: usize = 1_024;
/// Elements in one call of a scan.
const SCAN: usize = 65_536;

pub(super) fn projection(
    view: &dyn GraphView,
    ask: &ProjectionAsk<'_>,
    meter: &Meter,
) -> Result<Projection, TraversalError> {
    let mut vertices = vertices(view, ask, meter)?;
    vertices.sort();
    let table = Table::new(&vertices, meter)?;
    let numbers = (&vertices, &table);
    let mut side = match ask.labels.is_empty() {
        true => of_all_labels(view, ask, numbers, meter)?,
        false => of_labels(view, ask, numbers, meter)?,
    };
    meter.release(table.bytes());
    drop(table);
    // A scan gives edges from their sources.
    if ask.labels.is_empty() && ask.direction == Some(Direction::In) {
        let bytes = side.bytes();
        side = transposed(&side, meter)?;
        meter.release(bytes);
    } else {
        side.sort();
    }
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
        let mut take = |found: &ScannedElement<'_>| {
            let ScannedElement::Vertex { key, vertex } = found else {
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

/// The edges of some labels, from the vertices where they are walked from, in the order of the
/// view.
fn of_labels(
    view: &dyn GraphView,
    ask: &ProjectionAsk<'_>,
    (vertices, table): (&Vertices, &Table),
    meter: &Meter,
) -> Result<Adjacency, TraversalError> {
    let expand = Expand {
        direction: Some(ask.direction.unwrap_or(Direction::Out)),
        labels: ask.labels,
        properties: ask.weight.as_slice(),
    };
    let mut edges = Collector::new(vertices, table, meter);
    let nodes: Vec<Node> = vertices.numbers().collect();
    for batch in nodes.chunks(BATCH) {
        let keys: Vec<&[u8]> = batch.iter().map(|node| vertices.key(*node)).collect();
        let mut outcome = Ok(());
        view.neighbours(&keys, &expand, meter, &mut |at, edge| {
            // A break ends the visits of one vertex only.
            if outcome.is_err() {
                return Flow::Break(());
            }
            let weight = ask.weight.map(|key| weight(edge.properties, key));
            outcome = match weight.transpose() {
                Ok(weight) => edges
                    .push(batch[at], edge.other, weight)
                    .map_err(Into::into),
                Err(error) => Err(error),
            };
            flow_of(&outcome)
        })?;
        outcome?;
    }
    Ok(edges.finish()?)
}

/// The edges of all labels from their sources, by a scan, which needs no search for each vertex.
fn of_all_labels(
    view: &dyn GraphView,
    ask: &ProjectionAsk<'_>,
    (vertices, table): (&Vertices, &Table),
    meter: &Meter,
) -> Result<Adjacency, TraversalError> {
    let mut edges = Collector::new(vertices, table, meter);
    let mut sources = Sources::new(vertices, table);
    let mut outcome: Result<(), TraversalError> = Ok(());
    let Some(key) = ask.weight else {
        view.edge_ends(meter, &mut |source, target| {
            if let Some(from) = sources.number(source) {
                outcome = edges.push(from, target, None).map_err(Into::into);
            }
            flow_of(&outcome)
        })?;
        outcome?;
        return Ok(edges.finish()?);
    };
    let scan = ScanAsk {
        elements: Elements::Edges(&[]),
        conditions: &[],
        order: None,
        properties: &[key],
    };
    let mut from = None;
    loop {
        from = view.scan(&scan, from.as_ref(), SCAN, meter, &mut |found| {
            let ScannedElement::Edge(edge) = found else {
                return Flow::Continue(());
            };
            if let Some(node) = sources.number(edge.source) {
                outcome = match weight(edge.properties, key) {
                    Ok(weight) => edges
                        .push(node, edge.target, Some(weight))
                        .map_err(Into::into),
                    Err(error) => Err(error),
                };
            }
            flow_of(&outcome)
        })?;
        std::mem::replace(&mut outcome, Ok(()))?;
        if from.is_none() {
            return Ok(edges.finish()?);
        }
    }
}

fn flow_of(outcome: &Result<(), TraversalError>) -> Flow {
    match outcome {
        Ok(()) => Flow::Continue(()),
        Err(_) => Flow::Break(()),
    }
}

/// Finds the numbers of the sources of scanned edges. Edges of one vertex come together, and
/// vertices mostly in the order of their keys, so the same or the next number is tried first.
struct Sources<'a> {
    vertices: &'a Vertices,
    table: &'a Table,
    /// The key of the last source.
    key: Vec<u8>,
    node: Option<Node>,
}

impl<'a> Sources<'a> {
    fn new(vertices: &'a Vertices, table: &'a Table) -> Self {
        Self {
            vertices,
            table,
            key: Vec::new(),
            node: None,
        }
    }

    #[inline]
    fn number(&mut self, key: &[u8]) -> Option<Node> {
        if self.key == key {
            return self.node;
        }
        self.key.clear();
        self.key.extend_from_slice(key);
        let next = self.node.map_or(0, |node| node + 1);
        let is_next = (next as usize) < self.vertices.len() && self.vertices.key(next) == key;
        self.node = match is_next {
            true => Some(next),
            false => self.table.find(key, self.vertices),
        };
        self.node
    }
}

/// The weight of an edge with these properties.
fn weight(properties: &Properties, key: PropertyKeyId) -> Result<f64, TraversalError> {
    let Some(value) = properties.get(key) else {
        return Ok(1.0);
    };
    let number = value.as_f64().or(value.as_i64().map(|whole| whole as f64));
    let wrong = || TraversalError::Weight(format!("{value:?}"));
    let usable = |weight: &f64| weight.is_finite() && *weight >= 0.0;
    number.filter(usable).ok_or_else(wrong)
}

/// The same edges from their other ends, with neighbours ascending.
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
