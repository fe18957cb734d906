//! Placing: directs the writes of a batch to the parts.
//!
//! A put goes to the newest epoch. A removal writes to the newest epoch, and to every older epoch
//! that has the row or its tombstone. In each of them it deletes the row or tombstone, unless a
//! still older epoch has the row. Then it puts a tombstone: the parts are not written atomically,
//! so the tombstone hides the older row until that row is deleted.
//!
//! A removal reads the older epochs first. No row of its key can be added to them meanwhile,
//! because a write of a row begins only after all earlier writes of that row have ended.
//!
//! A batch can promise to put or delete every stored row of a range ([`Batch::sweep`]). In the
//! parts, the promise does not hold for the rows that the batch puts: their copies in older epochs
//! stay. So each part gets the promise for the gaps between these rows. An engine may delete
//! tombstones of earlier removals with such a gap, since they hide no row any more.
//!
//! The directory is looked up only once for each partition of a batch. Other writes may change the
//! directory meanwhile, but a row and its event must go to the same part.

use std::collections::HashMap;
use std::sync::Arc;

use varve_kv::{Batch, ClusteringRange, KvError, Op, Reader, ReaderExt, Sweep, TableId};

use crate::counts::row_bytes;
use crate::directory::{Directory, Parted};
use crate::parts::{self, BEFORE_VALUE, GONE};

/// The parts of each partition that a batch writes to, as first looked up; `None` if the partition
/// is whole.
type Taken<'b> = HashMap<&'b [u8], Option<Arc<Parted>>>;

/// A batch whose writes go to the parts.
pub(crate) struct Placed {
    pub(crate) batch: Batch,
    /// The partitions in whose older epochs the batch deletes rows. Their [`Parted::removed`] must
    /// be called after the write.
    pub(crate) emptied: Vec<Arc<Parted>>,
}

/// A removal of a row.
struct Removal {
    table: TableId,
    /// The parts in which the row may be, the newest epoch first.
    places: Vec<Vec<u8>>,
    clustering: Vec<u8>,
}

/// The writes of a removal: for each part, whether a tombstone is put or the row is deleted.
type Steps = Vec<(Vec<u8>, bool)>;

impl Removal {
    /// Returns the writes of the removal, given the values in the older epochs, the newest first. A
    /// part gets a tombstone if an older epoch has a row.
    fn steps(&self, older: &[Option<Vec<u8>>]) -> Steps {
        let mut steps = Steps::new();
        let mut row_below = false;
        for (at, stored) in older.iter().enumerate().rev() {
            let Some(stored) = stored else { continue };
            steps.push((self.places[at + 1].clone(), row_below));
            let is_plain = at + 1 == older.len();
            row_below |= is_plain || stored != GONE;
        }
        steps.push((self.places[0].clone(), row_below));
        steps
    }
}

/// Places a batch; returns `None` if all its partitions are whole.
pub(crate) fn placed(
    directory: &Directory,
    reader: &dyn Reader,
    batch: &Batch,
) -> Result<Option<Placed>, KvError> {
    if !directory.any() {
        return Ok(None);
    }
    let taken = taken(directory, batch);
    if taken.values().all(Option::is_none) {
        return Ok(None);
    }
    let mut removals = removals(directory, reader, batch, &taken)?.into_iter();
    let mut placed = Batch::new();
    let mut emptied: Vec<Arc<Parted>> = Vec::new();
    placed.reserve(batch.byte_len() + 3 * batch.len());
    for op in batch.ops() {
        let (table, partition) = subject(op);
        let Some(parted) = parts_of(directory, &taken, table, partition) else {
            push(&mut placed, op);
            continue;
        };
        let place = |clustering| {
            let together = directory.together(table, clustering)?;
            let places = parted.parts.places(partition, together);
            places.into_iter().next()
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
                Some(_) => {
                    let steps = removals.next().unwrap_or_default();
                    if steps.len() > 1 {
                        emptied.push(Arc::clone(parted));
                    }
                    // Tombstones in older epochs replace rows, so only those of the newest epoch
                    // are counted.
                    if steps.last().is_some_and(|(_, mark)| *mark) {
                        directory.marked(partition, row_bytes(clustering, GONE));
                    }
                    remove(&mut placed, table, clustering, &steps);
                }
                None => push(&mut placed, op),
            },
            Op::DeletePrefix { prefix, .. } => {
                emptied.push(Arc::clone(parted));
                for part in parted.parts.all(partition) {
                    placed.delete_prefix(table, &part, prefix);
                }
            }
        }
    }
    place_sweeps(directory, &taken, batch, &mut placed, &mut emptied);
    Ok(Some(Placed {
        batch: placed,
        emptied,
    }))
}

