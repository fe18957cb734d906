//! What must not outlive the tool: the processes that it started, and its temporary folders.
//!
//! They end with the values here that own them. When SIGINT or SIGTERM ends the tool, a thread of
//! its own ends them before; an interrupt a second or more after that ends the tool at once. A tool
//! that is killed, or ends so, can do nothing any more: then the kernel ends the processes, since
//! each of them asked for that before it became what it is ([`become_tethered`]); temporary folders
//! stay.

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

/// How long a process may take to stop in order.
const TIMEOUT: Timeout = Timeout {
    silent: Duration::from_secs(10),
    in_all: Duration::from_secs(600),
};
/// How long one that was killed may take to be gone: one that waits for a disk is gone only when
/// that answers.
const KILLED: Duration = Duration::from_secs(10);
/// How often a process that stops is looked at.
const LOOK: Duration = Duration::from_millis(20);
/// Interrupts this long after the first signal may be of the same Ctrl-C: the terminal sends one,
/// and so may all that the tool runs in, a little later.
const ONE_PRESS: Duration = Duration::from_secs(1);
/// How often a folder is removed again in which something was still written.
const REMOVALS: u32 = 50;

/// How a process is ended that is still there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// At once: its data goes as well.
    Kill,
    /// In order: what it acknowledged may not all be on disk yet.
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

/// How long is waited for a process that was asked to stop.
#[derive(Debug, Clone, Copy)]
struct Timeout {
    /// After this it is said that it is waited for.
    silent: Duration,
    /// After this it is killed.
    in_all: Duration,
}

impl Timeout {
    /// Waits until `has_ended`; whether that came without a kill.
    fn wait(self, pid: Pid, mut has_ended: impl FnMut() -> bool) -> bool {
        let pid_shown = pid.as_raw_nonzero();
        let silently = self.silent.min(self.in_all);
        if wait_until(silently, &mut has_ended) {
            return true;
        }
        let left = self.in_all.saturating_sub(silently);
        if !left.is_zero() {
            let left = left.as_secs();
            tell(&format!(
                "waiting for process {pid_shown} to stop, {left} s more"
            ));
        }
        if wait_until(left, &mut has_ended) {
            return true;
        }
        let seconds = self.in_all.as_secs();
        tell(&format!(
            "process {pid_shown} has not stopped after {seconds} s: killed"
        ));
        let _ = kill_process(pid, Signal::KILL);
        wait_until(KILLED, &mut has_ended);
        false
    }
}

/// Says something, if there is still anybody to say it to: a terminal may be gone.
fn tell(text: &str) {
    let _ = writeln!(io::stderr(), "varve: {text}");
}

/// Waits until `is_so`, but not longer than this; whether it came.
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

/// The program that runs the tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program {
    /// It has all commands of the tool below the word `bench`, and can so be started again as what
    /// others are tethered by.
    Varve,
    /// Another one, such as a test: processes that it starts may outlive it when it is killed.
    Other,
}

struct Owned {
    program: Program,
    watching: bool,
    processes: Vec<(Pid, Ending)>,
    folders: Vec<PathBuf>,
}

static OWNED: Mutex<Owned> = Mutex::new(Owned {
    program: Program::Other,
    watching: false,
    processes: Vec::new(),
    folders: Vec::new(),
});

/// A signal has come: what is measured from now on is of a server that ends.
static ENDING: AtomicBool = AtomicBool::new(false);

fn owned() -> MutexGuard<'static, Owned> {
    OWNED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Says which program this is, before it starts any other.
pub(crate) fn set_program(program: Program) {
    owned().program = program;
}

/// Does not return when a signal has come; the process is about to end.
pub(crate) fn stand_still_if_ending() {
    while ENDING.load(Ordering::SeqCst) {
        std::thread::park();
    }
}

/// Begins to watch for signals, once.
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
        // The next signal must be seen while this one is obeyed.
        let ending = std::thread::Builder::new().name("ending".to_owned());
        if ending.spawn(move || obey(number)).is_err() {
            obey(number);
        }
        let repeated = repeated(at, next);
        tell("ended at once; a server that has not stopped goes on with that");
        exit(repeated);
    };
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(wait)
        .context("a thread that waits for signals")?;
    owned.watching = true;
    Ok(())
}

/// Waits for a signal that says once more what the first one said: an interrupt, and not of the
/// same Ctrl-C.
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

