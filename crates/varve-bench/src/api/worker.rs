//! One thread that sends requests: an event loop over many connections, each with at most one request in flight.
//!
//! It shares the processors with the server it measures, so it does as little as it can: one `send` and one `recv` a
//! request, one `epoll_wait` for all that is ready, requests filled into one buffer, answers read into another. All
//! answers that are ready are taken, with their times, before the next requests are built, so that building is not
//! measured as waiting.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use rustix::event::epoll;
use rustix::event::{Timespec, epoll::EventFlags};
use rustix::fd::OwnedFd;

use super::answer::{Expect, Verdict};
use super::connection::Route;
use super::http::Head;
use super::jtl;
use super::measure::{Acknowledged, Failure, Part, Running, Tally};
use super::plan::{Arrivals, Life, Nanos, Users, omitted};
use super::process;
use super::request::Requests;

/// Bytes read at once; an answer that fits is not copied.
const READ_BUFFER: usize = 256 * 1024;
/// Buffers of a user that grew over this are given back.
const KEPT_BUFFER: usize = 16 * 1024;
/// Events taken at once.
const EVENTS: usize = 1_024;
/// How often time-outs are looked for, and the longest sleep.
const TICK: Nanos = 100_000_000;
/// Open model: a send later than this after its arrival is late.
const OPEN_LATE: Nanos = 10_000_000;

/// What a worker is to do.
pub(crate) struct Work {
    /// Number of this worker, and how many there are.
    pub(crate) thread: u32,
    pub(crate) threads: u32,
    pub(crate) start: Instant,
    pub(crate) route: Route,
    pub(crate) requests: Requests,
    pub(crate) model: ModelOfWorker,
    pub(crate) connect_timeout: Duration,
    pub(crate) timeout: Duration,
    /// Requests that all workers may still send, if limited.
    pub(crate) budget: Option<Arc<AtomicI64>>,
    pub(crate) seconds: Sender<Part>,
    pub(crate) samples: Option<Sender<Vec<jtl::Sample>>>,
}

/// When this worker sends.
pub(crate) enum ModelOfWorker {
    Users {
        users: Users,
        count: u32,
    },
    Open {
        arrivals: Arrivals,
        max_in_flight: u32,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Idle,
    Connecting,
    Sending,
    Receiving,
    Stopped,
}

/// A user: a connection and its request.
struct User {
    /// Number among all workers' users.
    number: u32,
    life: Life,
    state: State,
    stream: Option<TcpStream>,
    was_connected: bool,
    /// When the request was to be sent. A late user's is when it became free.
    due: Nanos,
    /// When it had been planned.
    planned: Nanos,
    /// When it went, or began to connect.
    sent: Nanos,
    connect_took: Nanos,
    expect: Option<Expect>,
    request_length: usize,
    /// What the socket did not take yet.
    rest: Vec<u8>,
    rest_at: usize,
    /// The answer so far, when it came in several parts.
    input: Vec<u8>,
}

/// How a request ended.
enum Outcome<'a> {
    Right,
    Empty,
    Failed(Failure, &'a [u8]),
}

struct Worker {
    work: Work,
    epoll: OwnedFd,
    users: Vec<User>,
    timers: BinaryHeap<Reverse<(Nanos, u32)>>,
    ready: VecDeque<u32>,
    /// Open model: connections without a request.
    idle: Vec<u32>,
    /// Users that have not stopped.
    alive: u32,
    in_flight: u32,
    request: Vec<u8>,
    buffer: Vec<u8>,
    tally: Tally,
    second: Running,
    samples: Vec<jtl::Sample>,
    next_tick: Nanos,
}

/// Sends what is planned and returns what was measured.
///
/// # Errors
/// When the system refuses what the loop itself needs; failed requests are samples.
pub(crate) fn run(work: Work) -> Result<Tally> {
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).context("creating an epoll")?;
    let mut worker = Worker {
        work,
        epoll,
        users: Vec::new(),
        timers: BinaryHeap::new(),
        ready: VecDeque::new(),
        idle: Vec::new(),
        alive: 0,
        in_flight: 0,
        request: Vec::new(),
        buffer: vec![0; READ_BUFFER],
        tally: Tally::default(),
        second: Running::new(),
        samples: Vec::new(),
        next_tick: TICK,
    };
    let cpu = process::thread_cpu_time();
    worker.enlist();
    worker.turn()?;
    worker.close();
    worker.tally.cpu = process::thread_cpu_time().saturating_sub(cpu);
    Ok(worker.tally)
}

