//! Calls about types.

use super::type_changes::{new_repository, patch};
use super::*;
use varve_omrs::types::*;

pub(super) fn entity_type(name: &str, supertype: &str, f: &Fixture) -> TypeDef {
    let types = f.repository.types();
    let of = types.type_by_name("Asset").unwrap();
    let mut def = TypeDef::clone(of);
    let body = &mut def.body;
    body.summary.link.guid = Some(format!("guid of {name}"));
    body.summary.link.name = Some(name.to_owned());
    body.super_type = Some(TypeDefLink {
        guid: Some(f.type_guid(supertype)),
        name: Some(supertype.to_owned()),
        ..TypeDefLink::default()
    });
    body.attributes.truncate(1);
    body.attributes[0].name = Some("size".to_owned());
    let int = types.attribute_type_by_name("int").unwrap();
    body.attributes[0].attribute_type = Some(AttributeType::Whole(Arc::clone(int)));
    def
}

fn reopened(f: &Fixture) -> Fixture {
    Fixture::on(Arc::clone(&f.store))
}

#[test]
fn types_are_found_in_many_ways() {
    on_new_store(|f| {
        let r = &f.repository;
        let all = r.get_all_types().unwrap();
        assert_eq!((all.types.len(), all.attribute_types.len()), (600, 62));
        let names = |gallery: TypeDefGallery| {
            let types = gallery.types.iter().map(|def| def.name().to_owned());
            let attributes = gallery
                .attribute_types
                .iter()
                .map(|def| def.name().to_owned());
            types.chain(attributes).collect::<Vec<_>>()
        };
        assert_eq!(names(r.find_types_by_name("Asset").unwrap()), ["Asset"]);
        assert_eq!(
            names(r.find_types_by_name("bigint*").unwrap()),
            ["biginteger"]
        );
        assert_eq!(names(r.find_types_by_name("As&et").unwrap()), ["Asset"]);
        assert!(names(r.find_types_by_name(".*Asset.*").unwrap()).len() > 5);
        assert!(names(r.find_types_by_name("Nonsense").unwrap()).is_empty());
        let entities = r.find_type_defs_by_category(Some(TypeDefCategory::Entity));
        assert_eq!(entities.unwrap().len(), 274);
        let enums = r.find_attribute_type_defs_by_category(Some(AttributeTypeDefCategory::Enum));
        assert_eq!(enums.unwrap().len(), 42);
        let named = r.find_type_defs_by_property(&["qualifiedName".to_owned()]);
        assert!(named.unwrap().iter().any(|def| def.name() == "Asset"));
        let found = r.search_for_type_defs("Glossary.*").unwrap();
        assert!(found.iter().any(|def| def.name() == "GlossaryTerm"));
        assert!(found.iter().all(|def| def.name().starts_with("Glossary")));
        let asset = r.get_type_def_by_name("Asset").unwrap();
        assert_eq!(r.get_type_def_by_guid(asset.guid()).unwrap(), asset);
        let int = r.get_attribute_type_def_by_name("int").unwrap();
        assert_eq!(r.get_attribute_type_def_by_guid(int.guid()).unwrap(), int);
        assert_eq!(
            r.find_types_by_external_id(Some("none"), None, None)
                .unwrap(),
            []
        );
    });
}

#[test]
fn comparisons_that_could_take_minutes_are_refused() {
    on_new_store(|f| {
        let r = &f.repository;
        let long = "ab".repeat(2_000_000);
        // Half a thousand repetitions, each of which could begin anywhere.
        let expression = "(?:[ab]{1,500}){1,4}c";
        let name = format!("{}*c", "&".repeat(200));
        assert_eq!(r.search_for_type_defs(expression).unwrap(), []);
        assert_eq!(r.find_types_by_name(&name).unwrap().types, []);
        let refused = (Exception::RepositoryError, "VARVE-OMRS-503-034");
        let mut described = entity_type("Described", "Asset", f);
        described.body.description = Some(long.clone());
        r.add_type_def(described).unwrap();
        assert_eq!(failure(r.search_for_type_defs(expression)), refused);
        assert_eq!(r.find_types_by_name(&name).unwrap().types, []);
        // Names of classifications are no names of the graph's, so they may be long.
        let mut named = TypeDef::clone(&r.get_type_def_by_name("Confidentiality").unwrap());
        let link = &mut named.body.summary.link;
        (link.guid, link.name) = (Some("long".to_owned()), Some(long));
        r.add_type_def(named).unwrap();
        assert_eq!(failure(r.find_types_by_name(&name)), refused);
        // What quotes one text costs no more than reading it.
        let found = r.search_for_type_defs(".*\\Qbababa\\E.*").unwrap();
        assert_eq!(found.len(), 2);
    });
}

