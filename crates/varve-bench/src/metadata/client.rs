//! The calls of the REST API: one after another on one connection that stays open, each with its time.
//!
//! The time of a call runs from the request as a value to the answer as a value: writing and reading JSON are in it, as
//! they are in the published figures.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, bail};
use varve_omrs::json::{Encode, Limits, decode, encode};
use varve_omrs::requests::Response;

use crate::api::http::Head;
use crate::api::target::parse_url;

/// How long to wait for an answer. The published runs have calls of twenty seconds.
const TIMEOUT: Duration = Duration::from_secs(600);
/// What is read at once.
const PART_BYTES: usize = 256 * 1024;
/// Bytes of a request and of an answer that a failure keeps.
const KEPT_BYTES: usize = 4_000;
/// What answers may be: a walk through the whole graph is long.
const ANSWER_LIMITS: Limits = Limits {
    bytes: 1 << 30,
    depth: 128,
    values: usize::MAX,
    string_bytes: 64 << 20,
};
/// The class of the exception that means: the repository does not do this.
const NOT_SUPPORTED: &str = "FunctionNotSupportedException";

/// An answer and how long it took.
#[derive(Debug)]
pub(crate) struct Timed<R> {
    pub(crate) answer: R,
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
    address: SocketAddr,
    host: String,
    /// What every path begins with.
    base: String,
    stream: Option<TcpStream>,
    sent: Vec<u8>,
    received: Vec<u8>,
    part: Vec<u8>,
}

/// Host and base path of `http://host:port/base`.
fn parts(url: &str) -> (&str, &str) {
    let begin = url.find("://").map_or(0, |at| at + 3);
    match url[begin..].find('/') {
        Some(at) => (&url[..begin + at], url[begin + at..].trim_end_matches('/')),
        None => (url, ""),
    }
}

