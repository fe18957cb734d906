//! Walks the edges of a label, source vertex by source vertex.
//!
//! The label index names the sources, but not how many edges they have. On a cluster the edges of
//! several sources are read together, and of more sources with each read; so a short page reads few
//! edges that it does not deliver, and a long one sends few requests.
//!
//! The position is the length of the source's key, that key, and the edge's clustering key.

use varve_encoding::key;
use varve_kv::{ClusteringRange, Flow, PartitionRange};

use super::delivery::FETCH_MAX;
use super::merge::Merge;
use super::plan::{Entries, Leg};
use super::run::{FoundRow, RowVisitor, Run, beyond, flow_of};
use crate::GraphError;

/// How many sources are read together first, on a cluster.
const TOGETHER_FIRST: usize = 8;

/// A source vertex.
struct EdgeSource {
    /// The partition of its edges.
    owner: Vec<u8>,
    range: ClusteringRange,
    /// The start of the positions of its edges.
    front: Vec<u8>,
}

impl Run<'_> {
    /// Visits the edges in `range` of each source vertex that an entry of `sources` names.
    pub(super) fn by_source(
        &mut self,
        leg: &Leg,
        sources: &Entries,
        range: &ClusteringRange,
        after: &[u8],
        visit: &mut RowVisitor<'_>,
    ) -> Result<Flow, GraphError> {
        let (resumed, edge_after) = split(after);
        let mut merge = Merge::new(self.resolver, sources, resumed, true);
        let is_remote = self.resolver.is_remote();
        let mut together = if is_remote { TOGETHER_FIRST } else { 1 };
        let mut keys = Vec::new();
        loop {
            keys.clear();
            let fetch = usize::try_from(self.delivery.fetch()).unwrap_or(1);
            merge.next(fetch.max(together), &mut keys)?;
            if keys.is_empty() {
                return Ok(Flow::Continue(()));
            }
            let mut rest = keys.as_slice();
            while !rest.is_empty() {
                let (batch, others) = rest.split_at(rest.len().min(together));
                let mut sources = Vec::with_capacity(batch.len());
                for source in batch.iter().filter(|key| key::is_vertex_element(key)) {
                    let after = match resumed == Some(source.as_slice()) {
                        true => edge_after,
                        false => &[],
                    };
                    sources.push(EdgeSource::new(source, beyond(range, after))?);
                }
                self.resolver.looked(batch.len())?;
                if self.edges_of(leg, &sources, visit)?.is_break() {
                    return Ok(Flow::Break(()));
                }
                if is_remote {
                    together = (2 * together).min(FETCH_MAX as usize);
                }
                rest = others;
            }
        }
    }

    /// Visits the edges of sources, which are read together.
    fn edges_of(
        &mut self,
        leg: &Leg,
        sources: &[EdgeSource],
        visit: &mut RowVisitor<'_>,
    ) -> Result<Flow, GraphError> {
        let resolver = self.resolver;
        // How many sources are done.
        let mut done = 0;
        let mut outcome = Ok(Flow::Continue(()));
        let mut show = |at: usize, clustering: &[u8], content: &[u8]| {
            if matches!(outcome, Ok(Flow::Continue(()))) {
                outcome = match self.passed_sources(&sources[done..at]) {
                    Flow::Continue(()) => {
                        sources[at].offer(self, leg, (clustering, content), visit)
                    }
                    Flow::Break(()) => Ok(Flow::Break(())),
                };
                done = at;
            }
            flow_of(&outcome)
        };
        if let [one] = sources {
            if !one.range.is_empty() {
                resolver.visit_adjacent(&one.owner, &one.range, &mut |clustering, content| {
                    show(0, clustering, content)
                })?;
            }
        } else {
            let asked = (0..sources.len()).filter(|at| !sources[*at].range.is_empty());
            let asked: Vec<usize> = asked.collect();
            let ranges = asked.iter().map(|at| sources[*at].scan());
            let ranges: Vec<PartitionRange<'_>> = ranges.collect();
            resolver.visit_adjacent_each(&ranges, &mut |number, clustering, content| {
                show(asked[number], clustering, content)
            })?;
        }
        match outcome? {
            Flow::Continue(()) => Ok(self.passed_sources(&sources[done..])),
            Flow::Break(()) => Ok(Flow::Break(())),
        }
    }

    /// Counts sources whose edges have all been visited.
    fn passed_sources(&mut self, sources: &[EdgeSource]) -> Flow {
        for source in sources {
            // This position is after every edge of the source: no clustering key begins with 0xFF.
            let end = |out: &mut Vec<u8>| source.position(&[0xFF], out);
            if self.delivery.passed(1, &end).is_break() {
                return Flow::Break(());
            }
        }
        Flow::Continue(())
    }
}

impl EdgeSource {
    /// The source vertex with this element key.
    fn new(source: &[u8], range: ClusteringRange) -> Result<Self, GraphError> {
        let (owner, _) = key::current_of(source)?;
        let length = u16::try_from(source.len()).unwrap_or(u16::MAX);
        Ok(Self {
            owner,
            range,
            front: [&length.to_be_bytes(), source].concat(),
        })
    }

    fn scan(&self) -> PartitionRange<'_> {
        PartitionRange {
            partition: &self.owner,
            range: &self.range,
        }
    }

    fn position(&self, clustering: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(&self.front);
        out.extend_from_slice(clustering);
    }

    /// Offers one edge to the delivery of a run.
    fn offer(
        &self,
        run: &mut Run<'_>,
        leg: &Leg,
        (clustering, content): (&[u8], &[u8]),
        visit: &mut RowVisitor<'_>,
    ) -> Result<Flow, GraphError> {
        let row = FoundRow {
            partition: &self.owner,
            clustering,
            content,
        };
        run.row(leg, row, &|out| self.position(clustering, out), visit)
    }
}

/// Splits a position into the source's key and the edge's clustering key.
fn split(position: &[u8]) -> (Option<&[u8]>, &[u8]) {
    let parts = position
        .split_first_chunk::<2>()
        .and_then(|(length, rest)| rest.split_at_checked(usize::from(u16::from_be_bytes(*length))));
    match parts {
        Some((source, edge)) => (Some(source), edge),
        None => (None, &[]),
    }
}
