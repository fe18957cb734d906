//! Searches and walks through the graph.

use serde_json::json;

use super::*;

fn names(answer: &Value, list: &str) -> Vec<String> {
    let name = |entity: &Value| {
        let value = &entity["properties"]["instanceProperties"]["qualifiedName"]["primitiveValue"];
        value.as_str().unwrap().to_owned()
    };
    let mut names: Vec<String> = answer[list]
        .as_array()
        .into_iter()
        .flatten()
        .map(name)
        .collect();
    names.sort();
    names
}

fn find(world: &World, path: &str, body: &Value) -> Vec<String> {
    let path = format!("instances/entities{path}");
    let answer = world.done("EntityListResponse", "POST", &path, &body.to_string());
    names(&answer, "entities")
}

#[test]
fn entities_are_found_in_every_way() {
    let world = World::new();
    let first = world.entity("Glossary", &[("qualifiedName", "a+b c/é")]);
    world.entity("Glossary", &[("qualifiedName", "other")]);
    let glossary = world.type_guid("Glossary");
    let whole = json!({"class": "EntityPropertyFindRequest", "typeGUID": glossary,
        "matchProperties": strings(&[("qualifiedName", r"\Qa+b\E.*")]), "matchCriteria": "ALL"});
    assert_eq!(find(&world, "/by-property", &whole), ["a+b c/é"]);
    let tree = json!({"class": "EntityFindRequest", "matchProperties": {
        "class": "SearchProperties", "matchCriteria": "ALL", "conditions": [
            {"property": "qualifiedName", "operator": "EQ", "value": text("other")}]}});
    assert_eq!(find(&world, "", &tree), ["other"]);
    let limit = json!({"class": "EntityPropertyFindRequest"});
    let coded = "/by-property-value?searchCriteria=%5CQa%2Bb%20c%2F%C3%A9%5CE.%2A";
    assert_eq!(find(&world, coded, &limit), ["a+b c/é"]);
    let spaced = "/by-property-value?searchCriteria=%5CQa%2Bb+c%2F%C3%A9%5CE.%2A";
    assert_eq!(find(&world, spaced, &limit), ["a+b c/é"]);
    let twice = "/by-property-value?searchCriteria=%255CQa%252Bb%2520c%255CE.%252A";
    assert!(
        find(&world, twice, &limit).is_empty(),
        "decoded once, not twice"
    );
    let path = format!("instances/entity/{}/classification/Template", guid(&first));
    world.done("EntityDetailResponse", "POST", &path, "");
    let any = json!({"class": "PropertyMatchFindRequest"});
    assert_eq!(
        find(&world, "/by-classification/Template", &any),
        ["a+b c/é"]
    );
}

#[test]
fn searches_are_refused_with_the_exceptions_of_the_contract() {
    let world = World::new();
    let refused = |path: &str, body: &str| {
        world.refused(
            "EntityListResponse",
            "POST",
            &format!("instances/entities{path}"),
            body,
        )
    };
    let unknown = refused("", r#"{"class":"EntityFindRequest","typeGUID":"nope"}"#);
    assert_eq!(unknown.0, "TypeErrorException");
    let page = refused("/by-property", r#"{"pageSize":-1}"#);
    assert_eq!(
        page,
        (
            "PagingErrorException".to_owned(),
            "OMRS-REPOSITORY-400-050".to_owned()
        )
    );
    let criteria = refused("/by-property-value", "");
    assert_eq!(criteria.1, "OMRS-REPOSITORY-400-013");
    for path in [
        "",
        "/by-property",
        "/by-classification/Template",
        "/by-property-value",
    ] {
        let no_time = refused(&format!("{path}/history?searchCriteria=x"), "");
        assert_eq!(no_time.1, "OMRS-REPOSITORY-400-057", "{path}");
    }
    let class = refused("", r#"{"class":"HistoryRequest"}"#);
    assert_eq!(class.0, "InvalidParameterException");
}

#[test]
fn the_graph_is_walked() {
    let world = World::new();
    let terms: Vec<Value> = ["a", "b", "c"]
        .map(|name| world.entity("GlossaryTerm", &[("qualifiedName", name)]))
        .into();
    world.relationship("RelatedTerm", &terms[0], &terms[1]);
    let created = terms[2]["createTime"].as_i64().unwrap();
    world.relationship("Synonym", &terms[1], &terms[2]);
    let from = |rest: &str| format!("instances/entities/from-entity/{}{rest}", guid(&terms[0]));
    let graph = |path: &str| world.done("InstanceGraphResponse", "POST", path, "");
    let near = graph(&from("/by-neighborhood?level=1"));
    assert_eq!(names(&near, "entityElementList"), ["a", "b"]);
    assert_eq!(near["relationshipElementList"].as_array().unwrap().len(), 1);
    assert_eq!(
        names(
            &graph(&from("/by-neighborhood?level=-1")),
            "entityElementList"
        )
        .len(),
        3
    );
    let end = format!("/by-linkage?endEntityGUID={}", guid(&terms[2]));
    assert_eq!(
        names(&graph(&from(&end)), "entityElementList"),
        ["a", "b", "c"]
    );
    let related = |body: &str| {
        let answer = world.done(
            "EntityListResponse",
            "POST",
            &from("/by-relationship"),
            body,
        );
        names(&answer, "entities")
    };
    assert_eq!(related(""), ["a", "b", "c"]);
    let then = json!({"class": "RelatedEntitiesHistoricalFindRequest", "asOfTime": created - 1});
    assert!(
        !related(&then.to_string()).contains(&"c".to_owned()),
        "the time counts here too"
    );
    let refused = |path: &str| world.refused("InstanceGraphResponse", "POST", &from(path), "");
    assert_eq!(refused("/by-neighborhood").0, "InvalidParameterException");
    assert_eq!(
        refused("/by-neighborhood?level=far").1,
        "VARVE-OMRS-400-009"
    );
    assert_eq!(
        refused("/by-linkage?endEntityGUID=nope").0,
        "EntityNotKnownException"
    );
}
