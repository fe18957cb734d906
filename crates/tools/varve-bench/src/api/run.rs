//! A run of `varve-bench api`. It prepares the server, then loads the data of each row, runs the
//! row, and writes the results. The result file is rewritten after each row, so that an interrupted
//! run keeps its finished rows.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use anyhow::{Context, Result, bail, ensure};

use super::choice::Distribution;
use super::connection::{self, Route};
use super::jtl;
use super::limit_search::{self, Step};
use super::opening;
use super::options::{ApiArguments, BATCH_EDGES, BATCH_VERTICES};
use super::payload::{Naming, VertexKind};
use super::preset::Planned;
use super::queries;
use super::result::{FORMAT, LimitFound, Load, Model, ResultFile, Row, Server};
use super::row::{Ran, RowPlan};
use super::scenario::{Data, Need, Scenario};
use super::table;
use super::target::Target;
use super::threshold::Threshold;
use super::verify;
use crate::environment::{self, Environment};
use crate::owned;
use crate::progress::{self, Progress};
use crate::random::mix;
use crate::result::{EXIT_FAILED, put};
use crate::serve::Served;

/// The number of connections that load the data. It is small, since a HugeGraph server on two
/// processors refuses more.
const LOADERS: u32 = 2;
/// The time limit of a load, in seconds.
const LOAD_S: f64 = 36_000.0;

/// Runs `varve-bench api`.
///
/// # Errors
/// When the run cannot be made: there is no server, the schema differs, a load fails, file
/// descriptors are too few, or a file cannot be written. Failed thresholds and lost data are no
/// errors, but set the exit code 3.
pub fn run(arguments: &ApiArguments) -> Result<ExitCode> {
    let mut session = Session::start(arguments)?;
    for repeat in 1..=arguments.repeat.max(1) {
        session.repeat = repeat;
        for planned in arguments.rows()? {
            match arguments.limit_search {
                true => session.search(&planned)?,
                false => {
                    session.row(&planned)?;
                }
            }
        }
    }
    session.verify_store()?;
    session.finish()
}

/// A running benchmark.
struct Session<'a> {
    arguments: &'a ApiArguments,
    target: Target,
    data: Arc<Data>,
    file: ResultFile,
    samples: Option<jtl::Writer>,
    repeat: u32,
    /// The number of rows, warm-ups and loads so far; each connects from other source addresses.
    turn: u32,
    failed: Vec<String>,
    /// The number of changes that failed so far. The server may still apply them at any time.
    uncertain: u64,
    served: Option<Served>,
}

impl<'a> Session<'a> {
    fn start(arguments: &'a ApiArguments) -> Result<Self> {
        let served = match &arguments.common.serve {
            Some(binary) => {
                let durability = arguments.durability.as_deref().unwrap_or("none");
                let settings = arguments.server_settings()?;
                Some(Served::start(binary, durability, &settings)?)
            }
            None => None,
        };
        let url = served
            .as_ref()
            .map_or(arguments.common.url.as_str(), |it| &it.url);
        let pid = served
            .as_ref()
            .map(Served::pid)
            .or(arguments.common.server_pid);
        let (mut target, naming, is_used) = match arguments.gremlin_server {
            true => opening::gremlin_server(arguments, url, pid)?,
            false => opening::prepared(arguments, url, pid)?,
        };
        if let Some(durability) = &arguments.durability {
            target.server.durability = Some(durability.clone());
        }
        target.server.name = arguments
            .name
            .clone()
            .unwrap_or_else(|| short_name(&target.server));
        let file = new_file(arguments, served.as_ref(), &target.server, &naming);
        let data = Arc::new(Data::new(naming, arguments.sizes()?));
        if arguments.loaded {
            assume_loaded(&data);
            target.place.loaded_at = environment::now();
        }
        let samples = arguments
            .jtl
            .as_deref()
            .map(jtl::Writer::create)
            .transpose()?;
        eprintln!(
            "{} at {}, graph {}, durability {}, run prefix {}",
            target.server.service.as_deref().unwrap_or("a server"),
            target.server.url,
            target.server.graph,
            target.server.durability.as_deref().unwrap_or("unknown"),
            file.environment.run_prefix,
        );
        let mut session = Self {
            arguments,
            target,
            data,
            file,
            samples,
            repeat: 1,
            turn: 0,
            failed: Vec::new(),
            uncertain: 0,
            served,
        };
        session.check_limits()?;
        session.check_needs()?;
        session.check_overwrites(is_used)?;
        Ok(session)
    }

