//! Generated numbers of edges: 64-bit numbers that grow with time.
//!
//! Layout, as in HugeGraph: 41 bits of milliseconds since 2017-01-01, 10 bits of server slot, 12
//! bits of sequence within a millisecond.

use std::sync::atomic::{AtomicI64, Ordering};

use varve_model::Instant;

/// 2017-01-01T00:00:00Z in milliseconds since 1970.
const EPOCH_MILLIS: i64 = 1_483_228_800_000;
const SLOT_BITS: u32 = 10;
const SEQUENCE_BITS: u32 = 12;
/// Bits below the milliseconds.
const LOW_BITS: u32 = SLOT_BITS + SEQUENCE_BITS;

/// Generates ids for one server.
#[derive(Debug)]
pub(crate) struct Snowflake {
    /// The last assigned id.
    last: AtomicI64,
}

impl Snowflake {
    /// Begins in the millisecond after `last`, the instant of the last commit. No commit has a
    /// version before the last assigned id ([`Snowflake::reached`]), so no stored id is assigned
    /// again, whatever the clock did, and whichever server assigned it.
    pub(crate) fn after(last: Instant) -> Self {
        let millis = (last.millis() - EPOCH_MILLIS + 1).max(0);
        Self {
            last: AtomicI64::new((millis << LOW_BITS) - 1),
        }
    }

    /// Returns an id greater than all previous ones. If the clock stands still or goes back, the
    /// sequence runs ahead of it.
    pub(crate) fn next(&self, now: Instant) -> i64 {
        let millis = (now.millis() - EPOCH_MILLIS).max(0);
        let first = millis << LOW_BITS;
        let mut last = self.last.load(Ordering::Relaxed);
        loop {
            let id = following(first, last);
            let given =
                self.last
                    .compare_exchange_weak(last, id, Ordering::Relaxed, Ordering::Relaxed);
            match given {
                Ok(_) => return id,
                Err(now) => last = now,
            }
        }
    }

    /// The millisecond of the last id, which may be ahead of the clock. An element with that id
    /// must not be committed with an earlier version.
    pub(crate) fn reached(&self) -> Instant {
        match self.last.load(Ordering::Relaxed) >> LOW_BITS {
            // No id was assigned, or the clock is before 2017.
            ..=0 => Instant::MIN,
            millis => Instant::from_millis(millis + EPOCH_MILLIS),
        }
    }
}

/// Returns the next id after `last` that is not before `first`.
fn following(first: i64, last: i64) -> i64 {
    let id = first.max(last + 1);
    // The slot is always 0, since a graph has one leader. A full sequence continues in the next
    // millisecond.
    let slot_mask = ((1_i64 << SLOT_BITS) - 1) << SEQUENCE_BITS;
    match id & slot_mask {
        0 => id,
        _ => ((id >> LOW_BITS) + 1) << LOW_BITS,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use varve_encoding::tables::TABLES;
    use varve_kv::{Engine, MemoryEngine};
    use varve_model::{Vertex, VertexId, VertexLabelId};
    use varve_testkit::ManualClock;

    use super::*;
    use crate::graph::{Graph, GraphOptions};
    use crate::schema::NewVertexLabel;
    use crate::write::{Mutation, WriteRequest};

    #[test]
    fn ids_grow_whatever_the_clock_does() {
        let ids = Snowflake::after(Instant::from_millis(EPOCH_MILLIS + 3_000));
        let mut last = 0;
        for at in [1_000_i64, 5_000, 5_000, 4_000, 9_000, 0] {
            for _ in 0..5_000 {
                let id = ids.next(Instant::from_millis(EPOCH_MILLIS + at));
                assert!(id > last && id >> LOW_BITS > 3_000);
                last = id;
            }
        }
    }

    #[test]
    fn ids_that_ran_ahead_of_a_clock_are_not_given_again_after_a_restart() {
        let clock = Arc::new(ManualClock::new(Instant::from_millis(EPOCH_MILLIS + 9_000)));
        let engine = MemoryEngine::new();
        let open = || {
            let options = GraphOptions::new(Arc::clone(&clock) as _);
            let space = engine.open("g", TABLES, true).expect("a space");
            Graph::open("g", space, &options).expect("a graph")
        };
        let put = |graph: &Arc<Graph>, id: i64| {
            let vertex = Vertex {
                id: VertexId::Number(id),
                label: VertexLabelId(1),
                properties: Default::default(),
            };
            let mutation = Mutation::PutVertex {
                vertex,
                fresh: true,
            };
            let request = WriteRequest::now(vec![mutation]);
            graph.write_now(&request).expect("it is stored")
        };
        let graph = open();
        let label = NewVertexLabel::named("v");
        graph.catalogue().create_vertex_label(label).expect("new");
        put(&graph, graph.next_edge_number());
        clock.step(-5_000_000);
        // Far more than the 4096 ids of one millisecond.
        let ahead: Vec<i64> = (0..50_000).map(|_| graph.next_edge_number()).collect();
        let last = ahead[ahead.len() - 1];
        let version = put(&graph, last);
        assert!(version.instant().millis() - EPOCH_MILLIS >= last >> LOW_BITS);
        drop(graph);
        let graph = open();
        assert!(graph.next_edge_number() > last);
    }
}
