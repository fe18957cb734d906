//! Certificates of clients: their verification, and their users.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rustls::RootCertStore;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, UnixTime};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use serde::{Deserialize, Serialize};
use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::FromDer;

use super::{Serving, TlsConfig, TlsError};

/// Interval after which the certificate of an open connection is verified again.
const VERIFIED_FOR: Duration = Duration::from_secs(60);

/// The part of a client's certificate that has the user's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClientName {
    /// The common name of its subject.
    #[default]
    CommonName,
    /// The DNS name among the alternative names of its subject.
    Dns,
    /// The mail address among the alternative names.
    Email,
    /// The URI among the alternative names, such as a SPIFFE ID.
    Uri,
}

impl ClientName {
    /// The name in a certificate, if the certificate has exactly one name of this kind.
    fn of(self, certificate: &CertificateDer<'_>) -> Option<String> {
        let (_, certificate) = X509Certificate::from_der(certificate).ok()?;
        let names: Vec<Option<&str>> = if self == Self::CommonName {
            let names = certificate.subject().iter_common_name();
            names.map(|name| name.as_str().ok()).collect()
        } else {
            let names = certificate.subject_alternative_name().ok()??;
            let names = names.value.general_names.iter();
            names
                .filter_map(|name| match (self, name) {
                    (Self::Dns, GeneralName::DNSName(name))
                    | (Self::Email, GeneralName::RFC822Name(name))
                    | (Self::Uri, GeneralName::URI(name)) => Some(Some(*name)),
                    _ => None,
                })
                .collect()
        };
        match names[..] {
            [Some(name)] if !name.is_empty() => Some(name.to_owned()),
            _ => None,
        }
    }
}

/// The certificate of a connection's client.
#[derive(Debug)]
pub(crate) struct ClientCertificate {
    /// The name of its user, if it has one.
    user: Option<String>,
    chain: Vec<CertificateDer<'static>>,
    /// The settings with which the certificate was last verified, and the time.
    verified: Mutex<Option<(Arc<Serving>, Instant)>>,
}

impl ClientCertificate {
    pub(super) fn new(chain: &[CertificateDer<'static>], name: ClientName) -> Option<Self> {
        Some(Self {
            user: name.of(chain.first()?),
            chain: chain.to_vec(),
            verified: Mutex::default(),
        })
    }

    /// The name of the user, if the certificate is still valid. An open connection must not outlive
    /// its certificate or the authority that signed it.
    pub(super) fn user(&self, serving: &Arc<Serving>) -> Option<&str> {
        let user = self.user.as_deref()?;
        let mut verified = self.verified.lock();
        let is_fresh = verified
            .as_ref()
            .is_some_and(|(with, at)| Arc::ptr_eq(with, serving) && at.elapsed() < VERIFIED_FOR);
        if !is_fresh {
            *verified = None;
            let (own, others) = self.chain.split_first()?;
            let clients = serving.clients.as_ref()?;
            let found = clients.verify_client_cert(own, others, UnixTime::now());
            if let Err(error) = found {
                tracing::debug!(%error, user, "a client's certificate is no longer valid");
                return None;
            }
            *verified = Some((Arc::clone(serving), Instant::now()));
        }
        Some(user)
    }
}

/// The files that the verification of clients needs.
#[derive(PartialEq, Eq)]
pub(super) struct ClientFiles {
    authorities: Vec<u8>,
    revoked: Option<Vec<u8>>,
}

impl ClientFiles {
    /// Reads the files, if the options name any.
    pub(super) fn read(config: &TlsConfig) -> Result<Option<Self>, TlsError> {
        let read = |file: &Path| std::fs::read(file).map_err(|error| TlsError::new(file, error));
        if !config.asks_clients() {
            return Ok(None);
        }
        let has_list = !config.client_crl_file.as_os_str().is_empty();
        Ok(Some(Self {
            authorities: read(&config.client_ca_file)?,
            revoked: has_list
                .then(|| read(&config.client_crl_file))
                .transpose()?,
        }))
    }

    /// Makes the verifier of clients.
    pub(super) fn verifier(
        &self,
        config: &TlsConfig,
        provider: Arc<CryptoProvider>,
    ) -> Result<Arc<dyn ClientCertVerifier>, TlsError> {
        let of_authorities =
            |reason: &dyn ToString| TlsError::new(&config.client_ca_file, reason.to_string());
        let mut authorities = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(&self.authorities) {
            let certificate = certificate.map_err(|error| of_authorities(&error))?;
            authorities
                .add(certificate)
                .map_err(|error| of_authorities(&error))?;
        }
        if authorities.is_empty() {
            return Err(of_authorities(&"there is no PEM certificate in it"));
        }
        let mut builder =
            WebPkiClientVerifier::builder_with_provider(Arc::new(authorities), provider);
        if let Some(revoked) = &self.revoked {
            let of_lists =
                |reason: &dyn ToString| TlsError::new(&config.client_crl_file, reason.to_string());
            let lists: Result<Vec<_>, _> =
                CertificateRevocationListDer::pem_slice_iter(revoked).collect();
            let lists = lists.map_err(|error| of_lists(&error))?;
            if lists.is_empty() {
                return Err(of_lists(&"there is no PEM revocation list in it"));
            }
            builder = builder.with_crls(lists);
        }
        if !config.client_certificate_required {
            builder = builder.allow_unauthenticated();
        }
        builder.build().map_err(|error| of_authorities(&error))
    }
}
