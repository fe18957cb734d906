//! Queries of a connection, and their records.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::io::AsyncWrite;
use varve_bolt::request::{Extra, Fetch};
use varve_bolt::{Map, Response, Value, Version};
use varve_graph::registry::{GRAPH_NAME_BYTES_MAX, GraphLocation, ServedGraph};
use varve_session::budget::running::{Listing, Shown};
use varve_session::budget::users::UserTurn;
use varve_session::place::still_leads;
use varve_session::work::Work;
use varve_session::{Action, Class, Failure, Session};
use varve_view::ErrorKind;

use super::desk::{Desk, text};
use super::outbox::{FLUSH_BYTES, Outbox};
use super::rows::{Batch, Feed, Outcome, Rows};
use super::statement::Statement;
use super::values::Renderer;

/// Rows that are read at once.
const BATCH: usize = 256;

impl Desk {
    /// Begins a query.
    pub(super) fn run(&mut self, query: &str, extra: &Extra) -> Result<Map, Failure> {
        let open = self.transaction.as_ref();
        let (named, time_max) = match open {
            Some(open) => (&open.graph, open.time_max),
            None => (&extra.db, extra.tx_timeout),
        };
        let default = &self.worker.state.config().bolt.default_graph;
        let graph = named.clone().unwrap_or_else(|| default.clone());
        let is_name = graph.len() <= GRAPH_NAME_BYTES_MAX;
        let begun = match is_name {
            true => self.begin(query, &graph, (extra, time_max)),
            false => Err(Failure::new(
                ErrorKind::NotFound,
                "No graph has so long a name",
            )),
        };
        let shown = is_name.then_some(graph.as_str());
        self.audit("RUN", None, (shown, Action::Read), &begun);
        let (rows, fields) = begun?;
        self.rows = Some((rows, graph));
        let fields = fields.into_iter().map(Value::from).collect();
        let mut answer = vec![("fields".to_owned(), fields)];
        if let Some(number) = self.number() {
            answer.push(("qid".to_owned(), Value::Int(number)));
        }
        Ok(answer)
    }

    /// The number of the last query in its transaction; `None` outside a transaction.
    fn number(&self) -> Option<i64> {
        let last = self.transaction.as_ref()?.queries.checked_sub(1)?;
        i64::try_from(last).ok()
    }

    /// # Errors
    /// When the client may not run it, or not now.
    fn begin(
        &mut self,
        query: &str,
        graph: &str,
        (extra, time_max): (&Extra, Option<Duration>),
    ) -> Result<(Rows, Vec<String>), Failure> {
        self.renew_identity()?;
        self.check_impersonation(extra.imp_user.as_deref())?;
        let database = Arc::clone(self.database());
        let user_turn = database.user_limits.enter(&self.identity)?;
        if self.rows.is_some() {
            let message = "A transaction has one open result: take or discard its records first";
            return Err(Failure::new(ErrorKind::NotSupported, message));
        }
        let limit = database.options.time_max;
        // 0 is no limit of the client's.
        let own = time_max.filter(|own| !own.is_zero());
        let limit = own.map_or(limit, |own| own.min(limit));
        let handle = Arc::clone(&self.worker.database);
        let until = (Instant::now() + limit, limit);
        let session = Session::new(handle, self.identity.clone(), until);
        session.decide(Action::Read, graph)?;
        let statement = Statement::read(query)
            .ok_or_else(|| Failure::new(ErrorKind::NotSupported, "Cypher is not supported yet"))?;
        if let GraphLocation::There(leader) = database.graphs.place(graph) {
            let message = format!("Graph '{graph}' is led by the server at {}", leader.address);
            return Err(Failure::new(ErrorKind::Elsewhere, message));
        }
        let served = session.served(graph)?;
        let access = session.access_to(&served);
        let kept = match &mut self.transaction {
            Some(open) => open.take(&served.graph)?,
            None => None,
        };
        let work = match kept {
            Some(mut work) => {
                work.admit(access)?;
                work
            }
            None => {
                let own = (Arc::clone(&served.graph), access);
                // A transaction reads one state.
                Work::new(own, self.transaction.is_some(), &database.transactions)
            }
        };
        let fields = statement.fields.clone();
        let running = RunningQuery {
            session,
            work,
            statement,
            served,
            version: self.version,
            _user_turn: user_turn,
        };
        Ok((running.start(query), fields))
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
        if !sends && fetch.n.is_none() {
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
        let outcome = rows.outcome();
        let database = text("db", graph.as_str());
        self.rows = None;
        let Some(Outcome { done, work }) = outcome else {
            return Ok(Ok(Map::new()));
        };
        if let Some(transaction) = &mut self.transaction {
            transaction.work = work;
        }
        Ok(match done {
            // The client did not want the rest.
            Err(failure) if sends || failure.kind != ErrorKind::Cancelled => Err(failure),
            _ => Ok(vec![text("type", "r"), database]),
        })
    }
}

/// A query that runs on the pool.
struct RunningQuery {
    session: Session,
    work: Work,
    statement: Statement,
    served: Arc<ServedGraph>,
    version: Version,
    _user_turn: Option<UserTurn>,
}

impl RunningQuery {
    /// Starts it on this thread's tasks. It ends with the rows.
    fn start(mut self, text: &str) -> Rows {
        let (mut rows, feed) = Rows::new();
        let listing = Listing {
            kind: "cypher",
            graph: Some(self.served.graph.name().to_owned()),
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
                Ok((done, work)) => Outcome {
                    done,
                    work: Some(work),
                },
                Err(failure) => Outcome {
                    done: Err(failure),
                    work: None,
                },
            });
        });
        rows.of(query.abort_handle());
        rows
    }

    /// Reads the graph and gives the records.
    fn read(&mut self, feed: &Feed) -> Result<(), Failure> {
        let meter = self.session.meter();
        let deadline = self.session.deadline;
        let renderer = Renderer {
            schema: &self.served.schema,
            version: self.version,
        };
        let mut batch = Batch::default();
        let prepared = self.statement.prepared();
        let ran = self.work.run(&prepared, &meter, |mut query| {
            while let Some(rows) = query.next(BATCH)? {
                query.fill(&rows)?;
                for (value, bulk) in &rows {
                    let record = Response::Record(vec![renderer.value(value)]);
                    for _ in 0..*bulk {
                        batch.add(&record, renderer.version)?;
                        if batch.bytes.len() >= FLUSH_BYTES {
                            feed.give(std::mem::take(&mut batch), deadline)?;
                        }
                    }
                }
                // A client gets what there is: the next rows may take long.
                if !batch.ends.is_empty() {
                    feed.give(std::mem::take(&mut batch), deadline)?;
                }
            }
            Ok(())
        });
        ran.map_err(|error| match feed.is_closed() {
            true => Failure::cancelled(),
            false => self.session.failed(error),
        })?;
        match still_leads(&self.served.graph) {
            true => Ok(()),
            // Another server may have written meanwhile.
            false => Err(Failure::new(
                ErrorKind::Elsewhere,
                "Another server leads the graph now",
            )),
        }
    }
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
