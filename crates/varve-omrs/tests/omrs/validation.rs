//! Instances against their types.

use crate::generate;
use varve_omrs::instances::*;
use varve_omrs::types::{Catalogue, InstanceStatus, TypeDefCategory, TypeIndex};
use varve_omrs::validate::*;
use varve_omrs::{Exception, OmrsError};
use varve_testkit::random::Random;

fn failure<T>(result: Result<T, OmrsError>) -> (Exception, &'static str) {
    match result {
        Ok(_) => panic!("accepted"),
        Err(error) => (error.exception, error.message.id()),
    }
}

fn type_named(types: &Catalogue, name: &str) -> TypeIndex {
    types.by_name(name).unwrap()
}

#[test]
fn properties_of_every_type_are_accepted_and_filled_in_once() {
    let types = Catalogue::built_in();
    let mut random = Random::new(5);
    for (index, of) in types.types() {
        let given = generate::fitting(&mut random, &types, index);
        let count = given.values.len();
        let full = completed_properties(&types, index, given).unwrap();
        assert_eq!(full.values.len(), count);
        for (name, value) in &full.values {
            let def = of.property(name).unwrap().attribute.type_def().unwrap();
            assert_eq!(value.header().type_guid.as_deref(), Some(def.guid()));
            assert_eq!(value.header().type_name.as_deref(), Some(def.name()));
            if let InstancePropertyValue::Enum(value) = value {
                assert!(value.symbolic_name.is_some());
            }
        }
        assert_eq!(completed_properties(&types, index, full.clone()), Ok(full));
    }
}

#[test]
fn a_value_of_another_kind_is_refused() {
    let types = Catalogue::built_in();
    let mut random = Random::new(6);
    let mut refused = 0;
    for (index, of) in types.types() {
        for property in of.properties() {
            let def = property.attribute.type_def().unwrap();
            let wrong = if def.name() == "string" {
                InstancePropertyValue::primitive(Primitive::Int(1))
            } else if def.name() == "object" {
                continue;
            } else {
                InstancePropertyValue::string(&generate::text(&mut random))
            };
            let given = InstanceProperties::default().with(property.attribute.name(), wrong);
            let wanted = (Exception::PropertyError, "OMRS-REPOSITORY-400-030");
            assert_eq!(failure(completed_properties(&types, index, given)), wanted);
            refused += 1;
        }
    }
    assert!(refused > 1000, "{refused}");
}

#[test]
fn properties_that_the_type_does_not_have_are_refused() {
    let types = Catalogue::built_in();
    let given = InstanceProperties::default().with("nonsense", InstancePropertyValue::string(""));
    let asset = type_named(&types, "Asset");
    let unknown = (Exception::PropertyError, "OMRS-REPOSITORY-400-028");
    assert_eq!(
        failure(completed_properties(&types, asset, given.clone())),
        unknown
    );
    let (bare, _) = types
        .types()
        .find(|(_, of)| of.properties().is_empty())
        .unwrap();
    let none = (Exception::PropertyError, "OMRS-REPOSITORY-400-029");
    assert_eq!(failure(completed_properties(&types, bare, given)), none);
    let given = InstanceProperties::default().with("", InstancePropertyValue::string(""));
    let unnamed = (Exception::PropertyError, "OMRS-REPOSITORY-400-031");
    assert_eq!(failure(completed_properties(&types, asset, given)), unnamed);
}

/// A property whose type has this name, with the type that defines it.
fn property_of(types: &Catalogue, attribute_type: &str) -> (TypeIndex, String) {
    let mut all = types.types().flat_map(|(index, of)| {
        of.properties()
            .iter()
            .map(move |property| (index, property))
    });
    let (index, property) = all
        .find(|(_, property)| property.attribute.type_def().unwrap().name() == attribute_type)
        .unwrap();
    (index, property.attribute.name().to_owned())
}

