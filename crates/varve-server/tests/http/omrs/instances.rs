//! Entities, relationships and classifications, from the first state to the last.

use serde_json::json;

use super::*;

#[test]
fn an_entity_is_made_read_and_changed() {
    let world = World::new();
    let made = world.entity(
        "Glossary",
        &[("qualifiedName", "g"), ("displayName", "Words")],
    );
    assert_eq!(made["class"], "EntityDetail");
    assert_eq!(made["createdBy"], "ada");
    assert_eq!(made["metadataCollectionId"], HOME);
    assert_eq!(
        (&made["version"], &made["status"]),
        (&json!(1), &json!("ACTIVE"))
    );
    let guid = guid(&made);
    assert_eq!(world.read(guid), made);
    let anonymous =
        format!("/servers/varve/open-metadata/repository-services/instances/entity/{guid}");
    let read = world.done("EntityDetailResponse", "GET", &anonymous, "");
    assert_eq!(read["entity"], made);
    let url = made["instanceURL"].as_str().unwrap();
    assert_eq!(url, format!("http://h{anonymous}"));
    let path = format!("instances/entity/{guid}/existence");
    let known = world.done("EntityDetailResponse", "GET", &path, "");
    assert_eq!(known["entity"], made);
    let unknown = world.done(
        "EntityDetailResponse",
        "GET",
        "instances/entity/x/existence",
        "",
    );
    assert!(unknown["entity"].is_null());
    let path = format!("instances/entity/{guid}/summary");
    let summary = world.done("EntitySummaryResponse", "GET", &path, "");
    assert_eq!(summary["entity"]["guid"], made["guid"]);
    let body = json!({
        "class": "InstancePropertiesRequest",
        "instanceProperties": strings(&[("qualifiedName", "g2")]),
    });
    let path = format!("instances/entity/{guid}/properties");
    let changed = world.done("EntityDetailResponse", "POST", &path, &body.to_string());
    assert_eq!(changed["entity"]["version"], 2);
    assert_eq!(world.read(guid), changed["entity"]);
    let path = format!("instances/entity/{guid}/previous");
    let undone = world.done("EntityDetailResponse", "GET", &path, "");
    assert_eq!(undone["entity"]["properties"], made["properties"]);
    assert_eq!(undone["entity"]["version"], 3);
}

#[test]
fn an_entity_is_deleted_restored_and_purged() {
    let world = World::new();
    let made = world.entity("Glossary", &[("qualifiedName", "g")]);
    let path = |rest: &str| format!("instances/entity/{}{rest}", guid(&made));
    let body = expected(&made);
    let early = world.refused("VoidResponse", "POST", &path("/purge"), &body);
    assert_eq!(early.0, "EntityNotDeletedException");
    let deleted = world.done("EntityDetailResponse", "POST", &path("/delete"), &body);
    assert_eq!(deleted["entity"]["status"], "DELETED");
    let unknown = world.refused("EntityDetailResponse", "GET", &path(""), "");
    assert_eq!(unknown.0, "EntityNotKnownException");
    let restored = world.done("EntityDetailResponse", "GET", &path("/restore"), "");
    assert_eq!(restored["entity"]["version"], 3);
    assert_eq!(world.read(guid(&made)), restored["entity"]);
    world.done("EntityDetailResponse", "POST", &path("/delete"), &body);
    world.done("VoidResponse", "POST", &path("/purge"), &body);
    let known = world.done("EntityDetailResponse", "GET", &path("/existence"), "");
    assert!(known["entity"].is_null());
}

