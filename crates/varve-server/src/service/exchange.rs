//! From a request's head to its route and client, and from a result to the answer that is sent.

use std::net::IpAddr;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use bytes::Bytes;
use http::header::{self, HeaderValue};
use http::request::Parts;
use http::{HeaderMap, Method, StatusCode, Uri, Version};
use varve_auth::Principal;
use varve_session::audit::{self, Entry};
use varve_session::budget::admission::BodyShare;
use varve_session::budget::users::UserTurn;
use varve_session::{Identity, Session};

use super::{ConnectionService, Counted, HttpResponse};
use crate::access;
use crate::errors::ApiError;
use crate::global::wadl;
use crate::hugegraph::session;
use crate::identity::{self, Claimed};
use crate::negotiate;
use crate::origin;
use crate::parameters;
use crate::queries::Slow;
use crate::request::RequestContext;
use crate::respond::{HandlerResult, Response};
use crate::rights::Needs;
use crate::route::{Route, Scope};
use crate::router::{Captures, PathForm, RouteMatch};
use crate::runtime::ConnectionState;
use crate::state::{AppState, WorkerHandle};
use crate::tls::{ClientCertificate, Tls};
use crate::upgrade;

/// Answers up to this size are compressed in place; larger ones on the pool.
pub(super) const COMPRESS_INLINE_BYTES: usize = 128 * 1024;

/// Answers up to this size are not counted, except on HTTP/2, where one connection may have many.
const SMALL_ANSWER_BYTES: usize = 16 * 1024;

/// The route of a request, with the parameters and the form of its path.
pub(super) struct FoundRoute {
    pub(super) route: &'static Route,
    captures: Captures,
    form: PathForm,
}

impl FoundRoute {
    /// The first parameter in the path: the graph's name, if the route's scope is a graph.
    pub(super) fn graph<'a>(&'a self, uri: &'a Uri) -> Option<&'a str> {
        let first = self.captures.first();
        first.map(|segment| segment.text(uri.path()))
    }
}

/// The outcome of checking a request's head.
pub(super) enum Lookup {
    Found(FoundRoute, Claimed),
    /// The answer is known without a handler.
    Decided(Box<HandlerResult>),
}

/// The data needed to end and count a request.
pub(super) struct Exchange {
    started: Instant,
    version: Version,
    address: IpAddr,
    certificate: Option<Arc<ClientCertificate>>,
    /// The route's index, or the number of routes while none is found.
    route: usize,
    /// Whether a script of a page sent the request; checked only where authentication is on.
    is_script: bool,
    /// Whether the answer may be compressed.
    gzip: bool,
    /// Why the request will be refused once its client is known.
    pub(super) refused: Option<ApiError>,
    /// The audit trail's data about the request; `None` without an audit trail.
    who: Option<Box<Who>>,
    /// The client, where authentication is on.
    user: Option<Arc<Principal>>,
    /// The user's slot, where users have limits.
    pub(super) turn: Option<UserTurn>,
}

/// The client and the graph of a request, for the audit trail.
#[derive(Default)]
struct Who {
    user: Option<Arc<Principal>>,
    graph: Option<String>,
    request: Option<String>,
    /// The user name of a login.
    login: Arc<OnceLock<String>>,
    /// The status of an error that the answer reports with another status.
    refused: OnceLock<StatusCode>,
}

impl Exchange {
    pub(super) fn start(state: &AppState, parts: &Parts, connection: &ConnectionState) -> Self {
        Self {
            started: Instant::now(),
            version: parts.version,
            address: state.proxies.client(connection.address(), &parts.headers),
            certificate: connection.certificate().map(Arc::clone),
            route: state.router().routes().len(),
            is_script: state.auth().is_some() && origin::is_script(&parts.headers),
            gzip: false,
            refused: None,
            user: None,
            who: state.audit().map(|_| {
                Box::new(Who {
                    request: origin::request_id(&parts.headers).map(str::to_owned),
                    ..Who::default()
                })
            }),
            turn: None,
        }
    }

