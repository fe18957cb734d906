//! The load tool and the server that it starts: that neither the server nor its data outlives the
//! tool.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::server::VARVE;

/// How long anything may take, under whatever load the machine has.
const TIMEOUT: Duration = Duration::from_secs(60);

/// `varve bench api`, which becomes `varve-bench`, with a server of its own, which keeps its data
/// below `temporary`.
fn command(temporary: &Path, words: &str) -> Command {
    serving(VARVE, temporary, words)
}

/// The same with this program as the server.
fn serving(server: &str, temporary: &Path, words: &str) -> Command {
    let mut command = Command::new(VARVE);
    command.args([
        "bench",
        "api",
        "--quiet",
        "--vertices",
        "400",
        "--edges",
        "500",
    ]);
    command.args([
        "--scenario",
        "vertex_by_id",
        "--model",
        "closed",
        "--users",
        "1",
    ]);
    command.args(["--warmup", "0", "--serve", server]);
    command.args(words.split_whitespace());
    command.env("TMPDIR", temporary);
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

/// The tool in the midst of a long run, and the process of its server.
struct Running {
    tool: Child,
    server: u32,
    temporary: TempDir,
}

impl Running {
    fn start() -> Self {
        let temporary = tempfile::tempdir().expect("a folder");
        let words = "--serve-set storage.engine=memory --hold 600s";
        let mut tool = command(temporary.path(), words).spawn().expect("it starts");
        let errors = tool.stderr.take().expect("piped");
        let mut lines = BufReader::new(errors).lines();
        let started = lines
            .by_ref()
            .map_while(Result::ok)
            .any(|line| line.contains("run prefix"));
        assert!(started, "the run begins");
        std::thread::spawn(move || lines.for_each(drop));
        let server = child_of(tool.id()).expect("a server");
        assert!(
            !is_empty(temporary.path()),
            "it has a folder for the server's data"
        );
        Self {
            tool,
            server,
            temporary,
        }
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.tool), signal).expect("the tool is there");
    }

    fn server_is_gone(&self) -> bool {
        wait_until(|| is_gone(self.server))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.tool.kill();
        let _ = self.tool.wait();
    }
}

/// Whether it came within the timeout of these tests.
fn wait_until(mut is_so: impl FnMut() -> bool) -> bool {
    let started = Instant::now();
    while !is_so() {
        if started.elapsed() >= TIMEOUT {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}

/// State and parent of a process.
fn status(pid: u32) -> Option<(char, u32)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, after) = stat.rsplit_once(") ")?;
    let mut fields = after.split(' ');
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

fn child_of(parent: u32) -> Option<u32> {
    let entries = fs::read_dir("/proc").ok()?.flatten();
    let mut pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.find(|pid| status(*pid).is_some_and(|(_, of)| of == parent))
}

/// Whether it has ended; who inherited it may not have asked how.
fn is_gone(pid: u32) -> bool {
    status(pid).is_none_or(|(state, _)| state == 'Z')
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).expect("a folder").next().is_none()
}

#[test]
fn an_interrupted_run_ends_its_server_and_removes_its_data() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let mut running = Running::start();
        running.signal(signal);
        let status = running.tool.wait().expect("it ends");
        assert_eq!(status.code(), Some(code));
        assert!(is_gone(running.server), "the server ended before the tool");
        assert!(is_empty(running.temporary.path()), "nothing is left");
    }
}

#[test]
fn the_server_of_a_killed_run_does_not_stay() {
    let running = Running::start();
    running.signal(Signal::KILL);
    assert!(running.server_is_gone());
}

#[test]
fn a_run_leaves_nothing_and_says_whether_its_store_was_verified() {
    let temporary = tempfile::tempdir().expect("a folder");
    let words = "--serve-set storage.engine=memory --requests 20";
    let run = command(temporary.path(), words).output().expect("it runs");
    let said = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{said}");
    assert!(
        said.contains("store not verified: its server leaves nothing on disk"),
        "{said}"
    );
    assert!(is_empty(temporary.path()));
}

#[test]
fn a_store_with_problems_fails_the_run() {
    let temporary = tempfile::tempdir().expect("a folder");
    let server = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/process/bench/problems.sh"
    );
    let words = "--serve-set storage.engine=memory --requests 20";
    let mut command = serving(server, temporary.path(), words);
    let run = command.env("VARVE", VARVE).output().expect("it runs");
    let said = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(3), "{said}");
    assert!(
        said.contains("with problems: hugegraph: a row that should not be there"),
        "{said}"
    );
    assert!(is_empty(temporary.path()));
}

#[cfg(feature = "engines")]
#[test]
fn the_store_of_a_run_is_verified() {
    let temporary = tempfile::tempdir().expect("a folder");
    let run = command(temporary.path(), "--requests 20")
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{said}");
    // What was loaded, and the two vertices and the edge that every run begins with.
    assert!(
        said.contains("store verified: hugegraph: 402 vertices, 1 edges"),
        "{said}"
    );
    assert!(said.contains(" 0 problems"), "{said}");
    assert!(is_empty(temporary.path()));
}

#[cfg(feature = "engines")]
#[test]
fn the_server_and_its_limits_run_the_same_turns() {
    let temporary = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(VARVE);
    command.args(["bench", "limits", "--quiet", "--serve", VARVE]);
    command.args(["--turns", "2", "--percent", "1", "--rest", "0"]);
    let run = command.env("TMPDIR", temporary.path()).output();
    let run = run.expect("it runs");
    let said = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{said}");
    let table = String::from_utf8_lossy(&run.stdout);
    for scenario in ["batch_insert_vertices", "edge_by_id"] {
        for limit in ["rocksdb", "front table", "bare http"] {
            let is_row = |line: &&str| {
                line.starts_with(&format!("| {scenario} | none | 2 |"))
                    && line.contains(&format!("| {limit} |"))
            };
            let row = table.lines().find(is_row);
            assert!(row.is_some(), "{scenario} and {limit}: {table}");
        }
    }
    assert!(is_empty(temporary.path()));
}
