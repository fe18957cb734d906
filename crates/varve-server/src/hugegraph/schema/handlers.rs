//! The handlers: read the body, have the catalogue do it, show the element.
//!
//! The rules are the catalogue's. What stands here is what only the REST API has: required members,
//! the name in the path and in the body, the `action` parameter. Changes wait for stable storage,
//! so they run on the pool.

use std::sync::Arc;

use http::StatusCode;
use varve_graph::Graph;
use varve_graph::schema::{
    Action, BaseType, EdgeLabelChange, IndexLabelChange, LabelChange, NewEdgeLabel, NewIndexLabel,
    NewPropertyKey, NewVertexLabel, PropertyKeyChange, Schema, SchemaElement, SchemaKind, UserData,
    VertexLabelChange, WithTask,
};
use varve_graph::tasks::TaskId;
use varve_model::schema::{AggregateType, EdgeLabelType, WriteType};
use varve_model::value::{Cardinality, DataType};
use varve_model::{EdgeLabel, IndexLabel, PropertyKey, VertexLabel};

use super::messages::{
    EdgeLabelBody, IndexLabelBody, Links, Members, OrDefault, PropertyKeyBody, Show,
    VertexLabelBody, Wire, show_stored,
};
use crate::errors::{ApiError, HandlerResult};
use crate::json::JsonWriter;
use crate::request::RequestContext;
use crate::respond::Response;
use crate::route::{Handler, Parameter, Route, Scope};

const NAMES: &[Parameter] = &[Parameter::text("names")];
const ACTION: &[Parameter] = &[Parameter::text("action")];

const fn key_api(route: Route) -> Route {
    route.of("schema", "PropertyKeyAPI")
}

const fn vertex_api(route: Route) -> Route {
    route.of("schema", "VertexLabelAPI")
}

const fn edge_api(route: Route) -> Route {
    route.of("schema", "EdgeLabelAPI")
}

const fn index_api(route: Route) -> Route {
    route.of("schema", "IndexLabelAPI")
}

const fn rebuild_api(route: Route) -> Route {
    route.of("job", "RebuildAPI")
}

const KEYS: &str = "graphs/{graph}/schema/propertykeys";
const KEY: &str = "graphs/{graph}/schema/propertykeys/{name}";
const VERTEX_LABELS: &str = "graphs/{graph}/schema/vertexlabels";
const VERTEX_LABEL: &str = "graphs/{graph}/schema/vertexlabels/{name}";
const EDGE_LABELS: &str = "graphs/{graph}/schema/edgelabels";
const EDGE_LABEL: &str = "graphs/{graph}/schema/edgelabels/{name}";
const INDEX_LABELS: &str = "graphs/{graph}/schema/indexlabels";
const INDEX_LABEL: &str = "graphs/{graph}/schema/indexlabels/{name}";

