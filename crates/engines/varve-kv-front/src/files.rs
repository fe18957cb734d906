//! Scans of the sorted files below the front tables, through the partition cache.

use varve_kv::{ClusteringRange, Flow, KvError, PartitionRange, Reader, ScanRequest, TableId};

use crate::hash::partition_hash;
use crate::partitions::{Block, Builder, Found, PartitionKey, SpacePartitions, WHOLE_BYTES_MAX};

/// The number of ranges that are looked up together: at first, and at most. A scan may end with the
/// first range.
const FIRST_WINDOW: usize = 4;
const WINDOW_GROWTH: usize = 4;
const WINDOW_MAX: usize = 256;

/// Is called with the number of a range, and clustering key and value of a row of it.
type Visit<'v> = dyn FnMut(usize, &[u8], &[u8]) -> Flow + 'v;

/// The sorted files of a view, and the cache of their partitions.
pub(crate) struct Files<'v> {
    pub(crate) reader: &'v dyn Reader,
    pub(crate) partitions: &'v SpacePartitions,
    /// The generation of the files.
    pub(crate) generation: u64,
}

impl Files<'_> {
    /// As [`Reader::scan`]. `hash` is that of the partition.
    pub(crate) fn scan(
        &self,
        hash: u64,
        request: ScanRequest<'_>,
        visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
    ) -> Result<(), KvError> {
        let ScanRequest {
            table, partition, ..
        } = request;
        let key = PartitionKey {
            table,
            partition,
            hash,
        };
        let rows = match self.partitions.find(self.generation, &key, request.range) {
            Found::Whole(rows) | Found::Range(rows) => Some(rows),
            Found::Unwanted | Found::UnwantedRange => None,
            Found::WantWhole => self.read(&key)?,
            Found::WantRange => self.read_range(&key, request.range)?,
        };
        match rows {
            Some(rows) => {
                let _ = rows.scan(request.range, request.reverse, visit);
                Ok(())
            }
            None => self.reader.scan(request, visit),
        }
    }

    /// Reads a partition from the files and adds it to the cache; `None` if it is large.
    fn read(&self, key: &PartitionKey<'_>) -> Result<Option<Block>, KvError> {
        let all = ClusteringRange::all();
        let whole = self.rows(key, &all, WHOLE_BYTES_MAX)?;
        self.partitions.put(self.generation, key, whole.clone());
        Ok(whole)
    }

    /// Reads a range of a large partition likewise; `None` if the range is large, too.
    fn read_range(
        &self,
        key: &PartitionKey<'_>,
        range: &ClusteringRange,
    ) -> Result<Option<Block>, KvError> {
        let rows = self.rows(key, range, self.partitions.range_bytes_max())?;
        self.partitions
            .put_range(self.generation, key, range, rows.clone());
        Ok(rows)
    }

    fn rows(
        &self,
        key: &PartitionKey<'_>,
        range: &ClusteringRange,
        bytes_max: usize,
    ) -> Result<Option<Block>, KvError> {
        let mut rows = Builder::default();
        let request = ScanRequest {
            table: key.table,
            partition: key.partition,
            range,
            reverse: false,
        };
        self.reader.scan(request, &mut |clustering, value| {
            rows.add(clustering, value, bytes_max)
        })?;
        Ok(rows.take(key, self.partitions.summarize(key.table)))
    }

    /// As [`Reader::scan_many`].
    pub(crate) fn scan_many(
        &self,
        table: TableId,
        ranges: &[PartitionRange<'_>],
        visit: &mut Visit<'_>,
    ) -> Result<(), KvError> {
        let (mut start, mut window) = (0, FIRST_WINDOW);
        while start < ranges.len() {
            let end = (start + window).min(ranges.len());
            self.scan_window(table, &ranges[start..end], &mut |at, clustering, value| {
                visit(start + at, clustering, value)
            })?;
            start = end;
            window = (window * WINDOW_GROWTH).min(WINDOW_MAX);
        }
        Ok(())
    }

    /// As [`Reader::summaries`]: of what is cached. A miss is noted when the rows are read.
    pub(crate) fn summaries(
        &self,
        table: TableId,
        ranges: &[PartitionRange<'_>],
        visit: &mut dyn FnMut(usize, Option<&[u8]>),
    ) {
        for (at, of) in ranges.iter().enumerate() {
            let key = PartitionKey {
                table,
                partition: of.partition,
                hash: partition_hash(table, of.partition),
            };
            let rows = self.partitions.cached(self.generation, &key, of.range);
            visit(at, rows.as_ref().and_then(Block::summary));
        }
    }

    fn scan_window(
        &self,
        table: TableId,
        ranges: &[PartitionRange<'_>],
        visit: &mut Visit<'_>,
    ) -> Result<(), KvError> {
        let keys: Vec<PartitionKey<'_>> = ranges
            .iter()
            .map(|of| PartitionKey {
                table,
                partition: of.partition,
                hash: partition_hash(table, of.partition),
            })
            .collect();
        let mut wanted = Vec::new();
        // Several ranges of one partition follow each other. What is not cached is read once.
        let mut found: Vec<Found> = Vec::with_capacity(keys.len());
        for (at, key) in keys.iter().enumerate() {
            let before = found
                .last()
                .filter(|_| keys[at - 1].partition == key.partition);
            found.push(match before {
                Some(Found::Whole(rows)) => Found::Whole(rows.clone()),
                Some(Found::WantWhole) => Found::WantWhole,
                Some(Found::Unwanted) => Found::Unwanted,
                _ => {
                    let found = self.partitions.find(self.generation, key, ranges[at].range);
                    if matches!(found, Found::WantWhole) {
                        wanted.push(at);
                    }
                    found
                }
            });
        }
        let read = self.read_each(&keys, &wanted)?;
        let mut read = wanted.iter().zip(read).peekable();
        let mut last = None;
        let mut at = 0;
        while at < ranges.len() {
            if let Some((_, block)) = read.next_if(|(wanted, _)| **wanted == at) {
                last = block;
            }
            let rows = match &found[at] {
                Found::Whole(rows) | Found::Range(rows) => Some(rows.clone()),
                Found::WantWhole => last.clone(),
                Found::WantRange => self.read_range(&keys[at], ranges[at].range)?,
                Found::Unwanted | Found::UnwantedRange => None,
            };
            if let Some(rows) = rows {
                let visit = &mut |clustering: &[u8], value: &[u8]| visit(at, clustering, value);
                let _ = rows.scan(ranges[at].range, false, visit);
                at += 1;
                continue;
            }
            // This one, and those up to the next that may be cached.
            let plain = |found: &&Found| matches!(found, Found::Unwanted | Found::UnwantedRange);
            let end = at + 1 + found[at + 1..].iter().take_while(plain).count();
            self.reader
                .scan_many(table, &ranges[at..end], &mut |number, clustering, value| {
                    visit(at + number, clustering, value)
                })?;
            at = end;
        }
        Ok(())
    }

    /// Reads the partitions with the numbers `wanted` from the files, and adds them to the cache;
    /// `None` for each that is large.
    fn read_each(
        &self,
        keys: &[PartitionKey<'_>],
        wanted: &[usize],
    ) -> Result<Vec<Option<Block>>, KvError> {
        let mut blocks = Vec::with_capacity(wanted.len());
        let Some(first) = wanted.first() else {
            return Ok(blocks);
        };
        let all = ClusteringRange::all();
        let whole = |at: &usize| PartitionRange {
            partition: keys[*at].partition,
            range: &all,
        };
        let ranges: Vec<PartitionRange<'_>> = wanted.iter().map(whole).collect();
        let mut rows = Builder::default();
        let summarize = self.partitions.summarize(keys[*first].table);
        let mut finish = |rows: &mut Builder| {
            let key = &keys[wanted[blocks.len()]];
            let block = rows.take(key, summarize);
            self.partitions.put(self.generation, key, block.clone());
            blocks.push(block);
            blocks.len()
        };
        let mut done = 0;
        self.reader.scan_many(
            keys[*first].table,
            &ranges,
            &mut |number, clustering, value| {
                while done < number {
                    done = finish(&mut rows);
                }
                rows.add(clustering, value, WHOLE_BYTES_MAX)
            },
        )?;
        while done < wanted.len() {
            done = finish(&mut rows);
        }
        Ok(blocks)
    }
}
