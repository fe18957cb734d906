//! The server is armed to end, or to fail, at each named place of its work in turn. What it
//! acknowledged must be there, a request whole or not at all, the past as it was answered, and the
//! store sound.
//!
//! `VARVE_FAIL_POINT_HITS` says how often each place is tried; without it a few places are, once
//! each. `VARVE_CRASH_SEED` repeats a run; the seed is printed.

use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::Value as Json;
use varve_kv::fail_point::{ALL, Errors, FailPoint};

use crate::acknowledged::{self, Random, Writer};
use crate::chores::{self, Chore, Chores};
use crate::seeds::{number_from, seed};
use crate::server::{Client, ServerProcess, VARVE, run, serve_on, shown};

/// Concurrent writers.
const WRITERS: usize = 3;
/// How long the load goes on if the place is not reached.
const TIMEOUT: Duration = Duration::from_secs(300);
/// The most times that a place of every commit is passed before it acts.
const HITS_OFTEN: u64 = 120;
/// The same for a place of rarer work.
const HITS_SELDOM: u64 = 3;
/// Places tried in every run, and how many others.
const ALWAYS: [&str; 3] = ["commit.stored", "space.written", "graph.marked"];
const OTHERS: usize = 2;

/// A data folder with the schema.
fn prepared() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let server = serve_on(dir.path());
    for (kind, body) in acknowledged::SCHEMA.iter().chain(&chores::SCHEMA) {
        server.must("POST", &format!("/graphs/hugegraph/schema/{kind}"), body);
    }
    assert!(server.terminate().0.success());
    dir
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &to);
        } else {
            std::fs::copy(&path, &to).expect("a file can be copied");
        }
    }
}

fn command(data: &Path, point: &str) -> Command {
    let mut command = Command::new(VARVE);
    command.arg("serve").arg("--data-dir").arg(data);
    command.envs(chores::OPTIONS);
    command.env("VARVE_BACKUP_TO", chores::store(data));
    if !point.is_empty() {
        command.env("VARVE_FAIL_POINT", point);
    }
    // This place is on the way of the other durabilities only.
    if point.starts_with("space.sync") {
        command.env("VARVE_STORAGE_DURABILITY", "interval:20");
    }
    if is_of_front(point) {
        command.env("VARVE_STORAGE_FRONT_TABLE_BYTES", FRONT_TABLE_BYTES);
    }
    command
}

/// Small enough that front tables are flushed all the time.
const FRONT_TABLE_BYTES: &str = "20000";

/// Whether the place is on the way of the front table.
fn is_of_front(point: &str) -> bool {
    point.starts_with("front.") || point.starts_with("log.")
}

/// Questions about the past and how they were answered.
#[derive(Default)]
struct Past(Vec<(String, u16, Json)>);

