//! Answers the requests of one connection.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::io::AsyncWrite;
use varve_auth::Proof;
use varve_bolt::request::{Authentication, Extra, Fetch, Route};
use varve_bolt::response::Failure as BoltFailure;
use varve_bolt::state::{Admission, State};
use varve_bolt::{BoltError, Map, Request, Response, Version};
use varve_graph::registry::GraphLocation;
use varve_session::audit::{Entry, login_name, status_of};
use varve_session::budget::running::{Listing, Shown};
use varve_session::work::Work;
use varve_session::{Action, Class, Database, Failure, Identity, Session};
use varve_view::ErrorKind;

use super::failure;
use super::outbox::{FLUSH_BYTES, Outbox};
use super::rows::{Batch, Feed, Rows};
use super::statement::Statement;
use super::values::Renderer;
use crate::runtime::ConnectionState;
use crate::state::WorkerHandle;

/// How long a client may use a routing table.
const ROUTES_SECONDS: i64 = 300;
/// Records of one batch.
const BATCH: usize = 256;

/// What happens after an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    GoOn,
    Close,
}

/// A transaction that the client has begun.
struct Transaction {
    graph: Option<String>,
    /// Its work between its queries; `None` before the first one.
    work: Option<Work>,
}

/// The client's side of one connection.
pub(super) struct Desk {
    worker: Arc<WorkerHandle>,
    address: IpAddr,
    version: Version,
    state: State,
    began: Instant,
    identity: Identity,
    /// The token by which the client is authenticated.
    token: Option<String>,
    transaction: Option<Transaction>,
    /// The result whose records are asked for, and the graph that it was read from.
    rows: Option<(Rows, String)>,
}

impl Desk {
    pub(super) fn new(
        worker: Arc<WorkerHandle>,
        connection: &ConnectionState,
        version: Version,
    ) -> Self {
        let identity = match worker.state.auth() {
            Some(_) => Identity::Unknown,
            None => Identity::Anybody,
        };
        Self {
            address: connection.address(),
            worker,
            version,
            state: State::Negotiated,
            began: Instant::now(),
            identity,
            token: None,
            transaction: None,
            rows: None,
        }
    }

    pub(super) const fn version(&self) -> Version {
        self.version
    }

    /// Whether the client has authenticated, or need not.
    pub(super) const fn is_known(&self) -> bool {
        !matches!(self.state, State::Negotiated | State::Authentication)
    }

    /// The time that is left for the login; `None` after it.
    pub(super) fn login_left(&self) -> Option<Duration> {
        let limit = self.database().options.time_max;
        (!self.is_known()).then(|| limit.saturating_sub(self.began.elapsed()))
    }

    fn database(&self) -> &Arc<Database> {
        self.worker.state.database()
    }

    /// Ends what runs: a RESET has arrived.
    pub(super) fn interrupt(&mut self) {
        self.rows = None;
        self.transaction = None;
        self.state = self.state.interrupted();
    }

    /// The answer to a request that an interrupt has ended.
    pub(super) fn ignored(&self, outbox: &mut Outbox<impl AsyncWrite>) -> io::Result<Next> {
        outbox.put(&Response::Ignored, self.version)?;
        Ok(Next::GoOn)
    }

    /// The answer to a message that is no request.
    pub(super) fn refuse(
        &mut self,
        error: &BoltError,
        outbox: &mut Outbox<impl AsyncWrite>,
    ) -> io::Result<Next> {
        self.state = State::Defunct;
        outbox.put(&Response::Failure(BoltFailure::from(error)), self.version)?;
        Ok(Next::Close)
    }

    /// Answers a request. Dropped, it leaves the answer out.
    pub(super) async fn answer(
        &mut self,
        request: Request,
        outbox: &mut Outbox<impl AsyncWrite>,
    ) -> io::Result<Next> {
        let kind = request.kind();
        match self.state.admit(kind) {
            Err(error) => return self.refuse(&error, outbox),
            Ok(Admission::Ignored) => return self.ignored(outbox),
            Ok(Admission::Allowed) => {}
        }
        if matches!(request, Request::Goodbye) {
            self.interrupt();
            return Ok(Next::Close);
        }
        let done = match request {
            Request::Pull(fetch) => self.pull(fetch, outbox).await?,
            other => self.carry_out(other).await,
        };
        let response = match done {
            Ok(metadata) => {
                let has_records = self.rows.is_some();
                self.state = self.state.after_success(kind, self.version, has_records);
                Response::Success(metadata)
            }
            Err(error) => {
                self.rows = None;
                self.transaction = None;
                self.state = self.state.after_failure(kind);
                Response::Failure(failure::of(&error))
            }
        };
        outbox.put(&response, self.version)?;
        Ok(match self.state {
            State::Defunct => Next::Close,
            _ => Next::GoOn,
        })
    }

