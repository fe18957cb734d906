//! Cases that read: rows by key, scans, and reads of the files behind frozen tables.

use super::*;

/// Repeats `work`, which returns the number of its operations, and prints their rate per second.
pub(super) fn repeat(
    settings: &Settings,
    variant: &Variant,
    name: &str,
    things: &str,
    mut work: impl FnMut(u64) -> Outcome<u64>,
) -> Outcome<()> {
    let span = Duration::from_secs(settings.seconds.div_ceil(3));
    let warm = Instant::now();
    let mut n = 0;
    while warm.elapsed() < span {
        work(n)?;
        n += 1;
    }
    let watch = Stopwatch::start();
    let (mut done, mut calls) = (0, 0);
    while watch.wall.elapsed() < span {
        done += work(n)?;
        n += 1;
        calls += 1;
    }
    let (wall, cpu) = (watch.wall(), watch.cpu());
    println!(
        "{name:24} | {:20} | {:9.0} {things}/s | {:9.0} {things}/cpu-s | {:6.2} us a call",
        variant.name,
        done as f64 / wall,
        done as f64 / cpu,
        cpu * 1e6 / f64::from(calls),
    );
    Ok(())
}

pub(super) fn read_cases(settings: &Settings, variant: &Variant) -> Outcome<()> {
    let store = open(settings, variant)?;
    let space = &store.space;
    let mut batch = Batch::new();
    for n in (0..settings.rows).step_by(1000) {
        batch.clear();
        vertices(&mut batch, n, 1000, false);
        space.write(&batch, Durability::Buffered)?;
    }
    space.compact()?;
    let rows = settings.rows;
    let key = |n: u64| vertex_key(mix(n) % rows, false);
    repeat(settings, variant, "get", "gets", |n| {
        Ok(space.get(VERTICES, &key(n), b"")?.map_or(0, |_| 1))
    })?;
    let snapshot = state_of(space);
    repeat(settings, variant, "get, snapshot", "gets", |n| {
        Ok(snapshot.get(VERTICES, &key(n), b"")?.map_or(0, |_| 1))
    })?;
    repeat(settings, variant, "get_with", "gets", |n| {
        let mut bytes = 0;
        let found = space.get_with(VERTICES, &key(n), b"", &mut |value| bytes += value.len())?;
        Ok(u64::from(found && bytes == 120))
    })?;
    for size in [8, 64, 512] {
        repeat(
            settings,
            variant,
            &format!("multi_get {size}"),
            "gets",
            |n| {
                let keys: Vec<_> = (0..size).map(|at| key(n * size + at)).collect();
                let keys: Vec<(&[u8], &[u8])> =
                    keys.iter().map(|key| (&key[..], &b""[..])).collect();
                Ok(space.multi_get(VERTICES, &keys)?.iter().flatten().count() as u64)
            },
        )?;
    }
    repeat(settings, variant, "get, absent", "gets", |n| {
        let found = space.get_with(VERTICES, &vertex_key(rows + n, false), b"", &mut |_| ())?;
        Ok(u64::from(!found))
    })?;
    Ok(())
}

pub(super) fn scan_cases(settings: &Settings, variant: &Variant, degree: u64) -> Outcome<()> {
    let store = open(settings, variant)?;
    let space = &store.space;
    let sources = settings.rows / degree;
    let mut batch = Batch::new();
    for n in (0..settings.rows).step_by(500) {
        batch.clear();
        for n in n..n + 500 {
            let (source, target) = (n % sources, n);
            batch.put(
                OUT,
                &edge_end(source),
                &edge_clustering(target),
                &value::<40>(n),
            );
        }
        space.write(&batch, Durability::Buffered)?;
    }
    space.compact()?;
    let range = ClusteringRange::all();
    let scan = |n: u64, reverse: bool| {
        let mut rows = 0;
        let partition = edge_end(mix(n) % sources);
        let request = ScanRequest {
            table: OUT,
            partition: &partition,
            range: &range,
            reverse,
        };
        space.scan(request, &mut |_, _| {
            rows += 1;
            Flow::Continue(())
        })?;
        Ok(rows)
    };
    let name = |what: &str| format!("{what}, degree {degree}");
    repeat(settings, variant, &name("scan"), "edges", |n| {
        scan(n, false)
    })?;
    repeat(settings, variant, &name("scan back"), "edges", |n| {
        scan(n, true)
    })?;
    repeat(settings, variant, &name("scan_many 64"), "edges", |n| {
        let partitions: Vec<_> = (0..64)
            .map(|at| edge_end(mix(n * 64 + at) % sources))
            .collect();
        let partitions: Vec<&[u8]> = partitions.iter().map(|key| &key[..]).collect();
        let ranges = PartitionRange::of_each(&partitions, &range);
        let mut rows = 0;
        space.scan_many(OUT, &ranges, &mut |_, _, _| {
            rows += 1;
            Flow::Continue(())
        })?;
        Ok(rows)
    })?;
    repeat(settings, variant, &name("scan, absent"), "lists", |n| {
        let partition = edge_end(mix(n) | 1 << 60);
        let request = ScanRequest {
            table: OUT,
            partition: &partition,
            range: &range,
            reverse: false,
        };
        space.scan(request, &mut |_, _| Flow::Continue(()))?;
        Ok(1)
    })
}

