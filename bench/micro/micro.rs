//! Counts the instructions of hot paths with valgrind: a figure that other work on the machine does
//! not change.
//!
//! `make bench-micro` runs it. By default every case runs in a process of its own under valgrind,
//! twice, with different numbers of operations, so that the set-up cancels out. The result is
//! compared with `bench/micro/baseline.json`; a case that needs over 5 % more fails. `--update`
//! rewrites the baseline; names select cases.
//!
//! Requests go through a server with one thread on the in-memory engine in the same process. So the
//! figures include the client, with about a thousand instructions a request.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use varve_encoding::{key, row};
use varve_graph::{DurabilityMode, GraphOptions, Registry};
use varve_kv::MemoryEngine;
use varve_model::time::SystemClock;
use varve_model::{
    CommitVersion, Direction, EdgeId, EdgeLabelId, PropertyKeyId, Value, Vertex, VertexId,
    VertexLabelId,
};
use varve_server::{AppState, ServerConfig};

/// The largest accepted increase over the baseline.
const TOLERANCE: f64 = 0.05;
/// Vertices in the store before the requests.
const VERTICES: u64 = 2_000;
/// Edges out of the vertex whose edges are listed.
const LISTED: u64 = 100;

/// A case.
struct Case {
    name: &'static str,
    about: &'static str,
    /// The operations of the two runs: few, many.
    operations: (u64, u64),
    /// The elements of an operation.
    elements: u64,
    work: Work,
}

enum Work {
    /// Calls that are repeated this number of times.
    Calls(fn(u64) -> Result<()>),
    /// The request with this number.
    Request(fn(u64) -> Vec<u8>),
}

/// Repeated calls.
const fn calls(name: &'static str, about: &'static str, run: fn(u64) -> Result<()>) -> Case {
    Case {
        name,
        about,
        operations: (10_000, 60_000),
        elements: 1,
        work: Work::Calls(run),
    }
}

/// Requests for one element.
const fn one(name: &'static str, about: &'static str, request: fn(u64) -> Vec<u8>) -> Case {
    many(name, about, ((200, 2_200), 1), request)
}

/// Requests with these numbers of operations, and elements each.
const fn many(
    name: &'static str,
    about: &'static str,
    (operations, elements): ((u64, u64), u64),
    request: fn(u64) -> Vec<u8>,
) -> Case {
    Case {
        name,
        about,
        operations,
        elements,
        work: Work::Request(request),
    }
}

