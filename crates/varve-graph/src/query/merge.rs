//! Merges index entries of several partitions and tables into one sequence without duplicates,
//! ascending or descending.

use std::collections::VecDeque;

use varve_encoding::tables::{EVENT_INDEX, INDEX};
use varve_kv::{ClusteringRange, Flow, KvError, Reader, ScanRequest, TableId};

use super::plan::Entries;
use super::resolver::Resolver;

/// The most keys that a merge buffers: with many partitions, each is read in smaller pieces.
const BUFFERED_KEYS_MAX: usize = 16_384;
/// How many keys of a partition are read from a cluster first, and with each further read, at
/// least: as many as the cluster sends at once.
const REMOTE_FIRST: usize = 128;
const REMOTE_MORE: usize = 1_128;

/// Merges the clustering keys in one range of several partitions.
///
/// Entries of the past are read after those of the present, and only up to the last present entry
/// that was read. A commit moves entries
/// from the present to the past. Without a snapshot, a reader that reads the past first would miss
/// an entry that moves between its two reads.
pub(super) struct Merge<'a> {
    reader: &'a dyn Reader,
    /// Whether the greatest key comes first.
    reverse: bool,
    sources: Vec<Source<'a>>,
}

/// One partition.
struct Source<'a> {
    partition: &'a [u8],
    present: Stream,
    /// The entries of the past; `None` if only the present is read.
    past: Option<Stream>,
}

/// The keys of one table.
struct Stream {
    table: TableId,
    reverse: bool,
    /// Whether it is read from a cluster.
    is_remote: bool,
    /// Whether the first keys have been read.
    goes_on: bool,
    /// The range that is still to be read.
    rest: ClusteringRange,
    buffer: VecDeque<Vec<u8>>,
    ended: bool,
}

impl<'a> Merge<'a> {
    /// A merge of the range of `entries` in each of their partitions, in the tables that the
    /// resolver's point needs. It starts after `after`, or at `after` if `again` is true.
    pub(super) fn new(
        resolver: &'a dyn Resolver,
        entries: &'a Entries,
        after: Option<&[u8]>,
        again: bool,
    ) -> Self {
        let reverse = entries.reverse;
        let rest = match after {
            None => entries.range.clone(),
            Some(after) => beyond(&entries.range, after, reverse, again),
        };
        let stream = |table| Stream {
            table,
            reverse,
            is_remote: resolver.is_remote(),
            goes_on: false,
            rest: rest.clone(),
            buffer: VecDeque::new(),
            ended: false,
        };
        let sources = entries.partitions.iter().map(|partition| Source {
            partition,
            present: stream(INDEX),
            past: (!resolver.scope().is_now()).then(|| stream(EVENT_INDEX)),
        });
        Self {
            reader: resolver.reader(),
            reverse,
            sources: sources.collect(),
        }
    }

    /// Appends the next `count` keys to `keys`; fewer only at the end.
    pub(super) fn next(&mut self, count: usize, keys: &mut Vec<Vec<u8>>) -> Result<(), KvError> {
        let streams = self.sources.iter().flat_map(Source::streams).count();
        let each_max = (BUFFERED_KEYS_MAX / streams.max(1)).max(1);
        let wanted = keys.len() + count;
        while keys.len() < wanted {
            let Some(key) = self.first((count, each_max))? else {
                break;
            };
            keys.push(key);
        }
        Ok(())
    }

    /// Takes the first key. Streams read `count` keys where they have none, at most `each_max`.
    fn first(&mut self, refill: (usize, usize)) -> Result<Option<Vec<u8>>, KvError> {
        for source in &mut self.sources {
            source.fill(self.reader, refill)?;
        }
        if let [source] = &mut *self.sources
            && source.past.is_none()
        {
            return Ok(source.present.buffer.pop_front());
        }
        let streams = self.sources.iter().flat_map(Source::streams);
        let fronts = streams.filter_map(|stream| stream.buffer.front());
        let first = match self.reverse {
            true => fronts.max(),
            false => fronts.min(),
        };
        let Some(first) = first.cloned() else {
            return Ok(None);
        };
        for source in &mut self.sources {
            let streams = std::iter::once(&mut source.present).chain(&mut source.past);
            for stream in streams.filter(|stream| stream.buffer.front() == Some(&first)) {
                stream.buffer.pop_front();
            }
        }
        Ok(Some(first))
    }
}

