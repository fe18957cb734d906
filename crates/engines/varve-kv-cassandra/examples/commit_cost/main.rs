//! Measures the cost of inserts and reads on Apache Cassandra: the processor time of a server and
//! of the nodes per element, compared with the bare driver writing, or reading, the same rows. Run
//! by `make bench-cassandra`.
//!
//! `varve-bench api` loads a server. The rows that the measured requests have written are then read
//! back with their timestamps, and the bare driver writes them to tables of the same form, 64
//! requests at a time, in two ways: one request per timestamp and partition key, as a client of
//! Cassandra usually does, or up to ten of these in one request, as Varve does. All use the same
//! nodes, one after the other, in several rounds. The first round is a warm-up; the results are the
//! medians of the others.

mod bare;

use std::error::Error;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use scylla::client::session_builder::SessionBuilder;
use varve_testkit::ServerProcess;

use crate::bare::{Bare, Way};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Clock ticks per second in `/proc`.
const TICKS: u64 = 100;
/// The vertices that edges join and reads look up.
const VERTICES: &str = "50000";
/// The prefix of their ids.
const LOADED: &str = "abc";
/// The longest wait for the nodes to finish the work that a phase has left to them.
const REST_TIME_MAX: Duration = Duration::from_secs(20);
const REST_LOOK: Duration = Duration::from_millis(500);
/// The longest wait for the server to create its graphs.
const OPEN_TIME_MAX: Duration = Duration::from_secs(120);
/// Nodes that use less than this share of one processor are idle.
const REST_SHARE: f64 = 0.1;

/// A measured operation: a scenario of the load tool.
struct MeasuredOperation {
    scenario: &'static str,
    /// Elements per request.
    elements: u64,
    /// Requests for each requested batch of edges.
    requests: u64,
    users: &'static str,
}

const fn kind(
    scenario: &'static str,
    elements: u64,
    requests: u64,
    users: &'static str,
) -> MeasuredOperation {
    MeasuredOperation {
        scenario,
        elements,
        requests,
        users,
    }
}

const KINDS: [MeasuredOperation; 5] = [
    kind("batch_insert_edges", 500, 1, "8"),
    kind("batch_insert_vertices", 200, 2, "8"),
    kind("single_insert_edges", 1, 100, "32"),
    kind("single_insert_vertices", 1, 100, "32"),
    kind("vertex_by_id", 1, 100, "32"),
];

impl MeasuredOperation {
    fn reads(&self) -> bool {
        self.scenario.ends_with("_by_id")
    }
}

/// The resources that a phase has used.
#[derive(Clone, Copy, Default)]
struct Used {
    own: Duration,
    nodes: Duration,
}

/// One operation in one round; values per element are in microseconds or pieces.
#[derive(Default)]
struct Measured {
    own: f64,
    nodes: f64,
    requests: f64,
    rows: f64,
    partitions: f64,
    bare_own: f64,
    bare_nodes: f64,
    grouped_requests: f64,
    grouped_nodes: f64,
}

