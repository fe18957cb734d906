//! Tests of what a dry run says of ends.

use serde_json::json;

use super::*;

const SCHEMA: &str = r#"{"propertykeys": [{"name": "n", "data_type": "INT"}],
    "vertexlabels": [{"name": "a", "id": 3, "id_strategy": "CUSTOMIZE_STRING"},
                     {"name": "b", "id": 4, "id_strategy": "PRIMARY_KEY", "primary_keys": ["n"]}],
    "edgelabels": [{"name": "e", "source_label": "a", "target_label": "b"}]}"#;

fn sending(json: &Json) -> Sending {
    Sending {
        line: 7,
        bytes: 0..1,
        json: json.to_string(),
        mark: None,
        stored: false,
    }
}

/// Tries an edge from `x` to the `b` with key 5. The question, and the reason with this answer.
fn tried(trial: &mut Trial, period: &Json, answer: Option<&str>) -> (Json, Option<String>) {
    let target = key_id(4, &[varve_model::value::Value::Long(5)]);
    let mut edge = json!({
        "label": "e", "outV": "x", "outVLabel": "a", "inV": target, "inVLabel": "b",
    });
    for (name, value) in period.as_object().expect("an object") {
        edge[name] = value.clone();
    }
    let (mut elements, mut bad, mut question) = ([sending(&edge)], Vec::new(), Json::Null);
    let catalogue = Catalogue::from_text(SCHEMA);
    let of = (BatchKind::Edges, &catalogue);
    let mut ask = |asked: &str| {
        question = serde_json::from_str(asked).expect("JSON");
        Ok::<_, ()>(vec![answer.map(str::to_owned)])
    };
    let ran = trial.run(of, &mut elements, &mut bad, &mut ask);
    ran.expect("no failure");
    assert_eq!(elements[0].stored, bad.is_empty());
    (question, bad.pop().map(|row| row.reason))
}

fn with(vertices: &[Json]) -> Trial {
    let mut trial = Trial::new(true);
    let mut elements: Vec<Sending> = vertices.iter().map(sending).collect();
    let catalogue = Catalogue::from_text(SCHEMA);
    let of = (BatchKind::Vertices, &catalogue);
    let mut ask = |_: &str| Err("asked for vertices");
    let ran = trial.run(of, &mut elements, &mut Vec::new(), &mut ask);
    assert_eq!(ran, Ok(()));
    trial
}

#[test]
fn the_graph_is_asked_for_what_the_load_has_not() {
    let x = json!({"label": "a", "id": "x", "valid_from": "2000-01-01"});
    let other = json!({"label": "b", "properties": {"n": 5}, "valid_from": "2000-01-01", "valid_to": "2010-01-01"});
    let mut trial = with(&[x, other]);
    let covered = json!({"valid_from": "2005-01-01", "valid_to": "2010-01-01"});
    assert_eq!(tried(&mut trial, &covered, Some("no")), (Json::Null, None));
    let longer = json!({"valid_from": "2005-01-01", "valid_to": "2011-01-01"});
    let (question, reason) = tried(&mut trial, &longer, Some("Invalid vertex id '4:5'"));
    let asked = &question["edges"][0];
    assert_eq!(asked["label"], "e");
    assert_eq!(asked["valid_to"], "2011-01-01");
    let since = json!([{"valid_from": "2005-01-01T00:00:00Z", "valid_to": "2011-01-01T00:00:00Z"}]);
    assert_eq!(
        asked["ends"][0],
        json!({"id": "x", "label": "a", "planned": since})
    );
    assert_eq!(
        asked["ends"][1]["planned"][0]["valid_to"],
        "2010-01-01T00:00:00Z"
    );
    assert_eq!(reason.as_deref(), Some("the vertex '4:5' does not exist"));
    assert_eq!(tried(&mut trial, &longer, None).1, None);
}

#[test]
fn elements_without_a_start_begin_at_one_instant() {
    let x = json!({"label": "a", "id": "x"});
    let other = json!({"label": "b", "properties": {"n": 5}});
    let mut trial = with(&[x, other]);
    assert_eq!(
        tried(&mut trial, &json!({}), Some("no")),
        (Json::Null, None)
    );
    let (question, reason) = tried(&mut trial, &json!({"valid_from": "2005-01-01"}), Some("no"));
    assert_eq!(question["edges"][0]["ends"][0]["planned"], json!([{}]));
    assert_eq!(reason.as_deref(), Some("no"));
}

#[test]
fn without_a_check_nothing_is_asked() {
    let mut trial = Trial::new(false);
    assert_eq!(
        tried(&mut trial, &json!({}), Some("no")),
        (Json::Null, None)
    );
}

fn state(from: &str, to: &str) -> Json {
    json!({"label": "a", "id": "x", "valid_from": from, "valid_to": to})
}

#[test]
fn of_an_end_only_the_spans_in_the_edges_time_are_asked() {
    let mut trial = with(&[
        state("1990-01-01", "1995-01-01"),
        state("2000-01-01", "2003-01-01"),
        state("2002-01-01", "2004-01-01"),
        state("2004-01-01", "2006-01-01"),
        state("2007-01-01", "2030-01-01"),
        state("2040-01-01", "2050-01-01"),
    ]);
    let period = json!({"valid_from": "2001-01-01", "valid_to": "2020-01-01"});
    let (question, _) = tried(&mut trial, &period, None);
    let planned = &question["edges"][0]["ends"][0]["planned"];
    let span = |from: u16, to: u16| {
        json!({"valid_from": format!("{from}-01-01T00:00:00Z"),
            "valid_to": format!("{to}-01-01T00:00:00Z")})
    };
    assert_eq!(*planned, json!([span(2001, 2006), span(2007, 2020)]));
    assert!(!trial.has_unchecked());
    // More than are asked: the edge passes, and that is said.
    let day = |day: usize| format!("20{:02}-{:02}-01", day / 12, day % 12 + 1);
    let states: Vec<Json> = (0..=PLANNED_MAX)
        .map(|at| state(&day(2 * at), &day(2 * at + 1)))
        .collect();
    let period = json!({"valid_from": "2000-01-01", "valid_to": "2020-01-01"});
    let mut trial = with(&states[1..]);
    let (question, _) = tried(&mut trial, &period, None);
    let planned = &question["edges"][0]["ends"][0]["planned"];
    assert_eq!(planned.as_array().map(Vec::len), Some(PLANNED_MAX));
    let mut trial = with(&states);
    assert_eq!(tried(&mut trial, &period, Some("no")), (Json::Null, None));
    assert!(trial.has_unchecked());
}

#[test]
fn an_edge_whose_ends_were_not_all_kept_passes() {
    let other = json!({"label": "b", "properties": {"n": 5}, "valid_from": "2000-01-01"});
    let mut trial = with(&[state("2000-01-01", "2010-01-01"), other]);
    trial.is_full = true;
    let covered = json!({"valid_from": "2005-01-01", "valid_to": "2010-01-01"});
    assert_eq!(tried(&mut trial, &covered, Some("no")), (Json::Null, None));
    assert!(!trial.has_unchecked());
    let longer = json!({"valid_from": "2005-01-01"});
    assert_eq!(tried(&mut trial, &longer, Some("no")), (Json::Null, None));
    assert!(trial.has_unchecked());
}
