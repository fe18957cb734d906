//! Three Apache Cassandra nodes of this machine, run by `scripts/cassandra/cluster.sh`.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Port of the nodes for clients; another than that of the other tests, and of `make cassandra`.
const PORT: u16 = 19_542;
/// How many nodes there are.
pub(crate) const COUNT: u32 = 3;

/// The nodes; they and their data are removed when this is dropped, or this process ends.
pub(crate) struct Nodes {
    script: PathBuf,
    dir: tempfile::TempDir,
}

impl Nodes {
    /// Starts them and waits until they see one another. `None` where `VARVE_TEST_CLUSTER` is not
    /// set: they take minutes.
    pub(crate) fn start() -> Option<Self> {
        if std::env::var_os("VARVE_TEST_CLUSTER").is_none() {
            println!("skipped: VARVE_TEST_CLUSTER is not set");
            return None;
        }
        let script =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/cassandra/cluster.sh");
        let nodes = Self {
            script,
            dir: tempfile::tempdir().expect("a temporary folder"),
        };
        nodes.run(&["start", "--while", &std::process::id().to_string()]);
        Some(nodes)
    }

    /// What a server connects to.
    pub(crate) fn contact_points() -> String {
        let points = (1..=COUNT).map(|node| format!("127.0.0.{node}:{PORT}"));
        points.collect::<Vec<_>>().join(",")
    }

    /// SIGKILL.
    pub(crate) fn kill(&self, node: u32) {
        self.of("kill", node);
    }

    /// SIGSTOP: connections to it stay, and nothing answers.
    pub(crate) fn pause(&self, node: u32) {
        self.of("pause", node);
    }

    /// SIGCONT.
    pub(crate) fn resume(&self, node: u32) {
        self.of("resume", node);
    }

    /// Starts one again on its data and waits until it answers.
    pub(crate) fn restart(&self, node: u32) {
        self.of("restart", node);
    }

    fn of(&self, command: &str, node: u32) {
        self.run(&[command, &node.to_string()]);
    }

    fn run(&self, arguments: &[&str]) {
        let status = Command::new(&self.script)
            .args(arguments)
            .env("VARVE_CASSANDRA_DIR", self.dir.path().join("nodes"))
            .env("VARVE_CASSANDRA_PORT", PORT.to_string())
            .env("VARVE_CASSANDRA_NODES", COUNT.to_string())
            .status()
            .expect("the script can be run");
        assert!(status.success(), "cluster.sh {arguments:?}: {status}");
    }
}

impl Drop for Nodes {
    fn drop(&mut self) {
        self.run(&["clean"]);
    }
}
