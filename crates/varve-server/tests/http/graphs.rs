//! Graphs, their modes and variables, and tasks, as clients use them.

use std::sync::Arc;
use std::time::Duration;

use varve_graph::tasks::{NewTask, TaskId, TaskType};
use varve_server::ServerConfig;
use varve_testkit::http::{Answer, request};
use varve_testserver::TestServer;

const NOT_FOUND: &str = "class org.apache.hugegraph.exception.NotFoundException";

fn server() -> TestServer {
    let server = TestServer::start(ServerConfig::default());
    server.state.graphs().create("hugegraph").unwrap();
    server
}

fn error(exception: &str, message: &str) -> String {
    serde_json::json!({"exception": exception, "message": message, "cause": ""}).to_string()
}

/// Compares as JSON, so that the order of members does not matter.
#[track_caller]
fn is_error(answer: &Answer, status: u16, exception: &str, message: &str) {
    assert_eq!(answer.status, status, "{}", answer.text());
    let mut got: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
    let code = got.as_object_mut().unwrap().remove("code").unwrap();
    assert!(code.as_str().unwrap().starts_with("VRV-"), "{code}");
    let wanted: serde_json::Value = serde_json::from_str(&error(exception, message)).unwrap();
    assert_eq!(got, wanted);
}

#[test]
fn graphs_are_listed_got_created_and_dropped() {
    let server = server();
    for base in ["", "/graphspaces/DEFAULT"] {
        server
            .get(&format!("{base}/graphs"))
            .is(200, r#"{"graphs":["hugegraph"]}"#);
        server
            .get(&format!("{base}/graphs/hugegraph"))
            .is(200, r#"{"name":"hugegraph","backend":"memory"}"#);
    }
    let settings = r#"{"backend":"rocksdb","serializer":"binary","store":"g2","nickname":"two"}"#;
    server.send("POST", "/graphs/g2", settings).is(
        201,
        r#"{"name":"g2","nickname":"two","backend":"memory","description":""}"#,
    );
    let existed = "class org.apache.hugegraph.exception.ExistedException";
    let message = "The graph name 'g2' has existed";
    is_error(
        &server.send("POST", "/graphs/g2", "{}"),
        400,
        existed,
        message,
    );
    let path = "/graphs/other?clone_graph_name=g2";
    let text = request("POST", path, "content-type: text/plain\r\n", "store=g3\n");
    server
        .exchange(&text)
        .is(200, r#"{"name":"g3","backend":"memory"}"#);
    assert_eq!(server.send("POST", "/graphs/9x", "{}").status, 400);
    server
        .get("/graphs")
        .is(200, r#"{"graphs":["g2","g3","hugegraph"]}"#);

    let argument = "class java.lang.IllegalArgumentException";
    let refused = server.send("DELETE", "/graphs/g2?confirm_message=x", "");
    is_error(
        &refused,
        400,
        argument,
        "Please take the message: I'm sure to drop the graph",
    );
    let drop = "/graphs/g2?confirm_message=I%27m+sure+to+drop+the+graph";
    assert_eq!(server.send("DELETE", drop, "").status, 204);
    is_error(
        &server.send("DELETE", drop, ""),
        400,
        argument,
        "The graph 'g2' doesn't exist",
    );
    for below in ["", "/conf", "/mode", "/variables", "/tasks", "/tasks/1"] {
        let answer = server.get(&format!("/graphs/g2{below}"));
        is_error(&answer, 404, NOT_FOUND, "Graph 'g2' does not exist");
    }
}

#[test]
fn a_graph_cannot_have_the_name_of_a_file_of_the_engine() {
    let server = server();
    let argument = "class java.lang.IllegalArgumentException";
    let message = "Invalid graph name 'LOCK', it is the name of a file of the storage engine";
    let plain = "content-type: text/plain\r\n";
    let properties = request("POST", "/graphs/x", plain, "store=LOCK\n");
    is_error(&server.exchange(&properties), 400, argument, message);
    let json = server.send("POST", "/graphs/LOCK", "{}");
    is_error(&json, 400, argument, message);
    server.get("/graphs").is(200, r#"{"graphs":["hugegraph"]}"#);
}

#[test]
fn clearing_empties_a_graph() {
    let server = server();
    assert_eq!(
        server
            .send("PUT", "/graphs/hugegraph/variables/a", r#"{"data":1}"#)
            .status,
        200
    );
    let refused = server.send("DELETE", "/graphs/hugegraph/clear", "");
    assert!(
        refused
            .text()
            .contains("Please take the message: I'm sure to delete all data")
    );
    let clear = "/graphs/hugegraph/clear?confirm_message=I%27m%20sure%20to%20delete%20all%20data";
    assert_eq!(server.send("DELETE", clear, "").status, 204);
    server.get("/graphs/hugegraph/variables").is(200, "{}");
}

#[test]
fn modes() {
    let server = server();
    let path = "/graphs/hugegraph/mode";
    server.get(path).is(200, r#"{"mode":"NONE"}"#);
    for mode in ["RESTORING", "MERGING", "LOADING", "NONE"] {
        let body = format!("\"{mode}\"");
        server
            .send("PUT", path, &body)
            .is(200, &format!(r#"{{"mode":"{mode}"}}"#));
    }
    let wrong = server.send("PUT", path, "\"NOPE\"");
    is_error(
        &wrong,
        400,
        "class com.fasterxml.jackson.core.JsonProcessingException",
        "Cannot deserialize value of type `org.apache.hugegraph.type.define.GraphMode` from String \"NOPE\": \
         not one of the values accepted for Enum class: [NONE, RESTORING, MERGING, LOADING]",
    );
    let path = "/graphs/hugegraph/graph_read_mode";
    server
        .get(path)
        .is(200, r#"{"graph_read_mode":"OLTP_ONLY"}"#);
    server
        .send("PUT", path, "\"ALL\"")
        .is(200, r#"{"graph_read_mode":"ALL"}"#);
    server.get(path).is(200, r#"{"graph_read_mode":"ALL"}"#);
}

#[test]
fn upkeep() {
    let server = server();
    let conf = server.get("/graphs/hugegraph/conf");
    assert!(
        conf.text().contains("\nbackend=memory\n"),
        "{}",
        conf.text()
    );
    server.send("PUT", "/graphs/hugegraph/compact", "{}").is(
        200,
        r#"{"nodes":1,"cluster_id":"local","servers":{"local":"OK"}}"#,
    );
    server
        .send(
            "PUT",
            "/graphspaces/DEFAULT/graphs/manage",
            r#"{"action":"reload"}"#,
        )
        .is(200, r#"{"graphs":"reloaded"}"#);
    assert_eq!(
        server
            .send("PUT", "/graphs/manage", r#"{"action":"x"}"#)
            .status,
        415
    );
    assert_eq!(
        server
            .send("PUT", "/graphs/hugegraph/snapshot_create", "")
            .status,
        400
    );
    let backend: serde_json::Value =
        serde_json::from_slice(&server.get("/metrics/backend").body).unwrap();
    assert_eq!(backend["hugegraph"]["backend"], "memory");
    let figures = backend["hugegraph"]["servers"]["local"]
        .as_object()
        .unwrap();
    let metrics = server.get("/metrics");
    for name in figures.keys() {
        let start = format!("varve_engine_{name}{{graph=\"hugegraph\"}} ");
        assert!(
            metrics.text().lines().any(|line| line.starts_with(&start)),
            "{start}"
        );
    }
}

#[test]
fn variables() {
    let server = server();
    let path = |key: &str| format!("/graphs/hugegraph/variables/{key}");
    for (key, value) in [
        ("name", r#""tom""#),
        ("n", "5"),
        ("l", "[1,2]"),
        ("b", "true"),
        ("d", "1.5"),
    ] {
        let answer = server.send("PUT", &path(key), &format!(r#"{{"data":{value}}}"#));
        answer.is(200, &format!(r#"{{"{key}":{value}}}"#));
        server
            .get(&path(key))
            .is(200, &format!(r#"{{"{key}":{value}}}"#));
    }
    server
        .get("/graphs/hugegraph/variables")
        .is(200, r#"{"b":true,"d":1.5,"l":[1,2],"n":5,"name":"tom"}"#);
    // A view that the explorer keeps is read by its name, and not listed.
    let view = server.send("PUT", &path("~view:1"), r#"{"data":"v"}"#);
    view.is(200, r#"{"~view:1":"v"}"#);
    server.get(&path("~view:1")).is(200, r#"{"~view:1":"v"}"#);
    server
        .get("/graphs/hugegraph/variables")
        .is(200, r#"{"b":true,"d":1.5,"l":[1,2],"n":5,"name":"tom"}"#);
    let empty = server.send("PUT", &path("x"), "{}");
    let argument = "class java.lang.IllegalArgumentException";
    is_error(&empty, 400, argument, "The variable value can't be empty");
    assert_eq!(
        server.send("PUT", &path("m"), r#"{"data":{"a":1}}"#).status,
        400
    );
    assert_eq!(
        server
            .send("PUT", &path("m"), r#"{"data":1,"more":1}"#)
            .status,
        400
    );
    for key in ["name", "none"] {
        assert_eq!(server.send("DELETE", &path(key), "").status, 204);
    }
    let exception = "class jakarta.ws.rs.NotFoundException";
    is_error(
        &server.get(&path("name")),
        404,
        exception,
        "Variable 'name' does not exist",
    );
}

#[test]
fn a_listing_of_variables_is_no_larger_than_an_answer_may_be() {
    let server = TestServer::start(ServerConfig {
        max_answer_bytes: 1000,
        ..ServerConfig::default()
    });
    server.state.graphs().create("hugegraph").unwrap();
    let list = || server.get("/graphs/hugegraph/variables");
    for key in ["a", "b", "c"] {
        assert_eq!(list().status, 200);
        let path = format!("/graphs/hugegraph/variables/{key}");
        let body = format!(r#"{{"data":"{}"}}"#, "x".repeat(400));
        assert_eq!(server.send("PUT", &path, &body).status, 200);
    }
    let exception = "class org.apache.hugegraph.exception.LimitExceedException";
    let message = "The answer is larger than the limit of 1000 bytes: ask for pages";
    is_error(&list(), 400, exception, message);
}

/// Bodies that end as the task's input says.
struct ByInput;

impl varve_graph::TaskBodies for ByInput {
    fn run(
        &self,
        task: &varve_graph::tasks::TaskSpec,
        _: &varve_graph::tasks::TaskProgress,
    ) -> Result<String, varve_graph::GraphError> {
        match task.input.as_deref() {
            Some("fail") => Err(varve_graph::GraphError::invalid(
                "No signature of method: V2()",
            )),
            other => Ok(other.unwrap_or_default().to_owned()),
        }
    }
}

#[test]
fn tasks() {
    let server = server();
    let graph = server.state.graphs().get("hugegraph").unwrap();
    let tasks = graph.tasks();
    // So that there is one to be cancelled.
    tasks.set_paused(true);
    let job = |input: &str| NewTask::job(TaskType::Gremlin, "g.V()", input.to_owned());
    for input in ["[29]", "fail", "3"] {
        tasks.submit(job(input)).unwrap();
    }
    let json = |path: &str| -> serde_json::Value {
        let answer = server.get(path);
        assert_eq!(answer.status, 200, "{}", answer.text());
        serde_json::from_slice(&answer.body).unwrap()
    };
    let cancelled = server.send("PUT", "/graphs/hugegraph/tasks/3?action=cancel", "");
    assert_eq!(cancelled.status, 202);
    assert!(
        cancelled.text().contains(r#""task_status":"cancelled""#),
        "{}",
        cancelled.text()
    );
    let incomplete = server.send("DELETE", "/graphs/hugegraph/tasks/1", "");
    let message =
        "Can't delete incomplete task '1' in status QUEUED, Please try to cancel the task first";
    is_error(
        &incomplete,
        400,
        "class java.lang.IllegalArgumentException",
        message,
    );
    tasks.start(Arc::new(ByInput));
    tasks.set_paused(false);
    for id in [1, 2] {
        tasks
            .wait_until_done(TaskId(id), Duration::from_secs(20))
            .unwrap();
    }
    let one = json("/graphs/hugegraph/tasks/1");
    assert_eq!(one["task_status"], "success");
    assert_eq!(one["task_result"], "[29]");
    assert_eq!(one["task_callable"], "org.apache.hugegraph.job.GremlinJob");
    let failed = json("/graphs/hugegraph/tasks/2");
    assert_eq!(failed["task_status"], "failed");
    assert!(
        failed["task_result"]
            .as_str()
            .unwrap()
            .contains("No signature of method: ")
    );

    let ids = |path: &str| -> Vec<u64> {
        let list = json(path);
        list["tasks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|task| task["id"].as_u64().unwrap())
            .collect()
    };
    assert_eq!(ids("/graphs/hugegraph/tasks"), [1, 2, 3]);
    assert_eq!(ids("/graphs/hugegraph/tasks?limit=-1&status=Success"), [1]);
    assert_eq!(ids("/graphs/hugegraph/tasks?ids=3&ids=1"), [3, 1]);
    let first = json("/graphs/hugegraph/tasks?page=&limit=2");
    let token = first["page"].as_str().unwrap();
    assert_eq!(
        ids(&format!("/graphs/hugegraph/tasks?limit=2&page={token}")),
        [3]
    );
    let last = json(&format!("/graphs/hugegraph/tasks?limit=2&page={token}"));
    assert!(last["page"].is_null() && last.as_object().unwrap().contains_key("page"));
    let both = server.get("/graphs/hugegraph/tasks?ids=14&status=success");
    let message = "Not support status when query task by ids, but got status='success'";
    is_error(
        &both,
        400,
        "class java.lang.IllegalArgumentException",
        message,
    );
    assert!(
        server
            .get("/graphs/hugegraph/tasks?status=zzz")
            .text()
            .contains("but got 'zzz'")
    );
    let unknown = server.get("/graphs/hugegraph/tasks/99999");
    is_error(&unknown, 404, NOT_FOUND, "Can't find task with id '99999'");

    assert_eq!(
        server
            .send("PUT", "/graphs/hugegraph/tasks/1?action=foo", "")
            .status,
        415
    );
    let again = server.send("PUT", "/graphs/hugegraph/tasks/3?action=cancel", "");
    let message = "Can't cancel task '3' which is completed or cancelling";
    is_error(
        &again,
        400,
        "class jakarta.ws.rs.BadRequestException",
        message,
    );
    assert_eq!(
        server
            .send("DELETE", "/graphs/hugegraph/tasks/1", "")
            .status,
        204
    );
    assert_eq!(ids("/graphs/hugegraph/tasks"), [2, 3]);
    tasks.stop();
}

#[test]
fn a_graph_is_open_as_long_as_it_is_there() {
    let server = server();
    let open = r#"{"name":"o","backend":"memory","schema":"open"}"#;
    server.send("POST", "/graphs/o", r#"{"schema":"open"}"#).is(
        201,
        r#"{"name":"o","nickname":"o","backend":"memory","description":"","schema":"open"}"#,
    );
    server.get("/graphs/o").is(200, open);
    let clear = "/graphs/o/clear?confirm_message=I%27m%20sure%20to%20delete%20all%20data";
    assert_eq!(server.send("DELETE", clear, "").status, 204);
    server.get("/graphs/o").is(200, open);
    server.send("POST", "/graphs/copy?clone_graph_name=o", "{}").is(
        201,
        r#"{"name":"copy","nickname":"copy","backend":"memory","description":"","schema":"open"}"#,
    );
    server
        .send("POST", "/graphs/d", r#"{"schema":"declared"}"#)
        .is(
            201,
            r#"{"name":"d","nickname":"d","backend":"memory","description":""}"#,
        );
    let argument = "class java.lang.IllegalArgumentException";
    is_error(
        &server.send("POST", "/graphs/x", r#"{"schema":"closed"}"#),
        400,
        argument,
        "The schema of a graph is 'declared' or 'open', but not 'closed'",
    );
}
