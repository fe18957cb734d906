//! Compares a front table with a simple model of its writes. Lists are so small that every form of
//! them occurs.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::atomic::AtomicBool;

use varve_kv::Batch;
use varve_testkit::Random;

use super::*;
use crate::list::Span;
use crate::record;

const TABLE: TableId = TableId(1);
const HUB: &[u8] = b"hub";

/// Applies and publishes a batch; returns the number of blocks afterwards.
fn write(table: &Table, batch: &Batch) -> u32 {
    table.apply(record::batch(batch.bytes()), &mut Scratch::default());
    table.publish();
    table.published()
}

fn batch(fill: impl FnOnce(&mut Batch)) -> Batch {
    let mut batch = Batch::new();
    fill(&mut batch);
    batch
}

fn value(answer: Answer<'_>) -> Option<Option<Vec<u8>>> {
    match answer {
        Answer::Value(value) => Some(Some(value.to_vec())),
        Answer::Deleted => Some(None),
        Answer::Nothing => None,
    }
}

fn find(table: &Table, partition: &[u8], key: &[u8], visible: u32) -> Option<Option<Vec<u8>>> {
    let hash = partition_hash(TABLE, partition);
    value(table.find(hash, TABLE, partition, key, visible))
}

fn everything(reverse: bool) -> Span<'static> {
    Span {
        from: Bound::Unbounded,
        to: Bound::Unbounded,
        reverse,
    }
}

/// Key and value of a row; no value if it was deleted.
type FoundRow = (Vec<u8>, Option<Vec<u8>>);
/// The block in which a version was written, its number among all writes, and its value.
type Version = (u32, u64, Option<Vec<u8>>);

/// Returns key and value of each row, and whether there may be more. Checks that the result is the
/// same if the partition is read together with others.
fn collect(table: &Table, span: Span<'_>, visible: u32, limit: usize) -> (Vec<FoundRow>, bool) {
    let request = |partition| PartitionSpan {
        hash: partition_hash(TABLE, partition),
        table: TABLE,
        partition,
        span,
    };
    let row = |(_, op): &Placed<'_>| {
        let value = (op.kind == OpKind::Put).then(|| op.value.to_vec());
        (op.clustering().to_vec(), value)
    };
    let requests = [request(HUB), request(b"nobody"), request(HUB)];
    let mut together = Vec::new();
    let each = table.collect_each(&requests, visible, limit, &mut together);
    let (mut alone, of_hub) = (Vec::new(), request(HUB));
    let more = table.collect(&of_hub, visible, limit, &mut alone);
    let alone: Vec<FoundRow> = alone.iter().map(row).collect();
    for (number, (rows, may_be_more)) in each.into_iter().enumerate() {
        let rows: Vec<FoundRow> = together[rows].iter().map(row).collect();
        match number {
            1 => assert_eq!((rows, may_be_more), (Vec::new(), false)),
            _ => assert_eq!((rows, may_be_more), (alone.clone(), more)),
        }
    }
    (alone, more)
}

/// The writes to the hub: by key, and the prefix deletes; each with its block and its number among
/// all writes.
#[derive(Default)]
struct Model {
    rows: BTreeMap<Vec<u8>, Vec<Version>>,
    deletes: Vec<(u32, u64, Vec<u8>)>,
    written: u64,
}

impl Model {
    /// Returns the newest version before block `visible`, and its number.
    fn newest(&self, key: &[u8], visible: u32) -> Option<(u64, Option<Vec<u8>>)> {
        let versions = self.rows.get(key)?;
        let seen = versions.iter().rev().find(|(block, ..)| *block < visible)?;
        Some((seen.1, seen.2.clone()))
    }

    fn find(&self, key: &[u8], visible: u32) -> Option<Option<Vec<u8>>> {
        let covers =
            |(block, _, prefix): &&(u32, u64, Vec<u8>)| *block < visible && key.starts_with(prefix);
        let cover = self.deletes.iter().rev().find(covers);
        match (self.newest(key, visible), cover) {
            (Some((number, value)), cover) if cover.is_none_or(|cover| cover.1 < number) => {
                Some(value)
            }
            (_, Some(_)) => Some(None),
            _ => None,
        }
    }

    fn collect(&self, span: Span<'_>, visible: u32) -> Vec<FoundRow> {
        let bounds = (span.from, span.to);
        let rows = self.rows.range::<[u8], _>(bounds);
        let mut rows: Vec<_> = rows
            .filter_map(|(key, _)| Some((key.clone(), self.newest(key, visible)?.1)))
            .collect();
        if span.reverse {
            rows.reverse();
        }
        rows
    }
}

