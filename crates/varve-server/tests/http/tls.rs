//! TLS on the server's own listeners.

use std::io::Read as _;
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
use varve_testkit::http::{Connection, request};
use varve_testserver::TestServer;

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

pub(crate) type Secure = Connection<StreamOwned<ClientConnection, TcpStream>>;

pub(crate) fn connect(server: &TestServer, config: ClientConfig) -> Secure {
    connect_to(server.address(), config)
}

pub(crate) fn connect_to(address: SocketAddr, config: ClientConfig) -> Secure {
    let stream = Connection::to(address).stream;
    let name = ServerName::try_from("127.0.0.1").unwrap();
    let connection = ClientConnection::new(Arc::new(config), name).unwrap();
    Connection::on(StreamOwned::new(connection, stream))
}

/// The certificate that a new connection is shown.
fn shown(authority: &Authority, server: &TestServer) -> CertificateDer<'static> {
    let mut stream = authority.connect(server);
    stream.get("/versions");
    stream.stream.conn.peer_certificates().unwrap()[0].clone()
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
    for (seconds, header) in [(0, None), (600, Some("max-age=600"))] {
        let authority = Authority::new();
        authority.issue();
        let mut config = authority.config();
        config.tls.hsts_seconds = seconds;
        let server = TestServer::start(config);
        let answer = authority.connect(&server).get("/versions");
        let found = answer.header("strict-transport-security");
        assert_eq!(found, header, "{}", answer.head);
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
            assert_eq!(stream.get("/versions").status, 200);
        }
        assert_eq!(stream.stream.conn.protocol_version(), Some(number));
        assert_eq!(stream.stream.conn.alpn_protocol(), Some(&b"http/1.1"[..]));
    }
    let mut stream = connect(&server, authority.client(&TLS13, "h2"));
    stream.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0");
    let mut head = [0; 9];
    stream.stream.read_exact(&mut head).unwrap();
    assert_eq!(head[3], 4, "the first frame has the server's settings");
    assert_eq!(stream.stream.conn.alpn_protocol(), Some(&b"h2"[..]));
}

#[test]
fn large_answers_and_bodies_come_whole() {
    let authority = Authority::new();
    authority.issue();
    let server = TestServer::start(authority.config());
    let mut stream = authority.connect(&server);
    let body = "x".repeat(3_000_000);
    let answer = stream
        .exchange(&request("POST", "/test/echo", "", &body))
        .unwrap();
    assert_eq!((answer.status, answer.body.len()), (200, body.len()));
    assert!(answer.body.iter().all(|byte| *byte == b'x'));
}

#[test]
fn websockets_are_served_over_tls() {
    let authority = Authority::new();
    authority.issue();
    let server = TestServer::start(authority.config());
    let url = format!("wss://{}/gremlin", server.address());
    let (mut socket, _) = client(url, authority.connect(&server).stream).unwrap();
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
    let mut client = Connection::to(server.address());
    let answer = client.get("/versions");
    assert_eq!(answer.status, 400);
    assert!(answer.text().contains("speaks TLS"), "{}", answer.text());
    // What is neither is closed without a word.
    let mut client = Connection::to(server.address());
    client.send(b"\0\0\0\0");
    assert!(client.receive_rest().is_empty());
}

#[test]
fn a_renewed_certificate_is_served_and_a_bad_one_is_not() {
    let authority = Authority::new();
    let first = authority.issue();
    let server = TestServer::start(authority.config());
    let mut kept = authority.connect(&server);
    kept.get("/versions");
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
    assert_eq!(kept.get("/versions").status, 200, "open connections go on");
}

#[test]
fn half_a_handshake_ends_in_its_time() {
    let authority = Authority::new();
    authority.issue();
    let mut config = authority.config();
    config.tls.handshake_timeout_ms = 100;
    let server = TestServer::start(config);
    let mut silent = Connection::to(server.address());
    let mut half = Connection::to(server.address());
    half.send(&[22, 3, 1, 1, 0, 1]);
    assert!(silent.receive_rest().is_empty() && half.receive_rest().is_empty());
    let mut stream = authority.connect(&server);
    let answer = stream.get("/metrics?type=prometheus");
    let metrics = answer.text();
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
    established.get("/versions");
    let mut held: Vec<TcpStream> = Vec::new();
    let versions = request("GET", "/versions", "", "");
    let works = || authority.connect(&server).exchange(&versions).is_ok();
    // One that came while a request had a place was refused one itself.
    until("a connection beyond them is closed", || {
        held.push(TcpStream::connect(server.address()).unwrap());
        !works()
    });
    established.get("/versions");
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
    let mut silent = Connection::to(server.address());
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
