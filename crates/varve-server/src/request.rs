//! The request as handlers see it.

use std::any::Any;
use std::cell::{OnceCell, RefCell};
use std::marker::PhantomData;
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode, Uri};
use serde::Deserialize;
use serde::de::{DeserializeOwned, DeserializeSeed};
use tokio::sync::OwnedSemaphorePermit;
use varve_graph::optimistic::PartCheck;
use varve_graph::read::View;
use varve_graph::registry::ServedGraph;
use varve_graph::{ErrorKind, Graph, GraphError};
use varve_model::TemporalScope;
use varve_session::audit::{self, Entry};
use varve_session::budget::admission::BodyShare;
use varve_session::budget::lanes::Turn;
use varve_session::{Identity, Session};
use varve_view::{AccessPolicy, CancelToken};

use crate::access;
use crate::errors::ApiError;
use crate::identity::ClientProof;
use crate::origin;
use crate::path;
use crate::route::{Action, Route};
use crate::router::{Captures, PathForm};
use crate::state::{AppState, WorkerHandle};
use crate::tls::ClientCertificate;

/// A request whose head was checked and whose body has arrived, decompressed.
#[derive(Debug)]
pub struct RequestContext {
    pub(crate) worker: Arc<WorkerHandle>,
    pub(crate) route: usize,
    pub(crate) captures: Captures,
    pub(crate) form: PathForm,
    pub(crate) method: Method,
    pub(crate) uri: Uri,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) query: OnceCell<Query>,
    /// The client and its work on the graphs.
    pub(crate) session: Session,
    /// Whether it came over HTTP/2.
    pub(crate) is_http2: bool,
    /// The certificate by which the client is authenticated; `None` if it is not, or otherwise.
    pub(crate) certificate: Option<Arc<ClientCertificate>>,
    /// The client's address.
    pub(crate) address: IpAddr,
    /// Receives the name of a login for the audit trail; `None` without one.
    pub(crate) login: Option<Arc<OnceLock<String>>>,
    /// The share of the budget that its received body takes.
    pub(crate) body_share: BodyShare,
    /// The share of the budget that its parsed body takes.
    pub(crate) work_share: Option<OwnedSemaphorePermit>,
    /// What a brief handler leaves to the full one.
    pub(crate) kept: RefCell<Option<Box<dyn Any + Send>>>,
}

impl RequestContext {
    /// A copy of the request with a new deadline.
    pub(crate) fn again(&self, deadline: Instant) -> Self {
        Self {
            worker: Arc::clone(&self.worker),
            route: self.route,
            captures: self.captures.clone(),
            form: self.form,
            method: self.method.clone(),
            uri: self.uri.clone(),
            headers: self.headers.clone(),
            body: self.body.clone(),
            query: OnceCell::new(),
            session: self.session.again(deadline),
            is_http2: self.is_http2,
            certificate: self.certificate.clone(),
            address: self.address,
            login: self.login.clone(),
            body_share: BodyShare::default(),
            work_share: None,
            kept: RefCell::default(),
        }
    }

    /// Keeps what a brief handler has made of the request, so that the full handler need not make
    /// it again.
    pub(crate) fn keep<T: Any + Send>(&self, made: T) {
        self.kept.replace(Some(Box::new(made)));
    }

    /// Takes what the brief handler kept; `None` if it has not run, or kept nothing.
    pub(crate) fn kept<T: Any>(&self) -> Option<T> {
        let made = self.kept.take()?.downcast::<T>().ok()?;
        Some(*made)
    }

    /// The server's state.
    pub fn state(&self) -> &AppState {
        &self.worker.state
    }

    /// The server's state, shared with other threads.
    pub fn shared_state(&self) -> Arc<AppState> {
        Arc::clone(&self.worker.state)
    }

    /// The client's identity.
    pub(crate) fn identity(&self) -> &Identity {
        self.session.identity()
    }

    /// The server's state and the client's identity.
    pub(crate) fn client(&self) -> (&AppState, &Identity) {
        (self.state(), self.identity())
    }

    /// Records the user name of a login for the audit trail.
    pub(crate) fn note_login(&self, name: &str) {
        if let Some(login) = &self.login {
            let _ = login.set(audit::login_name(name));
        }
    }

