//! Partitions in parts ([`varve_kv_parted`]) over a real node: a full scan by tokens shows each at
//! the position of the whole partition. The suite's case of scans that resume after any row takes
//! minutes with a node, so it runs only over partitions in memory.

#![allow(clippy::unwrap_used, reason = "a failed call is a failed test")]

#[path = "support/node.rs"]
mod node;

use std::sync::Arc;

use node::Scratch;
use varve_kv::Engine;
use varve_kv_parted::{PartOptions, PartRule, PartedEngine};
use varve_testkit::engine_suite::scans;

/// Runs a case with partitions that are in parts after two rows.
fn in_parts(case: fn(&dyn Engine)) {
    let Some(scratch) = Scratch::new() else {
        return;
    };
    let rules = ["points", "named", "cold"].map(|table| PartRule {
        table,
        together: |clustering| Some(clustering),
        of_prefix: |_| None,
    });
    let options = PartOptions { bytes_max: 200 };
    case(&PartedEngine::new(Arc::new(scratch), &rules, options));
}

#[test]
fn a_full_scan_visits_every_row_once() {
    in_parts(scans::scan_table_visits_every_row_once);
}
