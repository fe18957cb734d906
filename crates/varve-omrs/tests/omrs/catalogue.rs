//! The type catalogue: what the standard has, inheritance, and every way to change it.

use varve_omrs::json::{Limits, decode, encode};
use varve_omrs::types::*;
use varve_omrs::{Exception, OmrsError};

fn built_in() -> Catalogue {
    Catalogue::built_in()
}

fn type_def(json: &str) -> TypeDef {
    decode(json.as_bytes(), Limits::DEFAULT).unwrap()
}

fn exception<T: std::fmt::Debug>(result: Result<T, OmrsError>) -> Exception {
    result.unwrap_err().exception
}

/// A new entity type below Asset.
fn gadget() -> TypeDef {
    type_def(
        r#"{"class":"EntityDef","guid":"gadget-guid","name":"Gadget","version":1,"versionName":"1.0",
            "superType":{"guid":"896d14c2-7522-4f6c-8519-757711943fe6","name":"Asset"},
            "validInstanceStatusList":["ACTIVE","DELETED"],"initialStatus":"ACTIVE",
            "propertiesDefinition":[{"attributeName":"colour","attributeType":"string","unique":false}]}"#,
    )
}

#[test]
fn the_standard_has_its_types() {
    let types = built_in();
    let count = |category| types.of_category(category).count();
    assert_eq!(count(TypeDefCategory::Entity), 274);
    assert_eq!(count(TypeDefCategory::Relationship), 218);
    assert_eq!(count(TypeDefCategory::Classification), 108);
    let count = |category| types.attribute_types_of_category(category).count();
    assert_eq!(count(AttributeTypeDefCategory::Primitive), 13);
    assert_eq!(count(AttributeTypeDefCategory::Collection), 7);
    assert_eq!(count(AttributeTypeDefCategory::Enum), 42);
    let deprecated = types
        .types()
        .filter(|(_, of)| of.def().body.summary.link.status == Some(TypeDefStatus::Deprecated));
    assert_eq!(deprecated.count(), 38);
}

#[test]
fn the_standard_has_the_shape_that_its_documents_say() {
    let types = built_in();
    let mut unique = Vec::new();
    for (index, of) in types.types() {
        let root = types.get(of.lineage()[0]);
        match of.def().category() {
            TypeDefCategory::Entity => assert_eq!(root.name(), "OpenMetadataRoot"),
            _ => assert_eq!(of.depth(), 0, "{}", of.name()),
        }
        assert!(of.depth() <= 8, "{}", of.name());
        for property in of.properties() {
            let known = property.attribute.type_def().unwrap();
            assert!(types.attribute_type_by_guid(known.guid()).is_some());
            if property.attribute.unique && property.defined_by == index {
                unique.push((of.name(), property.attribute.name()));
            }
        }
        let initial = of.def().body.initial_status;
        assert!(
            of.instance_type()
                .valid_statuses
                .contains(&initial.unwrap())
        );
    }
    assert_eq!(unique, [("Referenceable", "qualifiedName")]);
}

#[test]
fn is_a_agrees_with_a_walk_up_the_supertypes() {
    let types = built_in();
    for (subtype, of) in types.of_category(TypeDefCategory::Entity).step_by(3) {
        for (supertype, _) in types.of_category(TypeDefCategory::Entity) {
            let mut at = Some(of.def().as_ref());
            let mut walk = false;
            while let Some(def) = at {
                walk |= def.guid() == types.get(supertype).guid();
                let link = def.body.super_type.as_ref();
                at = link.map(|link| types.type_by_guid(link.guid()).unwrap().as_ref());
            }
            assert_eq!(types.is_a(subtype, supertype), walk);
            let listed = types.with_subtypes(supertype).contains(&subtype);
            assert_eq!(listed, walk);
        }
    }
}

#[test]
fn properties_are_inherited() {
    let types = built_in();
    let database = types.by_name("Database").unwrap();
    let name = types.get(database).property("qualifiedName").unwrap();
    assert_eq!(types.get(name.defined_by).name(), "Referenceable");
    assert!(types.get(database).property("nonsense").is_none());
    let said = types.get(database).instance_type();
    assert!(said.valid_properties.contains(&"qualifiedName".to_owned()));
    let supertypes: Vec<&str> = said.super_types.iter().map(TypeDefLink::name).collect();
    assert_eq!(supertypes.first(), Some(&"DataStore"));
    assert_eq!(supertypes.last(), Some(&"OpenMetadataRoot"));
}