/// Adds the sweeps of a batch, each for all parts of its partition.
fn place_sweeps(
    directory: &Directory,
    taken: &Taken,
    batch: &Batch,
    placed: &mut Batch,
    emptied: &mut Vec<Arc<Parted>>,
) {
    for sweep in batch.sweeps() {
        match parts_of(directory, taken, sweep.table, &sweep.partition) {
            None => placed.sweep(sweep.table, &sweep.partition, sweep.range.clone()),
            Some(parted) => {
                emptied.push(Arc::clone(parted));
                let ranges = without_puts(batch, sweep);
                for part in parted.parts.all(&sweep.partition) {
                    for range in &ranges {
                        placed.sweep(sweep.table, &part, range.clone());
                    }
                }
            }
        }
    }
}

/// Returns the range of a sweep without the rows that its batch puts.
fn without_puts(batch: &Batch, sweep: &Sweep) -> Vec<ClusteringRange> {
    let mut puts: Vec<&[u8]> = Vec::new();
    for op in batch.ops() {
        if let Op::Put {
            table,
            partition,
            clustering,
            ..
        } = op
            && table == sweep.table
            && partition == sweep.partition
            && sweep.range.contains(clustering)
        {
            puts.push(clustering);
        }
    }
    puts.sort_unstable();
    puts.dedup();
    let mut ranges = Vec::with_capacity(puts.len() + 1);
    let mut rest = sweep.range.clone();
    for put in puts {
        let after = ClusteringRange {
            from: [put, &[0]].concat(),
            to: rest.to.clone(),
        };
        rest.to = Some(put.to_vec());
        ranges.push(std::mem::replace(&mut rest, after));
    }
    ranges.push(rest);
    ranges.retain(|range| !range.is_empty());
    ranges
}

fn remove(batch: &mut Batch, table: TableId, clustering: &[u8], steps: &[(Vec<u8>, bool)]) {
    for (place, mark) in steps {
        match mark {
            true => {
                batch.put(table, place, clustering, GONE);
            }
            false => batch.delete(table, place, clustering),
        }
    }
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

/// Looks up the parts of all partitions of a batch, each once.
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
) -> Option<&'t Arc<Parted>> {
    let parted = taken.get(partition)?.as_ref();
    parted.filter(|_| directory.may_part(table))
}

/// Returns the writes of each removal of a row of a partition in parts, in the order of the batch.
/// Older epochs are read once for each table.
fn removals(
    directory: &Directory,
    reader: &dyn Reader,
    batch: &Batch,
    taken: &Taken<'_>,
) -> Result<Vec<Steps>, KvError> {
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
        let Some(parted) = parts_of(directory, taken, table, partition) else {
            continue;
        };
        if let Some(together) = directory.together(table, clustering) {
            removals.push(Removal {
                table,
                places: parted.parts.places(partition, together),
                clustering: clustering.to_vec(),
            });
        }
    }
    let mut steps = vec![Steps::new(); removals.len()];
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
            let older = removal.places[1..].iter();
            older.map(|part| (part.as_slice(), removal.clustering.as_slice()))
        });
        let mut found = stored(reader, table, &rows.collect::<Vec<_>>())?.into_iter();
        for (at, removal) in of_table() {
            let older: Vec<_> = found.by_ref().take(removal.places.len() - 1).collect();
            steps[at] = removal.steps(&older);
        }
    }
    Ok(steps)
}

