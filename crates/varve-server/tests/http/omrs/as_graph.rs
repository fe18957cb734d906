//! Instances as the elements of a graph: Cypher, Gremlin and the explorer read their properties,
//! their types and their links, at any point of both times.

use std::time::Duration;

use super::*;

impl World {
    /// The rows of a Cypher statement.
    #[track_caller]
    fn cypher(&self, text: &str) -> Value {
        let body = json!({ "statement": text }).to_string();
        let answer = self.server.send("POST", "/db/metadata/query/v2", &body);
        let said = answer.json();
        assert_eq!(answer.status, 202, "{text}: {said}");
        said["data"]["values"].clone()
    }

    /// The results of a Gremlin script.
    #[track_caller]
    fn gremlin(&self, script: &str) -> Value {
        let body = json!({
            "gremlin": script,
            "aliases": {"graph": "metadata", "g": "__g_metadata"},
        });
        let answer = self.server.send("POST", "/gremlin", &body.to_string());
        let said = answer.json();
        assert_eq!(answer.status, 200, "{script}: {said}");
        said["result"]["data"].clone()
    }

    /// Another value of properties.
    fn change(&self, instance: &Value, properties: &[(&str, &str)]) -> Value {
        let body = json!({
            "class": "InstancePropertiesRequest",
            "instanceProperties": strings(properties),
        });
        let path = format!("instances/entity/{}/properties", guid(instance));
        let answer = self.done("EntityDetailResponse", "POST", &path, &body.to_string());
        answer["entity"].clone()
    }
}

/// A term that means a database, with the name `x`.
fn linked() -> (World, Value, Value) {
    let world = World::new();
    let term = world.entity(
        "GlossaryTerm",
        &[("qualifiedName", "t"), ("displayName", "x")],
    );
    let database = world.entity("Database", &[("qualifiedName", "d"), ("name", "sales")]);
    world.relationship("SemanticAssignment", &database, &term);
    (world, term, database)
}

const LINKED: &str = "MATCH (t:GlossaryTerm {displayName: 'x'})-[:SemanticAssignment]-(x) \
                      RETURN x.name";
const LINKED_GREMLIN: &str =
    ".V().has('GlossaryTerm','displayName','x').both('SemanticAssignment').values('name')";

#[test]
fn a_term_is_found_by_its_name_with_what_it_is_assigned_to() {
    let (world, term, database) = linked();
    assert_eq!(world.cypher(LINKED), json!([["sales"]]));
    assert_eq!(
        world.gremlin(&format!("g{LINKED_GREMLIN}")),
        json!(["sales"])
    );
    let node = &world.cypher("MATCH (d:Database) RETURN d")[0][0];
    assert_eq!(node["elementId"], database["guid"]);
    assert_eq!(node["labels"][0], "Database");
    assert!(
        node["labels"]
            .as_array()
            .unwrap()
            .contains(&json!("Referenceable"))
    );
    let properties = &node["properties"];
    assert_eq!(properties["qualifiedName"], "d");
    assert_eq!(properties["_guid"], database["guid"]);
    assert_eq!(properties["_version"], 1);
    assert_eq!(properties["_status"], "ACTIVE");
    assert_eq!(properties["_createdBy"], "ada");
    assert!(properties["header"].is_null(), "{properties}");
    let guid = term["guid"].as_str().unwrap();
    for (text, wanted) in [
        (
            format!("MATCH (t {{_guid: '{guid}'}}) RETURN t.displayName"),
            json!([["x"]]),
        ),
        (
            format!("MATCH (t) WHERE elementId(t) = '{guid}' RETURN t._guid"),
            json!([[guid]]),
        ),
        (
            "MATCH (t:Referenceable {qualifiedName: 't'}) RETURN t.displayName".into(),
            json!([["x"]]),
        ),
        (
            "MATCH (t:Database {displayName: 'x'}) RETURN t".into(),
            json!([]),
        ),
        (
            "MATCH ({displayName: 'x'})<-[r]-() RETURN type(r), r._version".into(),
            json!([["SemanticAssignment", 1]]),
        ),
        (
            "MATCH (t:Referenceable) RETURN count(t)".into(),
            json!([[2]]),
        ),
        ("MATCH (t:Asset) RETURN t.name".into(), json!([["sales"]])),
        (
            "MATCH (t:GlossaryTerm) WHERE t._createTime <= datetime() RETURN count(*)".into(),
            json!([[1]]),
        ),
    ] {
        assert_eq!(world.cypher(&text), wanted, "{text}");
    }
    for (script, wanted) in [
        ("g.V().hasLabel('Referenceable').count()", json!([2])),
        ("g.V().out().hasLabel('Referenceable').count()", json!([1])),
        ("g.V().has('_guid', within('d')).count()", json!([0])),
        ("g.E().label()", json!(["SemanticAssignment"])),
    ] {
        assert_eq!(world.gremlin(script), wanted, "{script}");
    }
}

