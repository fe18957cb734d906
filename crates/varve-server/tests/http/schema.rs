//! The schema over HTTP: the recorded exchanges of a real HugeGraph, and what Varve does better.

use std::time::Duration;

use varve_graph::Graph;
use varve_graph::tasks::TaskId;
use varve_model::Datum;
use varve_server::datum::{self, JsonDatum};
use varve_server::{JsonWriter, ServerConfig};
use varve_testkit::http::Answer;
use varve_testserver::TestServer;

const TRANSCRIPT: &str = include_str!("../../../../tests/conformance/hugegraph/transcript.jsonl");

fn server() -> TestServer {
    let server = TestServer::start(ServerConfig::default());
    server.state.graphs().create("hugegraph").unwrap();
    server
}

fn graph(server: &TestServer) -> std::sync::Arc<Graph> {
    server.state.graphs().get("hugegraph").unwrap()
}

fn send(server: &TestServer, verb: &str, path: &str, body: &str) -> Answer {
    server.send(verb, &format!("/graphs/hugegraph{path}"), body)
}

fn read(text: &str) -> Datum {
    let JsonDatum(datum) = serde_json::from_str(text).unwrap_or_else(|_| panic!("{text}"));
    datum
}

fn text_of(datum: &Datum) -> &str {
    match datum {
        Datum::Text(text) => text,
        other => panic!("{other:?}"),
    }
}

/// Waits for the task that an answer names.
fn settle(server: &TestServer, answer: &Answer) {
    if answer.status != 202 {
        return;
    }
    if let Some(Datum::Int(id @ 1..)) = read(answer.text()).get("task_id") {
        let id = TaskId(u64::try_from(*id).unwrap());
        let graph = graph(server);
        let task = graph.tasks().wait_until_done(id, Duration::from_secs(60));
        assert!(task.unwrap().status.is_final());
    }
}

