//! Clients behind proxies: whose word on a client's address counts, and for what.

use serde_json::{Value, json};
use varve_server::{AuthConfig, ServerConfig};
use varve_testkit::http::request;
use varve_testserver::TestServer;

use crate::authentication::{PASSWORD, basic, send, users};

const CLIENT: &str = "198.51.100.1";
const OTHER: &str = "198.51.100.2";

/// A server with the user `ann`, to which all of this machine is a proxy if `trusted` says so.
fn server(trusted: &[&str], auth: AuthConfig) -> TestServer {
    let server = TestServer::start(ServerConfig {
        trusted_proxies: trusted.iter().map(|text| (*text).to_owned()).collect(),
        auth: AuthConfig {
            enabled: true,
            ..auth
        },
        ..ServerConfig::default()
    });
    users(&server, &["ann"]);
    server
}

/// The status of a request of `user` that comes for `client`.
fn status(server: &TestServer, client: &str, user: &str, password: &str) -> u16 {
    let header = basic(user, password);
    let headers = format!("authorization: {header}\r\nx-forwarded-for: 6.6.6.6, {client}\r\n");
    server
        .exchange(&request("GET", "/graphs", &headers, ""))
        .status
}

#[test]
fn a_client_that_fails_slows_no_other_behind_the_same_proxy() {
    let server = server(&["127.0.0.1"], AuthConfig::default());
    for _ in 0..11 {
        status(&server, CLIENT, "ann", "wrong");
    }
    assert_eq!(status(&server, CLIENT, "ann", PASSWORD), 429);
    assert_eq!(status(&server, OTHER, "ann", "wrong"), 401);
    assert_eq!(status(&server, OTHER, "ann", PASSWORD), 200);
}

#[test]
fn who_is_no_trusted_proxy_is_the_client_whatever_it_says() {
    let server = server(&["10.0.0.0/8"], AuthConfig::default());
    for number in 0..11 {
        status(&server, &format!("198.51.100.{number}"), "ann", "wrong");
    }
    assert_eq!(status(&server, OTHER, "ann", PASSWORD), 429);
}

#[test]
fn the_white_list_and_the_audit_trail_go_by_the_client() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.ndjson");
    let server = server(
        &["127.0.0.1"],
        AuthConfig {
            audit_file: path.clone(),
            ..AuthConfig::default()
        },
    );
    let list = json!({"action": "load", "ips": [CLIENT]});
    let made = send(&server, "admin", "POST", "/whiteiplist", &list);
    assert_eq!(made.status, 202, "{}", made.text());
    let on = "/whiteiplist?status=true";
    assert_eq!(send(&server, "admin", "PUT", on, &json!(null)).status, 200);
    assert_eq!(status(&server, CLIENT, "ann", PASSWORD), 200);
    assert_eq!(status(&server, OTHER, "ann", PASSWORD), 403);
    // The proxy itself is not on the list.
    assert_eq!(
        send(&server, "ann", "GET", "/graphs", &json!(null)).status,
        403
    );
    let text = std::fs::read_to_string(&path).unwrap();
    let lines = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let refused = lines.filter(|line| line["status"] == 403 && line["route"] == "graphs");
    let addresses: Vec<Value> = refused.map(|mut line| line["address"].take()).collect();
    assert_eq!(addresses, [OTHER, "127.0.0.1"]);
}
