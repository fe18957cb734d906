//! Clients that say by a certificate who they are.

use std::sync::atomic::{AtomicU64, Ordering};

use rcgen::{
    CertificateParams, CertificateRevocationListParams, DistinguishedName, DnType, KeyIdMethod,
    KeyPair, RevokedCertParams, SanType, SerialNumber, date_time_ymd,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::version::{TLS12, TLS13};
use tokio_tungstenite::tungstenite::{Message, client};
use varve_auth::RecordKind;
use varve_server::{AuthConfig, ClientName, ServerConfig};
use varve_testkit::http::request;
use varve_testserver::TestServer;

use crate::authentication::{PASSWORD, add_users, basic};
use crate::tls::{Authority, Secure, connect, until};

/// A certificate with its key, and its number.
pub(crate) struct Issued {
    pub(crate) certificate: CertificateDer<'static>,
    pub(crate) key: PrivateKeyDer<'static>,
    number: SerialNumber,
}

/// A certificate for a client with this common name and these alternative names.
pub(crate) fn issue(authority: &Authority, name: &str, others: &[SanType]) -> Issued {
    static NUMBERS: AtomicU64 = AtomicU64::new(1);
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    params.subject_alt_names = others.to_vec();
    let number = SerialNumber::from(NUMBERS.fetch_add(1, Ordering::Relaxed));
    params.serial_number = Some(number.clone());
    let certificate = params.signed_by(&key, &authority.issuer).unwrap();
    Issued {
        certificate: certificate.der().clone(),
        key: PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
        number,
    }
}

fn write_authorities(of: &Authority, trusted: &[&Authority]) {
    let all = trusted
        .iter()
        .map(|one| pem("CERTIFICATE", &one.certificate));
    std::fs::write(of.file("clients.pem"), all.collect::<String>()).unwrap();
}

fn pem(what: &str, der: &[u8]) -> String {
    use base64::Engine as _;
    let text = base64::engine::general_purpose::STANDARD.encode(der);
    format!("-----BEGIN {what}-----\n{text}\n-----END {what}-----\n")
}

/// A server with the users `admin` and `ann`, who says by a certificate of `own` who she is.
fn server(own: &Authority, change: impl FnOnce(&mut ServerConfig)) -> TestServer {
    own.issue();
    write_authorities(own, &[own]);
    let mut config = own.config();
    config.auth = AuthConfig {
        enabled: true,
        ..AuthConfig::default()
    };
    config.tls.client_ca_file = own.file("clients.pem");
    change(&mut config);
    let server = TestServer::start(config);
    add_users(&server, &["ann"]);
    server
}

/// A connection of a client with this certificate.
fn with(own: &Authority, server: &TestServer, issued: &Issued) -> Secure {
    let trusting = own.trusting(&TLS13);
    let (chain, key) = (vec![issued.certificate.clone()], issued.key.clone_key());
    connect(server, trusting.with_client_auth_cert(chain, key).unwrap())
}

/// The status of a request; `None` if the server closes the connection.
fn status(stream: &mut Secure, path: &str, headers: &str) -> Option<u16> {
    let answer = stream.exchange(&request("GET", path, headers, "")).ok()?;
    Some(answer.status)
}

fn own_record(stream: &mut Secure) -> Option<u16> {
    status(stream, "/auth/users/-30:ann", "")
}

#[test]
fn a_certificate_says_who_its_client_is() {
    let own = Authority::new();
    let server = server(&own, |_| {});
    let ann = issue(&own, "ann", &[]);
    for version in [&TLS12, &TLS13] {
        let (chain, key) = (vec![ann.certificate.clone()], ann.key.clone_key());
        let trusting = own.trusting(version);
        let config = trusting.with_client_auth_cert(chain, key).unwrap();
        let mut stream = connect(&server, config);
        assert_eq!(own_record(&mut stream), Some(200));
        assert_eq!(status(&mut stream, "/auth/users/-30:admin", ""), Some(403));
        // A header says more.
        let header = format!("authorization: {}\r\n", basic("admin", PASSWORD));
        let admin = status(&mut stream, "/auth/users/-30:admin", &header);
        assert_eq!(admin, Some(200));
        let header = format!("authorization: {}\r\n", basic("admin", "wrong"));
        assert_eq!(status(&mut stream, "/graphs", &header), Some(401));
    }
    let nobody = &mut with(&own, &server, &issue(&own, "zoe", &[]));
    assert_eq!(status(nobody, "/graphs", ""), Some(401));
    let header = format!("authorization: {}\r\n", basic("ann", PASSWORD));
    assert_eq!(status(nobody, "/graphs", &header), Some(200));
    // A client without a certificate comes in as before.
    let mut plain = own.connect(&server);
    assert_eq!(status(&mut plain, "/graphs", ""), Some(401));
    assert_eq!(status(&mut plain, "/graphs", &header), Some(200));
}

#[test]
fn a_certificate_of_another_authority_or_for_a_user_that_is_gone_does_not_count() {
    let (own, other) = (Authority::new(), Authority::new());
    let server = server(&own, |_| {});
    let mut foreign = with(&own, &server, &issue(&other, "ann", &[]));
    assert_eq!(own_record(&mut foreign), None);
    let mut stream = with(&own, &server, &issue(&own, "ann", &[]));
    assert_eq!(own_record(&mut stream), Some(200));
    let auth = server.state.auth().unwrap();
    let ann = RecordKind::User.id_of("ann");
    auth.change(|all| all.remove_user(&ann)).unwrap();
    assert_eq!(status(&mut stream, "/graphs", ""), Some(401));
}

#[test]
fn the_name_is_the_part_that_the_options_say() {
    let own = Authority::new();
    let dns = |name: &str| SanType::DnsName(name.try_into().unwrap());
    let mail = |name: &str| SanType::Rfc822Name(name.try_into().unwrap());
    let uri = |name: &str| SanType::URI(name.try_into().unwrap());
    for (part, right, wrong) in [
        (
            ClientName::Dns,
            vec![dns("ann")],
            vec![dns("ann"), dns("b")],
        ),
        (
            ClientName::Email,
            vec![mail("ann"), dns("b")],
            vec![dns("ann")],
        ),
        (ClientName::Uri, vec![uri("ann"), mail("b")], vec![]),
    ] {
        let server = server(&own, |config| config.tls.client_name = part);
        let mut stream = with(&own, &server, &issue(&own, "admin", &right));
        assert_eq!(own_record(&mut stream), Some(200), "{part:?}");
        let mut stream = with(&own, &server, &issue(&own, "ann", &wrong));
        assert_eq!(own_record(&mut stream), Some(401), "{part:?}");
    }
}

#[test]
fn without_a_certificate_there_is_no_handshake_where_one_is_required() {
    let own = Authority::new();
    let server = server(&own, |config| config.tls.client_certificate_required = true);
    let mut plain = own.connect(&server);
    assert_eq!(status(&mut plain, "/versions", ""), None);
    let mut stream = with(&own, &server, &issue(&own, "ann", &[]));
    assert_eq!(own_record(&mut stream), Some(200));
}

#[test]
fn other_authorities_count_from_the_next_request_on_without_a_restart() {
    let (own, other) = (Authority::new(), Authority::new());
    let server = server(&own, |_| {});
    let (mut kept, foreign) = (
        with(&own, &server, &issue(&own, "ann", &[])),
        issue(&other, "ann", &[]),
    );
    assert_eq!(own_record(&mut kept), Some(200));
    write_authorities(&own, &[&other]);
    until("the other authority counts", || {
        own_record(&mut with(&own, &server, &foreign)) == Some(200)
    });
    assert_eq!(own_record(&mut kept), Some(401));
    // What cannot be used changes nothing.
    std::fs::write(own.file("clients.pem"), "nothing").unwrap();
    std::thread::sleep(std::time::Duration::from_millis(60));
    assert_eq!(own_record(&mut with(&own, &server, &foreign)), Some(200));
    write_authorities(&own, &[&own, &other]);
    until("both count", || own_record(&mut kept) == Some(200));
}

#[test]
fn a_revoked_certificate_counts_no_more() {
    let own = Authority::new();
    let (lost, good) = (issue(&own, "ann", &[]), issue(&own, "ann", &[]));
    let write = |revoked: &[&Issued]| {
        let each = revoked.iter().map(|one| RevokedCertParams {
            serial_number: one.number.clone(),
            revocation_time: date_time_ymd(2026, 1, 1),
            reason_code: None,
            invalidity_date: None,
        });
        let list = CertificateRevocationListParams {
            this_update: date_time_ymd(2026, 1, 1),
            next_update: date_time_ymd(2200, 1, 1),
            crl_number: SerialNumber::from(revoked.len() as u64),
            issuing_distribution_point: None,
            revoked_certs: each.collect(),
            key_identifier_method: KeyIdMethod::Sha256,
        };
        let list = list.signed_by(&own.issuer).unwrap();
        std::fs::write(own.file("revoked.pem"), list.pem().unwrap()).unwrap();
    };
    write(&[]);
    let server = server(&own, |config| {
        config.tls.client_crl_file = own.file("revoked.pem");
    });
    let mut kept = with(&own, &server, &lost);
    assert_eq!(own_record(&mut kept), Some(200));
    write(&[&lost]);
    until("its connection is nobody's", || {
        own_record(&mut kept) == Some(401)
    });
    assert_eq!(own_record(&mut with(&own, &server, &lost)), None);
    assert_eq!(own_record(&mut with(&own, &server, &good)), Some(200));
}

#[test]
fn a_websocket_needs_no_login_and_ends_with_its_user() {
    let own = Authority::new();
    let server = server(&own, |_| {});
    let stream = with(&own, &server, &issue(&own, "admin", &[]));
    let url = format!("wss://{}/gremlin", server.address());
    let (mut socket, _) = client(url, stream.stream).unwrap();
    let mut ask = |number: u32| {
        let request = format!(
            r#"{{"requestId": "5f2f0f6e-0e4c-4d0f-8a1b-0a4c6d1f2e{number:02}", "op": "eval", "processor": "",
                "args": {{"gremlin": "1 + 1"}}}}"#
        );
        socket.send(Message::text(request)).unwrap();
        let answer = socket.read().unwrap().into_data();
        String::from_utf8_lossy(&answer).into_owned()
    };
    let answer = ask(1);
    assert!(answer.contains(r#""code":200"#), "{answer}");
    std::fs::write(own.file("clients.pem"), {
        let other = Authority::new();
        pem("CERTIFICATE", &other.certificate)
    })
    .unwrap();
    let mut number = 1;
    until("the authority has gone", || {
        number += 1;
        ask(number).contains(r#""code":401"#)
    });
}

#[test]
fn options_that_do_not_fit_are_refused() {
    let own = Authority::new();
    own.issue();
    write_authorities(&own, &[&own]);
    let refused = |change: &dyn Fn(&mut ServerConfig)| {
        let mut config = own.config();
        change(&mut config);
        config.validate().is_err() || varve_server::AppState::new(config).is_err()
    };
    let authorities = || own.file("clients.pem");
    assert!(!refused(&|config| config.tls.client_ca_file = authorities()));
    assert!(refused(
        &|config| config.tls.client_ca_file = own.file("server.key")
    ));
    assert!(refused(
        &|config| config.tls.client_certificate_required = true
    ));
    assert!(refused(&|config| config.tls.client_crl_file = authorities()));
    assert!(refused(&|config| {
        config.tls.client_ca_file = authorities();
        config.tls.client_crl_file = authorities();
    }));
    assert!(refused(&|config| {
        *config = ServerConfig::default();
        config.tls.client_ca_file = authorities();
    }));
}