#[test]
fn a_status_is_a_bare_text() {
    let world = World::new();
    let made = world.entity("GlossaryTerm", &[("qualifiedName", "t")]);
    let path = format!("instances/entity/{}/status", guid(&made));
    let call = |body: &str| call(&world.server, "EntityDetailResponse", "POST", &path, body);
    let changed = call(r#""ACTIVE""#);
    assert_eq!(changed["entity"]["version"], 2, "{changed}");
    for (body, exception) in [
        (r#""DELETED""#, "StatusNotSupportedException"),
        (r#""STANDBY""#, "StatusNotSupportedException"),
        ("", "InvalidParameterException"),
        ("null", "InvalidParameterException"),
        (r#""LOST""#, "InvalidParameterException"),
        ("ACTIVE", "InvalidParameterException"),
        ("{}", "InvalidParameterException"),
    ] {
        assert_eq!(failure(&call(body)).0, exception, "{body}");
    }
}

#[test]
fn a_relationship_is_made_read_and_changed() {
    let world = World::new();
    let one = world.entity("GlossaryTerm", &[("qualifiedName", "one")]);
    let two = world.entity("GlossaryTerm", &[("qualifiedName", "two")]);
    let made = world.relationship("RelatedTerm", &one, &two);
    assert_eq!(made["entityOneProxy"]["guid"], one["guid"]);
    assert_eq!(made["entityTwoProxy"]["class"], "EntityProxy");
    let path = |rest: &str| format!("instances/relationship/{}{rest}", guid(&made));
    let read = world.done("RelationshipResponse", "GET", &path(""), "");
    assert_eq!(read["relationship"], made);
    let anonymous = format!(
        "/servers/varve/open-metadata/repository-services/{}",
        path("")
    );
    let read = world.done("RelationshipResponse", "GET", &anonymous, "");
    assert_eq!(read["relationship"], made);
    let body = json!({
        "class": "InstancePropertiesRequest",
        "instanceProperties": strings(&[("description", "alike")]),
    });
    let changed = world.done(
        "RelationshipResponse",
        "POST",
        &path("/properties"),
        &body.to_string(),
    );
    assert_eq!(changed["relationship"]["version"], 2);
    let of = format!("instances/entity/{}/relationships", guid(&one));
    let found = world.done("RelationshipListResponse", "POST", &of, "");
    assert_eq!(found["relationships"], json!([changed["relationship"]]));
    let undone = world.done("RelationshipResponse", "GET", &path("/previous"), "");
    assert_eq!(undone["relationship"]["version"], 3);
    let body = expected(&made);
    world.done("RelationshipResponse", "POST", &path("/delete"), &body);
    let found = world.done("RelationshipListResponse", "POST", &of, "{}");
    assert!(found["relationships"].is_null(), "{found}");
    let gone = world.refused("RelationshipResponse", "GET", &path(""), "");
    assert_eq!(gone.0, "RelationshipNotKnownException");
    world.done("RelationshipResponse", "GET", &path("/restore"), "");
    let known = world.done("RelationshipResponse", "GET", &path("/existence"), "");
    assert_eq!(known["relationship"]["status"], "ACTIVE");
    let early = world.refused("VoidResponse", "POST", &path("/purge"), &body);
    assert_eq!(early.0, "RelationshipNotDeletedException");
}

#[test]
fn an_entity_is_classified_by_guid_and_by_proxy() {
    let world = World::new();
    let made = world.entity("GlossaryTerm", &[("qualifiedName", "t")]);
    let path = |rest: &str| format!("instances/entity/{}/classification/{rest}", guid(&made));
    let call = |path: &str, body: &str| world.done("EntityDetailResponse", "POST", path, body);
    let classified = call(&path("Confidentiality"), "");
    let classification = &classified["entity"]["classifications"][0];
    assert_eq!(classification["name"], "Confidentiality");
    assert_eq!(classified["entity"]["version"], 1);
    let body = json!({
        "class": "InstancePropertiesRequest",
        "instanceProperties": strings(&[("notes", "careful")]),
    });
    let changed = call(&path("Confidentiality/properties"), &body.to_string());
    assert_eq!(changed["entity"]["classifications"][0]["version"], 2);
    let home = format!("instances/entity/{}/home-classifications", guid(&made));
    let ours = world.done("ClassificationListResponse", "GET", &home, "");
    assert_eq!(
        ours["classifications"],
        changed["entity"]["classifications"]
    );
    let bare = call(
        &path("Confidentiality/delete"),
        r#"{"class":"OMRSAPIRequest"}"#,
    );
    assert!(bare["entity"]["classifications"].is_null());
    let again = world.refused(
        "EntityDetailResponse",
        "POST",
        &path("Confidentiality/delete"),
        "",
    );
    assert_eq!(again.0, "ClassificationErrorException");
    let body = json!({"class": "ClassificationRequest", "classificationOrigin": "ASSIGNED"});
    call(&path("Confidentiality/detailed"), &body.to_string());
    call(&path("Confidentiality/delete"), "");

    let by_proxy = |rest: &str, body: Value| {
        let path = format!("instances/entity/classification/{rest}");
        let answer = world.done("ClassificationResponse", "POST", &path, &body.to_string());
        answer["classification"].clone()
    };
    let proxy = json!({"class": "EntityProxy", "guid": made["guid"], "type": made["type"],
        "metadataCollectionId": HOME, "instanceProvenanceType": "LOCAL_COHORT", "version": 1});
    let body = json!({"class": "ProxyClassificationRequest", "entityProxy": proxy,
        "instanceProperties": strings(&[("notes", "a")])});
    let classified = by_proxy("Confidentiality", body.clone());
    assert_eq!(
        classified["properties"]["instanceProperties"]["notes"]["primitiveValue"],
        "a"
    );
    let changed = by_proxy("Confidentiality/properties", body);
    assert_eq!(changed["version"], 2);
    by_proxy(
        "Confidentiality/delete",
        json!({"class": "EntityProxyRequest", "entityProxy": proxy}),
    );
    let body = json!({"class": "ClassificationProxyRequest", "entityProxy": proxy});
    by_proxy("Confidentiality/detailed", body);
    by_proxy("Confidentiality/delete", proxy);
    assert!(world.read(guid(&made))["classifications"].is_null());
}

#[test]
fn the_past_is_read_as_it_was() {
    let world = World::new();
    let made = world.entity("Glossary", &[("qualifiedName", "g")]);
    let path = |rest: &str| format!("instances/entity/{}{rest}", guid(&made));
    let body = json!({
        "class": "InstancePropertiesRequest",
        "instanceProperties": strings(&[("qualifiedName", "g2")]),
    });
    let changed = world.done(
        "EntityDetailResponse",
        "POST",
        &path("/properties"),
        &body.to_string(),
    );
    let list = |body: &str| {
        let path = path("/history/all");
        world.done("EntityListResponse", "POST", &path, body)["entities"].clone()
    };
    assert_eq!(list(""), json!([changed["entity"], made]));
    let forwards = r#"{"class":"HistoryRangeRequest","sequencingOrder":"FORWARDS","pageSize":1}"#;
    assert_eq!(list(forwards), json!([made]));
    let at = |time: &Value| json!({"class": "HistoryRequest", "asOfTime": time}).to_string();
    let of_now = at(&changed["entity"]["updateTime"]);
    let then = world.done("EntityDetailResponse", "POST", &path("/history"), &of_now);
    assert_eq!(then["entity"], changed["entity"]);
    let before = at(&json!(made["createTime"].as_i64().unwrap() - 1));
    let refused =
        |body: &str| world.refused("EntityDetailResponse", "POST", &path("/history"), body);
    assert_eq!(refused(&before).0, "EntityNotKnownException");
    assert_eq!(
        refused(&at(&json!(4_000_000_000_000_i64))).1,
        "OMRS-REPOSITORY-400-038"
    );
    assert_eq!(refused("").1, "OMRS-REPOSITORY-400-057");
    assert_eq!(
        refused(r#"{"asOfTime":"yesterday"}"#).0,
        "InvalidParameterException"
    );
    let all = world.refused(
        "EntityListResponse",
        "POST",
        &path("/history/all"),
        r#"{"offset":-1}"#,
    );
    assert_eq!(all.0, "PagingErrorException");
}
