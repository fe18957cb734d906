//! The users of several servers on one engine.

use std::path::Path;

use rustls::version::TLS13;
use varve_auth::{Author, ClusterKey, RecordKind, User};
use varve_graph::registry::SYSTEM_GRAPH;
use varve_server::{AuthConfig, SetupError};

use super::*;
use crate::authentication::{PASSWORD, basic};
use crate::certificates::issue;
use crate::tls::{Authority, connect_to};

const KEY: &str = "0123456789abcdef0123456789abcdef";

/// Options of a server with authentication, and the key of its cluster in a file of the folder.
fn config(folder: &Path, key: &str) -> ServerConfig {
    let file = folder.join("cluster.key");
    std::fs::write(&file, key).unwrap();
    ServerConfig {
        auth: AuthConfig {
            enabled: true,
            cluster_key_file: file,
            ..AuthConfig::default()
        },
        ..ServerConfig::default()
    }
}

/// Two servers whose users the first leads; it has made the administrator.
fn two_with_users() -> (Arc<SharedMemory>, Server, Server) {
    let (shared, folder) = (SharedMemory::new(), tempfile::tempdir().unwrap());
    let a = Server::start_with(&shared, config(folder.path(), KEY));
    make_administrator(&a);
    let b = Server::start_with(&shared, config(folder.path(), KEY));
    await_users(&b);
    (shared, a, b)
}

fn make_administrator(server: &Server) {
    let auth = server.state.auth().unwrap();
    let password = auth.new_password(PASSWORD).unwrap();
    let admin = RecordKind::User.id_of("admin");
    auth.change(|all| Ok((admin, all.set_administrator(password, 0))))
        .unwrap();
}

/// Waits until the server knows the users.
#[track_caller]
fn await_users(server: &Server) {
    await_status(server, "admin", "/graphs", 200);
}

#[track_caller]
fn await_status(server: &Server, user: &str, path: &str, wanted: u16) {
    let mut status = 0;
    for _ in 0..500 {
        status = ask_as(server, user, "GET", path, &Value::Null).status;
        if status == wanted {
            return;
        }
        thread::sleep(Duration::from_millis(20));
    }
    panic!("{user} gets {status} for {path} and never {wanted}");
}

fn ask_as(server: &Server, user: &str, verb: &str, path: &str, body: &Value) -> Answer {
    let header = format!("authorization: {}\r\n", basic(user, PASSWORD));
    server.ask_with(verb, path, &header, body)
}

#[track_caller]
fn done_as(server: &Server, user: &str, verb: &str, path: &str, body: &Value) -> Value {
    let answer = ask_as(server, user, verb, path, body);
    let (status, text) = (answer.status, answer.text());
    assert!(
        (200..300).contains(&status),
        "{verb} {path}: {status} {text}"
    );
    serde_json::from_slice(&answer.body).unwrap_or(Value::Null)
}

fn new_user(name: &str) -> Value {
    json!({"user_name": name, "user_password": PASSWORD})
}

/// Gives a user the right to read a graph.
fn let_read(server: &Server, user: &str, graph: &str) {
    let made = |kind: &str, body: &Value| {
        let record = done_as(server, "admin", "POST", &format!("/auth/{kind}"), body);
        record["id"].as_str().unwrap().to_owned()
    };
    let group = made("groups", &json!({"group_name": format!("{user}s")}));
    let target = made(
        "targets",
        &json!({"target_name": graph, "target_graph": graph, "target_url": "", "target_resources": [{"type": "ALL"}]}),
    );
    made(
        "belongs",
        &json!({"user": format!("-30:{user}"), "group": group}),
    );
    made(
        "accesses",
        &json!({"group": group, "target": target, "access_permission": "READ"}),
    );
}

#[test]
fn a_user_made_at_one_server_comes_in_at_each_at_once() {
    let (_, a, b) = two_with_users();
    assert_eq!(role_of_users(&a), "leader");
    assert_eq!(role_of_users(&b), "follower");
    for round in 0..5 {
        let name = format!("user{round}");
        done_as(&b, "admin", "POST", "/auth/users", &new_user(&name));
        for server in [&b, &a] {
            let own = format!("/auth/users/-30:{name}");
            let record = done_as(server, &name, "GET", &own, &Value::Null);
            assert_eq!(record["user_name"], name);
        }
        done_as(
            &b,
            "admin",
            "DELETE",
            &format!("/auth/users/-30:{name}"),
            &Value::Null,
        );
        for server in [&b, &a] {
            assert_eq!(
                ask_as(server, &name, "GET", "/graphs", &Value::Null).status,
                401
            );
        }
    }
    // What the other server has done is known soon.
    done_as(&a, "admin", "POST", "/auth/users", &new_user("ann"));
    await_status(&b, "ann", "/graphs", 200);
    done_as(&a, "admin", "DELETE", "/auth/users/-30:ann", &Value::Null);
    await_status(&b, "ann", "/graphs", 401);
}

