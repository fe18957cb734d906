//! Copies of relationships, with the ends that they bring.

use super::super::*;

#[test]
fn a_copy_of_a_relationship_makes_proxies_of_unknown_ends() {
    on_new_store(|f| {
        let r = &f.repository;
        let link = foreign_relationship(f, "link", ["one", "two"]);
        r.save_relationship_reference_copy("ada", link.clone())
            .unwrap();
        assert_eq!(r.get_relationship("link", None).unwrap(), link);
        let only = (Exception::EntityProxyOnly, "OMRS-REPOSITORY-400-051");
        assert_eq!(failure(r.get_entity_detail("one", None)), only);
        let then = at(Millis(1_600_000_000_000));
        assert_eq!(r.get_relationship("link", Some(&then)).unwrap(), link);
        // The whole entity takes the place of its proxy.
        let one = foreign_entity(f, "Asset", "one");
        r.save_entity_reference_copy("ada", one.clone()).unwrap();
        assert_eq!(r.get_entity_detail("one", None).unwrap(), one);
        let known = f.entity("GlossaryTerm", "t");
        let mut newer = foreign_relationship(f, "link", ["one", known.header.guid()]);
        newer.header.audit.version = 2;
        newer.header.audit.update_time = Some(Millis(1_600_000_100_000));
        r.save_relationship_reference_copy("ada", newer.clone())
            .unwrap();
        let read = r.get_relationship("link", None).unwrap();
        assert_eq!(read.header, newer.header);
        assert_eq!(read.entity_two.unwrap().header, known.header);
        // An end was not known then, so it holds from now on only.
        let then = at(Millis(1_600_000_100_000));
        assert_eq!(
            r.get_relationship("link", Some(&then)).unwrap().header,
            link.header
        );
        r.save_relationship_reference_copy("ada", link).unwrap();
        assert_eq!(
            r.get_relationship("link", None).unwrap().header,
            newer.header
        );
    });
}

#[test]
fn copies_of_relationships_that_cannot_be_are_refused() {
    on_new_store(|f| {
        let r = &f.repository;
        let (_, _, own) = f.meaning();
        let save = |change: &dyn Fn(&mut Relationship)| {
            let mut copy = foreign_relationship(f, "link", ["one", "two"]);
            change(&mut copy);
            failure(r.save_relationship_reference_copy("ada", copy))
        };
        let id = r.get_metadata_collection_id().to_owned();
        let home = save(&|copy| copy.header.audit.metadata_collection_id = Some(id.clone()));
        assert_eq!(
            home,
            (Exception::InvalidParameter, "OMRS-REPOSITORY-400-042")
        );
        let no_end = save(&|copy| copy.entity_one = None);
        assert_eq!(no_end.0, Exception::InvalidRelationship);
        let no_type = save(&|copy| copy.header.audit.instance_type = None);
        assert_eq!(no_type.0, Exception::TypeError);
        let colour = strings(&[("colour", "red")]);
        let property = save(&|copy| copy.properties = Some(colour.clone()));
        assert_eq!(property.0, Exception::PropertyError);
        let local_end = save(&|copy| {
            let end = copy.entity_one.as_mut().unwrap();
            end.header.audit.metadata_collection_id = Some(id.clone());
        });
        assert_eq!(
            local_end,
            (Exception::EntityNotKnown, "OMRS-REPOSITORY-404-002")
        );
        let invalid = Exception::InvalidParameter;
        let end = |change: &dyn Fn(&mut EntityProxy)| {
            save(&|copy| change(copy.entity_two.as_mut().unwrap()))
        };
        let property = end(&|end| end.unique_properties = Some(colour.clone()));
        assert_eq!(property, (invalid, "OMRS-REPOSITORY-400-028"));
        let carried = foreign_classification(f, "Nonsense");
        let classified = end(&|end| end.classifications = vec![carried.clone()].into());
        assert_eq!(classified, (invalid, "OMRS-REPOSITORY-400-005"));
        let no_home = end(&|end| end.header.audit.metadata_collection_id = None);
        assert_eq!(no_home, (invalid, "VARVE-OMRS-400-004"));
        let conflict = save(&|copy| copy.header.guid = own.header.guid.clone());
        assert_eq!(conflict.0, Exception::RelationshipConflict);
        let mut same = foreign_relationship(f, "link", ["one", "two"]);
        same.header.guid = own.header.guid.clone();
        let purged = failure(r.purge_relationship_reference_copy("ada", same));
        assert_eq!(purged.0, Exception::HomeRelationship);
    });
}

