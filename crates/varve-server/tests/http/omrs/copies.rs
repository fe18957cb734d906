//! Copies of instances of other repositories, and changes of identity.

use serde_json::json;

use super::*;

const ELSEWHERE: &str = "c2c2c2c2-0002-4c4c-8f8f-000000000002";

/// An instance as another repository would send it.
fn foreign(mut instance: Value, guid: &str) -> Value {
    instance["guid"] = json!(guid);
    instance["metadataCollectionId"] = json!(ELSEWHERE);
    instance["metadataCollectionName"] = json!("elsewhere");
    instance
}

#[test]
fn copies_are_kept_as_they_came() {
    let world = World::new();
    let void = |path: &str, body: &str| world.done("VoidResponse", "POST", path, body);
    let made = world.entity("GlossaryTerm", &[("qualifiedName", "t")]);
    let mut copy = foreign(made.clone(), "f-1");
    copy["mappingProperties"] = json!({"key": "kept"});
    void("instances/entities/reference-copy", &copy.to_string());
    assert_eq!(world.read("f-1"), copy);
    let ours = world.refused(
        "VoidResponse",
        "POST",
        "instances/entities/reference-copy",
        &made.to_string(),
    );
    assert_eq!(ours.0, "InvalidParameterException");
    let none = world.refused(
        "VoidResponse",
        "POST",
        "instances/entities/reference-copy",
        "",
    );
    assert_eq!(none.1, "OMRS-REPOSITORY-400-041");
    let locked = "instances/entity/f-1/delete";
    let locked = world.refused("EntityDetailResponse", "POST", locked, &expected(&copy));
    assert_eq!(locked.1, "OMRS-METADATA-COLLECTION-500-016");
    let home = |verb: &str, guid: &str| {
        format!(
            "instances/entities/reference-copy/{guid}/{verb}?homeMetadataCollectionId={ELSEWHERE}"
        )
    };
    void(&home("refresh", "f-1"), &expected(&copy));
    void(&home("purge", "f-1"), &expected(&copy));
    let gone = world.refused("EntityDetailResponse", "GET", "instances/entity/f-1", "");
    assert_eq!(gone.0, "EntityNotKnownException");
    let unknown = world.refused(
        "VoidResponse",
        "POST",
        &home("purge", "f-1"),
        &expected(&copy),
    );
    assert_eq!(unknown.0, "EntityNotKnownException");
}

#[test]
fn a_graph_of_copies_comes_in_one_call() {
    let world = World::new();
    let one = world.entity("GlossaryTerm", &[("qualifiedName", "one")]);
    let two = world.entity("GlossaryTerm", &[("qualifiedName", "two")]);
    let link = world.relationship("RelatedTerm", &one, &two);
    let mut copy = foreign(link, "f-link");
    copy["entityOneProxy"] = foreign(copy["entityOneProxy"].clone(), "f-1");
    copy["entityTwoProxy"] = foreign(copy["entityTwoProxy"].clone(), "f-2");
    let body = json!({"class": "InstanceGraphRequest",
        "entityElementList": [foreign(one, "f-1")], "relationshipElementList": [copy]});
    world.done("VoidResponse", "POST", "instances", &body.to_string());
    let read = world.done(
        "RelationshipResponse",
        "GET",
        "instances/relationship/f-link",
        "",
    );
    assert_eq!(read["relationship"]["entityTwoProxy"]["guid"], "f-2");
    let proxy = world.refused("EntityDetailResponse", "GET", "instances/entity/f-2", "");
    assert_eq!(proxy.0, "EntityProxyOnlyException");
    world.done(
        "EntitySummaryResponse",
        "GET",
        "instances/entity/f-2/summary",
        "",
    );
    let copy = copy.to_string();
    world.done(
        "VoidResponse",
        "POST",
        "instances/relationships/reference-copy/purge",
        &copy,
    );
    let gone = world.refused(
        "RelationshipResponse",
        "GET",
        "instances/relationship/f-link",
        "",
    );
    assert_eq!(gone.0, "RelationshipNotKnownException");
}

#[test]
fn external_instances_proxies_and_classifications_are_taken() {
    let world = World::new();
    let body = json!({
        "class": "EntityCreateRequest",
        "entityTypeGUID": world.type_guid("GlossaryTerm"),
        "initialProperties": strings(&[("qualifiedName", "x")]),
        "metadataCollectionId": ELSEWHERE,
        "metadataCollectionName": "elsewhere",
    });
    let made = world.done(
        "EntityDetailResponse",
        "POST",
        "instances/entity/external",
        &body.to_string(),
    );
    assert_eq!(made["entity"]["instanceProvenanceType"], "EXTERNAL_SOURCE");
    assert_eq!(made["entity"]["replicatedBy"], HOME);
    let mut proxy = foreign(made["entity"].clone(), "f-3");
    proxy["class"] = json!("EntityProxy");
    proxy["instanceProvenanceType"] = json!("LOCAL_COHORT");
    world.done(
        "VoidResponse",
        "POST",
        "instances/entity-proxy",
        &proxy.to_string(),
    );
    let none = world.refused("VoidResponse", "POST", "instances/entity-proxy", "");
    assert_eq!(none.1, "OMRS-REPOSITORY-400-043");
}

#[test]
fn identity_type_and_home_change() {
    let world = World::new();
    let made = world.entity("GlossaryTerm", &[("qualifiedName", "t")]);
    let path = format!(
        "instances/entity/{}/identity?newEntityGUID=a%2Fb",
        guid(&made)
    );
    let moved = world.done("EntityDetailResponse", "POST", &path, &expected(&made));
    assert_eq!(moved["entity"]["guid"], "a/b");
    assert_eq!(world.read("a%2Fb"), moved["entity"]);
    let summary = |name: &str| json!({"guid": world.type_guid(name), "name": name, "version": 1});
    let body = json!({"class": "TypeDefChangeRequest",
        "currentTypeDef": summary("GlossaryTerm"), "newTypeDef": summary("ControlledGlossaryTerm")});
    let path = "instances/entity/a%2Fb/type";
    let typed = world.done("EntityDetailResponse", "POST", path, &body.to_string());
    assert_eq!(
        typed["entity"]["type"]["typeDefName"],
        "ControlledGlossaryTerm"
    );
    let path =
        format!("instances/entity/a%2Fb/home/{HOME}?newHomeMetadataCollectionId={ELSEWHERE}");
    let ours = world.refused(
        "EntityDetailResponse",
        "POST",
        &path,
        &expected(&typed["entity"]),
    );
    assert_eq!(ours.0, "InvalidParameterException");
}
