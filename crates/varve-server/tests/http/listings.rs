//! Listings by label, properties, vertex and ids; scans; the limit of an answer.

use serde_json::{Value, json};
use varve_server::ServerConfig;

use crate::fixture::{Fixture, ids};

#[test]
fn listings_and_predicates() {
    let fixture = Fixture::new();
    fixture.people();
    let list = |properties: &str| {
        let encoded: String = properties.bytes().map(|b| format!("%{b:02X}")).collect();
        format!("vertices?label=person&properties={encoded}")
    };
    for (properties, expected) in [
        (r#"{"city":"Beijing"}"#, &["1:josh", "1:marko"][..]),
        (r#"{"age":29}"#, &["1:marko"]),
        (r#"{"age":"P.gt(29)"}"#, &["1:josh"]),
        (r#"{"age":"P.between(27,32)"}"#, &["1:marko", "1:vadas"]),
        (r#"{"age":"P.inside(27,32)"}"#, &["1:marko"]),
        (r#"{"age":"P.outside(28,31)"}"#, &["1:josh", "1:vadas"]),
        (r#"{"age":"P.within(27,29)"}"#, &["1:marko", "1:vadas"]),
        (
            r#"{"city":"P.within(\"Beijing\")"}"#,
            &["1:josh", "1:marko"],
        ),
        (r#"{"name":"marko","age":29}"#, &["1:marko"]),
        (r#"{"age":[29,30]}"#, &[]),
        ("{}", &["1:josh", "1:marko", "1:vadas"]),
    ] {
        let mut found = ids(&fixture.done("GET", &list(properties), ""), "vertices");
        found.sort();
        assert_eq!(found, expected, "{properties}");
    }
    for (properties, message) in [
        (
            r#"{"city":"P.eq(\"Beijing\")"}"#,
            "Invalid value 'Beijing', expect a number",
        ),
        (r#"{"age":"P.foo(1)"}"#, "Not support predicate 'foo'"),
        (
            r#"{"age":"P.gt(abc)"}"#,
            "Invalid value 'abc', expect a number",
        ),
        (
            r#"{"age":"P.between(1)"}"#,
            "Invalid numbers size 1, expect 2",
        ),
        (r#"{"age":"P.gt"}"#, "Invalid predicate: P.gt"),
        (r#"{"nope":1}"#, "Undefined property key: 'nope'"),
        ("bad", "Invalid request with properties: bad"),
        ("null", "Invalid request with properties: null"),
        (
            r#"{"age":"x"}"#,
            "Invalid data type of query value 'x', expect INT for 'age', actual got class java.lang.String",
        ),
    ] {
        fixture.refuses("GET", &list(properties), "", 400, message);
    }
    fixture.refuses(
        "GET",
        "vertices?label=none",
        "",
        400,
        "Undefined vertex label: 'none'",
    );
    fixture.refuses(
        "GET",
        "vertices?limit=-2",
        "",
        400,
        "Not a legal range: [0, -2]",
    );
    fixture.refuses(
        "GET",
        "edges?vertex_id=%221%3Ajosh%22&direction=out",
        "",
        400,
        "Direction value must be in [OUT, IN, BOTH], but got 'out'",
    );
    let out = fixture.done("GET", "edges?vertex_id=%221%3Amarko%22&direction=OUT&label=knows&properties=%7B%22date%22%3A%22P.gt%28%5C%222014-01-01%5C%22%29%22%7D", "");
    assert_eq!(ids(&out, "edges"), ["S1:marko>1>1>7L8dqHW0>S1:vadas"]);
    let mut token = String::new();
    let mut paged = Vec::new();
    loop {
        let answer = fixture.done("GET", &format!("vertices?limit=3&page={token}"), "");
        paged.extend(ids(&answer, "vertices"));
        match &answer["page"] {
            Value::String(next) => token = next.replace('+', "%2B").replace('/', "%2F"),
            end => {
                assert!(end.is_null());
                break;
            }
        }
    }
    assert_eq!(paged.len(), 4);
    assert!(fixture.done("GET", "vertices", "").get("page").is_none());
}

#[test]
fn elements_by_several_ids() {
    let fixture = Fixture::new();
    fixture.people();
    let get = |path: &str| {
        let answer = fixture
            .server
            .get(&format!("/graphs/hugegraph/traversers/{path}"));
        serde_json::from_slice::<Value>(&answer.body).unwrap()
    };
    let found = get("vertices?ids=%221%3Amarko%22&ids=%221%3Anone%22&ids=%222%3Alop%22");
    assert_eq!(ids(&found, "vertices"), ["1:marko", "2:lop"]);
    let found = get("edges?ids=S1%3Amarko%3E2%3E2%3E%3ES2%3Alop&ids=S1%3Ax%3E2%3E2%3E%3ES2%3Alop");
    assert_eq!(ids(&found, "edges"), ["S1:marko>2>2>>S2:lop"]);
    assert_eq!(
        get("vertices")["message"],
        "The ids parameter can't be null or empty"
    );
}

#[test]
fn everything_is_scanned_page_by_page() {
    let fixture = Fixture::new();
    fixture.people();
    let get = |path: &str| {
        let answer = fixture
            .server
            .get(&format!("/graphs/hugegraph/traversers/{path}"));
        serde_json::from_slice::<Value>(&answer.body).unwrap()
    };
    let shards = get("vertices/shards?split_size=1048576");
    assert_eq!(shards["shards"].as_array().unwrap().len(), 1);
    let all = |path: &str, key: &str| {
        let mut found = Vec::new();
        let mut page = String::new();
        loop {
            let answer = get(&format!(
                "{path}?start=AA%3D%3D&end=%2Fw%3D%3D&page_limit=2&page={page}"
            ));
            found.extend(ids(&answer, key));
            match &answer["page"] {
                Value::String(next) => page = next.replace('+', "%2B"),
                _ => break,
            }
        }
        found.sort();
        found
    };
    let vertices = all("vertices/scan", "vertices");
    assert_eq!(vertices, ["1:josh", "1:marko", "1:vadas", "2:lop"]);
    assert_eq!(all("edges/scan", "edges").len(), 3);
    assert_eq!(ids(&get("edges/scan"), "edges").len(), 3);
    assert_eq!(
        get("vertices/shards?split_size=10")["message"],
        "The split-size must be >= 1048576 bytes, but got 10"
    );
}

#[test]
fn an_answer_that_is_too_large_is_refused() {
    let fixture = Fixture::with(ServerConfig {
        max_answer_bytes: 4096,
        ..ServerConfig::default()
    });
    let many: Vec<Value> = (0..100)
        .map(|id| json!({"label": "num", "id": id, "properties": {"name": "x".repeat(100)}}))
        .collect();
    fixture.done("POST", "vertices/batch", &json!(many).to_string());
    fixture.refuses(
        "GET",
        "vertices",
        "",
        400,
        "The answer is larger than the limit of 4096 bytes: ask for pages",
    );
    let page = fixture.done("GET", "vertices?page=&limit=5", "");
    assert_eq!(page["vertices"].as_array().unwrap().len(), 5);
}

#[test]
fn a_vertex_lists_few_edges_and_many() {
    let fixture = Fixture::with(ServerConfig::default());
    let people: Vec<Value> = (0..300)
        .map(|at| json!({"label":"person","properties":{"name":format!("p{at}"),"age":at}}))
        .collect();
    fixture.done("POST", "vertices/batch", &json!(people).to_string());
    let knows: Vec<Value> = (1..300)
        .map(|at| {
            json!({"label":"knows","outV":"1:p0","outVLabel":"person","inV":format!("1:p{at}"),
                "inVLabel":"person","properties":{"date":"2020-01-01"}})
        })
        .collect();
    fixture.done("POST", "edges/batch", &json!(knows).to_string());
    // Below, around and above what is listed in place.
    for limit in [1, 100, 127, 128, 129, 299, -1] {
        let path = format!("edges?vertex_id=%221:p0%22&direction=OUT&limit={limit}");
        let listed = ids(&fixture.done("GET", &path, ""), "edges");
        let expected = usize::try_from(limit).unwrap_or(299);
        assert_eq!(listed.len(), expected, "{path}");
    }
    let pages = fixture.done("GET", "edges?vertex_id=%221:p0%22&limit=250&page", "");
    assert_eq!(ids(&pages, "edges").len(), 250);
    assert!(pages["page"].is_string());
}
