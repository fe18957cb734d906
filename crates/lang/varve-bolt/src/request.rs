//! The requests of clients.

mod entries;
mod kind;

use std::fmt;
use std::time::Duration;

use crate::error::{BoltError, Result, excerpt};
use crate::handshake::Version;
use crate::packstream::{self, Map, Value};
use entries::{Entries, strings, wrong};

pub use kind::Kind;

/// A request. Entries of its dictionaries that the crate does not know are ignored, as later
/// versions add some.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// Begins the connection.
    Hello(Hello),
    /// Authenticates. Since 5.1.
    Logon(Authentication),
    /// Ends the authentication; another LOGON follows. Since 5.1.
    Logoff,
    /// Ends the connection; it has no answer.
    Goodbye,
    /// Ends what runs, and returns to the state after the authentication.
    Reset,
    /// Runs a query.
    Run {
        /// The text of the query.
        query: String,
        /// The values of its parameters.
        parameters: Map,
        /// The options of its transaction; empty within BEGIN and COMMIT.
        extra: Extra,
    },
    /// Begins a transaction of several queries.
    Begin(Extra),
    /// Commits the transaction.
    Commit,
    /// Rolls the transaction back.
    Rollback,
    /// Drops records of a result.
    Discard(Fetch),
    /// Asks for records of a result.
    Pull(Fetch),
    /// Asks for the routing table.
    Route(Route),
    /// Says which interface of the driver the application uses. Since 5.4.
    Telemetry {
        /// 0: managed transaction, 1: explicit, 2: implicit, 3: `execute_query`.
        api: i64,
    },
}

/// What a client says about itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Hello {
    /// The application, as `name/version`.
    pub user_agent: String,
    /// The routing context, if the client uses the scheme `neo4j://`.
    pub routing: Option<Map>,
    /// The credentials, before 5.1. Later versions send them with LOGON.
    pub authentication: Option<Authentication>,
}

/// How a client authenticates. `Debug` hides the secrets.
#[derive(Clone, PartialEq, Eq)]
pub enum Authentication {
    /// It does not.
    None,
    /// By name and password.
    Basic {
        /// The name.
        principal: String,
        /// The password.
        credentials: String,
    },
    /// By a token.
    Bearer {
        /// The token.
        credentials: String,
    },
}

impl fmt::Debug for Authentication {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Authentication::None => formatter.write_str("None"),
            Authentication::Basic { principal, .. } => {
                write!(formatter, "Basic {{ principal: {principal:?}, .. }}")
            }
            Authentication::Bearer { .. } => formatter.write_str("Bearer { .. }"),
        }
    }
}

/// The options of a transaction.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Extra {
    /// What the transaction must see.
    pub bookmarks: Vec<String>,
    /// The limit of its time, which the client gives in milliseconds; `None` for the server's.
    pub tx_timeout: Option<Duration>,
    /// What the client adds for logs.
    pub tx_metadata: Map,
    /// Whether it may write.
    pub mode: AccessMode,
    /// The database; `None` for the server's default.
    pub db: Option<String>,
    /// The user on whose behalf it runs; `None` for the client's own.
    pub imp_user: Option<String>,
}

/// What a client says that its transaction does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AccessMode {
    /// It may write: `w`, or nothing.
    #[default]
    Write,
    /// It only reads: `r`.
    Read,
}

/// Which records PULL and DISCARD want.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fetch {
    /// How many, at least 1; `None` for all.
    pub n: Option<u64>,
    /// The number of the result; `None` for that of the last query.
    pub qid: Option<u64>,
}

/// Which routing table a client asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Route {
    /// The query of the client's URI, and its `address`.
    pub routing: Map,
    /// What the table must reflect.
    pub bookmarks: Vec<String>,
    /// The database; `None` for the user's default.
    pub db: Option<String>,
    /// The user on whose behalf the client asks.
    pub imp_user: Option<String>,
}

impl Request {
    /// Reads a message.
    ///
    /// # Errors
    /// If the message is not PackStream, the version has no such request, or a field is wrong.
    pub fn read(message: &[u8], version: Version) -> Result<Request> {
        let (tag, fields) = match packstream::read(message)? {
            Value::Structure { tag, fields } => (tag, fields),
            value => return Err(BoltError::NotAMessage(value.type_name())),
        };
        let known = Kind::of(tag, version);
        let kind = known.ok_or(BoltError::UnknownRequest { tag, version })?;
        Ok(match kind {
            Kind::Hello => Request::Hello(hello(dictionary(kind, fields)?, version)?),
            Kind::Logon => Request::Logon(authentication(&mut dictionary(kind, fields)?)?),
            Kind::Run => run(exactly(kind, fields)?)?,
            Kind::Begin => Request::Begin(transaction(dictionary(kind, fields)?)?),
            Kind::Discard => Request::Discard(fetch(dictionary(kind, fields)?)?),
            Kind::Pull => Request::Pull(fetch(dictionary(kind, fields)?)?),
            Kind::Route => Request::Route(route(exactly(kind, fields)?)?),
            Kind::Telemetry => match exactly(kind, fields)? {
                [Value::Int(api @ 0..=3)] => Request::Telemetry { api },
                [value] => return Err(wrong(kind, "api", "an Integer from 0 to 3", &value)),
            },
            Kind::Logoff => bare(kind, fields, Request::Logoff)?,
            Kind::Goodbye => bare(kind, fields, Request::Goodbye)?,
            Kind::Reset => bare(kind, fields, Request::Reset)?,
            Kind::Commit => bare(kind, fields, Request::Commit)?,
            Kind::Rollback => bare(kind, fields, Request::Rollback)?,
        })
    }

