//! A server as a child process, on a free port of the loopback address.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value as Json;

/// The binary under test.
pub(crate) const VARVE: &str = env!("CARGO_BIN_EXE_varve");
/// How long a server may take to start or stop, under whatever load the machine has.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A running server; it is killed when dropped.
pub(crate) struct Server {
    child: Child,
    /// `http://127.0.0.1:<port>`
    pub(crate) url: String,
    agent: ureq::Agent,
    /// What it has written to standard error.
    log: Arc<Mutex<String>>,
}

/// A status and a body.
pub(crate) type Answer = (u16, Json);

impl Server {
    /// Starts a server that keeps nothing.
    pub(crate) fn in_memory() -> Self {
        Self::start(Command::new(VARVE).args(["serve", "--engine", "memory"]))
    }

    /// Starts a server on a data folder.
    pub(crate) fn on(data: &Path) -> Self {
        Self::start(Command::new(VARVE).arg("serve").arg("--data-dir").arg(data))
    }

    /// Starts `command` with a free port and waits until it says where it listens.
    pub(crate) fn start(command: &mut Command) -> Self {
        Self::try_start(command).unwrap_or_else(|said| panic!("no server: {said}"))
    }

    /// The same for a server that may end before it listens; then what it said is returned.
    pub(crate) fn try_start(command: &mut Command) -> Result<Self, String> {
        let mut child = command
            .args(["--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let mut output = BufReader::new(child.stdout.take().expect("piped"));
        // A cluster's server says first that it waits for the cluster.
        let mut line = String::new();
        while !line.contains(" serves on ") {
            if output.read_line(&mut line).expect("output can be read") == 0 {
                break;
            }
        }
        let Some((_, url)) = line.trim().split_once(" serves on ") else {
            let mut errors = String::new();
            let _ = child
                .stderr
                .take()
                .expect("piped")
                .read_to_string(&mut errors);
            let _ = child.wait();
            return Err(format!("{line}{errors}"));
        };
        let url = url.to_owned();
        // The pipes are read to their ends, so that the server never blocks on them.
        let errors = child.stderr.take().expect("piped");
        std::thread::spawn(move || std::io::copy(&mut output, &mut std::io::sink()));
        let log = Arc::new(Mutex::new(String::new()));
        let written = Arc::clone(&log);
        std::thread::spawn(move || {
            for line in BufReader::new(errors).lines().map_while(Result::ok) {
                let mut log = written.lock().expect("nobody panics with it");
                log.push_str(&line);
                log.push('\n');
            }
        });
        let agent = agent();
        Ok(Self {
            child,
            url,
            agent,
            log,
        })
    }

    /// Whether the process, which answers no more, has ended by itself. Its connections are closed
    /// before it is gone.
    pub(crate) fn has_ended(&mut self) -> bool {
        let started = Instant::now();
        while started.elapsed() < TIMEOUT {
            if self
                .child
                .try_wait()
                .expect("a child can be asked")
                .is_some()
            {
                return true;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        false
    }

    /// The line of the log that has all these texts, once it is there.
    pub(crate) fn logged(&self, texts: &[&str]) -> String {
        let started = Instant::now();
        loop {
            if let Some(line) = self.logged_so_far(texts) {
                return line;
            }
            let log = self.log.lock().expect("nobody panics with it");
            assert!(started.elapsed() < TIMEOUT, "no {texts:?} in\n{log}");
            drop(log);
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// The same, if the line is there.
    pub(crate) fn logged_so_far(&self, texts: &[&str]) -> Option<String> {
        let log = self.log.lock().expect("nobody panics with it");
        let mut lines = log.lines();
        let line = lines.find(|line| texts.iter().all(|text| line.contains(text)));
        line.map(str::to_owned)
    }

    /// The process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// A client of its own connections, for another thread.
    pub(crate) fn client(&self) -> Client {
        Client::of(&self.url)
    }

    /// Sends a request that must be answered; `path` starts after the server's address.
    pub(crate) fn ask(&self, method: &str, path: &str, body: &str) -> Answer {
        let client = Client {
            agent: self.agent.clone(),
            url: self.url.clone(),
            watch: None,
            authorization: None,
        };
        client.try_ask(method, path, body).expect("an answer")
    }

    /// As [`Server::ask`], and the answer must be one of success.
    pub(crate) fn must(&self, method: &str, path: &str, body: &str) -> Json {
        let (status, answer) = self.ask(method, path, body);
        assert!(
            (200..300).contains(&status),
            "{method} {path}: {status} {answer}"
        );
        answer
    }

    /// SIGKILL; returns when the process is gone.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("a running process can be killed");
        self.child.wait().expect("a killed process ends");
    }

    /// SIGTERM; waits for the end and returns how it ended and how long that took.
    pub(crate) fn terminate(self) -> (ExitStatus, Duration) {
        send_signal(self.id(), "TERM");
        self.wait()
    }

    /// Waits for the end after a signal; returns how it ended and how long that took.
    pub(crate) fn wait(mut self) -> (ExitStatus, Duration) {
        let started = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("a child can be asked") {
                return (status, started.elapsed());
            }
            assert!(started.elapsed() < TIMEOUT, "the server does not stop");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends requests; answers may be missing because the server died.
#[derive(Clone)]
pub(crate) struct Client {
    agent: ureq::Agent,
    url: String,
    watch: Option<Watcher>,
    authorization: Option<String>,
}

/// Is notified of every request of a client: method, path, when it began, and the answer if there
/// was one.
pub(crate) type Watcher = Arc<dyn Fn(&str, &str, Instant, Option<&Answer>) + Send + Sync>;

fn agent() -> ureq::Agent {
    ureq::Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(TIMEOUT))
        .build()
        .new_agent()
}

impl Client {
    /// A client of the server at that address.
    pub(crate) fn of(url: &str) -> Self {
        Self {
            agent: agent(),
            url: url.to_owned(),
            watch: None,
            authorization: None,
        }
    }

    /// The same, saying with this header who it is.
    pub(crate) fn authorized(url: &str, header: &str) -> Self {
        Self {
            authorization: Some(header.to_owned()),
            ..Self::of(url)
        }
    }

    /// The same, telling somebody of all that it does.
    #[cfg_attr(
        not(feature = "engines"),
        expect(dead_code, reason = "faults of clusters are watched")
    )]
    pub(crate) fn watched(url: &str, watch: Watcher) -> Self {
        Self {
            watch: Some(watch),
            ..Self::of(url)
        }
    }

    /// The answer, or nothing if there was none.
    pub(crate) fn try_ask(&self, method: &str, path: &str, body: &str) -> Option<Answer> {
        let started = Instant::now();
        let answer = self.exchange(method, path, body);
        if let Some(watch) = &self.watch {
            watch(method, path, started, answer.as_ref());
        }
        answer
    }

    fn exchange(&self, method: &str, path: &str, body: &str) -> Option<Answer> {
        let mut request = ureq::http::Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.url))
            .header("content-type", "application/json");
        if let Some(header) = &self.authorization {
            request = request.header("authorization", header);
        }
        let answer = if body.is_empty() {
            self.agent.run(request.body(()).expect("a request"))
        } else {
            self.agent
                .run(request.body(body.to_owned()).expect("a request"))
        };
        let mut answer = answer.ok()?;
        let status = answer.status().as_u16();
        let text = answer
            .body_mut()
            .with_config()
            .limit(1 << 30)
            .read_to_string()
            .ok()?;
        let json = serde_json::from_str(&text).unwrap_or(Json::String(text));
        Some((status, json))
    }
}

/// Sends a signal by its name.
pub(crate) fn send_signal(process: u32, name: &str) {
    let status = Command::new("kill")
        .args([&format!("-{name}"), &process.to_string()])
        .status();
    assert!(
        status.expect("kill can be run").success(),
        "kill -{name} {process}"
    );
}

/// Runs the binary with `arguments`; returns its exit code and all it wrote.
pub(crate) fn run(arguments: &[&str]) -> (i32, String) {
    let output = Command::new(VARVE)
        .args(arguments)
        .output()
        .expect("the binary runs");
    let text =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    (output.status.code().unwrap_or(-1), text.concat())
}

/// A file in a folder.
pub(crate) fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).expect("a file can be written");
    path
}

/// A path as an argument.
pub(crate) fn shown(path: &Path) -> &str {
    path.to_str().expect("test paths are text")
}
