//! A volume of the open-metadata suite.

use serde::{Deserialize, Serialize};

/// The suite at one volume: a number of instances of each type, and the page size of searches.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct VolumeRun {
    /// In the form `0005-02`; rows name it.
    pub volume: String,
    /// Instances of each type.
    pub instances_per_type: u32,
    /// The page size of searches.
    pub max_search_results: u32,
    /// Whether only some types are used.
    pub few_types: bool,
    /// The metadata collection of the repository.
    pub metadata_collection_id: String,
    /// Start, UTC, RFC 3339.
    pub started: String,
    /// Seconds until the last completed profile.
    pub seconds: f64,
    /// Instances that the suite created, reference copies included.
    pub instances_created: u64,
    /// Whether all types, profiles and methods ran, with the right numbers of calls.
    pub complete: bool,
    /// The profiles that ran, in their order.
    pub profiles: Vec<ProfileRun>,
    /// The test cases that failed: the first twenty of each profile.
    pub failures: Vec<FailedCase>,
}

/// A profile that ran.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProfileRun {
    /// Number.
    pub id: u16,
    /// Name.
    pub name: String,
    /// Duration.
    pub seconds: f64,
    /// The number of test cases: one for each type.
    pub cases: u64,
    /// Test cases that failed.
    pub failed: u64,
    /// CPU time that this tool used.
    pub tool_cpu_s: f64,
    /// CPU time that the server used, if its process is known.
    pub server_cpu_s: Option<f64>,
    /// Resident memory of the server at the end of the profile, in bytes.
    pub server_resident_bytes: Option<u64>,
}

/// A test case that ended early.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FailedCase {
    /// The profile.
    pub profile: String,
    /// The type of the test case.
    pub case: String,
    /// The exception's name, or a short description.
    pub exception: String,
    /// Its message.
    pub message: String,
    /// Method, path and the beginning of the body of the request.
    pub request: String,
    /// The beginning of the answer.
    pub answer: String,
}

impl VolumeRun {
    /// Test cases that failed.
    #[must_use]
    pub fn failed(&self) -> u64 {
        self.profiles.iter().map(|it| it.failed).sum()
    }
}
