//! Ids of vertices that the server makes: ascending numbers.
//!
//! They begin at [`FIRST`]. The first billion of them fits 32 bits, which some drivers need, and
//! the first 2^53 fit a number of JavaScript. Lower numbers are left to writers who count their own
//! vertices.
//!
//! The store has a bound ([`COUNTER`]), and ids up to it are not made again after a restart or by
//! another server. A commit stores a new bound if an id beyond the old one was made.

use std::sync::atomic::{AtomicI64, Ordering};

use varve_encoding::tables::COUNTER;
use varve_kv::{Batch, Reader, ReaderExt};
use varve_model::CommitVersion;

use crate::error::{ErrorKind, GraphError};

/// The first id.
const FIRST: i64 = 1_000_000_001;
/// Ids that writers give from here on are not followed: the ids made would no longer fit 2^53.
const GIVEN_MAX: i64 = 1 << 52;
/// How far a stored bound is ahead of the last id made (count). A restart skips up to so many ids.
const BLOCK: i64 = 10_000;

const COUNTER_PARTITION: &[u8] = &[0];
const BOUND: &[u8] = b"vertex_id";

/// Builds of before 2026-12 made ids from the time, and stored no bound: milliseconds since
/// 2017-01-01, times 2^22. The ids of their graphs continue at milliseconds times 2^12, which is
/// greater than the numbers that writers count with, and less than 2^53.
const OLD_EPOCH_MILLIS: i64 = 1_483_228_800_000;
const OLD_BITS: u32 = 12;

/// Makes the ids of one graph's vertices.
#[derive(Debug, Default)]
pub(crate) struct VertexNumbers {
    /// The greatest id that was made, or given by a writer.
    last: AtomicI64,
}

impl VertexNumbers {
    /// Reads the stored bound; returns it, too. `newest`: the last stored commit version.
    ///
    /// # Errors
    /// When the store fails or is damaged.
    pub(crate) fn open(
        reader: &(impl Reader + ?Sized),
        newest: CommitVersion,
    ) -> Result<(Self, i64), GraphError> {
        let stored = reader.get(COUNTER, COUNTER_PARTITION, BOUND)?;
        let bound = match stored {
            Some(bytes) => Some(i64::from_be_bytes(bytes.as_slice().try_into().map_err(
                |_| GraphError::new(ErrorKind::Storage, "The stored vertex id is damaged"),
            )?)),
            None => None,
        };
        let last = match bound {
            Some(bound) => bound,
            None if newest == CommitVersion::ZERO => FIRST - 1,
            None => (newest.instant().millis() - OLD_EPOCH_MILLIS + 1).max(1) << OLD_BITS,
        };
        let last = AtomicI64::new(last);
        Ok((Self { last }, bound.unwrap_or(0)))
    }

