//! The records of tasks: keys, and [`Datum`] maps as values.

use varve_kv::{Batch, ClusteringRange, Reader, ReaderExt, TableId};
use varve_model::Datum;

use super::{Subject, Task, TaskId, TaskStatus, TaskType};
use crate::schema::SchemaKind;
use crate::{ErrorKind, GraphError};

/// Partition key of tasks in the `meta` and `counter` tables.
pub(crate) const PARTITION: &[u8] = b"t";
/// Clustering key of the last task id in the `counter` table.
pub(super) const LAST_ID: &[u8] = b"";
/// First byte of the key of an unfinished task's marker.
pub(super) const OPEN: u8 = b'o';
/// First byte of the key of a task's record.
pub(super) const RECORD: u8 = b't';
/// First byte of the key of a task's input.
pub(super) const INPUT: u8 = b'i';
/// First byte of the key of a task's result.
pub(super) const RESULT: u8 = b'r';

/// The clustering key of one part of a task.
pub(super) fn key(part: u8, id: TaskId) -> [u8; 9] {
    let mut key = [part; 9];
    key[1..].copy_from_slice(&id.0.to_be_bytes());
    key
}

/// The task id in a clustering key.
pub(super) fn id_of(key: &[u8]) -> Option<TaskId> {
    let id: [u8; 8] = key.get(1..)?.try_into().ok()?;
    Some(TaskId(u64::from_be_bytes(id)))
}

/// Returns the range of the keys of one part of all tasks after `after`.
pub(super) fn range(part: u8, after: Option<TaskId>) -> ClusteringRange {
    let mut range = ClusteringRange::prefix(&[part]);
    if let Some(after) = after {
        range.from = key(part, TaskId(after.0.saturating_add(1))).to_vec();
    }
    range
}

/// Reads a part of a task that is a text.
pub(super) fn read_text(
    reader: &(impl Reader + ?Sized),
    meta: TableId,
    part: u8,
    id: TaskId,
) -> Result<Option<String>, GraphError> {
    let bytes = reader.get(meta, PARTITION, &key(part, id))?;
    bytes
        .map(|bytes| String::from_utf8(bytes).map_err(|_| damaged(id)))
        .transpose()
}

/// Reads a record.
pub(super) fn read(
    reader: &(impl Reader + ?Sized),
    meta: TableId,
    id: TaskId,
) -> Result<Option<Task>, GraphError> {
    let bytes = reader.get(meta, PARTITION, &key(RECORD, id))?;
    bytes.map(|bytes| decode(id, &bytes)).transpose()
}

/// Adds a record to a batch.
pub(super) fn write(batch: &mut Batch, meta: TableId, task: &Task) {
    batch.put(meta, PARTITION, &key(RECORD, task.id), &encode(task));
}

fn damaged(id: TaskId) -> GraphError {
    GraphError::new(
        ErrorKind::Storage,
        format!("Stored data is damaged: the record of task {id}"),
    )
}

fn encode(task: &Task) -> Vec<u8> {
    let int = |number: u64| Datum::Int(i64::try_from(number).unwrap_or(i64::MAX));
    let text = |text: &str| Datum::Text(text.to_owned());
    let mut members = vec![
        ("type", text(task.task_type.name())),
        ("name", text(&task.name)),
        ("status", text(task.status.name())),
        ("progress", int(task.progress)),
        ("create", Datum::Int(task.create)),
        ("update", Datum::Int(task.update)),
        ("retries", int(u64::from(task.retries))),
    ];
    if !task.dependencies.is_empty() {
        let ids = task.dependencies.iter().map(|id| int(id.0)).collect();
        members.push(("dependencies", Datum::List(ids)));
    }
    if let Some(description) = &task.description {
        members.push(("description", text(description)));
    }
    if let Some(owner) = &task.owner {
        members.push(("owner", text(owner)));
    }
    if let Some(subject) = task.subject {
        members.push(("kind", int(u64::from(subject.kind.byte()))));
        members.push(("subject", int(u64::from(subject.id))));
    }
    let named = members.into_iter();
    let map = named
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    varve_encoding::datum::to_bytes(&Datum::Map(map))
}

/// Checks that a stored part of a task can be decoded.
///
/// # Errors
/// When it is damaged.
pub(crate) fn check_stored(key: &[u8], value: &[u8]) -> Result<(), GraphError> {
    let id = id_of(key).ok_or_else(|| {
        GraphError::new(
            ErrorKind::Storage,
            "Stored data is damaged: not a task's key",
        )
    })?;
    match key.first() {
        Some(&RECORD) => decode(id, value).map(drop),
        _ => Ok(()),
    }
}

/// Decodes a record; unknown members are ignored.
pub(super) fn decode(id: TaskId, bytes: &[u8]) -> Result<Task, GraphError> {
    let record = varve_encoding::datum::decode(bytes)?;
    decode_members(id, &record).ok_or_else(|| damaged(id))
}

fn decode_members(id: TaskId, record: &Datum) -> Option<Task> {
    let text = |name: &str| match record.get(name) {
        Some(Datum::Text(text)) => Some(text.clone()),
        _ => None,
    };
    let int = |name: &str| match record.get(name) {
        Some(Datum::Int(number)) => Some(*number),
        _ => None,
    };
    let dependencies = match record.get("dependencies") {
        Some(Datum::List(ids)) => ids.iter().map(task_id).collect::<Option<Vec<_>>>()?,
        _ => Vec::new(),
    };
    let kind = int("kind")
        .and_then(|byte| u8::try_from(byte).ok())
        .and_then(SchemaKind::from_byte);
    let subject_id = int("subject").and_then(|id| u32::try_from(id).ok());
    Some(Task {
        id,
        task_type: TaskType::from_name(&text("type")?)?,
        name: text("name")?,
        status: TaskStatus::from_name(&text("status")?)?,
        progress: u64::try_from(int("progress")?).ok()?,
        create: int("create")?,
        update: int("update")?,
        retries: u32::try_from(int("retries")?).ok()?,
        dependencies,
        description: text("description"),
        owner: text("owner"),
        subject: kind.zip(subject_id).map(|(kind, id)| Subject { kind, id }),
    })
}

fn task_id(datum: &Datum) -> Option<TaskId> {
    match datum {
        Datum::Int(id) => u64::try_from(*id).ok().map(TaskId),
        _ => None,
    }
}
