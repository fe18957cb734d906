//! The parts of one partition, and their keys.
//!
//! The key of a part is that of the partition, then the epoch and the number of the part, one byte
//! each. No partition key of a table is a prefix of another. So no partition has the key of a part,
//! and the key of a part tells that of its partition. A value in a part is `01` and the row's
//! value. An empty value is a tombstone: the row was removed, and an older epoch has, or had, a row
//! of its key.
//!
//! **A record** is: `01`, the number of bytes that the newest epoch has taken (8, big endian), then
//! for each epoch the number of its parts (2, big endian).

use xxhash_rust::xxh3::xxh3_64;

const FORM: u8 = 1;
const THERE: u8 = 1;
/// The factor by which the number of parts grows with each epoch.
const GROWTH: u16 = 8;
/// The most parts of an epoch: their number is one byte of the key.
const PARTS_MAX: u16 = 256;
const EPOCHS_MAX: usize = 256;
/// The number of bytes by which the key of a part is longer than that of its partition.
const SUFFIX: usize = 2;

/// The number of parts of each epoch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Parts {
    epochs: Vec<u16>,
}

impl Parts {
    /// A partition that is not in parts.
    pub(crate) fn whole() -> Self {
        Self { epochs: vec![1] }
    }

    pub(crate) fn is_whole(&self) -> bool {
        self.epochs.len() == 1
    }

    /// The number of parts of the newest epoch, which take rows.
    pub(crate) fn newest(&self) -> u16 {
        self.epochs[self.epochs.len() - 1]
    }

    /// The number of parts of all epochs.
    pub(crate) fn count(&self) -> usize {
        self.epochs.iter().copied().map(usize::from).sum()
    }

    /// Adds an epoch; returns false if there can be no more.
    pub(crate) fn grow(&mut self) -> bool {
        let can = self.epochs.len() < EPOCHS_MAX;
        if can {
            self.epochs
                .push(self.newest().saturating_mul(GROWTH).min(PARTS_MAX));
        }
        can
    }

    /// Returns the keys of all parts, the oldest epoch first.
    pub(crate) fn all(&self, partition: &[u8]) -> Vec<Vec<u8>> {
        self.all_by_epoch(partition).map(|(_, key)| key).collect()
    }

    /// Returns the epochs and keys of all parts, the oldest epoch first.
    pub(crate) fn all_by_epoch(&self, partition: &[u8]) -> impl Iterator<Item = (usize, Vec<u8>)> {
        let parts = self.epochs.iter().enumerate();
        parts.flat_map(move |(epoch, parts)| {
            (0..*parts).map(move |number| (epoch, key(partition, epoch, number)))
        })
    }

    /// Returns the parts that can have the rows of a scan. `together` is the result of
    /// [`crate::OfPrefix`] for the scan.
    pub(crate) fn with(
        &self,
        partition: &[u8],
        together: Option<Option<&[u8]>>,
    ) -> Vec<(usize, Vec<u8>)> {
        match together {
            None => self.all_by_epoch(partition).collect(),
            Some(None) => vec![(0, partition.to_vec())],
            Some(Some(together)) => {
                let places = self.places(partition, together).into_iter();
                places.rev().enumerate().collect()
            }
        }
    }

    /// Returns the keys of the parts that can have the rows with this `together`, the newest epoch
    /// first.
    pub(crate) fn places(&self, partition: &[u8], together: &[u8]) -> Vec<Vec<u8>> {
        let hash = xxh3_64(together);
        let parts = self.epochs.iter().enumerate().rev();
        let keys = parts.map(|(epoch, parts)| {
            let number = hash % u64::from(*parts);
            let number = u16::try_from(number).expect("it is less than the number of parts");
            key(partition, epoch, number)
        });
        keys.collect()
    }

    /// Returns the record of these parts, of which the newest epoch has taken `bytes`.
    pub(crate) fn record(&self, bytes: u64) -> Vec<u8> {
        let mut record = vec![FORM];
        record.extend_from_slice(&bytes.to_be_bytes());
        for parts in &self.epochs {
            record.extend_from_slice(&parts.to_be_bytes());
        }
        record
    }