    /// Finds the route and checks the head.
    pub(super) fn find(
        &mut self,
        worker: &WorkerHandle,
        parts: &mut Parts,
        has_body: bool,
    ) -> Lookup {
        let state = &*worker.state;
        let found = state.router().find(&parts.method, parts.uri.path());
        let reads = match &found {
            Ok(RouteMatch::Route { index, .. }) => {
                let route = state.router().routes()[*index];
                !route.access.action.may_change()
            }
            _ => false,
        };
        session::admit(state, parts, reads);
        match found {
            Err(error) => {
                let client = (self.address, self.certificate.as_ref());
                let claimed = identity::claimed(state, &parts.headers, client);
                Lookup::Decided(Box::new(Err(claimed.err().unwrap_or(error))))
            }
            Ok(RouteMatch::Options { allow }) => {
                Lookup::Decided(Box::new(Ok(wadl(&parts.uri, &allow))))
            }
            Ok(RouteMatch::Route {
                index,
                captures,
                form,
            }) => {
                self.route = index;
                let route = state.router().routes()[index];
                self.gzip = route.gzip && negotiate::accepts_gzip(&parts.headers);
                let found = FoundRoute {
                    route,
                    captures,
                    form,
                };
                self.check(worker, parts, found, has_body)
            }
        }
    }

    /// Checks the head of a request whose route is found: its client first.
    fn check(
        &mut self,
        worker: &WorkerHandle,
        parts: &Parts,
        found: FoundRoute,
        has_body: bool,
    ) -> Lookup {
        let (state, route) = (&*worker.state, found.route);
        let graph = found.graph(&parts.uri);
        if let Err(error) = access::check_address(state, route, self.address) {
            return Lookup::Decided(Box::new(Err(error)));
        }
        let claimed = match self.claimed(state, parts, (route, graph)) {
            Ok(claimed) => claimed,
            Err(error) => {
                if self.who.as_ref().is_some_and(|who| who.user.is_none())
                    && let Some(name) = identity::name_in(&parts.headers)
                {
                    self.note_login(&name);
                }
                return Lookup::Decided(Box::new(Err(error)));
            }
        };
        let checked = access::check(state, worker.door, route, parts, graph)
            .and_then(|()| negotiate::check_types(route, &parts.headers, has_body))
            .and_then(|()| {
                let query = parts.uri.query();
                query.map_or(Ok(()), |query| parameters::check(route, query))
            });
        match checked {
            Ok(()) => Lookup::Found(found, claimed),
            // A client learns the reason only after its password has been checked.
            Err(error) if matches!(claimed, Claimed::Pending(_)) => {
                self.refused = Some(error);
                Lookup::Found(found, claimed)
            }
            Err(error) => Lookup::Decided(Box::new(Err(error))),
        }
    }

    /// Finds the client's identity, and its rights if that needs no password check. 401 or 403 if
    /// it is refused.
    fn claimed(
        &mut self,
        state: &AppState,
        parts: &Parts,
        (route, graph): (&Route, Option<&str>),
    ) -> Result<Claimed, ApiError> {
        let certificate = self.certificate.clone();
        let client = (self.address, certificate.as_ref());
        let says_later = route.socket.is_some()
            && upgrade::is_asked_for(parts)
            && !parts.headers.contains_key(header::AUTHORIZATION)
            && client
                .1
                .and_then(|own| identity::user_of(state, own))
                .is_none();
        if let (Some(who), Some(graph)) = (&mut self.who, graph) {
            let is_graph = route.access.scope == Scope::Graph;
            who.graph = is_graph.then(|| graph.to_owned());
        }
        let claimed = match route.needs {
            Needs::Nothing => Claimed::Known(identity::unsaid(state), None),
            _ if says_later => Claimed::Known(identity::unsaid(state), None),
            _ => identity::claimed(state, &parts.headers, client)?,
        };
        self.certificate = None;
        if let Claimed::Known(identity, certificate) = &claimed {
            self.certificate.clone_from(certificate);
            self.note(identity);
            if !says_later {
                access::check_identity(state, route, identity, graph)?;
            }
            self.turn = state.database().user_limits.enter(identity)?;
        }
        Ok(claimed)
    }

