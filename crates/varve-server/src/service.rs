//! One request from head to answer: find the route, check, admit, receive the body, run the handler, compress, count.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use bytes::Bytes;
use http::header::{self, HeaderValue};
use http::request::Parts;
use http::{Request, StatusCode};
use http_body::Body as _;
use http_body_util::Full;
use hyper::body::Incoming;

use crate::body;
use crate::errors::{ApiError, HandlerResult};
use crate::global::wadl;
use crate::negotiate::{self, BodyEncoding};
use crate::request::RequestContext;
use crate::respond::Response;
use crate::route::{Handler, HandlerFuture, Route};
use crate::router::{Captures, Found, PathForm};
use crate::runtime::ConnectionState;
use crate::state::{AppState, WorkerHandle};
use crate::time_parameters;

/// Answers up to this size are compressed in place; larger ones on the pool.
const COMPRESS_INLINE_BYTES: usize = 128 * 1024;

/// Compressed bodies up to this size are decompressed in place; larger ones on the pool.
const DECOMPRESS_INLINE_BYTES: usize = 64 * 1024;

type HttpResponse = http::Response<Full<Bytes>>;

/// The service of one connection.
#[derive(Debug, Clone)]
pub(crate) struct ConnectionService {
    pub(crate) worker: Arc<WorkerHandle>,
    pub(crate) connection: Arc<ConnectionState>,
}

/// Either an answer that is there already, or one to wait for. Kept small: a connection holds room for it.
pub(crate) enum ServiceFuture {
    Ready(Option<Box<HttpResponse>>),
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
                Poll::Ready(Ok(*response))
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
        let exchange = Exchange::start(self, parts);
        exchange.serve(body)
    }
}

/// What a request's head leads to.
enum Lookup {
    Found(&'static Route, Captures, PathForm),
    /// The answer is known without a handler.
    Decided(Box<HandlerResult>),
}

/// A request on its way, with what is needed to count and log its end.
struct Exchange {
    worker: Arc<WorkerHandle>,
    connection: Arc<ConnectionState>,
    parts: Parts,
    started: Instant,
    /// The route's index, or the number of routes while none is found.
    route: usize,
    /// Whether the answer may be compressed.
    gzip: bool,
}

impl Exchange {
    fn start(service: &ConnectionService, parts: Parts) -> Self {
        service.connection.request_started();
        Self {
            worker: Arc::clone(&service.worker),
            connection: Arc::clone(&service.connection),
            parts,
            started: Instant::now(),
            route: service.worker.state.router().routes().len(),
            gzip: false,
        }
    }

    fn state(&self) -> &AppState {
        &self.worker.state
    }

    fn serve(mut self, body: Incoming) -> ServiceFuture {
        let has_body = !body.is_end_stream();
        let (route, captures, form) = match self.find() {
            Lookup::Found(route, captures, form) => (route, captures, form),
            Lookup::Decided(early) => {
                if has_body {
                    self.connection.linger();
                }
                return self.ready(*early);
            }
        };
        if !has_body && let Handler::Inline(handler) = route.handler {
            let context = self.context(captures, form, Bytes::new());
            let result = self.run_inline(handler, &context);
            return self.finish(result);
        }
        ServiceFuture::Waiting(Box::pin(async move {
            let result = self.work(route, captures, form, body).await;
            self.finish_async(result).await
        }))
    }

    /// Finds the route and checks the head.
    fn find(&mut self) -> Lookup {
        let state = Arc::clone(&self.worker.state);
        match state
            .router()
            .find(&self.parts.method, self.parts.uri.path())
        {
            Err(error) => Lookup::Decided(Box::new(Err(error))),
            Ok(Found::Options { allow }) => {
                Lookup::Decided(Box::new(Ok(wadl(&self.parts.uri, &allow))))
            }
            Ok(Found::Route {
                index,
                captures,
                form,
            }) => {
                self.route = index;
                let route = state.router().routes()[index];
                self.gzip = route.gzip && negotiate::accepts_gzip(&self.parts.headers);
                let checked = negotiate::check_types(route, &self.parts.headers).and_then(|()| {
                    let query = self.parts.uri.query();
                    query.map_or(Ok(()), |query| time_parameters::check(route, query))
                });
                match checked {
                    Ok(()) => Lookup::Found(route, captures, form),
                    Err(error) => Lookup::Decided(Box::new(Err(error))),
                }
            }
        }
    }

    fn context(&mut self, captures: Captures, form: PathForm, body: Bytes) -> RequestContext {
        RequestContext {
            worker: Arc::clone(&self.worker),
            route: self.route,
            captures,
            form,
            method: self.parts.method.clone(),
            uri: self.parts.uri.clone(),
            headers: std::mem::take(&mut self.parts.headers),
            body,
            query: std::cell::OnceCell::new(),
            deadline: self.started + self.worker.state.config().request_timeout(),
        }
    }

    fn run_inline(
        &self,
        handler: fn(&RequestContext) -> HandlerResult,
        context: &RequestContext,
    ) -> HandlerResult {
        // A panic leaves only the request's own values half-made; shared state is behind locks and atomics.
        catch_unwind(AssertUnwindSafe(|| handler(context)))
            .unwrap_or_else(|panic| Err(self.state().panicked(&*panic)))
    }