/// The number of edges of each source vertex in the cases with frozen tables.
const TIER_DEGREE: u64 = 10;

/// Measures reads with this number of frozen tables in front of the sorted files. The two have
/// different rows.
pub(super) fn tier_cases(settings: &Settings, frozen: u64) -> Outcome<()> {
    let variant = Variant {
        name: "front",
        memory_bytes: 768 << 20,
        front: FrontTable::With(FrontOptions {
            table_bytes: 8 << 20,
            frozen_max: 16,
            ..FrontOptions::default()
        }),
        tuning: Tuning::default(),
    };
    let store = open(settings, &variant)?;
    fill_files(settings, &*store.space)?;
    if frozen > 0 {
        // The flusher is paused, so that the tables stay; the process ends before the pause does.
        fail_point::arm("front.file:pause:3600000")?;
    }
    let written = freeze(&*store.space, settings.rows, frozen)?;
    tier_reads(settings, &variant, &store, (frozen, written))?;
    if frozen > 0 {
        // Not dropped: that would wait for the flusher.
        std::mem::forget(store);
    }
    Ok(())
}

/// Writes vertices and edges, then flushes and compacts them.
fn fill_files(settings: &Settings, space: &dyn Space) -> Outcome<()> {
    let sources = settings.rows / TIER_DEGREE;
    let mut batch = Batch::new();
    for n in (0..settings.rows).step_by(500) {
        batch.clear();
        vertices(&mut batch, n, 500, false);
        for n in n..n + 500 {
            let (source, target) = (edge_end(n % sources), edge_clustering(n));
            batch.put(OUT, &source, &target, &value::<40>(n));
        }
        space.write(&batch, Durability::Buffered)?;
    }
    space.compact()?;
    Ok(())
}

/// Writes vertices from number `first` on, and edges, until `frozen` tables are frozen. Returns the
/// number of written vertices.
fn freeze(space: &dyn Space, first: u64, frozen: u64) -> Outcome<u64> {
    let tables = || {
        let statistics = space.statistics();
        let figure = statistics
            .iter()
            .find(|figure| figure.name == "front_frozen_tables");
        figure.map_or(0.0, |figure| figure.value) as u64
    };
    let mut batch = Batch::new();
    let mut n = first;
    while tables() < frozen {
        batch.clear();
        vertices(&mut batch, n, 500, false);
        edges(&mut batch, n, 500, 1 << 40);
        n += 500;
        space.write(&batch, Durability::Buffered)?;
    }
    Ok(n - first)
}

/// Runs the reads. The store has `frozen` frozen tables with `written` vertices.
fn tier_reads(
    settings: &Settings,
    variant: &Variant,
    store: &Store,
    (frozen, written): (u64, u64),
) -> Outcome<()> {
    let (space, rows) = (&store.space, settings.rows);
    let name = |what: &str| format!("{what}, {frozen} frozen");
    let key = |n: u64| vertex_key(mix(n) % rows, false);
    let found = |key: &[u8]| space.get_with(VERTICES, key, b"", &mut |_| ());
    repeat(settings, variant, &name("get"), "gets", |n| {
        Ok(u64::from(found(&key(n))?))
    })?;
    repeat(settings, variant, &name("absent"), "gets", |n| {
        Ok(u64::from(!found(&vertex_key(1 << 40 | n, false))?))
    })?;
    if frozen > 0 {
        repeat(settings, variant, &name("get in front"), "gets", |n| {
            let in_front = vertex_key(rows + mix(n) % written, false);
            Ok(u64::from(found(&in_front)?))
        })?;
    }
    let (range, sources) = (ClusteringRange::all(), rows / TIER_DEGREE);
    repeat(settings, variant, &name("scan 10"), "edges", |n| {
        let partition = edge_end(mix(n) % sources);
        let mut rows = 0;
        let request = ScanRequest {
            table: OUT,
            partition: &partition,
            range: &range,
            reverse: false,
        };
        space.scan(request, &mut |_, _| {
            rows += 1;
            Flow::Continue(())
        })?;
        Ok(rows)
    })
}
