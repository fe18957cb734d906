//! Calls about types.

use serde_json::json;

use super::*;

#[test]
fn the_standards_types_are_there_and_found() {
    let world = World::new();
    let all = world.done("TypeDefGalleryResponse", "GET", "types/all", "");
    assert_eq!(all["typeDefs"].as_array().unwrap().len(), 600);
    let id = world.done(
        "MetadataCollectionIdResponse",
        "GET",
        "metadata-collection-id",
        "",
    );
    assert_eq!(id["metadataCollectionId"], HOME);
    let found = |class: &str, verb: &str, path: &str, body: &str, list: &str| {
        let answer = world.done(class, verb, path, body);
        answer[list].as_array().map_or(0, Vec::len)
    };
    let list = "TypeDefListResponse";
    let by_category = "types/typedefs/by-category";
    assert_eq!(
        found(
            list,
            "POST",
            by_category,
            r#""CLASSIFICATION_DEF""#,
            "typeDefs"
        ),
        108
    );
    let attribute_list = "AttributeTypeDefListResponse";
    let by_category = "types/attribute-typedefs/by-category";
    assert_eq!(
        found(
            attribute_list,
            "POST",
            by_category,
            r#""PRIMITIVE""#,
            "attributeTypeDefs"
        ),
        13
    );
    let gallery = "TypeDefGalleryResponse";
    assert_eq!(
        found(
            gallery,
            "GET",
            "types/by-name?name=Gloss.*Term",
            "",
            "typeDefs"
        ),
        1
    );
    let body = r#"{"class":"TypeDefProperties","typeDefProperties":{"qualifiedName":"string"}}"#;
    let by_property = "types/typedefs/by-property";
    let posted = found(list, "POST", by_property, body, "typeDefs");
    assert!(posted > 100, "{posted}");
    assert_eq!(found(list, "GET", by_property, body, "typeDefs"), posted);
    let by_value = "types/typedefs/by-property-value?searchCriteria=GlossaryTerm";
    assert_eq!(found(list, "GET", by_value, "", "typeDefs"), 1);
    let none = world.refused(
        list,
        "GET",
        "types/typedefs/by-external-id?standard=&organization=",
        "",
    );
    assert_eq!(none.0, "InvalidParameterException");
    for (class, path) in [
        ("TypeDefResponse", "types/typedef/nope"),
        ("TypeDefResponse", "types/typedef/name/nope"),
        ("AttributeTypeDefResponse", "types/attribute-typedef/nope"),
        (
            "AttributeTypeDefResponse",
            "types/attribute-typedef/name/nope",
        ),
    ] {
        let (exception, _) = world.refused(class, "GET", path, "");
        assert_eq!(exception, "TypeDefNotKnownException", "{path}");
    }
}

#[test]
fn types_come_change_and_go() {
    let world = World::new();
    let mut def = json!({"class": "EntityDef", "guid": "t/1", "name": "Wheel", "version": 1,
        "versionName": "1.0", "category": "ENTITY_DEF",
        "superType": {"guid": world.type_guid("Referenceable"), "name": "Referenceable"},
        "validInstanceStatusList": ["ACTIVE", "DELETED"], "initialStatus": "ACTIVE"});
    let verify = |def: &Value| {
        world.done(
            "BooleanResponse",
            "POST",
            "types/typedef/compatibility",
            &def.to_string(),
        )["flag"]
            .clone()
    };
    assert_eq!(verify(&def), json!(false));
    world.done("VoidResponse", "POST", "types/typedef", &def.to_string());
    assert_eq!(verify(&def), json!(true));
    let read = world.done("TypeDefResponse", "GET", "types/typedef/t%2F1", "");
    assert_eq!(read["typeDef"]["name"], "Wheel");
    let patch = json!({"class": "TypeDefPatch", "typeDefGUID": "t/1", "typeDefName": "Wheel",
        "applyToVersion": 1, "updateToVersion": 2, "newVersionName": "2.0", "description": "Turns"});
    let patched = world.done(
        "TypeDefResponse",
        "POST",
        "types/typedef/update",
        &patch.to_string(),
    );
    assert_eq!(patched["typeDef"]["version"], 2);
    let body = json!({"class": "TypeDefReIdentifyRequest", "originalTypeDefName": "Wheel",
        "newTypeDefGUID": "t-2", "newTypeDefName": "Ring"});
    let path = "types/typedef/t%2F1/identifier";
    let renamed = world.done("TypeDefResponse", "POST", path, &body.to_string());
    assert_eq!(renamed["typeDef"]["name"], "Ring");
    world.done(
        "VoidResponse",
        "POST",
        "types/typedef/t-2/delete?name=Ring",
        "",
    );
    def["guid"] = json!("t-3");
    world.done(
        "VoidResponse",
        "POST",
        "types",
        &json!({"typeDefs": [def]}).to_string(),
    );
    let body = json!({"class": "TypeDefDeleteRequest", "obsoleteTypeDefName": "Wheel"});
    world.done(
        "VoidResponse",
        "POST",
        "types/typedef/t-3/delete",
        &body.to_string(),
    );
    let gone = world.refused("TypeDefResponse", "GET", "types/typedef/t-3", "");
    assert_eq!(gone.0, "TypeDefNotKnownException");
    let none = world.refused("VoidResponse", "POST", "types/typedef", "");
    assert_eq!(none.0, "InvalidParameterException");
    let bad = world.refused(
        "BooleanResponse",
        "POST",
        "types/typedef/compatibility",
        r#"{"class":"Def"}"#,
    );
    assert_eq!(bad.0, "InvalidParameterException");
}

#[test]
fn attribute_types_come_and_go() {
    let world = World::new();
    let def = json!({"class": "EnumDef", "guid": "e-1", "name": "Colour", "version": 1,
        "versionName": "1.0", "category": "ENUM_DEF",
        "elementDefs": [{"ordinal": 0, "value": "Red"}], "defaultValue": {"ordinal": 0, "value": "Red"}});
    let def = def.to_string();
    let path = "types/attribute-typedef/compatibility";
    assert_eq!(
        world.done("BooleanResponse", "POST", path, &def)["flag"],
        false
    );
    world.done("VoidResponse", "POST", "types/attribute-typedef", &def);
    assert_eq!(
        world.done("BooleanResponse", "POST", path, &def)["flag"],
        true
    );
    let path = "types/attribute-typedef/name/Colour";
    let read = world.done("AttributeTypeDefResponse", "GET", path, "");
    assert_eq!(read["attributeTypeDef"]["guid"], "e-1");
    let body = json!({"class": "TypeDefReIdentifyRequest", "originalTypeDefName": "Colour",
        "newTypeDefGUID": "e-2", "newTypeDefName": "Hue"});
    let path = "types/attribute-typedef/e-1/identifier";
    world.done("AttributeTypeDefResponse", "POST", path, &body.to_string());
    world.done(
        "VoidResponse",
        "POST",
        "types/attribute-typedef/e-2/delete?name=Hue",
        "",
    );
}