#[test]
fn a_name_that_the_graph_does_not_take_is_an_invalid_type() {
    on_new_store(|f| {
        let r = &f.repository;
        r.add_type_def(entity_type("Thing", "Asset", f)).unwrap();
        let meaning = r.get_type_def_by_name("SemanticAssignment").unwrap();
        let invalid = (Exception::InvalidTypeDef, "OMRS-REPOSITORY-400-017");
        for name in ["x".repeat(256), "a:b".to_owned(), "~a".to_owned()] {
            let entity = entity_type(&name, "Asset", f);
            assert_eq!(failure(r.verify_type_def(entity.clone())), invalid);
            assert_eq!(failure(r.add_type_def(entity)), invalid);
            let mut relationship = TypeDef::clone(&meaning);
            let link = &mut relationship.body.summary.link;
            (link.guid, link.name) = (Some("other".to_owned()), Some(name.clone()));
            assert_eq!(failure(r.add_type_def(relationship)), invalid);
            let request = TypeDefReIdentifyRequest {
                original_name: Some("Thing".to_owned()),
                new_guid: Some("other".to_owned()),
                new_name: Some(name),
            };
            let renamed = r.re_identify_type_def(&f.type_guid("Thing"), &request);
            assert_eq!(failure(renamed).0, Exception::InvalidParameter);
        }
        let longest = entity_type(&"x".repeat(255), "Asset", f);
        r.add_type_def(longest).unwrap();
    });
}

#[test]
fn types_that_are_not_there_are_said_not_to_be() {
    on_new_store(|f| {
        let r = &f.repository;
        let unknown = Exception::TypeDefNotKnown;
        assert_eq!(
            failure(r.get_type_def_by_guid("x")),
            (unknown, "OMRS-REPOSITORY-404-007")
        );
        assert_eq!(
            failure(r.get_type_def_by_name("x")),
            (unknown, "OMRS-REPOSITORY-404-009")
        );
        let attribute = failure(r.get_attribute_type_def_by_guid("x"));
        assert_eq!(attribute, (unknown, "OMRS-REPOSITORY-404-008"));
        let attribute = failure(r.get_attribute_type_def_by_name("x"));
        assert_eq!(attribute, (unknown, "OMRS-REPOSITORY-404-010"));
        assert_eq!(
            failure(r.delete_type_def("x", "x")),
            (unknown, "OMRS-REPOSITORY-404-004")
        );
        let attribute = failure(r.delete_attribute_type_def("x", "x"));
        assert_eq!(attribute, (unknown, "OMRS-REPOSITORY-404-006"));
        let request = TypeDefReIdentifyRequest {
            original_name: Some("x".to_owned()),
            new_guid: Some("y".to_owned()),
            new_name: Some("y".to_owned()),
        };
        assert_eq!(failure(r.re_identify_type_def("x", &request)).0, unknown);
        assert_eq!(
            failure(r.re_identify_attribute_type_def("x", &request)).0,
            unknown
        );
        let patch = TypeDefPatch {
            type_guid: Some("x".to_owned()),
            type_name: Some("x".to_owned()),
            ..TypeDefPatch::default()
        };
        assert_eq!(failure(r.update_type_def(patch)).0, unknown);
        let invalid = Exception::InvalidParameter;
        assert_eq!(
            failure(r.get_type_def_by_guid("")),
            (invalid, "OMRS-REPOSITORY-400-022")
        );
        assert_eq!(
            failure(r.get_type_def_by_name("")),
            (invalid, "OMRS-REPOSITORY-400-023")
        );
        assert_eq!(failure(r.find_types_by_name("")).0, invalid);
        assert_eq!(failure(r.find_type_defs_by_category(None)).0, invalid);
        assert_eq!(
            failure(r.find_attribute_type_defs_by_category(None)).0,
            invalid
        );
        assert_eq!(failure(r.find_type_defs_by_property(&[])).0, invalid);
        assert_eq!(
            failure(r.find_types_by_external_id(None, None, None)).0,
            invalid
        );
        let nothing = failure(r.search_for_type_defs(""));
        assert_eq!(nothing, (invalid, "OMRS-REPOSITORY-400-013"));
        assert_eq!(failure(r.search_for_type_defs("(")).0, invalid);
        assert_eq!(
            failure(r.update_type_def(TypeDefPatch::default())).0,
            invalid
        );
    });
}

