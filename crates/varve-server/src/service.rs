//! One request from head to answer: find the route, check, receive the body, run the handler
//! (`run`), compress, count.

mod run;

use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Instant;

use bytes::Bytes;
use http::header::{self, HeaderValue};
use http::request::Parts;
use http::{HeaderMap, Method, Request, StatusCode, Uri, Version};
use http_body::Body as _;
use hyper::body::Incoming;
use varve_auth::Principal;

use crate::access;
use crate::admission::{BodyShare, SMALL_BODY_BYTES};
use crate::audit::{self, Entry};
use crate::body;
use crate::errors::{ApiError, HandlerResult};
use crate::global::wadl;
use crate::identity::{self, Claimed, Identity, PendingLogin};
use crate::negotiate;
use crate::origin;
use crate::parameters;
use crate::queries::Slow;
use crate::request::RequestContext;
use crate::respond::{Body, Response};
use crate::rights::Needs;
use crate::route::{Handler, Route, Scope};
use crate::router::{Captures, Found, PathForm};
use crate::runtime::ConnectionState;
use crate::sharing;
use crate::state::{AppState, WorkerHandle};
use crate::tls::ClientCertificate;
use crate::upgrade::{self, Slot, SocketHandler, Upgrade};
use crate::user_limits::UserTurn;
pub(crate) use run::{run, run_work};
use run::{run_brief, run_inline, waits};

/// Answers up to this size are compressed in place; larger ones on the pool.
const COMPRESS_INLINE_BYTES: usize = 128 * 1024;

/// Answers up to this size are not counted, but for those of HTTP/2, of which one connection may
/// have many.
const SMALL_ANSWER_BYTES: usize = 16 * 1024;

type HttpResponse = http::Response<Body>;

/// The service of one connection.
#[derive(Debug, Clone)]
pub(crate) struct ConnectionService {
    pub(crate) worker: Arc<WorkerHandle>,
    pub(crate) connection: Arc<ConnectionState>,
    /// Where what serves the connection after HTTP is put.
    pub(crate) upgrade: Slot,
}

/// Either an answer that is there already, or one to wait for. Kept small: a connection holds room
/// for it.
pub(crate) enum ServiceFuture {
    Ready(Option<HttpResponse>),
    Waiting(Pin<Box<dyn Future<Output = HttpResponse>>>),
}

impl Future for ServiceFuture {
    type Output = Result<HttpResponse, std::convert::Infallible>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut *self {
            Self::Ready(response) => {
                let response = response
                    .take()
                    .expect("a future is not polled after it is ready");
                Poll::Ready(Ok(response))
            }
            Self::Waiting(future) => future.as_mut().poll(context).map(Ok),
        }
    }
}

impl hyper::service::Service<Request<Incoming>> for ConnectionService {
    type Response = HttpResponse;
    type Error = std::convert::Infallible;
    type Future = ServiceFuture;

    fn call(&self, request: Request<Incoming>) -> ServiceFuture {
        let (parts, body) = request.into_parts();
        let state = &*self.worker.state;
        let mut exchange = Exchange::start(state, &parts, &self.connection);
        self.connection.request_started();
        let has_body = !body.is_end_stream();
        let found = match origin::check(state.config(), &parts) {
            Ok(()) => exchange.find(&self.worker, &parts, has_body),
            Err(error) => Lookup::Decided(Box::new(Err(error))),
        };
        let (found, identity) = match found {
            Lookup::Found(found, Claimed::Known(identity)) => (found, identity),
            Lookup::Found(found, Claimed::Pending(login)) => {
                return self.log_in(exchange, parts, body, found, login);
            }
            Lookup::Decided(early) => {
                if has_body {
                    self.connection.linger();
                }
                let response = exchange.render(state, &parts.uri, *early);
                return self.answer_now(&exchange, (&parts.method, &parts.uri), response);
            }
        };
        let route = found.route;
        if let Some(handler) = route.socket
            && upgrade::is_asked_for(&parts)
        {
            let line = (parts.method.clone(), parts.uri.clone());
            let response = self.upgrade(&exchange, parts, found, (identity, handler));
            return self.answer_now(&exchange, (&line.0, &line.1), response);
        }
        let context = exchange.context(self, parts, found, identity);
        let in_place =
            !has_body && !waits(state, route) && sharing::graph_of(state, &context).is_none();
        if in_place && let Handler::Inline(handler) = route.handler {
            let result = run_inline(state, handler, &context);
            return self.end_inline(exchange, context, result);
        }
        if in_place
            && let Handler::Brief { brief, .. } = route.handler
            && let Some(result) = run_brief(state, brief, &context)
        {
            return self.end_inline(exchange, context, result);
        }
        let (worker, connection) = (Arc::clone(&self.worker), Arc::clone(&self.connection));
        ServiceFuture::Waiting(Box::pin(async move {
            let counted = Counted { connection };
            let line = (context.method.clone(), context.uri.clone());
            let result = work(&worker.state, &counted.connection, route, context, body).await;
            exchange.end_later(&worker, &counted, line, result).await
        }))
    }
}

