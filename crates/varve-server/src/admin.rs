//! `/admin`: backups and verification of a running server, as jobs that go on after the request.
//!
//! `POST /admin/backup {"name":"monday"}` (without a name: to the store of backups, [`store`]) and
//! `POST /admin/verify {"graph":"hugegraph","repair":false}` answer 202 with a job's number; `GET
//! /admin/jobs/{id}` has its status. Jobs are remembered in memory only. With authentication, only
//! administrators may use these routes; they are served at a loopback address or at a listener of
//! their own (`admin_listen`).

mod store;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde::Deserialize;
use varve_graph::backup::write_backup;
use varve_graph::verify::{RepairReport, repair, verify};
use varve_graph::{ErrorKind, GraphError};

use crate::JsonWriter;
use crate::config::ServerConfig;
use crate::errors::{ApiError, without_folders};
use crate::request::RequestContext;
use crate::respond::{HandlerResult, Response};
use crate::route::{Class, Handler, Route, Scope};
use crate::setup::SetupError;
use crate::state::{AppState, Features};

pub(crate) use self::store::Backups;
pub use self::store::schedule_backups;

/// The kind of the jobs that make backups.
const BACKUP: &str = "backup";
/// Jobs that are remembered; the oldest that ended are forgotten first.
const JOBS_MAX: usize = 100;
/// Longest name of a backup, in bytes.
const NAME_BYTES_MAX: usize = 100;
/// Problems of a verification that are listed in full.
const PROBLEMS_MAX: usize = 100;
/// Threads of a verification. They are few, since the server answers requests meanwhile.
const VERIFY_THREADS: usize = 2;

/// The routes of this module.
pub(crate) static ROUTES: &[Route] = &[
    Route::post("admin/backup", Handler::Inline(backup))
        .administers(Scope::Administration)
        .of("admin", "AdminAPI")
        .class(Class::Control),
    Route::get("admin/backups", Handler::Inline(store::list))
        .administers(Scope::Administration)
        .of("admin", "AdminAPI")
        .class(Class::Control),
    Route::post("admin/verify", Handler::Inline(verification))
        .administers(Scope::Administration)
        .of("admin", "AdminAPI")
        .class(Class::Control),
    Route::get("admin/jobs/{id}", Handler::Inline(job))
        .reads(Scope::Administration)
        .of("admin", "AdminAPI")
        .class(Class::Control),
];

/// Adds the list of jobs and the store of backups to a server.
pub(crate) fn add_to(features: &mut Features, config: &ServerConfig) -> Result<(), SetupError> {
    features.add(Jobs::default());
    features.add(Backups::open(config)?);
    Ok(())
}

/// The status of a job.
#[derive(Debug, Clone)]
enum JobStatus {
    Running,
    /// Its result, as JSON.
    Done(String),
    Failed(String),
}

#[derive(Debug)]
struct Job {
    kind: &'static str,
    /// Rows that were read so far, if it counts them.
    rows: Arc<AtomicU64>,
    status: JobStatus,
}

/// The jobs of this process.
#[derive(Debug, Default)]
struct Jobs(Mutex<BTreeMap<u64, Job>>);

impl Jobs {
    /// Adds a job; one of a kind runs at a time.
    fn begin(&self, kind: &'static str) -> Result<(u64, Arc<AtomicU64>), ApiError> {
        let mut jobs = self.0.lock();
        if jobs
            .values()
            .any(|job| job.kind == kind && matches!(job.status, JobStatus::Running))
        {
            let message = format!("A {kind} is running already");
            return Err(GraphError::new(ErrorKind::IllegalState, message).into());
        }
        let id = jobs.last_key_value().map_or(1, |(last, _)| last + 1);
        let ended = jobs
            .iter()
            .find(|(_, job)| !matches!(job.status, JobStatus::Running));
        if let (true, Some((&oldest, _))) = (jobs.len() >= JOBS_MAX, ended) {
            jobs.remove(&oldest);
        }
        let rows = Arc::<AtomicU64>::default();
        jobs.insert(
            id,
            Job {
                kind,
                rows: Arc::clone(&rows),
                status: JobStatus::Running,
            },
        );
        Ok((id, rows))
    }

    /// The job of this kind that is running.
    fn running(&self, kind: &str) -> Option<u64> {
        let jobs = self.0.lock();
        let running = |job: &Job| job.kind == kind && matches!(job.status, JobStatus::Running);
        let mut found = jobs.iter().filter(|(_, job)| running(job));
        found.next().map(|(id, _)| *id)
    }

