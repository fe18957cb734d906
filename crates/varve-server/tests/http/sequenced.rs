//! Corrections of some properties in a period, the timeline, and writes that change nothing.

use serde_json::{Value, json};

use varve_server::ServerConfig;

use crate::fixture::Fixture;

const T: &str = "vertices/%221%3At%22";

fn put(fixture: &Fixture, age: i64, city: &str, query: &str) {
    let properties = json!({"name": "t", "age": age, "city": city});
    let body = json!({"label": "person", "properties": properties}).to_string();
    fixture.done("POST", &format!("vertices?{query}"), &body);
}

fn append(fixture: &Fixture, age: i64, query: &str) -> Value {
    let body = json!({"properties": {"age": age}}).to_string();
    fixture.done("PUT", &format!("{T}?action=append&{query}"), &body)
}

/// From when, until when, with which age and city.
fn states(answer: &Value) -> Vec<[String; 4]> {
    let text = |value: &Value| match value {
        Value::String(text) => text.split('T').next().unwrap().to_owned(),
        other => other.to_string(),
    };
    let state = |state: &Value| {
        let properties = &state["element"]["properties"];
        [
            text(&state["valid_from"]),
            text(&state["valid_to"]),
            text(&properties["age"]),
            text(&properties["city"]),
        ]
    };
    let states = answer["states"].as_array().expect("states");
    states.iter().map(state).collect()
}

