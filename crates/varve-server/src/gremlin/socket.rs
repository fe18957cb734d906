//! A WebSocket of a TinkerPop driver.
//!
//! One task reads messages and writes parts of answers. Each request in work is a task of its own,
//! which sends the parts of its answer to a short channel: it renders the next parts once the
//! client has taken these. When the connection ends, so do its requests.

mod closing;
mod entrance;
mod fragments;
mod metered;

use std::cell::Cell;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use http::StatusCode;
use hyper::upgrade::Upgraded;
use tokio::io::AsyncWrite as _;
use tokio::sync::{Mutex, MutexGuard, OwnedMutexGuard, OwnedSemaphorePermit, mpsc};
use tokio::task::JoinSet;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message, Utf8Bytes};
use varve_graph::Standing;
use varve_graphson::{
    Format, Frame, Response, VALUE_BYTES, VALUES_MAX, WireError, count_request, request_id,
    write_response,
};
use varve_gremlin::execute::Item;
use varve_session::budget::admission::{BodyShare, SMALL_BODY_BYTES};

use self::closing::{STOPS, close, reason};
use self::entrance::Entrance;
use self::metered::Metered;
use super::driver;
use super::evaluate::{Failure, Ran, evaluate};
use super::graphs::Names;
use super::message::{self, Ask, Job};
use super::parts::{Answer, Form, Part, Unwritten};
use super::session::{Session, Sessions};
use super::status::{self, Asked, Refusal};
use crate::errors::ApiError;
use crate::request::RequestContext;
use crate::runtime::ConnectionState;
use crate::service::run_work;
use crate::sharing;

/// Requests of one connection in work at a time; further ones wait in the socket.
const IN_WORK_MAX: usize = 64;
/// The first budget for the values of a message is one value for each `BYTES_A_VALUE` bytes of it,
/// and [`VALUES_AT_FIRST`] more.
const BYTES_A_VALUE: usize = 128;
/// See [`BYTES_A_VALUE`].
const VALUES_AT_FIRST: usize = 256;
/// The factor between the budgets of two tries.
const GROWTH: usize = 8;
/// Parts of answers that wait in the channel.
const PARTS_WAITING: usize = 4;
/// The size of a read, in bytes.
const READ_BYTES: usize = 8 * 1024;

/// Serves a WebSocket to its end.
pub(super) fn serve(
    upgraded: Upgraded,
    context: RequestContext,
    connection: Arc<ConnectionState>,
) -> Pin<Box<dyn Future<Output = ()>>> {
    Box::pin(run(upgraded, context, connection))
}

/// The state that the requests of a connection share.
struct Desk {
    /// The request that asked for the WebSocket.
    context: RequestContext,
    entrance: Entrance,
    connection: Arc<ConnectionState>,
    parts: mpsc::Sender<Outgoing>,
    sessions: Sessions,
    /// Held while a message is read, so that messages are read in the order of their arrival.
    reading: Mutex<()>,
    /// Whether the driver can read dates only as milliseconds.
    plain_dates: bool,
    /// Bytes of messages in work that are not charged to the budget.
    uncharged: Cell<usize>,
}

/// A part that is to be sent.
struct Outgoing {
    part: Part,
    is_text: bool,
}

/// A message as received.
struct Incoming {
    bytes: Bytes,
    is_text: bool,
    share: BodyShare,
}

