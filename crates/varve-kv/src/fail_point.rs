//! Fail points: named points of the code at which a test can kill the process, make an operation
//! fail, or pause a thread.
//!
//! They are always compiled in, so that tests run the shipped code. A fail point that is not armed
//! costs one relaxed load. One of them can be armed per process, by the text
//! `<name>:<action>[:<n>]`, as the binary does from the environment variable `VARVE_FAIL_POINT`. It
//! acts only the *n*-th time that it is reached; *n* is 1 by default.
//!
//! | action | what happens |
//! |---|---|
//! | `kill` | the process ends at once, as by SIGKILL |
//! | `pause:<ms>` | the thread waits `<ms>` milliseconds |
//! | `io_error` | the operation fails, and whether it was carried out is unknown |
//! | `disk_full` | the operation fails for lack of disk space |

use std::io;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

/// The failures that a fail point may be armed with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Errors {
    /// None: there is no I/O at this point.
    None,
    /// Only `io_error`: the operation before this point may have been stored already.
    Io,
    /// `io_error` and `disk_full`.
    All,
}

/// A fail point.
#[derive(Debug)]
pub struct FailPoint {
    name: &'static str,
    errors: Errors,
    place: &'static str,
}

/// What an armed fail point does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    Kill,
    Pause(Duration),
    IoError,
    DiskFull,
}

/// The armed fail point. The pointer is only compared, never dereferenced.
static ARMED: AtomicPtr<FailPoint> = AtomicPtr::new(std::ptr::null_mut());
/// The action, and the visit at which it happens, counted from 1.
static PLAN: Mutex<(Action, u64)> = Mutex::new((Action::Kill, 1));
/// How often the armed fail point was reached.
static REACHED: AtomicU64 = AtomicU64::new(0);

impl FailPoint {
    /// Its name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The failures that it can be armed with.
    #[must_use]
    pub const fn errors(&self) -> Errors {
        self.errors
    }

    /// A description of the point in the work, for people.
    #[must_use]
    pub const fn place(&self) -> &'static str {
        self.place
    }

    /// Marks the point in the code: acts if this fail point is armed and it is the right visit.
    ///
    /// # Errors
    /// The failure that the fail point is armed with.
    #[inline]
    pub fn reach(&'static self) -> io::Result<()> {
        if !std::ptr::eq(ARMED.load(Ordering::Relaxed), self) {
            return Ok(());
        }
        self.act()
    }

    /// [`FailPoint::reach`] for a fail point that has no failures.
    #[inline]
    pub fn pass(&'static self) {
        debug_assert_eq!(self.errors, Errors::None, "{}", self.name);
        // `arm` refuses failures for these, so the result is always `Ok`.
        let _ = self.reach();
    }

    #[cold]
    fn act(&self) -> io::Result<()> {
        let (action, at) = *PLAN.lock();
        if REACHED.fetch_add(1, Ordering::AcqRel) + 1 != at {
            return Ok(());
        }
        match action {
            Action::Kill => kill(),
            Action::Pause(time) => {
                std::thread::sleep(time);
                Ok(())
            }
            Action::IoError => Err(io::Error::other(format!(
                "the fail point {} was told to fail",
                self.name
            ))),
            Action::DiskFull => Err(io::ErrorKind::StorageFull.into()),
        }
    }
}

/// Ends this process as SIGKILL does: nothing is flushed, closed or run.
fn kill() -> ! {
    let own = rustix::process::getpid();
    let _ = rustix::process::kill_process(own, rustix::process::Signal::KILL);
    // Not reached. If the signal is delayed, nothing else may run.
    std::process::abort()
}

/// Arms the fail point that `text` names (syntax: see the module) instead of the one armed before.
///
/// # Errors
/// A description of the mistake in the text.
pub fn arm(text: &str) -> Result<(), String> {
    let (point, action, at) = parse(text)?;
    *PLAN.lock() = (action, at);
    REACHED.store(0, Ordering::Release);
    ARMED.store(std::ptr::from_ref(point).cast_mut(), Ordering::Release);
    Ok(())
}

