//! Spaces: creation, opening, dropping.

use varve_kv::{Engine, EngineExt, KvError, ReaderExt, SPACE_NAME_BYTES_MAX, TableId, TableSpec};

use super::tables::{POINTS, TABLES, all_rows, open, point, put};

/// "The names of the spaces that exist, ascending", open or not.
pub fn spaces_are_listed_in_ascending_order(engine: &dyn Engine) {
    assert!(engine.space_names().unwrap().is_empty());
    let open = engine.open("zebra", TABLES, true).unwrap();
    for name in ["apple", "Mango_2", "_", "a"] {
        drop(engine.open(name, TABLES, true).unwrap());
    }
    let names = engine.space_names().unwrap();
    assert_eq!(names, ["Mango_2", "_", "a", "apple", "zebra"]);
    drop(open);
    assert_eq!(engine.space_names().unwrap().len(), 5);
}

/// "[`KvError::InvalidName`] for a name that [`varve_kv::is_space_name`] does not allow", in every
/// call.
pub fn names_against_the_rule_are_refused(engine: &dyn Engine) {
    let too_long = "a".repeat(SPACE_NAME_BYTES_MAX + 1);
    for bad in [
        "",
        "LOCK",
        ".",
        "..",
        "a-b",
        "a/b",
        "ä",
        ".trash-a-0",
        &too_long,
    ] {
        let invalid = |error| matches!(error, Some(KvError::InvalidName { .. }));
        for create in [true, false] {
            assert!(invalid(engine.open(bad, TABLES, create).err()), "{bad}");
        }
        assert!(invalid(engine.drop_space(bad, None).err()), "{bad}");
    }
    assert!(engine.space_names().unwrap().is_empty());
    let longest = "a".repeat(SPACE_NAME_BYTES_MAX);
    drop(engine.open(&longest, TABLES, true).unwrap());
    assert_eq!(engine.space_names().unwrap(), [longest]);
}

/// "Creates it if it does not exist and `create` is set."
pub fn a_missing_space_opens_only_with_create(engine: &dyn Engine) {
    let missing = engine.open("nowhere", TABLES, false);
    assert!(matches!(missing.err(), Some(KvError::Unavailable { .. })));
    assert!(engine.space_names().unwrap().is_empty());
    drop(engine.open("nowhere", TABLES, true).unwrap());
    drop(engine.open("nowhere", TABLES, false).unwrap());
    drop(engine.open("nowhere", TABLES, true).unwrap());
    assert_eq!(engine.space_names().unwrap(), ["nowhere"]);
}

/// "Fails if the space is already open."
pub fn a_space_opens_once_at_a_time(engine: &dyn Engine) {
    let space = open(engine);
    for create in [false, true] {
        let again = engine.open("suite", TABLES, create);
        assert!(matches!(
            again.err(),
            Some(KvError::Unavailable { .. } | KvError::InUse { .. })
        ));
    }
    put(&*space, POINTS, &point(1), b"", b"still works");
    drop(space);
    drop(engine.open("suite", TABLES, false).unwrap());
}

/// A space that is closed and reopened has all its rows, synced or not.
pub fn rows_survive_closing_and_opening(engine: &dyn Engine) {
    for round in 0..5u64 {
        let space = open(engine);
        assert_eq!(all_rows(&*space, POINTS, None).len() as u64, round);
        put(&*space, POINTS, &point(round), b"", b"v");
        if round == 3 {
            space.compact().unwrap();
        }
    }
}

static FEWER: &[TableSpec] = TABLES.split_at(2).0;

/// A space may be opened with new tables, which are empty.
pub fn tables_may_be_added(engine: &dyn Engine) {
    let space = engine.open("suite", FEWER, true).unwrap();
    put(&*space, POINTS, &point(1), b"", b"v");
    drop(space);
    let space = open(engine);
    assert_eq!(all_rows(&*space, POINTS, None).len(), 1);
    assert!(all_rows(&*space, TableId(3), None).is_empty());
    put(&*space, TableId(3), b"", b"c", b"v");
    drop(space);
    assert_eq!(all_rows(&*open(engine), TableId(3), None).len(), 1);
}

static TURNED: &[TableSpec] = &[TABLES[3], TABLES[2], TABLES[1], TABLES[0]];

/// Tables are identified by their names, not by their positions in the list.
pub fn tables_may_change_places(engine: &dyn Engine) {
    let space = open(engine);
    put(&*space, POINTS, &point(1), b"", b"v");
    drop(space);
    let space = engine.open("suite", TURNED, false).unwrap();
    assert!(all_rows(&*space, TableId(0), None).is_empty());
    let got = space.get(TableId(3), &point(1), b"").unwrap();
    assert_eq!(got.as_deref(), Some(&b"v"[..]));
}

/// A space with rows in a table that the caller does not know was written by a newer version;
/// opening it is refused.
pub fn a_table_may_not_disappear(engine: &dyn Engine) {
    let space = open(engine);
    put(&*space, TableId(3), b"", b"c", b"v");
    drop(space);
    let older = engine.open("suite", FEWER, false);
    assert!(matches!(older.err(), Some(KvError::Unavailable { .. })));
    drop(open(engine));
}

/// Two spaces with the same tables share nothing.
pub fn spaces_do_not_share_rows(engine: &dyn Engine) {
    let one = engine.open("one", TABLES, true).unwrap();
    let two = engine.open("two", TABLES, true).unwrap();
    put(&*one, POINTS, &point(1), b"", b"one");
    put(&*two, POINTS, &point(1), b"", b"two");
    put(&*two, POINTS, &point(2), b"", b"two");
    let got = one.get(POINTS, &point(1), b"").unwrap();
    assert_eq!(got.as_deref(), Some(&b"one"[..]));
    assert_eq!(all_rows(&*one, POINTS, None).len(), 1);
    drop(two);
    engine.drop_space("two", None).unwrap();
    assert_eq!(all_rows(&*one, POINTS, None).len(), 1);
}

/// "Removes the space `name` and all its rows."
pub fn dropping_removes_the_rows(engine: &dyn Engine) {
    let space = open(engine);
    put(&*space, POINTS, &point(1), b"", b"v");
    drop(space);
    engine.drop_space("suite", None).unwrap();
    assert!(engine.space_names().unwrap().is_empty());
    assert!(engine.open("suite", TABLES, false).is_err());
    assert!(all_rows(&*open(engine), POINTS, None).is_empty());
}

/// "Every handle to the space must have been dropped."
pub fn dropping_an_open_space_fails(engine: &dyn Engine) {
    let space = open(engine);
    put(&*space, POINTS, &point(1), b"", b"v");
    assert!(engine.drop_space("suite", None).is_err());
    let got = space.get(POINTS, &point(1), b"").unwrap();
    assert_eq!(got.as_deref(), Some(&b"v"[..]));
    assert_eq!(engine.space_names().unwrap(), ["suite"]);
}

/// "Does nothing if the space is missing."
pub fn dropping_a_missing_space_is_no_error(engine: &dyn Engine) {
    engine.drop_space("nowhere", None).unwrap();
    drop(open(engine));
    engine.drop_space("suite", None).unwrap();
    engine.drop_space("suite", None).unwrap();
}
