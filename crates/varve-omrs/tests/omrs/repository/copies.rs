//! Copies of instances whose home is elsewhere.

mod relationships;

use super::*;
use varve_omrs::json::RawJson;

#[test]
fn a_copy_is_kept_as_it_comes() {
    on_new_store(|f| {
        let r = &f.repository;
        let mut copy = foreign_entity(f, "Asset", "far");
        let audit = &mut copy.header.audit;
        audit.version = 17;
        audit.update_time = Some(Millis(1_600_000_500_000));
        audit.maintained_by = vec!["eve".to_owned(), "mallory".to_owned()];
        audit.license = Some("free".to_owned());
        audit.mapping_properties = [("key".to_owned(), RawJson::from_string("value"))].into();
        copy.header.instance_url = Some("http://there".to_owned());
        let classification = Classification {
            audit: foreign_header(f, "Confidentiality", "").audit,
            name: Some("Confidentiality".to_owned()),
            ..Classification::default()
        };
        copy.classifications = vec![classification].into();
        r.save_entity_reference_copy("ada", copy.clone()).unwrap();
        assert_eq!(r.get_entity_detail("far", None).unwrap(), copy);
        // It holds from the time on that it names.
        let then = r.get_entity_detail("far", Some(&at(Millis(1_600_000_500_000))));
        assert_eq!(then.unwrap(), copy);
        let before = r.get_entity_detail("far", Some(&at(Millis(1_600_000_499_999))));
        let unknown = (Exception::EntityNotKnown, "OMRS-REPOSITORY-404-002");
        assert_eq!(failure(before), unknown);
    });
}

#[test]
fn a_copy_from_the_future_holds_from_now_on() {
    on_new_store(|f| {
        let mut copy = foreign_entity(f, "Asset", "far");
        copy.header.audit.update_time = Some(Millis(f.store.now().0 + 1_000_000_000));
        let before = f.moment();
        f.repository
            .save_entity_reference_copy("ada", copy.clone())
            .unwrap();
        assert_eq!(f.repository.get_entity_detail("far", None).unwrap(), copy);
        let then = f.repository.get_entity_detail("far", Some(&at(before)));
        assert_eq!(failure(then).0, Exception::EntityNotKnown);
    });
}

#[test]
fn an_older_copy_changes_nothing_and_a_newer_one_replaces_all_but_own_classifications() {
    on_new_store(|f| {
        let r = &f.repository;
        let copy = |version: i64, name: &str| {
            let mut copy = foreign_entity(f, "Asset", "far");
            copy.header.audit.version = version;
            copy.header.audit.update_time = Some(Millis(1_600_000_000_000 + version));
            copy.properties = Some(strings(&[("name", name)]));
            copy
        };
        let save = |copy: EntityDetail| r.save_entity_reference_copy("ada", copy).unwrap();
        save(copy(5, "five"));
        save(copy(4, "four"));
        assert_eq!(r.get_entity_detail("far", None).unwrap(), copy(5, "five"));
        let secret = InstancePropertiesRequest::default();
        let classified = r
            .classify_entity("bob", "far", "Confidentiality", secret)
            .unwrap();
        assert_eq!(classified.header.audit.version, 5);
        save(copy(6, "six"));
        let read = r.get_entity_detail("far", None).unwrap();
        assert_eq!(read.classifications, classified.classifications);
        let six = copy(6, "six");
        assert_eq!((read.header, read.properties), (six.header, six.properties));
        assert_eq!(
            r.get_home_classifications("far", None).unwrap(),
            *classified.classifications
        );
    });
}

