//! What a write costs the server above its storage engine: server and generator in one process over
//! loopback, on an engine that keeps the schema and forgets the rest. Prints the CPU time of the
//! server's threads per request and per element, without the generator's own.
//!
//! `write_cost [seconds per row] [row ...]`; rows: vertices, keyed (a primary key and five
//! properties), wide (an own id and the same properties), edges, checked, vertex, edge. An engine
//! that "has" every vertex is used for the rows that check ends. A number of requests as
//! `VARVE_COST_REQUESTS` takes the place of the seconds, for a count of instructions.

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use varve_graph::{DurabilityMode, GraphOptions, Registry};
use varve_kv::{
    Batch, Durability, Engine, EngineLayer, KvError, MemoryEngine, Reader, ReaderLayer, Space,
    SpaceLayer, TableId, TableSpec,
};
use varve_model::time::SystemClock;
use varve_server::ServerConfig;
use varve_testkit::http::{Connection, request};
use varve_testserver::TestServer;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Vertices of a batch request.
const BATCH_VERTICES: u64 = 200;
/// Edges of a batch request.
const BATCH_EDGES: u64 = 500;
/// Different requests that are sent in turn.
const REQUESTS: u64 = 200;
/// The table of vertices.
const VERTEX: TableId = TableId(0);
/// The element tables are the first five: they are forgotten.
const ELEMENT_TABLES: u8 = 5;

/// Forgets everything but the schema, once it was asked to.
struct Forgetful {
    inner: MemoryEngine,
    forgets: Arc<AtomicBool>,
}

struct ForgetfulSpace {
    inner: Arc<dyn Space>,
    forgets: Arc<AtomicBool>,
    /// The row that every vertex has.
    vertex: Vec<u8>,
}

impl EngineLayer for Forgetful {
    fn engine(&self) -> &dyn Engine {
        &self.inner
    }
    fn open(
        &self,
        name: &str,
        tables: &'static [TableSpec],
        create: bool,
    ) -> Result<Arc<dyn Space>, KvError> {
        let mut vertex = vec![0; 9];
        vertex.extend_from_slice(&[1, 0]);
        Ok(Arc::new(ForgetfulSpace {
            inner: self.inner.open(name, tables, create)?,
            forgets: Arc::clone(&self.forgets),
            vertex,
        }))
    }
}

impl ReaderLayer for ForgetfulSpace {
    type Below<'a> = dyn Space;

    fn read<T>(&self, read: impl FnOnce(&Self::Below<'_>) -> T) -> T {
        read(&*self.inner)
    }
    fn get_with(
        &self,
        table: TableId,
        p: &[u8],
        c: &[u8],
        found: &mut dyn FnMut(&[u8]),
    ) -> Result<bool, KvError> {
        if table.0 >= ELEMENT_TABLES {
            return self.inner.get_with(table, p, c, found);
        }
        let exists = table == VERTEX && p[1] == b'v';
        if exists {
            found(&self.vertex);
        }
        Ok(exists)
    }
    fn get_each(
        &self,
        table: TableId,
        keys: &[(&[u8], &[u8])],
        found: &mut dyn FnMut(usize, &[u8]),
    ) -> Result<(), KvError> {
        for (at, (p, c)) in keys.iter().enumerate() {
            Reader::get_with(self, table, p, c, &mut |value| found(at, value))?;
        }
        Ok(())
    }
}

impl SpaceLayer for ForgetfulSpace {
    fn space(&self) -> &dyn Space {
        &*self.inner
    }

    fn snapshot(self: Arc<Self>) -> Option<Arc<dyn Reader>> {
        Arc::clone(&self.inner).snapshot()
    }

    fn write(&self, batch: &Batch, durability: Durability) -> Result<(), KvError> {
        if self.forgets.load(Ordering::Relaxed) {
            return Ok(());
        }
        self.inner.write(batch, durability)
    }

