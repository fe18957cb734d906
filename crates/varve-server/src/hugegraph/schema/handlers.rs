//! The handlers: they read the body, call the catalogue and write the element as JSON.
//!
//! The catalogue has the rules, and `changes` turns a body into a call of it. This module has what
//! is specific to the REST API: the name in the path and in the body, and the `action` parameter.
//! Changes wait for stable storage, so they run on the pool.

use std::sync::Arc;

use http::StatusCode;
use varve_graph::Graph;
use varve_graph::schema::{Action, OwnedChanges, Schema, SchemaElement, SchemaKind, WithTask};
use varve_graph::tasks::TaskId;
use varve_model::{EdgeLabel, IndexLabel, PropertyKey, VertexLabel};

use super::changes;
use super::messages::{
    EdgeLabelBody, IndexLabelBody, PropertyKeyBody, Show, VertexLabelBody, show_stored,
};
use super::sight::{Seen, Sight};
use crate::errors::ApiError;
use crate::json::JsonWriter;
use crate::request::RequestContext;
use crate::respond::{HandlerResult, Response};
use crate::rights;
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

/// The routes of this module.
pub(crate) static ROUTES: &[Route] = &[
    Route::get("graphs/{graph}/schema", Handler::Pooled(whole))
        .reads(Scope::Graph)
        .needs(rights::schema::READ_ALL)
        .of("schema", "SchemaAPI")
        .gzip()
        .with(&[Parameter::text("format")]),
    key_api(
        Route::post(KEYS, Handler::Pooled(create_key))
            .changes_schema(Scope::Graph)
            .needs(rights::schema::WRITE_KEYS),
    ),
    key_api(
        Route::get(KEYS, Handler::Pooled(list_keys))
            .reads(Scope::Graph)
            .needs(rights::schema::READ_KEYS),
    )
    .with(NAMES),
    key_api(
        Route::get(KEY, Handler::Inline(get_key))
            .reads(Scope::Graph)
            .needs(rights::schema::READ_KEYS),
    ),
    key_api(
        Route::put(KEY, Handler::Pooled(change_key))
            .changes_schema(Scope::Graph)
            .needs(rights::schema::WRITE_KEYS),
    )
    .with(ACTION),
    key_api(
        Route::delete(KEY, Handler::Pooled(remove_key))
            .changes_schema(Scope::Graph)
            .needs(rights::schema::DELETE_KEYS),
    ),
    vertex_api(
        Route::post(VERTEX_LABELS, Handler::Pooled(create_vertex_label))
            .changes_schema(Scope::Graph)
            .needs(rights::schema::WRITE_VERTEX_LABELS),
    ),
    vertex_api(
        Route::get(VERTEX_LABELS, Handler::Pooled(list_vertex_labels))
            .reads(Scope::Graph)
            .needs(rights::schema::READ_VERTEX_LABELS),
    )
    .with(NAMES),
    vertex_api(
        Route::get(VERTEX_LABEL, Handler::Inline(get_vertex_label))
            .reads(Scope::Graph)
            .needs(rights::schema::READ_VERTEX_LABELS),
    ),
    vertex_api(
        Route::put(VERTEX_LABEL, Handler::Pooled(change_vertex_label))
            .changes_schema(Scope::Graph)
            .needs(rights::schema::WRITE_VERTEX_LABELS),
    )
    .with(ACTION),
    vertex_api(
        Route::delete(VERTEX_LABEL, Handler::Pooled(remove_vertex_label))
            .changes_schema(Scope::Graph)
            .needs(rights::schema::DELETE_VERTEX_LABELS),
    ),
    edge_api(
        Route::post(EDGE_LABELS, Handler::Pooled(create_edge_label))
            .changes_schema(Scope::Graph)
            .needs(rights::schema::WRITE_EDGE_LABELS),
    ),
    edge_api(
        Route::get(EDGE_LABELS, Handler::Pooled(list_edge_labels))
            .reads(Scope::Graph)
            .needs(rights::schema::READ_EDGE_LABELS),
    )
    .with(NAMES),
    edge_api(
        Route::get(EDGE_LABEL, Handler::Inline(get_edge_label))
            .reads(Scope::Graph)
            .needs(rights::schema::READ_EDGE_LABELS),
    ),
    edge_api(
        Route::put(EDGE_LABEL, Handler::Pooled(change_edge_label))
            .changes_schema(Scope::Graph)
            .needs(rights::schema::WRITE_EDGE_LABELS),
    )
    .with(ACTION),
    edge_api(
        Route::delete(EDGE_LABEL, Handler::Pooled(remove_edge_label))
            .changes_schema(Scope::Graph)
            .needs(rights::schema::DELETE_EDGE_LABELS),
    ),
    index_api(
        Route::post(INDEX_LABELS, Handler::Pooled(create_index_label))
            .changes_schema(Scope::Graph)
            .needs(rights::schema::WRITE_INDEX_LABELS),
    ),
    index_api(
        Route::get(INDEX_LABELS, Handler::Pooled(list_index_labels))
            .reads(Scope::Graph)
            .needs(rights::schema::READ_INDEX_LABELS),
    )
    .with(NAMES),
    index_api(
        Route::get(INDEX_LABEL, Handler::Inline(get_index_label))
            .reads(Scope::Graph)
            .needs(rights::schema::READ_INDEX_LABELS),
    ),
    index_api(
        Route::put(INDEX_LABEL, Handler::Pooled(change_index_label))
            .changes_schema(Scope::Graph)
            .needs(rights::schema::WRITE_INDEX_LABELS),
    )
    .with(ACTION),
    index_api(
        Route::delete(INDEX_LABEL, Handler::Pooled(remove_index_label))
            .changes_schema(Scope::Graph)
            .needs(rights::schema::DELETE_INDEX_LABELS),
    ),
    rebuild_api(
        Route::put(
            "graphs/{graph}/jobs/rebuild/vertexlabels/{name}",
            Handler::Pooled(|context| rebuild(context, SchemaKind::VertexLabel)),
        )
        .changes_schema(Scope::Graph)
        .needs(rights::schema::WRITE_INDEX_LABELS),
    ),
    rebuild_api(
        Route::put(
            "graphs/{graph}/jobs/rebuild/edgelabels/{name}",
            Handler::Pooled(|context| rebuild(context, SchemaKind::EdgeLabel)),
        )
        .changes_schema(Scope::Graph)
        .needs(rights::schema::WRITE_INDEX_LABELS),
    ),
    rebuild_api(
        Route::put(
            "graphs/{graph}/jobs/rebuild/indexlabels/{name}",
            Handler::Pooled(|context| rebuild(context, SchemaKind::IndexLabel)),
        )
        .changes_schema(Scope::Graph)
        .needs(rights::schema::WRITE_INDEX_LABELS),
    ),
];

