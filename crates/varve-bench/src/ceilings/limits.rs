//! Measures Varve against its ceilings, in one run: the engine alone fed the same bytes in the same batches, and the
//! bare HTTP server that takes the same requests and answers the same bytes.
//!
//! Wall-clock rates on shared machines say little, so each row also has the CPU time of the process measured; the
//! ratios are what counts.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use varve_encoding::tables::TABLES;
use varve_kv::{Batch, Durability, Engine, Space};
use varve_kv_rocksdb::{RocksConfig, RocksEngine};

use super::client::{Measured, closed_loop, once};
use super::scenario::{Kind, Scenario};
use super::server::Child;
use super::{cpu, recording, scenario, server, workload};

/// Work done and CPU time used for it.
struct Cost {
    items: u64,
    elapsed: Duration,
    cpu: Duration,
}

impl Cost {
    fn rate(&self) -> f64 {
        self.items as f64 / self.elapsed.as_secs_f64().max(1e-9)
    }

    fn cpu_micros(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / (self.items as f64).max(1.0)
    }
}

/// Runs every scenario and prints the table.
pub(crate) fn run(varve: &Path, durability: &str, percent: usize) -> Result<()> {
    let scenarios = Scenario::all(percent);
    eprintln!("recording the engine's batches …");
    let recorded = record(&scenarios)?;
    let data = tempfile::tempdir()?;
    let server = Child::varve(varve, data.path(), durability)?;
    setup(server.address)?;
    let rocks_dir = tempfile::tempdir()?;
    let engine = RocksEngine::open(&RocksConfig::new(rocks_dir.path()))?;
    let space = engine.open("ceiling", TABLES, true)?;
    println!(
        "durability {durability}; items a second (wall), CPU µs an item; server with client beside it"
    );
    println!(
        "| scenario | conns | varve items/s | p50 ms | p99 ms | varve CPU µs | engine items/s | engine CPU µs | bare HTTP items/s | bare CPU µs | varve ÷ engine (wall) | varve ÷ bare (wall) | CPU (engine + bare) ÷ varve |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    for (scenario, batches) in scenarios.iter().zip(&recorded) {
        let (cost, measured) = on_server(&server, scenario)?;
        let engine = on_engine(&space, scenario, batches, durability)?;
        let bare = on_bare(server.address, scenario)?;
        let ceiling = engine.cpu_micros() + bare.cpu_micros();
        println!(
            "| {} | {} | {:.0} | {:.2} | {:.2} | {:.1} | {:.0} | {:.1} | {:.0} | {:.1} | {:.2} | {:.2} | {:.2} |",
            scenario.name,
            scenario.connections,
            cost.rate(),
            measured.p50.as_secs_f64() * 1e3,
            measured.p99.as_secs_f64() * 1e3,
            cost.cpu_micros(),
            engine.rate(),
            engine.cpu_micros(),
            bare.rate(),
            bare.cpu_micros(),
            cost.rate() / engine.rate(),
            cost.rate() / bare.rate(),
            ceiling / cost.cpu_micros(),
        );
    }
    Ok(())
}

pub(crate) fn setup(address: SocketAddr) -> Result<()> {
    for (path, body) in workload::schema() {
        let (status, answer) = once(address, &workload::request("POST", path, &body))?;
        anyhow::ensure!(
            status < 300,
            "{path}: {status} {}",
            String::from_utf8_lossy(&answer)
        );
    }
    Ok(())
}

/// Sends every request once, in order, to a server over a recording engine; the batches of each scenario.
fn record(scenarios: &[Scenario]) -> Result<Vec<Vec<Batch>>> {
    let (engine, batches) = recording::RecordingEngine::new();
    let running = server::in_process(engine as Arc<dyn Engine>)?;
    setup(running.address())?;
    let mut recorded = Vec::new();
    for scenario in scenarios {
        batches.lock().clear();
        if scenario.kind == Kind::Write {
            closed_loop(running.address(), 1, &scenario.requests, scenario.status)
                .with_context(|| scenario.name)?;
        }
        recorded.push(std::mem::take(&mut *batches.lock()));
    }
    running.stop();
    Ok(recorded)
}

fn on_server(server: &Child, scenario: &Scenario) -> Result<(Cost, Measured)> {
    let before = cpu::used_by(server.pid)?;
    let measured = closed_loop(
        server.address,
        scenario.connections,
        &scenario.requests,
        scenario.status,
    )
    .with_context(|| scenario.name)?;
    let cpu = cpu::used_by(server.pid)?.saturating_sub(before);
    let items = measured.requests * scenario.items as u64;
    Ok((
        Cost {
            items,
            elapsed: measured.elapsed,
            cpu,
        },
        measured,
    ))
}

fn on_engine(
    space: &Arc<dyn Space>,
    scenario: &Scenario,
    batches: &[Batch],
    durability: &str,
) -> Result<Cost> {
    let durability = if durability == "sync" {
        Durability::Sync
    } else {
        Durability::Buffered
    };
    let own = std::process::id();
    let (before, started) = (cpu::used_by(own)?, Instant::now());
    let items = match scenario.kind {
        Kind::Write => {
            for batch in batches {
                space.write(batch, durability)?;
            }
            scenario.requests.len() * scenario.items
        }
        Kind::Read => {
            let mut found = 0;
            for (table, partition, clustering) in &scenario.keys {
                let exists = space.get_with(*table, partition, clustering, &mut |row| {
                    found += usize::from(!row.is_empty());
                })?;
                anyhow::ensure!(exists, "the engine misses a row that was written");
            }
            found
        }
    };
    let elapsed = started.elapsed();
    let cpu = cpu::used_by(own)?.saturating_sub(before);
    Ok(Cost {
        items: items as u64,
        elapsed,
        cpu,
    })
}

fn on_bare(varve: SocketAddr, scenario: &Scenario) -> Result<Cost> {
    // The answer to the last request: for a single insert that is an overwrite with the same bytes.
    let request = scenario.requests.last().context("a request")?;
    let (status, body) = once(varve, request)?;
    anyhow::ensure!(status == scenario.status, "{}: {status}", scenario.name);
    let file = tempfile::NamedTempFile::new()?;
    std::fs::write(file.path(), &body)?;
    let bare = Child::bare(scenario.status, file.path())?;
    let requests: Vec<Vec<u8>> = scenario
        .requests
        .iter()
        .map(|request| scenario::bare(request))
        .collect();
    let before = cpu::used_by(bare.pid)?;
    let measured = closed_loop(
        bare.address,
        scenario.connections,
        &requests,
        scenario.status,
    )?;
    let cpu = cpu::used_by(bare.pid)?.saturating_sub(before);
    let items = measured.requests * scenario.items as u64;
    Ok(Cost {
        items,
        elapsed: measured.elapsed,
        cpu,
    })
}
