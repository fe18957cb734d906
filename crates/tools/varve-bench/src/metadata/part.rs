//! A run of the suite in parts: what is over is in the file of results, and the next part goes on
//! from there.
//!
//! A part ends where a profile does, so that the calls and the rows are those of a run in one
//! piece. One that is cut short within a profile leaves a repository that has a part of it; that
//! profile is done from its beginning again, and the file says so. The longest profiles, which only
//! read, are kept as far as they are over, and go on there.

use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};

use super::arguments::{MetadataArguments, Selection, Volume};
use super::counts;
use super::evidence::Evidence;
use super::profile::Profile;
use super::profiles::STAGES;
use super::recorder::Recorder;
use super::result::{Begun, Carried, Continuation, MetadataFile, RowResult, VolumeRun};
use super::suite::{Runs, Suite};
use crate::environment;
use crate::progress;

/// One part of the run of a volume.
pub(crate) struct Part {
    /// The run as it stood when the part began.
    run: VolumeRun,
    /// Where it is in the file; a new one is added when it begins.
    at: Option<usize>,
    pub(crate) carried: Carried,
    began: Instant,
}

impl Part {
    /// Checks that there can be a first part, or a next one of the run that is in `file`.
    ///
    /// # Errors
    /// When the run that is there cannot go on so, or the evidence of another one is in the way.
    pub(crate) fn check(
        arguments: &MetadataArguments,
        volume: Volume,
        file: &MetadataFile,
    ) -> Result<()> {
        let name = volume.to_string();
        let known = Self::known(arguments, volume, file)?;
        let (has_evidence, has_calls) = known.map_or((false, false), |(at, carried)| {
            let has_calls = file.runs[at].rows.iter().any(|row| row.calls > 0);
            (!carried.evidence.is_empty(), has_calls)
        });
        match &arguments.evidence {
            None => ensure!(
                !has_evidence,
                "the run of {name} began with --evidence: all its parts need it"
            ),
            Some(_) if has_evidence => {}
            Some(_) if has_calls => bail!(
                "the evidence of what is over of {name} was not written: go on without --evidence"
            ),
            Some(folder) => Evidence::check_new(&folder.join(name))?,
        }
        Ok(())
    }

    /// Where the run of the volume is in the file, if it is to go on, and what it hands on.
    fn known(
        arguments: &MetadataArguments,
        volume: Volume,
        file: &MetadataFile,
    ) -> Result<Option<(usize, Carried)>> {
        let name = volume.to_string();
        let known = file.runs.iter().position(|run| run.volume == name);
        let Some(at) = known.filter(|_| arguments.go_on) else {
            return Ok(None);
        };
        let run = &file.runs[at];
        let carried = run.carried.clone();
        let carried =
            carried.with_context(|| format!("no profile of {name} is over: begin anew"))?;
        let same = (carried.types, carried.seed, run.booking)
            == (
                arguments.types,
                arguments.common.seed,
                !arguments.no_booking,
            );
        ensure!(
            same,
            "the run began with --seed {}{}{}",
            carried.seed,
            carried
                .types
                .map_or(String::new(), |types| format!(" --types {types}")),
            if run.booking { "" } else { " --no-booking" },
        );
        Ok(Some((at, carried)))
    }

    /// The first part, or the next one of the run that is in `file`.
    ///
    /// # Errors
    /// When the file is of a run that cannot go on so.
    pub(crate) fn of(
        arguments: &MetadataArguments,
        volume: Volume,
        file: &MetadataFile,
    ) -> Result<Self> {
        let Some((at, carried)) = Self::known(arguments, volume, file)? else {
            return Ok(Self::first(arguments, volume));
        };
        let mut run = file.runs[at].clone();
        run.carried = None;
        let begun = carried
            .at_work
            .and_then(|id| Profile::named(&id.to_string()));
        if let Some(begun) = begun {
            let name = begun.name();
            let from = match &carried.begun {
                Some(begun) => format!("it goes on after {} types", begun.types),
                None => "it is done from its beginning".to_owned(),
            };
            progress::warn(&format!("\"{name}\" may have been begun before; {from}"));
        }
        run.continued.push(Continuation {
            started: environment::now(),
            url: arguments
                .common
                .serve
                .is_none()
                .then(|| arguments.common.url.clone()),
            again: begun.map(|profile| profile.name().to_owned()),
        });
        Ok(Self {
            run,
            at: Some(at),
            carried,
            began: Instant::now(),
        })
    }

