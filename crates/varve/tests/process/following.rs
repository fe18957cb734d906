//! Following a graph through a restore, a deletion that is killed, and with `varve changes`.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use crate::changes::{make_schema, start};
use crate::server::{ServerProcess, VARVE, run, shown};

/// How long something may take that other processes do.
const TIMEOUT: Duration = Duration::from_secs(60);

fn put(server: &ServerProcess, number: u64) {
    let body =
        json!({"label": "thing", "properties": {"name": format!("t{number}"), "write": number}});
    server.must(
        "POST",
        "/graphs/hugegraph/graph/vertices",
        &body.to_string(),
    );
}

/// The status and the lines of an answer.
fn changes(server: &ServerProcess, query: &str) -> (u16, Vec<Json>) {
    let (status, body) = server.ask("GET", &format!("/graphs/hugegraph/changes?{query}"), "");
    let lines = body.as_str().unwrap_or_default().lines();
    let lines = lines.map(|line| serde_json::from_str(line).expect("a line of JSON"));
    match body.is_string() {
        true => (status, lines.collect()),
        false => (status, vec![body]),
    }
}

#[test]
fn a_restored_graph_refuses_the_followers_of_the_other_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let inside = |name: &str| folder.path().join(name);
    let (data, backup, restored) = (inside("data"), inside("backup"), inside("restored"));
    let server = start(&data);
    make_schema(&server);
    put(&server, 1);
    assert!(server.terminate().0.success());
    let (code, text) = run(&["backup", shown(&backup), "--data-dir", shown(&data)]);
    assert_eq!(code, 0, "{text}");
    // What a follower has seen since, and the backup has not.
    let server = start(&data);
    put(&server, 2);
    let (status, lines) = changes(&server, "since=earliest");
    assert_eq!(status, 200, "a backup ends nothing: {lines:?}");
    let id = lines[0]["graph_id"].as_str().expect("an id").to_owned();
    let seen = lines[lines.len() - 1]["caught_up_to"]
        .as_str()
        .expect("a cursor")
        .to_owned();
    assert_eq!(lines[lines.len() - 2]["element"]["properties"]["write"], 2);
    server.kill();
    let (code, text) = run(&["restore", shown(&backup), "--data-dir", shown(&restored)]);
    assert_eq!(code, 0, "{text}");
    let server = start(&restored);
    put(&server, 3);
    let (status, refused) = changes(&server, &format!("since={seen}&graph_id={id}"));
    assert_eq!(status, 409, "{refused:?}");
    let (status, refused) = changes(&server, &format!("since={seen}"));
    assert_eq!(status, 410, "{refused:?}");
    let (_, anew) = changes(&server, "since=earliest&types=vertex");
    let new_id = anew[0]["graph_id"].as_str().expect("an id").to_owned();
    assert!(new_id != id && anew.len() == 3, "{anew:?}");
    // It stays the same graph from then on.
    server.kill();
    let server = start(&restored);
    let (_, again) = changes(&server, "since=earliest&types=vertex");
    assert_eq!(again[..2], anew[..2]);
}

/// Starts a server that keeps no changes and is killed when it comes to delete some for the n-th
/// time; whether it was.
fn is_killed_at(data: &Path, step: u64) -> bool {
    let mut command = Command::new(VARVE);
    command.args([
        "serve",
        "--set",
        "maintenance.tidy_interval_ms=20",
        "--data-dir",
    ]);
    command.arg(data);
    command.env("VARVE_FAIL_POINT", format!("changes.forget:kill:{step}"));
    let Ok(server) = ServerProcess::try_start(&mut command) else {
        return true;
    };
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(3) {
        if server.client().try_ask("GET", "/versions", "").is_none() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    false
}

#[test]
fn changes_that_are_kept_no_more_are_deleted_though_the_server_is_killed() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(VARVE);
    command.args([
        "serve",
        "--set",
        "graph.changes=all",
        "--durability",
        "none",
        "--data-dir",
    ]);
    let server = ServerProcess::start(command.arg(folder.path()));
    make_schema(&server);
    (0..2_500).for_each(|number| put(&server, number));
    server.kill();
    // Two steps delete all rows; it is killed before the second.
    assert!(is_killed_at(folder.path(), 2));
    assert!(
        is_killed_at(folder.path(), 1),
        "some are left, and it knows"
    );
    assert!(
        !is_killed_at(folder.path(), 2),
        "one step is enough for these"
    );
    assert!(!is_killed_at(folder.path(), 1), "none are left");
    let (code, text) = run(&["verify", "--data-dir", shown(folder.path())]);
    assert!(code == 0 && text.contains("0 problems"), "{text}");
}

