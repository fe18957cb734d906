//! What the parameters of both times accept, what the past shows, how histories are cut into pages,
//! and purges.

use serde_json::{Value, json};
use varve_server::ServerConfig;

use crate::fixture::{Fixture, ids};

const HISTORY: &str = "vertices/%221%3At%22/history";

fn put(fixture: &Fixture, age: i64, city: &str, period: &str) {
    let properties = json!({"name": "t", "age": age, "city": city});
    let body = json!({"label": "person", "properties": properties}).to_string();
    fixture.done("POST", &format!("vertices?{period}"), &body);
}

fn ages(history: &Value) -> Vec<i64> {
    let versions = history["versions"].as_array().expect("versions");
    let age = |version: &Value| version["element"]["properties"]["age"].as_i64();
    versions.iter().filter_map(age).collect()
}

#[test]
fn a_history_of_one_instant_has_what_was_said_about_it() {
    let fixture = Fixture::new();
    put(&fixture, 1, "r", "valid_from=2000-01-01");
    put(&fixture, 2, "r", "valid_from=2010-01-01");
    put(
        &fixture,
        3,
        "r",
        "valid_from=2005-01-01&valid_to=2006-01-01",
    );
    put(
        &fixture,
        4,
        "r",
        "valid_from=2005-06-01&valid_to=9999-12-31",
    );
    let of = |query: &str| fixture.done("GET", &format!("{HISTORY}?{query}"), "");
    assert_eq!(ages(&of("")), [4, 3, 2, 1]);
    assert_eq!(ages(&of("as_of=2005-06-01")), [4, 3, 1]);
    assert_eq!(ages(&of("as_of=2003-01-01")), [1]);
    let all = of("");
    for (newer, version) in all["versions"].as_array().unwrap().iter().enumerate() {
        assert_eq!(version["as_of_tx"], version["version"].to_string());
        let known = of(&format!(
            "as_of_tx={}",
            version["as_of_tx"].as_str().unwrap()
        ));
        assert_eq!(ages(&known), ages(&all)[newer..], "{version}");
    }
    let page = of("as_of=2005-06-01&limit=2");
    assert_eq!(ages(&page), [4, 3]);
    let next = page["page"].as_str().expect("a page");
    let rest = of(&format!("as_of=2005-06-01&limit=2&page={next}"));
    assert_eq!(ages(&rest), [1]);
    assert!(rest["page"].is_null());
    assert_eq!(
        of("limit=1")["versions"][0]["valid_to"],
        "9999-12-31T00:00:00.000000Z"
    );
    let nothing = fixture.send("GET", &format!("{HISTORY}?as_of=1999-01-01"), "");
    assert_eq!(nothing.status, 404);
}

#[test]
fn a_history_of_large_versions_comes_in_small_pages() {
    let fixture = Fixture::with(ServerConfig {
        max_answer_bytes: 4096,
        ..ServerConfig::default()
    });
    for age in 0..7 {
        put(&fixture, age, &"x".repeat(3000), "");
    }
    let mut seen = Vec::new();
    let mut page = String::new();
    loop {
        let answer = fixture.done("GET", &format!("{HISTORY}?page={page}"), "");
        let ages = ages(&answer);
        assert!((1..=2).contains(&ages.len()), "{ages:?}");
        seen.extend(ages);
        match answer["page"].as_str() {
            Some(next) => page = next.to_owned(),
            None => break,
        }
    }
    assert_eq!(seen, [6, 5, 4, 3, 2, 1, 0]);
}

#[test]
fn everything_that_has_a_history_is_listed() {
    let fixture = Fixture::new();
    fixture.people();
    fixture.done("DELETE", "vertices/%221:marko%22", "");
    put(&fixture, 1, "r", "valid_from=2999-01-01");
    let all = |what: &str, limit: usize| {
        let mut found = Vec::new();
        let mut page = String::new();
        loop {
            let path = format!("{what}/history?limit={limit}&page={page}");
            let answer = fixture.done("GET", &path, "");
            let ids = answer["ids"].as_array().unwrap();
            assert!(ids.len() <= limit);
            found.extend(ids.iter().map(|id| id.as_str().unwrap().to_owned()));
            match answer["page"].as_str() {
                Some(next) => page = next.to_owned(),
                None => break,
            }
        }
        found.sort();
        found
    };
    for limit in [1, 2, 3, 4, 100] {
        assert_eq!(
            all("vertices", limit),
            ["1:josh", "1:marko", "1:t", "1:vadas", "2:lop"]
        );
        let edges = all("edges", limit);
        assert_eq!(edges.len(), 3, "{edges:?}");
        assert!(edges.iter().all(|id| id.starts_with("S1:marko>")));
    }
    for page in ["x", "AAAA", "AQEQ"] {
        let refused = fixture.send("GET", &format!("vertices/history?page={page}"), "");
        assert_eq!(refused.status, 400, "{page}");
    }
    assert_eq!(fixture.send("GET", "edges/history?limit=0", "").status, 400);
}

