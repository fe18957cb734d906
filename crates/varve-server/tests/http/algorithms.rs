//! `…/jobs/algorithm/{name}`: parameters, refusals, results in tasks, both times, limits. That the
//! numbers are right is the business of `varve-traversal`, whose tests compare them with the
//! definitions.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use varve_graph::{GraphOptions, Registry};
use varve_kv::MemoryEngine;
use varve_model::time::SystemClock;
use varve_server::{ServerConfig, ServerJobs};

use crate::fixture::Fixture;

/// Longer than any task of these tests takes; only a failing test waits for it.
const TIMEOUT: Duration = Duration::from_secs(60);

fn submit(fixture: &Fixture, name: &str, parameters: &Value) -> u64 {
    let path = format!("../jobs/algorithm/{name}");
    let answer = fixture.send("POST", &path, &parameters.to_string());
    assert_eq!(answer.status, 201, "{name} {parameters}: {}", answer.text());
    let answer: Value = serde_json::from_slice(&answer.body).unwrap();
    answer["task_id"].as_u64().unwrap()
}

/// The task once it has ended.
fn ended(fixture: &Fixture, id: u64) -> Value {
    let began = Instant::now();
    loop {
        let task = fixture.done("GET", &format!("../tasks/{id}"), "");
        let status = task["task_status"].as_str().unwrap();
        if ["success", "failed", "cancelled"].contains(&status) {
            return task;
        }
        assert!(began.elapsed() < TIMEOUT, "{task}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn result(fixture: &Fixture, name: &str, parameters: &Value) -> Value {
    let task = ended(fixture, submit(fixture, name, parameters));
    assert_eq!(
        task["task_status"], "success",
        "{name} {parameters}: {task}"
    );
    serde_json::from_str(task["task_result"].as_str().unwrap()).unwrap()
}

fn failure(fixture: &Fixture, name: &str, parameters: &Value) -> String {
    let task = ended(fixture, submit(fixture, name, parameters));
    assert_eq!(task["task_status"], "failed", "{name} {parameters}: {task}");
    task["task_result"].as_str().unwrap().to_owned()
}

fn people() -> Fixture {
    let fixture = Fixture::new();
    fixture.people();
    fixture
}

#[test]
fn a_task_is_what_the_original_makes_of_it() {
    let fixture = people();
    let answer = fixture.send("POST", "../jobs/algorithm/count_vertex", "{}");
    answer.is(201, r#"{"task_id":1}"#);
    let mut task = ended(&fixture, 1);
    let task = task.as_object_mut().unwrap();
    for time in ["task_create", "task_update"] {
        assert!(task.remove(time).unwrap().is_u64());
    }
    let wanted = json!({
        "id": 1, "task_name": "algorithm:count_vertex", "task_progress": 4, "task_status": "success",
        "task_result": r#"{"person":3,"software":1,"*":4}"#, "task_retries": 0,
        "task_type": "algorithm", "task_callable": "org.apache.hugegraph.job.AlgorithmJob",
        "task_input": r#"{"algorithm":"count_vertex","parameters":{}}"#, "task_server": "server-1",
    });
    assert_eq!(Value::Object(task.clone()), wanted);
    let id = submit(&fixture, "page_rank", &json!({"top": 3, "alpha": 0.5}));
    let input = ended(&fixture, id)["task_input"].clone();
    let given = r#"{"algorithm":"page_rank","parameters":{"alpha":0.5,"top":3}}"#;
    assert_eq!(input, given);
}

#[test]
fn counts_and_centralities_have_the_members_of_their_originals() {
    let fixture = people();
    let run = |name: &str, parameters: Value| result(&fixture, name, &parameters);
    assert_eq!(
        run("count_edge", json!({})),
        json!({"knows": 2, "created": 1, "*": 3})
    );
    let degrees = json!({"1:marko": 3, "2:lop": 1});
    assert_eq!(
        run("degree_centrality", json!({"top": 2, "degree": -1})),
        degrees
    );
    let out = json!({"direction": "OUT", "label": "knows", "top": -1});
    let degrees = json!({"1:marko": 2, "1:josh": 0, "1:vadas": 0, "2:lop": 0});
    assert_eq!(run("degree", out), degrees);
    let close = run("closeness_centrality", json!({"top": 2}));
    assert_eq!(close, json!({"1:marko": 3.0, "2:lop": 2.0}));
    let close = run("closeness", json!({"formula": "classic", "top": 1}));
    assert_eq!(close, json!({"1:marko": 1.0}));
    let between = json!({"1:marko": 6.0});
    assert_eq!(run("betweenness_centrality", json!({"top": 1})), between);
    assert_eq!(run("stress_centrality", json!({"top": 1})), between);
    let sampled = json!({"top": 1, "source_sample": 4, "seed": 3});
    assert_eq!(run("betweenness", sampled), between);
    let eigen = run("eigenvector_centrality", json!({"top": 1, "depth": 4}));
    assert!(
        (eigen["1:marko"].as_f64().unwrap() - 0.5_f64.sqrt()).abs() < 1e-4,
        "{eigen}"
    );
}

#[test]
fn algorithms_of_groups_ranks_and_paths_have_the_members_of_their_originals() {
    let fixture = people();
    let run = |name: &str, parameters: Value| result(&fixture, name, &parameters);
    let triangles = json!({"edges_out": 3, "vertices_out": 1, "triangles": 0});
    assert_eq!(
        run("triangle_count", json!({"direction": "OUT"})),
        triangles
    );
    let coefficient = json!({"edges": 3, "vertices": 4, "cluster_coefficient": 0.0});
    assert_eq!(run("cluster_coefficient", json!({})), coefficient);
    let lpa = run("lpa", json!({"edge_label": "knows"}));
    let wanted =
        json!({"iteration_times": 2, "last_precision": 0.0, "times": 20, "communities": 2});
    assert_eq!(lpa, wanted);
    let louvain = run("louvain", json!({"seed": 1}));
    for member in [
        "pass_times",
        "phase1_times",
        "last_precision",
        "times",
        "communities",
        "modularity",
    ] {
        assert!(louvain[member].is_number(), "{louvain}");
    }
    let weak = json!({"components": 2, "iteration_times": 1, "times": 20});
    assert_eq!(
        run("weak_connected_component", json!({"label": "knows"})),
        weak
    );
    assert_eq!(run("scc", json!({})), json!({"components": 4}));
    let cores = run("k_core", json!({"k": 1, "label": "knows"}));
    assert_eq!(cores, json!({"kcores": [["1:josh", "1:marko", "1:vadas"]]}));
    assert_eq!(
        run("rings", json!({"depth": 4, "count_only": true})),
        json!({"rings_count": 0})
    );
    let rank = run(
        "page_rank",
        json!({"times": 500, "precision": 1e-12, "top": 1}),
    );
    assert_eq!(rank["alpha"], 0.15);
    assert_eq!(rank["top"].as_object().unwrap().len(), 1);
    let personal = json!({"sources": ["1:josh"], "top": 2});
    assert_eq!(
        run("ppr", personal)["top"],
        json!({"1:josh": 1.0, "2:lop": 0.0})
    );
    let weighted = json!({"source": "1:marko", "weight": "weight", "direction": "OUT"});
    let distances = json!({"1:marko": 0.0, "2:lop": 0.4, "1:vadas": 0.5, "1:josh": 1.0});
    let wanted = json!({"source": "1:marko", "reached": 4, "distances": distances});
    assert_eq!(run("sssp", weighted), wanted);
    let two_sided = json!({"label": "knows", "outV": "1:josh", "inV": "1:marko", "properties": {"date": "2020-01-01"}});
    fixture.done("POST", "edges", &two_sided.to_string());
    let ring = json!({"rings": [["1:josh", "1:marko", "1:josh"]]});
    assert_eq!(run("rings", json!({"depth": 2, "limit": 5})), ring);
}

#[test]
fn what_is_wrong_is_refused_with_the_words_of_the_original() {
    let fixture = people();
    let refuses = |name: &str, parameters: Value, status, message: &str| {
        let path = format!("../jobs/algorithm/{name}");
        fixture.refuses("POST", &path, &parameters.to_string(), status, message);
    };
    refuses("none", json!({}), 404, "Not found algorithm: none");
    let message = "Unnecessary parameters: {foo=1}";
    refuses("count_vertex", json!({"foo": 1}), 400, message);
    refuses("page_rank", json!({"foo": 1, "alpha": 0.5}), 400, message);
    let message = "Unnecessary parameters: {degree=1}";
    refuses("count_edge", json!({"degree": 1}), 400, message);
    let message = "The value of alpha must be in range (0, 1], but got 2.0";
    refuses("page_rank", json!({"alpha": 2}), 400, message);
    refuses(
        "lpa",
        json!({"label": "x"}),
        400,
        "Undefined edge label: 'x'",
    );
    refuses(
        "lpa",
        json!({"source_label": "x"}),
        400,
        "Undefined vertex label: 'x'",
    );
    let message = "Direction value must be in [OUT, IN, BOTH], but got 'out'";
    refuses("degree", json!({"direction": "out"}), 400, message);
    let message = "The top parameter must be > 0 or == -1, but got: 0";
    refuses("degree", json!({"top": 0}), 400, message);
    let message = "The value of times must be in range (0, 2000], but got 2001";
    refuses("lpa", json!({"times": 2001}), 400, message);
    refuses(
        "rings",
        json!({"limit": 1}),
        400,
        "Expect 'depth' in parameters: {limit=1}",
    );
    refuses("sssp", json!({}), 400, "Expect 'source' in parameters: {}");
    let message = "Expect integer value for parameter 'k': '1.5'";
    refuses("k_core", json!({"k": 1.5}), 400, message);
    refuses(
        "lpa",
        json!({"weight": "x"}),
        400,
        "Undefined property key: 'x'",
    );
    let message = "The property 'hobby' can't take results: it must hold one number or text";
    refuses("lpa", json!({"write_property": "hobby"}), 400, message);
    let answer = fixture.send("POST", "../jobs/algorithm/lpa", "[1]");
    assert_eq!(answer.status, 400);
    let answer = fixture.send("POST", "../jobs/algorithm/lpa?as_of=yesterday", "{}");
    assert_eq!(answer.status, 400);
    let message = failure(&fixture, "sssp", &json!({"source": "1:nobody"}));
    assert!(
        message.ends_with("The source vertex with id '1:nobody' does not exist"),
        "{message}"
    );
    let message = failure(&fixture, "lpa", &json!({"weight": "city"}));
    assert!(
        message.contains("The weight of an edge must be a number >= 0"),
        "{message}"
    );
}

/// The rows of a result on all its pages, each a key and its value or an item.
fn pages(fixture: &Fixture, task: u64, rows: &str, size: usize) -> Vec<(String, Value)> {
    let (mut found, mut page) = (Vec::new(), Value::from(""));
    while let Some(token) = page.as_str() {
        let path = format!("../tasks/{task}?limit={size}&page={token}");
        let answer = fixture.done("GET", &path, "");
        let result: Value = serde_json::from_str(answer["task_result"].as_str().unwrap()).unwrap();
        let shown = match rows {
            "" => result,
            member => result[member].clone(),
        };
        let before = found.len();
        match shown {
            Value::Object(rows) => found.extend(rows),
            Value::Array(rows) => found.extend(rows.into_iter().map(|row| (String::new(), row))),
            other => panic!("no rows: {other}"),
        }
        page = answer["page"].clone();
        let count = found.len() - before;
        assert!(count <= size && (count == size || page.is_null()), "{path}");
    }
    assert!(page.is_null(), "{page}");
    found
}

fn long_id(number: usize) -> String {
    format!("1:v,[{number}]\"")
}

/// The people and so many more, who know each other as a tree.
fn people_and(count: usize) -> Fixture {
    let fixture = people();
    let vertex = |number| {
        let name = long_id(number)[2..].to_owned();
        json!({"label": "person", "properties": {"name": name, "age": 1}})
    };
    let edge = |number: usize| {
        json!({"label": "knows", "outV": long_id(number), "inV": long_id(number / 3),
            "outVLabel": "person", "inVLabel": "person", "properties": {"date": "2020-01-01"}})
    };
    let vertices: Vec<Value> = (0..count).map(vertex).collect();
    for vertices in vertices.chunks(500) {
        fixture.done("POST", "vertices/batch", &json!(vertices).to_string());
    }
    let edges: Vec<Value> = (1..count).map(edge).collect();
    for edges in edges.chunks(500) {
        fixture.done("POST", "edges/batch", &json!(edges).to_string());
    }
    fixture
}

#[test]
fn a_result_comes_page_by_page_with_every_row_once() {
    let fixture = people_and(1_500);
    let cases = [
        ("degree", json!({"top": -1}), "", 1_504),
        ("page_rank", json!({"top": -1}), "top", 1_504),
        (
            "sssp",
            json!({"source": long_id(0), "top": -1}),
            "distances",
            1_500,
        ),
        ("k_core", json!({"k": 1}), "kcores", 2),
    ];
    for (name, parameters, member, rows) in cases {
        let task = submit(&fixture, name, &parameters);
        let whole = ended(&fixture, task);
        assert!(whole.get("page").is_none());
        let whole: Value = serde_json::from_str(whole["task_result"].as_str().unwrap()).unwrap();
        let all = match member {
            "" => whole,
            member => whole[member].clone(),
        };
        for size in [700, 1_504] {
            let found = pages(&fixture, task, member, size.min(rows));
            assert_eq!(found.len(), rows, "{name}");
            match &all {
                Value::Object(all) => assert_eq!(&found.into_iter().collect::<Map<_, _>>(), all),
                all => assert_eq!(
                    &json!(found.iter().map(|row| &row.1).collect::<Vec<_>>()),
                    all
                ),
            }
        }
    }
}

/// The keys of the member `top` of a task's result, ascending.
fn top(task: &Value) -> Vec<String> {
    let result: Value = serde_json::from_str(task["task_result"].as_str().unwrap()).unwrap();
    assert_eq!(result["alpha"], 0.15, "what is beside the rows");
    let rows = result["top"].as_object().unwrap();
    let mut keys: Vec<String> = rows.keys().cloned().collect();
    keys.sort_unstable();
    keys
}

#[test]
fn a_page_has_the_asked_number_of_rows_and_says_where_the_next_begins() {
    let fixture = people_and(150);
    let task = submit(&fixture, "page_rank", &json!({"top": -1}));
    let all = top(&ended(&fixture, task));
    let page = |query: &str| fixture.done("GET", &format!("../tasks/{task}?{query}"), "");
    // Without a token the first rows; without a limit 100 rows.
    let first = page("page");
    assert_eq!((&first["id"], top(&first).len()), (&json!(task), 100));
    let rest = page(&format!("page={}", first["page"].as_str().unwrap()));
    assert_eq!(rest["page"], Value::Null);
    let mut both = [top(&first), top(&rest)].concat();
    both.sort_unstable();
    assert_eq!(both, all, "each row once");
    let cut = page("limit=100");
    assert_eq!(
        (&cut["page"], &cut["task_result"]),
        (&first["page"], &first["task_result"])
    );
    assert!(page("limit=-1").get("page").is_none());
    // A page of no rows has none behind it.
    let none = page("limit=0&page");
    assert_eq!((&none["page"], top(&none).len()), (&Value::Null, 0));
}

#[test]
fn a_page_token_belongs_to_its_task() {
    let fixture = people_and(150);
    let ranks = submit(&fixture, "page_rank", &json!({"top": -1}));
    let degrees = submit(&fixture, "degree", &json!({"top": -1}));
    ended(&fixture, degrees);
    ended(&fixture, ranks);
    let first = fixture.done("GET", &format!("../tasks/{ranks}?page"), "");
    let token = first["page"].as_str().unwrap();
    for (task, token) in [(ranks, "x"), (ranks, "100"), (degrees, token)] {
        let message = format!("Invalid page: '{token}'");
        fixture.refuses(
            "GET",
            &format!("../tasks/{task}?page={token}"),
            "",
            400,
            &message,
        );
    }
    // Why a task failed is no result.
    let failed = submit(&fixture, "sssp", &json!({"source": "1:nobody"}));
    let whole = ended(&fixture, failed)["task_result"].clone();
    let task = fixture.done("GET", &format!("../tasks/{failed}?page&limit=1"), "");
    assert_eq!(
        (&task["task_result"], &task["page"]),
        (&whole, &Value::Null)
    );
}

#[test]
fn pages_of_a_script_have_the_items_of_its_result() {
    let fixture = people();
    let script = json!({"gremlin": "hugegraph.traversal().V().valueMap('name')"});
    let answer = fixture.send("POST", "../jobs/gremlin", &script.to_string());
    let answer: Value = serde_json::from_slice(&answer.body).unwrap();
    let task = answer["task_id"].as_u64().unwrap();
    let whole = ended(&fixture, task)["task_result"].clone();
    let whole: Vec<Value> = serde_json::from_str(whole.as_str().unwrap()).unwrap();
    let found = pages(&fixture, task, "", 3);
    let found: Vec<Value> = found.into_iter().map(|row| row.1).collect();
    assert_eq!(found, whole);
    assert_eq!(found.len(), 4);
}

#[test]
fn an_algorithm_sees_the_graph_at_the_point_asked_for() {
    let fixture = people();
    let at = |point: &str| {
        let answer = fixture.done(
            "POST",
            &format!("../jobs/algorithm/count_edge?{point}"),
            "{}",
        );
        ended(&fixture, answer["task_id"].as_u64().unwrap())["task_result"].clone()
    };
    let before = fixture.server.state.graphs().get("hugegraph").unwrap();
    let last = before
        .view(varve_model::TemporalScope::NOW)
        .unwrap()
        .last_commit()
        .unwrap();
    fixture.done("DELETE", "vertices/%221:marko%22", "");
    assert_eq!(at("as_of_tx=now"), r#"{"*":0}"#);
    let then = at(&format!("as_of_tx={}", last.0));
    assert_eq!(then, r#"{"knows":2,"created":1,"*":3}"#);
    assert_eq!(at("as_of=2000-01-01"), r#"{"*":0}"#);
}

#[test]
fn nothing_is_written_but_to_the_property_that_is_named() {
    let fixture = people();
    let graph = fixture.server.state.graphs().get("hugegraph").unwrap();
    let last = || {
        let view = graph.view(varve_model::TemporalScope::NOW).unwrap();
        view.last_commit().unwrap()
    };
    let (before, schema) = (last(), graph.schema().version());
    for name in ["lpa", "wcc", "louvain", "page_rank"] {
        result(&fixture, name, &json!({}));
    }
    assert_eq!((last(), graph.schema().version()), (before, schema));
    let message = failure(&fixture, "page_rank", &json!({"write_property": "weight"}));
    assert!(
        message.contains("The vertex label 'person' has no property 'weight'"),
        "{message}"
    );
    let append =
        r#"{"name":"person","properties":["weight","lang"],"nullable_keys":["weight","lang"]}"#;
    fixture.done("PUT", "../schema/vertexlabels/person?action=append", append);
    let people = json!({"source_label": "person", "write_property": "weight"});
    result(&fixture, "degree", &people);
    let value = |name: &str, key: &str| {
        let vertex = fixture.done("GET", &format!("vertices/%221:{name}%22"), "");
        vertex["properties"][key].clone()
    };
    assert_eq!(
        ["marko", "josh", "vadas"].map(|name| value(name, "weight")),
        [2.0, 1.0, 1.0]
    );
    // What is there already gets no new version.
    let written = last();
    result(&fixture, "degree", &people);
    assert_eq!(last(), written);
    let groups = json!({"source_label": "person", "write_property": "lang"});
    result(&fixture, "wcc", &groups);
    assert_eq!(
        ["marko", "josh", "vadas"].map(|name| value(name, "lang")),
        ["1:josh"; 3]
    );
    assert_eq!(value("marko", "city"), "Beijing");
}

#[test]
fn a_running_algorithm_can_be_cancelled() {
    let fixture = people();
    let vertex = |number: usize| json!({"label": "person", "properties": {"name": format!("v{number}"), "age": 1}});
    let vertices: Vec<Value> = (0..24).map(vertex).collect();
    fixture.done("POST", "vertices/batch", &json!(vertices).to_string());
    let pairs = (0..24).flat_map(|a| (0..a).map(move |b| (a, b)));
    let edge = |(a, b): (usize, usize)| {
        json!({"label": "knows", "outV": format!("1:v{a}"), "inV": format!("1:v{b}"),
            "outVLabel": "person", "inVLabel": "person", "properties": {"date": "2020-01-01"}})
    };
    let edges: Vec<Value> = pairs.map(edge).collect();
    fixture.done("POST", "edges/batch", &json!(edges).to_string());
    // More rings than can be counted in years.
    let id = submit(&fixture, "rings", &json!({"depth": 24, "count_only": true}));
    let began = Instant::now();
    while fixture.done("GET", &format!("../tasks/{id}"), "")["task_status"] != "running" {
        assert!(began.elapsed() < TIMEOUT);
    }
    fixture.done("PUT", &format!("../tasks/{id}?action=cancel"), "");
    assert_eq!(ended(&fixture, id)["task_status"], "cancelled");
    assert_eq!(result(&fixture, "wcc", &json!({}))["components"], 2);
}

#[test]
fn an_algorithm_ends_at_the_memory_of_the_server() {
    let config = ServerConfig {
        max_algorithm_bytes: 100,
        ..ServerConfig::default()
    };
    let mut options = GraphOptions::new(Arc::new(SystemClock));
    options.jobs = Some(Arc::new(ServerJobs::new(&config)));
    let graphs = Registry::open(Arc::new(MemoryEngine::new()), options).unwrap();
    let fixture = Fixture::on(ServerConfig::default(), Arc::new(graphs));
    fixture.people();
    let message = failure(&fixture, "wcc", &json!({}));
    let wanted = "The query needs more than 100 bytes of memory (server.max_algorithm_bytes)";
    assert!(message.ends_with(wanted), "{message}");
    assert_eq!(result(&fixture, "count_vertex", &json!({}))["*"], 4);
}