#[test]
fn collections_and_enums_are_looked_into() {
    let types = Catalogue::built_in();
    let check = |(index, name): (TypeIndex, String), value: InstancePropertyValue| {
        completed_properties(
            &types,
            index,
            InstanceProperties::default().with(&name, value),
        )
    };
    let bad = (Exception::PropertyError, "VARVE-OMRS-400-007");
    let values = |key: &str, value: Primitive| {
        let value = InstancePropertyValue::primitive(value);
        Some(InstanceProperties::default().with(key, value))
    };
    let array = |count: i32, values: Option<InstanceProperties>| {
        InstancePropertyValue::Array(ArrayPropertyValue {
            count,
            values,
            ..Default::default()
        })
    };
    let of_strings = || property_of(&types, "array<string>");
    let text = || Primitive::String("x".to_owned());
    assert!(check(of_strings(), array(1, values("0", text()))).is_ok());
    assert!(check(of_strings(), array(0, None)).is_ok());
    assert_eq!(
        failure(check(of_strings(), array(1, values("1", text())))),
        bad
    );
    assert_eq!(
        failure(check(of_strings(), array(2, values("0", text())))),
        bad
    );
    assert_eq!(
        failure(check(
            of_strings(),
            array(1, values("0", Primitive::Int(1)))
        )),
        bad
    );
    let filled = check(of_strings(), array(0, values("0", text()))).unwrap();
    let Some(InstancePropertyValue::Array(filled)) = filled.values.into_values().next() else {
        panic!("an array");
    };
    assert_eq!(filled.count, 1);

    let map = |values| {
        InstancePropertyValue::Map(MapPropertyValue {
            values,
            ..Default::default()
        })
    };
    let of_texts = || property_of(&types, "map<string,string>");
    assert!(check(of_texts(), map(values("k", text()))).is_ok());
    assert_eq!(
        failure(check(of_texts(), map(values("k", Primitive::Long(1))))),
        bad
    );
    let wrong_kind = (Exception::PropertyError, "OMRS-REPOSITORY-400-030");
    assert_eq!(failure(check(of_texts(), array(0, None))), wrong_kind);

    let one_of = |ordinal, name: Option<&str>| {
        InstancePropertyValue::Enum(EnumPropertyValue {
            ordinal,
            symbolic_name: name.map(str::to_owned),
            ..Default::default()
        })
    };
    let of_enum = || property_of(&types, "OperationalStatus");
    let filled = check(of_enum(), one_of(1, None)).unwrap();
    let Some(InstancePropertyValue::Enum(filled)) = filled.values.values().next() else {
        panic!("an enum");
    };
    assert_eq!(filled.symbolic_name.as_deref(), Some("Enabled"));
    assert_eq!(failure(check(of_enum(), one_of(77, None))), bad);
    assert_eq!(failure(check(of_enum(), one_of(1, Some("Asleep")))), bad);
}

#[test]
fn a_proxy_has_the_unique_properties() {
    let types = Catalogue::built_in();
    let asset = type_named(&types, "Asset");
    let all = generate::fitting(&mut Random::new(1), &types, asset);
    let unique = unique_properties(&types, asset, &all);
    assert_eq!(unique.values.keys().collect::<Vec<_>>(), ["qualifiedName"]);
}

#[test]
fn the_status_must_be_one_of_the_types() {
    let types = Catalogue::built_in();
    let asset = type_named(&types, "Asset");
    assert_eq!(
        initial_status(&types, asset, None),
        Ok(InstanceStatus::Active)
    );
    let (draft, _) = types
        .types()
        .find(|(_, of)| of.def().body.initial_status == Some(InstanceStatus::Draft))
        .unwrap();
    assert_eq!(
        initial_status(&types, draft, None),
        Ok(InstanceStatus::Draft)
    );
    assert_eq!(
        new_status(&types, draft, Some(InstanceStatus::Draft)),
        Ok(InstanceStatus::Draft)
    );
    let refused = |id| (Exception::StatusNotSupported, id);
    let asked = |status| failure(new_status(&types, asset, status));
    assert_eq!(
        asked(Some(InstanceStatus::Draft)),
        refused("OMRS-REPOSITORY-400-035")
    );
    assert_eq!(
        asked(Some(InstanceStatus::Deleted)),
        refused("OMRS-REPOSITORY-400-058")
    );
    let none = (Exception::InvalidParameter, "OMRS-REPOSITORY-400-036");
    assert_eq!(asked(None), none);
}

