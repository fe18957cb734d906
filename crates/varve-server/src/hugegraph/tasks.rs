//! `…/tasks`: lists, reads, cancels and deletes the tasks of a graph.
//!
//! A user sees the tasks that it has submitted; a user with every right on the graph also sees
//! those of other users. Only the administrator sees its own tasks and those without an owner. A
//! task that the client does not see is 404.

mod rows;

use varve_auth::{ADMIN, Account, RecordKind};
use varve_graph::Graph;
use varve_graph::schema::SchemaKind;
use varve_graph::tasks::{
    NewTask, Task, TaskDetail, TaskId, TaskPage, TaskQuery, TaskStatus, TaskType,
};

use crate::errors::ApiError;
use crate::json::JsonWriter;
use crate::request::{Query, RequestContext};
use crate::respond::{HandlerResult, Response};
use crate::rights;
use crate::route::{Handler, Parameter, Route, Scope};
use rows::{Pages, Place, Rows};
use varve_session::Identity;

/// Tasks of a list, and rows of a page of a result, unless the client names a limit.
const DEFAULT_LIMIT: i64 = 100;

/// The name of the server that runs a task, the same in all tasks.
const TASK_SERVER: &str = "server-1";

/// The routes of this module.
pub(crate) static ROUTES: &[Route] = &[
    Route::get("graphs/{graph}/tasks", Handler::Pooled(list))
        .reads(Scope::Graph)
        .needs(rights::READ_TASKS)
        .of("job", "TaskAPI")
        .with(&[
            Parameter::text("status"),
            Parameter::text("ids"),
            Parameter::new("limit", "long", "100"),
            Parameter::text("page"),
        ]),
    // A result has up to 16 MiB, too much for the connection's core.
    Route::get("graphs/{graph}/tasks/{id}", Handler::Pooled(get))
        .reads(Scope::Graph)
        .needs(rights::READ_TASKS)
        .of("job", "TaskAPI")
        .with(&[
            Parameter::new("limit", "long", "100"),
            Parameter::text("page"),
        ]),
    Route::put("graphs/{graph}/tasks/{id}", Handler::Pooled(cancel))
        .writes(Scope::Graph)
        .needs(rights::WRITE_TASKS)
        .of("job", "TaskAPI")
        .with(&[Parameter::text("action")]),
    Route::delete("graphs/{graph}/tasks/{id}", Handler::Pooled(delete))
        .writes(Scope::Graph)
        .needs(rights::DELETE_TASKS)
        .of("job", "TaskAPI")
        .with(&[Parameter::new("force", "boolean", "false")]),
];

fn list(context: &RequestContext) -> HandlerResult {
    let graph = context.graph()?;
    let query = context.query()?;
    let page = query.get("page");
    let sight = Sight::of(context.identity(), context.graph_name());
    let found = if query.get("ids").is_some() {
        let mut tasks = graph.tasks().by_ids(&wanted_ids(query)?)?;
        tasks.retain(|task| sight.shows(task));
        TaskPage { tasks, next: None }
    } else {
        let status = query.get("status").filter(|status| !status.is_empty());
        let asked = TaskQuery {
            status: status.map(TaskStatus::parse).transpose()?,
            after: page
                .filter(|page| !page.is_empty())
                .map(page_token)
                .transpose()?,
            limit: limit(query)?,
        };
        let is_seen = |task: &Task| sight.shows(task);
        graph.tasks().list_those(asked, &is_seen)?
    };
    let mut json = JsonWriter::with_capacity(256 * (found.tasks.len() + 1));
    json.begin_object().key("tasks").begin_array();
    for task in &found.tasks {
        json.begin_object();
        write_task(task, None, &mut json);
        json.end_object();
    }
    json.end_array();
    if page.is_some() {
        write_page(found.next, &mut json);
    }
    json.end_object();
    Ok(Response::ok(json.finish()))
}

/// Writes the token of the next page, or null.
fn write_page(next: Option<impl std::fmt::Display>, json: &mut JsonWriter) {
    json.key("page");
    match next {
        Some(next) => json.string(&next.to_string()),
        None => json.null(),
    };
}