    /// Which request it is.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        match self {
            Request::Hello(_) => Kind::Hello,
            Request::Logon(_) => Kind::Logon,
            Request::Logoff => Kind::Logoff,
            Request::Goodbye => Kind::Goodbye,
            Request::Reset => Kind::Reset,
            Request::Run { .. } => Kind::Run,
            Request::Begin(_) => Kind::Begin,
            Request::Commit => Kind::Commit,
            Request::Rollback => Kind::Rollback,
            Request::Discard(_) => Kind::Discard,
            Request::Pull(_) => Kind::Pull,
            Request::Route(_) => Kind::Route,
            Request::Telemetry { .. } => Kind::Telemetry,
        }
    }
}

fn exactly<const N: usize>(request: Kind, fields: Vec<Value>) -> Result<[Value; N]> {
    fields
        .try_into()
        .map_err(|fields: Vec<Value>| BoltError::FieldCount {
            request,
            expected: N,
            found: fields.len(),
        })
}

fn bare(kind: Kind, fields: Vec<Value>, request: Request) -> Result<Request> {
    exactly(kind, fields).map(|[]| request)
}

/// The entries of the only field, which must be a dictionary.
fn dictionary(kind: Kind, fields: Vec<Value>) -> Result<Entries> {
    let [field] = exactly(kind, fields)?;
    let name = if kind == Kind::Logon { "auth" } else { "extra" };
    Entries::of(kind, name, field)
}

fn hello(mut extra: Entries, version: Version) -> Result<Hello> {
    let authentication = match version >= Version::V5_1 {
        true => None,
        false => Some(authentication(&mut extra)?),
    };
    Ok(Hello {
        user_agent: extra.required_string("user_agent")?,
        routing: extra.map("routing")?,
        authentication,
    })
}

fn authentication(auth: &mut Entries) -> Result<Authentication> {
    let scheme = auth.string("scheme")?;
    match scheme.as_deref() {
        None | Some("none") => Ok(Authentication::None),
        Some("basic") => Ok(Authentication::Basic {
            principal: auth.required_string("principal")?,
            credentials: auth.required_string("credentials")?,
        }),
        Some("bearer") => Ok(Authentication::Bearer {
            credentials: auth.required_string("credentials")?,
        }),
        Some(other) => Err(BoltError::UnknownScheme(excerpt(other))),
    }
}

fn run([query, parameters, extra]: [Value; 3]) -> Result<Request> {
    let Value::String(query) = query else {
        return Err(wrong(Kind::Run, "query", "a String", &query));
    };
    Ok(Request::Run {
        query,
        parameters: Entries::of(Kind::Run, "parameters", parameters)?.rest(),
        extra: transaction(Entries::of(Kind::Run, "extra", extra)?)?,
    })
}

fn transaction(mut extra: Entries) -> Result<Extra> {
    let tx_timeout = match extra.take("tx_timeout") {
        Value::Null => None,
        Value::Int(millis @ 0..) => Some(Duration::from_millis(millis.unsigned_abs())),
        value => return Err(extra.wrong("tx_timeout", "an Integer of at least 0", &value)),
    };
    let mode = match extra.take("mode") {
        Value::Null => AccessMode::Write,
        Value::String(mode) if mode == "w" => AccessMode::Write,
        Value::String(mode) if mode == "r" => AccessMode::Read,
        value => return Err(extra.wrong("mode", "the String r or w", &value)),
    };
    Ok(Extra {
        bookmarks: strings(extra.request, "bookmarks", extra.take("bookmarks"))?,
        tx_timeout,
        tx_metadata: extra.map("tx_metadata")?.unwrap_or_default(),
        mode,
        db: extra.non_empty("db")?,
        imp_user: extra.non_empty("imp_user")?,
    })
}

fn fetch(mut extra: Entries) -> Result<Fetch> {
    let n = match extra.take("n") {
        Value::Int(-1) => None,
        Value::Int(n @ 1..) => Some(n.unsigned_abs()),
        value => return Err(extra.wrong("n", "an Integer above 0, or -1", &value)),
    };
    let qid = match extra.take("qid") {
        Value::Null | Value::Int(-1) => None,
        Value::Int(qid @ 0..) => Some(qid.unsigned_abs()),
        value => return Err(extra.wrong("qid", "an Integer of at least -1", &value)),
    };
    Ok(Fetch { n, qid })
}

fn route([routing, bookmarks, extra]: [Value; 3]) -> Result<Route> {
    let mut extra = Entries::of(Kind::Route, "extra", extra)?;
    Ok(Route {
        routing: Entries::of(Kind::Route, "routing", routing)?.rest(),
        bookmarks: strings(Kind::Route, "bookmarks", bookmarks)?,
        db: extra.non_empty("db")?,
        imp_user: extra.non_empty("imp_user")?,
    })
}
