//! Two servers on one Apache Cassandra node: changes of one server are visible on the other at
//! once; races between them; and a graph whose leader is killed or frozen. `VARVE_BIN` is a server
//! with that engine, and `VARVE_TEST_CASSANDRA` the node; without them the tests are skipped.
//! `VARVE_SERVERS_TRIES` is the number of repetitions of the races (default 200).

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "servers/followers.rs"]
mod followers;

use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use varve_testkit::http::{Answer, Client};
use varve_testkit::process::ServerProcess;

/// Writes of each writer during one change of the schema. Each index is built over all earlier
/// writes, so the load is a number of writes: at a fixed rate, a slow machine would build over more
/// than a fast one.
const WRITES_PER_CHANGE: usize = 25;
/// The pause between two writes of one writer while the schema is changed.
const LOAD_STEP: Duration = Duration::from_millis(20);
/// Threads that read the writes back.
const CHECKERS: usize = 4;

/// The lease of the servers, in seconds.
const LEASE_SECONDS: &str = "4";
/// The time limit for another server to take the lead, and for a job, on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(120);
const GRAPH: &str = "/graphs/hugegraph";

/// Locked by the running test: one node is enough for two servers, but not for four.
static NODE: Mutex<()> = Mutex::new(());

struct Process {
    process: ServerProcess,
    client: Client,
}

impl Process {
    fn start(bin: &str, node: &str, keyspace: &str, options: &[&str]) -> Self {
        let mut command = Command::new(bin);
        command
            .args(["serve", "--engine", "cassandra"])
            .args(options)
            .env("VARVE_STORAGE_CASSANDRA_CONTACT_POINTS", node)
            .env("VARVE_STORAGE_CASSANDRA_REPLICATION", "1")
            .env("VARVE_STORAGE_CASSANDRA_KEYSPACE", keyspace)
            .env("VARVE_STORAGE_CASSANDRA_LEASE_SECONDS", LEASE_SECONDS);
        let process = ServerProcess::start(&mut command);
        let client = process.client();
        Self { process, client }
    }

    fn ask(&self, verb: &str, path: &str, body: &str) -> std::io::Result<Answer> {
        self.client.exchange(verb, path, body)
    }

    /// Sends a request that must succeed. Returns the body of the answer.
    #[track_caller]
    fn done(&self, verb: &str, path: &str, body: &str) -> String {
        let answer = self.ask(verb, path, body).unwrap();
        assert!(
            answer.is_success(),
            "{verb} {path} {body}: {} {}",
            answer.status,
            answer.text()
        );
        answer.text().to_owned()
    }

    fn status(&self, verb: &str, path: &str, body: &str) -> u16 {
        self.ask(verb, path, body).unwrap().status
    }