impl Worker {
    /// Makes the users of the paced and the closed model.
    fn enlist(&mut self) {
        let ModelOfWorker::Users { users, count } = &self.work.model else {
            return;
        };
        let (users, count) = (*users, *count);
        for index in 0..count {
            let number = index * self.work.threads + self.work.thread;
            let life = users.life(number);
            let mut user = User::new(number, life);
            (user.due, user.planned) = (life.start, life.start);
            self.timers.push(Reverse((life.start, index)));
            self.users.push(user);
        }
        self.alive = count;
    }

    fn now(&self) -> Nanos {
        self.work.start.elapsed().as_nanos() as Nanos
    }

    fn turn(&mut self) -> Result<()> {
        let mut events = Vec::with_capacity(EVENTS);
        loop {
            let now = self.now();
            self.collect_due(now);
            while let Some(user) = self.ready.pop_front() {
                self.begin(user);
            }
            let now = self.now();
            self.roll_seconds(now);
            if now >= self.next_tick {
                self.next_tick = now + TICK;
                self.time_out(now);
            }
            if self.is_over() {
                return Ok(());
            }
            if !self.ready.is_empty() {
                continue;
            }
            let wait = Timespec::try_from(Duration::from_nanos(self.until_next(now)))
                .context("a time to wait")?;
            let spare = rustix::buffer::spare_capacity(&mut events);
            match epoll::wait(&self.epoll, spare, Some(&wait)) {
                Ok(_) => {}
                Err(rustix::io::Errno::INTR) => continue,
                Err(error) => return Err(error).context("waiting for events"),
            }
            for event in events.drain(..) {
                self.handle(event.data.u64() as u32, event.flags);
            }
        }
    }

    fn is_over(&self) -> bool {
        match &self.work.model {
            ModelOfWorker::Users { .. } => self.alive == 0,
            ModelOfWorker::Open { arrivals, .. } => {
                self.in_flight == 0 && (arrivals.due().is_none() || self.is_spent())
            }
        }
    }

    fn is_spent(&self) -> bool {
        let budget = self.work.budget.as_ref();
        budget.is_some_and(|left| left.load(Ordering::Relaxed) <= 0)
    }

    /// Moves what is due to the ready ones.
    fn collect_due(&mut self, now: Nanos) {
        while let Some(Reverse((at, user))) = self.timers.peek().copied() {
            if at > now {
                break;
            }
            self.timers.pop();
            self.ready.push_back(user);
        }
        while let ModelOfWorker::Open {
            arrivals,
            max_in_flight,
        } = &mut self.work.model
        {
            let Some(at) = arrivals.due().filter(|at| *at <= now) else {
                break;
            };
            arrivals.advance();
            let limit = *max_in_flight;
            self.arrive(at, limit);
        }
    }

    /// Gives an arrival a connection, or counts it as not sent.
    fn arrive(&mut self, at: Nanos, max_in_flight: u32) {
        let user = match self.idle.pop() {
            Some(user) => user,
            None if (self.users.len() as u32) < max_in_flight => {
                let index = self.users.len() as u32;
                let number = index * self.work.threads + self.work.thread;
                let life = Life {
                    start: 0,
                    end: Nanos::MAX,
                };
                self.users.push(User::new(number, life));
                index
            }
            None => {
                self.tally.not_sent += 1;
                return;
            }
        };
        let it = &mut self.users[user as usize];
        (it.due, it.planned) = (at, at);
        self.ready.push_back(user);
    }