#[test]
fn an_end_brings_no_classifications_that_are_at_home_here() {
    on_new_store(|f| {
        let r = &f.repository;
        let mut link = foreign_relationship(f, "link", ["one", "two"]);
        let theirs = foreign_classification(f, "Retention");
        let mut claimed = foreign_classification(f, "Confidentiality");
        let home = r.get_metadata_collection_id().to_owned();
        claimed.audit.metadata_collection_id = Some(home);
        let end = link.entity_one.as_mut().unwrap();
        end.classifications = vec![claimed, theirs.clone()].into();
        r.save_relationship_reference_copy("ada", link).unwrap();
        let one = r.get_entity_summary("one").unwrap();
        assert_eq!(*one.classifications, [theirs]);
        assert_eq!(r.get_home_classifications("one", None).unwrap(), []);
    });
}

#[test]
fn copies_of_relationships_are_purged() {
    on_new_store(|f| {
        let r = &f.repository;
        let link = foreign_relationship(f, "link", ["one", "two"]);
        let of = expected(&link.header);
        let by_id =
            |home: &str| r.purge_relationship_reference_copy_by_id("ada", "link", home, &of);
        let unknown = (Exception::RelationshipNotKnown, "OMRS-REPOSITORY-404-003");
        assert_eq!(failure(by_id("elsewhere")), unknown);
        r.save_relationship_reference_copy("ada", link.clone())
            .unwrap();
        assert_eq!(failure(by_id("")).0, Exception::InvalidParameter);
        by_id("other").unwrap();
        assert_eq!(failure(r.get_relationship("link", None)), unknown);
        assert!(r.get_entity_summary("one").is_ok());
        r.save_relationship_reference_copy("ada", link.clone())
            .unwrap();
        r.delete_relationship_reference_copy("ada", link.clone())
            .unwrap();
        assert_eq!(r.is_relationship_known("link").unwrap(), None);
        assert!(r.delete_relationship_reference_copy("ada", link).is_ok());
    });
}

#[test]
fn deleting_an_entity_removes_copies_of_relationships() {
    on_new_store(|f| {
        let r = &f.repository;
        let term = f.entity("GlossaryTerm", "t");
        let guid = term.header.guid();
        let link = foreign_relationship(f, "link", ["one", guid]);
        r.save_relationship_reference_copy("ada", link).unwrap();
        r.delete_entity("bob", guid, &expected(&term.header))
            .unwrap();
        assert_eq!(r.is_relationship_known("link").unwrap(), None);
        assert!(r.get_entity_summary("one").is_ok());
    });
}

#[test]
fn a_relationship_that_comes_again_keeps_its_states() {
    on_new_store(|f| {
        let r = &f.repository;
        let link = foreign_relationship(f, "link", ["one", "two"]);
        let save = |link: &Relationship| {
            r.save_relationship_reference_copy("ada", link.clone())
                .unwrap();
        };
        let states = || {
            let all = HistoryRangeRequest::default();
            r.get_relationship_history("link", &all).unwrap().len()
        };
        save(&link);
        save(&link);
        assert_eq!(states(), 1);
        let mut other = link.clone();
        other.properties = Some(strings(&[("description", "other")]));
        save(&other);
        assert_eq!(states(), 2);
        let then = at(Millis(1_600_000_000_000));
        assert_eq!(r.get_relationship("link", Some(&then)).unwrap(), link);
        assert_eq!(r.get_relationship("link", None).unwrap(), other);
    });
}
