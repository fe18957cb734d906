//! `/graphs`: lists, creates, clears and drops graphs; their modes and maintenance.

use serde::Deserialize;
use varve_graph::ErrorKind;
use varve_graph::schema::{GraphMode, ReadMode, SchemaMode};

use crate::errors::ApiError;
use crate::json::JsonWriter;
use crate::negotiate::is_json;
use crate::request::RequestContext;
use crate::respond::{HandlerResult, Response};
use crate::rights::{self, Needs};
use crate::route::{Handler, Parameter, Route, Scope};

/// The confirmation that clearing a graph requires.
const CLEAR_CONFIRMATION: &str = "I'm sure to delete all data";
/// The confirmation that dropping a graph requires.
const DROP_CONFIRMATION: &str = "I'm sure to drop the graph";

const CONFIRMATION: &[Parameter] = &[Parameter::text("confirm_message")];

const fn of_graphs(route: Route) -> Route {
    route.of("profile", "GraphsAPI")
}

/// The routes of this module.
pub(crate) static ROUTES: &[Route] = &[
    of_graphs(
        Route::get("graphs", Handler::Inline(list))
            .reads(Scope::Server)
            .needs(Needs::User),
    ),
    of_graphs(Route::put("graphs/manage", Handler::Inline(manage)).administers(Scope::Server)),
    of_graphs(
        Route::get("graphs/{graph}", Handler::Inline(get))
            .reads(Scope::Graph)
            .needs(Needs::User),
    ),
    of_graphs(Route::post("graphs/{graph}", Handler::Pooled(create)).administers(Scope::Graph))
        .text_body()
        .lengthy()
        .with(&[Parameter::text("clone_graph_name")]),
    of_graphs(
        Route::delete("graphs/{graph}", Handler::Pooled(drop_graph))
            .administers(Scope::Graph)
            .of_unopened(),
    )
    .lengthy()
    .with(CONFIRMATION),
    of_graphs(
        Route::delete("graphs/{graph}/clear", Handler::Pooled(clear)).administers(Scope::Graph),
    )
    .lengthy()
    .with(CONFIRMATION),
    of_graphs(Route::get("graphs/{graph}/conf", Handler::Inline(conf)).reads(Scope::Graph)),
    of_graphs(
        Route::put("graphs/{graph}/compact", Handler::Pooled(compact))
            .administers(Scope::Graph)
            .keeps_content(),
    ),
    of_graphs(
        Route::put(
            "graphs/{graph}/snapshot_create",
            Handler::Inline(no_snapshots),
        )
        .administers(Scope::Graph)
        .needs(rights::WRITE_STATUS),
    ),
    of_graphs(
        Route::put(
            "graphs/{graph}/snapshot_resume",
            Handler::Inline(no_snapshots),
        )
        .administers(Scope::Graph)
        .needs(rights::WRITE_STATUS),
    ),
    of_graphs(
        Route::get("graphs/{graph}/mode", Handler::Inline(get_mode))
            .reads(Scope::Graph)
            .needs(rights::READ_STATUS),
    ),
    of_graphs(
        Route::put("graphs/{graph}/mode", Handler::Inline(put_mode))
            .administers(Scope::Graph)
            .needs(rights::WRITE_STATUS),
    ),
    of_graphs(
        Route::get(
            "graphs/{graph}/graph_read_mode",
            Handler::Inline(get_read_mode),
        )
        .reads(Scope::Graph)
        .needs(rights::READ_STATUS),
    ),
    of_graphs(
        Route::put(
            "graphs/{graph}/graph_read_mode",
            Handler::Inline(put_read_mode),
        )
        .administers(Scope::Graph),
    ),
];

fn list(context: &RequestContext) -> HandlerResult {
    let mut json = JsonWriter::with_capacity(128);
    json.begin_object().key("graphs").begin_array();
    for name in context.state().graphs().stored_names()? {
        if context.identity().sees(&name) {
            json.string(&name);
        }
    }
    json.end_array().end_object();
    Ok(Response::ok(json.finish()))
}

fn get(context: &RequestContext) -> HandlerResult {
    if !context.identity().sees(context.graph_name()) {
        return Err(ApiError::forbidden("User not authorized."));
    }
    let graph = context.graph()?;
    Ok(description(context, graph.name(), graph.schema().mode()))
}

