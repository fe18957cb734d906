//! Classifications of entities.

use super::*;

const NAME: &str = "Confidentiality";

fn notes(text: &str) -> InstancePropertiesRequest {
    as_request(strings(&[("notes", text)]))
}

#[test]
fn a_classification_has_versions_of_its_own() {
    on_new_store(|f| {
        let r = &f.repository;
        let entity = f.entity("Asset", "a");
        let guid = entity.header.guid();
        let classified = r.classify_entity("bob", guid, NAME, notes("one")).unwrap();
        assert_eq!(classified.header, entity.header);
        let carried = classified.classification(NAME).unwrap();
        assert_eq!(carried.audit.version, 1);
        assert_eq!(carried.audit.created_by.as_deref(), Some("bob"));
        assert_eq!(carried.audit.update_time, None);
        assert_eq!(carried.audit.status, Some(InstanceStatus::Active));
        let id = r.get_metadata_collection_id();
        assert_eq!(carried.audit.metadata_collection_id.as_deref(), Some(id));
        assert_eq!(carried.origin, Some(ClassificationOrigin::Assigned));
        assert_eq!(r.get_entity_detail(guid, None).unwrap(), classified);
        let changed = r
            .update_entity_classification("eve", guid, NAME, notes("two"))
            .unwrap();
        assert_eq!(changed.header, entity.header);
        let carried = changed.classification(NAME).unwrap();
        assert_eq!(carried.audit.version, 2);
        assert_eq!(carried.audit.updated_by.as_deref(), Some("eve"));
        assert_eq!(carried.audit.maintained_by, ["eve"]);
        assert_eq!(text(carried.properties.as_ref(), "notes"), Some("two"));
        assert_eq!(r.get_entity_detail(guid, None).unwrap(), changed);
        let freed = r.declassify_entity("eve", guid, NAME).unwrap();
        assert_eq!(freed, entity);
        assert_eq!(r.get_entity_detail(guid, None).unwrap(), entity);
    });
}

#[test]
fn home_and_origin_of_a_classification_may_be_given() {
    on_new_store(|f| {
        let r = &f.repository;
        let entity = f.entity("Asset", "a");
        let request = ClassificationRequest {
            metadata_collection_id: Some("source".to_owned()),
            metadata_collection_name: Some("Source".to_owned()),
            origin: Some(ClassificationOrigin::Propagated),
            origin_guid: Some("spring".to_owned()),
            properties: None,
        };
        let guid = entity.header.guid();
        let classified = r
            .classify_entity_detailed("bob", guid, NAME, request)
            .unwrap();
        let carried = classified.classification(NAME).unwrap();
        assert_eq!(
            carried.audit.provenance,
            Some(InstanceProvenanceType::ExternalSource)
        );
        assert_eq!(
            carried.audit.metadata_collection_id.as_deref(),
            Some("source")
        );
        let id = r.get_metadata_collection_id();
        assert_eq!(carried.audit.replicated_by.as_deref(), Some(id));
        assert_eq!(carried.origin, Some(ClassificationOrigin::Propagated));
        assert_eq!(carried.origin_guid.as_deref(), Some("spring"));
        let homes = r.get_home_classifications(guid, None).unwrap();
        assert_eq!(homes, *classified.classifications);
        assert!(
            r.update_entity_classification("bob", guid, NAME, notes("x"))
                .is_ok()
        );
    });
}

