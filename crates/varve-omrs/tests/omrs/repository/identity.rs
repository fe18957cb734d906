//! Changing GUID, type and home.

use super::*;
use varve_omrs::types::{TypeDefLink, TypeDefSummary};

fn change(f: &Fixture, current: &str, new: &str) -> TypeDefChangeRequest {
    let summary = |name: &str| TypeDefSummary {
        link: TypeDefLink {
            guid: Some(f.type_guid(name)),
            name: Some(name.to_owned()),
            ..TypeDefLink::default()
        },
        ..TypeDefSummary::default()
    };
    TypeDefChangeRequest {
        current: Some(summary(current)),
        new: Some(summary(new)),
    }
}

#[test]
fn a_re_identified_entity_takes_its_relationships_along() {
    on_new_store(|f| {
        let r = &f.repository;
        let (asset, term, meaning) = f.meaning();
        let old = asset.header.guid();
        let of = expected(&asset.header);
        let before = f.moment();
        let new = r.re_identify_entity("bob", old, "new/1", &of).unwrap();
        assert_eq!(new.header.guid(), "new/1");
        assert_eq!(new.header.re_identified_from_guid.as_deref(), Some(old));
        let url = new.header.instance_url.as_deref().unwrap();
        assert!(url.ends_with("/instances/entity/new%2F1"), "{url}");
        let audit = &new.header.audit;
        assert_eq!(
            (audit.version, audit.updated_by.as_deref()),
            (2, Some("bob"))
        );
        assert_eq!(new.properties, asset.properties);
        assert_eq!(r.get_entity_detail("new/1", None).unwrap(), new);
        let gone = (Exception::EntityNotKnown, "OMRS-REPOSITORY-404-013");
        assert_eq!(failure(r.get_entity_detail(old, None)), gone);
        let old_state = r.is_entity_known(old).unwrap().unwrap();
        assert_eq!(old_state.header.audit.version, 2);
        assert_eq!(old_state.header.audit.status, Some(InstanceStatus::Deleted));
        let moved = r.get_relationship(meaning.header.guid(), None).unwrap();
        assert_eq!(moved.header, meaning.header);
        assert_eq!(moved.entity_one.unwrap().header, new.header);
        assert_eq!(moved.entity_two, meaning.entity_two);
        let then = r.get_relationship(meaning.header.guid(), Some(&at(before)));
        assert_eq!(then.unwrap(), meaning);
        // The new one is as any other: deleting it deletes its relationships.
        r.delete_entity("bob", "new/1", &of).unwrap();
        let gone = (Exception::RelationshipNotKnown, "OMRS-REPOSITORY-404-012");
        assert_eq!(
            failure(r.get_relationship(meaning.header.guid(), None)),
            gone
        );
        assert!(r.get_entity_detail(term.header.guid(), None).is_ok());
    });
}

#[test]
fn a_relationship_of_an_entity_with_itself_follows_with_both_ends() {
    on_new_store(|f| {
        let term = f.entity("GlossaryTerm", "t");
        let guid = term.header.guid();
        let request = f.link_request("SemanticAssignment", guid, guid);
        let link = f.repository.add_relationship("ada", request).unwrap();
        let of = expected(&term.header);
        let new = f
            .repository
            .re_identify_entity("bob", guid, "new", &of)
            .unwrap();
        let moved = f
            .repository
            .get_relationship(link.header.guid(), None)
            .unwrap();
        assert_eq!(moved.entity_one.as_ref().unwrap().header, new.header);
        assert_eq!(moved.entity_one, moved.entity_two);
    });
}

#[test]
fn identifiers_that_cannot_be_taken_are_refused() {
    on_new_store(|f| {
        let r = &f.repository;
        let (asset, term, meaning) = f.meaning();
        let guid = asset.header.guid();
        let of = expected(&asset.header);
        let invalid = Exception::InvalidParameter;
        let entity = |guid: &str, new: &str| failure(r.re_identify_entity("bob", guid, new, &of));
        assert_eq!(entity("", "x"), (invalid, "OMRS-REPOSITORY-400-014"));
        assert_eq!(entity(guid, ""), (invalid, "OMRS-REPOSITORY-400-014"));
        assert_eq!(
            entity(guid, term.header.guid()),
            (invalid, "VARVE-OMRS-400-020")
        );
        assert_eq!(entity(guid, guid), (invalid, "VARVE-OMRS-400-020"));
        let unknown = (Exception::EntityNotKnown, "OMRS-REPOSITORY-404-002");
        assert_eq!(entity("nobody", "x"), unknown);
        let other = expected(&term.header);
        let other_type = (invalid, "OMRS-REPOSITORY-400-039");
        let wrong = r.re_identify_entity("bob", guid, "x", &other);
        assert_eq!(failure(wrong), other_type);
        let of = expected(&meaning.header);
        let relationship =
            |guid: &str, new: &str| failure(r.re_identify_relationship("bob", guid, new, &of));
        let guid = meaning.header.guid();
        assert_eq!(relationship(guid, guid), (invalid, "VARVE-OMRS-400-020"));
        let unknown = (Exception::RelationshipNotKnown, "OMRS-REPOSITORY-404-003");
        assert_eq!(relationship("nobody", "x"), unknown);
        assert_eq!(r.get_relationship(guid, None).unwrap(), meaning);
    });
}

