//! The common options of the suites.

use std::path::PathBuf;

use clap::Args;

use crate::endpoint::Trust;
use crate::serve::VerifyStore;

/// Address of a server that is started without options.
pub(crate) const DEFAULT_URL: &str = "http://127.0.0.1:8080";

/// The server, and what a run leaves.
#[derive(Debug, Clone, Args)]
pub(crate) struct Common {
    /// Address of the server; `metadata` also uses its path
    #[arg(long, visible_alias = "server", default_value = DEFAULT_URL, value_name = "URL")]
    pub(crate) url: String,
    #[command(flatten)]
    pub(crate) trust: Trust,
    /// Wait this number of seconds for the server to accept connections
    #[arg(long, value_name = "SECONDS", conflicts_with = "serve")]
    pub(crate) wait: Option<u64>,
    /// Start this binary as the server, with an empty data folder for the run or for each volume
    #[arg(long, value_name = "VARVE", conflicts_with = "url")]
    pub(crate) serve: Option<PathBuf>,
    /// With --serve: set an option of the server; may be repeated
    #[arg(long, value_name = "SECTION.OPTION=VALUE", requires = "serve")]
    pub(crate) serve_set: Vec<String>,
    /// With --serve: when a write is acknowledged [default: none; sync for `metadata`]. Otherwise:
    /// the server's durability, for the results
    #[arg(long, value_name = "MODE")]
    pub(crate) durability: Option<String>,
    /// With --serve: verify the store after the run (`varve verify`); a problem fails the run
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub(crate) verify_store: VerifyStore,
    /// The server's process on this machine [default: the process that listens on the port]
    #[arg(long, value_name = "PID")]
    pub(crate) server_pid: Option<u32>,
    /// Name of the server in tables and files [default: its own name]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Seed of random contents and choices
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub(crate) seed: u64,
    /// Write the results to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Write the tables as Markdown to this file, too
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,
    /// Write the report: one self-contained HTML page
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
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
