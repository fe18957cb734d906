//! The life of relationships.

use super::*;

#[test]
fn a_new_relationship_tells_of_its_ends() {
    on_new_store(|f| {
        let (asset, term, meaning) = f.meaning();
        let header = &meaning.header;
        assert_eq!(header.audit.version, 1);
        assert_eq!(header.audit.created_by.as_deref(), Some("ada"));
        assert_eq!(header.audit.status, Some(InstanceStatus::Active));
        assert_eq!(header.audit.type_name(), "SemanticAssignment");
        let url = format!("/instances/relationship/{}", header.guid());
        assert!(header.instance_url.as_ref().unwrap().ends_with(&url));
        assert_eq!(
            text(meaning.properties.as_ref(), "description"),
            Some("means")
        );
        for (proxy, entity) in [(&meaning.entity_one, &asset), (&meaning.entity_two, &term)] {
            let proxy = proxy.as_ref().unwrap();
            assert_eq!(proxy.header, entity.header);
            assert_eq!(proxy.unique_properties, entity.properties);
        }
        let read = f.repository.get_relationship(header.guid(), None).unwrap();
        assert_eq!(read, meaning);
        // The ends are rendered as they are now.
        let guid = asset.header.guid();
        let changed = as_request(strings(&[("qualifiedName", "b"), ("name", "n")]));
        let changed = f.repository.update_entity_properties("bob", guid, changed);
        let read = f.repository.get_relationship(header.guid(), None).unwrap();
        let end = read.entity_one.unwrap();
        assert_eq!(end.header, changed.unwrap().header);
        assert_eq!(end.unique_properties.as_ref().unwrap().values.len(), 1);
        assert_eq!(
            text(end.unique_properties.as_ref(), "qualifiedName"),
            Some("b")
        );
    });
}

#[test]
fn two_entities_may_be_linked_twice_and_one_with_itself() {
    on_new_store(|f| {
        let (asset, term, meaning) = f.meaning();
        let ends = [asset.header.guid(), term.header.guid()];
        let again = f.link_request("SemanticAssignment", ends[0], ends[1]);
        let again = f.repository.add_relationship("ada", again).unwrap();
        assert_ne!(again.header.guid(), meaning.header.guid());
        let with_itself = f.link_request("SemanticAssignment", ends[1], ends[1]);
        let with_itself = f.repository.add_relationship("ada", with_itself).unwrap();
        assert_eq!(with_itself.entity_one, with_itself.entity_two);
        let read = f
            .repository
            .get_relationship(with_itself.header.guid(), None);
        assert_eq!(read.unwrap(), with_itself);
    });
}

#[test]
fn what_a_new_relationship_cannot_have_is_refused() {
    on_new_store(|f| {
        let (asset, term, _) = f.meaning();
        let ends = [asset.header.guid(), term.header.guid()];
        let add = |user: &str, change: &dyn Fn(&mut RelationshipCreateRequest)| {
            let mut request = f.link_request("SemanticAssignment", ends[0], ends[1]);
            change(&mut request);
            failure(f.repository.add_relationship(user, request))
        };
        let invalid = Exception::InvalidParameter;
        let no_user = (Exception::UserNotAuthorized, "OMRS-REST-API-400-001");
        assert_eq!(add("", &|_| {}), no_user);
        let no_type = add("ada", &|request| request.type_guid = None);
        assert_eq!(no_type, (invalid, "OMRS-REPOSITORY-400-022"));
        let entity_type = f.type_guid("Asset");
        let of_entities = add("ada", &|request| {
            request.type_guid = Some(entity_type.clone())
        });
        assert_eq!(
            of_entities,
            (Exception::TypeError, "OMRS-REPOSITORY-404-005")
        );
        let no_end = add("ada", &|request| request.entity_two_guid = None);
        assert_eq!(no_end, (invalid, "OMRS-REPOSITORY-400-014"));
        let colour = strings(&[("colour", "red")]);
        let wrong = add("ada", &|request| request.properties = Some(colour.clone()));
        assert_eq!(wrong, (Exception::PropertyError, "OMRS-REPOSITORY-400-028"));
        let draft = add("ada", &|request| {
            request.status = Some(InstanceStatus::Draft)
        });
        assert_eq!(
            draft,
            (Exception::StatusNotSupported, "OMRS-REPOSITORY-400-035")
        );
        let nobody = add("ada", &|request| {
            request.entity_one_guid = Some("nobody".to_owned())
        });
        assert_eq!(
            nobody,
            (Exception::EntityNotKnown, "OMRS-REPOSITORY-404-002")
        );
        let swapped = add("ada", &|request| {
            std::mem::swap(&mut request.entity_one_guid, &mut request.entity_two_guid);
        });
        assert_eq!(swapped, (invalid, "OMRS-REPOSITORY-400-047"));
        let of = expected(&term.header);
        f.repository.delete_entity("ada", ends[1], &of).unwrap();
        let deleted = add("ada", &|_| {});
        assert_eq!(
            deleted,
            (Exception::EntityNotKnown, "OMRS-REPOSITORY-404-013")
        );
        let request = f.link_request("SemanticAssignment", ends[0], ends[1]);
        let external = failure(f.repository.add_external_relationship("ada", request));
        assert_eq!(external, (invalid, "VARVE-OMRS-400-004"));
    });
}

