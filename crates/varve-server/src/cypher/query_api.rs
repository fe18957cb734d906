//! Neo4j's Query API: one statement a request, with plain or typed JSON.

pub(super) mod transactions;

use http::{HeaderMap, StatusCode, header};
use serde::Deserialize;
use serde_json::{Map as JsonMap, Value as Json};
use varve_cypher::{Graph, PlanTree};
use varve_model::TemporalScope;
use varve_session::{Action, Failure, Session};
use varve_view::ErrorKind;

use super::engine::Batch;
use super::failure::{CypherFailure, read_only};
use super::json::{Form, JsonValues};
use super::run::{Ran, Sink, Statement};
use super::target::Target;
use super::typed::{TYPED, is_typed};
use super::{parameters, summary};
use crate::errors::ApiError;
use crate::json::JsonWriter;
use crate::request::RequestContext;
use crate::respond::{ContentType, HandlerResult, Response};
use crate::rights;
use crate::route::{Handler, Parameter, Route, Scope};
use crate::wire::time;

pub(super) const POST: Route = Route::post("db/{graph}/query/v2", Handler::Pooled(answer))
    .queries(Scope::Graph)
    .followed()
    .needs(rights::RUN_STATEMENTS)
    .of("cypher", "QueryAPI")
    .neo4j()
    .with(&[Parameter::text("as_of"), Parameter::text("as_of_tx")]);

/// A request.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Body {
    statement: Option<String>,
    parameters: JsonMap<String, Json>,
    include_counters: bool,
    access_mode: Option<String>,
    bookmarks: Vec<String>,
    impersonated_user: Option<String>,
}

fn names_typed(headers: &HeaderMap, name: header::HeaderName) -> bool {
    let value = headers.get(name).and_then(|value| value.to_str().ok());
    value.is_some_and(|value| value.split(',').any(is_typed))
}

fn answer(context: &RequestContext) -> HandlerResult {
    answered(context, |context, typed| {
        let asked = Asked::of(context)?;
        let session = &context.session;
        let target = target(context)?;
        target.wait(&asked.body.bookmarks, session)?;
        let mut statement = asked.statement((session, target), asked.scope, asked.is_read())?;
        statement.check = Some(context.part_check());
        let mut values = Values::new(typed, context.state().config().max_answer_bytes);
        let ran = super::audited(context, &statement, || {
            statement.run_alone(session, &mut values)
        });
        let ran = ran.map_err(|failure| failure.of(session))?;
        let version = ran.version;
        let mut json = JsonWriter::with_capacity(256 + values.out.len());
        json.begin_object();
        let result = (&statement, values, ran);
        put_result(result, asked.body.include_counters, &mut json);
        put_bookmark(&statement.target.bookmark(version), &mut json);
        json.end_object();
        Ok(json.finish())
    })
}

/// What the statements of a request run on.
fn target(context: &RequestContext) -> Result<Target, Failure> {
    let default = &context.state().config().bolt.default_graph;
    Target::find(&context.session, context.graph_name(), default)
}

/// The answer of a request of this API.
fn answered(
    context: &RequestContext,
    run: impl FnOnce(&RequestContext, bool) -> Result<Vec<u8>, Failure>,
) -> HandlerResult {
    let typed = names_typed(context.headers(), header::ACCEPT);
    match run(context, typed) {
        Ok(bytes) => Ok(Response::new(
            StatusCode::ACCEPTED,
            content_type(typed),
            bytes,
        )),
        Err(failure) => Ok(refused(context, failure, typed)),
    }
}

const fn content_type(typed: bool) -> ContentType {
    match typed {
        true => ContentType::Other(TYPED),
        false => ContentType::JsonBare,
    }
}

/// What a request asks for.
struct Asked {
    body: Body,
    /// Whether its parameters have their types.
    sent_typed: bool,
    scope: TemporalScope,
}

impl Asked {
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] if the request cannot be read.
    fn of(context: &RequestContext) -> Result<Self, Failure> {
        let body: Body = match context.body().is_empty() {
            true => Body::default(),
            false => serde_json::from_slice(context.body())
                .map_err(|error| invalid(format!("The body cannot be read: {error}")))?,
        };
        if body.impersonated_user.is_some() {
            let message = "Impersonation is not supported";
            return Err(Failure::new(ErrorKind::NotSupported, message));
        }
        let of_api = |error: ApiError| invalid(error.message().to_owned());
        Ok(Self {
            body,
            sent_typed: names_typed(context.headers(), header::CONTENT_TYPE),
            scope: time::scope(context.query().map_err(of_api)?).map_err(of_api)?,
        })
    }

    /// The statement, ready to run at a point of both times. `is_read`: it must not write.
    ///
    /// # Errors
    /// When the client may not run it.
    fn statement(
        &self,
        (session, target): (&Session, Target),
        scope: TemporalScope,
        is_read: bool,
    ) -> Result<Statement, Failure> {
        let text = self.body.statement.as_deref();
        let text = text.ok_or_else(|| invalid("The body has no 'statement'"))?;
        let parameters = parameters::read(&self.body.parameters, self.sent_typed);
        let parameters = parameters.map_err(invalid)?;
        let statement = Statement::new(text, (session, target), parameters, scope);
        let statement = statement.map_err(|failure| failure.of(session))?;
        statement.admit(session)?;
        if statement.action() != Action::Read && is_read {
            return Err(read_only());
        }
        Ok(statement)
    }

    /// Whether the client says that it only reads.
    fn is_read(&self) -> bool {
        let mode = self.body.access_mode.as_deref();
        mode.is_some_and(|mode| mode.eq_ignore_ascii_case("read"))
    }
}