    /// Carries out a request that has no records.
    async fn carry_out(&mut self, request: Request) -> Result<Map, Failure> {
        match request {
            Request::Hello(hello) => {
                if let Some(authentication) = hello.authentication {
                    self.log_in(authentication).await?;
                }
                let version = env!("CARGO_PKG_VERSION");
                Ok(vec![
                    text(
                        "server",
                        format!("Neo4j/5.26.0 compatible (Varve {version})"),
                    ),
                    text("connection_id", format!("bolt-{:p}", &raw const *self)),
                ])
            }
            Request::Logon(authentication) => {
                self.log_in(authentication).await?;
                Ok(Map::new())
            }
            Request::Logoff => {
                self.identity = match self.worker.state.auth() {
                    Some(_) => Identity::Unknown,
                    None => Identity::Anybody,
                };
                self.token = None;
                Ok(Map::new())
            }
            Request::Run { query, extra, .. } => self.run(&query, &extra),
            Request::Begin(extra) => {
                self.transaction = Some(Transaction {
                    graph: extra.db,
                    work: None,
                });
                Ok(Map::new())
            }
            Request::Commit => {
                let transaction = self.transaction.take();
                if let Some(mut work) = transaction.and_then(|transaction| transaction.work) {
                    work.commit()?;
                }
                Ok(Map::new())
            }
            Request::Rollback => {
                self.transaction = None;
                Ok(Map::new())
            }
            Request::Discard(_) => {
                // A transaction goes on with a new view of the graph.
                self.rows = None;
                Ok(Map::new())
            }
            Request::Reset => {
                self.interrupt();
                Ok(Map::new())
            }
            Request::Route(route) => Ok(routing_table(&route)),
            Request::Telemetry { .. } | Request::Goodbye | Request::Pull(_) => Ok(Map::new()),
        }
    }

    async fn log_in(&mut self, authentication: Authentication) -> Result<(), Failure> {
        let Some(auth) = self.worker.state.auth() else {
            return Ok(());
        };
        if !auth.permits(self.address) {
            let message = format!("Remote ip '{}' is not permitted", self.address);
            return Err(Failure::new(ErrorKind::Denied, message));
        }
        let (name, token, proof) = match authentication {
            Authentication::None => {
                let message = "This server needs a user name and a password, or a token";
                return Err(Failure::new(ErrorKind::Unauthenticated, message));
            }
            Authentication::Basic {
                principal,
                credentials,
            } => {
                let proof = Proof::Password {
                    user: principal.clone(),
                    password: credentials,
                };
                (Some(principal), None, proof)
            }
            Authentication::Bearer { credentials } => {
                (None, Some(credentials.clone()), Proof::Token(credentials))
            }
        };
        let entered = self.database().log_in(proof, self.address).await;
        let name = name.map(|name| login_name(&name));
        self.audit(
            "LOGON",
            name.as_deref(),
            (None, Action::Administer),
            &entered,
        );
        self.identity = entered?;
        self.token = token;
        Ok(())
    }

    /// Writes a line of the audit trail.
    fn audit<T>(
        &self,
        method: &str,
        login: Option<&str>,
        (graph, action): (Option<&str>, Action),
        done: &Result<T, Failure>,
    ) {
        let Some(audit) = self.worker.state.audit() else {
            return;
        };
        audit.note(&Entry {
            user: self.identity.user().map(|user| user.name.as_str()),
            login,
            request: None,
            address: self.address,
            method,
            route: Some("bolt"),
            action: Some(action),
            graph,
            status: done.as_ref().map_or_else(status_of, |_| 200),
        });
    }

    /// Begins a query.
    fn run(&mut self, query: &str, extra: &Extra) -> Result<Map, Failure> {
        let named = match &self.transaction {
            Some(transaction) => transaction.graph.clone(),
            None => extra.db.clone(),
        };
        let default = &self.worker.state.config().bolt.default_graph;
        let graph = named.unwrap_or_else(|| default.clone());
        let begun = self.begin(query, &graph, extra.tx_timeout);
        self.audit("RUN", None, (Some(&graph), Action::Read), &begun);
        let (rows, fields) = begun?;
        self.rows = Some((rows, graph));
        let fields = fields.into_iter().map(varve_bolt::Value::from).collect();
        Ok(vec![("fields".to_owned(), fields)])
    }

