//! `/gremlin` over HTTP as TinkerPop's server answers it: one response message in GraphSON 3.0 or
//! GraphBinary 1.0, errors as JSON with the name of an exception.

use bytes::Bytes;
use compact_str::CompactString;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use varve_graphson::{
    Format, Request, VALUES_MAX, Value as WireValue, graphson, read_request, wants_texts,
};
use varve_gremlin::execute::Environment;

use super::evaluate::evaluate;
use super::graphs::Names;
use super::message::{self, Ask, Job};
use super::parts::{Answer, too_large};
use super::request::NO_TIMES;
use super::status::{Asked, Refusal};
use crate::json::JsonWriter;
use crate::negotiate;
use crate::request::RequestContext;
use crate::respond::{ContentType, HandlerResult, Response};
use crate::route::Verb;
use crate::state::Door;

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wanted {
    format: Format,
    /// Whether each result is sent as its text.
    texts: bool,
    content_type: ContentType,
}

const GRAPHSON: Wanted = Wanted {
    format: Format::GraphSon,
    texts: false,
    content_type: ContentType::Other("application/vnd.gremlin-v3.0+json"),
};
const GRAPHBINARY: Wanted = Wanted {
    format: Format::GraphBinary,
    texts: false,
    content_type: ContentType::Other("application/vnd.graphbinary-v1.0"),
};
/// GraphBinary of texts.
const TEXTS: Wanted = Wanted {
    format: Format::GraphBinary,
    texts: true,
    content_type: ContentType::Other("application/vnd.graphbinary-v1.0-stringd"),
};
/// GraphSON under its old name.
const JSON: Wanted = Wanted {
    format: Format::GraphSon,
    texts: false,
    content_type: ContentType::JsonBare,
};

/// The form that a client wants in place of HugeGraph's flat JSON: the first of TinkerPop's types
/// that it accepts. The listener for TinkerPop's drivers has no other form.
pub(super) fn wanted(context: &RequestContext) -> Option<Wanted> {
    let accepted = context.headers().get(header::ACCEPT);
    let accepted = accepted.and_then(|accepted| accepted.to_str().ok());
    let mut types = negotiate::accepted(accepted.unwrap_or(""));
    let named = types.find_map(|name| match Format::from_mime(name)? {
        Format::GraphBinary if wants_texts(name) => Some(TEXTS),
        Format::GraphBinary => Some(GRAPHBINARY),
        Format::GraphSon if is_json(name) => None,
        Format::GraphSon => Some(GRAPHSON),
    });
    let is_own = context.worker.door == Door::Gremlin;
    // A message in the body is answered in its format, whatever else is accepted.
    let sent = body_format(context.headers());
    let of_body = || match sent? {
        Format::GraphBinary if sends_texts(context.headers()) => Some(TEXTS),
        Format::GraphBinary => Some(GRAPHBINARY),
        Format::GraphSon => Some(GRAPHSON),
    };
    named.or_else(of_body).or(is_own.then_some(JSON))
}

/// The format of a body that is a message of the protocol; `None` for plain JSON.
fn body_format(headers: &HeaderMap) -> Option<Format> {
    let sent = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    Format::from_mime(sent).filter(|_| !is_json(sent))
}

fn is_json(mime: &str) -> bool {
    let name = mime.split(';').next().unwrap_or_default();
    name.trim().eq_ignore_ascii_case("application/json")
}

fn sends_texts(headers: &HeaderMap) -> bool {
    let sent = headers.get(header::CONTENT_TYPE);
    sent.is_some_and(|sent| sent.to_str().is_ok_and(wants_texts))
}

