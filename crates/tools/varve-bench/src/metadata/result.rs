//! The JSON file of `varve bench metadata`: what ran, and what came out.
//!
//! These types are the file, and `docs/bench.md` describes it. Times are microseconds where a name
//! ends in `_us`, milliseconds in `_ms`, seconds in `_s`; a median in milliseconds is that of whole
//! ones, cut off, as the published figures are. Readers accept absent fields.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};

use crate::environment::Environment;
use crate::result::{Buckets, Form};

/// Files of the suite. Earlier builds gave their form no number.
pub(crate) const FORM: Form = Form {
    suite: "egeria-performance",
    command: "varve bench metadata",
    oldest: 0,
    newest: 1,
};

/// A whole file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct MetadataFile {
    /// [`Form::newest`] of the tool that began it.
    pub(crate) format: u32,
    /// [`Form::suite`].
    pub(crate) suite: String,
    pub(crate) title: String,
    pub(crate) environment: Environment,
    pub(crate) repository: Repository,
    /// One for each volume, in the order they ran.
    pub(crate) runs: Vec<VolumeRun>,
}

/// The repository measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Repository {
    /// What tables call it.
    pub(crate) name: String,
    pub(crate) url: String,
    pub(crate) server_name: String,
    pub(crate) user: String,
    /// Of the volume that ran last: each has a repository of its own where the suite starts them.
    pub(crate) metadata_collection_id: String,
    /// When a write is acknowledged, if known.
    pub(crate) durability: Option<String>,
    /// What it was started with beside its defaults, where the suite started it.
    pub(crate) serve_set: Vec<String>,
    /// What the binary calls itself and a sum of its bytes, where the suite started it.
    pub(crate) version: Option<String>,
}

impl Repository {
    /// Checks that `now` is the repository that the runs of this file were begun with: one label is
    /// one repository. Its address may be another one.
    ///
    /// # Errors
    /// When durability, options or binary differ.
    pub(crate) fn goes_on_as(&self, now: &Self) -> Result<()> {
        for ((what, then), (_, now)) in self.setting().into_iter().zip(now.setting()) {
            ensure!(then == now, "the run began with {what}: {then}, not {now}");
        }
        Ok(())
    }

    fn setting(&self) -> [(&'static str, String); 3] {
        let text_of = |of: &Option<String>| of.clone().unwrap_or_else(|| "not told".to_owned());
        let options = match self.serve_set.is_empty() {
            true => "no option".to_owned(),
            false => self.serve_set.join(" "),
        };
        [
            ("--durability", text_of(&self.durability)),
            ("--serve-set", options),
            ("the binary of --serve", text_of(&self.version)),
        ]
    }
}

/// The suite at one volume.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct VolumeRun {
    /// As in `0005-02`.
    pub(crate) volume: String,
    pub(crate) instances_per_type: u32,
    pub(crate) max_search_results: u32,
    /// Whether set-up searches are counted in the rows of the searches.
    pub(crate) booking: bool,
    /// The metadata collection of the repository.
    pub(crate) metadata_collection_id: String,
    pub(crate) started: String,
    pub(crate) seconds: f64,
    /// Instances that the suite created, reference copies included.
    pub(crate) instances_created: u64,
    /// Whether everything ran: all types, profiles and methods, to the end, and nothing twice.
    pub(crate) complete: bool,
    /// Methods that were left out in any of its parts.
    pub(crate) left_out: BTreeSet<String>,
    /// What the run needs to go on after the profiles that are over.
    pub(crate) carried: Option<Carried>,
    /// When it went on after it had been cut short.
    pub(crate) continued: Vec<Continuation>,
    pub(crate) profiles: Vec<ProfileRun>,
    pub(crate) rows: Vec<RowResult>,
    pub(crate) failures: Vec<FailedCase>,
}

/// What one part of a run hands to the next.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Carried {
    /// Only the first so many types of each category.
    pub(crate) types: Option<u32>,
    pub(crate) seed: u64,
    /// With which seed values go on.
    pub(crate) values: u64,
    /// The metadata collection that reference copies pretend to come from.
    pub(crate) copies: String,
    /// The time that history is asked for, in milliseconds since 1970, once it was taken.
    pub(crate) as_of_ms: Option<i64>,
    /// The profile that was begun, if one was.
    pub(crate) at_work: Option<u16>,
    /// What is over of a profile that is not.
    pub(crate) begun: Option<Begun>,
    /// Bytes of each profile's evidence.
    pub(crate) evidence: BTreeMap<u16, u64>,
}

