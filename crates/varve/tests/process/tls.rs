//! The tools against a server behind TLS.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::server::VARVE;

/// The authority, and the certificate and key that it signed for 127.0.0.1.
fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../varve-kv-cassandra/tests/tls")
        .join(name)
}

/// Answers one request of a backup.
fn answer(stream: TcpStream, config: &Arc<ServerConfig>) -> std::io::Result<()> {
    let session = ServerConnection::new(Arc::clone(config)).map_err(std::io::Error::other)?;
    let mut stream = BufReader::new(StreamOwned::new(session, stream));
    let (mut request, mut length) = (String::new(), 0);
    stream.read_line(&mut request)?;
    loop {
        let mut line = String::new();
        stream.read_line(&mut line)?;
        match line.to_ascii_lowercase().trim().split_once(": ") {
            Some(("content-length", value)) => length = value.parse().unwrap_or(0),
            Some(_) => {}
            None => break,
        }
    }
    stream.read_exact(&mut vec![0; length])?;
    let body = match request.starts_with("POST /admin/backup ") {
        true => "{\"job\":1}",
        false => "{\"job\":1,\"status\":\"done\",\"result\":{\"files\":7}}",
    };
    let length = body.len();
    let head = format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n");
    let mut stream = stream.into_inner();
    stream.write_all(format!("{head}{body}").as_bytes())?;
    stream.conn.send_close_notify();
    stream.flush()
}

/// Serves in the background; returns the address.
fn serve() -> String {
    let chain = CertificateDer::pem_file_iter(file("node.pem")).expect("certificates");
    let chain = chain.collect::<Result<_, _>>().expect("certificates");
    let key = PrivateKeyDer::from_pem_file(file("node.key")).expect("a key");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key));
    let config = Arc::new(config.expect("a certificate with its key"));
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("bound");
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // A client that does not trust it breaks the connection.
            let _ = answer(stream, &config);
        }
    });
    format!("https://{address}")
}

#[test]
fn the_tools_speak_https_to_servers_whose_authority_is_trusted() {
    let url = serve();
    let backup = |trusted: &str| {
        let output = Command::new(VARVE)
            .args(["backup", "--server", &url, "monday"])
            .env("SSL_CERT_FILE", file(trusted))
            .output()
            .expect("the binary runs");
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text).into_owned();
        (output.status.success(), text)
    };
    let (done, text) = backup("ca.pem");
    assert!(done && text.contains("\"files\":7"), "{text}");
    let (done, text) = backup("other-ca.pem");
    assert!(!done && text.contains("certificate"), "{text}");
}