/// Answers a request as TinkerPop's server does.
pub(super) fn answer(context: &RequestContext, wanted: Wanted) -> HandlerResult {
    let state = context.state();
    let asked = |job: &Job| Asked {
        is_script: !job.form.traversers,
        id: job.form.id,
        limit_ms: job
            .limit
            .map_or(state.config().request_timeout(), |own| {
                own.min(state.config().request_timeout())
            })
            .as_millis(),
    };
    let job = match request(context).and_then(|request| message::ask(request, wanted.format)) {
        Ok(Ask::Run(job)) if job.session.is_none() => *job,
        Ok(_) => {
            let message = "Sessions need a WebSocket, and authentication needs no message here";
            return Ok(refused(&Refusal::invalid(message)));
        }
        Err(refusal) => return Ok(refused(&refusal)),
    };
    if let Some((name, wanted)) = Names::of(context).unknown_alias(&job.aliases) {
        return Ok(refused(&Refusal::unknown_alias(name, wanted)));
    }
    let asked = asked(&job);
    let mut form = job.form;
    form.set_texts(wanted.texts);
    // One message has all results, up to the largest answer.
    form.is_whole = true;
    form.batch = usize::MAX;
    form.part_bytes = state.config().max_answer_bytes;
    let limits = (job.limit, job.aliases);
    let mut environment = Environment::from(job.bindings);
    let ran = match evaluate(context, job.program, &mut environment, limits, None) {
        Ok(mut ran) => {
            if job.is_command {
                ran.results.clear();
            }
            ran
        }
        Err(failure) => {
            failure.note(context);
            return Ok(refused(&Refusal::of(failure, asked)));
        }
    };
    let is_stored = ran.is_stored;
    let reported = |error| match is_stored {
        true => super::evaluate::stored(error),
        false => error,
    };
    let mut answer = Answer::new(ran, form, state);
    let written = answer.write();
    let mut parts = written.map_err(|unwritten| reported(unwritten.into_api(state)))?;
    let (Some(part), true) = (parts.pop(), answer.is_done()) else {
        return Err(reported(too_large(state.config().max_answer_bytes)));
    };
    let response = Response::ok(part.bytes).content_type(wanted.content_type);
    Ok(response.holding(part.share))
}

/// The request as a message of the protocol.
fn request(context: &RequestContext) -> Result<Request, Refusal> {
    let malformed = |error: varve_graphson::WireError| Refusal::malformed(error.to_string());
    if context.route().verb == Verb::Get {
        return of_query(context);
    }
    let body = context.body();
    match body_format(context.headers()) {
        Some(format) => read_request(format, body, VALUES_MAX).map_err(malformed),
        None => of_json(body),
    }
}

/// A body with the arguments of `eval` as its members.
fn of_json(body: &Bytes) -> Result<Request, Refusal> {
    let unreadable = || Refusal::malformed("body could not be parsed");
    let WireValue::Map(members) = graphson::read(body).map_err(|_| unreadable())? else {
        return Err(unreadable());
    };
    let named = members.into_iter().map(|(name, value)| match name {
        WireValue::String(name) => Ok((name, value)),
        _ => Err(unreadable()),
    });
    let arguments: Vec<_> = named.collect::<Result<_, _>>()?;
    let is_time = |name: &str| matches!(name, "as_of" | "as_of_tx");
    if arguments.iter().any(|(name, _)| is_time(name)) {
        return Err(Refusal::invalid(NO_TIMES));
    }
    let is_bytecode = arguments
        .iter()
        .any(|(name, value)| name == "gremlin" && matches!(value, WireValue::Bytecode(_)));
    Ok(match is_bytecode {
        true => eval("traversal", "bytecode", arguments),
        false => eval("", "eval", arguments),
    })
}

fn of_query(context: &RequestContext) -> Result<Request, Refusal> {
    let query = context
        .query()
        .map_err(|error| Refusal::malformed(error.message().to_owned()))?;
    let text = |text: &str| WireValue::String(CompactString::new(text));
    let (mut arguments, mut bindings, mut aliases) = (Vec::new(), Vec::new(), Vec::new());
    for (name, value) in query.iter() {
        if let Some(name) = name.strip_prefix("bindings.") {
            // A value that is no JSON is a text.
            let value = graphson::read(value.as_bytes()).unwrap_or_else(|_| text(value));
            bindings.push((text(name), value));
        } else if let Some(name) = name.strip_prefix("aliases.") {
            aliases.push((text(name), text(value)));
        } else {
            arguments.push((CompactString::new(name), text(value)));
        }
    }
    let named = [("bindings", bindings), ("aliases", aliases)];
    arguments.extend(named.map(|(name, entries)| (name.into(), WireValue::Map(entries))));
    Ok(eval("", "eval", arguments))
}

fn eval(processor: &str, op: &str, arguments: Vec<(CompactString, WireValue)>) -> Request {
    Request {
        id: super::request_id(),
        op: op.into(),
        processor: processor.into(),
        arguments,
    }
}

/// An error as TinkerPop's server words it over HTTP.
fn refused(refusal: &Refusal) -> Response {
    let mut json = JsonWriter::with_capacity(256);
    json.begin_object().key("message").string(&refusal.message);
    json.key("Exception-Class").string(&refusal.exception);
    json.key("exceptions").begin_array();
    json.string(&refusal.exception).end_array();
    json.key("stackTrace").string(&refusal.message);
    json.key("code").string(refusal.own_code);
    json.end_object();
    let response = Response::new(refusal.http_status(), ContentType::JsonBare, json.finish());
    match refusal.http_status() {
        StatusCode::SERVICE_UNAVAILABLE => {
            response.header(header::RETRY_AFTER, HeaderValue::from_static("1"))
        }
        _ => response,
    }
}