    /// Fails, before the first row, if more elements are to be loaded than there are ids.
    fn check_needs(&self) -> Result<()> {
        for planned in self.arguments.rows()? {
            for need in planned.scenario.needs() {
                if let Some(why) = self.data.too_many(*need) {
                    bail!(why);
                }
            }
        }
        Ok(())
    }

    /// Raises the limit of file descriptors, before the first row, to what the row with the most
    /// connections needs.
    fn check_limits(&mut self) -> Result<()> {
        let most = self.arguments.connections()?;
        self.file.environment.open_files_max = connection::ensure_descriptors(most)?;
        for warning in connection::warnings(most, self.file.environment.somaxconn) {
            self.warn(warning);
        }
        Ok(())
    }

    /// Warns if the rows may overwrite elements of an earlier run with this prefix.
    fn check_overwrites(&mut self, is_used: bool) -> Result<()> {
        let prefix = self.file.environment.run_prefix.clone();
        let overwrites = "what this one inserts overwrites them";
        if !self.arguments.loaded {
            if is_used {
                self.warn(format!(
                    "the graph has elements of a run with prefix {prefix}: {overwrites}"
                ));
            }
            return Ok(());
        }
        let rows = self.arguments.rows()?;
        for need in rows.iter().filter_map(|row| row.scenario.inserts()) {
            let next = self.data.given(need).load(Ordering::Relaxed);
            let is_left = next < self.data.capacity(need);
            if is_left && verify::is_there(&mut self.target, &self.data, need, next)? {
                self.warn(format!(
                    "a run with prefix {prefix} has written more than --loaded takes for loaded: {overwrites}"
                ));
                break;
            }
        }
        Ok(())
    }

    /// Loads the data of a row, warms up, runs the row and verifies it. Skips a row that the server
    /// or the data do not allow. Returns the index of the row in the result file.
    fn row(&mut self, planned: &Planned) -> Result<usize> {
        let scenario = planned.scenario;
        let label = self.label(scenario);
        let (mut reason, mut before) = (self.lacking(scenario)?, String::new());
        if reason.is_none() {
            self.load_needs(scenario)?;
            before = self.data.describe();
            self.warm_up(scenario, &label, &planned.load)?;
            reason = self.data.exhausted(scenario);
        }
        let mut row = match reason {
            Some(reason) => Row {
                scenario: scenario.name(),
                label,
                load: planned.load.clone(),
                skipped: Some(reason),
                ..Row::default()
            },
            None => {
                let ran = self.measure(scenario, &label, planned.load.clone())?;
                let why = || self.data.exhausted(scenario).unwrap_or_default();
                let ended_early = ran.ran_out.then(why);
                if let Some(why) = &ended_early {
                    self.warn(format!("{label} ended before its time: {why}"));
                }
                Row {
                    data_before: before,
                    ended_early,
                    ..self.verified(scenario, ran)?
                }
            }
        };
        row.server.clone_from(&self.target.server.name);
        row.durability.clone_from(&self.target.server.durability);
        row.published.clone_from(&planned.published);
        row.limit_us = queries::limit_us(scenario);
        row.repeat = self.repeat;
        self.judge(&row);
        eprintln!("{}", table::summary(&row));
        self.file.rows.push(row);
        self.save()?;
        Ok(self.file.rows.len() - 1)
    }

