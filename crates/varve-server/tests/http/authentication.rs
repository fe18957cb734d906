//! Which requests each user may send, where authentication is on.

mod answers;
mod grants;
mod session;
mod sockets;
mod table;
mod tasks;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use varve_auth::{Author, RecordKind, User};
use varve_server::rights::Needs;
use varve_server::{AuthConfig, Route, ServerConfig};
use varve_testkit::Client;
use varve_testkit::http::{self, Answer};
use varve_testserver::TestServer;

pub(crate) const PASSWORD: &str = "correct horse";

/// A server with the users `admin`, `nobody`, `reader`, `writer` and `owner`. The reader may read
/// the graph `g`, the writer read and change its elements, and the owner do anything on the graph
/// `h` alone.
pub(crate) fn server() -> TestServer {
    server_with(AuthConfig::default())
}

/// A request of a client; a GET has no body.
pub(crate) fn send_by(client: &Client, verb: &str, path: &str, body: &Value) -> Answer {
    client.exchange(verb, path, &body_of(verb, body)).unwrap()
}

fn body_of(verb: &str, body: &Value) -> String {
    match verb {
        "GET" => String::new(),
        _ => body.to_string(),
    }
}

/// The administrator of a server with authentication, and these users, who have no rights.
pub(crate) fn users(server: &TestServer, names: &[&str]) -> Vec<Client> {
    add_users(server, names);
    let each = ["admin"].iter().chain(names);
    let client = Client::of(&server.address().to_string());
    each.map(|name| {
        let token = token(server, name);
        client.clone().with_header("authorization", &token)
    })
    .collect()
}

/// A server with an open graph `g`.
pub(crate) fn with_open_graph(server: TestServer) -> TestServer {
    let open = json!({"schema": "open"});
    let made = send(&server, "admin", "POST", "/graphs/g", &open);
    assert_eq!(made.status, 201, "{}", made.text());
    server
}

pub(crate) fn server_with(config: AuthConfig) -> TestServer {
    server_of(ServerConfig {
        auth: config,
        ..ServerConfig::default()
    })
}

pub(crate) fn server_of(mut config: ServerConfig) -> TestServer {
    config.auth.enabled = true;
    let server = TestServer::start(config);
    add_users(&server, &["nobody", "reader", "writer", "owner"]);
    grant(&server, "reader", "g", &["READ", "EXECUTE"], "ALL");
    grant(
        &server,
        "writer",
        "g",
        &["READ", "WRITE", "DELETE", "EXECUTE"],
        "ALL",
    );
    grant(&server, "owner", "h", &["ANY"], "ROOT");
    server
}

/// Makes `admin` and these users.
pub(crate) fn add_users(server: &TestServer, names: &[&str]) {
    let auth = server.state.auth().unwrap();
    let author = Author {
        name: "system",
        now: 0,
    };
    // One hash for all: hashing takes a while.
    let password = auth.new_password(PASSWORD).unwrap();
    let admin = RecordKind::User.id_of("admin");
    let set = password.clone();
    auth.change(|all| Ok((admin, all.set_administrator(set, 0))))
        .unwrap();
    for name in names {
        let user = User {
            name: (*name).to_owned(),
            ..User::default()
        };
        let password = password.clone();
        auth.change(|all| all.add_user(user, password, author))
            .unwrap();
    }
}

fn grant(server: &TestServer, user: &str, graph: &str, permissions: &[&str], resource: &str) {
    grant_resources(server, user, graph, permissions, &[resource]);
}

fn grant_resources(
    server: &TestServer,
    user: &str,
    graph: &str,
    permissions: &[&str],
    resources: &[&str],
) {
    let resources: Vec<Value> = resources
        .iter()
        .map(|kind| json!({ "type": kind }))
        .collect();
    let (group, target) = (format!("{user}s"), format!("{user}_target"));
    let post = |path: &str, body: Value| {
        let answer = send(server, "admin", "POST", &format!("/auth/{path}"), &body);
        assert_eq!(answer.status, 201, "{}", answer.text());
    };
    post("groups", json!({ "group_name": group }));
    post(
        "targets",
        json!({"target_name": target, "target_graph": graph, "target_url": "u",
               "target_resources": resources}),
    );
    let group = format!("-36:{group}");
    post(
        "belongs",
        json!({"user": format!("-30:{user}"), "group": group}),
    );
    for permission in permissions {
        post(
            "accesses",
            json!({"group": group, "target": format!("-44:{target}"), "access_permission": permission}),
        );
    }
}

pub(crate) fn basic(user: &str, password: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))
}

/// Sends a request as this user.
pub(crate) fn send(
    server: &TestServer,
    user: &str,
    verb: &str,
    path: &str,
    body: &Value,
) -> Answer {
    send_as(server, Some(&basic(user, PASSWORD)), verb, path, body)
}

pub(crate) fn send_as(
    server: &TestServer,
    authorization: Option<&str>,
    verb: &str,
    path: &str,
    body: &Value,
) -> Answer {
    server.exchange(&request(authorization, verb, path, body))
}