fn role_of_users(server: &Server) -> String {
    let cluster = done_as(server, "admin", "GET", "/cluster", &Value::Null);
    let graphs = cluster["graphs"].as_array().unwrap().clone();
    let users = graphs.iter().find(|graph| graph["name"] == SYSTEM_GRAPH);
    users.map_or_else(String::new, |graph| {
        graph["state"].as_str().unwrap().to_owned()
    })
}

#[test]
fn without_authentication_paths_about_users_answer_as_on_one_server() {
    let (_, a, b) = two();
    for server in [&a, &b] {
        for (path, status) in [("/graphs/g/auth/users", 500), ("/auth/users", 404)] {
            assert_eq!(server.get(path).status, status, "{path}");
        }
    }
}

#[test]
fn a_token_counts_at_each_server_until_it_is_ended_at_one() {
    let (_, a, b) = two_with_users();
    let login = json!({"user_name": "admin", "user_password": PASSWORD});
    let token = b.done("POST", "/auth/login", &login)["token"].clone();
    let header = format!("authorization: Bearer {}\r\n", token.as_str().unwrap());
    for server in [&a, &b] {
        assert_eq!(
            server
                .ask_with("GET", "/graphs", &header, &Value::Null)
                .status,
            200
        );
    }
    let ended = b.ask_with("DELETE", "/auth/logout", &header, &Value::Null);
    assert!(
        (200..300).contains(&ended.status),
        "{} {}",
        ended.status,
        ended.text()
    );
    for server in [&b, &a] {
        assert_eq!(
            server
                .ask_with("GET", "/graphs", &header, &Value::Null)
                .status,
            401
        );
    }
}

#[test]
fn rights_hold_at_each_server_wherever_the_graph_is_led() {
    let (_, a, b) = two_with_users();
    done_as(&a, "admin", "POST", GRAPH, &json!({}));
    done_as(&b, "admin", "POST", "/graphs/h", &json!({}));
    done_as(&b, "admin", "POST", "/auth/users", &new_user("reader"));
    let_read(&b, "reader", "g");
    let label = json!({"name": "thing", "id_strategy": "CUSTOMIZE_STRING"});
    let labels = format!("{GRAPH}/schema/vertexlabels");
    done_as(&b, "admin", "POST", &labels, &label);
    let made = json!({"label": "thing", "id": "x", "properties": {}});
    done_as(&b, "admin", "POST", &vertices(), &made);
    for server in [&b, &a] {
        await_status(server, "reader", &vertices(), 200);
        let listed = done_as(server, "reader", "GET", &vertices(), &Value::Null);
        assert_eq!(listed["vertices"].as_array().map(Vec::len), Some(1));
        let refused = ask_as(server, "reader", "POST", &vertices(), &made);
        assert_eq!(refused.status, 403, "{}", refused.text());
        let refused = ask_as(
            server,
            "reader",
            "GET",
            "/graphs/h/graph/vertices",
            &Value::Null,
        );
        assert_eq!(refused.status, 403, "{}", refused.text());
        assert_eq!(server.get(&vertices()).status, 401);
    }
}

#[test]
fn when_the_leader_of_the_users_is_lost_another_leads_them() {
    let (shared, a, b) = two_with_users();
    for round in 0..3 {
        shared.expire(SYSTEM_GRAPH);
        let name = format!("user{round}");
        // The lease may run out in the middle: then it is not known, and the user is there or not.
        let mut made = ask_as(&b, "admin", "POST", "/auth/users", &new_user(&name));
        for _ in 0..200 {
            if (200..300).contains(&made.status) || made.text().contains("exists") {
                break;
            }
            thread::sleep(Duration::from_millis(20));
            made = ask_as(&a, "admin", "POST", "/auth/users", &new_user(&name));
        }
        for server in [&a, &b] {
            await_status(server, &name, &format!("/auth/users/-30:{name}"), 200);
        }
        let places = [role_of_users(&a), role_of_users(&b)];
        assert!(places.iter().any(|place| place == "leader"), "{places:?}");
    }
    a.stop();
    done_as(&b, "admin", "POST", "/auth/users", &new_user("last"));
    await_status(&b, "user0", "/graphs", 200);
}