    /// Records the client's identity.
    pub(super) fn note(&mut self, identity: &Identity) {
        self.user = identity.user().map(Arc::clone);
        if let Some(who) = &mut self.who {
            who.user = identity.user().map(Arc::clone);
        }
    }

    /// Records the user name of a login.
    pub(super) fn note_login(&self, name: &str) {
        if let Some(who) = &self.who {
            let _ = who.login.set(audit::login_name(name));
        }
    }

    /// Writes the line of the audit trail.
    fn audit(&self, state: &AppState, method: &Method, status: StatusCode) {
        let (Some(audit), Some(who)) = (state.audit(), &self.who) else {
            return;
        };
        let route = state.router().routes().get(self.route).copied();
        audit.note(&Entry {
            user: who.user.as_ref().map(|user| user.name.as_str()),
            login: who.login.get().map(String::as_str),
            request: who.request.as_deref(),
            address: self.address,
            method: method.as_str(),
            route: route.map(|route| route.pattern),
            action: route.map(|route| route.access.action),
            graph: who.graph.as_deref(),
            status: who.refused.get().copied().unwrap_or(status).as_u16(),
        });
    }

    pub(super) fn context(
        &self,
        service: &ConnectionService,
        parts: Parts,
        found: FoundRoute,
        identity: Identity,
    ) -> RequestContext {
        let worker = &service.worker;
        let time_max = worker.state.time_limit(found.route);
        RequestContext {
            worker: Arc::clone(worker),
            route: self.route,
            captures: found.captures,
            form: found.form,
            method: parts.method,
            uri: parts.uri,
            headers: parts.headers,
            body: Bytes::new(),
            query: std::cell::OnceCell::new(),
            session: Session::new(
                Arc::clone(&worker.database),
                identity,
                (self.started + time_max, time_max),
            ),
            is_http2: self.version == Version::HTTP_2,
            certificate: self.certificate.clone(),
            address: self.address,
            login: self.who.as_ref().map(|who| Arc::clone(&who.login)),
            body_share: BodyShare::default(),
            work_share: None,
            kept: std::cell::RefCell::default(),
        }
    }

    pub(super) fn wants_gzip(&self, state: &AppState, response: &Response) -> bool {
        self.gzip
            && response.status.is_success()
            && !response.gzipped
            && !response.verbatim
            && !response.body.is_streamed()
            && response.body.len() >= state.config().gzip_min_bytes
    }

    async fn compress(&self, state: &AppState, response: Response) -> Response {
        if !self.wants_gzip(state, &response) {
            return response;
        }
        if response.body.len() <= COMPRESS_INLINE_BYTES {
            return compress_small(state, response);
        }
        compress_large(state, response).await
    }

    pub(super) fn render(&self, state: &AppState, uri: &Uri, result: HandlerResult) -> Response {
        result.unwrap_or_else(|error| {
            state.note_error(&error, uri);
            let refusal = state.router().routes().get(self.route);
            match refusal.and_then(|route| route.refusal) {
                // These are always reported by HTTP, whatever the API of the resource: they are
                // about the client, not about its request.
                Some(refusal)
                    if !matches!(
                        error.status(),
                        StatusCode::UNAUTHORIZED | StatusCode::TOO_MANY_REQUESTS
                    ) =>
                {
                    if let Some(who) = &self.who {
                        let _ = who.refused.set(error.status());
                    }
                    let body = (refusal.encode)(state, refusal.method, &error);
                    error.to_response(false).replaced_by(body)
                }
                _ => self.challenged(error.to_response(state.trace())),
            }
        })
    }

    /// For a 401 of a script, offers tokens: for `Basic`, browsers would show a window of their
    /// own.
    fn challenged(&self, response: Response) -> Response {
        match self.is_script && response.status() == StatusCode::UNAUTHORIZED {
            true => response.header(header::WWW_AUTHENTICATE, session::CHALLENGE),
            false => response,
        }
    }

