//! A plain client for everything beside the load: one request after another on one connection.

use std::io::{ErrorKind, Read as _, Write as _};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};

use super::http::Head;
use crate::endpoint::{Endpoint, Stream};

/// How long to wait for an answer.
const TIMEOUT: Duration = Duration::from_secs(60);

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// The body as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON.
    pub(crate) fn json(&self) -> Result<serde_json::Value> {
        serde_json::from_slice(&self.body).with_context(|| format!("not JSON: {}", self.text()))
    }
}

/// The client.
#[derive(Debug)]
pub(crate) struct Probe {
    endpoint: Endpoint,
    stream: Option<Stream>,
}

impl Probe {
    pub(crate) const fn new(endpoint: Endpoint) -> Self {
        Self {
            endpoint,
            stream: None,
        }
    }

    /// Sends a request and waits for its answer, whatever its status.
    pub(crate) fn ask(&mut self, method: &str, path: &str, body: Option<&str>) -> Result<Answer> {
        let headers = self.endpoint.headers();
        let mut request = format!("{method} {path} HTTP/1.1\r\n{headers}");
        if let Some(body) = body {
            request += "Content-Type: application/json\r\n";
            request += &format!("Content-Length: {}\r\n", body.len());
        }
        request += "\r\n";
        request += body.unwrap_or_default();
        let used = self.stream.is_some();
        let result = self.exchange(request.as_bytes());
        // A server may have closed an idle connection meanwhile.
        if result.is_err() && used {
            self.stream = None;
            return self.exchange(request.as_bytes());
        }
        result.with_context(|| format!("{method} {path}"))
    }

    /// Sends a whole request and waits for its answer.
    #[cfg(feature = "rocksdb")]
    pub(crate) fn send(&mut self, request: &[u8]) -> Result<Answer> {
        self.stream = None;
        self.exchange(request)
    }

    /// `GET`, which must succeed.
    pub(crate) fn get(&mut self, path: &str) -> Result<Answer> {
        let answer = self.ask("GET", path, None)?;
        ensure!(
            answer.status == 200,
            "GET {path}: {} {}",
            answer.status,
            answer.text()
        );
        Ok(answer)
    }

    fn exchange(&mut self, request: &[u8]) -> Result<Answer> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => {
                let connected = self.endpoint.connect(TIMEOUT);
                connected.with_context(|| format!("connecting to {}", self.endpoint.address))?
            }
        };
        stream.write_all(request)?;
        let mut bytes = Vec::new();
        let mut part = vec![0; 64 * 1024];
        loop {
            let length = match stream.read(&mut part) {
                Ok(length) => length,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error).context("reading the answer"),
            };
            bytes.extend_from_slice(&part[..length]);
            let bad = |_| anyhow!("the answer is not HTTP/1.1");
            if let Some(head) = Head::parse(&bytes).map_err(bad)?
                && let Some(end) = head.whole(&bytes, length == 0).map_err(bad)?
            {
                if !head.close {
                    self.stream = Some(stream);
                }
                let body = head.body(&bytes[..end]).map_err(bad)?.into_owned();
                return Ok(Answer {
                    status: head.status,
                    body,
                });
            }
            ensure!(
                length > 0,
                "the connection was closed before the answer was whole"
            );
        }
    }
}