#[test]
fn a_proxy_may_be_an_end_of_an_external_relationship() {
    on_new_store(|f| {
        let r = &f.repository;
        r.add_entity_proxy("ada", foreign_proxy(f, "Asset", "far"))
            .unwrap();
        let term = f.entity("GlossaryTerm", "t");
        let mut request = f.link_request("SemanticAssignment", "far", term.header.guid());
        request.metadata_collection_id = Some("source".to_owned());
        let added = r.add_external_relationship("ada", request).unwrap();
        let id = r.get_metadata_collection_id();
        assert_eq!(added.header.audit.replicated_by.as_deref(), Some(id));
        let far = foreign_proxy(f, "Asset", "far");
        assert_eq!(added.entity_one, Some(far.into()));
        let guid = added.header.guid();
        assert_eq!(r.get_relationship(guid, None).unwrap(), added);
        let changed = r.update_relationship_properties("bob", guid, as_request(strings(&[])));
        assert_eq!(changed.unwrap().header.audit.version, 2);
    });
}

#[test]
fn a_relationship_is_changed_and_the_change_undone() {
    on_new_store(|f| {
        let r = &f.repository;
        let (_, _, meaning) = f.meaning();
        let guid = meaning.header.guid();
        assert_eq!(r.undo_relationship_update("bob", guid).unwrap(), meaning);
        let properties = as_request(strings(&[("expression", "x")]));
        let changed = r
            .update_relationship_properties("bob", guid, properties)
            .unwrap();
        assert_eq!(changed.header.audit.version, 2);
        assert_eq!(changed.header.audit.maintained_by, ["bob"]);
        assert_eq!(text(changed.properties.as_ref(), "description"), None);
        assert_eq!(r.get_relationship(guid, None).unwrap(), changed);
        let active = Some(InstanceStatus::Active);
        let activated = r.update_relationship_status("eve", guid, active).unwrap();
        assert_eq!(activated.header.audit.version, 3);
        assert_eq!(r.get_relationship(guid, None).unwrap(), activated);
        let undone = r.undo_relationship_update("eve", guid).unwrap();
        assert_eq!(undone.properties, changed.properties);
        assert_eq!(undone.header.audit.version, 4);
        assert_eq!(r.get_relationship(guid, None).unwrap(), undone);
        r.delete_relationship("bob", guid, &expected(&meaning.header))
            .unwrap();
        let restored = r.restore_relationship("bob", guid).unwrap();
        let undone = r.undo_relationship_update("eve", guid).unwrap();
        assert_eq!(undone.header.audit.status, active);
        assert_eq!(undone.properties, restored.properties);
        assert_eq!(r.get_relationship(guid, None).unwrap(), undone);
        let unknown = (Exception::RelationshipNotKnown, "OMRS-REPOSITORY-404-003");
        let properties = as_request(strings(&[]));
        let nobody = r.update_relationship_properties("bob", "nobody", properties);
        assert_eq!(failure(nobody), unknown);
        assert_eq!(
            failure(r.undo_relationship_update("bob", "nobody")),
            unknown
        );
        let status = r.update_relationship_status("bob", "nobody", active);
        assert_eq!(failure(status), unknown);
        let draft = r.update_relationship_status("bob", guid, Some(InstanceStatus::Draft));
        let not_supported = (Exception::StatusNotSupported, "OMRS-REPOSITORY-400-035");
        assert_eq!(failure(draft), not_supported);
        let none = r.update_relationship_properties("bob", guid, Default::default());
        assert_eq!(
            failure(none),
            (Exception::PropertyError, "OMRS-REPOSITORY-400-037")
        );
    });
}