impl Client {
    /// A client of `server` at `url`, which acts as `user`.
    ///
    /// # Errors
    /// When the address is not `http://host:port`, with a path or without.
    pub(crate) fn new(url: &str, server: &str, user: &str) -> Result<Self> {
        let (origin, path) = parts(url);
        let (address, host) = parse_url(origin)?;
        let (server, user) = (escaped(server), escaped(user));
        Ok(Self {
            address,
            host,
            base: format!("{path}/servers/{server}/open-metadata/repository-services/users/{user}"),
            stream: None,
            sent: Vec::new(),
            received: Vec::new(),
            part: vec![0; PART_BYTES],
        })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// `GET`.
    ///
    /// # Errors
    /// When the call fails, in whatever way.
    pub(crate) fn get<R: Response>(&mut self, path: &str) -> Result<Timed<R>, Failure> {
        self.call("GET", path, None)
    }

    /// `POST` with a body.
    ///
    /// # Errors
    /// When the call fails, in whatever way.
    pub(crate) fn post<R: Response>(
        &mut self,
        path: &str,
        body: &dyn Encode,
    ) -> Result<Timed<R>, Failure> {
        self.call("POST", path, Some(body))
    }

    /// `POST` without a body.
    ///
    /// # Errors
    /// When the call fails, in whatever way.
    pub(crate) fn post_nothing<R: Response>(&mut self, path: &str) -> Result<Timed<R>, Failure> {
        self.call("POST", path, None)
    }

    fn call<R: Response>(
        &mut self,
        method: &str,
        path: &str,
        body: Option<&dyn Encode>,
    ) -> Result<Timed<R>, Failure> {
        let start = Instant::now();
        let body = body.map(encode);
        self.write_request(method, path, body.as_deref());
        let outcome = self.exchange();
        let (length, result) = match outcome {
            Ok((status, content)) => {
                let read = decode::<R>(&content, ANSWER_LIMITS);
                let elapsed = start.elapsed();
                (content.len(), answered(status, read, elapsed, &content))
            }
            Err(failure) => (0, Err(failure)),
        };
        result
            .map(|(answer, elapsed)| Timed {
                answer,
                elapsed,
                bytes: length as u64,
            })
            .map_err(|mut failure| {
                let body = body.as_deref().map(shown).unwrap_or_default();
                failure.request = format!("{method} {}{path} {body}", self.base);
                failure
            })
    }

    fn write_request(&mut self, method: &str, path: &str, body: Option<&[u8]>) {
        let (host, base) = (&self.host, &self.base);
        self.sent.clear();
        let mut head = format!(
            "{method} {base}{path} HTTP/1.1\r\nHost: {host}\r\nAccept: application/json\r\n\
             Content-Type: application/json\r\n"
        );
        let length = body.map_or(0, <[u8]>::len);
        if method == "POST" {
            head += &format!("Content-Length: {length}\r\n");
        }
        head += "\r\n";
        self.sent.extend_from_slice(head.as_bytes());
        self.sent.extend_from_slice(body.unwrap_or_default());
    }

    /// Sends the request and gives the status and the body of its answer. Nothing is sent twice.
    fn exchange(&mut self) -> Result<(u16, Vec<u8>), Failure> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => self.connect().map_err(|error| {
                Failure::new(FailureKind::Gone, "no connection", &error.to_string())
            })?,
        };
        let (head, end) = self.transfer(&mut stream).map_err(|error| {
            Failure::new(FailureKind::Failed, "no answer", &format!("{error:#}"))
        })?;
        if !head.close {
            self.stream = Some(stream);
        }
        let body = head.body(&self.received[..end]).map_err(|_| bad_answer())?;
        Ok((head.status, body.into_owned()))
    }

    fn connect(&self) -> std::io::Result<TcpStream> {
        let stream = TcpStream::connect_timeout(&self.address, TIMEOUT)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        Ok(stream)
    }

    /// The head of the answer, and where it ends.
    fn transfer(&mut self, stream: &mut TcpStream) -> Result<(Head, usize)> {
        stream.write_all(&self.sent)?;
        self.received.clear();
        let mut head: Option<Head> = None;
        loop {
            let length = match stream.read(&mut self.part) {
                Ok(length) => length,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error.into()),
            };
            self.received.extend_from_slice(&self.part[..length]);
            let not_http = |_| anyhow!("the answer is not HTTP/1.1");
            if head.is_none() {
                head = Head::parse(&self.received).map_err(not_http)?;
            }
            if let Some(head) = head
                && let Some(end) = head.whole(&self.received, length == 0).map_err(not_http)?
            {
                return Ok((head, end));
            }
            if length == 0 {
                bail!("the connection was closed before the answer was whole");
            }
        }
    }
}

/// What an answer means.
fn answered<R: Response>(
    status: u16,
    read: Result<R, varve_omrs::json::JsonError>,
    elapsed: Duration,
    content: &[u8],
) -> Result<(R, Duration), Failure> {
    let mut failure = match read {
        Ok(answer) => match &answer.envelope().exception_class_name {
            None if status == 200 => return Ok((answer, elapsed)),
            None => Failure::new(FailureKind::Failed, &format!("HTTP {status}"), ""),
            Some(class) => {
                let name = class.rsplit('.').next().unwrap_or_default();
                let kind = match name {
                    NOT_SUPPORTED => FailureKind::NotSupported,
                    _ => FailureKind::Failed,
                };
                let message = answer.envelope().message.clone().unwrap_or_default();
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

fn bad_answer() -> Failure {
    Failure::new(FailureKind::Failed, "no answer", "the body is malformed")
}

fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(KEPT_BYTES)]);
    match bytes.len() > KEPT_BYTES {
        true => format!("{text}… ({} bytes)", bytes.len()),
        false => text.into_owned(),
    }
}

impl Failure {
    fn new(kind: FailureKind, exception: &str, message: &str) -> Self {
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

/// A value as a part of a path or a query: every reserved character escaped, as the contract's clients do.
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
        assert_eq!(parts("http://h:1/a/b/"), ("http://h:1", "/a/b"));
        assert_eq!(parts("http://h:1"), ("http://h:1", ""));
        assert_eq!(parts("h:1/a"), ("h:1", "/a"));
        let client = Client::new("http://127.0.0.1:80/platform", "varve", "a b").expect("valid");
        assert_eq!(
            client.base,
            "/platform/servers/varve/open-metadata/repository-services/users/a%20b"
        );
    }
}