#[test]
fn a_page_of_histories_says_what_each_element_answers() {
    let fixture = Fixture::new();
    put(&fixture, 1, "r", "valid_from=2020-01-01");
    put(&fixture, 2, "r", "valid_from=2021-01-01");
    let all = fixture.done("GET", "vertices/history?versions=true", "");
    let (ids, histories) = (all["ids"].as_array(), all["histories"].as_array());
    let (ids, histories) = (ids.expect("ids"), histories.expect("histories"));
    assert_eq!(ids.len(), histories.len());
    for (id, history) in ids.iter().zip(histories) {
        let id = id.to_string().replace('"', "%22");
        let own = fixture.done("GET", &format!("vertices/{id}/history?limit=1000"), "");
        assert_eq!(*history, own, "{id}");
    }
    let mine = ids.iter().position(|id| id == "1:t").expect("it is there");
    let versions = histories[mine]["versions"].as_array().expect("versions");
    assert_eq!(versions.len(), 2);
    let before = versions[1]["as_of_tx"].as_str().expect("a text");
    let then = format!("vertices/history?versions=true&as_of_tx={before}");
    let then = fixture.done("GET", &then, "");
    let versions = then["histories"][mine]["versions"].as_array();
    assert_eq!(versions.map(Vec::len), Some(1), "{then}");
    let without = fixture.send("GET", &format!("vertices/history?as_of_tx={before}"), "");
    assert_eq!(without.status, 400);
}

#[test]
fn a_page_of_histories_has_the_versions_of_deleted_elements_and_of_the_others() {
    let fixture = Fixture::new();
    for name in ["a", "b", "c", "d"] {
        let properties = json!({"name": name, "age": 1});
        let person = json!({"label": "person", "properties": properties}).to_string();
        fixture.done("POST", "vertices?valid_from=2020-01-01", &person);
    }
    fixture.done("DELETE", "vertices/%221:b%22", "");
    let all = fixture.done("GET", "vertices/history?versions=true", "");
    let (ids, histories) = (all["ids"].as_array(), all["histories"].as_array());
    let (ids, histories) = (ids.expect("ids"), histories.expect("histories"));
    assert!(
        ids.iter().any(|id| id == "1:b") && ids.len() == 4,
        "{ids:?}"
    );
    for (id, history) in ids.iter().zip(histories) {
        let id = id.to_string().replace('"', "%22");
        let own = fixture.done("GET", &format!("vertices/{id}/history?limit=1000"), "");
        assert_eq!(*history, own, "{id}");
    }
}

#[test]
fn reads_and_writes_refuse_each_others_parameters() {
    let fixture = Fixture::new();
    put(&fixture, 1, "r", "");
    let vertex = "vertices/%221%3At%22";
    for query in ["as_of=2020-01-01", "as_of_tx=2020-01-01"] {
        let refused = fixture.send("DELETE", &format!("{vertex}?{query}"), "");
        assert_eq!(refused.status, 400, "{query}");
    }
    for path in [vertex, "vertices", "edges", HISTORY] {
        let refused = fixture.send("GET", &format!("{path}?valid_from=2020-01-01"), "");
        assert_eq!(refused.status, 400, "{path}");
    }
    for (verb, path) in [
        ("GET", "vertices?asof=2020-01-01"),
        ("GET", "edges?as_of=2020-01-01&as_of=2021-01-01"),
        ("DELETE", "vertices/%221%3At%22?validfrom=2020-01-01"),
        (
            "DELETE",
            "vertices/%221%3At%22/history?confirm_message=I%27m+sure+to+purge+all+versions&valid_to=2000-01-01",
        ),
    ] {
        let refused = fixture.send(verb, path, "");
        assert_eq!(refused.status, 400, "{path}");
    }
    for path in ["schema?as_of=2020-01-01", "schema/propertykeys/name?tx=1"] {
        let refused = fixture.server.get(&format!("/graphs/hugegraph/{path}"));
        assert_eq!(refused.status, 400, "{path}");
    }
    assert_eq!(fixture.send("GET", vertex, "").status, 200);
}

