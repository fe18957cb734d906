//! The suite at one volume: the profiles in order, each over the types of its category, and what their test cases share.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Result, bail};
use varve_omrs::json::{Encode, Millis};

use super::answer::{Answer, CollectionAnswer, Guids};
use super::arguments::{Selection, Volume};
use super::client::{Client, Failure, FailureKind, Timed};
use super::plan::{Plan, PlannedType};
use super::profile::{Profile, Row};
use super::profiles::{STAGES, Stage, Types};
use super::progress::Watch;
use super::recorder::{Call, Recorder};
use super::result::ProfileRun;
use super::values::{Values, now, uuid};
use crate::api::choice::Random;
use crate::api::process;

/// What the test cases share.
#[derive(Debug)]
pub(crate) struct Suite {
    pub(crate) client: Client,
    pub(crate) recorder: Recorder,
    pub(crate) volume: Volume,
    /// Who acts.
    pub(crate) user: String,
    /// The metadata collection of the repository.
    pub(crate) home: String,
    /// The metadata collection that reference copies pretend to come from.
    pub(crate) copies: String,
    pub(crate) values: Values,
    guids: Random,
    /// The time before anything is updated.
    pub(crate) as_of: Option<Millis>,
    /// Count set-up searches in the rows of the searches.
    booking: bool,
    selection: Selection,
    /// The profile and the type at work.
    case: (Profile, Arc<PlannedType>),
    /// Instances created.
    pub(crate) created: u64,
    /// GUIDs that a pass over the types leaves for the next one, by type.
    pub(crate) keys: Keys,
}

/// GUIDs by the name of the type they were found for.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    pub(crate) own: HashMap<String, Guids>,
    pub(crate) copies: HashMap<String, Guids>,
    /// What is purged already: a type and its supertypes find the same instances.
    pub(crate) purged: HashSet<Box<str>>,
}

/// The profiles that ran, so far.
pub(crate) type Runs = BTreeMap<Profile, ProfileRun>;

/// What a suite is run with.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) volume: Volume,
    pub(crate) user: String,
    pub(crate) seed: u64,
    pub(crate) booking: bool,
    pub(crate) selection: Selection,
}

