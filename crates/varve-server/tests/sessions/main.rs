//! 200 sessions of `/gremlin` that open transactions and commit, roll back, close, wait until their
//! transaction is too old, or lose their connection: what is left of them is what they committed.
//!
//! A test of its own process, since it measures the process's memory. `VARVE_SESSION_SECONDS` says
//! how long it takes (4), after a quarter of that to begin with.
#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod counted;
#[allow(dead_code, reason = "shared with other tests")]
#[path = "../http/fixture.rs"]
mod fixture;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use varve_graph::{GraphOptions, Registry};
use varve_graphson::{Format, Response, Value};
use varve_kv::MemoryEngine;
use varve_model::time::SystemClock;
use varve_server::{GremlinConfig, ServerConfig};
use varve_testkit::Random;
use varve_testserver::TestServer;
use varve_testserver::driver::{Driver, FORMATS, results, text};

use counted::{CountedEngine, Held};
use fixture::Fixture;

const SESSIONS: u64 = 200;
/// Vertices that the sessions change; most changes meet no other.
const SHARED: usize = 1_000;
/// A transaction is given up after this long.
const TRANSACTION_MS: u64 = 400;
/// How long [`await_that`] waits.
const WAIT: Duration = Duration::from_secs(60);
/// A script that is not cancelled sleeps for longer than that, and is within the request's time.
const SLEEP_MS: u64 = 600_000;
const REQUEST_MS: u64 = 2 * SLEEP_MS;
/// What a commit may leave in the engine, which keeps all versions in memory.
const BYTES_A_COMMIT: u64 = 8_192;
/// What the process may keep besides.
const BYTES_MORE: u64 = 64 << 20;

/// What the sessions have done.
#[derive(Default)]
struct Done {
    commits: AtomicU64,
    conflicts: AtomicU64,
    rolled_back: AtomicU64,
    closed: AtomicU64,
    expired: AtomicU64,
    dropped: AtomicU64,
    /// Vertices that commits added, and such that commits without an answer may have added.
    added: AtomicI64,
    unknown: AtomicI64,
}

impl Done {
    fn shown(&self) -> String {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        format!(
            "{} commits, {} conflicts, {} rolled back, {} closed, {} too old, {} connections lost",
            count(&self.commits),
            count(&self.conflicts),
            count(&self.rolled_back),
            count(&self.closed),
            count(&self.expired),
            count(&self.dropped)
        )
    }
}

