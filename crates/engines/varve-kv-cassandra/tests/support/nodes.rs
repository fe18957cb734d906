//! Nodes that a test starts and removes with `scripts/cassandra/cluster.sh`.

#![allow(dead_code, reason = "each test binary uses some of it")]

use std::path::{Path, PathBuf};
use std::process::Command;

/// The nodes of a test, running or not. Their folder is named after the test and this process.
#[derive(Clone, Copy)]
pub(crate) struct Nodes {
    pub(crate) name: &'static str,
    /// The port for clients, different for each test binary or script that starts nodes.
    pub(crate) port: u16,
    pub(crate) number: u8,
    /// Other settings that differ from the script's defaults, by the names of its environment
    /// variables.
    pub(crate) settings: &'static [(&'static str, &'static str)],
}

impl Nodes {
    /// Starts the nodes and waits until they answer, if the environment variable `wanted` is set:
    /// nodes take minutes. The script removes them when this process has ended.
    pub(crate) fn start(self, wanted: &str) -> Option<Started> {
        if std::env::var_os(wanted).is_none() {
            eprintln!("skipped: {wanted} is not set");
            return None;
        }
        let started = Started(self);
        self.run(&["start", "--while", &std::process::id().to_string()]);
        Some(started)
    }

    /// Runs the script with these arguments.
    pub(crate) fn run(&self, arguments: &[&str]) {
        let status = self.command(arguments).status();
        assert!(status.unwrap().success(), "{arguments:?}");
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let script =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../scripts/cassandra/cluster.sh");
        let mut command = Command::new(script);
        command
            .args(arguments)
            .env("VARVE_CASSANDRA_DIR", self.dir())
            .env("VARVE_CASSANDRA_PORT", self.port.to_string())
            .env("VARVE_CASSANDRA_NODES", self.number.to_string())
            .envs(self.settings.iter().copied());
        command
    }

    /// The folder of the nodes' data, and of the files that the script creates for clients.
    pub(crate) fn dir(&self) -> PathBuf {
        let name = format!("varve-cassandra-{}-{}", self.name, std::process::id());
        std::env::temp_dir().join(name)
    }

    /// The address of a node; the first node is 1.
    pub(crate) fn address(&self, node: u8) -> String {
        format!("127.0.0.{node}:{}", self.port)
    }
}

/// Nodes that are removed when this is dropped.
#[must_use]
pub(crate) struct Started(Nodes);

impl Drop for Started {
    fn drop(&mut self) {
        self.0.run(&["clean"]);
    }
}
