//! Short Gremlin traversals, which are answered in place, beside those that need the pool.

use serde_json::{Value, json};
use varve_server::ServerConfig;
use varve_testkit::http::{Connection, request};
use varve_testserver::routes::GATE;

use crate::fixture::Fixture;
use crate::memory::await_that;

/// A person who knows 299 others, on a server with one thread for long reads.
fn hub() -> Fixture {
    let fixture = Fixture::with(ServerConfig {
        blocking_threads: 1,
        ..ServerConfig::default()
    });
    let people: Vec<Value> = (0..300)
        .map(|at| json!({"label":"person","properties":{"name":format!("p{at}"),"age":at}}))
        .collect();
    fixture.done("POST", "vertices/batch", &json!(people).to_string());
    let knows: Vec<Value> = (1..300)
        .map(|at| {
            json!({"label":"knows","outV":"1:p0","outVLabel":"person","inV":format!("1:p{at}"),
                "inVLabel":"person","properties":{"date":"2020-01-01"}})
        })
        .collect();
    fixture.done("POST", "edges/batch", &json!(knows).to_string());
    fixture
}

fn asked(script: &str) -> Vec<u8> {
    let body = json!({"gremlin": script}).to_string();
    request("POST", "/gremlin", "", body)
}

fn data(text: &str) -> Value {
    let answer: Value = serde_json::from_str(text).expect("JSON");
    answer["result"]["data"].clone()
}

fn send_aside(fixture: &Fixture, script: &str) -> std::thread::JoinHandle<Value> {
    let (address, request) = (fixture.server.address(), asked(script));
    std::thread::spawn(move || {
        let answer = Connection::to(address)
            .exchange(&request)
            .expect("an answer");
        data(answer.text())
    })
}

#[test]
fn a_short_traversal_needs_no_thread_of_the_pool_and_a_long_one_does() {
    let owner = GATE.take();
    let fixture = hub();
    let address = fixture.server.address();
    let held = std::thread::spawn(move || Connection::to(address).get("/test/held"));
    GATE.wait_for(1);
    let pool = &fixture.server.state.database().pool;
    let mut client = fixture.server.connect();
    for (script, wanted) in [
        ("g.V('1:p7').values('age')", json!([7])),
        ("g.V('1:p7').in('knows').values('name')", json!(["p0"])),
        ("g.V('1:p7','1:p8').in('knows').dedup().count()", json!([1])),
    ] {
        client.send(&asked(script));
        assert_eq!(data(client.receive().text()), wanted, "{script}");
        assert_eq!(pool.in_work(), 1, "{script}");
    }
    let mut long = Vec::new();
    for (script, wanted) in [
        // More rows than are read in place.
        ("g.V('1:p0').out('knows').dedup().count()", json!([299])),
        // What may take long whatever it reads.
        ("g.V('1:p7').values('name').toUpper()", json!(["P7"])),
        ("g.V('1:p7').values('name').is(regex('p.'))", json!(["p7"])),
    ] {
        long.push((send_aside(&fixture, script), wanted));
        await_that(script, || pool.in_work() == 1 + long.len());
    }
    GATE.open();
    held.join().unwrap().is(200, "true");
    for (answer, wanted) in long {
        assert_eq!(answer.join().unwrap(), wanted);
    }
    drop(owner);
}

#[test]
fn traversals_around_the_limit_of_rows_give_the_same_in_place_and_on_the_pool() {
    let fixture = hub();
    let mut client = fixture.server.connect();
    for most in [1, 126, 127, 128, 129, 254, 255, 256, 257, 299] {
        let script = format!("g.V('1:p0').out('knows').limit({most}).values('age')");
        client.send(&asked(&script));
        let ages = data(client.receive().text());
        let mut ages: Vec<i64> = ages
            .as_array()
            .unwrap()
            .iter()
            .map(|age| age.as_i64().unwrap())
            .collect();
        ages.sort_unstable();
        ages.dedup();
        assert_eq!(ages.len(), most, "{script}");
    }
}
