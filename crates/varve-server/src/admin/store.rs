//! Backups to a store, by schedule or on demand: what is known of them, and who makes them.
//!
//! What the store has is read at the start and after each backup, on the thread that makes the
//! backups. Requests and scrapes read it from memory.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use varve_backup::{Keep, Store, Stored, stored_bytes};
use varve_graph::{ErrorKind, GraphError};
use varve_model::Instant;

use super::{BACKUP, Jobs, perform};
use crate::JsonWriter;
use crate::config::{ConfigError, ServerConfig};
use crate::errors::{ApiError, without_folders};
use crate::request::RequestContext;
use crate::respond::{HandlerResult, Response};
use crate::setup::SetupError;
use crate::state::AppState;
use crate::wire::time::instant_text;

/// The folder below `server.backup_root` in which a backup is prepared. It is no name of a backup.
const STAGE: &str = ".incomplete";
/// The longest time from a failed backup to the next attempt.
const RETRY_AFTER_MICROS: i64 = 15 * 60 * 1_000_000;
/// The interval at which the schedule looks at the clock.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// The store of backups, and what is known of it.
pub(crate) struct Backups {
    store: Option<Store>,
    /// The place, as answers show it.
    shown: String,
    every: Option<Duration>,
    keep: Keep,
    known: Mutex<Known>,
    done: AtomicU64,
    failed: AtomicU64,
}

#[derive(Default)]
struct Known {
    /// The newest first.
    backups: Vec<Summary>,
    stored_bytes: u64,
    /// When the last attempt of this process began, in microseconds.
    attempted: Option<i64>,
    /// When and why the last attempt failed, if it did.
    failure: Option<(i64, String)>,
}

/// What is told of a backup.
struct Summary {
    name: String,
    created: i64,
    graphs: Vec<String>,
    left_out: Vec<String>,
    files: usize,
    bytes: u64,
    new_bytes: u64,
    took_ms: u64,
}

impl From<&Stored> for Summary {
    fn from(stored: &Stored) -> Self {
        let manifest = &stored.manifest;
        Self {
            name: stored.name.clone(),
            created: manifest.created,
            graphs: manifest.graphs.clone(),
            left_out: manifest.left_out.clone(),
            files: manifest.files.len(),
            bytes: manifest.bytes(),
            new_bytes: manifest.new_bytes,
            took_ms: manifest.took_ms,
        }
    }
}

/// The figures of backups for `/metrics`.
pub(crate) struct BackupFigures {
    /// The scheduled interval in seconds; 0 if there is none, or nothing to back up here.
    pub(crate) every_seconds: f64,
    /// When the newest backup of all graphs began, in seconds since 1970; 0 if there is none.
    pub(crate) last_success: f64,
    /// The seconds that it took.
    pub(crate) last_seconds: f64,
    /// The bytes of its files.
    pub(crate) last_bytes: u64,
    /// The backups in the store.
    pub(crate) kept: usize,
    /// Backups of this process that were done.
    pub(crate) done: u64,
    /// Backups of this process that failed.
    pub(crate) failed: u64,
}

impl Backups {
    /// The backups that the options describe; sends nothing.
    pub(crate) fn open(config: &ServerConfig) -> Result<Self, SetupError> {
        let options = &config.backup;
        let store = match options.to.is_empty() {
            true => None,
            false => Some(Store::open(&options.place()).map_err(|error| ConfigError {
                option: "backup.to",
                reason: error.message,
            })?),
        };
        Ok(Self {
            store,
            shown: without_folders(&options.to).into_owned(),
            every: options.interval()?,
            keep: options.kept()?,
            known: Mutex::default(),
            done: AtomicU64::new(0),
            failed: AtomicU64::new(0),
        })
    }

