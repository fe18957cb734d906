//! `…/variables`: values that clients store with a graph.

use serde::Deserialize;
use varve_graph::ErrorKind;
use varve_kv::Flow;
use varve_model::Datum;

use crate::datum::{self, JsonDatum};
use crate::errors::ApiError;
use crate::json::JsonWriter;
use crate::request::RequestContext;
use crate::respond::{Growing, HandlerResult, Response};
use crate::rights;
use crate::route::{Handler, Route, Scope};

/// The routes of this module.
pub(crate) static ROUTES: &[Route] = &[
    Route::get("graphs/{graph}/variables", Handler::Pooled(list))
        .reads(Scope::Graph)
        .needs(rights::READ_VARIABLES)
        .of("variables", "VariablesAPI"),
    // A value may be as large as a body.
    Route::get("graphs/{graph}/variables/{key}", Handler::Pooled(get))
        .reads(Scope::Graph)
        .needs(rights::READ_VARIABLES)
        .of("variables", "VariablesAPI"),
    // A write has a sync of its own, so it does not run on the serving thread.
    Route::put("graphs/{graph}/variables/{key}", Handler::Pooled(put))
        .writes(Scope::Graph)
        .needs(rights::WRITE_VARIABLES)
        .of("variables", "VariablesAPI"),
    Route::delete("graphs/{graph}/variables/{key}", Handler::Pooled(delete))
        .writes(Scope::Graph)
        .needs(rights::DELETE_VARIABLES)
        .of("variables", "VariablesAPI"),
];

/// The prefix of the variables in which the explorer saves views. There may be many large ones, so
/// the list leaves them out.
const KEPT_VIEWS: &str = "~view:";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewValue {
    data: Option<JsonDatum>,
}

fn list(context: &RequestContext) -> HandlerResult {
    let mut answer = Growing::with_capacity(context, 256);
    answer.json.begin_object();
    let mut failed = None;
    context.graph()?.variables().visit(&mut |name, value| {
        if name.starts_with(KEPT_VIEWS) {
            return Flow::Continue(());
        }
        answer.json.key(name);
        datum::write(&value, &mut answer.json);
        let checked = answer.check().and_then(|()| context.check_deadline());
        failed = checked.err();
        match failed {
            None => Flow::Continue(()),
            Some(_) => Flow::Break(()),
        }
    })?;
    if let Some(error) = failed {
        return Err(error);
    }
    answer.json.end_object();
    Ok(answer.finish())
}

/// `{"<key>":<value>}`
fn one(key: &str, value: &Datum) -> Response {
    let mut json = JsonWriter::with_capacity(64);
    json.begin_object().key(key);
    datum::write(value, &mut json);
    json.end_object();
    Response::ok(json.finish())
}

fn get(context: &RequestContext) -> HandlerResult {
    let key = context.path_parameter("key");
    let graph = context.graph()?;
    let value = graph
        .variables()
        .get(key)
        .map_err(|error| match error.kind {
            ErrorKind::NotFound => ApiError::resource_not_found(error.message),
            _ => error.into(),
        })?;
    Ok(one(key, &value))
}

fn put(context: &RequestContext) -> HandlerResult {
    let graph = context.graph()?;
    let key = context.path_parameter("key");
    let NewValue { data } = context.json_object()?;
    let value = data.map_or(Datum::Null, |JsonDatum(value)| value);
    graph.variables().set(key, &value)?;
    Ok(one(key, &value))
}

fn delete(context: &RequestContext) -> HandlerResult {
    context
        .graph()?
        .variables()
        .remove(context.path_parameter("key"))?;
    Ok(Response::no_content())
}