#[test]
fn a_copy_is_not_changed_here() {
    on_new_store(|f| {
        let r = &f.repository;
        let copy = foreign_entity(f, "Asset", "far");
        let of = expected(&copy.header);
        r.save_entity_reference_copy("ada", copy.clone()).unwrap();
        let locked = (
            Exception::InvalidParameter,
            "OMRS-METADATA-COLLECTION-500-016",
        );
        let properties = as_request(strings(&[]));
        assert_eq!(
            failure(r.update_entity_properties("bob", "far", properties)),
            locked
        );
        let active = Some(InstanceStatus::Active);
        assert_eq!(
            failure(r.update_entity_status("bob", "far", active)),
            locked
        );
        assert_eq!(failure(r.undo_entity_update("bob", "far")), locked);
        assert_eq!(failure(r.delete_entity("bob", "far", &of)), locked);
        assert_eq!(
            failure(r.re_identify_entity("bob", "far", "new", &of)),
            locked
        );
        assert_eq!(r.get_entity_detail("far", None).unwrap(), copy);
        let mut deleted = copy;
        deleted.header.audit.status = Some(InstanceStatus::Deleted);
        deleted.header.audit.version = 2;
        r.save_entity_reference_copy("ada", deleted).unwrap();
        assert_eq!(failure(r.restore_entity("bob", "far")), locked);
        assert_eq!(failure(r.purge_entity("bob", "far", &of)), locked);
        let link = foreign_relationship(f, "link", ["one", "two"]);
        let of = expected(&link.header);
        r.save_relationship_reference_copy("ada", link).unwrap();
        let properties = as_request(strings(&[]));
        let updated = r.update_relationship_properties("bob", "link", properties);
        assert_eq!(failure(updated), locked);
        let status = r.update_relationship_status("bob", "link", active);
        assert_eq!(failure(status), locked);
        assert_eq!(failure(r.undo_relationship_update("bob", "link")), locked);
        assert_eq!(failure(r.delete_relationship("bob", "link", &of)), locked);
        let identified = r.re_identify_relationship("bob", "link", "new", &of);
        assert_eq!(failure(identified), locked);
    });
}

#[test]
fn copies_that_cannot_be_are_refused() {
    on_new_store(|f| {
        let r = &f.repository;
        let own = f.entity("Asset", "a");
        let save = |change: &dyn Fn(&mut EntityDetail)| {
            let mut copy = foreign_entity(f, "Asset", "far");
            change(&mut copy);
            let saved = failure(r.save_entity_reference_copy("ada", copy.clone()));
            let purged = failure(r.purge_entity_reference_copy("ada", copy.clone()));
            let deleted = failure(r.delete_entity_reference_copy("ada", copy));
            assert_eq!(purged, deleted);
            (saved, purged)
        };
        let both = |found: ((Exception, &str), (Exception, &str))| {
            assert_eq!(found.0, found.1);
            (found.0.0, found.0.1.to_owned())
        };
        let id = r.get_metadata_collection_id().to_owned();
        let home = both(save(&|copy| {
            copy.header.audit.metadata_collection_id = Some(id.clone())
        }));
        let local = "OMRS-REPOSITORY-400-042".to_owned();
        assert_eq!(home, (Exception::InvalidParameter, local));
        let no_home = both(save(&|copy| {
            copy.header.audit.metadata_collection_id = None
        }));
        assert_eq!(no_home.0, Exception::InvalidEntity);
        assert_eq!(
            both(save(&|copy| copy.header.guid = None)).0,
            Exception::InvalidEntity
        );
        let no_type = both(save(&|copy| copy.header.audit.instance_type = None));
        assert_eq!(no_type.0, Exception::TypeError);
        let colour = strings(&[("colour", "red")]);
        let property = both(save(&|copy| copy.properties = Some(colour.clone())));
        assert_eq!(property.0, Exception::PropertyError);
        let (saved, purged) = save(&|copy| copy.header.guid = own.header.guid.clone());
        assert_eq!(saved, (Exception::EntityConflict, "VARVE-OMRS-400-023"));
        assert_eq!(purged.0, Exception::HomeEntity);
        assert_eq!(r.get_entity_detail(own.header.guid(), None).unwrap(), own);
    });
}

#[test]
fn copies_are_purged_with_their_relationships() {
    on_new_store(|f| {
        let r = &f.repository;
        let copy = foreign_entity(f, "Asset", "far");
        let of = expected(&copy.header);
        let save = || r.save_entity_reference_copy("ada", copy.clone()).unwrap();
        let unknown = (Exception::EntityNotKnown, "OMRS-REPOSITORY-404-002");
        let by_id = |home: &str| r.purge_entity_reference_copy_by_id("ada", "far", home, &of);
        assert_eq!(failure(by_id("elsewhere")), unknown);
        assert!(r.purge_entity_reference_copy("ada", copy.clone()).is_ok());
        save();
        let link = foreign_relationship(f, "link", ["far", "two"]);
        r.save_relationship_reference_copy("ada", link).unwrap();
        let id = r.get_metadata_collection_id();
        assert_eq!(failure(by_id("")).0, Exception::InvalidParameter);
        // Which home is named does not matter.
        by_id(id).unwrap();
        assert_eq!(failure(r.get_entity_detail("far", None)), unknown);
        assert_eq!(r.is_relationship_known("link").unwrap(), None);
        save();
        r.delete_entity_reference_copy("ada", copy.clone()).unwrap();
        assert_eq!(r.is_entity_known("far").unwrap(), None);
        let own = f.entity("Asset", "a");
        let own = own.header.guid();
        let here = r.purge_entity_reference_copy_by_id("ada", own, "elsewhere", &of);
        assert_eq!(failure(here).0, Exception::HomeEntity);
    });
}

