//! A run of the suite in parts: the completed profiles are in the result file, and the next part
//! continues after them.
//!
//! A part ends with a profile, so that the calls and rows are those of an uninterrupted run. A part
//! that is interrupted within a profile leaves a repository with some of the profile's changes.
//! That profile is repeated from its beginning, and the file records this. The longest profiles,
//! which only read, are saved at intervals and continue there.

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
    /// The state of the run when the part began.
    run: VolumeRun,
    /// The index of the run in the file; a new run is added when it begins.
    at: Option<usize>,
    pub(crate) carried: Carried,
    began: Instant,
}

impl Part {
    /// Checks that a first part, or the next part of the run in `file`, can begin.
    ///
    /// # Errors
    /// When the run in the file cannot be continued with these arguments, or the folder has the
    /// evidence of another run.
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
            Some(_) if has_calls => {
                bail!("the completed part of {name} has no evidence: continue without --evidence")
            }
            Some(folder) => Evidence::check_new(&folder.join(name))?,
        }
        Ok(())
    }

    /// The index of the volume's run in the file and its carried state; `None` for a new run.
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
            carried.with_context(|| format!("no profile of {name} is complete: start anew"))?;
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

    /// The first part, or the next part of the run in `file`.
    ///
    /// # Errors
    /// When the run in the file cannot be continued with these arguments.
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
                Some(begun) => format!("it continues after {} types", begun.types),
                None => "it starts from the beginning".to_owned(),
            };
            progress::warn(&format!("\"{name}\" may have run in part before; {from}"));
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

    /// Whether this part continues an earlier one.
    pub(crate) fn goes_on(&self) -> bool {
        !self.run.continued.is_empty()
    }

    /// The completed profiles.
    pub(crate) fn over(&self) -> Runs {
        let profiles = self.run.profiles.iter();
        let known = profiles.filter_map(|run| {
            let profile = Profile::named(&run.id.to_string())?;
            Some((profile, run.clone()))
        });
        known.collect()
    }

    /// The first selected profile that is not complete.
    ///
    /// # Errors
    /// When a different profile is incomplete: changes in between would distort its measurements.
    pub(crate) fn first_left(&self, selection: &Selection) -> Result<Option<Profile>> {
        let over = self.over();
        let profiles = STAGES.iter().flat_map(|stage| stage.passes);
        let mut profiles = profiles.map(|pass| pass.profile);
        let first = profiles.find(|it| selection.runs(*it) && !over.contains_key(it));
        if let Some(Begun { run, .. }) = &self.carried.begun {
            ensure!(
                first.is_none_or(|first| first.id() == run.id),
                "the run ended within \"{}\": the next part must begin with it (--profiles)",
                run.name
            );
        }
        Ok(first)
    }

    /// The recorder, with the measurements of earlier parts.
    ///
    /// # Errors
    /// When the evidence cannot be created, or earlier evidence is missing.
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

    /// Prepares the suite and the file for a part that begins with the profile `first`.
    ///
    /// # Errors
    /// When the repository is not that of the earlier parts.
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
            // Old files store the id of the metadata collection only once, for the last volume.
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

    /// This run in the file; `None` before it has begun.
    fn in_file<'a>(&self, file: &'a mut MetadataFile) -> Option<&'a mut VolumeRun> {
        file.runs.get_mut(self.at?)
    }

    /// Writes the measurements so far into the file.
    ///
    /// # Errors
    /// When the evidence cannot be written; the file has all other results.
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

    /// Writes the final state into the file. If some profiles are complete, the results and the
    /// evidence of an interrupted one are removed, so that the run can continue and the evidence
    /// can be read.
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

/// Whether all profiles ran, none was repeated on changed data, and the numbers of calls are right.
fn is_complete(run: &VolumeRun, carried: &Carried) -> bool {
    let is_over = |profile: Profile| run.profiles.iter().any(|it| it.id == profile.id());
    let stages = STAGES.iter().flat_map(|stage| stage.passes);
    let mut profiles = stages.map(|pass| pass.profile);
    let is_all = carried.types.is_none() && run.left_out.is_empty();
    let is_right = !run.rows.iter().any(RowResult::has_wrong_calls);
    is_all && profiles.all(is_over) && ran_once(&run.continued) && is_right
}

/// Whether no profile was repeated on its own changes. A profile that only reads has none.
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
