//! Long reads whose clients are gone, and short reads beside long ones.

use varve_server::ServerConfig;
use varve_testkit::http::request;

use crate::fixture::Fixture;
use crate::memory::{await_that, with_closed_window};

/// A traversal that takes many times longer than any test.
const ENDLESS: &str = "/graphs/hugegraph/traversers/kout?source=%221%3Amarko%22\
                       &max_depth=999999999&nearest=false&capacity=-1&limit=-1";
const SHORT: &str = "/graphs/hugegraph/traversers/kout?source=%221%3Amarko%22&max_depth=1";

/// People on a server with one thread for long reads and hardly a limit.
fn world() -> Fixture {
    within(3_600_000)
}

fn within(request_timeout_ms: u64) -> Fixture {
    let fixture = Fixture::with(ServerConfig {
        blocking_threads: 1,
        request_timeout_ms,
        max_traversal_rows: 1 << 60,
        max_traversal_bytes: 1 << 40,
        ..ServerConfig::default()
    });
    fixture.people();
    // Walks go to and fro between josh and lop.
    fixture.done(
        "POST",
        "edges",
        r#"{"label":"created","outV":"1:josh","inV":"2:lop","properties":{"date":"2009-11-11","weight":0.4}}"#,
    );
    fixture
}

fn await_begun(fixture: &Fixture) {
    let pool = &fixture.server.state.database().pool;
    await_that("the traversal has begun", || pool.in_work() == 1);
}

fn await_ended(fixture: &Fixture, abandoned: u64) {
    let state = &fixture.server.state;
    await_that("the traversal has ended", || {
        state.database().pool.in_work() == 0
    });
    let count = || state.database().running.abandoned();
    await_that("it is counted", || count() == abandoned);
}

#[test]
fn a_traversal_ends_when_its_client_closes_the_connection() {
    let fixture = world();
    let mut client = fixture.server.connect();
    client.send(&request("GET", ENDLESS, "", ""));
    await_begun(&fixture);
    drop(client);
    await_ended(&fixture, 1);
    assert_eq!(fixture.server.get(SHORT).status, 200);
}

#[test]
fn a_traversal_ends_when_its_stream_is_reset() {
    let fixture = world();
    let mut client = with_closed_window(&fixture.server, ENDLESS);
    await_begun(&fixture);
    // RST_STREAM of stream 1: CANCEL.
    client.send(&[0, 0, 4, 3, 0, 0, 0, 0, 1, 0, 0, 0, 8]);
    await_ended(&fixture, 1);
    drop(client);
}

#[test]
fn a_client_that_only_closes_its_sending_side_is_answered() {
    let fixture = world();
    let mut client = fixture.server.connect();
    client.send(&request("GET", SHORT, "", ""));
    client.stream.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(client.receive().status, 200);
    await_ended(&fixture, 0);
}

#[test]
fn a_short_read_does_not_wait_for_the_end_of_a_long_traversal() {
    let fixture = world();
    let mut long = fixture.server.connect();
    long.send(&request("GET", ENDLESS, "", ""));
    await_begun(&fixture);
    assert_eq!(fixture.server.get(SHORT).status, 200);
    let pool = &fixture.server.state.database().pool;
    await_that("only the long one is left", || pool.in_work() == 1);
}

#[test]
fn a_traversal_over_its_time_leaves_its_thread() {
    let fixture = within(200);
    assert_eq!(fixture.server.get(ENDLESS).status, 503);
    await_ended(&fixture, 0);
}
