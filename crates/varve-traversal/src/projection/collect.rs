//! Collects edges while they are read: numbers their ends and sorts them by vertex.

use varve_view::{Meter, ViewError};

use super::table::{Batch, Table};
use super::vertices::Vertices;
use super::{Adjacency, Node};

/// Edges whose other ends are numbered together: enough to overlap many cache misses, few enough to
/// fit into the L1 cache.
const TOGETHER: usize = 512;
/// Bytes of an edge in one direction, and of its weight.
const EDGE_BYTES: usize = size_of::<Node>();
const WEIGHT_BYTES: usize = size_of::<f64>();

/// Collects the edges of one direction. Edges of a vertex mostly come together, and vertices mostly
/// in the order of their numbers; then no edge is moved again.
pub(super) struct Collector<'a> {
    vertices: &'a Vertices,
    table: &'a Table,
    meter: &'a Meter,
    /// Edges whose other ends are not numbered yet: the keys of those ends, the vertices that the
    /// edges are walked from, and the weights.
    batch: Batch,
    batch_from: Vec<Node>,
    batch_weights: Vec<f64>,
    others: Vec<Node>,
    weights: Vec<f64>,
    /// Runs of edges of one vertex: the vertex, and the index in `others` at which the run begins.
    runs: Vec<(Node, u32)>,
}

impl<'a> Collector<'a> {
    pub(super) fn new(vertices: &'a Vertices, table: &'a Table, meter: &'a Meter) -> Self {
        Self {
            vertices,
            table,
            meter,
            batch: Batch::default(),
            batch_from: Vec::new(),
            batch_weights: Vec::new(),
            others: Vec::new(),
            weights: Vec::new(),
            runs: Vec::new(),
        }
    }

    /// Adds an edge from a vertex to the one with this key, which need not exist. Either all edges
    /// of a collector have weights, or none.
    ///
    /// # Errors
    ///
    /// If the memory limit of the meter is exceeded.
    #[inline]
    pub(super) fn push(
        &mut self,
        from: Node,
        other: &[u8],
        weight: Option<f64>,
    ) -> Result<(), ViewError> {
        self.batch.push(other);
        self.batch_from.push(from);
        self.batch_weights.extend(weight);
        match self.batch.len() < TOGETHER {
            true => Ok(()),
            false => self.number(),
        }
    }

    /// Numbers the edges of the batch. Edges whose other end is not in the projection are dropped.
    fn number(&mut self) -> Result<(), ViewError> {
        self.table.find_each(self.vertices, &mut self.batch);
        let before = (self.others.len(), self.runs.len());
        let mut last = self.runs.last().map(|(node, _)| *node);
        let edges = self.batch.found().zip(&self.batch_from);
        for (at, (other, from)) in edges.enumerate() {
            let Some(other) = other else {
                continue;
            };
            if last != Some(*from) {
                let begin = u32::try_from(self.others.len()).map_err(|_| full())?;
                self.runs.push((*from, begin));
                last = Some(*from);
            }
            self.others.push(other);
            self.weights.extend(self.batch_weights.get(at));
        }
        self.batch.clear();
        self.batch_from.clear();
        self.batch_weights.clear();
        let edges = self.others.len() - before.0;
        let runs = self.runs.len() - before.1;
        self.meter
            .hold(edges * self.edge_bytes() + runs * size_of::<(Node, u32)>())
    }

    fn edge_bytes(&self) -> usize {
        EDGE_BYTES
            + if self.weights.is_empty() {
                0
            } else {
                WEIGHT_BYTES
            }
    }

    /// The edges of each vertex, in the order in which they were added.
    ///
    /// # Errors
    ///
    /// If the memory limit of the meter is exceeded.
    pub(super) fn finish(mut self) -> Result<Adjacency, ViewError> {
        self.number()?;
        let end = u32::try_from(self.others.len()).map_err(|_| full())?;
        self.meter
            .hold((self.vertices.len() + 1) * size_of::<u32>())?;
        let mut starts = vec![0_u32; self.vertices.len() + 1];
        let ends = self.runs.iter().skip(1).map(|(_, begin)| *begin);
        for ((node, begin), end) in self.runs.iter().zip(ends.chain([end])) {
            starts[*node as usize + 1] += end - begin;
        }
        for at in 0..self.vertices.len() {
            starts[at + 1] += starts[at];
        }
        if !self.runs.is_sorted_by_key(|(node, _)| *node) {
            self.gather(&starts)?;
        }
        self.meter
            .release(self.runs.len() * size_of::<(Node, u32)>());
        self.others.shrink_to_fit();
        self.weights.shrink_to_fit();
        Ok(Adjacency {
            starts,
            others: self.others,
            weights: self.weights,
        })
    }

    /// Sorts the runs by vertex.
    fn gather(&mut self, starts: &[u32]) -> Result<(), ViewError> {
        let copied = self.others.len() * self.edge_bytes();
        self.meter.hold(copied)?;
        let mut next = starts.to_vec();
        let mut others = vec![0; self.others.len()];
        let mut weights = vec![0.0; self.weights.len()];
        for (at, (node, begin)) in self.runs.iter().enumerate() {
            let begin = *begin as usize;
            let after = self.runs.get(at + 1);
            let end = after.map_or(self.others.len(), |(_, begin)| *begin as usize);
            let to = next[*node as usize] as usize;
            let place = to..to + (end - begin);
            others[place.clone()].copy_from_slice(&self.others[begin..end]);
            if !weights.is_empty() {
                weights[place.clone()].copy_from_slice(&self.weights[begin..end]);
            }
            next[*node as usize] = place.end as u32;
        }
        (self.others, self.weights) = (others, weights);
        self.meter.release(copied);
        Ok(())
    }
}

fn full() -> ViewError {
    ViewError::Memory {
        max: u64::from(u32::MAX),
    }
}

impl Adjacency {
    /// Sorts the edges of each vertex by their other ends.
    pub(super) fn sort(&mut self) {
        let mut pairs: Vec<(Node, f64)> = Vec::new();
        for node in 0..self.starts.len().saturating_sub(1) {
            let own = self.starts[node] as usize..self.starts[node + 1] as usize;
            let others = &mut self.others[own.clone()];
            if others.is_sorted() {
                continue;
            }
            if self.weights.is_empty() {
                others.sort_unstable();
                continue;
            }
            let weights = &mut self.weights[own];
            pairs.clear();
            pairs.extend(others.iter().copied().zip(weights.iter().copied()));
            pairs.sort_by_key(|(other, _)| *other);
            for ((other, weight), pair) in others.iter_mut().zip(weights).zip(&pairs) {
                (*other, *weight) = *pair;
            }
        }
    }

    pub(super) fn bytes(&self) -> usize {
        let edges = self.others.len() * EDGE_BYTES + self.weights.len() * WEIGHT_BYTES;
        edges + self.starts.len() * size_of::<u32>()
    }
}