fn once(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

fn resident_bytes() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

/// Waits until something is so, which other threads bring about.
fn await_that(what: &str, is_so: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < WAIT, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A server whose engine counts the snapshots that are held.
fn server() -> (Fixture, Held) {
    let (engine, held) = CountedEngine::new(Arc::new(MemoryEngine::new()));
    let options = GraphOptions::new(Arc::new(SystemClock));
    let graphs = Registry::open(Arc::new(engine), options).unwrap();
    let config = ServerConfig {
        gremlin: GremlinConfig {
            transaction_ms: TRANSACTION_MS,
            ..GremlinConfig::default()
        },
        request_timeout_ms: REQUEST_MS,
        ..ServerConfig::default()
    };
    let fixture = Fixture::on(config, Arc::new(graphs));
    fixture.done("POST", "/graphs/open", r#"{"schema":"open"}"#);
    let mut driver = Driver::connect(&fixture.server, Format::GraphBinary);
    let script = format!(
        "g = open.traversal(); for (i in 0..{SHARED}) {{ \
         g.addV('shared').property(T.id, i).property('n', 0).iterate() }}; 1"
    );
    results(driver.eval(&script));
    (fixture, held)
}

/// One client: sessions one after the other, each with one transaction, some on a new connection.
struct Client<'a> {
    server: &'a TestServer,
    number: u64,
    done: &'a Done,
    random: Random,
}

impl Client<'_> {
    fn run(&mut self, until: Instant) {
        let mut driver = None;
        let mut count = 0;
        while Instant::now() < until {
            let format = *self.random.pick(&FORMATS);
            let mut own = driver
                .take()
                .unwrap_or_else(|| Driver::connect(self.server, format));
            count += 1;
            let session = format!("s{}-{count}", self.number);
            driver = match self.begins(&mut own, &session) {
                true => self.end(own, &session),
                false => {
                    close(&mut own, &session);
                    Some(own)
                }
            };
        }
    }

    /// Reads, changes what others change too, and adds a vertex. False if the transaction was too
    /// old before: on a busy machine that happens.
    fn begins(&mut self, driver: &mut Driver, session: &str) -> bool {
        let shared = self.random.below(SHARED);
        let scripts = [
            format!("n = open.traversal().V({shared}).values('n').next(); n"),
            format!("open.traversal().V({shared}).property('n', n + 1).iterate(); 1"),
            "open.traversal().addV('own').property('t', 'x' * 100).iterate(); 1".to_owned(),
        ];
        for script in scripts {
            self.think();
            let parts = driver.eval_in(session, &script);
            if is_late(&parts) {
                return false;
            }
            assert_eq!(parts[0].code, 200, "{script}: {parts:?}");
        }
        true
    }

    fn think(&mut self) {
        std::thread::sleep(Duration::from_millis(self.random.below(40) as u64));
    }

    /// Ends a transaction in one of many ways; gives the connection back unless it is lost.
    fn end(&mut self, mut driver: Driver, session: &str) -> Option<Driver> {
        match self.random.below(10) {
            0..=3 => {
                let parts = driver.eval_in(session, "open.traversal().tx().commit(); 1");
                self.committed(&parts);
                // Some sessions stay until their connection ends.
                if self.random.one_in(2) {
                    close(&mut driver, session);
                }
                (!self.random.one_in(20)).then_some(driver)
            }
            4 => {
                let parts = driver.eval_in(session, "open.traversal().tx().rollback(); 1");
                assert!(parts[0].code == 200 || is_late(&parts), "{parts:?}");
                once(&self.done.rolled_back);
                Some(driver)
            }
            5 => {
                close(&mut driver, session);
                once(&self.done.closed);
                Some(driver)
            }
            6 => {
                std::thread::sleep(Duration::from_millis(TRANSACTION_MS * 3 / 2));
                let read = "open.traversal().V(0).values('n')";
                let parts = driver.eval_in(session, read);
                assert!(is_late(&parts), "{parts:?}");
                // It is refused once; the next read begins another transaction.
                let parts = driver.eval_in(session, read);
                assert_eq!(parts[0].code, 200, "{parts:?}");
                once(&self.done.expired);
                Some(driver)
            }
            7 => {
                // The connection is closed before the answer.
                let commit = [
                    ("gremlin", text("open.traversal().tx().commit(); 1")),
                    ("session", text(session)),
                ];
                driver.send("session", "eval", &commit);
                self.done.unknown.fetch_add(1, Ordering::Relaxed);
                once(&self.done.dropped);
                None
            }
            8 => {
                let script = format!("sleep({SLEEP_MS}); 1");
                let long = [("gremlin", text(&script)), ("session", text(session))];
                driver.send("session", "eval", &long);
                self.think();
                once(&self.done.dropped);
                None
            }
            _ => {
                once(&self.done.dropped);
                None
            }
        }
    }

    fn committed(&self, parts: &[Response]) {
        match parts[0].code {
            200 => {
                once(&self.done.commits);
                self.done.added.fetch_add(1, Ordering::Relaxed);
            }
            596 => once(&self.done.conflicts),
            _ => panic!("{parts:?}"),
        }
    }
}

fn is_late(parts: &[Response]) -> bool {
    parts[0].code == 596 && parts[0].message.contains("gremlin.transaction_ms")
}

fn close(driver: &mut Driver, session: &str) {
    let parts = driver.ask("session", "close", &[("session", text(session))]);
    assert_eq!(parts[0].code, 204, "{parts:?}");
}

/// All sessions for a time.
fn work(server: &TestServer, done: &Done, seconds: f64) {
    let until = Instant::now() + Duration::from_secs_f64(seconds);
    std::thread::scope(|scope| {
        for number in 0..SESSIONS {
            scope.spawn(move || {
                let random = Random::new(number);
                let mut client = Client {
                    server,
                    number,
                    done,
                    random,
                };
                client.run(until);
            });
        }
    });
}

/// No session, no transaction, no request, no connection, no snapshot, no latch.
fn check_that_nothing_is_left(fixture: &Fixture, held: &Held, before: usize) {
    let state = &fixture.server.state;
    await_that("no session is left", || state.gremlin_sessions() == 0);
    await_that("no transaction is left", || state.gremlin_held_bytes() == 0);
    await_that("no request is left", || {
        state.database().pool.in_work() == 0
    });
    await_that("no connection is left", || state.open_connections() == 0);
    await_that("no snapshot is left", || {
        held.load(Ordering::SeqCst) <= before
    });
    // A latch that was left would keep this from its end.
    let mut driver = Driver::connect(&fixture.server, Format::GraphBinary);
    let all = driver.eval("open.traversal().V().hasLabel('shared').property('m', 1).iterate(); 1");
    assert_eq!(results(all), [Value::Int(1)]);
    drop(driver);
    await_that("no connection is left", || state.open_connections() == 0);
}

#[test]
fn of_200_sessions_nothing_is_left_but_what_they_committed() {
    let seconds = std::env::var("VARVE_SESSION_SECONDS");
    let seconds: f64 = seconds.map_or(4.0, |seconds| seconds.parse().unwrap());
    let (fixture, held) = server();
    let state = &fixture.server.state;
    await_that("no connection is left", || state.open_connections() == 0);
    let before = held.load(Ordering::SeqCst);
    let done = Done::default();
    work(&fixture.server, &done, seconds / 4.0);
    check_that_nothing_is_left(&fixture, &held, before);
    let (resident, commits) = (resident_bytes(), done.commits.load(Ordering::Relaxed));
    work(&fixture.server, &done, seconds);
    check_that_nothing_is_left(&fixture, &held, before);
    let grown = resident_bytes().saturating_sub(resident);
    println!("{}; {} MiB more", done.shown(), grown >> 20);
    let commits = done.commits.load(Ordering::Relaxed) - commits;
    let unknown = done.unknown.load(Ordering::Relaxed);
    let may_grow = (commits + unknown.unsigned_abs()) * BYTES_A_COMMIT + BYTES_MORE;
    assert!(
        grown <= may_grow,
        "{grown} bytes more after {commits} commits"
    );
    let mut driver = Driver::connect(&fixture.server, Format::GraphBinary);
    let count = results(driver.eval("open.traversal().V().hasLabel('own').count()"));
    let [Value::Long(count)] = count.as_slice() else {
        panic!("{count:?}")
    };
    let added = done.added.load(Ordering::Relaxed);
    assert!(
        (added..=added + unknown).contains(count),
        "{count} of {added} + {unknown}"
    );
    for (counter, what) in [
        (&done.commits, "commits"),
        (&done.rolled_back, "roll backs"),
        (&done.closed, "closed sessions"),
        (&done.expired, "old transactions"),
        (&done.dropped, "lost connections"),
    ] {
        assert!(counter.load(Ordering::Relaxed) > 0, "{what}");
    }
}
