//! `varve-bench limits`: Varve against its limits, in one run. The limits are RocksDB alone and our
//! own engine, with the same bytes in the same batches, and a bare HTTP server that takes the same
//! requests and sends the same answers.
//!
//! Wall-clock rates vary on shared machines. So each scenario runs in turns: in each turn the
//! server and its limits do the same work one after another, in an order drawn anew. Each row also
//! has the CPU time of the measured process. The ratios within a turn are the result, and their
//! medians are reported.
//!
//! Turn 0 is a warm-up. Before each measurement server and engines come to rest, so that no row
//! pays for compactions that an earlier one caused. Reads come last, on compacted stores.

pub(crate) mod bare;
mod engines;
mod quiet;
mod recording;
mod scenarios;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use varve_graph::{DurabilityMode, GraphOptions, Registry};
use varve_kv::{Batch, Durability, Engine};
use varve_model::time::SystemClock;
use varve_server::{AppState, RunningServer, ServerConfig};

use self::engines::{BareEngine, read_keys};
use self::recording::RecordingEngine;
use self::scenarios::{Measure, SCENARIOS, Turns, sizes};
use crate::api::payload::Naming;
use crate::api::request::Requests;
use crate::api::row::RowPlan;
use crate::api::scenario::{Data, GraphAddress};
use crate::api::target::{Paths, Target};
use crate::arguments::{Common, DEFAULT_URL};
use crate::endpoint::Trust;
use crate::owned::Process;
use crate::progress::Progress;
use crate::random::{Random, mix};
use crate::result::{Load, Model, Row};
use crate::run::{Session, Suite};

const PREFIX: [u8; 3] = *b"lim";
const TIMEOUT: Duration = Duration::from_secs(60);
/// The time limit of a measurement, in seconds; its length is a number of requests.
const LONGEST_S: f64 = 3_600.0;

/// The names of the limits in rows: the two engines, and the bare server.
pub(crate) const LIMITS: [&str; 3] = ["rocksdb", "front table", "bare http"];

/// `varve-bench limits`
#[derive(Debug, Clone, Args)]
pub(crate) struct LimitsArguments {
    #[command(flatten)]
    common: Common,
    /// Measured turns of each scenario
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    turns: u32,
    /// Requests of a turn, in percent of the usual number
    #[arg(long, default_value_t = 100, value_name = "N")]
    percent: u64,
    /// Measure once server, engines and tool have used no CPU for this number of seconds
    #[arg(long, default_value_t = 1.0, value_name = "SECONDS")]
    rest: f64,
}

/// Runs `varve-bench limits`.
///
/// # Errors
/// When the server does not start, a request fails, or a file cannot be written.
pub(crate) fn run(arguments: &LimitsArguments) -> Result<ExitCode> {
    let mut arguments = arguments.clone();
    let common = &mut arguments.common;
    ensure!(
        common.url == DEFAULT_URL && common.wait.is_none(),
        "limits measures a server that it starts (--serve), not one that runs"
    );
    if common.serve.is_none() {
        common.serve = Some(std::env::current_exe()?.with_file_name("varve"));
    }
    let mut session = Session::new(&arguments.common, "limits", 1)?;
    eprintln!("recording the engine's batches …");
    let plan = record(&arguments)?;
    session.serve("none", &[])?;
    let mut suite = Limits::start(&arguments, &mut session)?;
    session.run(&mut suite, &plan)
}

/// A scenario, and what a write of all its turns brings to the engine, a batch a request.
struct Step {
    what: &'static Measure,
    batches: Vec<Batch>,
}

/// What is measured in a turn.
#[derive(Debug, Clone, Copy)]
enum Side {
    Varve,
    /// With the engine's place in [`LIMITS`].
    Engine(usize),
    BareHttp,
}

/// The state of a run: the server and the engines.
struct Limits<'a> {
    arguments: &'a LimitsArguments,
    target: Target,
    data: Arc<Data>,
    engines: [BareEngine; 2],
    random: Random,
}