/// Returns keys of several shapes: with a long common prefix or none, different in their first or
/// last bytes, or one a prefix of the other.
fn key(random: &mut Random, shape: usize, step: usize) -> Vec<u8> {
    match shape {
        0 => random.bytes(8),
        1 => [&b"all of them begin like this"[..], &random.bytes(1)].concat(),
        // Different only after the head.
        2 => [
            &[b'a' + random.below(3) as u8][..],
            &[0; 18],
            &random.bytes(1),
        ]
        .concat(),
        3 => vec![*random.pick(&[0, 7, 255]); random.below(40)],
        // Ascending, with some earlier ones.
        4 => (step + random.below(4)).to_be_bytes().to_vec(),
        // The common prefix becomes ever shorter.
        _ => {
            let same = 20usize.saturating_sub(step / 20);
            let after = random.bytes(2);
            [&b"twenty bytes of text"[..same], &after].concat()
        }
    }
}

fn write_some(random: &mut Random, shape: usize, step: usize, table: &Table, model: &mut Model) {
    let block = table.published();
    let rows = match random.below(8) {
        0 => 60,
        1 => 20,
        _ => 1 + random.below(3),
    };
    let filled = batch(|batch| {
        for _ in 0..rows {
            let key = key(random, shape, step);
            model.written += 1;
            let number = model.written;
            if random.one_in(60) {
                let prefix = &key[..key.len() / 2];
                batch.delete_prefix(TABLE, HUB, prefix);
                model.deletes.push((block, number, prefix.to_vec()));
                continue;
            }
            let value = (!random.one_in(6)).then(|| number.to_le_bytes().to_vec());
            match &value {
                Some(value) => {
                    batch.put(TABLE, HUB, &key, value);
                }
                None => batch.delete(TABLE, HUB, &key),
            }
            model
                .rows
                .entry(key)
                .or_default()
                .push((block, number, value));
            // Other partitions, in the same shard or not.
            batch.put(TABLE, &random.bytes(1), b"", b"");
        }
    });
    write(table, &filled);
}

fn check_reads(random: &mut Random, shape: usize, step: usize, table: &Table, model: &Model) {
    let published = table.published();
    let visible = match random.below(3) {
        0 => published,
        1 => published.saturating_sub(random.below(4) as u32),
        _ => random.below(published as usize + 1) as u32,
    };
    if random.one_in(2) {
        for _ in 0..4 {
            let key = match random.one_in(2) {
                true => key(random, shape, step),
                false => {
                    let keys: Vec<_> = model.rows.keys().collect();
                    keys.get(random.below(keys.len().max(1)))
                        .map_or(Vec::new(), |key| (*key).clone())
                }
            };
            assert_eq!(find(table, HUB, &key, visible), model.find(&key, visible));
        }
        return;
    }
    let mut ends = [key(random, shape, step), key(random, shape, step)];
    ends.sort();
    let bound = |random: &mut Random, key| match random.below(3) {
        0 => Bound::Unbounded,
        1 => Bound::Included(key),
        _ => Bound::Excluded(key),
    };
    let span = Span {
        from: bound(random, &ends[0][..]),
        to: bound(random, &ends[1][..]),
        reverse: random.one_in(2),
    };
    if matches!((span.from, span.to), (Bound::Excluded(a), Bound::Excluded(b)) if a == b) {
        // The model's map does not accept it.
        return;
    }
    let expected = model.collect(span, visible);
    let limit = *random.pick(&[1, 3, 10, 1_000_000]);
    let (found, more) = collect(table, span, visible, limit);
    assert_eq!(found, expected[..limit.min(expected.len())]);
    assert!(
        more || expected.len() <= limit,
        "there are more than {limit}"
    );
}

/// Writes in this number of steps, reads once in `reads` steps on average, and reads everything at
/// the end.
fn check_history(seed: u64, steps: usize, reads: usize) {
    let random = &mut Random::new(seed);
    let (table, mut model) = (Table::new(0), Model::default());
    let shape = (seed % 6) as usize;
    for step in 0..steps {
        write_some(random, shape, step, &table, &mut model);
        if random.one_in(reads) {
            check_reads(random, shape, step, &table, &model);
        }
    }
    for visible in [table.published() / 2, table.published()] {
        for reverse in [false, true] {
            let span = everything(reverse);
            assert_eq!(
                collect(&table, span, visible, usize::MAX / 2).0,
                model.collect(span, visible),
                "seed {seed}"
            );
        }
    }
}

#[test]
fn any_mix_of_writes_and_reads_is_as_in_the_model() {
    for seed in 0..96 {
        // From a read after every write to very few reads.
        check_history(seed, 300, [1, 2, 10, 60][seed as usize / 6 % 4]);
    }
}

#[test]
fn any_mix_in_a_small_partition_is_as_in_the_model() {
    for seed in 0..4_000 {
        check_history(seed, 10, [1, 2, 4, 20][seed as usize / 6 % 4]);
    }
}

