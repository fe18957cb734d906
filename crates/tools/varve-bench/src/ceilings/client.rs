//! A closed-loop HTTP client: a fixed number of connections, each of which sends its next request
//! once the last one is answered. Requests are built beforehand, since the client shares the cores
//! with the measured server.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, ensure};
use hdrhistogram::Histogram;

use crate::client::Connection;
use crate::endpoint::Endpoint;
use crate::histogram::{buckets, histogram};
use crate::result::Buckets;

/// The time limit of an answer, and so the longest time in the histogram.
const TIMEOUT: Duration = Duration::from_secs(600);

/// The measurement of one scenario.
#[derive(Debug, Clone)]
pub(crate) struct Measured {
    /// Answer times, in microseconds.
    pub(crate) times: Buckets,
    /// Wall-clock time.
    pub(crate) elapsed: Duration,
}

/// Sends all `requests` over `connections` connections; fails on the first answer whose status is
/// not `status`.
pub(crate) fn closed_loop(
    address: SocketAddr,
    connections: usize,
    requests: &[Vec<u8>],
    status: u16,
) -> Result<Measured> {
    let next = AtomicUsize::new(0);
    let (started, mut times) = (Instant::now(), new_times());
    std::thread::scope(|scope| {
        let next = &next;
        let send = move || {
            connection(address, requests, next, status)
                // An error ends the round: the other connections find no request left.
                .inspect_err(|_| next.store(requests.len(), Ordering::Relaxed))
        };
        let running: Vec<_> = (0..connections).map(|_| scope.spawn(send)).collect();
        running.into_iter().try_for_each(|thread| {
            let of_one = thread.join().map_err(|_| anyhow!("a thread panicked"))??;
            times.add(of_one)?;
            anyhow::Ok(())
        })
    })?;
    Ok(Measured {
        times: buckets(&times),
        elapsed: started.elapsed(),
    })
}

fn new_times() -> Histogram<u64> {
    histogram(TIMEOUT.as_micros() as u64)
}

/// Sends the next requests until none are left.
fn connection(
    address: SocketAddr,
    requests: &[Vec<u8>],
    next: &AtomicUsize,
    status: u16,
) -> Result<Histogram<u64>> {
    let mut connection =
        Connection::new(Endpoint::plain(address, "localhost"), TIMEOUT, usize::MAX);
    connection.open()?;
    let mut times = new_times();
    while let Some(request) = requests.get(next.fetch_add(1, Ordering::Relaxed)) {
        let sent = Instant::now();
        let (head, answer) = connection.exchange(request)?;
        times.saturating_record(sent.elapsed().as_micros().max(1) as u64);
        ensure!(
            head.status == status,
            "expected {status}, got {}: {}",
            head.status,
            String::from_utf8_lossy(answer)
        );
    }
    Ok(times)
}