impl Suite for Limits<'_> {
    type Step = Step;

    fn step(&mut self, step: &Step, session: &mut Session<'_>) -> Result<()> {
        let what = step.what;
        let mut data = Arc::clone(&self.data);
        if what.reads() {
            self.settle()?;
            let sizes = what.read_sizes(data.sizes);
            data = Arc::new(Data::new(data.naming, sizes));
        }
        let bare = BareTarget::start(&mut self.target, &data, what)?;
        let turns = self.arguments.turns();
        for turn in 0..=turns.measured {
            let count = match turn {
                0 => what.count_warm_up(turns, &data.sizes),
                _ => what.count(turns),
            };
            let batches = step.batches.chunks(count as usize).nth(turn as usize);
            let batches = batches.unwrap_or_default();
            // Each turn chooses other elements to read.
            let seed = mix(self.arguments.common.seed ^ (u64::from(turn) << 40));
            for side in self.order() {
                let stored = self.data.describe();
                let is_at_rest = turn == 0 || self.rest();
                let send = |target: &Target, data: &Arc<Data>| {
                    let load = (what.users, count);
                    send(target, data, what, load, seed, session.progress)
                };
                let (server, row) = match side {
                    Side::Varve => (&*self.target.server.name, send(&self.target, &data)?),
                    Side::BareHttp => (LIMITS[2], send(&bare.target, &bare.data)?),
                    Side::Engine(at) if what.reads() => {
                        (LIMITS[at], self.read(at, what, &data, count, seed)?)
                    }
                    Side::Engine(at) => (LIMITS[at], self.write(at, what, batches)?),
                };
                if turn > 0 {
                    let row = Row {
                        server: server.to_owned(),
                        scenario: what.scenario.name(),
                        label: what.scenario.name(),
                        durability: self.target.server.durability.clone(),
                        repeat: turn,
                        data_before: match is_at_rest {
                            true => format!("{stored}; at rest"),
                            false => format!("{stored}; something was still at work"),
                        },
                        ..row
                    };
                    session.progress.say(&summary(&row));
                    session.file.rows.push(row);
                }
            }
        }
        Ok(())
    }
}

impl<'a> Limits<'a> {
    fn start(arguments: &'a LimitsArguments, session: &mut Session<'_>) -> Result<Self> {
        let naming = arguments.naming();
        let mut target = prepared(&session.url(), session.pid(), &naming)?;
        let name = arguments.common.name.as_deref();
        target.server.name = name.unwrap_or("varve").to_owned();
        session.file.environment.run_prefix = String::from_utf8_lossy(&PREFIX).into_owned();
        session.file.servers.push(target.server.clone());
        Ok(Self {
            arguments,
            target,
            data: Arc::new(Data::new(naming, sizes(arguments.turns()))),
            engines: [BareEngine::open(false)?, BareEngine::open(true)?],
            random: Random::new(arguments.common.seed),
        })
    }

    /// The sides in the order of a turn, drawn anew.
    fn order(&mut self) -> [Side; 4] {
        let mut sides = [
            Side::Varve,
            Side::Engine(0),
            Side::Engine(1),
            Side::BareHttp,
        ];
        for last in (1..sides.len()).rev() {
            sides.swap(last, self.random.below(last as u64 + 1) as usize);
        }
        sides
    }

    /// Waits until no background work is running. Returns whether that was reached.
    fn rest(&self) -> bool {
        let pid = self.target.server.pid.unwrap_or_default();
        quiet::wait(pid, self.arguments.rest)
    }

    fn settle(&mut self) -> Result<()> {
        eprintln!("merging the files of all stores …");
        let path = format!("{}/compact", self.target.place.base);
        self.target.probe.expect("PUT", &path, None, 200)?;
        self.engines.iter().try_for_each(BareEngine::settle)
    }

    fn read(&self, at: usize, what: &Measure, data: &Data, count: u64, seed: u64) -> Result<Row> {
        let keys = read_keys(what, data, &self.target.place, count, seed)?;
        self.engines[at].read(&keys)
    }

    fn write(&self, at: usize, what: &Measure, batches: &[Batch]) -> Result<Row> {
        // Writers that wait for a sync at the same time share it, like the server's users. A graph
        // has one committer.
        let (durability, threads) = match self.arguments.common.durability.as_deref() {
            Some("sync") => (Durability::Sync, what.users as usize),
            _ => (Durability::Buffered, 1),
        };
        let items = what.scenario.items(&self.data.sizes);
        self.engines[at].write(batches, items, durability, threads)
    }
}

impl LimitsArguments {
    const fn naming(&self) -> Naming {
        Naming {
            prefix: PREFIX,
            seed: self.common.seed,
        }
    }

    const fn turns(&self) -> Turns {
        Turns {
            measured: self.turns,
            percent: self.percent,
        }
    }
}

