//! TLS on the server's own listeners.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rcgen::{CertificateParams, Issuer, KeyPair};
use rustls::client::WantsClientCert;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::version::{TLS12, TLS13};
use rustls::{
    ClientConfig, ClientConnection, ConfigBuilder, ProtocolVersion, RootCertStore, StreamOwned,
    SupportedProtocolVersion,
};
use tempfile::TempDir;
use tokio_tungstenite::tungstenite::{Message, client};
use varve_server::{AppState, ServerConfig, SetupError, TlsConfig};

use crate::harness::{Client, TestServer};

/// A hang fails the test in place of blocking it.
const TIMEOUT: Duration = Duration::from_secs(20);

/// An authority of a test, and the folder of what it has signed.
pub(crate) struct Authority {
    pub(crate) issuer: Issuer<'static, KeyPair>,
    pub(crate) certificate: CertificateDer<'static>,
    folder: TempDir,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let certificate = params.self_signed(&key).unwrap().der().clone();
        Self {
            issuer: Issuer::new(params, key),
            certificate,
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes the authority's own certificate to a file.
    pub(crate) fn write(&self, name: &str) {
        std::fs::write(self.file(name), self.pem()).unwrap();
    }

    fn pem(&self) -> String {
        use base64::Engine as _;
        let text = base64::engine::general_purpose::STANDARD.encode(&self.certificate);
        format!("-----BEGIN CERTIFICATE-----\n{text}\n-----END CERTIFICATE-----\n")
    }

    /// Signs a certificate for 127.0.0.1 and writes it and its key; returns the certificate.
    pub(crate) fn issue(&self) -> CertificateDer<'static> {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        std::fs::write(self.file("server.pem"), certificate.pem()).unwrap();
        std::fs::write(self.file("server.key"), key.serialize_pem()).unwrap();
        certificate.der().clone()
    }

    pub(crate) fn config(&self) -> ServerConfig {
        ServerConfig {
            tls: TlsConfig {
                certificate_file: self.file("server.pem"),
                key_file: self.file("server.key"),
                reload_ms: 20,
                ..TlsConfig::default()
            },
            ..ServerConfig::default()
        }
    }

    fn client(&self, version: &'static SupportedProtocolVersion, protocol: &str) -> ClientConfig {
        let mut config = self.trusting(version).with_no_client_auth();
        config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
        config
    }

    /// The options of a client that trusts this authority.
    pub(crate) fn trusting(
        &self,
        version: &'static SupportedProtocolVersion,
    ) -> ConfigBuilder<ClientConfig, WantsClientCert> {
        let mut trusted = RootCertStore::empty();
        trusted.add(self.certificate.clone()).unwrap();
        let provider = Arc::new(aws_lc_rs::default_provider());
        ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[version])
            .unwrap()
            .with_root_certificates(trusted)
    }

    pub(crate) fn connect(&self, server: &TestServer) -> Secure {
        connect(server, self.client(&TLS13, "http/1.1"))
    }
}

pub(crate) type Secure = StreamOwned<ClientConnection, TcpStream>;

pub(crate) fn connect(server: &TestServer, config: ClientConfig) -> Secure {
    connect_to(server.address(), config)
}

pub(crate) fn connect_to(address: SocketAddr, config: ClientConfig) -> Secure {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    let name = ServerName::try_from("127.0.0.1").unwrap();
    let connection = ClientConnection::new(Arc::new(config), name).unwrap();
    StreamOwned::new(connection, stream)
}

fn get(stream: &mut Secure, path: &str) -> std::io::Result<String> {
    get_with(stream, path, "")
}

/// With further headers.
pub(crate) fn get_with(stream: &mut Secure, path: &str, headers: &str) -> std::io::Result<String> {
    stream.write_all(format!("GET {path} HTTP/1.1\r\nhost: h\r\n{headers}\r\n").as_bytes())?;
    let mut answer = Vec::new();
    let mut part = [0; 16 * 1024];
    loop {
        match stream.read(&mut part)? {
            0 => return Err(ErrorKind::UnexpectedEof.into()),
            length => answer.extend_from_slice(&part[..length]),
        }
        let text = String::from_utf8_lossy(&answer);
        let length = text.split_once("content-length: ").and_then(|(_, rest)| {
            let (length, _) = rest.split_once("\r\n")?;
            length.parse::<usize>().ok()
        });
        if let (Some(length), Some((_, body))) = (length, text.split_once("\r\n\r\n"))
            && body.len() >= length
        {
            return Ok(text.into_owned());
        }
    }
}