async fn run(upgraded: Upgraded, context: RequestContext, connection: Arc<ConnectionState>) {
    let limit = context.state().config().max_body_bytes;
    let config = WebSocketConfig::default()
        .read_buffer_size(READ_BYTES)
        .write_buffer_size(0)
        .max_message_size(Some(limit))
        .max_frame_size(Some(limit));
    let worker = Arc::clone(&context.worker);
    let metered = Metered::new(upgraded, worker, Arc::clone(&connection));
    let mut socket = WebSocketStream::from_raw_socket(metered, Role::Server, Some(config)).await;
    let (sender, mut parts) = mpsc::channel(PARTS_WAITING);
    let desk = Rc::new(Desk {
        sessions: Sessions::new(context.shared_state()),
        plain_dates: driver::reads_no_offsets(context.headers()),
        entrance: Entrance::new(context.identity().clone()),
        context,
        connection,
        parts: sender,
        reading: Mutex::default(),
        uncharged: Cell::new(0),
    });
    let mut waiting = match desk.admit(&mut socket).await {
        Ok(waiting) => waiting,
        Err(Some(farewell)) => return close(&mut socket, farewell).await,
        Err(None) => return,
    };
    let mut tasks = JoinSet::new();
    let mut reads = true;
    while reads || !tasks.is_empty() || !parts.is_empty() {
        while desk.has_room(tasks.len())
            && let Some(incoming) = waiting.pop_front()
        {
            tasks.spawn_local(Rc::clone(&desk).answer(incoming));
        }
        let may_read = waiting.is_empty() && desk.has_room(tasks.len());
        tokio::select! {
            biased;
            Some(outgoing) = parts.recv() => {
                if send(&mut socket, &desk, outgoing).await.is_err() {
                    return;
                }
            }
            Some(_) = tasks.join_next() => {}
            () = desk.sessions.end_idle(), if !desk.sessions.is_empty() => {}
            () = desk.connection.stops(), if reads => reads = false,
            message = next_message(&mut socket, &desk, may_read), if reads => {
                match message {
                    Some(Ok(message)) => {
                        let (bytes, is_text) = match message {
                            Message::Binary(bytes) => (bytes, false),
                            Message::Text(text) => (Bytes::from(text), true),
                            control => match controlled(&mut socket, &desk, &control).await {
                                Ok(()) => continue,
                                Err(_) => return,
                            },
                        };
                        let share = socket.get_mut().take_share();
                        let incoming = Incoming { bytes, is_text, share };
                        tasks.spawn_local(Rc::clone(&desk).answer(incoming));
                    }
                    Some(Err(error)) => return close(&mut socket, reason(&error)).await,
                    None => return,
                }
            }
        }
    }
    close(&mut socket, STOPS).await;
}

/// The next message. While none may be read, watches whether the client is still connected.
async fn next_message(
    socket: &mut WebSocketStream<Metered>,
    desk: &Desk,
    may_read: bool,
) -> Option<Result<Message, Error>> {
    if may_read {
        return socket.next().await;
    }
    desk.connection.reads_no_more();
    std::future::poll_fn(|context| {
        // The sweeper wakes the connection; the flush then shows whether the client is gone.
        let flushed = Pin::new(socket.get_mut()).poll_flush(context);
        match matches!(flushed, Poll::Ready(Err(_))) || desk.connection.is_gone() {
            true => Poll::Ready(None),
            false => Poll::Pending,
        }
    })
    .await
}

/// Handles a ping, a pong or a close. The client must take the answer before more is read.
async fn controlled(
    socket: &mut WebSocketStream<Metered>,
    desk: &Desk,
    message: &Message,
) -> Result<(), Error> {
    if message.is_ping() || message.is_pong() {
        socket.get_mut().control_arrived(message.len());
    }
    if !message.is_ping() {
        return Ok(());
    }
    let underway = &desk.context.worker.underway;
    let share = desk.context.state().answers().share(false);
    socket.get_mut().sending = Some(underway.add(share, &desk.connection));
    let flushed = socket.flush().await;
    socket.get_mut().sending = None;
    flushed
}

async fn send(
    socket: &mut WebSocketStream<Metered>,
    desk: &Desk,
    outgoing: Outgoing,
) -> Result<(), Error> {
    let Outgoing { part, is_text } = outgoing;
    let underway = &desk.context.worker.underway;
    let share = part.share;
    socket.get_mut().sending = share.map(|share| underway.add(share, &desk.connection));
    let message = match is_text.then(|| Utf8Bytes::try_from(part.bytes.clone())) {
        Some(Ok(text)) => Message::Text(text),
        _ => Message::Binary(part.bytes),
    };
    let sent = socket.send(message).await;
    socket.get_mut().sending = None;
    sent
}

/// Counts a request as in work on its connection until it is dropped.
struct Counted<'d> {
    desk: &'d Desk,
    uncharged: usize,
}

