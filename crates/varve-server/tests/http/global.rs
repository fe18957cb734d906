//! The resources about the server itself, as clients read them.

use serde_json::Value;
use varve_testkit::http::{Answer, request};
use varve_testserver::TestServer;

const JSON: &str = "application/json;charset=UTF-8";
const TEXT: &str = "text/plain;charset=UTF-8";

#[track_caller]
fn json(answer: &Answer, content_type: &str) -> Value {
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.header("content-type"), Some(content_type));
    serde_json::from_slice(&answer.body).unwrap()
}

#[test]
fn root_lists_the_groups_of_resources() {
    let server = TestServer::with_defaults();
    let root = json(&server.get("/"), "application/json");
    assert_eq!(root["service"], "varve");
    assert_eq!(root["swagger_ui"], "http://localhost/openapi.json");
    assert!(root["apis"].as_array().unwrap().contains(&"metrics".into()));
}

#[test]
fn apis_lists_every_route_with_its_parameters() {
    let server = TestServer::with_defaults();
    let apis = json(&server.get("/apis"), "application/json");
    let listed: usize = apis["apis"]
        .as_object()
        .unwrap()
        .values()
        .flat_map(|classes| classes.as_object().unwrap().values())
        .map(|routes| routes.as_array().unwrap().len())
        .sum();
    let routes = server.state.router().routes().iter();
    let of_hugegraph = routes.filter(|route| route.refusal.is_none());
    assert_eq!(listed, of_hugegraph.count());
    let metrics = apis["apis"]["metrics"]["MetricsAPI"].as_array().unwrap();
    let statistics = metrics
        .iter()
        .find(|api| api["url"] == "metrics/statistics")
        .unwrap();
    assert_eq!(statistics["method"], "GET");
    assert_eq!(
        statistics["parameters"],
        serde_json::json!([{"name": "type", "type": "java.lang.String", "default_value": null}])
    );
}

#[test]
fn health_openapi_and_graph_spaces() {
    let server = TestServer::with_defaults();
    server.get("/health").is(200, r#"{"status":"UP"}"#);
    assert_eq!(
        json(&server.get("/openapi.json"), "application/json")["openapi"],
        "3.1.0"
    );
    server
        .get("/graphspaces")
        .is(200, r#"{"graphSpaces":["DEFAULT"]}"#);
    assert_eq!(
        json(&server.get("/graphspaces/DEFAULT"), JSON)["name"],
        "DEFAULT"
    );
    let missing = server.get("/graphspaces/nope");
    assert_eq!(missing.status, 404);
    assert!(
        missing
            .text()
            .contains("org.apache.hugegraph.exception.NotFoundException")
    );
    assert_eq!(
        json(&server.get("/graphspaces/profile?prefix=D"), JSON)[0]["name"],
        "DEFAULT"
    );
    server.get("/graphspaces/profile?prefix=x").is(200, "[]");
}

#[test]
fn the_trace_of_errors_is_switched_at_run_time() {
    let server = TestServer::with_defaults();
    let put = |body: &str| server.send("PUT", "/exception/trace", body);
    server.get("/exception/trace").is(200, r#"{"trace":false}"#);
    assert!(!server.get("/nope").text().contains("\"trace\""));
    put("true").is(200, r#"{"trace":true}"#);
    assert!(
        server
            .get("/nope")
            .text()
            .contains(r#""trace":["crates/varve-server/src/"#)
    );
    assert_eq!(put("maybe").status, 400);
    put("false").is(200, r#"{"trace":false}"#);
}

#[test]
fn metrics_in_all_forms() {
    let server = TestServer::with_defaults();
    for _ in 0..3 {
        server.get("/versions");
    }
    server.get("/graphs/g/test/1");
    server.get("/test/list?count=x");
    server.get("/nope");
    let prometheus = server.get("/metrics");
    assert_eq!(prometheus.header("content-type"), Some(TEXT));
    let text = prometheus.text();
    assert!(text.starts_with("# HELP hugegraph_info"), "{text:.60}");
    for line in [
        "varve_requests_total{method=\"GET\",route=\"/versions\",code=\"200\"} 3",
        "varve_requests_total{method=\"GET\",route=\"/test/list\",code=\"400\"} 1",
        "varve_requests_total{method=\"\",route=\"\",code=\"404\"} 1",
        "varve_degraded{reason=\"unwritable\"} 0",
        "varve_request_seconds_count{method=\"GET\",route=\"/versions\"} 3",
        "varve_panics_total 0",
    ] {
        assert!(text.lines().any(|known| known == line), "{line} in {text}");
    }
    let all = json(&server.get("/metrics?type=json"), TEXT);
    for part in ["gauges", "counters", "histograms", "meters", "timers"] {
        let alone = json(&server.get(&format!("/metrics/{part}")), JSON);
        assert!(alone.is_object() && all[part].is_object(), "{part}");
    }
    assert_eq!(all["counters"]["versions/GET/TOTAL_COUNTER"]["count"], 3);
    assert_eq!(
        all["histograms"]["versions/GET/RESPONSE_TIME_HISTOGRAM"]["count"],
        3
    );
    let statistics = json(&server.get("/metrics/statistics/?type=json"), TEXT);
    assert_eq!(statistics["versions/GET"]["SUCCESS_REQUEST"], 3);
    assert_eq!(statistics["graphs/graph/test/id/GET"]["TOTAL_REQUEST"], 1);
    assert_eq!(statistics["test/list/GET"]["FAILED_REQUEST"], 1);
    assert!(
        server
            .get("/metrics/statistics")
            .text()
            .starts_with("# HELP hugegraph_info")
    );
    let system = json(&server.get("/metrics/system"), JSON);
    assert!(system["basic"]["mem"].as_i64().unwrap() > 0);
    assert_eq!(system["basic"]["mem_unit"], "MB");
    json(&server.get("/metrics/backend"), JSON);
    assert_eq!(server.get("/metrics?type=xml").status, 400);
}

#[test]
fn metrics_accept_plain_text() {
    let server = TestServer::with_defaults();
    let request = request("GET", "/metrics", "accept: text/plain\r\n", "");
    assert_eq!(server.exchange(&request).status, 200);
}

#[test]
fn the_explorer_is_served_with_its_policy_and_once() {
    let server = TestServer::with_defaults();
    let ask = |path: &str, headers: &str| server.exchange(&request("GET", path, headers, ""));
    let to_ui = ask("/", "accept: text/html,*/*;q=0.8\r\n");
    assert_eq!(
        (to_ui.status, to_ui.header("location")),
        (302, Some("/ui/"))
    );
    assert_eq!(ask("/", "accept: */*\r\n").status, 200);

    let page = ask("/ui/", "accept: text/html\r\n");
    assert_eq!(page.status, 200, "{}", page.text());
    assert_eq!(
        page.header("content-type"),
        Some("text/html; charset=utf-8")
    );
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'; script-src 'self';"));
    assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(page.header("cache-control"), Some("no-cache"));
    assert!(page.text().contains("<!doctype html>"));

    let etag = page.header("etag").unwrap();
    let again = ask("/ui", &format!("if-none-match: {etag}\r\n"));
    assert_eq!((again.status, again.body.len()), (304, 0));
    // A name without an ending is an address within the explorer.
    assert_eq!(ask("/ui/explore", "").body, page.body);
    assert_eq!(ask("/ui/no.js", "").status, 404);
    assert_eq!(ask("/ui/assets/no.js", "").status, 404);
}
