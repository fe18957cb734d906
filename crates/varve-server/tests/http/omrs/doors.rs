//! The graph of the repository through the other doors.

use super::*;

#[test]
fn the_graph_can_be_read_and_not_changed() {
    let world = World::new();
    let made = world.entity("Glossary", &[("qualifiedName", "g")]);
    let server = &world.server;
    server.get("/graphs").is(200, r#"{"graphs":["metadata"]}"#);
    let listed = server.get("/graphs/metadata/graph/vertices");
    assert_eq!(listed.status, 200);
    assert!(listed.text().contains(guid(&made)), "{}", listed.text());
    assert_eq!(
        server.get("/graphs/metadata/schema/vertexlabels").status,
        200
    );
    for (verb, path, body) in [
        ("POST", "graph/vertices", r#"{"label":"x","properties":{}}"#),
        ("POST", "graph/batch", "{}"),
        ("PUT", "graph/vertices/batch", "{}"),
        ("DELETE", "graph/vertices/1", ""),
        ("DELETE", "graph/vertices/1/history", ""),
        (
            "POST",
            "schema/propertykeys",
            r#"{"name":"x","data_type":"TEXT"}"#,
        ),
        ("DELETE", "schema/vertexlabels/x", ""),
        ("PUT", "jobs/rebuild/indexlabels/x", ""),
        ("PUT", "variables/x", r#"{"data":1}"#),
        ("PUT", "mode", r#""NONE""#),
        (
            "DELETE",
            "clear?confirm_message=I%27m+sure+to+delete+all+data",
            "",
        ),
    ] {
        for base in ["/graphs", "/graphspaces/DEFAULT/graphs"] {
            let request = call_of(verb, &format!("{base}/metadata/{path}"), body);
            let answer = server.exchange(&request);
            assert_eq!(answer.status, 403, "{verb} {path}: {}", answer.text());
            assert!(answer.text().contains("belongs to the metadata repository"));
        }
    }
    let drop = "/graphs/metadata?confirm_message=I%27m+sure+to+drop+the+graph";
    assert_eq!(server.exchange(&call_of("DELETE", drop, "")).status, 403);
    assert_eq!(
        server
            .exchange(&call_of("POST", "/graphs/metadata", "{}"))
            .status,
        403
    );
    let plain = "content-type: text/plain\r\n";
    let properties = request("POST", "/graphs/other", plain, "store=metadata\n");
    assert_eq!(server.exchange(&properties).status, 403);
    let compact = call_of("PUT", "/graphs/metadata/compact", "");
    assert_eq!(server.exchange(&compact).status, 200);
    assert_eq!(
        server
            .exchange(&call_of("POST", "/graphs/other", "{}"))
            .status,
        201
    );
    assert_eq!(world.read(guid(&made)), made);
}

#[test]
fn a_query_reads_the_graph_and_is_refused_once_it_turns_out_to_write() {
    let world = World::new();
    let server = &world.server;
    let query = |graph: &str, body| call_of("POST", &format!("/graphs/{graph}/test/query"), body);
    let other = call_of("POST", "/graphs/other", "{}");
    assert_eq!(server.exchange(&other).status, 201);
    for (graph, body, status) in [
        ("metadata", r#""read""#, 200),
        ("metadata", r#""write""#, 403),
        ("other", r#""write""#, 200),
    ] {
        let answer = server.exchange(&query(graph, body));
        assert_eq!(answer.status, status, "{graph} {body}: {}", answer.text());
    }
}

/// The contract has calls that change something by GET, which a page can send without asking.
#[test]
fn pages_of_other_sites_change_nothing_by_get() {
    let world = World::new();
    let made = world.entity("Glossary", &[("qualifiedName", "g")]);
    let id = guid(&made);
    for (call, is_refused) in [("previous", true), ("restore", true), ("summary", false)] {
        let path = format!("{USERS}/instances/entity/{id}/{call}");
        let cross_site = "sec-fetch-site: cross-site\r\n";
        let answer = world
            .server
            .exchange(&request("GET", &path, cross_site, ""));
        let says_so = answer.text().contains("Pages of other sites");
        assert_eq!(says_so, is_refused, "{call}: {}", answer.text());
    }
}