    fn begin(
        &mut self,
        query: &str,
        graph: &str,
        timeout: Option<Duration>,
    ) -> Result<(Rows, Vec<String>), Failure> {
        let database = Arc::clone(self.database());
        self.identity = database.renewed(&self.identity, self.token.as_deref())?;
        let user_turn = database.user_limits.enter(&self.identity)?;
        let statement = Statement::read(query)
            .ok_or_else(|| Failure::new(ErrorKind::NotSupported, "Cypher is not supported yet"))?;
        if let GraphLocation::There(leader) = database.graphs.place(graph) {
            let message = format!("Graph '{graph}' is led by the server at {}", leader.address);
            return Err(Failure::new(ErrorKind::Elsewhere, message));
        }
        let limit = database.options.time_max;
        let limit = timeout.map_or(limit, |timeout| timeout.min(limit));
        let handle = Arc::clone(&self.worker.database);
        let until = (Instant::now() + limit, limit);
        let mut session = Session::new(handle, self.identity.clone(), until);
        session.decide(Action::Read, graph)?;
        let served = session.served(graph)?;
        let access = session.access_to(&served);
        let kept = self.transaction.as_mut().and_then(|own| own.work.take());
        let mut work = match kept {
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
        let (rows, feed) = Rows::new();
        let (fields, version) = (statement.fields.clone(), self.version);
        let listing = Listing {
            kind: "cypher",
            graph: Some(graph.to_owned()),
            tag: None,
            shown: Box::new(Text(query.to_owned())),
        };
        tokio::task::spawn_local(async move {
            let task = session.begin(&database, (Class::Read, Action::Query), Some(listing));
            let given = feed.clone();
            let done = task.on_pool(move || {
                let renderer = Renderer {
                    schema: &served.schema,
                    version,
                };
                let read = read(&session, &mut work, &statement, renderer, &given);
                read.map(|()| work)
            });
            // A client that has gone closes the rows, and so ends the work.
            let done = done.await.and_then(|done| done);
            feed.end(done.map(Some));
            drop(user_turn);
        });
        Ok((rows, fields))
    }

    /// Sends records.
    async fn pull(
        &mut self,
        fetch: Fetch,
        outbox: &mut Outbox<impl AsyncWrite>,
    ) -> io::Result<Result<Map, Failure>> {
        let Some((rows, graph)) = &mut self.rows else {
            return Ok(Ok(Map::new()));
        };
        let mut left = fetch.n.unwrap_or(u64::MAX);
        while left > 0 && rows.has_more().await {
            let (bytes, count) = rows.take(left);
            left -= count;
            outbox.bytes().unsplit(bytes);
            if outbox.bytes().len() >= FLUSH_BYTES {
                outbox.flush().await?;
            }
        }
        if rows.has_more().await {
            let more = ("has_more".to_owned(), varve_bolt::Value::Bool(true));
            return Ok(Ok(vec![more]));
        }
        let outcome = rows.outcome();
        let database = text("db", graph.clone());
        self.rows = None;
        Ok(outcome.map(|work| {
            if let Some(transaction) = &mut self.transaction {
                transaction.work = work;
            }
            vec![text("type", "r".to_owned()), database]
        }))
    }
}

/// The table of a server that does all itself, at the address by which the client knows it.
fn routing_table(route: &Route) -> Map {
    let known = route.routing.iter().find(|(name, _)| name == "address");
    let address = known.map_or(varve_bolt::Value::Null, |(_, address)| address.clone());
    let server = |role: &str| {
        let addresses = varve_bolt::Value::List(vec![address.clone()]);
        let role = text("role", role.to_owned());
        varve_bolt::Value::Map(vec![role, ("addresses".to_owned(), addresses)])
    };
    let servers = ["ROUTE", "READ", "WRITE"].map(server);
    let mut table = vec![
        ("ttl".to_owned(), varve_bolt::Value::Int(ROUTES_SECONDS)),
        ("servers".to_owned(), servers.into_iter().collect()),
    ];
    if let Some(graph) = &route.db {
        table.push(text("db", graph.clone()));
    }
    vec![("rt".to_owned(), varve_bolt::Value::Map(table))]
}

/// Reads the graph and gives the records.
fn read(
    session: &Session,
    work: &mut Work,
    statement: &Statement,
    renderer: Renderer<'_>,
    feed: &Feed,
) -> Result<(), Failure> {
    let meter = session.meter();
    let mut batch = Batch::default();
    let ran = work.run(&statement.prepared(), &meter, |mut query| {
        while let Some(rows) = query.next(BATCH)? {
            query.fill(&rows)?;
            for (value, bulk) in &rows {
                let record = Response::Record(vec![renderer.value(value)]);
                for _ in 0..*bulk {
                    batch.add(&record, renderer.version)?;
                    if batch.bytes.len() >= FLUSH_BYTES {
                        feed.give(std::mem::take(&mut batch), session.deadline)?;
                    }
                }
            }
            // A client gets what there is: the next rows may take long.
            if !batch.ends.is_empty() {
                feed.give(std::mem::take(&mut batch), session.deadline)?;
            }
        }
        Ok(())
    });
    ran.map_err(|error| session.failed(error))
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

fn text(name: &str, value: String) -> (String, varve_bolt::Value) {
    (name.to_owned(), varve_bolt::Value::String(value))
}
