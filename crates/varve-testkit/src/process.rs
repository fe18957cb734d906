//! A Varve server as a child process, on a free port of the loopback address.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde_json::Value as Json;

use crate::http::{Client, Response};

/// How long a server may take to stop or to write a line of its log, under any load.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A running server; it is killed when dropped.
pub struct ServerProcess {
    child: Child,
    /// `http://127.0.0.1:<port>`
    pub url: String,
    client: Client,
    /// What it has written to standard error.
    log: Arc<Mutex<String>>,
}

impl ServerProcess {
    /// Starts `command`, which takes the options of `serve`, on a free port; returns when it says
    /// where it serves.
    pub fn start(command: &mut Command) -> Self {
        Self::try_start(command).unwrap_or_else(|said| panic!("no server: {said}"))
    }

    /// The same for a server that may end before it serves.
    ///
    /// # Errors
    /// What it wrote, if it ended.
    pub fn try_start(command: &mut Command) -> Result<Self, String> {
        let mut child = command
            .args(["--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let mut output = BufReader::new(child.stdout.take().expect("piped"));
        let mut errors = BufReader::new(child.stderr.take().expect("piped"));
        // A cluster's server says first that it waits for the cluster.
        let mut line = String::new();
        while !line.contains(" serves on ") {
            if output.read_line(&mut line).expect("output can be read") == 0 {
                break;
            }
        }
        let Some((_, url)) = line.trim().split_once(" serves on ") else {
            let _ = errors.read_to_string(&mut line);
            let _ = child.wait();
            return Err(line);
        };
        // The pipes are read to their ends, so that the server never blocks on them.
        std::thread::spawn(move || std::io::copy(&mut output, &mut std::io::sink()));
        let log = Arc::new(Mutex::new(String::new()));
        let written = Arc::clone(&log);
        std::thread::spawn(move || {
            for line in errors.lines().map_while(Result::ok) {
                let mut log = written.lock();
                log.push_str(&line);
                log.push('\n');
            }
        });
        Ok(Self {
            child,
            url: url.to_owned(),
            client: Client::of(url),
            log,
        })
    }

    /// Whether the process, which answers no more, has ended by itself. Its connections are closed
    /// before it is gone.
    pub fn has_ended(&mut self) -> bool {
        self.ends_within(TIMEOUT).is_some()
    }

    fn ends_within(&mut self, time: Duration) -> Option<ExitStatus> {
        let started = Instant::now();
        while started.elapsed() < time {
            let ended = self.child.try_wait().expect("a child can be asked");
            if ended.is_some() {
                return ended;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        None
    }

    /// The line of the log that has all these texts, once it is there.
    pub fn logged(&self, texts: &[&str]) -> String {
        let started = Instant::now();
        loop {
            if let Some(line) = self.logged_so_far(texts) {
                return line;
            }
            let log = self.log.lock();
            assert!(started.elapsed() < TIMEOUT, "no {texts:?} in\n{log}");
            drop(log);
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// The same, if the line is there.
    #[must_use]
    pub fn logged_so_far(&self, texts: &[&str]) -> Option<String> {
        let log = self.log.lock();
        let mut lines = log.lines();
        let line = lines.find(|line| texts.iter().all(|text| line.contains(text)));
        line.map(str::to_owned)
    }

    /// The process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// A client of its own connections, for another thread.
    #[must_use]
    pub fn client(&self) -> Client {
        Client::of(&self.url)
    }

    /// [`Client::ask`] of a client that is kept.
    #[track_caller]
    pub fn ask(&self, method: &str, path: &str, body: &str) -> Response {
        self.client.ask(method, path, body)
    }

    /// [`Client::must`] of the same client.
    #[track_caller]
    pub fn must(&self, method: &str, path: &str, body: &str) -> Json {
        self.client.must(method, path, body)
    }

    /// Sends a signal by its name.
    pub fn signal(&self, name: &str) {
        let process = self.id().to_string();
        let status = Command::new("kill")
            .args([&format!("-{name}"), &process])
            .status();
        let sent = status.expect("kill can be run").success();
        assert!(sent, "kill -{name} {process}");
    }

    /// SIGKILL; returns when the process is gone.
    pub fn kill(mut self) {
        self.child.kill().expect("a running process can be killed");
        self.child.wait().expect("a killed process ends");
    }

    /// SIGTERM; waits for the end and returns how it ended and how long that took.
    pub fn terminate(self) -> (ExitStatus, Duration) {
        self.signal("TERM");
        self.wait()
    }

    /// Waits for the end after a signal; returns how it ended and how long that took.
    pub fn wait(mut self) -> (ExitStatus, Duration) {
        let started = Instant::now();
        let status = self.ends_within(TIMEOUT);
        (status.expect("the server stops"), started.elapsed())
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("the server's log:\n{}", self.log.lock());
        }
    }
}