impl Past {
    /// Asks for vertices of the first writer as of just now, until the server does not answer.
    fn ask(&mut self, client: &Client, go_on: &dyn Fn() -> bool) {
        let mut random = Random::new(11);
        while go_on() {
            let since = SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .expect("after 1970");
            let version = u64::try_from(since.as_micros()).expect("before the year 500,000") << 8;
            let id = random.below(60) + 1;
            let path = format!("/graphs/hugegraph/graph/vertices/%22w0-{id}%22?as_of_tx={version}");
            match client.try_ask("GET", &path, "") {
                Some((status @ (200 | 404), answer)) => self.0.push((path, status, answer)),
                Some((503, _)) => {}
                Some((status, answer)) => panic!("{path}: {status} {answer}"),
                None => return,
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn check(&self, client: &Client) {
        for (path, status, answer) in &self.0 {
            let (now, found) = client.try_ask("GET", path, "").expect("the server answers");
            assert_eq!(now, *status, "{path}: {found} was {answer}");
            // What is missing is logged with the time of day.
            if now == 200 {
                assert_eq!(found, *answer, "{path}");
            }
        }
    }
}

/// Everybody who works on a server, and what they know.
struct Crowd {
    writers: Vec<Writer>,
    chores: Chores,
    past: Past,
}

impl Crowd {
    fn new(data: &Path, seed: u64) -> Self {
        let writer = |at: usize| Writer::new(&format!("w{at}"), seed.wrapping_add(at as u64 * 977));
        Self {
            writers: (0..WRITERS).map(writer).collect(),
            chores: Chores::new(data),
            past: Past::default(),
        }
    }

    /// Works until the server is gone.
    fn work(&mut self, server: &ServerProcess, first: Option<Chore>) {
        let started = Instant::now();
        let in_time = || started.elapsed() < TIMEOUT;
        thread::scope(|scope| {
            for writer in &mut self.writers {
                let client = server.client();
                scope.spawn(move || writer.run(&client, &in_time));
            }
            let (client, past) = (server.client(), &mut self.past);
            scope.spawn(move || past.ask(&client, &in_time));
            let (client, chores) = (server.client(), &mut self.chores);
            scope.spawn(move || chores.run(&client, first, &|_| in_time()));
        });
    }

    fn check(&mut self, server: &ServerProcess) {
        thread::scope(|scope| {
            for writer in &mut self.writers {
                let client = server.client();
                scope.spawn(move || writer.check(&client));
            }
        });
        self.past.check(&server.client());
        self.chores.check(&server.client());
    }

    fn acknowledged(&self) -> u64 {
        self.writers.iter().map(|writer| writer.acknowledged).sum()
    }
}

fn verify(data: &Path) {
    let (code, text) = run(&["verify", "--data-dir", shown(data)]);
    assert!(code == 0 && text.contains("0 problems"), "{text}");
}

/// Which time a place acts.
fn hit(point: &FailPoint, random: &mut Random) -> u64 {
    let often = [
        "commit.",
        "space.writ",
        "front.app",
        "log.append",
        "log.sync",
    ];
    let often = often.iter().any(|start| point.name().starts_with(start));
    let most = match point.name() {
        _ if often => HITS_OFTEN,
        "space.sync" => HITS_OFTEN / 4,
        name if is_of_front(name) => HITS_OFTEN / 10,
        _ => HITS_SELDOM,
    };
    random.below(most) + 1
}

fn killed_at(template: &Path, point: &FailPoint, random: &mut Random) -> u64 {
    let armed = format!("{}:kill:{}", point.name(), hit(point, random));
    let dir = tempfile::tempdir().expect("a temporary folder");
    let data = dir.path().join("data");
    copy(template, &data);
    let mut crowd = Crowd::new(&data, random.below(u64::from(u32::MAX)));
    let started = Instant::now();
    match ServerProcess::try_start(&mut command(&data, &armed)) {
        Ok(mut server) => {
            crowd.work(&server, Chore::of(point.name()));
            assert!(server.has_ended(), "{armed} was not reached");
        }
        // It is passed on the way to listening.
        Err(said) => assert!(said.contains("told to fail"), "{armed}: {said}"),
    }
    let lived = started.elapsed();
    let server = ServerProcess::start(&mut command(&data, ""));
    crowd.check(&server);
    crowd.chores.all_work(&server.client());
    server.kill();
    verify(&data);
    println!(
        "{armed}: {} writes, {} chores and {} answers about the past are there; it lived {} ms",
        crowd.acknowledged(),
        crowd.chores.done,
        crowd.past.0.len(),
        lived.as_millis()
    );
    crowd.acknowledged()
}

/// The places to be tried, and how often each.
fn chosen(among: &[&'static FailPoint], random: &mut Random) -> (Vec<&'static FailPoint>, u64) {
    if let Some(hits) = number_from("VARVE_FAIL_POINT_HITS") {
        return (among.to_vec(), hits);
    }
    let is_always = |point: &&'static FailPoint| ALWAYS.contains(&point.name());
    let (mut chosen, mut others): (Vec<_>, Vec<_>) = among.iter().copied().partition(is_always);
    for _ in 0..OTHERS.min(others.len()) {
        let at = usize::try_from(random.below(others.len() as u64)).expect("an index");
        chosen.push(others.swap_remove(at));
    }
    (chosen, 1)
}

#[test]
fn a_crash_at_a_fail_point_loses_nothing_and_leaves_no_half() {
    let seed = seed();
    println!("VARVE_CRASH_SEED={seed}");
    let mut random = Random::new(seed);
    let template = prepared();
    // Those of a cluster are not reached by an embedded engine; the tests of that engine crash
    // there.
    let embedded = |point: &&FailPoint| !point.name().starts_with("cluster.");
    let places: Vec<&FailPoint> = ALL.iter().copied().filter(embedded).collect();
    let (points, hits) = chosen(&places, &mut random);
    let mut acknowledged = 0;
    for _ in 0..hits {
        for point in &points {
            acknowledged += killed_at(template.path(), point, &mut random);
        }
    }
    println!(
        "{} crashes, {acknowledged} writes acknowledged, all there",
        hits * points.len() as u64
    );
}

/// A write of the storage engine fails so that nobody knows whether it was stored: no later write
/// may be acknowledged.
fn broken_at(template: &Path, point: &FailPoint, random: &mut Random) {
    let armed = format!("{}:io_error:{}", point.name(), hit(point, random));
    let dir = tempfile::tempdir().expect("a temporary folder");
    let data = dir.path().join("data");
    copy(template, &data);
    let mut crowd = Crowd::new(&data, random.below(u64::from(u32::MAX)));
    crowd
        .writers
        .iter_mut()
        .for_each(|writer| writer.unknown = &[500]);
    match ServerProcess::try_start(&mut command(&data, &armed)) {
        Err(said) => assert!(said.contains("told to fail"), "{armed}: {said}"),
        Ok(server) => {
            let started = Instant::now();
            thread::scope(|scope| {
                for writer in &mut crowd.writers {
                    let client = server.client();
                    scope.spawn(move || writer.run(&client, &|| started.elapsed() < TIMEOUT));
                }
            });
            assert!(
                crowd.writers.iter().all(Writer::is_in_doubt),
                "{armed}: writes are acknowledged after a failure"
            );
            for n in 0..10 {
                let body = format!(r#"{{"label":"thing","id":"late-{n}","properties":{{"n":1}}}}"#);
                let (status, answer) =
                    server.ask("POST", "/graphs/hugegraph/graph/vertices", &body);
                assert_eq!(status, 500, "{armed}: {answer}");
            }
            let (status, _) = server.ask("GET", "/graphs/hugegraph/graph/vertices?limit=5", "");
            assert_eq!(status, 200, "{armed}: reads go on");
            drop(server);
        }
    }
    let server = ServerProcess::start(&mut command(&data, ""));
    crowd.check(&server);
    let steps = std::cell::Cell::new(0);
    crowd.writers[0].run(&server.client(), &|| steps.replace(steps.get() + 1) < 20);
    crowd.check(&server);
    server.kill();
    verify(&data);
    println!("{armed}: {} writes are there", crowd.acknowledged());
}

/// A failure after which writes go on; at most they are refused, for want of room, until it has
/// passed.
fn unnoticed_at(template: &Path, point: &FailPoint, action: &str, random: &mut Random) {
    let armed = format!("{}:{action}:{}", point.name(), hit(point, random));
    let dir = tempfile::tempdir().expect("a temporary folder");
    let data = dir.path().join("data");
    copy(template, &data);
    let server = ServerProcess::start(&mut command(&data, &armed));
    let mut crowd = Crowd::new(&data, random.below(u64::from(u32::MAX)));
    thread::scope(|scope| {
        for writer in &mut crowd.writers {
            writer.tolerated = &[507];
            let client = server.client();
            let steps = std::cell::Cell::new(0);
            scope.spawn(move || writer.run(&client, &|| steps.replace(steps.get() + 1) < 150));
        }
    });
    crowd.check(&server);
    let (before, started) = (crowd.writers[0].acknowledged, Instant::now());
    while crowd.writers[0].acknowledged < before + 5 {
        assert!(started.elapsed() < TIMEOUT, "{armed}: no write succeeds");
        let steps = std::cell::Cell::new(0);
        crowd.writers[0].run(&server.client(), &|| steps.replace(steps.get() + 1) < 5);
    }
    server.kill();
    let server = ServerProcess::start(&mut command(&data, ""));
    crowd.check(&server);
    server.kill();
    verify(&data);
    println!("{armed}: {} writes are there", crowd.acknowledged());
}

/// A write finds no room: nothing of it is stored, and the next ones go on.
fn full_at(template: &Path, point: &FailPoint, random: &mut Random) {
    let armed = format!("{}:disk_full:{}", point.name(), hit(point, random) + 5);
    let dir = tempfile::tempdir().expect("a temporary folder");
    let data = dir.path().join("data");
    copy(template, &data);
    let server = ServerProcess::start(&mut command(&data, &armed));
    let mut crowd = Crowd::new(&data, random.below(u64::from(u32::MAX)));
    let refused = std::sync::atomic::AtomicU64::new(0);
    thread::scope(|scope| {
        for writer in &mut crowd.writers {
            writer.tolerated = &[507];
            let (client, refused) = (server.client(), &refused);
            scope.spawn(move || {
                let started = Instant::now();
                let mut after = 0;
                while after < 30 && started.elapsed() < TIMEOUT {
                    let steps = std::cell::Cell::new(0);
                    writer.run(&client, &|| steps.replace(steps.get() + 1) < 5);
                    refused.fetch_max(writer.refusals, std::sync::atomic::Ordering::Relaxed);
                    after += u64::from(refused.load(std::sync::atomic::Ordering::Relaxed) > 0);
                }
            });
        }
    });
    assert!(refused.into_inner() > 0, "{armed} was not reached");
    crowd.check(&server);
    assert!(server.terminate().0.success());
    let server = ServerProcess::start(&mut command(&data, ""));
    crowd.check(&server);
    server.kill();
    verify(&data);
    println!("{armed}: {} writes are there", crowd.acknowledged());
}

/// A step of a chore fails: the chore says so, what was there stays, and it can be done again.
fn chore_fails_at(template: &Path, point: &FailPoint, action: &str) {
    let armed = format!("{}:{action}:{}", point.name(), 1);
    let dir = tempfile::tempdir().expect("a temporary folder");
    let data = dir.path().join("data");
    copy(template, &data);
    let server = ServerProcess::start(&mut command(&data, &armed));
    let mut crowd = Crowd::new(&data, 3);
    let chore = Chore::of(point.name()).expect("some chore passes it");
    let started = Instant::now();
    let client = server.client();
    // A space that is still in use when its graph is dropped is removed later: then the log has it.
    let cause = match action {
        "disk_full" => "is full",
        _ => "told to fail",
    };
    let is_logged = || server.logged_so_far(&["was not removed", cause]).is_some();
    crowd.chores.run(&client, Some(chore), &|chores| {
        chores.failures == 0 && !is_logged() && started.elapsed() < TIMEOUT
    });
    let failures = crowd.chores.failures;
    assert!(failures == 1 || is_logged(), "{armed} was not reached");
    crowd.chores.check(&client);
    crowd.chores.all_work(&client);
    crowd.chores.check(&client);
    server.kill();
    let server = ServerProcess::start(&mut command(&data, ""));
    crowd.check(&server);
    server.kill();
    verify(&data);
    println!("{armed}: reported, and done again");
}

#[test]
fn a_failure_at_a_fail_point_is_reported_and_does_what_the_page_says() {
    let seed = seed();
    println!("VARVE_CRASH_SEED={seed}");
    let mut random = Random::new(seed);
    let template = prepared();
    let failing: Vec<&FailPoint> = ALL
        .iter()
        .copied()
        .filter(|point| point.errors() != Errors::None)
        .collect();
    let (points, hits) = chosen(&failing, &mut random);
    for _ in 0..hits {
        for point in &points {
            let full = point.errors() == Errors::All;
            if Chore::of(point.name()).is_some() {
                chore_fails_at(template.path(), point, "io_error");
                if full {
                    chore_fails_at(template.path(), point, "disk_full");
                }
                continue;
            }
            match point.name() {
                // What is to be removed is removed later.
                "log.remove" | "log.first" | "log.removed" => {
                    unnoticed_at(template.path(), point, "io_error", &mut random);
                }
                _ => broken_at(template.path(), point, &mut random),
            }
            match point.name() {
                // What waits in memory waits on.
                "log.remove" | "log.rotate" | "front.file" => {
                    unnoticed_at(template.path(), point, "disk_full", &mut random);
                }
                _ if full => full_at(template.path(), point, &mut random),
                _ => {}
            }
        }
    }
}

#[test]
fn a_wrong_fail_point_ends_the_command_at_once() {
    let output = Command::new(VARVE)
        .args(["config"])
        .env("VARVE_FAIL_POINT", "commit.nowhere:kill")
        .output()
        .expect("the binary runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("no fail point 'commit.nowhere'"), "{said}");
}
