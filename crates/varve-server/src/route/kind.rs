//! What a route declares about its requests: verb, scope, action, budget, types of bodies, query
//! parameters.

use varve_session::Action;

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

/// The scope of a route, and its action there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// The part of the server.
    pub scope: Scope,
    /// The action.
    pub action: Action,
}

/// The types of bodies that a resource accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consumes {
    /// `application/json`; another type, or none, is 415.
    Json,
    /// `text/plain` as well as JSON.
    JsonOrText,
    /// Any type, or none: the body is stored as it is.
    Bytes,
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