#[test]
fn both_times() {
    let fixture = Fixture::new();
    let put = |age: i64, period: &str| {
        let body = json!({"label": "person", "properties": {"name": "t", "age": age}}).to_string();
        fixture.done("POST", &format!("vertices?{period}"), &body);
    };
    put(1, "valid_from=2000-01-01");
    put(2, "valid_from=2010-01-01");
    let history = fixture.done("GET", "vertices/%221%3At%22/history", "");
    let versions = history["versions"].as_array().unwrap();
    assert_eq!(versions.len(), 2);
    let known = versions[0]["version"].as_u64().unwrap();
    put(3, "valid_from=2005-01-01&valid_to=2006-01-01T00:00:00Z");
    let age = |query: &str| {
        let answer = fixture.send("GET", &format!("vertices/%221%3At%22?{query}"), "");
        let body: Value = serde_json::from_slice(&answer.body).unwrap();
        body["properties"]["age"].as_i64()
    };
    for (query, expected) in [
        ("", Some(2)),
        ("as_of=1999-12-31", None),
        ("as_of=2000-01-01", Some(1)),
        ("as_of=2005-06-01T00:00:00%2B02:00", Some(3)),
        ("as_of=2006-01-01", Some(1)),
        ("as_of=2010-01-01", Some(2)),
    ] {
        assert_eq!(age(query), expected, "{query}");
    }
    assert_eq!(age(&format!("as_of=2005-06-01&as_of_tx={known}")), Some(1));
    assert_eq!(age("as_of=2005-06-01&as_of_tx=now"), Some(3));
    assert_eq!(age("as_of_tx=now"), Some(2));
    let listed = fixture.done("GET", "vertices?label=person&as_of=2005-06-01", "");
    assert_eq!(listed["vertices"][0]["properties"]["age"], 3);

    let first = fixture.done("GET", "vertices/%221%3At%22/history?limit=2", "");
    let page = first["page"].as_str().unwrap();
    let second = fixture.done(
        "GET",
        &format!("vertices/%221%3At%22/history?limit=2&page={page}"),
        "",
    );
    assert_eq!(
        (
            second["versions"].as_array().unwrap().len(),
            &second["page"]
        ),
        (1, &Value::Null)
    );
    let newest = &first["versions"][0];
    assert_eq!(newest["valid_from"], "2005-01-01T00:00:00.000000Z");
    assert_eq!(newest["valid_to"], "2006-01-01T00:00:00.000000Z");
    assert_eq!(newest["kind"], "put");
    assert_eq!(newest["element"]["properties"]["age"], 3);

    fixture.says("DELETE", "vertices/%221%3At%22", "", 204, "");
    assert_eq!(age(""), None);
    assert_eq!(age("as_of=2012-01-01"), Some(2));
    let history = fixture.done("GET", "vertices/%221%3At%22/history", "");
    assert_eq!(history["versions"][0]["kind"], "delete");
    assert!(history["versions"][0]["element"].is_null());
    for bad in [
        "as_of=yesterday",
        "as_of_tx=-1",
        "as_of_tx=9999-01-01",
        "as_of_tx=18446744073709551615",
        "as_of_tx=NOW",
    ] {
        assert_eq!(
            fixture
                .send("GET", &format!("vertices/%221%3At%22?{bad}"), "")
                .status,
            400,
            "{bad}"
        );
    }
    let body = json!({"label": "person", "properties": {"name": "t", "age": 1}}).to_string();
    let empty = fixture.send(
        "POST",
        "vertices?valid_from=2010-01-01&valid_to=2010-01-01",
        &body,
    );
    assert_eq!(empty.status, 400);
}

