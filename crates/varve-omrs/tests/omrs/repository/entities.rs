//! The life of entities.

use super::*;
use varve_omrs::types::{Catalogue, TypeDefCategory};

#[test]
fn a_new_entity_has_a_whole_header() {
    on_new_store(|f| {
        let mut request = f.request("GlossaryTerm", "term");
        request.classifications = vec![Classification {
            name: Some("Confidentiality".to_owned()),
            properties: Some(strings(&[("notes", "secret")])),
            ..Classification::default()
        }];
        let entity = f.repository.add_entity("ada", request).unwrap();
        let header = &entity.header;
        let audit = &header.audit;
        let id = f.repository.get_metadata_collection_id();
        assert_eq!(header.guid().len(), 36);
        assert_eq!(
            header.instance_url,
            Some(format!(
                "http://host:1/servers/varve/open-metadata/repository-services/instances/entity/{}",
                header.guid()
            ))
        );
        assert_eq!(header.re_identified_from_guid, None);
        assert_eq!(audit.header_version, Some(1));
        assert_eq!(audit.provenance, Some(InstanceProvenanceType::LocalCohort));
        assert_eq!(audit.metadata_collection_id.as_deref(), Some(id));
        assert_eq!(audit.metadata_collection_name.as_deref(), Some("varve"));
        assert_eq!(audit.replicated_by, None);
        assert_eq!(audit.created_by.as_deref(), Some("ada"));
        assert_eq!((audit.updated_by.as_ref(), audit.update_time), (None, None));
        assert!(audit.maintained_by.is_empty());
        assert!(audit.create_time.is_some_and(|time| time <= f.store.now()));
        assert_eq!(audit.version, 1);
        assert_eq!(audit.status, Some(InstanceStatus::Active));
        assert_eq!(audit.type_name(), "GlossaryTerm");
        let carried = entity.classification("Confidentiality").unwrap();
        assert_eq!(carried.audit.version, 1);
        assert_eq!(carried.audit.created_by.as_deref(), Some("ada"));
        assert_eq!(carried.audit.type_name(), "Confidentiality");
        assert_eq!(carried.origin, Some(ClassificationOrigin::Assigned));
        assert_eq!(text(carried.properties.as_ref(), "notes"), Some("secret"));
        let name = entity.properties.as_ref().unwrap().get("qualifiedName");
        assert_eq!(name.unwrap().header().type_name.as_deref(), Some("string"));
        let read = f.repository.get_entity_detail(header.guid(), None).unwrap();
        assert_eq!(read, entity);
    });
}

#[test]
fn what_a_new_entity_cannot_have_is_refused() {
    on_new_store(|f| {
        let add = |user: &str, change: &dyn Fn(&mut EntityCreateRequest)| {
            let mut request = f.request("GlossaryTerm", "term");
            change(&mut request);
            failure(f.repository.add_entity(user, request))
        };
        let link_guid = f.type_guid("SemanticAssignment");
        assert_eq!(
            add("", &|_| {}),
            (Exception::UserNotAuthorized, "OMRS-REST-API-400-001")
        );
        assert_eq!(
            add("ada", &|request| request.type_guid = None),
            (Exception::InvalidParameter, "OMRS-REPOSITORY-400-022")
        );
        for guid in ["nonsense", &link_guid] {
            assert_eq!(
                add("ada", &|request| request.type_guid = Some(guid.to_owned())),
                (Exception::TypeError, "OMRS-REPOSITORY-404-005")
            );
        }
        assert_eq!(
            add("ada", &|request| request.properties =
                Some(strings(&[("colour", "red")]))),
            (Exception::PropertyError, "OMRS-REPOSITORY-400-028")
        );
        assert_eq!(
            add("ada", &|request| request.status =
                Some(InstanceStatus::Draft)),
            (Exception::StatusNotSupported, "OMRS-REPOSITORY-400-035")
        );
        assert_eq!(
            add("ada", &|request| request.status =
                Some(InstanceStatus::Deleted)),
            (Exception::StatusNotSupported, "OMRS-REPOSITORY-400-058")
        );
        let classified = |names: &[&str]| {
            add("ada", &|request| {
                let given = names.iter().map(|name| Classification {
                    name: Some((*name).to_owned()),
                    ..Classification::default()
                });
                request.classifications = given.collect();
            })
        };
        let not_known = (Exception::ClassificationError, "OMRS-REPOSITORY-400-005");
        assert_eq!(classified(&["Nonsense"]), not_known);
        let not_allowed = (Exception::ClassificationError, "OMRS-REPOSITORY-400-006");
        assert_eq!(classified(&["AssetZoneMembership"]), not_allowed);
        let twice = (Exception::ClassificationError, "OMRS-REPOSITORY-400-081");
        assert_eq!(classified(&["Confidentiality", "Confidentiality"]), twice);
        assert_eq!(
            failure(
                f.repository
                    .add_external_entity("ada", f.request("Asset", "a"))
            ),
            (Exception::InvalidParameter, "VARVE-OMRS-400-004")
        );
    });
}