#[test]
fn there_is_nobody_to_refresh_a_copy() {
    on_new_store(|f| {
        let r = &f.repository;
        let (own, _, link) = f.meaning();
        let of = some_type("Asset", "x");
        assert!(
            r.refresh_entity_reference_copy("ada", "far", "elsewhere", &of)
                .is_ok()
        );
        assert!(
            r.refresh_relationship_reference_copy("ada", "far", "elsewhere", &of)
                .is_ok()
        );
        let own = failure(r.refresh_entity_reference_copy("ada", own.header.guid(), "x", &of));
        assert_eq!(own, (Exception::HomeEntity, "OMRS-REPOSITORY-400-063"));
        let guid = link.header.guid();
        let own = failure(r.refresh_relationship_reference_copy("ada", guid, "x", &of));
        assert_eq!(
            own,
            (Exception::HomeRelationship, "OMRS-REPOSITORY-400-063")
        );
    });
}

#[test]
fn copies_of_classifications_come_and_go() {
    on_new_store(|f| {
        let r = &f.repository;
        let entity = f.entity("Asset", "a");
        let given = |version: i64| {
            let mut header = foreign_header(f, "Confidentiality", "");
            header.audit.version = version;
            Classification {
                audit: header.audit,
                name: Some("Confidentiality".to_owned()),
                properties: Some(strings(&[("notes", "n")])),
                ..Classification::default()
            }
        };
        let request = |entity: &EntityDetail, version| ClassificationWithEntityRequest {
            classification: Some(given(version)),
            entity: Some(entity.clone()),
            proxy: None,
        };
        let save = |version| r.save_classification_reference_copy("ada", request(&entity, version));
        let guid = entity.header.guid();
        let carried = || r.get_entity_detail(guid, None).unwrap().classifications;
        save(3).unwrap();
        assert_eq!(*carried(), [given(3)]);
        save(2).unwrap();
        assert_eq!(*carried(), [given(3)]);
        save(4).unwrap();
        assert_eq!(*carried(), [given(4)]);
        let by_proxy = ClassificationWithEntityRequest {
            classification: Some(given(5)),
            entity: None,
            proxy: Some(EntityProxy {
                header: entity.header.clone(),
                ..EntityProxy::default()
            }),
        };
        r.save_classification_reference_copy("ada", by_proxy.clone())
            .unwrap();
        assert_eq!(*carried(), [given(5)]);
        r.purge_classification_reference_copy("ada", by_proxy)
            .unwrap();
        assert_eq!(*carried(), []);
        save(4).unwrap();
        let detail = r.get_entity_detail(guid, None).unwrap();
        assert_eq!(detail.header, entity.header);
        let locked = (
            Exception::InvalidParameter,
            "OMRS-METADATA-COLLECTION-500-016",
        );
        assert_eq!(
            failure(r.declassify_entity("bob", guid, "Confidentiality")),
            locked
        );
        let purge = || r.purge_classification_reference_copy("ada", request(&entity, 4));
        purge().unwrap();
        assert_eq!(*carried(), []);
        purge().unwrap();
        let nobody = foreign_entity(f, "Asset", "nobody");
        assert!(
            r.save_classification_reference_copy("ada", request(&nobody, 1))
                .is_ok()
        );
        assert!(
            r.purge_classification_reference_copy("ada", request(&nobody, 1))
                .is_ok()
        );
        let own = r
            .classify_entity("bob", guid, "Confidentiality", Default::default())
            .unwrap();
        save(9).unwrap();
        purge().unwrap();
        assert_eq!(carried(), own.classifications);
    });
}

