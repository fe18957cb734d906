//! A write that has begun when its time is over is of unknown outcome, at every door.

use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::json;
use varve_graph::{GraphOptions, Registry};
use varve_graphson::{Format, Value};
use varve_kv::{
    Batch, Durability, Engine, EngineLayer, KvError, MemoryEngine, Reader, ReaderLayer, Space,
    SpaceLayer, TableSpec,
};
use varve_model::time::SystemClock;
use varve_server::ServerConfig;
use varve_testkit::http::request;
use varve_testserver::driver::{Driver, text};

use crate::fixture::Fixture;

const UNKNOWN: &str = "VRV-OUTCOME-UNKNOWN";
/// How long a test may wait for a write to begin.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Where writes of an engine wait while it is closed.
#[derive(Default)]
pub(crate) struct Gate {
    state: Mutex<GateState>,
    changed: Condvar,
}

#[derive(Default)]
struct GateState {
    is_closed: bool,
    waiting: usize,
}

impl Gate {
    fn pass(&self) {
        let mut state = self.state.lock().unwrap();
        state.waiting += 1;
        self.changed.notify_all();
        while state.is_closed {
            state = self.changed.wait(state).unwrap();
        }
        state.waiting -= 1;
    }

    fn set(&self, is_closed: bool) {
        self.state.lock().unwrap().is_closed = is_closed;
        self.changed.notify_all();
    }

    /// Runs `request` while writes wait. One has begun before this returns.
    pub(crate) fn while_closed<T: Send>(&self, request: impl FnOnce() -> T + Send) -> T {
        self.set(true);
        let answer = thread::scope(|scope| {
            let answer = scope.spawn(request);
            let state = self.state.lock().unwrap();
            let begun = self
                .changed
                .wait_timeout_while(state, TIMEOUT, |state| state.waiting == 0);
            // Else the thread below would be waited for.
            if begun.unwrap().1.timed_out() {
                self.set(false);
                panic!("no write has begun");
            }
            answer.join()
        });
        self.set(false);
        answer.unwrap()
    }
}

/// An engine whose writes pass a gate.
struct GatedEngine {
    inner: MemoryEngine,
    gate: Arc<Gate>,
}

impl EngineLayer for GatedEngine {
    fn engine(&self) -> &dyn Engine {
        &self.inner
    }

    fn open(
        &self,
        name: &str,
        tables: &'static [TableSpec],
        create: bool,
    ) -> Result<Arc<dyn Space>, KvError> {
        Ok(Arc::new(Gated {
            inner: self.inner.open(name, tables, create)?,
            gate: Arc::clone(&self.gate),
        }))
    }
}

struct Gated {
    inner: Arc<dyn Space>,
    gate: Arc<Gate>,
}

impl ReaderLayer for Gated {
    type Below<'a> = dyn Space;

    fn read<T>(&self, read: impl FnOnce(&Self::Below<'_>) -> T) -> T {
        read(&*self.inner)
    }
}

impl SpaceLayer for Gated {
    fn space(&self) -> &dyn Space {
        &*self.inner
    }

    fn snapshot(self: Arc<Self>) -> Option<Arc<dyn Reader>> {
        Arc::clone(&self.inner).snapshot()
    }

