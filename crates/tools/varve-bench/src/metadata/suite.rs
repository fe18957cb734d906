//! The suite at one volume: a number of instances of each type, and a page size. It runs the
//! profiles in order, each over the types of its category, and holds the state that test cases
//! share.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use varve_omrs::json::{Encode, Millis};

use super::answer::{Answer, CollectionAnswer, Guids};
use super::arguments::{Selection, Volume};
use super::client::{Client, Failure, FailureKind, Timed};
use super::plan::{Plan, PlannedType};
use super::profile::{Profile, Row};
use super::profiles::{Pass, STAGES, Stage, Types};
use super::recorder::{Call, Recorder};
use super::result::{Begun, Carried, ProfileRun};
use super::values::{Values, now, uuid};
use super::watch::{Used, Watch};
use crate::process;
use crate::random::Random;

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
    /// Whether searches that only find the instances for a test case are recorded, too.
    booking: bool,
    selection: Selection,
    /// Whether instances are created for some types only.
    pub(crate) few_types: bool,
    /// The current profile and type.
    case: (Profile, Arc<PlannedType>),
    /// The number of instances created.
    pub(crate) created: u64,
    /// The completed part of a profile that was interrupted.
    begun: Option<Begun>,
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

/// The profiles that have run so far.
pub(crate) type Runs = BTreeMap<Profile, ProfileRun>;

/// The results of a profile so far.
fn run_of(runs: &mut Runs, profile: Profile) -> &mut ProfileRun {
    runs.entry(profile).or_insert_with(|| ProfileRun {
        id: profile.id(),
        name: profile.name().to_owned(),
        ..ProfileRun::default()
    })
}

/// Saves the results so far. The arguments are the suite, the completed profiles, and the profile
/// that runs next, if any.
type Keep<'a> = dyn FnMut(&mut Suite, &Runs, Option<Profile>) + 'a;

/// When results are saved, and how long the suite may run.
pub(crate) struct Keeping<'a> {
    /// Called whenever a profile is complete, and at intervals within a long one.
    keep: &'a mut Keep<'a>,
    /// After this instant no profile begins, and a long read-only one is interrupted.
    until: Option<Instant>,
    /// The interval at which results are saved within a long profile.
    every: Duration,
    last: Instant,
}

impl<'a> Keeping<'a> {
    pub(crate) fn new(every: Duration, until: Option<Instant>, keep: &'a mut Keep<'a>) -> Self {
        Self {
            keep,
            until,
            every,
            last: Instant::now(),
        }
    }

