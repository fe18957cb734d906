//! Answers the requests of one connection, in their order.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::io::AsyncWrite;
use varve_bolt::request::Route;
use varve_bolt::response::Failure as BoltFailure;
use varve_bolt::state::{Admission, State};
use varve_bolt::{BoltError, Map, Request, Response, Value, Version};
use varve_session::{Database, Failure, Identity};

use super::failure;
use super::outbox::Outbox;
use super::rows::Rows;
use super::transaction::Transaction;
use crate::cypher;
use crate::runtime::ConnectionState;
use crate::state::WorkerHandle;
use crate::version;

/// How long a client may use a routing table.
const ROUTES_SECONDS: i64 = 300;
/// The longest address in a routing table, in bytes.
const ADDRESS_BYTES_MAX: usize = 255;

/// What happens after an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    GoOn,
    Close,
}

/// The server's side of one connection.
pub(super) struct Desk {
    pub(super) worker: Arc<WorkerHandle>,
    pub(super) address: IpAddr,
    pub(super) version: Version,
    state: State,
    /// When the client was asked to log in.
    stranger_since: Instant,
    pub(super) identity: Identity,
    /// The token by which the client is authenticated.
    pub(super) token: Option<String>,
    pub(super) transaction: Option<Transaction>,
    /// The result whose records are asked for, and the graph that it was read from.
    pub(super) rows: Option<(Rows, String)>,
}

impl Desk {
    pub(super) fn new(
        worker: Arc<WorkerHandle>,
        connection: &ConnectionState,
        version: Version,
    ) -> Self {
        Self {
            address: connection.address(),
            identity: crate::identity::unsaid(&worker.state),
            worker,
            version,
            state: State::Negotiated,
            stranger_since: Instant::now(),
            token: None,
            transaction: None,
            rows: None,
        }
    }

    /// Whether the client has authenticated, or need not.
    pub(super) const fn is_known(&self) -> bool {
        !matches!(self.state, State::Negotiated | State::Authentication)
    }

    /// The time that is left for the login, or before an open transaction is too old; `None`
    /// without a limit.
    pub(super) fn time_left(&self) -> Option<Duration> {
        if !self.is_known() {
            let limit = self.database().options.time_max;
            return Some(limit.saturating_sub(self.stranger_since.elapsed()));
        }
        let open = self.transaction.as_ref()?;
        open.own.left(self.database().transactions.age_max)
    }

    /// What [`Desk::time_left`] has announced.
    pub(super) fn time_is_over(&mut self) -> Next {
        match &mut self.transaction {
            Some(transaction) if self.state != State::Authentication => {
                self.rows = None;
                transaction.own.end_late();
                Next::GoOn
            }
            _ => Next::Close,
        }
    }

    pub(super) fn database(&self) -> &Arc<Database> {
        self.worker.state.database()
    }

    /// Ends what runs: a RESET has arrived.
    pub(super) fn interrupt(&mut self) {
        self.rows = None;
        self.transaction = None;
        self.state = self.state.interrupted();
    }

    /// The answer to a request that an interrupt has ended, or that follows a failure.
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
        let failure = Response::Failure(BoltFailure::from(error));
        outbox.put(&failure, self.version)?;
        Ok(Next::Close)
    }

    /// Answers a request. Dropped before its end, it leaves the answer out.
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
        let done = match request {
            Request::Goodbye => {
                self.interrupt();
                return Ok(Next::Close);
            }
            Request::Pull(fetch) => self.fetch(fetch, (outbox, true)).await?,
            Request::Discard(fetch) => self.fetch(fetch, (outbox, false)).await?,
            other => self.carry_out(other).await,
        };
        let response = match done {
            Ok(metadata) => {
                let has_records = self.rows.is_some();
                self.state = self.state.after_success(kind, self.version, has_records);
                Response::Success(metadata)
            }
            Err(error) => {
                self.worker.state.note_failure(&error, "/bolt");
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
                Ok(greeting())
            }
            Request::Logon(authentication) => {
                self.log_in(authentication).await?;
                Ok(Map::new())
            }
            Request::Logoff => {
                self.identity = crate::identity::unsaid(&self.worker.state);
                self.token = None;
                self.stranger_since = Instant::now();
                Ok(Map::new())
            }
            Request::Run {
                query,
                parameters,
                extra,
            } => self.run(&query, &parameters, &extra).await,
            Request::Begin(extra) => {
                self.check_impersonation(extra.imp_user.as_deref())?;
                let own = cypher::Transaction::begin(&self.database().transactions)?;
                self.transaction = Some(Transaction {
                    extra,
                    queries: 0,
                    own,
                    followed: None,
                });
                Ok(Map::new())
            }
            Request::Commit => self.commit().await,
            Request::Rollback => {
                self.transaction = None;
                Ok(Map::new())
            }
            Request::Reset => {
                self.interrupt();
                Ok(Map::new())
            }
            Request::Route(route) => {
                self.check_impersonation(route.imp_user.as_deref())?;
                Ok(routing_table(&route))
            }
            Request::Telemetry { .. }
            | Request::Goodbye
            | Request::Pull(_)
            | Request::Discard(_) => Ok(Map::new()),
        }
    }
}

/// What the server says about itself. Drivers of Java want a name that begins so.
fn greeting() -> Map {
    static CONNECTIONS: AtomicU64 = AtomicU64::new(0);
    let number = CONNECTIONS.fetch_add(1, Ordering::Relaxed);
    vec![
        text(
            "server",
            format!(
                "Neo4j/{} compatible (Varve {})",
                version::NEO4J,
                version::VERSION
            ),
        ),
        text("connection_id", format!("bolt-{number}")),
    ]
}

/// The table of a server that does all itself, at the address by which the client knows it.
fn routing_table(route: &Route) -> Map {
    let mut sent = route.routing.iter();
    let address = sent.find_map(|(name, value)| match value {
        Value::String(address) if name == "address" && address.len() <= ADDRESS_BYTES_MAX => {
            Some(address.as_str())
        }
        _ => None,
    });
    let server = |role: &str| {
        let addresses = address.into_iter().map(Value::from).collect();
        Value::Map(vec![
            text("role", role),
            ("addresses".to_owned(), addresses),
        ])
    };
    let servers = ["ROUTE", "READ", "WRITE"].map(server);
    let mut table = vec![
        ("ttl".to_owned(), Value::Int(ROUTES_SECONDS)),
        ("servers".to_owned(), servers.into_iter().collect()),
    ];
    if let Some(graph) = &route.db {
        table.push(text("db", graph.as_str()));
    }
    vec![("rt".to_owned(), Value::Map(table))]
}

pub(super) fn text(name: &str, value: impl Into<String>) -> (String, Value) {
    (name.to_owned(), Value::String(value.into()))
}