#[test]
fn nobody_comes_in_while_the_users_are_not_known() {
    let (shared, folder) = (SharedMemory::new(), tempfile::tempdir().unwrap());
    let a = Server::start_with(&shared, config(folder.path(), KEY));
    make_administrator(&a);
    shared.suspend(SYSTEM_GRAPH, true);
    let b = Server::start_with(&shared, config(folder.path(), KEY));
    for server in [&a, &b] {
        let answer = ask_as(server, "admin", "GET", "/graphs", &Value::Null);
        assert_eq!(answer.status, 503, "{}", answer.text());
        assert!(
            answer.text().contains("users of the cluster"),
            "{}",
            answer.text()
        );
        assert_eq!(server.get("/versions").status, 200);
    }
    shared.suspend(SYSTEM_GRAPH, false);
    await_users(&a);
    await_users(&b);
}

#[test]
fn only_a_server_with_the_key_gets_the_users() {
    let (_, a, b) = two_with_users();
    let ask = json!({"known": "", "uses": []});
    let header = |proof: &str| format!("x-varve-cluster-proof: {proof}\r\n");
    let key = ClusterKey::new(KEY.as_bytes()).unwrap();
    let other = ClusterKey::new(b"fedcba9876543210fedcba9876543210").unwrap();
    for header in [
        String::new(),
        format!("authorization: {}\r\n", basic("admin", PASSWORD)),
        header("1.x"),
        header(&other.proof(ask.to_string().as_bytes())),
        header(&key.proof(b"another body")),
    ] {
        let refused = a.ask_with("POST", "/cluster/users", &header, &ask);
        assert_eq!(refused.status, 403, "{}", refused.text());
    }
    let proved = |server: &Server, ask: &Value| {
        let proof = key.proof(ask.to_string().as_bytes());
        let given = server.ask_with("POST", "/cluster/users", &header(&proof), ask);
        if given.status < 300 {
            let answer = given.header("x-varve-cluster-proof").unwrap();
            assert!(key.verifies_answer(answer, &proof, &given.body));
        }
        given
    };
    let given = proved(&a, &ask);
    assert_eq!(given.status, 200, "{}", given.text());
    let copy: Value = serde_json::from_slice(&given.body).unwrap();
    assert!(given.text().contains("token_secret"));
    let known = json!({"known": copy["version"], "uses": []});
    assert_eq!(proved(&a, &known).status, 204);
    // Who follows has nothing to give.
    assert_eq!(proved(&b, &ask).status, 421);
}

/// A header with an API token of the administrator, of which the body says what it may be used for.
fn api_token(server: &Server, wanted: &Value) -> String {
    let made = done_as(server, "admin", "POST", "/auth/tokens", wanted);
    format!(
        "authorization: Bearer {}\r\n",
        made["token"].as_str().unwrap()
    )
}

#[test]
fn a_restricted_token_is_restricted_at_each_server() {
    let (_, a, b) = two_with_users();
    done_as(&a, "admin", "POST", GRAPH, &json!({}));
    done_as(&a, "admin", "POST", "/graphs/h", &json!({}));
    let wanted = json!({"token_name": "t", "token_graphs": ["g"], "token_reads_only": true});
    let header = api_token(&b, &wanted);
    for server in [&b, &a] {
        let status = |verb: &str, path: &str, body: &Value| {
            server.ask_with(verb, path, &header, body).status
        };
        assert_eq!(status("GET", &vertices(), &Value::Null), 200);
        assert_eq!(status("POST", &vertices(), &vertex("x")), 403);
        assert_eq!(status("GET", "/graphs/h/graph/vertices", &Value::Null), 403);
        assert_eq!(status("POST", "/auth/users", &new_user("eve")), 403);
    }
}

#[test]
fn a_session_of_the_explorer_counts_at_the_server_that_it_was_begun_at() {
    let (_, a, b) = two_with_users();
    done_as(&a, "admin", "POST", GRAPH, &json!({}));
    let own = "sec-fetch-site: same-origin\r\n";
    let login = json!({"user_name": "admin", "user_password": PASSWORD});
    let begun = b.ask_with("POST", "/ui/session", own, &login);
    assert_eq!(begun.status, 200, "{}", begun.text());
    let cookie = begun.header("set-cookie").unwrap();
    let (cookie, _) = cookie.split_once(';').unwrap();
    let headers = format!("{own}cookie: {cookie}\r\n");
    let read = || {
        b.ask_with("GET", &vertices(), &headers, &Value::Null)
            .status
    };
    assert_eq!(read(), 200);
    let ended = b.ask_with("DELETE", "/ui/session", &headers, &Value::Null);
    assert_eq!(ended.status, 204, "{}", ended.text());
    assert_eq!(read(), 401);
}