/// Returns 400 unless path and body name the same element.
fn check_name(
    context: &RequestContext,
    kind: SchemaKind,
    name: Option<&str>,
) -> Result<(), ApiError> {
    let name = changes::required_name(kind, name.map(str::to_owned))?;
    let in_path = context.path_parameter("name");
    if name == in_path {
        return Ok(());
    }
    Err(ApiError::illegal_argument(format!(
        "The name in url({in_path}) and body({name}) are different"
    )))
}

/// Reads the `action`; `None` for `clear`, which only property keys have.
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

/// One element with the given status.
fn one<T: Show>(graph: &Graph, status: StatusCode, element: &T) -> Response {
    let mut json = JsonWriter::with_capacity(512);
    element.show(&graph.schema(), &mut json);
    Response::json(status, json.finish())
}

/// 202 with an element under its kind's name and the task that completes the change.
fn with_task<T: Show>(graph: &Graph, (kind, element): (&str, &T), task: TaskId) -> Response {
    let mut json = JsonWriter::with_capacity(512);
    json.begin_object().key(kind);
    element.show(&graph.schema(), &mut json);
    json.key("task_id").unsigned(task.0).end_object();
    Response::accepted(json.finish())
}

/// The catalogue of a graph, for changes whose tasks belong to the client.
fn owned<'g>(context: &RequestContext, graph: &'g Graph) -> OwnedChanges<'g> {
    graph.catalogue().owned_by(context.identity().owner())
}

