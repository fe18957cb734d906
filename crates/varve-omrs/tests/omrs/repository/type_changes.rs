//! Changes of types that take long: beside writes, one at a time, to their end or all the way back.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use super::types::entity_type;
use super::*;
use varve_kv::{KvError, deadline};
use varve_omrs::error::Message;
use varve_omrs::types::*;

/// Longer than anything here takes, so that what waits for ever fails.
const LONG: Duration = Duration::from_secs(60);

/// A repository with an instance of `Asset`, so that a change of that type makes entries.
pub(super) fn new_repository() -> (Arc<below::Orders>, Arc<Fixture>) {
    let (store, orders) = below::store_and_orders();
    let fixture = Fixture::on(store);
    fixture.entity("Asset", "before");
    // They are read in the background, by the same scan as entries are made.
    assert!(fixture.store.read_texts());
    (orders, Arc::new(fixture))
}

/// The next patch of a type: one more property.
pub(super) fn patch(f: &Fixture, name: &str) -> TypeDefPatch {
    let def = f.repository.get_type_def_by_name(name).unwrap();
    TypeDefPatch {
        type_guid: def.body.summary.link.guid.clone(),
        type_name: def.body.summary.link.name.clone(),
        apply_to_version: def.version(),
        update_to_version: def.version() + 1,
        property_definitions: vec![TypeDefAttribute {
            name: Some(format!("colour{}", def.version())),
            attribute_type: Some(AttributeType::Named("string".to_owned())),
            ..TypeDefAttribute::default()
        }],
        ..TypeDefPatch::default()
    }
}

/// What `work` gives on another thread, in time.
fn elsewhere<T: Send + 'static>(
    f: &Arc<Fixture>,
    work: impl FnOnce(&Arc<Fixture>) -> T + Send + 'static,
) -> T {
    let (done, is_done) = mpsc::channel();
    let f = Arc::clone(f);
    std::thread::spawn(move || done.send(work(&f)));
    is_done.recv_timeout(LONG).expect("nothing is waited for")
}

fn refusal() -> KvError {
    KvError::DiskFull {
        space: "metadata".to_owned(),
        detail: "on purpose".to_owned(),
    }
}

/// That the repository and its store go by the type's version.
fn assert_version(f: &Fixture, name: &str, version: i64) {
    let here = f.repository.get_type_def_by_name(name).unwrap();
    let below = f.store.read(None).unwrap().types();
    let below = below.type_by_name(name).unwrap().version();
    assert_eq!((here.version(), below), (version, version));
}

#[test]
fn a_change_that_fails_on_the_way_goes_back_beside_writes() {
    let (orders, f) = new_repository();
    let patch = patch(&f, "Asset");
    let version = patch.apply_to_version;
    orders.while_types_change(|| Err(refusal()));
    let other = Arc::clone(&f);
    orders.while_types_change(move || {
        elsewhere(&other, |f| f.entity("Asset", "meanwhile"));
        Ok(())
    });
    let failed = f.repository.update_type_def(patch.clone());
    assert_eq!(failed.unwrap_err().message, Message::StoreUnwritable);
    assert!(orders.are_done());
    assert_version(&f, "Asset", version);
    f.entity("Asset", "then");
    f.repository.update_type_def(patch).unwrap();
    assert_version(&f, "Asset", version + 1);
}

#[test]
fn a_change_that_cannot_be_kept_goes_back_beside_writes() {
    let (orders, f) = new_repository();
    let patch = patch(&f, "Asset");
    let version = patch.apply_to_version;
    orders.while_types_change(|| Ok(()));
    let (below, other) = (Arc::clone(&orders), Arc::clone(&f));
    orders.before_notes(move |_| {
        let other = Arc::clone(&other);
        below.while_types_change(move || {
            elsewhere(&other, |f| f.entity("Asset", "meanwhile"));
            Ok(())
        });
        Err(refusal())
    });
    let failed = f.repository.update_type_def(patch.clone());
    assert_eq!(failed.unwrap_err().message, Message::StoreUnwritable);
    assert!(orders.are_done());
    assert_version(&f, "Asset", version);
    orders.before_notes(|_| Ok(()));
    f.repository.update_type_def(patch).unwrap();
    assert_version(&f, "Asset", version + 1);
}

