//! TLS on the server's own listeners: the certificate, its renewal while the server runs, and the
//! limit of concurrent handshakes. The certificates of clients are in `clients`, and the
//! connections to other servers in `peers`.

mod clients;
mod peers;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use http::HeaderValue;
use parking_lot::Mutex;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::danger::ClientCertVerifier;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Semaphore;
use tokio_rustls::{TlsAcceptor, TlsConnector};

pub(crate) use self::clients::ClientCertificate;
use self::clients::ClientFiles;
pub use self::clients::ClientName;
use crate::config::ConfigError;
use crate::section;

/// The protocols that the server offers over TLS.
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

section! {
    /// The options of TLS on the server's own listeners.
    pub struct TlsConfig {
        /// A PEM file with the server's certificate, followed by those of the intermediate
        /// authorities. If it is given, all listeners accept only TLS 1.2 and 1.3. Empty: they use
        /// HTTP without TLS.
        certificate_file: PathBuf = PathBuf::new(),
        /// A PEM file with the key of that certificate, not encrypted.
        key_file: PathBuf = PathBuf::new(),
        /// A PEM file with the authorities that sign certificates of clients. With authentication,
        /// a client with such a certificate is the user that the certificate names. Empty: clients
        /// are not asked for certificates.
        client_ca_file: PathBuf = PathBuf::new(),
        /// A PEM file with the revocation lists of these authorities, one for each authority that
        /// signs certificates. Empty: no certificate is revoked.
        client_crl_file: PathBuf = PathBuf::new(),
        /// Which field of a client's certificate contains the user's name: `common_name`, or the
        /// alternative name `dns`, `email` or `uri`. A certificate that has none or several of
        /// these has no user.
        client_name: ClientName = ClientName::CommonName,
        /// A PEM file with the authorities that sign the certificates of the other servers on one
        /// Cassandra cluster, to which this one forwards requests. Required there with
        /// `tls.certificate_file`. A server's certificate must name the host that the server
        /// announces to the others.
        peer_ca_file: PathBuf = PathBuf::new(),
        /// Whether the TLS handshake fails for a client without a certificate.
        client_certificate_required: bool = false,
        /// Milliseconds between two checks of these files for changes; SIGHUP checks at once. A
        /// changed certificate and key serve new connections. If they cannot be used, the server
        /// logs the error and keeps the previous ones.
        reload_ms: u64 = 10_000,
        /// Time that a handshake may take, in milliseconds. After it the connection is closed.
        handshake_timeout_ms: u64 = 10_000,
        /// Handshakes in progress at once. One address may have a quarter of them. Further
        /// connections are closed.
        max_handshakes: usize = 1_024,
        /// Seconds for which browsers must use TLS for the server's host name
        /// (`Strict-Transport-Security`). It applies to all ports of the host, also to those of
        /// other programs. 0: answers do not have the header.
        hsts_seconds: u32 = 0,
    }
}

impl TlsConfig {
    /// Whether the listeners speak TLS.
    #[must_use]
    pub fn is_on(&self) -> bool {
        !self.certificate_file.as_os_str().is_empty()
    }

    /// Whether clients are asked for certificates.
    fn asks_clients(&self) -> bool {
        !self.client_ca_file.as_os_str().is_empty()
    }

