//! Followers of changes where several servers lead the graph in turn.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

use super::bounded::{BOUNDED, bookmarked, counts, followed, version};
use super::*;

fn keeping(shared: &Arc<SharedMemory>) -> Server {
    Server::start_keeping(shared, ServerConfig::default(), None, Retention::All)
}

/// What a follower has seen.
struct Follower {
    /// Headers and parameters of its requests.
    asks: (&'static str, &'static str),
    cursor: String,
    last: u64,
    ids: Vec<String>,
}

impl Follower {
    fn new(asks: (&'static str, &'static str)) -> Self {
        Self {
            asks,
            cursor: "earliest".to_owned(),
            last: 0,
            ids: Vec::new(),
        }
    }

    /// Takes what there is, from whichever server it asks.
    fn follow(&mut self, server: &Server) {
        let ((headers, wait), since) = (self.asks, &self.cursor);
        let path = format!("{GRAPH}/changes?since={since}&types=vertex{wait}");
        let answer = server.ask_with("GET", &path, headers, &Value::Null);
        // Nobody leads for the moment.
        if answer.status == 503 {
            return;
        }
        assert_eq!(answer.status, 200, "{}", answer.text());
        for line in answer.text().lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            if let Some(next) = line["caught_up_to"].as_str() {
                self.cursor = next.to_owned();
            }
            let Some(version) = line["version"].as_str() else {
                continue;
            };
            let version: u64 = version.parse().unwrap();
            assert!(version > self.last, "{version} after {}", self.last);
            self.last = version;
            self.ids.push(line["ref"].as_str().unwrap().to_owned());
        }
    }
}

#[test]
fn a_follower_has_each_commit_once_whoever_leads() {
    let shared = SharedMemory::new();
    let servers = [keeping(&shared), keeping(&shared)];
    servers[0].done("POST", GRAPH, &json!({}));
    schema(&servers[0]);
    let is_done = AtomicBool::new(false);
    let asks = [("", "&wait=100ms"), (BOUNDED, ""), (BOUNDED, "&wait=100ms")];
    let (kept, followers) = thread::scope(|scope| {
        let follow = |asks| {
            let mut follower = Follower::new(asks);
            while !is_done.load(Ordering::Relaxed) {
                servers.iter().for_each(|server| follower.follow(server));
            }
            follower
        };
        let following = asks.map(|asks| scope.spawn(move || follow(asks)));
        let writing = scope.spawn(|| {
            let mut kept = Vec::new();
            for number in 0..200 {
                let id = format!("w{number}");
                let answer = servers[number % 2].ask("POST", &vertices(), &vertex(&id));
                match answer.status {
                    201 => kept.push(id),
                    503 => {}
                    status => panic!("{status} {}", answer.text()),
                }
            }
            kept
        });
        for _ in 0..8 {
            thread::sleep(Duration::from_millis(30));
            shared.expire("g");
        }
        let kept = writing.join().unwrap();
        is_done.store(true, Ordering::Relaxed);
        (kept, following.map(|following| following.join().unwrap()))
    });
    assert!(!kept.is_empty());
    for mut follower in followers {
        follower.asks.0 = "";
        let mut seen = usize::MAX;
        while std::mem::replace(&mut seen, follower.ids.len()) != follower.ids.len() {
            follower.follow(&servers[1]);
        }
        let all: BTreeSet<&str> = follower.ids.iter().map(String::as_str).collect();
        assert_eq!(all.len(), follower.ids.len(), "none comes twice");
        for id in &kept {
            assert!(all.contains(format!("\"{id}\"").as_str()), "{id} is missed");
        }
    }
}

#[test]
fn changes_are_read_on_a_server_that_follows_the_graph() {
    let shared = SharedMemory::new();
    let (a, b) = (keeping(&shared), keeping(&shared));
    a.done("POST", GRAPH, &json!({}));
    schema(&a);
    b.await_role("g", "follower");
    for id in ["x", "y", "z"] {
        a.done("POST", &vertices(), &vertex(id));
    }
    let change = json!({"label": "thing", "properties": {"note": "new"}});
    a.done("PUT", &format!("{}?action=append", path_of("y")), &change);
    let of = version(&a.ask("DELETE", &path_of("x"), &Value::Null));
    let path = format!("{GRAPH}/changes?since=earliest&before=true&effective=true");
    let bookmark = format!("Varve-Bookmark: {of}\r\n");
    let (led, read) = (a.get(&path), followed(&b, &path, &bookmark));
    assert_eq!(read.status, 200);
    assert_eq!(led.text(), read.text());
    assert_eq!(read.text().matches("\"version\"").count(), 8);
    // The page up to the position ends there; the leader waits for the next commit.
    let lines = read.text().to_owned();
    let end: Value = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
    let end = end["caught_up_to"].as_str().unwrap();
    let path = format!("{GRAPH}/changes?since={end}");
    assert_eq!(followed(&b, &path, BOUNDED).text().lines().count(), 2);
    let before = counts(&b);
    thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let path = format!("{path}&wait=20s");
            b.ask_with("GET", &path, BOUNDED, &Value::Null)
        });
        thread::sleep(Duration::from_millis(50));
        a.done("POST", &vertices(), &vertex("next"));
        let answer = waiting.join().unwrap();
        assert!(answer.text().contains("next"), "{}", answer.text());
    });
    assert_eq!(counts(&b).0, before.0);
    // A cursor after the position of the follower.
    for round in 0..10 {
        let written = a.ask("POST", &vertices(), &vertex(&format!("w{round}")));
        let path = format!("{GRAPH}/changes?since={}", version(&written));
        let answer = b.ask_with("GET", &path, BOUNDED, &Value::Null);
        assert_eq!(answer.status, 200, "{}", answer.text());
        let answer = bookmarked(&b, &path, version(&written));
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
    let path = format!("{GRAPH}/changes?since=1");
    assert_eq!(followed(&b, &path, BOUNDED).status, 410);
}

#[test]
fn a_stream_is_served_by_the_leader() {
    let shared = SharedMemory::new();
    let (a, b) = (keeping(&shared), keeping(&shared));
    a.done("POST", GRAPH, &json!({}));
    schema(&a);
    let path = format!("{GRAPH}/changes?since=earliest");
    let headers = "accept: text/event-stream\r\n";
    let sent_on = b.ask_with("GET", &path, headers, &Value::Null);
    assert_eq!(sent_on.status, 307, "{}", sent_on.text());
    let location = format!("http://{}{path}", a.address());
    assert_eq!(sent_on.header("location"), Some(location.as_str()));
    let mut client = a.connect();
    client.send(&request("GET", &path, headers, ""));
    let mut text = String::new();
    while !text.contains("event: caught_up") {
        text.push_str(&client.receive_some());
    }
    assert_eq!(text.matches("event: change").count(), 3, "{text}");
}