const CASES: &[Case] = &[
    calls("key_vertex", "a vertex's key", vertex_keys),
    calls("key_edge", "both keys of an edge", edge_keys),
    calls(
        "row_encode",
        "a vertex of two properties as a row",
        rows_encoded,
    ),
    calls("row_decode", "the row read again", rows_decoded),
    one(
        "request_head",
        "GET /versions: a request's head, routing, a fixed answer",
        |_| get("versions"),
    ),
    one("vertex_by_id", "a vertex read and written as JSON", |at| {
        get(&format!(
            "graphs/hugegraph/graph/vertices/%22{}%22",
            id(at % VERTICES)
        ))
    }),
    one("edge_by_id", "an edge read and written as JSON", |at| {
        let (source, target) = (id(0), id(1 + at % LISTED));
        get(&format!(
            "graphs/hugegraph/graph/edges/S{source}%3E1%3E1%3E%3ES{target}"
        ))
    }),
    many(
        "edges_of_vertex",
        "100 edges listed: rows to JSON",
        ((20, 120), LISTED),
        |_| {
            let of = format!("vertex_id=%22{}%22&direction=OUT&limit={LISTED}", id(0));
            get(&format!("graphs/hugegraph/graph/edges?{of}"))
        },
    ),
    many(
        "batch_refused",
        "200 vertices parsed and checked, the last of them refused",
        ((5, 25), 200),
        |_| {
            let mut body = batch(199, |at| vertex(VERTICES + at));
            body.truncate(body.len() - 1);
            body += r#",{"label":"nobody","id":"x","properties":{}}]"#;
            post("graph/vertices/batch", &body)
        },
    ),
    many(
        "insert_vertex",
        "a vertex parsed, encoded and committed",
        ((100, 1_100), 1),
        |at| post("graph/vertices", &vertex(VERTICES + at)),
    ),
    many(
        "insert_edge",
        "an edge parsed, both ends checked, encoded and committed",
        ((100, 1_100), 1),
        |at| post("graph/edges", &edge(at)),
    ),
    many(
        "insert_200_vertices",
        "200 vertices in a request",
        ((5, 65), 200),
        |at| {
            let body = batch(200, |number| vertex(VERTICES + at * 200 + number));
            post("graph/vertices/batch", &body)
        },
    ),
    many(
        "insert_500_edges",
        "500 edges in a request, without a check of their ends",
        ((2, 12), 500),
        |at| {
            let body = batch(500, |number| edge(at * 500 + number));
            post("graph/edges/batch?check_vertex=false", &body)
        },
    ),
    one("gremlin_vertex", "Gremlin: a vertex by id, bound", |at| {
        gremlin("g.V(x)", &id(at % VERTICES))
    }),
    many(
        "gremlin_out",
        "Gremlin: the names of 100 neighbours",
        ((20, 120), LISTED),
        |_| gremlin("g.V(x).out('knows').values('name')", &id(0)),
    ),
    many(
        "gremlin_merge",
        "Gremlin: a vertex merged that is there, with another age",
        ((100, 1_100), 1),
        |at| {
            let script = "g.mergeV([(T.label):'person',(T.id):x]).option(onMatch,[age:7])";
            gremlin(script, &id(at % VERTICES))
        },
    ),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match start(&arguments) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("bench-micro: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn start(arguments: &[String]) -> Result<ExitCode> {
    if let [one, name, count] = arguments
        && one == "--one"
    {
        let case = CASES.iter().find(|case| case.name == name);
        let count = count.parse()?;
        match case.context("no such case")?.work {
            Work::Calls(run) => run(count)?,
            Work::Request(request) => requests(count, request)?,
        }
        return Ok(ExitCode::SUCCESS);
    }
    // `cargo bench` adds an argument; `cargo test --benches` only checks that the program starts.
    if arguments.iter().any(|it| it == "--test") {
        return Ok(ExitCode::SUCCESS);
    }
    let update = arguments.iter().any(|it| it == "--update");
    let names: Vec<&String> = arguments
        .iter()
        .filter(|it| !it.starts_with("--"))
        .collect();
    compare(update, &names)
}

/// The path of the committed figures: instructions for each element.
fn baseline_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../bench/micro/baseline.json")
}

/// Measures, prints, and returns whether all cases are within the tolerance.
fn compare(update: bool, names: &[&String]) -> Result<ExitCode> {
    let path = baseline_path();
    let mut baseline: BTreeMap<String, f64> = match std::fs::read_to_string(&path) {
        Ok(text) => serde_json::from_str(&text).context("baseline.json")?,
        Err(_) => BTreeMap::new(),
    };
    println!(
        "| case | instructions an element | baseline | change | what |\n|---|--:|--:|--:|---|"
    );
    let mut worse = Vec::new();
    for case in CASES {
        if !names.is_empty() && !names.iter().any(|it| *it == case.name) {
            continue;
        }
        let found = case.measure()?;
        let before = baseline.insert(case.name.to_owned(), found.round());
        let change = before.map_or(0.0, |before| found / before - 1.0);
        if change > TOLERANCE {
            worse.push(case.name);
        }
        println!(
            "| {} | {found:.0} | {} | {:+.1} % | {} |",
            case.name,
            before.map_or("–".to_owned(), |it| format!("{it:.0}")),
            100.0 * change,
            case.about
        );
    }
    if update {
        let text = serde_json::to_string_pretty(&baseline)?;
        std::fs::write(&path, text + "\n").context("writing baseline.json")?;
        println!("\nwritten to bench/micro/baseline.json");
        return Ok(ExitCode::SUCCESS);
    }
    match worse.is_empty() {
        true => println!("\nno case is over {:.0} % worse", 100.0 * TOLERANCE),
        false => println!(
            "\nover {:.0} % worse: {}",
            100.0 * TOLERANCE,
            worse.join(", ")
        ),
    }
    Ok(ExitCode::from(u8::from(!worse.is_empty())))
}

impl Case {
    /// Instructions for each element: the difference of the two runs.
    fn measure(&self) -> Result<f64> {
        let (few, many) = self.operations;
        let more = instructions(self.name, many)? - instructions(self.name, few)?;
        Ok(more / ((many - few) * self.elements) as f64)
    }
}

