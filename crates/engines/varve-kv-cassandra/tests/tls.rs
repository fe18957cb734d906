//! A node that only speaks TLS and requires a certificate: clients with valid certificates are
//! admitted; otherwise an error names the missing part, at once.

#![allow(clippy::unwrap_used, reason = "a failed call is a failed test")]

#[path = "support/nodes.rs"]
mod nodes;

use std::path::Path;
use std::time::Duration;

use nodes::Nodes;
use varve_kv::{Batch, Durability, Engine, KvError, ReaderExt};
use varve_kv_cassandra::{CassandraConfig, CassandraEngine, Identity, Tls};
use varve_testkit::engine_suite::tables::{POINTS, TABLES, point};

const NODE: Nodes = Nodes {
    name: "tls",
    port: 19442,
    number: 1,
    settings: &[
        ("VARVE_CASSANDRA_HEAP", "512m"),
        ("VARVE_CASSANDRA_TLS", "clients"),
    ],
};

/// The files that the script has created for clients.
fn made_for_clients() -> Tls {
    let file = |name: &str| NODE.dir().join("tls").join(name);
    Tls {
        trusted: file("ca.pem"),
        identity: Some(Identity {
            certificate: file("client.pem"),
            key: file("client.key"),
        }),
        verify_host: true,
    }
}

fn connect(tls: Option<Tls>) -> Result<CassandraEngine, KvError> {
    let mut config = CassandraConfig::new(&NODE.address(1));
    config.request_timeout = Duration::from_secs(20);
    config.tls = tls;
    CassandraEngine::connect(config)
}

/// The error of a connection that cannot be used.
fn refused(tls: Tls) -> String {
    match connect(Some(tls)).err() {
        Some(KvError::Unavailable { detail, .. }) => detail,
        // A node that does not trust a certificate does not report that clearly.
        Some(KvError::Away { detail, .. }) if detail.contains("perhaps it does not trust") => {
            detail
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn only_what_knows_the_node_and_is_known_to_it_is_let_in() {
    let Some(_started) = NODE.start("VARVE_TEST_CASSANDRA") else {
        return;
    };
    let right = made_for_clients();
    let identity = right.identity.clone().unwrap();
    let refused_with = |tls: Tls, words: &str| {
        let detail = refused(tls);
        println!("{detail}");
        assert!(detail.contains(words), "{detail}");
    };

    let others = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tls");
    let stranger = Tls {
        trusted: others.join("ca.pem"),
        ..right.clone()
    };
    refused_with(stranger.clone(), "not signed by any that is trusted");
    let any_host = Tls {
        verify_host: false,
        ..stranger
    };
    refused_with(any_host, "not signed by any that is trusted");
    let nameless = Tls {
        identity: None,
        ..right.clone()
    };
    refused_with(nameless, "certificate of this server");
    let unknown = Tls {
        identity: Some(Identity {
            certificate: others.join("node.pem"),
            key: others.join("node.key"),
        }),
        ..right.clone()
    };
    refused_with(unknown, "certificate of this server");
    let mixed = Tls {
        identity: Some(Identity {
            key: others.join("node.key"),
            ..identity.clone()
        }),
        ..right.clone()
    };
    refused_with(mixed, "client.pem cannot be used with the key in ");
    let swapped = Tls {
        trusted: identity.key,
        ..right.clone()
    };
    refused_with(swapped, "client.key cannot be used: ");
    // A node that requires TLS does not answer plain requests, so it is not distinguished from a
    // starting one.
    let plain = connect(None).err();
    assert!(matches!(plain, Some(KvError::Away { .. })), "{plain:?}");

    let engine = connect(Some(right)).unwrap();
    let space = engine.open("s", TABLES, true).unwrap();
    let mut batch = Batch::new();
    batch.put(POINTS, &point(1), b"c", b"v");
    batch.put(POINTS, &point(2), b"c", b"v");
    space.write(&batch, Durability::Sync).unwrap();
    let found = space.get(POINTS, &point(2), b"c").unwrap();
    assert_eq!(found.as_deref(), Some(&b"v"[..]));
}
