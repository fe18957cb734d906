//! Reading by GUID, now and as it was.

use super::*;

#[test]
fn what_is_not_there_is_said_so() {
    on_new_store(|f| {
        let r = &f.repository;
        let no_guid = (Exception::InvalidParameter, "OMRS-REPOSITORY-400-014");
        let range = HistoryRangeRequest::default();
        assert_eq!(failure(r.is_entity_known("")), no_guid);
        assert_eq!(failure(r.get_entity_summary("")), no_guid);
        assert_eq!(failure(r.get_entity_detail("", None)), no_guid);
        assert_eq!(failure(r.get_entity_detail_history("", &range)), no_guid);
        assert_eq!(failure(r.get_home_classifications("", None)), no_guid);
        assert_eq!(failure(r.is_relationship_known("")), no_guid);
        assert_eq!(failure(r.get_relationship("", None)), no_guid);
        assert_eq!(failure(r.get_relationship_history("", &range)), no_guid);
        let unknown = (Exception::EntityNotKnown, "OMRS-REPOSITORY-404-002");
        assert_eq!(r.is_entity_known("x").unwrap(), None);
        assert_eq!(failure(r.get_entity_summary("x")), unknown);
        assert_eq!(failure(r.get_entity_detail("x", None)), unknown);
        assert_eq!(failure(r.get_entity_detail_history("x", &range)), unknown);
        assert_eq!(failure(r.get_home_classifications("x", None)), unknown);
        let unknown = (Exception::RelationshipNotKnown, "OMRS-REPOSITORY-404-003");
        assert_eq!(r.is_relationship_known("x").unwrap(), None);
        assert_eq!(failure(r.get_relationship("x", None)), unknown);
        assert_eq!(failure(r.get_relationship_history("x", &range)), unknown);
    });
}

#[test]
fn an_entity_is_read_as_it_was() {
    on_new_store(|f| {
        let r = &f.repository;
        let before = f.moment();
        let entity = f.entity("Asset", "a");
        let guid = entity.header.guid();
        let first = f.moment();
        let classified = r.classify_entity("bob", guid, "Confidentiality", Default::default());
        let classified = classified.unwrap();
        let second = f.moment();
        let properties = as_request(strings(&[("name", "n")]));
        let changed = r.update_entity_properties("bob", guid, properties).unwrap();
        let third = f.moment();
        r.delete_entity("bob", guid, &expected(&entity.header))
            .unwrap();
        let fourth = f.moment();
        let restored = r.restore_entity("bob", guid).unwrap();
        let read = |time| r.get_entity_detail(guid, Some(&at(time)));
        let unknown = (Exception::EntityNotKnown, "OMRS-REPOSITORY-404-002");
        assert_eq!(failure(read(before)), unknown);
        assert_eq!(read(first).unwrap(), entity);
        assert_eq!(read(second).unwrap(), classified);
        assert_eq!(read(third).unwrap(), changed);
        let gone = (Exception::EntityNotKnown, "OMRS-REPOSITORY-404-013");
        assert_eq!(failure(read(fourth)), gone);
        assert_eq!(read(f.store.now()).unwrap(), restored);
        let later = Millis(f.store.now().0 + 1_000_000);
        let future = (Exception::InvalidParameter, "OMRS-REPOSITORY-400-038");
        assert_eq!(failure(read(later)), future);
        let none = failure(r.get_entity_detail(guid, Some(&HistoryRequest::default())));
        assert_eq!(
            none,
            (Exception::InvalidParameter, "OMRS-REPOSITORY-400-057")
        );
        let homes = |time| r.get_home_classifications(guid, Some(&at(time)));
        assert_eq!(homes(first).unwrap(), []);
        assert_eq!(homes(second).unwrap(), *classified.classifications);
        assert_eq!(failure(homes(fourth)), gone);
    });
}

#[test]
fn the_history_of_an_entity_is_ordered_and_paged() {
    on_new_store(|f| {
        let r = &f.repository;
        let mut states = vec![f.entity("Asset", "a")];
        let guid = states[0].header.guid().to_owned();
        let mut moments = vec![f.moment()];
        for name in ["b", "c"] {
            let properties = as_request(strings(&[("name", name)]));
            states.push(
                r.update_entity_properties("bob", &guid, properties)
                    .unwrap(),
            );
            moments.push(f.moment());
        }
        let of = expected(&states[0].header);
        states.push(r.delete_entity("bob", &guid, &of).unwrap());
        let ask = |change: &dyn Fn(&mut HistoryRangeRequest)| {
            let mut request = HistoryRangeRequest {
                order: Some(HistorySequencingOrder::Forwards),
                ..HistoryRangeRequest::default()
            };
            change(&mut request);
            r.get_entity_detail_history(&guid, &request)
        };
        assert_eq!(ask(&|_| {}).unwrap(), states);
        let newest_first: Vec<_> = states.iter().rev().cloned().collect();
        assert_eq!(ask(&|request| request.order = None).unwrap(), newest_first);
        let page = ask(&|request| (request.offset, request.page_size) = (1, 2));
        assert_eq!(page.unwrap(), states[1..3]);
        assert_eq!(ask(&|request| request.offset = 4).unwrap(), []);
        let from = ask(&|request| request.from_time = Some(moments[1]));
        assert_eq!(from.unwrap(), states[1..]);
        let to = ask(&|request| request.to_time = Some(Millis(moments[1].0 + 1)));
        assert_eq!(to.unwrap(), states[..2]);
        let both = ask(&|request| {
            request.from_time = Some(moments[0]);
            request.to_time = Some(Millis(moments[0].0 + 1));
        });
        assert_eq!(both.unwrap(), states[..1]);
        let began = states[1].header.audit.update_time.unwrap();
        let just = ask(&|request| {
            request.from_time = Some(began);
            request.to_time = Some(Millis(began.0 + 1));
        });
        assert!(just.unwrap().contains(&states[1]));
        let ahead = ask(&|request| request.to_time = Some(Millis(1000)));
        assert_eq!(ahead.unwrap(), []);
        let empty = ask(&|request| {
            request.from_time = Some(moments[0]);
            request.to_time = Some(moments[0]);
        });
        let bad_range = (Exception::InvalidParameter, "OMRS-REPOSITORY-400-083");
        assert_eq!(failure(empty), bad_range);
        let negative = (Exception::PagingError, "OMRS-REPOSITORY-400-050");
        assert_eq!(failure(ask(&|request| request.offset = -1)), negative);
        assert_eq!(failure(ask(&|request| request.page_size = -1)), negative);
    });
}

