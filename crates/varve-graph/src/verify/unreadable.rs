//! Finds where a table becomes readable again after an unreadable part.
//!
//! The seam does not expose where an engine's blocks begin. So the search tries keys after the last
//! row that was read, ever farther away, until a scan from one succeeds. Then a binary search
//! narrows the distance to the last key that failed, until the two keys are adjacent in the eight
//! bytes from their first difference. Readable rows between unreadable parts that are close
//! together may be skipped; they are part of the reported extent.

use varve_encoding::tables::TABLES;
use varve_kv::{Flow, KvError, Reader, TableId};

/// Longer than any prefix of 0xFF bytes in a key.
const BEHIND_ALL: [u8; 64] = [0xFF; 64];
/// Bytes of keys that the binary search treats as a number.
const WINDOW: usize = size_of::<u64>();

/// Partition and clustering key of a row.
pub(super) type RowKey = (Vec<u8>, Vec<u8>);

/// An unreadable part of a table.
pub(super) struct Gap {
    /// The key after which to resume; no row has it.
    pub(super) resume: RowKey,
    /// The key of the first readable row; `None` if no row follows.
    pub(super) next: Option<RowKey>,
}

/// Finds the end of the unreadable part of a table after the key `from` (partition and clustering).
/// Returns `None` if nothing after it is readable.
pub(super) fn gap(reader: &dyn Reader, table: TableId, from: &[u8]) -> Option<Gap> {
    let mut unreadable = from.to_vec();
    for probe in probes(from) {
        if can_be_read(reader, table, &probe) {
            let resume = nearest(reader, table, &unreadable, probe);
            let resume = split(table, &resume);
            let next = look(reader, table, (&resume.0, &resume.1)).ok()?;
            return Some(Gap { resume, next });
        }
        unreadable = probe;
    }
    None
}

/// Keys after `from`, ascending, each about twice as far away as the previous one.
fn probes(from: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let start = match from.is_empty() {
        true => vec![0],
        false => from.to_vec(),
    };
    let lengths = (1..=start.len()).rev();
    let nearer = lengths.flat_map(move |length| {
        let prefix = start[..length - 1].to_vec();
        let last = start[length - 1];
        (0..u8::BITS).filter_map(move |shift| {
            let byte = last.checked_add(1 << shift)?;
            Some([&prefix[..], &[byte]].concat())
        })
    });
    nearer.chain([BEHIND_ALL.to_vec()])
}

/// Returns a key between an unreadable and a readable one, as near to the unreadable one as the
/// search finds.
fn nearest(reader: &dyn Reader, table: TableId, unreadable: &[u8], readable: Vec<u8>) -> Vec<u8> {
    let pairs = unreadable.iter().zip(&readable);
    let same = pairs.take_while(|(one, other)| one == other).count();
    let number = |key: &[u8]| {
        let mut bytes = [0; WINDOW];
        for (byte, of_key) in bytes.iter_mut().zip(&key[same..]) {
            *byte = *of_key;
        }
        u64::from_be_bytes(bytes)
    };
    let key = |number: u64| [&readable[..same], &number.to_be_bytes()[..]].concat();
    let (mut low, mut high) = (number(unreadable), number(&readable));
    let mut found = readable.clone();
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        match can_be_read(reader, table, &key(middle)) {
            true => (high, found) = (middle, key(middle)),
            false => low = middle,
        }
    }
    found
}

fn can_be_read(reader: &dyn Reader, table: TableId, after: &[u8]) -> bool {
    let (partition, clustering) = split(table, after);
    look(reader, table, (&partition, &clustering)).is_ok()
}

/// Returns the key of the first row after a key, if there is one. Fails if that part of the table
/// is unreadable.
pub(super) fn look(
    reader: &dyn Reader,
    table: TableId,
    after: (&[u8], &[u8]),
) -> Result<Option<RowKey>, KvError> {
    let mut first = None;
    reader.scan_table(table, Some(after), &mut |row| {
        first = Some((row.partition.to_vec(), row.clustering.to_vec()));
        Flow::Break(())
    })?;
    Ok(first)
}

/// Splits a key into partition and clustering key. A key that contains no whole partition key sorts
/// before all rows that begin with it.
fn split(table: TableId, key: &[u8]) -> RowKey {
    let length = (TABLES[usize::from(table.0)].partition_len)(key).unwrap_or(key.len());
    let (partition, clustering) = key.split_at(length.min(key.len()));
    (partition.to_vec(), clustering.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_ascend_and_end_behind_everything() {
        for from in [&b""[..], b"\x02abc", b"\xff\xff", b"\x00"] {
            let probes: Vec<Vec<u8>> = probes(from).collect();
            assert!(probes.is_sorted(), "{from:?}");
            assert!(
                probes.iter().all(|probe| probe.as_slice() > from),
                "{from:?}"
            );
            assert_eq!(probes.last().map(Vec::as_slice), Some(&BEHIND_ALL[..]));
        }
    }
}
