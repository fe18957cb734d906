//! The explorer in both times: states with their periods, differences, timelines and histories.

use serde_json::{Value, json};

use crate::explore::refs;
use crate::fixture::Fixture;

const PERSON: &str = "\"1:p\"";

fn put(fixture: &Fixture, city: &str, period: &str) {
    let body =
        json!({"label": "person", "properties": {"name": "p", "age": 1, "city": city}}).to_string();
    fixture.done("POST", &format!("vertices?{period}"), &body);
}

fn last_version(fixture: &Fixture) -> String {
    let history = fixture.done(
        "GET",
        &format!("../explore/history?type=vertex&ref={}", "%221:p%22"),
        "",
    );
    history["versions"][0]["version"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// Rome since 2020, Milan since 2022; then, corrected: Turin from 2020-06 to 2021; and a plan.
fn moved() -> (Fixture, Vec<String>) {
    let fixture = Fixture::new();
    let mut versions = Vec::new();
    for (city, period) in [
        ("Rome", "valid_from=2020-01-01"),
        ("Milan", "valid_from=2022-01-01"),
        ("Turin", "valid_from=2020-06-01&valid_to=2021-01-01"),
        ("Oslo", "valid_from=2050-01-01"),
    ] {
        put(&fixture, city, period);
        versions.push(last_version(&fixture));
    }
    (fixture, versions)
}

fn state(fixture: &Fixture, times: &str) -> Value {
    let body = json!({"vertices": [PERSON]}).to_string();
    let answer = fixture.done("POST", &format!("../explore/elements?{times}"), &body);
    answer["vertices"][0].clone()
}

fn rendered(state: &Value) -> (&str, Option<&str>, Option<&str>) {
    (
        state["properties"]["city"].as_str().unwrap(),
        state["valid_from"].as_str().map(|text| &text[..10]),
        state["valid_to"].as_str().map(|text| &text[..10]),
    )
}

#[test]
fn a_state_has_the_period_in_which_it_holds() {
    let (fixture, versions) = moved();
    for (at, city, from, to) in [
        ("2020-03-01", "Rome", Some("2020-01-01"), Some("2020-06-01")),
        (
            "2020-06-01",
            "Turin",
            Some("2020-06-01"),
            Some("2021-01-01"),
        ),
        ("2021-06-01", "Rome", Some("2021-01-01"), Some("2022-01-01")),
        (
            "2022-06-01",
            "Milan",
            Some("2022-01-01"),
            Some("2050-01-01"),
        ),
        ("2060-01-01", "Oslo", Some("2050-01-01"), None),
    ] {
        let state = state(&fixture, &format!("as_of={at}"));
        assert_eq!(rendered(&state), (city, from, to), "{at}");
    }
    let now = state(&fixture, "");
    assert_eq!(
        rendered(&now),
        ("Milan", Some("2022-01-01"), Some("2050-01-01"))
    );
    assert_eq!(now["version"], versions[1]);
    assert!(state(&fixture, "as_of=2019-01-01").is_null());
    let believed = state(
        &fixture,
        &format!("as_of=2020-07-01&as_of_tx={}", versions[1]),
    );
    assert_eq!(
        rendered(&believed),
        ("Rome", Some("2020-01-01"), Some("2022-01-01"))
    );
    let first = state(&fixture, &format!("as_of_tx={}", versions[0]));
    assert_eq!(rendered(&first), ("Rome", Some("2020-01-01"), None));
}

#[test]
fn a_difference_is_rendered_with_before_and_after() {
    let (fixture, versions) = moved();
    let stays = json!({"label": "software", "properties": {"name": "s", "lang": "l"}}).to_string();
    fixture.done("POST", "vertices?valid_from=2000-01-01", &stays);
    let both = json!({"vertices": [PERSON, "\"2:s\""]});
    let diff = |a: Value, b: Value, scope: &Value| {
        let body = json!({"a": a, "b": b, "scope": scope}).to_string();
        fixture.done("POST", "../explore/diff", &body)
    };
    let came = diff(
        json!({"as_of": "2019-01-01"}),
        json!({"as_of": "2021-06-01"}),
        &both,
    );
    assert_eq!(
        (refs(&came, "added"), &came["same"]),
        (vec![PERSON.to_owned()], &json!(1))
    );
    let left = diff(
        json!({"as_of": "2021-06-01"}),
        json!({"as_of": "2019-01-01"}),
        &both,
    );
    assert_eq!(refs(&left, "removed"), [PERSON]);
    let learned = diff(
        json!({"as_of": "2020-07-01", "as_of_tx": versions[1]}),
        json!({"as_of": "2020-07-01"}),
        &both,
    );
    let changed = &learned["changed"][0];
    assert_eq!(changed["properties"], json!(["city"]));
    assert_eq!(changed["before"]["properties"]["city"], "Rome");
    assert_eq!(changed["after"]["properties"]["city"], "Turin");
    let label = diff(
        json!({"as_of": "2019-01-01"}),
        json!({}),
        &json!({"label": "person"}),
    );
    assert_eq!(refs(&label, "added"), [PERSON]);
    assert_eq!(label["b"]["now"], json!(true));
}

#[test]
fn a_difference_has_the_edges_among_its_vertices_at_either_point() {
    let fixture = Fixture::new();
    for name in ["a", "b"] {
        let body = json!({"label": "person", "properties": {"name": name, "age": 1}}).to_string();
        fixture.done("POST", "vertices?valid_from=2000-01-01", &body);
    }
    let edge = json!({"label": "knows", "outV": "1:a", "inV": "1:b", "properties": {"date": "2020-01-01"}});
    fixture.done(
        "POST",
        "edges?valid_from=2020-01-01&valid_to=2021-01-01",
        &edge.to_string(),
    );
    let of = |a: &str, b: &str| {
        let body = json!({"a": {"as_of": a}, "b": {"as_of": b},
            "scope": {"vertices": ["\"1:a\"", "\"1:b\""], "between": true}});
        let answer = fixture.done("POST", "../explore/diff", &body.to_string());
        let count = |key: &str| answer[key].as_array().unwrap().len();
        (
            count("added"),
            count("removed"),
            answer["same"].as_u64().unwrap(),
        )
    };
    assert_eq!(of("2019-01-01", "2020-06-01"), (1, 0, 2));
    assert_eq!(of("2020-06-01", "2022-06-01"), (0, 1, 2));
    assert_eq!(of("2020-06-01", "2020-07-01"), (0, 0, 3));
}

#[test]
fn a_timeline_has_what_begins_changes_and_ends() {
    let (fixture, versions) = moved();
    fixture.done("DELETE", "vertices/%221:p%22?valid_from=2060-01-01", "");
    let body = json!({"vertices": [PERSON]}).to_string();
    let answer = fixture.done("POST", "../explore/timeline", &body);
    let valid: Vec<_> = answer["valid"]
        .as_array()
        .unwrap()
        .iter()
        .map(|turn| {
            let of = |key: &str| turn[key].as_u64().unwrap();
            (
                &turn["at"].as_str().unwrap()[..10],
                of("begins"),
                of("changes"),
                of("ends"),
            )
        })
        .collect();
    assert_eq!(
        valid,
        [
            ("2020-01-01", 1, 0, 0),
            ("2020-06-01", 0, 1, 0),
            ("2021-01-01", 0, 1, 0),
            ("2022-01-01", 0, 1, 0),
            ("2050-01-01", 0, 1, 0),
            ("2060-01-01", 0, 0, 1),
        ]
    );
    let recorded = answer["recorded"].as_array().unwrap();
    let rendered: Vec<_> = recorded
        .iter()
        .map(|each| {
            (
                each["puts"].as_u64(),
                each["deletes"].as_u64(),
                each["corrections"].as_u64(),
            )
        })
        .collect();
    let (put, correction, delete) = (
        (Some(1), Some(0), Some(0)),
        (Some(1), Some(0), Some(1)),
        (Some(0), Some(1), Some(0)),
    );
    // Milan since 2022 was recorded later, so it corrects what was known of the time since.
    assert_eq!(rendered, [put, correction, correction, put, delete]);
    assert_eq!(recorded[0]["version"], versions[0]);
    assert_eq!(answer["exact"], json!(true));
    let body = json!({"vertices": [PERSON], "buckets": 2}).to_string();
    let merged = fixture.done("POST", "../explore/timeline", &body);
    assert_eq!(merged["valid"].as_array().unwrap().len(), 2);
    assert_eq!(
        (&merged["valid"][1]["changes"], &merged["exact"]),
        (&json!(2), &json!(false))
    );
    let before = fixture.done(
        "POST",
        &format!("../explore/timeline?as_of_tx={}", versions[0]),
        &body,
    );
    assert_eq!(before["valid"].as_array().unwrap().len(), 1);
}

#[test]
fn a_history_has_rectangles_and_badges() {
    let (fixture, versions) = moved();
    let answer = fixture.done("GET", "../explore/history?type=vertex&ref=%221:p%22", "");
    let rendered: Vec<_> = answer["versions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|version| {
            (
                version["badges"].to_string(),
                version["properties_changed"].to_string(),
                version["decides"].as_array().unwrap().len(),
            )
        })
        .collect();
    let one = |badges: &str, changed: &str, pieces| (badges.to_owned(), changed.to_owned(), pieces);
    assert_eq!(
        rendered,
        [
            one("[\"planned\"]", "[\"city\"]", 1),
            one("[\"correction\"]", "[\"city\"]", 1),
            one("[\"correction\",\"superseded_in_part\"]", "[\"city\"]", 1),
            one("[\"superseded_in_part\"]", "[]", 2),
        ]
    );
    assert_eq!(answer["versions"][3]["version"], versions[0]);
    assert_eq!(answer["versions"][3]["element"]["ref"], PERSON);
    let known = format!(
        "../explore/history?type=vertex&ref=%221:p%22&as_of_tx={}",
        versions[0]
    );
    let known = fixture.done("GET", &known, "");
    assert_eq!(known["versions"].as_array().unwrap().len(), 1);
    assert_eq!(known["versions"][0]["badges"], json!([]));
    let page = fixture.done(
        "GET",
        "../explore/history?type=vertex&ref=%221:p%22&limit=1",
        "",
    );
    assert_eq!(
        (
            page["versions"].as_array().unwrap().len(),
            &page["truncated"]
        ),
        (1, &json!(true))
    );
    assert_eq!(
        fixture
            .send("GET", "../explore/history?type=vertex&ref=%221:x%22", "")
            .status,
        404
    );
}
