//! Reads of rows that are near one another in the order of a full scan.
//!
//! On a cluster a row of a scan costs a tenth of a row that is read by its key. So work that goes
//! through a table in steps reads the rows of a step once more by a scan, not by their keys.

use varve_kv::{Flow, KvError, Reader, Row, TableId};

use crate::hash::IdMap;

/// The most rows that a scan passes for each row that is wanted. More would cost as much as reading
/// the rows by their keys.
const PASSED_MAX: usize = 12;

/// Partition and clustering key.
pub(crate) type Place<'a> = (&'a [u8], &'a [u8]);

/// Visits the rows of a table from `first` to `last`, both inclusive, whether or not these exist,
/// until `visit` breaks.
///
/// # Errors
/// As [`Reader::scan_table`].
pub(crate) fn scan_between(
    reader: &dyn Reader,
    table: TableId,
    (first, last): (Place<'_>, Place<'_>),
    visit: &mut dyn FnMut(Row<'_>) -> Flow,
) -> Result<(), KvError> {
    let end = reader.partition_order(table, last.0);
    // The key before all those that begin with `first`, but for its own prefixes.
    let begin = &first.1[..first.1.len().saturating_sub(1)];
    let mut partition: Vec<u8> = first.0.to_vec();
    reader.scan_table(table, Some((first.0, begin)), &mut |row| {
        if row.partition != partition {
            if reader.partition_order(table, row.partition) > end {
                return Flow::Break(());
            }
            partition.clear();
            partition.extend_from_slice(row.partition);
        }
        match (row.partition == first.0, row.partition == last.0) {
            (true, _) if row.clustering < first.1 => Flow::Continue(()),
            (_, true) if row.clustering > last.1 => Flow::Break(()),
            _ => visit(row),
        }
    })
}

/// The numbers of places, in the order of a full scan of the table.
pub(crate) fn in_scan_order(
    reader: &dyn Reader,
    table: TableId,
    places: &[Place<'_>],
) -> Vec<usize> {
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by_cached_key(|at| {
        let (partition, clustering) = places[*at];
        (reader.partition_order(table, partition), clustering)
    });
    order
}

/// As [`Reader::get_each`], for rows that are mostly near one another in a full scan of the table.
///
/// # Errors
/// As [`Reader::get_with`].
pub(crate) fn get_near(
    reader: &dyn Reader,
    table: TableId,
    places: &[Place<'_>],
    found: &mut dyn FnMut(usize, &[u8]),
) -> Result<(), KvError> {
    let order = in_scan_order(reader, table, places);
    let (Some(first), Some(last)) = (order.first(), order.last()) else {
        return Ok(());
    };
    let (first, last) = (&places[*first], &places[*last]);
    let numbered = places.iter().enumerate().map(|(at, place)| (*place, at));
    let numbers: IdMap<Place<'_>, usize> = numbered.collect();
    let mut is_left = vec![true; places.len()];
    let (mut left, mut passed) = (places.len(), 0);
    scan_between(reader, table, (*first, *last), &mut |row| {
        passed += 1;
        if let Some(at) = numbers.get(&(row.partition, row.clustering)) {
            is_left[*at] = false;
            left -= 1;
            found(*at, row.value);
        }
        match left == 0 || passed >= PASSED_MAX * places.len() {
            true => Flow::Break(()),
            false => Flow::Continue(()),
        }
    })?;
    if passed < PASSED_MAX * places.len() || left == 0 {
        return Ok(());
    }
    let left: Vec<usize> = (0..places.len()).filter(|at| is_left[*at]).collect();
    let places: Vec<Place<'_>> = left.iter().map(|at| places[*at]).collect();
    reader.get_each(table, &places, &mut |at, value| found(left[at], value))
}

#[cfg(test)]
mod tests {
    use varve_encoding::tables::{TABLES, VERTEX};
    use varve_kv::{Batch, Durability, Engine, MemoryEngine};

    use super::*;

    #[test]
    fn rows_are_found_whatever_lies_between_them() {
        let space = MemoryEngine::new().open("g", TABLES, true);
        let space = space.expect("a space");
        let key = |number: u16| [&[0x10][..], &[0; 6], &number.to_be_bytes()].concat();
        let mut batch = Batch::new();
        for number in 0..1_000_u16 {
            batch.put(VERTEX, &key(number), &[0], &number.to_be_bytes());
        }
        space.write(&batch, Durability::Buffered).expect("written");
        for wanted in [
            vec![],
            vec![7],
            vec![3, 4, 5, 2_000],
            vec![0, 999],
            (0..1_000).step_by(9).collect(),
            (5..400).collect(),
        ] {
            let mut keys: Vec<Vec<u8>> = wanted.iter().map(|number| key(*number)).collect();
            // The order of the places does not matter.
            keys.reverse();
            let places: Vec<Place<'_>> = keys.iter().map(|key| (&key[..], &[0][..])).collect();
            let mut rows = vec![None; keys.len()];
            get_near(&*space, VERTEX, &places, &mut |at, value| {
                assert_eq!(rows[at].replace(value.to_vec()), None);
            })
            .expect("read");
            for (key, row) in keys.iter().zip(rows) {
                let expected = (key[7..] < [3, 0xE8][..]).then(|| key[7..].to_vec());
                assert_eq!(row, expected, "{wanted:?}");
            }
        }
    }
}