    fn write_may_wait(&self) -> bool {
        false
    }
}

/// A row of the table: what is sent over how many connections.
struct Scenario {
    name: &'static str,
    connections: usize,
    items: u64,
    requests: Vec<Vec<u8>>,
}

fn mix(at: u64) -> u64 {
    let mut z = at.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z ^ (z >> 31)
}

/// An id of nine characters. Those that begin with `v` are in the engine, those with `n` are not.
fn id(kind: char, at: u64) -> String {
    format!("{kind}{:08x}", mix(at) as u32)
}

fn vertex(at: u64) -> String {
    let (id, age) = (id('n', at), mix(at) % 100);
    format!(
        r#"{{"label":"person","id":"{id}","properties":{{"name":"{:08}","age":{age}}}}}"#,
        mix(at) % 100_000_000
    )
}

/// The properties of a vertex with five of them.
fn five(at: u64) -> String {
    let (mixed, day) = (mix(at), at % 28 + 1);
    format!(
        r#"{{"name":"{mixed:016x}","age":{},"date":"2020-01-{day:02}","weight":{}.25,"city":"city{}"}}"#,
        mixed % 100,
        at % 100,
        mixed % 1_000
    )
}

fn keyed(at: u64) -> String {
    format!(r#"{{"label":"keyed","properties":{}}}"#, five(at))
}

fn wide(at: u64) -> String {
    let (id, properties) = (id('n', at), five(at));
    format!(r#"{{"label":"wide","id":"{id}","properties":{properties}}}"#)
}

fn edge(at: u64) -> String {
    let (source, target) = (id('v', 2 * at), id('v', 2 * at + 1));
    format!(
        r#"{{"label":"knows","outV":"{source}","outVLabel":"person","inV":"{target}","inVLabel":"person","properties":{{"date":"2020-01-{:02}","weight":{}.25}}}}"#,
        at % 28 + 1,
        at % 100
    )
}

fn post(path: &str, body: &str) -> Vec<u8> {
    request("POST", &format!("/graphs/hugegraph/{path}"), "", body)
}

fn batches(path: &str, items: u64, body: fn(u64) -> String) -> Vec<Vec<u8>> {
    let batch = |first: u64| {
        let bodies: Vec<String> = (first * items..(first + 1) * items).map(body).collect();
        post(path, &format!("[{}]", bodies.join(",")))
    };
    (0..REQUESTS).map(batch).collect()
}

fn scenarios() -> Vec<Scenario> {
    let singles = |path: &str, body: fn(u64) -> String| {
        (0..REQUESTS * 50).map(|at| post(path, &body(at))).collect()
    };
    let row = |name, connections, items, requests| Scenario {
        name,
        connections,
        items,
        requests,
    };
    let edges = |query: &str| batches(&format!("graph/edges/batch{query}"), BATCH_EDGES, edge);
    let vertices = |body| batches("graph/vertices/batch", BATCH_VERTICES, body);
    vec![
        row("vertices", 4, BATCH_VERTICES, vertices(vertex)),
        row("keyed", 4, BATCH_VERTICES, vertices(keyed)),
        row("wide", 4, BATCH_VERTICES, vertices(wide)),
        row("edges", 4, BATCH_EDGES, edges("?check_vertex=false")),
        row("checked", 4, BATCH_EDGES, edges("?check_vertex=true")),
        row("vertex", 32, 1, singles("graph/vertices", vertex)),
        row("edge", 32, 1, singles("graph/edges", edge)),
    ]
}

fn schema() -> [(&'static str, &'static str); 9] {
    [
        (
            "schema/propertykeys",
            r#"{"name":"name","data_type":"TEXT"}"#,
        ),
        ("schema/propertykeys", r#"{"name":"age","data_type":"INT"}"#),
        (
            "schema/propertykeys",
            r#"{"name":"date","data_type":"DATE"}"#,
        ),
        (
            "schema/propertykeys",
            r#"{"name":"weight","data_type":"DOUBLE"}"#,
        ),
        (
            "schema/propertykeys",
            r#"{"name":"city","data_type":"TEXT"}"#,
        ),
        (
            "schema/vertexlabels",
            r#"{"name":"keyed","primary_keys":["name"],"properties":["name","age","date","weight","city"]}"#,
        ),
        (
            "schema/vertexlabels",
            r#"{"name":"wide","id_strategy":"CUSTOMIZE_STRING","properties":["name","age","date","weight","city"]}"#,
        ),
        (
            "schema/vertexlabels",
            r#"{"name":"person","id_strategy":"CUSTOMIZE_STRING","properties":["name","age"]}"#,
        ),
        (
            "schema/edgelabels",
            r#"{"name":"knows","source_label":"person","target_label":"person","properties":["date","weight"]}"#,
        ),
    ]
}

/// CPU time of this process's threads whose names begin with `varve-`.
fn server_cpu() -> Outcome<Duration> {
    let mut total = 0;
    for task in std::fs::read_dir("/proc/self/task")? {
        let path = task?.path();
        if std::fs::read_to_string(path.join("comm"))?.starts_with("varve-") {
            let text = std::fs::read_to_string(path.join("schedstat"))?;
            let nanos = text.split_whitespace().next().ok_or("schedstat")?;
            total += nanos.parse::<u64>()?;
        }
    }
    Ok(Duration::from_nanos(total))
}

/// How long a row is driven.
#[derive(Clone, Copy)]
enum Span {
    Time(Duration),
    Requests(u64),
}

/// Keeps all connections busy for the span given; returns how many requests were answered.
fn drive(address: SocketAddr, scenario: &Scenario, span: Span) -> Outcome<u64> {
    let connect = |_| Connection::to(address);
    let mut connections: Vec<Connection> = (0..scenario.connections).map(connect).collect();
    let mut requests = scenario.requests.iter().cycle();
    let mut answered = 0;
    for connection in &mut connections {
        connection.send(requests.next().ok_or("a request")?);
    }
    let started = Instant::now();
    loop {
        let ends = match span {
            Span::Time(time) => started.elapsed() >= time,
            Span::Requests(requests) => answered >= requests,
        };
        for connection in &mut connections {
            let answer = connection.receive();
            if answer.status != 201 {
                return Err(format!("{}: {}", answer.status, answer.text()).into());
            }
            answered += 1;
            if !ends {
                connection.send(requests.next().ok_or("a request")?);
            }
        }
        if ends {
            return Ok(answered);
        }
    }
}

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let seconds: f64 = arguments.next().map_or(Ok(3.0), |text| text.parse())?;
    let wanted: Vec<String> = arguments.collect();
    let counted = match std::env::var("VARVE_COST_REQUESTS") {
        Ok(text) => Some(text.parse()?),
        Err(_) => None,
    };
    let time = Span::Time(Duration::from_secs_f64(seconds));
    let span = counted.map_or(time, Span::Requests);
    let forgets = Arc::new(AtomicBool::new(false));
    let engine = Arc::new(Forgetful {
        inner: MemoryEngine::new(),
        forgets: Arc::clone(&forgets),
    });
    let mut options = GraphOptions::new(Arc::new(SystemClock));
    options.durability = DurabilityMode::None;
    let registry = Arc::new(Registry::open(engine, options)?);
    registry.get_or_create("hugegraph")?;
    // As many threads as by default.
    let config = ServerConfig {
        threads: ServerConfig::default().thread_count(),
        ..ServerConfig::default()
    };
    let server = TestServer::on(config, registry, None);
    for (path, body) in schema() {
        let made = server.exchange(&post(path, body));
        if !made.is_success() {
            return Err(made.text().into());
        }
    }
    forgets.store(true, Ordering::Relaxed);
    println!("| row | requests/s | items/s | server CPU µs a request | µs an item |");
    println!("|---|--:|--:|--:|--:|");
    for scenario in scenarios() {
        if !wanted.is_empty() && !wanted.iter().any(|name| name == scenario.name) {
            continue;
        }
        if counted.is_none() {
            let warm = Span::Time(Duration::from_millis(200));
            drive(server.address(), &scenario, warm)?;
        }
        let (before, started) = (server_cpu()?, Instant::now());
        let requests = drive(server.address(), &scenario, span)?;
        let elapsed = started.elapsed().as_secs_f64();
        let micros = (server_cpu()? - before).as_secs_f64() * 1e6 / requests as f64;
        println!(
            "| {} | {:.0} | {:.0} | {micros:.1} | {:.3} |",
            scenario.name,
            requests as f64 / elapsed,
            (requests * scenario.items) as f64 / elapsed,
            micros / scenario.items as f64,
        );
    }
    Ok(())
}
