//! Followers of changes where several servers lead the graph in turn.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

use super::*;

fn keeping(shared: &Arc<SharedMemory>) -> Server {
    Server::start_keeping(shared, ServerConfig::default(), None, Retention::All)
}

/// What a follower has seen.
struct Follower {
    cursor: String,
    last: u64,
    ids: Vec<String>,
}

impl Follower {
    /// Takes what there is, from whichever server it asks.
    fn follow(&mut self, server: &Server) {
        let path = format!(
            "{GRAPH}/changes?since={}&types=vertex&wait=100ms",
            self.cursor
        );
        let answer = server.get(&path);
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
    let (kept, mut follower) = thread::scope(|scope| {
        let following = scope.spawn(|| {
            let mut follower = Follower {
                cursor: "earliest".to_owned(),
                last: 0,
                ids: Vec::new(),
            };
            while !is_done.load(Ordering::Relaxed) {
                servers.iter().for_each(|server| follower.follow(server));
            }
            follower
        });
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
        (kept, following.join().unwrap())
    });
    let mut seen = usize::MAX;
    while std::mem::replace(&mut seen, follower.ids.len()) != follower.ids.len() {
        follower.follow(&servers[1]);
    }
    let all: BTreeSet<&str> = follower.ids.iter().map(String::as_str).collect();
    assert_eq!(all.len(), follower.ids.len(), "none comes twice");
    assert!(!kept.is_empty());
    for id in kept {
        assert!(all.contains(format!("\"{id}\"").as_str()), "{id} is missed");
    }
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
