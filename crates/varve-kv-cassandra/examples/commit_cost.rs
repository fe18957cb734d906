//! What inserts and reads cost on Apache Cassandra: the processor time of a server and of the nodes for each element, beside that
//! of the bare driver writing, or reading, the same rows. `make bench-cassandra` runs it.
//!
//! A server is loaded by `varve bench api`. Then the rows that the measured requests have written are read back with their
//! timestamps, and the bare driver writes them to tables of the same form: what has one timestamp and one partition key as one
//! request, 64 at a time. Both use the same nodes, one after the other, in some rounds; the first warms all up and does not
//! count, of the others the medians do.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use futures::{StreamExt, TryStreamExt, stream};
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use scylla::statement::Consistency;
use scylla::statement::batch::{Batch, BatchType};
use scylla::statement::prepared::PreparedStatement;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Ticks of a second in `/proc`.
const TICKS: u64 = 100;
/// Requests of the bare driver that are under way at once: as many as the engine has.
const AT_ONCE: usize = 64;
/// Vertices that edges join and reads ask for.
const VERTICES: &str = "50000";
/// The prefix of their ids.
const LOADED: &str = "abc";
/// Tables that are not a graph's.
const OWN_TABLES: [&str; 2] = ["varve_log", "varve_lease"];
/// How long the nodes may go on with what a phase has left to them.
const REST_TIME_MAX: Duration = Duration::from_secs(20);
const REST_LOOK: Duration = Duration::from_millis(500);
/// How long the server may take to make its graphs.
const OPEN_TIME_MAX: Duration = Duration::from_secs(120);
/// Nodes that use less than this share of one processor rest.
const REST_SHARE: f64 = 0.1;

/// A measured operation: a scenario of the load tool.
struct Kind {
    scenario: &'static str,
    /// Elements of a request.
    elements: u64,
    /// Requests for each batch of edges that is asked for.
    requests: u64,
    users: &'static str,
}

const fn kind(scenario: &'static str, elements: u64, requests: u64, users: &'static str) -> Kind {
    Kind {
        scenario,
        elements,
        requests,
        users,
    }
}

const KINDS: [Kind; 5] = [
    kind("batch_insert_edges", 500, 1, "8"),
    kind("batch_insert_vertices", 200, 2, "8"),
    kind("single_insert_edges", 1, 100, "32"),
    kind("single_insert_vertices", 1, 100, "32"),
    kind("vertex_by_id", 1, 100, "32"),
];

impl Kind {
    fn reads(&self) -> bool {
        self.scenario.ends_with("_by_id")
    }
}

/// What a phase used.
#[derive(Clone, Copy, Default)]
struct Used {
    own: Duration,
    nodes: Duration,
}

/// One operation in one round; what is for each element is in microseconds or pieces.
#[derive(Default)]
struct Measured {
    own: f64,
    nodes: f64,
    requests: f64,
    rows: f64,
    partitions: f64,
    bare_own: f64,
    bare_nodes: f64,
}

/// When a phase wrote, in microseconds since 1970.
struct Window {
    from: i64,
    to: i64,
}

fn main() -> Result<()> {
    let run = Run::of_arguments()?;
    let server = run.serve()?;
    run.load(&server, &KINDS[0], &["--vertices", VERTICES], 1)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let session = runtime.block_on(SessionBuilder::new().known_node(&run.node).build())?;
    let bare = runtime.block_on(Bare::of(&session, &run))?;
    let mut measured: Vec<Vec<Measured>> = KINDS.iter().map(|_| Vec::new()).collect();
    for round in 0..=run.rounds {
        let (phases, windows) = run.ours(&server, round)?;
        let mut pieces = runtime.block_on(bare.pieces(&session, &windows))?;
        for (at, (mut found, kind)) in phases.into_iter().zip(&KINDS).enumerate() {
            let elements = run.elements(kind);
            let mut pieces = std::mem::take(&mut pieces[at]);
            if kind.reads() {
                pieces = runtime.block_on(bare.keys(&session, elements))?;
            }
            let rows: usize = pieces.iter().map(|piece| piece.rows.len()).sum();
            found.rows = rows as f64 / elements as f64;
            found.partitions = pieces.len() as f64 / elements as f64;
            run.rest()?;
            let before = run.used(std::process::id())?;
            runtime.block_on(bare.send(&session, &pieces, kind.reads()))?;
            let used = run.used(std::process::id())?.since(before);
            (found.bare_own, found.bare_nodes) = used.each(elements);
            if round > 0 {
                eprintln!("round {round}, {}: {}", kind.scenario, line(&found));
                measured[at].push(found);
            }
        }
    }
    drop(server);
    runtime.block_on(bare.remove(&session, &run.keyspace))?;
    report(&measured);
    Ok(())
}