/// Equal members in equal order; within user data in any order, and whenever it was created.
fn same(recorded: &Datum, ours: &Datum) -> bool {
    match (recorded, ours) {
        (Datum::Map(one), Datum::Map(other)) => {
            let mut pairs = one.iter().zip(other);
            one.len() == other.len()
                && pairs.all(|((name, one), (other_name, other))| {
                    name == other_name
                        && if name == "user_data" {
                            same_user_data(one, other)
                        } else {
                            same(one, other)
                        }
                })
        }
        (Datum::List(one), Datum::List(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        _ => recorded == ours,
    }
}

fn same_user_data(recorded: &Datum, ours: &Datum) -> bool {
    let (Datum::Map(one), Datum::Map(other)) = (recorded, ours) else {
        return false;
    };
    one.len() == other.len()
        && one.iter().all(|(name, value)| {
            let counterpart = ours.get(name);
            if name == "~create_time" {
                counterpart.is_some()
            } else {
                counterpart == Some(value)
            }
        })
}

/// Whether an exchange is one of this test's: about the schema, and answered as JSON.
fn is_replayed(exchange: &Datum) -> bool {
    let path = text_of(exchange.get("path").unwrap());
    let sent_json = !matches!(exchange.get("request"), Some(Datum::Text(_)));
    let got_json = exchange.get("content_type") != Some(&Datum::Text("text/plain".to_owned()));
    path.starts_with("/graphs/hugegraph/schema/") && sent_json && got_json
}

/// Sends one recorded exchange and compares the answers.
fn replay(server: &TestServer, exchange: &Datum) {
    let path = text_of(exchange.get("path").unwrap());
    let path = path.strip_prefix("/graphs/hugegraph").unwrap();
    let verb = text_of(exchange.get("method").unwrap());
    let body = match exchange.get("request") {
        None | Some(Datum::Null) => Vec::new(),
        Some(request) => {
            let mut json = JsonWriter::default();
            datum::write(request, &mut json);
            json.finish()
        }
    };
    let body = String::from_utf8(body).unwrap();
    let answer = send(server, verb, path, &body);
    let mut ours = read(answer.text());
    if let (Datum::Map(members), 400..) = (&mut ours, answer.status) {
        // The original has no codes.
        members.retain(|(name, _)| name != "code");
    }
    let recorded = exchange.get("response").unwrap();
    assert_eq!(
        Some(&Datum::Int(i64::from(answer.status))),
        exchange.get("status"),
        "{verb} {path} {body} {}",
        answer.text()
    );
    // The original shows the links of a PARENT in no order.
    assert!(
        same(recorded, &ours) || path == "/schema/edgelabels/par",
        "{verb} {path} {body}\nrecorded {recorded:?}\nours     {ours:?}"
    );
    settle(server, &answer);
}

fn is_to(exchange: &Datum, path: &str) -> bool {
    text_of(exchange.get("path").unwrap()).starts_with(path)
}

#[test]
fn recorded_exchanges_are_answered_as_recorded() {
    let server = server();
    let exchanges = TRANSCRIPT.lines().map(read);
    // Up to the first look at the whole schema, which the original cannot show.
    let first_schema = exchanges.take_while(|exchange| {
        text_of(exchange.get("path").unwrap()) != "/graphs/hugegraph/schema"
    });
    let mut replayed = 0;
    for exchange in first_schema.filter(is_replayed) {
        replay(&server, &exchange);
        replayed += 1;
    }
    assert_eq!(replayed, 122, "every recorded exchange was sent");
}

#[test]
fn a_recorded_schema_in_use_is_answered_as_recorded() {
    let server = server();
    let exchanges: Vec<Datum> = TRANSCRIPT.lines().map(read).collect();
    let clear = "/graphs/hugegraph/clear";
    let last = exchanges
        .iter()
        .rposition(|exchange| is_to(exchange, clear));
    let mut replayed = 0;
    for exchange in exchanges[last.unwrap()..].iter().filter(|e| is_replayed(e)) {
        replay(&server, exchange);
        replayed += 1;
    }
    assert_eq!(replayed, 19, "every recorded exchange was sent");
}

#[test]
fn bodies_that_are_not_as_wanted_are_refused_by_name() {
    let server = server();
    let keys = "/schema/propertykeys";
    for (body, words) in [
        (
            r#"{"name":"x","data_type":"NOPE"}"#,
            &["`DataType`", "\"NOPE\"", "BOOLEAN"][..],
        ),
        (
            r#"{"name":"y","foo":1}"#,
            &["Unrecognized field \"foo\"", "not marked as ignorable"],
        ),
        ("{bad", &[]),
        ("[]", &["START_ARRAY"]),
        (r#"{"name":5}"#, &["integer `5`"]),
        (r#"{"name":"x","user_data":[]}"#, &["user data"]),
    ] {
        let answer = send(&server, "POST", keys, body);
        assert_eq!(answer.status, 400, "{body}");
        let error: serde_json::Value = serde_json::from_str(answer.text()).unwrap();
        let message = error["message"].as_str().unwrap();
        for word in words {
            assert!(message.contains(word), "{body} {message}");
        }
    }
    let empty = send(&server, "POST", keys, "null");
    assert!(empty.text().contains("The request body can't be empty"));
    let meta = r#"{"name":"x","properties":["y"]}"#;
    let meta = send(&server, "POST", keys, meta);
    assert!(meta.text().contains("doesn't support meta properties"));
    let links = r#"{"name":"x","links":[["a","b"]]}"#;
    let links = send(&server, "POST", "/schema/edgelabels", links);
    assert_eq!(links.status, 400);
    let label = r#"{"name":"x","id_strategy":"UUID"}"#;
    let label = send(&server, "POST", "/schema/vertexlabels", label);
    assert!(
        label.text().contains("[DEFAULT, AUTOMATIC,"),
        "{}",
        label.text()
    );
}

#[test]
fn what_clients_send_back_from_answers_is_ignored() {
    let server = server();
    let key = r#"{"id":0,"name":"since","data_type":"DATE","status":"CREATED","properties":[],"user_data":null}"#;
    assert_eq!(
        send(&server, "POST", "/schema/propertykeys", key).status,
        202
    );
    let label = r#"{"id":0,"name":"p","id_strategy":"DEFAULT","index_labels":["x"],"status":"CREATED","ttl":0,"ttl_start_time":null,"primary_keys":[],"enable_label_index":null}"#;
    assert_eq!(
        send(&server, "POST", "/schema/vertexlabels", label).status,
        201
    );
    let change = r#"{"name":"p","id_strategy":"DEFAULT","primary_keys":[],"ttl":1000,"properties":["since"],"nullable_keys":["since"],"ttl_start_time":"since"}"#;
    let changed = send(
        &server,
        "PUT",
        "/schema/vertexlabels/p?action=append",
        change,
    );
    assert_eq!(changed.status, 200);
    let members =
        r#""status":"CREATED","ttl":1000,"ttl_start_time":"since","enable_label_index":true"#;
    assert!(changed.text().contains(members), "{}", changed.text());
    let again = r#"{"name":"p","ttl":0,"user_data":{"~history":"30d"}}"#;
    let changed = send(
        &server,
        "PUT",
        "/schema/vertexlabels/p?action=append",
        again,
    );
    assert!(changed.text().contains(members), "{}", changed.text());
    assert!(changed.text().contains(r#""~history":"30d""#));
    let cleared = send(
        &server,
        "PUT",
        "/schema/vertexlabels/p?action=clear",
        r#"{"name":"p"}"#,
    );
    assert_eq!(cleared.status, 415);
}

#[test]
fn the_whole_schema_is_shown_with_parents_and_in_order_of_ids() {
    let server = server();
    send(&server, "GET", "/schema", "").is(
        200,
        r#"{"propertykeys":[],"vertexlabels":[],"edgelabels":[],"indexlabels":[]}"#,
    );
    for (path, body) in [
        ("vertexlabels", r#"{"name":"a"}"#),
        ("vertexlabels", r#"{"name":"b"}"#),
        ("edgelabels", r#"{"name":"par","edgelabel_type":"PARENT"}"#),
        (
            "edgelabels",
            r#"{"name":"s1","edgelabel_type":"SUB","parent_label":"par","links":[{"a":"b"}]}"#,
        ),
        (
            "edgelabels",
            r#"{"name":"s2","edgelabel_type":"SUB","parent_label":"par","links":[{"b":"a"}]}"#,
        ),
    ] {
        let answer = send(&server, "POST", &format!("/schema/{path}"), body);
        assert_eq!(answer.status, 201, "{}", answer.text());
    }
    let whole = send(&server, "GET", "/schema?format=json", "");
    assert_eq!(whole.status, 200);
    let par = r#""edgelabels":[{"id":1,"name":"par","edgelabel_type":"PARENT","links":[{"a":"b"},{"b":"a"}]},{"id":2,"name":"s1","#;
    assert!(whole.text().contains(par), "{}", whole.text());
}

#[test]
fn removal_and_rebuild_answer_with_their_tasks() {
    let server = server();
    let post = |path: &str, body: &str| {
        let answer = send(&server, "POST", &format!("/schema/{path}"), body);
        assert!(answer.status < 300, "{}", answer.text());
        settle(&server, &answer);
    };
    post("propertykeys", r#"{"name":"age","data_type":"INT"}"#);
    post("propertykeys", r#"{"name":"loose"}"#);
    post(
        "vertexlabels",
        r#"{"name":"p","properties":["age"],"nullable_keys":["age"]}"#,
    );
    post(
        "edgelabels",
        r#"{"name":"e","source_label":"p","target_label":"p"}"#,
    );
    post(
        "indexlabels",
        r#"{"name":"byAge","base_type":"VERTEX_LABEL","base_value":"p","index_type":"RANGE","fields":["age"]}"#,
    );
    let delete = |path: &str| {
        let answer = send(&server, "DELETE", &format!("/schema/{path}"), "");
        settle(&server, &answer);
        (answer.status, answer.text().to_owned())
    };
    assert_eq!(
        delete("propertykeys/loose"),
        (202, r#"{"task_id":0}"#.to_owned())
    );
    for kind in ["vertexlabels/p", "edgelabels/e", "indexlabels/byAge"] {
        let answer = send(&server, "PUT", &format!("/jobs/rebuild/{kind}"), "");
        assert_eq!(answer.status, 202, "{}", answer.text());
        settle(&server, &answer);
    }
    let unknown = send(&server, "PUT", "/jobs/rebuild/indexlabels/none", "");
    assert_eq!(unknown.status, 404);
    assert_eq!(
        delete("vertexlabels/p"),
        (202, r#"{"task_id":5}"#.to_owned())
    );
    let task = send(&server, "GET", "/tasks/5", "");
    for part in [
        r#"{"task_name":"VERTEX_LABEL:1:p","task_progress":"#,
        r#""task_status":"failed""#,
        r#""task_result":"org.apache.hugegraph.HugeException: Not allowed to remove vertex label 'p' because the edge label 'e' still link with it","task_retries":0,"id":5,"task_type":"remove_schema","task_callable":"org.apache.hugegraph.job.schema.VertexLabelRemoveJob","#,
    ] {
        assert!(task.text().contains(part), "{}", task.text());
    }
    let built = send(&server, "GET", "/tasks/1", "");
    assert!(built.text().contains(r#""task_status":"success""#));
    assert!(
        built.text().contains(r#""task_result":"null""#),
        "{}",
        built.text()
    );
    assert_eq!(delete("edgelabels/e").0, 202);
    assert_eq!(delete("vertexlabels/p").0, 202);
    let gone = send(&server, "GET", "/schema/vertexlabels/p", "");
    assert_eq!(gone.status, 404);
    assert!(
        gone.text()
            .contains("vertex label with name 'p' does not exist")
    );
    assert_eq!(delete("edgelabels/none").0, 404);
    assert_eq!(delete("propertykeys/age").0, 202);
    let empty = r#"{"propertykeys":[],"vertexlabels":[],"edgelabels":[],"indexlabels":[]}"#;
    send(&server, "GET", "/schema", "").is(200, empty);
}