    /// Prints a warning, and adds it to the result file.
    fn warn(&mut self, warning: String) {
        progress::warn(&warning);
        self.file.environment.warnings.push(warning);
    }

    fn label(&self, scenario: Scenario) -> String {
        let mut label = scenario.name();
        let items = scenario.items(&self.data.sizes);
        let usual = match scenario {
            Scenario::BatchInsertEdges | Scenario::BatchInsertEdgesUnchecked => BATCH_EDGES,
            Scenario::IndexQuery => items,
            _ => BATCH_VERTICES,
        };
        if items > 1 && items != usual {
            label += &format!(" ({items} a request)");
        }
        if scenario.chooses() && self.arguments.choice == Distribution::Zipfian {
            label += " (zipfian)";
        }
        label
    }

    fn lacking(&mut self, scenario: Scenario) -> Result<Option<String>> {
        match scenario.feature() {
            Some(feature) => self.target.lacks(feature, &self.data.naming),
            None => Ok(None),
        }
    }

    /// Loads the data that a scenario reads or connects, unless this run has already loaded it.
    fn load_needs(&mut self, scenario: Scenario) -> Result<()> {
        for need in scenario.needs() {
            let wanted = self.data.wanted(*need);
            let there = self.data.given(*need).load(Ordering::Relaxed);
            if there < wanted {
                self.fill(*need, wanted - there)?;
                self.target.place.loaded_at = environment::now();
            }
        }
        Ok(())
    }

    fn fill(&mut self, need: Need, elements: u64) -> Result<()> {
        let (scenario, label) = need.load();
        let items = u64::from(scenario.items(&self.data.sizes));
        let load = Load {
            model: Model::Closed,
            users: Some(LOADERS),
            hold_s: LOAD_S,
            ..Load::default()
        };
        let ran = self.plan(scenario, label, load, Some(elements.div_ceil(items)), false)?;
        let row = &ran.row;
        if let Some(example) = row.error_examples.first() {
            bail!("{label}: {} {}", example.kind, example.text);
        }
        ensure!(
            !ran.ran_out,
            "{label}: {}",
            self.data.exhausted(scenario).unwrap_or_default()
        );
        eprintln!(
            "{label}: {} in {:.1} s",
            row.columns.samples * items,
            row.elapsed_s
        );
        Ok(())
    }

    fn warm_up(&mut self, scenario: Scenario, label: &str, load: &Load) -> Result<()> {
        if load.warmup_s <= 0.0 {
            return Ok(());
        }
        let load = Load {
            hold_s: load.warmup_s,
            ramp_s: 0.0,
            ..load.clone()
        };
        self.plan(scenario, &format!("{label}, warm-up"), load, None, false)?;
        Ok(())
    }

    fn measure(&mut self, scenario: Scenario, label: &str, load: Load) -> Result<Ran> {
        self.plan(scenario, label, load, self.arguments.requests, true)
    }

    fn plan(
        &mut self,
        scenario: Scenario,
        label: &str,
        load: Load,
        budget: Option<u64>,
        keep_samples: bool,
    ) -> Result<Ran> {
        self.turn += 1;
        let connections = load.users.or(load.max_in_flight).unwrap_or(1);
        let ran = RowPlan {
            scenario,
            label,
            data: &self.data,
            place: &self.target.place,
            route: Route::new(&self.target.endpoint, self.turn, connections),
            distribution: self.arguments.choice,
            threads: self.arguments.threads(),
            seed: mix(self.arguments.common.seed ^ (u64::from(self.turn) << 40)),
            connect_timeout: self.arguments.connect_timeout(),
            timeout: self.arguments.timeout(),
            budget,
            read_back: self.arguments.verify,
            server_pid: self.target.server.pid,
            progress: Progress::new(self.arguments.common.quiet),
            samples: self.samples.as_mut().filter(|_| keep_samples),
            load,
        }
        .run()?;
        self.uncertain += ran.changes.uncertain();
        Ok(ran)
    }

