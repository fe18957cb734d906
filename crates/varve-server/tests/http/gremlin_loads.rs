//! `with('commit_every', n)`: scripts that change much, in several commits.

use serde_json::{Value, json};
use varve_graphson::Format;
use varve_server::{GremlinConfig, ServerConfig};
use varve_testserver::driver::Driver;

use crate::fixture::Fixture;

/// A transaction may change ten elements.
fn small() -> Fixture {
    let fixture = Fixture::with(ServerConfig {
        gremlin: GremlinConfig {
            transaction_elements_max: 10,
            ..GremlinConfig::default()
        },
        ..ServerConfig::default()
    });
    fixture.people();
    fixture.done("POST", "/graphs/open", r#"{"schema":"open"}"#);
    fixture
}

fn data(fixture: &Fixture, script: &str) -> Value {
    let body = json!({"gremlin": format!("graph = open; g = graph.traversal(); {script}")});
    let answer = fixture.done("POST", "/gremlin", &body.to_string());
    answer["result"]["data"].clone()
}

fn refused(fixture: &Fixture, script: &str, status: u16, message: &str) {
    let body = json!({"gremlin": format!("graph = open; g = graph.traversal(); {script}")});
    let answer = fixture.send("POST", "/gremlin", &body.to_string());
    let text = answer.text().to_owned();
    assert_eq!(answer.status, status, "{script}: {text}");
    assert!(text.contains(message), "{script}: {text}");
}

#[test]
fn one_traversal_may_change_more_than_a_transaction() {
    let fixture = small();
    let add = "inject(0..34).unfold().as('n').addV('x').property('n',__.select('n')).count()";
    refused(
        &fixture,
        &format!("g.{add}"),
        400,
        "as with('commit_every', n) does",
    );
    assert_eq!(data(&fixture, "g.V().count()"), json!([0]));
    for every in ["1", "4", "10L", "1000"] {
        let with = format!("g.with('commit_every',{every})");
        assert_eq!(data(&fixture, &format!("{with}.{add}")), json!([35]));
        // What stands behind sees the changes of all parts.
        let change = format!(
            "{with}.V().property('m',1).property('m',2).as('a').addE('e').to('a').outV()\
             .valueMap('m').dedup()"
        );
        assert_eq!(data(&fixture, &change), json!([{"m": [2]}]), "{every}");
        assert_eq!(data(&fixture, "g.V().has('m',2).count()"), json!([35]));
        assert_eq!(data(&fixture, "g.E().hasLabel('e').count()"), json!([35]));
        assert_eq!(data(&fixture, &format!("{with}.V().drop()")), json!([]));
        assert_eq!(data(&fixture, "g.V().count()"), json!([0]), "{every}");
    }
}

#[test]
fn a_script_commits_from_one_traversal_to_the_next() {
    let fixture = small();
    let load = |end: &str| {
        format!(
            "g = g.with('commit_every',4); for (i in 0..32) {{ g.mergeV([(T.label):'x',n:i])\
             .iterate(); g.mergeE([(T.label):'e',(from):g.V().has('n',0).next(),\
             (to):g.V().has('n',i).next()]).iterate() }}\n{end}"
        )
    };
    assert_eq!(data(&fixture, &load("g.V().count()")), json!([33]));
    // Merges find what the parts before have stored, within a script and when it is sent again.
    let both = "[g.V().count().next(), g.E().count().next()]";
    assert_eq!(data(&fixture, &load(both)), json!([33, 33]));
    assert_eq!(data(&fixture, both), json!([33, 33]));
}

#[test]
fn what_is_committed_stays_when_a_later_part_fails() {
    let fixture = small();
    let script =
        "g.with('commit_every',4).inject(0..9).unfold().addV('x').iterate(); g.V().fail('no')";
    refused(&fixture, script, 400, "no");
    // Ten were added: the last two were not committed.
    assert_eq!(data(&fixture, "g.V().count()"), json!([8]));
    data(
        &fixture,
        "g.with('commit_every',4).inject(0..9).unfold().addV('x').iterate(); g.tx().rollback()",
    );
    assert_eq!(data(&fixture, "g.V().count()"), json!([16]));
}

#[test]
fn the_parts_have_the_period_of_the_source() {
    let fixture = small();
    let with = "g.with('valid_from','2020-01-01').with('commit_every',3)";
    let script = format!("{with}.inject(0..19).unfold().addV('x').iterate()");
    data(&fixture, &script);
    for (at, wanted) in [("2019-01-01", 0), ("2021-01-01", 20)] {
        let count = format!("g.with('as_of','{at}').V().count()");
        assert_eq!(data(&fixture, &count), json!([wanted]), "{at}");
    }
}

#[test]
fn what_is_no_number_of_elements_and_sessions_are_refused() {
    let fixture = small();
    for wrong in ["0", "-1", "'many'", "1.5", "true"] {
        let script = format!("g.with('commit_every',{wrong}).addV('x')");
        refused(
            &fixture,
            &script,
            400,
            "commit_every is a number of changed elements",
        );
    }
    let mut driver = Driver::connect(&fixture.server, Format::GraphSon);
    let script = "open.traversal().with('commit_every',5).addV('x')";
    let answer = driver.eval_in("a", script);
    assert!(answer[0].message.contains("not for sessions"), "{answer:?}");
    assert_eq!(data(&fixture, "g.V().count()"), json!([0]));
}

#[test]
fn a_declared_graph_and_a_job_commit_in_between_too() {
    let fixture = small();
    let add = "g.with('commit_every',4).inject(0..19).unfold().as('n')\
               .addV('person').property('name',__.select('n').asString()).property('age',1)";
    let body = json!({"gremlin": format!("{add}.iterate()")});
    let task = fixture.done("POST", "../jobs/gremlin", &body.to_string());
    let id = task["task_id"].as_u64().expect("an id");
    let ended = loop {
        let task = fixture.done("GET", &format!("../tasks/{id}"), "");
        match task["task_status"].as_str() {
            Some("success" | "failed") => break task,
            _ => std::thread::sleep(std::time::Duration::from_millis(2)),
        }
    };
    assert_eq!(ended["task_status"], "success", "{ended}");
    let body = json!({"gremlin": "g.V().has('person','age',1).count()"});
    let answer = fixture.done("POST", "/gremlin", &body.to_string());
    assert_eq!(answer["result"]["data"], json!([20]));
}
