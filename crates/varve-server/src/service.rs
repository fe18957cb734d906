//! One request from head to answer, in this order:
//! 1. find the route and check the client's rights (`exchange`),
//! 2. receive the body,
//! 3. run the handler (`run`), or forward the request to the graph's leader,
//! 4. compress and count the answer (`exchange`).

mod exchange;
mod run;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use http::request::Parts;
use http::{HeaderMap, Method, Request, Uri};
use http_body::Body as _;
use hyper::body::Incoming;
use varve_session::Identity;
use varve_session::budget::admission::SMALL_BODY_BYTES;
use varve_session::principal::PendingLogin;

use crate::access;
use crate::body;
use crate::errors::ApiError;
use crate::identity::Claimed;
use crate::origin;
use crate::request::RequestContext;
use crate::respond::{Body, HandlerResult, Response};
use crate::route::Route;
use crate::runtime::ConnectionState;
use crate::sharing;
use crate::state::{AppState, WorkerHandle};
use crate::upgrade::{self, Slot, SocketHandler, Upgrade};
use exchange::{
    COMPRESS_INLINE_BYTES, Exchange, FoundRoute, Lookup, compress_large, compress_small,
};
use run::run_in_place;
pub(crate) use run::{run, run_work};

type HttpResponse = http::Response<Body>;

/// The service of one connection.
#[derive(Debug, Clone)]
pub(crate) struct ConnectionService {
    pub(crate) worker: Arc<WorkerHandle>,
    pub(crate) connection: Arc<ConnectionState>,
    /// Receives the upgrade that serves the connection after HTTP.
    pub(crate) upgrade: Slot,
}

/// An answer, or the future of one. Kept small: every connection reserves space for it.
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
        let (mut parts, body) = request.into_parts();
        let state = &*self.worker.state;
        let mut exchange = Exchange::start(state, &parts, &self.connection);
        self.connection.request_started();
        let has_body = !body.is_end_stream();
        let found = match origin::check(state.config(), &parts, &self.connection.host) {
            Ok(()) => exchange.find(&self.worker, &mut parts, has_body),
            Err(error) => Lookup::Decided(Box::new(Err(error))),
        };
        let (found, identity) = match found {
            Lookup::Found(found, Claimed::Known(identity, _)) => (found, identity),
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
        if !has_body
            && sharing::graph_of(state, &context).is_none()
            && let Some(result) = run_in_place(state, route, &context)
        {
            return self.end_inline(exchange, context, result);
        }
        let (worker, connection) = (Arc::clone(&self.worker), Arc::clone(&self.connection));
        // Boxed: a future is moved with everything that it holds.
        let context = Box::new(context);
        ServiceFuture::Waiting(Box::pin(async move {
            let counted = Counted { connection };
            let line = (context.method.clone(), context.uri.clone());
            let result = work(&worker.state, &counted.connection, route, context, body).await;
            exchange.end_later(&worker, &counted, line, result).await
        }))
    }
}

impl ConnectionService {
    /// Ends a request that ran in place. The answer's headers reuse the memory of the request's,
    /// unless a large answer is compressed first.
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

    /// Upgrades the connection to a WebSocket.
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

    /// Checks the password of a request, then carries the request out.
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
            let checked = login
                .finish(worker.state.database())
                .await
                .map_err(ApiError::from);
            let refused = exchange.refused.take();
            let checked = checked.and_then(|principal| {
                let identity = Identity::User(principal);
                exchange.note(&identity);
                let graph = found.graph(&parts.uri);
                access::check_identity(&worker.state, route, &identity, graph)?;
                exchange.turn = worker.state.database().user_limits.enter(&identity)?;
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
            let context = Box::new(exchange.context(&service, parts, found, identity));
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

/// Counts a request as ended on its connection when this value is dropped.
struct Counted {
    connection: Arc<ConnectionState>,
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.connection.request_ended();
    }
}

/// Receives the body, then runs the handler or forwards the request to another server.
async fn work(
    state: &AppState,
    connection: &ConnectionState,
    route: &'static Route,
    mut context: Box<RequestContext>,
    body: Incoming,
) -> HandlerResult {
    let gate = state.admission().gate(route.class);
    let config = state.config();
    let limit = body::limit(config, route);
    // One connection of HTTP/2 may have many small bodies at once.
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
        return Box::pin(sharing::work(state, route, *context, graph)).await;
    }
    // The time limit is for the work; how long a body may take has a limit of its own.
    context.session.deadline = Instant::now() + state.time_limit(route);
    run(state, route, context).await
}

/// Bounds the space that a connection reserves for a waiting request.
const _: () = assert!(std::mem::size_of::<ServiceFuture>() <= 192);
