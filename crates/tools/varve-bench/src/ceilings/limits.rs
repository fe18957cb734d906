//! Measures Varve against its ceilings in one run. The ceilings are RocksDB alone and our own
//! engine, with the same bytes in the same batches, and a bare HTTP server that takes the same
//! requests and sends the same answers.
//!
//! Wall-clock rates vary on shared machines, so each row also has the CPU time of the measured
//! process; the ratios are the result.
//!
//! Before each row of batches, the server and the engines write as many other batches, so that
//! allocating memory from the machine is not measured. Before each row they come to rest, so that
//! no row pays for compactions that an earlier one caused. Reads come last, on compacted stores, of
//! elements that were read before, in several alternating rounds.

mod engines;
mod scenarios;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use varve_kv::{Batch, Engine};

use self::engines::{Engines, read_engine, read_keys, write_engine};
use self::scenarios::{Measure, SCENARIOS, sizes};
use super::quiet;
use super::recording::RecordingEngine;
use super::server;
use crate::api::choice::Distribution;
use crate::api::connection::Route;
use crate::api::payload::Naming;
use crate::api::request::Requests;
use crate::api::result::{Ceiling, CeilingRow, FORMAT, Load, Measured, Model, ResultFile, Row};
use crate::api::row::RowPlan;
use crate::api::scenario::{Data, GraphAddress};
use crate::api::table;
use crate::api::target::{Paths, Target};
use crate::endpoint::{Endpoint, Trust};
use crate::environment::{self, Environment};
use crate::progress::Progress;
use crate::result::put;
use crate::serve::{Served, VerifyStore};

/// Seed of contents and choices: every run sends the same requests.
const SEED: u64 = 1;
/// Prefix of all ids.
const PREFIX: [u8; 3] = *b"lim";
/// Average number of reads of each element before reads are measured.
const WARM_UP: u64 = 3;
/// Rounds of a read row, Varve and the ceilings in turns; the median round of each counts.
const READ_ROUNDS: u32 = 3;
/// Time-out of connections and answers.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The time limit of a scenario, in seconds; its length is a number of requests.
const LONGEST_S: f64 = 3_600.0;

/// The options of `varve bench limits`.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) varve: PathBuf,
    pub(crate) durability: String,
    /// The number of requests, in percent of the default.
    pub(crate) percent: u64,
    /// Threads that feed the engines.
    pub(crate) engine_threads: usize,
    /// Whether the server's store is verified at the end.
    pub(crate) verify_store: VerifyStore,
    pub(crate) json: Option<PathBuf>,
    pub(crate) markdown: Option<PathBuf>,
}

/// Runs every scenario on the server and on each ceiling, and prints the tables.
pub(crate) fn run(options: &Options) -> Result<()> {
    eprintln!("recording the engine's batches …");
    let recorded = record(options.percent)?;
    let mut served = Served::start(&options.varve, &options.durability, &[])?;
    let mut target = prepared(&served.url, Some(served.pid()))?;
    let data = Arc::new(Data::new(naming(), sizes(options.percent)));
    let engines = Engines::open()?;
    let mut file = ResultFile {
        format: FORMAT,
        title: "varve bench limits".to_owned(),
        environment: Environment::new(&environment::Data::temporary(), None, SEED, 1),
        ..ResultFile::default()
    };
    target.server.name = "varve".to_owned();
    file.servers.push(target.server.clone());
    let mut run = Run {
        target,
        data,
        engines,
        options,
        settled: false,
    };
    for (measure, batches) in SCENARIOS.iter().zip(&recorded) {
        let (rows, ceilings) = match measure.reads() {
            true => run.read(measure)?,
            false => run.write(measure, batches)?,
        };
        for row in &rows {
            eprintln!("{}", table::summary(row));
        }
        let row = median(&rows, |row| row.more.items_per_s).context("a row")?;
        let ours = of_row(row);
        file.ceilings.push(CeilingRow {
            label: row.label.clone(),
            durability: options.durability.clone(),
            items_per_request: row.items_per_request,
            users: measure.users,
            ceilings: ceilings
                .into_iter()
                .map(|(name, measured)| ceiling(name, measured, &ours))
                .collect(),
            ours,
        });
        file.rows.extend(rows);
    }
    let verified = served.verify(options.verify_store)?;
    eprintln!("{verified}");
    for server in &mut file.servers {
        server.notes.push(verified.to_string());
    }
    file.environment.end();
    let ceilings = table::ceilings(file.ceilings.iter()).markdown();
    let text = format!("{ceilings}{}", table::markdown(&file));
    print!("{text}");
    if let Some(path) = &options.markdown {
        put(path, &text)?;
    }
    if let Some(path) = &options.json {
        file.write(path)?;
    }
    ensure!(verified.failure().is_none(), "{verified}");
    Ok(())
}

/// The state of a run: the server and the engines.
struct Run<'o> {
    target: Target,
    data: Arc<Data>,
    engines: Engines,
    options: &'o Options,
    /// Whether all stores were compacted for the reads.
    settled: bool,
}

