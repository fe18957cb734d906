//! Checks all files of a space against their checksums.
//!
//! RocksDB ends its own check at the first damaged file. The rows of each file are then read from
//! both ends, so that other damaged files are reported, too.

use rust_rocksdb::{LiveFile, ReadOptions};
use varve_kv::KvError;

use crate::space::RocksSpace;
use crate::wal;

/// The most damaged places that are reported.
const NAMED_MAX: usize = 100;

/// Checks all tables and logs of a space.
///
/// # Errors
/// [`KvError::Corruption`] with all damage found; otherwise when a file cannot be read.
pub(crate) fn verify(space: &RocksSpace) -> Result<(), KvError> {
    let mut damage = Vec::new();
    let checked = space.db().verify_file_checksums();
    let tables = checked.map_err(|error| space.failed(&error));
    for checked in [tables, wal::check(space.name(), space.db().path())] {
        match checked {
            Err(KvError::Corruption { detail, .. }) => damage.push(detail),
            checked => checked?,
        }
    }
    if damage.is_empty() {
        return Ok(());
    }
    let files = space.db().live_files();
    for file in files.map_err(|error| space.failed(&error))? {
        for forward in [true, false] {
            if let Err(error) = read_rows(space, &file, forward) {
                let detail = error.to_string();
                if !damage.contains(&detail) && damage.len() < NAMED_MAX {
                    damage.push(detail);
                }
            }
        }
    }
    Err(KvError::Corruption {
        space: space.name().to_owned(),
        detail: damage.join("; "),
    })
}

/// Reads the rows between the first and the last key of a file, up to the first damage.
fn read_rows(
    space: &RocksSpace,
    file: &LiveFile,
    forward: bool,
) -> Result<(), rust_rocksdb::Error> {
    let (Some(first), Some(last)) = (&file.start_key, &file.end_key) else {
        return Ok(());
    };
    let Some(family) = space.db().cf_handle(&file.column_family_name) else {
        return Ok(());
    };
    let mut options = ReadOptions::default();
    options.set_total_order_seek(true);
    options.fill_cache(false);
    let mut rows = space.db().raw_iterator_cf_opt(&family, options);
    match forward {
        true => rows.seek(first),
        false => rows.seek_for_prev(last),
    }
    while let Some(key) = rows.key() {
        match forward {
            true if key <= &last[..] => rows.next(),
            false if key >= &first[..] => rows.prev(),
            _ => break,
        }
    }
    rows.status()
}