/// The routes of this room.
pub(crate) static ROUTES: &[Route] = &[
    Route::get("graphs/{graph}/schema", Handler::Pooled(whole))
        .reads(Scope::Graph)
        .of("schema", "SchemaAPI")
        .with(&[Parameter::text("format")]),
    key_api(Route::post(KEYS, Handler::Pooled(create_key)).changes_schema(Scope::Graph)),
    key_api(Route::get(KEYS, Handler::Pooled(list_keys)).reads(Scope::Graph)).with(NAMES),
    key_api(Route::get(KEY, Handler::Inline(get_key)).reads(Scope::Graph)),
    key_api(Route::put(KEY, Handler::Pooled(change_key)).changes_schema(Scope::Graph)).with(ACTION),
    key_api(Route::delete(KEY, Handler::Pooled(remove_key)).changes_schema(Scope::Graph)),
    vertex_api(
        Route::post(VERTEX_LABELS, Handler::Pooled(create_vertex_label))
            .changes_schema(Scope::Graph),
    ),
    vertex_api(Route::get(VERTEX_LABELS, Handler::Pooled(list_vertex_labels)).reads(Scope::Graph))
        .with(NAMES),
    vertex_api(Route::get(VERTEX_LABEL, Handler::Inline(get_vertex_label)).reads(Scope::Graph)),
    vertex_api(
        Route::put(VERTEX_LABEL, Handler::Pooled(change_vertex_label)).changes_schema(Scope::Graph),
    )
    .with(ACTION),
    vertex_api(
        Route::delete(VERTEX_LABEL, Handler::Pooled(remove_vertex_label))
            .changes_schema(Scope::Graph),
    ),
    edge_api(
        Route::post(EDGE_LABELS, Handler::Pooled(create_edge_label)).changes_schema(Scope::Graph),
    ),
    edge_api(Route::get(EDGE_LABELS, Handler::Pooled(list_edge_labels)).reads(Scope::Graph))
        .with(NAMES),
    edge_api(Route::get(EDGE_LABEL, Handler::Inline(get_edge_label)).reads(Scope::Graph)),
    edge_api(
        Route::put(EDGE_LABEL, Handler::Pooled(change_edge_label)).changes_schema(Scope::Graph),
    )
    .with(ACTION),
    edge_api(
        Route::delete(EDGE_LABEL, Handler::Pooled(remove_edge_label)).changes_schema(Scope::Graph),
    ),
    index_api(
        Route::post(INDEX_LABELS, Handler::Pooled(create_index_label)).changes_schema(Scope::Graph),
    ),
    index_api(Route::get(INDEX_LABELS, Handler::Pooled(list_index_labels)).reads(Scope::Graph))
        .with(NAMES),
    index_api(Route::get(INDEX_LABEL, Handler::Inline(get_index_label)).reads(Scope::Graph)),
    index_api(
        Route::put(INDEX_LABEL, Handler::Pooled(change_index_label)).changes_schema(Scope::Graph),
    )
    .with(ACTION),
    index_api(
        Route::delete(INDEX_LABEL, Handler::Pooled(remove_index_label))
            .changes_schema(Scope::Graph),
    ),
    rebuild_api(
        Route::put(
            "graphs/{graph}/jobs/rebuild/vertexlabels/{name}",
            Handler::Pooled(|context| rebuild(context, SchemaKind::VertexLabel)),
        )
        .changes_schema(Scope::Graph),
    ),
    rebuild_api(
        Route::put(
            "graphs/{graph}/jobs/rebuild/edgelabels/{name}",
            Handler::Pooled(|context| rebuild(context, SchemaKind::EdgeLabel)),
        )
        .changes_schema(Scope::Graph),
    ),
    rebuild_api(
        Route::put(
            "graphs/{graph}/jobs/rebuild/indexlabels/{name}",
            Handler::Pooled(|context| rebuild(context, SchemaKind::IndexLabel)),
        )
        .changes_schema(Scope::Graph),
    ),
];

/// The name that a body must have.
fn required_name(kind: SchemaKind, name: Option<String>) -> Result<String, ApiError> {
    let message = || format!("The name of {} can't be null", kind.readable());
    name.ok_or_else(|| ApiError::illegal_argument(message()))
}

/// The name of the element to change: the path's, and the body must say the same.
fn changed_name(
    context: &RequestContext,
    kind: SchemaKind,
    name: Option<String>,
) -> Result<String, ApiError> {
    let name = required_name(kind, name)?;
    let in_path = context.path_parameter("name");
    if name == in_path {
        return Ok(name);
    }
    Err(ApiError::illegal_argument(format!(
        "The name in url({in_path}) and body({name}) are different"
    )))
}

/// `None` for `clear`, which only property keys know.
fn action(context: &RequestContext) -> Result<Option<Action>, ApiError> {
    match context.query()?.get("action").unwrap_or_default() {
        "" => Err(ApiError::illegal_argument(
            "The action param can't be empty",
        )),
        "append" => Ok(Some(Action::Append)),
        "eliminate" => Ok(Some(Action::Eliminate)),
        "clear" => Ok(None),
        other => Err(ApiError::unknown_action(other)),
    }
}

