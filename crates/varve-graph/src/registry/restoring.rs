//! The mark of a space that is being filled from a backup.

use varve_encoding::tables::META;
use varve_kv::{Batch, Durability, ReaderExt, Space};

use crate::error::{ErrorKind, GraphError};

/// The partition of the mark in [`META`].
const SETTINGS: &[u8] = b"s";
const RESTORING: &[u8] = b"restoring";

/// Marks a space that is being filled from a backup. Until [`end_restoring`] it cannot be opened as
/// a graph.
pub(crate) fn mark_restoring(space: &dyn Space) -> Result<(), GraphError> {
    let mut mark = Batch::new();
    mark.put(META, SETTINGS, RESTORING, b"");
    Ok(space.write(&mark, Durability::Sync)?)
}

/// Removes the mark of a space that is filled.
pub(crate) fn end_restoring(space: &dyn Space) -> Result<(), GraphError> {
    let mut mark = Batch::new();
    mark.delete(META, SETTINGS, RESTORING);
    Ok(space.write(&mark, Durability::Sync)?)
}

/// Refuses a space whose restore did not end.
pub(crate) fn check_restored(name: &str, space: &dyn Space) -> Result<(), GraphError> {
    if space.get(META, SETTINGS, RESTORING)?.is_none() {
        return Ok(());
    }
    let message = format!(
        "The restore of the graph '{name}' did not end: drop the graph, then restore it again"
    );
    Err(GraphError::new(ErrorKind::Storage, message))
}
