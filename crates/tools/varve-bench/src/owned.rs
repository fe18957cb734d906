//! The resources that must not outlive the tool: its child processes and its temporary folders.
//!
//! They are released when their owning values are dropped. On SIGINT, SIGTERM or SIGHUP, a thread
//! releases all of them and then exits; an interrupt a second or more later exits at once. If the
//! tool is killed or exits at once, the kernel ends the children, since each of them requested a
//! parent-death signal before `exec` ([`become_tethered`]); temporary folders remain.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use rustix::process::{
    Pid, Signal, WaitOptions, getppid, kill_process, set_parent_process_death_signal, waitpid,
};
use tokio::signal::unix::{SignalKind, signal};

/// How long a process may take for an orderly stop.
const TIMEOUT: Timeout = Timeout {
    silent: Duration::from_secs(10),
    in_all: Duration::from_secs(600),
};
/// How long the tool waits for a killed process, which may be blocked in disk I/O.
const KILLED: Duration = Duration::from_secs(10);
/// The interval at which a stopping process is polled.
const LOOK: Duration = Duration::from_millis(20);
/// Interrupts within this time after the first signal may be of the same Ctrl-C: the terminal sends
/// one, and the programs that run the tool may send another a little later.
const ONE_PRESS: Duration = Duration::from_secs(1);
/// Attempts to remove a folder in which something is still being written.
const REMOVALS: u32 = 50;

/// How a process that is still running is ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// With SIGKILL: its data is discarded as well.
    Kill,
    /// With SIGTERM: acknowledged writes may not be on disk yet.
    Stop,
}

impl Ending {
    const fn signal(self) -> Signal {
        match self {
            Self::Kill => Signal::KILL,
            Self::Stop => Signal::TERM,
        }
    }
}

/// The time limits of an orderly stop.
#[derive(Debug, Clone, Copy)]
struct Timeout {
    /// After this time a message says that the tool is waiting.
    silent: Duration,
    /// After this time the process is killed.
    in_all: Duration,
}

impl Timeout {
    /// Waits until `has_ended`. Returns whether the process ended without a kill.
    fn wait(self, pid: Pid, mut has_ended: impl FnMut() -> bool) -> bool {
        let pid_shown = pid.as_raw_nonzero();
        let silently = self.silent.min(self.in_all);
        if wait_until(silently, &mut has_ended) {
            return true;
        }
        let left = self.in_all.saturating_sub(silently);
        if !left.is_zero() {
            let left = left.as_secs();
            print_message(&format!(
                "waiting for process {pid_shown} to stop, {left} s more"
            ));
        }
        if wait_until(left, &mut has_ended) {
            return true;
        }
        let seconds = self.in_all.as_secs();
        print_message(&format!(
            "process {pid_shown} has not stopped after {seconds} s: killed"
        ));
        let _ = kill_process(pid, Signal::KILL);
        wait_until(KILLED, &mut has_ended);
        false
    }
}

/// Prints a message to standard error and ignores errors: the terminal may be closed.
fn print_message(text: &str) {
    let _ = writeln!(io::stderr(), "varve-bench: {text}");
}

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
    processes: Vec<(Pid, Ending)>,
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
    let (mut interrupt, mut terminate, mut hangup) = {
        let _context = runtime.enter();
        let on = |kind| signal(kind);
        (
            on(SignalKind::interrupt())?,
            on(SignalKind::terminate())?,
            on(SignalKind::hangup())?,
        )
    };
    let mut next = move || {
        let signal = runtime.block_on(async {
            tokio::select! {
                _ = interrupt.recv() => Signal::INT,
                _ = terminate.recv() => Signal::TERM,
                _ = hangup.recv() => Signal::HUP,
            }
        });
        (signal.as_raw(), Instant::now())
    };
    let wait = move || {
        let (number, at) = next();
        // The next signal must be received while this one is handled.
        let ending = std::thread::Builder::new().name("ending".to_owned());
        if ending.spawn(move || obey(number)).is_err() {
            obey(number);
        }
        let repeated = repeated(at, next);
        print_message("ended at once; a server that has not stopped yet continues to stop");
        exit(repeated);
    };
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(wait)
        .context("a thread that waits for signals")?;
    owned.watching = true;
    Ok(())
}