/// Instructions of a process that runs the case.
fn instructions(name: &str, count: u64) -> Result<f64> {
    let output = Command::new("valgrind")
        .args([
            "--tool=cachegrind",
            "--cache-sim=no",
            "--cachegrind-out-file=/dev/null",
        ])
        .arg(std::env::current_exe()?)
        .args(["--one", name, &count.to_string()])
        .stdin(Stdio::null())
        .output()
        .context("starting valgrind (Debian's package valgrind)")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{name}: {said}");
    let line = said
        .lines()
        .find_map(|line| line.split_once("I refs:").or(line.split_once("I   refs:")))
        .with_context(|| format!("no count of instructions in: {said}"))?;
    let digits: String = line.1.chars().filter(char::is_ascii_digit).collect();
    Ok(digits.parse()?)
}

fn vertex_keys(count: u64) -> Result<()> {
    let ids: Vec<VertexId> = (0..64).map(|at| VertexId::text(&id(at))).collect();
    for at in 0..count as usize {
        black_box(key::vertex_id(black_box(&ids[at % ids.len()])));
    }
    Ok(())
}

fn edge_ids() -> Vec<EdgeId> {
    let edge = |at| EdgeId {
        source: VertexId::text(&id(at)),
        parent: EdgeLabelId(1),
        label: EdgeLabelId(1),
        sort_values: "".into(),
        target: VertexId::text(&id(at + 1)),
    };
    (0..64).map(edge).collect()
}

fn edge_keys(count: u64) -> Result<()> {
    let ids = edge_ids();
    for at in 0..count as usize {
        let id = black_box(&ids[at % ids.len()]);
        black_box(key::vertex_id(&id.source));
        black_box(key::edge_clustering(id, Direction::Out));
        black_box(key::vertex_id(&id.target));
        black_box(key::edge_clustering(id, Direction::In));
    }
    Ok(())
}

fn plain_vertex() -> Vertex {
    let mut vertex = Vertex {
        id: VertexId::text(&id(7)),
        label: VertexLabelId(1),
        properties: Default::default(),
    };
    vertex
        .properties
        .set(PropertyKeyId(1), Value::Text("n0000007".to_owned()));
    vertex.properties.set(PropertyKeyId(2), Value::Int(29));
    vertex
}

fn encoded(vertex: &Vertex) -> Vec<u8> {
    let mut out = Vec::with_capacity(64);
    let header = row::Header {
        version: CommitVersion::ZERO,
        ..row::Header::put_now()
    };
    header.encode(&mut out);
    row::put_vertex_content(vertex, &mut out);
    out
}

fn rows_encoded(count: u64) -> Result<()> {
    let vertex = plain_vertex();
    for _ in 0..count {
        black_box(encoded(black_box(&vertex)));
    }
    Ok(())
}

fn rows_decoded(count: u64) -> Result<()> {
    let bytes = encoded(&plain_vertex());
    let id = VertexId::text(&id(7));
    for _ in 0..count {
        let (header, content) = row::Header::decode(black_box(&bytes))?;
        black_box((header, row::decode_vertex(id.clone(), content)?));
    }
    Ok(())
}

/// An id of nine characters; consecutive numbers have distant ids.
fn id(number: u64) -> String {
    format!("m{:08x}", (number as u32).wrapping_mul(0x9E37_79B1))
}

fn vertex(number: u64) -> String {
    format!(
        r#"{{"label":"person","id":"{}","properties":{{"name":"n{:07}","age":{}}}}}"#,
        id(number),
        number % 10_000_000,
        10 + number % 90
    )
}

/// Edge `number` among the loaded vertices; none starts at the vertex whose edges are listed.
fn edge(number: u64) -> String {
    let source = 1 + number % (VERTICES - 1);
    let target = (source * 31 + number / (VERTICES - 1) + 1) % VERTICES;
    edge_between(source, target)
}

fn edge_between(source: u64, target: u64) -> String {
    format!(
        r#"{{"label":"knows","outV":"{}","outVLabel":"person","inV":"{}","inVLabel":"person","properties":{{"since":{}}}}}"#,
        id(source),
        id(target),
        1_900 + target % 120
    )
}

fn batch(count: u64, element: impl Fn(u64) -> String) -> String {
    let elements: Vec<String> = (0..count).map(element).collect();
    format!("[{}]", elements.join(","))
}

fn get(path: &str) -> Vec<u8> {
    format!("GET /{path} HTTP/1.1\r\nHost: localhost\r\n\r\n").into_bytes()
}

