//! The partitions of the log, *slices*: which batches are in each, and which slices are not needed
//! any more.
//!
//! A slice takes records until it is ten seconds old or has 64 MiB. Then it is removed as a whole,
//! with one tombstone, as soon as all its batches are complete. Slices do not wait for each other:
//! a batch that does not end keeps only its own slice. The name of a slice is the timestamp of its
//! first batch, which no other batch ever has, so a removed slice never gets a record again.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How long a slice takes records, and how many bytes of them. One record may exceed the bytes.
const TAKES_FOR: Duration = Duration::from_secs(10);
const BYTES_MAX: usize = 64 << 20;

/// One slice.
#[derive(Debug, Clone, Copy)]
struct Slice {
    /// The last timestamp of its batches.
    last: i64,
    bytes: usize,
    /// The batches that are not complete.
    open: usize,
}

/// The slices that may have rows, by name.
#[derive(Debug)]
pub(crate) struct Slices {
    slices: BTreeMap<i64, Slice>,
    /// The slice that takes records, and since when.
    taking: Option<(i64, Instant)>,
}

impl Slices {
    /// Begins with slices of before, whose batches up to `last` are complete.
    pub(crate) fn after(names: Vec<i64>, last: i64) -> Self {
        let done = Slice {
            last,
            bytes: 0,
            open: 0,
        };
        Self {
            slices: names.into_iter().map(|name| (name, done)).collect(),
            taking: None,
        }
    }

    /// Returns the slice for the record of a batch: its timestamp and bytes.
    pub(crate) fn place(&mut self, stamp: i64, bytes: usize, now: Instant) -> i64 {
        self.close_if_old(now);
        let has_room = |name: &i64| {
            let used = self.slices.get(name).map_or(0, |slice| slice.bytes);
            used + bytes <= BYTES_MAX
        };
        let taking = self.taking.filter(|(name, _)| has_room(name));
        let (name, _) = *self.taking.insert(taking.unwrap_or((stamp, now)));
        let slice = self.slices.entry(name).or_insert(Slice {
            last: stamp,
            bytes: 0,
            open: 0,
        });
        slice.last = slice.last.max(stamp);
        slice.bytes += bytes;
        slice.open += 1;
        name
    }

    /// Notes that a batch of a slice is complete: wholly stored, or nothing of it ever will be.
    pub(crate) fn completed(&mut self, name: i64) {
        if let Some(slice) = self.slices.get_mut(&name) {
            slice.open -= 1;
        }
    }

    fn close_if_old(&mut self, now: Instant) {
        self.taking = self
            .taking
            .filter(|(_, since)| now.saturating_duration_since(*since) < TAKES_FOR);
    }

    /// Returns the first slice with a batch that is not complete.
    pub(crate) fn first_open(&self) -> Option<i64> {
        let mut slices = self.slices.iter();
        slices
            .find(|(_, slice)| slice.open > 0)
            .map(|(name, _)| *name)
    }

    /// Returns the slices that can be removed, each with its last timestamp.
    pub(crate) fn removable(&mut self, now: Instant) -> Vec<(i64, i64)> {
        self.close_if_old(now);
        let taking = self.taking.map(|(name, _)| name);
        let slices = self.slices.iter();
        slices
            .filter(|(name, slice)| slice.open == 0 && Some(**name) != taking)
            .map(|(name, slice)| (*name, slice.last))
            .collect()
    }

    /// Notes that a slice is removed.
    pub(crate) fn removed(&mut self, name: i64) {
        self.slices.remove(&name);
    }

    /// Whether no slice has rows.
    pub(crate) fn is_empty(&self) -> bool {
        self.slices.is_empty()
    }

    /// The number of batches that are not complete, and the bytes of all records that the next
    /// opening would execute.
    pub(crate) fn backlog(&self) -> (usize, usize) {
        let slices = self.slices.values();
        slices.fold((0, 0), |(open, bytes), slice| {
            (open + slice.open, bytes + slice.bytes)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(slices: &mut Slices, at: Instant, stamps: &[i64]) -> Vec<i64> {
        let place = |stamp: &i64| slices.place(*stamp, 1_000, at);
        stamps.iter().map(place).collect()
    }

    #[test]
    fn a_slice_is_removed_once_it_is_old_and_all_its_batches_are_complete() {
        let begun = Instant::now();
        let later = begun + TAKES_FOR;
        let mut slices = Slices::after(Vec::new(), 0);
        assert_eq!(of(&mut slices, begun, &[10, 20]), [10, 10]);
        slices.completed(10);
        slices.completed(10);
        assert!(slices.removable(begun).is_empty(), "it takes records");
        assert_eq!(of(&mut slices, later, &[30]), [30]);
        assert_eq!(slices.removable(later), [(10, 20)]);
        slices.removed(10);
        assert_eq!(
            (slices.backlog(), slices.first_open()),
            ((1, 1_000), Some(30))
        );
        // The clock was set back: timestamps hardly grow, slices end all the same.
        let last = later + TAKES_FOR;
        assert_eq!(of(&mut slices, last, &[31]), [31]);
        slices.completed(31);
        assert_eq!(
            slices.removable(last + TAKES_FOR),
            [(31, 31)],
            "a batch that does not end keeps its slice only"
        );
        slices.removed(31);
        slices.completed(30);
        assert_eq!(slices.removable(last), [(30, 30)]);
        assert_eq!(slices.first_open(), None);
        slices.removed(30);
        assert!(slices.is_empty());
    }

    #[test]
    fn a_slice_has_so_many_bytes() {
        let now = Instant::now();
        let mut slices = Slices::after(Vec::new(), 0);
        let placed = [
            (1, BYTES_MAX - 1),
            (2, 1),
            (3, 1),
            (4, BYTES_MAX + 1),
            (5, 1),
        ]
        .map(|(stamp, bytes)| slices.place(stamp, bytes, now));
        assert_eq!(placed, [1, 1, 3, 4, 5]);
    }

    #[test]
    fn slices_of_before_are_removed() {
        let mut slices = Slices::after(vec![7, 9], 20);
        assert_eq!(slices.removable(Instant::now()), [(7, 20), (9, 20)]);
    }
}
