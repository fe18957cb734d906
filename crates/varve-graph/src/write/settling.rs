//! Finds the event that replaces a current row that has ceased to decide.

use varve_encoding::row::{Header, RowKind};
use varve_kv::{Flow, Reader};
use varve_model::{CommitVersion, Instant};

use crate::error::GraphError;
use crate::read::scan_events;
use crate::rows::{Current, Side};

/// The replacement of a stale current row. The events and the stale row are searched from the
/// newest on, up to the first that covers now.
pub(super) struct Settling {
    now: Instant,
    pub(super) winner: Option<Current>,
    /// The earliest start of a newer future event.
    next_start: Instant,
    /// Whether an event newer than the winner exists.
    newer: bool,
    /// When the winner (or the absence) ceases to decide.
    pub(super) until: Instant,
}

impl Settling {
    pub(super) fn find(
        reader: &dyn Reader,
        side: &Side,
        stale: &Current,
        now: Instant,
    ) -> Result<Self, GraphError> {
        let until = Instant::FOREVER;
        let mut found = Self {
            now,
            winner: None,
            next_start: until,
            newer: false,
            until,
        };
        let mut own = (stale.header.kind == RowKind::Put).then_some(Header {
            until: stale.header.to,
            overlaid: false,
            ..stale.header
        });
        let newest = CommitVersion::MAX;
        scan_events(
            reader,
            &side.partition,
            &side.clustering,
            newest,
            &mut |header, content| {
                let first = own.take_if(|own| own.version > header.version);
                match first.map(|own| found.consider(own, &stale.content)) {
                    Some(flow) if flow.is_break() => flow,
                    _ => found.consider(header, content),
                }
            },
        )?;
        if let (Some(own), None) = (own, &found.winner) {
            let _ = found.consider(own, &stale.content);
        }
        found.until = match &mut found.winner {
            Some(winner) => {
                winner.header.until = winner.header.to.min(found.next_start);
                winner.header.overlaid = found.newer;
                winner.header.until
            }
            None => found.next_start,
        };
        Ok(found)
    }

    fn consider(&mut self, header: Header, content: &[u8]) -> Flow {
        let period = header.period();
        if period.covers(self.now) {
            self.winner = Some(Current {
                header,
                content: content.to_vec(),
            });
            return Flow::Break(());
        }
        self.newer = true;
        if period.from > self.now {
            self.next_start = self.next_start.min(period.from);
        }
        Flow::Continue(())
    }
}