#[test]
fn a_relationship_is_deleted_restored_and_purged() {
    on_new_store(|f| {
        let r = &f.repository;
        let (_, _, meaning) = f.meaning();
        let guid = meaning.header.guid();
        let of = expected(&meaning.header);
        let not_deleted = (Exception::RelationshipNotDeleted, "OMRS-REPOSITORY-400-046");
        assert_eq!(failure(r.purge_relationship("bob", guid, &of)), not_deleted);
        assert_eq!(failure(r.restore_relationship("bob", guid)), not_deleted);
        let wrong = some_type("Asset", "other");
        let other_type = (Exception::InvalidParameter, "OMRS-REPOSITORY-400-039");
        assert_eq!(
            failure(r.delete_relationship("bob", guid, &wrong)),
            other_type
        );
        let deleted = r.delete_relationship("bob", guid, &of).unwrap();
        assert_eq!(deleted.header.audit.status, Some(InstanceStatus::Deleted));
        assert_eq!(deleted.header.audit.version, 2);
        let gone = (Exception::RelationshipNotKnown, "OMRS-REPOSITORY-404-012");
        assert_eq!(failure(r.get_relationship(guid, None)), gone);
        assert_eq!(r.is_relationship_known(guid).unwrap(), Some(deleted));
        assert_eq!(failure(r.delete_relationship("bob", guid, &of)), gone);
        let restored = r.restore_relationship("bob", guid).unwrap();
        assert_eq!(restored.header.audit.status, Some(InstanceStatus::Active));
        assert_eq!(restored.header.audit.version, 3);
        assert_eq!(r.get_relationship(guid, None).unwrap(), restored);
        r.delete_relationship("bob", guid, &of).unwrap();
        r.purge_relationship("bob", guid, &of).unwrap();
        let unknown = (Exception::RelationshipNotKnown, "OMRS-REPOSITORY-404-003");
        assert_eq!(failure(r.get_relationship(guid, None)), unknown);
        assert_eq!(r.is_relationship_known(guid).unwrap(), None);
        let history = HistoryRangeRequest::default();
        assert_eq!(failure(r.get_relationship_history(guid, &history)), unknown);
        assert_eq!(failure(r.restore_relationship("bob", guid)), unknown);
    });
}

#[test]
fn relationships_go_with_the_entity_at_their_end() {
    on_new_store(|f| {
        let r = &f.repository;
        let (asset, term, meaning) = f.meaning();
        let guid = meaning.header.guid();
        let of = expected(&term.header);
        r.delete_entity("bob", term.header.guid(), &of).unwrap();
        let deleted = r.is_relationship_known(guid).unwrap().unwrap();
        assert_eq!(deleted.header.audit.status, Some(InstanceStatus::Deleted));
        let on_delete = deleted.header.audit.status_on_delete;
        assert_eq!(on_delete, Some(InstanceStatus::Active));
        assert_eq!(deleted.header.audit.version, 2);
        assert_eq!(deleted.header.audit.updated_by.as_deref(), Some("bob"));
        r.restore_entity("bob", term.header.guid()).unwrap();
        let gone = (Exception::RelationshipNotKnown, "OMRS-REPOSITORY-404-012");
        assert_eq!(failure(r.get_relationship(guid, None)), gone);
        let restored = r.restore_relationship("bob", guid).unwrap();
        assert_eq!(restored.header.audit.version, 3);
        let asset_type = expected(&asset.header);
        r.delete_entity("bob", asset.header.guid(), &asset_type)
            .unwrap();
        r.purge_entity("bob", asset.header.guid(), &asset_type)
            .unwrap();
        assert_eq!(r.is_relationship_known(guid).unwrap(), None);
        let unknown = (Exception::RelationshipNotKnown, "OMRS-REPOSITORY-404-003");
        assert_eq!(failure(r.get_relationship(guid, None)), unknown);
        assert!(r.get_entity_detail(term.header.guid(), None).is_ok());
    });
}