    /// Writes a line of the audit trail for a part of this request.
    pub(crate) fn audit(&self, action: Option<Action>, graph: Option<&str>, status: StatusCode) {
        let Some(audit) = self.state().audit() else {
            return;
        };
        audit.note(&Entry {
            user: self.identity().user().map(|user| user.name.as_str()),
            login: None,
            request: origin::request_id(&self.headers),
            address: self.address,
            method: self.method.as_str(),
            route: Some(self.route().pattern),
            action,
            graph,
            status: status.as_u16(),
        });
    }

    /// Identifies again the client of an open connection. 401 if its credentials are no longer
    /// valid, 403 if it may not use the route any more.
    pub(crate) fn renew_identity(&mut self) -> Result<(), ApiError> {
        access::check_address(self.state(), self.route(), self.address)?;
        self.session.identity = self.proof().renewed(self.state(), self.identity())?;
        access::check_identity(
            self.state(),
            self.route(),
            self.identity(),
            self.graph_in_path(),
        )
    }

    /// Checks the client's rights again, for work in parts. 401 or 403 if the identity is no longer
    /// valid, or has lost rights since the request began.
    pub(crate) fn check_still_allowed(&self) -> Result<(), ApiError> {
        let graph = self.graph_in_path();
        still_allowed(
            self.state(),
            self.route(),
            (&self.proof(), self.identity()),
            graph,
        )
    }

    /// What the client has proved its identity with.
    fn proof(&self) -> ClientProof {
        ClientProof::of(&self.headers, self.certificate.as_ref())
    }

    /// The same as a function for other threads.
    pub(crate) fn still_allowed(&self) -> impl Fn() -> Result<(), ApiError> + Send + Sync + use<> {
        let (state, route) = (self.shared_state(), self.route());
        let (proof, identity) = (self.proof(), self.identity().clone());
        let graph = self.graph_in_path().map(str::to_owned);
        move || still_allowed(&state, route, (&proof, &identity), graph.as_deref())
    }

    /// A check that refuses further commits of one request once the client has lost rights since
    /// its begin.
    pub(crate) fn part_check(&self) -> PartCheck {
        let still_allowed = self.still_allowed();
        let denied = |error: ApiError| GraphError::new(ErrorKind::Denied, error.message());
        Arc::new(move || still_allowed().map_err(denied))
    }