/// The first types of a profile are over: their calls are in the rows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Begun {
    /// As far as it ran.
    pub(crate) run: ProfileRun,
    pub(crate) types: usize,
}

/// A run went on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Continuation {
    pub(crate) started: String,
    /// Where the repository was then, unless the suite started it.
    pub(crate) url: Option<String>,
    /// The profile that may have been begun before, so that parts of it were done twice. That
    /// changes nothing where it only reads: what is not over is not in the rows.
    pub(crate) again: Option<String>,
}

/// A profile that ran.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ProfileRun {
    pub(crate) id: u16,
    pub(crate) name: String,
    pub(crate) seconds: f64,
    /// Test cases: one a type.
    pub(crate) cases: u64,
    pub(crate) failed: u64,
    /// CPU time that this tool used.
    pub(crate) tool_cpu_s: f64,
    /// Resident memory of this tool at the end of the profile, in bytes.
    pub(crate) tool_resident_bytes: Option<u64>,
    /// CPU time that the server used, if its process is known.
    pub(crate) server_cpu_s: Option<f64>,
    /// Resident memory of the server at the end of the profile, in bytes.
    pub(crate) server_resident_bytes: Option<u64>,
}

/// A row of the table.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct RowResult {
    pub(crate) profile: String,
    pub(crate) method: String,
    /// Timed calls.
    pub(crate) calls: u64,
    /// How many they must be at least; 0 where that is not known.
    pub(crate) calls_min: u64,
    /// How many they may be at most, if that is known.
    pub(crate) calls_max: Option<u64>,
    /// The repository says that it does not do this.
    pub(crate) not_supported: bool,
    pub(crate) median_ms: Option<f64>,
    pub(crate) median_us: f64,
    /// The 95 % bootstrap interval of the median.
    pub(crate) median_low_us: f64,
    pub(crate) median_high_us: f64,
    pub(crate) mean_us: f64,
    pub(crate) p90_us: f64,
    pub(crate) p99_us: f64,
    pub(crate) max_us: f64,
    /// Instances that the answers held.
    pub(crate) instances: u64,
    /// Bytes of the answers.
    pub(crate) bytes: u64,
    /// Times in nanoseconds, and how often each.
    pub(crate) histogram_ns: Buckets,
}

/// A test case that ended early.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct FailedCase {
    pub(crate) profile: String,
    /// The type that it was about.
    pub(crate) case: String,
    pub(crate) exception: String,
    pub(crate) message: String,
    pub(crate) request: String,
    pub(crate) answer: String,
}

/// What a row's median may be at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Limit {
    /// Reads by GUID, and of history.
    Read,
    /// Changes.
    Write,
    /// Searches, and walks through the graph.
    Search,
}

impl Limit {
    /// In microseconds.
    pub(crate) const fn median_us(self) -> f64 {
        match self {
            Self::Read => 200.0,
            Self::Write => 500.0,
            Self::Search => 1_000.0,
        }
    }

    /// What 99 % of the calls of any row may take at most, in microseconds.
    pub(crate) const LINE99_US: f64 = 10_000.0;
    /// How many times its median at the smallest volume a row may have at the largest.
    pub(crate) const GROWTH: f64 = 2.0;
}

impl MetadataFile {
    /// An empty file.
    pub(crate) fn new(title: &str, environment: Environment, repository: Repository) -> Self {
        Self {
            format: FORM.newest,
            suite: FORM.suite.to_owned(),
            title: title.to_owned(),
            environment,
            repository,
            runs: Vec::new(),
        }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read, or is something else.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        FORM.read(path)
    }

    /// Checks that no run is in the file at `path` that could go on and is not whole.
    ///
    /// # Errors
    /// When there is one.
    pub(crate) fn check_new(path: &Path) -> Result<()> {
        let can_go_on = |run: &VolumeRun| run.carried.is_some() && !run.complete;
        let is_in_use = Self::read(path).is_ok_and(|file| file.runs.iter().any(can_go_on));
        ensure!(
            !is_in_use,
            "{} holds a run that can go on: --continue does, or name another file",
            path.display()
        );
        Ok(())
    }

    /// Writes the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        crate::result::write(self, path)
    }
}
