//! Resolution: which event decides an element's state at (V, T).

use varve_encoding::DecodeError;
use varve_encoding::key;
use varve_encoding::row::{Header, RowKind};
use varve_encoding::tables::EVENT;
use varve_kv::{ClusteringRange, Flow, Reader, ScanRequest};
use varve_model::{CommitVersion, Instant};

use crate::error::GraphError;

/// The event that decides, with its content.
#[derive(Debug, Clone)]
pub(crate) struct Resolved {
    pub(crate) header: Header,
    pub(crate) content: Vec<u8>,
}

/// Returns the range of the events of an element with `version <= newest`, newest first.
pub(crate) fn events_range(clustering: &[u8], newest: CommitVersion) -> ClusteringRange {
    let mut to = clustering.to_vec();
    to.extend_from_slice(&[0xFF; key::EVENT_SUFFIX]);
    to.push(0);
    ClusteringRange {
        from: key::event_clustering(clustering, newest),
        to: Some(to),
    }
}

/// Whether the element of a current row exists at a point of both times, unless a newer event
/// covers that point.
pub(crate) fn covers(header: &Header, valid: Instant, version: CommitVersion) -> bool {
    header.kind == RowKind::Put && header.version <= version && header.period().covers(valid)
}

/// Visits the events of one element in the event table with `version <= newest`, newest first.
pub(crate) fn scan_events(
    reader: &dyn Reader,
    partition: &[u8],
    clustering: &[u8],
    newest: CommitVersion,
    visit: &mut dyn FnMut(Header, &[u8]) -> Flow,
) -> Result<(), GraphError> {
    let range = events_range(clustering, newest);
    let mut damaged: Option<DecodeError> = None;
    let request = ScanRequest {
        table: EVENT,
        partition,
        range: &range,
        reverse: false,
    };
    reader.scan(request, &mut |key, row| {
        if key.len() != clustering.len() + key::EVENT_SUFFIX {
            return Flow::Continue(());
        }
        match Header::decode(row) {
            Ok((header, content)) => visit(header, content),
            Err(error) => {
                damaged = Some(error);
                Flow::Break(())
            }
        }
    })?;
    damaged.map_or(Ok(()), |error| Err(error.into()))
}

/// Returns the newest event in the event table with `version <= at_version` that covers `valid`.
pub(crate) fn newest_event(
    reader: &dyn Reader,
    partition: &[u8],
    clustering: &[u8],
    valid: Instant,
    at_version: CommitVersion,
    older_than: Option<CommitVersion>,
) -> Result<Option<Resolved>, GraphError> {
    let mut found = None;
    scan_events(
        reader,
        partition,
        clustering,
        at_version,
        &mut |header, content| {
            if older_than.is_some_and(|oldest| header.version < oldest) {
                return Flow::Break(());
            }
            if header.period().covers(valid) {
                found = Some(Resolved {
                    header,
                    content: content.to_vec(),
                });
                return Flow::Break(());
            }
            Flow::Continue(())
        },
    )?;
    Ok(found)
}

/// Returns the put that decides the state of an element at (`valid`, `version`); `None` if the
/// element does not exist there. `current` is its row in the current table, if there is one.
pub(crate) fn resolve(
    reader: &dyn Reader,
    partition: &[u8],
    clustering: &[u8],
    current: Option<&[u8]>,
    valid: Instant,
    version: CommitVersion,
) -> Result<Option<Resolved>, GraphError> {
    let mut best = None;
    if let Some(row) = current {
        let (header, content) = Header::decode(row)?;
        if covers(&header, valid, version) {
            let resolved = Resolved {
                header,
                content: content.to_vec(),
            };
            if !header.overlaid {
                return Ok(Some(resolved));
            }
            best = Some(resolved);
        }
    }
    let than = best.as_ref().map(|best| best.header.version);
    let event = newest_event(reader, partition, clustering, valid, version, than)?;
    Ok(event
        .or(best)
        .filter(|resolved| resolved.header.kind == RowKind::Put))
}