#[test]
fn a_purged_vertex_leaves_nothing_at_any_time() {
    let fixture = Fixture::new();
    fixture.people();
    let before = fixture.done("GET", "vertices/%221%3Amarko%22/history", "");
    let recorded = before["versions"][0]["recorded_at"]
        .as_str()
        .unwrap()
        .to_owned();
    let history = "vertices/%221%3Amarko%22/history";
    fixture.refuses(
        "DELETE",
        history,
        "",
        400,
        "Please take the message: I'm sure to purge all versions",
    );
    fixture.says("DELETE", "vertices/%221%3Amarko%22", "", 204, "");
    let then = format!("vertices/%221%3Amarko%22?as_of={recorded}");
    assert_eq!(fixture.send("GET", &then, "").status, 200);
    let purge = format!("{history}?confirm_message=I%27m%20sure%20to%20purge%20all%20versions");
    fixture.says("DELETE", &purge, "", 204, "");
    assert_eq!(fixture.send("GET", &then, "").status, 404);
    assert_eq!(fixture.send("GET", history, "").status, 404);
    let edges = fixture.done(
        "GET",
        &format!("edges?vertex_id=%221%3Ajosh%22&as_of={recorded}"),
        "",
    );
    assert_eq!(edges["edges"], json!([]));
    let people = fixture.done(
        "GET",
        &format!("vertices?label=person&as_of={recorded}"),
        "",
    );
    assert!(!ids(&people, "vertices").contains(&"1:marko".to_owned()));
}

/// Each element of a batch says its own period, beside those that have the request's.
#[test]
fn elements_of_a_batch_have_periods_of_their_own() {
    let fixture = Fixture::new();
    let body = r#"[
      {"label":"person","properties":{"name":"p1","age":1},"valid_from":"2001-01-01","valid_to":"2002-01-01"},
      {"label":"person","properties":{"name":"p2","age":2}},
      {"label":"person","properties":{"name":"p3","age":3},"valid_to":null}]"#;
    let query = "vertices/batch?valid_from=2010-01-01&valid_to=2011-01-01";
    assert_eq!(fixture.send("POST", query, body).status, 201);
    let there = |id: &str, at: &str| {
        let path = format!("vertices/\"1:{id}\"?as_of={at}");
        fixture.send("GET", &path, "").status == 200
    };
    assert!(there("p1", "2001-06-01") && !there("p1", "2002-01-01") && !there("p1", "2010-06-01"));
    assert!(there("p2", "2010-06-01") && !there("p2", "2011-01-01") && !there("p2", "2001-06-01"));
    assert!(there("p3", "2010-06-01") && there("p3", "2020-01-01") && !there("p3", "2001-06-01"));
}

#[test]
fn a_wrong_period_of_an_element_is_named_and_nothing_is_stored() {
    let fixture = Fixture::new();
    let first = r#"{"label":"person","properties":{"name":"q1","age":1}}"#;
    for (wrong, reason) in [
        (
            r#""valid_from":"tomorrow""#,
            "element 1: The valid_from must be",
        ),
        (r#""valid_to":5"#, "element 1: The valid_to must be"),
        (
            r#""valid_form":"2020-01-01""#,
            "Unrecognized field \\\"valid_form\\\" of element 1",
        ),
        (
            r#""valid_from":"2020-01-01","valid_to":"2019-01-01""#,
            "Element 1: The valid_from must be before the valid_to",
        ),
    ] {
        let second =
            format!(r#"{{"label":"person","properties":{{"name":"q2","age":1}},{wrong}}}"#);
        let answer = fixture.send("POST", "vertices/batch", &format!("[{first},{second}]"));
        assert_eq!(answer.status, 400, "{wrong}");
        let text = answer.text().replace('"', "\\\"").replace("\\\\\"", "\\\"");
        assert!(text.contains(reason), "{wrong}: {text}");
    }
    assert_eq!(fixture.send("GET", "vertices/\"1:q1\"", "").status, 404);
    let twice = format!(
        r#"[{first},{}]"#,
        first.replace("}}", r#"},"valid_from":"2020-01-01"}"#)
    );
    let answer = fixture.send("POST", "vertices/batch", &twice);
    assert!(answer.text().contains("named twice"), "{}", answer.text());
    // An update of one element by two is one change.
    for wrong in [
        r#""valid_from":"2020-01-01","valid_to":"2019-01-01""#,
        r#""valid_to":"2019-01-01""#,
        r#""valid_to":"tomorrow""#,
    ] {
        let last = first
            .replace("q1", "q2")
            .replace("}}", &format!("}},{wrong}}}"));
        let update = format!(
            r#"{{"vertices":[{first},{first},{last}],"update_strategies":{{"age":"SUM"}},
              "create_if_not_exist":true}}"#
        );
        let answer = fixture.send("PUT", "vertices/batch", &update);
        assert_eq!(answer.status, 400, "{wrong}");
        let text = answer.text().to_lowercase();
        assert!(text.contains("element 2: the valid_"), "{wrong}: {text}");
    }
    assert_eq!(fixture.send("GET", "vertices/\"1:q1\"", "").status, 404);
}