/// The time in which a phase wrote, in microseconds since 1970.
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
            let ways = [Way::Alone, Way::Grouped];
            for at in 0..ways.len() {
                // In turns, so that neither way always has the warmer node.
                let way = ways[(at + round as usize) % ways.len()];
                run.rest()?;
                let before = run.used(std::process::id())?;
                let requests = runtime.block_on(bare.send(&session, &pieces, kind.reads(), way))?;
                let used = run.used(std::process::id())?.since(before);
                let each = used.each(elements);
                match way {
                    Way::Alone => (found.bare_own, found.bare_nodes) = each,
                    Way::Grouped => {
                        found.grouped_nodes = each.1;
                        found.grouped_requests = requests as f64 / elements as f64;
                    }
                }
            }
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

    fn elements(&self, kind: &MeasuredOperation) -> u64 {
        kind.elements * kind.requests * self.requests
    }

    /// Loads a server with each operation.
    fn ours(&self, server: &Server, round: u64) -> Result<(Vec<Measured>, Vec<Window>)> {
        let (mut phases, mut windows) = (Vec::new(), Vec::new());
        for (at, kind) in KINDS.iter().enumerate() {
            self.rest()?;
            // New vertices have a separate prefix; new edges join other loaded vertices.
            let own = kind.scenario.contains("insert_vertices");
            let prefix = format!("{at}{:02}", round % 100);
            let seed = (100 * round + at as u64 + 2).to_string();
            let mut more = vec!["--seed", &seed, "--vertices", VERTICES];
            match own {
                true => more.extend(["--run-prefix", &prefix]),
                false => more.extend(["--run-prefix", LOADED, "--loaded"]),
            }
            let (from, asked) = (now()?, server.requests()?);
            let before = self.used(server.process.id())?;
            self.load(server, kind, &more, kind.requests * self.requests)?;
            let used = self.used(server.process.id())?.since(before);
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

    fn load(
        &self,
        server: &Server,
        kind: &MeasuredOperation,
        more: &[&str],
        requests: u64,
    ) -> Result<()> {
        let mut command = Command::new(&self.varve);
        command.args(["bench", "api", "--url", &server.process.url, "--quiet"]);
        command.args(["--server-pid", &server.process.id().to_string()]);
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

    /// The resources that a process and the nodes have used so far.
    fn used(&self, process: u32) -> Result<Used> {
        let nodes: Result<Duration> = self.pids.iter().map(|pid| cpu(*pid)).sum();
        Ok(Used {
            own: cpu(process)?,
            nodes: nodes?,
        })
    }

    /// Waits until the nodes have finished their writes and compactions, or the wait times out.
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
        let mut command = Command::new(&self.varve);
        command
            .args(["serve", "--engine", "cassandra"])
            .arg("--data-dir")
            .arg(&data)
            .args(["--set", &replication])
            .args(["--set", "server.request_timeout_ms=120000"])
            .env("VARVE_STORAGE_CASSANDRA_CONTACT_POINTS", &self.node)
            .env("VARVE_STORAGE_CASSANDRA_KEYSPACE", &self.keyspace);
        let process = ServerProcess::try_start(&mut command)?;
        let server = Server {
            process,
            _data: Folder(data),
        };
        // The server listens before its graphs are open.
        let began = Instant::now();
        while server.process.ask("GET", "/graphs/hugegraph", "").0 != 200 {
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

    /// Microseconds per element.
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

fn grouped_ratio(found: &Measured) -> f64 {
    found.nodes / found.grouped_nodes
}

/// The median, the least and the greatest value.
fn spread(rounds: &[Measured], of: fn(&Measured) -> f64) -> String {
    let mut all: Vec<f64> = rounds.iter().map(of).collect();
    all.sort_by(f64::total_cmp);
    let (least, most) = (all[0], all[all.len() - 1]);
    format!("{:.2} ({least:.2} to {most:.2})", all[all.len() / 2])
}

fn line(found: &Measured) -> String {
    format!(
        "own {:.1} µs, nodes {:.1} µs, {:.3} requests; bare driver {:.1} µs, nodes {:.1} µs, grouped {:.1} µs; nodes {:.2} and {:.2} of the bare driver's",
        found.own,
        found.nodes,
        found.requests,
        found.bare_own,
        found.bare_nodes,
        found.grouped_nodes,
        ratio(found),
        grouped_ratio(found)
    )
}

fn report(measured: &[Vec<Measured>]) {
    println!(
        "| operation | Varve, µs | its nodes, µs | its requests | bare driver, µs | its nodes, µs | its requests | grouped: nodes, µs | requests | rows | nodes, Varve ÷ bare driver | ÷ grouped |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|");
    for (kind, rounds) in KINDS.iter().zip(measured) {
        let median = |of: fn(&Measured) -> f64| {
            let mut all: Vec<f64> = rounds.iter().map(of).collect();
            all.sort_by(f64::total_cmp);
            all[all.len() / 2]
        };
        println!(
            "| {} | {:.1} | {:.1} | {:.2} | {:.1} | {:.1} | {:.2} | {:.1} | {:.2} | {:.2} | {} | {} |",
            kind.scenario,
            median(|it| it.own),
            median(|it| it.nodes),
            median(|it| it.requests),
            median(|it| it.bare_own),
            median(|it| it.bare_nodes),
            median(|it| it.partitions),
            median(|it| it.grouped_nodes),
            median(|it| it.grouped_requests),
            median(|it| it.rows),
            spread(rounds, ratio),
            spread(rounds, grouped_ratio),
        );
    }
}

/// A folder, removed when dropped.
struct Folder(PathBuf);

/// A server, killed when dropped before its folder is.
struct Server {
    process: ServerProcess,
    _data: Folder,
}

impl Server {
    /// The number of requests that the server has sent to the cluster.
    fn requests(&self) -> Result<f64> {
        let answer = self.process.client().exchange("GET", "/metrics", "")?;
        let mut lines = answer.text().lines();
        let line = lines.find(|line| line.starts_with("varve_engine_cluster_requests_total "));
        let value = line.and_then(|line| line.rsplit(' ').next());
        Ok(value.ok_or("no count of requests in /metrics")?.parse()?)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
