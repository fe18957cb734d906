//! One thread that sends requests: an event loop over many connections, each with at most one
//! request in flight.
//!
//! A worker shares the processors with the server under test, so it is cheap: one `send` and one
//! `recv` for each request, one `epoll_wait` for all ready connections, one buffer for requests and
//! one for answers. All ready answers are received and timed before the next requests are built, so
//! that building is not measured as waiting.

mod exchange;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use rustix::event::Timespec;
use rustix::event::epoll;
use rustix::fd::OwnedFd;

use super::answer::Expect;
use super::connection::Route;
use super::jtl;
use super::measure::{Acknowledged, Failure, Part, Running, Tally};
use super::request::Requests;
use super::schedule::{Answered, Course, Life, Nanos, Users};
use crate::endpoint::Stream;
use crate::process;

/// Bytes read at once; an answer that fits into one read is not copied.
const READ_BUFFER: usize = 256 * 1024;
/// Events taken at once.
const EVENTS: usize = 1_024;
/// The interval of time-out checks, and the longest sleep.
const TICK: Nanos = 100_000_000;
/// Closed model: the pause of a user whose connection failed or brought no answer, and its maximum.
/// It doubles with each such connection. Without a pause, connections to an unreachable server
/// would fail every few microseconds.
const BACK_OFF: Nanos = 1_000_000;
const BACK_OFF_MAX: Nanos = 250_000_000;

pub(crate) struct Work {
    /// Number of this worker, and the number of workers.
    pub(crate) thread: u32,
    pub(crate) threads: u32,
    pub(crate) start: Instant,
    pub(crate) route: Route,
    pub(crate) requests: Requests,
    pub(crate) users: Users,
    pub(crate) count: u32,
    pub(crate) timeout: Duration,
    /// Requests that all workers may still send, if limited.
    pub(crate) budget: Option<Arc<AtomicI64>>,
    /// Elements that will be read back.
    pub(crate) read_back: u64,
    pub(crate) seconds: Sender<Part>,
    pub(crate) samples: Option<Sender<Vec<jtl::Sample>>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UserState {
    Idle,
    Connecting,
    Sending,
    Receiving,
    Stopped,
}

/// A user: a connection and its request.
struct User {
    /// Number among the users of all workers.
    number: u32,
    life: Life,
    course: Course,
    state: UserState,
    stream: Option<Stream>,
    was_connected: bool,
    /// Whether the connection has brought an answer.
    answered: bool,
    /// The number of successive connections that failed or brought no answer.
    fruitless: u32,
    /// When the request was sent, or the connection attempt began.
    sent: Nanos,
    connect_took: Nanos,
    expect: Option<Expect>,
    request_length: usize,
    /// The part of the request that the socket has not accepted yet.
    rest: Vec<u8>,
    rest_at: usize,
    /// The part of the answer received so far, if it comes in several parts.
    input: Vec<u8>,
}

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
    alive: u32,
    request: Vec<u8>,
    buffer: Vec<u8>,
    tally: Tally,
    second: Running,
    samples: Vec<jtl::Sample>,
    next_tick: Nanos,
}

