//! The promise of the presence filter: it never hides an existing row, through writes, flushes and
//! restarts.

use varve_kv::table::always;
use varve_kv::{
    Batch, Durability, Engine, MemoryEngine, Reader, ReaderExt, ReaderLayer, Space, SpaceLayer,
    state_of,
};

use super::*;
use crate::{FrontMemoryEngine, FrontOptions};

const ROWS: TableId = TableId(0);
const SOME: TableId = TableId(1);
const OTHERS: TableId = TableId(2);

const fn spec(name: &'static str, probed: Option<fn(&[u8]) -> bool>) -> TableSpec {
    TableSpec {
        name,
        partition_len: |key| (key.len() >= 8).then_some(8),
        point_reads: true,
        probed,
        cold: false,
        summarize: None,
    }
}

static TABLES: &[TableSpec] = &[
    spec("rows", Some(always)),
    spec("some", Some(|clustering| clustering.starts_with(b"a"))),
    spec("others", None),
];

fn partition(n: u64) -> [u8; 8] {
    n.to_be_bytes()
}

/// Creates a filter over an empty space with this memory budget.
fn empty(limit: usize) -> Presence {
    let space = MemoryEngine::new().open("space", TABLES, true).unwrap();
    Presence::new(
        TABLES,
        &Nothing(space),
        &Table::new(0),
        Arc::new(Budget::new(limit)),
    )
}

/// A base without rows.
struct Nothing(Arc<dyn Space>);

impl ReaderLayer for Nothing {
    type Below<'a> = dyn Space;

    fn read<T>(&self, read: impl FnOnce(&Self::Below<'_>) -> T) -> T {
        read(&*self.0)
    }
}

impl SpaceLayer for Nothing {
    fn space(&self) -> &dyn Space {
        &*self.0
    }

    fn snapshot(self: Arc<Self>) -> Option<Arc<dyn Reader>> {
        Arc::clone(&self.0).snapshot()
    }
}

impl Base for Nothing {
    fn state(self: Arc<Self>) -> Arc<dyn Reader> {
        state_of(&self.0)
    }

