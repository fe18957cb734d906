//! Routes: verb, pattern and handler of a resource, and its properties for `/apis`, access,
//! admission and negotiation.

mod kind;

pub use kind::{Access, Consumes, Parameter, Scope, Verb};
pub use varve_session::{Action, Class};

use std::future::Future;
use std::pin::Pin;

use crate::errors::ApiError;
use crate::request::RequestContext;
use crate::respond::HandlerResult;
use crate::rights::Needs;
use crate::state::AppState;
use crate::upgrade::SocketHandler;

/// The future of an [`Handler::Async`] handler. It stays on its core, so it need not be `Send`.
pub type HandlerFuture = Pin<Box<dyn Future<Output = HandlerResult>>>;

/// How a handler runs.
#[derive(Debug, Clone, Copy)]
pub enum Handler {
    /// In place, on the connection's core: for work of some microseconds that never waits.
    Inline(fn(&RequestContext) -> HandlerResult),
    /// On the pool for long work: for scans and anything that may block.
    Pooled(fn(&RequestContext) -> HandlerResult),
    /// First in place with a bound; if that is exceeded, again from the start on the pool. For
    /// requests that are usually short but have no bound, such as the edges of a vertex.
    Brief {
        /// Returns `None` once the work exceeds what a core can do without delaying others.
        brief: fn(&RequestContext) -> Option<HandlerResult>,
        /// The same work without a bound.
        full: fn(&RequestContext) -> HandlerResult,
    },
    /// On the connection's core, waiting without blocking it: for writes that wait for their
    /// commit, and for handlers that decide by the request's size (see
    /// [`crate::AppState::run_blocking`]).
    Async(fn(Box<RequestContext>) -> HandlerFuture),
}

/// How a resource of another API than HugeGraph's reports errors that do not come from its handler:
/// limits, panics, full queues.
#[derive(Debug, Clone, Copy)]
pub struct Refusal {
    /// The name of the resource in that API.
    pub method: &'static str,
    /// Encodes an error as the JSON body of an answer with status 200.
    pub encode: fn(&AppState, &'static str, &ApiError) -> Vec<u8>,
}

/// One resource and verb.
#[derive(Debug)]
pub struct Route {
    /// The verb.
    pub verb: Verb,
    /// Segments without a leading slash, parameters in braces:
    /// `graphs/{graph}/graph/vertices/{id}`. Patterns that begin with `graphs` or `auth` are also
    /// served below `/graphspaces/DEFAULT/`.
    pub pattern: &'static str,
    /// The function that answers.
    pub handler: Handler,
    /// The scope and the action.
    pub access: Access,
    /// The rights that a client needs, where authentication is on.
    pub needs: Needs,
    /// Whether it changes neither the elements nor the schema of its graph, although its action is
    /// not a read. A read-only graph accepts it.
    pub keeps_content: bool,
    /// Whether it concerns users. Where several servers share a store, its requests are forwarded
    /// to the server that leads the users' directory.
    pub(crate) of_users: bool,
    /// Whether it is for graphs that cannot be opened, too.
    pub(crate) of_unopened: bool,
    /// Reads from the request the graph that it is for, if the path does not name it.
    pub(crate) graph_of_body: Option<fn(&RequestContext) -> Option<String>>,
    /// Whether a request is answered by a stream that ends only with its connection.
    pub(crate) is_stream: Option<fn(&RequestContext) -> bool>,
    /// Whether a server that follows the graph may answer it, as of a position of the leader.
    pub(crate) is_followed: bool,
    /// Whether it is answered before the graphs are open.
    pub without_graphs: bool,
    /// The group in `/apis`, e.g. `graph`.
    pub category: &'static str,
    /// The class in `/apis`, e.g. `VertexAPI`.
    pub api: &'static str,
    /// The query parameters that it takes, as `/apis` lists them.
    pub parameters: &'static [Parameter],
    /// The budget that a request draws from.
    pub class: Class,
    /// The types of bodies that it accepts.
    pub consumes: Consumes,
    /// Whether it also accepts and answers with the media types of TinkerPop's server, and accepts
    /// a body without a type.
    pub(crate) gremlin: bool,
    /// Whether it also accepts and answers with the media types of Neo4j's Query API.
    pub(crate) neo4j: bool,
    /// Whether query parameters that are not in `parameters` are ignored, and not answered 400.
    pub any_query: bool,
    /// Whether the body limit is the one for batches.
    pub batch: bool,
    /// Whether its time limit is `graph_change_timeout_ms`.
    pub lengthy: bool,
    /// Whether answers are compressed for clients that accept it.
    pub gzip: bool,
    /// Whether answers may be `text/plain`.
    pub text: bool,
    /// Whether it ignores `Accept`: its parameters choose the type, or a browser shows the answer.
    pub any_accept: bool,
    /// How errors are reported, if not in HugeGraph's form.
    pub refusal: Option<Refusal>,
    /// Serves the connection after its upgrade to a WebSocket.
    pub(crate) socket: Option<SocketHandler>,
}

/// A route whose access is not declared yet; tables accept only a [`Route`].
#[derive(Debug)]
pub struct Undeclared(Route);

impl Undeclared {
    /// Declares the scope and the action. Reads and queries draw from the budget of reads, all
    /// other actions from that of writes.
    #[must_use]
    pub const fn access(self, scope: Scope, action: Action) -> Route {
        let Self(mut route) = self;
        route.access = Access { scope, action };
        route.class = match action {
            Action::Read | Action::Query => Class::Read,
            Action::Write | Action::Schema | Action::Administer => Class::Write,
        };
        route
    }

