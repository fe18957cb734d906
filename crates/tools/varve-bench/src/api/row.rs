//! Runs one row of the results, a scenario under a load: starts the workers, samples the server's
//! process, and computes the results from the measurements.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result, anyhow};

use super::bound::Use;
use super::connection::Route;
use super::jtl;
use super::measure::{Acknowledged, Part, Tally};
use super::request::Requests;
use super::scenario::{Data, Scenario};
use super::schedule::Users;
use super::target::Target;
use super::worker::{self, Work};
use crate::environment;
use crate::process;
use crate::progress::Progress;
use crate::random::mix;
use crate::result::{
    Buckets, Columns, Connections, Corrected, Cpu, Generator, Load, Memory, More, Row, Second,
};

/// The interval at which the server's process is sampled.
const WATCH: Duration = Duration::from_millis(250);

pub(crate) struct RowPlan<'a> {
    pub(crate) scenario: Scenario,
    pub(crate) label: &'a str,
    pub(crate) load: Load,
    pub(crate) data: &'a Arc<Data>,
    pub(crate) target: &'a Target,
    /// The number of earlier rows, which connected from other source addresses.
    pub(crate) turn: u32,
    pub(crate) threads: u32,
    pub(crate) seed: u64,
    pub(crate) timeout: Duration,
    /// The most requests to send; `None` = no limit.
    pub(crate) budget: Option<u64>,
    /// Elements that will be read back.
    pub(crate) read_back: u64,
    pub(crate) progress: Progress,
    pub(crate) samples: Option<&'a mut jtl::Writer>,
}

/// The results of a row, with the writes that must still be read back.
pub(crate) struct Ran {
    pub(crate) row: Row,
    pub(crate) acknowledged: Vec<Acknowledged>,
    pub(crate) acknowledged_items: u64,
    /// Whether the row ended because no new elements were left to write.
    pub(crate) ran_out: bool,
}

/// Samples of the server and of this process while a row runs, each with its time in seconds.
#[derive(Debug, Default)]
struct Watch {
    server_cpu: Vec<(f64, Duration)>,
    own_cpu: Vec<(f64, Duration)>,
    resident: Vec<(f64, u64)>,
}