    fn until_next(&self, now: Nanos) -> Nanos {
        let timer = self.timers.peek().map(|Reverse((at, _))| *at);
        let arrival = match &self.work.model {
            ModelOfWorker::Open { arrivals, .. } => arrivals.due(),
            ModelOfWorker::Users { .. } => None,
        };
        let next = timer
            .unwrap_or(Nanos::MAX)
            .min(arrival.unwrap_or(Nanos::MAX));
        next.min(self.next_tick).saturating_sub(now)
    }

    /// Starts a user's next request.
    fn begin(&mut self, index: u32) {
        if let Some(budget) = &self.work.budget
            && budget.fetch_sub(1, Ordering::Relaxed) <= 0
        {
            self.stop(index);
            return;
        }
        let now = self.now();
        self.note_lateness(index, now);
        self.tally.first_sent.get_or_insert(now);
        self.in_flight += 1;
        let user = &mut self.users[index as usize];
        user.sent = now;
        user.connect_took = 0;
        if user.stream.is_some() {
            self.send(index);
        } else {
            self.connect(index);
        }
    }

    fn note_lateness(&mut self, index: u32, now: Nanos) {
        let late = now.saturating_sub(self.users[index as usize].due);
        let bound = match &self.work.model {
            ModelOfWorker::Users { users, .. } => match users.period() {
                0 => return,
                period => period / 20,
            },
            ModelOfWorker::Open { .. } => OPEN_LATE,
        };
        self.tally.late += u64::from(late > bound);
        self.tally.late_max_us = self.tally.late_max_us.max(late / 1_000);
    }

    fn connect(&mut self, index: u32) {
        let user = &mut self.users[index as usize];
        self.tally.opened += 1;
        self.tally.reconnects += u64::from(user.was_connected);
        match self.work.route.open(user.number) {
            Ok((stream, connected)) => {
                let data = epoll::EventData::new_u64(u64::from(index));
                let wanted = if connected {
                    EventFlags::IN
                } else {
                    EventFlags::OUT
                };
                if let Err(error) = epoll::add(&self.epoll, &stream, data, wanted) {
                    return self.fail(index, Failure::ConnectFailed, &error.into());
                }
                user.stream = Some(stream);
                user.state = State::Connecting;
                if connected {
                    self.connected(index);
                }
            }
            Err(error) => self.fail(index, connect_failure(&error), &error),
        }
    }

    /// The connection is there: notes how long it took, and sends.
    fn connected(&mut self, index: u32) {
        let now = self.now();
        let user = &mut self.users[index as usize];
        user.was_connected = true;
        user.connect_took = now.saturating_sub(user.sent);
        let us = (user.connect_took / 1_000).max(1);
        self.tally.connect.saturating_record(us);
        self.send(index);
    }

    fn send(&mut self, index: u32) {
        let expect = self.work.requests.build(&mut self.request);
        let user = &mut self.users[index as usize];
        user.expect = Some(expect);
        user.request_length = self.request.len();
        user.state = State::Receiving;
        user.input.clear();
        let Some(stream) = &mut user.stream else {
            return;
        };
        match stream.write(&self.request) {
            Ok(length) if length == self.request.len() => {}
            Ok(length) => self.keep_rest(index, length),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.keep_rest(index, 0),
            Err(error) => self.fail(index, Failure::Reset, &error),
        }
    }

    /// Keeps what the socket did not take, and waits until it takes more.
    fn keep_rest(&mut self, index: u32, sent: usize) {
        let user = &mut self.users[index as usize];
        user.rest.clear();
        user.rest.extend_from_slice(&self.request[sent..]);
        user.rest_at = 0;
        user.state = State::Sending;
        self.watch(index, EventFlags::IN | EventFlags::OUT);
    }

