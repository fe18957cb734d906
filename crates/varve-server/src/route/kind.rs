//! What a route declares about its requests: verb, scope, action, budget, types of bodies, query
//! parameters.

/// The verbs that resources have. HEAD works where GET does, OPTIONS everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// GET
    Get,
    /// POST
    Post,
    /// PUT
    Put,
    /// DELETE
    Delete,
}

impl Verb {
    /// All verbs, in the order of the variants.
    pub const ALL: [Self; 4] = [Self::Get, Self::Post, Self::Put, Self::Delete];

    /// The verb's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Delete => "DELETE",
        }
    }
}

/// The part of the server that a request addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The server as a whole: versions, health, metrics, the list of graphs.
    Server,
    /// One graph. The path's first parameter, `{graph}`, names it; if there is none, the body does.
    Graph,
    /// The metadata repository.
    Metadata,
    /// `/admin`: backups and verification.
    Administration,
}

/// The action of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Reads, and changes nothing.
    Read,
    /// Changes elements, instances, variables or tasks.
    Write,
    /// Changes the schema of a graph or the types of the repository.
    Schema,
    /// Creates, clears, drops or configures graphs and repositories; administers users; changes the
    /// server's behaviour.
    Administer,
    /// Reads or writes, depending on the body. The handler decides once it has parsed the body:
    /// [`RequestContext::decide`].
    Query,
}

impl Action {
    /// Its name, as in the audit trail.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Schema => "schema",
            Self::Administer => "administer",
            Self::Query => "query",
        }
    }

    /// Whether a request changes something.
    pub const fn changes(self) -> bool {
        matches!(self, Self::Write | Self::Schema | Self::Administer)
    }

    /// Whether a request may change something.
    pub const fn may_change(self) -> bool {
        !matches!(self, Self::Read)
    }
}

/// The scope of a route, and its action there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// The part of the server.
    pub scope: Scope,
    /// The action.
    pub action: Action,
}

/// The budget from which a request draws.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// No budget: small answers about the server itself, which must work under overload too, and
    /// resources with limits of their own.
    Control,
    /// The reads' budget.
    Read,
    /// The writes' budget.
    Write,
}

/// The types of bodies that a resource accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consumes {
    /// `application/json`; another type, or none, is 415.
    Json,
    /// `text/plain` as well as JSON.
    JsonOrText,
}

/// A query parameter, as `/apis` lists it.
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Its Java type, as HugeGraph lists it: `java.lang.String`, `long`, `boolean`, …
    pub kind: &'static str,
    /// Its default, if it has one.
    pub default: Option<&'static str>,
}

impl Parameter {
    /// A text without default.
    pub const fn text(name: &'static str) -> Self {
        Self {
            name,
            kind: "java.lang.String",
            default: None,
        }
    }

    /// Any type and default.
    pub const fn new(name: &'static str, kind: &'static str, default: &'static str) -> Self {
        Self {
            name,
            kind,
            default: Some(default),
        }
    }
}
