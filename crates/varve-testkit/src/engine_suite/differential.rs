//! Random work on an engine and on a sorted map, which must agree on every answer.

use std::collections::BTreeMap;
use std::sync::Arc;

use varve_kv::{
    Batch, ClusteringRange, Durability, Engine, Flow, PartitionRange, Reader, ReaderExt, Space,
    TableId, has_snapshots, state_of,
};

use super::tables::{
    COLD, NAMED, POINTS, SINGLE, TABLES, all_rows, cold, named, point, rows, summarized,
};
use crate::Random;

const SEEDS: std::ops::Range<u64> = 0..6;
const STEPS: usize = 250;
/// Bytes of clustering keys: few, so that keys collide and have common prefixes.
const BYTES: [u8; 5] = [0x00, 0x01, b'a', 0xFE, 0xFF];

type Key = (TableId, Vec<u8>, Vec<u8>);
type Model = BTreeMap<Key, Vec<u8>>;

/// Random puts, deletes, prefix deletes, snapshots, compactions and reopenings, then every kind of
/// read. `VARVE_SEED=<number>` runs one other seed.
pub fn random_work_agrees_with_a_sorted_map(engine: &dyn Engine) {
    let given = std::env::var("VARVE_SEED").ok();
    let seeds = match given.and_then(|seed| seed.parse::<u64>().ok()) {
        Some(seed) => seed..seed + 1,
        None => SEEDS,
    };
    for seed in seeds {
        // Shown only if the test fails.
        println!("seed {seed}: run it alone with VARVE_SEED={seed}");
        let mut run = Run {
            random: Random::new(seed),
            engine,
            name: format!("random_{seed}"),
            space: None,
            model: Model::new(),
            snapshots: Vec::new(),
        };
        for _ in 0..STEPS {
            run.step();
        }
    }
}

struct Run<'a> {
    random: Random,
    engine: &'a dyn Engine,
    name: String,
    space: Option<Arc<dyn Space>>,
    model: Model,
    snapshots: Vec<(Arc<dyn Reader>, Model)>,
}

impl Run<'_> {
    fn step(&mut self) {
        let space = match self.space.take() {
            Some(space) => space,
            None => self.engine.open(&self.name, TABLES, true).unwrap(),
        };
        match self.random.below(40) {
            0 => space.compact().unwrap(),
            1 => space.sync().unwrap(),
            2 => {
                // Closes the space: the next step opens it again.
                self.snapshots.clear();
                drop(space);
                return;
            }
            3..6 => {
                let snapshot = state_of(&space);
                self.snapshots.push((snapshot, self.model.clone()));
                if self.snapshots.len() > 4 {
                    let at = self.random.below(self.snapshots.len());
                    self.snapshots.swap_remove(at);
                }
            }
            6..24 => self.write(&*space),
            _ => {
                check(&mut self.random, &*space, &self.model);
                let states = has_snapshots(&space);
                for (snapshot, then) in &self.snapshots {
                    let model = if states { then } else { &self.model };
                    check(&mut self.random, &**snapshot, model);
                }
            }
        }
        self.space = Some(space);
    }

    fn write(&mut self, space: &dyn Space) {
        let mut batch = Batch::new();
        for _ in 0..self.random.below(30) {
            let (table, partition, clustering) = key(&mut self.random);
            match self.random.below(12) {
                0..8 => {
                    let length = self.random.below(20);
                    let value = self.random.bytes(length);
                    batch.put(table, &partition, &clustering, &value);
                    self.model.insert((table, partition, clustering), value);
                }
                8..11 => {
                    batch.delete(table, &partition, &clustering);
                    self.model.remove(&(table, partition, clustering));
                }
                _ => {
                    batch.delete_prefix(table, &partition, &clustering);
                    self.model.retain(|(t, p, c), _| {
                        (*t, p) != (table, &partition) || !c.starts_with(&clustering)
                    });
                }
            }
        }
        let durability = if self.random.one_in(10) {
            Durability::Sync
        } else {
            Durability::Buffered
        };
        space.write(&batch, durability).unwrap();
    }
}

fn clustering(random: &mut Random) -> Vec<u8> {
    (0..random.below(4)).map(|_| *random.pick(&BYTES)).collect()
}

fn key(random: &mut Random) -> Key {
    let table = *random.pick(&[POINTS, NAMED, COLD, SINGLE]);
    (table, partition(random, table), clustering(random))
}

fn partition(random: &mut Random, table: TableId) -> Vec<u8> {
    let n = random.below(6);
    let text = &b"\xFF\xFFaaa"[..n.min(5)];
    match table {
        POINTS => point([0, 1, 0xFF, 0x100, u64::MAX - 1, u64::MAX][n]),
        NAMED => named(text),
        COLD => cold(text),
        _ => vec![],
    }
}