    fn verified(&mut self, scenario: Scenario, ran: Ran) -> Result<Row> {
        let mut row = ran.row;
        if let Some(written) = scenario.written()
            && self.arguments.verify > 0
            && !ran.acknowledged.is_empty()
        {
            let back = verify::Back {
                written,
                acknowledged: &ran.acknowledged,
                items: ran.acknowledged_items,
                changes: &ran.changes,
                values_known: self.uncertain == ran.changes.uncertain(),
                limit: self.arguments.verify,
            };
            let verification = verify::read_back(&mut self.target, &self.data, &back)
                .context("reading back what was written")?;
            row.verification = Some(verification);
        }
        Ok(row)
    }

    /// Records the reasons for which a row fails the run.
    fn judge(&mut self, row: &Row) {
        if row.skipped.is_some() {
            return;
        }
        if row.verification.as_ref().is_some_and(|it| !it.passed()) {
            self.failed
                .push(format!("{}: written data is not there", row.label));
        }
        // In a limit search, the conditions end the search instead.
        if self.arguments.limit_search {
            return;
        }
        let held = self.arguments.fail_on.iter().filter(|it| it.holds(row));
        let held: Vec<String> = held.map(|it| format!("{}: {it}", row.label)).collect();
        self.failed.extend(held);
    }

    /// Searches the load at which a row fails, and adds the result to the file.
    fn search(&mut self, planned: &Planned) -> Result<()> {
        let open = planned.load.model == Model::Open;
        let start = match open {
            true => planned.load.rate.unwrap_or(1.0),
            false => f64::from(planned.load.users.unwrap_or(1)),
        };
        let conditions = Threshold::of_search(&self.arguments.fail_on);
        let (mut rows, mut reason) = (Vec::new(), String::new());
        let (factor, max) = (self.arguments.limit_factor, self.arguments.limit_max);
        ensure!(factor > 1.0, "--limit-factor is above 1");
        let found = limit_search::search(start, factor, max, |load| {
            let mut step = planned.clone();
            match open {
                true => step.load.rate = Some(load),
                false => step.load.users = Some(load as u32),
            }
            let index = self.row(&step)?;
            rows.push(index as u32);
            let row = &self.file.rows[index];
            if let Some(skipped) = &row.skipped {
                reason.clone_from(skipped);
                return Ok(Step::Last);
            }
            let failed = fails(row, &conditions);
            if let Some(failed) = &failed {
                reason = format!("{load:.0}: {failed}");
            }
            anyhow::Ok(match failed {
                None => Step::Clean,
                Some(_) if row.ended_early.is_some() => Step::Last,
                Some(_) => Step::Failed,
            })
        })?;
        if found.first_failed.is_none() {
            reason = "the search's own maximum".to_owned();
        }
        self.file.limits.push(LimitFound {
            server: self.target.server.name.clone(),
            label: self.label(planned.scenario),
            raised: if open { "rate" } else { "users" }.to_owned(),
            last_clean: found.last_clean,
            first_failed: found.first_failed,
            reason,
            rows,
        });
        self.save()
    }

    fn save(&mut self) -> Result<()> {
        owned::stand_still_if_ending();
        self.file.environment.end();
        if let Some(path) = &self.arguments.common.json {
            self.file.write(path)?;
        }
        if let Some(path) = &self.arguments.markdown {
            put(path, &table::markdown(&self.file))?;
        }
        Ok(())
    }

    /// Stops the server if this run started it, and verifies its store before the store is removed.
    fn verify_store(&mut self) -> Result<()> {
        let Some(served) = &mut self.served else {
            return Ok(());
        };
        let verified = served.verify(self.arguments.verify_store)?;
        eprintln!("{verified}");
        self.failed.extend(verified.failure().map(str::to_owned));
        for server in &mut self.file.servers {
            server.notes.push(verified.to_string());
        }
        self.save()
    }