#[test]
fn a_relationship_is_read_as_it_was_with_its_ends() {
    on_new_store(|f| {
        let r = &f.repository;
        let (asset, _, meaning) = f.meaning();
        let guid = meaning.header.guid();
        let first = f.moment();
        let properties = as_request(strings(&[("qualifiedName", "b")]));
        let renamed = r.update_entity_properties("bob", asset.header.guid(), properties);
        let second = f.moment();
        let properties = as_request(strings(&[("expression", "x")]));
        let changed = r
            .update_relationship_properties("bob", guid, properties)
            .unwrap();
        let third = f.moment();
        let of = expected(&meaning.header);
        let deleted = r.delete_relationship("bob", guid, &of).unwrap();
        let read = |time| r.get_relationship(guid, Some(&at(time)));
        assert_eq!(read(first).unwrap(), meaning);
        let end = read(second).unwrap().entity_one.unwrap();
        assert_eq!(end.header, renamed.unwrap().header);
        assert_eq!(read(third).unwrap(), changed);
        let gone = (Exception::RelationshipNotKnown, "OMRS-REPOSITORY-404-012");
        assert_eq!(failure(read(f.store.now())), gone);
        let history = r.get_relationship_history(guid, &HistoryRangeRequest::default());
        assert_eq!(history.unwrap(), [deleted, changed, meaning.clone()]);
        let unknown = (Exception::RelationshipNotKnown, "OMRS-REPOSITORY-404-003");
        assert_eq!(failure(read(Millis(1000))), unknown);
    });
}

#[test]
fn states_of_one_millisecond_are_distinguished() {
    let (store, clock) = below::store_and_clock();
    let f = Fixture::on(store);
    clock.stop();
    let first = f.entity("Asset", "a");
    let guid = first.header.guid();
    let properties = as_request(strings(&[("name", "b")]));
    let second = f
        .repository
        .update_entity_properties("bob", guid, properties)
        .unwrap();
    let request = HistoryRangeRequest {
        from_time: first.header.audit.create_time,
        ..HistoryRangeRequest::default()
    };
    let history = f
        .repository
        .get_entity_detail_history(guid, &request)
        .unwrap();
    assert_eq!(history, [second.clone(), first.clone()]);
    let time = at(f.store.now());
    assert_eq!(
        f.repository.get_entity_detail(guid, Some(&time)).unwrap(),
        second
    );
    let undone = f.repository.undo_entity_update("bob", guid).unwrap();
    assert_eq!(undone.properties, first.properties);
}

#[test]
fn work_that_is_done_again_after_a_conflict_is_done_once() {
    let f = Fixture::on(below::store());
    let (asset, _, meaning) = f.meaning();
    let (holds, is_held) = std::sync::mpsc::channel();
    let changed = std::thread::scope(|threads| {
        // Another change of an end: the work finds that out once it reads the end.
        threads.spawn(|| {
            let guid = asset.header.guid();
            let changed = f.store.transact(&[guid], &mut |transaction| {
                let mut end = transaction.entity(guid)?.unwrap();
                end.header_mut().audit.version = 7;
                transaction.put_entity(end, None)?;
                holds.send(()).unwrap();
                std::thread::sleep(std::time::Duration::from_millis(200));
                Ok(())
            });
            changed.unwrap();
        });
        is_held.recv().unwrap();
        let properties = as_request(strings(&[("expression", "x")]));
        let guid = meaning.header.guid();
        f.repository
            .update_relationship_properties("bob", guid, properties)
            .unwrap()
    });
    assert_eq!(changed.header.audit.version, 2);
    let end = changed.entity_one.as_ref().unwrap();
    assert_eq!(end.header.audit.version, 7);
    let guid = meaning.header.guid();
    assert_eq!(f.repository.get_relationship(guid, None).unwrap(), changed);
    let all = HistoryRangeRequest::default();
    let history = f.repository.get_relationship_history(guid, &all).unwrap();
    assert_eq!(history.len(), 2);
}

#[test]
fn the_metadata_collection_is_the_same_after_opening_again() {
    let store = below::store();
    let open = |id: Option<&str>| {
        let options = Options {
            metadata_collection_id: id.map(str::to_owned),
            ..options()
        };
        Repository::open(Arc::clone(&store), options)
    };
    let id = open(None).unwrap().get_metadata_collection_id().to_owned();
    assert_eq!(id.len(), 36);
    assert_eq!(open(None).unwrap().get_metadata_collection_id(), id);
    assert_eq!(open(Some(&id)).unwrap().get_metadata_collection_id(), id);
    assert_eq!(failure(open(Some("other"))).0, Exception::RepositoryError);
    let store = below::store();
    let given = Options {
        metadata_collection_id: Some("given".to_owned()),
        ..options()
    };
    let repository = Repository::open(store, given).unwrap();
    assert_eq!(repository.get_metadata_collection_id(), "given");
}
