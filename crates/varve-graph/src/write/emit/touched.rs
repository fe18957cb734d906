//! Notes which elements a commit touches, where the graph keeps changes.

use varve_encoding::change::Touched;
use varve_kv::Batch;
use varve_model::ElementId;

use super::{Emitter, Side, sides};
use crate::commit::Stamps;

impl Emitter<'_> {
    /// The batch, with the rows that say what it touches, and its stamps.
    pub(crate) fn finish(mut self) -> (Batch, Stamps) {
        if let Some(touches) = self.touches {
            touches.write(&mut self.batch, &mut self.stamps);
        }
        (self.batch, self.stamps)
    }

    /// Notes that the commit gives an element an event, by the keys of its first side.
    pub(super) fn touch(&mut self, partition: &[u8], clustering: &[u8]) {
        if let Some(touches) = &mut self.touches {
            touches.add(&Touched {
                partition,
                clustering,
                is_purged: false,
            });
        }
    }

    /// Notes that the commit purges an element.
    pub(crate) fn touch_purged(&mut self, id: &ElementId) {
        let (_, sides) = sides(id);
        if let (Some(touches), Some(side)) = (&mut self.touches, sides.first()) {
            touches.add(&Touched {
                partition: &side.partition,
                clustering: &side.clustering,
                is_purged: true,
            });
        }
    }

    pub(super) fn touch_side(&mut self, sides: &[Side]) {
        if let Some(side) = sides.first() {
            self.touch(&side.partition, &side.clustering);
        }
    }
}