impl ConnectionService {
    /// Answers what was done in place. The answer's headers take the room of the request's.
    fn end_inline(
        &self,
        exchange: Exchange,
        mut context: RequestContext,
        result: HandlerResult,
    ) -> ServiceFuture {
        let state = &*self.worker.state;
        let mut response = exchange.render(state, &context.uri, result);
        if exchange.wants_gzip(state, &response) {
            if response.body.len() > COMPRESS_INLINE_BYTES {
                let (worker, connection) = (Arc::clone(&self.worker), Arc::clone(&self.connection));
                return ServiceFuture::Waiting(Box::pin(async move {
                    let counted = Counted { connection };
                    let response = compress_large(&worker.state, response).await;
                    let line = (&context.method, &context.uri);
                    exchange.end(
                        &worker,
                        &counted.connection,
                        line,
                        response,
                        HeaderMap::new(),
                    )
                }));
            }
            response = compress_small(state, response);
        }
        let headers = std::mem::take(&mut context.headers);
        let line = (&context.method, &context.uri);
        let response = exchange.end(&self.worker, &self.connection, line, response, headers);
        self.connection.request_ended();
        ServiceFuture::Ready(Some(response))
    }

    /// Makes the connection of a client that asks for it a WebSocket.
    fn upgrade(
        &self,
        exchange: &Exchange,
        mut parts: Parts,
        found: FoundRoute,
        (identity, handler): (Identity, SocketHandler),
    ) -> Response {
        let uri = parts.uri.clone();
        let result = upgrade::accept(&mut parts).map(|(response, on)| {
            let context = exchange.context(self, parts, found, identity);
            *self.upgrade.borrow_mut() = Some(Box::new(Upgrade {
                on,
                context,
                handler,
            }));
            response
        });
        exchange.render(&self.worker.state, &uri, result)
    }

    /// Checks the password of a request, then does the request.
    fn log_in(
        &self,
        mut exchange: Exchange,
        parts: Parts,
        body: Incoming,
        found: FoundRoute,
        login: Box<PendingLogin>,
    ) -> ServiceFuture {
        let service = self.clone();
        ServiceFuture::Waiting(Box::pin(async move {
            let counted = Counted {
                connection: Arc::clone(&service.connection),
            };
            let (worker, route) = (&service.worker, found.route);
            exchange.note_login(login.user());
            let line = (parts.method.clone(), parts.uri.clone());
            let checked = login.finish(&worker.state).await;
            let refused = exchange.refused.take();
            let checked = checked.and_then(|principal| {
                let identity = Identity::User(principal);
                exchange.note(&identity);
                let graph = found.graph(&parts.uri);
                access::check_identity(&worker.state, route, &identity, graph)?;
                exchange.turn = worker.state.user_limits.enter(&identity)?;
                refused.map_or(Ok(identity), Err)
            });
            let identity = match checked {
                Ok(identity) => identity,
                Err(error) => {
                    service.connection.linger();
                    return exchange.end_later(worker, &counted, line, Err(error)).await;
                }
            };
            if let Some(handler) = route.socket
                && upgrade::is_asked_for(&parts)
            {
                let response = service.upgrade(&exchange, parts, found, (identity, handler));
                return exchange
                    .end_later(worker, &counted, line, Ok(response))
                    .await;
            }
            let context = exchange.context(&service, parts, found, identity);
            let result = work(&worker.state, &counted.connection, route, context, body).await;
            exchange.end_later(worker, &counted, line, result).await
        }))
    }

    fn answer_now(
        &self,
        exchange: &Exchange,
        line: (&Method, &Uri),
        response: Response,
    ) -> ServiceFuture {
        let response = exchange.end(
            &self.worker,
            &self.connection,
            line,
            response,
            HeaderMap::new(),
        );
        self.connection.request_ended();
        ServiceFuture::Ready(Some(response))
    }
}

/// A request in work on its connection, for as long as it lives.
struct Counted {
    connection: Arc<ConnectionState>,
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.connection.request_ended();
    }
}