fn label_action(context: &RequestContext) -> Result<Action, ApiError> {
    action(context)?.ok_or_else(|| ApiError::unknown_action("clear"))
}

fn wire<T>(value: Option<Wire<T>>, default: T) -> T {
    value.map_or(default, |Wire(value)| value)
}

fn defaulted<T>(value: Option<Wire<OrDefault<T>>>) -> Option<T> {
    value.and_then(|Wire(OrDefault(value))| value)
}

fn members(value: Option<Members>) -> UserData {
    value.map_or_else(Vec::new, |Members(members)| members)
}

/// An id as clients send it: 0 means none.
fn given_id(id: Option<i64>) -> Option<i64> {
    id.filter(|id| *id != 0)
}

/// One element with the given status.
fn one<T: Show>(graph: &Graph, status: StatusCode, element: &T) -> Response {
    let mut json = JsonWriter::with_capacity(512);
    element.show(&graph.schema(), &mut json);
    Response::json(status, json.finish())
}

/// 202 with an element under its kind's name and the task that completes the change.
fn with_task<T: Show>(graph: &Graph, kind: &str, element: &T, task: TaskId) -> Response {
    let mut json = JsonWriter::with_capacity(512);
    json.begin_object().key(kind);
    element.show(&graph.schema(), &mut json);
    json.key("task_id").unsigned(task.0).end_object();
    Response::accepted(json.finish())
}

fn only_task(task: TaskId) -> Response {
    let mut json = JsonWriter::with_capacity(32);
    json.begin_object().key("task_id").unsigned(task.0);
    json.end_object();
    Response::accepted(json.finish())
}

/// Logs the removal of a schema element, and answers with the task that completes it.
fn removed(context: &RequestContext, kind: &str, task: TaskId) -> Response {
    let (graph, name) = (context.graph_name(), context.path_parameter("name"));
    tracing::info!(graph, kind, name, task = task.0, "schema element removed");
    only_task(task)
}

/// Writes a list under its key.
fn show_all<'a, T: Show + 'a>(
    key: &str,
    schema: &Schema,
    elements: impl Iterator<Item = &'a Arc<T>>,
    json: &mut JsonWriter,
) {
    json.key(key).begin_array();
    elements.for_each(|element| element.show(schema, json));
    json.end_array();
}

/// All elements of a kind, or those that `names` asks for, in its order.
fn list<T: Show + SchemaElement>(
    context: &RequestContext,
    key: &str,
    by_name: for<'s> fn(&'s Schema, &str) -> Option<&'s Arc<T>>,
    all: for<'s> fn(&'s Schema) -> Vec<&'s Arc<T>>,
) -> HandlerResult {
    let schema = context.graph()?.schema();
    let query = context.query()?;
    let elements = if query.get("names").is_some() {
        let found = query.all("names").map(|name| {
            by_name(&schema, name).ok_or_else(|| ApiError::from(T::KIND.not_found(name)))
        });
        found.collect::<Result<Vec<_>, _>>()?
    } else {
        all(&schema)
    };
    let mut json = JsonWriter::with_capacity(256 * (elements.len() + 1));
    json.begin_object();
    show_all(key, &schema, elements.into_iter(), &mut json);
    json.end_object();
    Ok(Response::ok(json.finish()))
}

/// The element that the path names.
fn get<T: Show + SchemaElement>(
    context: &RequestContext,
    by_name: for<'s> fn(&'s Schema, &str) -> Option<&'s Arc<T>>,
) -> HandlerResult {
    let graph = context.graph()?;
    let schema = graph.schema();
    let name = context.path_parameter("name");
    let element = by_name(&schema, name).ok_or_else(|| T::KIND.not_found(name))?;
    Ok(one(&graph, StatusCode::OK, &**element))
}