impl RowPlan<'_> {
    /// Runs the row.
    ///
    /// # Errors
    /// When the generator itself fails; failed requests are in the row.
    pub(crate) fn run(mut self) -> Result<Ran> {
        let threads = senders(self.threads, self.load.users);
        let route = Route::new(&self.target.endpoint, self.turn, self.load.users);
        let (seconds, parts) = mpsc::channel();
        let (chunks, samples) = match self.samples.take() {
            Some(writer) => {
                let (sender, receiver) = mpsc::channel();
                (Some(sender), Some((writer, receiver)))
            }
            None => (None, None),
        };
        let budget = self
            .budget
            .map(|left| Arc::new(AtomicI64::new(left as i64)));
        let (start, wall, started) = (Instant::now(), SystemTime::now(), environment::now());
        let works: Vec<Work> = (0..threads)
            .map(|thread| Work {
                thread,
                threads,
                start,
                route: route.clone(),
                requests: self.requests(thread),
                users: Users::of(&self.load),
                count: share(self.load.users.max(1), thread, threads),
                timeout: self.timeout,
                budget: budget.clone(),
                read_back: self.read_back,
                seconds: seconds.clone(),
                samples: chunks.clone(),
            })
            .collect();
        drop((seconds, chunks));
        let mut watch = Watch::default();
        let (tally, parts) = std::thread::scope(|scope| {
            let handles: Vec<_> = works
                .into_iter()
                .map(|work| scope.spawn(move || worker::run(work)))
                .collect();
            let label = self.label.to_owned();
            let writing = samples
                .map(|(writer, receiver)| scope.spawn(move || writer.row(&label, wall, &receiver)));
            let parts = self.watch(&parts, start, threads, &mut watch);
            let mut tally = Tally::default();
            for handle in handles {
                let one = handle.join().map_err(|_| anyhow!("a worker panicked"))?;
                tally.merge(one.context("a worker")?);
            }
            if let Some(writing) = writing {
                writing
                    .join()
                    .map_err(|_| anyhow!("the writer of samples panicked"))??;
            }
            anyhow::Ok((tally, parts))
        })?;
        Ok(self.conclude(tally, &parts, &watch, started))
    }

    fn requests(&self, thread: u32) -> Requests {
        let seed = mix(self.seed ^ (u64::from(thread) << 32) ^ self.scenario as u64);
        Requests::new(self.scenario, self.data, &self.target.place, seed)
    }

    /// Samples the processes until all workers have ended. Returns the merged seconds of the
    /// workers.
    fn watch(
        &self,
        parts: &Receiver<Part>,
        start: Instant,
        threads: u32,
        watch: &mut Watch,
    ) -> BTreeMap<u32, (u32, Part)> {
        let mut seconds: BTreeMap<u32, (u32, Part)> = BTreeMap::new();
        let mut next = start;
        watch.look(start, self.target.server.pid);
        loop {
            match parts.recv_timeout(next.saturating_duration_since(Instant::now())) {
                Ok(part) => {
                    let (count, merged) = seconds.entry(part.at).or_default();
                    *count += 1;
                    merged.at = part.at;
                    merged.merge(&part);
                    if *count == threads {
                        let cpu = watch.percent_since(1.0);
                        self.show(&merged.second(), cpu);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    watch.look(start, self.target.server.pid);
                    next += WATCH;
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        watch.look(start, self.target.server.pid);
        self.progress.show("");
        seconds
    }

    /// Shows a completed second on a terminal; other outputs only get the results of the row.
    fn show(&self, second: &Second, server_cpu: Option<f64>) {
        if self.progress != Progress::Terminal || second.at_s == u32::MAX {
            return;
        }
        let cpu = server_cpu.map_or(String::new(), |percent| {
            format!(", server {percent:.0} % CPU")
        });
        self.progress.show(&format!(
            "{} {}s: {} users, {}/s, median {:.2} ms, 99 % {:.2} ms, {} errors{cpu}",
            self.label,
            second.at_s + 1,
            second.users,
            second.samples,
            second.median_us as f64 / 1e3,
            second.line99_us as f64 / 1e3,
            second.errors,
        ));
    }

    fn conclude(
        &self,
        tally: Tally,
        parts: &BTreeMap<u32, (u32, Part)>,
        watch: &Watch,
        started: String,
    ) -> Ran {
        let elapsed = tally.elapsed_s().max(1e-9);
        let histogram = Buckets::from(&tally.service);
        let columns = Columns::of(&histogram, elapsed, tally.failed(), tally.received);
        let more = More {
            items_per_s: tally.succeeded_items as f64 / elapsed,
            sent_kb_per_s: tally.sent as f64 / 1_024.0 / elapsed,
            received_bytes: tally.received,
            received_body_bytes: tally.received_body,
            sent_bytes: tally.sent,
            empty_answers: tally.empty_answers,
            ..More::of(&histogram)
        };
        let cpu = cpu(&tally, watch);
        let generator = self.generator(&tally, &columns, &cpu, elapsed);
        let connections = connections(&tally);
        let from_plan = Buckets::from(&tally.corrected);
        let corrected = Corrected::of(&from_plan, tally.omitted);
        let row = Row {
            scenario: self.scenario.name(),
            label: self.label.to_owned(),
            load: self.load.clone(),
            repeat: 1,
            items_per_request: self.scenario.items(&self.data.sizes),
            started,
            elapsed_s: elapsed,
            columns,
            more,
            corrected_histogram_ns: corrected.as_ref().map(|_| from_plan),
            corrected,
            errors: tally.errors_by_kind(),
            error_examples: tally.examples.clone(),
            connections,
            cpu,
            server_memory: watch.memory(),
            generator,
            series: series(parts, watch),
            histogram_ns: histogram,
            ..Row::default()
        };
        Ran {
            row,
            acknowledged: tally.acknowledged,
            acknowledged_items: tally.acknowledged_items,
            ran_out: tally.ran_out,
        }
    }

    /// How well the generator kept to the planned load, and whether it limited the throughput.
    fn generator(&self, tally: &Tally, columns: &Columns, cpu: &Cpu, elapsed: f64) -> Generator {
        let load = &self.load;
        let users = f64::from(load.users);
        let in_flight = columns.throughput * columns.average_us / 1e6;
        let planned = Users::of(load).samples_per_user();
        let samples_per_user = tally.samples() as f64 / users.max(1.0);
        let used = Use {
            elapsed_s: elapsed,
            processors: environment::processors(),
            threads: senders(self.threads, load.users),
            late_share: tally.late as f64 / tally.samples().max(1) as f64,
            generator_s: cpu.generator_s,
            server_s: cpu.server_s,
        };
        let reason = used.bound_reason(load.model);
        Generator {
            late_sends: tally.late,
            late_max_us: tally.late_max_us,
            bound: reason.is_some(),
            bound_reason: reason,
            in_flight,
            samples_per_user,
            planned_samples_per_user: planned,
        }
    }
}

/// The number of sending threads: at most `threads`, and at most one for each user.
fn senders(threads: u32, users: u32) -> u32 {
    threads.min(users).max(1)
}

/// The share of one thread in all users. Shares differ by at most one.
const fn share(all: u32, thread: u32, threads: u32) -> u32 {
    all / threads + (thread < all % threads) as u32
}

fn connections(tally: &Tally) -> Connections {
    let times = Buckets::from(&tally.connect);
    Connections {
        opened: tally.opened,
        reconnects: tally.reconnects,
        connect_average_us: times.mean() / 1e3,
        connect_line99_us: times.percentile(99.0) / 1_000,
        connect_max_us: times.percentile(100.0) / 1_000,
    }
}

fn cpu(tally: &Tally, watch: &Watch) -> Cpu {
    let spent = |looks: &[(f64, Duration)]| {
        let (first, last) = (looks.first()?, looks.last()?);
        Some(last.1.saturating_sub(first.1).as_secs_f64())
    };
    let (requests, items) = (tally.samples(), tally.succeeded_items);
    Cpu::of(
        spent(&watch.server_cpu),
        tally.cpu.as_secs_f64(),
        requests,
        items,
    )
}

/// The results of each second, with the samples of the processes in that second.
fn series(parts: &BTreeMap<u32, (u32, Part)>, watch: &Watch) -> Vec<Second> {
    let mut series: Vec<Second> = parts.values().map(|(_, part)| part.second()).collect();
    // The workers' last parts have no second of their own: they get the one after the last second.
    if let Some(last) = series.last_mut()
        && last.at_s == u32::MAX
    {
        let end = parts.keys().rev().nth(1).map_or(0, |at| at + 1);
        last.at_s = end;
        if last.samples == 0 {
            series.pop();
        }
    }
    for second in &mut series {
        let (from, to) = (f64::from(second.at_s), f64::from(second.at_s) + 1.0);
        second.server_cpu_percent = percent(&watch.server_cpu, from, to);
        second.generator_cpu_percent = percent(&watch.own_cpu, from, to).unwrap_or_default();
        let seen = watch
            .resident
            .iter()
            .filter(|(at, _)| *at >= from && *at < to);
        second.server_rss_bytes = seen.map(|(_, bytes)| *bytes).max();
    }
    series
}

/// CPU use between two instants, in percent of one processor.
fn percent(looks: &[(f64, Duration)], from: f64, to: f64) -> Option<f64> {
    let slack = WATCH.as_secs_f64();
    let first = looks.iter().rev().find(|(at, _)| *at <= from + slack)?;
    let last = looks.iter().find(|(at, _)| *at >= to).or(looks.last())?;
    let (time, cpu) = (last.0 - first.0, last.1.saturating_sub(first.1));
    (time > 0.05).then(|| cpu.as_secs_f64() / time * 100.0)
}

impl Watch {
    fn look(&mut self, start: Instant, pid: Option<u32>) {
        let at = start.elapsed().as_secs_f64();
        self.own_cpu.push((at, process::own_cpu_time()));
        if let Some(pid) = pid {
            self.server_cpu
                .extend(process::cpu_time(pid).map(|cpu| (at, cpu)));
            self.resident
                .extend(process::resident(pid).map(|bytes| (at, bytes)));
        }
    }

    /// CPU use of the server in the last seconds.
    fn percent_since(&self, seconds: f64) -> Option<f64> {
        let (now, _) = self.server_cpu.last()?;
        percent(&self.server_cpu, now - seconds, *now)
    }

    fn memory(&self) -> Option<Memory> {
        Some(Memory {
            start_bytes: self.resident.first()?.1,
            peak_bytes: self.resident.iter().map(|(_, bytes)| *bytes).max()?,
            end_bytes: self.resident.last()?.1,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_shared_out_whole() {
        for users in [1, 2, 3, 7, 1_000, 1_001] {
            for may in 1..=8 {
                let threads = senders(may, users);
                let parts: Vec<u32> = (0..threads).map(|at| share(users, at, threads)).collect();
                assert_eq!(parts.iter().sum::<u32>(), users, "{may}: {parts:?}");
                assert!(parts[0] - parts[parts.len() - 1] <= 1 && !parts.contains(&0));
            }
        }
    }
}