/// A run's arguments.
struct Run {
    varve: String,
    node: String,
    pids: Vec<u32>,
    replication: String,
    /// Batches of edges in a round.
    requests: u64,
    rounds: u64,
    keyspace: String,
}

impl Run {
    fn of_arguments() -> Result<Self> {
        let argument = |name: &str| {
            let mut all = std::env::args().skip_while(|given| given != name);
            all.nth(1)
        };
        let wanted = |name: &str| argument(name).ok_or(format!("{name} is missing"));
        let number = |name: &str, usual: u64| argument(name).map_or(Ok(usual), |it| it.parse());
        let pids = wanted("--node-pids")?;
        let pids: std::result::Result<_, _> = pids.split(',').map(str::parse).collect();
        Ok(Self {
            varve: wanted("--varve")?,
            node: wanted("--node")?,
            pids: pids?,
            replication: argument("--replication").unwrap_or_else(|| "1".to_owned()),
            requests: number("--requests", 60)?,
            rounds: number("--rounds", 3)?.max(1),
            keyspace: format!("cost{}", std::process::id()),
        })
    }

    fn elements(&self, kind: &Kind) -> u64 {
        kind.elements * kind.requests * self.requests
    }

    /// Loads a server with each operation.
    fn ours(&self, server: &Server, round: u64) -> Result<(Vec<Measured>, Vec<Window>)> {
        let (mut phases, mut windows) = (Vec::new(), Vec::new());
        for (at, kind) in KINDS.iter().enumerate() {
            self.rest()?;
            // New vertices have a prefix of their own, new edges join others of the loaded vertices.
            let own = kind.scenario.contains("insert_vertices");
            let prefix = format!("{at}{:02}", round % 100);
            let seed = (100 * round + at as u64 + 2).to_string();
            let mut more = vec!["--seed", &seed, "--vertices", VERTICES];
            match own {
                true => more.extend(["--run-prefix", &prefix]),
                false => more.extend(["--run-prefix", LOADED, "--loaded"]),
            }
            let (from, asked) = (now()?, server.requests()?);
            let before = self.used(server.child.id())?;
            self.load(server, kind, &more, kind.requests * self.requests)?;
            let used = self.used(server.child.id())?.since(before);
            let requests = server.requests()? - asked;
            windows.push(Window { from, to: now()? });
            let elements = self.elements(kind);
            let (own, nodes) = used.each(elements);
            phases.push(Measured {
                own,
                nodes,
                requests: requests / elements as f64,
                ..Measured::default()
            });
        }
        Ok((phases, windows))
    }

    fn load(&self, server: &Server, kind: &Kind, more: &[&str], requests: u64) -> Result<()> {
        let mut command = Command::new(&self.varve);
        command.args(["bench", "api", "--url", &server.url, "--quiet"]);
        command.args(["--server-pid", &server.child.id().to_string()]);
        command.args(["--scenario", kind.scenario, "--model", "closed"]);
        command.args(["--users", kind.users, "--warmup", "0", "--hold", "600s"]);
        command.args(["--verify", "0", "--requests", &requests.to_string()]);
        if !more.contains(&"--run-prefix") {
            command.args(["--run-prefix", LOADED]);
        }
        let done = command.args(more).stdout(Stdio::null()).status()?;
        match done.success() {
            true => Ok(()),
            false => Err(format!("the load of {} failed", kind.scenario).into()),
        }
    }

    /// What a process and the nodes have used so far.
    fn used(&self, process: u32) -> Result<Used> {
        let nodes: Result<Duration> = self.pids.iter().map(|pid| cpu(*pid)).sum();
        Ok(Used {
            own: cpu(process)?,
            nodes: nodes?,
        })
    }