    /// Receives the body and runs the handler.
    async fn work(
        &mut self,
        route: &'static Route,
        captures: Captures,
        form: PathForm,
        body: Incoming,
    ) -> HandlerResult {
        let worker = Arc::clone(&self.worker);
        let state = &*worker.state;
        let gate = state.admission().gate(route.class);
        let config = state.config();
        let limit = if route.batch {
            config.max_batch_body_bytes
        } else {
            config.max_body_bytes
        };
        let received = match body::receive(body, limit, gate, config).await {
            Ok(received) => received,
            Err(error) => {
                self.connection.linger();
                return Err(error);
            }
        };
        let bytes = match negotiate::body_encoding(&self.parts.headers)? {
            BodyEncoding::Identity => received.bytes,
            BodyEncoding::Gzip => self.gunzip(received.bytes, limit).await?,
        };
        let _share = received.share;
        // The time limit is for the work; how long a body may take has a limit of its own.
        let deadline = Instant::now() + config.request_timeout();
        let mut context = self.context(captures, form, bytes);
        context.deadline = deadline;
        let handler = route.handler;
        if let Handler::Inline(handler) = handler {
            return self.run_inline(handler, &context);
        }
        let _slot = match gate {
            Some(gate) => Some(gate.enter().await?),
            None => None,
        };
        let running = async {
            match handler {
                Handler::Inline(handler) => handler(&context),
                Handler::Pooled(handler) => state.run_blocking(move || handler(&context)).await?,
                Handler::Async(handler) => catch(state, handler(context)).await,
            }
        };
        let limit = tokio::time::Instant::from_std(deadline);
        tokio::time::timeout_at(limit, running)
            .await
            .unwrap_or_else(|_| Err(state.timed_out()))
    }

    async fn gunzip(&self, bytes: Bytes, limit: usize) -> Result<Bytes, ApiError> {
        if bytes.len() <= DECOMPRESS_INLINE_BYTES {
            return negotiate::gunzip(&bytes, limit);
        }
        self.state()
            .run_blocking(move || negotiate::gunzip(&bytes, limit))
            .await?
    }

    fn ready(self, result: HandlerResult) -> ServiceFuture {
        let response = self.render(result);
        ServiceFuture::Ready(Some(Box::new(self.end(response))))
    }

    /// Ends an exchange whose answer is there; only compressing a large one is left to wait for.
    fn finish(self, result: HandlerResult) -> ServiceFuture {
        let mut response = self.render(result);
        if !self.wants_gzip(&response) {
            return ServiceFuture::Ready(Some(Box::new(self.end(response))));
        }
        if response.body.len() <= COMPRESS_INLINE_BYTES {
            response.body = negotiate::gzip(&response.body, self.state().config().gzip_level);
            response.gzipped = true;
            return ServiceFuture::Ready(Some(Box::new(self.end(response))));
        }
        ServiceFuture::Waiting(Box::pin(async move {
            let response = self.compress_large(response).await;
            self.end(response)
        }))
    }

    async fn finish_async(self, result: HandlerResult) -> HttpResponse {
        let mut response = self.render(result);
        if self.wants_gzip(&response) {
            if response.body.len() <= COMPRESS_INLINE_BYTES {
                response.body = negotiate::gzip(&response.body, self.state().config().gzip_level);
                response.gzipped = true;
            } else {
                response = self.compress_large(response).await;
            }
        }
        self.end(response)
    }

    fn wants_gzip(&self, response: &Response) -> bool {
        self.gzip
            && response.status.is_success()
            && !response.gzipped
            && response.body.len() >= self.state().config().gzip_min_bytes
    }

    async fn compress_large(&self, mut response: Response) -> Response {
        let (plain, level) = (response.body.clone(), self.state().config().gzip_level);
        // When the pool is full the answer goes out uncompressed.
        if let Ok(packed) = self
            .state()
            .run_blocking(move || negotiate::gzip(&plain, level))
            .await
        {
            response.body = packed;
            response.gzipped = true;
        }
        response
    }

    fn render(&self, result: HandlerResult) -> Response {
        result.unwrap_or_else(|error| {
            if error.status() == StatusCode::INTERNAL_SERVER_ERROR {
                tracing::error!(uri = %self.parts.uri, message = error.message(), "internal error");
            }
            error.to_response(self.state().trace())
        })
    }

    /// Counts, logs what was slow, and hands the answer over to the connection.
    fn end(self, response: Response) -> HttpResponse {
        let elapsed = self.started.elapsed();
        let state = self.state();
        state
            .metrics()
            .record(self.worker.index, self.route, response.status, elapsed);
        let slow_ms = state.config().slow_request_ms;
        if slow_ms > 0 && elapsed.as_millis() >= u128::from(slow_ms) {
            let (method, uri, status) = (&self.parts.method, &self.parts.uri, response.status);
            tracing::warn!(%method, %uri, %status, ms = elapsed.as_millis() as u64, "slow request");
        }
        let mut response = response.into_http();
        if state.is_stopping() && self.parts.version < http::Version::HTTP_2 {
            response
                .headers_mut()
                .insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        if self.parts.version == http::Version::HTTP_2 {
            response.headers_mut().remove(header::CONNECTION);
        }
        response
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.connection.request_ended();
    }
}

/// Polls a handler's future; a panic in it becomes a 500.
async fn catch(state: &AppState, mut future: HandlerFuture) -> HandlerResult {
    poll_fn(
        |context| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
            Ok(poll) => poll,
            Err(panic) => Poll::Ready(Err(state.panicked(&*panic))),
        },
    )
    .await
}

/// Keeps the compiler honest about what a waiting request costs a connection that has none.
const _: () = assert!(std::mem::size_of::<ServiceFuture>() <= 32);