#[test]
fn a_new_type_is_used_and_there_after_a_restart() {
    on_new_store(|f| {
        let r = &f.repository;
        let def = entity_type("Thing", "Asset", f);
        assert!(!r.verify_type_def(def.clone()).unwrap());
        r.add_type_def(def.clone()).unwrap();
        r.add_type_def(def.clone()).unwrap();
        assert!(r.verify_type_def(def.clone()).unwrap());
        let mut request = f.request("Thing", "t");
        let size = InstancePropertyValue::primitive(Primitive::Int(7));
        request.properties = Some(strings(&[("qualifiedName", "t")]).with("size", size));
        let thing = r.add_entity("ada", request).unwrap();
        let mut other = def.clone();
        other.body.attributes.clear();
        assert_eq!(
            failure(r.add_type_def(other.clone())).0,
            Exception::TypeDefKnown
        );
        assert!(r.verify_type_def(other.clone()).unwrap());
        other.body.summary.version_name = Some("9.9".to_owned());
        let conflict = (Exception::TypeDefConflict, "OMRS-REPOSITORY-400-059");
        assert_eq!(failure(r.add_type_def(other.clone())), conflict);
        assert_eq!(failure(r.verify_type_def(other)), conflict);
        let f = reopened(f);
        assert_eq!(f.repository.get_type_def_by_name("Thing").unwrap(), def);
        let read = f
            .repository
            .get_entity_detail(thing.header.guid(), None)
            .unwrap();
        assert_eq!(read, thing);
        assert_eq!(
            f.repository.get_all_types().unwrap(),
            r.get_all_types().unwrap()
        );
    });
}

#[test]
fn verifying_completes_what_is_known() {
    on_new_store(|f| {
        let r = &f.repository;
        let mut asset = r.get_type_def_by_name("Asset").unwrap();
        asset.body.description = Some("Something of value.".to_owned());
        assert!(r.verify_type_def(asset.clone()).unwrap());
        assert_eq!(r.get_type_def_by_name("Asset").unwrap(), asset);
        let mut int = r.get_attribute_type_def_by_name("int").unwrap();
        int.header.description = Some("A number.".to_owned());
        assert!(r.verify_attribute_type_def(int.clone()).unwrap());
        assert_eq!(r.get_attribute_type_def_by_name("int").unwrap(), int);
        let f = reopened(f);
        assert_eq!(f.repository.get_type_def_by_name("Asset").unwrap(), asset);
        assert_eq!(
            f.repository.get_attribute_type_def_by_name("int").unwrap(),
            int
        );
        assert_eq!(
            f.repository.get_all_types().unwrap(),
            r.get_all_types().unwrap()
        );
    });
}

#[test]
fn many_changes_are_kept() {
    on_new_store(|f| {
        let r = &f.repository;
        let mut asset = r.get_type_def_by_name("Asset").unwrap();
        let patched = |version: i64| TypeDefPatch {
            type_guid: asset.body.summary.link.guid.clone(),
            type_name: asset.body.summary.link.name.clone(),
            apply_to_version: version,
            update_to_version: version + 1,
            new_version_name: Some(format!("1.{version}")),
            ..TypeDefPatch::default()
        };
        let first = asset.version();
        for version in first..first + 70 {
            let def = r.update_type_def(patched(version)).unwrap();
            assert_eq!(def.version(), version + 1);
            if (first + 63..=first + 65).contains(&version) {
                let again = reopened(f)
                    .repository
                    .get_type_def_by_name("Asset")
                    .unwrap();
                assert_eq!(again, def);
            }
        }
        asset = r.get_type_def_by_name("Asset").unwrap();
        let f = reopened(f);
        assert_eq!(f.repository.get_type_def_by_name("Asset").unwrap(), asset);
        assert_eq!(
            f.repository.get_all_types().unwrap(),
            r.get_all_types().unwrap()
        );
        let back = TypeDefPatch {
            update_to_version: 1,
            ..TypeDefPatch {
                type_guid: asset.body.summary.link.guid.clone(),
                type_name: asset.body.summary.link.name.clone(),
                apply_to_version: 2,
                ..TypeDefPatch::default()
            }
        };
        let refused = (Exception::PatchError, "OMRS-REPOSITORY-400-067");
        assert_eq!(failure(f.repository.update_type_def(back)), refused);
    });
}

