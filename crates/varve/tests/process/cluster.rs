//! Two Varve servers on three Apache Cassandra nodes, each row on all of them, while nodes and
//! servers fail under load on both.
//!
//! Each node in turn is killed, stopped for a while and started again; each server is killed in the
//! middle of commits, the one that leads the graph and the one that follows; two of three nodes are
//! away at once. Clients may be refused only while most nodes or their server are away, or nobody
//! leads since the leader was killed. At the end everything that was acknowledged is there, nothing
//! that was refused, no half of a transaction, no second winner of a race, and `varve verify` finds
//! every index and both sides of every edge in order.
//!
//! `VARVE_CLUSTER_SEED` repeats the choices of a run (the moments are the machine's),
//! `VARVE_CLUSTER_ROUNDS` says how often all of it is done (default 1), `VARVE_CLUSTER_NODES` how
//! many nodes have their turn in a round (default 3), `VARVE_CLUSTER_SECONDS` how long a fault
//! lasts at least (default 5), `VARVE_CLUSTER_SERVERS` and `VARVE_CLUSTER_WRITERS` how many there
//! are (default 2 each).

mod bank;
mod claims;
mod fleet;
mod nodes;
mod outages;
mod outcome;
mod races;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use self::bank::Teller;
use self::claims::Claimer;
use self::fleet::Fleet;
use self::nodes::{COUNT, Nodes};
use self::outages::{Answers, Away, Outages, Watch};
use self::races::Racer;
use crate::acknowledged::{Random, SCHEMA, Writer};
use crate::seeds::{number_from, seed};
use crate::server::{Client, run};

/// Elements of the writers' batches.
const BATCH: usize = 5;
/// Racers, and as many tellers.
const RACERS: u32 = 3;
/// Those who claim the same things.
const CLAIMERS: usize = 2;
/// Requests at once while most nodes are away.
const PROBES: usize = 5;
/// The pause of each client between two requests: what is under test is faults, not speed.
const PAUSE: Duration = Duration::from_millis(60);
/// Writes that each client must have done before the next fault.
const PROGRESS: u64 = 5;
/// How long that may take, on a machine that does other work beside.
const TIMEOUT: Duration = Duration::from_secs(600);
/// What a request may take at most: the server's limit of 30 seconds, and what a busy machine adds.
const ANSWERED_WITHIN: Duration = Duration::from_secs(40);

/// All that writes.
struct Load {
    writers: Vec<Writer>,
    racers: Vec<Racer>,
    tellers: Vec<Teller>,
    claimers: Vec<Claimer>,
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
            claimers: Claimer::all(CLAIMERS, seed),
        }
    }

    fn clients(&self) -> usize {
        self.writers.len() + self.racers.len() + self.tellers.len() + self.claimers.len()
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
    /// The answers when the last step ended.
    answers: Mutex<Answers>,
}