    /// Declares that it reads.
    #[must_use]
    pub const fn reads(self, scope: Scope) -> Route {
        self.access(scope, Action::Read)
    }

    /// Declares that it changes elements, instances, variables or tasks.
    #[must_use]
    pub const fn writes(self, scope: Scope) -> Route {
        self.access(scope, Action::Write)
    }

    /// Declares that it changes a schema.
    #[must_use]
    pub const fn changes_schema(self, scope: Scope) -> Route {
        self.access(scope, Action::Schema)
    }

    /// Declares that it administers.
    #[must_use]
    pub const fn administers(self, scope: Scope) -> Route {
        self.access(scope, Action::Administer)
    }

    /// Declares that its body decides between reading and writing.
    #[must_use]
    pub const fn queries(self, scope: Scope) -> Route {
        self.access(scope, Action::Query)
    }
}

impl Route {
    /// A route with the usual properties: JSON both ways, no compression.
    #[expect(clippy::new_ret_no_self, reason = "its access must be declared first")]
    pub const fn new(verb: Verb, pattern: &'static str, handler: Handler) -> Undeclared {
        Undeclared(Self {
            verb,
            pattern,
            handler,
            access: Access {
                scope: Scope::Server,
                action: Action::Administer,
            },
            needs: Needs::Administrator,
            keeps_content: false,
            of_users: false,
            of_unopened: false,
            graph_of_body: None,
            is_stream: None,
            is_followed: false,
            without_graphs: false,
            category: "resources",
            api: "ResourceAPI",
            parameters: &[],
            class: Class::Write,
            consumes: Consumes::Json,
            gremlin: false,
            neo4j: false,
            any_query: false,
            batch: false,
            lengthy: false,
            gzip: false,
            text: false,
            any_accept: false,
            refusal: None,
            socket: None,
        })
    }

    /// A GET route.
    pub const fn get(pattern: &'static str, handler: Handler) -> Undeclared {
        Self::new(Verb::Get, pattern, handler)
    }

    /// A POST route.
    pub const fn post(pattern: &'static str, handler: Handler) -> Undeclared {
        Self::new(Verb::Post, pattern, handler)
    }

    /// A PUT route.
    pub const fn put(pattern: &'static str, handler: Handler) -> Undeclared {
        Self::new(Verb::Put, pattern, handler)
    }

