//! `…/explore/…`: the resources of the explorer in the browser, at any point of both times.
//!
//! Each answer has the times that it used: a request with these times gets the same answer. Ids are
//! texts (`ref`) in the form of paths, since a browser rounds numbers. Elements have the part of
//! valid time in which their state holds, and the commit that recorded it. Everything is read
//! through [`varve_view::GraphView`].

mod bodies;
mod changes;
mod config;
mod diff;
mod elements;
mod expand;
mod export;
mod history;
mod load_sample;
mod output;
mod read_request;
mod sample;
mod search;
mod state;
mod summary;
mod timeline;
mod versions;

pub use changes::ChangesConfig;
pub(crate) use changes::Followers;
pub use config::ExploreConfig;

use self::export::Exports;
use crate::config::ServerConfig;
use crate::request::RequestContext;
use crate::respond::HandlerResult;
use crate::rights;
use crate::route::{Class, Handler, Parameter, Route, Scope};
use crate::state::Features;

/// Adds the slots of exports, and the readers that wait for changes, to a server.
pub(crate) fn add_to(features: &mut Features, config: &ServerConfig) {
    features.add(Exports::new(config.explore.exports_max));
    features.add(Followers::new(&config.changes, config.retry_after_seconds));
}

const LONG: &str = "long";
const BOOLEAN: &str = "boolean";
const AS_OF: Parameter = Parameter::text("as_of");
const AS_OF_TX: Parameter = Parameter::text("as_of_tx");
const BETWEEN: Parameter = Parameter::new("between", BOOLEAN, "false");
const LIMIT_50: Parameter = Parameter::new("limit", LONG, "50");
const LIMIT_100: Parameter = Parameter::new("limit", LONG, "100");

type Answered = fn(&RequestContext) -> HandlerResult;

const fn get(pattern: &'static str, handler: Answered, parameters: &'static [Parameter]) -> Route {
    Route::get(pattern, Handler::Pooled(handler))
        .reads(Scope::Graph)
        .followed()
        .needs(rights::READ_ELEMENTS)
        .of("explore", "ExploreAPI")
        .with(parameters)
        .gzip()
}

/// A read whose parameters are in its body.
const fn post(pattern: &'static str, handler: Answered, parameters: &'static [Parameter]) -> Route {
    Route::post(pattern, Handler::Pooled(handler))
        .reads(Scope::Graph)
        .followed()
        .needs(rights::READ_ELEMENTS)
        .of("explore", "ExploreAPI")
        .with(parameters)
        .gzip()
}

/// The routes of this module.
#[rustfmt::skip]
pub(crate) static ROUTES: &[Route] = &[
    get("graphs/{graph}/explore/summary", summary::summary, &[AS_OF, AS_OF_TX]),
    get("graphs/{graph}/explore/sample", sample::sample, &[
        Parameter::text("label"), LIMIT_50, Parameter::text("seed"), BETWEEN, AS_OF, AS_OF_TX,
    ]),
    post("graphs/{graph}/explore/expand", expand::expand, &[AS_OF, AS_OF_TX]),
    post("graphs/{graph}/explore/elements", elements::elements, &[AS_OF, AS_OF_TX]),
    post("graphs/{graph}/explore/diff", diff::diff, &[]),
    post("graphs/{graph}/explore/timeline", timeline::timeline, &[AS_OF_TX]),
    get("graphs/{graph}/explore/search", search::search, &[
        Parameter::text("q"), Parameter::text("labels"), LIMIT_50, AS_OF, AS_OF_TX,
    ]),
    Route::get("graphs/{graph}/explore/export", Handler::Pooled(export::export))
        .reads(Scope::Graph)
        .needs(rights::READ_ELEMENTS)
        .of("explore", "ExploreAPI")
        .with(&[
            Parameter::new("format", "java.lang.String", "jsonl"), Parameter::text("elements"),
            Parameter::text("label"), AS_OF, AS_OF_TX,
        ])
        .any_accept(),
    get("graphs/{graph}/explore/load_sample", load_sample::get, &[]),
    Route::post("graphs/{graph}/explore/load_sample", Handler::Pooled(load_sample::load))
        .changes_schema(Scope::Graph)
        .needs(rights::LOAD_SAMPLE)
        .of("explore", "ExploreAPI"),
    // A reader that waits is a follower, not a read in work; reads of changes have their own limit.
    Route::get("graphs/{graph}/changes", Handler::Async(|c| Box::pin(changes::changes(c))))
        .reads(Scope::Graph)
        .followed()
        .needs(rights::READ_ALL_ELEMENTS)
        .of("changes", "ChangesAPI")
        .with(&[
            Parameter::text("since"), Parameter::text("until"), Parameter::text("labels"),
            Parameter::text("types"), Parameter::new("before", BOOLEAN, "false"),
            Parameter::new("effective", BOOLEAN, "false"), Parameter::new("limit", LONG, "1000"),
            Parameter::text("wait"), Parameter::text("graph_id"),
        ])
        .class(Class::Control)
        .streams(changes::is_stream)
        .any_accept(),
    get("graphs/{graph}/explore/history", history::history, &[
        Parameter::text("type"), Parameter::text("ref"), LIMIT_100, AS_OF_TX,
    ]),
];
