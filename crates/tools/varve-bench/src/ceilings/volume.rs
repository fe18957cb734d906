//! A large load through the REST API. Measures its rate, the server's memory, the times of queries
//! after it, and the time until a restarted server answers.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use super::client::closed_loop;
use super::workload;
use super::workload::{
    BATCH_EDGES, BATCH_VERTICES, batch, batches, edge, request, vertex, vertex_id,
};
use crate::client::Probe;
use crate::endpoint::Endpoint;
use crate::environment;
use crate::serve::{Served, VerifyStore};

/// The number of requests that are built before they are sent; bounds this tool's own memory.
const ROUND: usize = 500;
/// The number of connections that load.
const CONNECTIONS: usize = 4;

/// Loads the graph, queries it, kills and restarts the server, and verifies the store. Prints the
/// figures.
pub(crate) fn run(
    varve: &Path,
    durability: &str,
    vertices: u64,
    edges: u64,
    verify_store: VerifyStore,
) -> Result<()> {
    let disk = environment::disk(&environment::Data::temporary());
    println!("data on {disk}");
    let mut served = Served::start(varve, durability, &[])?;
    let server = Server::of(&served)?;
    setup(server.address)?;
    load(&server, "vertices", vertices, BATCH_VERTICES, vertex)?;
    load(&server, "edges", edges, BATCH_EDGES, |at| {
        edge(at, vertices)
    })?;
    let reads: Vec<Vec<u8>> = (0..20_000_u64)
        .map(|at| vertex_id(at.wrapping_mul(7_919) % vertices))
        .flat_map(|id| {
            let edges = format!("graph/edges?vertex_id=%22{id}%22&direction=BOTH&limit=100");
            [
                request("GET", &format!("graph/vertices/%22{id}%22"), ""),
                request("GET", &edges, ""),
            ]
        })
        .collect();
    let measured = closed_loop(server.address, 16, &reads, 200)?;
    let at = |percent| measured.times.percentile(percent) as f64 / 1e3;
    println!(
        "queries: {} in {:.1} s, p50 {:.2} ms, p99 {:.2} ms; resident peak {} MiB",
        measured.times.count(),
        measured.elapsed.as_secs_f64(),
        at(50.0),
        at(99.0),
        peak_mib(server.pid)?
    );
    let started = Instant::now();
    served.kill_and_restart()?;
    let server = Server::of(&served)?;
    let first = reads.first().context("a read")?;
    let status = probe(server.address).send(first)?.status;
    ensure!(status == 200, "the first read after a restart: {status}");
    println!(
        "killed and started again: first answer after {:.2} s",
        started.elapsed().as_secs_f64()
    );
    let verified = served.verify(verify_store)?;
    println!("{verified}");
    ensure!(verified.failure().is_none(), "{verified}");
    Ok(())
}

/// The process id and the address of the server.
struct Server {
    pid: u32,
    address: SocketAddr,
}

impl Server {
    fn of(served: &Served) -> Result<Self> {
        let address = served.url.strip_prefix("http://").unwrap_or(&served.url);
        Ok(Self {
            pid: served.pid(),
            address: address.parse().context("the server's address")?,
        })
    }
}

/// Loads `total` elements of a kind, in batches of `size`.
fn load(
    server: &Server,
    kind: &str,
    total: u64,
    size: usize,
    body: impl Fn(u64) -> String,
) -> Result<()> {
    let started = Instant::now();
    let path = format!("graph/{kind}/batch");
    for round in batches(0..total, ROUND * size) {
        let loaded = round.end;
        let requests: Vec<Vec<u8>> = batches(round, size)
            .map(|elements| request("POST", &path, &batch(elements, &body)))
            .collect();
        closed_loop(server.address, CONNECTIONS, &requests, 201)?;
        eprint!(
            "\r{kind}: {loaded} of {total}, resident peak {} MiB ",
            peak_mib(server.pid)?
        );
    }
    eprintln!();
    println!(
        "{kind}: {total} in {:.0} s, {:.0} a second (with the making of requests); resident peak {} MiB",
        started.elapsed().as_secs_f64(),
        total as f64 / started.elapsed().as_secs_f64(),
        peak_mib(server.pid)?
    );
    Ok(())
}

fn setup(address: SocketAddr) -> Result<()> {
    let mut probe = probe(address);
    for (path, body) in workload::schema() {
        let answer = probe.send(&workload::request("POST", path, &body))?;
        let status = answer.status;
        ensure!(status < 300, "{path}: {status} {}", answer.text());
    }
    Ok(())
}

fn probe(address: SocketAddr) -> Probe {
    Probe::new(Endpoint::plain(address, "localhost"))
}

/// The peak of the process's resident memory, in MiB.
fn peak_mib(pid: u32) -> Result<u64> {
    let kib = environment::field(&format!("/proc/{pid}/status"), "VmHWM").context("VmHWM")?;
    let kib: u64 = kib.trim_end_matches(" kB").parse().context("a number")?;
    Ok(kib / 1024)
}