    fn ingest(&self, _: &[crate::SortedTable<'_>]) -> Result<(), KvError> {
        Ok(())
    }

    fn may_hold(&self, _: TableId) -> bool {
        false
    }

    fn backlog(&self) -> f64 {
        0.0
    }
}

fn add(presence: &Presence, numbers: std::ops::Range<u64>) {
    presence.add_all(numbers.map(|n| row_hash(partition_hash(ROWS, &partition(n)), b"")));
}

fn lacks(presence: &Presence, n: u64) -> bool {
    presence.lacks_each(&[(ROWS, &partition(n), b"")], None)[0]
}

#[test]
fn what_was_added_is_never_absent_and_little_else_is_taken_for_present() {
    let limit = 3 << 20;
    let presence = empty(limit);
    let mut added = 0;
    // Over three segments: 13,107 keys, 209,715, and the rest.
    for upto in [1, 1_000, 13_000, 14_000, 200_000, 600_000] {
        add(&presence, added..upto);
        added = upto;
        assert!((0..added).all(|n| !lacks(&presence, n)), "of {added}");
        let asked = 100_000;
        let wrong = (0..asked)
            .filter(|n| !lacks(&presence, 1 << 40 | n))
            .count();
        assert!(
            wrong * 5_000 < asked as usize,
            "{wrong} of {asked} beside {added}"
        );
    }
    assert_eq!(presence.bytes(), limit - limit / RESERVE);
    // False positives are not counted again.
    let keys = presence.keys();
    assert!((599_000..=600_000).contains(&keys), "{keys}");
}

#[test]
fn keys_that_are_known_take_no_room() {
    let presence = empty(1 << 20);
    for _ in 0..100 {
        add(&presence, 0..1_000);
    }
    assert!(presence.keys() <= 1_000);
}

#[test]
fn without_more_memory_it_goes_on_and_is_never_wrong() {
    let presence = empty(SEGMENT_BYTES[0]);
    add(&presence, 0..500_000);
    assert_eq!(presence.bytes(), SEGMENT_BYTES[0]);
    assert!((0..500_000).all(|n| !lacks(&presence, n)));
}

#[test]
fn the_last_segment_takes_what_is_left_but_for_what_others_begin_with() {
    let limit = 1 << 20;
    let presence = empty(limit);
    // The budget has 64 KiB, and then not another 1 MiB.
    add(&presence, 0..500_000);
    assert_eq!(presence.bytes(), limit - limit / RESERVE);
    assert!((0..500_000).all(|n| !lacks(&presence, n)));
}

#[test]
fn without_any_memory_it_says_nothing() {
    let presence = empty(SEGMENT_BYTES[0] - 1);
    assert!(lacks(&presence, 1), "nothing was added yet");
    add(&presence, 0..10);
    assert!((0..100).all(|n| !lacks(&presence, n)));
    assert!(!presence.is_whole());
}

#[test]
fn memory_is_given_back() {
    let budget = Arc::new(Budget::new(8 << 20));
    let space = MemoryEngine::new().open("space", TABLES, true).unwrap();
    let presence = Presence::new(TABLES, &Nothing(space), &Table::new(0), Arc::clone(&budget));
    add(&presence, 0..100_000);
    assert_eq!(budget.used(), (64 + 1_024) << 10);
    drop(presence);
    assert_eq!(budget.used(), 0);
}

fn open(engine: &FrontMemoryEngine) -> Arc<dyn Space> {
    engine.open("space", TABLES, true).unwrap()
}

fn put(space: &dyn Space, table: TableId, n: u64, clustering: &[u8]) {
    let mut batch = Batch::new();
    batch.put(table, &partition(n), clustering, b"value");
    space.write(&batch, Durability::Buffered).unwrap();
}

fn whole(space: &dyn Space) -> bool {
    let all = space.statistics();
    let mut known = all.iter().filter(|it| it.name == "front_known_whole");
    known.next().is_some_and(|it| it.value == 1.0)
}

fn options() -> FrontOptions {
    FrontOptions {
        table_bytes: 20_000,
        ..FrontOptions::default()
    }
}

#[test]
fn a_space_knows_what_it_lacks_from_its_first_row_on() {
    let dir = tempfile::tempdir().unwrap();
    let engine = FrontMemoryEngine::new(dir.path(), options());
    let space = open(&engine);
    assert!(space.is_known_absent(ROWS, &partition(1), b""));
    for n in 0..2_000 {
        assert!(
            !space.is_known_absent(OTHERS, &partition(n), b""),
            "not kept"
        );
        put(&*space, ROWS, n, b"");
        put(&*space, SOME, n, b"a");
        put(&*space, SOME, n, b"b");
        assert!(!space.is_known_absent(ROWS, &partition(n), b""));
        assert!(!space.is_known_absent(SOME, &partition(n), b"a"));
        assert!(
            !space.is_known_absent(SOME, &partition(n), b"b"),
            "not kept"
        );
    }
    assert!(
        !space.is_known_absent(SOME, &partition(2_001), b"b"),
        "not kept"
    );
    let absent = (2_000..12_000).filter(|n| space.is_known_absent(ROWS, &partition(*n), b""));
    assert!(absent.count() > 9_800);
}

/// The filter does not distinguish a deleted row from an existing one. A row that is put again was
/// never forgotten.
#[test]
fn deletes_take_nothing_away() {
    let dir = tempfile::tempdir().unwrap();
    let engine = FrontMemoryEngine::new(dir.path(), options());
    let space = open(&engine);
    put(&*space, ROWS, 1, b"");
    let before = state_of(&space);
    let mut batch = Batch::new();
    batch.delete(ROWS, &partition(1), b"");
    space.write(&batch, Durability::Buffered).unwrap();
    assert!(!space.is_known_absent(ROWS, &partition(1), b""));
    assert!(!before.is_known_absent(ROWS, &partition(1), b""));
    assert_eq!(space.get(ROWS, &partition(1), b"").unwrap(), None);
    assert!(before.get(ROWS, &partition(1), b"").unwrap().is_some());
}

/// An opened space learns the keys of its files once that is worth it. Its answers are right
/// before, during and after that, with concurrent writes.
#[test]
fn an_opened_space_learns_what_its_files_hold() {
    let dir = tempfile::tempdir().unwrap();
    let engine = FrontMemoryEngine::new(dir.path(), options());
    let space = open(&engine);
    for n in 0..25_000 {
        put(&*space, ROWS, n, b"");
        put(&*space, SOME, n, b"a");
    }
    drop(space);

    let space = open(&engine);
    assert!(!whole(&*space));
    put(&*space, ROWS, 1 << 20, b"");
    let mut next = 1 << 21;
    // It must happen; the time is not promised.
    while !whole(&*space) {
        let knew = space.is_known_absent(ROWS, &partition(next), b"");
        // The filter may have learnt the rest since the call.
        assert!(!knew || whole(&*space), "it cannot know yet");
        assert_eq!(space.get(ROWS, &partition(next), b"").unwrap(), None);
        put(&*space, ROWS, next, b"");
        next += 1;
    }
    for n in (0..25_000).chain([1 << 20]).chain(1 << 21..next) {
        assert!(!space.is_known_absent(ROWS, &partition(n), b""));
        assert!(space.get(ROWS, &partition(n), b"").unwrap().is_some());
    }
    assert!((0..25_000).all(|n| !space.is_known_absent(SOME, &partition(n), b"a")));
    let absent = (next..next + 10_000).filter(|n| space.is_known_absent(ROWS, &partition(*n), b""));
    assert!(absent.count() > 9_800);
}

/// A row that was deleted before the filter learnt its key still exists in older snapshots.
#[test]
fn an_older_snapshot_keeps_rows_that_the_filter_never_met() {
    let dir = tempfile::tempdir().unwrap();
    let engine = FrontMemoryEngine::new(dir.path(), options());
    let space = open(&engine);
    for n in 0..100 {
        put(&*space, ROWS, n, b"");
    }
    drop(space);
    let space = open(&engine);
    let before = state_of(&space);
    let mut batch = Batch::new();
    for n in 0..50 {
        batch.delete(ROWS, &partition(n), b"");
    }
    space.write(&batch, Durability::Buffered).unwrap();
    space.compact().unwrap();
    let between = state_of(&space);
    // It must happen; the time is not promised.
    while !whole(&*space) {
        assert_eq!(space.get(ROWS, &partition(1 << 30), b"").unwrap(), None);
    }
    for n in 0..50 {
        assert!(!before.is_known_absent(ROWS, &partition(n), b""));
        assert!(before.get(ROWS, &partition(n), b"").unwrap().is_some());
        let many = before.multi_get(ROWS, &[(&partition(n), b"")]).unwrap();
        assert!(many[0].is_some());
        assert_eq!(between.get(ROWS, &partition(n), b"").unwrap(), None);
        assert_eq!(space.get(ROWS, &partition(n), b"").unwrap(), None);
    }
    assert!(
        space.is_known_absent(ROWS, &partition(0), b""),
        "it never met it"
    );
    // A view of the next files may use the filter.
    put(&*space, ROWS, 1_000, b"");
    space.compact().unwrap();
    let after = state_of(&space);
    assert!(after.is_known_absent(ROWS, &partition(0), b""));
    assert!(!after.is_known_absent(ROWS, &partition(60), b""));
}

#[test]
fn what_is_too_little_for_another_segment_goes_to_the_last() {
    let limit = 2 << 20;
    let presence = empty(limit);
    // The budget has 64 KiB, and 1 MiB, after which less than the least segment would be left.
    add(&presence, 0..100_000);
    assert_eq!(presence.bytes(), limit - limit / RESERVE);
}

#[test]
fn many_rows_are_asked_for_as_one_is() {
    let presence = empty(64 << 20);
    add(&presence, 0..100_000);
    let keys: Vec<[u8; 8]> = (0..1_000_u64).map(|n| partition(n * 200)).collect();
    let rows: Vec<_> = keys
        .iter()
        .zip([ROWS, OTHERS].into_iter().cycle())
        .map(|(key, table)| (table, &key[..], &b""[..]))
        .collect();
    let lacking = presence.lacks_each(&rows, None);
    let singly = rows
        .iter()
        .map(|(t, p, c)| presence.lacks_each(&[(*t, p, c)], None)[0]);
    assert!(lacking.iter().copied().eq(singly));
    assert!((200..=250).contains(&lacking.iter().filter(|lacks| **lacks).count()));
    assert_eq!(presence.lacks_each(&rows, Some(0)), lacking);
    assert!(presence.lacks_each(&[], None).is_empty());
}

/// Rows that are only in the log are known at once, and a space that is closed before it has learnt
/// the others does not wait.
#[test]
fn an_opened_space_knows_what_its_log_held() {
    let dir = tempfile::tempdir().unwrap();
    let large = FrontOptions {
        table_bytes: 1 << 20,
        ..FrontOptions::default()
    };
    let engine = FrontMemoryEngine::new(dir.path(), large);
    let space = open(&engine);
    put(&*space, ROWS, 1, b"");
    let copy = tempfile::tempdir().unwrap();
    let log = copy.path().join("space/log");
    std::fs::create_dir_all(&log).unwrap();
    for entry in std::fs::read_dir(dir.path().join("space/log")).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), log.join(entry.file_name())).unwrap();
    }
    let mark = |dir: &std::path::Path| crate::log::mark_of(&dir.join("space/log"));
    std::fs::copy(mark(dir.path()), mark(copy.path())).unwrap();
    drop(space);
    let crashed = open(&FrontMemoryEngine::new(
        copy.path(),
        FrontOptions::default(),
    ));
    assert!(whole(&*crashed), "its files hold nothing");
    assert!(!crashed.is_known_absent(ROWS, &partition(1), b""));
    assert!(crashed.is_known_absent(ROWS, &partition(2), b""));
}
