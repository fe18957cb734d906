//! The list of a log's segments, and the removal of those that are no longer needed.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use parking_lot::Mutex;
use varve_kv::{KvError, fail_point};

use super::SegmentId;
use super::disk::Disk;
use super::errors;
use super::format::{Head, file_name};
use super::mark::Marker;

/// The segments of an open log.
#[derive(Debug)]
pub(crate) struct Segments {
    disk: Arc<dyn Disk>,
    /// The space's name, for messages.
    space: String,
    /// The number and the base of each segment, the active one last.
    live: Mutex<VecDeque<(SegmentId, u64)>>,
    /// Stores the first segment needed. `None` for a log of format 1, which is removed as a whole.
    marker: Option<Arc<Marker>>,
    /// Held during a removal instead of `live`, since a removal waits for a sync.
    removing: Mutex<()>,
}

/// Removes segments of a log without borrowing it, so that others can append meanwhile.
#[derive(Debug, Clone)]
pub struct Remover(pub(crate) Arc<Segments>);

impl Remover {
    /// Removes every segment up to and including `last`.
    ///
    /// # Errors
    /// As [`Log::remove_through`](super::Log::remove_through).
    pub fn remove_through(&self, last: SegmentId) -> Result<(), KvError> {
        self.0.remove_through(last)
    }
}

impl Segments {
    pub(crate) fn new(
        disk: Arc<dyn Disk>,
        space: &str,
        heads: &[Head],
        marker: Option<Arc<Marker>>,
    ) -> Self {
        let live = heads.iter().map(|head| (head.segment, head.base));
        Self {
            disk,
            space: space.to_owned(),
            live: Mutex::new(live.collect()),
            marker,
            removing: Mutex::default(),
        }
    }

    pub(crate) fn add(&self, head: &Head) {
        self.live.lock().push_back((head.segment, head.base));
    }

    /// The position of the first record in the log.
    pub(crate) fn first_base(&self) -> u64 {
        self.live.lock().front().map_or(0, |(_, base)| *base)
    }

    pub(crate) fn remove_through(&self, last: SegmentId) -> Result<(), KvError> {
        let failed =
            |error: io::Error| errors::file_error(&self.space, "removing a segment", &error);
        let _alone = self.removing.lock();
        let (doomed, (first, base)) = {
            let live = self.live.lock();
            let doomed = live.iter().take_while(|(id, _)| *id <= last).count();
            let Some(first) = live.get(doomed) else {
                return Err(failed(io::Error::other("it is in use")));
            };
            (doomed, *first)
        };
        let Some(marker) = self.marker.as_ref().filter(|_| doomed > 0) else {
            return Ok(());
        };
        fail_point::LOG_REMOVE.reach().map_err(failed)?;
        marker.flushed(first, base).map_err(failed)?;
        fail_point::LOG_FIRST.reach().map_err(failed)?;
        // From here on the log does not need these segments, even if removing their files fails.
        let doomed: Vec<_> = self.live.lock().drain(..doomed).collect();
        for (id, _) in doomed {
            self.disk.remove(&file_name(id)).map_err(failed)?;
            fail_point::LOG_REMOVED.reach().map_err(failed)?;
        }
        Ok(())
    }
}