/// Returns the part of a range after `after` in the direction of the walk, including `after` if
/// `again` is true.
fn beyond(range: &ClusteringRange, after: &[u8], reverse: bool, again: bool) -> ClusteringRange {
    // No key is between a key and the same key with a zero byte appended.
    let with_zero = || [after, &[0]].concat();
    let mut rest = range.clone();
    if reverse {
        let end = if again { with_zero() } else { after.to_vec() };
        rest.to = Some(
            rest.to
                .map_or_else(|| end.clone(), |to| to.min(end.clone())),
        );
    } else {
        let start = if again { after.to_vec() } else { with_zero() };
        rest.from = rest.from.max(start);
    }
    rest
}

impl Source<'_> {
    fn streams(&self) -> impl Iterator<Item = &Stream> {
        std::iter::once(&self.present).chain(&self.past)
    }

    /// Reads the next keys of each table whose buffer is empty.
    fn fill(&mut self, reader: &dyn Reader, count: (usize, usize)) -> Result<(), KvError> {
        let (partition, present) = (self.partition, &mut self.present);
        let read_on = present.is_used_up();
        if read_on {
            let rest = present.rest.clone();
            present.refill(reader, partition, rest, count)?;
        }
        let Some(past) = &mut self.past else {
            return Ok(());
        };
        // Once a piece of the present is used up, so are the entries of the past within it. The
        // next piece gives the past a further range to read.
        past.ended &= !read_on;
        if past.is_used_up() {
            let mut range = past.rest.clone();
            match (present.ended, past.reverse, &present.rest.to) {
                (false, true, Some(to)) => range.from.clone_from(to),
                (false, false, _) => range.to = Some(present.rest.from.clone()),
                (true, ..) | (false, true, None) => {}
            }
            past.refill(reader, partition, range, count)?;
        }
        Ok(())
    }
}

impl Stream {
    fn is_used_up(&self) -> bool {
        self.buffer.is_empty() && !self.ended
    }

    /// Reads the next keys of `range`, which is the start of the unread range.
    fn refill(
        &mut self,
        reader: &dyn Reader,
        partition: &[u8],
        range: ClusteringRange,
        (count, each_max): (usize, usize),
    ) -> Result<(), KvError> {
        if range.is_empty() {
            self.ended = true;
            return Ok(());
        }
        let count = match (self.is_remote, self.goes_on) {
            (false, _) => count,
            (true, false) => REMOTE_FIRST,
            (true, true) => REMOTE_MORE,
        };
        let count = count.min(each_max);
        self.goes_on = true;
        let request = ScanRequest {
            table: self.table,
            partition,
            range: &range,
            reverse: self.reverse,
        };
        let buffer = &mut self.buffer;
        reader.scan(request, &mut |clustering, _| {
            buffer.push_back(clustering.to_vec());
            if buffer.len() < count {
                Flow::Continue(())
            } else {
                Flow::Break(())
            }
        })?;
        self.ended = self.buffer.len() < count;
        // The next piece begins at the end of this one, even if this one was empty.
        match (self.ended, self.reverse, self.buffer.back()) {
            (true, true, _) => self.rest.to = Some(range.from),
            (true, false, _) => {
                if let Some(to) = range.to {
                    self.rest.from = to;
                }
            }
            (false, reverse, Some(last)) => self.rest = beyond(&self.rest, last, reverse, false),
            (false, _, None) => {}
        }
        Ok(())
    }
}

/// Counts the entries in `range` of `partition` of an index table, up to `most`.
pub(super) fn count(
    reader: &dyn Reader,
    table: TableId,
    partition: &[u8],
    range: &ClusteringRange,
    most: usize,
) -> Result<usize, KvError> {
    let mut counted = 0;
    if most == 0 || range.is_empty() {
        return Ok(0);
    }
    let request = ScanRequest {
        table,
        partition,
        range,
        reverse: false,
    };
    reader.scan(request, &mut |_, _| {
        counted += 1;
        if counted < most {
            Flow::Continue(())
        } else {
            Flow::Break(())
        }
    })?;
    Ok(counted)
}
