//! `…/load`: files of rows, uploaded in pieces, become elements of the graph by a mapping.
//!
//! A client uploads files, asks for a drafted mapping, tries it, and loads. What a row means is
//! decided by `varve-load`, as in `varve load`. Elements are stored as a batch of the same client
//! would be, with its rights; the schema is made by the resources of the schema.

mod config;
mod ends;
mod files;
mod run;

pub use config::LoadConfig;

use serde::Deserialize;
use varve_load::{Catalogue, Source};

use self::files::Uploads;
use crate::config::ServerConfig;
use crate::errors::ApiError;
use crate::hugegraph::schema_json;
use crate::request::RequestContext;
use crate::respond::{HandlerResult, Response};
use crate::rights;
use crate::route::{Handler, Parameter, Route, Scope};
use crate::state::Features;

/// Adds the uploaded files and the slots of loads to a server.
pub(crate) fn add_to(features: &mut Features, config: &ServerConfig) {
    features.add(Uploads::new(&config.load));
    features.add(run::Slots::new(config.load.loads_max));
}

const BOOLEAN: &str = "boolean";
const LONG: &str = "long";
const FILES: &str = "graphs/{graph}/load/files";

/// The routes of this module.
pub(crate) static ROUTES: &[Route] = &[
    Route::put(
        "graphs/{graph}/load/files/{name}",
        Handler::Async(|c| Box::pin(files::put(c))),
    )
    .writes(Scope::Graph)
    .keeps_content()
    .needs(rights::WRITE_ELEMENTS)
    .of("load", "LoadAPI")
    .with(&[Parameter::new("offset", LONG, "0")])
    .batch()
    .bytes(),
    Route::get(FILES, Handler::Inline(files::list))
        .reads(Scope::Graph)
        .needs(rights::WRITE_ELEMENTS)
        .of("load", "LoadAPI"),
    Route::delete(FILES, Handler::Pooled(files::delete))
        .writes(Scope::Graph)
        .keeps_content()
        .needs(rights::WRITE_ELEMENTS)
        .of("load", "LoadAPI"),
    Route::post("graphs/{graph}/load/infer", Handler::Pooled(infer))
        .writes(Scope::Graph)
        .keeps_content()
        .needs(rights::WRITE_ELEMENTS)
        .of("load", "LoadAPI")
        .lengthy(),
    Route::post("graphs/{graph}/load/ends", Handler::Pooled(ends::check))
        .writes(Scope::Graph)
        .keeps_content()
        .needs(rights::WRITE_ELEMENTS)
        .of("load", "LoadAPI"),
    Route::post("graphs/{graph}/load", Handler::Pooled(run::load))
        .writes(Scope::Graph)
        .needs(rights::WRITE_ELEMENTS)
        .of("load", "LoadAPI")
        .with(&[
            Parameter::new("dry_run", BOOLEAN, "false"),
            Parameter::new("check_vertex", BOOLEAN, "true"),
            Parameter::new("skip_unchanged", BOOLEAN, "false"),
            Parameter::new("max_errors", LONG, "1000"),
        ])
        .any_accept()
        .lengthy(),
];

/// The files to look at: all of the client's by default.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InferJson {
    files: Option<Vec<String>>,
}

/// Answers with a drafted mapping: its text, its schema, the first rows, what is uncertain.
fn infer(context: &RequestContext) -> HandlerResult {
    let asked: InferJson = context.json_object()?;
    let state = context.state();
    let _slot = state.feature::<run::Slots>().slot(state)?;
    let upload = state.feature::<Uploads>().of(context)?;
    let names = match asked.files {
        Some(names) => names,
        None => upload.names(),
    };
    if names.is_empty() {
        return Err(ApiError::illegal_argument("No files were uploaded"));
    }
    let sources: Result<Vec<Source>, ApiError> =
        names.iter().map(|name| upload.source(name)).collect();
    let goes_on = || {
        let late = context.check_deadline();
        late.map_err(|_| "the deadline has passed".to_owned())
    };
    let catalogue = Catalogue::deserialize(schema_json(context)?)?;
    let drafted = varve_load::infer(&sources?, &catalogue, &goes_on);
    let drafted = drafted.map_err(|error| {
        let late = context.check_deadline().err();
        late.unwrap_or_else(|| ApiError::illegal_argument(error))
    })?;
    let answer = serde_json::to_string(&drafted);
    let answer = answer.map_err(|error| ApiError::internal(error.to_string()))?;
    Ok(Response::ok(answer))
}
