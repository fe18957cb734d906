//! Connections to other servers: HTTP/1.1, over TLS if this server uses it. Idle connections are
//! kept for a while, in one pool for each serving thread.
//!
//! Requests and answers are buffered whole, both within the limits of the server that carries them
//! out. So a request can be sent again when its leader is lost, and no client gets half an answer.
//! All answers together have a limit of their own.

use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bytes::BytesMut;
use http::header::{self, HeaderValue};
use http::response::Parts;
use http::{HeaderMap, Method, Request, Uri};
use http_body::Body as _;
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use super::headers::{FORWARDED, forwarded_headers};
use crate::answers::Share;
use crate::request::RequestContext;
use crate::respond::{Body, Response};
use crate::sharing::SharedUsers;
use crate::state::AppState;
use crate::tls::Tls;

/// How long another server may take to accept a connection. A server that is cut off does not
/// answer at all.
const CONNECT_WAIT: Duration = Duration::from_secs(2);
/// How long an idle connection is kept: less than on the other side, which could otherwise close it
/// during a request.
const IDLE_MAX: Duration = Duration::from_secs(5);
/// Idle connections to one server that are kept, for each thread.
const IDLE_COUNT_MAX: usize = 64;

type Sender = SendRequest<Body>;

/// The connections of one serving thread that no request is using.
#[derive(Default)]
pub(crate) struct Peers {
    idle: Mutex<HashMap<String, Vec<(Sender, Instant)>>>,
}

impl std::fmt::Debug for Peers {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Peers").finish_non_exhaustive()
    }
}

/// Why forwarding a request failed.
pub(super) enum Failed {
    /// The request has not begun: the server did not answer, or does not lead the graph.
    NotBegun,
    /// The request may have been carried out.
    Unknown,
    /// The request only reads, and the budget of answers has no room for its answer.
    TooMuchHeld,
}

/// A request to another server, and the memory that its answer may take.
pub(super) struct Asked<'a> {
    /// Makes the request, once for each connection that is tried.
    pub(super) request: &'a dyn Fn() -> Request<Body>,
    /// Set while that server may have seen the request.
    pub(super) sent: &'a AtomicBool,
    /// The answer's share of the budget.
    pub(super) share: Share,
}

impl Peers {
    /// Forwards a client's request to the server at `address`. `sent` is set while that server may
    /// have seen the request; `share` is the answer's share of the budget.
    pub(super) async fn forward(
        &self,
        address: &str,
        context: &RequestContext,
        sent: &AtomicBool,
        share: Share,
    ) -> Result<Response, Failed> {
        let asked = Asked {
            request: &|| request(address, context),
            sent,
            share,
        };
        let (parts, body, share) = self.ask(context.state(), address, asked).await?;
        let mut headers = forwarded_headers(&parts.headers);
        if context.method == Method::HEAD {
            // The length of the body that the answer to a HEAD leaves out.
            let length = parts.headers.get(header::CONTENT_LENGTH);
            headers.extend(length.map(|length| (header::CONTENT_LENGTH, length.clone())));
        }
        Ok(Response::verbatim(parts.status, headers, body).holding(share))
    }

    /// Sends a request to the server at `address`, and receives its answer.
    pub(super) async fn ask(
        &self,
        state: &AppState,
        address: &str,
        asked: Asked<'_>,
    ) -> Result<(Parts, Body, Share), Failed> {
        let Asked {
            request,
            sent,
            share,
        } = asked;
        // The other side may have closed an idle connection; a request that could not be sent goes
        // over a new one.
        while let Some(mut sender) = self.take(address) {
            match send(&mut sender, request(), sent).await {
                Ok(answer) => return self.whole(address, sender, answer, share).await,
                Err(Failed::NotBegun) => {}
                Err(failed) => return Err(failed),
            }
        }
        let mut sender = connect(state, address).await.ok_or(Failed::NotBegun)?;
        let answer = send(&mut sender, request(), sent).await?;
        self.whole(address, sender, answer, share).await
    }

    async fn whole(
        &self,
        address: &str,
        sender: Sender,
        answer: http::Response<Incoming>,
        share: Share,
    ) -> Result<(Parts, Body, Share), Failed> {
        let (parts, body) = answer.into_parts();
        let (body, share) = collect(body, share).await?;
        self.keep(address, sender);
        Ok((parts, body, share))
    }

    fn take(&self, address: &str) -> Option<Sender> {
        let mut idle = self.idle.lock();
        let kept = idle.get_mut(address)?;
        while let Some((sender, since)) = kept.pop() {
            if sender.is_ready() && since.elapsed() < IDLE_MAX {
                return Some(sender);
            }
        }
        None
    }