    fn write(&self, batch: &Batch, durability: Durability) -> Result<(), KvError> {
        self.gate.pass();
        self.inner.write(batch, durability)
    }
}

/// Graphs whose writes pass the gate.
pub(crate) fn gated() -> (Arc<Registry>, Arc<Gate>) {
    let gate = Arc::new(Gate::default());
    let engine = GatedEngine {
        inner: MemoryEngine::new(),
        gate: Arc::clone(&gate),
    };
    let options = GraphOptions::new(Arc::new(SystemClock));
    let graphs = Registry::open(Arc::new(engine), options).unwrap();
    (Arc::new(graphs), gate)
}

/// A server whose requests have little time.
pub(crate) fn hurried() -> ServerConfig {
    ServerConfig {
        request_timeout_ms: 300,
        ..ServerConfig::default()
    }
}

fn people() -> (Fixture, Arc<Gate>) {
    let (graphs, gate) = gated();
    let fixture = Fixture::on(hurried(), graphs);
    fixture.people();
    (fixture, gate)
}

fn script(name: &str) -> String {
    format!("g.addV('person').property('name','{name}').property('age',1)")
}

/// Waits until the vertex is there: the write went on.
fn await_stored(fixture: &Fixture, id: &str) {
    let path = format!("vertices/%22{id}%22");
    for _ in 0..1_000 {
        if fixture.send("GET", &path, "").status == 200 {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("{id} is not stored");
}

#[test]
fn at_the_rest_api() {
    let (fixture, gate) = people();
    let body = json!({"label": "person", "properties": {"name": "late", "age": 1}}).to_string();
    let answer = gate.while_closed(|| fixture.send("POST", "vertices", &body));
    assert_eq!(answer.status, 503, "{}", answer.text());
    assert!(answer.text().contains(UNKNOWN), "{}", answer.text());
    assert!(answer.header("retry-after").is_none());
    await_stored(&fixture, "1:late");
}

#[test]
fn at_gremlin_over_http() {
    let (fixture, gate) = people();
    let accepted = [
        "*/*",
        "application/vnd.gremlin-v3.0+json",
        "application/vnd.graphbinary-v1.0",
    ];
    for (number, accepted) in accepted.into_iter().enumerate() {
        let name = format!("late{number}");
        let body = json!({"gremlin": script(&name)}).to_string();
        let accept = format!("accept: {accepted}\r\n");
        let request = request("POST", "/gremlin", &accept, body);
        let answer = gate.while_closed(|| fixture.server.connect().exchange(&request).unwrap());
        let text = String::from_utf8_lossy(&answer.body);
        assert!(answer.status >= 500, "{accepted}: {text}");
        assert!(text.contains(UNKNOWN), "{accepted}: {text}");
        assert!(answer.header("retry-after").is_none(), "{accepted}");
        await_stored(&fixture, &format!("1:{name}"));
    }
}

#[test]
fn at_gremlin_over_a_websocket() {
    let (fixture, gate) = people();
    for (number, format) in [Format::GraphSon, Format::GraphBinary]
        .into_iter()
        .enumerate()
    {
        let name = format!("late{number}");
        let parts =
            gate.while_closed(|| Driver::connect(&fixture.server, format).eval(&script(&name)));
        // Not 596, which drivers take for "send it again", nor 598, "it was not done".
        assert_eq!(parts[0].code, 500, "{parts:?}");
        assert!(parts[0].message.contains(UNKNOWN), "{parts:?}");
        await_stored(&fixture, &format!("1:{name}"));
    }
}

#[test]
fn at_the_commit_of_a_gremlin_session() {
    let (fixture, gate) = people();
    let mut driver = Driver::connect(&fixture.server, Format::GraphBinary);
    assert_eq!(driver.eval_in("a", &script("late"))[0].code, 200);
    let parts = gate.while_closed(|| driver.eval_in("a", "g.tx().commit()"));
    assert_eq!(parts[0].code, 500, "{parts:?}");
    assert!(parts[0].message.contains(UNKNOWN), "{parts:?}");
    await_stored(&fixture, "1:late");
}

#[test]
fn a_limit_of_the_script_itself_does_not_hide_it() {
    let (graphs, gate) = gated();
    let fixture = Fixture::on(ServerConfig::default(), graphs);
    fixture.people();
    let mut driver = Driver::connect(&fixture.server, Format::GraphBinary);
    let arguments = [
        ("gremlin", text(&script("late"))),
        ("evaluationTimeout", Value::Long(300)),
    ];
    let parts = gate.while_closed(|| driver.ask("", "eval", &arguments));
    assert_eq!(parts[0].code, 500, "{parts:?}");
    assert!(parts[0].message.contains(UNKNOWN), "{parts:?}");
    await_stored(&fixture, "1:late");
}