/// The route that a request's head names, and how.
struct FoundRoute {
    route: &'static Route,
    captures: Captures,
    form: PathForm,
}

impl FoundRoute {
    /// The first parameter in the path, which is the graph's name where a route is about a graph.
    fn graph<'a>(&'a self, uri: &'a Uri) -> Option<&'a str> {
        let first = self.captures.first();
        first.map(|segment| segment.text(uri.path()))
    }
}

/// What a request's head leads to.
enum Lookup {
    Found(FoundRoute, Claimed),
    /// The answer is known without a handler.
    Decided(Box<HandlerResult>),
}

/// What is needed to end and count a request.
struct Exchange {
    started: Instant,
    version: Version,
    /// The client's address.
    address: IpAddr,
    /// The client's certificate.
    certificate: Option<Arc<ClientCertificate>>,
    /// The route's index, or the number of routes while none is found.
    route: usize,
    /// Whether the answer may be compressed.
    gzip: bool,
    /// Why the request is not done, once its client is known.
    refused: Option<ApiError>,
    /// What the audit trail tells, where there is one.
    who: Option<Box<Who>>,
    /// The client, where authentication is on.
    user: Option<Arc<Principal>>,
    /// The user's place, where users have limits.
    turn: Option<UserTurn>,
}

/// Who sends a request, and about which graph.
#[derive(Default)]
struct Who {
    user: Option<Arc<Principal>>,
    graph: Option<String>,
    request: Option<String>,
    /// The name of a login.
    login: Arc<OnceLock<String>>,
    /// What was refused in an answer with another status.
    refused: OnceLock<StatusCode>,
}

impl Exchange {
    fn start(state: &AppState, parts: &Parts, connection: &ConnectionState) -> Self {
        Self {
            started: Instant::now(),
            version: parts.version,
            address: state.proxies.client(connection.address(), &parts.headers),
            certificate: connection.certificate().map(Arc::clone),
            route: state.router().routes().len(),
            gzip: false,
            refused: None,
            user: None,
            who: state.audit().map(|_| {
                Box::new(Who {
                    request: audit::request_id(&parts.headers).map(str::to_owned),
                    ..Who::default()
                })
            }),
            turn: None,
        }
    }