#[test]
fn a_correction_of_the_past_keeps_the_present_of_what_it_does_not_name() {
    let fixture = Fixture::new();
    put(&fixture, 1, "Rome", "valid_from=2019-01-01");
    put(&fixture, 1, "Oslo", "valid_from=2022-01-01");
    let known = fixture.done("GET", &format!("{T}/history?limit=1"), "");
    let known = known["versions"][0]["as_of_tx"]
        .as_str()
        .unwrap()
        .to_owned();
    let first = append(&fixture, 7, "valid_from=2020-01-01");
    assert_eq!(
        first["properties"]["city"], "Rome",
        "the first of the states"
    );
    let now = fixture.done("GET", T, "");
    assert_eq!(
        now["properties"],
        json!({"name": "t", "age": 7, "city": "Oslo"})
    );
    let timeline = fixture.done("GET", &format!("{T}/timeline"), "");
    let wanted = [
        ["2019-01-01", "2020-01-01", "1", "Rome"],
        ["2020-01-01", "2022-01-01", "7", "Rome"],
        ["2022-01-01", "null", "7", "Oslo"],
    ];
    assert_eq!(states(&timeline), wanted);
    assert!(timeline["page"].is_null());
    let (mut paged, mut page) = (Vec::new(), String::new());
    loop {
        let part = fixture.done("GET", &format!("{T}/timeline?limit=1&page={page}"), "");
        paged.extend(states(&part));
        match part["page"].as_str() {
            Some(next) => page = next.to_owned(),
            None => break,
        }
    }
    assert_eq!(paged, wanted);
    let before = fixture.done("GET", &format!("{T}/timeline?as_of_tx={known}"), "");
    let wanted = [
        ["2019-01-01", "2022-01-01", "1", "Rome"],
        ["2022-01-01", "null", "1", "Oslo"],
    ];
    assert_eq!(states(&before), wanted);
    // Whichever version of the update is named, all of it is seen.
    let history = fixture.done("GET", &format!("{T}/history?limit=2"), "");
    for version in history["versions"].as_array().unwrap() {
        let as_of_tx = version["as_of_tx"].as_str().unwrap();
        let then = fixture.done("GET", &format!("{T}/timeline?as_of_tx={as_of_tx}"), "");
        assert_eq!(states(&then).len(), 3, "{version}");
    }
    let eliminate = format!("{T}?action=eliminate&valid_from=2019-06-01&valid_to=2023-01-01");
    fixture.done("PUT", &eliminate, r#"{"properties":{"city":""}}"#);
    let timeline = fixture.done("GET", &format!("{T}/timeline"), "");
    let wanted = [
        ["2019-01-01", "2019-06-01", "1", "Rome"],
        ["2019-06-01", "2020-01-01", "1", "null"],
        ["2020-01-01", "2023-01-01", "7", "null"],
        ["2023-01-01", "null", "7", "Oslo"],
    ];
    assert_eq!(states(&timeline), wanted);
    fixture.refuses(
        "PUT",
        &format!("{T}?action=append&valid_from=2001-01-01&valid_to=2002-01-01"),
        r#"{"properties":{"age":1}}"#,
        404,
        "Vertex '1:t' does not exist",
    );
}

#[test]
fn a_batch_update_with_a_period_combines_with_every_state_in_it() {
    let fixture = Fixture::new();
    put(&fixture, 1, "Rome", "valid_from=2019-01-01");
    put(&fixture, 5, "Oslo", "valid_from=2022-01-01");
    let body = json!({
        "vertices": [{"label": "person", "properties": {"name": "t", "age": 10}}],
        "update_strategies": {"age": "SUM"},
        "create_if_not_exist": true,
    });
    let path = "vertices/batch?valid_from=2018-01-01";
    fixture.done("PUT", path, &body.to_string());
    let timeline = fixture.done("GET", &format!("{T}/timeline"), "");
    let wanted = [
        ["2018-01-01", "2019-01-01", "10", "null"],
        ["2019-01-01", "2022-01-01", "11", "Rome"],
        ["2022-01-01", "null", "15", "Oslo"],
    ];
    assert_eq!(states(&timeline), wanted);
}

#[test]
fn the_timeline_of_an_edge_and_of_nothing() {
    let fixture = Fixture::new();
    fixture.people();
    let edge = "edges/S1%3Amarko%3E1%3E1%3E7Jopua00%3ES1%3Ajosh";
    let body = r#"{"properties":{"weight":0.25}}"#;
    let from_then_on = format!("{edge}?action=append&valid_from=2999-01-01");
    fixture.done("PUT", &from_then_on, body);
    let timeline = fixture.done("GET", &format!("{edge}/timeline"), "");
    let states = timeline["states"].as_array().unwrap();
    assert_eq!(states.len(), 2, "{timeline}");
    assert_eq!(states[1]["element"]["properties"]["weight"], 0.25);
    assert_eq!(states[0]["valid_to"], states[1]["valid_from"]);
    let nothing = fixture.send("GET", "vertices/%221%3Anone%22/timeline", "");
    assert_eq!(nothing.status, 404);
    let bad = fixture.send("GET", &format!("{edge}/timeline?page=x"), "");
    assert_eq!(bad.status, 400);
}

#[test]
fn a_timeline_of_large_states_comes_in_small_pages() {
    let fixture = Fixture::with(varve_server::ServerConfig {
        max_answer_bytes: 4096,
        ..varve_server::ServerConfig::default()
    });
    for year in 2001..2008 {
        put(
            &fixture,
            year,
            &"x".repeat(3000),
            &format!("valid_from={year}-01-01"),
        );
    }
    let (mut ages, mut page) = (Vec::new(), String::new());
    loop {
        let part = fixture.done("GET", &format!("{T}/timeline?page={page}"), "");
        let states = states(&part);
        assert!((1..=2).contains(&states.len()), "{}", states.len());
        ages.extend(states.into_iter().map(|[_, _, age, _]| age));
        match part["page"].as_str() {
            Some(next) => page = next.to_owned(),
            None => break,
        }
    }
    assert_eq!(
        ages,
        ["2001", "2002", "2003", "2004", "2005", "2006", "2007"]
    );
}

#[test]
fn loading_the_same_again_makes_no_version_if_so_asked() {
    let fixture = Fixture::new();
    let vertices = json!([
        {"label": "person", "properties": {"name": "t", "age": 1, "city": "Rome"}},
        {"label": "person", "properties": {"name": "u", "age": 2, "city": "Oslo"}},
    ]);
    let versions = |id: &str| {
        let history = fixture.done("GET", &format!("vertices/%221%3A{id}%22/history"), "");
        history["versions"].as_array().unwrap().len()
    };
    let load = |query: &str, body: &Value| {
        let ids = fixture.done(
            "POST",
            &format!("vertices/batch?{query}"),
            &body.to_string(),
        );
        assert_eq!(ids, json!(["1:t", "1:u"]));
    };
    load("", &vertices);
    load("skip_unchanged=true", &vertices);
    assert_eq!((versions("t"), versions("u")), (1, 1));
    let mut changed = vertices.clone();
    changed[1]["properties"]["age"] = json!(3);
    load("skip_unchanged=true", &changed);
    assert_eq!((versions("t"), versions("u")), (1, 2));
    load("", &changed);
    assert_eq!((versions("t"), versions("u")), (2, 3));
    let bad = fixture.send("POST", "vertices/batch?skip_unchanged=perhaps", "[]");
    assert_eq!(bad.status, 400);
}

/// Two pieces of an answer that grows do not fit the budget, though the whole answer would.
#[test]
fn a_timeline_is_charged_while_it_is_written() {
    const BUDGET: usize = 300 * 1024;
    let fixture = Fixture::with(ServerConfig {
        max_answer_bytes: BUDGET,
        max_held_answer_bytes: BUDGET,
        ..ServerConfig::default()
    });
    let long = |letter: &str| letter.repeat(30_000);
    for (year, letter) in ["a", "b", "c", "d", "e", "f", "g", "h", "i"]
        .iter()
        .enumerate()
    {
        put(
            &fixture,
            1,
            &long(letter),
            &format!("valid_from={}-01-01", 2000 + year),
        );
    }
    let short = fixture.send("GET", &format!("{T}/timeline?limit=8"), "");
    assert_eq!(short.status, 200);
    let whole = fixture.send("GET", &format!("{T}/timeline?limit=9"), "");
    assert_eq!(whole.status, 503, "{}", whole.body.len());
}
