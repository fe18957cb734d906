//! The servers that are measured, as child processes, and one in this process for recording.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use anyhow::{Context, Result};
use varve_graph::{DurabilityMode, GraphOptions, Registry};
use varve_kv::Engine;
use varve_model::time::SystemClock;
use varve_server::{AppState, RunningServer, ServerConfig};

/// A server of our own as a process; ended when dropped.
pub(crate) struct Child {
    child: std::process::Child,
    pub(crate) pid: u32,
    pub(crate) address: SocketAddr,
}

impl Child {
    /// The real binary on an empty data directory.
    pub(crate) fn varve(binary: &Path, data: &Path, durability: &str) -> Result<Self> {
        let mut command = Command::new(binary);
        command.arg("serve").arg("--data-dir").arg(data);
        command.args(["--listen", "127.0.0.1:0", "--durability", durability]);
        Self::start(command)
    }

    /// The bare HTTP server.
    pub(crate) fn bare(status: u16, body: &Path) -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command
            .args(["bench", "bare", "--status", &status.to_string(), "--body"])
            .arg(body);
        Self::start(command)
    }

    fn start(mut command: Command) -> Result<Self> {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("starting {command:?}"))?;
        let output = child.stdout.take().context("its output")?;
        let mut address = None;
        let mut lines = BufReader::new(output).lines();
        for line in lines.by_ref() {
            let line = line?;
            if let Some((_, rest)) = line.split_once("http://") {
                let end = rest.find(|c: char| c.is_whitespace()).unwrap_or(rest.len());
                address = Some(
                    rest[..end]
                        .trim_end_matches('/')
                        .parse()
                        .context("its address")?,
                );
                break;
            }
        }
        // What it prints later must go somewhere, or it would stop at a full pipe.
        std::thread::spawn(move || lines.for_each(drop));
        let pid = child.id();
        let address = address.context("the server ended before it said where it serves")?;
        Ok(Self {
            child,
            pid,
            address,
        })
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
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
