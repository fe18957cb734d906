//! The load tests as a suite of the runner: loads the data of a row, warms up, runs the row under
//! its load, and reads back the writes.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use anyhow::{Context, Result, bail, ensure};

use super::connection;
use super::jtl;
use super::limit_search::{self, Step};
use super::options::{ApiArguments, BATCH_EDGES, BATCH_VERTICES};
use super::preset::Planned;
use super::queries;
use super::row::{Ran, RowPlan};
use super::scenario::{Data, NEEDS, Need, Scenario};
use super::target::{self, Target};
use super::threshold::Threshold;
use super::verify;
use crate::random::mix;
use crate::report;
use crate::result::{LimitFound, Load, Model, Row, Server};
use crate::run::{Session, Suite};

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
pub(crate) fn run(arguments: &ApiArguments) -> Result<ExitCode> {
    let mut session = Session::new(&arguments.common, "api", arguments.threads())?;
    session.serve("none", &arguments.server_settings()?)?;
    let mut suite = Api::start(arguments, &mut session)?;
    session.run(&mut suite, &arguments.plan()?)
}

/// The state that rows share.
struct Api<'a> {
    arguments: &'a ApiArguments,
    target: Target,
    data: Arc<Data>,
    samples: Option<jtl::Writer>,
    /// The number of rows, warm-ups and loads so far; each connects from other source addresses.
    turn: u32,
}

impl Suite for Api<'_> {
    type Step = Planned;

    fn step(&mut self, planned: &Planned, session: &mut Session<'_>) -> Result<()> {
        match self.arguments.limit_search {
            true => self.search(planned, session),
            false => self.row(planned, session).map(drop),
        }
    }
}

impl<'a> Api<'a> {
    fn start(arguments: &'a ApiArguments, session: &mut Session<'_>) -> Result<Self> {
        let (url, pid) = (session.url(), session.pid());
        let (mut target, naming, is_used) = target::prepared(arguments, &url, pid)?;
        let (common, server) = (&arguments.common, &mut target.server);
        if common.serve.is_none() && common.durability.is_some() {
            server.durability.clone_from(&common.durability);
        }
        server.name = common.name.clone().unwrap_or_else(|| short_name(server));
        let prefix = String::from_utf8_lossy(&naming.prefix).into_owned();
        session.file.environment.run_prefix.clone_from(&prefix);
        session.file.servers.push(server.clone());
        let data = Arc::new(Data::new(naming, arguments.sizes()?));
        if arguments.loaded {
            assume_loaded(&data);
        }
        let samples = arguments.jtl.as_deref();
        eprintln!(
            "{} at {}, graph {}, durability {}, run prefix {prefix}",
            server.service.as_deref().unwrap_or("a server"),
            server.url,
            server.graph,
            server.durability.as_deref().unwrap_or("unknown"),
        );
        let api = Self {
            arguments,
            target,
            data,
            samples: samples.map(jtl::Writer::create).transpose()?,
            turn: 0,
        };
        api.check_limits(session)?;
        api.check_needs()?;
        api.check_overwrites(is_used, session);
        Ok(api)
    }