    fn leads(&self) -> bool {
        let response = self.ask("GET", "/cluster", "");
        response.is_ok_and(|response| response.text().contains(r#""state":"leader""#))
    }

    fn await_leading(&self, wanted: bool) {
        let start = Instant::now();
        while self.leads() != wanted {
            assert!(
                start.elapsed() < TIMEOUT,
                "{} leads: never {wanted}",
                self.process.url
            );
            thread::sleep(Duration::from_millis(100));
        }
    }

    /// Verifies the whole graph, which this server leads.
    fn verify(&self) {
        let job = self.done("POST", "/admin/verify", r#"{"graph":"hugegraph"}"#);
        let id: String = job.chars().filter(char::is_ascii_digit).collect();
        let start = Instant::now();
        let report = loop {
            let job = self.done("GET", &format!("/admin/jobs/{id}"), "");
            if !job.contains(r#""status":"running""#) {
                break job;
            }
            assert!(start.elapsed() < TIMEOUT, "{job}");
            thread::sleep(Duration::from_millis(200));
        };
        assert!(report.contains(r#""problem_count":0"#), "{report}");
    }
}

fn schema(server: &Process) {
    let key = |name: &str, cardinality: &str| {
        let path = format!("{GRAPH}/schema/propertykeys");
        let body =
            format!(r#"{{"name":"{name}","data_type":"TEXT","cardinality":"{cardinality}"}}"#);
        server.done("POST", &path, &body);
    };
    key("name", "SINGLE");
    key("mail", "SINGLE");
    key("tags", "SET");
    server.done(
        "POST",
        &format!("{GRAPH}/schema/vertexlabels"),
        r#"{"name":"thing","id_strategy":"CUSTOMIZE_STRING","properties":["name","mail","tags"],"nullable_keys":["name","mail","tags"]}"#,
    );
    server.done(
        "POST",
        &format!("{GRAPH}/schema/edgelabels"),
        r#"{"name":"link","source_label":"thing","target_label":"thing","properties":[]}"#,
    );
    server.done(
        "POST",
        &format!("{GRAPH}/schema/indexlabels"),
        r#"{"name":"thingByMail","base_type":"VERTEX_LABEL","base_value":"thing","index_type":"UNIQUE","fields":["mail"]}"#,
    );
}

fn vertices() -> String {
    format!("{GRAPH}/graph/vertices")
}

fn at(id: &str) -> String {
    format!("{GRAPH}/graph/vertices/%22{id}%22")
}

fn link(from: &str, to: &str) -> String {
    format!(
        r#"{{"label":"link","outV":"{from}","outVLabel":"thing","inV":"{to}","inVLabel":"thing","properties":{{}}}}"#
    )
}

fn thing(id: &str) -> String {
    format!(r#"{{"label":"thing","id":"{id}","properties":{{"name":"{id}"}}}}"#)
}

/// Runs both at the same time.
fn at_once<T: Send, U: Send>(
    one: impl FnOnce() -> T + Send,
    other: impl FnOnce() -> U + Send,
) -> (T, U) {
    thread::scope(|scope| {
        let other = scope.spawn(other);
        let one = one();
        (one, other.join().unwrap())
    })
}

fn labels_are_there_at_once(a: &Process, b: &Process, tries: usize) {
    for number in 0..tries {
        let (one, other) = if number % 2 == 0 { (a, b) } else { (b, a) };
        let label = format!("label{number}");
        let body = format!(
            r#"{{"name":"{label}","id_strategy":"CUSTOMIZE_STRING","properties":["name"],"nullable_keys":["name"]}}"#
        );
        one.done("POST", &format!("{GRAPH}/schema/vertexlabels"), &body);
        let body = format!(r#"{{"label":"{label}","id":"l{number}","properties":{{}}}}"#);
        other.done("POST", &vertices(), &body);
        assert_eq!(one.status("GET", &at(&format!("l{number}")), ""), 200);
    }
}

fn one_of_two_makes_a_schema_element(a: &Process, b: &Process, tries: usize) {
    let path = format!("{GRAPH}/schema/propertykeys");
    for number in 0..tries {
        let name = format!("key{number}");
        let types = ["TEXT", "INT"].map(|kind| {
            format!(r#"{{"name":"{name}","data_type":"{kind}","cardinality":"SINGLE"}}"#)
        });
        let (one, other) = at_once(
            || a.status("POST", &path, &types[0]),
            || b.status("POST", &path, &types[1]),
        );
        let made = [one, other].iter().filter(|status| **status < 300).count();
        assert_eq!(made, 1, "{name}: {one} {other}");
        let response = a.done("GET", &format!("{path}/{name}"), "");
        assert_eq!(response, b.done("GET", &format!("{path}/{name}"), ""));
        assert!(
            response.contains(if one < 300 { "TEXT" } else { "INT" }),
            "{response}"
        );
    }
}

fn one_of_two_has_a_unique_value(a: &Process, b: &Process, tries: usize) {
    for number in 0..tries {
        let body = |id: &str| {
            format!(
                r#"{{"label":"thing","id":"{id}{number}","properties":{{"mail":"mail{number}"}}}}"#
            )
        };
        let (one, other) = at_once(
            || a.status("POST", &vertices(), &body("ua")),
            || b.status("POST", &vertices(), &body("ub")),
        );
        let made = [one, other].iter().filter(|status| **status < 300).count();
        assert_eq!(made, 1, "{number}: {one} {other}");
    }
}

fn no_append_is_lost(a: &Process, b: &Process, tries: usize) {
    a.done("POST", &vertices(), &thing("counter"));
    let path = format!("{}?action=append", at("counter"));
    let append = |server: &Process, prefix: &str| {
        for number in 0..tries {
            let body =
                format!(r#"{{"label":"thing","properties":{{"tags":["{prefix}{number}"]}}}}"#);
            server.done("PUT", &path, &body);
        }
    };
    at_once(|| append(a, "a"), || append(b, "b"));
    let response = b.done("GET", &at("counter"), "");
    for number in 0..tries {
        for prefix in ["a", "b"] {
            let tag = format!("\"{prefix}{number}\"");
            assert!(response.contains(&tag), "{tag} was lost");
        }
    }
}

fn no_edge_dangles(a: &Process, b: &Process, tries: usize) {
    a.done("POST", &vertices(), &thing("hub"));
    for number in 0..tries {
        let end = format!("end{number}");
        a.done("POST", &vertices(), &thing(&end));
        let (one, other) = if number % 2 == 0 { (a, b) } else { (b, a) };
        at_once(
            || one.done("DELETE", &format!("{}?label=thing", at(&end)), ""),
            || other.status("POST", &format!("{GRAPH}/graph/edges"), &link("hub", &end)),
        );
        assert_eq!(other.status("GET", &at(&end), ""), 404);
        let edges = format!("{GRAPH}/graph/edges?vertex_id=%22hub%22&direction=OUT");
        let response = one.done("GET", &edges, "");
        assert!(!response.contains(&end), "{response}");
    }
}

/// One server changes a label that is being written to, and the other uses each change at once: a
/// new property, then an index on it.
fn schema_changes_under_load(a: &Process, b: &Process, tries: usize) {
    let stop = AtomicBool::new(false);
    // The number of writes that each writer is allowed so far.
    let allowed = AtomicUsize::new(0);
    let written = thread::scope(|scope| {
        let writers: Vec<_> = [a, b]
            .into_iter()
            .enumerate()
            .map(|(at, server)| {
                let (stop, allowed) = (&stop, &allowed);
                scope.spawn(move || {
                    let mut count = 0;
                    while !stop.load(Ordering::Relaxed) {
                        if count < allowed.load(Ordering::Relaxed) {
                            server.done("POST", &vertices(), &thing(&format!("load{at}_{count}")));
                            count += 1;
                        }
                        thread::sleep(LOAD_STEP);
                    }
                    count
                })
            })
            .collect();
        let changed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            for number in 0..tries {
                allowed.store((number + 1) * WRITES_PER_CHANGE, Ordering::Relaxed);
                let (one, other) = if number % 2 == 0 { (a, b) } else { (b, a) };
                change_schema(one, other, number);
            }
        }));
        stop.store(true, Ordering::Relaxed);
        let written: Vec<usize> = writers.into_iter().map(|w| w.join().unwrap()).collect();
        changed.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        written
    });
    for (at, count) in written.into_iter().enumerate() {
        assert!(count > 0);
        for number in 0..count {
            let path = self::at(&format!("load{at}_{number}"));
            assert_eq!(b.status("GET", &path, ""), 200, "{path}");
        }
    }
}

/// Adds a property to the label and uses it at once through the other server. Then adds an index on
/// it and searches by it.
fn change_schema(one: &Process, other: &Process, number: usize) {
    let key = format!("extra{number}");
    let body = format!(r#"{{"name":"{key}","data_type":"TEXT","cardinality":"SINGLE"}}"#);
    one.done("POST", &format!("{GRAPH}/schema/propertykeys"), &body);
    let body = format!(r#"{{"name":"thing","properties":["{key}"],"nullable_keys":["{key}"]}}"#);
    let path = format!("{GRAPH}/schema/vertexlabels/thing?action=append");
    one.done("PUT", &path, &body);
    let body = format!(
        r#"{{"label":"thing","id":"e{number}","properties":{{"name":"e","{key}":"value"}}}}"#
    );
    other.done("POST", &vertices(), &body);
    let body = format!(
        r#"{{"name":"thingBy{key}","base_type":"VERTEX_LABEL","base_value":"thing","index_type":"SECONDARY","fields":["{key}"]}}"#
    );
    let made = one.done("POST", &format!("{GRAPH}/schema/indexlabels"), &body);
    let (_, task) = made.split_once(r#""task_id":"#).unwrap();
    let task: String = task.chars().take_while(char::is_ascii_digit).collect();
    let start = Instant::now();
    loop {
        let response = other.done("GET", &format!("{GRAPH}/tasks/{task}"), "");
        if response.contains(r#""task_status":"success""#) {
            break;
        }
        assert!(
            start.elapsed() < TIMEOUT && !response.contains(r#""task_status":"failed""#),
            "the index {key} is not made: {response}"
        );
        thread::sleep(Duration::from_millis(50));
    }
    let query = format!(
        "{}?label=thing&properties=%7B%22{key}%22%3A%22value%22%7D",
        vertices()
    );
    let found = other.done("GET", &query, "");
    assert!(found.contains(&format!(r#""id":"e{number}""#)), "{found}");
}

/// A transaction of two vertices and the edge between them.
fn pair(id: &str) -> String {
    let (from, to) = (format!("{id}_from"), format!("{id}_to"));
    format!(
        r#"{{"vertices":[{},{}],"edges":[{}]}}"#,
        thing(&from),
        thing(&to),
        link(&from, &to)
    )
}

/// Writes pairs through all servers until `meanwhile` returns. Returns the ids, and whether each
/// pair was acknowledged.
fn write_pairs(
    servers: &[&Process],
    prefix: &str,
    meanwhile: impl FnOnce(),
) -> Vec<(String, bool)> {
    let stop = AtomicBool::new(false);
    let written = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for (at, server) in servers.iter().enumerate() {
            for writer in 0..2 {
                let (stop, written) = (&stop, &written);
                scope.spawn(move || {
                    let mut number = 0;
                    while !stop.load(Ordering::Relaxed) {
                        let id = format!("{prefix}{at}{writer}x{number}");
                        let path = format!("{GRAPH}/graph/batch");
                        let status = server
                            .ask("POST", &path, &pair(&id))
                            .map(|answer| answer.status);
                        let kept = status.as_ref().is_ok_and(|status| *status < 300);
                        written.lock().unwrap().push((id, kept));
                        number += 1;
                        if status.is_err() {
                            // No server answers.
                            thread::sleep(Duration::from_millis(200));
                        }
                    }
                });
            }
        }
        meanwhile();
        stop.store(true, Ordering::Relaxed);
    });
    written.into_inner().unwrap()
}

/// Checks that every acknowledged pair exists, and that no pair is incomplete.
fn check_pairs(server: &Process, written: &[(String, bool)]) {
    let acknowledged = written.iter().filter(|(_, kept)| *kept).count();
    assert!(acknowledged > 0);
    thread::scope(|scope| {
        for part in written.chunks(written.len().div_ceil(CHECKERS)) {
            scope.spawn(move || {
                part.iter()
                    .for_each(|(id, kept)| check_pair(server, id, *kept))
            });
        }
    });
    println!(
        "{acknowledged} of {} transactions were acknowledged",
        written.len()
    );
}

fn check_pair(server: &Process, id: &str, kept: bool) {
    let found = ["from", "to"].map(|end| server.status("GET", &at(&format!("{id}_{end}")), ""));
    let edges = format!("{GRAPH}/graph/edges?vertex_id=%22{id}_from%22&direction=OUT");
    let linked = server.ask("GET", &edges, "").unwrap();
    let linked = linked.status == 200 && linked.text().contains(&format!("{id}_to"));
    match found {
        [200, 200] => assert!(linked, "{id} has no edge"),
        [404, 404] => assert!(!kept && !linked, "{id} was lost"),
        other => panic!("{id} is half there: {other:?}"),
    }
}

/// The server and the node to test with, if the environment names them.
fn wanted() -> Option<(String, String)> {
    let named = (
        std::env::var("VARVE_BIN"),
        std::env::var("VARVE_TEST_CASSANDRA"),
    );
    match named {
        (Ok(bin), Ok(node)) => Some((bin, node)),
        _ => {
            println!("skipped: VARVE_BIN and VARVE_TEST_CASSANDRA say which server and which node");
            None
        }
    }
}

#[test]
fn two_servers_on_one_cluster() {
    let Some((bin, node)) = wanted() else { return };
    let _node = NODE.lock().unwrap_or_else(PoisonError::into_inner);
    let tries = std::env::var("VARVE_SERVERS_TRIES").map_or(200, |text| text.parse().unwrap());
    let few = (tries / 20).max(5);
    let keyspace = format!("s{}", std::process::id());
    let start = || Process::start(&bin, &node, &keyspace, &[]);
    let (a, b) = (start(), start());
    a.await_leading(true);
    assert!(!b.leads());
    schema(&b);
    let timed = |what: &str, work: &dyn Fn()| {
        let start = Instant::now();
        work();
        println!("{what}: {:.1} s", start.elapsed().as_secs_f64());
    };
    timed("labels", &|| labels_are_there_at_once(&a, &b, tries));
    timed("schema", &|| one_of_two_makes_a_schema_element(&a, &b, few));
    timed("unique values", &|| {
        one_of_two_has_a_unique_value(&a, &b, few)
    });
    timed("appends", &|| no_append_is_lost(&a, &b, few));
    timed("edges", &|| no_edge_dangles(&a, &b, few));
    timed("schema under load", &|| {
        schema_changes_under_load(&a, &b, few)
    });

    let started = Instant::now();
    let written = write_pairs(&[&a, &b], "k", || {
        thread::sleep(Duration::from_secs(3));
        a.process.signal("KILL");
        b.await_leading(true);
        println!(
            "led by the other after {:.1} s",
            started.elapsed().as_secs_f64() - 3.0
        );
        thread::sleep(Duration::from_secs(3));
    });
    drop(a);
    check_pairs(&b, &written);
    b.verify();

    let a = start();
    a.await_leading(false);
    let written = write_pairs(&[&b, &a], "p", || {
        thread::sleep(Duration::from_secs(2));
        b.process.signal("STOP");
        a.await_leading(true);
        thread::sleep(Duration::from_secs(2));
        b.process.signal("CONT");
        b.await_leading(false);
        thread::sleep(Duration::from_secs(2));
    });
    assert!(a.leads());
    check_pairs(&a, &written);
    check_pairs(&b, &written);
    a.verify();

    // A server that is stopped in order gives up its graphs at once.
    let asked = Instant::now();
    a.process.signal("TERM");
    b.await_leading(true);
    println!("handed over after {:.1} s", asked.elapsed().as_secs_f64());
    check_pairs(&b, &written);
}