    fn watch(&self, index: u32, wanted: EventFlags) {
        if let Some(stream) = &self.users[index as usize].stream {
            let data = epoll::EventData::new_u64(u64::from(index));
            // A stream that is registered stays so until it is closed: this cannot fail but for want of memory, and
            // then the request runs into its time-out.
            let _ = epoll::modify(&self.epoll, stream, data, wanted);
        }
    }

    fn handle(&mut self, index: u32, flags: EventFlags) {
        match self.users[index as usize].state {
            State::Connecting => self.finish_connect(index),
            State::Sending if flags.contains(EventFlags::OUT) => self.send_rest(index),
            State::Sending | State::Receiving | State::Idle => self.receive(index),
            State::Stopped => {}
        }
    }

    fn finish_connect(&mut self, index: u32) {
        let Some(stream) = &self.users[index as usize].stream else {
            return;
        };
        match stream.take_error() {
            Ok(None) => {
                self.watch(index, EventFlags::IN);
                self.connected(index);
            }
            Ok(Some(error)) | Err(error) => self.fail(index, connect_failure(&error), &error),
        }
    }

    fn send_rest(&mut self, index: u32) {
        let user = &mut self.users[index as usize];
        let Some(stream) = &mut user.stream else {
            return;
        };
        match stream.write(&user.rest[user.rest_at..]) {
            Ok(length) => user.rest_at += length,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return self.fail(index, Failure::Reset, &error),
        }
        if user.rest_at == user.rest.len() {
            user.state = State::Receiving;
            give_back(&mut user.rest);
            self.watch(index, EventFlags::IN);
        }
    }

