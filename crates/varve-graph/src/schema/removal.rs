//! Removals of schema elements and rebuilds of indexes: the tasks for them, and the schema's part
//! of the tasks' work.

use std::sync::Arc;

use varve_model::schema::{IndexBase, SchemaStatus};
use varve_model::{
    EdgeLabel, EdgeLabelId, IndexLabel, IndexLabelId, PropertyKeyId, VertexLabel, VertexLabelId,
};

use super::definition::refuse_part;
use super::draft::Draft;
use super::kind::{SchemaElement, SchemaKind};
use super::property_key;
use super::snapshot::Schema;
use crate::tasks::{NewTask, Subject, TaskId, TaskType};
use crate::{ErrorKind, GraphError};

/// Returns the id of the element with this kind and name.
fn find(schema: &Schema, kind: SchemaKind, name: &str) -> Result<u32, GraphError> {
    let id = match kind {
        SchemaKind::PropertyKey => schema.property_key_by_name(name).map(|e| e.id.0),
        SchemaKind::VertexLabel => schema.vertex_label_by_name(name).map(|e| e.id.0),
        SchemaKind::EdgeLabel => schema.edge_label_by_name(name).map(|e| e.id.0),
        SchemaKind::IndexLabel => schema.index_label_by_name(name).map(|e| e.id.0),
    };
    id.ok_or_else(|| kind.not_found(name))
}

/// Adds a task that removes a vertex, edge or index label. The task decides whether that is allowed
/// when it runs.
pub(super) fn request(
    draft: &mut Draft<'_>,
    kind: SchemaKind,
    name: &str,
) -> Result<TaskId, GraphError> {
    let id = find(&draft.schema, kind, name)?;
    if kind == SchemaKind::IndexLabel {
        refuse_part(&draft.schema, IndexLabelId(id))?;
    }
    draft.add_task(NewTask::about(TaskType::RemoveSchema, kind, id, name))
}

/// Adds a task that rebuilds an index label, or all index labels of a label.
pub(super) fn rebuild(
    draft: &mut Draft<'_>,
    kind: SchemaKind,
    name: &str,
) -> Result<TaskId, GraphError> {
    if kind == SchemaKind::PropertyKey {
        return Err(GraphError::invalid(format!(
            "Can't rebuild index of property key '{name}': only labels have indexes"
        )));
    }
    let id = find(&draft.schema, kind, name)?;
    draft.add_task(NewTask::about(TaskType::RebuildIndex, kind, id, name))
}

/// Returns the index labels that a rebuild of `subject` concerns; none that is being removed or is
/// hidden.
pub(super) fn rebuilt(schema: &Schema, subject: Subject) -> Vec<Arc<IndexLabel>> {
    let goes_on = |index: &&Arc<IndexLabel>| {
        !matches!(
            index.status,
            SchemaStatus::Deleting | SchemaStatus::Undeleted | SchemaStatus::Removed
        )
    };
    let on = |base| schema.indexes_on(base).iter().filter(goes_on).cloned();
    match subject.kind {
        SchemaKind::VertexLabel => on(IndexBase::Vertex(VertexLabelId(subject.id))).collect(),
        SchemaKind::EdgeLabel => on(IndexBase::Edge(EdgeLabelId(subject.id))).collect(),
        SchemaKind::IndexLabel => schema
            .index_label(IndexLabelId(subject.id))
            .filter(goes_on)
            .cloned()
            .into_iter()
            .collect(),
        SchemaKind::PropertyKey => Vec::new(),
    }
}

/// Marks the index labels of a rebuild as incomplete: REBUILDING, or CREATING if they were never
/// complete.
pub(super) fn begin_rebuild(draft: &mut Draft<'_>, subject: Subject) -> Result<(), GraphError> {
    for index in rebuilt(&draft.schema, subject) {
        if index.status != SchemaStatus::Creating {
            draft.set_status(&index, SchemaStatus::Rebuilding);
        }
    }
    Ok(())
}

/// Marks the index labels of a rebuild as complete, or as unusable if it failed.
pub(super) fn end_rebuild(draft: &mut Draft<'_>, subject: Subject, complete: bool) {
    let status = if complete {
        SchemaStatus::Created
    } else {
        SchemaStatus::Invalid
    };
    for index in rebuilt(&draft.schema, subject) {
        let under_way = matches!(
            index.status,
            SchemaStatus::Creating | SchemaStatus::Rebuilding
        );
        if under_way {
            draft.set_status(&index, status);
        }
    }
}

/// Begins a removal: checks that it is allowed, and marks the element and its index labels
/// DELETING. Returns `false` if the element has already been removed, as after a crash at the very
/// end.
pub(super) fn begin_removal(draft: &mut Draft<'_>, subject: Subject) -> Result<bool, GraphError> {
    if !is_there(&draft.schema, subject) {
        return Ok(false);
    }
    match subject.kind {
        SchemaKind::VertexLabel => check_unlinked(&draft.schema, VertexLabelId(subject.id))?,
        SchemaKind::EdgeLabel => check_childless(&draft.schema, EdgeLabelId(subject.id))?,
        SchemaKind::PropertyKey | SchemaKind::IndexLabel => {}
    }
    set_all(draft, subject, SchemaStatus::Deleting)?;
    Ok(true)
}

