//! Where the writes of a batch go.
//!
//! A row is put into the newest epoch. A row that is removed is removed there, and in every older epoch that has it or a mark;
//! then a mark takes its place in the newest one, which hides the older ones until they are gone. The older epochs are asked
//! for that, and they get no rows of that key any more, as whoever writes a row has seen the end of all earlier writes of it.
//!
//! A batch is placed with one state of the directory, which is looked up once for each partition: other writes may change it
//! meanwhile, and a row and its event have to stay together.

use std::collections::HashMap;
use std::sync::Arc;

use varve_kv::{Batch, KvError, Op, Reader, TableId};

use crate::directory::Directory;
use crate::parts::{self, BEFORE_VALUE, GONE, Parts};

/// The parts of the partitions that a batch writes to, as they were when it was looked at first; `None` of one that is whole.
type Taken<'b> = HashMap<&'b [u8], Option<Arc<Parts>>>;

/// A removal of a row: where the row would be in older epochs, the newest of them first.
struct Removal {
    table: TableId,
    older: Vec<Vec<u8>>,
    clustering: Vec<u8>,
}

/// The batch with its writes where they belong; `None` if it is that already.
pub(crate) fn placed(
    directory: &Directory,
    reader: &dyn Reader,
    batch: &Batch,
) -> Result<Option<Batch>, KvError> {
    if !directory.any() {
        return Ok(None);
    }
    let taken = taken(directory, batch);
    if taken.values().all(Option::is_none) {
        return Ok(None);
    }
    let mut hidden = hidden(directory, reader, batch, &taken)?.into_iter();
    let mut placed = Batch::new();
    placed.reserve(batch.byte_len() + 3 * batch.len());
    for op in batch.ops() {
        let (table, partition) = subject(op);
        let Some(parts) = parts_of(directory, &taken, table, partition) else {
            push(&mut placed, op);
            continue;
        };
        let place = |clustering| {
            let together = directory.together(table, clustering)?;
            parts.places(partition, together).into_iter().next()
        };
        match op {
            Op::Put {
                clustering, value, ..
            } => match place(clustering) {
                Some(place) => {
                    placed.put_parts(table, &place, &[clustering], &[BEFORE_VALUE, value]);
                }
                None => push(&mut placed, op),
            },
            Op::Delete { clustering, .. } => match place(clustering) {
                Some(place) => {
                    let older = hidden.next().unwrap_or_default();
                    for older in &older {
                        placed.delete(table, older, clustering);
                    }
                    match older.is_empty() {
                        true => placed.delete(table, &place, clustering),
                        false => {
                            placed.put(table, &place, clustering, GONE);
                        }
                    }
                }
                None => push(&mut placed, op),
            },
            Op::DeletePrefix { prefix, .. } => {
                for part in parts.all(partition) {
                    placed.delete_prefix(table, &part, prefix);
                }
            }
        }
    }
    Ok(Some(placed))
}

fn subject<'a>(op: Op<'a>) -> (TableId, &'a [u8]) {
    match op {
        Op::Put {
            table, partition, ..
        }
        | Op::Delete {
            table, partition, ..
        }
        | Op::DeletePrefix {
            table, partition, ..
        } => (table, partition),
    }
}

fn push(batch: &mut Batch, op: Op<'_>) {
    match op {
        Op::Put {
            table,
            partition,
            clustering,
            value,
        } => {
            batch.put(table, partition, clustering, value);
        }
        Op::Delete {
            table,
            partition,
            clustering,
        } => batch.delete(table, partition, clustering),
        Op::DeletePrefix {
            table,
            partition,
            prefix,
        } => batch.delete_prefix(table, partition, prefix),
    }
}

/// The parts of all partitions of a batch, each looked up once.
fn taken<'b>(directory: &Directory, batch: &'b Batch) -> Taken<'b> {
    let mut taken = Taken::new();
    for op in batch.ops() {
        let (table, partition) = subject(op);
        if directory.may_part(table) {
            let look_up = || directory.parts(table, partition);
            taken.entry(partition).or_insert_with(look_up);
        }
    }
    taken
}

fn parts_of<'t>(
    directory: &Directory,
    taken: &'t Taken<'_>,
    table: TableId,
    partition: &[u8],
) -> Option<&'t Arc<Parts>> {
    let parts = taken.get(partition)?.as_ref();
    parts.filter(|_| directory.may_part(table))
}

/// Of each removal of a row of a partition that is in parts, in their order, the places of older epochs that have the row or a
/// mark.
fn hidden(
    directory: &Directory,
    reader: &dyn Reader,
    batch: &Batch,
    taken: &Taken<'_>,
) -> Result<Vec<Vec<Vec<u8>>>, KvError> {
    let mut removals: Vec<Removal> = Vec::new();
    for op in batch.ops() {
        let Op::Delete {
            table,
            partition,
            clustering,
        } = op
        else {
            continue;
        };
        let Some(parts) = parts_of(directory, taken, table, partition) else {
            continue;
        };
        if let Some(together) = directory.together(table, clustering) {
            let mut older = parts.places(partition, together);
            older.remove(0);
            removals.push(Removal {
                table,
                older,
                clustering: clustering.to_vec(),
            });
        }
    }
    let mut hidden = vec![Vec::new(); removals.len()];
    let mut tables: Vec<TableId> = removals.iter().map(|removal| removal.table).collect();
    tables.sort_unstable();
    tables.dedup();
    for table in tables {
        let of_table = || {
            (0..)
                .zip(&removals)
                .filter(|(_, removal)| removal.table == table)
        };
        let rows = of_table().flat_map(|(_, removal)| {
            let older = removal.older.iter();
            older.map(|part| (part.as_slice(), removal.clustering.as_slice()))
        });
        let rows: Vec<(&[u8], &[u8])> = rows.collect();
        let mut found = reader.multi_get(table, &rows)?.into_iter();
        for (at, removal) in of_table() {
            let stored = removal.older.iter().zip(found.by_ref());
            let places = stored.filter_map(|(place, stored)| stored.map(|_| place.clone()));
            hidden[at] = places.collect();
        }
    }
    Ok(hidden)
}

/// The row's value, from what its places have: the newest epoch first, the partition itself last.
pub(crate) fn newest(
    directory: &Directory,
    stored: Vec<Option<Vec<u8>>>,
) -> Result<Option<Vec<u8>>, KvError> {
    let last = stored.len().saturating_sub(1);
    for (at, stored) in stored.into_iter().enumerate() {
        let Some(mut stored) = stored else { continue };
        if at == last {
            return Ok(Some(stored));
        }
        return match parts::value(&stored) {
            Some(None) => Ok(None),
            Some(Some(_)) => {
                stored.drain(..BEFORE_VALUE.len());
                Ok(Some(stored))
            }
            None => Err(directory.damaged("a row of a partition in parts")),
        };
    }
    Ok(None)
}
