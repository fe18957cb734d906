//! The endpoint of a server: its address, TLS, and the client's credentials.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::Args;
use http::Uri;
use rustix::fd::{AsFd, BorrowedFd};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

/// The variables with a token, or with a name and a password, for a server with authentication.
const TOKEN: &str = "VARVE_TOKEN";
const USER: &str = "VARVE_USER";
const PASSWORD: &str = "VARVE_PASSWORD";

/// The authorities that a client trusts, and its own certificate and key.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Trust {
    /// For https: a PEM file with the certificates of the trusted authorities
    #[arg(long, value_name = "FILE")]
    pub(crate) ca_file: Option<PathBuf>,
    /// For https: a PEM file with the client's certificate, followed by those of the intermediate
    /// authorities
    #[arg(long, value_name = "FILE", requires = "client_key")]
    pub(crate) client_cert: Option<PathBuf>,
    /// A PEM file with the key of that certificate, not encrypted
    #[arg(long, value_name = "FILE", requires = "client_cert")]
    pub(crate) client_key: Option<PathBuf>,
}

/// The address of a server and how to connect to it.
#[derive(Debug, Clone)]
pub(crate) struct Endpoint {
    pub(crate) address: SocketAddr,
    /// Host and port as the URL has them.
    host: String,
    /// The path before all others, without a final slash.
    pub(crate) path: String,
    pub(crate) security: Option<Security>,
}

impl Endpoint {
    /// The server at `http://host:port` or `https://host:port`, with or without a path.
    ///
    /// # Errors
    /// When the URL has another form, its host name cannot be resolved, or `https` lacks trusted
    /// authorities.
    pub(crate) fn new(url: &str, trust: &Trust) -> Result<Self> {
        let (uri, is_secure) = parsed(url)?;
        let security = match is_secure {
            true => {
                let file = trust.ca_file.as_deref();
                let file = file.with_context(|| format!("{url}: https needs --ca-file"))?;
                let own = trust.client_cert.as_deref();
                let own = own.zip(trust.client_key.as_deref());
                Some(Security::new(uri.host().unwrap_or_default(), file, own)?)
            }
            false => None,
        };
        Ok(Self {
            address: address(url)?,
            host: uri.authority().map(ToString::to_string).unwrap_or_default(),
            path: uri.path().trim_end_matches('/').to_owned(),
            security,
        })
    }

    /// The server at an address, without TLS.
    #[cfg(test)]
    pub(crate) fn plain(address: SocketAddr, host: &str) -> Self {
        Self {
            address,
            host: host.to_owned(),
            path: String::new(),
            security: None,
        }
    }

    /// The scheme, the host and the port.
    pub(crate) fn url(&self) -> String {
        let s = if self.security.is_some() { "s" } else { "" };
        format!("http{s}://{}", self.host)
    }

    /// The headers of all requests: the host, and the credentials from the environment, if any.
    pub(crate) fn headers(&self) -> String {
        let host = &self.host;
        match authorization() {
            Some(value) => format!("Host: {host}\r\nAuthorization: {value}\r\n"),
            None => format!("Host: {host}\r\n"),
        }
    }

    /// A connection with blocking reads and writes.
    ///
    /// # Errors
    /// When it cannot be made within the time limit.
    pub(crate) fn connect(&self, timeout: Duration) -> io::Result<Stream> {
        let stream = TcpStream::connect_timeout(&self.address, timeout)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(timeout))?;
        Stream::new(stream, self.security.as_ref())
    }
}

fn authorization() -> Option<String> {
    let variable = |name| std::env::var(name).ok();
    if let Some(token) = variable(TOKEN) {
        return Some(format!("Bearer {token}"));
    }
    let (user, password) = (variable(USER)?, variable(PASSWORD)?);
    Some(format!(
        "Basic {}",
        STANDARD.encode(format!("{user}:{password}"))
    ))
}

/// A URL, and whether its scheme is `https`. The default is `http`.
fn parsed(url: &str) -> Result<(Uri, bool)> {
    let uri: Uri = url.parse().with_context(|| url.to_owned())?;
    match uri.scheme_str() {
        None | Some("http") => Ok((uri, false)),
        Some("https") => Ok((uri, true)),
        Some(other) => bail!("{url}: {other} is not supported, only http and https"),
    }
}