/// The certificate that a new connection is shown.
fn shown(authority: &Authority, server: &TestServer) -> CertificateDer<'static> {
    let mut stream = authority.connect(server);
    get(&mut stream, "/versions").unwrap();
    stream.conn.peer_certificates().unwrap()[0].clone()
}

pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < TIMEOUT, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn browsers_are_told_to_use_tls_if_an_option_says_so() {
    for (seconds, header) in [
        (0, None),
        (600, Some("strict-transport-security: max-age=600")),
    ] {
        let authority = Authority::new();
        authority.issue();
        let mut config = authority.config();
        config.tls.hsts_seconds = seconds;
        let server = TestServer::start(config);
        let answer = get_with(&mut authority.connect(&server), "/versions", "").unwrap();
        let found = answer
            .lines()
            .find(|line| line.starts_with("strict-transport"));
        assert_eq!(found, header, "{answer}");
    }
}

#[test]
fn both_versions_of_tls_and_of_http_are_served() {
    let authority = Authority::new();
    authority.issue();
    let server = TestServer::start(authority.config());
    for (version, number) in [
        (&TLS12, ProtocolVersion::TLSv1_2),
        (&TLS13, ProtocolVersion::TLSv1_3),
    ] {
        let mut stream = connect(&server, authority.client(version, "http/1.1"));
        for _ in 0..2 {
            let answer = get(&mut stream, "/versions").unwrap();
            assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        }
        assert_eq!(stream.conn.protocol_version(), Some(number));
        assert_eq!(stream.conn.alpn_protocol(), Some(&b"http/1.1"[..]));
    }
    let mut stream = connect(&server, authority.client(&TLS13, "h2"));
    stream
        .write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0")
        .unwrap();
    let mut head = [0; 9];
    stream.read_exact(&mut head).unwrap();
    assert_eq!(head[3], 4, "the first frame has the server's settings");
    assert_eq!(stream.conn.alpn_protocol(), Some(&b"h2"[..]));
}

