//! Counts the edges that a list of steps leads to.

use rustc_hash::FxHashSet;

use crate::walks::Nexts;
use crate::{Search, Step, TraversalError, VertexNumber};

/// Vertices whose edges are counted with one call.
const BATCH: usize = 256;

/// A request for a count.
#[derive(Debug, Clone, Copy)]
pub struct Count {
    /// Whether the source and the edges before the last step count too.
    pub contains_traversed: bool,
    /// The most vertices that are remembered, so that each is left only once; `None` = no bound.
    pub remembered_max: Option<u64>,
}

/// A running count.
struct Counter<'s> {
    steps: &'s [Step],
    ask: &'s Count,
    nexts: Vec<Nexts>,
    left: FxHashSet<VertexNumber>,
    /// Vertices whose edges of the last step must still be counted.
    waiting: Vec<VertexNumber>,
    count: u64,
}

/// A vertex on the walk to the last step: the number of its step, and the index of its next edge.
struct At {
    vertex: VertexNumber,
    step: usize,
    edge: usize,
}

/// The number of edges by which the last step leaves the vertices that the steps before it lead to.
/// The walk is depth-first, in storage order. It leaves a remembered vertex only once, whatever the
/// step.
///
/// # Errors
///
/// Those of the view.
pub fn count(
    search: &mut Search<'_>,
    source: VertexNumber,
    steps: &[Step],
    ask: &Count,
) -> Result<u64, TraversalError> {
    let Some((last, before)) = steps.split_last() else {
        return Ok(0);
    };
    let mut counter = Counter {
        steps,
        ask,
        nexts: before
            .iter()
            .map(|step| Nexts::edges(step, None, 0.0))
            .collect(),
        left: FxHashSet::default(),
        waiting: Vec::new(),
        count: u64::from(ask.contains_traversed),
    };
    if before.is_empty() {
        counter.waiting.push(source);
    } else {
        counter.walk(search, source)?;
    }
    counter.count_waiting(search, last)?;
    Ok(counter.count)
}

impl Counter<'_> {
    fn walk(
        &mut self,
        search: &mut Search<'_>,
        source: VertexNumber,
    ) -> Result<(), TraversalError> {
        let (meter, last) = (search.meter(), self.steps.len() - 1);
        let mut open = Vec::new();
        self.enter(search, source, 0, &mut open)?;
        while let Some(at) = open.last_mut() {
            let Some(next) = self.nexts[at.step].of(at.vertex).get(at.edge) else {
                open.pop();
                continue;
            };
            let (to, step) = (next.to, at.step + 1);
            at.edge += 1;
            meter.row()?;
            self.count += u64::from(self.ask.contains_traversed);
            if step < last {
                self.enter(search, to, step, &mut open)?;
            } else if self.leaves(search, to)? {
                self.waiting.push(to);
                if self.waiting.len() >= BATCH {
                    self.count_waiting(search, &self.steps[last])?;
                }
            }
        }
        Ok(())
    }

    /// Continues the walk from a vertex, unless the vertex was left before.
    fn enter(
        &mut self,
        search: &mut Search<'_>,
        vertex: VertexNumber,
        step: usize,
        open: &mut Vec<At>,
    ) -> Result<(), TraversalError> {
        if !self.leaves(search, vertex)? {
            return Ok(());
        }
        self.nexts[step].read(search, [vertex])?;
        if step + 2 < self.steps.len() {
            // The vertices of the next step are read together.
            let (nexts, further) = self.nexts.split_at_mut(step + 1);
            let next = nexts[step].of(vertex).iter().map(|next| next.to);
            further[0].read(search, next.filter(|next| !self.left.contains(next)))?;
        }
        search.meter().hold(size_of::<At>())?;
        open.push(At {
            vertex,
            step,
            edge: 0,
        });
        Ok(())
    }

    /// Whether to leave a vertex: not if it is remembered. Remembers it while there is room.
    fn leaves(
        &mut self,
        search: &Search<'_>,
        vertex: VertexNumber,
    ) -> Result<bool, TraversalError> {
        let most = self.ask.remembered_max.unwrap_or(u64::MAX);
        if self.left.contains(&vertex) {
            return Ok(false);
        }
        if (self.left.len() as u64) < most {
            search.meter().hold(2 * size_of::<VertexNumber>())?;
            self.left.insert(vertex);
        }
        Ok(true)
    }

    fn count_waiting(
        &mut self,
        search: &mut Search<'_>,
        step: &Step,
    ) -> Result<(), TraversalError> {
        self.count += search.count_edges(&self.waiting, step)?;
        self.waiting.clear();
        Ok(())
    }
}
