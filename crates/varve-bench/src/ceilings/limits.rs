//! Measures Varve against its ceilings, in one run: RocksDB alone and our own engine fed the same bytes in the same
//! batches, and the bare HTTP server that takes the same requests and answers the same bytes.
//!
//! Wall-clock rates on shared machines say little, so each row also has the CPU time of the process measured; the
//! ratios are what counts.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use varve_encoding::{key, tables};
use varve_kv::{Batch, Durability, Engine, Space, TableId};
use varve_kv_rocksdb::{FrontTable, RocksConfig, RocksEngine};
use varve_model::{Direction, EdgeId, VertexId};

use super::recording::RecordingEngine;
use super::server::{self, Child};
use crate::api::choice::{Distribution, Random, mix};
use crate::api::connection::Route;
use crate::api::payload::{Kind, Naming};
use crate::api::progress::Progress;
use crate::api::request::Requests;
use crate::api::result::{Ceiling, CeilingRow, FORMAT, Load, Measured, Model, ResultFile, Row};
use crate::api::row::RowPlan;
use crate::api::scenario::{Data, Place, Scenario, Sizes};
use crate::api::serve::Served;
use crate::api::target::{Paths, Target};
use crate::api::{environment, process, table};

/// Seed of contents and choices: every run sends the same.
const SEED: u64 = 1;
/// Prefix of all ids.
const PREFIX: [u8; 3] = *b"lim";
/// Vertices of a batch request.
const BATCH_VERTICES: u32 = 200;
/// Edges of a batch request.
const BATCH_EDGES: u32 = 500;
/// Time-out of connections and answers.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Longest time of a scenario, in seconds; its requests are counted.
const LONGEST_S: f64 = 3_600.0;

/// What is measured, in the order in which it must run: later scenarios need what earlier ones wrote.
const SCENARIOS: &[Measure] = &[
    Measure::new(Scenario::SingleInsertVertices, 64, 60_000),
    Measure::new(Scenario::BatchInsertVertices, 8, 2_000),
    Measure::new(Scenario::SingleInsertEdges, 64, 40_000),
    Measure::new(Scenario::BatchInsertEdges, 8, 600),
    Measure::new(Scenario::BatchInsertEdgesUnchecked, 8, 600),
    Measure::new(Scenario::VertexById, 64, 150_000),
    Measure::new(Scenario::EdgeById, 64, 150_000),
];

/// A scenario with its users and its usual number of requests.
struct Measure {
    scenario: Scenario,
    users: u32,
    requests: u64,
}

/// What `varve bench limits` is told.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) varve: PathBuf,
    pub(crate) durability: String,
    /// Requests in percent of the usual number.
    pub(crate) percent: u64,
    /// Threads that feed the engines.
    pub(crate) engine_threads: usize,
    pub(crate) json: Option<PathBuf>,
    pub(crate) markdown: Option<PathBuf>,
}

impl Measure {
    const fn new(scenario: Scenario, users: u32, requests: u64) -> Self {
        Self {
            scenario,
            users,
            requests,
        }
    }

    fn count(&self, percent: u64) -> u64 {
        (self.requests * percent / 100).max(u64::from(self.users))
    }

    const fn reads(&self) -> bool {
        self.scenario.written().is_none()
    }
}

/// Runs every scenario on the server and on each ceiling, and prints the tables.
pub(crate) fn run(options: &Options) -> Result<()> {
    eprintln!("recording the engine's batches …");
    let recorded = record(options.percent)?;
    let served = Served::start(&options.varve, &options.durability, &[])?;
    let mut target = prepared(&served.url, Some(served.pid()))?;
    let data = Arc::new(Data::new(naming(), sizes(options.percent)));
    let engines = Engines::open()?;
    let mut file = ResultFile {
        format: FORMAT,
        title: "varve bench limits".to_owned(),
        environment: environment::describe(),
        ..ResultFile::default()
    };
    target.server.name = "varve".to_owned();
    file.environment.seed = SEED;
    file.environment.generator_threads = 1;
    file.servers.push(target.server.clone());
    for (measure, batches) in SCENARIOS.iter().zip(&recorded) {
        let before = data.describe();
        let mut row = on_server(&target, &data, &target.place, measure, options.percent)?;
        row.server.clone_from(&target.server.name);
        row.durability = Some(options.durability.clone());
        row.data_before = before;
        // The requests were counted, not the seconds.
        row.load.hold_s = row.elapsed_s;
        eprintln!("{}", table::summary(&row));
        let ours = of_row(&row);
        let mut ceilings = Vec::new();
        for (name, space) in &engines.spaces {
            let measured = match measure.reads() {
                true => read_engine(space, measure, options, &target.place)?,
                false => write_engine(space, measure, batches, options)?,
            };
            ceilings.push(ceiling(name, measured, &ours));
        }
        let bare = on_bare(&mut target, &data, measure, options.percent)?;
        ceilings.push(ceiling("bare http", bare, &ours));
        file.ceilings.push(CeilingRow {
            label: row.label.clone(),
            durability: options.durability.clone(),
            items_per_request: row.items_per_request,
            users: measure.users,
            ours,
            ceilings,
        });
        file.rows.push(row);
    }
    file.environment.ended = environment::now();
    file.environment.load_average_end = environment::load_average();
    let text = format!("{}\n{}", table::ceilings(&file), table::markdown(&file));
    print!("{text}");
    if let Some(path) = &options.markdown {
        std::fs::write(path, &text).with_context(|| format!("writing {}", path.display()))?;
    }
    options
        .json
        .as_deref()
        .map_or(Ok(()), |path| file.write(path))
}