    /// A DELETE route.
    pub const fn delete(pattern: &'static str, handler: Handler) -> Undeclared {
        Self::new(Verb::Delete, pattern, handler)
    }

    /// Sets category and class for `/apis`.
    #[must_use]
    pub const fn of(mut self, category: &'static str, api: &'static str) -> Self {
        self.category = category;
        self.api = api;
        self
    }

    /// Sets the query parameters. Others are answered 400.
    #[must_use]
    pub const fn with(mut self, parameters: &'static [Parameter]) -> Self {
        self.parameters = parameters;
        self
    }

    /// Declares the rights that a client needs; without this, only administrators may use the
    /// route.
    #[must_use]
    pub const fn needs(mut self, needs: Needs) -> Self {
        self.needs = needs;
        self
    }

    /// Sets another budget than that of its action.
    #[must_use]
    pub const fn class(mut self, class: Class) -> Self {
        self.class = class;
        self
    }

    /// Lets servers that follow the graph answer it. Its handlers reach the graph through the
    /// session only, and change nothing that a failed request would leave behind.
    #[must_use]
    pub(crate) const fn followed(mut self) -> Self {
        self.is_followed = true;
        self
    }

    /// Marks the route as concerning users.
    #[must_use]
    pub(crate) const fn of_users(mut self) -> Self {
        self.of_users = true;
        self
    }

    /// The route is for graphs that cannot be opened, too.
    pub(crate) const fn of_unopened(mut self) -> Self {
        self.of_unopened = true;
        self
    }

    /// Sets what reads the graph from the request, where the path does not name it.
    #[must_use]
    pub(crate) const fn graph_of_body(
        mut self,
        graph: fn(&RequestContext) -> Option<String>,
    ) -> Self {
        self.graph_of_body = Some(graph);
        self
    }

    /// Sets what decides whether a request is answered by a stream without an end.
    #[must_use]
    pub(crate) const fn streams(mut self, is_stream: fn(&RequestContext) -> bool) -> Self {
        self.is_stream = Some(is_stream);
        self
    }

    /// Marks the route as leaving elements and schema of its graph unchanged, although it is not a
    /// read.
    #[must_use]
    pub const fn keeps_content(mut self) -> Self {
        self.keeps_content = true;
        self
    }

    /// Marks the route as answered before the graphs are open.
    #[must_use]
    pub const fn without_graphs(mut self) -> Self {
        self.without_graphs = true;
        self
    }

    /// Takes `text/plain` bodies besides JSON.
    #[must_use]
    pub const fn text_body(mut self) -> Self {
        self.consumes = Consumes::JsonOrText;
        self
    }

    /// Takes bodies of any type.
    #[must_use]
    pub const fn bytes(mut self) -> Self {
        self.consumes = Consumes::Bytes;
        self
    }

    /// Also accepts and answers with the media types of TinkerPop's server.
    #[must_use]
    pub(crate) const fn gremlin(mut self) -> Self {
        self.gremlin = true;
        self
    }

    /// Also accepts and answers with the media types of Neo4j's Query API.
    #[must_use]
    pub(crate) const fn neo4j(mut self) -> Self {
        self.neo4j = true;
        self
    }

    /// Ignores unknown query parameters, except misspelt times.
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

    /// Sets the longer time limit, for routes that create, remove or read the whole store of a
    /// graph.
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

    /// Answers for any `Accept`.
    #[must_use]
    pub const fn any_accept(mut self) -> Self {
        self.any_accept = true;
        self
    }

    /// Reports errors in another form than HugeGraph's.
    #[must_use]
    pub const fn refusing(mut self, refusal: Refusal) -> Self {
        self.refusal = Some(refusal);
        self
    }

    /// Becomes a WebSocket where a client asks for one.
    #[must_use]
    pub(crate) const fn socket(mut self, handler: SocketHandler) -> Self {
        self.socket = Some(handler);
        self
    }

    /// The names of the pattern's parameters, in order.
    pub fn parameter_names(&self) -> impl Iterator<Item = &'static str> {
        self.pattern
            .split('/')
            .filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
    }
}
