//! Tasks: work that goes on after the request that asked for it was answered. Persisted, run one
//! after the other by a bounded worker, cancellable, and taken up again after a restart.
//!
//! Two lanes run beside each other, each with one thread that is started when it is first needed:
//! **schema** (index building, removal) and **job** (scripts, algorithms), so that a long script
//! does not hold up an index. Tasks of a lane run in the order of their ids, which is why a task
//! may rely on earlier ones of its lane having ended.
//!
//! After a crash, schema tasks that were running run again (their bodies are idempotent), at most
//! [`TASK_RETRIES_MAX`] times; jobs that were running are failed, since a script may have had
//! effects already.
//!
//! Layout: in the `meta` table, partition `t`; clustering `o` ++ id marks an unfinished task, `t`
//! ++ id is the record, `i` ++ id the input, `r` ++ id the result (ids as 8 bytes big endian). The
//! last id given is in the `counter` table.

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

/// How often a task runs again after its process has died while it ran.
pub const TASK_RETRIES_MAX: u32 = 3;
/// Longest task name, in bytes; longer ones are cut.
pub const TASK_NAME_BYTES_MAX: usize = 256;
/// Longest input of a task, in bytes.
pub const TASK_INPUT_BYTES_MAX: usize = 16 << 20;
/// Longest result of a task, in bytes.
pub const TASK_RESULT_BYTES_MAX: usize = 16 << 20;

/// The tables that tasks live in.
#[derive(Debug, Clone, Copy)]
pub struct TaskTables {
    /// Records, inputs, results.
    pub meta: TableId,
    /// The last id given.
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

/// Id of a task: counted from 1 within a graph, never given again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(pub u64);

impl TaskId {
    /// In answers, instead of a task: there is none to wait for.
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

impl TaskStatus {
    /// Every status, in the order in which messages list them.
    pub const ALL: [Self; 13] = [
        Self::Unknown,
        Self::New,
        Self::Scheduling,
        Self::Scheduled,
        Self::Queued,
        Self::Restoring,
        Self::Running,
        Self::Success,
        Self::Cancelling,
        Self::Cancelled,
        Self::Failed,
        Self::Hanging,
        Self::Deleting,
    ];

    /// The upper-case name, as messages write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unknown => "UNKNOWN",
            Self::New => "NEW",
            Self::Scheduling => "SCHEDULING",
            Self::Scheduled => "SCHEDULED",
            Self::Queued => "QUEUED",
            Self::Restoring => "RESTORING",
            Self::Running => "RUNNING",
            Self::Success => "SUCCESS",
            Self::Cancelling => "CANCELLING",
            Self::Cancelled => "CANCELLED",
            Self::Failed => "FAILED",
            Self::Hanging => "HANGING",
            Self::Deleting => "DELETING",
        }
    }

    /// The lower-case name, as task objects write it.
    #[must_use]
    pub const fn lower_name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::New => "new",
            Self::Scheduling => "scheduling",
            Self::Scheduled => "scheduled",
            Self::Queued => "queued",
            Self::Restoring => "restoring",
            Self::Running => "running",
            Self::Success => "success",
            Self::Cancelling => "cancelling",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
            Self::Hanging => "hanging",
            Self::Deleting => "deleting",
        }
    }

    /// Reads a name in any case.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] that lists the names.
    pub fn parse(text: &str) -> Result<Self, GraphError> {
        let status = Self::ALL
            .into_iter()
            .find(|status| status.name().eq_ignore_ascii_case(text));
        status.ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|status| status.name()).collect();
            GraphError::invalid(format!(
                "Status value must be in [{}], but got '{text}'",
                names.join(", ")
            ))
        })
    }

    /// Whether the status cannot change any more.
    #[must_use]
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Success | Self::Cancelled | Self::Failed)
    }

    /// Whether a task of this status waits for its turn.
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

/// What a task does. [`TaskBodies`] selects the code to run by it.
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

impl TaskType {
    /// Every type.
    pub const ALL: [Self; 9] = [
        Self::CreateOlap,
        Self::ClearOlap,
        Self::RemoveOlap,
        Self::RebuildIndex,
        Self::RemoveSchema,
        Self::Gremlin,
        Self::Cypher,
        Self::Algorithm,
        Self::Computer,
    ];

