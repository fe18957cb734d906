//! Watches the servers: which of them may rely on their leases, and which have ended.
//!
//! A process relies on its leases for a time from the start of its last renewal, by its own clocks.
//! This process measures the same time and a margin from the moment when it had read the renewal,
//! by its own clock. The renewal began earlier, so the margin need only cover clocks that run at
//! different rates. The time counts only while this process can read the table: after an outage of
//! the cluster every server gets the time to renew its row.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::clock::running;
use crate::cluster::Cluster;
use crate::failure::Failure;
use crate::process;
use crate::servers::{Server, ServerTable};

/// The interval of reads of the table.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(500);
/// How old a view may be that answers a question about leaders.
pub(crate) const VIEW_AGE: Duration = Duration::from_millis(250);
/// The least wait before a further read.
const LOOK_AGAIN: Duration = Duration::from_millis(50);
/// The margin is the lease divided by this.
const MARGIN_PARTS: u32 = 16;

/// The servers at one moment.
#[derive(Debug, Clone, Default)]
pub(crate) struct View {
    pub(crate) servers: Vec<Server>,
    /// When the read began.
    read: Option<Instant>,
    /// When the next of them may be ended, if it does not renew its row.
    due: Option<Instant>,
}

impl View {
    /// Returns the server with that name.
    pub(crate) fn find(&self, name: &str) -> Option<&Server> {
        self.servers.iter().find(|server| server.name == name)
    }

    /// Returns the wait before the next read: until this view is old or a server may be ended.
    pub(crate) fn next_look(&self, now: Instant) -> Duration {
        let old = self.read.map_or(now, |read| read + LOOK_EVERY);
        let next = self.due.map_or(old, |due| due.min(old));
        next.saturating_duration_since(now).max(LOOK_AGAIN)
    }

    /// Returns the server that leads a keyspace, with its term.
    pub(crate) fn leading(&self, keyspace: &str) -> Option<(&Server, i64)> {
        let led = self.servers.iter();
        led.filter_map(|server| Some((server, *server.leads.get(keyspace)?)))
            .max_by_key(|(_, term)| *term)
    }
}

/// What was seen of the servers, by the time since boot.
#[derive(Debug, Default)]
struct Seen {
    /// When the table was read last.
    last: Option<Duration>,
    /// For each server the counter, and when it was seen first.
    counters: HashMap<String, (i64, Duration)>,
    view: Option<Arc<View>>,
}

impl Seen {
    /// Notes rows that were read before `now`. Returns for each how long it still may rely on its
    /// leases; zero if it may be ended.
    fn note(&mut self, now: Duration, servers: &[Server]) -> Vec<Duration> {
        let gap = self.last.map(|last| now.saturating_sub(last));
        self.last = Some(now);
        let known = std::mem::take(&mut self.counters);
        let since = |server: &Server| match known.get(&server.name) {
            Some((counter, since))
                if *counter == server.counter && gap.is_some_and(|gap| gap <= server.lease) =>
            {
                *since
            }
            _ => now,
        };
        let left = |server: &Server| {
            let until = since(server) + server.lease + server.lease / MARGIN_PARTS;
            until.saturating_sub(now)
        };
        let all_left = servers.iter().map(left).collect();
        let noted = servers
            .iter()
            .map(|server| (server.name.clone(), (server.counter, since(server))));
        self.counters = noted.collect();
        all_left
    }
}

/// The watch.
pub(crate) struct Watch {
    pub(crate) table: ServerTable,
    seen: tokio::sync::Mutex<Seen>,
}

impl Watch {
    pub(crate) async fn open(cluster: &Cluster) -> Result<Self, Failure> {
        Ok(Self {
            table: ServerTable::open(cluster).await?,
            seen: tokio::sync::Mutex::default(),
        })
    }

