//! TLS to the cluster: which certificates are trusted, and the certificate of this process.

use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use crate::config::{Identity, Tls};
use crate::failure::{Failure, is_of_name};

/// The TLS configuration for the driver.
///
/// # Errors
/// [`Failure::Refused`], as a retry would not help: a file cannot be read or does not contain what
/// it should, or the certificate does not belong to the key.
pub(crate) fn client(tls: &Tls) -> Result<Arc<ClientConfig>, Failure> {
    let mut trusted = RootCertStore::empty();
    for certificate in certificates(&tls.trusted)? {
        let added = trusted.add(certificate);
        added.map_err(|error| unusable(&tls.trusted, &error))?;
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let of_nodes = verifier(tls, trusted, &provider)?;
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| Failure::Refused(error.to_string()))?
        .dangerous()
        .with_custom_certificate_verifier(of_nodes);
    let Some(identity) = &tls.identity else {
        return Ok(Arc::new(config.with_no_client_auth()));
    };
    let (chain, key) = (certificates(&identity.certificate)?, key_of(identity)?);
    let config = config.with_client_auth_cert(chain, key).map_err(|error| {
        let Identity { certificate, key } = identity;
        Failure::Refused(format!(
            "the certificate in {} cannot be used with the key in {}: {error}",
            certificate.display(),
            key.display()
        ))
    })?;
    Ok(Arc::new(config))
}

fn verifier(
    tls: &Tls,
    trusted: RootCertStore,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, Failure> {
    let verifier =
        WebPkiServerVerifier::builder_with_provider(Arc::new(trusted), Arc::clone(provider));
    let verifier = verifier
        .build()
        .map_err(|error| unusable(&tls.trusted, &error))?;
    Ok(match tls.verify_host {
        true => verifier,
        false => Arc::new(AnyHost(verifier)),
    })
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, Failure> {
    let found = CertificateDer::pem_file_iter(file).map_err(|error| unusable(file, &error))?;
    let found: Result<Vec<_>, _> = found.collect();
    let found = found.map_err(|error| unusable(file, &error))?;
    match found.is_empty() {
        true => Err(unusable(file, &"there is no PEM certificate in it")),
        false => Ok(found),
    }
}

fn key_of(identity: &Identity) -> Result<PrivateKeyDer<'static>, Failure> {
    use rustls::pki_types::pem::Error;
    PrivateKeyDer::from_pem_file(&identity.key).map_err(|error| match error {
        Error::NoItemsFound => unusable(
            &identity.key,
            &"there is no PEM key in it that is not encrypted",
        ),
        error => unusable(&identity.key, &error),
    })
}

fn unusable(file: &Path, why: &dyn Display) -> Failure {
    Failure::Refused(format!("{} cannot be used: {why}", file.display()))
}

/// Checks a node's certificate (signer, validity, purpose), but not whether it names the node's
/// address.
#[derive(Debug)]
struct AnyHost(Arc<WebPkiServerVerifier>);

impl ServerCertVerifier for AnyHost {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verified =
            self.0
                .verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        match verified {
            // The inner verifier checks the name last, so everything else is valid.
            Err(Error::InvalidCertificate(error)) if is_of_name(&error) => {
                Ok(ServerCertVerified::assertion())
            }
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0
            .verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0
            .verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn file(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/tls")
            .join(name)
    }

    /// A handshake in memory with a node at `address` whose certificate names 127.0.0.1.
    fn handshake(trusted: &str, verify_host: bool, address: &str) -> Result<(), Error> {
        let tls = Tls {
            trusted: file(trusted),
            identity: None,
            verify_host,
        };
        let config = client(&tls).expect("files as they should be");
        let name = ServerName::try_from(address.to_owned()).expect("an address");
        let mut client = rustls::ClientConnection::new(config, name)?;
        let identity = Identity {
            certificate: file("node.pem"),
            key: file("node.key"),
        };
        let (chain, key) = (
            certificates(&identity.certificate).expect("it has one"),
            key_of(&identity).expect("it has one"),
        );
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(chain, key)?;
        let mut node = rustls::ServerConnection::new(Arc::new(config))?;
        let mut sent = Vec::new();
        while client.is_handshaking() || node.is_handshaking() {
            sent.clear();
            client.write_tls(&mut sent).expect("into memory");
            node.read_tls(&mut &sent[..]).expect("from memory");
            node.process_new_packets()?;
            sent.clear();
            node.write_tls(&mut sent).expect("into memory");
            client.read_tls(&mut &sent[..]).expect("from memory");
            client.process_new_packets()?;
        }
        Ok(())
    }

    #[test]
    fn a_node_must_have_the_address_that_its_certificate_names_by_default() {
        assert_eq!(handshake("ca.pem", true, "127.0.0.1"), Ok(()));
        let elsewhere = handshake("ca.pem", true, "127.0.0.2").expect_err("another address");
        assert!(matches!(&elsewhere, Error::InvalidCertificate(error) if is_of_name(error)));
        assert_eq!(handshake("ca.pem", false, "127.0.0.2"), Ok(()));
        // The signer of the certificate must still be trusted.
        let stranger = handshake("other-ca.pem", false, "127.0.0.2").expect_err("a stranger");
        assert!(matches!(stranger, Error::InvalidCertificate(error) if !is_of_name(&error)));
    }

    #[test]
    fn a_file_that_is_not_what_it_should_be_is_named() {
        let missing = Path::new("/nowhere/ca.pem");
        let failure = certificates(missing).expect_err("there is none");
        assert!(failure.for_good() && failure.text().starts_with("/nowhere/ca.pem cannot be used"));
        let failure = certificates(&file("node.key")).expect_err("it has a key");
        assert!(failure.text().contains("no PEM certificate"));
        let identity = Identity {
            certificate: file("node.pem"),
            key: file("ca.pem"),
        };
        let failure = key_of(&identity).expect_err("it has a certificate");
        assert!(failure.text().contains("no PEM key"));
    }
}
