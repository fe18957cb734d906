//! The amount that a scan of a partition in parts reads, and its result during removals.

#![allow(clippy::unwrap_used, reason = "a failed call is a failed test")]

mod amounts;
mod removals;

use std::sync::Arc;

use varve_kv::{Batch, ClusteringRange, Durability, Engine, Flow, ScanRequest, Space};
use varve_kv_parted::{PartOptions, PartRule, PartedEngine};
use varve_testkit::engine_suite::tables::{NAMED, TABLES, named, point};
use varve_testkit::{Reads, ScatteredEngine, WatchedEngine};

/// Rows of the first page of a part.
const PAGE: u64 = 128;

fn open(bytes_max: u64) -> (Arc<dyn Space>, Arc<Reads>) {
    let (inner, reads) = WatchedEngine::new(Arc::new(ScatteredEngine::new()));
    let rule = PartRule {
        table: "named",
        together: |clustering| Some(clustering),
        of_prefix: |_| None,
    };
    let engine = PartedEngine::new(Arc::new(inner), &[rule], PartOptions { bytes_max });
    (engine.open("s", TABLES, true).unwrap(), reads)
}

fn hub() -> Vec<u8> {
    named(b"hub")
}

fn parts(space: &dyn Space) -> u64 {
    let statistics = space.statistics();
    let parts = statistics
        .iter()
        .find(|it| it.name == "parted_partition_parts");
    parts.unwrap().value as u64
}

/// Puts rows with these keys in their order, several in each batch.
fn fill(space: &dyn Space, keys: &[u64]) {
    for keys in keys.chunks(250) {
        let mut batch = Batch::new();
        for key in keys {
            batch.put(NAMED, &hub(), &point(*key), b"v");
        }
        space.write(&batch, Durability::Buffered).unwrap();
    }
}

/// The keys of the first rows of a range.
fn some(space: &dyn Space, range: &ClusteringRange, reverse: bool, most: usize) -> Vec<u64> {
    let mut keys = Vec::new();
    let request = ScanRequest {
        table: NAMED,
        partition: &hub(),
        range,
        reverse,
    };
    space
        .scan(request, &mut |key, _| {
            keys.push(u64::from_be_bytes(key.try_into().unwrap()));
            match keys.len() < most {
                true => Flow::Continue(()),
                false => Flow::Break(()),
            }
        })
        .unwrap();
    keys
}

/// Epochs of 1,000, 8,000 and 64,000 rows, the last of which is not full.
const SHARE: u64 = 100_000;
const ROWS: u64 = 20_000;
const PARTS: u64 = 73;
