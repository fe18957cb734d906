//! Further forms of the seam's methods, built from those that engines implement.

use std::sync::Arc;

use crate::{Engine, KvError, Reader, Space, TableId};

/// Further forms of reads.
pub trait ReaderExt: Reader {
    /// The value of one row.
    ///
    /// # Errors
    /// As [`Reader::get_with`].
    fn get(
        &self,
        table: TableId,
        partition: &[u8],
        clustering: &[u8],
    ) -> Result<Option<Vec<u8>>, KvError> {
        let mut value = None;
        self.get_with(table, partition, clustering, &mut |found| {
            value = Some(found.to_vec());
        })?;
        Ok(value)
    }

    /// The values of many rows of one table, in the order given.
    ///
    /// # Errors
    /// As [`Reader::get_with`].
    fn multi_get(
        &self,
        table: TableId,
        keys: &[(&[u8], &[u8])],
    ) -> Result<Vec<Option<Vec<u8>>>, KvError> {
        let mut values = vec![None; keys.len()];
        self.get_each(table, keys, &mut |at, value| {
            values[at] = Some(value.to_vec());
        })?;
        Ok(values)
    }

    /// [`Reader::known_absent`] for one row.
    fn is_known_absent(&self, table: TableId, partition: &[u8], clustering: &[u8]) -> bool {
        let absent = self.known_absent(&[(table, partition, clustering)]);
        absent.first() == Some(&true)
    }
}

impl<R: Reader + ?Sized> ReaderExt for R {}

/// Further forms of an engine's methods.
pub trait EngineExt: Engine {
    /// The names of the spaces that exist, ascending.
    ///
    /// # Errors
    /// As [`Engine::spaces`].
    fn space_names(&self) -> Result<Vec<String>, KvError> {
        let spaces = self.spaces()?.into_iter();
        Ok(spaces.map(|space| space.name).collect())
    }
}

impl<E: Engine + ?Sized> EngineExt for E {}

/// Returns a snapshot of the space, or the space itself if its engine has no snapshots.
#[must_use]
pub fn state_of(space: &Arc<dyn Space>) -> Arc<dyn Reader> {
    let snapshot = Arc::clone(space).snapshot();
    snapshot.unwrap_or_else(|| Arc::clone(space) as Arc<dyn Reader>)
}

/// Whether the space's engine has snapshots, each of which is one state of all tables.
#[must_use]
pub fn has_snapshots(space: &Arc<dyn Space>) -> bool {
    Arc::clone(space).snapshot().is_some()
}
