//! Connections to other servers on the same store.

use std::sync::Arc;

use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};

use super::{TlsConfig, TlsError};

/// Builds the TLS configuration for connections to other servers: the authorities that sign their
/// certificates, and this server's certificate, for servers that ask all clients for one.
pub(super) fn client(
    config: &TlsConfig,
    authorities: &[u8],
    (chain, key): (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>),
    provider: Arc<CryptoProvider>,
) -> Result<Arc<ClientConfig>, TlsError> {
    let refused = |reason: &dyn ToString| TlsError::new(&config.peer_ca_file, reason.to_string());
    let mut trusted = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(authorities) {
        let certificate = certificate.map_err(|error| refused(&error))?;
        trusted.add(certificate).map_err(|error| refused(&error))?;
    }
    if trusted.is_empty() {
        return Err(refused(&"there is no PEM certificate in it"));
    }
    let versions = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| refused(&error))?
        .with_root_certificates(trusted);
    Ok(Arc::new(match config.client_certificate_required {
        true => versions
            .with_client_auth_cert(chain, key)
            .map_err(|error| refused(&error))?,
        false => versions.with_no_client_auth(),
    }))
}