    fn is_past(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    fn is_due(&self) -> bool {
        self.last.elapsed() >= self.every || self.is_past()
    }

    fn keep(&mut self, suite: &mut Suite, runs: &Runs, next: Option<Profile>) {
        (self.keep)(suite, runs, next);
        self.last = Instant::now();
    }
}

/// The parameters of a suite.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) volume: Volume,
    pub(crate) user: String,
    pub(crate) seed: u64,
    pub(crate) booking: bool,
    pub(crate) selection: Selection,
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
            booking: settings.booking,
            selection: settings.selection,
            few_types: settings.few_types,
            case: (Profile::Environment, Arc::clone(first)),
            created: 0,
            begun: None,
            keys: Keys::default(),
        })
    }

    /// Takes over the state of the previous part of the run.
    ///
    /// # Errors
    /// When the repository is not the one with which the run began.
    pub(crate) fn take_over(&mut self, carried: &Carried, home: &str, created: u64) -> Result<()> {
        ensure!(
            self.home == home,
            "the run began with the repository of the metadata collection {home}, not {}",
            self.home
        );
        self.copies.clone_from(&carried.copies);
        self.as_of = carried.as_of_ms.map(Millis);
        self.values = Values::new(carried.values, self.volume.instances);
        self.created = created;
        self.begun.clone_from(&carried.begun);
        Ok(())
    }

    /// The methods that are left out.
    pub(crate) fn left_out(&self) -> BTreeSet<String> {
        self.selection.left_out()
    }

    /// Stores the state for the next part of the run.
    pub(crate) fn handed_on(&self, carried: &mut Carried) {
        carried.copies.clone_from(&self.copies);
        carried.as_of_ms = self.as_of.map(|time| time.0);
        carried.values = self.values.state();
        carried.begun.clone_from(&self.begun);
    }

    /// Runs the profiles that are not in `runs`, and the rest of an interrupted one. If the
    /// repository stops answering, the error is returned together with the results so far.
    pub(crate) fn run(
        &mut self,
        plan: &Plan,
        watch: &mut Watch,
        mut runs: Runs,
        keeping: &mut Keeping<'_>,
    ) -> (Runs, Result<()>) {
        let over: Vec<Profile> = runs.keys().copied().collect();
        over.iter().for_each(|profile| watch.is_over(*profile));
        let is_left = |profile| self.selection.runs(profile) && !over.contains(&profile);
        let passes = |stage: &Stage| -> Vec<&'static Pass> {
            let passes = stage.passes.iter();
            passes.filter(|pass| is_left(pass.profile)).collect()
        };
        let stages = STAGES.iter().map(|stage| (stage, passes(stage)));
        let stages: Vec<_> = stages.filter(|(_, passes)| !passes.is_empty()).collect();
        let mut stages = stages.into_iter().peekable();
        while let Some((stage, passes)) = stages.next() {
            if passes[0].profile >= Profile::EntityUpdate && self.as_of.is_none() {
                self.mark_time();
            }
            if stage.begins {
                self.keys = Keys::default();
            }
            match self.stage((stage, &passes), plan, watch, &mut runs, keeping) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => return (runs, Err(error)),
            }
            let next = stages.peek();
            if next.is_some_and(|(next, _)| !next.begins) {
                continue;
            }
            let next = next.filter(|_| !keeping.is_past());
            let next = next.map(|(_, passes)| passes[0].profile);
            keeping.keep(self, &runs, next);
            if next.is_none() {
                break;
            }
        }
        (runs, Ok(()))
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

    /// Runs a stage. Returns whether it is complete: the time may run out within a long read-only
    /// profile.
    fn stage(
        &mut self,
        (stage, passes): (&Stage, &[&Pass]),
        plan: &Plan,
        watch: &mut Watch,
        runs: &mut Runs,
        keeping: &mut Keeping<'_>,
    ) -> Result<bool> {
        let types = match stage.over {
            Types::Entities => &plan.entities,
            Types::Relationships => &plan.relationships,
            Types::Classifications => &plan.classifications,
        };
        let first = passes[0].profile;
        let begun = self.begun.take_if(|begun| begun.run.id == first.id());
        let over = begun.as_ref().map_or(0, |begun| begun.types);
        runs.extend(begun.map(|begun| (first, begun.run)));
        let mut used = Used::until_now(watch);
        watch.stage_begins(
            &passes.iter().map(|it| it.profile).collect::<Vec<_>>(),
            over,
        );
        for (at, of) in types.iter().enumerate().skip(over) {
            let mut went_well = true;
            for pass in passes {
                went_well &= self.case(pass, of, runs)?;
            }
            let done = at + 1;
            watch.progress(self, done, types.len());
            // After a failed case nothing is saved, since the repository may be about to stop
            // answering.
            let can_be_kept = first.goes_on_within() && went_well && done < types.len();
            if can_be_kept && keeping.is_due() {
                used.charge(watch, run_of(runs, first));
                if !self.keep_begun(first, done, runs, keeping) {
                    return Ok(false);
                }
            }
        }
        for pass in passes {
            let run = run_of(runs, pass.profile);
            run.server_resident_bytes = watch.server_resident();
            run.tool_resident_bytes = process::resident(std::process::id());
        }
        used.charge(watch, run_of(runs, first));
        watch.stage_over(self, runs);
        Ok(true)
    }

    /// Runs a test case. Returns whether it succeeded; failures are recorded.
    ///
    /// # Errors
    /// When the repository does not answer any more.
    fn case(&mut self, pass: &Pass, of: &Arc<PlannedType>, runs: &mut Runs) -> Result<bool> {
        self.case = (pass.profile, Arc::clone(of));
        let run = run_of(runs, pass.profile);
        let start = Instant::now();
        let result = (pass.case)(self, of);
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
                Ok(false)
            }
            _ => Ok(true),
        }
    }

    /// Saves the completed part of an unfinished profile. Returns whether there is time to go on;
    /// if not, the part stays in `begun`.
    fn keep_begun(
        &mut self,
        profile: Profile,
        types: usize,
        runs: &mut Runs,
        keeping: &mut Keeping<'_>,
    ) -> bool {
        let run = runs.remove(&profile).unwrap_or_default();
        self.begun = Some(Begun {
            run: run.clone(),
            types,
        });
        let goes_on = !keeping.is_past();
        keeping.keep(self, runs, goes_on.then_some(profile));
        if goes_on {
            self.begun = None;
            runs.insert(profile, run);
        }
        goes_on
    }

    /// The number of instances of each type.
    pub(crate) fn instances(&self) -> u64 {
        u64::from(self.volume.instances)
    }

    /// A new GUID.
    pub(crate) fn guid(&mut self) -> String {
        uuid(&mut self.guids)
    }

    /// Makes the calls of `row`, unless the row is left out. If the repository does not support
    /// them, this is recorded and is no failure.
    ///
    /// # Errors
    /// When a call fails for another reason.
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

    /// A search for at most `page` instances that a test case needs. It is recorded as by
    /// [`Suite::search`], unless `--no-booking` is set.
    ///
    /// # Errors
    /// When it fails, or finds more.
    pub(crate) fn set_up<A: Answer>(
        &mut self,
        row: Row,
        path: &str,
        body: &dyn Encode,
        page: u64,
    ) -> Result<A, Failure> {
        match self.booking {
            true => self.search(row, path, body, page),
            false => Ok(self.page::<A>(path, body, page)?.answer),
        }
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