#[test]
fn copies_of_classifications_that_cannot_be_are_refused() {
    on_new_store(|f| {
        let r = &f.repository;
        let entity = f.entity("Asset", "a");
        let save = |change: &dyn Fn(&mut ClassificationWithEntityRequest)| {
            let mut request = ClassificationWithEntityRequest {
                classification: Some(Classification {
                    audit: foreign_header(f, "Confidentiality", "").audit,
                    name: Some("Confidentiality".to_owned()),
                    ..Classification::default()
                }),
                entity: Some(entity.clone()),
                proxy: None,
            };
            change(&mut request);
            failure(r.save_classification_reference_copy("ada", request))
        };
        let null = (Exception::InvalidParameter, "OMRS-REPOSITORY-400-041");
        assert_eq!(save(&|request| request.entity = None), null);
        assert_eq!(save(&|request| request.classification = None), null);
        let change = |change: &dyn Fn(&mut Classification)| {
            save(&|request| change(request.classification.as_mut().unwrap()))
        };
        let id = r.get_metadata_collection_id().to_owned();
        let own = change(&|given| given.audit.metadata_collection_id = Some(id.clone()));
        assert_eq!(
            own,
            (Exception::InvalidParameter, "OMRS-REPOSITORY-400-042")
        );
        let no_home = change(&|given| given.audit.metadata_collection_id = None);
        assert_eq!(no_home.0, Exception::InvalidParameter);
        let unknown = change(&|given| given.name = Some("Nonsense".to_owned()));
        assert_eq!(unknown.0, Exception::TypeError);
        let not_allowed = change(&|given| given.name = Some("SpineObject".to_owned()));
        assert_eq!(not_allowed.0, Exception::TypeError);
        let property = change(&|given| given.properties = Some(strings(&[("colour", "red")])));
        assert_eq!(property.0, Exception::PropertyError);
    });
}

#[test]
fn copies_of_many_instances_are_kept_at_once() {
    on_new_store(|f| {
        let r = &f.repository;
        let names: Vec<String> = (0..1200).map(|number| format!("e{number}")).collect();
        let term = foreign_entity(f, "GlossaryTerm", "t");
        let entities = names.iter().map(|name| foreign_entity(f, "Asset", name));
        let link = |name: &String| foreign_relationship(f, &format!("link {name}"), [name, "t"]);
        let request = InstanceGraphRequest {
            entities: entities.chain([term]).collect(),
            relationships: names.iter().take(3).map(link).collect(),
        };
        r.save_instance_reference_copies("ada", request.clone())
            .unwrap();
        for entity in request.entities.iter().step_by(400) {
            let read = r.get_entity_detail(entity.header.guid(), None);
            assert_eq!(read.unwrap(), *entity);
        }
        for relationship in &request.relationships {
            let read = r.get_relationship(relationship.header.guid(), None);
            assert_eq!(read.unwrap(), *relationship);
        }
    });
}

#[test]
fn of_many_copies_none_is_kept_when_one_is_refused() {
    on_new_store(|f| {
        let r = &f.repository;
        let link = foreign_relationship(f, "link", ["a", "t"]);
        let mut request = InstanceGraphRequest {
            entities: vec![
                foreign_entity(f, "Asset", "a"),
                foreign_entity(f, "GlossaryTerm", "t"),
            ],
            relationships: vec![link],
        };
        let mut wrong = request.clone();
        wrong.relationships[0].entity_one = None;
        // In one transaction, and in as many as there are copies of one instance.
        let again = vec![request.entities[0].clone(); 3];
        for more in [Vec::new(), again] {
            let mut wrong = wrong.clone();
            wrong.entities.extend(more);
            let refused = failure(r.save_instance_reference_copies("ada", wrong));
            assert_eq!(refused.0, Exception::InvalidRelationship);
            for guid in ["a", "t"] {
                assert_eq!(r.is_entity_known(guid).unwrap(), None, "{guid}");
            }
        }
        // One that is our own is refused too.
        let own = f.entity("Asset", "own");
        let mut wrong = request.clone();
        wrong.entities.push(request.entities[0].clone());
        wrong
            .entities
            .push(foreign_entity(f, "Asset", own.header.guid()));
        let refused = failure(r.save_instance_reference_copies("ada", wrong));
        assert_eq!(refused.0, Exception::EntityConflict);
        assert_eq!(r.is_entity_known("a").unwrap(), None);
        request.relationships.clear();
        r.save_instance_reference_copies("ada", request).unwrap();
        assert!(r.is_entity_known("a").unwrap().is_some());
    });
}

#[test]
fn two_copies_of_one_instance_in_a_call_are_two_of_its_states() {
    on_new_store(|f| {
        let r = &f.repository;
        let first = foreign_entity(f, "Asset", "far");
        let mut second = first.clone();
        second.header.audit.version = 2;
        second.header.audit.updated_by = Some("eve".to_owned());
        let made = first.header.audit.create_time.unwrap();
        second.header.audit.update_time = Some(Millis(made.0 + 1));
        second.properties = Some(strings(&[("name", "second")]));
        let request = InstanceGraphRequest {
            entities: vec![first.clone(), second.clone()],
            relationships: Vec::new(),
        };
        r.save_instance_reference_copies("ada", request).unwrap();
        let all = HistoryRangeRequest::default();
        let states = r.get_entity_detail_history("far", &all).unwrap();
        let mut states: Vec<_> = states
            .into_iter()
            .map(|it| it.header.audit.version)
            .collect();
        states.sort_unstable();
        assert_eq!(states, [1, 2]);
        assert_eq!(r.get_entity_detail("far", None).unwrap(), second);
    });
}