#[test]
fn a_type_in_use_is_not_removed() {
    on_new_store(|f| {
        let r = &f.repository;
        let (asset, _, meaning) = f.meaning();
        r.classify_entity(
            "ada",
            asset.header.guid(),
            "Confidentiality",
            Default::default(),
        )
        .unwrap();
        r.add_type_def(entity_type("Thing", "Asset", f)).unwrap();
        r.add_type_def(entity_type("SmallThing", "Thing", f))
            .unwrap();
        let in_use = (Exception::TypeDefInUse, "OMRS-REPOSITORY-400-001");
        let delete = |name: &str| r.delete_type_def(&f.type_guid(name), name);
        assert_eq!(failure(delete("Thing")), in_use);
        let thing = f.entity("SmallThing", "t");
        let of = expected(&thing.header);
        assert_eq!(failure(delete("SmallThing")), in_use);
        assert_eq!(failure(delete("SemanticAssignment")), in_use);
        assert_eq!(failure(delete("Confidentiality")), in_use);
        r.delete_entity("ada", thing.header.guid(), &of).unwrap();
        assert_eq!(failure(delete("SmallThing")), in_use);
        let request = TypeDefReIdentifyRequest {
            original_name: Some("SmallThing".to_owned()),
            new_guid: Some("tiny".to_owned()),
            new_name: Some("TinyThing".to_owned()),
        };
        let small = f.type_guid("SmallThing");
        let not_supported = failure(r.re_identify_type_def(&small, &request));
        assert_eq!(not_supported.0, Exception::FunctionNotSupported);
        r.purge_entity("ada", thing.header.guid(), &of).unwrap();
        let tiny = r.re_identify_type_def(&small, &request).unwrap();
        assert_eq!((tiny.guid(), tiny.name()), ("tiny", "TinyThing"));
        assert_eq!(
            reopened(f).repository.get_type_def_by_guid("tiny").unwrap(),
            tiny
        );
        r.delete_type_def("tiny", "TinyThing").unwrap();
        delete("Thing").unwrap();
        let unknown = Exception::TypeDefNotKnown;
        assert_eq!(failure(r.get_type_def_by_name("Thing")).0, unknown);
        let again = reopened(f);
        assert_eq!(
            failure(again.repository.get_type_def_by_name("Thing")).0,
            unknown
        );
        assert_eq!(
            again.repository.get_all_types().unwrap(),
            r.get_all_types().unwrap()
        );
        let read = again
            .repository
            .get_relationship(meaning.header.guid(), None);
        assert_eq!(read.unwrap().header, meaning.header);
        let int = r.get_attribute_type_def_by_name("int").unwrap();
        let used = failure(r.delete_attribute_type_def(int.guid(), "int"));
        assert_eq!(used, (Exception::TypeDefInUse, "OMRS-REPOSITORY-400-002"));
    });
}

#[test]
fn a_type_that_was_in_use_is_not_removed() {
    on_new_store(|f| {
        let r = &f.repository;
        let asset = f.entity("Asset", "a");
        let guid = asset.header.guid();
        let name = "Confidentiality";
        r.classify_entity("ada", guid, name, Default::default())
            .unwrap();
        f.moment();
        r.declassify_entity("ada", guid, name).unwrap();
        let in_use = (Exception::TypeDefInUse, "OMRS-REPOSITORY-400-001");
        let refused = failure(r.delete_type_def(&f.type_guid(name), name));
        assert_eq!(refused, in_use);
        let request = TypeDefReIdentifyRequest {
            original_name: Some(name.to_owned()),
            new_guid: Some("secrecy".to_owned()),
            new_name: Some("Secrecy".to_owned()),
        };
        let refused = failure(r.re_identify_type_def(&f.type_guid(name), &request));
        assert_eq!(refused.0, Exception::FunctionNotSupported);
        r.delete_entity("ada", guid, &expected(&asset.header))
            .unwrap();
        r.purge_entity("ada", guid, &expected(&asset.header))
            .unwrap();
        r.delete_type_def(&f.type_guid(name), name).unwrap();
    });
}

