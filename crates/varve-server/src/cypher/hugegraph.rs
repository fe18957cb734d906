//! `…/cypher` as HugeGraph has it: the bare text of a query, and rows as objects. Errors of a query
//! are answers with status 200 that say 400.

use std::borrow::Cow;

use varve_cypher::{Graph, Map};
use varve_session::Failure;

use super::engine::{Batch, Prepared};
use super::failure::CypherFailure;
use super::json::{Form, JsonValues};
use super::run::{Sink, Statement};
use super::target::Target;
use crate::errors::ApiError;
use crate::json::JsonWriter;
use crate::request::RequestContext;
use crate::respond::{HandlerResult, Response};
use crate::rights;
use crate::route::{Handler, Parameter, Route, Scope, Verb};
use crate::wire::time;

const PARAMETERS: &[Parameter] = &[
    Parameter::text("cypher"),
    Parameter::text("as_of"),
    Parameter::text("as_of_tx"),
];

/// What HugeGraph puts before the message of an error.
const EXCEPTION: &str = "org.apache.tinkerpop.gremlin.driver.exception.ResponseException: ";

pub(super) const GET: Route = Route::get("graphs/{graph}/cypher", Handler::Pooled(answer))
    .queries(Scope::Graph)
    .followed()
    .needs(rights::RUN_CYPHER)
    .of("cypher", "CypherAPI")
    .with(PARAMETERS);
pub(super) const POST: Route = Route::post("graphs/{graph}/cypher", Handler::Pooled(answer))
    .queries(Scope::Graph)
    .followed()
    .needs(rights::RUN_CYPHER)
    .of("cypher", "CypherAPI")
    .text_body()
    .with(&[Parameter::text("as_of"), Parameter::text("as_of_tx")]);

fn answer(context: &RequestContext) -> HandlerResult {
    let text = match context.route().verb {
        Verb::Get => Cow::Borrowed(context.query()?.get("cypher").unwrap_or_default()),
        _ => String::from_utf8_lossy(context.body()),
    };
    if text.trim().is_empty() {
        return Err(ApiError::illegal_argument(
            "The cypher parameter can't be null or empty",
        ));
    }
    let scope = time::scope(context.query()?)?;
    let served = context.served()?;
    let target = Target::Graph(served);
    let statement = Statement::new(&text, (&context.session, target), Map::new(), scope);
    let ran = statement.and_then(|mut statement| {
        statement.check = Some(context.part_check());
        statement.admit(&context.session)?;
        let mut rows = Rows::of(&statement.prepared, context);
        super::audited(context, &statement, || {
            statement.run_alone(&context.session, &mut rows)
        })?;
        Ok(rows.out)
    });
    match ran.map_err(|failure| failure.of(&context.session)) {
        Ok(rows) => Ok(Response::ok(wrapped(Ok(rows)))),
        Err(failure) if super::is_of_statement(&failure) => {
            Ok(Response::ok(wrapped(Err(&failure))))
        }
        Err(failure) => Err(failure.into()),
    }
}

/// Rows as JSON objects.
struct Rows<'r> {
    columns: &'r [String],
    out: JsonWriter,
    bytes_max: usize,
}

impl<'r> Rows<'r> {
    fn of(prepared: &'r Prepared, context: &RequestContext) -> Self {
        let mut out = JsonWriter::with_capacity(1_024);
        out.begin_array();
        Self {
            columns: &prepared.columns,
            out,
            bytes_max: context.state().config().max_answer_bytes,
        }
    }
}

impl Sink for Rows<'_> {
    fn restart(&mut self) {
        self.out = JsonWriter::with_capacity(1_024);
        self.out.begin_array();
    }

    fn rows(&mut self, graph: &Graph<'_>, batch: &Batch) -> Result<(), CypherFailure> {
        graph.prefetch(batch.rows().flat_map(|(row, _)| row))?;
        for (row, count) in batch.rows() {
            super::copies(count, graph, || {
                self.out.begin_object();
                for (column, value) in self.columns.iter().zip(row) {
                    self.out.key(column);
                    let form = Form::HugeGraph;
                    let out = &mut self.out;
                    JsonValues { out, graph, form }.value(value)?;
                }
                self.out.end_object();
                super::check_size(self.out.len(), self.bytes_max)
            })?;
        }
        Ok(())
    }
}

/// The answer around rows, or around the message of a failure.
fn wrapped(rows: Result<JsonWriter, &Failure>) -> Vec<u8> {
    let mut json = JsonWriter::with_capacity(256);
    let id = varve_model::value::Uuid(crate::gremlin::request_id());
    json.begin_object().key("requestId").string(&id.to_string());
    json.key("status").begin_object().key("message");
    match &rows {
        Ok(_) => json.string("").key("code").integer(200),
        Err(failure) => {
            let message = format!("{EXCEPTION}{}", failure.message);
            json.string(&message).key("code").integer(400)
        }
    };
    json.key("attributes").begin_object().end_object();
    json.end_object().key("result").begin_object().key("data");
    match rows {
        Ok(mut rows) => {
            rows.end_array();
            json.raw(&rows.finish());
        }
        Err(_) => drop(json.null()),
    }
    json.key("meta").begin_object().end_object();
    json.end_object().end_object();
    json.finish()
}