fn whole(context: &RequestContext) -> HandlerResult {
    let schema = context.graph()?.schema();
    let mut json = JsonWriter::with_capacity(4096);
    json.begin_object();
    show_all(
        "propertykeys",
        &schema,
        schema.all_property_keys(),
        &mut json,
    );
    show_all(
        "vertexlabels",
        &schema,
        schema.all_vertex_labels(),
        &mut json,
    );
    show_all("edgelabels", &schema, schema.all_edge_labels(), &mut json);
    json.key("indexlabels").begin_array();
    for label in schema.all_index_labels() {
        show_stored(label, &schema, &mut json);
    }
    json.end_array();
    json.end_object();
    Ok(Response::ok(json.finish()))
}

fn create_key(context: &RequestContext) -> HandlerResult {
    let graph = context.graph()?;
    let body: PropertyKeyBody = context.json_object()?;
    let name = required_name(SchemaKind::PropertyKey, body.name)?;
    if body.properties.is_some_and(|names| !names.is_empty()) {
        return Err(ApiError::illegal_argument(
            "Not allowed to pass properties when creating property key since it doesn't support meta properties currently",
        ));
    }
    let WithTask { element, task } = graph.catalogue().create_property_key(NewPropertyKey {
        id: given_id(body.id),
        name,
        data_type: wire(body.data_type, DataType::Text),
        cardinality: wire(body.cardinality, Cardinality::Single),
        aggregate_type: wire(body.aggregate_type, AggregateType::None),
        write_type: wire(body.write_type, WriteType::Oltp),
        user_data: members(body.user_data),
        check_exist: body.check_exist.unwrap_or(true),
    })?;
    Ok(with_task(&graph, "property_key", &*element, task))
}

fn change_key(context: &RequestContext) -> HandlerResult {
    let graph = context.graph()?;
    let body: PropertyKeyBody = context.json_object()?;
    let name = changed_name(context, SchemaKind::PropertyKey, body.name)?;
    let Some(action) = action(context)? else {
        let WithTask { element, task } = graph.catalogue().clear_property_key(&name)?;
        return Ok(with_task(&graph, "property_key", &*element, task));
    };
    let change = PropertyKeyChange {
        name,
        data_type: body.data_type.map(|Wire(value)| value),
        cardinality: body.cardinality.map(|Wire(value)| value),
        user_data: members(body.user_data),
    };
    let element = graph.catalogue().change_property_key(action, change)?;
    Ok(with_task(&graph, "property_key", &*element, TaskId::NONE))
}

fn list_keys(context: &RequestContext) -> HandlerResult {
    list::<PropertyKey>(context, "propertykeys", Schema::property_key_by_name, |s| {
        s.all_property_keys().collect()
    })
}

fn get_key(context: &RequestContext) -> HandlerResult {
    get::<PropertyKey>(context, Schema::property_key_by_name)
}

fn remove_key(context: &RequestContext) -> HandlerResult {
    let name = context.path_parameter("name");
    let task = context.graph()?.catalogue().remove_property_key(name)?;
    Ok(removed(context, "property key", task))
}

fn create_vertex_label(context: &RequestContext) -> HandlerResult {
    let graph = context.graph()?;
    let body: VertexLabelBody = context.json_object()?;
    let label = graph.catalogue().create_vertex_label(NewVertexLabel {
        id: given_id(body.id),
        name: required_name(SchemaKind::VertexLabel, body.name)?,
        id_strategy: defaulted(body.id_strategy),
        properties: body.properties.unwrap_or_default(),
        primary_keys: body.primary_keys.unwrap_or_default(),
        nullable_keys: body.nullable_keys.unwrap_or_default(),
        ttl: body.ttl.unwrap_or_default(),
        ttl_start_time: body.ttl_start_time,
        enable_label_index: body.enable_label_index.unwrap_or(true),
        history: body.history,
        user_data: members(body.user_data),
        check_exist: body.check_exist.unwrap_or(true),
    })?;
    Ok(one(&graph, StatusCode::CREATED, &*label))
}