#[test]
fn classifications_are_allowed_for_their_entities_and_the_subtypes_of_these() {
    let types = built_in();
    let index = |name: &str| types.by_name(name).unwrap();
    assert!(types.allows(index("Database"), index("Confidentiality")));
    assert!(types.allows(index("Location"), index("CyberLocation")));
    assert!(!types.allows(index("Database"), index("CyberLocation")));
    assert!(!types.allows(index("Database"), index("Asset")));
}

#[test]
fn types_are_found() {
    let types = built_in();
    let found = types.find_by_name(|name| name.starts_with("Databas") || name == "string");
    assert!(found.types.iter().any(|def| def.name() == "Database"));
    assert_eq!(found.attribute_types.len(), 1);
    let names = ["qualifiedName".to_owned(), "createTime".to_owned()];
    for (_, of) in types.with_properties(&names) {
        assert!(names.iter().all(|name| of.property(name).is_some()));
    }
    assert!(types.with_properties(&names[..1]).count() > 100);
    assert_eq!(
        exception(types.type_by_guid("none").cloned()),
        Exception::TypeDefNotKnown
    );
    assert_eq!(
        exception(types.type_by_name("none").cloned()),
        Exception::TypeDefNotKnown
    );
    let nothing = types.of_standard(None, None, None).map(Iterator::count);
    assert_eq!(exception(nothing), Exception::InvalidParameter);
}

#[test]
fn types_are_found_by_another_standard() {
    let mut types = built_in();
    let mut def = gadget();
    def.body.external_standard_mappings = vec![ExternalStandardMapping {
        standard_name: Some("ISO 1".to_owned()),
        standard_type_name: Some("Thing".to_owned()),
        ..Default::default()
    }];
    types.add_type(def).unwrap();
    let count = |standard, organization, identifier| {
        types
            .of_standard(standard, organization, identifier)
            .unwrap()
            .count()
    };
    assert_eq!(count(Some("ISO 1"), None, None), 1);
    assert_eq!(count(Some("ISO 1"), None, Some("Thing")), 1);
    assert_eq!(count(Some("ISO 1"), Some("ISO"), None), 0);
    assert_eq!(count(None, None, Some("Other")), 0);
}

#[test]
fn guids_are_opaque_and_case_sensitive() {
    let types = built_in();
    let odd = types.types().find(|(_, of)| of.guid().len() == 37).unwrap();
    assert_eq!(types.by_guid(odd.1.guid()), Some(odd.0));
    let mixed = types
        .types()
        .find(|(_, of)| of.guid() != of.guid().to_lowercase())
        .unwrap();
    assert_eq!(types.by_guid(mixed.1.guid()), Some(mixed.0));
    assert_eq!(types.by_guid(&mixed.1.guid().to_lowercase()), None);
}

#[test]
fn a_type_is_added_once() {
    let mut types = built_in();
    assert_eq!(types.verify_type(&gadget()), Ok(false));
    assert_eq!(types.add_type(gadget()), Ok(Outcome::Added));
    assert_eq!(types.verify_type(&gadget()), Ok(true));
    assert_eq!(types.add_type(gadget()), Ok(Outcome::Unchanged));
    let index = types.by_name("Gadget").unwrap();
    assert!(types.is_a(index, types.by_name("Referenceable").unwrap()));
    assert!(types.get(index).property("colour").is_some());
    assert_eq!(types.types().count(), 601);

    let mut other = gadget();
    other.body.attributes.clear();
    assert_eq!(types.verify_type(&other), Ok(true));
    assert_eq!(exception(types.add_type(other)), Exception::TypeDefKnown);
    let mut other = gadget();
    other.body.summary.version_name = Some("2.0".to_owned());
    assert_eq!(
        exception(types.verify_type(&other)),
        Exception::TypeDefConflict
    );
    assert_eq!(exception(types.add_type(other)), Exception::TypeDefConflict);
    let mut other = gadget();
    other.body.summary.link.name = Some("Gizmo".to_owned());
    assert_eq!(
        exception(types.verify_type(&other)),
        Exception::TypeDefConflict
    );
    let mut other = gadget();
    other.body.summary.link.guid = Some("another".to_owned());
    assert_eq!(exception(types.add_type(other)), Exception::TypeDefConflict);
}