    /// Waits until the nodes have written and merged what was left to them, or for some time.
    fn rest(&self) -> Result<()> {
        let began = Instant::now();
        while began.elapsed() < REST_TIME_MAX {
            let before = self.used(std::process::id())?.nodes;
            std::thread::sleep(REST_LOOK);
            let used = self.used(std::process::id())?.nodes - before;
            if used.as_secs_f64() < REST_SHARE * REST_LOOK.as_secs_f64() {
                break;
            }
        }
        Ok(())
    }

    fn serve(&self) -> Result<Server> {
        let data = std::env::temp_dir().join(&self.keyspace);
        let replication = format!("storage.cassandra.replication={}", self.replication);
        let mut child = Command::new(&self.varve)
            .args(["serve", "--listen", "127.0.0.1:0", "--engine", "cassandra"])
            .arg("--data-dir")
            .arg(&data)
            .args(["--set", &replication])
            .args(["--set", "server.request_timeout_ms=120000"])
            .env("VARVE_STORAGE_CASSANDRA_CONTACT_POINTS", &self.node)
            .env("VARVE_STORAGE_CASSANDRA_KEYSPACE", &self.keyspace)
            .stdout(Stdio::piped())
            .spawn()?;
        let output = child.stdout.take().ok_or("no output")?;
        let mut server = Server {
            child,
            url: String::new(),
            data,
        };
        let mut lines = BufReader::new(output).lines();
        let read = lines.by_ref().map_while(std::io::Result::ok);
        let mut urls = read.filter_map(|line| {
            let (_, rest) = line.split_once("http://")?;
            let url = rest.split_whitespace().next()?;
            Some(url.trim_end_matches('/').to_owned())
        });
        let url = urls.next().ok_or("the server does not start")?;
        drop(urls);
        server.url = format!("http://{url}");
        // What it prints later must go somewhere, or it would stop at a full pipe.
        std::thread::spawn(move || lines.for_each(drop));
        // It listens before its graphs are open.
        let began = Instant::now();
        while !server.get("/graphs/hugegraph")?.starts_with("HTTP/1.1 200") {
            if began.elapsed() > OPEN_TIME_MAX {
                return Err("the server does not open its graphs".into());
            }
            std::thread::sleep(REST_LOOK);
        }
        Ok(server)
    }
}

impl Used {
    fn since(self, before: Self) -> Self {
        Self {
            own: self.own.saturating_sub(before.own),
            nodes: self.nodes.saturating_sub(before.nodes),
        }
    }

    /// Microseconds for each element.
    fn each(self, elements: u64) -> (f64, f64) {
        let each = |time: Duration| time.as_secs_f64() * 1e6 / elements as f64;
        (each(self.own), each(self.nodes))
    }
}

fn now() -> Result<i64> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH)?;
    Ok(i64::try_from(since.as_micros())?)
}

/// User and system time of a process.
fn cpu(pid: u32) -> Result<Duration> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let (_, fields) = stat.rsplit_once(')').ok_or("a strange /proc")?;
    let mut fields = fields.split_whitespace().skip(11);
    let mut ticks = || -> Result<u64> { Ok(fields.next().ok_or("a short /proc")?.parse()?) };
    Ok(Duration::from_millis((ticks()? + ticks()?) * 1_000 / TICKS))
}

fn ratio(found: &Measured) -> f64 {
    found.nodes / found.bare_nodes
}

fn line(found: &Measured) -> String {
    format!(
        "own {:.1} µs, nodes {:.1} µs, {:.3} requests; bare driver {:.1} µs, nodes {:.1} µs; nodes {:.2} of the bare driver's",
        found.own,
        found.nodes,
        found.requests,
        found.bare_own,
        found.bare_nodes,
        ratio(found)
    )
}