#[test]
fn a_copy_that_comes_again_hides_nothing_that_was_since() {
    on_new_store(|f| {
        let r = &f.repository;
        let copy = foreign_entity(f, "Asset", "far");
        r.save_entity_reference_copy("ada", copy.clone()).unwrap();
        let classified = r
            .classify_entity("bob", "far", "Confidentiality", Default::default())
            .unwrap();
        let then = f.moment();
        r.declassify_entity("bob", "far", "Confidentiality")
            .unwrap();
        let states = |r: &Repository| {
            let all = HistoryRangeRequest::default();
            r.get_entity_detail_history("far", &all).unwrap()
        };
        let before = states(r);
        assert_eq!(before.len(), 3);
        r.save_entity_reference_copy("ada", copy.clone()).unwrap();
        assert_eq!(states(r), before);
        // It differs, so it is kept, but not from its own time on.
        let mut other = copy;
        other.properties = Some(strings(&[("name", "other")]));
        r.save_entity_reference_copy("ada", other.clone()).unwrap();
        assert_eq!(r.get_entity_detail("far", None).unwrap(), other);
        assert_eq!(states(r).len(), 4);
        let read = r.get_entity_detail("far", Some(&at(then))).unwrap();
        assert_eq!(read, classified);
        // A classification's copy neither.
        let classification = Classification {
            audit: foreign_header(f, "Retention", "").audit,
            name: Some("Retention".to_owned()),
            ..Classification::default()
        };
        let request = ClassificationWithEntityRequest {
            classification: Some(classification),
            entity: Some(other),
            proxy: None,
        };
        r.save_classification_reference_copy("ada", request)
            .unwrap();
        assert_eq!(states(r).len(), 5);
        let read = r.get_entity_detail("far", Some(&at(then))).unwrap();
        assert_eq!(read, classified);
    });
}

#[test]
fn what_is_attached_to_a_deleted_copy_keeps_its_history() {
    on_new_store(|f| {
        let r = &f.repository;
        let copy = foreign_entity(f, "Asset", "far");
        r.save_entity_reference_copy("ada", copy.clone()).unwrap();
        let term = f.entity("GlossaryTerm", "t");
        let request = f.link_request("SemanticAssignment", "far", term.header.guid());
        let own = r.add_relationship("bob", request).unwrap();
        let own_guid = own.header.guid();
        let link = foreign_relationship(f, "link", ["far", "two"]);
        r.save_relationship_reference_copy("ada", link).unwrap();
        let then = f.moment();
        let mut deleted = copy.clone();
        deleted.header.audit.version = 2;
        r.delete_entity_reference_copy("ada", deleted.clone())
            .unwrap();
        r.delete_entity_reference_copy("ada", deleted).unwrap();
        let unknown = failure(r.get_entity_detail("far", None)).0;
        assert_eq!(unknown, Exception::EntityNotKnown);
        let unknown = failure(r.get_relationship(own_guid, None)).0;
        assert_eq!(unknown, Exception::RelationshipNotKnown);
        assert_eq!(r.is_relationship_known("link").unwrap(), None);
        let read = r.get_relationship(own_guid, Some(&at(then))).unwrap();
        assert_eq!(read.header, own.header);
        let read = r.get_entity_detail("far", Some(&at(then))).unwrap();
        assert_eq!(read, copy);
        let all = HistoryRangeRequest::default();
        let states = r.get_relationship_history(own_guid, &all).unwrap();
        assert_eq!(states.len(), 2);
        // Its home restores it.
        let mut restored = copy.clone();
        restored.header.audit.version = 3;
        r.save_entity_reference_copy("ada", restored.clone())
            .unwrap();
        assert_eq!(r.get_entity_detail("far", None).unwrap(), restored);
        // A classification of ours is reason enough to keep the copy.
        r.purge_entity_reference_copy("ada", copy.clone()).unwrap();
        assert_eq!(r.is_relationship_known(own_guid).unwrap(), None);
        r.save_entity_reference_copy("ada", copy.clone()).unwrap();
        r.classify_entity("bob", "far", "Confidentiality", Default::default())
            .unwrap();
        r.delete_entity_reference_copy("ada", copy).unwrap();
        let kept = r.is_entity_known("far").unwrap().unwrap();
        assert!(kept.header.audit.is_deleted());
        assert_eq!(kept.classifications.len(), 1);
    });
}
