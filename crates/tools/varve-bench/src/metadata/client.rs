//! The calls of the REST API, one after another on one persistent connection, each with its time.
//!
//! The time of a call runs from the request as a value to the checked answer. It includes writing
//! and reading JSON, like the published figures.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::Result;
use varve_omrs::json::{Encode, JsonError, encode};

use super::answer::{self, ANSWER_BYTES_MAX, Answer, Envelope, Form};
use super::checked::Checked;
use crate::client::{self, Connection};
use crate::endpoint::{Endpoint, Trust};

/// The timeout of connecting, and of each wait for more bytes of an answer. The published runs have
/// calls of twenty seconds.
const TIMEOUT: Duration = Duration::from_secs(600);
/// The most bytes of a request's body, and of an answer's body, that a failure keeps.
const KEPT_BYTES: usize = 4_000;
/// The simple name of the exception for methods that the repository does not support.
const NOT_SUPPORTED: &str = "FunctionNotSupportedException";

#[derive(Debug)]
pub(crate) struct Timed {
    pub(crate) answer: Answer,
    pub(crate) elapsed: Duration,
    /// Bytes of the answer's body.
    pub(crate) bytes: u64,
}

#[derive(Debug, Clone)]
pub(crate) struct Failure {
    pub(crate) kind: FailureKind,
    /// The exception's simple name, or a short description of another failure.
    pub(crate) exception: String,
    pub(crate) message: String,
    /// Method, path, and the beginning of the body; at most the path if the answer was readable but
    /// lacks the expected content.
    pub(crate) request: String,
    /// The beginning of the answer's body; empty if there is none, or if the answer was readable
    /// but lacks the expected content.
    pub(crate) answer: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailureKind {
    /// The repository reports that it does not support the method.
    NotSupported,
    /// Another exception, no answer, an unreadable answer, or an answer without the expected
    /// content.
    Failed,
    /// No connection could be opened.
    Gone,
}

#[derive(Debug)]
pub(crate) struct Client {
    connection: Connection,
    headers: String,
    base: String,
    sent: Vec<u8>,
    checked: Checked,
}

impl Client {
    /// A client of `server` at `url`, which acts as `user`.
    ///
    /// # Errors
    /// When the address is not `http://host:port` or `https://host:port`, with or without a path;
    /// when its host name cannot be resolved; or when the certificates for `https` are missing or
    /// unusable.
    pub(crate) fn new((url, trust): (&str, &Trust), server: &str, user: &str) -> Result<Self> {
        let endpoint = Endpoint::new(url, trust)?;
        let path = endpoint.path.clone();
        let (server, user) = (escaped(server), escaped(user));
        Ok(Self {
            headers: endpoint.headers() + "Accept: application/json\r\n",
            connection: Connection::new(endpoint, TIMEOUT, ANSWER_BYTES_MAX),
            base: format!("{path}/servers/{server}/open-metadata/repository-services/users/{user}"),
            sent: Vec::new(),
            checked: Checked::default(),
        })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.connection.endpoint().address
    }

    /// Sends a `GET`, or a `POST` with or without a body.
    ///
    /// # Errors
    /// When the call fails for any reason, or the answer reports an exception.
    pub(crate) fn call(
        &mut self,
        form: &Form,
        method: &str,
        path: &str,
        body: Option<&dyn Encode>,
    ) -> Result<Timed, Failure> {
        let start = Instant::now();
        let body = body.map(encode);
        self.sent.clear();
        // A POST without a body has an empty one.
        let sent = body.as_deref().or((method == "POST").then_some(&[]));
        let line = [method, " ", &self.base, path];
        client::write_request(&mut self.sent, &line, &self.headers, sent);
        self.exchange(form, start).map_err(|mut failure| {
            let body = body.as_deref().map(excerpt).unwrap_or_default();
            failure.request = format!("{method} {}{path} {body}", self.base);
            failure
        })
    }

    /// Opens the connection unless it is open, sends the encoded request, and judges the answer.
    fn exchange(&mut self, form: &Form, start: Instant) -> Result<Timed, Failure> {
        let failed = |kind, what: &str, why: String| Failure::new(kind, what, &why);
        let none =
            |error: anyhow::Error| failed(FailureKind::Failed, "no answer", format!("{error:#}"));
        self.connection
            .open()
            .map_err(|error| failed(FailureKind::Gone, "no connection", error.to_string()))?;
        let (head, answer) = self.connection.exchange(&self.sent).map_err(none)?;
        let content = client::body(&head, answer).map_err(none)?;
        let read = answer::read(&content, form, &mut self.checked);
        let elapsed = start.elapsed();
        Ok(Timed {
            answer: judged(head.status, read, &content)?,
            elapsed,
            bytes: content.len() as u64,
        })
    }
}

/// The answer, or the failure that it reports.
fn judged(
    status: u16,
    read: Result<(Envelope, Answer), JsonError>,
    content: &[u8],
) -> Result<Answer, Failure> {
    let mut failure = match read {
        Ok((envelope, answer)) => match envelope.exception {
            None if status == 200 && envelope.code == 200 => return Ok(answer),
            None => {
                let problem = format!("HTTP {status}, relatedHTTPCode {}", envelope.code);
                Failure::new(FailureKind::Failed, &problem, "")
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
    failure.answer = excerpt(content);
    Err(failure)
}

fn excerpt(bytes: &[u8]) -> String {
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

    /// The failure of an answer without the expected content `what`.
    pub(crate) fn empty(what: &str) -> Self {
        Self::new(FailureKind::Failed, "empty answer", what)
    }
}

/// A value as a part of a path or a query, with every reserved character escaped, as the contract's
/// clients escape it.
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
