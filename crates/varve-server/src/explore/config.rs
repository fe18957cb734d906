//! The options of the explorer.

use crate::section;

section! {
    /// The options of `…/explore/…`. Over a bound on what is asked: 400. Over a bound on what is
    /// found the answer is cut, and says so (`truncated`).
    pub struct ExploreConfig {
        /// Vertices that one request may expand.
        expand_ids_max: usize = 100,
        /// Edges that one expansion may return.
        expand_edges_max: usize = 1_000,
        /// Edges or elements up to which counts are exact.
        count_max: usize = 10_000,
        /// Elements that may be requested by id at once, and edges between them that are returned.
        elements_max: usize = 50_000,
        /// Vertices that a sample may contain.
        sample_max: usize = 1_000,
        /// Elements of a label that a sample or a search reads if no index helps.
        scan_max: usize = 10_000,
        /// Elements that a search may return.
        search_max: usize = 200,
        /// Instants that a timeline may return, of valid time and of transaction time each.
        buckets_max: usize = 2_000,
        /// Versions of one element that a timeline or a summary reads.
        versions_max: usize = 1_000,
        /// Edges that are read in total to find those between vertices.
        between_rows_max: usize = 1_000_000,
        /// Exports that may run at once. Further ones are answered 503.
        exports_max: usize = 8,
        /// Time that an export may take, in milliseconds. After it the connection is closed. While
        /// it runs, an export keeps old states of its graph.
        export_timeout_ms: u64 = 600_000,
    }
}