    /// The figures for `/metrics`.
    pub(crate) fn figures(&self, state: &AppState) -> BackupFigures {
        let leads = !state.is_shared() || !state.graphs().open_names().is_empty();
        let every = self.every.filter(|_| leads);
        let now = now(state);
        let known = self.known.lock();
        let mut whole = known.backups.iter().filter(|it| it.left_out.is_empty());
        let last = whole.find(|it| it.created <= now);
        BackupFigures {
            every_seconds: every.unwrap_or_default().as_secs_f64(),
            last_success: last.map_or(0.0, |last| last.created as f64 / 1e6),
            last_seconds: last.map_or(0.0, |last| last.took_ms as f64 / 1e3),
            last_bytes: last.map_or(0, |last| last.bytes),
            kept: known.backups.len(),
            done: self.done.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
        }
    }

    /// When the next scheduled backup begins, in microseconds; the past if it is due.
    fn next(&self, now: i64) -> Option<i64> {
        let every = i64::try_from(self.every?.as_micros()).unwrap_or(i64::MAX);
        let known = self.known.lock();
        let mut backups = known.backups.iter().map(|backup| backup.created);
        // A clock that was ahead does not stop the schedule.
        let newest = backups.find(|created| *created <= now);
        let attempted = known.attempted.filter(|attempted| *attempted <= now);
        // An attempt that is newer than all backups has made none.
        let (last, wait) = match attempted > newest {
            true => (attempted, every.min(RETRY_AFTER_MICROS)),
            false => (newest, every),
        };
        Some(last.map_or(0, |last| last.saturating_add(wait)))
    }

    fn know(&self, backups: &[Stored]) {
        let mut known = self.known.lock();
        known.backups = backups.iter().rev().map(Summary::from).collect();
        known.stored_bytes = stored_bytes(backups);
    }

    /// Counts an attempt that began at an instant, and notes what went wrong.
    fn end(&self, at: i64, problem: Option<&str>) {
        let count = match problem {
            Some(_) => &self.failed,
            None => &self.done,
        };
        count.fetch_add(1, Ordering::Relaxed);
        self.note(at, problem);
    }

    fn note(&self, at: i64, problem: Option<&str>) {
        let problem = problem.map(|message| (at, without_folders(message).into_owned()));
        self.known.lock().failure = problem;
    }

    /// Makes a backup, removes those that are not kept, and reads what the store has. Returns the
    /// new backup as JSON.
    pub(super) fn back_up(&self, state: &AppState) -> Result<Vec<u8>, GraphError> {
        let at = now(state);
        self.known.lock().attempted = Some(at);
        let added = self.store().and_then(|store| {
            let stage = stage(&state.config().backup_root)?;
            let added = store.add(state.graphs(), &stage, &|| !state.is_stopping())?;
            Ok((store, added))
        });
        let (store, added) = match added {
            Ok(added) => added,
            Err(error) => {
                self.end(at, Some(&error.message));
                return Err(error);
            }
        };
        let left_out = &added.manifest.left_out;
        let mut problem = (!left_out.is_empty()).then(|| {
            let names = left_out.join(", ");
            format!("graphs that cannot be opened are left out: {names}")
        });
        match store.prune(&self.keep, at) {
            Ok(backups) => self.know(&backups),
            Err(error) => {
                // The backup is there nevertheless.
                tracing::error!(%error, "old backups could not be removed");
                self.known.lock().backups.insert(0, Summary::from(&added));
                problem = Some(error.message);
            }
        }
        self.end(at, problem.as_deref());
        let mut json = JsonWriter::with_capacity(256);
        write_summary(&Summary::from(&added), &mut json);
        Ok(json.finish())
    }

    fn store(&self) -> Result<&Store, GraphError> {
        let message = "Backups to a store need the option backup.to";
        let store = self.store.as_ref();
        store.ok_or_else(|| GraphError::new(ErrorKind::Denied, message))
    }

    /// Refuses a backup on demand where there is no store.
    pub(super) fn check(&self) -> Result<(), ApiError> {
        Ok(self.store().map(drop)?)
    }
}

/// Whether this server has graphs to back up: where several share the graphs, it may lead none.
fn has_work(state: &AppState) -> bool {
    let graphs = state.graphs();
    let has_system = || graphs.system().is_ok_and(|graph| graph.is_some());
    !state.is_shared() || !graphs.open_names().is_empty() || has_system()
}

fn now(state: &AppState) -> i64 {
    state.graphs().options().clock.now().0
}