impl Suite {
    /// A suite against a repository that answers.
    ///
    /// # Errors
    /// When it does not tell the id of its metadata collection.
    pub(crate) fn new(
        mut client: Client,
        recorder: Recorder,
        plan: &Plan,
        settings: Settings,
    ) -> Result<Self> {
        let answer = client.get::<CollectionAnswer>("/metadata-collection-id");
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
            bail!("the repository does not tell the id of its metadata collection");
        };
        let Some(first) = plan.entities.first() else {
            bail!("the suite needs a type");
        };
        // GUIDs differ between runs whatever the seed, since a repository may still hold those of the last one.
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
            booking: settings.booking,
            selection: settings.selection,
            case: (Profile::Environment, Arc::clone(first)),
            created: 0,
            keys: Keys::default(),
        })
    }

    /// Runs the profiles. What is over when the repository goes away is in the result; the error comes with it.
    /// `after_stage` is called with what is there whenever a stage is over.
    pub(crate) fn run(
        &mut self,
        plan: &Plan,
        watch: &mut Watch,
        mut after_stage: impl FnMut(&mut Self, &Runs),
    ) -> (Runs, Result<()>) {
        let mut runs = Runs::new();
        let mut outcome = Ok(());
        for stage in STAGES {
            if stage.passes[0].profile == Profile::EntityUpdate {
                self.mark_time();
            }
            if stage.begins {
                self.keys = Keys::default();
            }
            outcome = self.stage(stage, plan, watch, &mut runs);
            if outcome.is_err() {
                break;
            }
            after_stage(self, &runs);
        }
        (runs, outcome)
    }

    /// Takes the time that history is asked for, and waits until it is past: what is written from here on is later.
    fn mark_time(&mut self) {
        let time = now();
        while now() <= time {
            std::thread::yield_now();
        }
        self.as_of = Some(time);
    }

    fn stage(
        &mut self,
        stage: &Stage,
        plan: &Plan,
        watch: &mut Watch,
        runs: &mut Runs,
    ) -> Result<()> {
        let types = match stage.over {
            Types::Entities => &plan.entities,
            Types::Relationships => &plan.relationships,
            Types::Classifications => &plan.classifications,
        };
        let wanted = |pass: &&super::profiles::Pass| self.selection.runs(pass.profile);
        let passes: Vec<_> = stage.passes.iter().filter(wanted).collect();
        if passes.is_empty() {
            return Ok(());
        }
        let (cpu, own_cpu) = (watch.server_cpu(), process::own_cpu_time());
        watch.stage_begins(&passes.iter().map(|it| it.profile).collect::<Vec<_>>());
        for (at, of) in types.iter().enumerate() {
            for pass in &passes {
                self.case = (pass.profile, Arc::clone(of));
                let start = Instant::now();
                let result = (pass.case)(self, of);
                let run = runs.entry(pass.profile).or_default();
                run.seconds += start.elapsed().as_secs_f64();
                run.cases += 1;
                match result {
                    Ok(()) => {}
                    // A search for instances that the repository does not do leaves the test case without any.
                    Err(failure) if failure.kind == FailureKind::NotSupported => {}
                    Err(failure) => {
                        run.failed += 1;
                        self.recorder.failed(pass.profile, &of.name, &failure);
                        if failure.kind == FailureKind::Gone {
                            bail!("the repository is gone: {}", failure.message);
                        }
                    }
                }
            }
            watch.progress(self, at + 1, types.len());
        }
        for pass in &passes {
            let run = runs.entry(pass.profile).or_default();
            (run.id, run.name) = (pass.profile.id(), pass.profile.name().to_owned());
            run.server_resident_bytes = watch.server_resident();
            run.tool_resident_bytes = process::resident(std::process::id());
        }
        let own_cpu = process::own_cpu_time().saturating_sub(own_cpu);
        runs.entry(passes[0].profile).or_default().tool_cpu_s += own_cpu.as_secs_f64();
        if let (Some(before), Some(after)) = (cpu, watch.server_cpu()) {
            let run = runs.entry(passes[0].profile).or_default();
            *run.server_cpu_s.get_or_insert_default() += after - before;
        }
        watch.stage_over(self, runs);
        Ok(())
    }

    /// Instances of each type.
    pub(crate) fn instances(&self) -> u64 {
        u64::from(self.volume.instances)
    }

    /// A new GUID.
    pub(crate) fn guid(&mut self) -> String {
        uuid(&mut self.guids)
    }

    /// Does what `row` times, unless it is left out. That the repository does not do it is noted, and no failure.
    ///
    /// # Errors
    /// When a call fails in another way.
    pub(crate) fn step(
        &mut self,
        row: Row,
        calls: impl FnOnce(&mut Self, Row) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        if self.selection.leaves_out(row.method) {
            return Ok(());
        }
        match calls(self, row) {
            Err(failure) if failure.kind == FailureKind::NotSupported => {
                self.recorder.not_supported(row);
                Ok(())
            }
            outcome => outcome,
        }
    }

    /// A call that must give what it is for.
    ///
    /// # Errors
    /// When it fails or gives nothing.
    pub(crate) fn change<A: Answer>(
        &mut self,
        row: Row,
        path: &str,
        body: &dyn Encode,
    ) -> Result<A, Failure> {
        let timed = self.client.post::<A>(path, body)?;
        self.given(row, timed, path)
    }

    /// The same with `GET`.
    ///
    /// # Errors
    /// When it fails or gives nothing.
    pub(crate) fn get<A: Answer>(&mut self, row: Row, path: &str) -> Result<A, Failure> {
        let timed = self.client.get::<A>(path)?;
        self.given(row, timed, path)
    }

    /// The same with `POST` without a body.
    ///
    /// # Errors
    /// When it fails or gives nothing.
    pub(crate) fn post_nothing<A: Answer>(&mut self, row: Row, path: &str) -> Result<A, Failure> {
        let timed = self.client.post_nothing::<A>(path)?;
        self.given(row, timed, path)
    }

    fn given<A: Answer>(&mut self, row: Row, timed: Timed<A>, path: &str) -> Result<A, Failure> {
        if timed.answer.is_empty() {
            let mut failure = Failure::empty("the answer has no instance");
            failure.request = path.to_owned();
            return Err(failure);
        }
        self.add(row, &timed);
        Ok(timed.answer)
    }

    /// A call that is timed whatever it gives.
    ///
    /// # Errors
    /// When it fails.
    pub(crate) fn ask<A: Answer>(
        &mut self,
        row: Row,
        path: &str,
        body: &dyn Encode,
    ) -> Result<A, Failure> {
        let timed = self.client.post::<A>(path, body)?;
        self.add(row, &timed);
        Ok(timed.answer)
    }

    /// A search, timed when it finds something.
    ///
    /// # Errors
    /// When it fails.
    pub(crate) fn search<A: Answer>(
        &mut self,
        row: Row,
        path: &str,
        body: &dyn Encode,
    ) -> Result<A, Failure> {
        let timed = self.client.post::<A>(path, body)?;
        if !timed.answer.is_empty() {
            self.add(row, &timed);
        }
        Ok(timed.answer)
    }

    /// A search for the instances of a test case: counted in the row of such searches, unless that is turned off.
    ///
    /// # Errors
    /// When it fails.
    pub(crate) fn set_up<A: Answer>(
        &mut self,
        row: Row,
        path: &str,
        body: &dyn Encode,
    ) -> Result<A, Failure> {
        match self.booking {
            true => self.search(row, path, body),
            false => Ok(self.client.post::<A>(path, body)?.answer),
        }
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
