//! Where the writes of a batch go.
//!
//! A row is put into the newest epoch. A row that is removed is removed there, if no older epoch has it; else a mark takes its place,
//! which hides the older one. The older epochs are asked for that, and what they say does not change: they get no
//! rows of that key any more, as whoever writes a row has seen the end of all earlier writes of it.

use varve_kv::{Batch, KvError, Op, Reader, TableId};

use crate::directory::Directory;
use crate::parts::{self, BEFORE_VALUE, GONE};

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
    if !directory.any() || !touches_parts(directory, batch) {
        return Ok(None);
    }
    let mut hidden = hidden(directory, reader, batch)?.into_iter();
    let mut placed = Batch::new();
    placed.reserve(batch.byte_len() + 3 * batch.len());
    for op in batch.ops() {
        let (table, partition) = subject(op);
        let Some(parts) = directory.parts(table, partition) else {
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
                Some(place) if hidden.next() == Some(true) => {
                    placed.put(table, &place, clustering, GONE);
                }
                Some(place) => placed.delete(table, &place, clustering),
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

fn touches_parts(directory: &Directory, batch: &Batch) -> bool {
    let mut before: Option<(TableId, &[u8])> = None;
    batch.ops().any(|op| {
        let subject = subject(op);
        let is_another = before.replace(subject) != Some(subject);
        is_another && directory.parts(subject.0, subject.1).is_some()
    })
}

/// Of each removal of a row of a partition that is in parts, in their order, whether an older epoch has the row.
fn hidden(directory: &Directory, reader: &dyn Reader, batch: &Batch) -> Result<Vec<bool>, KvError> {
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
        let Some(parts) = directory.parts(table, partition) else {
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
    let mut hidden = vec![false; removals.len()];
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
            let stored: Vec<_> = found.by_ref().take(removal.older.len()).collect();
            hidden[at] = newest(directory, stored)?.is_some();
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