/// `varve changes --follow`, whose lines are read one after the other.
struct Tool {
    child: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Tool {
    fn start(url: &str, cursor: &Path) -> Self {
        let mut command = Command::new(VARVE);
        command.args([
            "changes", "--follow", "--types", "vertex", "--server", url, "--cursor",
        ]);
        let mut child = command
            .arg(cursor)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        Self { child, lines }
    }

    fn next_write(&mut self) -> u64 {
        let line = self.lines.next().expect("a line").expect("text");
        let line: Json = serde_json::from_str(&line).expect("a line of JSON");
        line["element"]["properties"]["write"]
            .as_u64()
            .expect("a write")
    }

    fn kill(mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("a killed process ends");
    }
}

#[test]
fn the_tool_prints_changes_and_goes_on_where_it_was() {
    let folder = tempfile::tempdir().expect("a folder");
    let cursor = folder.path().join("cursor.json");
    let data = folder.path().join("data");
    let server = start(&data);
    make_schema(&server);
    (1..=3).for_each(|number| put(&server, number));
    let mut tool = Tool::start(&server.url, &cursor);
    assert_eq!([(); 3].map(|()| tool.next_write()), [1, 2, 3]);
    put(&server, 4);
    assert_eq!(tool.next_write(), 4);
    // Each line is printed before the cursor moves.
    let (_, lines) = changes(&server, "since=now");
    let newest = lines[0]["since"].as_str().expect("a version").to_owned();
    let started = Instant::now();
    while !std::fs::read_to_string(&cursor).is_ok_and(|text| text.contains(&newest)) {
        assert!(started.elapsed() < TIMEOUT, "the cursor is stored");
        std::thread::sleep(Duration::from_millis(5));
    }
    tool.kill();
    put(&server, 5);
    let mut tool = Tool::start(&server.url, &cursor);
    assert_eq!(tool.next_write(), 5);
    tool.kill();
    // Without --follow it ends when all is printed.
    let once = ["changes", "--types", "vertex", "--server", &server.url];
    let (code, text) = run(&once);
    assert!(code == 0 && text.lines().count() == 5, "{code} {text}");
    // Another graph is not taken for the one of the cursor.
    server.kill();
    let other = start(&folder.path().join("other"));
    let (code, text) = run(&["changes", "--server", &other.url]);
    assert!(code == 0 && text.is_empty(), "{code} {text}");
    let wrong = [
        "changes",
        "--server",
        &other.url,
        "--cursor",
        shown(&cursor),
    ];
    let (code, text) = run(&wrong);
    assert!(code == 1 && text.contains("(HTTP 409)"), "{code} {text}");
}

/// The newest version of the graph that [`answer_for_busy_graph`] is asked for.
const NEWEST: u64 = 20;

/// Answers a request for changes of a graph of which the next commit is always there, and refuses
/// one for what came after [`NEWEST`].
fn answer_for_busy_graph(mut stream: TcpStream) {
    let mut head = String::new();
    let mut bytes = [0; 4096];
    while !head.contains("\r\n\r\n") {
        let count = stream.read(&mut bytes).expect("a request");
        head.push_str(&String::from_utf8_lossy(&bytes[..count]));
    }
    let line = head.lines().next().expect("a line");
    let since = line.split("since=").nth(1).expect("a cursor");
    let since = since.split(['&', ' ']).next().expect("a value");
    let (since, next) = match since {
        "now" => (NEWEST, NEWEST),
        "earliest" => (0, 1),
        number => number.parse().map(|at: u64| (at, at + 1)).expect("one"),
    };
    let mut body = format!("{{\"graph_id\":\"1\",\"since\":\"{since}\",\"oldest\":\"0\"}}\n");
    if next > since {
        body.push_str(&format!("{{\"version\":\"{next}\",\"n\":0,\"of\":1}}\n"));
    }
    body.push_str(&format!("{{\"caught_up_to\":\"{next}\"}}\n"));
    let status = match next <= NEWEST {
        true => "200 OK",
        false => "410 Gone",
    };
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/x-ndjson\r\nconnection: close\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(answer.as_bytes()).expect("it is read");
}

#[test]
fn the_tool_ends_with_the_newest_commit_of_its_beginning() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("bound"));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            answer_for_busy_graph(stream.expect("a connection"));
        }
    });
    let (code, text) = run(&["changes", "--server", &url, "--batch", "1"]);
    let wanted = usize::try_from(NEWEST).expect("small");
    assert!(code == 0 && text.lines().count() == wanted, "{code} {text}");
}
