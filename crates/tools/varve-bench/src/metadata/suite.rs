//! The suite at one volume: a number of instances of each type, and a page size. It runs the
//! profiles in order, each over the types of its category, and holds the state that test cases
//! share.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Result, bail};
use varve_omrs::json::{Encode, Millis};

use super::answer::{Answer, CollectionAnswer, Guids};
use super::arguments::Volume;
use super::client::{Client, Failure, FailureKind, Timed};
use super::plan::{Plan, PlannedType};
use super::profile::{Profile, Row};
use super::profiles::{Pass, Stage, Types};
use super::recorder::{Call, Recorder};
use super::values::{Values, now, uuid};
use super::watch::Watch;
use crate::random::Random;
use crate::result::{ProfileRun, VolumeRun};

/// The state that the test cases share.
#[derive(Debug)]
pub(crate) struct Suite {
    pub(crate) client: Client,
    pub(crate) recorder: Recorder,
    pub(crate) volume: Volume,
    /// The user of the requests.
    pub(crate) user: String,
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
    /// The current profile and type.
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

/// The parameters of a suite.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) volume: Volume,
    pub(crate) user: String,
    pub(crate) seed: u64,
    /// Whether instances are created for some types only.
    pub(crate) few_types: bool,
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
        settings: Settings,
    ) -> Result<Self> {
        let answer = client.call::<CollectionAnswer>("GET", "/metadata-collection-id", None);
        let home = match answer {
            Ok(timed) => timed.answer.id,
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
        let mut guids = Random::new(settings.seed ^ (now().0 as u64).rotate_left(20));
        Ok(Self {
            client,
            recorder,
            copies: uuid(&mut guids),
            guids,
            values: Values::new(settings.seed, settings.volume.instances),
            volume: settings.volume,
            user: settings.user,
            home,
            as_of: None,
            few_types: settings.few_types,
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
        watch: &mut Watch,
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
        let before = watch.used();
        let mut outcome = Ok(());
        for (at, of) in types.iter().enumerate() {
            outcome = passes.iter().try_for_each(|pass| self.case(pass, of, run));
            if outcome.is_err() {
                break;
            }
            watch.show(self, passes[0].profile, at + 1, types.len());
        }
        watch.charge(before, run_of(run, passes[0].profile));
        run.instances_created = self.created;
        outcome
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

    /// A new GUID.
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

    /// A timed `POST` whose answer must not be empty.
    ///
    /// # Errors
    /// When it fails or its answer is empty.
    pub(crate) fn change<A: Answer>(
        &mut self,
        row: Row,
        path: &str,
        body: &dyn Encode,
    ) -> Result<A, Failure> {
        self.given(row, "POST", path, Some(body))
    }

    /// As [`Suite::change`], with `GET`.
    ///
    /// # Errors
    /// When it fails or its answer is empty.
    pub(crate) fn get<A: Answer>(&mut self, row: Row, path: &str) -> Result<A, Failure> {
        self.given(row, "GET", path, None)
    }

    /// As [`Suite::change`], with no body.
    ///
    /// # Errors
    /// When it fails or its answer is empty.
    pub(crate) fn post_nothing<A: Answer>(&mut self, row: Row, path: &str) -> Result<A, Failure> {
        self.given(row, "POST", path, None)
    }

    fn given<A: Answer>(
        &mut self,
        row: Row,
        method: &str,
        path: &str,
        body: Option<&dyn Encode>,
    ) -> Result<A, Failure> {
        let timed = self.client.call::<A>(method, path, body)?;
        if timed.answer.is_empty() {
            let mut failure = Failure::empty("the answer has no instance");
            failure.request = path.to_owned();
            return Err(failure);
        }
        self.add(row, &timed);
        Ok(timed.answer)
    }

    /// A call that is timed even if its answer is empty. It requests at most `page` instances.
    ///
    /// # Errors
    /// When it fails, or its answer has more instances.
    pub(crate) fn ask<A: Answer>(
        &mut self,
        row: Row,
        path: &str,
        body: &dyn Encode,
        page: Option<u64>,
    ) -> Result<A, Failure> {
        let timed = self.page::<A>(path, body, page.unwrap_or(u64::MAX))?;
        self.add(row, &timed);
        Ok(timed.answer)
    }

    /// A search for at most `page` instances, timed if it finds any.
    ///
    /// # Errors
    /// When it fails, or finds more.
    pub(crate) fn search<A: Answer>(
        &mut self,
        row: Row,
        path: &str,
        body: &dyn Encode,
        page: u64,
    ) -> Result<A, Failure> {
        let timed = self.page::<A>(path, body, page)?;
        if !timed.answer.is_empty() {
            self.add(row, &timed);
        }
        Ok(timed.answer)
    }

    /// Sends a search and checks that its answer has at most `page` instances.
    fn page<A: Answer>(
        &mut self,
        path: &str,
        body: &dyn Encode,
        page: u64,
    ) -> Result<Timed<A>, Failure> {
        let timed = self.client.call::<A>("POST", path, Some(body))?;
        let found = timed.answer.instances();
        if found <= page {
            return Ok(timed);
        }
        let problem = format!("{found} instances for a requested page of {page}");
        let mut failure = Failure::new(FailureKind::Failed, "page too long", &problem);
        failure.request = path.to_owned();
        Err(failure)
    }

    fn add<A: Answer>(&mut self, row: Row, timed: &Timed<A>) {
        let call = Call {
            elapsed: timed.elapsed,
            instances: timed.answer.instances(),
            bytes: timed.bytes,
        };
        let (profile, of) = &self.case;
        self.recorder.add(row, (*profile, &of.name), call);
    }
}