#[test]
fn prose_completes_a_built_in_type_and_is_not_lost_again() {
    let mut types = built_in();
    let bare = (**types.type_by_name("Database").unwrap()).clone();
    let mut full = bare.clone();
    full.body.description = Some("A store of data.".to_owned());
    assert_eq!(types.add_type(full.clone()), Ok(Outcome::Completed));
    assert_eq!(**types.type_by_name("Database").unwrap(), full);
    assert_eq!(types.add_type(bare), Ok(Outcome::Unchanged));
    assert_eq!(**types.type_by_name("Database").unwrap(), full);

    let mut string = (**types.attribute_type_by_name("string").unwrap()).clone();
    string.header.description = Some("Characters.".to_owned());
    assert_eq!(
        types.add_attribute_type(string.clone()),
        Ok(Outcome::Completed)
    );
    assert_eq!(types.verify_attribute_type(&string), Ok(true));
    assert_eq!(**types.attribute_type_by_name("string").unwrap(), string);
}

#[test]
fn malformed_definitions_are_refused_and_change_nothing() {
    let changes: [fn(&mut TypeDef); 9] = [
        |def| def.body.summary.link.guid = None,
        |def| def.body.summary.link.name = Some(String::new()),
        |def| def.body.initial_status = Some(InstanceStatus::Draft),
        |def| def.body.attributes.push(def.body.attributes[0].clone()),
        |def| def.body.attributes[0].name = None,
        |def| def.body.attributes[0].attribute_type = None,
        |def| def.body.attributes[0].attribute_type = Some(AttributeType::Named("text".to_owned())),
        |def| def.body.super_type.as_mut().unwrap().guid = Some("nobody".to_owned()),
        |def| def.body.super_type.as_mut().unwrap().name = Some("Liability".to_owned()),
    ];
    let mut types = built_in();
    for (at, change) in changes.iter().enumerate() {
        let mut def = gadget();
        change(&mut def);
        assert_eq!(
            exception(types.add_type(def)),
            Exception::InvalidTypeDef,
            "change {at}"
        );
        assert_eq!(types.types().count(), 600);
    }
    let relationship = r#"{"class":"RelationshipDef","guid":"g","name":"R"}"#;
    assert_eq!(
        exception(types.add_type(type_def(relationship))),
        Exception::InvalidTypeDef
    );
    let of_relationship = r#"{"class":"RelationshipDef","guid":"g","name":"R",
        "endDef1":{"entityType":{"name":"Asset"}},"endDef2":{"entityType":{"name":"ExternalIdScope"}}}"#;
    assert_eq!(
        exception(types.add_type(type_def(of_relationship))),
        Exception::InvalidTypeDef
    );
}

#[test]
fn a_gallery_is_added_whole_or_not_at_all_in_any_order() {
    let mut gallery = built_in().gallery();
    gallery.types.reverse();
    let mut types = Catalogue::empty();
    types.add_gallery(gallery.clone()).unwrap();
    let (database, asset) = (
        types.by_name("Database").unwrap(),
        types.by_name("Asset").unwrap(),
    );
    assert!(types.is_a(database, asset) && !types.is_a(asset, database));

    let mut types = Catalogue::empty();
    gallery.types.retain(|def| def.name() != "OpenMetadataRoot");
    assert_eq!(
        exception(types.add_gallery(gallery)),
        Exception::InvalidTypeDef
    );
    assert_eq!(types.gallery(), TypeDefGallery::default());
}

#[test]
fn nothing_inherits_from_itself() {
    let mut types = built_in();
    let mut circle = gadget();
    circle.body.super_type = Some(circle.body.summary.link.clone());
    assert_eq!(exception(types.add_type(circle)), Exception::InvalidTypeDef);
    let asset = types.type_by_name("Asset").unwrap();
    let patch = TypeDefPatch {
        type_guid: Some(asset.guid().to_owned()),
        type_name: Some("Asset".to_owned()),
        apply_to_version: asset.version(),
        update_to_version: asset.version() + 1,
        super_type: Some(
            types
                .type_by_name("Database")
                .unwrap()
                .body
                .summary
                .link
                .clone(),
        ),
        ..Default::default()
    };
    assert_eq!(exception(types.patch_type(patch)), Exception::PatchError);
}

#[test]
fn a_hundred_supertypes_are_supported_and_no_more() {
    let mut types = built_in();
    let mut last = types
        .type_by_name("OpenMetadataRoot")
        .unwrap()
        .body
        .summary
        .link
        .clone();
    for depth in 1..=101 {
        let mut def = gadget();
        let link = &mut def.body.summary.link;
        link.guid = Some(format!("gadget-guid-{depth}"));
        link.name = Some(format!("Gadget{depth}"));
        let link = link.clone();
        def.body.super_type = Some(std::mem::replace(&mut last, link));
        def.body.attributes.clear();
        let added = types.add_type(def);
        if depth <= 100 {
            added.unwrap();
        } else {
            assert_eq!(exception(added), Exception::TypeDefNotSupported);
        }
    }
}