/// As a shell reports that a signal ended a process.
fn exit(number: i32) -> ! {
    std::process::exit(128 + number)
}

/// Ends all processes, then removes all folders. Who wants to end or remove one of them meanwhile
/// waits, for ever.
fn end_all() {
    ENDING.store(true, Ordering::SeqCst);
    let owned = owned();
    for (pid, ending) in &owned.processes {
        // It may have ended by itself.
        let _ = kill_process(*pid, ending.signal());
    }
    for (pid, _) in &owned.processes {
        // One that was waited for meanwhile is nobody's child any more.
        let has_ended = || !matches!(waitpid(Some(*pid), WaitOptions::NOHANG), Ok(None));
        TIMEOUT.wait(*pid, has_ended);
    }
    for folder in &owned.folders {
        remove(folder);
    }
    std::mem::forget(owned);
}

/// Removes a folder, in which threads of this process may still write.
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
    /// Makes one.
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

/// A process that this one has started.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    pid: Pid,
    timeout: Timeout,
}

impl Process {
    /// Starts `command`: its program, its arguments, and what `prepare` sets besides.
    ///
    /// The process ends with the thread that calls this, so that must be one that lives as long as
    /// the process is needed.
    ///
    /// # Errors
    /// When this program cannot be started again. Whether `command` could be started is seen in
    /// what it prints.
    pub(crate) fn start(
        command: &Command,
        ending: Ending,
        prepare: impl FnOnce(&mut Command) -> &mut Command,
    ) -> Result<Self> {
        let mut owned = owned();
        watch(&mut owned)?;
        let mut tethered = tethered(command, ending, owned.program);
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

    /// Has it stop in order, and waits for that.
    ///
    /// # Errors
    /// When it takes too long, and so was killed, or ends otherwise than in order.
    pub(crate) fn stop(mut self) -> Result<()> {
        // It may have ended by itself; then its status says how.
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

    /// Waits until it ends by itself.
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
        // A process that was waited for has given its number back.
        if let Ok(None) = self.child.try_wait() {
            let _ = kill_process(self.pid, ending.signal());
            self.await_end();
        }
    }
}

/// `command` by way of [`become_tethered`], which is a command of `varve bench`. Other programs
/// have none, and start it as it is.
fn tethered(command: &Command, ending: Ending, program: Program) -> Command {
    let mut tethered = match program {
        // This very program, also when its file was replaced meanwhile.
        Program::Varve => Command::new("/proc/self/exe"),
        Program::Other => Command::new(command.get_program()),
    };
    if program == Program::Varve {
        let parent = std::process::id().to_string();
        tethered.args(["bench", "tethered", "--parent", &parent]);
        if ending == Ending::Stop {
            tethered.arg("--stop");
        }
        tethered.arg("--").arg(command.get_program());
    }
    tethered.args(command.get_args());
    tethered
}

/// Becomes `command`, as a process that the kernel ends, in this manner, when the thread that
/// started it is gone.
///
/// # Errors
/// When the parent is gone already, or the command cannot be started.
pub(crate) fn become_tethered(parent: u32, ending: Ending, command: &[OsString]) -> Result<()> {
    let (program, arguments) = command.split_first().context("a command")?;
    // Outlives `exec`, but not a fork: so only the process itself can ask for it.
    set_parent_process_death_signal(Some(ending.signal()))
        .context("asking to end with the parent")?;
    let is_there = |pid: Pid| pid.as_raw_nonzero().get().unsigned_abs() == parent;
    let is_there = getppid().is_some_and(is_there);
    ensure!(is_there, "the process that wanted this one is gone");
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

    /// A process that does not heed SIGTERM, and what its owner waits for it.
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
    fn the_program_says_whether_it_can_be_a_tether() {
        let mut command = Command::new("true");
        command.arg("--words");
        let words = |program| {
            let tethered = tethered(&command, Ending::Stop, program);
            let words = std::iter::once(tethered.get_program()).chain(tethered.get_args());
            words
                .map(|it| it.to_string_lossy().into_owned())
                .collect::<Vec<_>>()
                .join(" ")
        };
        let parent = std::process::id();
        assert_eq!(
            words(Program::Varve),
            format!("/proc/self/exe bench tethered --parent {parent} --stop -- true --words")
        );
        assert_eq!(words(Program::Other), "true --words");
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
        assert!(error.contains("is gone"), "{error}");
    }
}
