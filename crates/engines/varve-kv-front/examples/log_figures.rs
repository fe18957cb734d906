//! Measures the log: appends, syncs with and without preallocation, and reading it back.
//!
//! `cargo run --release -p varve-kv-front --example log_figures -- DIR`, with a directory on the
//! file system to be measured.

use std::path::Path;
use std::time::{Duration, Instant};

use varve_kv::KvError;
use varve_kv_front::log::{Log, LogOptions};

/// Records that are synced one by one and measured. As many are synced first without a measurement,
/// so that the log begins to fill the preallocated bytes with zeros.
const SYNCED: usize = 2_000;
/// Bytes that are appended to measure appends and reads.
const BULK_BYTES: usize = 1 << 30;
/// The log is rotated when its newest segment has this number of bytes.
const SEGMENT_BYTES: u64 = 64 << 20;

fn open(dir: &Path, preallocate_bytes: u64) -> Result<(Log, u64), KvError> {
    let options = LogOptions {
        space: "figures".to_owned(),
        preallocate_bytes,
        sync_on_rotate: true,
    };
    let mut bytes = 0;
    let log = Log::open(dir, options, &mut |_, _, payload| {
        bytes += payload.len() as u64;
        Ok(())
    })?;
    Ok((log, bytes))
}

fn syncs(dir: &Path, ahead: u64, payload: &[u8]) -> Result<(), KvError> {
    let (mut log, _) = open(&dir.join(format!("ahead-{ahead}")), ahead)?;
    let mut times: Vec<Duration> = Vec::with_capacity(SYNCED);
    for number in 0..2 * SYNCED {
        let started = Instant::now();
        log.append(payload)?;
        log.sync()?;
        if number >= SYNCED {
            times.push(started.elapsed());
        }
    }
    times.sort_unstable();
    let at = |part: usize| times[SYNCED * part / 1_000].as_micros();
    let mean = times.iter().sum::<Duration>() / SYNCED as u32;
    println!(
        "append and sync {} bytes, room made ahead {ahead}: median {} us, mean {} us, 99% {} us, most {} us",
        payload.len(),
        at(500),
        mean.as_micros(),
        at(990),
        at(999)
    );
    Ok(())
}

fn bulk(dir: &Path, payload: &[u8]) -> Result<(), KvError> {
    let dir = dir.join("bulk");
    let (mut log, _) = open(&dir, 4 << 20)?;
    let started = Instant::now();
    let mut rotations = Vec::new();
    for _ in 0..BULK_BYTES / payload.len() {
        log.append(payload)?;
        if log.active_bytes() >= SEGMENT_BYTES {
            let started = Instant::now();
            log.rotate()?;
            rotations.push(started.elapsed());
        }
    }
    let (took, longest) = (started.elapsed(), rotations.iter().max().copied());
    let bytes = log.bytes() as f64;
    println!(
        "append {} bytes each: {:.0} MB/s with {} rotations, the longest {} ms",
        payload.len(),
        bytes / took.as_secs_f64() / 1e6,
        rotations.len(),
        longest.unwrap_or_default().as_millis()
    );
    drop(log);
    let started = Instant::now();
    let (_, read) = open(&dir, 4 << 20)?;
    let took = started.elapsed();
    println!(
        "open and read back {read} bytes: {:.0} MB/s",
        read as f64 / took.as_secs_f64() / 1e6
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dir = std::env::args_os().nth(1).ok_or("which folder?")?;
    let dir = Path::new(&dir).join("log-figures");
    let payload: Vec<u8> = (0..1_000_000_u32).map(|n| ((n * 31) >> 3) as u8).collect();
    for round in 0..3 {
        for bytes in [600, 4_000, 30_000] {
            for ahead in [0, 4 << 20] {
                let dir = dir.join(format!("{round}-{bytes}"));
                syncs(&dir, ahead, &payload[..bytes])?;
            }
        }
    }
    bulk(&dir.join("large"), &payload[..100_000])?;
    bulk(&dir.join("small"), &payload[..1_000])?;
    std::fs::remove_dir_all(&dir)?;
    Ok(())
}