/// Completes a removal: the element and its index labels become REMOVED.
pub(super) fn end_removal(draft: &mut Draft<'_>, subject: Subject) -> Result<(), GraphError> {
    set_all(draft, subject, SchemaStatus::Removed)
}

/// Marks an element whose removal has begun and failed as UNDELETED.
pub(super) fn fail_removal(draft: &mut Draft<'_>, subject: Subject) -> Result<(), GraphError> {
    let schema = &draft.schema;
    let begun = match subject.kind {
        SchemaKind::PropertyKey => false,
        SchemaKind::VertexLabel => is_deleting(schema.vertex_label(VertexLabelId(subject.id))),
        SchemaKind::EdgeLabel => is_deleting(schema.edge_label(EdgeLabelId(subject.id))),
        SchemaKind::IndexLabel => is_deleting(schema.index_label(IndexLabelId(subject.id))),
    };
    if begun {
        set_all(draft, subject, SchemaStatus::Undeleted)?;
    }
    Ok(())
}

fn is_deleting<T: SchemaElement>(element: Option<&Arc<T>>) -> bool {
    element.is_some_and(|element| element.status() == SchemaStatus::Deleting)
}

fn is_there(schema: &Schema, subject: Subject) -> bool {
    fn visible<T: SchemaElement>(element: Option<&Arc<T>>) -> bool {
        element.is_some_and(|element| element.is_visible())
    }
    match subject.kind {
        SchemaKind::PropertyKey => visible(schema.property_key(PropertyKeyId(subject.id))),
        SchemaKind::VertexLabel => visible(schema.vertex_label(VertexLabelId(subject.id))),
        SchemaKind::EdgeLabel => visible(schema.edge_label(EdgeLabelId(subject.id))),
        SchemaKind::IndexLabel => visible(schema.index_label(IndexLabelId(subject.id))),
    }
}

/// Sets the status of the subject and of its index labels.
fn set_all(
    draft: &mut Draft<'_>,
    subject: Subject,
    status: SchemaStatus,
) -> Result<(), GraphError> {
    let on = |schema: &Schema, base| -> Vec<Arc<IndexLabel>> { schema.indexes_on(base).to_vec() };
    let schema = &draft.schema;
    let indexes = match subject.kind {
        SchemaKind::VertexLabel => on(schema, IndexBase::Vertex(VertexLabelId(subject.id))),
        SchemaKind::EdgeLabel => on(schema, IndexBase::Edge(EdgeLabelId(subject.id))),
        SchemaKind::IndexLabel => schema
            .index_label(IndexLabelId(subject.id))
            .cloned()
            .into_iter()
            .collect(),
        SchemaKind::PropertyKey => Vec::new(),
    };
    for index in indexes {
        draft.set_status(&index, status);
    }
    match subject.kind {
        SchemaKind::VertexLabel => {
            let label = draft
                .schema
                .vertex_label(VertexLabelId(subject.id))
                .cloned();
            if let Some(label) = label {
                draft.set_status(&label, status);
            }
        }
        SchemaKind::EdgeLabel => {
            let label = draft.schema.edge_label(EdgeLabelId(subject.id)).cloned();
            if let Some(label) = label {
                draft.set_status(&label, status);
            }
        }
        SchemaKind::PropertyKey if status == SchemaStatus::Removed => {
            property_key::finish_removal(draft, PropertyKeyId(subject.id))?;
        }
        SchemaKind::PropertyKey | SchemaKind::IndexLabel => {}
    }
    Ok(())
}

fn check_unlinked(schema: &Schema, id: VertexLabelId) -> Result<(), GraphError> {
    let links = |label: &&Arc<EdgeLabel>| {
        label
            .link
            .is_some_and(|(source, target)| source == id || target == id)
    };
    let (Some(user), Some(label)) = (
        schema.all_edge_labels().find(links),
        schema.vertex_label(id),
    ) else {
        return Ok(());
    };
    let label: &VertexLabel = label;
    Err(GraphError::new(
        ErrorKind::NotAllowed,
        format!(
            "Not allowed to remove vertex label '{}' because the edge label '{}' still link with it",
            label.name, user.name
        ),
    ))
}

fn check_childless(schema: &Schema, id: EdgeLabelId) -> Result<(), GraphError> {
    let Some(child) = schema.sub_labels(id).next() else {
        return Ok(());
    };
    Err(GraphError::new(
        ErrorKind::NotAllowed,
        format!(
            "Not allowed to remove a parent edge label: '{}' because the sub edge label '{}' is still existing",
            schema.edge_label_name(id),
            child.name
        ),
    ))
}