#[test]
fn classifications_must_be_known_and_allowed() {
    let types = Catalogue::built_in();
    let asset = type_named(&types, "Asset");
    let (index, _) = classification(&types, asset, "Confidentiality", None).unwrap();
    assert_eq!(types.get(index).name(), "Confidentiality");
    let refused = |id| (Exception::ClassificationError, id);
    let asked = |name: &str| failure(classification(&types, asset, name, None));
    assert_eq!(asked("Nonsense"), refused("OMRS-REPOSITORY-400-005"));
    assert_eq!(asked("Database"), refused("OMRS-REPOSITORY-400-005"));
    assert_eq!(asked("CyberLocation"), refused("OMRS-REPOSITORY-400-006"));
    assert_eq!(asked("").0, Exception::InvalidParameter);
    let wrong = InstanceProperties::default().with("nonsense", InstancePropertyValue::string(""));
    let wrong = classification(&types, asset, "Confidentiality", Some(wrong));
    assert_eq!(failure(wrong).0, Exception::PropertyError);
}

#[test]
fn ends_of_relationships_take_their_types_in_order() {
    let types = Catalogue::built_in();
    let (mut fitting, mut turned) = (0, 0);
    for (index, of) in types.of_category(TypeDefCategory::Relationship) {
        let [one, two] = of.ends().unwrap();
        for subtype in types.with_subtypes(one) {
            assert_eq!(relationship_ends(&types, index, [subtype, two]), Ok(()));
            fitting += 1;
        }
        if !types.is_a(two, one) {
            let wanted = (Exception::InvalidParameter, "OMRS-REPOSITORY-400-047");
            assert_eq!(
                failure(relationship_ends(&types, index, [two, one])),
                wanted
            );
            turned += 1;
        }
    }
    assert!(fitting > 218 && turned > 50, "{fitting} {turned}");
    let asset = type_named(&types, "Asset");
    assert_eq!(
        failure(relationship_ends(&types, asset, [asset, asset])).0,
        Exception::TypeError
    );
}

#[test]
fn a_search_is_limited_to_types() {
    let types = Catalogue::built_in();
    let guid = |name: &str| types.get(type_named(&types, name)).guid().to_owned();
    let limit = |guid: Option<&str>, subtypes: &[String]| {
        type_filter(&types, TypeDefCategory::Entity, guid, subtypes)
    };
    assert_eq!(limit(None, &[]), Ok(None));
    let assets = limit(Some(&guid("Asset")), &[]).unwrap().unwrap();
    assert!(assets.contains(&type_named(&types, "Database")));
    assert!(!assets.contains(&type_named(&types, "Location")));
    let listed = limit(Some(&guid("Asset")), &[guid("DataStore"), guid("Database")]);
    let listed = listed.unwrap().unwrap();
    assert_eq!(
        listed
            .iter()
            .filter(|of| **of == type_named(&types, "Database"))
            .count(),
        1
    );
    assert!(listed.len() < assets.len());
    let other = limit(Some(&guid("Asset")), &[guid("Location")]);
    assert_eq!(
        failure(other),
        (Exception::TypeError, "OMRS-REPOSITORY-400-079")
    );
    assert_eq!(
        failure(limit(Some("nonsense"), &[])).0,
        Exception::TypeError
    );
    assert_eq!(
        failure(limit(Some(&guid("Confidentiality")), &[])).0,
        Exception::TypeError
    );
}

fn copy_of(types: &Catalogue, name: &str, home: &str) -> EntityDetail {
    let mut entity = EntityDetail::default();
    entity.header.guid = Some("copy".to_owned());
    let of = types.get(type_named(types, name));
    entity.header.audit.instance_type = Some(of.instance_type().clone());
    entity.header.audit.metadata_collection_id = Some(home.to_owned());
    entity
}

#[test]
fn reference_copies_have_a_home_elsewhere() {
    let types = Catalogue::built_in();
    let database = type_named(&types, "Database");
    let copy = copy_of(&types, "Database", "away");
    assert_eq!(entity_copy(&types, &copy, "here"), Ok(database));
    let local = failure(entity_copy(&types, &copy, "away"));
    assert_eq!(
        local,
        (Exception::InvalidParameter, "OMRS-REPOSITORY-400-042")
    );
    type Change = fn(&mut EntityDetail);
    let changes: [(Change, Exception); 6] = [
        (|copy| copy.header.guid = None, Exception::InvalidEntity),
        (
            |copy| copy.header.audit.metadata_collection_id = None,
            Exception::InvalidEntity,
        ),
        (
            |copy| copy.header.audit.instance_type = None,
            Exception::TypeError,
        ),
        (
            |copy| {
                let mut said = (**copy.header.audit.instance_type.as_ref().unwrap()).clone();
                said.name = Some("Asset".to_owned());
                copy.header.audit.instance_type = Some(said.into());
            },
            Exception::TypeError,
        ),
        (
            |copy| {
                let nonsense = InstanceProperties::default();
                copy.properties = Some(nonsense.with("x", InstancePropertyValue::string("")));
            },
            Exception::PropertyError,
        ),
        (
            |copy| {
                let name = Some("CyberLocation".to_owned());
                copy.classifications.push(Classification {
                    name,
                    ..Default::default()
                });
            },
            Exception::TypeError,
        ),
    ];
    for (at, (change, wanted)) in changes.into_iter().enumerate() {
        let mut copy = copy.clone();
        change(&mut copy);
        assert_eq!(
            failure(entity_copy(&types, &copy, "here")).0,
            wanted,
            "change {at}"
        );
    }
}