fn report(measured: &[Vec<Measured>]) {
    println!(
        "| operation | Varve, µs | its nodes, µs | its requests | bare driver, µs | its nodes, µs | its requests | rows | nodes, Varve ÷ bare driver |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for (kind, rounds) in KINDS.iter().zip(measured) {
        let median = |of: fn(&Measured) -> f64| {
            let mut all: Vec<f64> = rounds.iter().map(of).collect();
            all.sort_by(f64::total_cmp);
            all[all.len() / 2]
        };
        let ratios = rounds.iter().map(ratio);
        println!(
            "| {} | {:.1} | {:.1} | {:.2} | {:.1} | {:.1} | {:.2} | {:.2} | {:.2} ({:.2} to {:.2}) |",
            kind.scenario,
            median(|it| it.own),
            median(|it| it.nodes),
            median(|it| it.requests),
            median(|it| it.bare_own),
            median(|it| it.bare_nodes),
            median(|it| it.partitions),
            median(|it| it.rows),
            median(ratio),
            ratios.clone().fold(f64::INFINITY, f64::min),
            ratios.fold(0.0, f64::max),
        );
    }
}

/// A server, ended when dropped.
struct Server {
    child: Child,
    url: String,
    data: PathBuf,
}

impl Server {
    /// The answer to a request, with its head.
    fn get(&self, path: &str) -> Result<String> {
        let address = self.url.trim_start_matches("http://");
        let mut stream = TcpStream::connect(address)?;
        let head = format!("Host: {address}\r\nConnection: close");
        let asked = format!("GET {path} HTTP/1.1\r\n{head}\r\n\r\n");
        stream.write_all(asked.as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    }

    /// Requests that it has sent to the cluster.
    fn requests(&self) -> Result<f64> {
        let answer = self.get("/metrics")?;
        let mut lines = answer.lines();
        let line = lines.find(|line| line.starts_with("varve_engine_cluster_requests{"));
        let value = line.and_then(|line| line.rsplit(' ').next());
        Ok(value.ok_or("no count of requests in /metrics")?.parse()?)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.data);
    }
}

/// One row, of one of the tables by number.
struct Row {
    table: usize,
    clustering: Vec<u8>,
    value: Vec<u8>,
}

/// Rows by their timestamp and partition key.
type Groups = BTreeMap<(i64, Vec<u8>), Vec<Row>>;

/// What the bare driver writes at once, or reads.
struct Piece {
    stamp: i64,
    partition: Vec<u8>,
    rows: Vec<Row>,
}

/// The bare driver's tables and statements.
struct Bare {
    from: String,
    to: String,
    tables: Vec<String>,
    put: Vec<PreparedStatement>,
    get: PreparedStatement,
}

impl Bare {
    async fn of(session: &Session, run: &Run) -> Result<Self> {
        let listed = "SELECT keyspace_name, table_name FROM system_schema.tables";
        let listed = session
            .query_unpaged(listed, ())
            .await?
            .into_rows_result()?;
        let of_graph = format!("{}_hugegraph", run.keyspace);
        let mut from = None;
        let mut tables = Vec::new();
        for row in listed.rows::<(String, String)>()? {
            let (space, table) = row?;
            if space.starts_with(&of_graph) && !OWN_TABLES.contains(&table.as_str()) {
                from = Some(space);
                tables.push(table);
            }
        }
        let from = from.ok_or("the graph's tables are not there")?;
        let (to, replication) = (format!("{}_bare", run.keyspace), &run.replication);
        let define = format!(
            "CREATE KEYSPACE {to} WITH replication = {{'class': 'NetworkTopologyStrategy', 'datacenter1': {replication}}}"
        );
        session.query_unpaged(define, ()).await?;
        let mut put = Vec::new();
        for table in &tables {
            let define = format!(
                "CREATE TABLE {to}.\"{table}\" (p blob, c blob, v blob, PRIMARY KEY (p, c))"
            );
            session.query_unpaged(define, ()).await?;
            let insert = format!(
                "INSERT INTO {to}.\"{table}\" (p, c, v) VALUES (?, ?, ?) USING TIMESTAMP ?"
            );
            let mut insert = session.prepare(insert).await?;
            insert.set_consistency(Consistency::LocalQuorum);
            put.push(insert);
        }
        let get = format!("SELECT v FROM {from}.vertex WHERE p = ? AND c = ?");
        let mut get = session.prepare(get).await?;
        get.set_consistency(Consistency::LocalQuorum);
        Ok(Self {
            from,
            to,
            tables,
            put,
            get,
        })
    }