impl<'d> Counted<'d> {
    fn new(desk: &'d Desk, incoming: &Incoming) -> Self {
        let uncharged = match incoming.share.bytes() {
            0 => incoming.bytes.len(),
            _ => 0,
        };
        desk.uncharged.set(desk.uncharged.get() + uncharged);
        desk.connection.request_started();
        Self { desk, uncharged }
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        let uncharged = &self.desk.uncharged;
        uncharged.set(uncharged.get() - self.uncharged);
        self.desk.connection.request_ended();
    }
}

/// Why a request has no further parts.
enum Ended {
    Refused(Refusal),
    /// The connection is gone.
    Gone,
}

impl Desk {
    /// Whether a further message is read while `in_work` requests are in work.
    fn has_room(&self, in_work: usize) -> bool {
        in_work < IN_WORK_MAX && self.uncharged.get() < SMALL_BODY_BYTES
    }

    /// Answers one message to its last part.
    async fn answer(self: Rc<Self>, incoming: Incoming) {
        let began = Instant::now();
        let _counted = Counted::new(&self, &incoming);
        let is_text = incoming.is_text;
        let (format, id, result) = match framed(&incoming) {
            Ok(framed) => {
                let id = request_id(framed.format, &framed.message);
                let format = framed.format;
                let result = self.work(framed, id, incoming).await;
                (format, id, result)
            }
            Err((error, format, id)) => {
                let refusal = Refusal::malformed(error.to_string());
                (format, id, Err(Ended::Refused(refusal)))
            }
        };
        let status = match result {
            Ok(()) => StatusCode::OK,
            Err(Ended::Gone) => return,
            Err(Ended::Refused(refusal)) => {
                let status = refusal.status();
                // If the connection is gone, nobody waits.
                let _ = self.respond(format, &refusal.response(id), is_text).await;
                status
            }
        };
        self.record(status, began.elapsed());
        self.audit(None, status);
    }

    /// Reads and runs a request, and sends its results.
    async fn work(
        &self,
        framed: Framed,
        id: Option<u128>,
        incoming: Incoming,
    ) -> Result<(), Ended> {
        let Framed {
            format,
            texts,
            message,
        } = framed;
        let state = self.context.state();
        let is_text = incoming.is_text;
        let order = self.reading.lock().await;
        let read = self.read(format, message).await;
        // The parsed message has a share of its own.
        drop(incoming);
        let (ask, work_share) = read.map_err(Ended::Refused)?;
        let mut job = match ask {
            Ask::Run(job) => *job,
            Ask::Close(session) => {
                self.sessions.close(&session);
                return self.nothing(format, id, is_text).await;
            }
            // The client is authenticated already, or need not be.
            Ask::Authenticate(_) => return self.nothing(format, id, is_text).await,
        };
        job.form.plain_dates = self.plain_dates;
        job.form.set_texts(texts);
        let limit = state.time_limit(self.context.route());
        let limit = job.limit.map_or(limit, |own| own.min(limit));
        let deadline = Instant::now() + limit;
        let asked = Asked {
            is_script: !job.form.traversers,
            id: job.form.id,
            limit_ms: limit.as_millis(),
        };
        let name = job.session.clone();
        let session = match &name {
            Some(name) => {
                let session = self.sessions.get(name).map_err(Ended::Refused)?;
                let turn = in_turn(session, order, deadline).await;
                Some(turn.ok_or_else(|| Ended::Refused(Refusal::timeout(asked)))?)
            }
            None => {
                drop(order);
                None
            }
        };
        let mut context = self.context.again(deadline);
        context.work_share = Some(work_share);
        self.entrance.name_in(&mut context);
        context
            .renew_identity()
            .map_err(|error| self.refused(&error))?;
        if let Some((name, wanted)) = Names::of(&context).unknown_alias(&job.aliases) {
            return Err(Ended::Refused(Refusal::unknown_alias(name, wanted)));
        }
        let turn = state.database().user_limits.enter(context.identity());
        let _turn = turn.map_err(|error| self.refused(&error.into()))?;
        let result = self.run(job, session, (context, asked), is_text).await;
        if let Some(name) = &name {
            self.sessions.used(name);
        }
        result
    }