    /// The answer with its share of the budget of answers, or a 503 in its place.
    fn counted(
        &self,
        worker: &WorkerHandle,
        connection: &Arc<ConnectionState>,
        uri: &Uri,
        mut response: Response,
    ) -> Response {
        let state = &*worker.state;
        let size = response.body.len();
        let is_small = size <= SMALL_ANSWER_BYTES && self.version != Version::HTTP_2;
        if size == 0 || (is_small && response.share.is_none()) {
            return response;
        }
        let is_write = || {
            let route = state.router().routes().get(self.route);
            route.is_some_and(|route| route.access.action.may_change())
        };
        let share = response.share.take();
        let mut share = share.unwrap_or_else(|| state.answers().share(is_write()));
        if !share.reach(size) {
            return self.render(state, uri, Err(state.too_many_answers()));
        }
        response
            .body
            .count_in(worker.underway.add(share, connection));
        response
    }

    /// Ends a request that did not end in place.
    pub(super) async fn end_later(
        &self,
        worker: &Arc<WorkerHandle>,
        counted: &Counted,
        line: (Method, Uri),
        result: HandlerResult,
    ) -> HttpResponse {
        let response = self.render(&worker.state, &line.1, result);
        let response = self.compress(&worker.state, response).await;
        let line = (&line.0, &line.1);
        self.end(
            worker,
            &counted.connection,
            line,
            response,
            HeaderMap::new(),
        )
    }

    /// Counts the request, logs it if it was slow, and passes the answer to the connection. The
    /// answer's headers reuse the memory of `headers`.
    pub(super) fn end(
        &self,
        worker: &Arc<WorkerHandle>,
        connection: &Arc<ConnectionState>,
        (method, uri): (&Method, &Uri),
        response: Response,
        headers: HeaderMap,
    ) -> HttpResponse {
        let response = self.counted(worker, connection, uri, response);
        response.body.sent_by(worker, connection);
        let elapsed = self.started.elapsed();
        let state = &*worker.state;
        self.audit(state, method, response.status);
        state
            .metrics()
            .record(worker.index, self.route, response.status, elapsed);
        let slow_ms = state.config().slow_request_ms;
        if slow_ms > 0 && elapsed.as_millis() >= u128::from(slow_ms) {
            let status = response.status;
            tracing::warn!(%method, %uri, %status, ms = elapsed.as_millis() as u64, "slow request");
            state.slow_requests().note(Slow {
                method: method.clone(),
                uri: uri.clone(),
                user: self.user.clone(),
                status,
                elapsed,
            });
        }
        let mut response = response.into_http(headers);
        protect(state, response.headers_mut());
        if self.version == Version::HTTP_2 {
            response.headers_mut().remove(header::CONNECTION);
        } else if state.is_stopping() || state.is_waiting() {
            // Clients of a waiting server reconnect: another server may serve the address by then.
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(header::CONNECTION, close);
        }
        response
    }
}

/// Where clients must authenticate, no cache may keep an answer that does not allow it, and no
/// browser may guess its type.
fn protect(state: &AppState, headers: &mut HeaderMap) {
    if state.auth().is_some() {
        for (name, value) in [
            (header::CACHE_CONTROL, "no-store"),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        ] {
            headers
                .entry(name)
                .or_insert(HeaderValue::from_static(value));
        }
    }
    if let Some(hsts) = state.tls().and_then(Tls::hsts) {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, hsts);
    }
}

pub(super) fn compress_small(state: &AppState, mut response: Response) -> Response {
    response.body = negotiate::gzip(&response.body, state.config().gzip_level).into();
    response.gzipped = true;
    response
}

pub(super) async fn compress_large(state: &AppState, mut response: Response) -> Response {
    let (plain, level) = (response.body.clone(), state.config().gzip_level);
    // When the pool is full the answer goes out uncompressed.
    if let Ok(packed) = state
        .run_blocking(move || negotiate::gzip(&plain, level))
        .await
    {
        response.body = packed.into();
        response.gzipped = true;
    }
    response
}
