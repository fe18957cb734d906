//! Generated vertex ids: 64-bit numbers that grow with time.
//!
//! 41 bits of milliseconds since 2017-01-01, 10 bits of server slot, 12 bits of sequence within a millisecond, as
//! HugeGraph's ids have them.

use parking_lot::Mutex;
use varve_model::Instant;

/// 2017-01-01T00:00:00Z in milliseconds since 1970.
const EPOCH_MILLIS: i64 = 1_483_228_800_000;
const SLOT_BITS: u32 = 10;
const SEQUENCE_BITS: u32 = 12;

/// Generates ids for one server.
#[derive(Debug)]
pub(crate) struct Snowflake {
    last: Mutex<i64>,
}

impl Snowflake {
    /// Begins in the millisecond after `last`, the instant of the last commit, so that a slower clock, here or on another
    /// server, does not give ids again that were given by then. Ids that had run ahead of the last commit are not known
    /// here: after a clock has gone back, more than 4,096 ids in a millisecond of commits or ids that were not committed
    /// yet may lie beyond it.
    pub(crate) fn after(last: Instant) -> Self {
        let millis = (last.millis() - EPOCH_MILLIS + 1).max(0);
        Self {
            last: Mutex::new((millis << (SLOT_BITS + SEQUENCE_BITS)) - 1),
        }
    }

    /// An id greater than every one given before; when the clock stands still or goes back, the sequence runs ahead of
    /// it.
    pub(crate) fn next(&self, now: Instant) -> i64 {
        let millis = (now.millis() - EPOCH_MILLIS).max(0);
        let first = millis << (SLOT_BITS + SEQUENCE_BITS);
        let mut last = self.last.lock();
        let mut id = first.max(*last + 1);
        // The slot is 0 on a single server; a full sequence moves on to the next millisecond.
        let slot_mask = ((1_i64 << SLOT_BITS) - 1) << SEQUENCE_BITS;
        if id & slot_mask != 0 {
            id = ((id >> (SLOT_BITS + SEQUENCE_BITS)) + 1) << (SLOT_BITS + SEQUENCE_BITS);
        }
        *last = id;
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_grow_whatever_the_clock_does() {
        let ids = Snowflake::after(Instant::from_millis(EPOCH_MILLIS + 3_000));
        let mut last = 0;
        for at in [1_000_i64, 5_000, 5_000, 4_000, 9_000, 0] {
            for _ in 0..5_000 {
                let id = ids.next(Instant::from_millis(EPOCH_MILLIS + at));
                assert!(id > last && id >> (SLOT_BITS + SEQUENCE_BITS) > 3_000);
                last = id;
            }
        }
    }
}
