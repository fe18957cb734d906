//! A graph whose instances came without entries, as from a dump, has them once the types are told.

use varve_encoding::index::{IndexId, partition_prefix};
use varve_encoding::tables::{EVENT_INDEX, INDEX, META};
use varve_kv::{Batch, Durability};
use varve_omrs::store::*;

use crate::world::*;

/// The numbers of the store's indexes are lower.
const INDEXES_END: u32 = 64;

/// Takes away what a dump does not hold: notes, and the entries of the store's indexes.
fn strip(world: &World) {
    let space = world.store.graph().space();
    let prefixes: Vec<[u8; 5]> = (0..INDEXES_END)
        .map(|number| partition_prefix(IndexId::Derived(number)))
        .collect();
    let mut batch = Batch::new();
    let mut stripped = [0; 3];
    for (table, count) in [META, INDEX, EVENT_INDEX].into_iter().zip(&mut stripped) {
        space
            .scan_table(table, None, &mut |row| {
                let is_note = table == META && row.partition == b"n";
                let mut of = prefixes.iter();
                if is_note || table != META && of.any(|prefix| row.partition.starts_with(prefix)) {
                    batch.delete(table, row.partition, row.clustering);
                    *count += 1;
                }
                std::ops::ControlFlow::Continue(())
            })
            .expect("read");
    }
    assert!(stripped.iter().all(|count| *count > 0), "{stripped:?}");
    space.write(&batch, Durability::Buffered).expect("written");
}

#[test]
fn what_came_without_entries_is_found() {
    let mut world = World::new();
    let mut entity = world.entity("Database", "a", &[("name", text("one"))]);
    world.put(&entity);
    let first = world.store.now();
    world.put(&world.entity("Person", "b", &[]));
    world.put_relationship(&world.relationship("DataContentForDataSet", "r", ["a", "b"]));
    world.clock.advance(5_000);
    entity.properties = Some(world.properties("Database", &[("name", text("two"))]));
    entity.header.audit.version = 2;
    world.put(&entity);
    strip(&world);
    world.restart();
    world.verify();
    let walk = |subject| all(subject, WalkBy::Guid);
    assert_eq!(world.guids(None, &walk(Subject::Entities)), ["a", "b"]);
    assert_eq!(world.guids(None, &walk(Subject::Relationships)), ["r"]);
    let by = |name| all(Subject::Entities, WalkBy::Text(name));
    assert_eq!(world.guids(None, &by("two")), ["a"]);
    assert_eq!(world.guids(Some(first), &by("one")), ["a"]);
    let found = world.reader(None).relationship("r").expect("read");
    assert!(found.is_some());
    assert!(
        world
            .store
            .has_ever(world.types.by_name("Person").expect("a type"))
            .expect("an answer")
    );
}