fn only_task(task: TaskId) -> Response {
    let mut json = JsonWriter::with_capacity(32);
    json.begin_object().key("task_id").unsigned(task.0);
    json.end_object();
    Response::accepted(json.finish())
}

/// Removes the schema element that the path names, and answers with the task that completes it.
fn remove(context: &RequestContext, kind: SchemaKind) -> HandlerResult {
    let name = context.path_parameter("name");
    let graph = context.graph()?;
    let task = owned(context, &graph).remove(kind, name)?;
    tracing::info!(
        graph = graph.name(),
        kind = kind.readable(),
        name,
        task = task.0,
        "schema element removed"
    );
    Ok(only_task(task))
}

/// Writes a list under its key.
fn show_all<'a, T: Show + Seen + 'a>(
    key: &str,
    sight: &Sight,
    elements: impl Iterator<Item = &'a Arc<T>>,
    json: &mut JsonWriter,
) {
    json.key(key).begin_array();
    elements
        .filter(|element| sight.shows(&***element))
        .for_each(|element| element.show(&sight.schema, json));
    json.end_array();
}

/// All elements of a kind, or those that `names` lists, in its order.
fn list<T: Show + SchemaElement + Seen>(
    context: &RequestContext,
    key: &str,
    by_name: for<'s> fn(&'s Schema, &str) -> Option<&'s Arc<T>>,
    all: for<'s> fn(&'s Schema) -> Vec<&'s Arc<T>>,
) -> HandlerResult {
    let sight = Sight::of(context)?;
    let schema = &*sight.schema;
    let query = context.query()?;
    let elements = if query.get("names").is_some() {
        let found = query.all("names").map(|name| {
            by_name(schema, name)
                .filter(|element| sight.shows(&***element))
                .ok_or_else(|| ApiError::from(T::KIND.not_found(name)))
        });
        found.collect::<Result<Vec<_>, _>>()?
    } else {
        all(schema)
    };
    let mut json = JsonWriter::with_capacity(256 * (elements.len() + 1));
    json.begin_object();
    show_all(key, &sight, elements.into_iter(), &mut json);
    json.end_object();
    Ok(Response::ok(json.finish()))
}

/// The element that the path names.
fn get<T: Show + SchemaElement + Seen>(
    context: &RequestContext,
    by_name: for<'s> fn(&'s Schema, &str) -> Option<&'s Arc<T>>,
) -> HandlerResult {
    let sight = Sight::of(context)?;
    let name = context.path_parameter("name");
    let element = by_name(&sight.schema, name).filter(|element| sight.shows(&***element));
    let element = element.ok_or_else(|| T::KIND.not_found(name))?;
    let mut json = JsonWriter::with_capacity(512);
    element.show(&sight.schema, &mut json);
    Ok(Response::ok(json.finish()))
}

fn whole(context: &RequestContext) -> HandlerResult {
    // The original ignores the parameter, and a client for Python sends both.
    let format = context.query()?.get("format").unwrap_or("json");
    if !["json", "groovy"].contains(&format) {
        return Err(ApiError::illegal_argument(format!(
            "The schema has no format '{format}', only json"
        )));
    }
    Ok(Response::ok(text_of_all(context)?))
}