/// Reads rows in one request, since the writer waits. Does not read rows that are known to be
/// absent.
fn stored(
    reader: &dyn Reader,
    table: TableId,
    rows: &[(&[u8], &[u8])],
) -> Result<Vec<Option<Vec<u8>>>, KvError> {
    let of_table = rows
        .iter()
        .map(|(part, clustering)| (table, *part, *clustering));
    let absent = reader.known_absent(&of_table.collect::<Vec<_>>());
    let unknown = rows.iter().zip(&absent).filter(|(_, absent)| !**absent);
    let unknown: Vec<(&[u8], &[u8])> = unknown.map(|(row, _)| *row).collect();
    let mut found = match unknown.is_empty() {
        true => Vec::new(),
        false => reader.multi_get(table, &unknown)?,
    }
    .into_iter();
    let stored = absent.iter().map(|absent| match absent {
        true => None,
        false => found.next().flatten(),
    });
    Ok(stored.collect())
}

/// Returns the row's value from its values in the parts: the newest epoch first, the partition
/// itself last.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The value of a row in one epoch, if any.
    type Has = Option<Vec<u8>>;

    const EPOCHS: usize = 4;

    /// All combinations of a row's values in the epochs, the newest first; each row has a different
    /// value.
    fn all_states() -> Vec<Vec<Has>> {
        let mut states: Vec<Vec<Has>> = vec![Vec::new()];
        for epoch in 0..EPOCHS {
            let row = match epoch == EPOCHS - 1 {
                true => b"value 3".to_vec(),
                false => [BEFORE_VALUE, b"value ", &[b'0' + epoch as u8]].concat(),
            };
            let may_have_mark = epoch < EPOCHS - 1;
            let possible = [None, Some(row)].into_iter();
            let possible = possible.chain(may_have_mark.then(|| Some(GONE.to_vec())));
            let more = |state: &Vec<Has>| {
                let longer = possible
                    .clone()
                    .map(|has| [state.clone(), vec![has]].concat());
                longer.collect::<Vec<_>>()
            };
            states = states.iter().flat_map(more).collect();
        }
        states
    }

    /// The value that a reader sees.
    fn seen(state: &[Has]) -> Has {
        let (epoch, has) = (0..).zip(state).find(|(_, has)| has.is_some())?;
        let stored = has.as_deref().unwrap();
        match epoch == EPOCHS - 1 {
            true => Some(stored.to_vec()),
            false => parts::value(stored).unwrap().map(<[u8]>::to_vec),
        }
    }

    /// Tests every state of a row, and every subset of the writes of its removal.
    #[test]
    fn a_removal_never_shows_what_was_hidden() {
        let places: Vec<Vec<u8>> = (0..EPOCHS as u8).map(|epoch| vec![epoch]).collect();
        let removal = Removal {
            table: TableId(0),
            places: places.clone(),
            clustering: Vec::new(),
        };
        for state in all_states() {
            let before = seen(&state);
            let steps = removal.steps(&state[1..]);
            for done in 0..1_u32 << steps.len() {
                let mut now = state.clone();
                for (_, (place, mark)) in (0..).zip(&steps).filter(|(at, _)| (done >> at) & 1 == 1)
                {
                    now[usize::from(place[0])] = mark.then(|| GONE.to_vec());
                }
                let seen = seen(&now);
                let case = format!("{state:?}, of {steps:?} {done:b}");
                assert!(seen.is_none() || seen == before, "{case}: {seen:?}");
                if done + 1 == 1 << steps.len() {
                    assert_eq!(seen, None, "{case}");
                    let rows = now.iter().flatten().filter(|stored| !stored.is_empty());
                    assert_eq!(rows.count(), 0, "{case}: a value is kept");
                }
            }
        }
    }
}
