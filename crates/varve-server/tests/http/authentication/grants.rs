//! Users that grant rights to others.

use serde_json::{Value, json};

use super::{PASSWORD, send, send_as, server, with_open_graph};

#[test]
fn who_may_grant_gives_only_what_it_has() {
    let server = server();
    for name in ["delegate", "ann"] {
        let body = json!({"user_name": name, "user_password": PASSWORD});
        let answer = send(&server, "admin", "POST", "/auth/users", &body);
        assert_eq!(answer.status, 201, "{}", answer.text());
    }
    let person = json!({"type": "VERTEX", "label": "person"});
    let post = |user: &str, path: &str, body: Value| {
        let answer = send(&server, user, "POST", &format!("/auth/{path}"), &body);
        (answer.status, answer.text().to_owned())
    };
    let target = |user: &str, name: &str, graph: &str, resources: Value| {
        let body = json!({"target_name": name, "target_graph": graph, "target_url": "",
                          "target_resources": resources});
        post(user, "targets", body).0
    };
    let access = |user: &str, group: &str, target: &str, permission: &str| {
        let body = json!({"group": format!("-36:{group}"), "target": format!("-44:{target}"),
                          "access_permission": permission});
        post(user, "accesses", body).0
    };
    let belong = |user: &str, member: &str, group: &str| {
        let body = json!({"user": format!("-30:{member}"), "group": format!("-36:{group}")});
        post(user, "belongs", body).0
    };
    // Without a right on the directory nothing of it may be changed.
    assert_eq!(target("delegate", "t", "g", json!([person])), 403);
    let directory = json!([{"type": "USER_GROUP"}, {"type": "TARGET"}, {"type": "GRANT"}]);
    assert_eq!(target("admin", "directory", "", directory), 201);
    assert_eq!(target("admin", "people", "g", json!([person])), 201);
    assert_eq!(
        post("admin", "groups", json!({"group_name": "delegates"})).0,
        201
    );
    assert_eq!(belong("admin", "delegate", "delegates"), 201);
    for permission in ["READ", "WRITE", "DELETE"] {
        assert_eq!(access("admin", "delegates", "directory", permission), 201);
    }
    assert_eq!(access("admin", "delegates", "people", "READ"), 201);

    assert_eq!(
        post("delegate", "groups", json!({"group_name": "guests"})).0,
        201
    );
    assert_eq!(
        target("delegate", "guests_target", "g", json!([person])),
        201
    );
    assert_eq!(belong("delegate", "ann", "guests"), 201);
    assert_eq!(access("delegate", "guests", "guests_target", "READ"), 201);
    for permission in ["WRITE", "ANY"] {
        assert_eq!(
            access("delegate", "guests", "guests_target", permission),
            403
        );
    }
    assert_eq!(
        target("delegate", "wide", "g", json!([{"type": "VERTEX"}])),
        201
    );
    assert_eq!(access("delegate", "guests", "wide", "READ"), 403);
    assert_eq!(belong("delegate", "ann", "readers"), 403);
    let put = |user: &str, path: &str, body: Value| {
        send(&server, user, "PUT", &format!("/auth/{path}"), &body).status
    };
    // A target that is in use grants what it names.
    let wider = json!({"target_resources": [{"type": "ALL"}]});
    assert_eq!(
        put("delegate", "targets/-44:guests_target", wider.clone()),
        403
    );
    assert_eq!(
        put("delegate", "targets/-44:reader_target", wider.clone()),
        403
    );
    assert_eq!(put("delegate", "targets/-44:wide", wider), 200);
    // A password gives what its user has.
    let password = json!({"user_password": "another one"});
    for other in ["admin", "reader"] {
        assert_eq!(
            put("delegate", &format!("users/-30:{other}"), password.clone()),
            403
        );
    }
    assert_eq!(put("delegate", "users/-30:ann", password), 200);
    let delete = |path: &str| {
        send(
            &server,
            "delegate",
            "DELETE",
            &format!("/auth/{path}"),
            &json!({}),
        )
        .status
    };
    for path in [
        "users/-30:reader",
        "groups/-36:readers",
        "targets/-44:reader_target",
    ] {
        assert_eq!(delete(path), 403, "{path}");
    }
    assert_eq!(delete("groups/-36:guests"), 204);
    let listed = send(&server, "delegate", "GET", "/auth/users", &json!({}));
    let listed: Value = serde_json::from_slice(&listed.body).unwrap();
    assert_eq!(listed["users"].as_array().unwrap().len(), 7);
    assert_eq!(
        post("delegate", "projects", json!({"project_name": "p"})).0,
        403
    );
}

#[test]
fn the_directory_does_not_tell_which_graphs_there_are() {
    let server = with_open_graph(server());
    for user in [None, Some("nobody")] {
        for path in ["auth/login", "auth/users"] {
            let [there, absent] = ["g", "none"].map(|graph| {
                let path = format!("/graphs/{graph}/{path}");
                let verb = if path.ends_with("login") {
                    "POST"
                } else {
                    "GET"
                };
                match user {
                    None => send_as(&server, None, verb, &path, &json!({})),
                    Some(user) => send(&server, user, verb, &path, &json!({})),
                }
            });
            assert_eq!(there.status, absent.status, "{user:?} {path}");
            assert_eq!(there.text(), absent.text(), "{user:?} {path}");
        }
    }
}