fn patch_of_gadget() -> TypeDefPatch {
    TypeDefPatch {
        type_guid: Some("gadget-guid".to_owned()),
        type_name: Some("Gadget".to_owned()),
        apply_to_version: 1,
        update_to_version: 2,
        new_version_name: Some("1.1".to_owned()),
        ..Default::default()
    }
}

#[test]
fn a_patch_adds_and_replaces_attributes_and_is_applied_once() {
    let mut types = built_in();
    types.add_type(gadget()).unwrap();
    let json = r#"{"typeDefGUID":"gadget-guid","typeDefName":"Gadget","applyToVersion":1,"updateToVersion":2,
        "newVersionName":"1.1","propertyDefinitions":[
          {"attributeName":"colour","attributeType":"string","attributeStatus":"DEPRECATED_ATTRIBUTE"},
          {"attributeName":"weight","attributeType":"int"}]}"#;
    let patch: TypeDefPatch = decode(json.as_bytes(), Limits::DEFAULT).unwrap();
    let again: TypeDefPatch = decode(&encode(&patch), Limits::DEFAULT).unwrap();
    assert_eq!(again, patch);
    let def = types.patch_type(patch.clone()).unwrap();
    assert_eq!(def.version(), 2);
    assert_eq!(def.body.summary.version_name.as_deref(), Some("1.1"));
    let names: Vec<&str> = def
        .body
        .attributes
        .iter()
        .map(TypeDefAttribute::name)
        .collect();
    assert_eq!(names, ["colour", "weight"]);
    assert_eq!(
        def.body.attributes[0].status,
        Some(TypeDefAttributeStatus::Deprecated)
    );
    let index = types.by_name("Gadget").unwrap();
    assert!(types.get(index).property("weight").is_some());
    assert_eq!(types.get(index).instance_type().version, 2);
    assert_eq!(types.patch_type(patch).unwrap(), def);
}

#[test]
fn patches_that_do_not_fit_are_refused() {
    let mut types = built_in();
    types.add_type(gadget()).unwrap();
    let before = types.gallery();
    let changes: [fn(&mut TypeDefPatch); 6] = [
        |patch| patch.update_to_version = 0,
        |patch| {
            (patch.apply_to_version, patch.update_to_version) = (0, 5);
        },
        |patch| {
            let attribute = TypeDefAttribute {
                name: Some("colour".to_owned()),
                attribute_type: Some(AttributeType::Named("int".to_owned())),
                ..Default::default()
            };
            patch.property_definitions.push(attribute);
        },
        |patch| patch.valid_entity_types.push(TypeDefLink::default()),
        |patch| patch.end_1 = Some(RelationshipEndDef::default()),
        |patch| patch.initial_status = Some(InstanceStatus::Draft),
    ];
    for (at, change) in changes.iter().enumerate() {
        let mut patch = patch_of_gadget();
        change(&mut patch);
        assert_eq!(
            exception(types.patch_type(patch)),
            Exception::PatchError,
            "change {at}"
        );
        assert_eq!(types.gallery(), before);
    }
    let mut patch = patch_of_gadget();
    patch.type_name = Some("Gizmo".to_owned());
    assert_eq!(
        exception(types.patch_type(patch)),
        Exception::TypeDefNotKnown
    );
}

fn attribute(name: &str, of: &str) -> TypeDefAttribute {
    TypeDefAttribute {
        name: Some(name.to_owned()),
        attribute_type: Some(AttributeType::Named(of.to_owned())),
        ..Default::default()
    }
}

/// A patch of a type to its next version.
fn patch_of(types: &Catalogue, name: &str) -> TypeDefPatch {
    let def = types.type_by_name(name).unwrap();
    TypeDefPatch {
        type_guid: Some(def.guid().to_owned()),
        type_name: Some(name.to_owned()),
        apply_to_version: def.version(),
        update_to_version: def.version() + 1,
        ..Default::default()
    }
}

