//! Recovery from a damaged log: stores the readable part.

use std::path::Path;

use varve_kv::{KvError, TableSpec};

use crate::base::Base;
use crate::flusher;
use crate::log::{self, Salvaged};
use crate::options::FrontOptions;
use crate::record::RecordReader;
use crate::table::{Scratch, Table};

/// Reads the log in `log_dir` up to the first damage, and stores the records in `base`. The log is
/// not changed. Once the caller has moved it away, the space can be opened. An interrupted call can
/// be repeated.
///
/// # Errors
/// When a record is invalid, or files cannot be read or written.
pub fn recover_log(
    space: &str,
    tables: &'static [TableSpec],
    log_dir: &Path,
    base: &dyn Base,
) -> Result<Salvaged, KvError> {
    let table_bytes = FrontOptions::default().table_bytes;
    let mut table = Table::new(0);
    let mut scratch = Scratch::default();
    let mut reader = RecordReader::new(space, tables);
    let salvaged = log::salvage(space, log_dir, &mut |payload| {
        let Some(record) = reader.read(payload)? else {
            return Ok(());
        };
        table.apply(record, &mut scratch);
        table.publish();
        if table.bytes() >= table_bytes {
            flusher::ingest(base, tables.len(), &table)?;
            table = Table::new(0);
        }
        Ok(())
    })?;
    if table.published() > 0 {
        flusher::ingest(base, tables.len(), &table)?;
    }
    Ok(salvaged)
}