#[test]
fn a_relationship_is_re_identified() {
    on_new_store(|f| {
        let r = &f.repository;
        let (_, _, meaning) = f.meaning();
        let old = meaning.header.guid();
        let of = expected(&meaning.header);
        let new = r.re_identify_relationship("bob", old, "new", &of).unwrap();
        assert_eq!(new.header.guid(), "new");
        assert_eq!(new.header.re_identified_from_guid.as_deref(), Some(old));
        assert_eq!(new.header.audit.version, 2);
        assert_eq!(new.properties, meaning.properties);
        assert_eq!(new.entity_one, meaning.entity_one);
        assert_eq!(r.get_relationship("new", None).unwrap(), new);
        let gone = (Exception::RelationshipNotKnown, "OMRS-REPOSITORY-404-012");
        assert_eq!(failure(r.get_relationship(old, None)), gone);
    });
}

#[test]
fn an_entity_gets_another_type() {
    on_new_store(|f| {
        let r = &f.repository;
        let entity = f.entity("GlossaryTerm", "t");
        let guid = entity.header.guid();
        let down = change(f, "GlossaryTerm", "ControlledGlossaryTerm");
        let retyped = r.re_type_entity("bob", guid, &down).unwrap();
        assert_eq!(retyped.header.audit.type_name(), "ControlledGlossaryTerm");
        assert_eq!(retyped.header.audit.version, 2);
        assert_eq!(retyped.properties, entity.properties);
        assert_eq!(r.get_entity_detail(guid, None).unwrap(), retyped);
        // A supertype of the type it has may be named.
        let same = change(f, "Referenceable", "ControlledGlossaryTerm");
        let again = r.re_type_entity("bob", guid, &same).unwrap();
        assert_eq!(again.header.audit.version, 3);
        let up = change(f, "ControlledGlossaryTerm", "GlossaryTerm");
        let draft = r.update_entity_status("bob", guid, Some(InstanceStatus::Draft));
        assert!(draft.is_ok());
        // A status that the new type does not have becomes its first one.
        let back = r.re_type_entity("bob", guid, &up).unwrap();
        assert_eq!(back.header.audit.status, Some(InstanceStatus::Active));
        assert_eq!(back.header.audit.type_name(), "GlossaryTerm");
        // Nor is it brought back.
        let undone = r.undo_entity_update("bob", guid).unwrap();
        assert_eq!(undone.header.audit.status, Some(InstanceStatus::Active));
        assert_eq!(undone.header.audit.version, back.header.audit.version + 1);
    });
}

#[test]
fn types_that_an_entity_cannot_have_are_refused() {
    on_new_store(|f| {
        let r = &f.repository;
        let mut request = f.request("GlossaryTerm", "t");
        request.properties = Some(strings(&[("qualifiedName", "t"), ("summary", "s")]));
        let entity = r.add_entity("ada", request).unwrap();
        let guid = entity.header.guid();
        let invalid = Exception::InvalidParameter;
        let retype =
            |request: &TypeDefChangeRequest| failure(r.re_type_entity("bob", guid, request));
        let none = TypeDefChangeRequest::default();
        assert_eq!(retype(&none), (invalid, "OMRS-REPOSITORY-400-022"));
        let of_links = change(f, "GlossaryTerm", "SemanticAssignment");
        assert_eq!(
            retype(&of_links),
            (Exception::TypeError, "OMRS-REPOSITORY-404-005")
        );
        let up = change(f, "GlossaryTerm", "Referenceable");
        assert_eq!(
            retype(&up),
            (Exception::PropertyError, "OMRS-REPOSITORY-400-028")
        );
        let emptied = as_request(InstanceProperties::default());
        r.update_entity_properties("bob", guid, emptied).unwrap();
        r.classify_entity("bob", guid, "SpineObject", Default::default())
            .unwrap();
        let not_allowed = (Exception::ClassificationError, "OMRS-REPOSITORY-400-006");
        assert_eq!(retype(&up), not_allowed);
        let unknown = (Exception::EntityNotKnown, "OMRS-REPOSITORY-404-002");
        assert_eq!(failure(r.re_type_entity("bob", "nobody", &up)), unknown);
    });
}

