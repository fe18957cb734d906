//! Snapshots. An engine without snapshots is tested for its other guarantees in the same cases.

use std::sync::Arc;

use varve_kv::{
    Batch, ClusteringRange, Durability, Engine, ReaderExt, Space, has_snapshots, state_of,
};

use super::tables::{NAMED, POINTS, TABLES, all_rows, delete, named, open, point, put, rows};

/// "Callers then read the space itself": without snapshots, later writes are visible.
fn later_writes_show(space: &Arc<dyn Space>) {
    put(&**space, NAMED, &named(b"p"), b"c", b"old");
    let snapshot = state_of(space);
    put(&**space, NAMED, &named(b"p"), b"c", b"new");
    let got = snapshot.get(NAMED, &named(b"p"), b"c").unwrap();
    assert_eq!(got.as_deref(), Some(&b"new"[..]));
    delete(&**space, NAMED, &named(b"p"), b"c");
    assert!(all_rows(&*snapshot, NAMED, None).is_empty());
}

/// "Later writes are not visible in it."
pub fn later_writes_do_not_show_in_a_snapshot(engine: &dyn Engine) {
    let space = open(engine);
    if !has_snapshots(&space) {
        return later_writes_show(&space);
    }
    for n in 0..5u8 {
        put(&*space, NAMED, &named(b"p"), &[n], b"old");
    }
    let snapshot = state_of(&space);
    let before = all_rows(&*snapshot, NAMED, None);
    put(&*space, NAMED, &named(b"p"), &[0], b"new");
    put(&*space, NAMED, &named(b"p"), &[9], b"new");
    put(&*space, NAMED, &named(b"q"), &[0], b"new");
    delete(&*space, NAMED, &named(b"p"), &[1]);
    let mut batch = Batch::new();
    batch.delete_prefix(NAMED, &named(b"p"), &[2]);
    space.write(&batch, Durability::Buffered).unwrap();

    assert_eq!(all_rows(&*snapshot, NAMED, None), before);
    let range = ClusteringRange::all();
    for reverse in [false, true] {
        let got = rows(&*snapshot, NAMED, &named(b"p"), &range, reverse);
        assert_eq!(got.len(), 5);
        assert!(got.iter().all(|(_, value)| value == b"old"));
    }
    for n in 0..5u8 {
        let got = snapshot.get(NAMED, &named(b"p"), &[n]).unwrap();
        assert_eq!(got.as_deref(), Some(&b"old"[..]));
    }
    assert_eq!(snapshot.get(NAMED, &named(b"p"), &[9]).unwrap(), None);
    let partition = named(b"q");
    let many = snapshot.multi_get(NAMED, &[(&partition, &[0])]).unwrap();
    assert_eq!(many, [None]);
    assert_eq!(all_rows(&*space, NAMED, None).len(), 5);
}

/// A snapshot still reads its state after the rows were overwritten, removed and compacted.
pub fn a_snapshot_outlives_compaction(engine: &dyn Engine) {
    let space = open(engine);
    for n in 0..500u64 {
        put(&*space, POINTS, &point(n), b"", b"old");
    }
    let snapshot = state_of(&space);
    for n in 0..500u64 {
        if n % 2 == 0 {
            put(&*space, POINTS, &point(n), b"", b"new");
        } else {
            delete(&*space, POINTS, &point(n), b"");
        }
    }
    space.compact().unwrap();
    let (rows, value) = match has_snapshots(&space) {
        true => (500, b"old"),
        false => (250, b"new"),
    };
    let got = all_rows(&*snapshot, POINTS, None);
    assert_eq!(got.len(), rows);
    assert!(got.iter().all(|(_, _, found)| found == value));
    assert_eq!(all_rows(&*space, POINTS, None).len(), 250);
}

/// "A snapshot keeps its space open."
pub fn a_snapshot_keeps_its_space_open(engine: &dyn Engine) {
    let space = open(engine);
    put(&*space, POINTS, &point(1), b"", b"v");
    let snapshot = state_of(&space);
    drop(space);
    assert!(engine.open("suite", TABLES, false).is_err());
    assert!(engine.drop_space("suite", None).is_err());
    let got = snapshot.get(POINTS, &point(1), b"").unwrap();
    assert_eq!(got.as_deref(), Some(&b"v"[..]));
    drop(snapshot);
    let space = engine.open("suite", TABLES, false).unwrap();
    let got = space.get(POINTS, &point(1), b"").unwrap();
    assert_eq!(got.as_deref(), Some(&b"v"[..]));
}

/// Each snapshot shows the state at its creation, in whatever order snapshots are dropped.
pub fn snapshots_of_different_moments_differ(engine: &dyn Engine) {
    let space = open(engine);
    let mut snapshots = Vec::new();
    for n in 0..20u64 {
        put(&*space, POINTS, &point(1), b"", &point(n));
        snapshots.push((n, state_of(&space)));
    }
    snapshots.swap(0, 13);
    while let Some((_, dropped)) = snapshots.pop() {
        drop(dropped);
        for (n, snapshot) in &snapshots {
            let got = snapshot.get(POINTS, &point(1), b"").unwrap();
            let state = if has_snapshots(&space) { *n } else { 19 };
            assert_eq!(got, Some(point(state)));
        }
    }
}