fn parse(text: &str) -> Result<(&'static FailPoint, Action, u64), String> {
    let mut parts = text.split(':');
    let name = parts.next().unwrap_or_default();
    let Some(point) = ALL.iter().copied().find(|point| point.name == name) else {
        let known: Vec<&str> = ALL.iter().map(|point| point.name).collect();
        return Err(format!(
            "there is no fail point '{name}'; known are {}",
            known.join(", ")
        ));
    };
    let number = |text: Option<&str>| text.and_then(|text| text.parse::<u64>().ok());
    let action = match parts.next() {
        Some("kill") => Action::Kill,
        Some("pause") => Action::Pause(Duration::from_millis(
            number(parts.next()).ok_or("a pause has a number of milliseconds: pause:<ms>")?,
        )),
        Some("io_error") if point.errors != Errors::None => Action::IoError,
        Some("disk_full") if point.errors == Errors::All => Action::DiskFull,
        Some(failure @ ("io_error" | "disk_full")) => {
            return Err(format!("the fail point {name} cannot have {failure}"));
        }
        _ => return Err("a fail point's action is kill, pause:<ms>, io_error or disk_full".into()),
    };
    let at = match parts.next() {
        None => 1,
        at => number(at)
            .filter(|at| *at > 0)
            .ok_or("the last part of a fail point is which time it acts, from 1")?,
    };
    match parts.next() {
        None => Ok((point, action, at)),
        Some(more) => Err(format!("a fail point ends before ':{more}'")),
    }
}

macro_rules! fail_points {
    ($($point:ident = $name:literal, $errors:ident, $place:literal;)*) => {
        $(
            #[doc = $place]
            pub static $point: FailPoint = FailPoint {
                name: $name,
                errors: Errors::$errors,
                place: $place,
            };
        )*

        /// All fail points, in the order of a commit, then of other work.
        pub static ALL: &[&FailPoint] = &[$(&$point),*];
    };
}

