//! The options of the explorer.

use crate::section;

section! {
    /// The options of `…/explore/…`. Over a bound on what is asked: 400. Over a bound on what is
    /// found the answer is cut, and says so (`truncated`).
    pub struct ExploreConfig {
        /// Vertices that one request may expand.
        expand_ids_max: usize = 100,
        /// Edges that one expansion may show.
        expand_edges_max: usize = 1_000,
        /// Edges or elements up to which counts are exact.
        count_max: usize = 10_000,
        /// Elements that may be requested by id at once, and edges shown between them.
        elements_max: usize = 5_000,
        /// Vertices that a sample may have.
        sample_max: usize = 1_000,
        /// Elements of a label that a sample or a search reads where no index helps.
        scan_max: usize = 10_000,
        /// Elements that a search may show.
        search_max: usize = 200,
        /// Instants that a timeline may show of each time.
        buckets_max: usize = 2_000,
        /// Versions of one element that a timeline or a summary reads.
        versions_max: usize = 1_000,
        /// Edges that are read in total to find the edges between vertices.
        between_rows_max: usize = 1_000_000,
        /// Exports that may run at once. One more is answered 503.
        exports_max: usize = 8,
        /// Time that an export may take, in milliseconds. Over it the connection is cut. Until its
        /// end an export keeps old states of its graph.
        export_timeout_ms: u64 = 600_000,
    }
}