fn range(random: &mut Random) -> ClusteringRange {
    match random.below(4) {
        0 => ClusteringRange::all(),
        1 => ClusteringRange::prefix(&clustering(random)),
        2 => ClusteringRange {
            from: clustering(random),
            to: None,
        },
        _ => ClusteringRange {
            from: clustering(random),
            to: Some(clustering(random)),
        },
    }
}

fn expected(
    model: &Model,
    table: TableId,
    partition: &[u8],
    range: &ClusteringRange,
) -> Vec<(Vec<u8>, Vec<u8>)> {
    model
        .iter()
        .filter(|((t, p, c), _)| *t == table && p == partition && range.contains(c))
        .map(|((_, _, c), value)| (c.clone(), value.clone()))
        .collect()
}

fn check<R: Reader + ?Sized>(random: &mut Random, reader: &R, model: &Model) {
    let (table, one, clustering) = key(random);
    let range = range(random);
    let got = reader.get(table, &one, &clustering).unwrap();
    assert_eq!(
        got.as_ref(),
        model.get(&(table, one.clone(), clustering.clone()))
    );
    let known_absent = reader.is_known_absent(table, &one, &clustering);
    assert!(!known_absent || got.is_none());
    for reverse in [false, true] {
        let mut got = rows(reader, table, &one, &range, reverse);
        if reverse {
            got.reverse();
        }
        assert_eq!(got, expected(model, table, &one, &range));
    }
    check_many(random, reader, model, table, &range);
    check_table(random, reader, model, table);
}

fn check_many<R: Reader + ?Sized>(
    random: &mut Random,
    reader: &R,
    model: &Model,
    table: TableId,
    range: &ClusteringRange,
) {
    let partitions: Vec<Vec<u8>> = (0..random.below(8))
        .map(|_| partition(random, table))
        .collect();
    let slices: Vec<&[u8]> = partitions.iter().map(Vec::as_slice).collect();
    let mut got = Vec::new();
    reader
        .scan_many(
            table,
            &PartitionRange::of_each(&slices, range),
            &mut |at, clustering, value| {
                got.push((at, (clustering.to_vec(), value.to_vec())));
                Flow::Continue(())
            },
        )
        .unwrap();
    let many = |(at, partition): (usize, &Vec<u8>)| {
        let rows = expected(model, table, partition, range);
        rows.into_iter()
            .map(move |row| (at, row))
            .collect::<Vec<_>>()
    };
    let all: Vec<_> = partitions.iter().enumerate().flat_map(many).collect();
    assert_eq!(got, all);

    // "of all rows of the range, and perhaps of others of the partition", in the order given, and
    // only of tables that have summaries.
    let mut next = 0;
    let ranges = PartitionRange::of_each(&slices, range);
    let visit = &mut |at: usize, summary: Option<&[u8]>| {
        assert_eq!(at, std::mem::replace(&mut next, at + 1));
        let Some(summary) = summary else { return };
        assert_eq!(table, NAMED);
        let of = summarized(&partitions[at], summary);
        let in_range = of.into_iter().filter(|(key, _)| range.contains(key));
        let wanted = expected(model, table, &partitions[at], range);
        assert_eq!(in_range.collect::<Vec<_>>(), wanted);
    };
    reader.summaries(table, &ranges, visit).unwrap();
    assert_eq!(next, ranges.len());

    let clusterings: Vec<Vec<u8>> = slices.iter().map(|_| clustering(random)).collect();
    let keys: Vec<(&[u8], &[u8])> = slices
        .iter()
        .zip(&clusterings)
        .map(|(partition, clustering)| (*partition, &clustering[..]))
        .collect();
    let got = reader.multi_get(table, &keys).unwrap();
    assert_eq!(got.len(), keys.len());
    let mut each = vec![None; keys.len()];
    let mut show = |at: usize, value: &[u8]| each[at] = Some(value.to_vec());
    reader.get_each(table, &keys, &mut show).unwrap();
    assert_eq!(each, got);
    for ((partition, clustering), got) in keys.iter().zip(got) {
        let key = (table, partition.to_vec(), clustering.to_vec());
        assert_eq!(got.as_ref(), model.get(&key));
    }
}

fn check_table<R: Reader + ?Sized>(random: &mut Random, reader: &R, model: &Model, table: TableId) {
    let got = all_rows(reader, table, None);
    let mut sorted = got.clone();
    sorted.sort();
    let all: Vec<_> = model
        .iter()
        .filter(|((t, _, _), _)| *t == table)
        .map(|((_, p, c), value)| (p.clone(), c.clone(), value.clone()))
        .collect();
    assert_eq!(sorted, all);
    if !got.is_empty() {
        let at = random.below(got.len());
        let rest = all_rows(reader, table, Some((&got[at].0, &got[at].1)));
        assert_eq!(rest, got[at + 1..]);
    }
}
