//! Inserts two million rows into one partition and shows what each of the next 200,000 cost of the processor's time: it
//! must stay flat.
//!
//! `cargo run --release -p varve-kv-front --example hub`

use std::error::Error;

use rustix::time::{ClockId, clock_gettime};
use varve_kv::{Batch, Durability, Engine, TableId, TableSpec};
use varve_kv_front::{FrontMemoryEngine, FrontOptions};

static TABLES: &[TableSpec] = &[TableSpec {
    name: "edges",
    partition_len: |key| (!key.is_empty()).then_some(1),
    point_reads: false,
    probed: None,
    cold: false,
}];

fn cpu_nanos() -> i64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

fn main() -> Result<(), Box<dyn Error>> {
    let dir = tempfile::tempdir()?;
    let options = FrontOptions {
        table_bytes: usize::MAX,
        ..FrontOptions::default()
    };
    let engine = FrontMemoryEngine::new(dir.path(), options);
    let space = engine.open("hub", TABLES, true)?;
    let mut started = cpu_nanos();
    for step in 0..4_000u64 {
        let mut batch = Batch::new();
        for n in step * 500..(step + 1) * 500 {
            let key = n.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes();
            batch.put(TableId(0), b"h", &key, &[0; 40]);
        }
        space.write(&batch, Durability::Buffered)?;
        if step % 400 == 399 {
            let nanos = (cpu_nanos() - started) / 200_000;
            println!(
                "{:9} rows: {nanos} ns for each of the last 200,000",
                (step + 1) * 500
            );
            started = cpu_nanos();
        }
    }
    std::process::exit(0);
}
