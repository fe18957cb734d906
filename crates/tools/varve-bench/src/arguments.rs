//! The common options of the suites.

use std::path::PathBuf;

use clap::Args;

use crate::endpoint::Trust;
use crate::environment::{Data, Environment};

/// The server, and what a run leaves.
#[derive(Debug, Clone, Args)]
pub(crate) struct Common {
    /// Address of the server; `metadata` also uses its path
    #[arg(
        long,
        visible_alias = "server",
        default_value = "http://127.0.0.1:8080",
        value_name = "URL"
    )]
    pub(crate) url: String,
    #[command(flatten)]
    pub(crate) trust: Trust,
    /// Start this binary as the server, with an empty data folder for the run or for each volume
    #[arg(long, value_name = "VARVE", conflicts_with = "url")]
    pub(crate) serve: Option<PathBuf>,
    /// With --serve: set an option of the server; may be repeated
    #[arg(long, value_name = "SECTION.OPTION=VALUE", requires = "serve")]
    pub(crate) serve_set: Vec<String>,
    /// The server's process on this machine [default: the process that listens on the port]
    #[arg(long, value_name = "PID")]
    pub(crate) server_pid: Option<u32>,
    /// Seed of random contents and choices
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub(crate) seed: u64,
    /// Write the results to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Title of the results
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// Name of this machine in the results
    #[arg(long, value_name = "TEXT")]
    pub(crate) machine: Option<String>,
    /// Print no progress
    #[arg(long)]
    pub(crate) quiet: bool,
}

impl Common {
    /// The machine and the command of a run with this number of threads.
    pub(crate) fn environment(&self, data: &Data, threads: u32) -> Environment {
        Environment::new(data, self.machine.as_deref(), self.seed, threads)
    }
}