#[test]
fn an_external_entity_is_replicated_and_changed_here() {
    on_new_store(|f| {
        let mut request = f.request("Asset", "a");
        request.metadata_collection_id = Some("source".to_owned());
        request.metadata_collection_name = Some("Source".to_owned());
        let entity = f.repository.add_external_entity("ada", request).unwrap();
        let audit = &entity.header.audit;
        let id = f.repository.get_metadata_collection_id();
        assert_eq!(
            audit.provenance,
            Some(InstanceProvenanceType::ExternalSource)
        );
        assert_eq!(audit.metadata_collection_id.as_deref(), Some("source"));
        assert_eq!(audit.metadata_collection_name.as_deref(), Some("Source"));
        assert_eq!(audit.replicated_by.as_deref(), Some(id));
        let changed = as_request(strings(&[("name", "n")]));
        let guid = entity.header.guid();
        let changed = f.repository.update_entity_properties("bob", guid, changed);
        assert_eq!(changed.unwrap().header.audit.version, 2);
    });
}

#[test]
fn changes_count_versions_and_name_who_made_them() {
    on_new_store(|f| {
        let r = &f.repository;
        let entity = f.entity("ControlledGlossaryTerm", "term");
        let guid = entity.header.guid();
        assert_eq!(entity.header.audit.status, Some(InstanceStatus::Draft));
        let approved = r.update_entity_status("bob", guid, Some(InstanceStatus::Approved));
        let approved = approved.unwrap();
        let audit = &approved.header.audit;
        assert_eq!(
            (audit.version, audit.status),
            (2, Some(InstanceStatus::Approved))
        );
        assert_eq!(audit.updated_by.as_deref(), Some("bob"));
        assert_eq!(audit.maintained_by, ["bob"]);
        assert!(audit.update_time >= audit.create_time);
        assert_eq!(r.get_entity_detail(guid, None).unwrap(), approved);
        let named = as_request(strings(&[("displayName", "Term")]));
        let named = r.update_entity_properties("eve", guid, named).unwrap();
        assert_eq!(named.header.audit.version, 3);
        assert_eq!(named.header.audit.maintained_by, ["bob", "eve"]);
        assert_eq!(text(named.properties.as_ref(), "qualifiedName"), None);
        assert_eq!(text(named.properties.as_ref(), "displayName"), Some("Term"));
        assert_eq!(r.get_entity_detail(guid, None).unwrap(), named);
        let emptied = as_request(InstanceProperties::default());
        let emptied = r.update_entity_properties("bob", guid, emptied).unwrap();
        assert_eq!(emptied.properties, Some(InstanceProperties::default()));
        assert_eq!(emptied.header.audit.maintained_by, ["bob", "eve"]);
        assert_eq!(r.get_entity_detail(guid, None).unwrap(), emptied);
        assert_eq!(
            emptied.header.audit.create_time,
            entity.header.audit.create_time
        );
    });
}

#[test]
fn changes_that_make_no_sense_are_refused() {
    on_new_store(|f| {
        let r = &f.repository;
        let entity = f.entity("Asset", "a");
        let guid = entity.header.guid();
        let status = |guid: &str, status| failure(r.update_entity_status("bob", guid, status));
        let not_supported = Exception::StatusNotSupported;
        assert_eq!(
            status(guid, None),
            (Exception::InvalidParameter, "OMRS-REPOSITORY-400-036")
        );
        let draft = Some(InstanceStatus::Draft);
        assert_eq!(
            status(guid, draft),
            (not_supported, "OMRS-REPOSITORY-400-035")
        );
        let deleted = Some(InstanceStatus::Deleted);
        assert_eq!(
            status(guid, deleted),
            (not_supported, "OMRS-REPOSITORY-400-058")
        );
        let active = Some(InstanceStatus::Active);
        let unknown = (Exception::EntityNotKnown, "OMRS-REPOSITORY-404-002");
        assert_eq!(status("nobody", active), unknown);
        assert_eq!(
            status("", active),
            (Exception::InvalidParameter, "OMRS-REPOSITORY-400-014")
        );
        let properties = |guid: &str, properties| {
            let request = InstancePropertiesRequest { properties };
            failure(r.update_entity_properties("bob", guid, request))
        };
        let none = (Exception::PropertyError, "OMRS-REPOSITORY-400-037");
        assert_eq!(properties(guid, None), none);
        let wrong = strings(&[("colour", "red")]);
        let unknown_property = (Exception::PropertyError, "OMRS-REPOSITORY-400-028");
        assert_eq!(properties(guid, Some(wrong)), unknown_property);
        assert_eq!(properties("nobody", Some(strings(&[]))), unknown);
        assert_eq!(failure(r.undo_entity_update("bob", "nobody")), unknown);
        assert_eq!(failure(r.restore_entity("bob", "nobody")), unknown);
        assert_eq!(r.get_entity_detail(guid, None).unwrap(), entity);
    });
}