fn change_vertex_label(context: &RequestContext) -> HandlerResult {
    let graph = context.graph()?;
    let body: VertexLabelBody = context.json_object()?;
    let name = changed_name(context, SchemaKind::VertexLabel, body.name)?;
    let action = label_action(context)?;
    let change = VertexLabelChange {
        name,
        id_strategy: defaulted(body.id_strategy),
        primary_keys: body.primary_keys.unwrap_or_default(),
        enable_label_index: body.enable_label_index,
        label: LabelChange {
            properties: body.properties.unwrap_or_default(),
            nullable_keys: body.nullable_keys.unwrap_or_default(),
            ttl: body.ttl.unwrap_or_default(),
            ttl_start_time: body.ttl_start_time,
            history: body.history,
            user_data: members(body.user_data),
        },
    };
    let label = graph.catalogue().change_vertex_label(action, change)?;
    Ok(one(&graph, StatusCode::OK, &*label))
}

fn list_vertex_labels(context: &RequestContext) -> HandlerResult {
    list::<VertexLabel>(context, "vertexlabels", Schema::vertex_label_by_name, |s| {
        s.all_vertex_labels().collect()
    })
}

fn get_vertex_label(context: &RequestContext) -> HandlerResult {
    get::<VertexLabel>(context, Schema::vertex_label_by_name)
}

fn remove_vertex_label(context: &RequestContext) -> HandlerResult {
    let name = context.path_parameter("name");
    let task = context.graph()?.catalogue().remove_vertex_label(name)?;
    Ok(removed(context, "vertex label", task))
}

fn create_edge_label(context: &RequestContext) -> HandlerResult {
    let graph = context.graph()?;
    let body: EdgeLabelBody = context.json_object()?;
    let label = graph.catalogue().create_edge_label(NewEdgeLabel {
        id: given_id(body.id),
        name: required_name(SchemaKind::EdgeLabel, body.name)?,
        label_type: wire(body.edgelabel_type, EdgeLabelType::Normal),
        parent: body.parent_label,
        source: body.source_label,
        target: body.target_label,
        links: body.links.map_or_else(Vec::new, |Links(links)| links),
        frequency: defaulted(body.frequency),
        sort_keys: body.sort_keys.unwrap_or_default(),
        properties: body.properties.unwrap_or_default(),
        nullable_keys: body.nullable_keys.unwrap_or_default(),
        ttl: body.ttl.unwrap_or_default(),
        ttl_start_time: body.ttl_start_time,
        enable_label_index: body.enable_label_index.unwrap_or(true),
        history: body.history,
        user_data: members(body.user_data),
        check_exist: body.check_exist.unwrap_or(true),
    })?;
    Ok(one(&graph, StatusCode::CREATED, &*label))
}

fn change_edge_label(context: &RequestContext) -> HandlerResult {
    let graph = context.graph()?;
    let body: EdgeLabelBody = context.json_object()?;
    let name = changed_name(context, SchemaKind::EdgeLabel, body.name)?;
    let action = label_action(context)?;
    let change = EdgeLabelChange {
        name,
        source: body.source_label,
        target: body.target_label,
        links: body.links.map_or_else(Vec::new, |Links(links)| links),
        frequency: defaulted(body.frequency),
        sort_keys: body.sort_keys.unwrap_or_default(),
        enable_label_index: body.enable_label_index,
        label: LabelChange {
            properties: body.properties.unwrap_or_default(),
            nullable_keys: body.nullable_keys.unwrap_or_default(),
            ttl: body.ttl.unwrap_or_default(),
            ttl_start_time: body.ttl_start_time,
            history: body.history,
            user_data: members(body.user_data),
        },
    };
    let label = graph.catalogue().change_edge_label(action, change)?;
    Ok(one(&graph, StatusCode::OK, &*label))
}

fn list_edge_labels(context: &RequestContext) -> HandlerResult {
    list::<EdgeLabel>(context, "edgelabels", Schema::edge_label_by_name, |s| {
        s.all_edge_labels().collect()
    })
}

