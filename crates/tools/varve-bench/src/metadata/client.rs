//! The calls of the REST API: one after another on one connection that stays open, each with its
//! time.
//!
//! The time of a call runs from the request as a value to the answer read and checked: writing and
//! reading JSON are in it, as they are in the published figures.

use std::borrow::Cow;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, bail};
use varve_omrs::json::{Encode, JsonError, encode};

use super::answer::{self, ANSWER_BYTES_MAX, Answer, Envelope};
use super::checked::Checked;
use crate::api::http::{Body, Head};
use crate::endpoint::{Endpoint, Stream, Trust};
use crate::wait::origin;

/// How long to wait for an answer. The published runs have calls of twenty seconds.
const TIMEOUT: Duration = Duration::from_secs(600);
/// What is read at once while the length of an answer is not known, and at least how much the
/// buffer grows by.
const PART_BYTES: usize = 256 * 1024;
/// Bytes of a request and of an answer that a failure keeps.
const KEPT_BYTES: usize = 4_000;
/// The class of the exception that means: the repository does not do this.
const NOT_SUPPORTED: &str = "FunctionNotSupportedException";

/// An answer and how long it took.
#[derive(Debug)]
pub(crate) struct Timed<A> {
    pub(crate) answer: A,
    pub(crate) elapsed: Duration,
    /// Bytes received.
    pub(crate) bytes: u64,
}

/// A call that did not do what it should.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    pub(crate) kind: FailureKind,
    /// The exception's simple name, or what went wrong instead.
    pub(crate) exception: String,
    pub(crate) message: String,
    /// Method, path and body.
    pub(crate) request: String,
    /// The body.
    pub(crate) answer: String,
}

/// How a call failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailureKind {
    /// The repository does not do this, and says so.
    NotSupported,
    /// An exception, an answer that cannot be read, or one without what was asked for.
    Failed,
    /// Nothing answers at the address any more.
    Gone,
}

/// The client.
#[derive(Debug)]
pub(crate) struct Client {
    endpoint: Endpoint,
    headers: String,
    /// What every path begins with.
    base: String,
    stream: Option<Stream>,
    sent: Vec<u8>,
    received: Received,
    checked: Checked,
}

/// The bytes of an answer. The buffer keeps its size from call to call: memory is made ready only
/// when an answer is longer than all before.
#[derive(Debug, Default)]
struct Received {
    buffer: Vec<u8>,
    filled: usize,
}

impl Received {
    fn bytes(&self) -> &[u8] {
        &self.buffer[..self.filled]
    }