    /// The route that was found.
    pub fn route(&self) -> &'static Route {
        self.worker.state.router().routes()[self.route]
    }

    /// The value of a parameter of the route's pattern, decoded. Empty if the pattern has no such
    /// parameter, which is a programming error.
    pub fn path_parameter(&self, name: &str) -> &str {
        let names = self.worker.state.router().parameter_names(self.route);
        let value = names
            .iter()
            .zip(&self.captures)
            .find(|(known, _)| **known == name);
        debug_assert!(
            value.is_some(),
            "{} has no {{{name}}}",
            self.route().pattern
        );
        value.map_or("", |(_, segment)| segment.text(self.uri.path()))
    }

    /// The name of the graph in the path; `None` if the pattern has no such parameter.
    pub(crate) fn graph_in_path(&self) -> Option<&str> {
        let names = self.worker.state.router().parameter_names(self.route);
        let named = names.first() == Some(&"graph");
        let name = self.captures.first().filter(|_| named)?;
        Some(name.text(self.uri.path()))
    }

    /// The name of the graph that the path names. Empty if the pattern has no such parameter, which
    /// is a programming error.
    pub fn graph_name(&self) -> &str {
        let name = self.graph_in_path();
        debug_assert!(name.is_some(), "{} has no {{graph}}", self.route().pattern);
        name.unwrap_or_default()
    }

    /// The graph that the path names; 404 if there is none.
    pub fn graph(&self) -> Result<Arc<Graph>, ApiError> {
        Ok(Arc::clone(&self.served()?.graph))
    }

    /// The graph that the path names and its current schema; 404 if there is none. Cheaper than
    /// [`RequestContext::graph`].
    pub(crate) fn served(&self) -> Result<Arc<ServedGraph>, ApiError> {
        Ok(self.session.served(self.graph_name())?)
    }

    /// Whether the path began with `/graphspaces/DEFAULT/`.
    pub fn path_form(&self) -> PathForm {
        self.form
    }

    /// The query parameters, parsed at the first call. 400 if they cannot be decoded.
    pub fn query(&self) -> Result<&Query, ApiError> {
        if let Some(query) = self.query.get() {
            return Ok(query);
        }
        let query = Query::parse(self.uri.query().unwrap_or(""))?;
        Ok(self.query.get_or_init(|| query))
    }

    /// The verb.
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// Path and query as they were sent.
    pub fn uri(&self) -> &Uri {
        &self.uri
    }

    /// The headers.
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// The body, decompressed; empty if there was none.
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    /// The body as JSON, which may borrow from it. 400 as text if it has another shape.
    pub fn json<'a, T: Deserialize<'a>>(&'a self) -> Result<T, ApiError> {
        self.json_seed(PhantomData)
    }

    /// The body as JSON, which must be an object: serde would accept an array, too. An empty body
    /// or `null` is a 400 that says so, any other mistake a 400 as text.
    pub fn json_object<T: DeserializeOwned>(&self) -> Result<T, ApiError> {
        let mut bytes = self.body.iter();
        if bytes.find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[') {
            return Err(ApiError::malformed_json(
                "Cannot deserialize an object from Array value (token `JsonToken.START_ARRAY`)",
            ));
        }
        self.json::<Option<T>>()?
            .ok_or_else(|| ApiError::illegal_argument("The request body can't be empty"))
    }

    /// The body as JSON read by a seed, e.g. one that knows a graph's schema and so builds no tree.
    pub fn json_seed<'a, S: DeserializeSeed<'a>>(&'a self, seed: S) -> Result<S::Value, ApiError> {
        if self.body.is_empty() {
            return Err(ApiError::illegal_argument(
                "The request body can't be empty",
            ));
        }
        let mut deserializer = serde_json::Deserializer::from_slice(&self.body);
        let value = seed.deserialize(&mut deserializer)?;
        deserializer.end()?;
        Ok(value)
    }

    /// The instant after which the request is given up. Long work checks it regularly.
    pub fn deadline(&self) -> Instant {
        self.session.deadline
    }

    /// Whether the request's work has begun. A request without a turn gets a new one, which nobody
    /// else uses.
    pub(crate) fn turn(&self) -> Arc<Turn> {
        self.session.turn()
    }

    /// Sets the action of a query on this graph, after its handler has parsed it and before it
    /// changes anything. 403 if the client may not take it.
    pub fn decide(&self, action: Action, graph: &str) -> Result<(), ApiError> {
        debug_assert_eq!(self.route().access.action, Action::Query);
        Ok(self.session.decide(action, graph)?)
    }

    /// The client's policy for the elements of a graph; `None` = everything is allowed.
    pub(crate) fn access_to(&self, served: &ServedGraph) -> Option<Arc<AccessPolicy>> {
        self.session.access_to(served)
    }

    /// The client's view of a graph at a point of both times.
    pub(crate) fn view(
        &self,
        served: &ServedGraph,
        scope: TemporalScope,
    ) -> Result<View, GraphError> {
        self.session.view(served, scope)
    }

    /// The 503 for a request that was given up: a client has cancelled it, or its time is over.
    pub(crate) fn too_late(&self) -> ApiError {
        self.session.too_late().into()
    }

    /// The token that ends a long read once nobody waits for its answer.
    pub(crate) fn cancel_token(&self) -> CancelToken {
        self.session.cancel_token()
    }

    /// For loops in long work: lets short reads run first. 503 once the request's time is over or
    /// nobody waits for its answer.
    pub fn check_deadline(&self) -> Result<(), ApiError> {
        Ok(self.session.check_deadline()?)
    }
}