/// The two engines, each with a space of its own.
struct Engines {
    spaces: Vec<(&'static str, Arc<dyn Space>)>,
    _engines: Vec<RocksEngine>,
    _directories: Vec<tempfile::TempDir>,
}

impl Engines {
    fn open() -> Result<Self> {
        let (mut spaces, mut engines, mut directories) = (Vec::new(), Vec::new(), Vec::new());
        for name in ["rocksdb", "front table"] {
            let directory = tempfile::tempdir()?;
            let mut config = RocksConfig::new(directory.path());
            if name == "rocksdb" {
                config.front = FrontTable::Off;
            }
            let engine = RocksEngine::open(&config)?;
            let space = engine.open("ceiling", tables::TABLES, true)?;
            spaces.push((name, space));
            engines.push(engine);
            directories.push(directory);
        }
        Ok(Self {
            spaces,
            _engines: engines,
            _directories: directories,
        })
    }
}

const fn naming() -> Naming {
    Naming {
        prefix: PREFIX,
        seed: SEED,
    }
}

/// The vertices and edges that the scenarios before a read have written.
fn sizes(percent: u64) -> Sizes {
    let mut sizes = Sizes {
        vertices_per_request: BATCH_VERTICES,
        edges_per_request: BATCH_EDGES,
        schema_elements: 1,
        write_ratio: 0.0,
        vertices: 0,
        edges: 0,
    };
    for measure in SCENARIOS {
        let items = u64::from(measure.scenario.items(&sizes)) * measure.count(percent);
        match measure.scenario {
            Scenario::SingleInsertVertices | Scenario::BatchInsertVertices => {
                sizes.vertices += items;
            }
            _ if !measure.reads() => sizes.edges += items,
            _ => {}
        }
    }
    sizes
}

fn prepared(url: &str, pid: Option<u32>) -> Result<Target> {
    let mut target = Target::find(url, "hugegraph", Paths::Short, pid)?;
    target.prepare(&naming())?;
    Ok(target)
}

/// Sends every request once, in order, to a server over a recording engine; the batches of each scenario.
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
                requests: measure.count(percent),
                ..*measure
            };
            on_server(&target, &data, &target.place, &one, 100)?;
        }
        recorded.push(std::mem::take(&mut *batches.lock()));
    }
    running.stop();
    Ok(recorded)
}