/// The members of a creation's body that Varve reads. It ignores all others: settings of
/// HugeGraph's engines.
#[derive(Deserialize, Default)]
struct NewGraph {
    #[serde(default)]
    nickname: Option<String>,
    #[serde(default)]
    description: Option<String>,
    /// `open` or `declared`.
    #[serde(default)]
    schema: Option<String>,
}

/// Creates a graph. Newer clients send JSON, and the path names the graph. Older ones send
/// properties as text, whose `store` names it; all properties but `store` and `schema` are settings
/// of HugeGraph's engines and ignored.
fn create(context: &RequestContext) -> HandlerResult {
    let model = context
        .query()?
        .get("clone_graph_name")
        .filter(|name| !name.is_empty());
    let mode = match model {
        Some(model) => context.state().graphs().get(model)?.schema().mode(),
        None => SchemaMode::Declared,
    };
    if is_json(context.headers()) {
        create_from_json(context, mode)
    } else {
        create_from_properties(context, mode)
    }
}

/// The mode that the body names, else `model`, that of the graph to copy.
fn schema_mode(named: Option<&str>, model: SchemaMode) -> Result<SchemaMode, ApiError> {
    let Some(named) = named else {
        return Ok(model);
    };
    SchemaMode::from_name(named).ok_or_else(|| {
        ApiError::illegal_argument(format!(
            "The schema of a graph is '{}' or '{}', but not '{named}'",
            SchemaMode::Declared.name(),
            SchemaMode::Open.name()
        ))
    })
}

fn create_from_json(context: &RequestContext, model: SchemaMode) -> HandlerResult {
    let name = context.graph_name();
    let new = if context.body().is_empty() {
        NewGraph::default()
    } else {
        context.json_object()?
    };
    let mode = schema_mode(new.schema.as_deref(), model)?;
    let graph = context.state().graphs().create_with(name, mode)?;
    tracing::info!(graph = name, "graph created");
    let mut json = JsonWriter::with_capacity(128);
    json.begin_object();
    json.key("name").string(graph.name());
    json.key("nickname")
        .string(new.nickname.as_deref().unwrap_or(name));
    json.key("backend")
        .string(context.state().graphs().engine_name());
    json.key("description")
        .string(new.description.as_deref().unwrap_or(""));
    put_schema_mode(&mut json, mode);
    json.end_object();
    Ok(Response::created(json.finish()))
}

fn create_from_properties(context: &RequestContext, model: SchemaMode) -> HandlerResult {
    let text = std::str::from_utf8(context.body())
        .map_err(|_| ApiError::illegal_argument("The properties of a graph must be UTF-8"))?;
    let property = |wanted: &str| {
        text.lines().find_map(|line| {
            let (key, value) = line.split_once('=')?;
            (key.trim() == wanted).then(|| value.trim())
        })
    };
    let mode = schema_mode(property("schema"), model)?;
    let name = property("store")
        .filter(|name| !name.is_empty())
        .unwrap_or(context.graph_name());
    context.state().database().check_not_of_repository(name)?;
    context.state().graphs().create_with(name, mode)?;
    tracing::info!(graph = name, "graph created");
    Ok(description(context, name, mode))
}

/// Writes `schema`, for an open graph only: clients of HugeGraph expect its own members.
fn put_schema_mode(json: &mut JsonWriter, mode: SchemaMode) {
    if mode == SchemaMode::Open {
        json.key("schema").string(mode.name());
    }
}

/// The short description of a graph: `{"name","backend"}`, with `schema` if that is open.
fn description(context: &RequestContext, name: &str, mode: SchemaMode) -> Response {
    let mut json = JsonWriter::with_capacity(64);
    json.begin_object();
    json.key("name").string(name);
    json.key("backend")
        .string(context.state().graphs().engine_name());
    put_schema_mode(&mut json, mode);
    json.end_object();
    Response::ok(json.finish())
}

fn confirm(context: &RequestContext, wanted: &str) -> Result<(), ApiError> {
    if context.query()?.get("confirm_message") == Some(wanted) {
        return Ok(());
    }
    Err(ApiError::illegal_argument(format!(
        "Please take the message: {wanted}"
    )))
}