    fn end(&self, id: u64, status: JobStatus) {
        if let Some(job) = self.0.lock().get_mut(&id) {
            job.status = status;
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BackupRequest {
    /// A folder below `server.backup_root`; without a name the backup goes to the store.
    name: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VerifyRequest {
    graph: String,
    /// Whether to repair index entries.
    #[serde(default)]
    repair: bool,
}

fn backup(context: &RequestContext) -> HandlerResult {
    let request: BackupRequest = context.json_object()?;
    let Some(name) = request.name else {
        context.state().feature::<Backups>().check()?;
        return start(context, BACKUP, |state, _| {
            state.feature::<Backups>().back_up(state)
        });
    };
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    if name.is_empty()
        || name.len() > NAME_BYTES_MAX
        || name.starts_with('.')
        || !name.bytes().all(plain)
    {
        return Err(ApiError::illegal_argument(format!(
            "The name of a backup must be 1 to {NAME_BYTES_MAX} letters, digits and '-_.', not beginning with '.', but is '{name}'"
        )));
    }
    let root = &context.state().config().backup_root;
    if root.as_os_str().is_empty() {
        return Err(ApiError::forbidden(
            "Backups need the option server.backup_root",
        ));
    }
    let target = root.join(&name);
    start(context, BACKUP, move |state, _| {
        let manifest = write_backup(state.graphs(), &target)?;
        let mut json = JsonWriter::with_capacity(256);
        json.begin_object().key("name").string(&name);
        json.key("graphs").value(&manifest.graphs);
        json.key("left_out").value(&manifest.left_out);
        json.key("files").unsigned(manifest.files.len() as u64);
        json.key("bytes").unsigned(manifest.bytes());
        json.end_object();
        Ok(json.finish())
    })
}

fn verification(context: &RequestContext) -> HandlerResult {
    let VerifyRequest {
        graph,
        repair: repairs,
    } = context.json_object()?;
    let graph = context.state().graphs().get(&graph)?;
    start(context, "verification", move |state, rows| {
        let mut proceed = |read: u64| {
            rows.store(read, Ordering::Relaxed);
            !state.is_stopping()
        };
        let repaired = match repairs {
            true => repair(&graph, VERIFY_THREADS, &mut proceed)?,
            false => RepairReport {
                found: verify(&graph, VERIFY_THREADS, &mut proceed)?,
                ..RepairReport::default()
            },
        };
        let report = repaired.found;
        let mut json = JsonWriter::with_capacity(512);
        json.begin_object();
        for (name, count) in [
            ("vertices", report.vertices),
            ("edges", report.edges),
            ("events", report.events),
            ("index_entries", report.index_entries),
            ("event_index_entries", report.event_index_entries),
            ("dangling_edges", report.dangling_edges),
            ("surplus_entries", report.surplus_entries),
            ("problem_count", report.problem_count),
            ("completed", repaired.completed),
            ("removed", repaired.removed),
        ] {
            json.key(name).unsigned(count);
        }
        json.key("problems").begin_array();
        for problem in report.problems.iter().take(PROBLEMS_MAX) {
            json.string(&without_folders(problem));
        }
        json.end_array().end_object();
        Ok(json.finish())
    })
}

/// Waits until no job runs, at most so long: a job that is told to stop must not use the engine
/// while the process ends.
pub fn end_jobs(state: &AppState, most: Duration) {
    let end = Instant::now() + most;
    let running = |job: &Job| matches!(job.status, JobStatus::Running);
    while state.feature::<Jobs>().0.lock().values().any(running) && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Starts a job on a thread of its own and answers with its number.
fn start(
    context: &RequestContext,
    kind: &'static str,
    work: impl FnOnce(&AppState, &AtomicU64) -> Result<Vec<u8>, GraphError> + Send + 'static,
) -> HandlerResult {
    let state: Arc<AppState> = context.shared_state();
    let (id, rows) = state.feature::<Jobs>().begin(kind)?;
    let shared = Arc::clone(&state);
    let spawned = std::thread::Builder::new()
        .name(format!("varve-{kind}"))
        .spawn(move || perform(&shared, id, kind, || work(&shared, &rows)));
    if let Err(error) = spawned {
        state
            .feature::<Jobs>()
            .end(id, JobStatus::Failed(error.to_string()));
        return Err(ApiError::internal(format!(
            "No thread for the {kind}: {error}"
        )));
    }
    Ok(Response::accepted(format!("{{\"job\":{id}}}")))
}

/// Does the work of a job and records its end, even if it panics.
fn perform(
    state: &AppState,
    id: u64,
    kind: &'static str,
    work: impl FnOnce() -> Result<Vec<u8>, GraphError>,
) {
    tracing::info!(job = id, kind, "started");
    let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    let status = match ended {
        Ok(Ok(result)) => {
            let result = String::from_utf8_lossy(&result).into_owned();
            tracing::info!(job = id, kind, result, "done");
            JobStatus::Done(result)
        }
        Ok(Err(error)) => {
            tracing::error!(job = id, kind, %error, "failed");
            JobStatus::Failed(error.message)
        }
        Err(_) => {
            tracing::error!(job = id, kind, "panicked");
            JobStatus::Failed(format!(
                "The {kind} panicked: this is a fault of the server"
            ))
        }
    };
    state.feature::<Jobs>().end(id, status);
}

fn job(context: &RequestContext) -> HandlerResult {
    let text = context.path_parameter("id");
    let jobs = context.state().feature::<Jobs>().0.lock();
    let found = text
        .parse()
        .ok()
        .and_then(|id: u64| jobs.get_key_value(&id));
    let Some((id, job)) = found else {
        return Err(ApiError::not_found(format!("Job '{text}' does not exist")));
    };
    let mut json = JsonWriter::with_capacity(512);
    json.begin_object()
        .key("job")
        .unsigned(*id)
        .key("kind")
        .string(job.kind)
        .key("status");
    match &job.status {
        JobStatus::Running => {
            let rows = job.rows.load(Ordering::Relaxed);
            json.string("running").key("rows").unsigned(rows)
        }
        JobStatus::Done(result) => json.string("done").key("result").raw(result.as_bytes()),
        JobStatus::Failed(reason) => json
            .string("failed")
            .key("error")
            .string(&without_folders(reason)),
    };
    json.end_object();
    Ok(Response::ok(json.finish()))
}
