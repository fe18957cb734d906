//! Varve on three Apache Cassandra nodes, each row on all of them, while nodes and servers fail under load.
//!
//! Each node in turn is killed, stopped for a while and started again; two of three are away at once; servers are killed in the
//! middle of commits. Clients may be refused only while most nodes or their server are away. At the end everything that was
//! acknowledged is there, nothing that was refused, no half of a transaction, and `varve verify` finds every index and both
//! sides of every edge in order.
//!
//! `VARVE_CLUSTER_SEED` repeats the choices of a run (the moments are the machine's), `VARVE_CLUSTER_ROUNDS` says how often
//! all of it is done (default 1), `VARVE_CLUSTER_SECONDS` how long a fault lasts at least (default 5),
//! `VARVE_CLUSTER_SERVERS` and `VARVE_CLUSTER_WRITERS` how many there are.

mod bank;
mod fleet;
mod nodes;
mod outages;
mod outcome;
mod races;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use self::bank::Teller;
use self::fleet::Fleet;
use self::nodes::{COUNT, Nodes};
use self::outages::{Away, Outages, Watch};
use self::races::Racer;
use crate::acknowledged::{Random, SCHEMA, Writer};
use crate::seeds::{number_from, seed};
use crate::server::{Client, run};

/// Elements of the writers' batches.
const BATCH: usize = 5;
/// Racers, and as many tellers.
const RACERS: u32 = 3;
/// The pause of each client between two requests: what is under test is faults, not speed.
const PAUSE: Duration = Duration::from_millis(60);
/// Writes that each client must have done before the next fault.
const PROGRESS: u64 = 5;
/// How long that may take, on a machine that does other work beside.
const PATIENCE: Duration = Duration::from_secs(600);
/// What a request may take at most: the server's limit of 30 seconds, and what a busy machine adds.
const ANSWERED_WITHIN: Duration = Duration::from_secs(40);

/// All that writes.
struct Load {
    writers: Vec<Writer>,
    racers: Vec<Racer>,
    tellers: Vec<Teller>,
}

impl Load {
    fn new(seed: u64) -> Self {
        let writers = number_from("VARVE_CLUSTER_WRITERS").unwrap_or(2);
        Self {
            writers: (0..writers)
                .map(|at| Writer::undaunted(&format!("w{at}"), seed.wrapping_add(at * 977), BATCH))
                .collect(),
            racers: (0..RACERS)
                .map(|at| Racer::new(at, seed.wrapping_add(u64::from(at) * 31 + 5)))
                .collect(),
            tellers: (0..RACERS)
                .map(|at| Teller::new(seed.wrapping_add(u64::from(at) * 57 + 7)))
                .collect(),
        }
    }
}

/// The scene of a run: what fails, and who is to notice.
struct Stage {
    nodes: Nodes,
    fleet: Fleet,
    outages: Arc<Outages>,
    watches: Vec<Arc<Watch>>,
    /// How long a fault lasts at least.
    lasts: Duration,
}

impl Stage {
    /// Waits until every client has done some more writes, and as long as a fault lasts.
    fn go_on(&self, during: &str) {
        let started = Instant::now();
        let before: Vec<u64> = self
            .watches
            .iter()
            .map(|watch| watch.acknowledged())
            .collect();
        for (at, watch) in self.watches.iter().enumerate() {
            while watch.acknowledged() < before[at] + PROGRESS {
                assert!(
                    started.elapsed() < PATIENCE,
                    "client {at} does not get on {during}"
                );
                thread::sleep(Duration::from_millis(20));
            }
        }
        thread::sleep(self.lasts.saturating_sub(started.elapsed()));
        println!(
            "went on {during} ({:.1} s)",
            started.elapsed().as_secs_f64()
        );
    }

    /// One of three nodes is away, in both ways: nobody is refused.
    fn one_node_away(&self, node: u32) {
        self.nodes.kill(node);
        self.go_on(&format!("while node {node} is dead"));
        self.nodes.restart(node);
        self.go_on(&format!("after node {node} has come back"));
        self.nodes.pause(node);
        self.go_on(&format!("while node {node} is stopped"));
        self.nodes.resume(node);
        self.go_on(&format!("after node {node} goes on"));
    }