fail_points! {
    COMMIT_LATCHED = "commit.latched", None, "a request's latches are taken, nothing is read";
    COMMIT_PREPARED = "commit.prepared", None, "its batch is ready to be handed to the committer";
    COMMIT_NUMBERED = "commit.numbered", None, "the committer has given a group its versions";
    SPACE_WRITE = "space.write", All, "a batch goes to the storage engine";
    SPACE_WRITTEN = "space.written", Io, "the storage engine has stored a batch";
    SPACE_SYNC = "space.sync", Io, "the storage engine is to sync what it has not (durability interval and none)";
    LOG_APPEND = "log.append", All, "the log of the front table takes a record";
    LOG_SYNC = "log.sync", Io, "the log is to be synced";
    FRONT_APPENDED = "front.appended", Io, "the log of the front table has a batch, perhaps not synced";
    FRONT_APPLIED = "front.applied", None, "a batch is in the front table, not yet visible";
    FRONT_FROZEN = "front.frozen", None, "a full front table is frozen, another takes writes";
    FRONT_FILE = "front.file", All, "a frozen table is sorted, one of its files is to be written";
    FRONT_FILED = "front.filed", Io, "one file of a frozen table is written, not taken in";
    FRONT_INGESTED = "front.ingested", Io, "one file of a frozen table is taken in, others may follow";
    FRONT_PUBLISHED = "front.published", None, "a frozen table is in the sorted files and out of sight, its log is there";
    FRONT_FORGOTTEN = "front.forgotten", None, "the log of a flushed table is removed";
    COMMIT_STORED = "commit.stored", None, "a group is stored, not yet visible";
    COMMIT_PUBLISHED = "commit.published", None, "a group is visible, its latches are held";
    COMMIT_RELEASED = "commit.released", None, "a commit's latches are released, its request not yet answered";
    LOG_ROTATE = "log.rotate", All, "the next segment of the log is to be created";
    LOG_NAMED = "log.named", Io, "the next segment has its name, which is not synced";
    LOG_MARKED = "log.marked", Io, "the end of the closed segment is marked, not synced";
    LOG_REMOVE = "log.remove", All, "segments are to be removed";
    LOG_FIRST = "log.first", Io, "the first segment needed is named, those before it are there";
    LOG_REMOVED = "log.removed", Io, "one segment is removed";
    SCHEMA_STORED = "schema.stored", None, "a change of the schema is stored, not yet in force";
    SCHEMA_CHANGED = "schema.changed", None, "a change of the schema is in force, its task not yet queued";
    TASK_QUEUED = "task.queued", None, "tasks are stored and queued";
    TASK_STARTED = "task.started", None, "a task is noted as running and begins";
    TASK_ENDING = "task.ending", None, "a task has done its work, its end is not stored";
    INDEX_STEP = "index.step", None, "a rebuild or removal of an index goes from one step to the next";
    GRAPH_OPENED = "graph.opened", None, "the space of a new or cleared graph is open, nobody sees it";
    GRAPH_MARKED = "graph.marked", None, "the old space of a cleared or dropped graph is marked";
    GRAPH_SWAPPED = "graph.swapped", None, "a cleared or dropped graph's old space is out of sight, not removed";
    SPACE_CREATE = "space.create", All, "the files of a new space are to be created";
    SPACE_CREATED = "space.created", Io, "the files of a new space are there, its name is not synced";
    SPACE_REMOVE = "space.remove", All, "a space is to be removed";
    SPACE_RENAMED = "space.renamed", Io, "a space is renamed to be removed, the rename is not synced";
    SPACE_TRASHED = "space.trashed", Io, "the rename of a removed space is synced, its files are there";
    BACKUP_COPY = "backup.copy", All, "a graph is to be copied into a backup";
    BACKUP_COPIED = "backup.copied", Io, "a graph is copied, its files are not read back";
    BACKUP_MANIFEST = "backup.manifest", All, "all graphs are copied, the manifest is to be written";
    BACKUP_LISTED = "backup.listed", Io, "the manifest is written, its name is not synced";
    BACKUP_STORE = "backup.store", All, "a file is to be added to a store of backups";
    BACKUP_NAMED = "backup.named", All, "a store has all files of a backup, its manifest is to be added";
    TIDY_STEP = "tidy.step", None, "boundaries that have passed are found and about to be tidied";
    RETENTION_STEP = "retention.step", None, "events past their retention are found and about to be removed";
    CHANGES_FORGET = "changes.forget", None, "changes that are not kept are found and about to be removed";
    PURGE_FOUND = "purge.found", None, "what a purge takes is found and about to be destroyed";
    CLUSTER_STAMPED = "cluster.stamped", None, "a batch for Cassandra has its timestamp, nothing is sent";
    CLUSTER_DECIDED = "cluster.decided", None, "the record of a batch is in Cassandra's log, nothing is carried out";
    CLUSTER_PIECE = "cluster.piece", None, "one request of those that carry out a batch in Cassandra is done, others may follow";
    CLUSTER_CARRIED = "cluster.carried", None, "all partitions of a batch are written in Cassandra, its writer not answered";
    WIDE_STEP = "delete.step", None, "a vertex with many edges loses some of them before its own deletion";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_plain() {
        let mut names: Vec<&str> = ALL.iter().map(|point| point.name()).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        let plain = |byte: u8| byte.is_ascii_lowercase() || b"._".contains(&byte);
        assert!(names.iter().all(|name| name.bytes().all(plain)));
    }

    #[test]
    fn wrong_texts_are_refused() {
        for (text, says) in [
            ("", "no fail point ''"),
            ("nowhere:kill", "commit.latched"),
            ("commit.latched", "action"),
            ("commit.latched:explode", "action"),
            ("commit.latched:io_error", "cannot have io_error"),
            ("space.written:disk_full", "cannot have disk_full"),
            ("commit.latched:pause", "milliseconds"),
            ("commit.latched:pause:x", "milliseconds"),
            ("commit.latched:kill:0", "from 1"),
            ("commit.latched:kill:x", "from 1"),
            ("commit.latched:kill:1:2", "ends before"),
        ] {
            let error = parse(text).expect_err(text);
            assert!(error.contains(says), "{text}: {error}");
        }
        let (point, action, at) = parse("space.write:pause:5:3").expect("a right text");
        assert_eq!((point.name(), at), ("space.write", 3));
        assert_eq!(action, Action::Pause(Duration::from_millis(5)));
    }

    #[test]
    fn an_armed_place_acts_once_at_its_time() {
        assert!(SPACE_WRITE.reach().is_ok(), "nothing is armed");
        arm("space.write:disk_full:3").expect("armed");
        let reached: Vec<bool> = (0..5).map(|_| SPACE_WRITE.reach().is_ok()).collect();
        assert_eq!(reached, [true, true, false, true, true]);
        assert!(SPACE_SYNC.reach().is_ok(), "another place");
        arm("space.sync:io_error").expect("armed");
        let failure = SPACE_SYNC.reach().expect_err("it is armed");
        assert!(failure.to_string().contains("space.sync"), "{failure}");
        assert!(SPACE_WRITE.reach().is_ok(), "no longer armed");
        arm("commit.latched:pause:1").expect("armed");
        COMMIT_LATCHED.pass();
    }
}
