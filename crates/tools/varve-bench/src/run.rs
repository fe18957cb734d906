//! The runner of all suites: starts the server, runs the steps of the plan one after another, and
//! writes the result file after each of them, so that an interrupted run keeps what is complete.

use std::process::ExitCode;

use anyhow::Result;

use crate::arguments::Common;
use crate::environment::Environment;
use crate::owned;
use crate::progress::{self, Progress};
use crate::report;
use crate::result::{EXIT_FAILED, FORMAT, ResultFile, put};
use crate::serve::Served;
use crate::wait;

/// A suite of measurements: what the steps of its plan do.
pub(crate) trait Suite {
    /// A part of the plan, between two saves of the results.
    type Step;

    /// Runs a step: measures, and adds the results to the file of the session.
    ///
    /// # Errors
    /// When the run cannot go on. Failures of the server are results instead.
    fn step(&mut self, step: &Self::Step, session: &mut Session<'_>) -> Result<()>;

    /// Records what fails the run, after the last step.
    fn end(&mut self, _session: &mut Session<'_>) {}
}

/// A run: its server, and its results so far.
pub(crate) struct Session<'a> {
    pub(crate) common: &'a Common,
    pub(crate) file: ResultFile,
    pub(crate) progress: Progress,
    served: Option<Served>,
    failed: Vec<String>,
}

impl<'a> Session<'a> {
    /// A run of the suite with this name, which sends with this number of threads. Waits for a
    /// server that is starting (`--wait`).
    ///
    /// # Errors
    /// When no server accepts connections in time.
    pub(crate) fn new(common: &'a Common, suite: &str, threads: u32) -> Result<Self> {
        let data = common.serve.as_ref().map(|_| std::env::temp_dir());
        let (data, machine) = (data.as_deref(), common.machine.as_deref());
        let environment = Environment::new(data, machine, common.seed, threads);
        let title = common.title.clone();
        if let Some(seconds) = common.wait {
            wait::for_server(&common.url, seconds)?;
        }
        Ok(Self {
            common,
            file: ResultFile {
                format: FORMAT,
                suite: suite.to_owned(),
                title: title.unwrap_or_else(|| format!("varve-bench {suite}")),
                environment,
                ..ResultFile::default()
            },
            progress: Progress::new(common.quiet),
            served: None,
            failed: Vec::new(),
        })
    }

    /// Starts a server of the run's own, if one is wanted; one that runs is ended before.
    ///
    /// # Errors
    /// When it does not start.
    pub(crate) fn serve(&mut self, durability: &str, settings: &[String]) -> Result<()> {
        self.end_server()?;
        if let Some(binary) = &self.common.serve {
            let durability = self.common.durability.as_deref().unwrap_or(durability);
            let settings: Vec<_> = settings
                .iter()
                .chain(&self.common.serve_set)
                .cloned()
                .collect();
            self.served = Some(Served::start(binary, durability, &settings)?);
        }
        Ok(())
    }

    pub(crate) fn url(&self) -> String {
        let own = self.served.as_ref().map(|it| &it.url);
        own.unwrap_or(&self.common.url).clone()
    }

    /// Process of the server, if the run knows it.
    pub(crate) fn pid(&self) -> Option<u32> {
        let own = self.served.as_ref().map(|it| it.pid);
        own.or(self.common.server_pid)
    }

    /// Prints a warning, and adds it to the results.
    pub(crate) fn warn(&mut self, warning: String) {
        progress::warn(&warning);
        self.file.environment.warnings.push(warning);
    }

    pub(crate) fn fail(&mut self, why: String) {
        self.failed.push(why);
    }

    /// Runs the steps in order, and prints the results. If a step fails, the results so far are
    /// printed all the same.
    ///
    /// # Errors
    /// When the run could not go on, or a file cannot be written. Failed thresholds and wrong
    /// answers set the exit code 3 instead.
    pub(crate) fn run<S: Suite>(mut self, suite: &mut S, plan: &[S::Step]) -> Result<ExitCode> {
        let ran = plan.iter().try_for_each(|step| {
            suite.step(step, &mut self)?;
            self.keep();
            Ok(())
        });
        let ran = ran.and_then(|()| self.end_server());
        suite.end(&mut self);
        let written = self.write();
        for failed in &self.failed {
            eprintln!("failed: {failed}");
        }
        ran.and(written)?;
        Ok(match self.failed.is_empty() {
            true => ExitCode::SUCCESS,
            false => ExitCode::from(EXIT_FAILED),
        })
    }

    /// Stops the server if the run started it, and verifies its store before the store is removed.
    fn end_server(&mut self) -> Result<()> {
        let Some(mut served) = self.served.take() else {
            return Ok(());
        };
        let verified = served.verify(self.common.verify_store)?;
        eprintln!("{}", verified.text);
        self.failed.extend(verified.failure.map(str::to_owned));
        if let Some(server) = self.file.servers.last_mut() {
            server.notes.push(verified.text);
        }
        Ok(())
    }

    /// Writes the results so far. Only warns if that fails, so that a full disk does not end hours
    /// of measuring; if results are still missing at the end, the run ends with an error.
    pub(crate) fn keep(&mut self) {
        if let Err(error) = self.save() {
            progress::warn(&format!("the results so far are not on disk: {error:#}"));
        }
    }

    fn save(&mut self) -> Result<()> {
        owned::stand_still_if_ending();
        self.file.environment.end();
        let path = self.common.json.as_ref();
        path.map_or(Ok(()), |path| self.file.write(path))
    }

    /// Writes all files; a failure to write one does not prevent the others.
    fn write(&mut self) -> Result<()> {
        let saved = self.save();
        let report = report::of(std::slice::from_ref(&self.file))?;
        print!("{}", report.markdown());
        let markdown = self.common.markdown.as_ref();
        let markdown = markdown.map_or(Ok(()), |path| put(path, &report.markdown()));
        let page = self.common.report.as_ref();
        let page = page.map_or(Ok(()), |path| put(path, &report.html()));
        saved.and(markdown).and(page)
    }
}