    fn keep(&self, address: &str, sender: Sender) {
        if sender.is_closed() {
            return;
        }
        let mut idle = self.idle.lock();
        let kept = idle.entry(address.to_owned()).or_default();
        kept.retain(|(sender, since)| !sender.is_closed() && since.elapsed() < IDLE_MAX);
        if kept.len() < IDLE_COUNT_MAX {
            kept.push((sender, Instant::now()));
        }
    }
}

/// Sends a request and waits for the head of the answer.
async fn send(
    sender: &mut Sender,
    request: Request<Body>,
    sent: &AtomicBool,
) -> Result<http::Response<Incoming>, Failed> {
    sent.store(true, Ordering::Relaxed);
    let answer = sender.send_request(request).await;
    answer.map_err(|error| match error.is_canceled() {
        true => {
            // The connection was closed before any of the request was sent.
            sent.store(false, Ordering::Relaxed);
            Failed::NotBegun
        }
        false => Failed::Unknown,
    })
}

/// Receives the whole body of an answer.
async fn collect(mut body: Incoming, mut share: Share) -> Result<(Body, Share), Failed> {
    let announced = body.size_hint().lower();
    let announced = usize::try_from(announced).unwrap_or(usize::MAX);
    if !share.reach(announced) {
        return Err(Failed::TooMuchHeld);
    }
    let mut whole = BytesMut::with_capacity(announced);
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        if let Ok(bytes) = frame.map_err(|_| Failed::Unknown)?.into_data() {
            if !share.reach(whole.len() + bytes.len()) {
                return Err(Failed::TooMuchHeld);
            }
            whole.extend_from_slice(&bytes);
        }
    }
    Ok((Body::from(whole.freeze()), share))
}

/// The request to forward: with all headers but those of the connection and of the client's
/// address.
fn request(address: &str, context: &RequestContext) -> Request<Body> {
    let mut headers: HeaderMap = forwarded_headers(&context.headers);
    let proxies = &context.state().proxies;
    proxies.name_client(context.address, &mut headers);
    if !headers.contains_key(header::HOST) {
        let host = context
            .uri
            .authority()
            .map_or(address, |host| host.as_str());
        if let Ok(host) = HeaderValue::from_str(host) {
            headers.insert(header::HOST, host);
        }
    }
    headers.insert(FORWARDED, HeaderValue::from_static("1"));
    if let Some(proof) = proof_of_certificate(context) {
        headers.insert(header::AUTHORIZATION, proof);
    }
    let path = context.uri.path_and_query();
    let path = path.map_or("/", |path| path.as_str());
    let mut request = Request::new(Body::from(context.body.clone()));
    *request.method_mut() = context.method.clone();
    *request.uri_mut() = path.parse().unwrap_or_else(|_| Uri::from_static("/"));
    *request.headers_mut() = headers;
    request
}

/// A token for a client that authenticated by its certificate, which the other server does not see.
fn proof_of_certificate(context: &RequestContext) -> Option<HeaderValue> {
    context.certificate.as_ref()?;
    let principal = context.identity().user()?;
    let state = context.state();
    state
        .find_feature::<SharedUsers>()?
        .token(state.auth()?, principal)
}

/// Opens a connection; `None` if the other server accepts none, or has no valid certificate.
async fn connect(state: &AppState, address: &str) -> Option<Sender> {
    let stream = async {
        let stream = TcpStream::connect(address).await.ok()?;
        // Without `TCP_NODELAY`, small requests wait for the other side's delayed acknowledgements.
        // A failure costs only that.
        let _ = stream.set_nodelay(true);
        let Some(connector) = state.tls().and_then(Tls::connector) else {
            return begin(stream).await;
        };
        match connector.connect(server_name(address)?, stream).await {
            Ok(stream) => begin(stream).await,
            Err(error) => {
                tracing::warn!(address, %error, "no TLS connection to another server");
                None
            }
        }
    };
    tokio::time::timeout(CONNECT_WAIT, stream).await.ok()?
}

/// The host of an address, which the certificate of the server there must have.
fn server_name(address: &str) -> Option<ServerName<'static>> {
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    let host = host.trim_start_matches('[').trim_end_matches(']');
    ServerName::try_from(host.to_owned()).ok()
}

async fn begin(stream: impl AsyncRead + AsyncWrite + Unpin + 'static) -> Option<Sender> {
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.ok()?;
    tokio::task::spawn_local(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "a connection to another server ended");
        }
    });
    Some(sender)
}
