//! Very many followers at once: long polls and streams of events, each on a connection of its own,
//! while a writer goes on. None misses a commit or has one twice, and all have them in order.
//!
//! `FOLLOWERS` and `FOLLOWED_COMMITS` say how many; what it took is printed.

use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use varve_testkit::http::{Connection, request};

use crate::changes::make_schema;
use crate::seeds::number_from;
use crate::server::{ServerProcess, VARVE};

/// Followers, and commits that they see.
const FOLLOWERS: u64 = 200;
const COMMITS: u64 = 60;
/// Bytes of a follower's stack.
const STACK_BYTES: usize = 256 * 1024;
/// How long a follower waits for the next line.
const TIMEOUT: Duration = Duration::from_secs(120);

fn connect(address: &str) -> Connection {
    let connection = Connection::to(address);
    connection
        .stream
        .set_read_timeout(Some(TIMEOUT))
        .expect("set");
    connection
}

/// What a follower has seen.
struct Seen {
    next: u64,
    last: u64,
    /// Microseconds from each write's beginning until it was here, in all.
    lag: u64,
    lag_max: u64,
}

impl Seen {
    fn new() -> Self {
        Self {
            next: 0,
            last: 0,
            lag: 0,
            lag_max: 0,
        }
    }

    /// Takes a line; true if it was the last one. `began`: the start of each write in microseconds.
    fn take(&mut self, line: &Json, (began, clock): (&[AtomicU64], Instant)) -> bool {
        let Some(version) = line["version"].as_str() else {
            return false;
        };
        let version: u64 = version.parse().expect("a version");
        assert!(version > self.last, "{version} after {}", self.last);
        self.last = version;
        let write = line["element"]["properties"]["write"].as_u64();
        assert_eq!(write, Some(self.next), "each once and in order");
        let at = began[self.next as usize].load(Ordering::Acquire);
        let lag = (clock.elapsed().as_micros() as u64).saturating_sub(at);
        self.lag += lag;
        self.lag_max = self.lag_max.max(lag);
        self.next += 1;
        self.next == began.len() as u64
    }
}

type Times<'t> = (&'t [AtomicU64], Instant);

/// Follows by long polls, all on one connection.
fn poll(address: &str, since: &str, times: Times<'_>, ready: &Barrier) -> Seen {
    let (mut seen, mut cursor) = (Seen::new(), since.to_owned());
    let mut connection = connect(address);
    let mut is_first = true;
    loop {
        let path = format!("/graphs/hugegraph/changes?since={cursor}&types=vertex&wait=15s");
        connection.send(&request("GET", &path, "", ""));
        if std::mem::take(&mut is_first) {
            ready.wait();
        }
        let answer = connection.receive();
        assert_eq!(answer.status, 200, "{}", answer.head);
        let mut is_done = false;
        for line in answer.text().lines() {
            let line: Json = serde_json::from_str(line).expect("JSON");
            is_done |= seen.take(&line, times);
            if let Some(next) = line["caught_up_to"].as_str() {
                next.clone_into(&mut cursor);
            }
        }
        if is_done {
            return seen;
        }
    }
}

/// Follows by a stream of events.
fn listen(address: &str, since: &str, times: Times<'_>, ready: &Barrier) -> Seen {
    let (mut seen, mut connection) = (Seen::new(), connect(address));
    let path = format!("/graphs/hugegraph/changes?since={since}&types=vertex");
    let accept = "accept: text/event-stream\r\n";
    connection.send(&request("GET", &path, accept, ""));
    ready.wait();
    let head = connection.read_head().expect("a head");
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    loop {
        let line = connection.read_line().expect("the stream goes on");
        let Some(data) = line.strip_prefix("data: ") else {
            continue;
        };
        let data: Json = serde_json::from_str(data).expect("JSON");
        if seen.take(&data, times) {
            return seen;
        }
    }
}

