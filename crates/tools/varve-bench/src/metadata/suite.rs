//! The suite at one volume: a number of instances of each type, and a page size. It runs the
//! profiles in order, each over the types of its category, and holds the state that test cases
//! share.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use varve_omrs::json::{Encode, Millis};

use super::answer::{Answer, COLLECTION, Form, Guids};
use super::arguments::{MetadataArguments, Volume};
use super::client::{Client, Failure, FailureKind, Timed, escaped};
use super::plan::{Plan, PlannedType};
use super::profile::{Profile, Row};
use super::profiles::{Pass, Stage, Types};
use super::recorder::Recorder;
use super::values::{Values, now, uuid};
use crate::process;
use crate::progress::Progress;
use crate::random::Random;
use crate::result::{ProfileRun, VolumeRun};

/// The state that the test cases share.
#[derive(Debug)]
pub(crate) struct Suite {
    pub(crate) client: Client,
    pub(crate) recorder: Recorder,
    pub(crate) volume: Volume,
    pub(crate) user: String,
    /// The server's process, if known.
    pid: Option<u32>,
    /// The id of the repository's metadata collection.
    pub(crate) home: String,
    /// The invented id of the metadata collection that is the home of reference copies.
    pub(crate) copies: String,
    pub(crate) values: Values,
    guids: Random,
    /// The instant as of which history is read; it is before all updates.
    pub(crate) as_of: Option<Millis>,
    /// Whether instances are created for some types only.
    pub(crate) few_types: bool,
    case: (Profile, Arc<PlannedType>),
    /// The number of instances created.
    pub(crate) created: u64,
    /// GUIDs that a pass over the types leaves for the next pass, by type.
    pub(crate) keys: Keys,
}

/// GUIDs by the name of the type for which they were found.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    pub(crate) own: HashMap<String, Guids>,
    pub(crate) copies: HashMap<String, Guids>,
    /// The GUIDs of purged instances. Searches by a type and by its supertype find the same
    /// instances, but each is purged only once.
    pub(crate) purged: HashSet<Box<str>>,
}

/// The results of a profile so far.
fn run_of(run: &mut VolumeRun, profile: Profile) -> &mut ProfileRun {
    let known = run.profiles.iter().position(|it| it.id == profile.id());
    let at = known.unwrap_or_else(|| {
        run.profiles.push(ProfileRun {
            id: profile.id(),
            name: profile.name().to_owned(),
            ..ProfileRun::default()
        });
        run.profiles.len() - 1
    });
    &mut run.profiles[at]
}

impl Suite {
    /// A suite for a repository, which must answer.
    ///
    /// # Errors
    /// When the repository does not send the id of its metadata collection.
    pub(crate) fn new(
        mut client: Client,
        recorder: Recorder,
        plan: &Plan,
        (arguments, volume): (&MetadataArguments, Volume),
        pid: Option<u32>,
    ) -> Result<Self> {
        let answer = client.call(&COLLECTION, "GET", "/metadata-collection-id", None);
        let home = match answer {
            Ok(timed) => timed.answer.collection,
            Err(failure) => bail!(
                "no OMRS repository answers: {} {} ({} {})",
                failure.exception,
                failure.message,
                failure.request,
                failure.answer
            ),
        };
        let Some(home) = home else {
            bail!("the repository's answer has no id of its metadata collection");
        };
        let Some(first) = plan.entities.first() else {
            bail!("the suite needs a type");
        };
        // GUIDs differ between runs with the same seed, since a repository may still have those of
        // the last run.
        let seed = arguments.common.seed;
        let mut guids = Random::new(seed ^ (now().0 as u64).rotate_left(20));
        Ok(Self {
            client,
            recorder,
            copies: uuid(&mut guids),
            guids,
            values: Values::new(seed, volume.instances),
            volume,
            user: arguments.user.clone(),
            pid,
            home,
            as_of: None,
            few_types: arguments.types.is_some(),
            case: (Profile::Environment, Arc::clone(first)),
            created: 0,
            keys: Keys::default(),
        })
    }

    /// Sets the instant as of which history is read to the current time. Then waits until the clock
    /// is past this instant, so that all later writes come after it.
    fn mark_time(&mut self) {
        let time = now();
        while now() <= time {
            std::thread::yield_now();
        }
        self.as_of = Some(time);
    }

    /// Runs these passes of a stage, and adds their results to `run`.
    ///
    /// # Errors
    /// When the repository does not answer any more; the results so far are in `run`.
    pub(crate) fn stage(
        &mut self,
        (stage, passes): (&Stage, &[&Pass]),
        plan: &Plan,
        progress: Progress,
        run: &mut VolumeRun,
    ) -> Result<()> {
        if passes[0].profile >= Profile::EntityUpdate && self.as_of.is_none() {
            self.mark_time();
        }
        if stage.begins {
            self.keys = Keys::default();
        }
        let types = match stage.over {
            Types::Entities => &plan.entities,
            Types::Relationships => &plan.relationships,
            Types::Classifications => &plan.classifications,
        };
        let before = self.used();
        let mut cases = types
            .iter()
            .flat_map(|of| passes.iter().map(move |pass| (pass, of)));
        let outcome = cases.try_for_each(|(pass, of)| self.case(pass, of, run));
        let profile = passes[0].profile;
        self.charge(before, run_of(run, profile));
        run.instances_created = self.created;
        progress.say(&format!(
            "{} {:2} {}: {} calls so far, {} failed test cases",
            self.volume,
            profile.id(),
            profile.name(),
            self.recorder.calls(),
            self.recorder.failures(),
        ));
        outcome
    }