    fn first(arguments: &MetadataArguments, volume: Volume) -> Self {
        Self {
            run: VolumeRun {
                volume: volume.to_string(),
                instances_per_type: volume.instances,
                max_search_results: volume.page,
                booking: !arguments.no_booking,
                started: environment::now(),
                ..VolumeRun::default()
            },
            at: None,
            carried: Carried {
                types: arguments.types,
                seed: arguments.common.seed,
                ..Carried::default()
            },
            began: Instant::now(),
        }
    }

    /// Whether there was a part before this one.
    pub(crate) fn goes_on(&self) -> bool {
        !self.run.continued.is_empty()
    }

    /// The profiles that are over.
    pub(crate) fn over(&self) -> Runs {
        let profiles = self.run.profiles.iter();
        let known = profiles.filter_map(|run| {
            let profile = Profile::named(&run.id.to_string())?;
            Some((profile, run.clone()))
        });
        known.collect()
    }

    /// The first profile that is wanted and not over.
    ///
    /// # Errors
    /// When another one is begun: it would be measured on what is changed in between.
    pub(crate) fn first_left(&self, selection: &Selection) -> Result<Option<Profile>> {
        let over = self.over();
        let profiles = STAGES.iter().flat_map(|stage| stage.passes);
        let mut profiles = profiles.map(|pass| pass.profile);
        let first = profiles.find(|it| selection.runs(*it) && !over.contains_key(it));
        if let Some(Begun { run, .. }) = &self.carried.begun {
            ensure!(
                first.is_none_or(|first| first.id() == run.id),
                "the run ended within \"{}\": the next part is to begin with that (--profiles)",
                run.name
            );
        }
        Ok(first)
    }

    /// The recorder, with what was measured before.
    ///
    /// # Errors
    /// When the evidence cannot be made, or is not there any more.
    pub(crate) fn recorder(&self, arguments: &MetadataArguments) -> Result<Recorder> {
        let folder = arguments.evidence.as_ref();
        let folder = folder.map(|folder| folder.join(&self.run.volume));
        let known = &self.carried.evidence;
        let evidence = folder.map(|folder| match known.is_empty() {
            true => Evidence::new(&folder),
            false => Evidence::again(&folder, known),
        });
        let evidence = evidence.transpose()?;
        let begun = self.carried.begun.iter().map(|begun| &begun.run);
        let failed = self.run.profiles.iter().chain(begun).map(|run| run.failed);
        let failed = failed.sum();
        let (rows, failures) = (&self.run.rows, self.run.failures.clone());
        Ok(Recorder::again(evidence, rows, failures, failed))
    }

    /// Prepares the suite and the file. The part begins with the profile `first`.
    ///
    /// # Errors
    /// When the repository is another one than before.
    pub(crate) fn begin(
        &mut self,
        suite: &mut Suite,
        file: &mut MetadataFile,
        first: Profile,
    ) -> Result<()> {
        self.carried.at_work = Some(first.id());
        self.run.left_out.extend(suite.left_out());
        let home = &mut file.repository.metadata_collection_id;
        if self.goes_on() {
            // Files of earlier builds tell it once, for the volume that ran last.
            let began = &mut self.run.metadata_collection_id;
            if began.is_empty() {
                began.clone_from(home);
            }
            suite.take_over(&self.carried, began, self.run.instances_created)?;
        }
        home.clone_from(&suite.home);
        self.run.metadata_collection_id.clone_from(&suite.home);
        let mut run = self.run.clone();
        run.carried = self.goes_on().then(|| self.carried.clone());
        match self.at {
            Some(at) => file.runs[at] = run,
            None => {
                self.at = Some(file.runs.len());
                file.runs.push(run);
            }
        }
        Ok(())
    }

