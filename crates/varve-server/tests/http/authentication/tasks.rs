//! Whose tasks a user sees.

use std::time::Duration;

use serde_json::{Value, json};
use varve_graph::tasks::{NewTask, TaskId, TaskType};
use varve_testserver::TestServer;

use super::{add_users, grant_resources, send, server, with_open_graph};
use crate::memory::await_that;

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
    for query in ["?page=", "?page=1.1.1&limit=1", "?limit=1"] {
        let path = format!("/graphs/g/tasks/{of_bob}{query}");
        let refused = send(&server, "ann", "GET", &path, &json!({}));
        assert_eq!(refused.status, 404, "{query} {}", refused.text());
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

/// Has a user submit a job, and returns the task's id.
fn submitted(server: &TestServer, user: &str, script: &str) -> u64 {
    let job = json!({"gremlin": script});
    let answer = send(server, user, "POST", "/graphs/g/jobs/gremlin", &job);
    assert_eq!(answer.status, 201, "{}", answer.text());
    let answer: Value = serde_json::from_slice(&answer.body).unwrap();
    answer["task_id"].as_u64().unwrap()
}

fn count(server: &TestServer) -> u64 {
    let body = json!({"gremlin": "g.V().count()", "aliases": {"g": "__g_g"}});
    let answer = send(server, "admin", "POST", "/gremlin", &body);
    let answer: Value = serde_json::from_slice(&answer.body).unwrap();
    answer["result"]["data"][0].as_u64().unwrap()
}

/// How a task has ended, and why it failed.
fn ended(server: &TestServer, id: u64) -> (String, String) {
    let graph = server.state.graphs().get("g").unwrap();
    let wait = Duration::from_secs(30);
    graph.tasks().wait_until_done(TaskId(id), wait).unwrap();
    let detail = graph.tasks().detail(TaskId(id)).unwrap();
    let status = detail.task.status.name().to_owned();
    (status, detail.result.unwrap_or_default())
}

/// Takes all rights from a user.
fn revoke(server: &TestServer, user: &str) {
    let path = format!("/auth/targets/-44:{user}_target");
    let answer = send(server, "admin", "DELETE", &path, &json!({}));
    assert_eq!(answer.status, 204, "{}", answer.text());
}

#[test]
fn a_job_runs_with_the_rights_that_its_submitter_has_then() {
    let server = with_submitters();
    let job = submitted(&server, "ann", "g.addV('person').iterate()");
    revoke(&server, "ann");
    let graph = server.state.graphs().get("g").unwrap();
    graph.tasks().set_paused(false);
    let (status, reason) = ended(&server, job);
    assert_eq!(status, "FAILED");
    assert!(reason.contains("Permission denied"), "{reason}");
    assert_eq!(count(&server), 0);
    // Also one that ended with its user.
    graph.tasks().set_paused(true);
    let job = submitted(&server, "bob", "g.addV('person').iterate()");
    send(
        &server,
        "admin",
        "DELETE",
        "/auth/users/-30:bob",
        &json!({}),
    );
    graph.tasks().set_paused(false);
    let (status, reason) = ended(&server, job);
    assert_eq!(status, "FAILED");
    assert!(reason.contains("is removed"), "{reason}");
    assert_eq!(count(&server), 0);
}

#[test]
fn a_job_that_commits_in_parts_ends_when_its_submitter_loses_rights() {
    let server = with_submitters();
    let graph = server.state.graphs().get("g").unwrap();
    graph.tasks().set_paused(false);
    let parts = [
        "g = g.with('commit_every', 1); for (i in 0..9999) { g.addV('person').iterate(); sleep(5) }",
        "for (i in 0..9999) { g.addV('person').iterate(); g.tx().commit(); sleep(5) }",
    ];
    for (user, script) in ["ann", "bob"].into_iter().zip(parts) {
        let before = count(&server);
        let job = submitted(&server, user, script);
        await_that("a part is stored", || count(&server) > before);
        revoke(&server, user);
        let (status, reason) = ended(&server, job);
        assert_eq!(status, "FAILED");
        assert!(
            reason.contains("is stored") && reason.contains("Permission denied"),
            "{reason}"
        );
    }
}

#[test]
fn a_later_user_of_the_same_name_does_not_see_the_tasks_of_the_earlier_one() {
    let server = with_submitters();
    let job = submitted(&server, "ann", "g.V().count()");
    assert_eq!(listed(&server, "ann", ""), [job]);
    let removed = send(
        &server,
        "admin",
        "DELETE",
        "/auth/users/-30:ann",
        &json!({}),
    );
    assert_eq!(removed.status, 204);
    let user = json!({"user_name": "ann", "user_password": super::PASSWORD});
    let made = send(&server, "admin", "POST", "/auth/users", &user);
    assert_eq!(made.status, 201, "{}", made.text());
    let belong = json!({"user": "-30:ann", "group": "-36:bobs"});
    let made = send(&server, "admin", "POST", "/auth/belongs", &belong);
    assert_eq!(made.status, 201, "{}", made.text());
    assert!(listed(&server, "ann", "").is_empty());
    assert_eq!(listed(&server, "writer", ""), [job]);
}

#[test]
fn users_see_and_cancel_their_own_jobs_among_the_queries_that_run() {
    let server = with_submitters();
    let graph = server.state.graphs().get("g").unwrap();
    graph.tasks().set_paused(false);
    let job = submitted(&server, "ann", "sleep(1000000)");
    // The request of who logs in with it may be among them.
    let queries = |user: &str| {
        let answer = send(&server, user, "GET", "/queries", &json!({}));
        let answer: Value = serde_json::from_slice(&answer.body).unwrap();
        let mut jobs = answer["queries"].as_array().unwrap().clone();
        jobs.retain(|query| query["path"] != "/queries");
        jobs
    };
    await_that("the job runs", || !queries("ann").is_empty());
    let own = &queries("ann")[0];
    assert_eq!(own["id"], format!("task:g:{job}"));
    assert_eq!(
        (&own["kind"], &own["user"]),
        (&json!("gremlin"), &json!("ann"))
    );
    assert!(queries("bob").is_empty() && queries("reader").is_empty());
    // Every right on the graph shows all of its users.
    assert_eq!(queries("writer").len(), 1);
    let cancel = |user: &str, id: &str| {
        let path = format!("/queries/{id}");
        send(&server, user, "DELETE", &path, &json!({})).status
    };
    let id = format!("task:g:{job}");
    for (user, id) in [
        ("bob", &*id),
        ("nobody", &id),
        ("ann", "task:g:99"),
        ("ann", "task:x:1"),
    ] {
        assert_eq!(cancel(user, id), 404, "{user} {id}");
    }
    assert_eq!(cancel("ann", &id), 204);
    assert_eq!(ended(&server, job).0, "CANCELLED");
}
