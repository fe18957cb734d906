//! The engines that the graph is tried on.

use std::sync::Arc;

use varve_encoding::tables::{EVENT, EVENT_INDEX, LARGE};
use varve_kv::{Engine, MemoryEngine};
use varve_kv_front::{FrontMemoryEngine, FrontOptions};
use varve_kv_parted::{PartOptions, PartRule, PartedEngine};
use varve_testkit::{ReplicatedEngine, ScatteredEngine};

/// What is below the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Below {
    /// Rows in memory.
    Memory,
    /// The same behind a front table that is flushed every few commits, so that rows are in every
    /// tier.
    FrontTable,
    /// Without states: rows of the past are read from replicas that have each write a moment later.
    Replicas,
    /// As on a cluster, with partitions that are in parts after three rows.
    Parts,
}

impl Below {
    /// Whether the version of the last commit is stored ahead of it, so that after a failure it is
    /// not known exactly.
    pub(crate) fn keeps_versions_ahead(self) -> bool {
        matches!(self, Self::Replicas | Self::Parts)
    }
}

/// What must live as long as an engine: its directory.
pub(crate) type KeepAlive = Option<tempfile::TempDir>;

/// How many points of both times a case is read at, at most.
pub(crate) const POINTS_MAX: usize = 100;

/// Over partitions as a cluster has them, in parts after three rows.
fn in_parts() -> PartedEngine {
    let rules: Vec<PartRule> = LARGE
        .iter()
        .map(|large| PartRule {
            table: large.table,
            together: large.together,
            of_prefix: large.of_prefix,
        })
        .collect();
    let options = PartOptions { bytes_max: 300 };
    PartedEngine::new(Arc::new(ScatteredEngine::new()), &rules, options)
}

/// An empty engine, and what must live as long as it.
pub(crate) fn engine(below: Below) -> (Box<dyn Engine>, KeepAlive) {
    match below {
        Below::Memory => return (Box::new(MemoryEngine::new()), None),
        Below::Replicas => {
            let (engine, _) = ReplicatedEngine::new(&[EVENT, EVENT_INDEX]);
            return (Box::new(engine), None);
        }
        Below::Parts => return (Box::new(in_parts()), None),
        Below::FrontTable => {}
    }
    // In memory where that is to be had: every flush begins a file, and a disk takes milliseconds
    // for that.
    let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    let dir = dir.expect("a temporary directory");
    let options = FrontOptions {
        table_bytes: 4096,
        log_preallocate_bytes: 4096,
        ..FrontOptions::default()
    };
    (
        Box::new(FrontMemoryEngine::new(dir.path(), options)),
        Some(dir),
    )
}