    /// Reads what there is, up to `more` bytes. Says how many came; none: the connection is closed.
    fn read(&mut self, stream: &mut Stream, more: usize) -> std::io::Result<usize> {
        let end = self.filled + more;
        if end > self.buffer.len() {
            self.buffer
                .resize(end.max(self.buffer.len() + PART_BYTES), 0);
        }
        loop {
            match stream.read(&mut self.buffer[self.filled..end]) {
                Ok(length) => {
                    self.filled += length;
                    return Ok(length);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Client {
    /// A client of `server` at `url`, which acts as `user`.
    ///
    /// # Errors
    /// When the address is not `http://host:port` or `https://host:port`, with a path or without.
    pub(crate) fn new((url, trust): (&str, &Trust), server: &str, user: &str) -> Result<Self> {
        let (origin, path) = origin(url);
        let endpoint = Endpoint::new(origin, trust)?;
        let (server, user) = (escaped(server), escaped(user));
        Ok(Self {
            headers: endpoint.headers(),
            endpoint,
            base: format!("{path}/servers/{server}/open-metadata/repository-services/users/{user}"),
            stream: None,
            sent: Vec::new(),
            received: Received::default(),
            checked: Checked::default(),
        })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.endpoint.address
    }

    /// `GET`.
    ///
    /// # Errors
    /// When the call fails, in whatever way.
    pub(crate) fn get<A: Answer>(&mut self, path: &str) -> Result<Timed<A>, Failure> {
        self.call("GET", path, None)
    }

    /// `POST` with a body.
    ///
    /// # Errors
    /// When the call fails, in whatever way.
    pub(crate) fn post<A: Answer>(
        &mut self,
        path: &str,
        body: &dyn Encode,
    ) -> Result<Timed<A>, Failure> {
        self.call("POST", path, Some(body))
    }

    /// `POST` without a body.
    ///
    /// # Errors
    /// When the call fails, in whatever way.
    pub(crate) fn post_nothing<A: Answer>(&mut self, path: &str) -> Result<Timed<A>, Failure> {
        self.call("POST", path, None)
    }

    fn call<A: Answer>(
        &mut self,
        method: &str,
        path: &str,
        body: Option<&dyn Encode>,
    ) -> Result<Timed<A>, Failure> {
        let start = Instant::now();
        let body = body.map(encode);
        self.write_request(method, path, body.as_deref());
        let result = self.exchange().and_then(|head| {
            let content = content(&head, self.received.bytes())?;
            let read = answer::read::<A>(&content, &mut self.checked);
            let elapsed = start.elapsed();
            Ok(Timed {
                answer: judged(head.status, read, &content)?,
                elapsed,
                bytes: content.len() as u64,
            })
        });
        result.map_err(|mut failure| {
            let body = body.as_deref().map(shown).unwrap_or_default();
            failure.request = format!("{method} {}{path} {body}", self.base);
            failure
        })
    }

    fn write_request(&mut self, method: &str, path: &str, body: Option<&[u8]>) {
        let (headers, base) = (&self.headers, &self.base);
        let sent = &mut self.sent;
        sent.clear();
        for part in [method, " ", base, path, " HTTP/1.1\r\n", headers] {
            sent.extend_from_slice(part.as_bytes());
        }
        sent.extend_from_slice(b"Accept: application/json\r\nContent-Type: application/json\r\n");
        let body = body.unwrap_or_default();
        if method == "POST" {
            write!(sent, "Content-Length: {}\r\n", body.len()).expect("memory can be written to");
        }
        sent.extend_from_slice(b"\r\n");
        sent.extend_from_slice(body);
    }

    /// Sends the request and receives its answer, whose head it gives. Nothing is sent twice.
    fn exchange(&mut self) -> Result<Head, Failure> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => self.endpoint.connect(TIMEOUT).map_err(|error| {
                Failure::new(FailureKind::Gone, "no connection", &error.to_string())
            })?,
        };
        let head = self.transfer(&mut stream).map_err(|error| {
            Failure::new(FailureKind::Failed, "no answer", &format!("{error:#}"))
        })?;
        if !head.close {
            self.stream = Some(stream);
        }
        Ok(head)
    }

    /// Sends the request and receives the answer whole.
    fn transfer(&mut self, stream: &mut Stream) -> Result<Head> {
        stream.write_all(&self.sent)?;
        self.received.filled = 0;
        let mut head: Option<Head> = None;
        loop {
            // What is known to come is read as it comes, into its place.
            let missing = head.map_or(PART_BYTES, |head| match head.body {
                Body::Length(length) => head.length + length - self.received.filled,
                Body::Chunked | Body::UntilClose => PART_BYTES,
            });
            let is_over = self.received.read(stream, missing)? == 0;
            let received = self.received.bytes();
            let not_http = |_| anyhow!("the answer is not HTTP/1.1");
            if head.is_none() {
                head = Head::parse(received).map_err(not_http)?;
                if matches!(head, Some(Head { body: Body::Length(length), .. }) if length > ANSWER_BYTES_MAX)
                {
                    bail!("an answer of more than {ANSWER_BYTES_MAX} bytes");
                }
            }
            if let Some(head) = head
                && let Some(end) = head.whole(received, is_over).map_err(not_http)?
            {
                self.received.filled = end;
                return Ok(head);
            }
            if is_over {
                bail!("the connection was closed before the answer was whole");
            }
        }
    }
}

/// The body of an answer. One of known length is not copied.
fn content<'a>(head: &Head, received: &'a [u8]) -> Result<Cow<'a, [u8]>, Failure> {
    let malformed = |_| Failure::new(FailureKind::Failed, "no answer", "the body is malformed");
    head.body(received).map_err(malformed)
}

/// What an answer means.
fn judged<A: Answer>(
    status: u16,
    read: Result<(Envelope, A), JsonError>,
    content: &[u8],
) -> Result<A, Failure> {
    let mut failure = match read {
        Ok((envelope, answer)) => match envelope.exception {
            None if status == 200 && envelope.code == 200 => return Ok(answer),
            None => {
                let told = format!("HTTP {status}, relatedHTTPCode {}", envelope.code);
                Failure::new(FailureKind::Failed, &told, "")
            }
            Some(class) => {
                let name = class.rsplit('.').next().unwrap_or_default();
                let kind = match name {
                    NOT_SUPPORTED => FailureKind::NotSupported,
                    _ => FailureKind::Failed,
                };
                let message = envelope.message.unwrap_or_default();
                Failure::new(kind, name, &message)
            }
        },
        Err(error) => Failure::new(
            FailureKind::Failed,
            &format!("HTTP {status}, not the response of this call"),
            &error.to_string(),
        ),
    };
    failure.answer = shown(content);
    Err(failure)
}

fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(KEPT_BYTES)]);
    match bytes.len() > KEPT_BYTES {
        true => format!("{text}… ({} bytes)", bytes.len()),
        false => text.into_owned(),
    }
}

impl Failure {
    pub(crate) fn new(kind: FailureKind, exception: &str, message: &str) -> Self {
        Self {
            kind,
            exception: exception.to_owned(),
            message: message.to_owned(),
            request: String::new(),
            answer: String::new(),
        }
    }

    /// An answer without what the call is for.
    pub(crate) fn empty(what: &str) -> Self {
        Self::new(FailureKind::Failed, "empty answer", what)
    }
}

/// A value as a part of a path or a query: every reserved character escaped, as the contract's
/// clients do.
pub(crate) fn escaped(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for byte in value.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                out.push(char::from(byte));
            }
            _ => out += &format!("%{byte:02X}"),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_escaped_as_the_clients_of_the_contract_do() {
        let escaped_value = escaped("\\Qa+b c/é\\E.*");
        assert_eq!(escaped_value, "%5CQa%2Bb%20c%2F%C3%A9%5CE.%2A");
    }

    #[test]
    fn an_address_may_have_a_path() {
        let client = Client::new(
            ("http://127.0.0.1:80/platform", &Trust::default()),
            "varve",
            "a b",
        )
        .expect("valid");
        assert_eq!(
            client.base,
            "/platform/servers/varve/open-metadata/repository-services/users/a%20b"
        );
    }
}