fn get_edge_label(context: &RequestContext) -> HandlerResult {
    get::<EdgeLabel>(context, Schema::edge_label_by_name)
}

fn remove_edge_label(context: &RequestContext) -> HandlerResult {
    let name = context.path_parameter("name");
    let task = context.graph()?.catalogue().remove_edge_label(name)?;
    Ok(removed(context, "edge label", task))
}

/// The members that an index label must have: base type, base value.
fn base(
    name: &str,
    base_type: Option<&str>,
    base_value: Option<String>,
) -> Result<(BaseType, String), ApiError> {
    let refuse = |what: &str| {
        ApiError::illegal_argument(format!("The {what} of index label '{name}' can't be null"))
    };
    let base_type = match base_type.ok_or_else(|| refuse("base type"))? {
        "VERTEX_LABEL" => BaseType::VertexLabel,
        "EDGE_LABEL" => BaseType::EdgeLabel,
        _ => {
            return Err(ApiError::illegal_argument(format!(
                "The base type of index label '{name}' can only be either VERTEX_LABEL or EDGE_LABEL"
            )));
        }
    };
    let base = base_value.ok_or_else(|| refuse("base value"))?;
    Ok((base_type, base))
}

fn create_index_label(context: &RequestContext) -> HandlerResult {
    let graph = context.graph()?;
    let body: IndexLabelBody = context.json_object()?;
    let name = required_name(SchemaKind::IndexLabel, body.name)?;
    let (base_type, base) = base(&name, body.base_type.as_deref(), body.base_value)?;
    let Some(Wire(index_type)) = body.index_type else {
        return Err(ApiError::illegal_argument(format!(
            "The index type of index label '{name}' can't be null"
        )));
    };
    let WithTask { element, task } = graph.catalogue().create_index_label(NewIndexLabel {
        id: given_id(body.id),
        name,
        base_type,
        base,
        index_type,
        fields: body.fields.unwrap_or_default(),
        rebuild: body.rebuild.unwrap_or(true),
        user_data: members(body.user_data),
        check_exist: body.check_exist.unwrap_or(true),
    })?;
    Ok(with_task(&graph, "index_label", &*element, task))
}

fn change_index_label(context: &RequestContext) -> HandlerResult {
    let graph = context.graph()?;
    let body: IndexLabelBody = context.json_object()?;
    let name = required_name(SchemaKind::IndexLabel, body.name)?;
    for (given, what) in [
        (body.base_type.is_some(), "base type"),
        (body.base_value.is_some(), "base value"),
        (body.index_type.is_some(), "index type"),
    ] {
        if given {
            return Err(ApiError::illegal_argument(format!(
                "The {what} of index label '{name}' must be null"
            )));
        }
    }
    let name = changed_name(context, SchemaKind::IndexLabel, Some(name))?;
    let action = label_action(context)?;
    let change = IndexLabelChange {
        name,
        fields: body.fields.unwrap_or_default(),
        user_data: members(body.user_data),
    };
    let index = graph.catalogue().change_index_label(action, change)?;
    Ok(one(&graph, StatusCode::OK, &*index))
}

fn list_index_labels(context: &RequestContext) -> HandlerResult {
    list::<IndexLabel>(context, "indexlabels", Schema::index_label_by_name, |s| {
        s.all_index_labels().collect()
    })
}

fn get_index_label(context: &RequestContext) -> HandlerResult {
    get::<IndexLabel>(context, Schema::index_label_by_name)
}

fn remove_index_label(context: &RequestContext) -> HandlerResult {
    let name = context.path_parameter("name");
    let task = context.graph()?.catalogue().remove_index_label(name)?;
    Ok(removed(context, "index label", task))
}

fn rebuild(context: &RequestContext, kind: SchemaKind) -> HandlerResult {
    let name = context.path_parameter("name");
    let task = context.graph()?.catalogue().rebuild(kind, name)?;
    Ok(only_task(task))
}
