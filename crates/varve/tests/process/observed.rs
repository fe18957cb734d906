//! What an operator sees of a server: its health, its metrics, its log, its version.

use std::process::Command;

use serde_json::Value as Json;

use crate::promlint;
use crate::server::{Client, ServerProcess, VARVE, run, serve_in_memory, serve_on, shown};

/// The page of metrics as text.
pub(crate) fn metrics(server: &ServerProcess) -> String {
    let (status, page) = server.ask("GET", "/metrics", "");
    assert_eq!(status, 200);
    page.as_str().expect("a text").to_owned()
}

/// The value of a series.
fn value(page: &str, series: &str) -> Option<f64> {
    let line = page.lines().find_map(|line| line.strip_prefix(series))?;
    line.trim().parse().ok()
}

const VARIABLE: &str = "/graphs/hugegraph/variables/v";

#[cfg(feature = "engines")]
#[test]
fn a_full_disk_is_logged_and_shown_in_health_and_metrics() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let server = ServerProcess::start(
        Command::new(VARVE)
            .args(["serve", "--data-dir", shown(dir.path())])
            .env("VARVE_FAIL_POINT", "space.write:disk_full:20"),
    );
    assert_eq!(server.must("GET", "/health", "")["status"], "UP");
    let mut written = (0..100).map(|number| {
        let body = format!("{{\"data\":{number}}}");
        server.ask("PUT", VARIABLE, &body)
    });
    let refused = written.find(|(status, _)| *status != 200);
    let (status, answer) = refused.expect("the twentieth write finds no room");
    assert_eq!(status, 507, "{answer}");
    let health = server.must("GET", "/health", "");
    assert_eq!(health["status"], "DEGRADED");
    assert_eq!(health["reasons"][0]["code"], "unwritable", "{health}");
    assert!(!health.to_string().contains(shown(dir.path())), "{health}");
    let page = metrics(&server);
    assert_eq!(
        value(&page, "varve_degraded{reason=\"unwritable\"}"),
        Some(1.0)
    );
    let series = "varve_requests_total{method=\"PUT\",route=\"/graphs/{graph}/variables/{key}\",code=\"507\"}";
    assert_eq!(value(&page, series), Some(1.0));
    let line = server.logged(&["WARN", "request failed", "unwritable"]);
    assert!(line.contains(VARIABLE), "{line}");
}

#[test]
fn metrics_follow_the_rules_of_prometheus() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let server = match cfg!(feature = "engines") {
        true => serve_on(dir.path()),
        false => serve_in_memory(),
    };
    server.must("PUT", VARIABLE, "{\"data\":1}");
    let (status, _) = server.ask("GET", "/nowhere", "");
    assert_eq!(status, 404);
    let page = metrics(&server);
    assert_eq!(promlint::problems(&page), [""; 0]);
    for series in [
        "process_cpu_seconds_total",
        "process_open_fds",
        "process_max_fds",
        "process_start_time_seconds",
        "process_resident_memory_bytes",
        "process_virtual_memory_bytes",
    ] {
        assert!(value(&page, series) > Some(0.0), "{series}");
    }
    let unmatched = "varve_requests_total{method=\"\",route=\"\",code=\"404\"}";
    assert_eq!(value(&page, unmatched), Some(1.0));
}

#[test]
fn the_version_names_the_commit_wherever_it_is_asked() {
    let (code, text) = run(&["--version"]);
    assert_eq!(code, 0);
    let server = serve_in_memory();
    let versions = server.must("GET", "/versions", "");
    let of = |name: &str| versions["versions"][name].as_str().expect("a text");
    let (version, commit) = (of("varve"), of("commit"));
    assert_eq!(text.trim(), format!("varve {version} ({commit})"));
    // Without git, or in a checkout that it does not trust, nothing names the commit.
    let git = std::process::Command::new("git")
        .args(["rev-parse", "HEAD"])
        .output();
    let is_known = git.is_ok_and(|output| output.status.success());
    assert_eq!(commit != "unknown", is_known, "{commit}");
    let build = format!("varve_build_info{{version=\"{version}\",commit=\"{commit}\"}}");
    assert_eq!(value(&metrics(&server), &build), Some(1.0));
    server.logged(&["starting", commit]);
}