    /// Finds the route and checks the head.
    fn find(&mut self, worker: &WorkerHandle, parts: &Parts, has_body: bool) -> Lookup {
        let (state, address) = (&*worker.state, self.address);
        let certificate = self.certificate.clone();
        let client = (address, certificate.as_ref());
        match state.router().find(&parts.method, parts.uri.path()) {
            Err(error) => {
                let claimed = identity::claimed(state, &parts.headers, client);
                Lookup::Decided(Box::new(Err(claimed.err().unwrap_or(error))))
            }
            Ok(Found::Options { allow }) => Lookup::Decided(Box::new(Ok(wadl(&parts.uri, &allow)))),
            Ok(Found::Route {
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
                let graph = found.graph(&parts.uri);
                let says_later = route.socket.is_some()
                    && upgrade::is_asked_for(parts)
                    && !parts.headers.contains_key(header::AUTHORIZATION)
                    && identity::certified(state, client.1).is_none();
                if let Err(error) = access::check_address(state, route, address) {
                    return Lookup::Decided(Box::new(Err(error)));
                }
                let claimed = match route.needs {
                    Needs::Nothing => Ok(Claimed::Known(identity::unsaid(state))),
                    _ if says_later => Ok(Claimed::Known(identity::unsaid(state))),
                    _ => identity::claimed(state, &parts.headers, client),
                };
                if let (Some(who), Some(graph)) = (&mut self.who, graph) {
                    let is_graph = route.access.scope == Scope::Graph;
                    who.graph = is_graph.then(|| graph.to_owned());
                }
                let claimed = claimed.and_then(|claimed| {
                    if let Claimed::Known(identity) = &claimed {
                        self.note(identity);
                        if !says_later {
                            access::check_identity(state, route, identity, graph)?;
                        }
                        self.turn = state.user_limits.enter(identity)?;
                    }
                    Ok(claimed)
                });
                let claimed = match claimed {
                    Ok(claimed) => claimed,
                    Err(error) if self.who.as_ref().is_some_and(|who| who.user.is_none()) => {
                        if let Some(name) = identity::name_in(&parts.headers) {
                            self.note_login(&name);
                        }
                        return Lookup::Decided(Box::new(Err(error)));
                    }
                    Err(error) => return Lookup::Decided(Box::new(Err(error))),
                };
                let checked = access::check(state, worker.door, route, parts, graph);
                let checked =
                    checked.and_then(|()| negotiate::check_types(route, &parts.headers, has_body));
                let checked = checked.and_then(|()| {
                    let query = parts.uri.query();
                    query.map_or(Ok(()), |query| parameters::check(route, query))
                });
                match checked {
                    Ok(()) => Lookup::Found(found, claimed),
                    // Who is not known yet is not told more than that.
                    Err(error) if matches!(claimed, Claimed::Pending(_)) => {
                        self.refused = Some(error);
                        Lookup::Found(found, claimed)
                    }
                    Err(error) => Lookup::Decided(Box::new(Err(error))),
                }
            }
        }
    }

    /// Notes who the client is.
    fn note(&mut self, identity: &Identity) {
        self.user = identity.user().map(Arc::clone);
        if let Some(who) = &mut self.who {
            who.user = identity.user().map(Arc::clone);
        }
    }

    /// Notes with which name a client tries to come in.
    fn note_login(&self, name: &str) {
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
            route,
            action: route.map(|route| route.access.action),
            graph: who.graph.as_deref(),
            status: who.refused.get().copied().unwrap_or(status),
        });
    }

    fn context(
        &self,
        service: &ConnectionService,
        parts: Parts,
        found: FoundRoute,
        identity: Identity,
    ) -> RequestContext {
        let worker = &service.worker;
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
            deadline: self.started
                + worker
                    .state
                    .time_limit(worker.state.router().routes()[self.route]),
            turn: None,
            cancel: None,
            running: None,
            is_http2: self.version == Version::HTTP_2,
            identity,
            address: self.address,
            login: self.who.as_ref().map(|who| Arc::clone(&who.login)),
            body_share: BodyShare::default(),
            work_share: None,
        }
    }

    fn wants_gzip(&self, state: &AppState, response: &Response) -> bool {
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

    fn render(&self, state: &AppState, uri: &Uri, result: HandlerResult) -> Response {
        result.unwrap_or_else(|error| {
            state.note_error(&error, uri);
            let refusal = state.router().routes().get(self.route);
            match refusal.and_then(|route| route.refusal) {
                // Who may not come in is told so by HTTP, whatever the contract of the resource.
                Some(refusal) if error.status() != StatusCode::UNAUTHORIZED => {
                    if let Some(who) = &self.who {
                        let _ = who.refused.set(error.status());
                    }
                    let body = (refusal.encode)(state, refusal.method, &error);
                    error.to_response(false).replaced_by(body)
                }
                _ => error.to_response(state.trace()),
            }
        })
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

    /// Ends a request that was waited for.
    async fn end_later(
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

    /// Counts, logs what was slow, and hands the answer over to the connection; `headers` gives the
    /// room for its headers.
    fn end(
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
        if self.version == Version::HTTP_2 {
            response.headers_mut().remove(header::CONNECTION);
        } else if state.is_stopping() || state.is_waiting() {
            // Whoever asks a server that waits comes again when another one may serve the same
            // address.
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(header::CONNECTION, close);
        }
        response
    }
}

/// Receives the body and runs the handler, or has another server do it.
async fn work(
    state: &AppState,
    connection: &ConnectionState,
    route: &'static Route,
    mut context: RequestContext,
    body: Incoming,
) -> HandlerResult {
    let gate = state.admission().gate(route.class);
    let config = state.config();
    let limit = body::limit(config, route);
    // One connection of HTTP/2 may have many small ones.
    let free = match context.is_http2 {
        true => 0,
        false => SMALL_BODY_BYTES,
    };
    let received = match body::receive(body, limit, free, gate, config).await {
        Ok(received) => received,
        Err(error) => {
            connection.linger();
            return Err(error);
        }
    };
    context.body = received.bytes;
    context.body_share = received.share;
    if !route.access.action.changes() && !context.is_http2 {
        connection.read_began();
    }
    if let Some(graph) = sharing::graph_of(state, &context) {
        return sharing::work(state, route, context, graph).await;
    }
    // The time limit is for the work; how long a body may take has a limit of its own.
    context.deadline = Instant::now() + state.time_limit(route);
    run(state, route, context).await
}

fn compress_small(state: &AppState, mut response: Response) -> Response {
    response.body = negotiate::gzip(&response.body, state.config().gzip_level).into();
    response.gzipped = true;
    response
}

async fn compress_large(state: &AppState, mut response: Response) -> Response {
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

/// Keeps the compiler honest about what a waiting request costs a connection that has none.
const _: () = assert!(std::mem::size_of::<ServiceFuture>() <= 192);