    /// Reads what is there; ends the request when its answer is whole.
    fn receive(&mut self, index: u32) {
        let mut buffer = std::mem::take(&mut self.buffer);
        loop {
            let user = &mut self.users[index as usize];
            let Some(stream) = &mut user.stream else {
                break;
            };
            match stream.read(&mut buffer) {
                Ok(0) => {
                    self.received(index, &[], true);
                    break;
                }
                Ok(length) => {
                    self.received(index, &buffer[..length], false);
                    if length < buffer.len() {
                        break;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    match self.users[index as usize].state {
                        State::Idle => self.hang_up(index),
                        _ => self.fail(index, Failure::Reset, &error),
                    }
                    break;
                }
            }
        }
        self.buffer = buffer;
    }

    fn received(&mut self, index: u32, bytes: &[u8], closed: bool) {
        let user = &mut self.users[index as usize];
        if user.state == State::Idle {
            // Nothing was asked: the server closes an idle connection. The next request opens another.
            return self.hang_up(index);
        }
        if user.input.is_empty() && !closed {
            if !self.answered(index, bytes, false) {
                self.users[index as usize].input.extend_from_slice(bytes);
            }
            return;
        }
        let mut input = std::mem::take(&mut user.input);
        input.extend_from_slice(bytes);
        let whole = self.answered(index, &input, closed);
        if whole {
            give_back(&mut input);
        }
        self.users[index as usize].input = input;
        if closed && !whole {
            let error = io::Error::from(io::ErrorKind::UnexpectedEof);
            self.fail(index, Failure::Closed, &error);
        }
    }

    /// Ends the request if `bytes` are its whole answer.
    fn answered(&mut self, index: u32, bytes: &[u8], closed: bool) -> bool {
        let parsed = Head::parse(bytes).and_then(|head| match head {
            None => Ok(None),
            Some(head) => Ok(head.whole(bytes, closed)?.map(|end| (head, end))),
        });
        let (head, end) = match parsed {
            Ok(Some(found)) => found,
            Ok(None) => return false,
            Err(_) => {
                self.end(index, 0, Outcome::Failed(Failure::BadAnswer, bytes));
                self.hang_up(index);
                return true;
            }
        };
        let answer = &bytes[..end];
        self.tally.received += end as u64;
        self.tally.received_body += (end - head.length) as u64;
        let now = self.now();
        let outcome = self.judge(index, &head, answer);
        self.end_at(index, now, head.status, end, outcome);
        if head.close || end < bytes.len() || closed {
            self.hang_up(index);
        }
        true
    }

    fn judge<'a>(&self, index: u32, head: &Head, answer: &'a [u8]) -> Outcome<'a> {
        let Some(expect) = &self.users[index as usize].expect else {
            return Outcome::Failed(Failure::BadAnswer, answer);
        };
        let rest = &answer[head.length..];
        if head.status != expect.status {
            return Outcome::Failed(Failure::Status(head.status), rest);
        }
        match head.body(answer).map(|body| expect.check(&body)) {
            Ok(Verdict::Right) => Outcome::Right,
            Ok(Verdict::Empty) => Outcome::Empty,
            Ok(Verdict::Wrong) => Outcome::Failed(Failure::WrongBody, rest),
            Err(_) => Outcome::Failed(Failure::BadAnswer, rest),
        }
    }

    /// Ends a request that got no answer.
    fn fail(&mut self, index: u32, failure: Failure, error: &io::Error) {
        let text = error.to_string();
        self.end(index, 0, Outcome::Failed(failure, text.as_bytes()));
        self.hang_up(index);
    }

    fn end(&mut self, index: u32, status: u16, outcome: Outcome<'_>) {
        let now = self.now();
        self.end_at(index, now, status, 0, outcome);
    }

    /// Counts the sample and plans the user's next request.
    fn end_at(&mut self, index: u32, now: Nanos, status: u16, length: usize, outcome: Outcome<'_>) {
        let user = &mut self.users[index as usize];
        user.state = State::Idle;
        let took = now.saturating_sub(user.sent);
        let ok = !matches!(outcome, Outcome::Failed(..));
        self.tally.record_service(took);
        self.tally.sent += user.request_length as u64;
        self.tally.last_ended = self.tally.last_ended.max(now);
        self.second.record(took, ok);
        self.in_flight -= 1;
        self.count(index, outcome);
        self.correct(index, now);
        self.note_sample(index, took, status, length, ok);
        self.plan_next(index, now);
    }

    fn count(&mut self, index: u32, outcome: Outcome<'_>) {
        let expect = self.users[index as usize].expect.take();
        match outcome {
            Outcome::Failed(failure, text) => self.tally.record_error(failure, text),
            Outcome::Empty => self.tally.empty_answers += 1,
            Outcome::Right => {}
        }
        if let (Outcome::Right | Outcome::Empty, Some(expect)) = (&outcome, expect) {
            self.tally.succeeded_items += u64::from(expect.count);
            if expect.writes {
                let request = Acknowledged {
                    first: expect.first,
                    count: expect.count,
                };
                let chance = self.work.requests.chance();
                self.tally.record_acknowledged(request, chance);
            }
        }
    }

    /// Records the times from the planned sends: this request's, and those that the user left out while it waited.
    fn correct(&mut self, index: u32, now: Nanos) {
        let user = &self.users[index as usize];
        let (planned, sent) = (user.planned, user.sent);
        let period = match &self.work.model {
            ModelOfWorker::Users { users, .. } => match users.period() {
                0 => return,
                period => period,
            },
            ModelOfWorker::Open { .. } => 0,
        };
        self.tally.record_corrected(now.saturating_sub(planned));
        for left_out in omitted(planned, sent, period) {
            self.tally.omitted += 1;
            self.tally.record_corrected(now.saturating_sub(left_out));
        }
    }

    fn note_sample(&mut self, index: u32, took: Nanos, status: u16, length: usize, ok: bool) {
        let Some(sender) = &self.work.samples else {
            return;
        };
        let user = &self.users[index as usize];
        self.samples.push(jtl::Sample {
            sent: user.sent,
            took,
            connect: user.connect_took,
            user: user.number,
            users: self.alive.max(self.in_flight),
            status,
            ok,
            received: length as u32,
            sent_bytes: user.request_length as u32,
        });
        if self.samples.len() >= jtl::CHUNK {
            // The writer ends only with the row.
            let _ = sender.send(std::mem::take(&mut self.samples));
        }
    }

    fn plan_next(&mut self, index: u32, now: Nanos) {
        let user = &mut self.users[index as usize];
        let ModelOfWorker::Users { users, .. } = &self.work.model else {
            self.idle.push(index);
            return;
        };
        match users.next(user.life, user.due, now) {
            Some(at) => {
                user.planned = users.planned(user.due, at);
                user.due = at;
                if at <= now {
                    self.ready.push_back(index);
                } else {
                    self.timers.push(Reverse((at, index)));
                }
            }
            None => self.stop(index),
        }
    }

    fn stop(&mut self, index: u32) {
        let user = &mut self.users[index as usize];
        if user.state != State::Stopped {
            user.state = State::Stopped;
            user.stream = None;
            self.alive = self.alive.saturating_sub(1);
        }
    }

    /// Closes the connection; the user opens another one when it needs it.
    fn hang_up(&mut self, index: u32) {
        self.users[index as usize].stream = None;
    }

    fn time_out(&mut self, now: Nanos) {
        let connect = self.work.connect_timeout.as_nanos() as Nanos;
        let answer = self.work.timeout.as_nanos() as Nanos;
        for index in 0..self.users.len() as u32 {
            let user = &self.users[index as usize];
            let (limit, failure) = match user.state {
                State::Connecting => (connect, Failure::ConnectTimeout),
                State::Sending | State::Receiving => (answer, Failure::ReadTimeout),
                State::Idle | State::Stopped => continue,
            };
            if now.saturating_sub(user.sent) > limit {
                self.fail(index, failure, &io::Error::from(io::ErrorKind::TimedOut));
            }
        }
    }

    /// Hands over the seconds that are over.
    fn roll_seconds(&mut self, now: Nanos) {
        let current = (now / 1_000_000_000) as u32;
        while self.second.at() < current {
            let next = self.second.at() + 1;
            let users = self.users_now(now);
            // The reader ends only with the row.
            let _ = self.work.seconds.send(self.second.roll(next, users));
        }
    }

    /// Users that have started and not stopped; requests in flight in the open model.
    fn users_now(&self, now: Nanos) -> u32 {
        match &self.work.model {
            ModelOfWorker::Open { .. } => self.in_flight,
            ModelOfWorker::Users { .. } => {
                let stopped = self.users.len() as u32 - self.alive;
                let started = self.users.partition_point(|user| user.life.start <= now) as u32;
                started.saturating_sub(stopped)
            }
        }
    }

    fn close(&mut self) {
        let users = self.in_flight;
        let _ = self.work.seconds.send(self.second.roll(u32::MAX, users));
        if let Some(sender) = &self.work.samples {
            let _ = sender.send(std::mem::take(&mut self.samples));
        }
    }
}

impl User {
    const fn new(number: u32, life: Life) -> Self {
        Self {
            number,
            life,
            state: State::Idle,
            stream: None,
            was_connected: false,
            due: 0,
            planned: 0,
            sent: 0,
            connect_took: 0,
            expect: None,
            request_length: 0,
            rest: Vec::new(),
            rest_at: 0,
            input: Vec::new(),
        }
    }
}

/// Empties a buffer, and frees it when it grew large: thousands of users have one each.
fn give_back(buffer: &mut Vec<u8>) {
    buffer.clear();
    if buffer.capacity() > KEPT_BUFFER {
        *buffer = Vec::new();
    }
}

fn connect_failure(error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => Failure::Refused,
        io::ErrorKind::TimedOut => Failure::ConnectTimeout,
        io::ErrorKind::ConnectionReset => Failure::Reset,
        _ => Failure::ConnectFailed,
    }
}
