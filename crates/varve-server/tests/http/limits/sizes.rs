//! Bodies and heads that are too large, and what is no HTTP.

use super::*;

#[test]
fn a_body_that_says_it_is_too_large_is_refused_at_once() {
    let server = TestServer::with_defaults();
    let answer =
        server.exchange("POST /test/echo HTTP/1.1\r\nhost: h\r\ncontent-type: application/json\r\ncontent-length: 104857600\r\n\r\n");
    answer.is(
        413,
        r#"{"exception":"class jakarta.ws.rs.ClientErrorException","message":"The request body is larger than the limit of 10485760 bytes","cause":"","code":"VRV-TOO-LARGE"}"#,
    );
}

#[test]
fn a_client_that_sends_100_mb_all_the_same_reads_its_refusal() {
    let server = TestServer::with_defaults();
    let mut client = server.connect();
    let mut writer = client.stream.try_clone().unwrap();
    let sender = std::thread::spawn(move || {
        let head = b"POST /test/echo HTTP/1.1\r\nhost: h\r\ncontent-type: application/json\r\ncontent-length: 104857600\r\n\r\n";
        std::io::Write::write_all(&mut writer, head)?;
        let piece = vec![b' '; 1024 * 1024];
        (0..100).try_for_each(|_| std::io::Write::write_all(&mut writer, &piece))
    });
    assert_eq!(client.receive().status, 413);
    sender.join().unwrap().unwrap();
    served_on(&server);
}

#[test]
fn a_chunked_body_is_stopped_at_the_limit() {
    let config = ServerConfig {
        max_body_bytes: 100_000,
        ..ServerConfig::default()
    };
    let server = TestServer::start(config);
    let mut client = server.connect();
    client.send(b"POST /test/echo HTTP/1.1\r\nhost: h\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n");
    let piece = [b"3e8\r\n".as_slice(), &[b' '; 1000], b"\r\n"].concat();
    client.send(&piece.repeat(101));
    assert_eq!(client.receive().status, 413);
    assert_eq!(server.state.admission().writes().bytes_held(), 0);
    served_on(&server);
}

#[test]
fn a_gzip_bomb_is_stopped_at_the_limit() {
    let server = TestServer::with_defaults();
    let bomb = gzip(&vec![b' '; 200_000_000]);
    assert!(bomb.len() < 1_000_000);
    let head = format!(
        "POST /test/echo HTTP/1.1\r\nhost: h\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n",
        bomb.len()
    );
    let mut client = server.connect();
    client.send(&[head.as_bytes(), &bomb].concat());
    assert_eq!(client.receive().status, 413);
    let broken = server.exchange(
        "POST /test/echo HTTP/1.1\r\nhost: h\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: 3\r\n\r\n[1]",
    );
    assert_eq!(broken.status, 400);
    served_on(&server);
}

#[test]
fn heads_that_are_too_large() {
    let server = TestServer::with_defaults();
    let long = format!(
        "GET /versions HTTP/1.1\r\nhost: h\r\nx: {}\r\n\r\n",
        "a".repeat(1_000_000)
    );
    let many = format!(
        "GET /versions HTTP/1.1\r\nhost: h\r\n{}\r\n",
        "x: a\r\n".repeat(10_000)
    );
    let path = format!("GET /{} HTTP/1.1\r\nhost: h\r\n\r\n", "a".repeat(1_000_000));
    for (request, status) in [(long, 431), (many, 431), (path, 414)] {
        let mut client = server.connect();
        // The server may have closed before all of it was sent.
        let _ = std::io::Write::write_all(&mut client.stream, request.as_bytes());
        let rest = client.receive_rest();
        let text = String::from_utf8_lossy(&rest);
        assert!(
            text.is_empty()
                || text.starts_with(&format!("HTTP/1.1 {status} "))
                || text.starts_with("HTTP/1.1 431 "),
            "{text:.100}"
        );
        served_on(&server);
    }
}

#[test]
fn a_bad_head_is_answered_with_the_error_object() {
    let server = TestServer::with_defaults();
    let many = format!(
        "GET / HTTP/1.1\r\nhost: h\r\n{}\r\n",
        "x: a\r\n".repeat(101)
    );
    let cases = [
        (
            "GET /a>b HTTP/1.1\r\nhost: h\r\n\r\n",
            400,
            "The head of the request is malformed",
        ),
        (
            "GET / HTTP/1.1\r\nhost h\r\n\r\n",
            400,
            "The head of the request is malformed",
        ),
        ("GET / HTTP/1.1\r\n\r\n", 400, "The Host header is missing"),
        (&many, 431, "The head of the request is too large"),
    ];
    for (request, status, message) in cases {
        let answer = server.exchange(request);
        assert_eq!(answer.status, status, "{message}");
        assert_eq!(answer.header("content-type"), Some("application/json"));
        assert!(answer.text().contains(message), "{}", answer.text());
    }
    assert_eq!(
        server.exchange("GET /versions HTTP/1.0\r\n\r\n").status,
        200
    );
    served_on(&server);
}