/// Submits a job in the name of the client. The answer has the number of its task.
pub(crate) fn submit(context: &RequestContext, graph: &Graph, task: NewTask) -> HandlerResult {
    let id = graph.tasks().submit(task.by(context.identity().owner()))?;
    let mut json = JsonWriter::with_capacity(32);
    json.begin_object();
    json.key("task_id").unsigned(id.0);
    json.end_object();
    Ok(Response::created(json.finish()))
}

/// The tasks that a client sees.
pub(crate) enum Sight {
    All,
    /// The tasks of all users but the administrator.
    Users,
    Own(Option<String>),
}

impl Sight {
    /// The tasks that a client sees on a graph.
    pub(crate) fn of(identity: &Identity, graph: &str) -> Self {
        if identity.is_administrator() {
            return Self::All;
        }
        match identity.administers(graph) {
            true => Self::Users,
            false => Self::Own(identity.owner()),
        }
    }

    /// Whether the client sees this task.
    pub(crate) fn shows(&self, task: &Task) -> bool {
        match (self, &task.owner) {
            (Self::All, _) => true,
            (Self::Users, Some(owner)) => {
                let owner = owner.parse::<Account>();
                owner.is_ok_and(|owner| owner.id != RecordKind::User.id_of(ADMIN))
            }
            (Self::Own(own), Some(_)) => own == &task.owner,
            (_, None) => false,
        }
    }
}

fn not_found(id: impl std::fmt::Display) -> ApiError {
    ApiError::not_found(format!("Can't find task with id '{id}'"))
}

/// The id of the task that the path names; 404 if the client does not see the task.
fn seen(context: &RequestContext, graph: &Graph) -> Result<TaskId, ApiError> {
    let id = path_id(context)?;
    let task = graph.tasks().task(id)?;
    match Sight::of(context.identity(), context.graph_name()).shows(&task) {
        true => Ok(id),
        false => Err(not_found(id)),
    }
}

/// Reads the limit of a list: `None` for -1, which means all.
fn limit(query: &Query) -> Result<Option<usize>, ApiError> {
    match query.integer("limit", DEFAULT_LIMIT)? {
        -1 => Ok(None),
        limit => usize::try_from(limit)
            .map(Some)
            .map_err(|_| ApiError::illegal_argument(format!("Not a legal range: [0, {limit}]"))),
    }
}

fn wanted_ids(query: &Query) -> Result<Vec<TaskId>, ApiError> {
    for other in ["status", "page"] {
        if let Some(value) = query.get(other).filter(|value| !value.is_empty()) {
            return Err(ApiError::illegal_argument(format!(
                "Not support {other} when query task by ids, but got {other}='{value}'"
            )));
        }
    }
    query
        .all("ids")
        .map(|text| {
            text.parse().map(TaskId).map_err(|_| {
                ApiError::illegal_argument(format!("The ids must be integers, but got '{text}'"))
            })
        })
        .collect()
}

/// Reads a page token, which is the last id of the page before.
fn page_token(text: &str) -> Result<TaskId, ApiError> {
    text.parse().map(TaskId).map_err(|_| invalid_page(text))
}

fn invalid_page(text: &str) -> ApiError {
    ApiError::backend(format!("Invalid page: '{text}'"))
}

/// The id in the path; 404 if it is not a number.
fn path_id(context: &RequestContext) -> Result<TaskId, ApiError> {
    let text = context.path_parameter("id");
    text.parse().map(TaskId).map_err(|_| not_found(text))
}

/// The task, with its whole result or the page of it that the client requests.
fn get(context: &RequestContext) -> HandlerResult {
    let query = context.query()?;
    let token = query.get("page");
    let invalid = || invalid_page(token.unwrap_or(""));
    let from = token
        .filter(|token| !token.is_empty())
        .map(|token| Place::parse(token).ok_or_else(invalid))
        .transpose()?;
    let limit = limit(query)?.unwrap_or(usize::MAX);
    let graph = context.graph()?;
    let mut detail = graph.tasks().detail(seen(context, &graph)?)?;
    let mut next = None;
    let is_cut = token.is_some() || query.get("limit").is_some();
    if let (true, TaskStatus::Success, Some(result)) =
        (is_cut, detail.task.status, detail.result.as_deref())
    {
        let pages = Pages {
            task: detail.task.id.0,
            result,
            rows: match detail.task.task_type {
                TaskType::Algorithm => Rows::OfMember,
                _ => Rows::Own,
            },
        };
        let page = pages.page(from, limit).ok_or_else(invalid)?;
        next = page.next;
        detail.result = Some(page.text);
    }
    let mut json = JsonWriter::with_capacity(512);
    json.begin_object();
    write_task(&detail.task, Some(&detail), &mut json);
    if token.is_some() || next.is_some() {
        write_page(next, &mut json);
    }
    json.end_object();
    Ok(Response::ok(json.finish()))
}

