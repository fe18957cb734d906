//! Several at once: nothing is lost, and times grow.

use varve_omrs::json::Millis;
use varve_omrs::store::*;
use varve_omrs::{Exception, OmrsError};

use crate::world::*;

const THREADS: i64 = 4;
const ROUNDS: i64 = 200;

#[test]
fn no_change_is_lost_and_each_has_a_later_start() {
    let world = World::new();
    for guid in ["a", "b"] {
        world.put(&world.entity("Database", guid, &[]));
    }
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let world = &world;
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    // Half of them do not say beforehand what they touch.
                    let hints: &[&str] = if thread % 2 == 0 { &["a", "b"] } else { &[] };
                    let order = if (thread + round) % 2 == 0 {
                        ["a", "b"]
                    } else {
                        ["b", "a"]
                    };
                    let done = world.store.transact(hints, &mut |transaction| {
                        for guid in order {
                            let mut entity = transaction.entity(guid)?.expect("there");
                            let audit = &mut entity.header_mut().audit;
                            assert!(
                                audit
                                    .update_time
                                    .is_none_or(|time| time <= transaction.now())
                            );
                            audit.version += 1;
                            audit.update_time = Some(transaction.now());
                            transaction.put_entity(entity, None)?;
                        }
                        Ok(())
                    });
                    done.expect("stored");
                }
            });
        }
    });
    let versions = 1 + THREADS * ROUNDS;
    for guid in ["a", "b"] {
        let history = world.entity_history(guid);
        let rendered: Vec<i64> = history
            .iter()
            .map(|it| it.state.header().audit.version)
            .collect();
        assert_eq!(rendered, (1..=versions).collect::<Vec<i64>>());
        for version in &history[1..] {
            assert_eq!(version.state.header().audit.update_time, Some(version.from));
        }
    }
    world.verify();
}

#[test]
fn an_entity_that_is_purged_takes_no_new_relationship() {
    let world = World::new();
    for round in 0..50 {
        let (a, b) = (format!("a{round}"), format!("b{round}"));
        for guid in [&a, &b] {
            world.put(&world.entity("Database", guid, &[]));
        }
        let link = |number: i32| {
            let guid = format!("r{round}-{number}");
            let relationship = world.relationship("DataContentForDataSet", &guid, [&a, &b]);
            let _ = world.store.transact(&[], &mut |transaction| {
                if transaction.entity(&a)?.is_none() {
                    return Ok(());
                }
                transaction.put_relationship(relationship.clone(), None)
            });
        };
        std::thread::scope(|scope| {
            scope.spawn(|| (0..5).for_each(link));
            scope.spawn(|| {
                let purged = world.store.transact(&[], &mut |it| it.purge_entity(&a));
                purged.expect("purged");
            });
        });
    }
    let left = world.guids(None, &all(Subject::Relationships, WalkBy::Guid));
    assert_eq!(left, [""; 0]);
    world.verify();
}

#[test]
fn what_fails_changes_nothing() {
    let world = World::new();
    let entity = world.entity("Database", "a", &[]);
    let failed = world.store.transact(&[], &mut |transaction| {
        transaction.put_entity(StoredEntity::Detail(entity.clone()), None)?;
        Err(OmrsError::new(
            varve_omrs::error::Message::NoGuid,
            &["test"],
        ))
    });
    assert_eq!(
        failed.expect_err("as it failed").exception,
        Exception::InvalidParameter
    );
    assert!(world.reader(None).entity("a").expect("read").is_none());
}

#[test]
fn several_states_of_one_millisecond_follow_one_another() {
    let world = World::new();
    let mut entity = world.entity("Database", "a", &[]);
    let now = world.store.now();
    for version in 1..=5 {
        entity.header.audit.version = version;
        world.put(&entity);
        if version == 3 {
            // The clock goes back; now stands still.
            world.clock.advance(-60_000_000);
        }
    }
    assert_eq!(world.store.now(), now);
    let at = |at: Millis| {
        let found = world.reader(Some(at)).entity("a").expect("read");
        found.map(|found| found.header().audit.version)
    };
    assert_eq!((at(Millis(now.0 - 1)), at(now)), (None, Some(5)));
    let history = world.entity_history("a");
    let rendered: Vec<i64> = history
        .iter()
        .map(|it| it.state.header().audit.version)
        .collect();
    assert_eq!(rendered, [1, 2, 3, 4, 5]);
}
