//! The bare HTTP server: Varve's own listeners, routing and limits, with a fixed answer to every
//! request.

use std::path::Path;
use std::process::Command;
use std::sync::{Arc, OnceLock};

use anyhow::{Context, Result};
use varve_graph::{GraphOptions, Registry};
use varve_kv::memory::MemoryEngine;
use varve_model::time::SystemClock;
use varve_server::{
    AppState, Handler, HandlerResult, RequestContext, Response, Route, Scope, ServerConfig,
};

use crate::owned::Process;
use crate::serve::listening;

static ANSWER: OnceLock<(u16, Vec<u8>)> = OnceLock::new();

const ANSWER_ALWAYS: Handler = Handler::Inline(answer);

static ROUTES: &[Route] = &[
    Route::get("bare/{a}/graph/{kind}/{id}", ANSWER_ALWAYS).reads(Scope::Server),
    Route::post("bare/{a}/graph/{kind}", ANSWER_ALWAYS).writes(Scope::Server),
    // The scenario without the check of vertices has a query parameter.
    Route::post("bare/{a}/graph/{kind}/batch", ANSWER_ALWAYS)
        .writes(Scope::Server)
        .any_query()
        .batch(),
];

fn answer(_: &RequestContext) -> HandlerResult {
    let (status, body) = ANSWER
        .get()
        .map(|(s, b)| (*s, b.as_slice()))
        .unwrap_or((500, b""));
    let status = http::StatusCode::from_u16(status).unwrap_or(http::StatusCode::OK);
    Ok(Response::json(status, body.to_vec()))
}

/// Prints the address and serves until the process ends.
pub(crate) fn serve(status: u16, body: &Path) -> Result<()> {
    let body = std::fs::read(body).context("reading the answer")?;
    ANSWER.set((status, body)).ok().context("set once")?;
    let config = ServerConfig {
        port: 0,
        ..ServerConfig::default()
    };
    let options = GraphOptions::new(Arc::new(SystemClock));
    let graphs = Arc::new(Registry::open(Arc::new(MemoryEngine::new()), options)?);
    let state = AppState::with_routes(config, graphs, &[ROUTES])?;
    let server = varve_server::start(&state)?;
    println!("bare serves on http://{}", server.address());
    server.run_until_signal(|_| ())?;
    Ok(())
}

/// Starts the bare HTTP server with the status and the body of all its answers, as a child process.
/// Returns its address, too.
pub(super) fn start(status: u16, body: &Path) -> Result<(Process, String)> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["bare", "--status", &status.to_string()]);
    command.arg("--body").arg(body);
    listening(&command)
}