/// Sends the planned requests and returns the measurements.
///
/// # Errors
/// When a system call of the event loop fails; failed requests are samples.
pub(crate) fn run(work: Work) -> Result<Tally> {
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).context("creating an epoll")?;
    let tally = Tally::keeping(work.read_back);
    let mut worker = Worker {
        work,
        epoll,
        users: Vec::new(),
        timers: BinaryHeap::new(),
        ready: VecDeque::new(),
        alive: 0,
        request: Vec::new(),
        buffer: vec![0; READ_BUFFER],
        tally,
        second: Running::default(),
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
    fn enlist(&mut self) {
        let (users, count) = (self.work.users, self.work.count);
        for index in 0..count {
            let number = index * self.work.threads + self.work.thread;
            let life = users.life(number);
            let course = Course::new(life, users.period());
            self.timers.push(Reverse((life.start, index)));
            self.users.push(User::new(number, life, course));
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
            // Only those that are ready now. A request that fails at once makes its user ready
            // again, which must not delay answers, time-outs and the ends of seconds.
            for _ in 0..self.ready.len() {
                if let Some(user) = self.ready.pop_front() {
                    self.begin(user);
                }
            }
            let now = self.now();
            self.roll_seconds(now);
            if now >= self.next_tick {
                self.next_tick = now + TICK;
                self.time_out(now);
            }
            if self.alive == 0 {
                return Ok(());
            }
            let sleep = match self.ready.is_empty() {
                true => self.until_next(now),
                false => 0,
            };
            let wait = Timespec::try_from(Duration::from_nanos(sleep)).context("a time to wait")?;
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

    /// Moves the users that are due to the ready ones.
    fn collect_due(&mut self, now: Nanos) {
        while let Some(Reverse((at, user))) = self.timers.peek().copied() {
            if at > now {
                break;
            }
            self.timers.pop();
            self.ready.push_back(user);
        }
    }

    fn until_next(&self, now: Nanos) -> Nanos {
        let next = self
            .timers
            .peek()
            .map_or(Nanos::MAX, |Reverse((at, _))| *at);
        next.min(self.next_tick).saturating_sub(now)
    }

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
        let user = &mut self.users[index as usize];
        user.sent = now;
        user.connect_took = 0;
        // The request is only built once the connection exists.
        user.request_length = 0;
        if user.stream.is_some() {
            self.send(index);
        } else {
            self.connect(index);
        }
    }

    fn note_lateness(&mut self, index: u32, now: Nanos) {
        let late = now.saturating_sub(self.users[index as usize].course.due());
        let period = self.work.users.period();
        if period == 0 {
            return;
        }
        self.tally.late += u64::from(late > period / 20);
        self.tally.late_max_us = self.tally.late_max_us.max(late / 1_000);
    }

    /// Ends a request that got no answer.
    fn fail(&mut self, index: u32, failure: Failure, error: &io::Error) {
        let text = error.to_string();
        self.end_unanswered(index, Outcome::Failed(failure, text.as_bytes()));
    }

    /// Ends a request without an answer, and its connection.
    fn end_unanswered(&mut self, index: u32, outcome: Outcome<'_>) {
        let now = self.now();
        let user = &mut self.users[index as usize];
        if !user.answered {
            user.fruitless = user.fruitless.saturating_add(1);
        }
        self.end_at(index, now, 0, 0, outcome);
        self.hang_up(index);
    }

    /// Counts the sample and plans the user's next request.
    fn end_at(&mut self, index: u32, now: Nanos, status: u16, length: usize, outcome: Outcome<'_>) {
        let user = &mut self.users[index as usize];
        if user.state == UserState::Sending {
            user.request_length -= user.rest.len() - user.rest_at;
            exchange::give_back(&mut user.rest);
        }
        user.state = UserState::Idle;
        let took = now.saturating_sub(user.sent);
        let ok = !matches!(outcome, Outcome::Failed(..));
        self.tally.service.record(took);
        self.tally.sent += user.request_length as u64;
        self.tally.last_ended = self.tally.last_ended.max(now);
        self.second.record(took, ok);
        self.count(index, outcome);
        self.note_sample(index, took, status, length, ok);
        self.go_on(index, now);
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
            users: self.work.users.alive(user.sent),
            status,
            ok,
            received: length as u32,
            sent_bytes: user.request_length as u32,
        });
        if self.samples.len() >= jtl::CHUNK {
            // Fails only after the writer has ended, at the end of the row.
            let _ = sender.send(std::mem::take(&mut self.samples));
        }
    }

    /// Plans the user's next request, and records the times from the planned sends of this request
    /// and of those that were omitted while the user waited.
    fn go_on(&mut self, index: u32, now: Nanos) {
        let (user, tally) = (&mut self.users[index as usize], &mut self.tally);
        let sent = user.sent;
        let Answered { omitted, next } = match self.work.users.period() {
            0 => {
                let free = now + back_off(user.fruitless);
                user.course.answered(sent, free, |_| {})
            }
            _ => user.course.answered(sent, now, |planned| {
                tally.corrected.record(now.saturating_sub(planned));
            }),
        };
        tally.omitted += omitted;
        match next {
            None => self.stop(index),
            Some(at) if at <= now => self.ready.push_back(index),
            Some(at) => self.timers.push(Reverse((at, index))),
        }
    }

    /// Drops the user's request, since no new elements are left, and stops the user.
    fn withdraw(&mut self, index: u32) {
        self.tally.ran_out = true;
        self.users[index as usize].state = UserState::Idle;
        self.stop(index);
    }

    fn stop(&mut self, index: u32) {
        let user = &mut self.users[index as usize];
        if user.state != UserState::Stopped {
            user.state = UserState::Stopped;
            user.stream = None;
            self.alive = self.alive.saturating_sub(1);
        }
    }

    fn time_out(&mut self, now: Nanos) {
        let limit = self.work.timeout.as_nanos() as Nanos;
        for index in 0..self.users.len() as u32 {
            let user = &self.users[index as usize];
            let failure = match user.state {
                UserState::Connecting => Failure::ConnectTimeout,
                UserState::Sending | UserState::Receiving => Failure::ReadTimeout,
                UserState::Idle | UserState::Stopped => continue,
            };
            if now.saturating_sub(user.sent) > limit {
                self.fail(index, failure, &io::Error::from(io::ErrorKind::TimedOut));
            }
        }
    }

    /// Sends the completed seconds to the row.
    fn roll_seconds(&mut self, now: Nanos) {
        let current = (now / 1_000_000_000) as u32;
        while self.second.at < current {
            let next = self.second.at + 1;
            let users = self.users_now(now);
            // Fails only after the reader has ended, at the end of the row.
            let _ = self.work.seconds.send(self.second.roll(next, users));
        }
    }

    /// Users that have started and not stopped.
    fn users_now(&self, now: Nanos) -> u32 {
        let stopped = self.users.len() as u32 - self.alive;
        let started = self.users.partition_point(|user| user.life.start <= now) as u32;
        started.saturating_sub(stopped)
    }

    fn close(&mut self) {
        let _ = self.work.seconds.send(self.second.roll(u32::MAX, 0));
        if let Some(sender) = &self.work.samples {
            let _ = sender.send(std::mem::take(&mut self.samples));
        }
    }
}

impl User {
    const fn new(number: u32, life: Life, course: Course) -> Self {
        Self {
            number,
            life,
            course,
            state: UserState::Idle,
            stream: None,
            was_connected: false,
            answered: false,
            fruitless: 0,
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

/// The pause of a user of the closed model after `fruitless` connections in a row that failed or
/// brought no answer.
fn back_off(fruitless: u32) -> Nanos {
    match fruitless {
        0 => 0,
        times => (BACK_OFF << (times - 1).min(20)).min(BACK_OFF_MAX),
    }
}
