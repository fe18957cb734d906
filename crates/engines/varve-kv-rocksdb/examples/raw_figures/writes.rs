//! Writes, and the time to open a store after them.

use super::*;

/// Fills a batch from a running number; returns the number of its elements.
pub(super) type Fill = fn(&mut Batch, u64) -> u64;

pub(super) struct Write {
    pub(super) name: &'static str,
    fill: Fill,
    durability: Durability,
    /// Whether each vertex is looked up before it is written, as an insert does to check whether it
    /// exists.
    looked_up: bool,
}

pub(super) const V200: Write = Write {
    name: "v200 hashed",
    fill: |batch, n| {
        vertices(batch, n, 200, false);
        200
    },
    durability: Durability::Buffered,
    looked_up: false,
};

pub(super) const WRITES: [Write; 9] = [
    V200,
    Write {
        name: "v200 hashed sync",
        durability: Durability::Sync,
        ..V200
    },
    Write {
        name: "v200 looked up",
        looked_up: true,
        ..V200
    },
    Write {
        name: "v200 ascending",
        fill: |batch, n| {
            vertices(batch, n, 200, true);
            200
        },
        ..V200
    },
    Write {
        name: "e500 hashed",
        fill: |batch, n| {
            edges(batch, n, 500, 1 << 40);
            500
        },
        ..V200
    },
    Write {
        name: "e500 looked up",
        fill: |batch, n| {
            // About ten edges for each vertex by the end.
            edges(batch, n, 500, 200_000);
            500
        },
        looked_up: true,
        ..V200
    },
    Write {
        name: "e5000 hashed",
        fill: |batch, n| {
            edges(batch, n, 5000, 1 << 40);
            5000
        },
        ..V200
    },
    Write {
        name: "e5000 degree 10",
        fill: |batch, n| {
            edges(batch, n, 5000, 200_000);
            5000
        },
        ..V200
    },
    Write {
        name: "v1 hashed sync",
        fill: |batch, n| {
            vertices(batch, n, 1, false);
            1
        },
        durability: Durability::Sync,
        ..V200
    },
];

pub(super) fn write_case(settings: &Settings, variant: &Variant, case: &Write) -> Outcome<()> {
    let name = case.name;
    let store = open(settings, variant)?;
    let mut batch = Batch::new();
    let mut pauses = Vec::new();
    let (mut elements, mut rows, mut repeated) = (0, 0, 0);
    let watch = Stopwatch::start();
    // Single writes are slow on any machine.
    let end = if name.starts_with("v1 ") {
        settings.rows / 100
    } else {
        settings.rows
    };
    while rows < end {
        batch.clear();
        elements += (case.fill)(&mut batch, elements);
        rows += batch.len() as u64;
        let before = Instant::now();
        if case.looked_up {
            for op in batch.ops() {
                if let Op::Put {
                    table: table @ (VERTICES | OUT),
                    partition,
                    clustering,
                    ..
                } = op
                {
                    let found = store
                        .space
                        .get_with(table, partition, clustering, &mut |_| ())?;
                    repeated += u64::from(found);
                }
            }
        }
        store.space.write(&batch, case.durability)?;
        pauses.push(before.elapsed());
    }
    let (wall, cpu) = (watch.wall(), watch.cpu());
    if repeated > elements / 100 {
        return Err("new elements were there already".into());
    }
    store.space.compact()?;
    let drained = watch.cpu();
    pauses.sort_unstable();
    let pause =
        |part: usize| pauses[(pauses.len() * part / 1000).min(pauses.len() - 1)].as_micros();
    let rows = rows as f64;
    println!(
        "{:17} | {:20} | {:5.2} M rows | {:8.0} rows/s | {:4.2} cores | {:8.0} rows/cpu-s | drained {:8.0} rows/cpu-s | batch us p50 {} p99 {} max {}",
        name,
        variant.name,
        rows / 1e6,
        rows / wall,
        cpu / wall,
        rows / cpu,
        rows / drained,
        pause(500),
        pause(990),
        pause(1000),
    );
    Ok(())
}

/// Copies the files of a space; returns the bytes of its logs.
pub(super) fn copy_files(from: &Path, to: &Path) -> Outcome<u64> {
    std::fs::create_dir(to)?;
    let mut log_bytes = 0;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            log_bytes += copy_files(&entry.path(), &to)?;
            continue;
        }
        let copied = std::fs::copy(entry.path(), to);
        let path = entry.path();
        let kind = path.extension().and_then(|kind| kind.to_str());
        // A compaction may remove a file that was listed.
        if matches!(kind, Some("log" | "front")) {
            log_bytes += copied?;
        }
    }
    Ok(log_bytes)
}

/// Measures the time to open a store: after an orderly close, and after a crash with an unflushed
/// log.
pub(super) fn open_case(settings: &Settings, variant: &Variant) -> Outcome<()> {
    let Store {
        space,
        _engine: engine,
        _dir: dir,
    } = open(settings, variant)?;
    let mut batch = Batch::new();
    let mut fill = |space: &Arc<dyn Space>, from: u64, to: u64| {
        for n in (from..to).step_by(200) {
            batch.clear();
            vertices(&mut batch, n, 200, false);
            space.write(&batch, Durability::Buffered)?;
        }
        Ok::<_, varve_kv::KvError>(())
    };
    fill(&space, 0, settings.rows)?;
    space.compact()?;
    let watch = Stopwatch::start();
    drop(space);
    let closed = watch.wall();
    let watch = Stopwatch::start();
    let space = engine.open("raw", TABLES, false)?;
    let opened = watch.wall();
    fill(&space, settings.rows, settings.rows + 1_000_000)?;
    let image = tempfile::tempdir_in(&settings.dir)?;
    let log_bytes = copy_files(&dir.path().join("raw"), &image.path().join("raw"))?;
    let crashed = RocksEngine::open(&RocksConfig {
        memory_bytes: variant.memory_bytes,
        front: variant.front.clone(),
        tuning: variant.tuning.clone(),
        ..RocksConfig::new(image.path())
    })?;
    let watch = Stopwatch::start();
    let recovered = crashed.open("raw", TABLES, false)?;
    println!(
        "open | {:20} | {:.2} M rows | closed {closed:.3} s | opened {opened:.3} s | after a crash with {} MiB of log {:.3} s",
        variant.name,
        settings.rows as f64 / 1e6,
        log_bytes >> 20,
        watch.wall(),
    );
    drop((recovered, space));
    Ok(())
}
