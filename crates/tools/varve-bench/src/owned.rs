//! The resources that must not outlive the tool: its child processes and its temporary folders.
//!
//! They are released when their owning values are dropped. On SIGINT, SIGTERM or SIGHUP, a thread
//! releases all of them and then exits. If the tool is killed, the kernel kills the children, since
//! each of them requested a parent-death signal before `exec` ([`become_tethered`]); temporary
//! folders remain.

use std::ffi::OsString;
use std::fs;
use std::io::{self, BufRead as _, BufReader, Lines};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use rustix::process::{
    Pid, Signal, WaitOptions, getppid, kill_process, set_parent_process_death_signal, waitpid,
};
use tokio::signal::unix::{SignalKind, signal};

/// How long a process may take for an orderly stop.
const STOP: Duration = Duration::from_secs(600);
/// How long the tool waits for a killed process, which may be blocked in disk I/O.
const KILLED: Duration = Duration::from_secs(10);
/// The interval at which a stopping process is polled.
const LOOK: Duration = Duration::from_millis(20);
/// Attempts to remove a folder in which something is still being written.
const REMOVALS: u32 = 50;

/// Waits until `is_so`, for `longest` at most. Returns whether it became true.
fn wait_until(longest: Duration, is_so: &mut impl FnMut() -> bool) -> bool {
    let started = Instant::now();
    while !is_so() {
        if started.elapsed() >= longest {
            return false;
        }
        std::thread::sleep(LOOK);
    }
    true
}

struct Owned {
    watching: bool,
    processes: Vec<Pid>,
    folders: Vec<PathBuf>,
}

static OWNED: Mutex<Owned> = Mutex::new(Owned {
    watching: false,
    processes: Vec::new(),
    folders: Vec::new(),
});

/// Set when a signal has come: measurements from now on would be of a stopping server.
static ENDING: AtomicBool = AtomicBool::new(false);

fn owned() -> MutexGuard<'static, Owned> {
    OWNED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Blocks for ever once a signal has come; the process is about to exit.
pub(crate) fn stand_still_if_ending() {
    while ENDING.load(Ordering::SeqCst) {
        std::thread::park();
    }
}

/// Starts the thread that handles signals, once.
fn watch(owned: &mut Owned) -> Result<()> {
    if owned.watching {
        return Ok(());
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()?;
    let kinds = [
        SignalKind::interrupt(),
        SignalKind::terminate(),
        SignalKind::hangup(),
    ];
    for kind in kinds {
        let _context = runtime.enter();
        let mut signals = signal(kind)?;
        runtime.spawn(async move {
            signals.recv().await;
            end_all();
            // The code by which a shell reports a process that a signal ended.
            std::process::exit(128 + kind.as_raw_value());
        });
    }
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || runtime.block_on(std::future::pending::<()>()))
        .context("a thread that waits for signals")?;
    owned.watching = true;
    Ok(())
}

/// Ends all processes, then removes all folders. Keeps the lock, so that other threads that want to
/// end or remove one of them block for ever.
fn end_all() {
    ENDING.store(true, Ordering::SeqCst);
    let owned = owned();
    for pid in &owned.processes {
        // The process may have ended by itself.
        let _ = kill_process(*pid, Signal::KILL);
    }
    for pid in &owned.processes {
        // A process that another thread has waited for is no child any more.
        let mut has_ended = || !matches!(waitpid(Some(*pid), WaitOptions::NOHANG), Ok(None));
        wait_until(KILLED, &mut has_ended);
    }
    for folder in &owned.folders {
        remove(folder);
    }
    std::mem::forget(owned);
}

/// Removes a folder in which threads of this process may still write.
fn remove(folder: &Path) {
    for _ in 0..REMOVALS {
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => std::thread::sleep(LOOK),
            _ => return,
        }
    }
}

#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Creates a temporary folder.
    ///
    /// # Errors
    /// When the system refuses.
    pub(crate) fn new() -> Result<Self> {
        let mut owned = owned();
        watch(&mut owned)?;
        let folder = tempfile::Builder::new().prefix("varve-bench-").tempdir();
        let path = folder.context("a temporary folder")?.keep();
        owned.folders.push(path.clone());
        Ok(Self { path })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        remove(&self.path);
        owned().folders.retain(|path| *path != self.path);
    }
}

/// A child process of this one.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    pid: Pid,
    stop_max: Duration,
}

impl Process {
    /// Starts `command` with its arguments. Returns it with its output.
    ///
    /// The process ends with the calling thread. So the thread must live as long as the process is
    /// needed.
    ///
    /// # Errors
    /// When this program cannot be started again. A failure to start `command` itself shows only in
    /// its output.
    pub(crate) fn start(command: &Command) -> Result<(Self, Lines<BufReader<ChildStdout>>)> {
        let mut owned = owned();
        watch(&mut owned)?;
        let mut child = tethered(command, cfg!(test))
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("starting {command:?}"))?;
        let output = child.stdout.take().context("its output")?;
        let pid = Pid::from_child(&child);
        owned.processes.push(pid);
        let process = Self {
            child,
            pid,
            stop_max: STOP,
        };
        Ok((process, BufReader::new(output).lines()))
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Stops the process in order and waits for its end.
    ///
    /// # Errors
    /// When the process is killed after the time limit, or exits with a failure.
    pub(crate) fn stop(mut self) -> Result<()> {
        // The process may have ended by itself; then its status says how.
        let _ = kill_process(self.pid, Signal::TERM);
        let seconds = self.stop_max;
        let stopped = self.await_end(seconds);
        ensure!(
            stopped,
            "the server has not stopped after {seconds:?}: killed"
        );
        let status = self.child.wait()?;
        ensure!(
            status.success(),
            "the server did not stop in order: {status}"
        );
        Ok(())
    }