#[test]
fn a_patch_changes_no_property_that_is_inherited() {
    let mut types = built_in();
    types.add_type(gadget()).unwrap();
    let mut other_type = patch_of(&types, "Gadget");
    other_type.property_definitions = vec![attribute("qualifiedName", "char")];
    let mut other_values = patch_of(&types, "Gadget");
    let mut string = (**types.attribute_type_by_name("string").unwrap()).clone();
    string.kind = types.attribute_type_by_name("char").unwrap().kind.clone();
    let mut of_string = attribute("qualifiedName", "");
    of_string.attribute_type = Some(AttributeType::Whole(string.into()));
    other_values.property_definitions = vec![of_string];
    let mut other_supertype = patch_of(&types, "Gadget");
    let root = types.type_by_name("OpenMetadataRoot").unwrap();
    other_supertype.super_type = Some(root.body.summary.link.clone());
    let mut of_subtype = patch_of(&types, "Asset");
    of_subtype.super_type = Some(root.body.summary.link.clone());
    let before = types.gallery();
    for patch in [other_type, other_values, other_supertype, of_subtype] {
        let error = types.patch_type(patch.clone()).unwrap_err();
        assert_eq!(error.message.id(), "OMRS-REPOSITORY-400-070", "{patch:?}");
        assert_eq!(types.gallery(), before);
    }
    let mut same_type = patch_of(&types, "Gadget");
    same_type.property_definitions = vec![attribute("qualifiedName", "string")];
    types.patch_type(same_type).unwrap();
}

#[test]
fn what_a_subtype_defines_stays_when_its_supertype_is_given_it_too() {
    let mut types = built_in();
    types.add_type(gadget()).unwrap();
    let mut patch = patch_of(&types, "Asset");
    patch.property_definitions = vec![attribute("colour", "int")];
    types.patch_type(patch).unwrap();
    let type_in = |name: &str| {
        let of = types.get(types.by_name(name).unwrap());
        let colour = of.property("colour").unwrap().attribute.clone();
        colour.type_def().unwrap().name().to_owned()
    };
    assert_eq!(type_in("Gadget"), "string");
    assert_eq!(type_in("Database"), "int");
}

#[test]
fn a_type_in_use_is_not_removed() {
    let mut types = built_in();
    types.add_type(gadget()).unwrap();
    types.remove_type("gadget-guid", "Gadget").unwrap();
    assert_eq!(types.by_name("Gadget"), None);
    assert_eq!(types.gallery(), built_in().gallery());
    assert_eq!(
        exception(types.remove_type("gadget-guid", "Gadget")),
        Exception::TypeDefNotKnown
    );
    let asset = types.type_by_name("Asset").unwrap().guid().to_owned();
    assert_eq!(
        exception(types.remove_type(&asset, "Asset")),
        Exception::TypeDefInUse
    );
    assert_eq!(
        exception(types.remove_type(&asset, "Database")),
        Exception::TypeDefNotKnown
    );
    let string = types
        .attribute_type_by_name("string")
        .unwrap()
        .guid()
        .to_owned();
    let removed = types.remove_attribute_type(&string, "string");
    assert_eq!(exception(removed), Exception::TypeDefInUse);
    let char_guid = types
        .attribute_type_by_name("char")
        .unwrap()
        .guid()
        .to_owned();
    types.remove_attribute_type(&char_guid, "char").unwrap();
    assert!(types.attribute_type_by_guid(&char_guid).is_none());
}

#[test]
fn definitions_follow_a_type_that_is_re_identified() {
    let mut types = built_in();
    let asset = types.type_by_name("Asset").unwrap().guid().to_owned();
    let taken = types.re_identify_type(&asset, "Asset", "new", "Database");
    assert_eq!(exception(taken), Exception::InvalidParameter);
    let empty = types.re_identify_type(&asset, "Asset", "", "Wealth");
    assert_eq!(exception(empty), Exception::InvalidParameter);
    let def = types
        .re_identify_type(&asset, "Asset", "new", "Wealth")
        .unwrap();
    assert_eq!((def.guid(), def.name()), ("new", "Wealth"));
    assert_eq!(types.by_name("Asset"), None);
    let (database, wealth) = (
        types.by_name("Database").unwrap(),
        types.by_guid("new").unwrap(),
    );
    assert!(types.is_a(database, wealth));
    let text = String::from_utf8(encode(&types.gallery())).unwrap();
    assert!(!text.contains(&asset));

    let string = types
        .attribute_type_by_name("string")
        .unwrap()
        .guid()
        .to_owned();
    types
        .re_identify_attribute_type(&string, "string", "text-guid", "text")
        .unwrap();
    let text = String::from_utf8(encode(&types.gallery())).unwrap();
    assert!(!text.contains(&string) && text.contains("text-guid"));
}
