//! Queries of a connection, and their records.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::io::AsyncWrite;
use varve_bolt::request::{AccessMode, Extra, Fetch};
use varve_bolt::{Map, Value, Version};
use varve_graph::Standing;
use varve_graph::registry::{GRAPH_NAME_BYTES_MAX, GraphLocation, ServedGraph};
use varve_model::TemporalScope;
use varve_session::budget::running::{Listing, Shown};
use varve_session::budget::users::UserTurn;
use varve_session::work::Work;
use varve_session::{Action, Class, Failure, Session};
use varve_view::ErrorKind;

use super::desk::{Desk, text};
use super::outbox::{FLUSH_BYTES, Outbox};
use super::records::Records;
use super::rows::{Feed, Outcome, Rows};
use super::values;
use crate::cypher::{
    Ran, Statement, Target, bookmarks, check_commit, of_element, read_only, summary,
};
use crate::sharing;
use crate::system_database::is_system;
use crate::wire::time::scope_of;

impl Desk {
    /// Begins a query.
    pub(super) async fn run(
        &mut self,
        query: &str,
        parameters: &Map,
        extra: &Extra,
    ) -> Result<Map, Failure> {
        // Within a transaction, BEGIN has said all.
        let open = self.transaction.as_ref();
        let extra = open.map_or_else(|| extra.clone(), |open| open.extra.clone());
        let graph = self.graph_of(&extra);
        let is_name = graph.len() <= GRAPH_NAME_BYTES_MAX;
        let (mut action, mut database) = (Action::Read, None);
        let told = (&mut action, &mut database);
        let begun = match is_name {
            true => {
                let statement = (query, parameters);
                self.begin(statement, &graph, &extra, told).await
            }
            false => Err(Failure::new(
                ErrorKind::NotFound,
                "No graph has so long a name",
            )),
        };
        let shown = database.as_deref().unwrap_or(&graph);
        self.audit("RUN", None, (is_name.then_some(shown), action), &begun);
        let (rows, fields) = begun?;
        self.rows = Some((rows, graph));
        let fields = fields.into_iter().map(Value::from).collect();
        let mut answer = vec![
            ("fields".to_owned(), fields),
            ("t_first".to_owned(), Value::Int(0)),
        ];
        if let Some(number) = self.number() {
            answer.push(("qid".to_owned(), Value::Int(number)));
        }
        Ok(answer)
    }

    /// The graph that a client names, or the server's default.
    fn graph_of(&self, extra: &Extra) -> String {
        let default = &self.worker.state.config().bolt.default_graph;
        extra.db.clone().unwrap_or_else(|| default.clone())
    }

    /// The number of the last query in its transaction; `None` outside a transaction.
    fn number(&self) -> Option<i64> {
        let last = self.transaction.as_ref()?.queries.checked_sub(1)?;
        i64::try_from(last).ok()
    }

    /// The session of a query or of a commit, with the client's time limit.
    fn session(&self, time_max: Option<Duration>) -> Session {
        let limit = self.database().options.time_max;
        // 0 is no limit of the client's.
        let own = time_max.filter(|own| !own.is_zero());
        let limit = own.map_or(limit, |own| own.min(limit));
        let handle = Arc::clone(&self.worker.database);
        let until = (Instant::now() + limit, limit);
        Session::new(handle, self.identity.clone(), until)
    }

    /// Begins a statement, and tells what it does and the graph that it makes or drops.
    ///
    /// # Errors
    /// When the client may not run it, or not now.
    async fn begin(
        &mut self,
        (query, parameters): (&str, &Map),
        graph: &str,
        extra: &Extra,
        (action, database_named): (&mut Action, &mut Option<String>),
    ) -> Result<(Rows, Vec<String>), Failure> {
        self.renew_identity()?;
        self.check_impersonation(extra.imp_user.as_deref())?;
        let database = Arc::clone(self.database());
        let user_turn = database.user_limits.enter(&self.identity)?;
        if self.rows.is_some() {
            let message = "A transaction has one open result: take or discard its records first";
            return Err(Failure::new(ErrorKind::NotSupported, message));
        }
        let mut session = self.session(extra.tx_timeout);
        if !is_system(&database, graph) {
            session.decide(Action::Read, graph)?;
        }
        if let Some(followed) = self.followed(graph, extra).await? {
            session = session.on_followed(followed);
        }
        let default = &self.worker.state.config().bolt.default_graph;
        let target = Target::find(&session, graph, default)?;
        let parameters = values::parameters(parameters)?;
        let statement = Statement::new(query, (&session, target), parameters, scope(extra)?);
        let mut statement = statement.map_err(|failure| failure.of(&session))?;
        statement.check = Some(self.part_check(graph));
        if statement.action() != Action::Read {
            *action = statement.action();
            *database_named = statement.database();
            if extra.mode == AccessMode::Read {
                return Err(read_only());
            }
        }
        statement.admit(&session)?;
        let work = match &mut self.transaction {
            Some(open) => {
                statement.check_within()?;
                open.queries += 1;
                open.own.work(&session, &statement.target)?
            }
            None => None,
        };
        let fields = statement.prepared.columns.clone();
        let running = RunningQuery {
            session,
            work,
            is_alone: self.transaction.is_none(),
            statement,
            version: self.version,
            bookmarks: extra.bookmarks.clone(),
            begun: Instant::now(),
            _user_turn: user_turn,
        };
        Ok((running.start(query), fields))
    }

