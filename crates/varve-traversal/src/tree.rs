//! Breadth-first search in layers.

use varve_view::Flow;

use crate::{Path, Search, Step, TraversalError, VertexNumber};

/// Bytes of a reached vertex.
const REACHED_BYTES: usize = size_of::<Reached>();
/// Bytes of a layer without its vertices: its header, and the initial capacity of its list.
const LAYER_BYTES: usize = size_of::<Vec<Reached>>() + 4 * REACHED_BYTES;

/// A vertex of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reached {
    /// The vertex.
    pub vertex: VertexNumber,
    /// The position in the previous layer of the vertex from which it was reached.
    pub parent: u32,
}

/// The layers of a breadth-first search. The first is the source, the second its neighbours, and so
/// on.
#[derive(Debug)]
pub struct Tree {
    /// The layers, beginning with the source's.
    pub layers: Vec<Vec<Reached>>,
    source: VertexNumber,
    /// Whether each vertex is in a layer, by number.
    seen: Vec<bool>,
}

impl Tree {
    /// A tree of the source only.
    #[must_use]
    pub fn new(source: VertexNumber) -> Self {
        let root = Reached {
            vertex: source,
            parent: 0,
        };
        let mut tree = Self {
            layers: vec![vec![root]],
            source,
            seen: Vec::new(),
        };
        tree.mark(source);
        tree
    }

    /// Whether a vertex is in a layer.
    #[must_use]
    pub fn holds(&self, vertex: VertexNumber) -> bool {
        self.seen.get(vertex as usize).copied().unwrap_or(false)
    }

    /// Marks a vertex. Returns false if it was marked already.
    fn mark(&mut self, vertex: VertexNumber) -> bool {
        let at = vertex as usize;
        if self.seen.len() <= at {
            self.seen.resize((at + 1).next_power_of_two(), false);
        }
        !std::mem::replace(&mut self.seen[at], true)
    }

    /// The last layer.
    #[must_use]
    pub fn last(&self) -> &[Reached] {
        self.layers.last().map_or(&[], Vec::as_slice)
    }

    /// The vertices of all layers but the first, nearest first.
    pub fn reached(&self) -> impl Iterator<Item = VertexNumber> {
        let layers = self.layers.iter().skip(1);
        layers.flatten().map(|reached| reached.vertex)
    }

    /// Adds the next layer: vertices one step further that were not reached before, at most `most`.
    ///
    /// # Errors
    /// As [`Search::expand`].
    pub fn grow(
        &mut self,
        search: &mut Search<'_>,
        step: &Step,
        most: u64,
    ) -> Result<(), TraversalError> {
        let layer = self.next_layer(search, step, most, false)?;
        self.layers.push(layer);
        Ok(())
    }

    /// Adds the next layer with vertices one step further that may have been reached before, except
    /// the source; at most `most`.
    ///
    /// # Errors
    /// As [`Search::expand`].
    pub fn grow_walks(
        &mut self,
        search: &mut Search<'_>,
        step: &Step,
        most: u64,
    ) -> Result<(), TraversalError> {
        self.seen.clear();
        self.mark(self.source);
        let layer = self.next_layer(search, step, most, true)?;
        self.layers.push(layer);
        Ok(())
    }

    fn next_layer(
        &mut self,
        search: &mut Search<'_>,
        step: &Step,
        most: u64,
        walks: bool,
    ) -> Result<Vec<Reached>, TraversalError> {
        debug_assert!(!walks || self.holds(self.source));
        let last = self.layers.last().map_or(&[][..], Vec::as_slice);
        let from: Vec<VertexNumber> = last.iter().map(|reached| reached.vertex).collect();
        let meter = search.meter();
        meter.hold(LAYER_BYTES)?;
        let mut layer: Vec<Reached> = Vec::new();
        if most == 0 {
            return Ok(layer);
        }
        let mut parent = 0;
        search.expand(&from, step, &mut |hop| {
            // Hops come in the order of `from`, but some vertices have none.
            while from[parent] != hop.from {
                parent += 1;
            }
            if self.mark(hop.to) {
                meter.hold(REACHED_BYTES)?;
                layer.push(Reached {
                    vertex: hop.to,
                    parent: u32::try_from(parent)?,
                });
            }
            Ok(match layer.len() as u64 >= most {
                true => Flow::Break(()),
                false => Flow::Continue(()),
            })
        })?;
        Ok(layer)
    }

    /// The path from the source to a vertex of a layer.
    #[must_use]
    pub fn path(&self, layer: usize, position: usize) -> Path {
        let mut vertices = Vec::with_capacity(layer + 1);
        let mut position = position;
        for layer in self.layers[..=layer].iter().rev() {
            let reached = layer[position];
            vertices.push(reached.vertex);
            position = reached.parent as usize;
        }
        vertices.reverse();
        Path { vertices }
    }
}