fn invalid(message: impl Into<String>) -> Failure {
    Failure::new(ErrorKind::InvalidArgument, message)
}

/// The rows as JSON arrays.
struct Values {
    out: JsonWriter,
    form: Form,
    bytes_max: usize,
}

impl Values {
    fn new(typed: bool, bytes_max: usize) -> Self {
        let form = if typed { Form::Typed } else { Form::Plain };
        let mut values = Self {
            out: JsonWriter::with_capacity(0),
            form,
            bytes_max,
        };
        values.restart();
        values
    }
}

impl Sink for Values {
    fn restart(&mut self) {
        self.out = JsonWriter::with_capacity(1_024);
        self.out.begin_array();
    }

    fn rows(&mut self, graph: &Graph<'_>, batch: &Batch) -> Result<(), CypherFailure> {
        graph.prefetch(batch.rows().flat_map(|(row, _)| row))?;
        for (row, count) in batch.rows() {
            super::copies(count, graph, || {
                self.out.begin_array();
                for value in row {
                    let (out, form) = (&mut self.out, self.form);
                    JsonValues { out, graph, form }.value(value)?;
                }
                self.out.end_array();
                super::check_size(self.out.len(), self.bytes_max)
            })?;
        }
        Ok(())
    }
}

/// The members of a result.
fn put_result(
    (statement, mut values, ran): (&Statement, Values, Ran),
    counters: bool,
    json: &mut JsonWriter,
) {
    values.out.end_array();
    json.key("data").begin_object();
    json.key("fields").begin_array();
    for column in &statement.prepared.columns {
        json.string(column);
    }
    json.end_array().key("values").raw(&values.out.finish());
    json.end_object();
    json.key("queryType")
        .string(statement.prepared.kind().text());
    if counters {
        json.key("counters").begin_object();
        let counted = &ran.summary.counters;
        json.key("containsUpdates")
            .boolean(counted.contains_updates());
        for (name, count) in super::counters::all(counted) {
            json.key(&super::counters::camel_case(name)).integer(count);
        }
        json.end_object();
    }
    if let Some(tree) = &ran.summary.plan {
        json.key(match tree.measured {
            Some(_) => "profiledQueryPlan",
            None => "queryPlan",
        });
        plan(tree, json);
    }
}

fn put_bookmark(bookmark: &str, json: &mut JsonWriter) {
    json.key("bookmarks").begin_array();
    json.string(bookmark).end_array();
}

fn plan(tree: &PlanTree, json: &mut JsonWriter) {
    json.begin_object();
    if let Some(measured) = &tree.measured {
        let [rows, reads, time] = summary::numbers(measured);
        json.key("dbHits")
            .integer(reads)
            .key("records")
            .integer(rows);
        json.key("hasPageCacheStats").boolean(false);
        json.key("pageCacheHits").integer(0);
        json.key("pageCacheMisses").integer(0);
        json.key("pageCacheHitRatio").raw(b"0.0");
        json.key("time").integer(time);
    }
    json.key("operatorType").string(tree.name);
    json.key("arguments").begin_object();
    json.key("Details").string(&tree.details);
    json.end_object().key("identifiers").begin_array();
    json.end_array().key("children").begin_array();
    for child in &tree.children {
        plan(child, json);
    }
    json.end_array().end_object();
}

/// A failure in the Query API's form.
fn refused(context: &RequestContext, failure: Failure, typed: bool) -> Response {
    let code = super::neo4j_code(&failure);
    let message = failure.message.clone();
    let error = ApiError::from(failure);
    context.state().note_error(&error, context.uri());
    let mut json = JsonWriter::with_capacity(256);
    json.begin_object().key("errors").begin_array();
    json.begin_object().key("code").string(code);
    json.key("message").string(&message);
    json.end_object().end_array().end_object();
    let response = Response::new(error.status(), content_type(typed), json.finish());
    match error.retry_after_seconds() {
        Some(seconds) => response.header(header::RETRY_AFTER, seconds.into()),
        None => response,
    }
}