    /// The graph to read, if another server leads it. A client that only reads may read it here,
    /// as of a state that has the commits of its bookmarks.
    ///
    /// # Errors
    /// [`ErrorKind::Elsewhere`] if the leader must answer.
    async fn followed(
        &mut self,
        graph: &str,
        extra: &Extra,
    ) -> Result<Option<Arc<ServedGraph>>, Failure> {
        let of_transaction = self.transaction.as_ref();
        if let Some(followed) = of_transaction.and_then(|open| open.followed.clone()) {
            return Ok(Some(followed));
        }
        let GraphLocation::There(leader) = self.database().graphs.place(graph) else {
            return Ok(None);
        };
        let version = bookmarks::newest(graph, &extra.bookmarks)?;
        let followed = match extra.mode {
            AccessMode::Read => sharing::followed(&self.worker.state, graph, version).await,
            AccessMode::Write => None,
        };
        let followed = followed.ok_or_else(|| {
            let message = format!("Graph '{graph}' is led by the server at {}", leader.address);
            Failure::new(ErrorKind::Elsewhere, message)
        })?;
        if let Some(open) = &mut self.transaction {
            open.followed = Some(Arc::clone(&followed));
        }
        Ok(Some(followed))
    }

    /// Commits the transaction.
    pub(super) async fn commit(&mut self) -> Result<Map, Failure> {
        let Some(transaction) = self.transaction.take() else {
            return Ok(Map::new());
        };
        let extra = transaction.extra.clone();
        let Some(mut work) = transaction.own.into_work()? else {
            return Ok(Map::new());
        };
        let mut session = self.session(extra.tx_timeout);
        if !work.is_changed() {
            return Ok(vec![text("bookmark", bookmarks::of(&work.graph, None))]);
        }
        self.renew_identity()?;
        session.identity = self.identity.clone();
        check_commit(&mut work, &session)?;
        let database = Arc::clone(self.database());
        let task = session.begin(&database, (Class::Write, Action::Write), None);
        let committed = task.on_pool(move || work.commit().map(|version| (work, version)));
        let (work, version) = committed.await?.map_err(|error| of_element(error.into()))?;
        Ok(vec![text("bookmark", bookmarks::of(&work.graph, version))])
    }

    /// Sends records, or drops them.
    pub(super) async fn fetch(
        &mut self,
        fetch: Fetch,
        (outbox, sends): (&mut Outbox<impl AsyncWrite>, bool),
    ) -> io::Result<Result<Map, Failure>> {
        let asked = fetch.qid.and_then(|qid| i64::try_from(qid).ok());
        if fetch.qid.is_some() && asked != self.number() {
            let message = "A transaction has one open result, that of its last query";
            return Ok(Err(Failure::new(ErrorKind::NotSupported, message)));
        }
        let Some((rows, graph)) = &mut self.rows else {
            return Ok(Ok(Map::new()));
        };
        let mut left = fetch.n.unwrap_or(u64::MAX);
        if !sends && fetch.n.is_none() && rows.may_end_early {
            rows.discard().await;
        } else {
            while left > 0 && rows.has_more().await {
                let (bytes, count) = rows.take(left);
                left -= count;
                if !sends {
                    continue;
                }
                outbox.bytes().unsplit(bytes);
                if outbox.bytes().len() >= FLUSH_BYTES {
                    outbox.flush().await?;
                }
            }
            if rows.has_more().await {
                return Ok(Ok(vec![("has_more".to_owned(), Value::Bool(true))]));
            }
        }
        let (outcome, may_end_early) = (rows.outcome(), rows.may_end_early);
        let database = text("db", graph.as_str());
        self.rows = None;
        let Some(Outcome { done, work }) = outcome else {
            return Ok(Ok(Map::new()));
        };
        if let Some(transaction) = &mut self.transaction {
            transaction.own.keep(work);
        }
        Ok(match done {
            Ok(mut metadata) => {
                metadata.push(database);
                Ok(metadata)
            }
            // The client did not want the rest of a query that only reads.
            Err(failure) if !sends && may_end_early && failure.kind == ErrorKind::Cancelled => {
                Ok(vec![text("type", "r"), database])
            }
            Err(failure) => Err(failure),
        })
    }
}

/// The point of both times that the metadata of a transaction names.
fn scope(extra: &Extra) -> Result<TemporalScope, Failure> {
    let named = |name: &str| {
        let mut entries = extra.tx_metadata.iter();
        match entries.find(|(key, _)| key == name) {
            None => Ok(None),
            Some((_, Value::String(text))) => Ok(Some(text.clone())),
            Some((_, Value::Int(number))) => Ok(Some(number.to_string())),
            Some((_, other)) => Err(Failure::new(
                ErrorKind::InvalidArgument,
                format!(
                    "tx_metadata.{name} is a text or a number, but got {}",
                    other.type_name()
                ),
            )),
        }
    };
    let (valid, system) = (named("as_of")?, named("as_of_tx")?);
    scope_of(valid.as_deref(), system.as_deref())
        .map_err(|error| Failure::new(ErrorKind::InvalidArgument, error.message().to_owned()))
}

