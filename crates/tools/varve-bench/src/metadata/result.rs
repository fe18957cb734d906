//! The JSON result file of `varve-bench metadata`.
//!
//! These types define the file, and `docs/bench.md` describes it. Times are in microseconds if a
//! name ends in `_us`, in milliseconds for `_ms`, in seconds for `_s`. A median in milliseconds is
//! that of truncated whole milliseconds, like the published figures. Readers accept absent fields.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};

use crate::environment::Environment;
use crate::result::{Buckets, Form};

/// The format of the suite's files; old files have no format number.
pub(crate) const FORM: Form = Form {
    suite: "egeria-performance",
    command: "varve-bench metadata",
    oldest: 0,
    newest: 1,
};

/// A whole file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct MetadataFile {
    /// [`Form::newest`] of the tool that created the file.
    pub(crate) format: u32,
    /// [`Form::suite`].
    pub(crate) suite: String,
    pub(crate) title: String,
    pub(crate) environment: Environment,
    pub(crate) repository: Repository,
    /// One run for each volume, in the order of execution.
    pub(crate) runs: Vec<VolumeRun>,
}

/// The repository measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Repository {
    /// The name in tables.
    pub(crate) name: String,
    pub(crate) url: String,
    pub(crate) server_name: String,
    pub(crate) user: String,
    /// The id of the volume that ran last: if the suite starts the repositories, each volume has
    /// its own.
    pub(crate) metadata_collection_id: String,
    /// When a write is acknowledged, if known.
    pub(crate) durability: Option<String>,
    /// The options with which the suite started it.
    pub(crate) serve_set: Vec<String>,
    /// Version and checksum of the binary, if the suite started it.
    pub(crate) version: Option<String>,
}

impl Repository {
    /// Checks that `now` has the same settings as this repository, since all runs of a file are of
    /// one repository. The address may differ.
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
    /// In the form `0005-02`.
    pub(crate) volume: String,
    pub(crate) instances_per_type: u32,
    pub(crate) max_search_results: u32,
    /// Whether searches that only find a test case's instances count in the rows of the searches.
    pub(crate) booking: bool,
    /// The metadata collection of the repository.
    pub(crate) metadata_collection_id: String,
    pub(crate) started: String,
    pub(crate) seconds: f64,
    /// Instances that the suite created, reference copies included.
    pub(crate) instances_created: u64,
    /// Whether all types, profiles and methods ran to the end, and nothing was repeated.
    pub(crate) complete: bool,
    /// Methods that any of the parts left out.
    pub(crate) left_out: BTreeSet<String>,
    /// The state with which the run can continue after its completed profiles.
    pub(crate) carried: Option<Carried>,
    /// The continuations after interruptions.
    pub(crate) continued: Vec<Continuation>,
    pub(crate) profiles: Vec<ProfileRun>,
    pub(crate) rows: Vec<RowResult>,
    pub(crate) failures: Vec<FailedCase>,
}

/// The state that one part of a run passes to the next.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Carried {
    /// The number of first types of each category to which the run is limited, if it is.
    pub(crate) types: Option<u32>,
    pub(crate) seed: u64,
    /// The seed with which the generation of values continues.
    pub(crate) values: u64,
    /// The pretended home of reference copies: a metadata collection.
    pub(crate) copies: String,
    /// The instant as of which history is read, in milliseconds since 1970, once it is set.
    pub(crate) as_of_ms: Option<i64>,
    /// The profile that was running, if any.
    pub(crate) at_work: Option<u16>,
    /// The completed part of an interrupted profile.
    pub(crate) begun: Option<Begun>,
    /// The size of each profile's evidence, in bytes.
    pub(crate) evidence: BTreeMap<u16, u64>,
}

/// The completed types of an interrupted profile; their calls are in the rows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Begun {
    /// The results so far.
    pub(crate) run: ProfileRun,
    pub(crate) types: usize,
}

/// A continuation of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Continuation {
    pub(crate) started: String,
    /// The address of the repository then, unless the suite started it.
    pub(crate) url: Option<String>,
    /// The profile that was interrupted, so that parts of it may have run twice. A profile that
    /// only reads is unaffected: the rows have the calls of its completed part only.
    pub(crate) again: Option<String>,
}

/// A profile that ran.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ProfileRun {
    pub(crate) id: u16,
    pub(crate) name: String,
    pub(crate) seconds: f64,
    /// The number of test cases: one for each type.
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
    /// The least number of calls; 0 if unknown.
    pub(crate) calls_min: u64,
    /// The greatest number of calls, if known.
    pub(crate) calls_max: Option<u64>,
    /// Whether the repository reports that it does not support the method.
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
    /// The number of instances in the answers.
    pub(crate) instances: u64,
    /// Bytes of the answers.
    pub(crate) bytes: u64,
    /// The times in nanoseconds, and their frequencies.
    pub(crate) histogram_ns: Buckets,
}

/// A test case that ended early.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct FailedCase {
    pub(crate) profile: String,
    /// The type of the test case.
    pub(crate) case: String,
    pub(crate) exception: String,
    pub(crate) message: String,
    pub(crate) request: String,
    pub(crate) answer: String,
}

/// The limit of a row's median.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Limit {
    /// Reads by GUID, and reads of history.
    Read,
    /// Changes.
    Write,
    /// Searches, and graph walks.
    Search,
}

impl Limit {
    /// The limit in microseconds.
    pub(crate) const fn median_us(self) -> f64 {
        match self {
            Self::Read => 200.0,
            Self::Write => 500.0,
            Self::Search => 1_000.0,
        }
    }

    /// The limit of the 99th percentile of any row, in microseconds.
    pub(crate) const LINE99_US: f64 = 10_000.0;
    /// The greatest ratio of a row's median at the largest volume to that at the smallest.
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
    /// When it cannot be read, or has another format.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        FORM.read(path)
    }

    /// Checks that the file at `path` has no incomplete run that could be continued.
    ///
    /// # Errors
    /// When there is one.
    pub(crate) fn check_new(path: &Path) -> Result<()> {
        let can_go_on = |run: &VolumeRun| run.carried.is_some() && !run.complete;
        let is_in_use = Self::read(path).is_ok_and(|file| file.runs.iter().any(can_go_on));
        ensure!(
            !is_in_use,
            "{} has a run that can be continued: use --continue, or name another file",
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
