//! Measures a vertex with very many edges on a cluster, as the graph stores them: each edge is a
//! row of realistic size on either side, in batches of 500. Prints the rate of inserts while the
//! vertex grows, the time for reading its first 100 edges, the time of a point read of an edge, and
//! the number of its partitions.
//!
//! `hub HOST:PORT EDGES PARTITION_MIB`; `scripts/cassandra/hub.sh` starts a node for it and prints
//! the sizes of its partitions.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use varve_kv::{
    Batch, ClusteringRange, Durability, Engine, Flow, ReaderExt, ScanRequest, Space, TableId,
    TableSpec,
};
use varve_kv_cassandra::{CassandraConfig, CassandraEngine};
use varve_kv_parted::{PartOptions, PartRule, PartedEngine};

const EDGE: TableId = TableId(0);
/// Vertex ids are a byte and a number.
static TABLES: &[TableSpec] = &[TableSpec {
    name: "edge",
    partition_len: |key| (key.len() >= 9).then_some(9),
    point_reads: false,
    probed: None,
    cold: false,
}];
const BATCH: u64 = 500;
const STEP: u64 = 100_000;
const PAGE: usize = 100;
const READS: u64 = 21;
const VALUE_BYTES: usize = 60;

fn vertex(number: u64) -> [u8; 9] {
    let [a, b, c, d, e, f, g, h] = (number ^ (1 << 63)).to_be_bytes();
    [0x10, a, b, c, d, e, f, g, h]
}

/// An edge's clustering key: direction, label, no sort values, the other vertex.
fn edge(direction: u8, other: u64) -> Vec<u8> {
    [&[direction, 1, 0, 0][..], &vertex(other)].concat()
}

/// Each target occurs once, in no order.
fn target(number: u64) -> u64 {
    1 + (number * 7_919) % 100_000_007
}

fn add(space: &dyn Space, from: u64, to: u64) -> Result<(), Box<dyn Error>> {
    let value = [7; VALUE_BYTES];
    for first in (from..to).step_by(500) {
        let mut batch = Batch::new();
        for number in first..(first + BATCH).min(to) {
            let target = target(number);
            batch.put(EDGE, &vertex(0), &edge(1, target), &value);
            batch.put(EDGE, &vertex(target), &edge(2, 0), &value);
        }
        space.write(&batch, Durability::Sync)?;
    }
    Ok(())
}

fn first_page(space: &dyn Space) -> Result<usize, Box<dyn Error>> {
    let mut found = 0;
    let request = ScanRequest {
        table: EDGE,
        partition: &vertex(0),
        range: &ClusteringRange::prefix(&[1]),
        reverse: false,
    };
    space.scan(request, &mut |_, _| {
        found += 1;
        match found < PAGE {
            true => Flow::Continue(()),
            false => Flow::Break(()),
        }
    })?;
    Ok(found)
}

/// The median and the maximum of several calls, in milliseconds.
fn timed(
    mut call: impl FnMut(u64) -> Result<(), Box<dyn Error>>,
) -> Result<(f64, f64), Box<dyn Error>> {
    let mut times = Vec::new();
    for number in 0..READS {
        let began = Instant::now();
        call(number)?;
        times.push(1000.0 * began.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    Ok((times[times.len() / 2], times[times.len() - 1]))
}

fn partitions(space: &dyn Space) -> u64 {
    let statistics = space.statistics();
    let of = statistics
        .iter()
        .find(|of| of.name == "parted_partition_parts");
    of.map_or(1, |of| (of.value as u64).max(1))
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, edges, mib] = arguments.as_slice() else {
        return Err("hub HOST:PORT EDGES PARTITION_MIB".into());
    };
    let edges: u64 = edges.parse()?;
    let mut config = CassandraConfig::new(address);
    config.keyspace = "hub".to_owned();
    config.request_timeout = Duration::from_secs(30);
    config.lease = Duration::from_secs(60);
    let rule = PartRule {
        table: "edge",
        together: |clustering| Some(clustering),
        of_prefix: |_| None,
    };
    let options = PartOptions {
        bytes_max: mib.parse::<u64>()? << 20,
    };
    let engine = PartedEngine::new(
        Arc::new(CassandraEngine::connect(config)?),
        &[rule],
        options,
    );
    let space = engine.open("hub", TABLES, true)?;
    println!(
        "    edges  edges/s  first {PAGE} of them, ms: median    most  one of them, ms: median    most  partitions"
    );
    for from in (0..edges).step_by(100_000) {
        let to = (from + STEP).min(edges);
        let began = Instant::now();
        add(&*space, from, to)?;
        let rate = (to - from) as f64 / began.elapsed().as_secs_f64();
        let page = timed(|_| match first_page(&*space)? {
            PAGE => Ok(()),
            found => Err(format!("{found} edges in a page").into()),
        })?;
        let one = timed(|number| {
            let known = target(number * (to / READS));
            let found = space.get(EDGE, &vertex(0), &edge(1, known))?;
            found
                .map(drop)
                .ok_or_else(|| format!("no edge to {known}").into())
        })?;
        println!(
            "{to:>9} {rate:>8.0} {:>31.1} {:>7.1} {:>24.1} {:>7.1} {:>11}",
            page.0,
            page.1,
            one.0,
            one.1,
            partitions(&*space)
        );
    }
    let began = Instant::now();
    let mut found = 0_u64;
    let all = ClusteringRange::all();
    let vertex = vertex(0);
    let request = ScanRequest {
        table: EDGE,
        partition: &vertex,
        range: &all,
        reverse: false,
    };
    space.scan(request, &mut |_, _| {
        found += 1;
        Flow::Continue(())
    })?;
    println!(
        "all of them, {found}, are read in {:.1} s",
        began.elapsed().as_secs_f64()
    );
    Ok(())
}
