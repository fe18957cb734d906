//! Named limits of a server's graphs. All of them are configurable; only the limit of a query is
//! fixed ([`crate::query::QUERY_CAPACITY`]). A request over a limit fails with an error that names
//! it, or waits.

use varve_model::CommitVersion;

use crate::error::{ErrorKind, GraphError};

/// The greatest [`Limits::vertex_delete_bytes_max`]: 1 GiB. With it, the positions of all keys of a
/// request fit 32 bits.
pub const VERTEX_DELETE_BYTES_MAX: usize = 1 << 30;

/// The most states that a sequenced update may change, since each gets its own commit version
/// within one microsecond.
pub const STATES_PER_UPDATE_MAX: usize = CommitVersion::PER_MICROSECOND;

/// Limits of single requests and of the queue of commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Graphs of one server (count); over it no graph is created. Existing graphs are opened
    /// regardless of their number. Default 256.
    pub graphs_max: usize,
    /// Edges that one commit may delete together with one vertex (count). The edges of a vertex
    /// with more are deleted before it in steps. Default 200,000.
    pub vertex_delete_edges_max: usize,
    /// Bytes of the keys and contents of the edges that one commit may delete together with its
    /// vertices, at most [`VERTEX_DELETE_BYTES_MAX`]. The edges of a single vertex with more are
    /// deleted before it in steps. Default 256 MiB.
    pub vertex_delete_bytes_max: usize,
    /// Bytes of commits in one engine write. Default 4 MiB.
    pub commit_group_bytes_max: usize,
    /// Bytes of commits that may wait for the committer; further ones are refused as busy. Default
    /// 64 MiB.
    pub commit_queue_bytes_max: usize,
    /// Labels and property keys of an open graph (count); over it none is created on first use.
    /// Default 10,000.
    pub open_schema_max: usize,
}

impl Limits {
    /// Refuses values that a graph cannot work with.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] naming the limit.
    pub fn validate(&self) -> Result<(), GraphError> {
        let bytes = self.vertex_delete_bytes_max;
        if bytes > VERTEX_DELETE_BYTES_MAX {
            return Err(GraphError::new(
                ErrorKind::InvalidArgument,
                format!(
                    "limits.vertex_delete_bytes_max must be at most {VERTEX_DELETE_BYTES_MAX}, but is {bytes}"
                ),
            ));
        }
        Ok(())
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            graphs_max: 256,
            vertex_delete_edges_max: 200_000,
            vertex_delete_bytes_max: 256 << 20,
            commit_group_bytes_max: 4 << 20,
            commit_queue_bytes_max: 64 << 20,
            open_schema_max: crate::schema::OPEN_SCHEMA_MAX,
        }
    }
}