    /// Parses a message within the budget of parsed values. Most messages have few values for their
    /// size; one with more is parsed again with a larger share.
    async fn read(
        &self,
        format: Format,
        message: Bytes,
    ) -> Result<(Ask, OwnedSemaphorePermit), Refusal> {
        let state = self.context.state();
        let gate = state.admission().reads();
        let room = gate.work_max().saturating_sub(message.len()) / VALUE_BYTES;
        let most = (message.len() / 2 + 1).min(VALUES_MAX).min(room);
        let mut values_max = (message.len() / BYTES_A_VALUE + VALUES_AT_FIRST).min(most);
        loop {
            let bytes = message.len() + values_max * VALUE_BYTES;
            let share = gate.reserve_work(bytes).await;
            let mut share = share.map_err(|error| self.refusal(&error.into()))?;
            let again = message.clone();
            let read = move || {
                let (request, values) = count_request(format, &again, values_max)?;
                Ok::<_, WireError>((message::ask(request, format), values))
            };
            let ask = match message.len() <= SMALL_BODY_BYTES {
                true => read(),
                false => {
                    let read = state.run_blocking(read).await;
                    read.map_err(|error| self.refusal(&error))?
                }
            };
            match ask {
                Ok((ask, values)) => {
                    drop(share.split((values_max - values) * VALUE_BYTES));
                    return Ok((ask?, share));
                }
                Err(WireError::TooMany) if values_max < most => {
                    values_max = values_max.saturating_mul(GROWTH).min(most);
                }
                Err(WireError::TooMany) if most == room => {
                    return Err(self.refusal(&gate.too_costly().into()));
                }
                Err(error) => return Err(Refusal::malformed(error.to_string())),
            }
        }
    }

    async fn run(
        &self,
        job: Job,
        mut session: Option<OwnedMutexGuard<Session>>,
        (context, asked): (RequestContext, Asked),
        is_text: bool,
    ) -> Result<(), Ended> {
        let state = self.context.state();
        let deadline = context.deadline();
        // A session may write what it has read, so it needs the leader.
        let graph = Names::of(&context).graph_named(&job.aliases, "g");
        let followed = match graph.filter(|_| session.is_none() && state.is_shared()) {
            Some(graph) => sharing::of_message(state, &self.context, &graph).await,
            None => None,
        };
        let mut context = context;
        if let Some(followed) = &followed {
            context.session = context.session.on_followed(Arc::clone(followed));
        }
        let ran = run_work(state, self.context.route(), context, move |context| {
            let ran = match session.as_deref_mut() {
                Some(session) => in_session(session, true, context, job),
                None => in_session(&mut Session::default(), false, context, job),
            };
            let written = ran.map(|(ran, form)| written(Answer::new(ran, form, context.state())));
            (session, written)
        });
        // The next request of the session waits until this one is answered.
        let (_session, ran) = ran.await.map_err(|error| {
            let is_late = Instant::now() >= deadline;
            state.note_error(&error, self.context.uri());
            Ended::Refused(Refusal::of_server(&error, asked, is_late))
        })?;
        if let Some(followed) = followed
            && sharing::standing(state, followed).await != Standing::Holds
        {
            let error = ApiError::misdirected("Only the graph's leader can answer this");
            return Err(self.refused(&error));
        }
        let mut next = ran.map_err(|failure| {
            failure.note(&self.context);
            Ended::Refused(Refusal::of(failure, asked))
        })?;
        loop {
            let next_parts = next.map_err(|unwritten| self.refused(&unwritten.into_api(state)))?;
            let (answer, parts) = next_parts;
            for part in parts {
                self.send(part, is_text).await?;
            }
            if answer.is_done() {
                return Ok(());
            }
            let written = state.run_blocking(move || written(answer)).await;
            next = written.map_err(|error| self.refused(&error))?;
        }
    }

    /// Answers that there are no results.
    async fn nothing(&self, format: Format, id: Option<u128>, is_text: bool) -> Result<(), Ended> {
        self.respond(format, &status::nothing(id), is_text).await
    }

    async fn respond(
        &self,
        format: Format,
        response: &Response,
        is_text: bool,
    ) -> Result<(), Ended> {
        let outgoing = response_part(format, response, is_text);
        self.parts.send(outgoing).await.map_err(|_| Ended::Gone)
    }