/// The whole schema, as far as the client may see it.
pub(super) fn text_of_all(context: &RequestContext) -> Result<Vec<u8>, ApiError> {
    let sight = Sight::of(context)?;
    let schema = &*sight.schema;
    let mut json = JsonWriter::with_capacity(4096);
    json.begin_object();
    show_all(
        "propertykeys",
        &sight,
        schema.all_property_keys(),
        &mut json,
    );
    show_all(
        "vertexlabels",
        &sight,
        schema.all_vertex_labels(),
        &mut json,
    );
    show_all("edgelabels", &sight, schema.all_edge_labels(), &mut json);
    json.key("indexlabels").begin_array();
    let index_labels = schema.all_index_labels();
    for label in index_labels.filter(|label| sight.shows(&***label)) {
        show_stored(label, schema, &mut json);
    }
    json.end_array();
    json.end_object();
    Ok(json.finish())
}

fn create_key(context: &RequestContext) -> HandlerResult {
    let graph = context.graph()?;
    let WithTask { element, task } =
        changes::new_key(&owned(context, &graph), context.json_object()?)?;
    Ok(with_task(&graph, ("property_key", &*element), task))
}

fn change_key(context: &RequestContext) -> HandlerResult {
    let graph = context.graph()?;
    let body: PropertyKeyBody = context.json_object()?;
    check_name(context, SchemaKind::PropertyKey, body.name.as_deref())?;
    let Some(action) = action(context)? else {
        let name = context.path_parameter("name");
        let WithTask { element, task } = owned(context, &graph).clear_property_key(name)?;
        return Ok(with_task(&graph, ("property_key", &*element), task));
    };
    let element = changes::change_key(&graph, action, body)?;
    Ok(with_task(&graph, ("property_key", &*element), TaskId::NONE))
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
    remove(context, SchemaKind::PropertyKey)
}

fn create_vertex_label(context: &RequestContext) -> HandlerResult {
    let graph = context.graph()?;
    let label = changes::new_vertex_label(&graph, context.json_object()?)?;
    Ok(one(&graph, StatusCode::CREATED, &*label))
}

fn change_vertex_label(context: &RequestContext) -> HandlerResult {
    let graph = context.graph()?;
    let body: VertexLabelBody = context.json_object()?;
    check_name(context, SchemaKind::VertexLabel, body.name.as_deref())?;
    let label = changes::change_vertex_label(&graph, label_action(context)?, body)?;
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
    remove(context, SchemaKind::VertexLabel)
}

fn create_edge_label(context: &RequestContext) -> HandlerResult {
    let graph = context.graph()?;
    let label = changes::new_edge_label(&graph, context.json_object()?)?;
    Ok(one(&graph, StatusCode::CREATED, &*label))
}

fn change_edge_label(context: &RequestContext) -> HandlerResult {
    let graph = context.graph()?;
    let body: EdgeLabelBody = context.json_object()?;
    check_name(context, SchemaKind::EdgeLabel, body.name.as_deref())?;
    let label = changes::change_edge_label(&graph, label_action(context)?, body)?;
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
    remove(context, SchemaKind::EdgeLabel)
}

fn create_index_label(context: &RequestContext) -> HandlerResult {
    let graph = context.graph()?;
    let WithTask { element, task } =
        changes::new_index_label(&owned(context, &graph), context.json_object()?)?;
    Ok(with_task(&graph, ("index_label", &*element), task))
}

fn change_index_label(context: &RequestContext) -> HandlerResult {
    let graph = context.graph()?;
    let body: IndexLabelBody = context.json_object()?;
    changes::check_index_change(&body)?;
    check_name(context, SchemaKind::IndexLabel, body.name.as_deref())?;
    let index = changes::change_index_label(&graph, label_action(context)?, body)?;
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
    remove(context, SchemaKind::IndexLabel)
}

fn rebuild(context: &RequestContext, kind: SchemaKind) -> HandlerResult {
    let name = context.path_parameter("name");
    let graph = context.graph()?;
    let task = owned(context, &graph).rebuild(kind, name)?;
    Ok(only_task(task))
}