    /// Returns a view of the servers that is at most so old. A new one ends the rows of all servers
    /// that have not renewed them in time, or whose process has ended on this machine; but not
    /// that of `own`, this process's.
    pub(crate) async fn view(
        &self,
        cluster: &Cluster,
        own: Option<&str>,
        age: Duration,
    ) -> Result<Arc<View>, Failure> {
        let mut seen = self.seen.lock().await;
        if let Some(view) = &seen.view
            && view.read.is_some_and(|read| read.elapsed() < age)
            && view.due.is_none_or(|due| Instant::now() < due)
        {
            return Ok(Arc::clone(view));
        }
        let asked = Instant::now();
        let servers = self.table.all(cluster).await?;
        let left = seen.note(running(), &servers);
        let mut view = View {
            read: Some(asked),
            ..View::default()
        };
        for (server, left) in servers.into_iter().zip(left) {
            let is_own = own == Some(&*server.name);
            let is_over = left.is_zero() || process::has_ended(&server.name);
            if !is_own && is_over && self.end(cluster, &server).await {
                continue;
            }
            if !is_own {
                let due = Instant::now() + left;
                view.due = Some(view.due.map_or(due, |other| other.min(due)));
            }
            view.servers.push(server);
        }
        let view = Arc::new(view);
        seen.view = Some(Arc::clone(&view));
        Ok(view)
    }

    /// Ends the row of a server that has not changed since it was read. Returns whether that is
    /// certain; the next view tries again.
    async fn end(&self, cluster: &Cluster, server: &Server) -> bool {
        let Server { name, address, .. } = server;
        match self.table.end(cluster, name, server.counter).await {
            Ok(ended) => {
                if ended {
                    tracing::warn!(address, name, "a server has ended: its spaces are free");
                }
                ended
            }
            Err(failure) => {
                let failure = failure.text();
                tracing::warn!(
                    address,
                    failure,
                    "the lease of a server could not be ended yet"
                );
                false
            }
        }
    }

    /// Waits until a server has ended. Returns false once it has renewed its row instead.
    pub(crate) async fn ends(
        &self,
        cluster: &Cluster,
        own: Option<&str>,
        name: &str,
    ) -> Result<bool, Failure> {
        let mut first = None;
        loop {
            let view = self.view(cluster, own, Duration::ZERO).await?;
            let Some(server) = view.find(name) else {
                return Ok(!self.table.exists(cluster, name).await?);
            };
            if *first.get_or_insert(server.counter) != server.counter {
                return Ok(false);
            }
            tokio::time::sleep(view.next_look(Instant::now())).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const LEASE: Duration = Duration::from_secs(16);

    fn server(name: &str, counter: i64) -> Server {
        Server {
            name: name.to_owned(),
            address: String::new(),
            lease: LEASE,
            counter,
            leads: HashMap::new(),
        }
    }

    #[test]
    fn a_server_is_over_a_lease_and_a_margin_after_its_last_counter_was_seen_first() {
        let mut seen = Seen::default();
        let mut note = |at: u32, counter| seen.note(at * SECOND, &[server("a", counter)])[0];
        assert_eq!(note(100, 1), 17 * SECOND);
        assert_eq!(note(110, 1), 7 * SECOND);
        assert_eq!(note(116, 1), SECOND);
        assert_eq!(note(116, 2), 17 * SECOND, "it was renewed");
        assert_eq!(note(126, 2), 7 * SECOND);
        assert_eq!(note(133, 2), Duration::ZERO);
        assert_eq!(note(134, 1), 17 * SECOND, "any other counter is new");
    }

    #[test]
    fn time_without_reads_does_not_count() {
        let mut seen = Seen::default();
        let mut note = |at: u32| seen.note(at * SECOND, &[server("a", 1)])[0];
        assert_eq!(note(100), 17 * SECOND);
        // The cluster was away, or this process was stopped.
        assert_eq!(note(117), 17 * SECOND);
        assert_eq!(note(133), SECOND);
        assert_eq!(note(134), Duration::ZERO);
    }

    #[test]
    fn servers_that_are_gone_are_forgotten() {
        let mut seen = Seen::default();
        seen.note(SECOND, &[server("a", 1), server("b", 1)]);
        seen.note(2 * SECOND, &[server("b", 1)]);
        assert_eq!(seen.counters.len(), 1);
        let left = seen.note(3 * SECOND, &[server("a", 1), server("b", 1)]);
        assert_eq!(left, [17 * SECOND, 15 * SECOND]);
    }

    #[test]
    fn the_leader_with_the_greatest_term_counts() {
        let mut servers = [server("a", 1), server("b", 1)];
        servers[0].leads.insert("k".to_owned(), 4);
        servers[1].leads.insert("k".to_owned(), 6);
        let view = View {
            servers: servers.to_vec(),
            ..View::default()
        };
        let leader = view
            .leading("k")
            .map(|(server, term)| (&*server.name, term));
        assert_eq!(leader, Some(("b", 6)));
        assert!(view.leading("l").is_none() && view.find("c").is_none());
    }
}