    async fn send(&self, part: Part, is_text: bool) -> Result<(), Ended> {
        let outgoing = Outgoing { part, is_text };
        self.parts.send(outgoing).await.map_err(|_| Ended::Gone)
    }

    /// The refusal of a request by the server itself.
    fn refused(&self, error: &ApiError) -> Ended {
        Ended::Refused(self.refusal(error))
    }

    fn refusal(&self, error: &ApiError) -> Refusal {
        self.context.state().note_error(error, self.context.uri());
        let asked = Asked {
            is_script: false,
            id: 0,
            limit_ms: 0,
        };
        Refusal::of_server(error, asked, false)
    }

    fn record(&self, status: StatusCode, elapsed: Duration) {
        let worker = &self.context.worker;
        let metrics = worker.state.metrics();
        metrics.record(worker.index, self.context.route, status, elapsed);
        let slow_ms = worker.state.config().slow_request_ms;
        if slow_ms > 0 && elapsed.as_millis() >= u128::from(slow_ms) {
            let ms = elapsed.as_millis() as u64;
            tracing::warn!(%status, ms, "slow request on a WebSocket");
        }
    }
}

/// Waits for a session until the deadline. Drops `order`, so that the next message is read, once
/// this request is in the session's queue.
async fn in_turn(
    session: Arc<Mutex<Session>>,
    order: MutexGuard<'_, ()>,
    deadline: Instant,
) -> Option<OwnedMutexGuard<Session>> {
    let mut turn = pin!(session.lock_owned());
    let at_once = std::future::poll_fn(|context| Poll::Ready(turn.as_mut().poll(context))).await;
    drop(order);
    match at_once {
        Poll::Ready(session) => Some(session),
        Poll::Pending => tokio::time::timeout_at(deadline.into(), turn).await.ok(),
    }
}

/// Runs a job with the variables and the transaction of its session. `keeps`: a later job commits
/// its changes.
fn in_session(
    session: &mut Session,
    keeps: bool,
    context: &RequestContext,
    job: Job,
) -> Result<(Ran, Form), Failure> {
    let before = keeps.then(|| session.environment.clone());
    for (name, value) in job.bindings {
        session.environment.set(name, Item::Value(value));
    }
    let limits = (job.limit, job.aliases);
    let kept = keeps.then_some(&mut session.work);
    let ran = evaluate(context, job.program, &mut session.environment, limits, kept);
    if let Some(before) = before {
        session.keep(before).map_err(Failure::Query)?;
    }
    let mut ran = ran?;
    if job.is_command {
        ran.results.clear();
    }
    Ok((ran, job.form))
}

/// The next parts of an answer, and the rest of it.
fn written(mut answer: Answer) -> Result<(Answer, Vec<Part>), Unwritten> {
    let parts = answer.write()?;
    Ok((answer, parts))
}

/// A response that is one part.
fn response_part(format: Format, response: &Response, is_text: bool) -> Outgoing {
    let mut bytes = Vec::new();
    write_response(format, response, &mut bytes);
    let part = Part {
        bytes: bytes.into(),
        share: None,
    };
    Outgoing { part, is_text }
}

/// A message and its form.
struct Framed {
    format: Format,
    /// Whether results are sent as texts.
    texts: bool,
    message: Bytes,
}

/// The message in a frame; an error with the format and the id for its answer. A text is GraphSON
/// without a mime type.
fn framed(incoming: &Incoming) -> Result<Framed, (WireError, Format, Option<u128>)> {
    if incoming.is_text {
        return Ok(Framed {
            format: Format::GraphSon,
            texts: false,
            message: incoming.bytes.clone(),
        });
    }
    let frame = Frame::split(&incoming.bytes).map_err(|error| (error, Format::GraphSon, None))?;
    let format = frame.format().map_err(|error| {
        let likely = frame.likely_format();
        (error, likely, request_id(likely, frame.message))
    })?;
    Ok(Framed {
        format,
        texts: frame.wants_texts(),
        message: incoming.bytes.slice_ref(frame.message),
    })
}
