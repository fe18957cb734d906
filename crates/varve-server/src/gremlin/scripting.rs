//! Requests of scripts on the schema of a graph.

use std::time::Duration;

use http::StatusCode;
use serde_json::{Map, Number, Value as Json};
use varve_graph::Graph;
use varve_graph::tasks::TaskId;
use varve_gremlin::execute::{SchemaAction, SchemaRequest};
use varve_query::{QueryError, Value};
use varve_view::{StoreError, ViewError};

use super::request::value_of;
use super::weight;
use crate::errors::ApiError;
use crate::hugegraph::schema_of_scripts;

/// How often a script that waits for an index checks whether it may go on.
const WAIT_SLICE: Duration = Duration::from_millis(20);

/// Whether the action changes the schema.
pub(super) const fn changes(action: SchemaAction) -> bool {
    !matches!(action, SchemaAction::Get | SchemaAction::List)
}

/// The most bytes of a schema element that a script makes.
const BODY_BYTES_MAX: usize = 1 << 20;

/// Carries out a script's request on the schema. Waits for a new index, as HugeGraph does, until
/// `check` fails. `owner`: the owner of the tasks.
pub(super) fn apply(
    (graph, owner): (&Graph, Option<&str>),
    request: &SchemaRequest,
    check: impl Fn() -> Result<(), ApiError>,
) -> Result<Value, ApiError> {
    let SchemaRequest {
        kind, action, name, ..
    } = request;
    // The body has its parts for itself, where the value may share them.
    weight::of(&request.body, BODY_BYTES_MAX).map_err(|weight::TooLarge| {
        ApiError::limit_exceeded(format!("A schema element may have {BODY_BYTES_MAX} bytes"))
    })?;
    let body = json_of(&request.body)?;
    let graph_of = (graph, owner);
    let (json, task) = schema_of_scripts::apply(graph_of, *kind, *action, name, body)?;
    match (action, task) {
        (SchemaAction::Remove | SchemaAction::Rebuild, task) => Ok(Value::count(task.0)),
        (SchemaAction::Create, task) if task != TaskId::NONE => {
            loop {
                check()?;
                let task = graph.tasks().wait_until_done(task, WAIT_SLICE)?;
                if task.status.is_final() {
                    break;
                }
            }
            let get = SchemaAction::Get;
            let (json, _) = schema_of_scripts::apply(graph_of, *kind, get, name, Json::Null)?;
            Ok(value_of(&json))
        }
        _ => Ok(value_of(&json)),
    }
}

/// The error as an exception that a script can catch, or as a failure that ends the script.
pub(super) fn raised(error: ApiError) -> QueryError {
    let is_clients = error.status().is_client_error() && error.status() != StatusCode::FORBIDDEN;
    if is_clients {
        return QueryError::script(error.exception().to_owned(), error.message().to_owned());
    }
    QueryError::View(ViewError::Store(Box::new(StoreError {
        kind: error.kind(),
        message: error.message().to_owned(),
        source: error.cause().map(Into::into),
    })))
}

/// A value as a member of a JSON body.
fn json_of(value: &Value) -> Result<Json, ApiError> {
    Ok(match value {
        Value::Null => Json::Null,
        Value::Bool(truth) => Json::Bool(*truth),
        Value::Text(text) => Json::String(text.to_string()),
        Value::Float(number) => Number::from_f64(f64::from(*number)).map_or(Json::Null, Json::from),
        Value::Double(number) => Number::from_f64(*number).map_or(Json::Null, Json::from),
        Value::List(items) => {
            let each = items.iter().map(json_of);
            Json::Array(each.collect::<Result<Vec<_>, _>>()?)
        }
        Value::Set(items) => {
            let each = items.iter().map(json_of);
            Json::Array(each.collect::<Result<Vec<_>, _>>()?)
        }
        Value::Map(map) => {
            let mut members = Map::new();
            for (key, value) in map.iter() {
                let key = key.to_text();
                let key = key.map_err(|error| ApiError::limit_exceeded(error.to_string()))?;
                members.insert(key.to_string(), json_of(value)?);
            }
            Json::Object(members)
        }
        other => match other.as_long() {
            Some(number) => Json::Number(number.into()),
            None => {
                let kind = other.type_name();
                return Err(ApiError::illegal_argument(format!(
                    "A {kind} cannot stand in a schema"
                )));
            }
        },
    })
}
