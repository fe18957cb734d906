//! Schema requests of Gremlin scripts. They have the bodies of the REST API, but no path.

use serde::Deserialize;
use serde_json::Value as Json;
use varve_graph::Graph;
use varve_graph::schema::{Action, OwnedChanges, Schema, SchemaKind, WithTask};
use varve_graph::tasks::TaskId;
use varve_gremlin::execute::{SchemaAction, SchemaKind as Kind};

use super::changes;
use super::messages::Show;
use crate::errors::ApiError;
use crate::json::JsonWriter;

/// Runs a schema request of a script. Returns the answer as JSON, and the task that completes the
/// change ([`TaskId::NONE`] if there is none); the task belongs to `owner`.
pub(crate) fn apply(
    (graph, owner): (&Graph, Option<&str>),
    kind: Kind,
    action: SchemaAction,
    name: &str,
    body: Json,
) -> Result<(Json, TaskId), ApiError> {
    let owned = graph.catalogue().owned_by(owner.map(str::to_owned));
    match action {
        SchemaAction::Get => Ok((one(graph, kind, name)?, TaskId::NONE)),
        SchemaAction::List => Ok((all(graph, kind)?, TaskId::NONE)),
        SchemaAction::Create => create((graph, &owned), kind, body),
        SchemaAction::Append => Ok((change(graph, kind, Action::Append, body)?, TaskId::NONE)),
        SchemaAction::Eliminate => {
            Ok((change(graph, kind, Action::Eliminate, body)?, TaskId::NONE))
        }
        SchemaAction::Remove => Ok((Json::Null, owned.remove(kind_of(kind), name)?)),
        SchemaAction::Rebuild => Ok((Json::Null, owned.rebuild(kind_of(kind), name)?)),
    }
}

const fn kind_of(kind: Kind) -> SchemaKind {
    match kind {
        Kind::PropertyKey => SchemaKind::PropertyKey,
        Kind::VertexLabel => SchemaKind::VertexLabel,
        Kind::EdgeLabel => SchemaKind::EdgeLabel,
        Kind::IndexLabel => SchemaKind::IndexLabel,
    }
}

fn read<T: for<'de> Deserialize<'de>>(body: Json) -> Result<T, ApiError> {
    Ok(serde_json::from_value(body)?)
}

fn shown(show: impl FnOnce(&mut JsonWriter)) -> Result<Json, ApiError> {
    let mut json = JsonWriter::with_capacity(512);
    show(&mut json);
    Ok(serde_json::from_slice(&json.finish())?)
}

fn element<T: Show>(graph: &Graph, element: &T) -> Result<Json, ApiError> {
    shown(|json| element.show(&graph.schema(), json))
}

fn create(
    (graph, owned): (&Graph, &OwnedChanges<'_>),
    kind: Kind,
    body: Json,
) -> Result<(Json, TaskId), ApiError> {
    match kind {
        Kind::PropertyKey => {
            let made = changes::new_key(owned, read(body)?)?;
            let WithTask { element: key, task } = made;
            Ok((element(graph, &*key)?, task))
        }
        Kind::VertexLabel => {
            let label = changes::new_vertex_label(graph, read(body)?)?;
            Ok((element(graph, &*label)?, TaskId::NONE))
        }
        Kind::EdgeLabel => {
            let label = changes::new_edge_label(graph, read(body)?)?;
            Ok((element(graph, &*label)?, TaskId::NONE))
        }
        Kind::IndexLabel => {
            let made = changes::new_index_label(owned, read(body)?)?;
            let WithTask {
                element: index,
                task,
            } = made;
            Ok((element(graph, &*index)?, task))
        }
    }
}

fn change(graph: &Graph, kind: Kind, action: Action, body: Json) -> Result<Json, ApiError> {
    match kind {
        Kind::PropertyKey => element(graph, &*changes::change_key(graph, action, read(body)?)?),
        Kind::VertexLabel => {
            let label = changes::change_vertex_label(graph, action, read(body)?)?;
            element(graph, &*label)
        }
        Kind::EdgeLabel => {
            let label = changes::change_edge_label(graph, action, read(body)?)?;
            element(graph, &*label)
        }
        Kind::IndexLabel => {
            let index = changes::change_index_label(graph, action, read(body)?)?;
            element(graph, &*index)
        }
    }
}

fn one(graph: &Graph, kind: Kind, name: &str) -> Result<Json, ApiError> {
    let schema = graph.schema();
    let missing = || ApiError::from(kind_of(kind).not_found(name));
    match kind {
        Kind::PropertyKey => {
            let found = Schema::property_key_by_name(&schema, name);
            element(graph, &**found.ok_or_else(missing)?)
        }
        Kind::VertexLabel => {
            let found = Schema::vertex_label_by_name(&schema, name);
            element(graph, &**found.ok_or_else(missing)?)
        }
        Kind::EdgeLabel => {
            let found = Schema::edge_label_by_name(&schema, name);
            element(graph, &**found.ok_or_else(missing)?)
        }
        Kind::IndexLabel => {
            let found = Schema::index_label_by_name(&schema, name);
            element(graph, &**found.ok_or_else(missing)?)
        }
    }
}

fn all(graph: &Graph, kind: Kind) -> Result<Json, ApiError> {
    let schema = graph.schema();
    shown(|json| {
        json.begin_array();
        match kind {
            Kind::PropertyKey => schema
                .all_property_keys()
                .for_each(|one| one.show(&schema, json)),
            Kind::VertexLabel => schema
                .all_vertex_labels()
                .for_each(|one| one.show(&schema, json)),
            Kind::EdgeLabel => schema
                .all_edge_labels()
                .for_each(|one| one.show(&schema, json)),
            Kind::IndexLabel => schema
                .all_index_labels()
                .for_each(|one| one.show(&schema, json)),
        }
        json.end_array();
    })
}