    /// Refuses values with which the server could not work.
    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        let refused = |option, reason: &str| {
            Err(ConfigError {
                option,
                reason: reason.to_owned(),
            })
        };
        let has_key = !self.key_file.as_os_str().is_empty();
        if self.is_on() != has_key {
            return refused(
                "tls.key_file",
                "must be given with tls.certificate_file, and only then",
            );
        }
        if self.asks_clients() && !self.is_on() {
            return refused("tls.client_ca_file", "needs tls.certificate_file");
        }
        let has_list = !self.client_crl_file.as_os_str().is_empty();
        if (has_list || self.client_certificate_required) && !self.asks_clients() {
            return refused(
                "tls.client_ca_file",
                "must be given with tls.client_crl_file and tls.client_certificate_required",
            );
        }
        if !self.peer_ca_file.as_os_str().is_empty() && !self.is_on() {
            return refused("tls.peer_ca_file", "needs tls.certificate_file");
        }
        if self.reload_ms == 0 {
            return refused("tls.reload_ms", "must be at least 1");
        }
        if self.handshake_timeout_ms == 0 {
            return refused("tls.handshake_timeout_ms", "must be at least 1");
        }
        if self.max_handshakes < 4 {
            return refused("tls.max_handshakes", "must be at least 4");
        }
        Ok(())
    }
}

/// A file that TLS needs and cannot use.
#[derive(Debug, thiserror::Error)]
#[error("{}: {reason}", file.display())]
pub struct TlsError {
    /// The file.
    pub file: PathBuf,
    /// What is wrong with it.
    pub reason: String,
}

impl TlsError {
    fn new(file: &Path, reason: impl ToString) -> Self {
        Self {
            file: file.to_owned(),
            reason: reason.to_string(),
        }
    }
}

/// The contents of the files: the certificate, the key, and the authorities that verify clients and
/// other servers.
#[derive(PartialEq, Eq)]
struct Files {
    certificate: Vec<u8>,
    key: Vec<u8>,
    clients: Option<ClientFiles>,
    /// The authorities of other servers.
    peers: Option<Vec<u8>>,
}

/// The TLS configuration of new connections, incoming and outgoing.
#[derive(Debug)]
struct Serving {
    config: Arc<rustls::ServerConfig>,
    /// Verifies the certificates of clients, if clients are asked for them.
    clients: Option<Arc<dyn ClientCertVerifier>>,
    /// Connects to other servers, if `tls.peer_ca_file` is given.
    peers: Option<Arc<rustls::ClientConfig>>,
}

impl Files {
    fn read(config: &TlsConfig) -> Result<Self, TlsError> {
        let read = |file: &Path| std::fs::read(file).map_err(|error| TlsError::new(file, error));
        Ok(Self {
            certificate: read(&config.certificate_file)?,
            key: read(&config.key_file)?,
            clients: ClientFiles::read(config)?,
            peers: match config.peer_ca_file.as_os_str().is_empty() {
                true => None,
                false => Some(read(&config.peer_ca_file)?),
            },
        })
    }

    /// Builds the configuration for new connections.
    fn serving(&self, config: &TlsConfig) -> Result<Serving, TlsError> {
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&self.certificate).collect();
        let of_chain =
            |reason: &dyn ToString| TlsError::new(&config.certificate_file, reason.to_string());
        let chain = chain.map_err(|error| of_chain(&error))?;
        if chain.is_empty() {
            return Err(of_chain(&"there is no PEM certificate in it"));
        }
        let key = PrivateKeyDer::from_pem_slice(&self.key).map_err(|error| {
            use rustls::pki_types::pem::Error;
            match error {
                Error::NoItemsFound => TlsError::new(
                    &config.key_file,
                    "there is no PEM key in it that is not encrypted",
                ),
                error => TlsError::new(&config.key_file, error),
            }
        })?;
        let provider = Arc::new(aws_lc_rs::default_provider());
        let peers = self.peers.as_deref().map(|authorities| {
            let own = (chain.clone(), key.clone_key());
            peers::client(config, authorities, own, Arc::clone(&provider))
        });
        let clients = self.clients.as_ref();
        let clients = clients.map(|files| files.verifier(config, Arc::clone(&provider)));
        let clients = clients.transpose()?;
        let versions = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| of_chain(&error))?;
        let asking = match &clients {
            Some(verifier) => versions.with_client_cert_verifier(Arc::clone(verifier)),
            None => versions.with_no_client_auth(),
        };
        let mut serving = asking.with_single_cert(chain, key).map_err(|error| {
            let key = config.key_file.display();
            of_chain(&format!("it cannot be used with the key in {key}: {error}"))
        })?;
        serving.alpn_protocols = PROTOCOLS.iter().map(|name| name.to_vec()).collect();
        Ok(Serving {
            config: Arc::new(serving),
            clients,
            peers: peers.transpose()?,
        })
    }
}