    fn await_end(&mut self, longest: Duration) -> bool {
        let child = &mut self.child;
        wait_until(longest, &mut || !matches!(child.try_wait(), Ok(None)))
    }

    /// Waits until the process ends by itself.
    ///
    /// # Errors
    /// When the system refuses.
    pub(crate) fn wait(mut self) -> Result<ExitStatus> {
        Ok(self.child.wait()?)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        owned().processes.retain(|pid| *pid != self.pid);
        // The process number is only valid until the process was waited for.
        if let Ok(None) = self.child.try_wait() {
            let _ = kill_process(self.pid, Signal::KILL);
            self.await_end(KILLED);
        }
    }
}

/// A command that starts `command` through [`become_tethered`], a command of this program. The
/// program of unit tests does not have it, and starts `command` `directly`.
fn tethered(command: &Command, directly: bool) -> Command {
    let mut tethered = match directly {
        true => Command::new(command.get_program()),
        // The running program, even if its file was replaced.
        false => Command::new("/proc/self/exe"),
    };
    if !directly {
        let parent = std::process::id().to_string();
        tethered.args(["tethered", "--parent", &parent]);
        tethered.arg("--").arg(command.get_program());
    }
    tethered.args(command.get_args());
    tethered
}

/// Replaces this process by `command`, after asking the kernel to kill it when the thread that
/// started it ends.
///
/// # Errors
/// When the parent has ended already, or the command cannot be started.
pub(crate) fn become_tethered(parent: u32, command: &[OsString]) -> Result<()> {
    let (program, arguments) = command.split_first().context("a command")?;
    // Survives `exec` but not `fork`, so only the process itself can request it.
    set_parent_process_death_signal(Some(Signal::KILL)).context("asking to end with the parent")?;
    let is_there = |pid: Pid| pid.as_raw_nonzero().get().unsigned_abs() == parent;
    let is_there = getppid().is_some_and(is_there);
    ensure!(is_there, "the process that started this one has ended");
    let error = Command::new(program).args(arguments).exec();
    Err(error).with_context(|| format!("starting {}", Path::new(program).display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_goes_with_all_that_is_in_it() {
        let folder = Folder::new().expect("a folder");
        let path = folder.path().to_owned();
        fs::create_dir(path.join("in")).expect("a folder in it");
        fs::write(path.join("in/file"), "text").expect("a file in that");
        assert!(owned().folders.contains(&path));
        drop(folder);
        assert!(!path.exists());
        assert!(!owned().folders.contains(&path));
    }

    /// A process that ignores SIGTERM.
    fn stubborn() -> Process {
        let mut command = Command::new("sh");
        command.args(["-c", "trap '' TERM; echo ready; exec sleep 600"]);
        let (mut process, mut lines) = Process::start(&command).expect("it starts");
        let ready = lines.next();
        assert_eq!(ready.expect("a line").expect("text"), "ready");
        process.stop_max = Duration::from_millis(50);
        process
    }

    fn is_there(pid: Pid) -> bool {
        rustix::process::test_kill_process(pid).is_ok()
    }

    #[test]
    fn what_does_not_stop_is_killed() {
        let process = stubborn();
        let pid = process.pid;
        drop(process);
        assert!(!is_there(pid), "dropped");

        let process = stubborn();
        let pid = process.pid;
        let error = process.stop().expect_err("it does not stop").to_string();
        assert!(error.contains("has not stopped"), "{error}");
        assert!(!is_there(pid), "asked to stop");
    }

    #[test]
    fn a_child_is_started_through_this_program() {
        let mut command = Command::new("true");
        command.arg("--words");
        let words = |directly| {
            let tethered = tethered(&command, directly);
            let words = std::iter::once(tethered.get_program()).chain(tethered.get_args());
            words
                .map(|it| it.to_string_lossy().into_owned())
                .collect::<Vec<_>>()
                .join(" ")
        };
        let parent = std::process::id();
        assert_eq!(
            words(false),
            format!("/proc/self/exe tethered --parent {parent} -- true --words")
        );
        assert_eq!(words(true), "true --words");
    }

    #[test]
    fn what_has_no_parent_does_not_start() {
        // This test's own parent is not the process with number 0.
        let thread = std::thread::spawn(|| {
            let error = become_tethered(0, &["true".into()]).expect_err("no parent");
            set_parent_process_death_signal(None).expect("taken back");
            error.to_string()
        });
        let error = thread.join().expect("no panic");
        assert!(error.contains("has ended"), "{error}");
    }
}