    /// This run in the file, once it has begun.
    fn in_file<'a>(&self, file: &'a mut MetadataFile) -> Option<&'a mut VolumeRun> {
        file.runs.get_mut(self.at?)
    }

    /// Puts what is measured so far into the file.
    ///
    /// # Errors
    /// When the evidence cannot be written; the rest is in the file all the same.
    pub(crate) fn keep(
        &mut self,
        file: &mut MetadataFile,
        suite: &mut Suite,
        runs: &Runs,
    ) -> Result<()> {
        let evidence = suite.recorder.complete_evidence();
        self.carried.evidence = evidence.as_ref().cloned().unwrap_or_default();
        suite.handed_on(&mut self.carried);
        if let Some(run) = self.in_file(file) {
            run.seconds = self.run.seconds + self.began.elapsed().as_secs_f64();
            run.instances_created = suite.created;
            run.profiles = runs.values().cloned().collect();
            (run.rows, run.failures) = suite.recorder.results();
            counts::judge(run, &self.carried);
            run.complete = is_complete(run, &self.carried);
            run.carried = Some(self.carried.clone());
        }
        evidence.map(drop)
    }

    /// Puts the end into the file. What is there of a profile that was cut short is left out where
    /// others are over, also of the evidence: so the run can go on, and the evidence be read.
    ///
    /// # Errors
    /// When the evidence cannot be written.
    pub(crate) fn end(
        &mut self,
        file: &mut MetadataFile,
        suite: &mut Suite,
        runs: &Runs,
        is_whole: bool,
    ) -> Result<()> {
        let run = self.in_file(file);
        let can_go_on = run.is_some_and(|run| run.carried.is_some());
        if can_go_on && !is_whole {
            progress::warn("the results are those of the profiles that are over");
            return suite.recorder.cut_evidence_back();
        }
        let kept = self.keep(file, suite, runs);
        let kept = kept.map_err(|error| match suite.recorder.cut_evidence_back() {
            Ok(()) => error,
            Err(worse) => error.context(format!("{worse:#}")),
        });
        if let Some(run) = self.in_file(file).filter(|_| !is_whole) {
            run.carried = None;
        }
        kept
    }
}

/// Whether everything ran, nothing twice, with the calls that it must have.
fn is_complete(run: &VolumeRun, carried: &Carried) -> bool {
    let is_over = |profile: Profile| run.profiles.iter().any(|it| it.id == profile.id());
    let stages = STAGES.iter().flat_map(|stage| stage.passes);
    let mut profiles = stages.map(|pass| pass.profile);
    let is_all = carried.types.is_none() && run.left_out.is_empty();
    let is_right = !run.rows.iter().any(RowResult::has_wrong_calls);
    is_all && profiles.all(is_over) && ran_once(&run.continued) && is_right
}

/// Whether no profile was done a second time, on what it had left. One that only reads leaves
/// nothing.
fn ran_once(continued: &[Continuation]) -> bool {
    let again = continued.iter().filter_map(|it| it.again.as_deref());
    let mut profiles = again.map(Profile::named);
    profiles.all(|it| it.is_some_and(Profile::only_reads))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_did_a_profile_twice_is_not_complete() {
        let went_on = |again: Option<&str>| Continuation {
            again: again.map(str::to_owned),
            ..Continuation::default()
        };
        assert!(ran_once(&[]) && ran_once(&[went_on(None), went_on(None)]));
        let repeated = [went_on(Some("Entity update")), went_on(None)];
        assert!(!ran_once(&repeated), "also when it went on once more");
        let reading = [
            went_on(Some("Entity search")),
            went_on(Some("Graph queries")),
        ];
        assert!(ran_once(&reading));
    }
}