#[test]
fn what_is_destroyed_is_logged() {
    let server = serve_in_memory();
    server.ask("POST", "/graphs/other", "{}");
    let label = "{\"name\":\"person\",\"id_strategy\":\"CUSTOMIZE_STRING\",\"properties\":[]}";
    server.must("POST", "/graphs/hugegraph/schema/vertexlabels", label);
    server.must("DELETE", "/graphs/hugegraph/schema/vertexlabels/person", "");
    server.logged(&[
        "INFO",
        "schema element removed",
        "vertex label",
        "person",
        "hugegraph",
    ]);
    let confirm = |what: &str| what.replace(' ', "%20").replace('\'', "%27");
    let clear = confirm("I'm sure to delete all data");
    server.must(
        "DELETE",
        &format!("/graphs/hugegraph/clear?confirm_message={clear}"),
        "",
    );
    server.logged(&["INFO", "graph cleared", "hugegraph"]);
    let drop = confirm("I'm sure to drop the graph");
    server.must(
        "DELETE",
        &format!("/graphs/other?confirm_message={drop}"),
        "",
    );
    server.logged(&["INFO", "graph dropped", "other"]);
}

#[cfg(feature = "engines")]
#[test]
fn a_failed_backup_is_logged() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let server = serve_on(dir.path());
    let (first, _) = run(&["backup", "--server", &server.url, "monday"]);
    let (again, text) = run(&["backup", "--server", &server.url, "monday"]);
    assert_eq!((first, again), (0, 1), "{text}");
    server.logged(&["INFO", "done", "backup"]);
    server.logged(&["ERROR", "failed", "backup"]);
}

#[test]
fn json_logs_are_one_object_a_line() {
    let server = ServerProcess::start(Command::new(VARVE).args([
        "serve",
        "--engine",
        "memory",
        "--set",
        "log.format=json",
    ]));
    let line = server.logged(&["starting"]);
    let line: Json = serde_json::from_str(&line).expect("an object");
    assert_eq!(line["level"], "INFO");
    assert_eq!(line["message"], "starting");
    assert!(
        line["timestamp"].is_string() && line["commit"].is_string(),
        "{line}"
    );
    let (code, text) = run(&["serve", "--set", "log.format=xml"]);
    assert_eq!(code, 1);
    assert!(text.contains("log.format"), "{text}");
}

#[test]
fn admin_answers_at_a_listener_of_its_own() {
    let serve = |more: &[&str]| {
        let mut command = Command::new(VARVE);
        command.args(["serve", "--engine", "memory"]).args(more);
        ServerProcess::start(&mut command)
    };
    let body = "{\"graph\":\"hugegraph\"}";
    let server = serve(&["--set", "server.admin_listen=127.0.0.1:0"]);
    let (status, answer) = server.ask("POST", "/admin/verify", body);
    assert_eq!(status, 403, "{answer}");
    let line = server.logged(&["serving /admin"]);
    let (_, address) = line.split_once("address=").expect("the address");
    let admin = Client::of(&format!("http://{}", address.trim()));
    let ask = |method: &str, path: &str, body: &str| {
        admin.try_ask(method, path, body).expect("an answer")
    };
    assert_eq!(ask("POST", "/admin/verify", body).0, 202);
    assert_eq!(ask("GET", "/health", "").0, 200);
    let (status, answer) = ask("GET", "/graphs", "");
    assert_eq!(status, 404, "{answer}");
    assert!(
        answer.to_string().contains("server.admin_listen"),
        "{answer}"
    );
    let server_for_others = serve(&[
        "--set",
        "server.admin_listen=0.0.0.0:0",
        "--set",
        "server.allow_anonymous=true",
    ]);
    server_for_others.logged(&["server.admin_listen", "without authentication"]);
    // Without one it is served where only this machine asks.
    let server = serve(&[]);
    assert_eq!(server.ask("POST", "/admin/verify", body).0, 202);
}