    fn finish(self) -> Result<ExitCode> {
        print!("{}", table::markdown(&self.file));
        for failed in &self.failed {
            eprintln!("failed: {failed}");
        }
        Ok(match self.failed.is_empty() {
            true => ExitCode::SUCCESS,
            false => ExitCode::from(EXIT_FAILED),
        })
    }
}

fn new_file(
    arguments: &ApiArguments,
    served: Option<&Served>,
    server: &Server,
    naming: &Naming,
) -> ResultFile {
    let title = arguments
        .common
        .title
        .as_deref()
        .unwrap_or("varve-bench api");
    let data = match served {
        Some(served) => environment::Data::Folder(served.folder().to_owned()),
        None => environment::Data::Elsewhere,
    };
    let environment = arguments.common.environment(&data, arguments.threads());
    ResultFile {
        format: FORMAT,
        title: title.to_owned(),
        environment: Environment {
            run_prefix: String::from_utf8_lossy(&naming.prefix).into_owned(),
            ..environment
        },
        servers: vec![server.clone()],
        ..ResultFile::default()
    }
}

/// The reason why a step of a limit search is not clean; `None` if it is clean. A row that ended
/// early, or that the load generator limited, is not clean either: it does not show the server's
/// limit.
fn fails(row: &Row, conditions: &[Threshold]) -> Option<String> {
    let held = conditions.iter().find(|it| it.holds(row));
    let lost = row.verification.as_ref().filter(|it| !it.passed());
    let lost = || lost.map(|_| "what was written is not there".to_owned());
    let unknown =
        |what: &str, why: &str| format!("{what}: {why}; the server's limit may be higher");
    let early = row.ended_early.as_deref();
    let early = || early.map(|why| unknown("ended early", why));
    let bound = || {
        let why = row.generator.bound_reason.as_deref().unwrap_or_default();
        row.generator.bound.then(|| unknown("generator-bound", why))
    };
    let held = held.map(ToString::to_string);
    held.or_else(lost).or_else(early).or_else(bound)
}

/// Counts the elements that an earlier run loaded as loaded by this one.
fn assume_loaded(data: &Data) {
    let needs = [
        Need::Vertices(VertexKind::Plain),
        Need::Vertices(VertexKind::Indexed),
        Need::Vertices(VertexKind::Forgetful),
        Need::Vertices(VertexKind::Person),
        Need::Edges,
        Need::Knows,
    ];
    for need in needs {
        data.given(need).store(data.wanted(need), Ordering::Relaxed);
    }
}

/// The name of the server program without its version; `server` if unknown.
fn short_name(server: &Server) -> String {
    let service = server.service.as_deref().unwrap_or("server");
    service
        .split([' ', ','])
        .next()
        .unwrap_or(service)
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::result::Generator;
    use super::*;

    #[test]
    fn a_step_that_the_generator_bound_is_not_clean() {
        let row = |bound, not_sent| Row {
            generator: Generator {
                bound,
                bound_reason: bound.then(|| "9 % of the sends were late".to_owned()),
                not_sent,
                ..Generator::default()
            },
            ..Row::default()
        };
        let conditions = Threshold::of_search(&[]);
        assert_eq!(fails(&row(false, 0), &conditions), None);
        let reason = fails(&row(true, 0), &conditions).expect("not clean");
        assert!(reason.starts_with("generator-bound: 9 %"), "{reason}");
        let reason = fails(&row(true, 1), &conditions).expect("not clean");
        assert_eq!(reason, "not_sent>0", "what was asked for comes first");
    }

    #[test]
    fn a_step_that_ended_early_is_not_clean() {
        let row = Row {
            ended_early: Some("no ids are left".to_owned()),
            ..Row::default()
        };
        let reason = fails(&row, &Threshold::of_search(&[])).expect("not clean");
        assert!(
            reason.starts_with("ended early: no ids are left"),
            "{reason}"
        );
    }
}