#[test]
fn a_search_speaks_of_types_as_its_reader_does() {
    on_new_store(|f| {
        let r = &f.repository;
        r.add_type_def(entity_type("First", "Asset", f)).unwrap();
        r.add_type_def(entity_type("Second", "Asset", f)).unwrap();
        let second = f.entity("Second", "s");
        f.entity("Asset", "a");
        // The store learns of a change before the repository does.
        let mut newer = Catalogue::clone(&r.types());
        newer.remove_type(&f.type_guid("First"), "First").unwrap();
        assert_ne!(newer.by_name("Second"), r.types().by_name("Second"));
        let mut request = EntityPropertyFindRequest::default();
        request.matching.of_type.type_guid = Some(f.type_guid("Second"));
        f.store.set_types(Arc::new(newer)).unwrap();
        let found = r.find_entities_by_property_value("s", &request);
        let found: Vec<_> = found.unwrap().iter().map(|of| of.header.clone()).collect();
        assert_eq!(found, [second.header]);
    });
}

#[test]
fn instances_are_made_and_read_while_types_change() {
    let (orders, f) = new_repository();
    let asset = f.repository.get_type_def_by_name("Asset").unwrap();
    let patch = patch(&f, "Asset");
    let (done, is_done) = std::sync::mpsc::channel();
    let other = Arc::clone(&f);
    orders.while_types_change(move || {
        let work = move || {
            let entity = other.entity("Asset", "meanwhile");
            let guid = entity.header.guid().to_owned();
            let read = other.repository.get_entity_detail(&guid, None).unwrap();
            done.send(read.header.audit.instance_type.unwrap().version)
                .unwrap();
        };
        std::thread::spawn(work);
        let version = is_done.recv_timeout(std::time::Duration::from_secs(60));
        // It is still of the type as it was.
        assert_eq!(version, Ok(asset.version()));
        Ok(())
    });
    let changed = f.repository.update_type_def(patch).unwrap();
    let now = f.entity("Asset", "now").header.audit.instance_type.unwrap();
    assert_eq!(now.version, changed.version());
}

#[test]
fn attribute_types_come_and_go() {
    on_new_store(|f| {
        let r = &f.repository;
        let mut def = r.get_attribute_type_def_by_name("AssetOwnerType").unwrap();
        def.header.guid = Some("guid of Mood".to_owned());
        def.header.name = Some("Mood".to_owned());
        assert!(!r.verify_attribute_type_def(def.clone()).unwrap());
        r.add_attribute_type_def(def.clone()).unwrap();
        assert!(r.verify_attribute_type_def(def.clone()).unwrap());
        let request = TypeDefReIdentifyRequest {
            original_name: Some("Mood".to_owned()),
            new_guid: Some("temper".to_owned()),
            new_name: Some("Temper".to_owned()),
        };
        let renamed = r
            .re_identify_attribute_type_def("guid of Mood", &request)
            .unwrap();
        assert_eq!((renamed.guid(), renamed.name()), ("temper", "Temper"));
        let again = reopened(f);
        let kept = again.repository.get_attribute_type_def_by_guid("temper");
        assert_eq!(kept.unwrap(), renamed);
        r.delete_attribute_type_def("temper", "Temper").unwrap();
        let gone = failure(r.get_attribute_type_def_by_name("Temper"));
        assert_eq!(gone.0, Exception::TypeDefNotKnown);
        let mut nameless = def;
        nameless.header.name = None;
        let invalid = failure(r.add_attribute_type_def(nameless));
        assert_eq!(invalid.0, Exception::InvalidTypeDef);
        let gallery = TypeDefGallery {
            attribute_types: Vec::new(),
            types: vec![
                entity_type("One", "Asset", f),
                entity_type("Two", "Asset", f),
            ],
        };
        r.add_type_def_gallery(gallery).unwrap();
        assert!(r.get_type_def_by_name("One").is_ok());
    });
}
