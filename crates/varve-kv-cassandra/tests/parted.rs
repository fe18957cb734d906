//! Partitions in parts ([`varve_kv_parted`]) over a real node: a full scan by tokens shows each where it would be, and what a
//! sorted map has is found again.

#![cfg(feature = "driver")]
#![allow(clippy::unwrap_used, reason = "a failed call is a failed test")]

mod node;

use std::sync::Arc;

use node::Scratch;
use varve_kv::Engine;
use varve_kv_parted::{PartOptions, PartRule, PartedEngine};
use varve_testkit::engine_suite::{differential, scans};

/// Runs a case with partitions that are in parts after some rows.
fn in_parts(rows: u64, case: fn(&dyn Engine)) {
    let Some(scratch) = Scratch::new() else {
        return;
    };
    let rules = ["points", "named", "cold"].map(|table| PartRule {
        table,
        together: |clustering| Some(clustering),
    });
    let options = PartOptions {
        bytes_max: 100 * rows,
    };
    case(&PartedEngine::new(Arc::new(scratch), &rules, options));
}

#[test]
fn a_full_scan_visits_every_row_once() {
    in_parts(2, scans::scan_table_visits_every_row_once);
}

#[test]
fn a_full_scan_resumes_after_any_row() {
    in_parts(2, scans::scan_table_resumes_after_any_row);
}

#[test]
fn random_work_agrees_with_a_sorted_map() {
    in_parts(20, differential::random_work_agrees_with_a_sorted_map);
}