#[test]
fn undoing_brings_the_content_before_the_change_back() {
    on_new_store(|f| {
        let r = &f.repository;
        let entity = f.entity("ControlledGlossaryTerm", "term");
        let guid = entity.header.guid();
        assert_eq!(r.undo_entity_update("bob", guid).unwrap(), entity);
        let changed = as_request(strings(&[("displayName", "Term")]));
        r.update_entity_properties("bob", guid, changed).unwrap();
        let secret = InstancePropertiesRequest::default();
        let secret = r.classify_entity("bob", guid, "Confidentiality", secret);
        let undone = r.undo_entity_update("eve", guid).unwrap();
        let audit = &undone.header.audit;
        assert_eq!(
            (audit.version, audit.status),
            (3, Some(InstanceStatus::Draft))
        );
        assert_eq!(audit.updated_by.as_deref(), Some("eve"));
        assert_eq!(undone.properties, entity.properties);
        assert_eq!(undone.classifications, secret.unwrap().classifications);
        assert_eq!(r.get_entity_detail(guid, None).unwrap(), undone);
        // Undone again, the change is back.
        let again = r.undo_entity_update("eve", guid).unwrap();
        assert_eq!(again.header.audit.version, 4);
        assert_eq!(text(again.properties.as_ref(), "displayName"), Some("Term"));
    });
}

#[test]
fn undoing_passes_over_a_deletion() {
    on_new_store(|f| {
        let r = &f.repository;
        let entity = f.entity("ControlledGlossaryTerm", "term");
        let guid = entity.header.guid();
        let changed = as_request(strings(&[("displayName", "Term")]));
        r.update_entity_properties("bob", guid, changed).unwrap();
        let of = expected(&entity.header);
        r.delete_entity("bob", guid, &of).unwrap();
        r.restore_entity("bob", guid).unwrap();
        let other = f.entity("GlossaryTerm", "other");
        let link = f.link_request("Synonym", guid, other.header.guid());
        let link = r.add_relationship("bob", link).unwrap();
        let undone = r.undo_entity_update("eve", guid).unwrap();
        let audit = &undone.header.audit;
        assert_eq!(
            (audit.version, audit.status, audit.status_on_delete),
            (5, Some(InstanceStatus::Draft), None)
        );
        assert_eq!(
            text(undone.properties.as_ref(), "displayName"),
            Some("Term")
        );
        assert_eq!(r.get_entity_detail(guid, None).unwrap(), undone);
        assert!(r.get_relationship(link.header.guid(), None).is_ok());
    });
}

