//! Index entries of several partitions and tables as one ascending sequence without duplicates.

use std::collections::VecDeque;

use varve_encoding::tables::{EVENT_INDEX, INDEX};
use varve_kv::{ClusteringRange, Flow, KvError, Reader, ScanRequest, TableId};
use varve_model::TemporalScope;

/// How many partitions a merge may have before refills shrink: the bound on what it holds.
const BUFFERED_KEYS_MAX: usize = 16_384;

/// The tables that hold entries of elements at `scope`: the present needs only what is, the past also what was.
pub(super) fn index_tables(scope: TemporalScope) -> &'static [TableId] {
    if scope.is_now() {
        &[INDEX]
    } else {
        &[INDEX, EVENT_INDEX]
    }
}

/// A merge of the clustering keys in one range of several partitions.
pub(super) struct Merge<'a> {
    reader: &'a dyn Reader,
    to: Option<Vec<u8>>,
    streams: Vec<Stream<'a>>,
}

struct Stream<'a> {
    table: TableId,
    partition: &'a [u8],
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
        let streams = index_tables(scope).iter().flat_map(|table| {
            let from = &from;
            partitions.iter().map(move |partition| Stream {
                table: *table,
                partition,
                from: from.clone(),
                buffer: VecDeque::new(),
                ended: false,
            })
        });
        Self {
            reader,
            to: range.to.clone(),
            streams: streams.collect(),
        }
    }

    /// Appends up to `count` next keys to `keys`; fewer only at the end.
    pub(super) fn next(&mut self, count: usize, keys: &mut Vec<Vec<u8>>) -> Result<(), KvError> {
        let per_stream = count
            .min(BUFFERED_KEYS_MAX / self.streams.len().max(1))
            .max(1);
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
        for stream in &mut self.streams {
            if stream.buffer.is_empty() && !stream.ended {
                stream.refill(self.reader, self.to.as_deref(), refill)?;
            }
        }
        let fronts = self
            .streams
            .iter()
            .filter_map(|stream| stream.buffer.front());
        let Some(smallest) = fronts.min().cloned() else {
            return Ok(None);
        };
        for stream in &mut self.streams {
            if stream.buffer.front() == Some(&smallest) {
                stream.buffer.pop_front();
            }
        }
        Ok(Some(smallest))
    }
}

impl Stream<'_> {
    fn refill(
        &mut self,
        reader: &dyn Reader,
        to: Option<&[u8]>,
        count: usize,
    ) -> Result<(), KvError> {
        let range = ClusteringRange {
            from: std::mem::take(&mut self.from),
            to: to.map(<[u8]>::to_vec),
        };
        if range.is_empty() {
            self.ended = true;
            return Ok(());
        }
        let request = ScanRequest {
            table: self.table,
            partition: self.partition,
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
        if let Some(last) = self.buffer.back() {
            self.from.clone_from(last);
            self.from.push(0);
        }
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
