//! Where and how a run was made.

use serde::{Deserialize, Serialize};

/// The machine and the command.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Environment {
    /// `--machine`: how the user calls it.
    pub machine: Option<String>,
    /// From `/proc/cpuinfo`.
    pub cpu_model: String,
    /// Logical processors that the tool may use.
    pub cpu_count: u32,
    /// All memory of the machine.
    pub memory_bytes: u64,
    /// File system and device of the working directory.
    pub disk: String,
    /// `uname -sr`.
    pub kernel: String,
    /// Name and version of the distribution.
    pub system: String,
    /// Version of the tool.
    pub tool_version: String,
    /// Commit the tool was built from, if known.
    pub tool_commit: Option<String>,
    /// The command line, word by word.
    pub command_line: Vec<String>,
    /// Seed of payloads and choices.
    pub seed: u64,
    /// Prefix of the run's ids: a run's inserts never meet another run's elements.
    pub run_prefix: String,
    /// Start, UTC, RFC 3339.
    pub started: String,
    /// End, UTC, RFC 3339.
    pub ended: String,
    /// Open files that the tool may have.
    pub open_files_max: u64,
    /// Accept queue limit of the kernel.
    pub somaxconn: u64,
    /// Load average of one minute at the start: other work on the machine.
    pub load_average_start: f64,
    /// Load average of one minute at the end.
    pub load_average_end: f64,
    /// Threads that sent requests.
    pub generator_threads: u32,
    /// What a reader should know: limits that were too low, processes beside it.
    pub warnings: Vec<String>,
}
