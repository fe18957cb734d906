//! What scripts and sessions hold while they wait: memory, old states of a graph, threads.

use varve_graphson::{Format, Response, Value};
use varve_server::{GremlinConfig, ServerConfig};
use varve_testserver::driver::{Driver, map, results, text};

use crate::fixture::Fixture;
use crate::memory::await_that;

/// A traversal that takes many times longer than any test.
const ENDLESS: &str = "g.V().repeat(both()).count()";
/// More requests than a connection has in work at a time.
const REQUESTS: usize = 70;

fn with(gremlin: GremlinConfig) -> Fixture {
    let fixture = Fixture::with(ServerConfig {
        gremlin,
        ..ServerConfig::default()
    });
    fixture.done("POST", "/graphs/open", r#"{"schema":"open"}"#);
    fixture
}

/// One thread for long reads, and hardly a limit.
fn narrow() -> Fixture {
    let fixture = Fixture::with(ServerConfig {
        blocking_threads: 1,
        request_timeout_ms: 3_600_000,
        max_traversal_rows: 1 << 60,
        max_traversal_bytes: 1 << 40,
        ..ServerConfig::default()
    });
    fixture.people();
    fixture
}

fn refused(parts: &[Response], code: i32, message: &str) {
    assert_eq!(parts[0].code, code, "{parts:?}");
    assert!(parts[0].message.contains(message), "{parts:?}");
}

/// A script that adds a vertex with a long text.
fn long_text(bytes: usize) -> String {
    format!("open.traversal().addV('a').property('t', 'x' * {bytes}).iterate(); 1")
}

#[test]
fn transactions_and_variables_of_all_sessions_hold_no_more_than_their_budget() {
    let fixture = with(GremlinConfig {
        held_bytes_max: 100_000,
        ..GremlinConfig::default()
    });
    let state = &fixture.server.state;
    let mut one = Driver::connect(&fixture.server, Format::GraphBinary);
    let mut other = Driver::connect(&fixture.server, Format::GraphSon);
    results(one.eval_in("a", &long_text(60_000)));
    assert!(state.gremlin_held_bytes() > 60_000);
    // Neither another transaction nor variables have room, and nothing of them stays.
    let limit = "(gremlin.held_bytes_max)";
    refused(&other.eval_in("b", &long_text(60_000)), 596, limit);
    let bound = [
        ("gremlin", text("1")),
        ("bindings", map(&[("x", text(&"x".repeat(60_000)))])),
        ("session", text("c")),
    ];
    refused(&other.ask("session", "eval", &bound), 596, limit);
    assert_eq!(other.eval_in("c", "x")[0].code, 597);
    // A script of its own is refused, too.
    refused(&other.eval(&long_text(60_000)), 596, limit);
    results(one.eval_in("a", "open.traversal().tx().rollback(); 1"));
    results(other.ask("session", "eval", &bound));
    drop((one, other));
    await_that("all is given back", || state.gremlin_held_bytes() == 0);
}

#[test]
fn a_transaction_that_is_open_for_too_long_ends_without_a_further_request() {
    let fixture = with(GremlinConfig {
        transaction_ms: 50,
        ..GremlinConfig::default()
    });
    let state = &fixture.server.state;
    let mut driver = Driver::connect(&fixture.server, Format::GraphBinary);
    let long_text = long_text(1_000);
    // The second one keeps no view: the schema has changed.
    let and_schema = format!("{long_text}; open.schema().propertyKey('k').asText().create(); 1");
    for (session, script) in [("s", &long_text), ("t", &and_schema)] {
        results(driver.eval_in(session, script));
        let used = || state.gremlin_held_bytes();
        await_that("the transaction has ended", || used() < 1_000);
        let count = "open.traversal().V().count()";
        let late = driver.eval_in(session, count);
        refused(&late, 596, "(gremlin.transaction_ms)");
        assert_eq!(results(driver.eval_in(session, count)), [Value::Long(0)]);
    }
}

#[test]
fn a_transaction_changes_no_more_than_its_limits() {
    let fixture = with(GremlinConfig {
        transaction_elements_max: 3,
        transaction_bytes_max: 10_000,
        ..GremlinConfig::default()
    });
    let mut driver = Driver::connect(&fixture.server, Format::GraphSon);
    let many = |count: usize| {
        format!("for (int i = 0; i < {count}; i++) {{ open.traversal().addV().iterate() }}; 1")
    };
    driver.results(&many(3));
    driver.refuses(&many(4), 597, "(gremlin.transaction_elements_max)");
    let limit = "(gremlin.transaction_bytes_max)";
    driver.refuses(&long_text(20_000), 597, limit);
    let count = driver.results("open.traversal().V().count()");
    assert_eq!(count, [Value::Long(3)]);
}

#[test]
fn requests_end_when_their_client_is_gone_also_while_no_more_of_them_are_read() {
    let fixture = narrow();
    let pool = &fixture.server.state.database().pool;
    let mut driver = Driver::connect(&fixture.server, Format::GraphBinary);
    for _ in 0..REQUESTS {
        driver.send("", "eval", &[("gremlin", text(ENDLESS))]);
    }
    await_that("one connection's share is in work", || pool.in_work() >= 60);
    drop(driver);
    await_that("nothing is in work", || pool.in_work() == 0);
}

#[test]
fn scripts_that_sleep_leave_their_thread_to_others_and_too_many_are_refused() {
    let fixture = narrow();
    let pool = &fixture.server.state.database().pool;
    let mut sleepers = Driver::connect(&fixture.server, Format::GraphSon);
    let mut other = Driver::connect(&fixture.server, Format::GraphSon);
    for count in 1..=3 {
        sleepers.send("", "eval", &[("gremlin", text("sleep(3600000)"))]);
        await_that("it sleeps", || pool.in_work() == count);
        // The one thread is free: what runs on it reads the graph, one after the other.
        let names = other.results("g.V().has('name', 'marko').values('age')");
        assert_eq!(names, [Value::Int(29)]);
        await_that("the query has ended", || pool.in_work() == count);
    }
    other.refuses("sleep(1)", 597, "sleep()");
    assert_eq!(other.results("g.V().count()"), [Value::Long(4)]);
    drop(sleepers);
    await_that("all have ended", || pool.in_work() == 0);
}

#[test]
fn neighbours_that_are_reached_again_are_held_once() {
    let fixture = Fixture::with(ServerConfig {
        max_traversal_bytes: 8 << 20,
        ..ServerConfig::default()
    });
    fixture.done("POST", "/graphs/open", r#"{"schema":"open"}"#);
    let mut driver = Driver::connect(&fixture.server, Format::GraphBinary);
    // As many as are held at a time, and each is reached twice.
    let made = driver.eval(
        "g = open.traversal(); g.addV('s').property(T.id,'a').iterate(); \
         g.addV('s').property(T.id,'b').iterate(); \
         for (i in 0..1023) { g.addV('m').property(T.id,'m'+i).property('k','x'+i).as('m')\
         .addE('e').from(__.V('a')).to('m').addE('e').from(__.V('b')).to('m').iterate() }; 1",
    );
    results(made);
    let values = driver.eval("open.traversal().V('a','b').out('e').values('k')");
    assert_eq!(results(values).len(), 2_048);
}