    /// The CPU time that the server, if its process is known, and this tool have used.
    fn used(&self) -> (Option<Duration>, Duration) {
        (
            self.pid.and_then(process::cpu_time),
            process::own_cpu_time(),
        )
    }

    /// Adds to `run` the CPU time that was used since `before`, and sets its memory.
    fn charge(&self, before: (Option<Duration>, Duration), run: &mut ProfileRun) {
        let now = self.used();
        run.tool_cpu_s += now.1.saturating_sub(before.1).as_secs_f64();
        if let (Some(before), Some(now)) = (before.0, now.0) {
            let seconds = now.saturating_sub(before).as_secs_f64();
            *run.server_cpu_s.get_or_insert_default() += seconds;
        }
        run.server_resident_bytes = self.pid.and_then(process::resident);
    }

    /// Runs a test case. Failures are recorded.
    ///
    /// # Errors
    /// When the repository does not answer any more.
    fn case(&mut self, pass: &Pass, of: &Arc<PlannedType>, run: &mut VolumeRun) -> Result<()> {
        self.case = (pass.profile, Arc::clone(of));
        let start = Instant::now();
        let result = (pass.case)(self, of);
        let run = run_of(run, pass.profile);
        run.seconds += start.elapsed().as_secs_f64();
        run.cases += 1;
        match result {
            // If the repository does not support the search for a test case's instances, the case
            // has none and succeeds.
            Err(failure) if failure.kind != FailureKind::NotSupported => {
                run.failed += 1;
                self.recorder.failed(pass.profile, &of.name, &failure);
                if failure.kind == FailureKind::Gone {
                    bail!("the repository is gone: {}", failure.message);
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The number of instances of each type.
    pub(crate) fn instances(&self) -> u64 {
        u64::from(self.volume.instances)
    }

    pub(crate) fn guid(&mut self) -> String {
        uuid(&mut self.guids)
    }

    /// Makes the calls of `row`. If the repository does not support them, this is recorded and is
    /// no failure.
    ///
    /// # Errors
    /// When a call fails for another reason.
    pub(crate) fn step(
        &mut self,
        row: Row,
        calls: impl FnOnce(&mut Self, Row) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        match calls(self, row) {
            Err(failure) if failure.kind == FailureKind::NotSupported => {
                self.recorder.not_supported(row);
                Ok(())
            }
            outcome => outcome,
        }
    }

    /// Timed calls, one for each instance, whose answers must not be empty: `POST` with this body,
    /// or `GET`.
    ///
    /// # Errors
    /// When a call fails or its answer is empty.
    pub(crate) fn each(
        &mut self,
        (row, form): (Row, &Form),
        guids: &Guids,
        body: Option<&dyn Encode>,
        path: impl Fn(&str) -> String,
    ) -> Result<(), Failure> {
        let method = if body.is_some() { "POST" } else { "GET" };
        guids
            .iter()
            .try_for_each(|guid| self.given((row, form), method, &path(&escaped(guid)), body))
    }

    /// A timed `POST` whose answer must not be empty.
    ///
    /// # Errors
    /// When it fails or its answer is empty.
    pub(crate) fn change(
        &mut self,
        of: (Row, &Form),
        path: &str,
        body: &dyn Encode,
    ) -> Result<(), Failure> {
        self.given(of, "POST", path, Some(body))
    }

    /// A timed call whose answer must not be empty.
    ///
    /// # Errors
    /// When it fails or its answer is empty.
    pub(crate) fn given(
        &mut self,
        (row, form): (Row, &Form),
        method: &str,
        path: &str,
        body: Option<&dyn Encode>,
    ) -> Result<(), Failure> {
        let timed = self.client.call(form, method, path, body)?;
        if timed.answer.is_empty {
            let mut failure = Failure::empty("the answer has no instance");
            failure.request = path.to_owned();
            return Err(failure);
        }
        self.add(row, &timed);
        Ok(())
    }

    /// A search for at most `page` instances, timed if it finds any.
    ///
    /// # Errors
    /// When it fails, or finds more.
    pub(crate) fn search(
        &mut self,
        of: (Row, &Form),
        path: &str,
        body: &dyn Encode,
        page: u64,
    ) -> Result<Answer, Failure> {
        self.find(of, path, body, page, false)
    }

    /// A search for at most `page` instances, timed if it finds any or if `always` is set.
    ///
    /// # Errors
    /// When it fails, or finds more.
    pub(crate) fn find(
        &mut self,
        (row, form): (Row, &Form),
        path: &str,
        body: &dyn Encode,
        page: u64,
        always: bool,
    ) -> Result<Answer, Failure> {
        let timed = self.client.call(form, "POST", path, Some(body))?;
        let found = timed.answer.instances;
        if found > page {
            let problem = format!("{found} instances for a requested page of {page}");
            let mut failure = Failure::new(FailureKind::Failed, "page too long", &problem);
            failure.request = path.to_owned();
            return Err(failure);
        }
        if always || !timed.answer.is_empty {
            self.add(row, &timed);
        }
        Ok(timed.answer)
    }

    fn add(&mut self, row: Row, timed: &Timed) {
        let (profile, of) = &self.case;
        self.recorder.add(row, (*profile, &of.name), timed);
    }
}