#[test]
fn an_entity_is_deleted_restored_and_purged() {
    on_new_store(|f| {
        let r = &f.repository;
        let entity = f.entity("ControlledGlossaryTerm", "term");
        let guid = entity.header.guid();
        let of = expected(&entity.header);
        let not_deleted = (Exception::EntityNotDeleted, "OMRS-REPOSITORY-400-046");
        assert_eq!(failure(r.purge_entity("bob", guid, &of)), not_deleted);
        assert_eq!(failure(r.restore_entity("bob", guid)), not_deleted);
        let deleted = r.delete_entity("bob", guid, &of).unwrap();
        let audit = &deleted.header.audit;
        assert_eq!(
            (audit.version, audit.status),
            (2, Some(InstanceStatus::Deleted))
        );
        assert_eq!(audit.status_on_delete, Some(InstanceStatus::Draft));
        let gone = (Exception::EntityNotKnown, "OMRS-REPOSITORY-404-013");
        assert_eq!(failure(r.get_entity_detail(guid, None)), gone);
        assert_eq!(failure(r.get_entity_summary(guid)), gone);
        assert_eq!(failure(r.undo_entity_update("bob", guid)), gone);
        let status = Some(InstanceStatus::Active);
        assert_eq!(failure(r.update_entity_status("bob", guid, status)), gone);
        assert_eq!(r.is_entity_known(guid).unwrap(), Some(deleted));
        assert_eq!(failure(r.delete_entity("bob", guid, &of)), gone);
        let restored = r.restore_entity("eve", guid).unwrap();
        let audit = &restored.header.audit;
        assert_eq!(
            (audit.version, audit.status),
            (3, Some(InstanceStatus::Draft))
        );
        assert_eq!(audit.status_on_delete, None);
        assert_eq!(restored.properties, entity.properties);
        assert_eq!(r.get_entity_detail(guid, None).unwrap(), restored);
        r.delete_entity("bob", guid, &of).unwrap();
        r.purge_entity("bob", guid, &of).unwrap();
        let unknown = (Exception::EntityNotKnown, "OMRS-REPOSITORY-404-002");
        assert_eq!(failure(r.get_entity_detail(guid, None)), unknown);
        assert_eq!(r.is_entity_known(guid).unwrap(), None);
        let history = HistoryRangeRequest::default();
        assert_eq!(
            failure(r.get_entity_detail_history(guid, &history)),
            unknown
        );
        assert_eq!(failure(r.purge_entity("bob", guid, &of)), unknown);
        assert_eq!(failure(r.delete_entity("bob", guid, &of)), unknown);
    });
}

#[test]
fn deleting_names_the_right_type() {
    on_new_store(|f| {
        let r = &f.repository;
        let entity = f.entity("Asset", "a");
        let guid = entity.header.guid();
        let asset = f.type_guid("Asset");
        let wrong = [
            (some_type("Asset", ""), "OMRS-REPOSITORY-400-022"),
            (some_type("", &asset), "OMRS-REPOSITORY-400-023"),
            (some_type("Process", &asset), "OMRS-REPOSITORY-400-039"),
            (some_type("Asset", "other"), "OMRS-REPOSITORY-400-039"),
        ];
        for (of, id) in &wrong {
            let refused = failure(r.delete_entity("bob", guid, of));
            assert_eq!(refused, (Exception::InvalidParameter, *id));
        }
        assert_eq!(r.get_entity_detail(guid, None).unwrap(), entity);
        r.delete_entity("bob", guid, &expected(&entity.header))
            .unwrap();
        for (of, id) in &wrong {
            let refused = failure(r.purge_entity("bob", guid, of));
            assert_eq!(refused, (Exception::InvalidParameter, *id));
        }
        assert!(r.is_entity_known(guid).unwrap().is_some());
    });
}

#[test]
fn a_proxy_stands_for_an_entity_but_is_not_changed() {
    on_new_store(|f| {
        let r = &f.repository;
        let proxy = foreign_proxy(f, "Asset", "far");
        r.add_entity_proxy("ada", proxy.clone()).unwrap();
        let summary = r.get_entity_summary("far").unwrap();
        assert_eq!(summary.header, proxy.header);
        assert_eq!(r.is_entity_known("far").unwrap(), None);
        let only = (Exception::EntityProxyOnly, "OMRS-REPOSITORY-400-051");
        assert_eq!(failure(r.get_entity_detail("far", None)), only);
        let history = HistoryRangeRequest::default();
        assert_eq!(failure(r.get_entity_detail_history("far", &history)), only);
        let only = (Exception::InvalidParameter, "OMRS-LOCAL-REPOSITORY-503-007");
        let of = expected(&proxy.header);
        let properties = as_request(strings(&[]));
        assert_eq!(
            failure(r.update_entity_properties("bob", "far", properties)),
            only
        );
        let status = Some(InstanceStatus::Active);
        assert_eq!(failure(r.update_entity_status("bob", "far", status)), only);
        assert_eq!(failure(r.undo_entity_update("bob", "far")), only);
        assert_eq!(failure(r.delete_entity("bob", "far", &of)), only);
        let unknown = (Exception::EntityNotKnown, "OMRS-REPOSITORY-400-051");
        assert_eq!(failure(r.purge_entity("bob", "far", &of)), unknown);
        assert_eq!(failure(r.restore_entity("bob", "far")), unknown);
    });
}