#[test]
fn nobody_can_choose_keys_of_one_hash() {
    let unseeded = xxhash_rust::xxh3::xxh3_64(b"a partition");
    assert_ne!(super::partition_hash(TableId(0), b"a partition"), unseeded);
}

#[test]
fn who_sees_nothing_of_the_tail_folds_nothing() {
    let table = Table::new(0);
    let first = batch(|batch| {
        for n in 0..10u8 {
            batch.put(TABLE, HUB, &[n], b"old");
        }
    });
    let seen = write(&table, &first);
    assert_eq!(find(&table, HUB, &[3], seen), Some(Some(b"old".to_vec())));
    let second = batch(|batch| {
        for n in 0..100u8 {
            batch.put(TABLE, HUB, &[n], b"new");
        }
    });
    let both = write(&table, &second);
    let hash = partition_hash(TABLE, HUB);
    let unsorted = |visible| {
        let shard = table.shards[shard_of(hash)].read();
        let known = shard.partitions.find(hash, |known| known.hash == hash);
        known.unwrap().rows.must_fold(visible, 0)
    };
    assert!(unsorted(both) && !unsorted(seen));
    assert_eq!(find(&table, HUB, &[3], seen), Some(Some(b"old".to_vec())));
    assert_eq!(find(&table, HUB, &[30], seen), None);
    assert_eq!(collect(&table, everything(true), seen, 1_000).0.len(), 10);
    assert!(unsorted(both));
    assert_eq!(find(&table, HUB, &[3], both), Some(Some(b"new".to_vec())));
    assert!(!unsorted(both));
    assert_eq!(find(&table, HUB, &[3], seen), Some(Some(b"old".to_vec())));
    assert_eq!(collect(&table, everything(true), both, 1_000).0.len(), 100);
}

#[test]
fn readers_beside_a_writer_see_every_batch_wholly() {
    const BATCHES: u32 = 400;
    const ROWS: u32 = 25;
    let table = Table::new(0);
    let done = AtomicBool::new(false);
    // Each batch writes the rows of one number, which are spread over the whole partition.
    let key = |number: u32, row: u32| ((row * 7919) ^ number).to_be_bytes();
    std::thread::scope(|scope| {
        for reader in 0..3 {
            let (table, done) = (&table, &done);
            scope.spawn(move || {
                let random = &mut Random::new(reader);
                let mut last = false;
                while !last {
                    last = done.load(Ordering::Acquire);
                    let visible = table.published();
                    let (rows, _) =
                        collect(table, everything(reader == 1), visible, usize::MAX / 2);
                    let keys: BTreeSet<&Vec<u8>> = rows.iter().map(|row| &row.0).collect();
                    assert_eq!(keys.len(), rows.len());
                    assert_eq!(rows.len(), (visible * ROWS) as usize);
                    if visible > 0 {
                        let number = random.below(visible as usize) as u32;
                        let key = key(number, random.below(ROWS as usize) as u32);
                        assert!(find(table, HUB, &key, visible).is_some());
                        assert!(find(table, HUB, &key, number).is_none());
                    }
                }
            });
        }
        for number in 0..BATCHES {
            let filled = batch(|batch| {
                for row in 0..ROWS {
                    batch.put(TABLE, HUB, &key(number, row), b"");
                }
            });
            write(&table, &filled);
        }
        done.store(true, Ordering::Release);
    });
}

#[test]
fn a_flush_visits_the_newest_of_each_row_in_order() {
    const OTHER: TableId = TableId(0);
    let (table, mut random) = (Table::new(0), Random::new(5));
    let mut model: [BTreeMap<Vec<u8>, Option<Vec<u8>>>; 2] = Default::default();
    // So many rows that a run reserves memory for all remaining ones; some are written repeatedly.
    for number in 0..60u64 {
        let batch = batch(|batch| {
            for _ in 0..500 {
                let id = if random.one_in(2) { OTHER } else { TABLE };
                let key = random.below(8_000).to_be_bytes();
                let value = number.to_be_bytes().to_vec();
                let value = (!random.one_in(10)).then_some(value);
                match &value {
                    Some(value) => {
                        batch.put(id, HUB, &key, value);
                    }
                    None => batch.delete(id, HUB, &key),
                }
                model[usize::from(id.0)].insert([HUB, &key].concat(), value);
            }
        });
        write(&table, &batch);
    }
    assert_eq!(table.operations(), 30_000);
    let runs = crate::sorted::Run::of_all_tables(&table.arena, 2, table.operations());
    for (run, model) in runs.iter().zip(model) {
        let mut found = Vec::new();
        run.visit_newest(&table, |row| {
            found.push((row.key.to_vec(), row.value.map(<[u8]>::to_vec)));
            Ok::<_, ()>(())
        })
        .expect("no error");
        assert!(found.len() > 5_000);
        assert_eq!(found, model.into_iter().collect::<Vec<_>>());
    }
}
