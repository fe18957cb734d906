//! Varve servers on the nodes, each with a port that it keeps over its restarts.

use std::fs::File;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde_json::Value as Json;

use super::nodes::{COUNT, Nodes};
use super::outages::Watch;
use crate::server::{Client, Response, VARVE};

/// How long a server may take to serve after its start: another's lease has to run out, and the log
/// has to be carried out.
const TIMEOUT: Duration = Duration::from_secs(600);

/// The servers.
pub(crate) struct Fleet {
    members: Vec<Member>,
    dir: tempfile::TempDir,
}

struct Member {
    url: String,
    port: u16,
    process: Mutex<Option<Child>>,
}

impl Fleet {
    /// So many servers, none of them started.
    pub(crate) fn new(count: usize) -> Self {
        // Held together, so that no two get the same port.
        let ports: Vec<TcpListener> = (0..count)
            .map(|_| TcpListener::bind("127.0.0.1:0").expect("a free port"))
            .collect();
        let members = ports.iter().map(|listener| {
            let port = listener.local_addr().expect("a bound address").port();
            Member {
                url: format!("http://127.0.0.1:{port}"),
                port,
                process: Mutex::new(None),
            }
        });
        Self {
            members: members.collect(),
            dir: tempfile::tempdir().expect("a temporary folder"),
        }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.members.len()
    }

    /// The options about the cluster that all commands of the binary get.
    pub(crate) fn options() -> Vec<String> {
        let mut options = vec!["--engine".to_owned(), "cassandra".to_owned()];
        for (name, value) in [
            ("contact_points", Nodes::contact_points()),
            ("replication", COUNT.to_string()),
        ] {
            options.push("--set".to_owned());
            options.push(format!("storage.cassandra.{name}={value}"));
        }
        options
    }

    fn log(&self, at: usize) -> PathBuf {
        self.dir.path().join(format!("server-{at}.log"))
    }

    /// Starts a server; it may not serve yet.
    pub(crate) fn start(&self, at: usize) {
        let mut log = File::options();
        let log = log.create(true).append(true).open(self.log(at));
        let member = &self.members[at];
        let child = Command::new(VARVE)
            .arg("serve")
            .args(Self::options())
            .args(["--listen", &format!("127.0.0.1:{}", member.port)])
            .stdout(Stdio::null())
            .stderr(log.expect("a log file"))
            .spawn()
            .expect("the binary starts");
        *member.process.lock() = Some(child);
    }

    /// Waits until a server serves.
    pub(crate) fn await_service(&self, at: usize) {
        let client = Client::of(&self.members[at].url);
        let started = Instant::now();
        while !matches!(client.try_ask("GET", "/health", ""), Some((200, _))) {
            assert!(started.elapsed() < TIMEOUT, "server {at} does not serve");
            if let Some(child) = self.members[at].process.lock().as_mut() {
                let ended = child.try_wait().expect("a child can be asked");
                assert_eq!(ended, None, "server {at} has ended");
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// SIGKILL; returns when the process is gone.
    pub(crate) fn kill(&self, at: usize) {
        if let Some(mut child) = self.members[at].process.lock().take() {
            child.kill().expect("a running process can be killed");
            child.wait().expect("a killed process ends");
        }
    }

    /// A client of the server that `watch` is of.
    pub(crate) fn client(&self, watch: &Arc<Watch>) -> Client {
        let member = &self.members[watch.server()];
        let watch = Arc::clone(watch);
        let observe = move |method: &str, path: &str, started, answer: Option<&Response>| {
            watch.saw(method, path, started, answer);
        };
        Client::of(&member.url).watched(Arc::new(observe))
    }

    /// The address of a server.
    pub(crate) fn url(&self, at: usize) -> &str {
        &self.members[at].url
    }

    /// Whether a server leads the graph, as it says itself.
    pub(crate) fn leads(&self, at: usize) -> bool {
        let answer = Client::of(self.url(at)).try_ask("GET", "/cluster", "");
        let graphs = answer.map(|(_, body)| body["graphs"].clone());
        let graphs = graphs.as_ref().and_then(|graphs| graphs.as_array());
        let leads = |graph: &Json| graph["name"] == "hugegraph" && graph["state"] == "leader";
        graphs.is_some_and(|graphs| graphs.iter().any(leads))
    }

    /// Waits until one of the servers leads the graph, and says which.
    pub(crate) fn await_leader(&self) -> usize {
        let started = Instant::now();
        loop {
            if let Some(leader) = (0..self.len()).find(|at| self.leads(*at)) {
                return leader;
            }
            assert!(started.elapsed() < TIMEOUT, "no server leads the graph");
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        for at in 0..self.members.len() {
            self.kill(at);
            if std::thread::panicking() {
                let log = std::fs::read_to_string(self.log(at)).unwrap_or_default();
                let lines: Vec<&str> = log.lines().collect();
                let shown = lines.len().saturating_sub(60);
                println!("-- server {at}:\n{}", lines[shown..].join("\n"));
            }
        }
    }
}
