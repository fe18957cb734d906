//! Tasks: work that continues after its request was answered. Tasks are stored, run one after the
//! other in bounded threads, can be cancelled, and are resumed after a restart.
//!
//! Two lanes run in parallel, each with one thread that is started when it is first needed:
//! **schema** (index builds, removals) and **job** (scripts, algorithms). So a long script does not
//! delay an index. The tasks of a lane run in the order of their ids, so a task may rely on earlier
//! tasks of its lane having ended.
//!
//! After a crash, running schema tasks are run again (their bodies are idempotent), at most
//! [`TASK_RETRIES_MAX`] times. Running jobs fail, since a script may already have had effects.
//!
//! Layout: in the `meta` table, partition `t`; clustering `o` ++ id marks an unfinished task, `t`
//! ++ id is the record, `i` ++ id the input, `r` ++ id the result (ids as 8 bytes big endian). The
//! last assigned id is in the `counter` table.

mod listing;
mod record;
mod submission;
mod worker;

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use varve_kv::TableId;

use crate::schema::SchemaKind;
use crate::{ErrorKind, GraphError};

pub use listing::{TaskPage, TaskQuery};
pub(crate) use record::{PARTITION, check_stored};
pub use submission::Submission;
pub use worker::Tasks;

/// How often a task is run again after its process died while it was running.
pub const TASK_RETRIES_MAX: u32 = 3;
/// Longest task name, in bytes; longer ones are cut.
pub const TASK_NAME_BYTES_MAX: usize = 256;
/// Longest input of a task, in bytes.
pub const TASK_INPUT_BYTES_MAX: usize = 16 << 20;
/// Longest result of a task, in bytes.
pub const TASK_RESULT_BYTES_MAX: usize = 16 << 20;

/// The tables of tasks.
#[derive(Debug, Clone, Copy)]
pub struct TaskTables {
    /// Records, inputs, results.
    pub meta: TableId,
    /// The last assigned id.
    pub counter: TableId,
}

impl Default for TaskTables {
    fn default() -> Self {
        Self {
            meta: varve_encoding::tables::META,
            counter: varve_encoding::tables::COUNTER,
        }
    }
}

/// Id of a task: counted from 1 in each graph, never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(pub u64);

impl TaskId {
    /// In answers: there is no task to wait for.
    pub const NONE: Self = Self(0);
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// The status of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(
    missing_docs,
    reason = "the names are the definition; they are HugeGraph's, of which Varve uses those from QUEUED on"
)]
pub enum TaskStatus {
    Unknown,
    New,
    Scheduling,
    Scheduled,
    Queued,
    Restoring,
    Running,
    Success,
    Cancelling,
    Cancelled,
    Failed,
    Hanging,
    Deleting,
}

// In the order in which messages list them.
varve_model::names! { TaskStatus, "task status":
    Unknown = "UNKNOWN", New = "NEW", Scheduling = "SCHEDULING", Scheduled = "SCHEDULED",
    Queued = "QUEUED", Restoring = "RESTORING", Running = "RUNNING", Success = "SUCCESS",
    Cancelling = "CANCELLING", Cancelled = "CANCELLED", Failed = "FAILED", Hanging = "HANGING",
    Deleting = "DELETING",
}

impl TaskStatus {
    /// Reads a name in any case.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] with a list of the names.
    pub fn parse(text: &str) -> Result<Self, GraphError> {
        let mut all = Self::ALL.iter().copied();
        let status = all.find(|status| status.name().eq_ignore_ascii_case(text));
        status.ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|status| status.name()).collect();
            GraphError::invalid(format!(
                "Status value must be in [{}], but got '{text}'",
                names.join(", ")
            ))
        })
    }

    /// Whether the status is final.
    #[must_use]
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Success | Self::Cancelled | Self::Failed)
    }

    /// Whether a task with this status is waiting to run.
    #[must_use]
    pub const fn is_waiting(self) -> bool {
        matches!(
            self,
            Self::Unknown
                | Self::New
                | Self::Scheduling
                | Self::Scheduled
                | Self::Queued
                | Self::Restoring
        )
    }
}

/// The type of a task, by which [`TaskBodies`] selects the code to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the definition")]
pub enum TaskType {
    CreateOlap,
    ClearOlap,
    RemoveOlap,
    RebuildIndex,
    RemoveSchema,
    Gremlin,
    Cypher,
    Algorithm,
    Computer,
}

// The names in task objects and records.
varve_model::names! { TaskType, "task type":
    CreateOlap = "create_olap", ClearOlap = "clear_olap", RemoveOlap = "remove_olap",
    RebuildIndex = "rebuild_index", RemoveSchema = "remove_schema", Gremlin = "gremlin",
    Cypher = "cypher", Algorithm = "algorithm", Computer = "computer",
}

impl TaskType {
    /// The lane in which the task runs.
    #[must_use]
    pub const fn lane(self) -> Lane {
        match self {
            Self::Gremlin | Self::Cypher | Self::Algorithm | Self::Computer => Lane::Job,
            _ => Lane::Schema,
        }
    }
}

/// A lane: a thread that runs tasks one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(usize)]
pub enum Lane {
    /// Index building and removals.
    Schema = 0,
    /// Scripts and algorithms.
    Job = 1,
}

impl Lane {
    const ALL: [Self; 2] = [Self::Schema, Self::Job];
}