    /// Two of three are away: a clean 503 in time, and all works again by itself.
    fn most_nodes_away(&self, node: u32, probe: &Client) {
        let other = node % COUNT + 1;
        self.outages.begin(Away::Quorum);
        self.nodes.kill(node);
        self.nodes.kill(other);
        let started = Instant::now();
        let (mut asks, mut refused) = (0, 0);
        while refused < 5 || started.elapsed() < self.lasts {
            let asked = Instant::now();
            // One of its own for each: what is known of a vertex is not waited for.
            asks += 1;
            let body =
                format!(r#"{{"label":"thing","id":"probe-{node}-{asks}","properties":{{"n":1}}}}"#);
            let path = "/graphs/hugegraph/graph/vertices";
            let (status, body) = probe.try_ask("POST", path, &body).expect("an answer");
            let took = asked.elapsed();
            assert!(took < ANSWERED_WITHIN, "{status} {body} after {took:?}");
            // What is under way when the nodes go may still be answered by them.
            if status == 503 {
                refused += 1;
                println!(
                    "{:.1} s: 503 after {:.2} s: {}",
                    started.elapsed().as_secs_f64(),
                    took.as_secs_f64(),
                    body["message"]
                );
            }
            assert!(matches!(status, 201 | 503), "{status} {body}");
            assert!(
                started.elapsed() < PATIENCE,
                "writes go on without a quorum"
            );
        }
        self.nodes.restart(node);
        self.go_on("after most nodes were dead");
        self.outages.end();
        self.nodes.restart(other);
        self.go_on("with all nodes again");
    }

    /// A server is killed while it commits, and started again.
    fn server_away(&self, random: &mut Random) {
        let at = usize::try_from(random.below(self.fleet.len() as u64)).expect("an index");
        // The moment of the kill is what is random here; nothing waits for anything.
        thread::sleep(Duration::from_millis(random.below(500)));
        self.outages.begin(Away::Server);
        self.fleet.kill(at);
        self.fleet.start(at);
        self.fleet.await_service(at);
        self.go_on(&format!("after server {at} was killed"));
        self.outages.end();
    }
}

#[test]
fn nothing_acknowledged_is_lost_while_nodes_and_servers_fail() {
    let Some(nodes) = Nodes::start() else { return };
    let seed = number_from("VARVE_CLUSTER_SEED").unwrap_or_else(seed);
    let rounds = number_from("VARVE_CLUSTER_ROUNDS").unwrap_or(1);
    let servers = number_from("VARVE_CLUSTER_SERVERS").unwrap_or(1);
    println!(
        "VARVE_CLUSTER_SEED={seed} VARVE_CLUSTER_ROUNDS={rounds} VARVE_CLUSTER_SERVERS={servers}"
    );
    let mut load = Load::new(seed);
    let outages = Arc::new(Outages::default());
    let clients = load.writers.len() + load.racers.len() + load.tellers.len();
    let stage = Stage {
        nodes,
        fleet: Fleet::new(usize::try_from(servers).expect("a small number")),
        watches: (0..clients).map(|_| Watch::new(&outages)).collect(),
        outages,
        lasts: Duration::from_secs(number_from("VARVE_CLUSTER_SECONDS").unwrap_or(5)),
    };
    for at in 0..stage.fleet.len() {
        stage.fleet.start(at);
        stage.fleet.await_service(at);
    }
    let direct = Client::of(stage.fleet.url());
    prepare(&direct);
    let ended = AtomicBool::new(false);
    thread::scope(|scope| {
        let _end = EndOf(&ended);
        start(&mut load, &stage, &ended, scope);
        let mut random = Random::new(seed);
        for round in 0..rounds {
            stage.go_on("undisturbed");
            // One of them in a short run: each in turn over the rounds.
            let first = u32::try_from((seed + round) % u64::from(COUNT)).expect("a small number");
            let count = if rounds > 1 { COUNT } else { 1 };
            for node in (0..count).map(|at| (first + at) % COUNT + 1) {
                stage.one_node_away(node);
                stage.server_away(&mut random);
            }
            stage.most_nodes_away(first + 1, &direct);
        }
    });
    check(&mut load, &stage);
}

/// Says that the load is to end, also when a check has failed.
struct EndOf<'a>(&'a AtomicBool);

