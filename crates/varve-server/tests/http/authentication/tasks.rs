//! Whose tasks a user sees.

use std::time::Duration;

use serde_json::{Value, json};
use varve_graph::tasks::{NewTask, TaskId, TaskType};

use super::{add_users, grant_resources, send, server, with_open_graph};
use crate::harness::TestServer;

/// The ids in the list that a user gets.
fn listed(server: &TestServer, user: &str, query: &str) -> Vec<u64> {
    let path = format!("/graphs/g/tasks{query}");
    let answer = send(server, user, "GET", &path, &json!({}));
    assert_eq!(answer.status, 200, "{}", answer.text());
    let answer: Value = serde_json::from_slice(&answer.body).unwrap();
    let tasks = answer["tasks"].as_array().unwrap();
    tasks
        .iter()
        .map(|task| task["id"].as_u64().unwrap())
        .collect()
}

/// A server on which `ann` and `bob` may submit jobs, and change the schema; tasks wait there.
fn with_submitters() -> TestServer {
    let server = with_open_graph(server());
    add_users(&server, &["ann", "bob"]);
    let resources = ["VERTEX", "EDGE", "SCHEMA", "TASK", "GREMLIN", "STATUS"];
    for user in ["ann", "bob"] {
        grant_resources(&server, user, "g", &["ANY"], &resources);
    }
    server
        .state
        .graphs()
        .get("g")
        .unwrap()
        .tasks()
        .set_paused(true);
    server
}

#[test]
fn users_see_and_end_their_own_tasks_and_who_administers_the_graph_those_of_others() {
    let server = with_submitters();
    let submit = |user: &str, path: &str, body: Value| {
        let answer = send(&server, user, "POST", &format!("/graphs/g/{path}"), &body);
        assert!(matches!(answer.status, 201 | 202), "{}", answer.text());
        let answer: Value = serde_json::from_slice(&answer.body).unwrap();
        answer["task_id"].as_u64().unwrap()
    };
    let script = json!({"gremlin": "g.V().count()"});
    let own = [
        submit("ann", "jobs/gremlin", script.clone()),
        submit("ann", "jobs/algorithm/degree_centrality", json!({})),
    ];
    let of_bob = submit("bob", "jobs/gremlin", script);
    let graph = server.state.graphs().get("g").unwrap();
    let job = NewTask::job(TaskType::Gremlin, "x", String::new());
    let of_nobody = graph.tasks().submit(job).unwrap().0;

    let all = vec![own[0], own[1], of_bob, of_nobody];
    assert_eq!(listed(&server, "ann", ""), own);
    assert_eq!(listed(&server, "bob", ""), [of_bob]);
    assert_eq!(listed(&server, "admin", ""), all);
    // It has every right on the graph.
    assert_eq!(listed(&server, "writer", ""), all[..3]);
    assert_eq!(listed(&server, "ann", "?status=queued"), own);
    let ids = all.iter().map(|id| format!("ids={id}"));
    let ids = ids.collect::<Vec<_>>().join("&");
    assert_eq!(listed(&server, "ann", &format!("?{ids}")), own);
    assert_eq!(listed(&server, "ann", "?limit=1"), own[..1]);
    assert_eq!(listed(&server, "bob", "?limit=1"), [of_bob]);

    let ask = |user: &str, verb: &str, id: u64| {
        let query = if verb == "PUT" { "?action=cancel" } else { "" };
        let path = format!("/graphs/g/tasks/{id}{query}");
        send(&server, user, verb, &path, &json!({}))
    };
    for verb in ["GET", "PUT", "DELETE"] {
        for id in [of_bob, of_nobody, 99] {
            let refused = ask("ann", verb, id);
            assert_eq!(refused.status, 404, "{verb} {}", refused.text());
            let message = format!("Can't find task with id '{id}'");
            assert!(refused.text().contains(&message), "{}", refused.text());
        }
    }
    for verb in ["GET", "PUT"] {
        let answer = ask("ann", verb, own[0]);
        assert!(matches!(answer.status, 200 | 202), "{}", answer.text());
    }
    assert_eq!(ask("ann", "DELETE", own[0]).status, 204);
    assert_eq!(ask("writer", "PUT", of_nobody).status, 404);
    assert_eq!(ask("writer", "PUT", of_bob).status, 202);
}

#[test]
fn a_task_of_the_schema_is_its_submitters() {
    let server = with_submitters();
    let graph = server.state.graphs().get("g").unwrap();
    let person =
        json!({"gremlin": "g.addV('person').property('age', 1)", "aliases": {"g": "__g_g"}});
    assert_eq!(
        send(&server, "ann", "POST", "/gremlin", &person).status,
        200
    );
    let path = "/graphs/g/schema/indexlabels";
    let index = json!({"name": "byAge", "base_type": "VERTEX_LABEL", "base_value": "person",
                       "index_type": "RANGE", "fields": ["age"]});
    let made = send(&server, "ann", "POST", path, &index);
    assert_eq!(made.status, 202, "{}", made.text());
    let rebuild = "/graphs/g/jobs/rebuild/indexlabels/byAge";
    assert_eq!(send(&server, "bob", "PUT", rebuild, &json!({})).status, 202);
    assert_eq!(listed(&server, "ann", ""), [1]);
    assert_eq!(listed(&server, "bob", ""), [2]);
    // A job's tasks are those of who submitted the job.
    graph.tasks().set_paused(false);
    let job = json!({"gremlin": "graph.schema().indexLabel('byAge').remove()"});
    let answer = send(&server, "bob", "POST", "/graphs/g/jobs/gremlin", &job);
    assert_eq!(answer.status, 201, "{}", answer.text());
    let wait = Duration::from_secs(30);
    graph.tasks().wait_until_done(TaskId(3), wait).unwrap();
    assert_eq!(listed(&server, "ann", ""), [1]);
    assert_eq!(listed(&server, "bob", ""), [2, 3, 4]);
}
