//! A closed-loop HTTP client: so many connections, each sending its next request when the last is
//! answered.
//!
//! As cheap as it can be made, since it shares the cores with what it measures: requests are built
//! beforehand, answers are read only as far as their length and status.

use std::cell::Cell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::LocalSet;

/// What a run of one scenario gave.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measured {
    /// Requests answered.
    pub(crate) requests: u64,
    /// Wall-clock time.
    pub(crate) elapsed: Duration,
    /// Median answer time.
    pub(crate) p50: Duration,
    /// 99 % answer time.
    pub(crate) p99: Duration,
}

/// Sends all `requests` over `connections` connections; fails on the first answer whose status is
/// not `status`.
pub(crate) fn closed_loop(
    address: SocketAddr,
    connections: usize,
    requests: &[Vec<u8>],
    status: u16,
) -> Result<Measured> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let shared: Rc<[Vec<u8>]> = requests.to_vec().into();
    let next = Rc::new(Cell::new(0_usize));
    let started = Instant::now();
    let mut times: Vec<Duration> = LocalSet::new().block_on(&runtime, async {
        let mut tasks = Vec::new();
        for _ in 0..connections {
            let (shared, next) = (Rc::clone(&shared), Rc::clone(&next));
            tasks.push(tokio::task::spawn_local(connection(
                address, shared, next, status,
            )));
        }
        let mut times = Vec::with_capacity(requests.len());
        for task in tasks {
            times.extend(task.await.context("a connection's task")??);
        }
        anyhow::Ok(times)
    })?;
    let elapsed = started.elapsed();
    times.sort_unstable();
    let at = |share: f64| {
        times
            .get((times.len() as f64 * share) as usize)
            .copied()
            .unwrap_or_default()
    };
    Ok(Measured {
        requests: times.len() as u64,
        elapsed,
        p50: at(0.5),
        p99: at(0.99),
    })
}

async fn connection(
    address: SocketAddr,
    requests: Rc<[Vec<u8>]>,
    next: Rc<Cell<usize>>,
    status: u16,
) -> Result<Vec<Duration>> {
    let mut stream = TcpStream::connect(address).await.context("connecting")?;
    stream.set_nodelay(true)?;
    let mut times = Vec::new();
    let mut answer = Answer::default();
    loop {
        let at = next.get();
        next.set(at + 1);
        let Some(request) = requests.get(at) else {
            return Ok(times);
        };
        let sent = Instant::now();
        stream.write_all(request).await.context("sending")?;
        let got = answer.read(&mut stream).await?;
        times.push(sent.elapsed());
        if got != status {
            bail!(
                "expected {status}, got {got}: {}",
                String::from_utf8_lossy(&answer.buffer)
            );
        }
    }
}

/// Sends one request on a connection of its own and returns status and body.
pub(crate) fn once(address: SocketAddr, request: &[u8]) -> Result<(u16, Vec<u8>)> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all(request).await?;
        let mut answer = Answer::default();
        let status = answer.read(&mut stream).await?;
        Ok((status, answer.buffer.split_off(answer.head)))
    })
}

#[derive(Default)]
struct Answer {
    buffer: Vec<u8>,
    head: usize,
}

impl Answer {
    async fn read(&mut self, stream: &mut TcpStream) -> Result<u16> {
        self.buffer.clear();
        let mut wanted = usize::MAX;
        loop {
            if stream
                .read_buf(&mut self.buffer)
                .await
                .context("receiving")?
                == 0
            {
                bail!("the server closed the connection");
            }
            if wanted == usize::MAX {
                let end = self.buffer.windows(4).position(|four| four == b"\r\n\r\n");
                if let Some(end) = end {
                    self.head = end + 4;
                    wanted = self.head + content_length(&self.buffer[..end]);
                }
            }
            if self.buffer.len() >= wanted {
                let status = self
                    .buffer
                    .get(9..12)
                    .and_then(|digits| std::str::from_utf8(digits).ok());
                return status
                    .and_then(|digits| digits.parse().ok())
                    .context("a status line");
            }
        }
    }
}

fn content_length(head: &[u8]) -> usize {
    let text = String::from_utf8_lossy(head);
    let of = |line: &str| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse().ok())?
    };
    text.lines().find_map(of).unwrap_or(0)
}