impl Stage {
    /// Waits until every client has done some more writes, and as long as a fault lasts; says what
    /// clients were answered.
    fn go_on(&self, during: &str) {
        let started = Instant::now();
        // Of those who claim the same things one may lose for ever: an answer that says so is one.
        let sure = self.watches.len() - CLAIMERS;
        let progress = |(at, watch): (usize, &Arc<Watch>)| match at < sure {
            true => watch.acknowledged(),
            false => watch.answered(),
        };
        let watches = || self.watches.iter().enumerate();
        let before: Vec<u64> = watches().map(progress).collect();
        for (at, watch) in watches() {
            while progress((at, watch)) < before[at] + PROGRESS {
                assert!(
                    started.elapsed() < TIMEOUT,
                    "client {at} does not get on {during}"
                );
                thread::sleep(Duration::from_millis(20));
            }
        }
        thread::sleep(self.lasts.saturating_sub(started.elapsed()));
        let answers = self.outages.answers(&self.watches);
        let before = std::mem::replace(&mut *self.answers.lock(), answers);
        println!(
            "{during} ({:.1} s): {}",
            started.elapsed().as_secs_f64(),
            answers.since(before)
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

    /// Two of three are away: a clean 503 in time from every server, and all works again by itself.
    fn most_nodes_away(&self, node: u32) {
        let other = node % COUNT + 1;
        self.outages.begin(Away::Quorum);
        self.nodes.kill(node);
        self.nodes.kill(other);
        let started = Instant::now();
        thread::scope(|scope| {
            for at in 0..PROBES {
                let client = Client::of(self.fleet.url(at % self.fleet.len()));
                scope.spawn(move || probe(&client, &format!("{node}-{at}"), started));
            }
        });
        thread::sleep(self.lasts.saturating_sub(started.elapsed()));
        self.nodes.restart(node);
        self.go_on("after most nodes were dead");
        self.outages.end();
        self.nodes.restart(other);
        self.go_on("with all nodes again");
    }

    /// A server is killed while it commits, and started again.
    fn server_away(&self, at: usize, random: &mut Random) {
        // The moment of the kill is what is random here; nothing waits for anything.
        thread::sleep(Duration::from_millis(random.below(500)));
        let led = self.fleet.leads(at);
        self.outages.begin(Away::Server { at, led });
        self.fleet.kill(at);
        let leader = (self.fleet.len() > 1).then(|| self.fleet.await_leader());
        self.fleet.start(at);
        self.fleet.await_service(at);
        let who = if led { "leader" } else { "follower" };
        self.go_on(&format!(
            "server {at}, the {who}, was killed; led by {}",
            leader.unwrap_or(at)
        ));
        self.outages.end();
    }
}

/// Asks until it was refused: at once or in time, and as clients know it. What is under way when
/// the nodes go may still be answered by them.
fn probe(client: &Client, name: &str, started: Instant) {
    for asks in 0.. {
        let asked = Instant::now();
        // One of its own for each: what is known of a vertex is not waited for.
        let body =
            format!(r#"{{"label":"thing","id":"probe-{name}-{asks}","properties":{{"n":1}}}}"#);
        let path = "/graphs/hugegraph/graph/vertices";
        let (status, body) = client.try_ask("POST", path, &body).expect("an answer");
        let took = asked.elapsed();
        assert!(took < ANSWERED_WITHIN, "{status} {body} after {took:?}");
        if status == 503 {
            println!(
                "{:.1} s: 503 after {:.2} s: {}",
                started.elapsed().as_secs_f64(),
                took.as_secs_f64(),
                body["message"]
            );
            return;
        }
        assert_eq!(status, 201, "{body}");
        assert!(started.elapsed() < TIMEOUT, "writes go on without a quorum");
    }
}

#[test]
fn nothing_acknowledged_is_lost_while_nodes_and_servers_fail() {
    let Some(nodes) = Nodes::start() else { return };
    let seed = number_from("VARVE_CLUSTER_SEED").unwrap_or_else(seed);
    let rounds = number_from("VARVE_CLUSTER_ROUNDS").unwrap_or(1);
    let servers = number_from("VARVE_CLUSTER_SERVERS").unwrap_or(2);
    let turns = number_from("VARVE_CLUSTER_NODES").unwrap_or(u64::from(COUNT));
    println!(
        "VARVE_CLUSTER_SEED={seed} VARVE_CLUSTER_ROUNDS={rounds} VARVE_CLUSTER_NODES={turns} VARVE_CLUSTER_SERVERS={servers}"
    );
    let mut load = Load::new(seed);
    let outages = Arc::new(Outages::default());
    let servers = usize::try_from(servers).expect("a small number");
    let stage = Stage {
        nodes,
        fleet: Fleet::new(servers),
        watches: (0..load.clients())
            .map(|at| Watch::new(&outages, at % servers))
            .collect(),
        outages,
        lasts: Duration::from_secs(number_from("VARVE_CLUSTER_SECONDS").unwrap_or(5)),
        answers: Mutex::default(),
    };
    for at in 0..stage.fleet.len() {
        stage.fleet.start(at);
        stage.fleet.await_service(at);
    }
    prepare(&Client::of(stage.fleet.url(0)));
    let ended = AtomicBool::new(false);
    thread::scope(|scope| {
        let _end = EndOf(&ended);
        start(&mut load, &stage, &ended, scope);
        let mut random = Random::new(seed);
        for round in 0..rounds {
            println!("-- round {} of {rounds}", round + 1);
            stage.go_on("undisturbed");
            let first = u32::try_from((seed + round) % u64::from(COUNT)).expect("a small number");
            let turns = u32::try_from(turns).expect("a small number").min(COUNT);
            for node in (0..turns).map(|at| (first + at) % COUNT + 1) {
                stage.one_node_away(node);
            }
            // Now the leader, then, after that has come back, its successor; and one that follows.
            for _ in 0..2 {
                let leader = stage.fleet.await_leader();
                stage.server_away(leader, &mut random);
            }
            let leader = stage.fleet.await_leader();
            stage.server_away((leader + 1) % servers, &mut random);
            stage.most_nodes_away(first + 1);
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
    for (kind, body) in schema.chain(&claims::SCHEMA) {
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
    let mut watches = stage.watches.iter();
    let mut client = || {
        let watch = watches.next().expect("one for each client");
        stage.fleet.client(watch)
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
    for claimer in &mut load.claimers {
        let client = client();
        scope.spawn(move || {
            while goes_on() {
                claimer.step(&client);
            }
        });
    }
}

/// Compares what is stored with what was answered.
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
    // Any of them answers the same.
    let leader = stage.fleet.await_leader();
    let client = Client::of(stage.fleet.url((leader + 1) % stage.fleet.len()));
    thread::scope(|scope| {
        for writer in &mut load.writers {
            let client = client.clone();
            scope.spawn(move || writer.check(&client));
        }
    });
    let acknowledged: u64 = load.writers.iter().map(|writer| writer.acknowledged).sum();
    let (raced, seen) = races::check(&load.racers, &client);
    let (transfers, looks) = bank::check(&load.tellers, &client);
    let (won, lost) = claims::check(&load.claimers, &client);
    let unexplained = stage.outages.unexplained();
    println!(
        "{acknowledged} writes, {raced} values raced ({seen} reads beside), {transfers} transfers ({looks} reads beside), {won} claims \
         won and {lost} lost: all there, checked in {:.1} s; in all {}",
        started.elapsed().as_secs_f64(),
        stage.outages.answers(&stage.watches)
    );
    let (code, text) = run(&["verify", "--server", stage.fleet.url(leader)]);
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
        acknowledged > 0 && raced > 0 && transfers > 0 && won > 0 && lost > 0,
        "nothing was written"
    );
    assert!(seen > 0 && looks > 0, "nothing was read beside the writes");
    assert!(
        unexplained.is_empty(),
        "{} refusals: {unexplained:#?}",
        unexplained.len()
    );
}
