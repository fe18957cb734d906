//! Clients of Bolt that are cut off in the midst of statements and transactions.
//!
//! `VARVE_CUT_SECONDS` says for how long; without it, for seconds.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use varve_bolt::packstream::Value;
use varve_bolt::request::Kind;
use varve_session::Identity;
use varve_testkit::random::Random;
use varve_testserver::TestServer;

use crate::bolt::{Client, config, entry, map};
use crate::memory::await_that;

/// Half of them are cut off again and again.
const CLIENTS: u64 = 200;
const SECONDS: u64 = 8;

const SUCCESS: u8 = 0x70;

fn time() -> Duration {
    let asked = std::env::var("VARVE_CUT_SECONDS").ok();
    Duration::from_secs(asked.map_or(SECONDS, |text| text.parse().expect("seconds")))
}

/// A client that ends without a word, at any point of what it does.
fn cut(server: &TestServer, random: &mut Random) {
    let mut client = Client::of(server, "anybody");
    let rest = Duration::from_millis(random.below(20) as u64);
    if random.one_in(2) {
        client.send(Kind::Begin, &[map(&[])]);
    }
    match random.below(5) {
        0 => {}
        1 => client.run(
            "UNWIND range(1, 50) AS i CREATE (n:Cut {i: i}) RETURN n",
            &[],
        ),
        2 => {
            client.run("MATCH (n:Many), (m:Many) RETURN n, m.i", &[]);
            client.pull(1);
        }
        3 => {
            client.run(
                "UNWIND range(1, 50) AS i CREATE (n:Cut {i: i}) RETURN n",
                &[],
            );
            client.pull(-1);
            client.send(Kind::Commit, &[]);
        }
        _ => client.send_half("MATCH (n) RETURN n"),
    }
    std::thread::sleep(rest);
}

/// A client that adds to its own node, and to nothing else. Returns how often it was told that it
/// has.
fn count(server: &TestServer, number: u64, until: Instant) -> u64 {
    let mut client = Client::of(server, "anybody");
    let own = [("number", Value::from(i64::try_from(number).expect("small")))];
    let mut counted = 0;
    while Instant::now() < until {
        client.send(Kind::Begin, &[map(&[])]);
        let text = "MATCH (n:Own {number: $number}) SET n.x = n.x + 1 RETURN n.x";
        client.run_with(text, &own, &[]);
        client.pull(-1);
        client.send(Kind::Commit, &[]);
        client.expect(SUCCESS);
        let mut done = client.receive();
        if done.0 == SUCCESS {
            let (records, tag, end) = client.records();
            done = (tag, end);
            if tag == SUCCESS {
                assert_eq!(records, [Value::Int(counted + 1)]);
                client.expect(SUCCESS);
                counted += 1;
                continue;
            }
        } else {
            client.receive();
        }
        // Too busy: nothing was done.
        let code = entry(&done.1, "neo4j_code");
        assert_eq!(
            *code,
            Value::from("Neo.TransientError.General.DatabaseUnavailable")
        );
        client.receive();
        client.reset();
        client.expect(SUCCESS);
    }
    u64::try_from(counted).expect("not negative")
}

#[test]
fn nothing_is_left_of_clients_that_are_cut_off() {
    let server = Arc::new(TestServer::start(config()));
    let made = server.send("POST", "/graphs/g", r#"{"schema":"open"}"#);
    assert!((200..300).contains(&made.status), "{}", made.text());
    let mut first = Client::of(&server, "anybody");
    first.all("UNWIND range(1, 200) AS i CREATE (:Many {i: i})", &[]);
    first.all(
        "UNWIND range(1, 100) AS i CREATE (:Own {number: i, x: 0})",
        &[],
    );
    let connections = server.state.open_connections();
    let until = Instant::now() + time();
    let cuts = AtomicU64::new(0);
    let mut counted = 0;
    std::thread::scope(|scope| {
        let mut counting = Vec::new();
        for number in 1..=CLIENTS / 2 {
            let (server, cuts) = (&server, &cuts);
            counting.push(scope.spawn(move || count(server, number, until)));
            scope.spawn(move || {
                let mut random = Random::new(number);
                while Instant::now() < until {
                    cut(server, &mut random);
                    cuts.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for one in counting {
            counted += one.join().expect("no panic");
        }
    });
    assert!(cuts.into_inner() > CLIENTS / 2, "nobody was cut off");
    let state = &server.state;
    let database = state.database();
    await_that("no connection is left", || {
        state.open_connections() <= connections
    });
    await_that("no transaction is left", || state.gremlin_sessions() == 0);
    await_that("no statement runs", || {
        database.running.seen_by(&Identity::Anybody).is_empty()
    });
    await_that("no thread is held", || database.pool.in_work() == 0);
    assert_eq!(state.gremlin_held_bytes(), 0);
    let sum = first.all("MATCH (n:Own) RETURN sum(n.x)", &[]);
    assert_eq!(sum, [Value::from(i64::try_from(counted).expect("small"))]);
    // What was committed at all is whole.
    let parts = first.all("MATCH (n:Cut) RETURN count(n) % 50", &[]);
    assert_eq!(parts, [0.into()]);
    drop(first);
    Client::of(&server, "anybody").all("RETURN 1", &[]);
}
