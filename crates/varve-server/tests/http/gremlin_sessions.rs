//! Sessions of TinkerPop's drivers: what lives on, what ends them, how many there may be.

use std::time::Duration;

use varve_graphson::{Bytecode, Format, Instruction, Response, Value};
use varve_server::{GremlinConfig, ServerConfig};
use varve_testserver::driver::{Driver, FORMATS, map, results, step, steps, text};

use crate::fixture::Fixture;

fn with(gremlin: GremlinConfig) -> Fixture {
    let fixture = Fixture::with(ServerConfig {
        gremlin,
        ..ServerConfig::default()
    });
    fixture.people();
    fixture
}

fn command(command: &str) -> Value {
    Value::Bytecode(Bytecode {
        steps: Vec::new(),
        source: vec![Instruction {
            name: "tx".into(),
            arguments: vec![text(command)],
        }],
    })
}

fn wait_for_sessions(fixture: &Fixture, count: usize) {
    while fixture.server.state.gremlin_sessions() != count {
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn variables_and_bindings_live_on_in_their_session_alone() {
    let fixture = with(GremlinConfig::default());
    for format in FORMATS {
        let mut driver = Driver::connect(&fixture.server, format);
        assert_eq!(results(driver.eval_in("a", "x = 1")), [Value::Int(1)]);
        assert_eq!(results(driver.eval_in("a", "x + 1")), [Value::Int(2)]);
        let arguments = [
            ("gremlin", text("g.V(who).values('age')")),
            ("bindings", map(&[("who", text("1:marko"))])),
            ("session", text("a")),
        ];
        let ages = driver.ask("session", "eval", &arguments);
        assert_eq!(results(ages), [Value::Int(29)]);
        let names = driver.eval_in("a", "g.V(who).values('name')");
        assert_eq!(results(names), [text("marko")]);
        // A script that fails leaves the session as it is.
        assert_eq!(driver.eval_in("a", "g.V().nonsense()")[0].code, 597);
        assert_eq!(results(driver.eval_in("a", "x")), [Value::Int(1)]);
        for (session, script) in [("b", "x"), ("b", "who")] {
            assert_eq!(driver.eval_in(session, script)[0].code, 597);
        }
        driver.refuses("x", 597, "No such property: x");
        let mut other = Driver::connect(&fixture.server, format);
        assert_eq!(other.eval_in("a", "x")[0].code, 597);
    }
}

#[test]
fn requests_of_a_session_run_one_after_the_other() {
    let fixture = with(GremlinConfig::default());
    let mut driver = Driver::connect(&fixture.server, Format::GraphBinary);
    results(driver.eval_in("a", "x = 0"));
    let more = [("gremlin", text("x = x + 1")), ("session", text("a"))];
    let ids: Vec<u128> = (0..100)
        .map(|_| driver.send("session", "eval", &more))
        .collect();
    for (at, id) in ids.into_iter().enumerate() {
        let answer = driver.receive();
        assert_eq!(answer.id, Some(id));
        assert_eq!(results(vec![answer]), [Value::Int(at as i32 + 1)]);
    }
}

#[test]
fn the_requests_of_a_session_are_one_transaction() {
    let fixture = with(GremlinConfig::default());
    let mut driver = Driver::connect(&fixture.server, Format::GraphBinary);
    let mut other = Driver::connect(&fixture.server, Format::GraphBinary);
    let age = |driver: &mut Driver| driver.eval("g.V('1:marko').values('age')");
    let write = "g.V('1:marko').property('age', x + 1).iterate()";
    results(driver.eval_in("a", "x = g.V('1:marko').values('age').next()"));
    results(driver.eval_in("a", write));
    // Others see it when it is committed.
    assert_eq!(results(age(&mut other)), [Value::Int(29)]);
    results(driver.eval_in("a", "g.tx().commit()"));
    assert_eq!(results(age(&mut other)), [Value::Int(30)]);
    // What others change after a request has read is not overwritten.
    results(driver.eval_in("a", "x = g.V('1:marko').values('age').next()"));
    results(other.eval("g.V('1:marko').property('age', 50).iterate()"));
    results(driver.eval_in("a", write));
    assert_eq!(driver.eval_in("a", "g.tx().commit()")[0].code, 596);
    assert_eq!(results(age(&mut other)), [Value::Int(50)]);
    // What is rolled back did not happen.
    results(driver.eval_in("a", "g.V('1:marko').drop().iterate()"));
    results(driver.eval_in("a", "g.tx().rollback()"));
    assert_eq!(results(age(&mut other)), [Value::Int(50)]);
    // A graph that was cleared takes no commit.
    results(driver.eval_in("a", "g.V('1:marko').property('age', 1).iterate()"));
    let clear = "/graphs/hugegraph/clear?confirm_message=I%27m%20sure%20to%20delete%20all%20data";
    assert!(fixture.send("DELETE", clear, "").status < 300);
    assert_ne!(driver.eval_in("a", "g.tx().commit()")[0].code, 204);
}

#[test]
fn transactions_of_drivers_begin_commit_and_roll_back_without_results() {
    let fixture = with(GremlinConfig::default());
    for format in FORMATS {
        let mut driver = Driver::connect(&fixture.server, format);
        let count = steps(&[step("V", &[]), step("count", &[])]);
        for gremlin in [
            command("begin"),
            count,
            command("commit"),
            command("rollback"),
        ] {
            let arguments = [
                ("gremlin", gremlin.clone()),
                ("session", text("a")),
                ("aliases", map(&[("g", text("g"))])),
            ];
            let parts = driver.ask("session", "bytecode", &arguments);
            let is_command =
                matches!(gremlin, Value::Bytecode(bytecode) if bytecode.steps.is_empty());
            let code = if is_command { 204 } else { 200 };
            assert_eq!(parts[0].code, code, "{parts:?}");
        }
        let close = driver.ask("session", "close", &[("session", text("a"))]);
        assert_eq!(close[0].code, 204);
    }
}

#[test]
fn sessions_end_when_they_are_closed_idle_or_lose_their_connection() {
    let fixture = with(GremlinConfig {
        sessions_max: 2,
        session_idle_ms: 300,
        ..GremlinConfig::default()
    });
    let mut driver = Driver::connect(&fixture.server, Format::GraphSon);
    results(driver.eval_in("a", "x = 1"));
    let mut other = Driver::connect(&fixture.server, Format::GraphSon);
    results(other.eval_in("a", "x = 1"));
    let refused = driver.eval_in("b", "1");
    assert_eq!(refused[0].code, 596);
    assert!(
        refused[0].message.contains("gremlin.sessions_max"),
        "{refused:?}"
    );
    // A connection that ends gives its sessions up.
    drop(other);
    wait_for_sessions(&fixture, 1);
    let metrics = fixture.server.get("/metrics");
    assert!(metrics.text().contains("varve_gremlin_sessions 1\n"));
    // So does a close; what is closed begins anew.
    let close = driver.ask("session", "close", &[("session", text("a"))]);
    assert_eq!(close[0].code, 204);
    assert_eq!(fixture.server.state.gremlin_sessions(), 0);
    assert_eq!(driver.eval_in("a", "x")[0].code, 597);
    // And so does time.
    results(driver.eval_in("a", "x = 1"));
    wait_for_sessions(&fixture, 0);
    assert_eq!(driver.eval_in("a", "x")[0].code, 597);
    // A request that takes longer than that keeps its session.
    let long = "x = 5; sleep(700); x";
    assert_eq!(results(driver.eval_in("c", long)), [Value::Int(5)]);
    assert_eq!(results(driver.eval_in("c", "x")), [Value::Int(5)]);
}

#[test]
fn a_session_needs_a_name_and_authentication_is_not_asked_for() {
    let fixture = with(GremlinConfig::default());
    for format in FORMATS {
        let mut driver = Driver::connect(&fixture.server, format);
        let nameless = driver.ask("session", "eval", &[("gremlin", text("1"))]);
        assert_eq!(nameless[0].code, 499);
        assert!(nameless[0].message.contains("[session]"), "{nameless:?}");
        let credentials = [("sasl", text("AG1hcmtvAHNlY3JldA=="))];
        let known = driver.ask("traversal", "authentication", &credentials);
        assert_eq!(known[0].code, 204);
    }
}

#[test]
fn requests_of_a_session_run_in_the_order_in_which_they_came() {
    let fixture = with(GremlinConfig::default());
    for format in FORMATS {
        let mut driver = Driver::connect(&fixture.server, format);
        for round in 0..5 {
            let session = format!("s{round}");
            let many = Value::List(vec![Value::Int(1); 30_000]);
            let large = [
                ("gremlin", text("y = x.size()")),
                ("bindings", map(&[("x", many)])),
                ("session", text(&session)),
            ];
            let small = [("gremlin", text("y + 1")), ("session", text(&session))];
            // The large message takes longer to read than the two that follow it.
            driver.send("session", "eval", &large);
            let second = driver.send("session", "eval", &small);
            let close = driver.send("session", "close", &[("session", text(&session))]);
            let mut answers: Vec<Response> = (0..3).map(|_| driver.receive()).collect();
            answers.sort_by_key(|answer| answer.id);
            assert_eq!(answers[1].id, Some(second));
            assert_eq!(
                answers[1].data,
                Value::List(vec![Value::Int(30_001)]),
                "{answers:?}"
            );
            assert_eq!((answers[2].id, answers[2].code), (Some(close), 204));
        }
    }
    wait_for_sessions(&fixture, 0);
}

#[test]
fn a_request_that_waits_for_its_session_spends_its_own_time() {
    let fixture = with(GremlinConfig::default());
    let mut driver = Driver::connect(&fixture.server, Format::GraphBinary);
    let session = ("session", text("s"));
    let long = [("gremlin", text("sleep(3000); 1")), session.clone()];
    let first = driver.send("session", "eval", &long);
    let late = [
        ("gremlin", text("2")),
        ("evaluationTimeout", Value::Long(50)),
        session,
    ];
    let second = driver.send("session", "eval", &late);
    let refused = driver.receive();
    assert_eq!(
        (refused.id, refused.code),
        (Some(second), 598),
        "{refused:?}"
    );
    let done = driver.receive();
    assert_eq!((done.id, done.code), (Some(first), 200), "{done:?}");
}

#[test]
fn the_variables_of_a_session_hold_no_more_than_their_limit() {
    let fixture = with(GremlinConfig::default());
    let mut driver = Driver::connect(&fixture.server, Format::GraphBinary);
    let mut bind = |name: &str| {
        let value = text(&"x".repeat(6 << 20));
        let arguments = [
            ("gremlin", text("1")),
            ("bindings", map(&[(name, value)])),
            ("session", text("s")),
        ];
        driver.ask("session", "eval", &arguments)
    };
    for name in ["a", "b"] {
        assert_eq!(results(bind(name)), [Value::Int(1)]);
    }
    let over = bind("c");
    assert_eq!(over[0].code, 597, "{over:?}");
    assert!(
        over[0].message.contains("The variables of the session"),
        "{over:?}"
    );
    // What was there before is there, and there is room again once it is not.
    let length = driver.eval_in("s", "b.length()");
    assert_eq!(results(length), [Value::Int(6 << 20)]);
    assert_eq!(driver.eval_in("s", "c")[0].code, 597);
    // What is shared counts each time, and is measured no further than the limit.
    let lists = "t = 'x' * 1000; for (int i = 0; i < 15; i++) { t = [t, t] }; 1";
    assert_eq!(driver.eval_in("s", lists)[0].code, 597);
    results(driver.eval_in("s", "a = 0; b = 0"));
    assert_eq!(results(driver.eval_in("s", "c = 1; c")), [Value::Int(1)]);
}
