//! Cuts: partition keys that split a table into parts for parallel scans.

use rust_rocksdb::LiveFile;
use varve_kv::TableSpec;

/// The number of parts of equal width between the first key and the last one. Flushed files, at
/// level 0, have keys of the whole table, so their bounds alone would not split it.
const PARTS: u64 = 16;
/// The bytes of a key, after the prefix that the first and last key share, that are treated as a
/// number.
const WINDOW: usize = size_of::<u64>();

/// Returns the cuts of a table, in ascending order, from `files`, the files of all tables: the
/// first partition key of each of its files below level 0, and keys at equal distances. A table
/// without files has no cuts.
pub(crate) fn of(spec: &TableSpec, files: &[LiveFile]) -> Vec<Vec<u8>> {
    let own = || {
        files
            .iter()
            .filter(|file| file.column_family_name == spec.name)
    };
    let first = own().filter_map(|file| file.start_key.as_deref()).min();
    let last = own().filter_map(|file| file.end_key.as_deref()).max();
    let (Some(first), Some(last)) = (first, last) else {
        return Vec::new();
    };
    let below = own().filter(|file| file.level > 0);
    let bounds = below.filter_map(|file| file.start_key.clone());
    let mut cuts: Vec<Vec<u8>> = bounds.chain(between(first, last)).collect();
    for cut in &mut cuts {
        // A key that contains no whole partition key stays as it is: it is between two partitions.
        let length = (spec.partition_len)(cut).unwrap_or(cut.len());
        cut.truncate(length);
    }
    cuts.sort_unstable();
    cuts.dedup();
    cuts
}

/// Returns `PARTS - 1` keys at equal distances between two keys, in ascending order.
fn between(first: &[u8], last: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let pairs = first.iter().zip(last);
    let same = pairs.take_while(|(one, other)| one == other).count();
    let number = |key: &[u8]| {
        let mut bytes = [0; WINDOW];
        for (byte, of_key) in bytes.iter_mut().zip(&key[same..]) {
            *byte = *of_key;
        }
        u64::from_be_bytes(bytes)
    };
    let low = number(first);
    let width = number(last).saturating_sub(low) / PARTS;
    let common = first[..same].to_vec();
    let numbers = (1..PARTS).map(move |part| low + width * part);
    numbers.map(move |number| [&common[..], &number.to_be_bytes()[..]].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPEC: TableSpec = TableSpec {
        name: "t",
        // A byte of length, and as many bytes.
        partition_len: |key| {
            let length = usize::from(*key.first()?) + 1;
            (key.len() >= length).then_some(length)
        },
        point_reads: false,
        probed: None,
        cold: false,
        summarize: None,
    };

    fn file(table: &str, level: i32, start: &[u8], end: &[u8]) -> LiveFile {
        LiveFile {
            column_family_name: table.to_owned(),
            name: String::new(),
            directory: String::new(),
            size: 0,
            level,
            start_key: Some(start.to_vec()),
            end_key: Some(end.to_vec()),
            smallest_seqno: 0,
            largest_seqno: 0,
            num_entries: 0,
            num_deletions: 0,
        }
    }

    #[test]
    fn a_table_without_files_has_no_cuts() {
        assert!(of(&SPEC, &[]).is_empty());
        assert!(of(&SPEC, &[file("other", 1, b"\x01a", b"\x01b")]).is_empty());
    }

    #[test]
    fn files_below_level_0_begin_parts() {
        let files = [
            file("t", 0, b"\x01af", b"\x01z"),
            file("t", 6, b"\x01c", b"\x01f5"),
            file("t", 6, b"\x01g77", b"\x01z9"),
        ];
        let cuts = of(&SPEC, &files);
        for begin in [&b"\x01c"[..], b"\x01g"] {
            assert!(cuts.contains(&begin.to_vec()), "{cuts:02x?}");
        }
        // Between a and z, each a whole partition key.
        assert!(cuts.len() >= 15 && cuts.iter().all(|cut| cut.len() == 2));
    }

    #[test]
    fn keys_between_two_ascend_from_the_first_to_the_last() {
        for (first, last) in [
            (
                &b"\x01\x80\0\0\0\0\0\0\x05"[..],
                &b"\x01\x80\0\0\0\0\x0f\xff\x05"[..],
            ),
            (b"a", b"abc"),
            (b"ab", b"zz"),
        ] {
            let keys: Vec<Vec<u8>> = between(first, last).collect();
            assert_eq!(keys.len() as u64, PARTS - 1);
            assert!(keys.is_sorted(), "{first:?}");
            assert!(keys.iter().all(|key| key.as_slice() <= last), "{first:?}");
            assert!(keys.iter().all(|key| key.as_slice() >= first), "{first:?}");
        }
        assert_eq!(between(b"k", b"k").count() as u64, PARTS - 1);
    }
}