    /// Returns an id greater than all previous ones.
    pub(crate) fn next(&self) -> i64 {
        self.last.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// A writer gave this id, so it is not made any more.
    #[inline]
    pub(crate) fn given(&self, id: i64) {
        if id > self.last.load(Ordering::Relaxed) && id < GIVEN_MAX {
            self.last.fetch_max(id, Ordering::Relaxed);
        }
    }

    /// Adds a new bound to the batch of a commit if ids exceed the stored one; returns it.
    pub(crate) fn put_bound(&self, stored: i64, batch: &mut Batch) -> Option<i64> {
        let last = self.last.load(Ordering::Relaxed);
        if last <= stored {
            return None;
        }
        let bound = last.saturating_add(BLOCK);
        batch.put(COUNTER, COUNTER_PARTITION, BOUND, &bound.to_be_bytes());
        Some(bound)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use varve_encoding::tables::TABLES;
    use varve_kv::{Engine, MemoryEngine};
    use varve_model::{Instant, Vertex, VertexId, VertexLabelId};
    use varve_testkit::{Fault, FaultyEngine, ManualClock};

    use super::*;
    use crate::graph::{Graph, GraphOptions};
    use crate::schema::NewVertexLabel;
    use crate::write::{Mutation, WriteRequest};

    const NOW: Instant = Instant::from_millis(1_795_288_973_380);

    fn open(engine: &dyn Engine) -> Arc<Graph> {
        let options = GraphOptions::new(Arc::new(ManualClock::new(NOW)));
        let space = engine.open("g", TABLES, true).expect("a space");
        let graph = Graph::open("g", space, &options).expect("a graph");
        let label = NewVertexLabel::named("v");
        if graph.schema().vertex_label_by_name("v").is_none() {
            graph.catalogue().create_vertex_label(label).expect("new");
        }
        graph
    }

    fn put(graph: &Arc<Graph>, id: i64) -> Result<CommitVersion, GraphError> {
        let vertex = Vertex {
            id: VertexId::Number(id),
            label: VertexLabelId(1),
            properties: Default::default(),
        };
        let fresh = false;
        graph.write_now(&WriteRequest::now(vec![Mutation::PutVertex {
            vertex,
            fresh,
        }]))
    }

    #[test]
    fn ids_begin_small_and_never_come_again() {
        let engine = MemoryEngine::new();
        let mut last = FIRST - 1;
        for round in 0..4 {
            let graph = open(&engine);
            // More than a block, so that the bound moves while the graph is open.
            for _ in 0..BLOCK + 5 {
                let id = graph.next_vertex_id();
                assert!(id > last && id < 1 << 31, "{round}: {id} after {last}");
                last = id;
            }
            put(&graph, last).expect("stored");
        }
        assert!(last <= FIRST + 8 * (BLOCK + 5), "a restart skips one block");
    }

    #[test]
    fn ids_that_no_commit_stored_may_come_again() {
        let engine = MemoryEngine::new();
        put(&open(&engine), 5).expect("stored");
        let lost = open(&engine).next_vertex_id();
        assert_eq!(open(&engine).next_vertex_id(), lost);
    }

    #[test]
    fn ids_that_writers_give_are_not_made() {
        let engine = MemoryEngine::new();
        let graph = open(&engine);
        for given in [
            -1,
            0,
            7,
            FIRST - 2,
            FIRST + 20,
            FIRST + 10,
            GIVEN_MAX,
            i64::MAX,
        ] {
            put(&graph, given).expect("stored");
        }
        assert_eq!(graph.next_vertex_id(), FIRST + 21);
        put(&graph, FIRST + 21).expect("stored");
        drop(graph);
        assert!(open(&engine).next_vertex_id() > FIRST + 21);
    }

    #[test]
    fn a_commit_that_fails_leaves_the_bound_to_the_next() {
        let (engine, faults) = FaultyEngine::new(Box::new(MemoryEngine::new()));
        let graph = open(&engine);
        faults.fail_write(1, Fault::DiskFull);
        put(&graph, graph.next_vertex_id()).expect_err("the disk is full");
        let last = graph.next_vertex_id();
        put(&graph, last).expect("stored");
        drop(graph);
        assert!(open(&engine).next_vertex_id() > last);
    }

    #[test]
    fn graphs_of_older_builds_continue_below_2_to_the_53() {
        let engine = MemoryEngine::new();
        put(&open(&engine), 5).expect("stored");
        let space = engine.open("g", TABLES, true).expect("a space");
        let mut batch = Batch::new();
        batch.delete(COUNTER, COUNTER_PARTITION, BOUND);
        space
            .write(&batch, varve_kv::Durability::Buffered)
            .expect("written");
        drop(space);
        let graph = open(&engine);
        let id = graph.next_vertex_id();
        assert!((1_i64 << 50..1 << 51).contains(&id), "{id}");
        put(&graph, id).expect("stored");
        drop(graph);
        assert!(open(&engine).next_vertex_id() > id);
    }
}
