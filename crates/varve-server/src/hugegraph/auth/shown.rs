//! Renders the records of users, groups and rights as JSON.

use serde_json::{Map, Value as Json, json};
use varve_auth::{Directory, Id, Record, RecordKind, Resource, ResourceType, Rights};

use crate::json::JsonWriter;

/// The only graph space; HugeGraph 1.7 may have several.
pub(super) const GRAPH_SPACE: &str = "DEFAULT";

/// The record with this id.
pub(super) fn one(directory: &Directory, kind: RecordKind, id: &Id) -> Option<Json> {
    match kind {
        RecordKind::User => user(directory, id),
        RecordKind::Group => {
            let group = directory.group(id)?;
            let mut shown = common(kind, group);
            put(&mut shown, "group_name", Some(&group.body.name));
            put(
                &mut shown,
                "group_description",
                group.body.description.as_ref(),
            );
            Some(Json::Object(shown))
        }
        RecordKind::Target => {
            let target = directory.target(id)?;
            let mut shown = common(kind, target);
            put(&mut shown, "target_name", Some(&target.body.name));
            put(&mut shown, "target_graph", Some(&target.body.graph));
            put(&mut shown, "target_url", Some(&target.body.url));
            if let Some(resources) = &target.body.resources {
                shown.insert("target_resources".to_owned(), json!(resources));
            }
            Some(Json::Object(shown))
        }
        RecordKind::Belong => {
            let belong = directory.belong(id)?;
            let mut shown = common(kind, belong);
            shown.insert("user".to_owned(), json!(belong.body.user));
            shown.insert("group".to_owned(), json!(belong.body.group));
            put(
                &mut shown,
                "belong_description",
                belong.body.description.as_ref(),
            );
            Some(Json::Object(shown))
        }
        RecordKind::Access => access(directory, id),
        RecordKind::Project => project(directory, id),
    }
}

fn user(directory: &Directory, id: &Id) -> Option<Json> {
    let user = directory.user(id)?;
    let body = &user.body;
    let mut shown = common(RecordKind::User, user);
    put(&mut shown, "user_name", Some(&body.name));
    put(&mut shown, "user_phone", body.phone.as_ref());
    put(&mut shown, "user_email", body.email.as_ref());
    put(&mut shown, "user_avatar", body.avatar.as_ref());
    put(&mut shown, "user_description", body.description.as_ref());
    let stamp = directory
        .credential(id)
        .map(|credential| credential.stamp());
    put(&mut shown, "user_password", stamp.as_ref());
    Some(Json::Object(shown))
}

fn access(directory: &Directory, id: &Id) -> Option<Json> {
    let access = directory.access(id)?;
    let mut shown = common(RecordKind::Access, access);
    shown.insert("group".to_owned(), json!(access.body.group));
    shown.insert("target".to_owned(), json!(access.body.target));
    shown.insert(
        "access_permission".to_owned(),
        json!(access.body.permission),
    );
    put(
        &mut shown,
        "access_description",
        access.body.description.as_ref(),
    );
    Some(Json::Object(shown))
}

fn project(directory: &Directory, id: &Id) -> Option<Json> {
    let project = directory.project(id)?;
    let body = &project.body;
    let mut shown = common(RecordKind::Project, project);
    put(&mut shown, "project_name", Some(&body.name));
    put(&mut shown, "project_description", body.description.as_ref());
    if !body.graphs.is_empty() {
        shown.insert("project_graphs".to_owned(), json!(body.graphs));
    }
    shown.insert("project_admin_group".to_owned(), json!(body.admin_group));
    shown.insert("project_op_group".to_owned(), json!(body.op_group));
    shown.insert("project_target".to_owned(), json!(body.target));
    Some(Json::Object(shown))
}

/// A record in the form of HugeGraph 1.7.
pub(super) fn newer(directory: &Directory, (kind, id): (RecordKind, &Id), shown: Json) -> Json {
    let Json::Object(mut shown) = shown else {
        return shown;
    };
    let mut add = |name: &str, value: Json| shown.insert(name.to_owned(), value);
    match kind {
        RecordKind::Target => {
            let target = directory.target(id);
            if let Some(resources) = target.and_then(|target| target.body.resources.as_ref()) {
                add("target_resources", by_type(resources));
            }
        }
        RecordKind::Belong => {
            add("graphspace", json!(GRAPH_SPACE));
            // A link between a user and a group.
            add("link", json!("ug"));
        }
        RecordKind::Access => {
            add("graphspace", json!(GRAPH_SPACE));
        }
        RecordKind::User | RecordKind::Group | RecordKind::Project => {}
    }
    Json::Object(shown)
}

/// The rights of a user, by graph and permission. `is_newer` selects the form of HugeGraph 1.7.
/// Permissions are in HugeGraph's order: READ, WRITE, DELETE, EXECUTE.
pub(super) fn roles(rights: &Rights, is_newer: bool) -> JsonWriter {
    let graphs = rights.by_graph();
    let in_space = is_newer && !graphs.is_empty();
    let mut json = JsonWriter::default();
    json.begin_object().key("roles").begin_object();
    if in_space {
        json.key(GRAPH_SPACE).begin_object();
    }
    for (graph, permissions) in graphs {
        json.key(graph).begin_object();
        for (permission, resources) in permissions {
            json.key(permission.name());
            match is_newer {
                true => json.value(&by_type(resources)),
                false => json.value(&resources),
            };
        }
        json.end_object();
    }
    if in_space {
        json.end_object();
    }
    json.end_object().end_object();
    json
}

/// Resources by type; those of elements and schema elements by type and label.
fn by_type<'r>(resources: impl IntoIterator<Item = &'r Resource>) -> Json {
    let mut types: Map<String, Json> = Map::new();
    for resource in resources {
        use ResourceType as T;
        let has_label = matches!(
            resource.kind,
            T::Vertex
                | T::Edge
                | T::VertexAggr
                | T::EdgeAggr
                | T::PropertyKey
                | T::VertexLabel
                | T::EdgeLabel
                | T::IndexLabel
                | T::Schema
        );
        let key = match has_label {
            true => format!("{}#{}", resource.kind.name(), resource.label),
            false => resource.kind.name().to_owned(),
        };
        let of_type = types.entry(key).or_insert_with(|| json!([]));
        if let Json::Array(of_type) = of_type {
            of_type.push(json!(resource));
        }
    }
    Json::Object(types)
}

/// The members that all records have.
fn common<T>(kind: RecordKind, record: &Record<T>) -> Map<String, Json> {
    let name = kind.name();
    let mut shown = Map::new();
    shown.insert("id".to_owned(), json!(record.id));
    shown.insert(format!("{name}_creator"), json!(record.creator));
    shown.insert(format!("{name}_create"), json!(date(record.created)));
    shown.insert(format!("{name}_update"), json!(date(record.updated)));
    shown
}

fn put(shown: &mut Map<String, Json>, field: &str, value: Option<&String>) {
    if let Some(value) = value {
        shown.insert(field.to_owned(), Json::String(value.clone()));
    }
}

/// A time as HugeGraph shows it, in UTC.
pub(super) fn date(milliseconds: i64) -> String {
    let instant = jiff::Timestamp::from_millisecond(milliseconds).unwrap_or_default();
    instant.strftime("%Y-%m-%d %H:%M:%S%.3f").to_string()
}