fn stage(backup_root: &Path) -> Result<PathBuf, GraphError> {
    if backup_root.as_os_str().is_empty() {
        let message = "Backups need the option server.backup_root";
        return Err(GraphError::new(ErrorKind::Denied, message));
    }
    Ok(backup_root.join(STAGE))
}

/// Starts the thread that reads what the store has and makes the scheduled backups. It ends when
/// the server stops.
///
/// # Errors
/// When there is no thread.
pub fn schedule_backups(state: &Arc<AppState>) -> std::io::Result<()> {
    if state.feature::<Backups>().store.is_none() {
        return Ok(());
    }
    let weak = Arc::downgrade(state);
    let thread = std::thread::Builder::new().name("varve-schedule".to_owned());
    thread.spawn(move || run_schedule(&weak)).map(drop)
}

fn run_schedule(weak: &Weak<AppState>) {
    if let Some(state) = weak.upgrade() {
        let backups = state.feature::<Backups>();
        // What a stopped server has left holds the space of its files.
        let stage = stage(&state.config().backup_root);
        _ = stage.map(std::fs::remove_dir_all);
        match backups.store().and_then(Store::list) {
            Ok(stored) => backups.know(&stored),
            Err(error) => {
                tracing::error!(%error, "the store of backups cannot be read");
                backups.note(now(&state), Some(&error.message));
            }
        }
    }
    while let Some(state) = weak.upgrade() {
        let backups = state.feature::<Backups>();
        let next = backups.next(now(&state));
        let Some(next) = next.filter(|_| !state.is_stopping()) else {
            return;
        };
        if next <= now(&state)
            && has_work(&state)
            // Otherwise a backup is running.
            && let Ok((id, _)) = state.feature::<Jobs>().begin(BACKUP)
        {
            perform(&state, id, BACKUP, || backups.back_up(&state));
        }
        drop(state);
        std::thread::sleep(LOOK_EVERY);
    }
}

/// `GET /admin/backups`
pub(super) fn list(context: &RequestContext) -> HandlerResult {
    let state = context.state();
    let backups = state.feature::<Backups>();
    let mut json = JsonWriter::with_capacity(1024);
    json.begin_object().key("to");
    match backups.store {
        Some(_) => json.string(&backups.shown),
        None => json.null(),
    };
    let seconds = |time: Option<Duration>| time.unwrap_or_default().as_secs();
    json.key("every_seconds").unsigned(seconds(backups.every));
    json.key("keep").unsigned(backups.keep.newest as u64);
    json.key("keep_for_seconds")
        .unsigned(seconds(backups.keep.younger_than));
    json.key("running");
    match state.feature::<Jobs>().running(BACKUP) {
        Some(job) => json.unsigned(job),
        None => json.null(),
    };
    json.key("next");
    match backups.next(now(state)) {
        Some(next) => json.string(&instant(next.max(now(state)))),
        None => json.null(),
    };
    let known = backups.known.lock();
    json.key("stored_bytes").unsigned(known.stored_bytes);
    json.key("failure");
    match &known.failure {
        Some((at, error)) => {
            json.begin_object().key("at").string(&instant(*at));
            json.key("error").string(error).end_object()
        }
        None => json.null(),
    };
    json.key("backups").begin_array();
    for backup in &known.backups {
        write_summary(backup, &mut json);
    }
    json.end_array().end_object();
    Ok(Response::ok(json.finish()))
}

fn write_summary(backup: &Summary, json: &mut JsonWriter) {
    json.begin_object().key("name").string(&backup.name);
    json.key("created").string(&instant(backup.created));
    json.key("graphs").value(&backup.graphs);
    json.key("left_out").value(&backup.left_out);
    json.key("files").unsigned(backup.files as u64);
    json.key("bytes").unsigned(backup.bytes);
    json.key("new_bytes").unsigned(backup.new_bytes);
    json.key("took_ms").unsigned(backup.took_ms);
    json.end_object();
}

/// An instant in the form of answers.
fn instant(micros: i64) -> String {
    instant_text(Instant(micros)).unwrap_or_default()
}