/// The host's header counts.
#[test]
fn as_many_headers_as_allowed_and_no_more() {
    for max_headers in [16, 99, 100, 101, 300] {
        let server = TestServer::start(ServerConfig {
            max_headers,
            ..ServerConfig::default()
        });
        for (more, status) in [(max_headers - 1, 200), (max_headers, 431)] {
            let headers = "x: a\r\n".repeat(more);
            let request = format!("GET /versions HTTP/1.1\r\nhost: h\r\n{headers}\r\n");
            let answer = server.exchange(&request);
            assert_eq!(answer.status, status, "{} of {max_headers}", more + 1);
        }
    }
}

/// Sends bytes and returns the statuses of all answers until the server closes or the client does.
fn statuses(server: &TestServer, bytes: &[u8]) -> Vec<u16> {
    let mut client = server.connect();
    client.send(bytes);
    // The server may have closed already.
    let _ = client.stream.shutdown(std::net::Shutdown::Write);
    let rest = client.receive_rest();
    let text = String::from_utf8_lossy(&rest);
    text.match_indices("HTTP/1.1 ")
        .map(|(at, _)| text[at + 9..at + 12].parse().unwrap())
        .collect()
}

#[test]
fn smuggling_gives_one_answer_for_one_request() {
    let server = TestServer::with_defaults();
    let hidden = "GET /versions HTTP/1.1\r\nhost: h\r\n\r\n";
    // Chunked wins over the length, whichever comes first, and the connection ends after the
    // answer, so that what follows is never taken for a request.
    for heads in [
        "content-length: 4\r\ntransfer-encoding: chunked\r\n",
        "transfer-encoding: chunked\r\ncontent-length: 4\r\n",
    ] {
        let request = format!(
            "POST /test/echo HTTP/1.1\r\nhost: h\r\ncontent-type: application/json\r\n{heads}\r\n0\r\n\r\n{hidden}"
        );
        assert_eq!(statuses(&server, request.as_bytes()), [200], "{heads}");
    }
    for heads in [
        "content-length: 4\r\ncontent-length: 5\r\n",
        "content-length: -4\r\n",
        "content-length: +4\r\n",
        "content-length: 4, 4\r\n",
        "transfer-encoding: chunked, identity\r\n",
        "transfer-encoding: xchunked\r\n",
        "transfer-encoding : chunked\r\n",
        "x: a\rb\r\n",
        "x: a\0b\r\n",
        " folded: a\r\n",
    ] {
        let request = format!("POST /test/echo HTTP/1.1\r\nhost: h\r\n{heads}\r\nabcd{hidden}");
        assert_eq!(statuses(&server, request.as_bytes()), [400], "{heads:?}");
    }
    served_on(&server);
}

#[test]
fn bad_chunks_are_refused_and_the_connection_ends() {
    let server = TestServer::with_defaults();
    let hidden = "GET /versions HTTP/1.1\r\nhost: h\r\n\r\n";
    for chunks in [
        "zz\r\nab\r\n0\r\n\r\n",
        "-1\r\n",
        "ffffffffffffffffff\r\n",
        "2\r\nabXX0\r\n\r\n",
    ] {
        let head = "PUT /test/echo HTTP/1.1\r\nhost: h\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";
        let got = statuses(&server, format!("{head}{chunks}{hidden}").as_bytes());
        assert_eq!(got, [400], "{chunks:?}");
    }
    served_on(&server);
}

#[test]
fn what_is_not_http_is_refused() {
    let server = TestServer::with_defaults();
    let garbage: Vec<u8> = (0..=255).cycle().take(5000).collect();
    let cases: [&[u8]; 5] = [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET /\xff HTTP/1.1\r\nhost: h\r\n\r\n",
        b"GET /a>b HTTP/1.1\r\nhost: h\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n",
        &garbage,
    ];
    for bytes in cases {
        let got = statuses(&server, bytes);
        assert!(
            got == [400] || got.is_empty(),
            "{:?} {got:?}",
            String::from_utf8_lossy(bytes)
        );
    }
    served_on(&server);
}