#[test]
fn a_relationship_gets_a_type_that_fits_its_ends() {
    on_new_store(|f| {
        let r = &f.repository;
        let (asset, term, _) = f.meaning();
        let ends = [term.header.guid(), term.header.guid()];
        let request = f.link_request("RelatedTerm", ends[0], ends[1]);
        let link = r.add_relationship("ada", request).unwrap();
        let guid = link.header.guid();
        let to_synonym = change(f, "RelatedTerm", "Synonym");
        let retyped = r.re_type_relationship("bob", guid, &to_synonym).unwrap();
        assert_eq!(retyped.header.audit.type_name(), "Synonym");
        assert_eq!(retyped.header.audit.version, 2);
        assert_eq!(r.get_relationship(guid, None).unwrap(), retyped);
        let request = f.link_request("SemanticAssignment", asset.header.guid(), ends[1]);
        let link = r.add_relationship("ada", request).unwrap();
        let guid = link.header.guid();
        let to_synonym = change(f, "SemanticAssignment", "Synonym");
        let wrong_end = failure(r.re_type_relationship("bob", guid, &to_synonym));
        assert_eq!(
            wrong_end,
            (Exception::InvalidParameter, "OMRS-REPOSITORY-400-047")
        );
        let properties = as_request(strings(&[("description", "x")]));
        r.update_relationship_properties("bob", guid, properties)
            .unwrap();
        let to_attachment = change(f, "SemanticAssignment", "AttachedTag");
        let property = failure(r.re_type_relationship("bob", guid, &to_attachment));
        assert_eq!(property.0, Exception::PropertyError);
        let unknown = (Exception::RelationshipNotKnown, "OMRS-REPOSITORY-404-003");
        let nobody = r.re_type_relationship("bob", "nobody", &to_synonym);
        assert_eq!(failure(nobody), unknown);
    });
}

#[test]
fn a_copy_gets_this_repository_as_its_home() {
    on_new_store(|f| {
        let r = &f.repository;
        let id = r.get_metadata_collection_id();
        let copy = foreign_entity(f, "Asset", "far");
        let of = expected(&copy.header);
        r.save_entity_reference_copy("ada", copy.clone()).unwrap();
        let home = |home: &str| r.re_home_entity("bob", "far", home, id, Some("varve"), &of);
        let own = (
            Exception::InvalidParameter,
            "OMRS-METADATA-COLLECTION-500-016",
        );
        // The home that the caller names may be another than the copy has.
        let homed = home("other").unwrap();
        let audit = &homed.header.audit;
        assert_eq!(audit.metadata_collection_id.as_deref(), Some(id));
        assert_eq!(audit.metadata_collection_name.as_deref(), Some("varve"));
        assert_eq!(audit.provenance, Some(InstanceProvenanceType::LocalCohort));
        assert_eq!(
            (audit.version, audit.updated_by.as_deref()),
            (2, Some("bob"))
        );
        assert_eq!(r.get_entity_detail("far", None).unwrap(), homed);
        assert_eq!(failure(home(id)), own);
        let changed = r.update_entity_properties("bob", "far", as_request(strings(&[])));
        assert_eq!(changed.unwrap().header.audit.version, 3);
        let mut pack = foreign_entity(f, "Asset", "pack");
        pack.header.audit.provenance = Some(InstanceProvenanceType::ContentPack);
        r.save_entity_reference_copy("ada", pack).unwrap();
        let pack = r.re_home_entity("bob", "pack", "elsewhere", id, None, &of);
        assert_eq!(
            pack.unwrap()
                .header
                .audit
                .metadata_collection_name
                .as_deref(),
            Some("varve")
        );
        let foreign = (Exception::InvalidParameter, "OMRS-LOCAL-REPOSITORY-400-002");
        let elsewhere = r.re_home_entity("bob", "far", "elsewhere", "there", None, &of);
        assert_eq!(failure(elsewhere), foreign);
        let unknown = (Exception::EntityNotKnown, "OMRS-REPOSITORY-404-002");
        let nobody = r.re_home_entity("bob", "nobody", "elsewhere", id, None, &of);
        assert_eq!(failure(nobody), unknown);
        let no_home = (Exception::InvalidParameter, "OMRS-REPOSITORY-400-014");
        assert_eq!(
            failure(r.re_home_entity("bob", "far", "", id, None, &of)),
            no_home
        );
    });
}

#[test]
fn a_copy_of_a_relationship_gets_this_repository_as_its_home() {
    on_new_store(|f| {
        let r = &f.repository;
        let id = r.get_metadata_collection_id();
        let copy = foreign_relationship(f, "link", ["one", "two"]);
        let of = expected(&copy.header);
        r.save_relationship_reference_copy("ada", copy).unwrap();
        let homed = r
            .re_home_relationship("bob", "link", "elsewhere", id, None, &of)
            .unwrap();
        assert_eq!(
            homed.header.audit.metadata_collection_id.as_deref(),
            Some(id)
        );
        assert_eq!(homed.header.audit.version, 2);
        assert_eq!(r.get_relationship("link", None).unwrap(), homed);
        assert!(r.delete_relationship("bob", "link", &of).is_ok());
        let gone = (Exception::RelationshipNotKnown, "OMRS-REPOSITORY-404-012");
        let deleted = r.re_home_relationship("bob", "link", id, id, None, &of);
        assert_eq!(failure(deleted), gone);
    });
}
