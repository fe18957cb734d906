//! Records which elements a commit touches, if the graph records changes.

use varve_encoding::change::{Keys, Touched};
use varve_kv::Batch;
use varve_model::{ElementId, Instant};

use super::Emitter;
use crate::commit::Stamps;
use crate::rows::{Side, sides};

impl Emitter<'_> {
    /// Returns the batch with its change rows, and its stamps.
    pub(crate) fn finish(mut self) -> (Batch, Stamps) {
        if let Some(touches) = self.touches {
            touches.write(&mut self.batch, &mut self.stamps);
        }
        (self.batch, self.stamps)
    }

    /// Records that the commit gives an element an event, by the keys of its first side.
    pub(super) fn touch(&mut self, partition: &[u8], clustering: &[u8]) {
        if let Some(touches) = &mut self.touches {
            touches.add(&Touched::Element(Keys {
                partition,
                clustering,
            }));
        }
    }

    /// Records that the commit purges an element.
    pub(crate) fn touch_purged(&mut self, id: &ElementId) {
        self.touch_as(id, &|keys| Touched::Purged(keys));
    }

    /// Records that a state of an element may begin or end at `at`, which is past.
    pub(crate) fn touch_due(&mut self, id: &ElementId, at: Instant) {
        self.touch_as(id, &|keys| Touched::Due(keys, at));
    }

    fn touch_as(&mut self, id: &ElementId, touched: &dyn Fn(Keys<'_>) -> Touched<'_>) {
        let Some(touches) = &mut self.touches else {
            return;
        };
        let (_, sides) = sides(id);
        if let Some(side) = sides.first() {
            touches.add(&touched(Keys {
                partition: &side.partition,
                clustering: &side.clustering,
            }));
        }
    }

    /// Records that the commit changes an element of the schema.
    pub(crate) fn touch_schema(&mut self, kind: u8, id: u32) {
        if let Some(touches) = &mut self.touches {
            touches.add(&Touched::Schema(kind, id));
        }
    }

    pub(super) fn touch_side(&mut self, sides: &[Side]) {
        if let Some(side) = sides.first() {
            self.touch(&side.partition, &side.clustering);
        }
    }
}
