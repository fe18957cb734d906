//! The bare server as a child process, and a server in this process for recording.

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use anyhow::{Context, Result};
use varve_graph::{DurabilityMode, GraphOptions, Registry};
use varve_kv::Engine;
use varve_model::time::SystemClock;
use varve_server::{AppState, RunningServer, ServerConfig};

use crate::owned::{Ending, Process};
use crate::serve::listening;

/// The bare HTTP server as a child process, which ends when this is dropped.
pub(crate) struct Bare {
    _process: Process,
    pub(crate) pid: u32,
    pub(crate) address: SocketAddr,
}

impl Bare {
    /// Starts the server with the status and the body of all its answers.
    pub(crate) fn start(status: u16, body: &Path) -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["bench", "bare", "--status", &status.to_string()]);
        command.arg("--body").arg(body);
        let (process, url) = listening(&command, Ending::Kill, Stdio::null())?;
        let address = url.strip_prefix("http://").unwrap_or(&url);
        Ok(Self {
            pid: process.id(),
            address: address.parse().context("its address")?,
            _process: process,
        })
    }
}

/// A server in this process over `engine`.
pub(crate) fn in_process(engine: Arc<dyn Engine>) -> Result<RunningServer> {
    let mut options = GraphOptions::new(Arc::new(SystemClock));
    options.durability = DurabilityMode::None;
    let registry = Arc::new(Registry::open(engine, options)?);
    registry.get_or_create("hugegraph")?;
    let config = ServerConfig {
        port: 0,
        ..ServerConfig::default()
    };
    let state = AppState::with_graphs(config, registry)?;
    Ok(varve_server::start(&state)?)
}
