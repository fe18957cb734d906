//! Transactions of the Query API: begun, used, committed and rolled back by requests of their own.

use http::StatusCode;
use varve_model::TemporalScope;
use varve_model::time::{Clock as _, SystemClock};
use varve_session::Failure;

use super::{Asked, Values, answered, put_bookmark, put_result, target};
use crate::cypher::open::{OpenTransactions, Taken};
use crate::cypher::{Transaction, audited, bookmarks, check_commit, of_element};
use crate::json::JsonWriter;
use crate::request::RequestContext;
use crate::respond::{ContentType, HandlerResult, Response};
use crate::rights;
use crate::route::{Handler, Parameter, Route, Scope, Undeclared};
use crate::wire::time::instant_text;

const TIMES: &[Parameter] = &[Parameter::text("as_of"), Parameter::text("as_of_tx")];

const fn route(undeclared: Undeclared) -> Route {
    undeclared
        .queries(Scope::Graph)
        .needs(rights::RUN_STATEMENTS)
        .of("cypher", "QueryAPI")
        .neo4j()
}

pub(in crate::cypher) const BEGIN: Route = route(Route::post(
    "db/{graph}/query/v2/tx",
    Handler::Pooled(begin),
))
.with(TIMES);

pub(in crate::cypher) const RUN: Route = route(Route::post(
    "db/{graph}/query/v2/tx/{transaction}",
    Handler::Pooled(run),
))
.with(TIMES);

pub(in crate::cypher) const COMMIT: Route = route(Route::post(
    "db/{graph}/query/v2/tx/{transaction}/commit",
    Handler::Pooled(commit),
))
.with(TIMES);

pub(in crate::cypher) const ROLL_BACK: Route = route(Route::delete(
    "db/{graph}/query/v2/tx/{transaction}",
    Handler::Pooled(roll_back),
));

/// A transaction that the request in work uses. It is rolled back unless it is kept.
struct Used<'c> {
    context: &'c RequestContext,
    id: String,
    taken: Option<Taken>,
}

impl<'c> Used<'c> {
    /// The transaction that the path names.
    fn named(context: &'c RequestContext) -> Result<Self, Failure> {
        let id = context.path_parameter("transaction").to_owned();
        let own = (&*id, context.graph_name());
        let taken = all(context).take(own, context.identity())?;
        Ok(Self {
            context,
            id,
            taken: Some(taken),
        })
    }

    /// Gives it back for further requests.
    fn keep(mut self) {
        if let Some(taken) = self.taken.take() {
            all(self.context).keep(&self.id, taken);
        }
    }

    /// Runs the request's statement, if it has one, and writes its result.
    fn run(&mut self, asked: &Asked, typed: bool, json: &mut JsonWriter) -> Result<(), Failure> {
        let (Some(_), Some(taken)) = (&asked.body.statement, &mut self.taken) else {
            return Ok(());
        };
        let session = &self.context.session;
        let target = target(self.context)?;
        let scope = match asked.scope {
            TemporalScope::NOW => taken.scope,
            named => named,
        };
        let statement = asked.statement((session, target), scope, taken.is_read)?;
        statement.check_within()?;
        let mut work = taken.own.work(session, &statement.target)?;
        let mut values = Values::new(typed, self.context.state().config().max_answer_bytes);
        let ran = audited(self.context, &statement, || {
            statement.run_in(session, work.as_mut(), &mut values)
        });
        let ran = ran.map_err(|failure| failure.of(session))?;
        taken.own.keep(work);
        let result = (&statement, values, ran);
        put_result(result, asked.body.include_counters, json);
        Ok(())
    }

    /// The members of the answer that name the transaction.
    fn put(&self, json: &mut JsonWriter) {
        let left = i64::try_from(all(self.context).left(&self.id).as_micros());
        let expires = SystemClock.now().plus_micros(left.unwrap_or(i64::MAX));
        json.key("transaction").begin_object();
        json.key("id").string(&self.id);
        json.key("expires")
            .string(&instant_text(expires).unwrap_or_default());
        json.end_object();
    }
}

impl Drop for Used<'_> {
    fn drop(&mut self) {
        if self.taken.is_some() {
            all(self.context).remove(&self.id);
        }
    }
}

fn all(context: &RequestContext) -> &OpenTransactions {
    context.state().feature()
}

fn begin(context: &RequestContext) -> HandlerResult {
    answered(context, |context, typed| {
        let asked = Asked::of(context)?;
        target(context)?.wait(&asked.body.bookmarks, &context.session)?;
        let limits = &context.state().database().transactions;
        let own = Transaction::begin(limits)?;
        let id = all(context).add(context.graph_name(), context.identity(), limits)?;
        let (is_read, scope) = (asked.is_read(), asked.scope);
        let mut used = Used {
            context,
            id,
            taken: Some(Taken {
                own,
                is_read,
                scope,
            }),
        };
        used_once(&asked, typed, &mut used).inspect(|_| used.keep())
    })
}

fn run(context: &RequestContext) -> HandlerResult {
    answered(context, |context, typed| {
        let asked = Asked::of(context)?;
        let mut used = Used::named(context)?;
        used_once(&asked, typed, &mut used).inspect(|_| used.keep())
    })
}

fn used_once(asked: &Asked, typed: bool, used: &mut Used<'_>) -> Result<Vec<u8>, Failure> {
    let mut json = JsonWriter::with_capacity(256);
    json.begin_object();
    used.run(asked, typed, &mut json)?;
    used.put(&mut json);
    json.end_object();
    Ok(json.finish())
}

fn commit(context: &RequestContext) -> HandlerResult {
    answered(context, |context, typed| {
        let asked = Asked::of(context)?;
        let mut used = Used::named(context)?;
        let mut json = JsonWriter::with_capacity(256);
        json.begin_object();
        used.run(&asked, typed, &mut json)?;
        all(context).remove(&used.id);
        let taken = used.taken.take();
        let work = taken.map(|taken| taken.own.into_work()).transpose()?;
        let session = &context.session;
        let bookmark = match work.flatten() {
            Some(mut work) if work.is_changed() => {
                check_commit(&mut work, session)?;
                let version = work.commit().map_err(|error| of_element(error.into()))?;
                bookmarks::of(&work.graph, version)
            }
            _ => target(context)?.bookmark(None),
        };
        put_bookmark(&bookmark, &mut json);
        json.end_object();
        Ok(json.finish())
    })
}

fn roll_back(context: &RequestContext) -> HandlerResult {
    let answer = answered(context, |context, _| {
        Used::named(context)?;
        Ok(b"{}".to_vec())
    })?;
    match answer.status() {
        StatusCode::ACCEPTED => Ok(Response::ok("{}").content_type(ContentType::JsonBare)),
        _ => Ok(answer),
    }
}
