//! The sample of the explorer: loaded once, with a tour whose steps show what they say.

use serde_json::{Value, json};

use crate::explore::refs;
use crate::fixture::Fixture;
use varve_server::ServerConfig;
use varve_testserver::TestServer;

fn empty() -> TestServer {
    let server = TestServer::start(ServerConfig::default());
    server.state.graphs().create("hugegraph").unwrap();
    server
}

fn send(server: &TestServer, verb: &str, path: &str, body: &Value) -> (u16, Value) {
    let path = format!("/graphs/hugegraph/explore/{path}");
    let answer = server.send(verb, &path, &body.to_string());
    (answer.status, answer.json())
}

fn step<'t>(tour: &'t Value, key: &str) -> &'t Value {
    let steps = tour["tour"].as_array().unwrap();
    steps.iter().find(|step| step["key"] == key).unwrap()
}

/// Where somebody lives at the times of a step.
fn home(server: &TestServer, step: &Value, who: &Value) -> Vec<String> {
    let mut times = Vec::new();
    for name in ["as_of", "as_of_tx"] {
        times.extend(step[name].as_str().map(|time| format!("{name}={time}")));
    }
    let body = json!({"ids": [who], "direction": "OUT", "labels": ["lives_in"]});
    let (status, answer) = send(
        server,
        "POST",
        &format!("expand?{}", times.join("&")),
        &body,
    );
    assert_eq!(status, 200, "{answer}");
    let others = refs(&answer, "vertices").into_iter();
    others
        .filter(|other| other != who.as_str().unwrap())
        .collect()
}

#[test]
fn the_tour_shows_what_was_believed_learned_and_planned() {
    let server = empty();
    assert_eq!(
        send(&server, "GET", "load_sample", &Value::Null).1,
        json!({"loaded": false})
    );
    let (status, tour) = send(&server, "POST", "load_sample", &json!({}));
    assert_eq!((status, &tour["loaded"]), (201, &json!(true)), "{tour}");
    let keys: Vec<&str> = tour["tour"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["key"].as_str().unwrap())
        .collect();
    assert_eq!(
        keys,
        ["now", "then", "changed", "believed", "learned", "planned"]
    );
    let believed = step(&tour, "believed");
    assert_eq!(home(&server, believed, &believed["select"]), ["\"2:Rome\""]);
    let learned = step(&tour, "learned");
    assert_eq!(home(&server, learned, &learned["select"]), ["\"2:Milan\""]);
    let planned = step(&tour, "planned");
    assert_eq!(home(&server, planned, &planned["select"]), ["\"2:Oslo\""]);
    assert_eq!(
        home(&server, step(&tour, "now"), &planned["select"]),
        ["\"2:Lisbon\""]
    );
    let body = json!({"a": learned["diff_with"], "b": {"as_of": learned["as_of"]},
        "scope": {"vertices": tour["show"], "between": true}});
    let (_, diff) = send(&server, "POST", "diff", &body);
    let ends = |key: &str| diff[key][0]["target"].clone();
    assert_eq!(
        (ends("added"), ends("removed")),
        (json!("\"2:Milan\""), json!("\"2:Rome\""))
    );
    let counts = ["added", "removed", "changed"].map(|key| diff[key].as_array().unwrap().len());
    assert_eq!(counts, [1, 1, 0]);
    let (_, summary) = send(&server, "GET", "summary", &Value::Null);
    let count = |key: &str| {
        let labels = summary[key].as_array().unwrap().iter();
        labels
            .map(|label| label["count"].as_u64().unwrap())
            .sum::<u64>()
    };
    assert_eq!(count("vertices"), tour["vertices"].as_u64().unwrap());
    assert_eq!(summary["truncated"], json!(false));
    let body = json!({"vertices": tour["show"]});
    let (_, timeline) = send(&server, "POST", "timeline", &body);
    assert_eq!(timeline["valid"][0]["begins"], tour["vertices"]);
    let body = json!({"vertices": tour["show"], "between": true});
    let (_, timeline) = send(&server, "POST", "timeline", &body);
    let valid = timeline["valid"].as_array().unwrap().iter();
    let ends: u64 = valid.map(|turn| turn["ends"].as_u64().unwrap()).sum();
    // Every move ends a home, and some jobs end.
    assert!(ends >= 15, "{timeline}");
    let recorded = timeline["recorded"].as_array().unwrap().iter();
    let corrections: u64 = recorded
        .map(|each| each["corrections"].as_u64().unwrap())
        .sum();
    assert_eq!(corrections, 3, "{timeline}");
}

#[test]
fn it_is_loaded_once() {
    let server = empty();
    let (first, tour) = send(&server, "POST", "load_sample", &json!({}));
    let (again, same) = send(&server, "POST", "load_sample", &json!({}));
    assert_eq!((first, again), (201, 200));
    assert_eq!(tour, same);
    assert_eq!(send(&server, "GET", "load_sample", &Value::Null).1, tour);
}

#[test]
fn a_graph_with_other_labels_of_these_names_is_left_alone() {
    let fixture = Fixture::new();
    let answer = fixture.send("POST", "../explore/load_sample", "{}");
    assert_eq!(answer.status, 400, "{}", answer.text());
    assert_eq!(
        fixture.done("GET", "../explore/load_sample", ""),
        json!({"loaded": false})
    );
}