#[test]
fn a_proxy_that_cannot_be_is_refused_and_a_newer_one_stays() {
    on_new_store(|f| {
        let r = &f.repository;
        let add = |change: &dyn Fn(&mut EntityProxy)| {
            let mut proxy = foreign_proxy(f, "Asset", "far");
            change(&mut proxy);
            r.add_entity_proxy("ada", proxy)
        };
        let own = r.get_metadata_collection_id().to_owned();
        let invalid = Exception::InvalidParameter;
        let of_home = |home: Option<&str>| {
            let home = home.map(str::to_owned);
            failure(add(&|proxy| {
                proxy.header.audit.metadata_collection_id = home.clone()
            }))
        };
        assert_eq!(of_home(Some(&own)), (invalid, "OMRS-REPOSITORY-400-044"));
        assert_eq!(of_home(None), (invalid, "VARVE-OMRS-400-004"));
        let no_guid = failure(add(&|proxy| proxy.header.guid = None));
        assert_eq!(no_guid, (invalid, "OMRS-REPOSITORY-400-014"));
        let no_type = failure(add(&|proxy| proxy.header.audit.instance_type = None));
        assert_eq!(no_type, (invalid, "OMRS-REPOSITORY-404-005"));
        let colour = strings(&[("colour", "red")]);
        let property = failure(add(&|proxy| proxy.unique_properties = Some(colour.clone())));
        assert_eq!(property, (invalid, "OMRS-REPOSITORY-400-028"));
        let carrying = |name: &str| {
            failure(add(&|proxy| {
                proxy.classifications = vec![foreign_classification(f, name)].into();
            }))
        };
        assert_eq!(carrying("Nonsense"), (invalid, "OMRS-REPOSITORY-400-005"));
        assert_eq!(
            carrying("SpineObject"),
            (invalid, "OMRS-REPOSITORY-400-006")
        );
        assert_eq!(
            failure(r.get_entity_summary("far")).0,
            Exception::EntityNotKnown
        );
        add(&|proxy| proxy.header.audit.version = 3).unwrap();
        add(&|proxy| proxy.header.audit.version = 2).unwrap();
        let version = || r.get_entity_summary("far").unwrap().header.audit.version;
        assert_eq!(version(), 3);
        add(&|proxy| proxy.header.audit.version = 4).unwrap();
        assert_eq!(version(), 4);
    });
}

#[test]
fn a_newer_proxy_leaves_the_classifications_that_are_at_home_here() {
    on_new_store(|f| {
        let r = &f.repository;
        let add = |version: i64, carried: Vec<Classification>| {
            let mut proxy = foreign_proxy(f, "Asset", "far");
            proxy.header.audit.version = version;
            proxy.classifications = carried.into();
            r.add_entity_proxy("ada", proxy).unwrap();
            r.get_entity_summary("far").unwrap().classifications
        };
        // What only a copy says to be at home here is not.
        let mut claimed = foreign_classification(f, "Criticality");
        let home = r.get_metadata_collection_id().to_owned();
        claimed.audit.metadata_collection_id = Some(home);
        let theirs = foreign_classification(f, "Retention");
        assert_eq!(
            *add(1, vec![claimed.clone(), theirs.clone()]),
            std::slice::from_ref(&theirs)
        );
        let request = ClassificationProxyRequest {
            entity: Some(foreign_proxy(f, "Asset", "far")),
            ..ClassificationProxyRequest::default()
        };
        let own = r
            .classify_entity_proxy("bob", "Confidentiality", request)
            .unwrap();
        let mut other = own.clone();
        other.audit.version = 7;
        assert_eq!(
            *add(2, vec![other, theirs.clone(), claimed.clone()]),
            [theirs.clone(), own.clone()]
        );
        assert_eq!(*add(3, Vec::new()), std::slice::from_ref(&own));
        // A whole copy is no different.
        let mut copy = foreign_entity(f, "Asset", "far");
        copy.header.audit.version = 4;
        copy.classifications = vec![claimed, theirs.clone()].into();
        r.save_entity_reference_copy("ada", copy).unwrap();
        let read = r.get_entity_detail("far", None).unwrap();
        assert_eq!(*read.classifications, [theirs, own]);
    });
}

#[test]
fn a_type_without_properties_takes_none() {
    let types = Catalogue::built_in();
    let bare = types.types().find(|(_, of)| {
        of.def().category() == TypeDefCategory::Entity && of.properties().is_empty()
    });
    let (_, bare) = bare.unwrap();
    on_new_store(|f| {
        let given = failure(f.repository.add_entity("ada", f.request(bare.name(), "x")));
        assert_eq!(given, (Exception::PropertyError, "OMRS-REPOSITORY-400-029"));
    });
}