#[test]
fn both_times_show_what_instances_were() {
    let (world, term, _) = linked();
    std::thread::sleep(Duration::from_millis(5));
    let changed = world.change(&term, &[("qualifiedName", "t"), ("displayName", "y")]);
    let before = changed["updateTime"].as_i64().unwrap() - 1;
    assert_eq!(world.cypher(LINKED), json!([]));
    let then = format!("datetime({{epochMillis: {before}}})");
    for time in ["VALID_TIME", "SYSTEM_TIME"] {
        let text = format!("FOR {time} AS OF {then} {LINKED}");
        assert_eq!(world.cypher(&text), json!([["sales"]]), "{text}");
    }
    let text = &world.cypher(&format!("RETURN toString({then})"))[0][0];
    let text = text.as_str().unwrap();
    for time in ["as_of", "as_of_tx"] {
        let script = format!("g.with('{time}', '{text}'){LINKED_GREMLIN}");
        assert_eq!(world.gremlin(&script), json!(["sales"]), "{script}");
    }
    assert_eq!(world.gremlin(&format!("g{LINKED_GREMLIN}")), json!([]));
}

#[test]
fn classifications_are_properties_and_deleted_instances_are_history() {
    let (world, term, database) = linked();
    let path = format!(
        "instances/entity/{}/classification/Confidentiality",
        guid(&term)
    );
    let body = json!({
        "class": "InstancePropertiesRequest",
        "instanceProperties": strings(&[("notes", "careful")]),
    });
    world.done("EntityDetailResponse", "POST", &path, &body.to_string());
    for text in [
        "MATCH (t {`Confidentiality.notes`: 'careful'}) RETURN t._classifications",
        "MATCH (t) WHERE 'Confidentiality' IN t._classifications RETURN t._classifications",
    ] {
        assert_eq!(world.cypher(text), json!([[["Confidentiality"]]]), "{text}");
    }
    std::thread::sleep(Duration::from_millis(5));
    let path = format!("instances/entity/{}/delete", guid(&database));
    let deleted = world.done("EntityDetailResponse", "POST", &path, &expected(&database));
    let before = deleted["entity"]["updateTime"].as_i64().unwrap() - 1;
    assert_eq!(world.cypher(LINKED), json!([]));
    assert_eq!(world.cypher("MATCH (n) RETURN count(n)"), json!([[1]]));
    assert_eq!(
        world.cypher("MATCH (d {qualifiedName: 'd'}) RETURN d"),
        json!([])
    );
    assert_eq!(world.gremlin("g.V().bothE().count()"), json!([0]));
    let text = format!("FOR VALID_TIME AS OF datetime({{epochMillis: {before}}}) {LINKED}");
    assert_eq!(world.cypher(&text), json!([["sales"]]));
}

#[test]
fn these_doors_only_read() {
    let (world, _, _) = linked();
    for text in [
        "CREATE (:GlossaryTerm)",
        "MATCH (t) SET t.displayName = 'z'",
        "MATCH (t) DETACH DELETE t",
    ] {
        let body = json!({ "statement": text }).to_string();
        let answer = world.server.send("POST", "/db/metadata/query/v2", &body);
        assert_eq!(answer.status, 403, "{text}: {}", answer.text());
        let says = "belongs to the metadata repository";
        assert!(answer.text().contains(says), "{text}: {}", answer.text());
    }
    assert_eq!(world.cypher(LINKED), json!([["sales"]]));
}

#[test]
fn the_explorer_and_exports_show_each_instance_once() {
    let (world, term, database) = linked();
    let graph = "/graphs/metadata/explore";
    let found = world.server.get(&format!("{graph}/search?q=sales")).json();
    let properties = &found["found"][0]["element"]["properties"];
    assert_eq!(properties["name"], "sales", "{found}");
    let exported = world
        .server
        .get(&format!("{graph}/export?elements=vertices"));
    let lines: Vec<&str> = exported.text().lines().collect();
    for instance in [&term, &database] {
        let of = guid(instance);
        let about = lines
            .iter()
            .filter(|line| line.contains(&format!(r#""_guid":"{of}""#)));
        assert_eq!(about.count(), 1, "{}", exported.text());
    }
    assert!(
        exported.text().contains(r#""displayName":"x""#),
        "{}",
        exported.text()
    );
    assert!(
        !exported.text().contains(r#""header""#),
        "{}",
        exported.text()
    );
    let table = world.server.get(&format!(
        "{graph}/export?format=csv&elements=vertices&label=Database"
    ));
    let head = table.text().lines().next().unwrap_or_default().to_owned();
    assert!(
        head.contains("_createTime") && head.contains(",name"),
        "{head}"
    );
    assert!(!head.contains("displayTextPrefix"), "{head}");
    let walked = world.server.get(&format!(
        "/graphs/metadata/traversers/kneighbor?source=%22{}%22&max_depth=1",
        guid(&term)
    ));
    assert!(walked.text().contains(guid(&database)), "{}", walked.text());
}