#[test]
fn a_server_without_the_key_is_not_started_and_one_with_another_knows_nobody() {
    let (shared, folder) = (SharedMemory::new(), tempfile::tempdir().unwrap());
    let refused = |config: ServerConfig| {
        let graphs = Registry::open(shared.server("x"), GraphOptions::new(Arc::new(SystemClock)));
        let locked = LockedGraphs::These(Vec::new());
        let graphs = Arc::new(graphs.unwrap());
        match AppState::with_metadata(config, graphs, &[], None, locked) {
            Err(SetupError::Config(error)) => error.option,
            other => panic!("{other:?}"),
        }
    };
    let mut without = config(folder.path(), KEY);
    without.auth.cluster_key_file = "".into();
    assert_eq!(refused(without), "auth.cluster_key_file");
    assert_eq!(
        refused(config(folder.path(), "short")),
        "auth.cluster_key_file"
    );
    let a = Server::start_with(&shared, config(folder.path(), KEY));
    make_administrator(&a);
    let other = Server::start_with(&shared, config(folder.path(), &KEY.replace('0', "x")));
    thread::sleep(Duration::from_millis(600));
    let answer = ask_as(&other, "admin", "GET", "/graphs", &Value::Null);
    assert_eq!(answer.status, 503, "{}", answer.text());
}

/// Options of a server with TLS besides, which knows clients by certificates of the authority.
fn secure(authority: &Authority, folder: &Path) -> ServerConfig {
    let mut config = config(folder, KEY);
    config.tls = authority.config().tls;
    config.tls.client_ca_file = authority.file("authority.pem");
    config.tls.peer_ca_file = authority.file("authority.pem");
    config
}

#[test]
fn servers_reach_each_other_over_tls_and_a_certificate_counts_for_both() {
    let (shared, folder) = (SharedMemory::new(), tempfile::tempdir().unwrap());
    let authority = Authority::new();
    authority.issue();
    authority.write("authority.pem");
    let mut without = secure(&authority, folder.path());
    without.tls.peer_ca_file = "".into();
    let a = Server::start_with(&shared, secure(&authority, folder.path()));
    let graphs = Registry::open(shared.server("x"), GraphOptions::new(Arc::new(SystemClock)));
    let locked = LockedGraphs::These(Vec::new());
    let refused = AppState::with_metadata(without, Arc::new(graphs.unwrap()), &[], None, locked);
    assert!(
        refused
            .unwrap_err()
            .to_string()
            .contains("tls.peer_ca_file")
    );
    make_administrator(&a);
    let auth = a.state.auth().unwrap();
    let password = auth.new_password(PASSWORD).unwrap();
    let author = Author {
        name: "system",
        now: 0,
    };
    let ann = User {
        name: "ann".to_owned(),
        ..User::default()
    };
    auth.change(|all| all.add_user(ann, password, author))
        .unwrap();
    let b = Server::start_with(&shared, secure(&authority, folder.path()));
    let issued = issue(&authority, "ann", &[]);
    let status_with = |path: &str, certified: bool, headers: &str| {
        let trusting = authority.trusting(&TLS13);
        let config = match certified {
            true => {
                let (chain, key) = (vec![issued.certificate.clone()], issued.key.clone_key());
                trusting.with_client_auth_cert(chain, key).unwrap()
            }
            false => trusting.with_no_client_auth(),
        };
        let request = request("GET", path, headers, "");
        connect_to(b.address(), config)
            .exchange(&request)
            .unwrap()
            .status
    };
    let status = |path: &str, certified: bool| status_with(path, certified, "");
    for _ in 0..500 {
        if status("/graphs", true) == 200 {
            break;
        }
        thread::sleep(Duration::from_millis(20));
    }
    // Users are led by the other server, which is asked.
    assert_eq!(status("/auth/users/-30:ann", true), 200);
    assert_eq!(status("/auth/users/-30:admin", true), 403);
    assert_eq!(status("/auth/users/-30:ann", false), 401);
    // The certificate of a connection over which another server forwards is that server's.
    let forwarded = "x-varve-forwarded: 1\r\n";
    assert_eq!(status_with("/graphs", true, forwarded), 401);
}