fn post(path: &str, body: &str) -> Vec<u8> {
    request(&format!("graphs/hugegraph/{path}"), body)
}

fn request(path: &str, body: &str) -> Vec<u8> {
    format!(
        "POST /{path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// A script with a binding `x`.
fn gremlin(script: &str, x: &str) -> Vec<u8> {
    let body = format!(
        r#"{{"gremlin":"{script}","bindings":{{"x":"{x}"}},"aliases":{{"g":"__g_hugegraph"}}}}"#
    );
    request("gremlin", &body)
}

/// Starts a server with some data and sends it `count` requests, one after another, on one
/// connection.
fn requests(count: u64, request: fn(u64) -> Vec<u8>) -> Result<()> {
    let config = ServerConfig {
        port: 0,
        threads: 1,
        ..ServerConfig::default()
    };
    // Without a sync, the thread that prepared a commit also writes it. With a sync, another thread
    // would write it, and whether the first one must be woken depends on other work of the machine:
    // a difference of 4,000 instructions.
    let mut options = GraphOptions::new(Arc::new(SystemClock));
    options.durability = DurabilityMode::None;
    let graphs = Registry::open(Arc::new(MemoryEngine::new()), options)?;
    let graphs = Arc::new(graphs);
    graphs.get_or_create("hugegraph")?;
    let running = varve_server::start(&AppState::with_graphs(config, graphs)?)?;
    let mut client = Client::to(running.address())?;
    load(&mut client)?;
    // The first requests of a kind fill caches.
    let refused = request(0).windows(6).any(|it| it == b"nobody");
    for at in 0..count {
        let status = client.send(&request(at))?;
        ensure!((status < 300) != refused, "status {status}");
    }
    // The server is not stopped: which thread would drop the rows, and whether before the process
    // ends, is random, and makes a difference of 2,700 instructions a vertex.
    std::mem::forget(running);
    Ok(())
}

fn load(client: &mut Client) -> Result<()> {
    let schema = [
        ("propertykeys", r#"{"name":"name","data_type":"TEXT"}"#),
        ("propertykeys", r#"{"name":"age","data_type":"INT"}"#),
        ("propertykeys", r#"{"name":"since","data_type":"INT"}"#),
        (
            "vertexlabels",
            r#"{"name":"person","id_strategy":"CUSTOMIZE_STRING","properties":["name","age"]}"#,
        ),
        (
            "edgelabels",
            r#"{"name":"knows","source_label":"person","target_label":"person","properties":["since"]}"#,
        ),
    ];
    for (path, body) in schema {
        client.expect(&post(&format!("schema/{path}"), body))?;
    }
    for first in (0..VERTICES).step_by(500) {
        let body = batch(500, |at| vertex(first + at));
        client.expect(&post("graph/vertices/batch", &body))?;
    }
    let body = batch(LISTED, |at| edge_between(0, 1 + at));
    client.expect(&post("graph/edges/batch", &body))
}

/// A connection with minimal cost.
struct Client {
    stream: TcpStream,
    answer: Vec<u8>,
}

impl Client {
    fn to(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            answer: vec![0; 1 << 20],
        })
    }

    fn expect(&mut self, request: &[u8]) -> Result<()> {
        let status = self.send(request)?;
        if status >= 300 {
            bail!("{status}: {}", String::from_utf8_lossy(request));
        }
        Ok(())
    }

    /// Sends a request and reads its answer. Returns the status.
    fn send(&mut self, request: &[u8]) -> Result<u16> {
        self.stream.write_all(request)?;
        let mut have = 0;
        loop {
            let more = self.stream.read(&mut self.answer[have..])?;
            ensure!(more > 0, "the server closed the connection");
            have += more;
            let Some(head) = self.answer[..have]
                .windows(4)
                .position(|it| it == b"\r\n\r\n")
            else {
                continue;
            };
            let text = std::str::from_utf8(&self.answer[..head])?;
            let length = text
                .lines()
                .find_map(|line| {
                    let (name, value) = line.split_once(": ")?;
                    name.eq_ignore_ascii_case("content-length").then_some(value)
                })
                .context("an answer with a length")?
                .parse::<usize>()?;
            if have >= head + 4 + length {
                let status = text.get(9..12).context("a status line")?;
                return Ok(status.parse()?);
            }
        }
    }
}
