//! Index entries of several partitions and tables as one ascending sequence without duplicates.

use std::collections::VecDeque;

use varve_encoding::tables::{EVENT_INDEX, INDEX};
use varve_kv::{ClusteringRange, Flow, KvError, Reader, ScanRequest, TableId};
use varve_model::TemporalScope;

/// How many partitions a merge may have before refills shrink: the bound on what it holds.
const BUFFERED_KEYS_MAX: usize = 16_384;

/// A merge of the clustering keys in one range of several partitions.
///
/// Entries of the past are read up to where those of the present have been, and after them: a commit moves them from the
/// one to the other, and where a reader has no state of one moment, one that was still to come when the past was read, and
/// gone when the present was, would be missed.
pub(super) struct Merge<'a> {
    reader: &'a dyn Reader,
    to: Option<Vec<u8>>,
    sources: Vec<Source<'a>>,
}

/// One partition.
struct Source<'a> {
    partition: &'a [u8],
    present: Stream,
    /// What was; the present alone does not need it.
    past: Option<Stream>,
}

/// The keys of one table.
struct Stream {
    table: TableId,
    /// Where the next refill starts.
    from: Vec<u8>,
    buffer: VecDeque<Vec<u8>>,
    ended: bool,
}

impl<'a> Merge<'a> {
    /// A merge of `range` in each of `partitions` in the tables for `scope`; it starts right after `after`, or with it
    /// when `again`.
    pub(super) fn new(
        reader: &'a dyn Reader,
        scope: TemporalScope,
        partitions: &'a [Vec<u8>],
        range: &ClusteringRange,
        after: Option<&[u8]>,
        again: bool,
    ) -> Self {
        let mut from = range.from.clone();
        if let Some(after) = after {
            let mut next = after.to_vec();
            if !again {
                next.push(0);
            }
            from = from.max(next);
        }
        let stream = |table| Stream {
            table,
            from: from.clone(),
            buffer: VecDeque::new(),
            ended: false,
        };
        let sources = partitions.iter().map(|partition| Source {
            partition,
            present: stream(INDEX),
            past: (!scope.is_now()).then(|| stream(EVENT_INDEX)),
        });
        Self {
            reader,
            to: range.to.clone(),
            sources: sources.collect(),
        }
    }

    /// Appends up to `count` next keys to `keys`; fewer only at the end.
    pub(super) fn next(&mut self, count: usize, keys: &mut Vec<Vec<u8>>) -> Result<(), KvError> {
        let streams = self.sources.iter().flat_map(Source::streams).count();
        let per_stream = count.min(BUFFERED_KEYS_MAX / streams.max(1)).max(1);
        let wanted = keys.len() + count;
        while keys.len() < wanted {
            let Some(key) = self.smallest(per_stream)? else {
                break;
            };
            keys.push(key);
        }
        Ok(())
    }

    fn smallest(&mut self, refill: usize) -> Result<Option<Vec<u8>>, KvError> {
        for source in &mut self.sources {
            source.fill(self.reader, self.to.as_deref(), refill)?;
        }
        let streams = self.sources.iter().flat_map(Source::streams);
        let fronts = streams.filter_map(|stream| stream.buffer.front());
        let Some(smallest) = fronts.min().cloned() else {
            return Ok(None);
        };
        for source in &mut self.sources {
            let streams = std::iter::once(&mut source.present).chain(&mut source.past);
            for stream in streams.filter(|stream| stream.buffer.front() == Some(&smallest)) {
                stream.buffer.pop_front();
            }
        }
        Ok(Some(smallest))
    }
}

impl Source<'_> {
    fn streams(&self) -> impl Iterator<Item = &Stream> {
        std::iter::once(&self.present).chain(&self.past)
    }

    /// Reads on where all that was read is used up.
    fn fill(
        &mut self,
        reader: &dyn Reader,
        to: Option<&[u8]>,
        count: usize,
    ) -> Result<(), KvError> {
        let (partition, present) = (self.partition, &mut self.present);
        let read_on = present.is_used_up();
        if read_on {
            present.refill(reader, partition, to, count)?;
        }
        let Some(past) = &mut self.past else {
            return Ok(());
        };
        // What the past has up to the end of the last piece of the present has been used up with it.
        past.ended &= !read_on;
        if past.is_used_up() {
            let read_to = (!present.ended).then_some(&*present.from);
            past.refill(reader, partition, read_to.or(to), count)?;
        }
        Ok(())
    }
}

impl Stream {
    fn is_used_up(&self) -> bool {
        self.buffer.is_empty() && !self.ended
    }

    fn refill(
        &mut self,
        reader: &dyn Reader,
        partition: &[u8],
        to: Option<&[u8]>,
        count: usize,
    ) -> Result<(), KvError> {
        let range = ClusteringRange {
            from: self.from.clone(),
            to: to.map(<[u8]>::to_vec),
        };
        if range.is_empty() {
            self.ended = true;
            return Ok(());
        }
        let request = ScanRequest {
            table: self.table,
            partition,
            range: &range,
            reverse: false,
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
        // The end of a piece is where the next one begins, also if there was nothing in it.
        let next = match (range.to, self.buffer.back()) {
            (Some(to), _) if self.ended => to,
            (_, Some(last)) => [last, &[0][..]].concat(),
            (_, None) => return Ok(()),
        };
        self.from = next;
        Ok(())
    }
}

/// How many entries lie in `range` of `partition`, counted up to `most`.
pub(super) fn count(
    reader: &dyn Reader,
    partition: &[u8],
    range: &ClusteringRange,
    most: usize,
) -> Result<usize, KvError> {
    let mut counted = 0;
    if most == 0 || range.is_empty() {
        return Ok(0);
    }
    let request = ScanRequest {
        table: INDEX,
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