    /// Reads a record; returns its parts and bytes, or `None` if it is invalid.
    pub(crate) fn of_record(record: &[u8]) -> Option<(Self, u64)> {
        let (&FORM, rest) = record.split_first()? else {
            return None;
        };
        let (bytes, rest) = rest.split_first_chunk::<8>()?;
        let (epochs, []) = rest.as_chunks::<2>() else {
            return None;
        };
        let epochs: Vec<u16> = epochs
            .iter()
            .map(|parts| u16::from_be_bytes(*parts))
            .collect();
        let possible = |parts: &u16| (1..=PARTS_MAX).contains(parts);
        let sound =
            epochs.first() == Some(&1) && epochs.len() <= EPOCHS_MAX && epochs.iter().all(possible);
        sound.then(|| (Self { epochs }, u64::from_be_bytes(*bytes)))
    }
}

fn key(partition: &[u8], epoch: usize, number: u16) -> Vec<u8> {
    let mut key = Vec::with_capacity(partition.len() + SUFFIX);
    key.extend_from_slice(partition);
    if epoch > 0 {
        key.push(u8::try_from(epoch).expect("there are at most 256 epochs"));
        key.push(u8::try_from(number).expect("an epoch has at most 256 parts"));
    }
    key
}

/// The prefix of a row's value in a part.
pub(crate) const BEFORE_VALUE: &[u8] = &[THERE];

/// A tombstone: the value in a part for a removed row.
pub(crate) const GONE: &[u8] = &[];

/// Returns the value of a row from its form in a part: `Some(None)` for a tombstone, `None` if it
/// is invalid.
pub(crate) fn value(stored: &[u8]) -> Option<Option<&[u8]>> {
    match stored.split_first() {
        None => Some(None),
        Some((&THERE, value)) => Some(Some(value)),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epochs_grow_and_have_keys_of_their_own() {
        let mut parts = Parts::whole();
        assert!(parts.is_whole());
        assert_eq!(parts.all(b"p"), [b"p".to_vec()]);
        assert!(parts.grow() && parts.grow());
        assert_eq!((parts.newest(), parts.count()), (64, 73));
        let mut all = parts.all(b"p");
        assert_eq!(all[1], [b'p', 1, 0]);
        assert_eq!(all[72], [b'p', 2, 63]);
        let places = parts.places(b"p", b"row");
        assert_eq!(places.len(), 3);
        assert!(places.iter().all(|place| all.contains(place)));
        assert_eq!(
            (places[0][1], &*places[2]),
            (2, &b"p"[..]),
            "the newest first"
        );
        let with = parts.with(b"p", Some(Some(b"row")));
        assert_eq!(with.len(), 3);
        let newest_first = with.into_iter().rev().map(|(_, key)| key);
        assert!(newest_first.eq(places));
        assert_eq!(parts.with(b"p", Some(None)), [(0, b"p".to_vec())]);
        assert_eq!(parts.with(b"p", None).len(), 73);
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 73);
        while parts.grow() {}
        assert_eq!(
            (parts.newest(), parts.all(b"p").len()),
            (256, parts.count())
        );
    }

    #[test]
    fn where_rows_lie_does_not_change() {
        // Stored rows depend on it.
        let mut parts = Parts::whole();
        assert!(parts.grow());
        let numbers: Vec<u8> = (0..8_u8).map(|n| parts.places(b"p", &[n])[0][2]).collect();
        assert_eq!(numbers, [3, 3, 7, 5, 2, 2, 5, 7]);
    }

    #[test]
    fn a_record_comes_back() {
        let mut parts = Parts::whole();
        assert!(parts.grow());
        let record = parts.record(77);
        assert_eq!(record, [1, 0, 0, 0, 0, 0, 0, 0, 77, 0, 1, 0, 8]);
        assert_eq!(Parts::of_record(&record), Some((parts, 77)));
        for length in [0, 1, 8, 9, 10, 12] {
            assert_eq!(Parts::of_record(&record[..length]), None, "{length}");
        }
        assert_eq!(Parts::of_record(&[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]), None);
        assert_eq!(Parts::of_record(&[2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]), None);
    }
}
