//! Short traversals, answered in place: handing one to the pool and back costs more than reading
//! some ten vertices.
//!
//! One traversal runs in place if its time follows the rows that it reads, up to [`ROWS`]. Other
//! scripts, and traversals that exceed a limit, start again on the pool: they have only read. So do
//! those that fail, so that errors are worded in one place. The pool goes on with the parsed
//! script, so that no script is parsed twice.

use std::time::{Duration, Instant};

use compact_str::CompactString;
use varve_gremlin::bind::bind_quickly;
use varve_gremlin::execute::{Host, Source};
use varve_gremlin::parse_script_with;
use varve_gremlin::tree::{Root, Script, Terminal};
use varve_view::MeterLimits;

use super::host::ScriptHost;
use super::request::{GremlinRequest, Program};
use crate::errors::ApiError;
use crate::request::RequestContext;
use crate::respond::HandlerResult;
use crate::route::Handler;

/// Bytes of the longest text that is parsed in place.
const TEXT_BYTES: usize = 1_024;
/// Rows that a traversal may read in place, and results that it may return. Takes less than a
/// millisecond if every row is an element that is fetched.
const ROWS: u64 = 256;
/// Bytes that a traversal may hold in place.
const BYTES: u64 = 1 << 20;
/// How long a traversal may occupy a core, checked after every 1,024 rows that it makes.
const TIME: Duration = Duration::from_millis(1);

/// `GET /gremlin`.
pub(super) const GET: Handler = Handler::Brief {
    brief: |context| {
        answer(
            context,
            GremlinRequest::of_query(context.query().ok()?).ok()?,
        )
    },
    full: super::get,
};
/// `POST /gremlin`.
pub(super) const POST: Handler = Handler::Brief {
    brief: |context| answer(context, GremlinRequest::of_body(context.body()).ok()?),
    full: super::post,
};

fn answer(context: &RequestContext, mut request: GremlinRequest) -> Option<HandlerResult> {
    if super::http::wanted(context).is_some() {
        return None;
    }
    let script = match &request.program {
        Program::Text(text) if text.len() <= TEXT_BYTES => {
            let variables = request.bindings.keys().map(CompactString::as_str);
            // The full handler words the error.
            parse_script_with(text, variables).ok()?
        }
        _ => return None,
    };
    let answered = match script.may_write() {
        true => None,
        false => read(context, &script, &request),
    };
    if answered.is_none() {
        request.program = Program::Parsed(script);
        context.keep(request);
    }
    answered
}

/// The answer to a script that only reads; `None` if it is not one short traversal.
fn read(
    context: &RequestContext,
    script: &Script,
    request: &GremlinRequest,
) -> Option<HandlerResult> {
    let traversal = script.traversal()?;
    // A list of results is answered like the results themselves.
    if !matches!(traversal.terminal, None | Some(Terminal::ToList)) {
        return None;
    }
    let Root::Source(name) = &traversal.root else {
        return None;
    };
    let source = Source::Traversal(name.clone());
    let bound = bind_quickly(traversal, &request.bindings).ok()?;
    if !bound.plan.follows_rows() || !bound.with.is_empty() {
        return None;
    }
    let limits = MeterLimits {
        rows_max: ROWS,
        bytes_max: BYTES,
        deadline: Some(Instant::now() + TIME),
    };
    let mut host = ScriptHost::limited(context, request.aliases.clone(), limits).ok()?;
    // A transaction time may have to wait for a commit, and the past is read in large pieces.
    if !host.scope.is_now() {
        return None;
    }
    let results = host.run(&source, &bound, None).ok()?;
    let count = results
        .iter()
        .fold(0_u64, |count, (_, bulk)| count.saturating_add(*bulk));
    let answered = || super::answer::write(context, host.graph.as_deref(), &results);
    (count <= ROWS).then(|| answered().map_err(ApiError::of_script))
}