/// Resident memory in KiB, and the time on the processor in milliseconds, of a process.
fn used(process: u32) -> (u64, u64) {
    let read = |name: &str| std::fs::read_to_string(format!("/proc/{process}/{name}"));
    let status = read("status").expect("it runs");
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let resident = resident.and_then(|text| text.split_whitespace().next()?.parse().ok());
    let stat = read("stat").expect("it runs");
    let (_, fields) = stat.rsplit_once(')').expect("a name in brackets");
    let field = |at: usize| {
        fields
            .split_whitespace()
            .nth(at)
            .and_then(|text| text.parse::<u64>().ok())
    };
    // In hundredths of a second.
    let ticks = field(11).unwrap_or(0) + field(12).unwrap_or(0);
    (resident.unwrap_or(0), ticks * 10)
}

#[test]
fn very_many_followers_have_each_commit_once_and_in_order() {
    let followers = number_from("FOLLOWERS").unwrap_or(FOLLOWERS);
    let commits = number_from("FOLLOWED_COMMITS").unwrap_or(COMMITS);
    let pause = Duration::from_millis(number_from("FOLLOWED_PAUSE_MS").unwrap_or(20));
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(VARVE);
    command.args(["serve", "--set", "graph.changes=all", "--data-dir"]);
    let server = ServerProcess::start(command.arg(folder.path()));
    make_schema(&server);
    let address = server.url.trim_start_matches("http://").to_owned();
    let newest = server.must("GET", "/graphs/hugegraph/changes?since=now", "");
    let newest = newest
        .as_str()
        .and_then(|text| text.lines().next())
        .expect("a line");
    let newest: Json = serde_json::from_str(newest).expect("JSON");
    let since = newest["since"].as_str().expect("a version").to_owned();
    let began: Arc<[AtomicU64]> = (0..commits).map(|_| AtomicU64::new(0)).collect();
    let (clock, before) = (Instant::now(), used(server.id()));
    let ready = Arc::new(Barrier::new(followers as usize + 1));
    let all: Vec<_> = (0..followers)
        .map(|number| {
            let (address, since) = (address.clone(), since.clone());
            let (began, ready) = (Arc::clone(&began), Arc::clone(&ready));
            let follow = move || {
                let times = (&began[..], clock);
                match number % 2 {
                    0 => poll(&address, &since, times, &ready),
                    _ => listen(&address, &since, times, &ready),
                }
            };
            let thread = thread::Builder::new().stack_size(STACK_BYTES);
            thread.spawn(follow).expect("a thread")
        })
        .collect();
    ready.wait();
    thread::sleep(Duration::from_millis(500));
    let waiting = used(server.id());
    thread::sleep(Duration::from_secs(2));
    let idle = used(server.id());
    let writing = Instant::now();
    for number in 0..commits {
        began[number as usize].store(clock.elapsed().as_micros() as u64, Ordering::Release);
        let body = json!({"label": "thing", "properties": {"name": format!("t{number}"), "write": number}});
        server.must(
            "POST",
            "/graphs/hugegraph/graph/vertices",
            &body.to_string(),
        );
        thread::sleep(pause);
    }
    let written = writing.elapsed();
    let (mut lag, mut lag_max) = (0, 0);
    for follower in all {
        let seen = follower.join().expect("a follower that missed nothing");
        assert_eq!(seen.next, commits);
        (lag, lag_max) = (lag + seen.lag, lag_max.max(seen.lag_max));
    }
    let after = used(server.id());
    println!(
        "{followers} followers, {commits} commits in {} ms: lag {} ms mean, {} ms at most; memory {} KiB alone, \
         {} KiB with all waiting, {} KiB in the end; CPU {} ms of 2,000 ms idle, {} ms for the commits",
        written.as_millis(),
        lag / (followers * commits) / 1_000,
        lag_max / 1_000,
        before.0,
        waiting.0,
        after.0,
        idle.1 - waiting.1,
        after.1 - idle.1,
    );
}