#[test]
fn classifications_that_cannot_be_are_refused() {
    on_new_store(|f| {
        let r = &f.repository;
        let entity = f.entity("Asset", "a");
        let guid = entity.header.guid();
        let classify = |guid: &str, name: &str, properties| {
            failure(r.classify_entity("bob", guid, name, properties))
        };
        let update = |guid: &str, name: &str, properties| {
            failure(r.update_entity_classification("bob", guid, name, properties))
        };
        let invalid = Exception::InvalidParameter;
        let of_class = Exception::ClassificationError;
        let no_guid = (invalid, "OMRS-REPOSITORY-400-014");
        assert_eq!(classify("", NAME, notes("x")), no_guid);
        let no_name = (invalid, "OMRS-REPOSITORY-400-026");
        assert_eq!(classify(guid, "", notes("x")), no_name);
        assert_eq!(update(guid, "", notes("x")), no_name);
        assert_eq!(failure(r.declassify_entity("bob", guid, "")), no_name);
        let unknown = (Exception::EntityNotKnown, "OMRS-REPOSITORY-404-002");
        assert_eq!(classify("nobody", NAME, notes("x")), unknown);
        assert_eq!(update("nobody", NAME, notes("x")), unknown);
        assert_eq!(failure(r.declassify_entity("bob", "nobody", NAME)), unknown);
        let no_type = (invalid, "OMRS-REPOSITORY-400-005");
        assert_eq!(classify(guid, "Nonsense", notes("x")), no_type);
        assert_eq!(
            failure(r.declassify_entity("bob", guid, "Nonsense")),
            no_type
        );
        let not_allowed = (of_class, "OMRS-REPOSITORY-400-006");
        assert_eq!(
            classify(guid, "SpineObject", Default::default()),
            not_allowed
        );
        let wrong = as_request(strings(&[("colour", "red")]));
        let no_property = (Exception::PropertyError, "OMRS-REPOSITORY-400-028");
        assert_eq!(classify(guid, NAME, wrong.clone()), no_property);
        let absent = (of_class, "OMRS-REPOSITORY-400-048");
        assert_eq!(update(guid, NAME, notes("x")), absent);
        assert_eq!(failure(r.declassify_entity("bob", guid, NAME)), absent);
        r.classify_entity("bob", guid, NAME, notes("x")).unwrap();
        assert_eq!(
            classify(guid, NAME, notes("y")),
            (of_class, "OMRS-REPOSITORY-400-081")
        );
        assert_eq!(update(guid, NAME, wrong), no_property);
        let of = expected(&entity.header);
        r.delete_entity("bob", guid, &of).unwrap();
        let gone = (Exception::EntityNotKnown, "OMRS-REPOSITORY-404-013");
        assert_eq!(
            classify(guid, "AssetZoneMembership", Default::default()),
            gone
        );
        assert_eq!(update(guid, NAME, notes("y")), gone);
        assert_eq!(failure(r.declassify_entity("bob", guid, NAME)), gone);
    });
}

#[test]
fn an_entity_known_by_its_proxy_is_classified() {
    on_new_store(|f| {
        let r = &f.repository;
        let proxy = foreign_proxy(f, "Asset", "far");
        let request = |text: &str| ClassificationProxyRequest {
            classification: ClassificationRequest {
                properties: notes(text).properties,
                ..ClassificationRequest::default()
            },
            entity: Some(proxy.clone()),
        };
        let given = r
            .classify_entity_proxy("bob", NAME, request("one"))
            .unwrap();
        assert_eq!(given.name(), NAME);
        let summary = r.get_entity_summary("far").unwrap();
        assert_eq!(*summary.classifications, std::slice::from_ref(&given));
        assert_eq!(summary.header, proxy.header);
        assert_eq!(r.get_home_classifications("far", None).unwrap(), [given]);
        let again = failure(r.classify_entity_proxy_detailed("bob", NAME, request("x")));
        assert_eq!(
            again,
            (Exception::ClassificationError, "OMRS-REPOSITORY-400-081")
        );
        let changed = r.update_entity_proxy_classification("bob", NAME, request("two"));
        let changed = changed.unwrap();
        assert_eq!(changed.audit.version, 2);
        assert_eq!(text(changed.properties.as_ref(), "notes"), Some("two"));
        let taken = r
            .declassify_entity_proxy("bob", NAME, proxy.clone())
            .unwrap();
        assert_eq!(taken, changed);
        assert_eq!(*r.get_entity_summary("far").unwrap().classifications, []);
        let entity = f.entity("Asset", "a");
        let known = EntityProxy {
            header: entity.header.clone(),
            ..EntityProxy::default()
        };
        let of_known = ClassificationProxyRequest {
            entity: Some(known),
            ..request("here")
        };
        let given = r
            .classify_entity_proxy_detailed("bob", NAME, of_known)
            .unwrap();
        let read = r.get_entity_detail(entity.header.guid(), None).unwrap();
        assert_eq!(*read.classifications, [given]);
    });
}

#[test]
fn a_proxy_to_classify_must_be_one() {
    on_new_store(|f| {
        let r = &f.repository;
        let none = failure(r.classify_entity_proxy("bob", NAME, Default::default()));
        assert_eq!(
            none,
            (Exception::InvalidParameter, "OMRS-REPOSITORY-400-043")
        );
        let mut proxy = foreign_proxy(f, "Asset", "far");
        let unknown = failure(r.declassify_entity_proxy("bob", NAME, proxy.clone()));
        assert_eq!(
            unknown,
            (Exception::EntityNotKnown, "OMRS-REPOSITORY-404-002")
        );
        let id = r.get_metadata_collection_id().to_owned();
        proxy.header.audit.metadata_collection_id = Some(id);
        let request = ClassificationProxyRequest {
            entity: Some(proxy),
            ..ClassificationProxyRequest::default()
        };
        let own = failure(r.classify_entity_proxy("bob", NAME, request.clone()));
        assert_eq!(own, (Exception::EntityNotKnown, "OMRS-REPOSITORY-404-002"));
        let unknown = failure(r.update_entity_proxy_classification("bob", NAME, request));
        assert_eq!(
            unknown,
            (Exception::EntityNotKnown, "OMRS-REPOSITORY-404-002")
        );
    });
}