fn request(authorization: Option<&str>, verb: &str, path: &str, body: &Value) -> Vec<u8> {
    let header = authorization.map(|value| format!("authorization: {value}\r\n"));
    http::request(verb, path, &header.unwrap_or_default(), body_of(verb, body))
}

pub(crate) fn token(server: &TestServer, user: &str) -> String {
    let body = json!({"user_name": user, "user_password": PASSWORD});
    let answer = send_as(server, None, "POST", "/auth/login", &body);
    assert_eq!(answer.status, 200, "{}", answer.text());
    let answer: Value = serde_json::from_slice(&answer.body).unwrap();
    format!("Bearer {}", answer["token"].as_str().unwrap())
}

#[test]
fn without_authentication_the_directory_answers_as_a_server_without_an_authenticator() {
    let server = TestServer::with_defaults();
    server.state.graphs().create("g").unwrap();
    for (path, status) in [
        ("/graphs/g/auth/users", 500),
        ("/graphs/g/auth/users/-30:a/role", 500),
        ("/graphs/g/auth/nothing", 404),
        ("/graphs/none/auth/users", 404),
        ("/auth/verify", 500),
        ("/graphspaces/DEFAULT/auth/users", 500),
        ("/graphspaces/DEFAULT/auth/users/-30:a/role", 500),
        ("/graphspaces/DEFAULT/auth/nothing", 404),
        ("/auth/users", 404),
        ("/auth/users/-30:a", 404),
    ] {
        let answer = server.get(path);
        assert_eq!(answer.status, status, "{path}: {}", answer.text());
        let is_unconfigured = answer.text().contains("Unconfigured authenticator");
        assert_eq!(is_unconfigured, status == 500, "{path}: {}", answer.text());
    }
}

#[test]
fn a_route_without_a_declaration_is_the_administrators() {
    let undeclared = Route::get("x", varve_server::Handler::Inline(|_| unreachable!()));
    let route = undeclared.reads(varve_server::Scope::Server);
    assert_eq!(route.needs, Needs::Administrator);
}