#[test]
fn copies_of_relationships_have_two_fitting_ends() {
    let types = Catalogue::built_in();
    let end = |name: &str| {
        let header = copy_of(&types, name, "away").header;
        let proxy = EntityProxy {
            header,
            ..Default::default()
        };
        Some(proxy.into())
    };
    let index = type_named(&types, "ExternalIdScope");
    let mut copy = Relationship::default();
    copy.header.guid = Some("r".to_owned());
    let of = types.get(index).instance_type();
    copy.header.audit.instance_type = Some(of.clone());
    copy.header.audit.metadata_collection_id = Some("away".to_owned());
    assert_eq!(
        failure(relationship_copy(&types, &copy, "here")).0,
        Exception::InvalidRelationship
    );
    copy.entity_one = end("Database");
    copy.entity_two = end("ExternalId");
    assert_eq!(relationship_copy(&types, &copy, "here"), Ok(index));
    copy.entity_two = end("Location");
    let wanted = (Exception::InvalidParameter, "OMRS-REPOSITORY-400-047");
    assert_eq!(failure(relationship_copy(&types, &copy, "here")), wanted);
}

#[test]
fn only_the_home_or_the_replicator_may_change_an_instance() {
    let types = Catalogue::built_in();
    let mut header = copy_of(&types, "Database", "home").header;
    let lock = |header: &InstanceHeader, local: &str| update_lock(header, local).is_err();
    header.audit.provenance = Some(InstanceProvenanceType::LocalCohort);
    assert!(!lock(&header, "home") && lock(&header, "other"));
    header.audit.provenance = Some(InstanceProvenanceType::ExternalSource);
    header.audit.replicated_by = Some("replicator".to_owned());
    assert!(!lock(&header, "replicator") && lock(&header, "home"));
    for provenance in InstanceProvenanceType::ALL {
        use InstanceProvenanceType as Provenance;
        if !matches!(
            provenance,
            Provenance::LocalCohort | Provenance::ExternalSource
        ) {
            header.audit.provenance = Some(*provenance);
            header.audit.replicated_by = Some("home".to_owned());
            assert!(lock(&header, "home"), "{provenance:?}");
        }
    }
    let wanted = (
        Exception::InvalidParameter,
        "OMRS-METADATA-COLLECTION-500-016",
    );
    assert_eq!(failure(update_lock(&header, "home")), wanted);
}

#[test]
fn the_type_that_the_caller_expects_is_compared() {
    let types = Catalogue::built_in();
    let header = copy_of(&types, "Database", "home").header;
    let guid = types.get(type_named(&types, "Database")).guid();
    assert_eq!(expected_type(&header, Some(guid), Some("Database")), Ok(()));
    let guid_of = |name| types.get(type_named(&types, name)).guid();
    let of_supertype = expected_type(&header, Some(guid_of("Asset")), Some("Asset"));
    assert_eq!(
        of_supertype,
        Ok(()),
        "who searches by a type finds its subtypes"
    );
    let refused = |guid, name| failure(expected_type(&header, guid, name)).1;
    assert_eq!(
        refused(Some(guid), Some("Asset")),
        "OMRS-REPOSITORY-400-039"
    );
    assert_eq!(
        refused(Some(guid_of("Process")), Some("Process")),
        "OMRS-REPOSITORY-400-039"
    );
    assert_eq!(refused(None, Some("Database")), "OMRS-REPOSITORY-400-022");
    assert_eq!(refused(Some(guid), None), "OMRS-REPOSITORY-400-023");
}