/// The address of a URL's host.
///
/// # Errors
/// When it is no URL of `http` or `https`, or its name cannot be resolved.
pub(crate) fn address(url: &str) -> Result<SocketAddr> {
    let (uri, is_secure) = parsed(url)?;
    let host = uri.host().with_context(|| format!("{url}: no host"))?;
    let port = uri.port_u16().unwrap_or(if is_secure { 443 } else { 80 });
    let addresses = (plain_host(host), port).to_socket_addrs();
    addresses
        .with_context(|| format!("{url}: the name cannot be resolved"))?
        .next()
        .with_context(|| format!("{url}: the name has no address"))
}

/// A host without the brackets of an IPv6 address.
fn plain_host(host: &str) -> &str {
    host.trim_start_matches('[').trim_end_matches(']')
}

#[derive(Debug, Clone)]
pub(crate) struct Security {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

impl Security {
    /// `own`: the files of the client's certificate and its key.
    fn new(host: &str, authorities: &Path, own: Option<(&Path, &Path)>) -> Result<Self> {
        let mut trusted = RootCertStore::empty();
        for certificate in certificates(authorities)? {
            trusted
                .add(certificate)
                .with_context(|| format!("a certificate of {}", authorities.display()))?;
        }
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(trusted);
        let config = match own {
            None => config.with_no_client_auth(),
            Some((certificate, key)) => {
                let of_key = || format!("reading {}", key.display());
                let key = PrivateKeyDer::from_pem_file(key).with_context(of_key)?;
                let of_both = || format!("{} and its key", certificate.display());
                let config = config.with_client_auth_cert(certificates(certificate)?, key);
                config.with_context(of_both)?
            }
        };
        Ok(Self {
            config: Arc::new(config),
            name: ServerName::try_from(plain_host(host).to_owned())?,
        })
    }
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let reading = || format!("reading {}", file.display());
    let found = CertificateDer::pem_file_iter(file).with_context(reading)?;
    found.collect::<Result<_, _>>().with_context(reading)
}

#[derive(Debug)]
pub(crate) enum Stream {
    Plain(TcpStream),
    Secure(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Stream {
    pub(crate) fn new(stream: TcpStream, security: Option<&Security>) -> io::Result<Self> {
        let Some(security) = security else {
            return Ok(Self::Plain(stream));
        };
        let (config, name) = (Arc::clone(&security.config), security.name.clone());
        let connection = ClientConnection::new(config, name).map_err(io::Error::other)?;
        Ok(Self::Secure(Box::new(StreamOwned::new(connection, stream))))
    }

    pub(crate) fn socket(&self) -> &TcpStream {
        match self {
            Self::Plain(stream) => stream,
            Self::Secure(stream) => &stream.sock,
        }
    }

    /// The state of TLS, if the connection has it.
    fn tls(&self) -> Option<&ClientConnection> {
        match self {
            Self::Plain(_) => None,
            Self::Secure(stream) => Some(&stream.conn),
        }
    }

    /// Whether encrypted bytes are buffered here that the socket has not accepted.
    pub(crate) fn is_holding(&self) -> bool {
        self.tls().is_some_and(|tls| tls.wants_write())
    }

    /// Whether the TLS handshake is not complete.
    pub(crate) fn is_handshaking(&self) -> bool {
        self.tls().is_some_and(|tls| tls.is_handshaking())
    }

    /// Whether the handshake needs bytes from the server before it can send more.
    pub(crate) fn is_answered_first(&self) -> bool {
        self.is_handshaking() && !self.is_holding()
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.read(buffer),
            Self::Secure(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.write(bytes),
            Self::Secure(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.flush(),
            Self::Secure(stream) => stream.flush(),
        }
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket().as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_the_port_of_their_scheme() {
        let port = |url| address(url).map(|address| address.port());
        assert_eq!(port("http://127.0.0.1:8080/").expect("one"), 8080);
        assert_eq!(port("http://127.0.0.1").expect("one"), 80);
        assert_eq!(port("https://127.0.0.1").expect("one"), 443);
        assert_eq!(port("127.0.0.1:1").expect("one"), 1);
        assert_eq!(port("http://[::1]:2").expect("one"), 2);
        assert!(address("ftp://127.0.0.1:1").is_err());
        let with_path = Endpoint::new("http://127.0.0.1:1/a/b/", &Trust::default());
        let with_path = with_path.expect("valid");
        assert_eq!(with_path.url(), "http://127.0.0.1:1");
        assert_eq!(with_path.path, "/a/b");
        let untrusted = Endpoint::new("https://127.0.0.1:1", &Trust::default());
        assert!(untrusted.is_err());
    }
}
