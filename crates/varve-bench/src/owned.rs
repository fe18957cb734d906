//! What must not outlive the tool: the processes that it started, and its temporary folders.
//!
//! They end with the values here that own them. When SIGINT or SIGTERM ends the tool, a thread of its own ends them before.
//! A tool that is killed can do nothing any more: then the kernel ends the processes, since each of them asked for that
//! before it became what it is ([`become_tethered`]); temporary folders stay.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use rustix::process::{
    Pid, Signal, WaitOptions, getppid, kill_process, set_parent_process_death_signal, waitpid,
};
use tokio::signal::unix::{SignalKind, signal};

/// How long a process may take to stop in order.
const STOPPING: Duration = Duration::from_secs(600);
/// How often a process that stops is looked at.
const LOOK: Duration = Duration::from_millis(20);
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

/// A signal has come: what is measured from now on is of a server that ends.
static ENDING: AtomicBool = AtomicBool::new(false);

fn owned() -> MutexGuard<'static, Owned> {
    OWNED.lock().unwrap_or_else(PoisonError::into_inner)
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
    let wait = move || {
        let number = runtime.block_on(async {
            tokio::select! {
                _ = interrupt.recv() => Signal::INT.as_raw(),
                _ = terminate.recv() => Signal::TERM.as_raw(),
                _ = hangup.recv() => Signal::HUP.as_raw(),
            }
        });
        end_all();
        // As a shell tells that a signal ended a process.
        std::process::exit(128 + number);
    };
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(wait)
        .context("a thread that waits for signals")?;
    owned.watching = true;
    Ok(())
}

/// Ends all processes, then removes all folders. Who wants to end or remove one of them meanwhile waits, for ever.
fn end_all() {
    ENDING.store(true, Ordering::SeqCst);
    let owned = owned();
    for (pid, ending) in &owned.processes {
        // It may have ended by itself.
        let _ = kill_process(*pid, ending.signal());
    }
    for (pid, _) in &owned.processes {
        let _ = waitpid(Some(*pid), WaitOptions::empty());
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
}

impl Process {
    /// Starts `command`: its program, its arguments, and what `prepare` sets besides.
    ///
    /// The process ends with the thread that calls this, so that must be one that lives as long as the process is needed.
    ///
    /// # Errors
    /// When this program cannot be started again. Whether `command` could be started is seen in what it prints.
    pub(crate) fn start(
        command: &Command,
        ending: Ending,
        prepare: impl FnOnce(&mut Command) -> &mut Command,
    ) -> Result<Self> {
        let mut owned = owned();
        watch(&mut owned)?;
        let mut tethered = tethered(command, ending);
        let child = prepare(&mut tethered)
            .spawn()
            .with_context(|| format!("starting {command:?}"))?;
        let pid = Pid::from_child(&child);
        owned.processes.push((pid, ending));
        Ok(Self { child, pid })
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
    /// When it takes too long, or ends otherwise than in order.
    pub(crate) fn stop(mut self) -> Result<()> {
        // It may have ended by itself; then its status tells how.
        let _ = kill_process(self.pid, Signal::TERM);
        let started = Instant::now();
        while started.elapsed() < STOPPING {
            if let Some(status) = self.child.try_wait()? {
                ensure!(
                    status.success(),
                    "the server did not stop in order: {status}"
                );
                return Ok(());
            }
            std::thread::sleep(LOOK);
        }
        bail!("the server has not stopped after {} s", STOPPING.as_secs())
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
            let _ = self.child.wait();
        }
    }
}

/// `command` by way of [`become_tethered`], which is a command of `varve bench`. The programs of tests, which call this crate
/// themselves, have none, and start it as it is.
fn tethered(command: &Command, ending: Ending) -> Command {
    let is_varve = std::env::args_os()
        .nth(1)
        .is_some_and(|word| word == "bench");
    let mut tethered = match is_varve {
        // This very program, also when its file was replaced meanwhile.
        true => Command::new("/proc/self/exe"),
        false => Command::new(command.get_program()),
    };
    if is_varve {
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

/// Becomes `command`, as a process that the kernel ends, in this manner, when the thread that started it is gone.
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
