//! A small blocking client of the REST API, for the tools that work against a running server.
//!
//! `ureq` does the HTTP: blocking calls on a few threads are all that the tools need. With
//! `https://` it trusts the authorities that the system trusts; `--ca-file` or `SSL_CERT_FILE`
//! names others.

use std::io::{self, Read as _, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::MultiGzDecoder;
use serde::Deserialize;
use ureq::http::Request;
use ureq::tls::{Certificate, ClientCert, PemItem, RootCerts, TlsConfig, parse_pem};

use crate::cli::{Target, Trust};

/// The variables with a token, or with a name and a password, for a server with authentication.
const TOKEN: &str = "VARVE_TOKEN";
const USER: &str = "VARVE_USER";
const PASSWORD: &str = "VARVE_PASSWORD";

/// The largest answer that is read, in bytes, before and after decompression.
const ANSWER_BYTES_MAX: u64 = 256 << 20;
/// The time limit of one request, in seconds.
const REQUEST_SECONDS_MAX: u64 = 120;
/// The most seconds that a download takes; the server ends an export before.
const DOWNLOAD_SECONDS_MAX: u64 = 6 * 3600;
/// The longest wait for a busy or unreachable server, in seconds.
const TIMEOUT_SECONDS: u64 = 60;
/// The first pause before a retry; it doubles up to [`PAUSE_MAX`].
const PAUSE_FIRST: Duration = Duration::from_millis(100);
/// The longest pause before a retry.
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RestError {
    /// No answer: nothing listens, or the connection broke.
    #[error("{url}: {cause}")]
    NoAnswer {
        /// The URL of the request.
        url: String,
        /// What went wrong.
        cause: String,
    },
    /// Nothing listens.
    #[error(
        "no server answers at {server}: start one with `varve serve`, or name it with --server"
    )]
    NoServer {
        /// Its URL.
        server: String,
    },
    /// The server refused the request.
    #[error("{message} (HTTP {status})")]
    Refused {
        /// The status code.
        status: u16,
        /// The server's message.
        message: String,
    },
    /// A file of certificates or a key cannot be used.
    #[error("{file}: {cause}")]
    Trust {
        /// The path.
        file: String,
        /// What is wrong with the file.
        cause: String,
    },
    /// The answer cannot be parsed.
    #[error("{url}: unexpected answer: {cause}")]
    Unexpected {
        /// The URL of the request.
        url: String,
        /// Why the answer cannot be parsed.
        cause: String,
    },
}

/// One graph of a server.
#[derive(Clone)]
pub(crate) struct GraphClient {
    agent: ureq::Agent,
    /// The value of the header `authorization`, if the environment has credentials.
    authorization: Option<String>,
    server: String,
    graph: String,
}

/// The value of the header `authorization` for the credentials in the environment, if any.
fn authorization() -> Option<String> {
    if let Ok(token) = std::env::var(TOKEN) {
        return Some(format!("Bearer {token}"));
    }
    let (user, password) = (std::env::var(USER).ok()?, std::env::var(PASSWORD).ok()?);
    Some(format!(
        "Basic {}",
        STANDARD.encode(format!("{user}:{password}"))
    ))
}

/// The trusted authorities.
fn trusted(trust: &Trust) -> Result<RootCerts, RestError> {
    let Some(file) = &trust.ca_file else {
        return Ok(RootCerts::PlatformVerifier);
    };
    Ok(RootCerts::new_with_certs(&certificates(file)?))
}

/// The client's certificate.
fn own_certificate(trust: &Trust) -> Result<Option<ClientCert>, RestError> {
    let (Some(certificate), Some(key)) = (&trust.client_cert, &trust.client_key) else {
        return Ok(None);
    };
    let mut keys = items(key)?.into_iter().filter_map(|item| match item {
        PemItem::PrivateKey(key) => Some(key),
        _ => None,
    });
    let no_key = "there is no PEM key in it that is not encrypted";
    let found = keys.next().ok_or_else(|| unusable(key, &no_key))?;
    let chain = certificates(certificate)?;
    Ok(Some(ClientCert::new_with_certs(&chain, found)))
}

/// The certificates of a PEM file, at least one.
fn certificates(file: &Path) -> Result<Vec<Certificate<'static>>, RestError> {
    let found = items(file)?.into_iter().filter_map(|item| match item {
        PemItem::Certificate(one) => Some(one),
        _ => None,
    });
    let found: Vec<_> = found.collect();
    match found.is_empty() {
        true => Err(unusable(file, &"there is no PEM certificate in it")),
        false => Ok(found),
    }
}

/// The items of a PEM file.
fn items(file: &Path) -> Result<Vec<PemItem<'static>>, RestError> {
    let text = std::fs::read(file).map_err(|error| unusable(file, &error))?;
    let items: Result<Vec<_>, _> = parse_pem(&text).collect();
    items.map_err(|error| unusable(file, &error))
}