/// The row of the server, and the measurement of each ceiling.
type Outcome = (Vec<Row>, Vec<(&'static str, Measured)>);

impl Run<'_> {
    /// Writes a scenario's elements to the server, to each engine, and to the bare server. If the
    /// scenario is warmed up, each writes as many other elements before.
    fn write(&mut self, what: &Measure, batches: &[Batch]) -> Result<Outcome> {
        let warm_up = what.warm_up(self.options.percent);
        let (before, batches) = batches.split_at(warm_up.as_ref().map_or(0, |_| batches.len() / 2));
        if let Some(warm_up) = &warm_up {
            on_server(&self.target, &self.data, &self.target.place, warm_up, 100)?;
        }
        let row = self.on_server(what, &Arc::clone(&self.data), 1)?;
        let mut ceilings = Vec::new();
        for (name, space) in &self.engines.spaces {
            write_engine(space, what, before, self.options)?;
            self.rest();
            let measured = write_engine(space, what, batches, self.options)?;
            ceilings.push((*name, measured));
        }
        self.rest();
        let again = Arc::new(Data::new(naming(), self.data.sizes));
        let bare = Bare::start(&mut self.target, &again, what)?;
        if let Some(warm_up) = &warm_up {
            let others = Arc::new(Data::new(naming(), self.data.sizes));
            bare.measure(&others, warm_up, 100)?;
        }
        ceilings.push((
            "bare http",
            bare.measure(&again, what, self.options.percent)?,
        ));
        Ok((vec![row], ceilings))
    }

    /// Reads elements of quiet stores in several rounds: the server, the engines and the bare
    /// server in turns.
    fn read(&mut self, what: &Measure) -> Result<Outcome> {
        if !self.settled {
            self.settle()?;
            self.settled = true;
        }
        let data = Arc::new(Data::new(naming(), what.read_sizes(self.data.sizes)));
        let bare = Bare::start(&mut self.target, &data, what)?;
        let keys = read_keys(what, &data.sizes, &self.target.place, self.options.percent)?;
        let warm_up = Measure {
            requests: WARM_UP * what.read_from(&data.sizes),
            ..*what
        };
        on_server(&self.target, &data, &self.target.place, &warm_up, 100)?;
        bare.measure(&data, what, 100)?;
        for (_, space) in &self.engines.spaces {
            let keys = read_keys(&warm_up, &data.sizes, &self.target.place, 100)?;
            read_engine(space, &keys, self.options.engine_threads)?;
        }
        let mut rows = Vec::new();
        let mut rounds = vec![Vec::new(); self.engines.spaces.len() + 1];
        for round in 1..=READ_ROUNDS {
            rows.push(self.on_server(what, &data, round)?);
            for ((_, space), measured) in self.engines.spaces.iter().zip(&mut rounds) {
                self.rest();
                measured.push(read_engine(space, &keys, self.options.engine_threads)?);
            }
            self.rest();
            let measured = bare.measure(&data, what, self.options.percent)?;
            rounds
                .last_mut()
                .context("the bare server's")?
                .push(measured);
        }
        let names = self.engines.spaces.iter().map(|(name, _)| *name);
        let ceilings = names.chain(["bare http"]).zip(&rounds);
        let ceilings = ceilings.map(|(name, rounds)| {
            let measured = median(rounds, |measured| measured.items_per_s);
            Ok((name, measured.context("a round")?.clone()))
        });
        Ok((rows, ceilings.collect::<Result<_>>()?))
    }

    fn on_server(&self, what: &Measure, data: &Arc<Data>, round: u32) -> Result<Row> {
        let before = self.data.describe();
        let rests = self.rest();
        let mut row = on_server(
            &self.target,
            data,
            &self.target.place,
            what,
            self.options.percent,
        )?;
        row.server.clone_from(&self.target.server.name);
        row.durability = Some(self.options.durability.clone());
        row.repeat = round;
        row.data_before = match (what.reads(), rests) {
            (true, true) => format!("{before}; files merged, at rest, warm"),
            (false, true) => format!("{before}; at rest"),
            (_, false) => format!("{before}; something was still at work"),
        };
        // The row was limited by its number of requests, not by time.
        row.load.hold_s = row.elapsed_s;
        Ok(row)
    }

    /// Waits until no background work is running. Returns whether that was reached.
    fn rest(&self) -> bool {
        quiet::wait(self.target.server.pid.unwrap_or_default())
    }

    /// Flushes and compacts all stores.
    fn settle(&mut self) -> Result<()> {
        eprintln!("merging the files of all stores …");
        let path = format!("{}/compact", self.target.place.base);
        let answer = self.target.probe.ask("PUT", &path, None)?;
        ensure!(answer.status == 200, "PUT {path}: {}", answer.text());
        for (_, space) in &self.engines.spaces {
            space.compact()?;
        }
        Ok(())
    }
}

/// The median by `rate`.
fn median<T>(all: &[T], rate: impl Fn(&T) -> f64) -> Option<&T> {
    let mut sorted: Vec<&T> = all.iter().collect();
    sorted.sort_by(|a, b| rate(a).total_cmp(&rate(b)));
    sorted.get(sorted.len() / 2).copied()
}

const fn naming() -> Naming {
    Naming {
        prefix: PREFIX,
        seed: SEED,
    }
}

fn prepared(url: &str, pid: Option<u32>) -> Result<Target> {
    let mut target = Target::find((url, &Trust::default()), "hugegraph", Paths::Short, pid)?;
    target.prepare(&naming())?;
    Ok(target)
}

/// Sends every request once, in order, to a server with a recording engine. Returns the batches of
/// each scenario.
fn record(percent: u64) -> Result<Vec<Vec<Batch>>> {
    let (engine, batches) = RecordingEngine::new();
    let running = server::in_process(engine as Arc<dyn Engine>)?;
    let target = prepared(&format!("http://{}", running.address()), None)?;
    let data = Arc::new(Data::new(naming(), sizes(percent)));
    let mut recorded = Vec::new();
    for measure in SCENARIOS {
        batches.lock().clear();
        if !measure.reads() {
            let one = Measure {
                users: 1,
                requests: measure.count_all(percent),
                ..*measure
            };
            on_server(&target, &data, &target.place, &one, 100)?;
        }
        let taken = std::mem::take(&mut *batches.lock());
        let requests = if measure.reads() {
            0
        } else {
            measure.count_all(percent)
        };
        // Warm-up batches and measured batches are distinguished by their position.
        ensure!(
            taken.len() as u64 == requests,
            "{} batches of {requests} requests were recorded",
            taken.len()
        );
        recorded.push(taken);
    }
    running.stop();
    Ok(recorded)
}

/// Runs a scenario's requests, all of which must succeed.
fn on_server(
    target: &Target,
    data: &Arc<Data>,
    place: &GraphAddress,
    measure: &Measure,
    percent: u64,
) -> Result<Row> {
    let label = measure.scenario.name();
    let load = Load {
        model: Model::Closed,
        users: Some(measure.users),
        hold_s: LONGEST_S,
        ..Load::default()
    };
    let plan = RowPlan {
        scenario: measure.scenario,
        label: &label,
        load,
        data,
        place,
        route: Route::new(&target.endpoint, 0, measure.users),
        distribution: Distribution::Uniform,
        threads: 1,
        seed: SEED,
        connect_timeout: TIMEOUT,
        timeout: TIMEOUT,
        budget: Some(measure.count(percent)),
        read_back: 0,
        server_pid: target.server.pid,
        progress: Progress::new(false),
        samples: None,
    };
    let row = plan.run()?.row;
    match row.error_examples.first() {
        Some(example) => Err(anyhow!("{label}: {} {}", example.kind, example.text)),
        None => Ok(row),
    }
}

/// The measurement of a server's row.
fn of_row(row: &Row) -> Measured {
    let items = row.columns.samples * u64::from(row.items_per_request);
    Measured {
        items,
        elapsed_s: row.elapsed_s,
        cpu_s: row.cpu.server_s.unwrap_or_default(),
        items_per_s: row.more.items_per_s,
        cpu_us_per_item: row.cpu.server_us_per_item.unwrap_or_default(),
        median_us: Some(row.columns.median_us),
        line99_us: Some(row.more.line99_us),
    }
}

fn ceiling(name: &str, measured: Measured, ours: &Measured) -> Ceiling {
    Ceiling {
        name: name.to_owned(),
        ratio_rate: ours.items_per_s / measured.items_per_s.max(1e-9),
        ratio_cpu: measured.cpu_us_per_item / ours.cpu_us_per_item.max(1e-9),
        measured,
    }
}

/// The bare server with the answer to one of a scenario's requests.
struct Bare {
    target: Target,
    _server: server::Bare,
}

impl Bare {
    /// Starts the bare server without assigning a number of `data`.
    fn start(target: &mut Target, data: &Data, what: &Measure) -> Result<Self> {
        // Repeats the first request: an insert then overwrites an element with the same content.
        let first = Arc::new(Data::new(naming(), data.sizes));
        let mut request = Vec::new();
        let choice = Distribution::Uniform;
        let mut requests = Requests::new(what.scenario, &first, &target.place, choice, SEED);
        requests.build(&mut request).context("a first request")?;
        let answer = target.probe.send(&request)?;
        let body = tempfile::NamedTempFile::new()?;
        std::fs::write(body.path(), &answer.body)?;
        let bare = server::Bare::start(answer.status, body.path())?;
        let mut server = target.server.clone();
        server.pid = Some(bare.pid);
        let target = Target {
            endpoint: Endpoint::plain(bare.address, "bare"),
            place: GraphAddress {
                base: "/bare/hugegraph".to_owned(),
                checked: false,
                ..target.place.clone()
            },
            server,
            probe: crate::client::Probe::new(Endpoint::plain(bare.address, "bare")),
        };
        Ok(Self {
            target,
            _server: bare,
        })
    }

    fn measure(&self, data: &Arc<Data>, what: &Measure, percent: u64) -> Result<Measured> {
        let row = on_server(&self.target, data, &self.target.place, what, percent)?;
        Ok(of_row(&row))
    }
}