/// Runs a scenario's requests, all of which must succeed.
fn on_server(
    target: &Target,
    data: &Arc<Data>,
    place: &Place,
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
        route: Route::new(target.address, 0, measure.users),
        distribution: Distribution::Uniform,
        threads: 1,
        seed: SEED,
        connect_timeout: TIMEOUT,
        timeout: TIMEOUT,
        budget: Some(measure.count(percent)),
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

/// What a row on a server came to.
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

/// Runs `work` on so many threads, each with its number, and measures this process.
fn measure(
    items: u64,
    threads: usize,
    work: impl Fn(usize) -> Result<()> + Sync,
) -> Result<Measured> {
    let (cpu, started) = (process::own_cpu_time(), Instant::now());
    std::thread::scope(|scope| {
        let work = &work;
        let running: Vec<_> = (0..threads)
            .map(|at| scope.spawn(move || work(at)))
            .collect();
        running
            .into_iter()
            .try_for_each(|thread| thread.join().map_err(|_| anyhow!("a thread panicked"))?)
    })?;
    let elapsed_s = started.elapsed().as_secs_f64().max(1e-9);
    let cpu_s = process::own_cpu_time().saturating_sub(cpu).as_secs_f64();
    Ok(Measured {
        items,
        elapsed_s,
        cpu_s,
        items_per_s: items as f64 / elapsed_s,
        cpu_us_per_item: cpu_s * 1e6 / items.max(1) as f64,
        ..Measured::default()
    })
}

/// Feeds a scenario's batches to an engine.
fn write_engine(
    space: &Arc<dyn Space>,
    what: &Measure,
    batches: &[Batch],
    options: &Options,
) -> Result<Measured> {
    // Writers that wait for a sync together share it, as the server's users do.
    let (durability, threads) = match options.durability.as_str() {
        "sync" => (Durability::Sync, what.users as usize),
        _ => (Durability::Buffered, options.engine_threads),
    };
    let items =
        u64::from(what.scenario.items(&sizes(options.percent))) * what.count(options.percent);
    let next = AtomicUsize::new(0);
    measure(items, threads, |_| {
        while let Some(batch) = batches.get(next.fetch_add(1, Ordering::Relaxed)) {
            space.write(batch, durability)?;
        }
        Ok(())
    })
}

/// A row: its table, partition key and clustering key.
type RowKey = (TableId, Vec<u8>, Vec<u8>);

/// Reads the rows that answer a scenario's requests, chosen alike, from an engine.
fn read_engine(
    space: &Arc<dyn Space>,
    what: &Measure,
    options: &Options,
    place: &Place,
) -> Result<Measured> {
    let (count, sizes) = (what.count(options.percent), sizes(options.percent));
    let mut random = Random::new(mix(SEED));
    let keys: Vec<RowKey> = (0..count)
        .map(|_| match what.scenario {
            Scenario::EdgeById => edge_key(random.below(sizes.edges), sizes.vertices, place),
            _ => Ok(vertex_key(random.below(sizes.vertices))),
        })
        .collect::<Result<_>>()?;
    let threads = options.engine_threads;
    measure(count, threads, |thread| {
        for (table, partition, clustering) in keys.iter().skip(thread).step_by(threads) {
            let found = space.get_with(*table, partition, clustering, &mut |_| {})?;
            ensure!(found, "the engine misses a row that was written");
        }
        Ok(())
    })
}

fn text_id(number: u64) -> VertexId {
    VertexId::text(&String::from_utf8_lossy(&naming().id(Kind::Plain, number)))
}

fn vertex_key(number: u64) -> RowKey {
    let id = key::vertex_id(&text_id(number));
    (tables::VERTEX, id, key::VERTEX_CLUSTERING.to_vec())
}

fn edge_key(number: u64, vertices: u64, place: &Place) -> Result<RowKey> {
    let (source, target) = naming().ends(number, vertices);
    let middle = place.edge_middle.replace("%3E", ">");
    let id = |number| String::from_utf8_lossy(&naming().id(Kind::Plain, number)).into_owned();
    let text = format!("S{}{middle}S{}", id(source), id(target));
    let id = EdgeId::parse(&text).map_err(|error| anyhow!("{text}: {error}"))?;
    let clustering = key::edge_clustering(&id, Direction::Out);
    Ok((tables::EDGE, key::vertex_id(&id.source), clustering))
}

/// The bare server with the same requests and the answer to one of them.
fn on_bare(
    target: &mut Target,
    data: &Arc<Data>,
    what: &Measure,
    percent: u64,
) -> Result<Measured> {
    // The first request once more: an insert is then an overwrite with the same content.
    let again = Arc::new(Data::new(naming(), data.sizes));
    let mut request = Vec::new();
    let choice = Distribution::Uniform;
    let mut requests = Requests::new(what.scenario, &again, &target.place, choice, SEED);
    requests.build(&mut request);
    let answer = target.probe.send(&request)?;
    let body = tempfile::NamedTempFile::new()?;
    std::fs::write(body.path(), &answer.body)?;
    let child = Child::bare(answer.status, body.path())?;
    let mut bare = Target {
        address: child.address,
        place: Place {
            base: "/bare/hugegraph".to_owned(),
            checked: false,
            ..target.place.clone()
        },
        server: target.server.clone(),
        probe: crate::api::probe::Probe::new(child.address, "bare"),
    };
    bare.server.pid = Some(child.pid);
    let again = Arc::new(Data::new(naming(), data.sizes));
    Ok(of_row(&on_server(
        &bare,
        &again,
        &bare.place,
        what,
        percent,
    )?))
}