/// Waits for an interrupt that is not of the same Ctrl-C as the first signal.
fn repeated(first_at: Instant, mut next: impl FnMut() -> (i32, Instant)) -> i32 {
    loop {
        let (number, at) = next();
        if number == Signal::INT.as_raw() && at.duration_since(first_at) >= ONE_PRESS {
            return number;
        }
    }
}

fn obey(number: i32) {
    end_all();
    exit(number);
}

/// Exits with the code by which a shell reports a process that a signal ended.
fn exit(number: i32) -> ! {
    std::process::exit(128 + number)
}

/// Ends all processes, then removes all folders. Keeps the lock, so that other threads that want to
/// end or remove one of them block for ever.
fn end_all() {
    ENDING.store(true, Ordering::SeqCst);
    let owned = owned();
    for (pid, ending) in &owned.processes {
        // The process may have ended by itself.
        let _ = kill_process(*pid, ending.signal());
    }
    for (pid, _) in &owned.processes {
        // A process that another thread has waited for is no child any more.
        let has_ended = || !matches!(waitpid(Some(*pid), WaitOptions::NOHANG), Ok(None));
        TIMEOUT.wait(*pid, has_ended);
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

/// A temporary folder.
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
    timeout: Timeout,
}

impl Process {
    /// Starts `command` with its arguments, after `prepare` has set further options.
    ///
    /// The process ends with the calling thread. So the thread must live as long as the process is
    /// needed.
    ///
    /// # Errors
    /// When this program cannot be started again. A failure to start `command` itself shows only in
    /// its output.
    pub(crate) fn start(
        command: &Command,
        ending: Ending,
        prepare: impl FnOnce(&mut Command) -> &mut Command,
    ) -> Result<Self> {
        let mut owned = owned();
        watch(&mut owned)?;
        let mut tethered = tethered(command, ending, cfg!(test));
        let child = prepare(&mut tethered)
            .spawn()
            .with_context(|| format!("starting {command:?}"))?;
        let pid = Pid::from_child(&child);
        owned.processes.push((pid, ending));
        let timeout = TIMEOUT;
        Ok(Self {
            child,
            pid,
            timeout,
        })
    }

    pub(crate) fn child(&mut self) -> &mut Child {
        &mut self.child
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
        let stopped = self.await_end();
        let seconds = self.timeout.in_all.as_secs();
        ensure!(stopped, "the server has not stopped after {seconds} s");
        let status = self.child.wait()?;
        ensure!(
            status.success(),
            "the server did not stop in order: {status}"
        );
        Ok(())
    }

    fn await_end(&mut self) -> bool {
        let child = &mut self.child;
        self.timeout
            .wait(self.pid, || !matches!(child.try_wait(), Ok(None)))
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
        let mut owned = owned();
        let at = owned.processes.iter().position(|(pid, _)| *pid == self.pid);
        let ending = at.map_or(Ending::Kill, |at| owned.processes.swap_remove(at).1);
        drop(owned);
        // The process number is only valid until the process was waited for.
        if let Ok(None) = self.child.try_wait() {
            let _ = kill_process(self.pid, ending.signal());
            self.await_end();
        }
    }
}

/// A command that starts `command` through [`become_tethered`], a command of this program. The
/// program of unit tests does not have it, and starts `command` `directly`.
fn tethered(command: &Command, ending: Ending, directly: bool) -> Command {
    let mut tethered = match directly {
        true => Command::new(command.get_program()),
        // The running program, even if its file was replaced.
        false => Command::new("/proc/self/exe"),
    };
    if !directly {
        let parent = std::process::id().to_string();
        tethered.args(["tethered", "--parent", &parent]);
        if ending == Ending::Stop {
            tethered.arg("--stop");
        }
        tethered.arg("--").arg(command.get_program());
    }
    tethered.args(command.get_args());
    tethered
}

/// Replaces this process by `command`, after asking the kernel to end it in this manner when the
/// thread that started it ends.
///
/// # Errors
/// When the parent has ended already, or the command cannot be started.
pub(crate) fn become_tethered(parent: u32, ending: Ending, command: &[OsString]) -> Result<()> {
    let (program, arguments) = command.split_first().context("a command")?;
    // Survives `exec` but not `fork`, so only the process itself can request it.
    set_parent_process_death_signal(Some(ending.signal()))
        .context("asking to end with the parent")?;
    let is_there = |pid: Pid| pid.as_raw_nonzero().get().unsigned_abs() == parent;
    let is_there = getppid().is_some_and(is_there);
    ensure!(is_there, "the process that started this one has ended");
    let error = Command::new(program).args(arguments).exec();
    Err(error).with_context(|| format!("starting {}", Path::new(program).display()))
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader};
    use std::process::Stdio;

    use super::*;

    #[test]
    fn what_comes_of_the_same_press_says_nothing_more() {
        let first_at = Instant::now();
        let (interrupt, terminate) = (Signal::INT.as_raw(), Signal::TERM.as_raw());
        let signals = [
            (interrupt, 0),
            (interrupt, 5),
            (terminate, 900),
            (interrupt, 999),
            (terminate, 2_000),
            (interrupt, 2_001),
            (interrupt, 2_002),
        ];
        let mut left = signals.into_iter();
        let next = || {
            let (number, after) = left.next().expect("one of them is enough");
            (number, first_at + Duration::from_millis(after))
        };
        assert_eq!(repeated(first_at, next), interrupt);
        assert_eq!(left.len(), 1, "the sixth one says it again");
    }

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
    fn stubborn(ending: Ending) -> Process {
        let mut command = Command::new("sh");
        command.args(["-c", "trap '' TERM; echo ready; exec sleep 600"]);
        let started = Process::start(&command, ending, |it| it.stdout(Stdio::piped()));
        let mut process = started.expect("it starts");
        let output = process.child().stdout.take().expect("piped");
        let ready = BufReader::new(output).lines().next();
        assert_eq!(ready.expect("a line").expect("text"), "ready");
        process.timeout = Timeout {
            silent: Duration::from_millis(10),
            in_all: Duration::from_millis(50),
        };
        process
    }

    fn is_there(pid: Pid) -> bool {
        rustix::process::test_kill_process(pid).is_ok()
    }

    #[test]
    fn what_does_not_stop_is_killed() {
        let process = stubborn(Ending::Stop);
        let pid = process.pid;
        drop(process);
        assert!(!is_there(pid), "dropped");

        let process = stubborn(Ending::Stop);
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
            let tethered = tethered(&command, Ending::Stop, directly);
            let words = std::iter::once(tethered.get_program()).chain(tethered.get_args());
            words
                .map(|it| it.to_string_lossy().into_owned())
                .collect::<Vec<_>>()
                .join(" ")
        };
        let parent = std::process::id();
        assert_eq!(
            words(false),
            format!("/proc/self/exe tethered --parent {parent} --stop -- true --words")
        );
        assert_eq!(words(true), "true --words");
    }

    #[test]
    fn what_has_no_parent_does_not_start() {
        // This test's own parent is not the process with number 0.
        let thread = std::thread::spawn(|| {
            let error = become_tethered(0, Ending::Kill, &["true".into()]).expect_err("no parent");
            set_parent_process_death_signal(None).expect("taken back");
            error.to_string()
        });
        let error = thread.join().expect("no panic");
        assert!(error.contains("has ended"), "{error}");
    }
}
