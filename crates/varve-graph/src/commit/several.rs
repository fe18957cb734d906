//! Commits with several versions.
//!
//! An event's key is its element and its commit version, so a commit with several events of one
//! element takes several consecutive versions within one microsecond. They become visible together.
//! A read as of any of them but the last would see a part of the commit. So such a commit writes a
//! record to `tx`, by which a version in a request is rounded up to the last one of its commit. A
//! read as of an instant needs no record, since it includes the whole microsecond.

use varve_encoding::datum;
use varve_encoding::key::EVENT_SUFFIX;
use varve_encoding::tables::TX;
use varve_kv::{Batch, ClusteringRange, Flow, Reader, ScanRequest};
use varve_model::{CommitVersion, Datum};

use super::Stamps;
use crate::error::GraphError;

/// Bytes of the partition keys of `tx`.
pub(super) const DAY_BYTES: usize = 4;
/// Microseconds of a day.
const DAY: i64 = 86_400_000_000;
const KIND: &str = "versions";

/// The partition of `tx` that a commit's records are in.
pub(super) fn day(version: CommitVersion) -> [u8; DAY_BYTES] {
    let day = version.instant().0.max(0) / DAY;
    u32::try_from(day).unwrap_or(u32::MAX).to_be_bytes()
}

/// Adds the record to the batch if the commit has several versions.
pub(crate) fn record(batch: &mut Batch, stamps: &mut Stamps) {
    let versions = stamps.versions();
    if versions == 1 {
        return;
    }
    let record = Datum::Map(vec![
        ("kind".to_owned(), Datum::Text(KIND.to_owned())),
        (
            "count".to_owned(),
            Datum::Int(i64::try_from(versions).unwrap_or(i64::MAX)),
        ),
    ]);
    let (day, version) = ([0; DAY_BYTES], [0; EVENT_SUFFIX]);
    let at = batch.put(TX, &day, &version, &datum::to_bytes(&record));
    stamps.record(at);
}

/// Returns the last version of the commit that `version` belongs to, or `version` if it belongs to
/// none. The commits up to `version` must be visible.
///
/// # Errors
/// When the store fails or is damaged.
pub(crate) fn end_of_commit(
    reader: &dyn Reader,
    version: CommitVersion,
) -> Result<CommitVersion, GraphError> {
    let last = CommitVersion::last_at(version.instant());
    if version == last {
        return Ok(version);
    }
    let range = ClusteringRange {
        from: (!last.0).to_be_bytes().to_vec(),
        to: Some((!version.0).to_be_bytes().to_vec()),
    };
    let request = ScanRequest {
        table: TX,
        partition: &day(version),
        range: &range,
        reverse: false,
    };
    let mut end = Ok(version);
    reader.scan(request, &mut |clustering, record| {
        let Some(stored) = clustering.first_chunk::<EVENT_SUFFIX>() else {
            return Flow::Continue(());
        };
        let stored = CommitVersion(!u64::from_be_bytes(*stored));
        match versions_of(record) {
            Ok(Some(versions)) if stored.0.saturating_sub(version.0) < versions => {
                end = Ok(stored);
                Flow::Break(())
            }
            Ok(_) => Flow::Continue(()),
            Err(error) => {
                end = Err(error);
                Flow::Break(())
            }
        }
    })?;
    end
}

/// The number of versions of a record's commit; `None` for records of another kind.
fn versions_of(record: &[u8]) -> Result<Option<u64>, GraphError> {
    let Datum::Map(members) = datum::decode(record)? else {
        return Ok(None);
    };
    let member = |name: &str| {
        let mut all = members.iter();
        all.find(|(known, _)| known == name).map(|(_, value)| value)
    };
    Ok(match (member("kind"), member("count")) {
        (Some(Datum::Text(kind)), Some(Datum::Int(count))) if kind == KIND => {
            u64::try_from(*count).ok()
        }
        _ => None,
    })
}
