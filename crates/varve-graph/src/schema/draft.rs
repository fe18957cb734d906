//! A change of the schema that is being prepared: the new snapshot, the batch that stores it, and
//! the tasks that come with it.

use std::sync::Arc;

use varve_kv::Batch;
use varve_model::IndexLabel;
use varve_model::schema::SchemaStatus;
use varve_model::time::Instant;

use super::catalogue::SchemaTables;
use super::kind::{SchemaElement, SchemaKind};
use super::mode::GraphMode;
use super::record::Record;
use super::snapshot::Schema;
use crate::tasks::{NewTask, Submission, TaskId, Tasks};
use crate::{ErrorKind, GraphError};

/// The last assigned id of each kind.
pub(super) type LastIds = [u32; SchemaKind::ALL.len()];

/// Clustering key of the last id of a kind in the `counter` table, whose partition is the kind.
pub(super) const LAST_ID: &[u8] = b"";

/// One change that is being prepared. The rules read [`Draft::schema`] and call [`Draft::put`].
/// Nothing is visible before the batch is stored.
pub(super) struct Draft<'a> {
    pub(super) schema: Schema,
    pub(super) batch: Batch,
    /// The elements that the change puts.
    pub(super) changed: Vec<(SchemaKind, u32)>,
    pub(super) last_ids: LastIds,
    pub(super) submission: Option<Submission<'a>>,
    /// The owner of the change's tasks.
    pub(super) owner: Option<&'a str>,
    pub(super) now: Instant,
    pub(super) mode: GraphMode,
    pub(super) graph_name: &'a str,
    pub(super) tables: SchemaTables,
    pub(super) tasks: &'a Tasks,
}

impl Draft<'_> {
    /// Checks an id that a request gives, before all other checks.
    pub(super) fn check_given_id(
        &self,
        kind: SchemaKind,
        given: Option<i64>,
    ) -> Result<(), GraphError> {
        let Some(given) = given else {
            return Ok(());
        };
        let readable = kind.readable();
        if !(1..=i64::from(i32::MAX)).contains(&given) {
            return Err(GraphError::invalid(format!(
                "Only positive number can be assign as {readable} id"
            )));
        }
        if self.mode != GraphMode::Restoring {
            return Err(GraphError::invalid(format!(
                "Only accept {readable} id when graph in RESTORING mode, but 'standardhugegraph[{}]' is in mode '{}'",
                self.graph_name, self.mode
            )));
        }
        Ok(())
    }

    /// Returns the id of a new element: in mode RESTORING the given one, else the next one.
    pub(super) fn new_id<T: SchemaElement>(
        &mut self,
        given: Option<i64>,
        taken: impl FnOnce(&Schema, u32) -> bool,
    ) -> Result<u32, GraphError> {
        let kind = T::KIND;
        let last = &mut self.last_ids[kind as usize - 1];
        let id = if self.mode == GraphMode::Restoring {
            let given = given.ok_or_else(|| {
                GraphError::invalid("Must provide schema id if in RESTORING mode")
            })?;
            let id = u32::try_from(given).unwrap_or_default();
            if taken(&self.schema, id) {
                return Err(GraphError::new(
                    ErrorKind::Existed,
                    format!("The {} id '{id}' has existed", kind.readable()),
                ));
            }
            id
        } else {
            *last + 1
        };
        *last = id.max(*last);
        let bytes = u64::from(*last).to_be_bytes();
        self.batch
            .put(self.tables.counter, &[kind.byte()], LAST_ID, &bytes);
        Ok(id)
    }

    /// Returns the id of a new index label that no request names: the next free one in every mode.
    pub(super) fn hidden_index_id(&mut self) -> Result<u32, GraphError> {
        let taken = self.schema.all_index_labels().map(|index| index.id.0).max();
        let last = self.last_ids[SchemaKind::IndexLabel as usize - 1];
        let given = i64::from(taken.unwrap_or_default().max(last)) + 1;
        self.new_id::<IndexLabel>(Some(given), |_, _| false)
    }

    /// Puts a new or changed element.
    pub(super) fn put<T: Record>(&mut self, element: T) -> Arc<T> {
        let partition = [T::KIND.byte()];
        let key = element.number().to_be_bytes();
        let changed = (T::KIND, element.number());
        if !self.changed.contains(&changed) {
            self.changed.push(changed);
        }
        self.batch
            .put(self.tables.schema, &partition, &key, &element.to_bytes());
        element.place(&mut self.schema)
    }

    /// Puts an element with another status. Does nothing if the element already has it.
    pub(super) fn set_status<T: Record>(&mut self, element: &Arc<T>, status: SchemaStatus) {
        if element.status() != status {
            let mut changed = T::clone(element);
            *changed.status_mut() = status;
            self.put(changed);
        }
    }

    /// Adds a task that is stored with this change.
    pub(super) fn add_task(&mut self, new: NewTask) -> Result<TaskId, GraphError> {
        let (tasks, owner) = (self.tasks, self.owner.map(str::to_owned));
        self.submission
            .get_or_insert_with(|| tasks.begin())
            .add(new.by(owner))
    }
}

/// Handles a create request whose name is taken. Returns the existing element if its definition is
/// the same and the request accepts that; else an error.
pub(super) fn existing<T: SchemaElement>(
    found: Option<&Arc<T>>,
    check_exist: bool,
    is_same: impl FnOnce(&T) -> Result<bool, GraphError>,
) -> Result<Option<Arc<T>>, GraphError> {
    let Some(found) = found else {
        return Ok(None);
    };
    if check_exist || !is_same(found)? {
        return Err(T::KIND.existed(found.name()));
    }
    Ok(Some(Arc::clone(found)))
}
