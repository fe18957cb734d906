//! A follower of changes while the server is killed again and again: what was acknowledged comes
//! once, in order, and what it made of the changes is the graph.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::thread;
use std::time::Duration;

use serde_json::{Value as Json, json};

use crate::acknowledged::Random;
use crate::seeds::{number_from, seed};
use crate::server::{Client, ServerProcess, VARVE, run, shown};

/// The longest that a server lives, in milliseconds.
const LIFE_MS_MAX: u64 = 1_500;
/// Vertices that are written again and again.
const NAMES: u64 = 50;

pub(crate) fn start(data: &std::path::Path) -> ServerProcess {
    let mut command = Command::new(VARVE);
    command.args(["serve", "--set", "graph.changes=all", "--data-dir"]);
    ServerProcess::start(command.arg(data))
}

/// What a follower has: where to go on, and what it made of the changes.
#[derive(Default)]
struct Follower {
    cursor: Option<String>,
    /// Each commit that has come.
    versions: BTreeSet<u64>,
    last: u64,
    state: BTreeMap<String, Json>,
    /// How often each write came.
    writes: BTreeMap<u64, u64>,
}

impl Follower {
    /// Takes what there is. `false` when the server is gone.
    fn follow(&mut self, client: &Client) -> bool {
        let cursor = self.cursor.clone().unwrap_or_else(|| "earliest".to_owned());
        let path = format!(
            "/graphs/hugegraph/changes?since={cursor}&limit=7&wait=100ms&types=vertex,edge"
        );
        let Some((status, body)) = client.try_ask("GET", &path, "") else {
            return false;
        };
        assert_eq!(status, 200, "{body}");
        // Several lines are no one value, so they come as a text.
        let text = body.as_str().expect("lines");
        for line in text.lines() {
            let line: Json = serde_json::from_str(line).expect("a line of JSON");
            if let Some(cursor) = line["caught_up_to"].as_str() {
                self.cursor = Some(cursor.to_owned());
            }
            let Some(version) = line["version"].as_str() else {
                continue;
            };
            let version: u64 = version.parse().expect("a version");
            match line["n"].as_u64() {
                Some(0) => assert!(self.versions.insert(version), "{version} came twice"),
                _ => assert!(self.versions.contains(&version), "{line}"),
            }
            assert!(version >= self.last, "{version} after {}", self.last);
            self.last = version;
            let id = line["ref"].as_str().expect("a ref").to_owned();
            match line["kind"].as_str() {
                Some("put") => {
                    let properties = line["element"]["properties"].clone();
                    if let Some(write) = properties["write"].as_u64() {
                        *self.writes.entry(write).or_default() += 1;
                    }
                    self.state.insert(id, properties);
                }
                Some("delete") => drop(self.state.remove(&id)),
                other => panic!("{other:?}: {line}"),
            }
        }
        true
    }
}

pub(crate) fn make_schema(server: &ServerProcess) {
    for (path, body) in [
        ("propertykeys", json!({"name": "name", "data_type": "TEXT"})),
        (
            "propertykeys",
            json!({"name": "write", "data_type": "LONG"}),
        ),
        (
            "vertexlabels",
            json!({"name": "thing", "properties": ["name", "write"], "primary_keys": ["name"]}),
        ),
    ] {
        server.must(
            "POST",
            &format!("/graphs/hugegraph/schema/{path}"),
            &body.to_string(),
        );
    }
}

/// Writes batches until the server is gone; returns the numbers that were acknowledged.
fn write(client: &Client, next: &mut u64, random: &mut Random) -> Vec<u64> {
    let mut acknowledged = Vec::new();
    loop {
        if random.below(10) == 0 {
            let id = format!("%221:t{}%22", random.below(NAMES));
            if client
                .try_ask(
                    "DELETE",
                    &format!("/graphs/hugegraph/graph/vertices/{id}?label=thing"),
                    "",
                )
                .is_none()
            {
                return acknowledged;
            }
        }
        let numbers: Vec<u64> = (*next..*next + 1 + random.below(4)).collect();
        *next += numbers.len() as u64;
        let mut names = BTreeSet::new();
        let vertices: Vec<Json> = numbers
            .iter()
            .filter_map(|number| {
                let name = format!("t{}", random.below(NAMES));
                names.insert(name.clone()).then(
                    || json!({"label": "thing", "properties": {"name": name, "write": number}}),
                )
            })
            .collect();
        let written: Vec<u64> = vertices
            .iter()
            .filter_map(|vertex| vertex["properties"]["write"].as_u64())
            .collect();
        let body = Json::from(vertices).to_string();
        match client.try_ask("POST", "/graphs/hugegraph/graph/vertices/batch", &body) {
            Some((201, _)) => acknowledged.extend(written),
            Some((503, _)) => {}
            Some(other) => panic!("{other:?}"),
            None => return acknowledged,
        }
    }
}

#[test]
fn a_follower_has_every_commit_once_whatever_is_killed() {
    let rounds = number_from("VARVE_CRASH_ROUNDS").unwrap_or(4);
    let seed = seed();
    println!("VARVE_CRASH_SEED={seed} VARVE_CRASH_ROUNDS={rounds}");
    let mut random = Random::new(seed);
    let folder = tempfile::tempdir().expect("a folder");
    let (mut follower, mut acknowledged, mut next) = (Follower::default(), Vec::new(), 0);
    for round in 0..rounds {
        let server = start(folder.path());
        if round == 0 {
            make_schema(&server);
        }
        let (writer, reader) = (server.client(), server.client());
        let life = Duration::from_millis(200 + random.below(LIFE_MS_MAX));
        let mut own = Random::new(random.below(u64::MAX));
        thread::scope(|scope| {
            let writing = scope.spawn(|| write(&writer, &mut next, &mut own));
            let following = scope.spawn(|| while follower.follow(&reader) {});
            thread::sleep(life);
            server.kill();
            acknowledged.extend(writing.join().expect("a writer"));
            following.join().expect("a follower");
        });
    }
    let server = start(folder.path());
    let client = server.client();
    let caught_up = |follower: &mut Follower| {
        let before = follower.versions.len();
        assert!(follower.follow(&client));
        follower.versions.len() == before
    };
    while !caught_up(&mut follower) {}
    for write in &acknowledged {
        assert_eq!(follower.writes.get(write), Some(&1), "write {write}");
    }
    assert!(follower.writes.values().all(|times| *times == 1));
    let listed = server.must("GET", "/graphs/hugegraph/graph/vertices?limit=-1", "");
    let vertices = listed["vertices"].as_array().expect("vertices");
    let stored: BTreeMap<String, Json> = vertices
        .iter()
        .map(|vertex| (vertex["id"].to_string(), vertex["properties"].clone()))
        .collect();
    assert_eq!(follower.state, stored);
    server.kill();
    let (code, text) = run(&["verify", "--data-dir", shown(folder.path())]);
    assert!(code == 0 && text.contains("0 problems"), "{text}");
    let of = |graph| {
        run(&[
            "verify",
            "--graph",
            graph,
            "--data-dir",
            shown(folder.path()),
        ])
    };
    let ((found, _), (missing, text)) = (of("hugegraph"), of("nowhere"));
    assert!(found == 0 && missing != 0, "{text}");
    println!(
        "{} writes acknowledged, {} commits followed",
        acknowledged.len(),
        follower.versions.len()
    );
}
