//! One request of one user over its connection: connecting, sending, and reading the answer.
//!
//! Nothing here blocks: if the socket does not accept or have bytes yet, the loop's next turn
//! continues.

use std::io::{self, Read as _, Write as _};

use rustix::event::epoll;
use rustix::event::epoll::EventFlags;

use super::super::answer::Verdict;
use super::super::measure::Failure;
use super::{Outcome, UserState, Worker};
use crate::endpoint::Stream;
use crate::http::Head;

/// The largest buffer of a user that is kept between requests, in bytes.
const KEPT_BUFFER: usize = 16 * 1024;

impl Worker {
    pub(super) fn connect(&mut self, index: u32) {
        let user = &mut self.users[index as usize];
        user.answered = false;
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
                user.state = UserState::Connecting;
                if connected {
                    self.connected(index);
                }
            }
            Err(error) => self.fail(index, connect_failure(&error), &error),
        }
    }

    /// Records the time to connect, and sends the request.
    fn connected(&mut self, index: u32) {
        let now = self.now();
        let user = &mut self.users[index as usize];
        user.was_connected = true;
        user.connect_took = now.saturating_sub(user.sent);
        self.tally.connect.record(user.connect_took);
        self.send(index);
    }

    pub(super) fn send(&mut self, index: u32) {
        let Some(expect) = self.work.requests.build(&mut self.request) else {
            return self.withdraw(index);
        };
        let user = &mut self.users[index as usize];
        user.expect = Some(expect);
        user.request_length = self.request.len();
        user.state = UserState::Receiving;
        user.input.clear();
        let Some(stream) = &mut user.stream else {
            return;
        };
        match stream.write(&self.request) {
            Ok(length) if length == self.request.len() && !stream.is_holding() => {}
            Ok(length) => self.keep_rest(index, length),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.keep_rest(index, 0),
            Err(error) => {
                // No byte of the request was sent, so it cannot have been applied.
                user.request_length = 0;
                user.expect = None;
                self.fail(index, Failure::Reset, &error);
            }
        }
    }

    /// Keeps the bytes that the socket did not accept, and waits until it accepts more.
    fn keep_rest(&mut self, index: u32, sent: usize) {
        let user = &mut self.users[index as usize];
        user.rest.clear();
        user.rest.extend_from_slice(&self.request[sent..]);
        user.rest_at = 0;
        user.state = UserState::Sending;
        self.watch_sending(index);
    }

    /// Waits until the socket accepts more bytes, or receives bytes of a handshake that must come
    /// first.
    fn watch_sending(&self, index: u32) {
        let stream = self.users[index as usize].stream.as_ref();
        let wanted = match stream.is_some_and(Stream::is_answered_first) {
            true => EventFlags::IN,
            false => EventFlags::IN | EventFlags::OUT,
        };
        self.watch(index, wanted);
    }

    fn watch(&self, index: u32, wanted: EventFlags) {
        if let Some(stream) = &self.users[index as usize].stream {
            let data = epoll::EventData::new_u64(u64::from(index));
            // A registered stream stays registered until it is closed. So this can only fail for
            // lack of memory, and then the request times out.
            let _ = epoll::modify(&self.epoll, stream, data, wanted);
        }
    }

    pub(super) fn handle(&mut self, index: u32, flags: EventFlags) {
        match self.users[index as usize].state {
            UserState::Connecting => self.finish_connect(index),
            UserState::Sending if flags.contains(EventFlags::OUT) || self.is_handshaking(index) => {
                self.send_rest(index);
            }
            UserState::Sending | UserState::Receiving | UserState::Idle => {
                if let Some((failure, error)) = self.receive(index) {
                    self.fail(index, failure, &error);
                }
            }
            UserState::Stopped => {}
        }
    }

    fn is_handshaking(&self, index: u32) -> bool {
        let stream = self.users[index as usize].stream.as_ref();
        stream.is_some_and(Stream::is_handshaking)
    }

    fn finish_connect(&mut self, index: u32) {
        let Some(stream) = &self.users[index as usize].stream else {
            return;
        };
        match stream.socket().take_error() {
            Ok(None) => {
                self.watch(index, EventFlags::IN);
                self.connected(index);
            }
            Ok(Some(error)) | Err(error) => {
                self.fail(index, connect_failure(&error), &error);
            }
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
            Err(error) => {
                // A server may answer and close before it has read the whole request, so its answer
                // is read first.
                let failed = self.receive(index);
                if failed.is_some() || self.users[index as usize].state == UserState::Sending {
                    self.fail(index, Failure::Reset, &error);
                }
                return;
            }
        }
        if user.rest_at == user.rest.len() && !stream.is_holding() {
            user.state = UserState::Receiving;
            give_back(&mut user.rest);
            self.watch(index, EventFlags::IN);
        } else if self.is_handshaking(index) {
            self.watch_sending(index);
        }
    }

    /// Reads the available bytes, and ends the request when its answer is complete. Returns how the
    /// connection ended, if it ended before that.
    fn receive(&mut self, index: u32) -> Option<(Failure, io::Error)> {
        let mut buffer = std::mem::take(&mut self.buffer);
        let ended = self.receive_into(index, &mut buffer);
        self.buffer = buffer;
        ended
    }

    fn receive_into(&mut self, index: u32, buffer: &mut [u8]) -> Option<(Failure, io::Error)> {
        loop {
            let stream = self.users[index as usize].stream.as_mut()?;
            let (length, closed) = match stream.read(buffer) {
                Ok(0) => (0, true),
                Ok(length) => (length, false),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return None,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    if self.users[index as usize].state != UserState::Idle {
                        return Some((Failure::Reset, error));
                    }
                    self.hang_up(index);
                    return None;
                }
            };
            let ended = self.received(index, &buffer[..length], closed);
            if ended || closed {
                let error = io::Error::from(io::ErrorKind::UnexpectedEof);
                return (!ended).then_some((Failure::Closed, error));
            }
            if length < buffer.len() {
                return None;
            }
        }
    }

    /// Adds a part of an answer. Returns whether the request has ended.
    fn received(&mut self, index: u32, bytes: &[u8], closed: bool) -> bool {
        let user = &mut self.users[index as usize];
        if user.state == UserState::Idle {
            // No request is in flight: the server closes an idle connection. The next request opens
            // a new one.
            self.hang_up(index);
            return true;
        }
        if user.input.is_empty() && !closed {
            let whole = self.answered(index, bytes, false);
            if !whole {
                self.users[index as usize].input.extend_from_slice(bytes);
            }
            return whole;
        }
        let mut input = std::mem::take(&mut user.input);
        input.extend_from_slice(bytes);
        let whole = self.answered(index, &input, closed);
        if whole {
            give_back(&mut input);
        }
        self.users[index as usize].input = input;
        whole
    }

    /// Ends the request if `bytes` are its complete answer. Returns whether it has ended.
    fn answered(&mut self, index: u32, bytes: &[u8], closed: bool) -> bool {
        let parsed = Head::parse(bytes).and_then(|head| match head {
            None => Ok(None),
            Some(head) => Ok(head.whole(bytes, closed)?.map(|end| (head, end))),
        });
        let (head, end) = match parsed {
            Ok(Some(found)) => found,
            Ok(None) => return false,
            Err(_) => {
                self.end_unanswered(index, Outcome::Failed(Failure::BadAnswer, bytes));
                return true;
            }
        };
        let answer = &bytes[..end];
        self.tally.received += end as u64;
        self.tally.received_body += (end - head.length) as u64;
        let now = self.now();
        let outcome = self.judge(index, &head, answer);
        // The server answered before it had the whole request: the connection cannot be used again.
        let user = &mut self.users[index as usize];
        let half_sent = user.state == UserState::Sending;
        (user.answered, user.fruitless) = (true, 0);
        self.end_at(index, now, head.status, end, outcome);
        if head.close || end < bytes.len() || closed || half_sent {
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

    /// Closes the connection; the user opens a new one for its next request.
    pub(super) fn hang_up(&mut self, index: u32) {
        self.users[index as usize].stream = None;
    }
}

/// Empties a buffer, and frees it if it is large, since thousands of users have one each.
pub(super) fn give_back(buffer: &mut Vec<u8>) {
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