fn cancel(context: &RequestContext) -> HandlerResult {
    let graph = context.graph()?;
    match context.query()?.get("action") {
        Some("cancel") => {
            let detail = graph.tasks().cancel(seen(context, &graph)?)?;
            Ok(Response::accepted(object(&detail)))
        }
        other => Err(ApiError::unknown_action(other.unwrap_or(""))),
    }
}

fn delete(context: &RequestContext) -> HandlerResult {
    let force = context.query()?.boolean("force", false)?;
    let graph = context.graph()?;
    graph.tasks().delete(seen(context, &graph)?, force)?;
    Ok(Response::no_content())
}

fn object(detail: &TaskDetail) -> Vec<u8> {
    let mut json = JsonWriter::with_capacity(512);
    json.begin_object();
    write_task(&detail.task, Some(detail), &mut json);
    json.end_object();
    json.finish()
}

/// Writes the members of a task object in the order of the original.
fn write_task(task: &Task, detail: Option<&TaskDetail>, json: &mut JsonWriter) {
    json.key("task_name").string(&task.name);
    json.key("task_progress").unsigned(task.progress);
    json.key("task_create").integer(task.create);
    json.key("task_status")
        .string(&task.status.name().to_ascii_lowercase());
    json.key("task_update").integer(task.update);
    if let Some(detail) = detail {
        write_result(detail, json);
    }
    json.key("task_retries").unsigned(u64::from(task.retries));
    json.key("id").unsigned(task.id.0);
    if !task.dependencies.is_empty() {
        json.key("task_dependencies").begin_array();
        for dependency in &task.dependencies {
            json.unsigned(dependency.0);
        }
        json.end_array();
    }
    json.key("task_type").string(task.task_type.name());
    if let Some(detail) = detail {
        json.key("task_callable")
            .string_parts(&["org.apache.hugegraph.job.", callable(task)]);
        if let Some(input) = &detail.input {
            json.key("task_input").string(input);
        }
        if let Some(description) = &task.description {
            json.key("task_description").string(description);
        }
    }
    json.key("task_server").string(TASK_SERVER);
}

/// Writes the result of a task that has ended: JSON as text, or the error message.
fn write_result(detail: &TaskDetail, json: &mut JsonWriter) {
    match (detail.task.status, detail.result.as_deref()) {
        // HugeGraph shows an error as the text of its Java exception.
        (TaskStatus::Failed, Some(result)) => {
            let exception = "org.apache.hugegraph.HugeException: ";
            json.key("task_result").string_parts(&[exception, result]);
        }
        (_, Some(result)) => {
            json.key("task_result").string(result);
        }
        // Tasks of the schema have no result, for which HugeGraph writes the text "null".
        (TaskStatus::Success, None) => {
            json.key("task_result").string("null");
        }
        (_, None) => {}
    }
}

/// The Java class that the original runs for such a task.
fn callable(task: &Task) -> &'static str {
    let kind = task.subject.map(|subject| subject.kind);
    match (task.task_type, kind) {
        (TaskType::RemoveSchema, Some(SchemaKind::VertexLabel)) => "schema.VertexLabelRemoveJob",
        (TaskType::RemoveSchema, Some(SchemaKind::EdgeLabel)) => "schema.EdgeLabelRemoveJob",
        (TaskType::RemoveSchema, _) => "schema.IndexLabelRemoveJob",
        (TaskType::RebuildIndex, _) => "schema.IndexLabelRebuildJob",
        (TaskType::CreateOlap, _) => "schema.OlapPropertyKeyCreateJob",
        (TaskType::ClearOlap, _) => "schema.OlapPropertyKeyClearJob",
        (TaskType::RemoveOlap, _) => "schema.OlapPropertyKeyRemoveJob",
        (TaskType::Gremlin, _) => "GremlinJob",
        (TaskType::Cypher, _) => "CypherJob",
        (TaskType::Algorithm, _) => "AlgorithmJob",
        (TaskType::Computer, _) => "ComputerJob",
    }
}