fn drop_graph(context: &RequestContext) -> HandlerResult {
    confirm(context, DROP_CONFIRMATION)?;
    let name = context.graph_name();
    let dropped = context.state().graphs().drop_graph(name);
    dropped.map_err(|error| match error.kind {
        ErrorKind::NotFound => {
            ApiError::illegal_argument(format!("The graph '{name}' doesn't exist"))
        }
        _ => ApiError::from(error),
    })?;
    tracing::info!(graph = name, "graph dropped");
    Ok(Response::no_content())
}

fn clear(context: &RequestContext) -> HandlerResult {
    context.graph()?;
    confirm(context, CLEAR_CONFIRMATION)?;
    context.state().graphs().clear(context.graph_name())?;
    tracing::info!(graph = context.graph_name(), "graph cleared");
    Ok(Response::no_content())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Action {
    action: String,
}

/// `{"action":"reload"}`: there is nothing to reload, since all graphs are open.
fn manage(context: &RequestContext) -> HandlerResult {
    let Action { action } = context.json_object()?;
    match action.as_str() {
        "reload" => Ok(Response::ok(r#"{"graphs":"reloaded"}"#)),
        other => Err(ApiError::unknown_action(other)),
    }
}

/// The settings of a graph as properties text, with the names of the original.
fn conf(context: &RequestContext) -> HandlerResult {
    let graph = context.graph()?;
    let backend = context.state().graphs().engine_name();
    let name = graph.name();
    Ok(Response::ok(format!(
        "gremlin.graph=org.apache.hugegraph.HugeFactory\nbackend={backend}\nserializer=binary\nstore={name}\n"
    )))
}

fn compact(context: &RequestContext) -> HandlerResult {
    context
        .graph()?
        .space()
        .compact()
        .map_err(varve_graph::GraphError::from)?;
    Ok(Response::ok(
        r#"{"nodes":1,"cluster_id":"local","servers":{"local":"OK"}}"#,
    ))
}

fn no_snapshots(context: &RequestContext) -> HandlerResult {
    context.graph()?;
    Err(ApiError::not_supported(
        "Snapshots over HTTP are not supported: use the commands 'varve backup' and 'varve restore'",
    ))
}

fn named(key: &str, value: &str) -> Response {
    let mut json = JsonWriter::with_capacity(32);
    json.begin_object().key(key).string(value).end_object();
    Response::ok(json.finish())
}

/// Reads the body as the name of one of `all`. The error for another name is that of HugeGraph's
/// JSON reader.
fn body_name<T: Copy>(
    context: &RequestContext,
    class: &str,
    all: &[T],
    name_of: fn(T) -> &'static str,
) -> Result<T, ApiError> {
    let name: String = context.json()?;
    let mut each = all.iter().copied();
    each.find(|one| name_of(*one) == name).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|one| name_of(*one)).collect();
        ApiError::malformed_json(format!(
            "Cannot deserialize value of type `org.apache.hugegraph.type.define.{class}` from String \"{name}\": \
             not one of the values accepted for Enum class: [{}]",
            names.join(", ")
        ))
    })
}

fn get_mode(context: &RequestContext) -> HandlerResult {
    Ok(named("mode", context.graph()?.catalogue().mode().name()))
}

fn put_mode(context: &RequestContext) -> HandlerResult {
    let graph = context.graph()?;
    let mode = body_name(context, "GraphMode", GraphMode::ALL, GraphMode::name)?;
    graph.catalogue().set_mode(mode);
    Ok(named("mode", mode.name()))
}

fn get_read_mode(context: &RequestContext) -> HandlerResult {
    Ok(named(
        "graph_read_mode",
        context.graph()?.catalogue().read_mode().name(),
    ))
}

fn put_read_mode(context: &RequestContext) -> HandlerResult {
    let graph = context.graph()?;
    let mode = body_name(context, "GraphReadMode", ReadMode::ALL, ReadMode::name)?;
    graph.catalogue().set_read_mode(mode);
    Ok(named("graph_read_mode", mode.name()))
}