/// A query that runs on the pool.
struct RunningQuery {
    session: Session,
    /// The work of its transaction; `None` without one, and without a graph.
    work: Option<Work>,
    /// Whether it is a transaction of its own.
    is_alone: bool,
    statement: Statement,
    version: Version,
    bookmarks: Vec<String>,
    begun: Instant,
    _user_turn: Option<UserTurn>,
}

impl RunningQuery {
    /// Starts it on this thread's tasks. It ends with the rows.
    fn start(mut self, text: &str) -> Rows {
        let (mut rows, feed) = Rows::new();
        // A query that writes is carried out, whoever wants its records.
        rows.may_end_early = self.statement.action() == Action::Read;
        let listing = Listing {
            kind: "cypher",
            graph: Some(self.statement.target.name().to_owned()),
            tag: None,
            shown: Box::new(Text(text.to_owned())),
        };
        let query = tokio::task::spawn_local(async move {
            let database = Arc::clone(self.session.database());
            let kind = (Class::Read, Action::Query);
            let task = self.session.begin(&database, kind, Some(listing));
            let given = feed.clone();
            let done = task.on_pool(move || {
                let done = self.read(&given);
                (done, self.work)
            });
            feed.end(match done.await {
                Ok((done, work)) => Outcome { done, work },
                Err(failure) => Outcome {
                    done: Err(failure),
                    work: None,
                },
            });
        });
        rows.of(query.abort_handle());
        rows
    }

    /// Runs the query and gives the records. Returns the metadata of its end.
    fn read(&mut self, feed: &Feed) -> Result<Map, Failure> {
        let session = &self.session;
        self.statement.target.wait(&self.bookmarks, session)?;
        let action = self.statement.action();
        let writes = action != Action::Read;
        if writes {
            self.statement.admit(session)?;
        }
        let mut records = Records::new(feed, self.version, session.deadline);
        let followed = self.statement.target.followed();
        let is_followed = followed.is_some();
        // What another commit may undo is not sent before the own commit, and what is read of a
        // followed graph not before it is known to be of one state.
        records.is_kept = (self.is_alone && writes) || followed.is_some();
        let ran = self
            .statement
            .run_in(session, self.work.as_mut(), &mut records);
        let standing = followed.map_or(Standing::Holds, |graph| graph.ask_standing());
        let refused = |kind, message| Err(Failure::new(kind, message));
        match standing {
            Standing::Holds => {}
            Standing::Passed => {
                let message = "The state that was read has passed: try again";
                return refused(ErrorKind::Busy, message);
            }
            Standing::NeedsLeader => {
                let message = "Only the graph's leader can answer this";
                return refused(ErrorKind::Elsewhere, message);
            }
        }
        let ran = ran.and_then(|ran| match records.end() {
            Ok(()) => Ok(ran),
            Err(failure) if ran.version.is_some() => Err(after_commit(&failure.of(session)).into()),
            Err(failure) => Err(failure),
        });
        let ran = ran.map_err(|failure| match feed.is_closed() && !writes {
            true => Failure::cancelled(),
            false => failure.of(session),
        });
        let ran = ran.map_err(|failure| match failure.kind {
            // The leader may have cleared or dropped the graph meanwhile.
            ErrorKind::Storage | ErrorKind::Internal if is_followed => Failure::new(
                ErrorKind::Busy,
                "The state that was read has passed: try again",
            ),
            _ => failure,
        })?;
        Ok(self.metadata(&ran))
    }

    fn metadata(&self, ran: &Ran) -> Map {
        let milliseconds = self.begun.elapsed().as_millis();
        let milliseconds = i64::try_from(milliseconds).unwrap_or(i64::MAX);
        let mut metadata = vec![
            text("type", self.statement.prepared.kind().text()),
            ("t_last".to_owned(), Value::Int(milliseconds)),
        ];
        metadata.extend(summary::metadata(&ran.summary));
        if self.is_alone {
            let bookmark = self.statement.target.bookmark(ran.version);
            metadata.push(text("bookmark", bookmark));
        }
        metadata
    }
}

/// The failure of a query that is committed, whose client did not get all records: it must not be
/// sent again.
fn after_commit(failure: &Failure) -> Failure {
    let message = format!(
        "The query is committed, but its records are lost: {}",
        failure.message
    );
    Failure::new(ErrorKind::OutcomeUnknown, message)
}

/// The text of a query, for the list of running work.
#[derive(Debug)]
struct Text(String);

impl Shown for Text {
    fn method(&self) -> &'static str {
        "RUN"
    }

    fn path(&self) -> &'static str {
        ""
    }

    fn text(&self) -> Option<String> {
        Some(self.0.clone())
    }
}
