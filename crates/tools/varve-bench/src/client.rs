//! Blocking clients, for all requests besides the load: a persistent connection, and a client on
//! top of it that requests paths.

use std::borrow::Cow;
use std::io::{self, ErrorKind, Read, Write as _};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};

use crate::endpoint::{Endpoint, Stream};
use crate::http::{Body, Head};

/// How long to wait for an answer.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Bytes read at once while the length of an answer is unknown.
const PART_BYTES: usize = 256 * 1024;

/// A connection, opened on first use.
#[derive(Debug)]
pub(crate) struct Connection {
    endpoint: Endpoint,
    timeout: Duration,
    /// Answers with a longer body are refused.
    body_max: usize,
    stream: Option<Stream>,
    /// The buffer of a read while the length of the answer is unknown.
    part: Vec<u8>,
    /// The bytes of an answer. The buffer is reused, so that memory is allocated only for an answer
    /// longer than all before.
    received: Vec<u8>,
}

impl Connection {
    pub(crate) fn new(endpoint: Endpoint, timeout: Duration, body_max: usize) -> Self {
        Self {
            endpoint,
            timeout,
            body_max,
            stream: None,
            part: vec![0; PART_BYTES],
            received: Vec::new(),
        }
    }

    pub(crate) const fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Connects, unless the connection is open.
    ///
    /// # Errors
    /// When there is no connection in time.
    pub(crate) fn open(&mut self) -> io::Result<()> {
        if self.stream.is_none() {
            self.stream = Some(self.endpoint.connect(self.timeout)?);
        }
        Ok(())
    }

    /// Sends a request and receives its whole answer: the head, and all bytes including the head.
    /// Never resends.
    ///
    /// # Errors
    /// When there is no connection, or no complete HTTP/1.1 answer in time.
    pub(crate) fn exchange(&mut self, request: &[u8]) -> Result<(Head, &[u8])> {
        let address = self.endpoint.address;
        self.open()
            .with_context(|| format!("connecting to {address}"))?;
        let mut stream = self.stream.take().context("a connection")?;
        stream.write_all(request).context("sending the request")?;
        let head = self.receive(&mut stream)?;
        if !head.close {
            self.stream = Some(stream);
        }
        Ok((head, &self.received))
    }

    fn receive(&mut self, stream: &mut Stream) -> Result<Head> {
        let not_http = |_| anyhow!("the answer is not HTTP/1.1");
        self.received.clear();
        loop {
            let length = match stream.read(&mut self.part) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                read => read.context("reading the answer")?,
            };
            self.received.extend_from_slice(&self.part[..length]);
            if let Some(head) = Head::parse(&self.received).map_err(not_http)? {
                if let Body::Length(body) = head.body {
                    let max = self.body_max;
                    ensure!(body <= max, "an answer of more than {max} bytes");
                    // The rest is read directly into its place.
                    let end = head.length.saturating_add(body);
                    let rest = end.saturating_sub(self.received.len());
                    let mut read = Read::take(&mut *stream, rest as u64);
                    let read = read.read_to_end(&mut self.received);
                    read.context("reading the answer")?;
                }
                let whole = head.whole(&self.received, length == 0);
                if let Some(end) = whole.map_err(not_http)? {
                    self.received.truncate(end);
                    return Ok(head);
                }
            }
            ensure!(
                length > 0,
                "the connection was closed before the answer was complete"
            );
        }
    }
}

/// The body of a complete answer. A body with a length header is not copied.
///
/// # Errors
/// When its chunks or its compression are malformed.
pub(crate) fn body<'a>(head: &Head, answer: &'a [u8]) -> Result<Cow<'a, [u8]>> {
    head.body(answer)
        .map_err(|_| anyhow!("the body is malformed"))
}

/// Writes a request: the parts of its first line, its headers, and its body of JSON if it has one.
pub(crate) fn write_request(out: &mut Vec<u8>, line: &[&str], headers: &str, body: Option<&[u8]>) {
    for part in line.iter().chain(&[" HTTP/1.1\r\n", headers]) {
        out.extend_from_slice(part.as_bytes());
    }
    if let Some(body) = body {
        let length = body.len();
        write!(
            out,
            "Content-Type: application/json\r\nContent-Length: {length}\r\n"
        )
        .expect("memory can be written to");
    }
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(body.unwrap_or_default());
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> Result<serde_json::Value> {
        serde_json::from_slice(&self.body).with_context(|| format!("not JSON: {}", self.text()))
    }
}

/// A client that requests paths.
#[derive(Debug)]
pub(crate) struct Probe {
    connection: Connection,
}

impl Probe {
    pub(crate) fn new(endpoint: Endpoint) -> Self {
        Self {
            connection: Connection::new(endpoint, TIMEOUT, usize::MAX),
        }
    }

    /// Sends a request and returns its answer, with any status.
    pub(crate) fn ask(&mut self, method: &str, path: &str, body: Option<&str>) -> Result<Answer> {
        let headers = self.connection.endpoint.headers();
        let mut request = Vec::new();
        write_request(
            &mut request,
            &[method, " ", path],
            &headers,
            body.map(str::as_bytes),
        );
        self.send(&request)
            .with_context(|| format!("{method} {path}"))
    }

    /// Sends a request whose answer must have this status.
    pub(crate) fn expect(
        &mut self,
        method: &str,
        path: &str,
        body: Option<&str>,
        status: u16,
    ) -> Result<Answer> {
        let answer = self.ask(method, path, body)?;
        let (found, text) = (answer.status, answer.text());
        ensure!(found == status, "{method} {path}: {found} {text}");
        Ok(answer)
    }

    /// Sends a `GET`, which must succeed.
    pub(crate) fn get(&mut self, path: &str) -> Result<Answer> {
        self.expect("GET", path, None, 200)
    }

    /// Sends a request and returns its answer.
    pub(crate) fn send(&mut self, request: &[u8]) -> Result<Answer> {
        let used = self.connection.stream.is_some();
        let answer = self.send_once(request);
        // The server may have closed the idle connection in the meantime.
        match answer.is_err() && used {
            true => self.send_once(request),
            false => answer,
        }
    }

    fn send_once(&mut self, request: &[u8]) -> Result<Answer> {
        let (head, answer) = self.connection.exchange(request)?;
        Ok(Answer {
            status: head.status,
            body: body(&head, answer)?.into_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_length_that_cannot_be_is_an_error_when_the_answer_ends() {
        for length in [1_000_000_000_000_000, u64::MAX] {
            let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
            let address = listener.local_addr().expect("an address");
            let server = std::thread::spawn(move || {
                let (mut stream, _) = listener.accept().expect("a client");
                let mut received = [0; 1024];
                let _ = stream.read(&mut received).expect("a request");
                let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\nabc");
                stream.write_all(answer.as_bytes()).expect("sent");
            });
            let endpoint = Endpoint::plain(address, "localhost");
            let mut connection = Connection::new(endpoint, TIMEOUT, usize::MAX);
            let answer = connection.exchange(b"GET / HTTP/1.1\r\n\r\n");
            let error = answer.expect_err("it is not whole").to_string();
            assert!(error.contains("closed before"), "{error}");
            // A wrong length allocates no memory before its bytes arrive.
            assert!(connection.received.capacity() < 1 << 20);
            server.join().expect("the server ends");
        }
    }
}