/// Checks whether a client that authenticated with these headers still has the rights that it had
/// then.
fn still_allowed(
    state: &AppState,
    route: &Route,
    (proof, before): (&ClientProof, &Identity),
    graph: Option<&str>,
) -> Result<(), ApiError> {
    let now = proof.renewed(state, before)?;
    access::check_identity(state, route, &now, graph)?;
    match before.user().zip(now.user()) {
        Some((before, now)) if !now.rights.contain(&before.rights) => {
            Err(ApiError::forbidden("User not authorized."))
        }
        _ => Ok(()),
    }
}

/// Decoded query parameters, in the order sent.
#[derive(Debug, Default)]
pub struct Query {
    pairs: Vec<(String, String)>,
}

impl Query {
    /// Parses the text after the `?`.
    pub fn parse(raw: &str) -> Result<Self, ApiError> {
        let mut pairs = Vec::new();
        for pair in raw.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let decode = |text| {
                path::decode(text, true)
                    .map_err(|error| ApiError::bad_request(format!("Malformed query: {error}")))
            };
            pairs.push((decode(name)?, decode(value)?));
        }
        Ok(Self { pairs })
    }

    /// The first value of a parameter; `Some("")` if it has no value.
    pub fn get(&self, name: &str) -> Option<&str> {
        let found = self.pairs.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// All parameters, in the order sent.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let each = self.pairs.iter();
        each.map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// All values of a parameter that may be repeated.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.pairs
            .iter()
            .filter(move |(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    /// A required value; 400 if it is missing.
    pub fn required(&self, name: &str) -> Result<&str, ApiError> {
        self.get(name)
            .filter(|value| !value.is_empty())
            .ok_or_else(|| {
                ApiError::illegal_argument(format!("The {name} parameter can't be null or empty"))
            })
    }

    /// An integer, or the default if it is absent or empty; 400 if the value is no integer
    /// (HugeGraph answers 404).
    pub fn integer(&self, name: &str, default: i64) -> Result<i64, ApiError> {
        Ok(self.optional_integer(name)?.unwrap_or(default))
    }

    /// An optional integer; 400 if the value is no integer.
    pub fn optional_integer(&self, name: &str) -> Result<Option<i64>, ApiError> {
        self.parsed(name, "an integer")
    }

    /// A number with a fraction, or the default; 400 if the value is no number.
    pub fn number(&self, name: &str, default: f64) -> Result<f64, ApiError> {
        Ok(self.parsed(name, "a number")?.unwrap_or(default))
    }

    /// `true` or `false` in any case, or the default; 400 for anything else.
    pub fn boolean(&self, name: &str, default: bool) -> Result<bool, ApiError> {
        match self.get(name) {
            None | Some("") => Ok(default),
            Some(text) if text.eq_ignore_ascii_case("true") => Ok(true),
            Some(text) if text.eq_ignore_ascii_case("false") => Ok(false),
            Some(text) => Err(bad_parameter(name, "true or false", text)),
        }
    }

    fn parsed<T: std::str::FromStr>(&self, name: &str, what: &str) -> Result<Option<T>, ApiError> {
        match self.get(name) {
            None | Some("") => Ok(None),
            Some(text) => text
                .trim()
                .parse()
                .map(Some)
                .map_err(|_| bad_parameter(name, what, text)),
        }
    }
}

fn bad_parameter(name: &str, what: &str, text: &str) -> ApiError {
    ApiError::illegal_argument(format!(
        "The {name} parameter must be {what}, but got '{text}'"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_decoded_and_typed() {
        let query = Query::parse("names=a&names=b%20c+d&limit=-1&page&flag=TRUE&bad=x").unwrap();
        assert_eq!(query.all("names").collect::<Vec<_>>(), ["a", "b c d"]);
        assert_eq!(query.get("page"), Some(""));
        assert_eq!(query.get("none"), None);
        assert_eq!(query.integer("limit", 100).unwrap(), -1);
        assert_eq!(query.integer("none", 100).unwrap(), 100);
        assert!(query.boolean("flag", false).unwrap());
        let error = query.integer("bad", 0).unwrap_err();
        assert_eq!(
            error.message(),
            "The bad parameter must be an integer, but got 'x'"
        );
        assert_eq!(error.status(), http::StatusCode::BAD_REQUEST);
        assert!(Query::parse("a=%f").is_err());
        assert!(query.required("page").is_err());
    }
}
