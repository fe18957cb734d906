//! A scan of a partition that is in parts: some rows of each part, in the order of their keys, again and again.

use std::ops::Range;

use varve_kv::{ClusteringRange, Flow, KvError, Reader, ScanRequest, TableId};

use crate::directory::Directory;
use crate::parts::{self, Parts};

/// Rows that are read of each part at a time: what an engine that pages reads first. Rows of a part that lie behind what another
/// part has shown so far are read again.
const ROWS: usize = 128;

/// The rows that were read of all parts, in one buffer.
#[derive(Default)]
struct Round {
    bytes: Vec<u8>,
    rows: Vec<Found>,
    /// Of each part, how many rows, and the last of them.
    read: Vec<(usize, usize)>,
}

struct Found {
    /// The place of its part in the list; a later one hides an earlier one.
    part: usize,
    key: Range<usize>,
    value: Range<usize>,
}

impl Round {
    fn begin(&mut self, parts: usize) {
        self.bytes.clear();
        self.rows.clear();
        self.read.clear();
        self.read.resize(parts, (0, 0));
    }

    fn add(&mut self, part: usize, key: &[u8], value: &[u8]) -> Flow {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(key);
        let middle = self.bytes.len();
        self.bytes.extend_from_slice(value);
        self.read[part] = (self.read[part].0 + 1, self.rows.len());
        self.rows.push(Found {
            part,
            key: start..middle,
            value: middle..self.bytes.len(),
        });
        match self.read[part].0 < ROWS {
            true => Flow::Continue(()),
            false => Flow::Break(()),
        }
    }

    fn key(&self, row: &Found) -> &[u8] {
        &self.bytes[row.key.clone()]
    }

    /// Up to which key all parts have been read; `None` if all have to their end.
    fn end(&self, reverse: bool) -> Option<Vec<u8>> {
        let full = self.read.iter().filter(|(rows, _)| *rows >= ROWS);
        let ends = full.map(|(_, last)| self.key(&self.rows[*last]));
        let end = match reverse {
            true => ends.max(),
            false => ends.min(),
        };
        end.map(<[u8]>::to_vec)
    }

    /// Puts the rows in the order of their keys, of equal ones the newest first.
    fn sort(&mut self, reverse: bool) {
        let bytes = &self.bytes;
        self.rows.sort_unstable_by(|a, b| {
            let keys = bytes[a.key.clone()].cmp(&bytes[b.key.clone()]);
            let keys = if reverse { keys.reverse() } else { keys };
            keys.then(b.part.cmp(&a.part))
        });
    }
}

/// Visits the rows of a range of a partition that is in parts.
pub(crate) fn scan(
    directory: &Directory,
    reader: &dyn Reader,
    parts: &Parts,
    request: ScanRequest<'_>,
    visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
) -> Result<Flow, KvError> {
    let mut range = request.range.clone();
    let reverse = request.reverse;
    // With each, whether it is the partition itself, whose values are as they were given.
    let mut left: Vec<(Vec<u8>, bool)> = parts
        .all(request.partition)
        .into_iter()
        .enumerate()
        .map(|(at, key)| (key, at == 0))
        .collect();
    let mut round = Round::default();
    while !range.is_empty() && !left.is_empty() {
        round.begin(left.len());
        let keys: Vec<&[u8]> = left.iter().map(|(key, _)| key.as_slice()).collect();
        read(reader, request.table, &keys, &range, reverse, &mut round)?;
        let end = round.end(reverse);
        round.sort(reverse);
        let mut before: Option<&Found> = None;
        for row in &round.rows {
            let key = round.key(row);
            let beyond = end.as_deref().is_some_and(|end| match reverse {
                true => key < end,
                false => key > end,
            });
            if beyond {
                break;
            }
            let is_hidden = before.is_some_and(|before| round.key(before) == key);
            before = Some(row);
            if is_hidden {
                continue;
            }
            let stored = &round.bytes[row.value.clone()];
            let value = match left[row.part].1 {
                true => Some(Some(stored)),
                false => parts::value(stored),
            };
            let Some(value) = value else {
                return Err(directory.damaged("a row of a partition in parts"));
            };
            if let Some(value) = value
                && visit(key, value).is_break()
            {
                return Ok(Flow::Break(()));
            }
        }
        let Some(end) = end else { break };
        match reverse {
            true => range.to = Some(end),
            false => {
                range.from = end;
                range.from.push(0);
            }
        }
        // What had no rows has none further on.
        let mut read = round.read.iter();
        left.retain(|_| read.next().is_some_and(|(rows, _)| *rows > 0));
    }
    Ok(Flow::Continue(()))
}

fn read(
    reader: &dyn Reader,
    table: TableId,
    parts: &[&[u8]],
    range: &ClusteringRange,
    reverse: bool,
    round: &mut Round,
) -> Result<(), KvError> {
    if !reverse {
        return reader.scan_many(table, parts, range, &mut |part, key, value| {
            round.add(part, key, value)
        });
    }
    for (part, partition) in parts.iter().enumerate() {
        let request = ScanRequest {
            table,
            partition,
            range,
            reverse,
        };
        reader.scan(request, &mut |key, value| round.add(part, key, value))?;
    }
    Ok(())
}