    /// What was written to the graph in each window.
    async fn pieces(&self, session: &Session, windows: &[Window]) -> Result<Vec<Vec<Piece>>> {
        let mut found: Vec<Groups> = windows.iter().map(|_| BTreeMap::new()).collect();
        for (number, table) in self.tables.iter().enumerate() {
            let select = format!(
                "SELECT p, c, v, WRITETIME(v) FROM {}.\"{table}\"",
                self.from
            );
            let rows = session.query_iter(select, ()).await?;
            let mut rows = rows.rows_stream::<(Vec<u8>, Vec<u8>, Vec<u8>, i64)>()?;
            while let Some((partition, clustering, value, stamp)) = rows.try_next().await? {
                let inside = |window: &Window| (window.from..window.to).contains(&stamp);
                if let Some(at) = windows.iter().position(inside) {
                    found[at].entry((stamp, partition)).or_default().push(Row {
                        table: number,
                        clustering,
                        value,
                    });
                }
            }
        }
        let pieces = |window: Groups| {
            let pieces = window.into_iter();
            pieces
                .map(|((stamp, partition), rows)| Piece {
                    stamp,
                    partition,
                    rows,
                })
                .collect()
        };
        Ok(found.into_iter().map(pieces).collect())
    }

    /// The keys of as many vertices, each of those that are there several times if that is more.
    async fn keys(&self, session: &Session, count: u64) -> Result<Vec<Piece>> {
        let select = format!("SELECT p, c FROM {}.vertex LIMIT {VERTICES}", self.from);
        let rows = session.query_iter(select, ()).await?;
        let rows = rows.rows_stream::<(Vec<u8>, Vec<u8>)>()?;
        let all: Vec<(Vec<u8>, Vec<u8>)> = rows.try_collect().await?;
        let chosen = all.iter().cycle().take(usize::try_from(count)?);
        let piece = |(partition, clustering): &(Vec<u8>, Vec<u8>)| Piece {
            stamp: 0,
            partition: partition.clone(),
            rows: vec![Row {
                table: 0,
                clustering: clustering.clone(),
                value: Vec::new(),
            }],
        };
        Ok(chosen.map(piece).collect())
    }

    /// Writes pieces, or reads the one row of each.
    async fn send(&self, session: &Session, pieces: &[Piece], reads: bool) -> Result<()> {
        let sent = pieces.iter().map(|piece| async move {
            if !reads {
                return self.write(session, piece).await;
            }
            for row in &piece.rows {
                let key = (&piece.partition[..], &row.clustering[..]);
                let answer = session.execute_unpaged(&self.get, key).await?;
                let answer = answer.into_rows_result()?;
                let found = answer.maybe_first_row::<(&[u8],)>()?;
                found.ok_or("a vertex is not there")?;
            }
            Ok(())
        });
        let sent: Vec<_> = sent.collect();
        let mut sent = stream::iter(sent).buffer_unordered(AT_ONCE);
        while sent.try_next().await?.is_some() {}
        Ok(())
    }

    async fn write(&self, session: &Session, piece: &Piece) -> Result<()> {
        let values = piece.rows.iter().map(|row| {
            let (clustering, value) = (&row.clustering[..], &row.value[..]);
            (&piece.partition[..], clustering, value, piece.stamp)
        });
        let values: Vec<_> = values.collect();
        if let ([row], [values]) = (piece.rows.as_slice(), values.as_slice()) {
            session
                .execute_unpaged(&self.put[row.table], values)
                .await?;
            return Ok(());
        }
        let mut batch = Batch::new(BatchType::Unlogged);
        batch.set_consistency(Consistency::LocalQuorum);
        for row in &piece.rows {
            batch.append_statement(self.put[row.table].clone());
        }
        session.batch(&batch, &values).await?;
        Ok(())
    }

    /// Removes all that this run has made.
    async fn remove(&self, session: &Session, keyspace: &str) -> Result<()> {
        for keyspace in [&self.from, &self.to, keyspace] {
            let remove = format!("DROP KEYSPACE IF EXISTS {keyspace}");
            session.query_unpaged(remove, ()).await?;
        }
        Ok(())
    }
}