impl Drop for EndOf<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn prepare(client: &Client) {
    let schema = SCHEMA.iter().chain(&races::SCHEMA).chain(&bank::SCHEMA);
    for (kind, body) in schema {
        let path = format!("/graphs/hugegraph/schema/{kind}");
        let made = client.try_ask("POST", &path, body).expect("an answer");
        assert!((200..300).contains(&made.0), "{body}: {made:?}");
    }
    races::prepare(client);
    bank::prepare(client);
}

/// Starts a thread for each client; each keeps to one server.
fn start<'scope, 'env>(
    load: &'scope mut Load,
    stage: &'scope Stage,
    ended: &'scope AtomicBool,
    scope: &'scope thread::Scope<'scope, 'env>,
) {
    let mut watches = stage.watches.iter().enumerate();
    let mut client = || {
        let (at, watch) = watches.next().expect("one for each client");
        stage.fleet.client(at, watch)
    };
    let goes_on = move || {
        thread::sleep(PAUSE);
        !ended.load(Ordering::Relaxed)
    };
    for writer in &mut load.writers {
        let client = client();
        scope.spawn(move || writer.run(&client, &goes_on));
    }
    for racer in &mut load.racers {
        let client = client();
        scope.spawn(move || {
            while goes_on() {
                racer.step(&client);
            }
        });
    }
    for teller in &mut load.tellers {
        let client = client();
        scope.spawn(move || {
            while goes_on() {
                teller.step(&client);
            }
        });
    }
}

/// Holds what is there against what was told.
fn check(load: &mut Load, stage: &Stage) {
    // Whatever waits in a server is decided by its end.
    for at in 0..stage.fleet.len() {
        stage.fleet.kill(at);
    }
    for at in 0..stage.fleet.len() {
        stage.fleet.start(at);
        stage.fleet.await_service(at);
    }
    let started = Instant::now();
    let client = Client::of(stage.fleet.url());
    thread::scope(|scope| {
        for writer in &mut load.writers {
            let client = client.clone();
            scope.spawn(move || writer.check(&client));
        }
    });
    let acknowledged: u64 = load.writers.iter().map(|writer| writer.acknowledged).sum();
    let (raced, seen) = races::check(&load.racers, &client);
    let (transfers, looks) = bank::check(&load.tellers, &client);
    let (explained, unexplained) = stage.outages.refusals();
    println!(
        "{acknowledged} writes, {raced} values raced ({seen} reads beside), {transfers} transfers ({looks} reads beside): all \
         there, checked in {:.1} s; {explained} refusals during outages, {} beside",
        started.elapsed().as_secs_f64(),
        unexplained.len()
    );
    let (code, text) = run(&["verify", "--server", stage.fleet.url()]);
    assert!(code == 0 && text.contains("0 problems"), "{text}");
    println!("verify: {}", text.trim());
    for at in 0..stage.fleet.len() {
        stage.fleet.kill(at);
    }
    let mut offline = vec!["verify".to_owned()];
    offline.extend(Fleet::options());
    let offline: Vec<&str> = offline.iter().map(String::as_str).collect();
    let (code, text) = run(&offline);
    assert!(code == 0 && text.contains("0 problems"), "{text}");
    assert!(
        acknowledged > 0 && raced > 0 && transfers > 0,
        "nothing was written"
    );
    assert!(seen > 0 && looks > 0, "nothing was read beside the writes");
    assert!(
        unexplained.is_empty(),
        "{} refusals: {unexplained:#?}",
        unexplained.len()
    );
}
