//! Named bounds of one graph. Every one is configurable (a query's is fixed:
//! [`crate::query::QUERY_CAPACITY`]); over one, the answer is a clear error or waiting.

/// Bounds on what one request, or all that wait, may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Edges that the deletion of one vertex may take with it in one commit (count); with more, its edges go before it
    /// in steps. Default 200,000.
    pub vertex_delete_edges_max: usize,
    /// Bytes of the keys and contents of the edges that the deletion of one vertex may take with it in one commit; with
    /// more, its edges go before it in steps. What is over 1 GiB counts as that. Default 256 MiB.
    pub vertex_delete_bytes_max: usize,
    /// Bytes of commits put into one engine write. Default 4 MiB.
    pub commit_group_bytes_max: usize,
    /// Bytes of commits that may wait for the committer; more is refused as busy. Default 64 MiB.
    pub commit_queue_bytes_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            vertex_delete_edges_max: 200_000,
            vertex_delete_bytes_max: 256 << 20,
            commit_group_bytes_max: 4 << 20,
            commit_queue_bytes_max: 64 << 20,
        }
    }
}
