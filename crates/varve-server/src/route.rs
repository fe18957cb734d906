//! What a resource is: verb, pattern, handler, and what `/apis`, admission and negotiation must know of it.

use std::future::Future;
use std::pin::Pin;

use crate::errors::{ApiError, HandlerResult};
use crate::request::RequestContext;
use crate::state::AppState;

/// The future of an [`Handler::Async`] handler. It stays on its core, so it need not be `Send`.
pub type HandlerFuture = Pin<Box<dyn Future<Output = HandlerResult>>>;

/// How a handler runs.
#[derive(Debug, Clone, Copy)]
pub enum Handler {
    /// In place, on the connection's core: for work of some microseconds that never waits.
    Inline(fn(&RequestContext) -> HandlerResult),
    /// On the pool for long work: for scans and anything that may block.
    Pooled(fn(&RequestContext) -> HandlerResult),
    /// In place if that does little, else from the start on the pool: for what is mostly short but has no bound, such as
    /// the edges of a vertex.
    Brief {
        /// Gives up, with `None`, once there is more to do than can hold up a core.
        brief: fn(&RequestContext) -> Option<HandlerResult>,
        /// The same without a bound.
        full: fn(&RequestContext) -> HandlerResult,
    },
    /// On the connection's core, waiting without blocking it: for writes that wait for their commit, and for handlers
    /// that decide by the request's size (see [`crate::AppState::run_blocking`]).
    Async(fn(RequestContext) -> HandlerFuture),
}

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

/// Which budget a request draws from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Never held back: small answers about the server itself, which must work under overload too.
    Control,
    /// The reads' budget.
    Read,
    /// The writes' budget.
    Write,
}

/// Which request bodies a resource takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consumes {
    /// `application/json`; another type, or none, is 415.
    Json,
    /// `text/plain` besides.
    JsonOrText,
}

/// A query parameter, as `/apis` lists it.
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Its Java type, as the original lists it: `java.lang.String`, `long`, `boolean`, …
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

/// How a resource of another contract than HugeGraph's tells of what went wrong before or beside its handler: limits,
/// panics, full queues.
#[derive(Debug, Clone, Copy)]
pub struct Refusal {
    /// What the contract calls the resource.
    pub method: &'static str,
    /// The body that goes with status 200, as JSON.
    pub encode: fn(&AppState, &'static str, &ApiError) -> Vec<u8>,
}

/// One resource and verb.
#[derive(Debug)]
pub struct Route {
    /// The verb.
    pub verb: Verb,
    /// Segments without a leading slash, parameters in braces: `graphs/{graph}/graph/vertices/{id}`. What begins with
    /// `graphs` or `auth` answers below `/graphspaces/DEFAULT/` too.
    pub pattern: &'static str,
    /// The code.
    pub handler: Handler,
    /// The group in `/apis`, e.g. `graph`.
    pub category: &'static str,
    /// The class in `/apis`, e.g. `VertexAPI`.
    pub api: &'static str,
    /// The query parameters that it takes, as `/apis` lists them.
    pub parameters: &'static [Parameter],
    /// The budget.
    pub class: Class,
    /// The bodies taken.
    pub consumes: Consumes,
    /// Whether query parameters that are not in `parameters` are ignored. Elsewhere they are 400.
    pub any_query: bool,
    /// Whether the body limit is the one for batches.
    pub batch: bool,
    /// Whether its work may take as long as `graph_change_timeout_ms` says.
    pub lengthy: bool,
    /// Whether answers are compressed for clients that accept it.
    pub gzip: bool,
    /// Whether answers may be `text/plain`.
    pub text: bool,
    /// How failures are told, where that is not HugeGraph's way. Such a route is not HugeGraph's, and not in `/apis`.
    pub refusal: Option<Refusal>,
}

impl Route {
    /// A route with the usual properties: GET reads, the rest writes, JSON both ways, no compression.
    pub const fn new(verb: Verb, pattern: &'static str, handler: Handler) -> Self {
        let class = if matches!(verb, Verb::Get) {
            Class::Read
        } else {
            Class::Write
        };
        Self {
            verb,
            pattern,
            handler,
            category: "resources",
            api: "ResourceAPI",
            parameters: &[],
            class,
            consumes: Consumes::Json,
            any_query: false,
            batch: false,
            lengthy: false,
            gzip: false,
            text: false,
            refusal: None,
        }
    }

    /// A GET route.
    pub const fn get(pattern: &'static str, handler: Handler) -> Self {
        Self::new(Verb::Get, pattern, handler)
    }

    /// A POST route.
    pub const fn post(pattern: &'static str, handler: Handler) -> Self {
        Self::new(Verb::Post, pattern, handler)
    }

    /// A PUT route.
    pub const fn put(pattern: &'static str, handler: Handler) -> Self {
        Self::new(Verb::Put, pattern, handler)
    }

    /// A DELETE route.
    pub const fn delete(pattern: &'static str, handler: Handler) -> Self {
        Self::new(Verb::Delete, pattern, handler)
    }

    /// Sets category and class for `/apis`.
    #[must_use]
    pub const fn of(mut self, category: &'static str, api: &'static str) -> Self {
        self.category = category;
        self.api = api;
        self
    }

    /// Sets the query parameters. Others are 400.
    #[must_use]
    pub const fn with(mut self, parameters: &'static [Parameter]) -> Self {
        self.parameters = parameters;
        self
    }

    /// Sets the budget: a POST that only reads (traversers) says [`Class::Read`].
    #[must_use]
    pub const fn class(mut self, class: Class) -> Self {
        self.class = class;
        self
    }

    /// Takes `text/plain` bodies besides JSON.
    #[must_use]
    pub const fn text_body(mut self) -> Self {
        self.consumes = Consumes::JsonOrText;
        self
    }

    /// Ignores query parameters that it does not know, but for misspelt times.
    #[must_use]
    pub const fn any_query(mut self) -> Self {
        self.any_query = true;
        self
    }

    /// Takes bodies up to the batch limit.
    #[must_use]
    pub const fn batch(mut self) -> Self {
        self.batch = true;
        self
    }

    /// Has the longer time limit, as it makes or removes what keeps a whole graph, or looks at all that it keeps.
    #[must_use]
    pub const fn lengthy(mut self) -> Self {
        self.lengthy = true;
        self
    }

    /// Compresses answers for clients that accept it.
    #[must_use]
    pub const fn gzip(mut self) -> Self {
        self.gzip = true;
        self
    }

    /// May answer `text/plain`.
    #[must_use]
    pub const fn text(mut self) -> Self {
        self.text = true;
        self
    }

    /// Tells of failures in another way than HugeGraph's.
    #[must_use]
    pub const fn refusing(mut self, refusal: Refusal) -> Self {
        self.refusal = Some(refusal);
        self
    }

    /// The names of the pattern's parameters, in order.
    pub fn parameter_names(&self) -> impl Iterator<Item = &'static str> {
        self.pattern
            .split('/')
            .filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
    }
}
