//! HTTP as it should be spoken: keep-alive, pipelining, HTTP/2, verbs, types, compression.

use std::io::{Read, Write};

use varve_testserver::TestServer;

const VERSIONS: &str = concat!(
    r#"{"versions":{"version":"v1","core":"1.7.0","gremlin":"3.5.1","api":"0.71.0.0","varve":""#,
    env!("CARGO_PKG_VERSION"),
    r#"","commit":"unknown"}}"#
);

#[test]
fn a_connection_is_kept_for_many_requests() {
    let server = TestServer::with_defaults();
    let mut client = server.connect();
    for _ in 0..300 {
        let answer = client.get("/versions");
        answer.is(200, VERSIONS);
        assert_eq!(
            answer.header("content-type"),
            Some("application/json;charset=UTF-8")
        );
    }
    assert_eq!(server.state.open_connections(), 1);
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let server = TestServer::with_defaults();
    let mut client = server.connect();
    let get = |id: u32| format!("GET /graphs/g/test/{id} HTTP/1.1\r\nhost: h\r\n\r\n");
    client.send([get(1), get(2), get(3)].concat().as_bytes());
    for id in 1..=3 {
        client
            .receive()
            .is(200, &format!(r#"["g","{id}","Short"]"#));
    }
}

#[test]
fn both_path_forms_and_percent_encoding() {
    let server = TestServer::with_defaults();
    let id = "%221%3Ama%20rko%2F%C3%A9%22";
    server
        .get(&format!("/graphs/g/test/{id}"))
        .is(200, r#"["g","\"1:ma rko/é\"","Short"]"#);
    server
        .get(&format!("/graphspaces/DEFAULT/graphs/g/test/{id}/"))
        .is(200, r#"["g","\"1:ma rko/é\"","GraphSpace"]"#);
    assert_eq!(server.get("/graphspaces/other/graphs/g/test/1").status, 404);
    assert_eq!(server.get("/graphs/g/test/%ff").status, 400);
    assert_eq!(server.get("/graphs/g/test/%2").status, 400);
}

#[test]
fn head_options_and_wrong_verbs() {
    let server = TestServer::with_defaults();
    let mut client = server.connect();
    client.send(b"HEAD /versions HTTP/1.1\r\nhost: h\r\n\r\n");
    let head = client.receive_head();
    assert_eq!(head.status, 200);
    assert_eq!(
        head.header("content-length"),
        Some(VERSIONS.len().to_string().as_str())
    );
    client.get("/versions").is(200, VERSIONS);

    let options = server.exchange("OPTIONS /test/echo HTTP/1.1\r\nhost: h\r\n\r\n");
    assert_eq!(options.status, 200);
    assert_eq!(options.header("allow"), Some("OPTIONS,POST,PUT,DELETE"));
    assert_eq!(
        options.header("content-type"),
        Some("application/vnd.sun.wadl+xml")
    );

    let wrong = server.exchange("PATCH /versions HTTP/1.1\r\nhost: h\r\n\r\n");
    wrong.is(
        405,
        r#"{"exception":"class jakarta.ws.rs.NotAllowedException","message":"HTTP 405 Method Not Allowed","cause":"","code":"VRV-METHOD"}"#,
    );
    assert_eq!(wrong.header("content-type"), Some("application/json"));
    server.get("/nope").is(
        404,
        r#"{"exception":"class jakarta.ws.rs.NotFoundException","message":"HTTP 404 Not Found","cause":"","code":"VRV-NOT-FOUND"}"#,
    );
}

#[test]
fn a_part_that_is_not_there_yet_says_so() {
    let server = TestServer::with_defaults();
    let says = |part: &str| {
        format!(
            r#"{{"exception":"class jakarta.ws.rs.NotFoundException","message":"Not supported yet: {part}. GET /apis lists the supported resources","cause":"","code":"VRV-NOT-FOUND"}}"#
        )
    };
    let cypher = server.get("/graphs/hugegraph/jobs/cypher");
    cypher.is(404, &says("Cypher jobs"));
    assert_eq!(cypher.header("content-type"), Some("application/json"));
    // All traversers are there.
    server.get("/graphs/hugegraph/traversers/nosuch").is(
        404,
        r#"{"exception":"class jakarta.ws.rs.NotFoundException","message":"HTTP 404 Not Found","cause":"","code":"VRV-NOT-FOUND"}"#,
    );
}

#[test]
fn a_query_parameter_that_a_resource_does_not_take_is_refused() {
    let server = TestServer::with_defaults();
    for (path, message) in [
        (
            "/graphs/hugegraph/graph/vertices?limt=1",
            "Unknown parameter 'limt': did you mean 'limit'?",
        ),
        (
            "/graphs?limit=1",
            "Unknown parameter 'limit': this resource takes no parameters",
        ),
        (
            "/metrics?format=json",
            "Unknown parameter 'format': this resource takes type",
        ),
    ] {
        server.get(path).is(
            400,
            &format!(
                r#"{{"exception":"class java.lang.IllegalArgumentException","message":"{message}","cause":"","code":"VRV-ARG"}}"#
            ),
        );
    }
    assert_eq!(server.get("/metrics?type=json&").status, 200);
    // Which clients send whatever the answer is, and what another contract says.
    let auth = server.get("/graphs/hugegraph/auth/users?limit=1");
    assert_eq!(auth.status, 404, "{}", auth.text());
}

fn post(path: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!("POST {path} HTTP/1.1\r\nhost: h\r\ncontent-length: {length}\r\n{headers}\r\n{body}")
}

#[test]
fn media_types() {
    let server = TestServer::with_defaults();
    let with_type = |value: &str| {
        let request = post("/test/echo", &format!("content-type: {value}\r\n"), "[1]");
        server.exchange(&request).status
    };
    assert_eq!(with_type("application/json"), 200);
    assert_eq!(with_type("application/json; charset=UTF-8"), 200);
    for sent_by_any_page in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
    ] {
        assert_eq!(with_type(sent_by_any_page), 415, "{sent_by_any_page}");
    }
    assert_eq!(with_type(""), 400);
    let without = server.exchange(&post("/test/echo", "", "[1]"));
    assert_eq!(without.status, 415, "a page can send a body without a type");
    assert_eq!(server.exchange(&post("/test/echo", "", "")).status, 200);
    let graph = |media: &str| {
        let media = format!("content-type: {media}\r\n");
        server
            .exchange(&post("/graphs/typed", &media, "store=typed"))
            .status
    };
    assert_eq!(graph("application/x-www-form-urlencoded"), 415);
    assert_eq!(graph("text/plain"), 200);
    let delete = |headers: &str| {
        server
            .exchange(&format!(
                "DELETE /test/echo HTTP/1.1\r\nhost: h\r\n{headers}\r\n"
            ))
            .status
    };
    assert_eq!(delete(""), 204);
    assert_eq!(delete("content-type: application/json\r\n"), 204);
    let accept = |value: &str| {
        let request = format!("GET /versions HTTP/1.1\r\nhost: h\r\naccept: {value}\r\n\r\n");
        server.exchange(&request)
    };
    assert_eq!(accept("*/*").status, 200);
    accept("text/plain").is(
        406,
        r#"{"exception":"class jakarta.ws.rs.NotAcceptableException","message":"HTTP 406 Not Acceptable","cause":"","code":"VRV-NOT-ACCEPTABLE"}"#,
    );
}

#[test]
fn only_requests_for_this_server_are_answered() {
    let server = TestServer::with_defaults();
    let get = |headers: &str| {
        let request = format!("GET /versions HTTP/1.1\r\n{headers}\r\n");
        let mut client = server.connect();
        client.send(request.as_bytes());
        client.receive()
    };
    assert_eq!(get("host: localhost:1\r\n").status, 200);
    assert_eq!(get("host: 127.0.0.1\r\n").status, 200);
    let foreign = get("host: evil.example\r\n");
    assert_eq!(foreign.status, 421);
    assert!(foreign.text().contains("server.public_names"));
    assert_eq!(get("").status, 400);
    assert_eq!(get("host: localhost\r\nhost: localhost\r\n").status, 400);
}

#[test]
fn a_page_of_another_site_changes_nothing() {
    let server = TestServer::with_defaults();
    let send = |path: &str, headers: &str| {
        let json = "content-type: application/json\r\n";
        let request = post(path, &format!("{json}{headers}"), "{\"name\":\"a\"}");
        server.exchange(&request).status
    };
    let key = "/graphs/hugegraph/schema/propertykeys";
    for foreign in [
        "origin: http://evil.example\r\n",
        "origin: null\r\n",
        "sec-fetch-site: cross-site\r\n",
    ] {
        assert_eq!(send("/admin/backup", foreign), 403, "{foreign}");
        assert_eq!(send(key, foreign), 403, "{foreign}");
    }
    let stored = server.get(&format!("{key}/a")).status;
    assert_eq!(stored, 404, "nothing was stored");
    let own = "origin: http://h\r\nsec-fetch-site: same-origin\r\n";
    assert_eq!(send("/test/typed", own), 201);
}

#[test]
fn admin_is_out_of_reach_through_a_proxy_on_this_machine() {
    let server = TestServer::with_defaults();
    let ask = |host: &str| {
        let body = r#"{"graph":"hugegraph"}"#;
        server.exchange(&format!(
            "POST /admin/verify HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        ))
    };
    // The public name that clients of a proxy use.
    let refused = ask("h");
    assert_eq!(refused.status, 403);
    assert!(
        refused.text().contains("server.admin_listen"),
        "{}",
        refused.text()
    );
    let served = ask("localhost");
    assert_eq!(served.status, 404, "there is no such graph");
    assert!(served.text().contains("hugegraph"), "{}", served.text());
}

#[test]
fn json_errors_have_the_form_of_all_errors() {
    let server = TestServer::with_defaults();
    let json = "content-type: application/json\r\n";
    let nested = "[".repeat(100_000);
    let cases = [
        (r#"{"name":"a"}"#, 201, r#""a""#),
        (
            r#"{"name":"a","foo":1}"#,
            400,
            r#""message":"Unrecognized field \"foo\", not marked as ignorable"#,
        ),
        ("{bad", 400, "key must be a string at line 1 column 2"),
        (
            r#"{"name":5}"#,
            400,
            "invalid type: integer `5`, expected a string",
        ),
        (r#"{"name":"a"}x"#, 400, "trailing characters"),
        (r#"{"name":"a","name":"b"}"#, 400, "duplicate field `name`"),
        ("{\"name\":\"\u{0}\"}", 400, "control character"),
        (&nested, 400, "invalid type: sequence"),
    ];
    for (body, status, start) in cases {
        let answer = server.exchange(&post("/test/typed", json, body));
        assert_eq!(answer.status, status, "{body:.40}");
        assert!(answer.text().contains(start), "{}", answer.text());
        if status == 400 {
            assert_eq!(answer.header("content-type"), Some("application/json"));
        }
    }
    let mut client = server.connect();
    client.send(
        b"POST /test/typed HTTP/1.1\r\nhost: h\r\ncontent-type: application/json\r\ncontent-length: 12\r\n\r\n{\"name\":\"\xff\"}",
    );
    assert_eq!(client.receive().status, 400);
    let empty = server.exchange(&post("/test/typed", json, ""));
    assert_eq!(
        (empty.status, empty.header("content-type")),
        (400, Some("application/json"))
    );
}

#[test]
fn gzip_both_ways() {
    let server = TestServer::with_defaults();
    let plain = server.get("/test/list");
    assert_eq!(plain.header("content-encoding"), None);
    for count in [2000, 200_000] {
        let packed = server.exchange(&format!(
            "GET /test/list?count={count} HTTP/1.1\r\nhost: h\r\naccept-encoding: gzip\r\n\r\n"
        ));
        assert_eq!(packed.header("content-encoding"), Some("gzip"));
        let plain = server.get(&format!("/test/list?count={count}"));
        assert!(packed.body.len() < plain.body.len());
        assert_eq!(gunzip(&packed.body), plain.body);
    }
    let small = server
        .exchange("GET /test/list?count=1 HTTP/1.1\r\nhost: h\r\naccept-encoding: gzip\r\n\r\n");
    assert_eq!(small.header("content-encoding"), None);

    for text in [
        "[1]".to_owned(),
        format!("[{}1]", "1234567,".repeat(100_000)),
    ] {
        let body = gzip(text.as_bytes());
        let mut client = server.connect();
        let head = format!(
            "POST /test/echo HTTP/1.1\r\nhost: h\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        client.send(&[head.as_bytes(), &body].concat());
        client.receive().is(200, &text);
    }
}

#[test]
fn chunked_bodies() {
    let server = TestServer::with_defaults();
    let mut client = server.connect();
    client.send(
        b"PUT /test/echo HTTP/1.1\r\nhost: h\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n3\r\n[1,\r\n",
    );
    client.send(b"2\r\n2]\r\n0\r\n\r\n");
    client.receive().is(200, "[1,2]");
    client.get("/versions").is(200, VERSIONS);
}

#[test]
fn expect_continue_is_answered_before_the_body() {
    let server = TestServer::with_defaults();
    let mut client = server.connect();
    client.send(
        b"POST /test/echo HTTP/1.1\r\nhost: h\r\ncontent-type: application/json\r\nexpect: 100-continue\r\ncontent-length: 3\r\n\r\n",
    );
    assert_eq!(client.receive().status, 100);
    client.send(b"[1]");
    client.receive().is(200, "[1]");
    let refused = server.exchange(
        "POST /test/echo HTTP/1.1\r\nhost: h\r\ncontent-type: application/json\r\nexpect: 100-continue\r\ncontent-length: 99999999\r\n\r\n",
    );
    assert_eq!(refused.status, 413);
}

#[test]
fn http2_with_prior_knowledge() {
    let server = TestServer::with_defaults();
    let mut client = server.connect();
    client
        .stream
        .write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        .unwrap();
    // An empty SETTINGS frame, then HEADERS for stream 1: GET /versions, the path as a literal.
    client
        .stream
        .write_all(&[0, 0, 0, 4, 0, 0, 0, 0, 0])
        .unwrap();
    let mut block = vec![0x82, 0x86, 0x04, 9];
    block.extend_from_slice(b"/versions");
    block.extend_from_slice(&[0x41, 1, b'h']);
    let mut frame = vec![0, 0, block.len() as u8, 1, 0x05, 0, 0, 0, 1];
    frame.extend_from_slice(&block);
    client.stream.write_all(&frame).unwrap();
    let body = loop {
        let mut head = [0; 9];
        client.stream.read_exact(&mut head).unwrap();
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        let mut payload = vec![0; length];
        client.stream.read_exact(&mut payload).unwrap();
        match head[3] {
            0 => break payload,
            1 => assert_eq!(payload[0], 0x88, "the first header field is status 200"),
            7 => panic!("GOAWAY {payload:?}"),
            _ => {}
        }
    };
    assert_eq!(String::from_utf8(body).unwrap(), VERSIONS);
}

pub(crate) fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

fn gunzip(packed: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    flate2::read::GzDecoder::new(packed)
        .read_to_end(&mut plain)
        .unwrap();
    plain
}