#[test]
fn large_answers_and_bodies_come_whole() {
    let authority = Authority::new();
    authority.issue();
    let server = TestServer::start(authority.config());
    let mut stream = authority.connect(&server);
    let body = "x".repeat(3_000_000);
    let head = format!(
        "POST /test/echo HTTP/1.1\r\nhost: h\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    let mut answer = vec![0; body.len()];
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    assert!(head.starts_with(b"HTTP/1.1 200"));
    stream.read_exact(&mut answer).unwrap();
    assert!(answer.iter().all(|byte| *byte == b'x'));
}

#[test]
fn websockets_are_served_over_tls() {
    let authority = Authority::new();
    authority.issue();
    let server = TestServer::start(authority.config());
    let url = format!("wss://{}/gremlin", server.address());
    let (mut socket, _) = client(url, authority.connect(&server)).unwrap();
    let request = r#"{"requestId": "5f2f0f6e-0e4c-4d0f-8a1b-0a4c6d1f2e3d", "op": "eval", "processor": "",
        "args": {"gremlin": "1 + 1"}}"#;
    socket.send(Message::text(request)).unwrap();
    let answer = socket.read().unwrap().into_data();
    let answer = String::from_utf8_lossy(&answer);
    assert!(answer.contains(r#""code":200"#), "{answer}");
}

#[test]
fn a_client_without_tls_is_answered_so() {
    let authority = Authority::new();
    authority.issue();
    let server = TestServer::start(authority.config());
    let mut client = Client::connect(server.address());
    let answer = client.get("/versions");
    assert_eq!(answer.status, 400);
    assert!(answer.text().contains("speaks TLS"), "{}", answer.text());
    // What is neither is closed without a word.
    let mut client = Client::connect(server.address());
    client.send(b"\0\0\0\0");
    assert!(client.receive_rest().is_empty());
}

#[test]
fn a_renewed_certificate_is_served_and_a_bad_one_is_not() {
    let authority = Authority::new();
    let first = authority.issue();
    let server = TestServer::start(authority.config());
    let mut kept = authority.connect(&server);
    get(&mut kept, "/versions").unwrap();
    assert_eq!(shown(&authority, &server), first);
    let second = authority.issue();
    until("the new certificate", || {
        shown(&authority, &server) == second
    });
    // The key of another certificate, no key, and no file: the pair before is served on.
    let key = authority.file("server.key");
    let good = std::fs::read(&key).unwrap();
    let other = KeyPair::generate().unwrap().serialize_pem();
    for bad in [other.as_bytes(), b"nothing", b""] {
        std::fs::write(&key, bad).unwrap();
        std::thread::sleep(Duration::from_millis(60));
        assert_eq!(shown(&authority, &server), second);
    }
    std::fs::remove_file(&key).unwrap();
    std::thread::sleep(Duration::from_millis(60));
    assert_eq!(shown(&authority, &server), second);
    std::fs::write(&key, good).unwrap();
    let third = authority.issue();
    until("the third certificate", || {
        shown(&authority, &server) == third
    });
    let answer = get(&mut kept, "/versions").unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "open connections go on");
}

#[test]
fn half_a_handshake_ends_in_its_time() {
    let authority = Authority::new();
    authority.issue();
    let mut config = authority.config();
    config.tls.handshake_timeout_ms = 100;
    let server = TestServer::start(config);
    let mut silent = Client::connect(server.address());
    let mut half = Client::connect(server.address());
    half.send(&[22, 3, 1, 1, 0, 1]);
    assert!(silent.receive_rest().is_empty() && half.receive_rest().is_empty());
    let mut stream = authority.connect(&server);
    let metrics = get(&mut stream, "/metrics?type=prometheus");
    let metrics = metrics.unwrap();
    let failed = metrics
        .lines()
        .find(|line| line.starts_with("varve_tls_handshakes_failed_total"));
    assert_eq!(
        failed,
        Some("varve_tls_handshakes_failed_total 2"),
        "{metrics}"
    );
}

#[test]
fn only_so_many_handshakes_are_in_work() {
    let authority = Authority::new();
    authority.issue();
    let mut config = authority.config();
    config.tls.max_handshakes = 4;
    config.tls.handshake_timeout_ms = 600_000;
    let server = TestServer::start(config);
    let mut established = authority.connect(&server);
    get(&mut established, "/versions").unwrap();
    let mut held: Vec<TcpStream> = Vec::new();
    let works = || get(&mut authority.connect(&server), "/versions").is_ok();
    // One that came while a request had a place was refused one itself.
    until("a connection beyond them is closed", || {
        held.push(TcpStream::connect(server.address()).unwrap());
        !works()
    });
    get(&mut established, "/versions").unwrap();
    drop(held);
    until("room once they are gone", works);
}

#[test]
fn a_stop_ends_handshakes() {
    let authority = Authority::new();
    authority.issue();
    let mut config = authority.config();
    config.tls.handshake_timeout_ms = 600_000;
    let server = TestServer::start(config);
    let mut silent = Client::connect(server.address());
    server.request_stop();
    assert!(silent.receive_rest().is_empty());
    server.wait();
}

#[test]
fn what_cannot_be_served_is_said_at_start() {
    let authority = Authority::new();
    let set_up = |config: ServerConfig| AppState::new(config).map(drop).unwrap_err();
    assert!(matches!(set_up(authority.config()), SetupError::Tls(_)));
    authority.issue();
    let other = KeyPair::generate().unwrap().serialize_pem();
    std::fs::write(authority.file("server.key"), other).unwrap();
    let error = set_up(authority.config()).to_string();
    assert!(error.contains("server.pem"), "{error}");
    let mut config = authority.config();
    config.tls.key_file = PathBuf::new();
    assert!(matches!(set_up(config), SetupError::Config(_)));
}