fn summary(row: &Row) -> String {
    format!(
        "{} on {}, turn {}: {:.0} elements/s, {:.2} µs of CPU an element",
        row.label,
        row.server,
        row.repeat,
        row.more.items_per_s,
        row.cpu.server_us_per_item.unwrap_or_default(),
    )
}

fn prepared(url: &str, pid: Option<u32>, naming: &Naming) -> Result<Target> {
    let mut target = Target::find((url, &Trust::default()), "hugegraph", Paths::Short, pid)?;
    target.prepare(naming)?;
    Ok(target)
}

/// Sends every request once, in order, to a server with a recording engine. Returns the batches of
/// each scenario.
fn record(arguments: &LimitsArguments) -> Result<Vec<Step>> {
    let engine = RecordingEngine::default();
    let batches = Arc::clone(&engine.batches);
    let running = in_process(Arc::new(engine))?;
    let naming = arguments.naming();
    let target = prepared(&format!("http://{}", running.address()), None, &naming)?;
    let data = Arc::new(Data::new(naming, sizes(arguments.turns())));
    let mut plan = Vec::new();
    batches.take();
    for what in SCENARIOS {
        if !what.reads() {
            let count = what.count_all(arguments.turns());
            let seed = arguments.common.seed;
            send(&target, &data, what, (1, count), seed, Progress::Quiet)?;
        }
        let batches = batches.take();
        // The batches of a turn are distinguished by their position.
        ensure!(
            what.reads() || batches.len() as u64 == what.count_all(arguments.turns()),
            "{} batches of {} requests were recorded",
            batches.len(),
            what.count_all(arguments.turns())
        );
        plan.push(Step { what, batches });
    }
    running.stop();
    Ok(plan)
}

/// A server in this process over `engine`.
fn in_process(engine: Arc<dyn Engine>) -> Result<RunningServer> {
    let mut options = GraphOptions::new(Arc::new(SystemClock));
    options.durability = DurabilityMode::None;
    let registry = Arc::new(Registry::open(engine, options)?);
    registry.get_or_create("hugegraph")?;
    let config = ServerConfig {
        port: 0,
        ..ServerConfig::default()
    };
    let state = AppState::with_graphs(config, registry)?;
    Ok(varve_server::start(&state)?)
}

/// Sends the requests of a scenario, all of which must succeed: `count` of them from `users`.
fn send(
    target: &Target,
    data: &Arc<Data>,
    what: &Measure,
    (users, count): (u32, u64),
    seed: u64,
    progress: Progress,
) -> Result<Row> {
    let label = what.scenario.name();
    let plan = RowPlan {
        scenario: what.scenario,
        label: &label,
        load: Load {
            model: Model::Closed,
            users,
            hold_s: LONGEST_S,
            ..Load::default()
        },
        data,
        target,
        turn: 0,
        threads: 1,
        seed,
        timeout: TIMEOUT,
        budget: Some(count),
        read_back: 0,
        progress,
        samples: None,
    };
    let mut row = plan.run()?.row;
    if let Some(example) = row.error_examples.first() {
        bail!("{label}: {} {}", example.kind, example.text);
    }
    // The row was limited by its number of requests, not by time.
    row.load.hold_s = row.elapsed_s;
    Ok(row)
}

/// The bare server with the answer to one of a scenario's requests.
struct BareTarget {
    target: Target,
    data: Arc<Data>,
    _process: Process,
}

impl BareTarget {
    /// Starts the bare server without assigning a number of `data`.
    fn start(target: &mut Target, data: &Data, what: &Measure) -> Result<Self> {
        // Repeats the first request: an insert then overwrites an element with the same content.
        let first = Arc::new(Data::new(data.naming, data.sizes));
        let mut request = Vec::new();
        let mut requests = Requests::new(what.scenario, &first, &target.place, data.naming.seed);
        requests.build(&mut request).context("a first request")?;
        let answer = target.probe.send(&request)?;
        let body = tempfile::NamedTempFile::new()?;
        std::fs::write(body.path(), &answer.body)?;
        let (process, url) = bare::start(answer.status, body.path())?;
        let place = GraphAddress {
            base: "/bare/hugegraph".to_owned(),
            checked: false,
            ..target.place.clone()
        };
        let at = (&*url, &Trust::default());
        let target = Target {
            place,
            ..Target::at(at, "hugegraph", Some(process.id()))?
        };
        Ok(Self {
            target,
            data: Arc::new(Data::new(data.naming, data.sizes)),
            _process: process,
        })
    }
}
