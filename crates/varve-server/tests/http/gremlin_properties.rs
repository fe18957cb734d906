//! `/gremlin`: `property()` with properties of properties, and values of types that JSON does not
//! have.

use serde_json::{Value, json};

use crate::fixture::Fixture;
use crate::gremlin_writes::data;

/// A declared graph, and the open graph `open`.
fn graphs() -> Fixture {
    let fixture = Fixture::new();
    fixture.people();
    fixture.done("POST", "/graphs/open", r#"{"schema":"open"}"#);
    fixture
}

fn refused(fixture: &Fixture, script: &str, message: &str) {
    let body = json!({"gremlin": script}).to_string();
    let answer = fixture.send("POST", "/gremlin", &body);
    let text = answer.text().to_owned();
    assert!((400..500).contains(&answer.status), "{script}: {text}");
    assert!(text.contains(message), "{script}: {text}");
}

/// A script on the open graph.
fn on_open(script: &str) -> String {
    format!("graph = open; g = graph.traversal(); {script}")
}

#[test]
fn a_vertex_returns_the_property_that_it_was_given() {
    let fixture = graphs();
    for (given, wanted) in [
        ("'k', 'v'", json!(["k", "v"])),
        ("'k', 'v', 'meta', 'm'", json!(["k", "v"])),
        ("'k', 'v', 'meta', 'm', 'n', 1", json!(["k", "v"])),
        ("single, 'k', 'v'", json!(["k", "v"])),
        ("list, 'k', 'v', 'meta', 'm'", json!(["k", "v"])),
        (
            "VertexProperty.Cardinality.set, 'k', 'v'",
            json!(["k", "v"]),
        ),
    ] {
        let script = on_open(&format!(
            "v = g.addV('a').next(); p = v.property({given}); [p.key(), p.value()]"
        ));
        assert_eq!(data(&fixture, &script), wanted, "{given}");
    }
    for (given, meta) in [
        ("'k','v','meta','m'", json!([{"meta": "m"}])),
        ("'k','v','meta','m','n',1", json!([{"meta": "m", "n": 1}])),
        ("list,'k','v','meta','m'", json!([{"meta": "m"}])),
        ("'k','v'", json!([{}])),
    ] {
        let on_addition = format!("g.addV('a').property({given}).properties('k').valueMap()");
        assert_eq!(data(&fixture, &on_open(&on_addition)), meta, "{given}");
        let later = format!(
            "id = g.addV('a').next().id(); \
             g.V(id).property({given}).properties('k').valueMap()"
        );
        assert_eq!(data(&fixture, &on_open(&later)), meta, "{given}");
    }
    refused(
        &fixture,
        &on_open("g.V().property('k','v','meta')"),
        "must be a multiple of two",
    );
}

#[test]
fn only_a_vertex_takes_properties_of_properties() {
    let fixture = graphs();
    data(
        &fixture,
        &on_open(
            "g.addV('a').property(T.id,1).property('k','v').addV('a').property(T.id,2).iterate(); \
             g.V(1).addE('e').to(__.V(2)).iterate()",
        ),
    );
    for script in [
        "g.E().property('since',1,'meta',2)",
        "g.E().next().property('since',1,'meta',2)",
        "g.V(1).addE('f').to(__.V(2)).property('since',1,'meta',2)",
        "try { g.E().property('since',1,'meta',2).iterate() } finally { g.tx().commit() }",
        "try { g.V(1).addE('f').to(__.V(2)).property('since',1,'meta',2).iterate() } \
         finally { g.tx().commit() }",
    ] {
        refused(
            &fixture,
            &on_open(script),
            "Properties of properties can only be set for a Vertex but the traversal encountered \
             Edge for key: since",
        );
    }
    refused(
        &fixture,
        &on_open("g.V(1).properties('k').property('since',1,'meta',2)"),
        "encountered VertexProperty for key: since",
    );
    assert_eq!(
        data(&fixture, &on_open("g.E().union(label(),values())")),
        json!(["e"])
    );
    let keys = fixture.done("GET", "/graphs/open/schema/propertykeys", "");
    let keys: Vec<&Value> = keys["propertykeys"]
        .as_array()
        .expect("keys")
        .iter()
        .map(|key| &key["name"])
        .collect();
    assert_eq!(keys, ["k"]);
}

#[test]
fn a_declared_graph_refuses_properties_of_properties_before_it_changes_anything() {
    let fixture = graphs();
    for script in [
        "g.V('1:marko').property('city','Wuhan','meta','m')",
        "g.V('1:marko').property(single,'city','Wuhan','meta','m')",
        "g.V('1:marko').next().property('city','Wuhan','meta','m')",
        "g.addV('person').property('name','x').property('age',1).property('city','Wuhan','meta','m')",
        "try { g.addV('person').property('name','x').property('age',1)\
         .property('city','Wuhan','meta','m').iterate() } finally { g.tx().commit() }",
        "g.V('1:marko').outE().property('date','2020-01-01','meta','m')",
    ] {
        refused(&fixture, script, "properties of properties");
    }
    assert_eq!(
        data(
            &fixture,
            "[g.V('1:x').count().next(), g.V('1:marko').values('city').toList().contains('Wuhan')]"
        ),
        json!([0, false])
    );
}

/// The error names the key, its type, and a type of the value.
#[test]
fn a_text_takes_no_value_of_another_type() {
    let fixture = graphs();
    for (value, class) in [
        ("1", "Integer"),
        ("5000000000L", "Long"),
        ("1.5", "Double"),
        ("NaN", "Double"),
        ("Infinity", "Double"),
        ("12345678901234567890n", "BigInteger"),
        ("5n", "BigInteger"),
        ("1.5m", "BigDecimal"),
        ("UUID('41d2e28a-20a4-4ab0-b379-d810dede3786')", "UUID"),
    ] {
        let wanted = format!("for key 'city', expect a value of type String, actual type {class}");
        for script in [
            format!("g.V('1:marko').property('city',{value})"),
            format!("g.V('1:marko').next().property('city',{value})"),
            format!("g.addV('person').property('name','x').property('city',{value})"),
            format!("g.mergeV([(T.label):'person',name:'marko']).option(onMatch,[city:{value}])"),
        ] {
            refused(&fixture, &script, &wanted);
        }
        // The search of a merge comes first, and is refused as a query.
        let merge = format!("g.mergeV([(T.label):'person',name:'x',city:{value}])");
        refused(
            &fixture,
            &merge,
            "expect TEXT for 'city', actual got class java.",
        );
    }
    refused(
        &fixture,
        "g.addV('person').property('name',5n)",
        "for key 'name', expect a value of type String, actual type BigInteger",
    );
    assert_eq!(data(&fixture, "g.V('1:x').count()"), json!([0]));
}

#[test]
fn a_number_takes_numbers_of_other_types_by_their_text() {
    let fixture = graphs();
    data(
        &fixture,
        "g.addV('all').property(T.id,'n').property('weight',7/2).iterate(); \
         g.V('1:marko').property('age',5n).iterate()",
    );
    assert_eq!(data(&fixture, "g.V('n').values('weight')"), json!([3.5]));
    assert_eq!(data(&fixture, "g.V('1:marko').values('age')"), json!([5]));
    for (value, message) in [
        ("12345678901234567890n", "For input string"),
        ("2147483648n", "For input string"),
        ("1.5m", "For input string"),
    ] {
        let script = format!("g.V('1:marko').property('age',{value})");
        refused(&fixture, &script, message);
    }
}

#[test]
fn an_open_graph_takes_ids_of_the_types_that_ids_have() {
    let fixture = graphs();
    for value in ["5n", "1.5m", "NaN", "Infinity"] {
        for script in [
            format!("g.addV('a').property(T.id,{value})"),
            format!("g.mergeV([(T.id):{value}])"),
        ] {
            let message = "must be formatted as Number/String/UUID";
            refused(&fixture, &on_open(&script), message);
        }
    }
    assert_eq!(data(&fixture, &on_open("g.V().count()")), json!([0]));
}

#[test]
fn types_that_json_does_not_have_fit_where_they_did() {
    const UUID: &str = "41d2e28a-20a4-4ab0-b379-d810dede3786";
    let fixture = graphs();
    data(
        &fixture,
        &format!(
            "g.addV('all').property(T.id,'a').property('u',UUID('{UUID}'))\
             .property('obj',12345678901234567890n).property('weight',NaN).iterate(); \
             g.addV('all').property(T.id,'b').property('weight',-Infinity).property('obj',NaN)\
             .property('tags','x').iterate(); \
             g.addV('uu').property(T.id,UUID('{UUID}')).iterate()"
        ),
    );
    assert_eq!(
        data(&fixture, "g.V('a').values('obj','weight','u')"),
        json!(["12345678901234567890", "NaN", UUID])
    );
    assert_eq!(
        data(&fixture, "g.V('b').values('weight','obj')"),
        json!(["-Infinity", "NaN"])
    );
    assert_eq!(data(&fixture, "g.V().hasLabel('uu').id()"), json!([UUID]));
    for script in [
        format!("g.V('b').property('tags',UUID('{UUID}'))"),
        "g.V('b').property('tags',['y', 5n])".to_owned(),
        "g.V('b').property(set,'hobby',5n)".to_owned(),
    ] {
        refused(
            &fixture,
            &script,
            "expect a value of type String, actual type",
        );
    }
    for (label, kind) in [("book", "string"), ("num", "number")] {
        let script = format!("g.addV('{label}').property(T.id,5n).property('name','x')");
        refused(
            &fixture,
            &script,
            &format!("Must customize vertex {kind} id"),
        );
    }
}