    /// The name in task objects and records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::CreateOlap => "create_olap",
            Self::ClearOlap => "clear_olap",
            Self::RemoveOlap => "remove_olap",
            Self::RebuildIndex => "rebuild_index",
            Self::RemoveSchema => "remove_schema",
            Self::Gremlin => "gremlin",
            Self::Cypher => "cypher",
            Self::Algorithm => "algorithm",
            Self::Computer => "computer",
        }
    }

    /// The type of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|each| each.name() == name)
    }

    /// Which thread runs it.
    #[must_use]
    pub const fn lane(self) -> Lane {
        match self {
            Self::Gremlin | Self::Cypher | Self::Algorithm | Self::Computer => Lane::Job,
            _ => Lane::Schema,
        }
    }
}

/// A thread of tasks that run one after the other.
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

/// The schema element a task is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Subject {
    /// Its kind.
    pub kind: SchemaKind,
    /// Its id.
    pub id: u32,
}

/// A task to be submitted.
#[derive(Debug, Clone)]
pub struct NewTask {
    /// What it does.
    pub task_type: TaskType,
    /// Its name; cut to [`TASK_NAME_BYTES_MAX`].
    pub name: String,
    /// The schema element it is about.
    pub subject: Option<Subject>,
    /// What its body reads, e.g. a script's JSON.
    pub input: Option<String>,
    /// Free text.
    pub description: Option<String>,
    /// Tasks that must have ended before.
    pub dependencies: Vec<TaskId>,
    /// Who submits it, where authentication is on.
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
    /// What it does.
    pub task_type: TaskType,
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub status: TaskStatus,
    /// How much its body reports as done, in the body's own unit.
    pub progress: u64,
    /// When it was submitted, in milliseconds since 1970.
    pub create: i64,
    /// When its status last changed, in milliseconds since 1970.
    pub update: i64,
    /// How often it was run again after a crash.
    pub retries: u32,
    /// Tasks that had to end before.
    pub dependencies: Vec<TaskId>,
    /// Free text.
    pub description: Option<String>,
    /// The schema element it is about.
    pub subject: Option<Subject>,
    /// Who submitted it, where authentication was on.
    pub owner: Option<String>,
}

/// A task with its input and result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskDetail {
    /// The task.
    pub task: Task,
    /// What its body reads.
    pub input: Option<String>,
    /// What its body answered, or the error's text when it failed.
    pub result: Option<String>,
}

/// What the body of a task receives.
#[derive(Debug, Clone)]
pub struct TaskSpec {
    /// Its id.
    pub id: TaskId,
    /// What it does.
    pub task_type: TaskType,
    /// Its name.
    pub name: String,
    /// The schema element it is about.
    pub subject: Option<Subject>,
    /// The input it was submitted with.
    pub input: Option<String>,
    /// Who submitted it.
    pub owner: Option<String>,
}

/// Flags and counters that a running task shares with those who watch it.
#[derive(Debug, Default)]
struct Control {
    cancelled: AtomicBool,
    stopping: AtomicBool,
    progress: AtomicU64,
}

/// How a body reports its progress and finds out that it should end.
#[derive(Debug, Clone, Default)]
pub struct TaskProgress {
    control: Arc<Control>,
}

impl TaskProgress {
    /// Reports how much is done, in a unit of the body's own.
    pub fn set(&self, done: u64) {
        self.control.progress.store(done, Ordering::Relaxed);
    }

    /// Reports that so much more is done.
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

    /// For bodies that work in slices: call between two slices.
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

/// The work that tasks do.
///
/// Bodies of the schema lane must be idempotent: after a crash they run again from the start.
pub trait TaskBodies: Send + Sync {
    /// Does the task's work and returns its result, a text (JSON where there is something to say,
    /// empty where there is not). Between slices it should ask [`TaskProgress::check`].
    ///
    /// # Errors
    /// The task then counts as failed, with the error's text as its result; or as cancelled, if
    /// that was asked for.
    fn run(&self, task: &TaskSpec, progress: &TaskProgress) -> Result<String, GraphError>;

    /// Called once when a task ends without its body having run to the end: cancelled while it
    /// waited, deleted by force, or given up after a restart.
    fn abandoned(&self, task: &TaskSpec) {
        let _ = task;
    }
}