#[test]
fn what_takes_long_does_not_end_with_the_request() {
    let (orders, f) = new_repository();
    let (reached, is_reached) = mpsc::channel();
    let endless = move |step: &'static str| {
        assert_eq!(deadline::current(), None);
        reached.send(step).unwrap();
        Ok(())
    };
    let endless_too = endless.clone();
    orders.while_types_change(move || endless("entries"));
    orders.before_notes(move |_| endless_too("note"));
    let patch = patch(&f, "Asset");
    let version = patch.update_to_version;
    let deadline = Instant::now() + LONG;
    deadline::until(deadline, || {
        f.repository.update_type_def(patch).unwrap();
        assert_eq!(deadline::current(), Some(deadline));
    });
    let steps: Vec<_> = is_reached.try_iter().collect();
    assert_eq!(steps, ["entries", "note"]);
    assert_version(&f, "Asset", version);
}

#[test]
fn whoever_finds_types_being_changed_is_turned_away() {
    let (orders, f) = new_repository();
    let other = Arc::clone(&f);
    let thing = entity_type("Thing", "Asset", &f);
    let def = thing.clone();
    orders.while_types_change(move || {
        let refused = elsewhere(&other, move |f| {
            deadline::until(Instant::now(), || f.repository.add_type_def(def))
        });
        assert_eq!(refused.unwrap_err().message, Message::StoreBusy);
        Ok(())
    });
    f.repository.update_type_def(patch(&f, "Asset")).unwrap();
    deadline::until(Instant::now() + LONG, || {
        f.repository.add_type_def(thing).unwrap();
    });
}

#[test]
fn a_type_that_comes_into_use_meanwhile_stays() {
    let (orders, f) = new_repository();
    let r = &f.repository;
    r.add_type_def(entity_type("Thing", "Asset", &f)).unwrap();
    let guid = f.type_guid("Thing");
    // Another change failed, and so did the way back, so the next one makes their entries.
    let comes = |name: &'static str| {
        f.entity("Asset", "in use");
        orders.while_types_change(|| Err(refusal()));
        orders.while_types_change(|| Err(refusal()));
        let failed = r.update_type_def(patch(&f, "Asset"));
        assert!(orders.are_done());
        assert_eq!(failed.unwrap_err().message, Message::StoreUnwritable);
        let other = Arc::clone(&f);
        orders.while_types_change(move || {
            elsewhere(&other, move |f| f.entity("Thing", name));
            Ok(())
        });
    };
    let purge = || {
        let found = r.find_entities(&EntityFindRequest::default()).unwrap();
        for entity in found {
            let of = expected(&entity.header);
            r.delete_entity("ada", entity.header.guid(), &of).unwrap();
            r.purge_entity("ada", entity.header.guid(), &of).unwrap();
        }
    };
    comes("one");
    assert_eq!(
        failure(r.delete_type_def(&guid, "Thing")),
        (Exception::TypeDefInUse, "OMRS-REPOSITORY-400-001")
    );
    assert_version(
        &f,
        "Thing",
        r.get_type_def_by_guid(&guid).unwrap().version(),
    );
    purge();
    comes("two");
    let request = TypeDefReIdentifyRequest {
        original_name: Some("Thing".to_owned()),
        new_guid: Some("other".to_owned()),
        new_name: Some("Other".to_owned()),
    };
    assert_eq!(
        failure(r.re_identify_type_def(&guid, &request)).0,
        Exception::FunctionNotSupported
    );
    purge();
    r.delete_type_def(&guid, "Thing").unwrap();
    assert!(orders.are_done());
}