fn unusable(file: &Path, cause: &dyn std::fmt::Display) -> RestError {
    RestError::Trust {
        file: file.display().to_string(),
        cause: cause.to_string(),
    }
}

/// The body of an error answer.
#[derive(Deserialize)]
struct ErrorBody {
    message: String,
}

impl GraphClient {
    /// A client of the graph that a tool's arguments name.
    ///
    /// # Errors
    /// As [`GraphClient::new`].
    pub(crate) fn of(target: &Target) -> Result<Self, RestError> {
        Self::new(&target.server, &target.graph, &target.trust)
    }

    /// A client of `graph` on `server` (`http://host:port` or `https://…`). Nothing is sent yet.
    ///
    /// # Errors
    /// When a file of certificates or a key cannot be used.
    pub(crate) fn new(server: &str, graph: &str, trust: &Trust) -> Result<Self, RestError> {
        // One implementation of cryptography in the binary: the server's.
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let tls = TlsConfig::builder()
            .unversioned_rustls_crypto_provider(provider)
            .root_certs(trusted(trust)?)
            .client_cert(own_certificate(trust)?)
            .build();
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(Duration::from_secs(REQUEST_SECONDS_MAX)))
            .tls_config(tls)
            .build()
            .new_agent();
        let server = server.trim_end_matches('/');
        let server = if server.contains("://") {
            server.to_owned()
        } else {
            format!("http://{server}")
        };
        Ok(Self {
            agent,
            authorization: authorization(),
            server,
            graph: graph.to_owned(),
        })
    }

    /// The path of a resource of this graph, e.g. `schema/propertykeys`.
    pub(crate) fn of_graph(&self, resource: &str) -> String {
        format!("/graphs/{}/{resource}", encode(&self.graph))
    }

    /// Whether the graph is an open graph.
    ///
    /// # Errors
    /// As [`GraphClient::get`].
    pub(crate) fn is_open(&self) -> Result<bool, RestError> {
        let graph: serde_json::Value = self.get(&format!("/graphs/{}", encode(&self.graph)))?;
        Ok(graph["schema"] == "open")
    }

    /// Sends one request and returns the body of the answer.
    ///
    /// # Errors
    /// When there is no answer, or its status is not a success.
    pub(crate) fn send(&self, method: &str, path: &str, body: &str) -> Result<String, RestError> {
        let url = format!("{}{path}", self.server);
        let no_answer = |cause: String| RestError::NoAnswer {
            url: url.clone(),
            cause,
        };
        let failed = |error: ureq::Error| match error {
            ureq::Error::Io(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                RestError::NoServer {
                    server: self.server.clone(),
                }
            }
            other => no_answer(other.to_string()),
        };
        let mut request = Request::builder()
            .method(method)
            .uri(&url)
            .header("content-type", "application/json");
        if let Some(authorization) = &self.authorization {
            request = request.header("authorization", authorization);
        }
        let request = request
            .body(body.to_owned())
            .map_err(|error| no_answer(error.to_string()))?;
        let mut answer = if body.is_empty() {
            self.agent.run(request.map(|_| ()))
        } else {
            self.agent.run(request)
        }
        .map_err(failed)?;
        let status = answer.status();
        // HugeGraph compresses listings regardless of the request's `accept-encoding`.
        let encoding = answer.headers().get("content-encoding");
        let is_gzip = encoding.is_some_and(|encoding| encoding == "gzip");
        let bytes = answer
            .body_mut()
            .with_config()
            .limit(ANSWER_BYTES_MAX)
            .read_to_vec();
        let bytes = bytes.map_err(|error| no_answer(error.to_string()))?;
        let text = text_of(bytes, is_gzip).map_err(|error| no_answer(error.to_string()))?;
        if status.is_success() {
            return Ok(text);
        }
        let message =
            serde_json::from_str::<ErrorBody>(&text).map_or_else(|_| text, |body| body.message);
        Err(RestError::Refused {
            status: status.as_u16(),
            message,
        })
    }

    /// Writes the answer of a GET request to `output`, as it comes.
    ///
    /// # Errors
    /// As [`GraphClient::send`], or when the answer is cut off or cannot be written.
    pub(crate) fn download(&self, path: &str, output: &mut impl Write) -> Result<(), RestError> {
        let url = format!("{}{path}", self.server);
        let no_answer = |cause: String| RestError::NoAnswer {
            url: url.clone(),
            cause,
        };
        let limit = Some(Duration::from_secs(DOWNLOAD_SECONDS_MAX));
        let mut request = self.agent.get(&url).config().timeout_global(limit).build();
        if let Some(authorization) = &self.authorization {
            request = request.header("authorization", authorization);
        }
        let mut answer = request
            .call()
            .map_err(|error| no_answer(error.to_string()))?;
        let status = answer.status();
        if !status.is_success() {
            let text = answer.body_mut().read_to_string().unwrap_or_default();
            let message =
                serde_json::from_str::<ErrorBody>(&text).map_or_else(|_| text, |body| body.message);
            return Err(RestError::Refused {
                status: status.as_u16(),
                message,
            });
        }
        let copied = io::copy(&mut answer.body_mut().as_reader(), output);
        copied.map_err(|error| no_answer(error.to_string()))?;
        Ok(())
    }

    /// As [`GraphClient::send`], but retries while the server is busy (503, 429) or unreachable.
    /// The server may get the request more than once, so the request must be safe to repeat.
    ///
    /// # Errors
    /// When the server stays busy or unreachable for a minute, or refuses the request.
    pub(crate) fn send_patiently(
        &self,
        method: &str,
        path: &str,
        body: &str,
    ) -> Result<String, RestError> {
        let started = Instant::now();
        let mut pause = PAUSE_FIRST;
        loop {
            let error = match self.send(method, path, body) {
                Err(
                    error @ (RestError::NoAnswer { .. }
                    | RestError::NoServer { .. }
                    | RestError::Refused {
                        status: 503 | 429 | 507,
                        ..
                    }),
                ) => error,
                done => return done,
            };
            if started.elapsed() + pause > Duration::from_secs(TIMEOUT_SECONDS) {
                return Err(error);
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    /// Runs a statement of Cypher and returns the answer of the Query API.
    ///
    /// # Errors
    /// As [`GraphClient::send_patiently`], which may run it more than once.
    pub(crate) fn cypher(&self, statement: &str) -> Result<String, RestError> {
        let path = format!("/db/{}/query/v2", encode(&self.graph));
        let body = serde_json::json!({ "statement": statement });
        self.send_patiently("POST", &path, &body.to_string())
    }

    /// Sends a GET request and parses the answer as `T`.
    ///
    /// # Errors
    /// As [`GraphClient::send_patiently`], or when the answer is not a `T`.
    pub(crate) fn get<T: serde::de::DeserializeOwned>(&self, path: &str) -> Result<T, RestError> {
        let text = self.send_patiently("GET", path, "")?;
        serde_json::from_str(&text).map_err(|error| RestError::Unexpected {
            url: format!("{}{path}", self.server),
            cause: error.to_string(),
        })
    }
}

/// The text of an answer's body.
///
/// # Errors
/// When it is damaged, not UTF-8, or longer than [`ANSWER_BYTES_MAX`] once decompressed.
fn text_of(bytes: Vec<u8>, is_gzip: bool) -> io::Result<String> {
    if !is_gzip {
        return String::from_utf8(bytes).map_err(io::Error::other);
    }
    let mut text = String::new();
    MultiGzDecoder::new(bytes.as_slice())
        .take(ANSWER_BYTES_MAX + 1)
        .read_to_string(&mut text)?;
    if text.len() as u64 > ANSWER_BYTES_MAX {
        let message = format!("the answer has more than {ANSWER_BYTES_MAX} bytes");
        return Err(io::Error::other(message));
    }
    Ok(text)
}

/// Percent-encodes all bytes except ASCII letters, digits and `-._~`.
pub(crate) fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

/// An id as a path segment: JSON, or U and a UUID, for a vertex; plain text for an edge.
pub(crate) fn id_in_path(id: &serde_json::Value, is_edge: bool) -> String {
    match (id, id.get("UUID")) {
        (serde_json::Value::String(text), _) if is_edge => text.clone(),
        (_, Some(uuid)) => format!("U{uuid}"),
        _ => id.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use crate::cli::Trust;
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::{GraphClient, encode};

    #[test]
    fn a_compressed_answer_is_read() {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(b"[1,2]").expect("in memory");
        let body = encoder.finish().expect("in memory");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("its address");
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a client");
            let asked = stream.read(&mut [0; 4096]).expect("a request");
            let length = body.len();
            write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {length}\r\n\r\n"
            )
            .expect("sent");
            stream.write_all(&body).expect("sent");
            asked
        });
        let client =
            GraphClient::new(&address.to_string(), "g", &Trust::default()).expect("a client");
        let answer: Vec<i32> = client.get("/graphs/g/schema").expect("an answer");
        assert_eq!(answer, [1, 2]);
        assert!(server.join().expect("the server") > 0);
    }

    #[test]
    fn ids_survive_a_path() {
        assert_eq!(encode("\"1:marko\""), "%221%3Amarko%22");
        assert_eq!(encode("S1:a>2>2>>Sé"), "S1%3Aa%3E2%3E2%3E%3ES%C3%A9");
        assert_eq!(encode("plain-1._~"), "plain-1._~");
    }
}
