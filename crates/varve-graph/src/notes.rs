//! Notes: named values that the program keeps with a graph. Clients do not see them.

use std::sync::Arc;

use varve_encoding::tables::META;
use varve_kv::{Batch, Durability, Reader, ReaderExt, Space};

use crate::error::GraphError;

/// Partition of notes in the `meta` table.
const PARTITION: &[u8] = b"n";

/// The notes of one graph.
pub struct Notes(Arc<dyn Space>);

impl Notes {
    pub(crate) fn new(space: Arc<dyn Space>) -> Self {
        Self(space)
    }

    /// The note with that name.
    ///
    /// # Errors
    /// When the store fails.
    pub fn get(&self, name: &str) -> Result<Option<Vec<u8>>, GraphError> {
        Ok(self.0.get(META, PARTITION, name.as_bytes())?)
    }

    /// Stores a note; it is on stable storage when this returns.
    ///
    /// # Errors
    /// When it cannot be stored.
    pub fn put(&self, name: &str, content: &[u8]) -> Result<(), GraphError> {
        let mut batch = Batch::new();
        put_into(&mut batch, name, content);
        Ok(self.0.write(&batch, Durability::Sync)?)
    }
}

/// Adds a note to a batch.
pub(crate) fn put_into(batch: &mut Batch, name: &str, content: &[u8]) {
    batch.put(META, PARTITION, name.as_bytes(), content);
}

/// Adds the removal of a note to a batch.
pub(crate) fn remove_by(batch: &mut Batch, name: &str) {
    batch.delete(META, PARTITION, name.as_bytes());
}

/// Whether a row of the `meta` table is the note with that name.
pub(crate) fn is(partition: &[u8], clustering: &[u8], name: &str) -> bool {
    partition == PARTITION && clustering == name.as_bytes()
}

/// Reads the note with that name in a graph that is being opened.
///
/// # Errors
/// When the store fails.
pub fn read(stored: &dyn Reader, name: &str) -> Result<Option<Vec<u8>>, GraphError> {
    Ok(stored.get(META, PARTITION, name.as_bytes())?)
}
