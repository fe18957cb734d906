//! Named bounds of a server's graphs. Every one is configurable (a query's is fixed:
//! [`crate::query::QUERY_CAPACITY`]); over one, the answer is a clear error or waiting.

use varve_model::CommitVersion;

use crate::error::{ErrorKind, GraphError};

/// The most that [`Limits::vertex_delete_bytes_max`] may be: 1 GiB. With it, the places of all keys
/// of a request fit 32 bits.
pub const VERTEX_DELETE_BYTES_MAX: usize = 1 << 30;

/// The most states that a sequenced update may change: each gets a commit version of its own within
/// one microsecond.
pub const STATES_PER_UPDATE_MAX: usize = CommitVersion::PER_MICROSECOND;

/// Bounds on what one request, or all that wait, may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Graphs of one server; one more is not created. Those that are there are opened, however
    /// many. Default 256.
    pub graphs_max: usize,
    /// Edges that the deletion of one vertex may take with it in one commit (count); with more, its
    /// edges go before it in steps. Default 200,000.
    pub vertex_delete_edges_max: usize,
    /// Bytes of the keys and contents of the edges that the deletion of all vertices of one commit
    /// may take with it, at most [`VERTEX_DELETE_BYTES_MAX`]. With more, a single vertex's edges go
    /// before it in steps. Default 256 MiB.
    pub vertex_delete_bytes_max: usize,
    /// Bytes of commits put into one engine write. Default 4 MiB.
    pub commit_group_bytes_max: usize,
    /// Bytes of commits that may wait for the committer; more is refused as busy. Default 64 MiB.
    pub commit_queue_bytes_max: usize,
    /// Labels and property keys of an open graph (count); over it none is made on first use.
    /// Default 10,000.
    pub open_schema_max: usize,
}

impl Limits {
    /// Refuses values with which a graph could not work.
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
