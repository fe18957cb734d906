//! The suite of open metadata as a suite of the runner: begins each volume (size of a run) with its
//! repository, and runs its profiles in order.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use super::arguments::{MetadataArguments, Volume};
use super::client::Client;
use super::counts;
use super::evidence::Evidence;
use super::plan::Plan;
use super::profile::Profile;
use super::profiles::{Pass, STAGES, Stage};
use super::recorder::Recorder;
use super::suite::Suite as Running;
use crate::environment;
use crate::process;
use crate::progress;
use crate::result::{Row, Server, VolumeRun};
use crate::run::{Session, Suite};

/// Runs `varve-bench metadata`.
///
/// # Errors
/// When no repository answers, or a file cannot be written. Failures within the suite are reported
/// by the exit code 3 instead.
pub(crate) fn run(arguments: &MetadataArguments) -> Result<ExitCode> {
    let mut suite = Metadata {
        arguments,
        plan: Plan::new(arguments.types.map(|count| count as usize)),
        running: None,
    };
    if arguments.common.serve.is_none() && arguments.volume.len() > 1 {
        progress::warn(
            "each volume after the first meets what those before it leave in the repository",
        );
    }
    let mut session = Session::new(&arguments.common, "metadata", 1)?;
    // Nothing is written if the first repository does not answer.
    let steps = plan(arguments)?;
    let Some((first, others)) = steps.split_first() else {
        bail!("no profile is to run");
    };
    suite.step(first, &mut session)?;
    session.run(&mut suite, others)
}

enum Step {
    Volume(Volume),
    /// The passes of a stage that are selected.
    Stage(&'static Stage, Vec<&'static Pass>),
}

fn plan(arguments: &MetadataArguments) -> Result<Vec<Step>> {
    let mut steps = Vec::new();
    for volume in &arguments.volume {
        steps.push(Step::Volume(*volume));
        for stage in STAGES {
            let passes = stage.passes.iter();
            let passes: Vec<_> = passes.filter(|pass| arguments.runs(pass.profile)).collect();
            if !passes.is_empty() {
                steps.push(Step::Stage(stage, passes));
            }
        }
    }
    match steps.len() > arguments.volume.len() {
        true => Ok(steps),
        false => bail!("no profile is to run"),
    }
}

struct Metadata<'a> {
    arguments: &'a MetadataArguments,
    plan: Plan,
    running: Option<(Running, Instant)>,
}

impl Suite for Metadata<'_> {
    type Step = Step;

    fn step(&mut self, step: &Step, session: &mut Session<'_>) -> Result<()> {
        let (stage, passes) = match step {
            Step::Volume(volume) => return self.begin(*volume, session),
            Step::Stage(stage, passes) => (stage, passes),
        };
        let Some((suite, begun)) = &mut self.running else {
            return Ok(());
        };
        let Some(run) = session.file.volumes.last_mut() else {
            return Ok(());
        };
        let outcome = suite.stage((stage, passes), &self.plan, session.progress, run);
        run.seconds = begun.elapsed().as_secs_f64();
        run.failures = suite.recorder.failed_cases().to_vec();
        let server = session.file.servers.last();
        let server = server.map(|it| it.name.clone()).unwrap_or_default();
        let mut rows: Vec<Row> = suite.recorder.rows().collect();
        for row in &mut rows {
            row.server.clone_from(&server);
            row.volume.clone_from(&run.volume);
        }
        counts::judge(run, &mut rows);
        run.complete = outcome.is_ok() && is_complete(run, &rows);
        session.file.rows.retain(|row| row.volume != run.volume);
        session.file.rows.extend(rows);
        let evidence = suite.recorder.complete_evidence();
        outcome.and(evidence)
    }

    fn end(&mut self, session: &mut Session<'_>) {
        let wrong = session.file.rows.iter().filter(|row| row.has_wrong_calls());
        let wrong = wrong.map(|row| format!("{}: a wrong number of calls", row.key()));
        let failed = session.file.volumes.iter().filter(|run| run.failed() > 0);
        let failed = failed.map(|run| format!("{}: {} test cases", run.volume, run.failed()));
        let all: Vec<String> = wrong.chain(failed).collect();
        all.into_iter().for_each(|why| session.fail(why));
    }
}

impl Metadata<'_> {
    /// Begins a volume: starts its repository if the run has its own, and asks for its metadata
    /// collection.
    fn begin(&mut self, volume: Volume, session: &mut Session<'_>) -> Result<()> {
        let arguments = self.arguments;
        // Closes the connection of the volume before.
        self.running = None;
        let name = serde_json::Value::from(arguments.server_name.as_str());
        let settings = [
            "omrs.enabled=true".to_owned(),
            format!("omrs.server_names=[{name}]"),
        ];
        session.serve("sync", &settings)?;
        let (url, common) = (session.url(), &arguments.common);
        let client = Client::new(
            (&url, &common.trust),
            &arguments.server_name,
            &arguments.user,
        )?;
        let pid = session
            .pid()
            .or_else(|| process::listener(client.address()));
        let evidence = arguments.evidence.as_ref();
        let evidence = evidence.map(|folder| Evidence::new(&folder.join(volume.to_string())));
        let recorder = Recorder::new(evidence.transpose()?);
        let suite = Running::new(client, recorder, &self.plan, (arguments, volume), pid)
            .with_context(|| format!("{url}, server {}", arguments.server_name))?;
        let durability = common.durability.clone();
        let served = common.serve.as_ref().map(|_| "sync".to_owned());
        session.file.servers.push(Server {
            name: common.name.clone().unwrap_or_else(|| "varve".to_owned()),
            url,
            graph: arguments.server_name.clone(),
            durability: durability.or(served),
            pid,
            command_line: pid.and_then(process::command_line),
            ..Server::default()
        });
        session.file.volumes.push(VolumeRun {
            volume: volume.to_string(),
            instances_per_type: volume.instances,
            max_search_results: volume.page,
            few_types: arguments.types.is_some(),
            metadata_collection_id: suite.home.clone(),
            started: environment::now(),
            ..VolumeRun::default()
        });
        self.running = Some((suite, Instant::now()));
        Ok(())
    }
}

/// Whether all types, profiles and methods ran, and the numbers of calls are right.
fn is_complete(run: &VolumeRun, rows: &[Row]) -> bool {
    let is_over = |profile: &Profile| run.profiles.iter().any(|it| it.id == profile.id());
    let stages = STAGES.iter().flat_map(|stage| stage.passes);
    let mut profiles = stages.map(|pass| pass.profile);
    let is_all = !run.few_types && profiles.all(|it| is_over(&it));
    is_all && !rows.iter().any(Row::has_wrong_calls)
}