/// The schema element that a task is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Subject {
    /// Its kind.
    pub kind: SchemaKind,
    /// Its id.
    pub id: u32,
}

/// A task to submit.
#[derive(Debug, Clone)]
pub struct NewTask {
    /// The type of the task.
    pub task_type: TaskType,
    /// Its name; cut to [`TASK_NAME_BYTES_MAX`].
    pub name: String,
    /// The schema element that it is about.
    pub subject: Option<Subject>,
    /// The input of its body, such as a script as JSON.
    pub input: Option<String>,
    /// Free text.
    pub description: Option<String>,
    /// Tasks that must have ended before it runs.
    pub dependencies: Vec<TaskId>,
    /// The user who submits it, if authentication is on.
    pub owner: Option<String>,
}

impl NewTask {
    /// A task about a schema element, named `<KIND>:<id>:<name>`.
    #[must_use]
    pub fn about(task_type: TaskType, kind: SchemaKind, id: u32, name: &str) -> Self {
        Self {
            task_type,
            name: format!("{}:{id}:{name}", kind.upper()),
            subject: Some(Subject { kind, id }),
            input: None,
            description: None,
            dependencies: Vec::new(),
            owner: None,
        }
    }

    /// A job with its input.
    #[must_use]
    pub fn job(task_type: TaskType, name: impl Into<String>, input: String) -> Self {
        Self {
            task_type,
            name: name.into(),
            subject: None,
            input: Some(input),
            description: None,
            dependencies: Vec::new(),
            owner: None,
        }
    }

    /// Sets the user who submits the task.
    #[must_use]
    pub fn by(self, owner: Option<String>) -> Self {
        Self { owner, ..self }
    }
}

/// A task's state, without its input and result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// Its id.
    pub id: TaskId,
    /// The type of the task.
    pub task_type: TaskType,
    /// Its name.
    pub name: String,
    /// The status of the task.
    pub status: TaskStatus,
    /// The progress that its body reports, in the body's own unit.
    pub progress: u64,
    /// When it was submitted, in milliseconds since 1970.
    pub create: i64,
    /// When its status last changed, in milliseconds since 1970.
    pub update: i64,
    /// How often it was run again after a crash.
    pub retries: u32,
    /// Tasks that had to end before it ran.
    pub dependencies: Vec<TaskId>,
    /// Free text.
    pub description: Option<String>,
    /// The schema element that it is about.
    pub subject: Option<Subject>,
    /// The user who submitted it, if authentication was on.
    pub owner: Option<String>,
}

/// A task with its input and result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskDetail {
    /// The task.
    pub task: Task,
    /// The input of its body.
    pub input: Option<String>,
    /// The result of its body, or the message of its error.
    pub result: Option<String>,
}

/// What the body of a task receives about it.
#[derive(Debug, Clone)]
pub struct TaskSpec {
    /// Its id.
    pub id: TaskId,
    /// The type of the task.
    pub task_type: TaskType,
    /// Its name.
    pub name: String,
    /// The schema element that it is about.
    pub subject: Option<Subject>,
    /// The input it was submitted with.
    pub input: Option<String>,
    /// The user who submitted it.
    pub owner: Option<String>,
}

/// Flags and counters that a running task shares with its observers.
#[derive(Debug, Default)]
struct Control {
    cancelled: AtomicBool,
    stopping: AtomicBool,
    progress: AtomicU64,
}

/// How a body reports progress and finds out whether it should end.
#[derive(Debug, Clone, Default)]
pub struct TaskProgress {
    control: Arc<Control>,
}

impl TaskProgress {
    /// Sets the progress, in the body's own unit.
    pub fn set(&self, done: u64) {
        self.control.progress.store(done, Ordering::Relaxed);
    }

    /// Increases the progress.
    pub fn add(&self, more: u64) {
        self.control.progress.fetch_add(more, Ordering::Relaxed);
    }

    /// Whether the body should end soon: the task was cancelled, or the graph is being closed.
    #[must_use]
    pub fn should_end(&self) -> bool {
        self.control.cancelled.load(Ordering::Relaxed)
            || self.control.stopping.load(Ordering::Relaxed)
    }

    /// Whether the task was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.control.cancelled.load(Ordering::Relaxed)
    }

    /// Called by a body between two slices of its work.
    ///
    /// # Errors
    /// [`ErrorKind::IllegalState`] when the body should end.
    pub fn check(&self) -> Result<(), GraphError> {
        if self.should_end() {
            let message = "The task was cancelled or the graph is being closed";
            return Err(GraphError::new(ErrorKind::IllegalState, message));
        }
        Ok(())
    }
}

/// The work of tasks.
///
/// Bodies of the schema lane must be idempotent: after a crash they run again from the start.
pub trait TaskBodies: Send + Sync {
    /// Does the work of a task and returns its result, a text: JSON, or empty if there is no
    /// result. A long body should call [`TaskProgress::check`] between slices.
    ///
    /// # Errors
    /// The task has then failed, with the error's message as its result; or it is cancelled, if a
    /// cancellation was requested.
    fn run(&self, task: &TaskSpec, progress: &TaskProgress) -> Result<String, GraphError>;

    /// Called once if a task ends without a complete run of its body: it was cancelled while it
    /// waited, deleted by force, or given up after a restart.
    fn abandoned(&self, task: &TaskSpec) {
        let _ = task;
    }
}