    /// Fails, before the first row, if more elements are to be loaded than there are ids.
    fn check_needs(&self) -> Result<()> {
        for planned in self.arguments.plan()? {
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
    fn check_limits(&self, session: &mut Session<'_>) -> Result<()> {
        let most = self.arguments.connections()?;
        let environment = &mut session.file.environment;
        environment.open_files_max = connection::ensure_descriptors(most)?;
        let warning = connection::warning(most, environment.somaxconn);
        warning
            .into_iter()
            .for_each(|warning| session.warn(warning));
        Ok(())
    }

    /// Warns if the rows may overwrite elements of an earlier run with this prefix.
    fn check_overwrites(&self, is_used: bool, session: &mut Session<'_>) {
        if is_used && !self.arguments.loaded {
            session.warn(format!(
                "the graph has elements of a run with prefix {}: what this one inserts overwrites them",
                session.file.environment.run_prefix
            ));
        }
    }

    /// Loads the data of a row, warms up, runs the row and verifies it. Skips a row that the server
    /// or the data do not allow. Returns the index of the row in the result file.
    fn row(&mut self, planned: &Planned, session: &mut Session<'_>) -> Result<usize> {
        let scenario = planned.scenario;
        let label = self.label(scenario);
        let (mut reason, mut before) = (self.lacking(scenario)?, String::new());
        if reason.is_none() {
            self.load_needs(scenario, session)?;
            before = self.data.describe();
            self.warm_up(scenario, &label, &planned.load, session)?;
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
                let (load, budget) = (planned.load.clone(), self.arguments.requests);
                let ran = self.measure(scenario, &label, load, budget, true, session)?;
                let why = || self.data.exhausted(scenario).unwrap_or_default();
                let ended_early = ran.ran_out.then(why);
                if let Some(why) = &ended_early {
                    session.warn(format!("{label} ended before its time: {why}"));
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
        row.repeat = planned.repeat;
        self.judge(&row, session);
        eprintln!("{}", report::summary(&row));
        session.file.rows.push(row);
        session.keep();
        Ok(session.file.rows.len() - 1)
    }

    fn label(&self, scenario: Scenario) -> String {
        let items = scenario.items(&self.data.sizes);
        let usual = match scenario {
            Scenario::BatchInsertEdges | Scenario::BatchInsertEdgesUnchecked => BATCH_EDGES,
            _ => BATCH_VERTICES,
        };
        match items > 1 && items != usual {
            true => format!("{} ({items} a request)", scenario.name()),
            false => scenario.name(),
        }
    }

    /// Why the server cannot run a scenario, if so.
    fn lacking(&mut self, scenario: Scenario) -> Result<Option<String>> {
        match queries::traverser(scenario) {
            Some(_) => self.target.lacks_traversers(&self.data.naming),
            None => Ok(None),
        }
    }

    /// Loads the data that a scenario reads or connects, unless this run has already loaded it.
    fn load_needs(&mut self, scenario: Scenario, session: &Session<'_>) -> Result<()> {
        for need in scenario.needs() {
            let wanted = self.data.wanted(*need);
            let there = self.data.given(*need).load(Ordering::Relaxed);
            if there < wanted {
                self.fill(*need, wanted - there, session)?;
            }
        }
        Ok(())
    }

    fn fill(&mut self, need: Need, elements: u64, session: &Session<'_>) -> Result<()> {
        let scenario = need.load();
        let label = format!("loading {}", need.name());
        let items = u64::from(scenario.items(&self.data.sizes));
        let load = Load {
            model: Model::Closed,
            users: LOADERS,
            hold_s: LOAD_S,
            ..Load::default()
        };
        let requests = Some(elements.div_ceil(items));
        let ran = self.measure(scenario, &label, load, requests, false, session)?;
        let row = &ran.row;
        if let Some(example) = row.error_examples.first() {
            bail!("{label}: {} {}", example.kind, example.text);
        }
        let why = || self.data.exhausted(scenario).unwrap_or_default();
        ensure!(!ran.ran_out, "{label}: {}", why());
        let samples = row.columns.samples;
        eprintln!("{label}: {} in {:.1} s", samples * items, row.elapsed_s);
        Ok(())
    }

    fn warm_up(
        &mut self,
        scenario: Scenario,
        label: &str,
        load: &Load,
        session: &Session<'_>,
    ) -> Result<()> {
        if load.warmup_s <= 0.0 {
            return Ok(());
        }
        let load = Load {
            hold_s: load.warmup_s,
            ramp_s: 0.0,
            ..load.clone()
        };
        let label = format!("{label}, warm-up");
        self.measure(scenario, &label, load, None, false, session)
            .map(drop)
    }

    fn measure(
        &mut self,
        scenario: Scenario,
        label: &str,
        load: Load,
        budget: Option<u64>,
        keep_samples: bool,
        session: &Session<'_>,
    ) -> Result<Ran> {
        self.turn += 1;
        RowPlan {
            scenario,
            label,
            data: &self.data,
            target: &self.target,
            turn: self.turn,
            threads: self.arguments.threads(),
            seed: mix(self.arguments.common.seed ^ (u64::from(self.turn) << 40)),
            timeout: self.arguments.timeout(),
            budget,
            read_back: self.arguments.verify,
            progress: session.progress,
            samples: self.samples.as_mut().filter(|_| keep_samples),
            load,
        }
        .run()
    }

    fn verified(&mut self, scenario: Scenario, ran: Ran) -> Result<Row> {
        let limit = self.arguments.verify;
        let verification = match scenario.writes() && limit > 0 && !ran.acknowledged.is_empty() {
            true => {
                let read = verify::read_back(&mut self.target, &self.data, scenario, &ran, limit);
                Some(read.context("reading back what was written")?)
            }
            false => None,
        };
        Ok(Row {
            verification,
            ..ran.row
        })
    }

    /// Records the reasons for which a row fails the run.
    fn judge(&self, row: &Row, session: &mut Session<'_>) {
        if row.skipped.is_some() {
            return;
        }
        if row.verification.as_ref().is_some_and(|it| !it.passed()) {
            session.fail(format!("{}: written data is not there", row.label));
        }
        // In a limit search, the conditions end the search instead.
        let held = self.arguments.fail_on.iter().filter(|it| it.holds(row));
        for held in held.filter(|_| !self.arguments.limit_search) {
            session.fail(format!("{}: {held}", row.label));
        }
    }

    /// Searches the load at which a row fails, and adds the result to the file.
    fn search(&mut self, planned: &Planned, session: &mut Session<'_>) -> Result<()> {
        let conditions = Threshold::of_search(&self.arguments.fail_on);
        let (mut rows, mut reason) = (Vec::new(), String::new());
        let (factor, max) = (self.arguments.limit_factor, self.arguments.limit_max);
        ensure!(factor > 1.0, "--limit-factor is above 1");
        let found = limit_search::search(planned.load.users, factor, max, |users| {
            let mut step = planned.clone();
            step.load.users = users;
            let index = self.row(&step, session)?;
            rows.push(index as u32);
            let row = &session.file.rows[index];
            if let Some(skipped) = &row.skipped {
                reason.clone_from(skipped);
                return Ok(Step::Last);
            }
            let failed = fails(row, &conditions);
            if let Some(failed) = &failed {
                reason = format!("{users}: {failed}");
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
        session.file.limits.push(LimitFound {
            server: self.target.server.name.clone(),
            label: self.label(planned.scenario),
            last_clean: found.last_clean,
            first_failed: found.first_failed,
            reason,
            rows,
        });
        Ok(())
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
    for (need, _) in NEEDS {
        data.given(need).store(data.wanted(need), Ordering::Relaxed);
    }
}

/// The name of the server program without its version; `server` if unknown.
fn short_name(server: &Server) -> String {
    let service = server.service.as_deref().unwrap_or("server");
    let name = service.split([' ', ',']).next();
    name.unwrap_or(service).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::Generator;

    #[test]
    fn a_step_that_the_generator_bound_is_not_clean() {
        let row = |bound: bool| Row {
            generator: Generator {
                bound,
                bound_reason: bound.then(|| "9 % of the sends were late".to_owned()),
                ..Generator::default()
            },
            ..Row::default()
        };
        let conditions = Threshold::of_search(&[]);
        assert_eq!(fails(&row(false), &conditions), None);
        let reason = fails(&row(true), &conditions).expect("not clean");
        assert!(reason.starts_with("generator-bound: 9 %"), "{reason}");
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
