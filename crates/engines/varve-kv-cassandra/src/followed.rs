//! A space that another process has open, for reading only.

use std::path::Path;

use varve_kv::{Batch, Durability, KvError, Leadership, Lease, ReaderLayer, Space, Statistic};

use crate::source::SourceReader;

/// A space that this process follows. It needs no lease: its reads take nothing from the process
/// that leads the space.
pub(crate) struct FollowedSpace(pub(crate) SourceReader);

impl FollowedSpace {
    fn refused(&self) -> KvError {
        KvError::Led {
            space: self.0.source.name.to_string(),
            address: String::new(),
            term: 0,
        }
    }
}

impl ReaderLayer for FollowedSpace {
    type Below<'a> = SourceReader;

    fn read<T>(&self, read: impl FnOnce(&SourceReader) -> T) -> T {
        read(&self.0)
    }
}

impl Space for FollowedSpace {
    fn write(&self, _batch: &Batch, _durability: Durability) -> Result<(), KvError> {
        Err(self.refused())
    }

    fn sync(&self) -> Result<(), KvError> {
        Err(self.refused())
    }

    fn checkpoint(&self, _dir: &Path) -> Result<(), KvError> {
        Err(self.refused())
    }

    fn compact(&self) -> Result<(), KvError> {
        Err(self.refused())
    }

    fn verify_checksums(&self) -> Result<(), KvError> {
        Err(self.refused())
    }

    fn statistics(&self) -> Vec<Statistic> {
        Vec::new()
    }

    fn lease(&self) -> Lease<'_> {
        Lease {
            leadership: Leadership::Lost,
            term: 0,
            incarnation: &self.0.source.keyspace,
        }
    }
}