/// The TLS configuration in use.
pub(crate) struct Tls {
    config: TlsConfig,
    serving: ArcSwap<Serving>,
    /// The contents that were read last, valid or not; `None` if a file could not be read.
    seen: Mutex<Option<Files>>,
    /// One permit for each concurrent handshake.
    pub(crate) handshakes: Semaphore,
}

impl Tls {
    /// Reads the files, if the options name any.
    ///
    /// # Errors
    /// When they cannot be used.
    pub(crate) fn open(config: &TlsConfig) -> Result<Option<Self>, TlsError> {
        if !config.is_on() {
            return Ok(None);
        }
        let files = Files::read(config)?;
        Ok(Some(Self {
            serving: ArcSwap::from_pointee(files.serving(config)?),
            seen: Mutex::new(Some(files)),
            handshakes: Semaphore::new(config.max_handshakes),
            config: config.clone(),
        }))
    }

    /// The header `Strict-Transport-Security`, if the options ask for it.
    pub(crate) fn hsts(&self) -> Option<HeaderValue> {
        let seconds = Some(self.config.hsts_seconds).filter(|seconds| *seconds > 0)?;
        HeaderValue::try_from(format!("max-age={seconds}")).ok()
    }

    /// The acceptor for new connections.
    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(Arc::clone(&self.serving.load().config))
    }

    /// The connector to other servers, if `tls.peer_ca_file` is given.
    pub(crate) fn connector(&self) -> Option<TlsConnector> {
        let peers = self.serving.load().peers.clone();
        peers.map(TlsConnector::from)
    }

    /// The certificate of the client of a connection whose handshake is done.
    pub(crate) fn certificate_in(
        &self,
        connection: &rustls::ServerConnection,
    ) -> Option<ClientCertificate> {
        ClientCertificate::new(connection.peer_certificates()?, self.config.client_name)
    }

    /// The user of a client's certificate, if the certificate is valid.
    pub(crate) fn user_of<'c>(&self, certificate: &'c ClientCertificate) -> Option<&'c str> {
        certificate.user(&self.serving.load_full())
    }

    /// Time that a handshake may take.
    pub(crate) fn handshake_timeout(&self) -> Duration {
        Duration::from_millis(self.config.handshake_timeout_ms)
    }

    /// Reads the files every `tls.reload_ms`, and after SIGHUP.
    pub(crate) async fn watch(&self) {
        let mut hangup = signal(SignalKind::hangup()).ok();
        let every = Duration::from_millis(self.config.reload_ms);
        loop {
            tokio::select! {
                () = tokio::time::sleep(every) => {}
                () = received(&mut hangup) => {}
            }
            self.look();
        }
    }

    /// Reads the files. If their contents have changed and are valid, new connections use them.
    fn look(&self) {
        let mut seen = self.seen.lock();
        let files = match Files::read(&self.config) {
            Ok(files) if Some(&files) == seen.as_ref() => return,
            Ok(files) => files,
            Err(error) => {
                // The error is logged once, until all files can be read again.
                if seen.take().is_some() {
                    tracing::error!(%error, "a TLS file cannot be read; the previous files stay in use");
                }
                return;
            }
        };
        match files.serving(&self.config) {
            Ok(serving) => {
                self.serving.store(Arc::new(serving));
                tracing::info!("the new TLS files are in use");
            }
            Err(error) => {
                tracing::error!(%error, "the new TLS files cannot be used; the previous files stay in use");
            }
        }
        *seen = Some(files);
    }
}

/// Waits for a signal.
async fn received(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}
