//! The layers, and their error messages.

use std::collections::BTreeMap;
use std::path::Path;

use super::*;

fn load(
    file: Option<&str>,
    environment: &[(&str, &str)],
    flags: &[(&str, &str)],
) -> Result<Config, String> {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = file.map(|text| {
        let path = dir.path().join("varve.toml");
        std::fs::write(&path, text).expect("written");
        path
    });
    let own = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
    let overrides = Overrides {
        file: path,
        settings: flags.iter().map(own).collect(),
    };
    Config::load(&overrides, environment.iter().map(own)).map_err(|error| error.to_string())
}

#[test]
fn a_later_layer_wins() {
    let file = "[server]\nport = 1000\nmax_connections = 5\n[storage]\ndurability = \"none\"\n";
    let config = load(
        Some(file),
        &[("VARVE_SERVER_PORT", "2000"), ("OTHER", "x")],
        &[],
    )
    .unwrap();
    assert_eq!(
        (config.server.port, config.server.max_connections),
        (2000, 5)
    );
    assert_eq!(config.durability().unwrap(), Durability::None);
    let config = load(
        Some(file),
        &[("VARVE_SERVER_PORT", "2000")],
        &[("server.port", "3000")],
    )
    .unwrap();
    assert_eq!(config.server.port, 3000);
    assert_eq!(
        config.storage.engine, "rocksdb",
        "untouched options keep their defaults"
    );
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn a_section_within_another_is_set_like_any_other() {
    let file =
        "[storage]\nengine = \"cassandra\"\n[storage.cassandra]\nreplication = 1\nuser = \"me\"\n";
    let environment = [
        ("VARVE_STORAGE_CASSANDRA_CONTACT_POINTS", "a:1, b:2"),
        ("VARVE_STORAGE_DURABILITY", "none"),
    ];
    let flags = [("storage.cassandra.datacenter", "dc2")];
    let storage = load(Some(file), &environment, &flags).unwrap().storage;
    let cassandra = &storage.cassandra;
    assert_eq!(cassandra.contact_points, ["a:1", "b:2"]);
    assert_eq!(
        (
            cassandra.replication,
            &*cassandra.user,
            &*cassandra.datacenter
        ),
        (1, "me", "dc2")
    );
    assert_eq!(cassandra.lease_seconds, 4, "the others keep their defaults");
    assert_eq!(
        (&*storage.engine, &*storage.durability),
        ("cassandra", "none")
    );

    let flag = |name, value| load(None, &[], &[(name, value)]).unwrap_err();
    assert!(flag("storage.cassandra", "x").contains("no option 'storage.cassandra'"));
    assert!(flag("storage.cassandra.nodes", "x").contains("no option"));
    assert_eq!(
        flag("storage.cassandra.replication", "0"),
        "storage.cassandra.replication must be in 1 to 9"
    );
    for unsafe_one in [
        "one",
        "any",
        "local_one",
        "two",
        "each_quorum",
        "all",
        "local_serial",
    ] {
        let refused = flag("storage.cassandra.consistency", unsafe_one);
        let message = format!(
            "storage.cassandra.consistency must be local_quorum or quorum, not {unsafe_one}: "
        );
        assert!(refused.starts_with(&message), "{refused}");
    }
    assert_eq!(
        flag("storage.cassandra.consistency", "most"),
        "storage.cassandra.consistency must be local_quorum or quorum"
    );
    let quorum = [
        ("storage.cassandra.consistency", "quorum"),
        ("storage.cassandra.further_datacenters", "dc2,dc3"),
    ];
    let storage = load(None, &[], &quorum).unwrap().storage;
    assert_eq!(storage.cassandra.further_datacenters, ["dc2", "dc3"]);
    for wrong in ["datacenter1", "dc2,dc2", "dc'2"] {
        let refused = flag("storage.cassandra.further_datacenters", wrong);
        assert!(refused.contains("must be different names"), "{refused}");
    }
    assert_eq!(
        flag("storage.cassandra.lease_seconds", "1"),
        "storage.cassandra.lease_seconds must be in 2 to 3600"
    );
    assert_eq!(
        flag("storage.cassandra.tls_certificate_file", "a.pem"),
        "storage.cassandra.tls_key_file must be given with tls_certificate_file, and only with it"
    );
    let files = [
        ("storage.cassandra.tls_certificate_file", "a.pem"),
        ("storage.cassandra.tls_key_file", "a.key"),
    ];
    assert_eq!(
        load(None, &[], &files).unwrap_err(),
        "storage.cassandra.tls_trusted_file must be given where tls_certificate_file is"
    );
    let unknown = load(None, &[("VARVE_STORAGE_CASSANDRA_NODES", "x")], &[]).unwrap_err();
    assert!(
        unknown.contains("[storage.cassandra] has no option 'nodes'"),
        "{unknown}"
    );
}

#[test]
fn upkeep_is_as_documented_unless_set() {
    let own = MaintenanceOptions::default();
    assert_eq!(MaintenanceConfig::default().options(), own);
    let flag = |name, value| load(None, &[], &[(name, value)]);
    let config = flag("maintenance.task_retention_hours", "0").unwrap();
    assert_eq!(config.maintenance.options().tasks_kept, None);
    let error = flag("maintenance.tidy_interval_ms", "0").unwrap_err();
    assert_eq!(
        error,
        "maintenance.tidy_interval_ms must be in 10 to 3600000, but is 0"
    );
}

#[test]
fn the_bytes_of_a_deletion_are_bounded_at_start() {
    let flag = |value| load(None, &[], &[("limits.vertex_delete_bytes_max", value)]);
    assert_eq!(
        flag("1073741824").unwrap().limits.vertex_delete_bytes_max,
        1 << 30
    );
    assert_eq!(
        flag("1073741825").unwrap_err(),
        "limits.vertex_delete_bytes_max must be at most 1073741824, but is 1073741825"
    );
}

#[test]
fn no_batch_may_have_more_elements_than_readers_of_bodies_keep() {
    for name in ["max_vertices_per_batch", "max_edges_per_batch"] {
        let option = format!("server.{name}");
        load(None, &[], &[(&option, "100000")]).unwrap();
        assert_eq!(
            load(None, &[], &[(&option, "100001")]).unwrap_err(),
            format!("server option '{name}': must be at most 100000, but is 100001")
        );
    }
}

#[test]
fn an_unknown_key_is_named_with_file_and_line() {
    let error = load(Some("[server]\nport = 1\nprot = 2\n"), &[], &[]).unwrap_err();
    assert!(
        error.contains("varve.toml:3: unknown field `prot`"),
        "{error}"
    );
    let error = load(Some("\n[sever]\nport = 1\n"), &[], &[]).unwrap_err();
    assert!(
        error.contains("varve.toml:2: unknown field `sever`"),
        "{error}"
    );
    let error = load(Some("[server]\nport = \"x\"\n"), &[], &[]).unwrap_err();
    assert!(
        error.contains("varve.toml:2: ") && error.contains("port = \"x\""),
        "{error}"
    );
    let error = load(Some("[server\n"), &[], &[]).unwrap_err();
    assert!(error.contains("varve.toml:1: "), "{error}");
}

#[test]
fn other_layers_name_themselves() {
    let error = load(None, &[("VARVE_SERVER_PROT", "1")], &[]).unwrap_err();
    assert_eq!(
        error,
        "environment variable VARVE_SERVER_PROT: [server] has no option 'prot'"
    );
    let error = load(None, &[("VARVE_SERVER_PORT", "many")], &[]).unwrap_err();
    assert!(
        error.starts_with("environment variable VARVE_SERVER_PORT: "),
        "{error}"
    );
    let error = load(None, &[("VARVE_SERVER_PORT", "70000")], &[]).unwrap_err();
    assert!(
        error.starts_with("environment variable VARVE_SERVER_PORT: "),
        "{error}"
    );
    let error = load(None, &[], &[("server.prot", "1")]).unwrap_err();
    assert_eq!(
        error,
        "setting 'server.prot': there is no option 'server.prot'"
    );
}

#[test]
fn a_variable_of_an_unknown_section_is_refused() {
    for name in [
        "VARVE_SERVR_PORT",
        "VARVE_PORT",
        "VARVE_DATA_DIR",
        "VARVE_CASSANDRA_USER",
    ] {
        let error = load(None, &[(name, "9000")], &[]).unwrap_err();
        let expected = format!("environment variable {name}: it names no section of the options");
        assert!(error.starts_with(&expected), "{error}");
    }
    load(None, &[("VARVE_BIN", "x"), ("VARVE_CRASH_SEED", "1")], &[]).unwrap();
}

#[test]
fn service_variables_of_kubernetes_are_not_read() {
    for name in ["VARVE", "VARVE_SERVER", "VARVE_STORAGE", "VARVE_OTHER"] {
        let of = |rest: &str| format!("{name}_{rest}");
        let variables = [
            ("SERVICE_HOST", "10.96.3.1"),
            ("SERVICE_PORT", "8080"),
            ("SERVICE_PORT_HTTP", "8080"),
            ("PORT", "tcp://10.96.3.1:8080"),
            ("PORT_8080_TCP", "tcp://10.96.3.1:8080"),
            ("PORT_8080_TCP_PROTO", "tcp"),
            ("PORT_8080_TCP_PORT", "8080"),
            ("PORT_8080_TCP_ADDR", "10.96.3.1"),
        ];
        let variables = variables.map(|(rest, value)| (of(rest), value));
        let variables: Vec<(&str, &str)> = variables
            .iter()
            .map(|(name, value)| (name.as_str(), *value))
            .collect();
        let config = load(None, &variables, &[]).unwrap();
        assert_eq!(config, Config::default(), "{name}");
    }
}

#[test]
fn impossible_values_are_refused() {
    for (key, value) in [
        ("storage.durability", "interval:0"),
        ("storage.durability", "fast"),
        ("storage.engine", "mysql"),
        ("storage.memory_mib", "12"),
        ("storage.front_table_bytes", "0"),
        ("log.level", "loud"),
        ("server.gzip_level", "11"),
    ] {
        let error = load(None, &[], &[(key, value)]).unwrap_err();
        let option = key.split_once('.').unwrap().1;
        assert!(error.contains(option), "{key}={value}: {error}");
    }
    let config = load(None, &[], &[("storage.durability", "interval:50")]).unwrap();
    assert_eq!(
        config.durability().unwrap(),
        Durability::Interval(Duration::from_millis(50))
    );
}

#[test]
fn lists_are_set_as_words_or_as_toml() {
    let config = load(None, &[("VARVE_GRAPH_CREATE", "a, b")], &[]).unwrap();
    assert_eq!(config.graph.create, ["a", "b"]);
    let config = load(None, &[], &[("graph.create", "[\"c\"]")]).unwrap();
    assert_eq!(config.graph.create, ["c"]);
}

#[test]
fn a_loopback_address_is_warned_of_where_the_nodes_are_elsewhere() {
    let warns = |advertise: &str, nodes: &[&str]| {
        let mut config = Config::default();
        config.storage.cassandra.advertise = advertise.to_owned();
        config.storage.cassandra.contact_points =
            nodes.iter().map(|&node| node.to_owned()).collect();
        config.unreachable_by_others().is_some()
    };
    let (here, there) = (["127.0.0.1:9042", "localhost:9042"], ["10.0.0.5:9042"]);
    assert!(!warns("", &here), "all on one machine");
    assert!(
        warns("", &there),
        "server.host is a loopback address unless set"
    );
    for address in ["127.1.2.3:8080", "localhost:8080", "[::1]:8080"] {
        assert!(
            warns(address, &there) && !warns(address, &here),
            "{address}"
        );
    }
    for address in ["10.0.0.7:8080", "varve-1:8080", "[fd00::7]:8080"] {
        assert!(!warns(address, &there), "{address}");
    }
    let mixed = ["127.0.0.1:9042", "10.0.0.5:9042"];
    assert!(warns("", &mixed));
}

/// Folders of the repository that are not part of its sources: built or fetched files.
const NOT_OURS: &[&str] = &["target", ".git", ".venv", "venv", "node_modules"];

/// Collects every `VARVE_…` in the files of a folder, with its file.
fn variables_named_in(folder: &Path, found: &mut BTreeMap<String, PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        // These files name wrong variables on purpose.
        let is_of_rules = path.ends_with("config/tests.rs") || path.ends_with("config/layers.rs");
        if path.is_symlink() || is_of_rules || NOT_OURS.contains(&name.as_str()) {
            continue;
        }
        if path.is_dir() {
            variables_named_in(&path, found);
            continue;
        }
        // Binary files name no variables.
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let is_of_name =
            |letter: char| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_';
        for (at, prefix) in text.match_indices("VARVE_") {
            let is_start = !text[..at].ends_with(is_of_name);
            let rest = &text[at + prefix.len()..];
            let end = rest.find(|letter| !is_of_name(letter));
            let rest = &rest[..end.unwrap_or(rest.len())];
            if is_start && !rest.is_empty() {
                found.insert(format!("{prefix}{rest}"), path.clone());
            }
        }
    }
}

#[test]
fn every_variable_that_the_repository_names_is_an_option_or_known_to_be_none() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = BTreeMap::new();
    variables_named_in(&root, &mut found);
    for known in ["VARVE_SERVER_PORT", "VARVE_BIN"] {
        assert!(found.contains_key(known), "{known} is named somewhere");
    }
    for (name, path) in found {
        if let Err(error) = layers::environment_key(&name, "") {
            panic!("{}: {error}", path.display());
        }
    }
}