#[test]
fn tokens_end_with_logouts_passwords_and_users() {
    let server = server();
    let verify = |token: &str| send_as(&server, Some(token), "GET", "/auth/verify", &json!({}));
    let first = token(&server, "reader");
    verify(&first).is(200, r#"{"user_id":"-30:reader","user_name":"reader"}"#);
    let second = token(&server, "reader");
    let logout = send_as(
        &server,
        Some(&first),
        "DELETE",
        "/graphspaces/DEFAULT/auth/logout",
        &json!({}),
    );
    assert_eq!(logout.status, 204, "{}", logout.text());
    assert_eq!(verify(&first).status, 401);
    assert_eq!(verify(&second).status, 200, "another token lives on");
    // Both ways of proving it are cached by now.
    assert_eq!(
        send(&server, "reader", "GET", "/graphs", &json!({})).status,
        200
    );
    let change = json!({"user_password": "battery staple"});
    let path = "/auth/users/-30:reader";
    assert_eq!(send(&server, "reader", "PUT", path, &change).status, 200);
    assert_eq!(verify(&second).status, 401);
    let old = send(&server, "reader", "GET", "/graphs", &json!({}));
    assert_eq!(old.status, 401);
    assert_eq!(
        old.header("www-authenticate"),
        Some(r#"Basic realm="varve", charset="UTF-8""#)
    );
    let third = token(&server, "writer");
    assert_eq!(
        send(
            &server,
            "admin",
            "DELETE",
            "/auth/users/-30:writer",
            &json!({})
        )
        .status,
        204
    );
    assert_eq!(verify(&third).status, 401);
}

#[test]
fn a_user_sees_and_changes_itself_alone() {
    let server = server();
    let list = send(&server, "reader", "GET", "/auth/users", &json!({}));
    let list: Value = serde_json::from_slice(&list.body).unwrap();
    assert_eq!(list["users"].as_array().unwrap().len(), 1);
    assert_eq!(list["users"][0]["user_name"], "reader");
    let stamp = list["users"][0]["user_password"].as_str().unwrap();
    assert!(stamp.len() == 9 && stamp.starts_with('*'), "{stamp}");
    send(&server, "reader", "GET", "/auth/groups", &json!({})).is(200, r#"{"groups":[]}"#);
    for (verb, path, body) in [
        ("GET", "/auth/users/-30:admin", json!({})),
        ("GET", "/auth/users/-30:admin/role", json!({})),
        (
            "PUT",
            "/auth/users/-30:admin",
            json!({"user_password": "taken over"}),
        ),
        ("DELETE", "/auth/users/-30:nobody", json!({})),
        (
            "POST",
            "/auth/users",
            json!({"user_name": "eve", "user_password": "long enough"}),
        ),
        (
            "POST",
            "/auth/belongs",
            json!({"user": "-30:reader", "group": "-36:writers"}),
        ),
        (
            "PUT",
            "/auth/targets/-44:reader_target",
            json!({"target_resources": [{"type": "ROOT"}]}),
        ),
    ] {
        let answer = send(&server, "reader", verb, path, &body);
        assert_eq!(answer.status, 403, "{verb} {path}: {}", answer.text());
        assert!(
            answer.text().contains("Permission denied: "),
            "{}",
            answer.text()
        );
    }
    let own = send(
        &server,
        "reader",
        "GET",
        "/auth/users/-30:reader/role",
        &json!({}),
    );
    let own: Value = serde_json::from_slice(&own.body).unwrap();
    assert_eq!(own["roles"]["DEFAULT"]["g"]["READ"]["ALL"][0]["label"], "*");
    // The stamp that is shown, sent back, changes nothing.
    let change = json!({"user_password": stamp, "user_phone": "1"});
    assert_eq!(
        send(&server, "reader", "PUT", "/auth/users/-30:reader", &change).status,
        200
    );
    assert_eq!(
        send(&server, "reader", "GET", "/graphs", &json!({})).status,
        200
    );
}

#[test]
fn graphs_that_a_user_may_not_read_are_not_listed() {
    let server = server();
    for graph in ["g", "h"] {
        server.state.graphs().create(graph).unwrap();
    }
    let list = |user: &str| send(&server, user, "GET", "/graphs", &json!({}));
    list("admin").is(200, r#"{"graphs":["g","h"]}"#);
    list("reader").is(200, r#"{"graphs":["g"]}"#);
    list("nobody").is(200, r#"{"graphs":[]}"#);
    assert_eq!(
        send(&server, "reader", "GET", "/graphs/h", &json!({})).status,
        403
    );
    // No name of a graph leads to the users.
    for path in ["/graphs/_system", "/graphs/_system/graph/vertices"] {
        assert_eq!(send(&server, "admin", "GET", path, &json!({})).status, 404);
    }
}

#[test]
fn scripts_may_do_what_their_user_may() {
    let server = server();
    for graph in ["g", "h"] {
        let path = format!("/graphs/{graph}");
        assert_eq!(
            send(&server, "admin", "POST", &path, &json!({"schema": "open"})).status,
            201
        );
    }
    let run = |user: &str, graph: &str, script: &str| {
        let body = json!({"gremlin": script, "aliases": {"g": format!("__g_{graph}")}});
        send(&server, user, "POST", "/gremlin", &body).status
    };
    assert_eq!(
        run("writer", "g", "g.addV('person').property('name', 'ann')"),
        200
    );
    assert_eq!(run("reader", "g", "g.V().count()"), 200);
    for (user, graph, script, status) in [
        ("reader", "g", "g.addV('person')", 403),
        ("reader", "g", "g.V().drop()", 403),
        ("nobody", "g", "g.V()", 403),
        // A graph that the user may not read has no name.
        ("reader", "h", "g.V()", 400),
        ("writer", "h", "g.V()", 400),
        ("owner", "g", "g.V().count()", 400),
    ] {
        assert_eq!(run(user, graph, script), status, "{user} {graph} {script}");
    }
    assert_eq!(run("owner", "h", "g.addV('x')"), 200);
    let count = send(
        &server,
        "admin",
        "POST",
        "/gremlin",
        &json!({"gremlin": "g.V().count()", "aliases": {"g": "__g_g"}}),
    );
    assert!(count.text().contains("[1]"), "{}", count.text());
}

#[test]
fn failed_logins_are_slowed_down() {
    let server = server();
    let login = |password: &str| {
        let body = json!({"user_name": "nobody", "user_password": password});
        send_as(&server, None, "POST", "/auth/login", &body)
    };
    for _ in 0..10 {
        assert_eq!(login("wrong").status, 401);
    }
    let answer = login(PASSWORD);
    assert_eq!(answer.status, 429, "the right password has to wait too");
    assert!(answer.header("retry-after").is_some());
    // Who has come in before is not kept waiting by failures of others at its address.
    let body = json!({"user_name": "reader", "user_password": PASSWORD});
    let other = send_as(&server, None, "POST", "/auth/login", &body);
    assert_eq!(other.status, 200);
}

#[test]
fn who_could_do_what_can_be_asked_of_the_past() {
    let server = server();
    let role = |query: &str| {
        let path = format!("/graphs/g/auth/users/-30:nobody/role{query}");
        let answer = send(&server, "admin", "GET", &path, &json!({}));
        answer.text().to_owned()
    };
    server.state.graphs().create("g").unwrap();
    let before = jiff::Timestamp::now().to_string();
    std::thread::sleep(std::time::Duration::from_millis(2));
    grant(&server, "nobody", "g", &["READ"], "VERTEX");
    assert_eq!(
        role(""),
        r#"{"roles":{"g":{"READ":[{"type":"VERTEX","label":"*","properties":null}]}}}"#
    );
    assert_eq!(role(&format!("?as_of_tx={before}")), r#"{"roles":{}}"#);
}
