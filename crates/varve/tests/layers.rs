//! Rules of the whole workspace that a machine can check: which crate may depend on which, who may
//! know HTTP, JSON and RocksDB, how long a file may be, and what may not be left behind.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use toml::Table;

/// The allowed dependencies between our crates, as `docs/architecture.md` draws them. A new edge is
/// a decision: argue for it there first.
const EDGES: &[(&str, &[&str])] = &[
    ("varve-model", &[]),
    ("varve-json", &[]),
    ("varve-pattern", &[]),
    ("varve-bolt", &[]),
    (
        "varve-cypher",
        &["varve-model", "varve-pattern", "varve-view"],
    ),
    ("varve-files", &["varve-model"]),
    ("varve-load", &["varve-files", "varve-model"]),
    ("varve-kv", &[]),
    ("varve-kv-rocksdb", &["varve-kv", "varve-kv-front"]),
    ("varve-kv-front", &["varve-kv"]),
    ("varve-kv-cassandra", &["varve-kv"]),
    ("varve-kv-parted", &["varve-kv"]),
    ("varve-encoding", &["varve-kv", "varve-model"]),
    ("varve-view", &["varve-model"]),
    ("varve-query", &["varve-model", "varve-view"]),
    (
        "varve-gremlin",
        &["varve-model", "varve-pattern", "varve-query", "varve-view"],
    ),
    (
        "varve-graphson",
        &["varve-gremlin", "varve-json", "varve-model"],
    ),
    (
        "varve-graph",
        &["varve-encoding", "varve-kv", "varve-model", "varve-view"],
    ),
    ("varve-backup", &["varve-graph", "varve-kv"]),
    ("varve-traversal", &["varve-model", "varve-view"]),
    ("varve-auth", &["varve-graph", "varve-model", "varve-view"]),
    (
        "varve-session",
        &[
            "varve-auth",
            "varve-graph",
            "varve-kv",
            "varve-model",
            "varve-query",
            "varve-view",
        ],
    ),
    (
        "varve-omrs",
        &[
            "varve-encoding",
            "varve-graph",
            "varve-json",
            "varve-kv",
            "varve-model",
            "varve-pattern",
        ],
    ),
    (
        "varve-server",
        &[
            "varve-auth",
            "varve-backup",
            "varve-bolt",
            "varve-cypher",
            "varve-files",
            "varve-graph",
            "varve-graphson",
            "varve-gremlin",
            "varve-json",
            "varve-kv",
            "varve-load",
            "varve-model",
            "varve-omrs",
            "varve-query",
            "varve-session",
            "varve-traversal",
            "varve-ui",
            "varve-view",
        ],
    ),
    ("varve-ui", &[]),
    (
        "varve",
        &[
            "varve-auth",
            "varve-backup",
            "varve-encoding",
            "varve-files",
            "varve-graph",
            "varve-kv",
            "varve-kv-cassandra",
            "varve-kv-parted",
            "varve-kv-rocksdb",
            "varve-load",
            "varve-model",
            "varve-omrs",
            "varve-server",
            "varve-session",
            // In the tests alone: the comparison with the model is that of varve-graph.
            "varve-view",
        ],
    ),
    (
        "varve-testkit",
        &["varve-encoding", "varve-kv", "varve-model", "varve-view"],
    ),
    (
        "varve-testserver",
        &[
            "varve-graph",
            "varve-graphson",
            "varve-server",
            "varve-testkit",
        ],
    ),
    ("varve-conformance", &["varve-json"]),
    (
        "varve-cypher-tck",
        &[
            "varve-cypher",
            "varve-graph",
            "varve-kv",
            "varve-model",
            "varve-view",
        ],
    ),
    (
        "varve-bench",
        &[
            "varve-encoding",
            "varve-graph",
            "varve-kv",
            "varve-kv-rocksdb",
            "varve-model",
            "varve-omrs",
            "varve-server",
        ],
    ),
];

/// What tests of any crate but `varve-model` may use beside the crate's own dependencies.
const TEST_ONLY: &[&str] = &[
    "varve-testkit",
    "varve-testserver",
    "varve-kv",
    "varve-kv-front",
    "varve-kv-parted",
];

/// Crates from outside that only some of ours may use.
const CORNERS: &[(&str, &[&str])] = &[
    ("rust-rocksdb", &["varve-kv-rocksdb"]),
    ("scylla", &["varve-kv-cassandra"]),
    (
        "rustls",
        &["varve-kv-cassandra", "varve-server", "varve-bench", "varve"],
    ),
    ("hyper", &["varve-server"]),
    ("tokio-tungstenite", &["varve-server", "varve-testserver"]),
    ("http", &["varve-server", "varve-bench", "varve-testserver"]),
    (
        "serde_json",
        &[
            "varve-auth",
            "varve-files",
            "varve-load",
            "varve-session",
            "varve-server",
            "varve",
            "varve-bench",
            "varve-testkit",
            "varve-testserver",
        ],
    ),
    ("parquet", &["varve-files"]),
    ("arrow-array", &["varve-files"]),
    ("encoding_rs", &["varve-files"]),
    ("object_store", &["varve-backup"]),
    ("ureq", &["varve"]),
    (
        "tokio",
        &[
            "varve-server",
            "varve-session",
            "varve-bench",
            "varve-kv-cassandra",
            "varve-backup",
        ],
    ),
];

/// The most lines that a source file may have.
const LINES_MAX: usize = 650;
/// The most columns of a comment line.
const COMMENT_COLUMNS_MAX: usize = 100;
/// The most lines that a file of tests or an example may have.
const TEST_LINES_MAX: usize = 800;

/// Words that may not be left behind. Put together from parts, so that this file does not hold
/// them.
const LEFT_BEHIND: &[&str] = &[
    concat!("dbg", "!("),
    concat!("todo", "!("),
    concat!("FIX", "ME"),
    concat!("XX", "X:"),
];

fn folders(path: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(path).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths.filter(|path| path.is_dir())
}

/// The crates by name: in `crates/`, or in a folder there that holds several.
fn crates() -> BTreeMap<String, PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    let is_crate = |path: &PathBuf| path.join("Cargo.toml").is_file();
    let (alone, groups): (Vec<_>, Vec<_>) = folders(root.expect("crates/")).partition(is_crate);
    let grouped = groups.iter().flat_map(|group| folders(group));
    let name = |path: &Path| {
        path.file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned()
    };
    let members = alone.into_iter().chain(grouped.filter(is_crate));
    members.map(|path| (name(&path), path)).collect()
}

fn manifest(path: &Path) -> Table {
    let text = fs::read_to_string(path.join("Cargo.toml")).expect("a manifest");
    text.parse().expect("a manifest is TOML")
}

fn names(manifest: &Table, section: &str) -> Vec<String> {
    let table = manifest.get(section).and_then(|section| section.as_table());
    table
        .map(|table| table.keys().cloned().collect())
        .unwrap_or_default()
}

fn sources(path: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(path)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
    {
        if entry.is_dir() {
            sources(&entry, found);
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            found.push(entry);
        }
    }
}

fn all_sources() -> Vec<PathBuf> {
    let mut found = Vec::new();
    crates().values().for_each(|path| sources(path, &mut found));
    assert!(found.len() > 20, "found only {} source files", found.len());
    found
}

#[test]
fn dependencies_go_downwards_only() {
    let crates = crates();
    let mut wrong = Vec::new();
    for (name, path) in &crates {
        let Some((_, allowed)) = EDGES.iter().find(|(known, _)| known == name) else {
            wrong.push(format!(
                "{name} is not in the table of allowed dependencies"
            ));
            continue;
        };
        let manifest = manifest(path);
        for dependency in names(&manifest, "dependencies") {
            if crates.contains_key(&dependency) && !allowed.contains(&dependency.as_str()) {
                wrong.push(format!("{name} may not depend on {dependency}"));
            }
        }
        for dependency in names(&manifest, "dev-dependencies") {
            let allowed = allowed.contains(&dependency.as_str())
                || (name != "varve-model" && TEST_ONLY.contains(&dependency.as_str()));
            if crates.contains_key(&dependency) && !allowed {
                wrong.push(format!(
                    "the tests of {name} may not depend on {dependency}"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn heavy_dependencies_stay_in_their_corner() {
    let mut wrong = Vec::new();
    for (name, path) in &crates() {
        let dependencies = names(&manifest(path), "dependencies");
        for (dependency, users) in CORNERS {
            if dependencies.iter().any(|known| known == dependency)
                && !users.contains(&name.as_str())
            {
                wrong.push(format!(
                    "{name} may not use {dependency}; only {users:?} may"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_crate_has_the_workspace_lints_and_a_description() {
    for (name, path) in &crates() {
        let manifest = manifest(path);
        let lints = manifest
            .get("lints")
            .and_then(|lints| lints.get("workspace"));
        assert_eq!(
            lints.and_then(toml::Value::as_bool),
            Some(true),
            "{name}: [lints] workspace = true"
        );
        let description = manifest
            .get("package")
            .and_then(|package| package.get("description"));
        assert!(description.is_some(), "{name}: a description");
    }
}

#[test]
fn files_are_short_and_say_what_they_are_for() {
    let mut wrong = Vec::new();
    for path in all_sources() {
        let text = fs::read_to_string(&path).expect("UTF-8");
        let lines = text.lines().count();
        let beside = ["tests", "examples", "benches"].map(std::ffi::OsStr::new);
        let is_test = path
            .components()
            .any(|part| beside.contains(&part.as_os_str()));
        let limit = if is_test { TEST_LINES_MAX } else { LINES_MAX };
        if lines > limit {
            let found = format!("{}: {lines} lines, at most {limit}", path.display());
            wrong.push(found);
        }
        if !text.starts_with("//!") {
            wrong.push(format!("{}: does not start with //!", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The comment lines of a file that are too wide. Code and tables in comments may be.
fn wide_comments(text: &str) -> Vec<usize> {
    let mut in_code = false;
    let is_wide = |line: &str| {
        let Some(comment) = line.trim_start().strip_prefix("//") else {
            return false;
        };
        let content = comment.trim_start_matches(['/', '!']).trim_start();
        if content.starts_with("```") {
            in_code = !in_code;
        }
        !in_code && !content.starts_with('|') && line.chars().count() > COMMENT_COLUMNS_MAX
    };
    let wide: Vec<bool> = text.lines().map(is_wide).collect();
    let numbers = (1..).zip(wide).filter(|(_, is_wide)| *is_wide);
    numbers.map(|(number, _)| number).collect()
}

#[test]
fn comments_are_not_wide() {
    let mut wrong = Vec::new();
    for path in all_sources() {
        let text = fs::read_to_string(&path).expect("UTF-8");
        for line in wide_comments(&text) {
            wrong.push(format!("{}:{line}", path.display()));
        }
    }
    assert!(
        wrong.is_empty(),
        "comments over {COMMENT_COLUMNS_MAX} columns:\n{}",
        wrong.join("\n")
    );
}

/// How the server reads elements of a graph without the policy of a request's client.
const UNGUARDED: &[&str] = &[
    "graph.view(",
    "graph.with_vertex(",
    "graph.with_edge(",
    "graph.vertex(",
    "graph.edge(",
    "graph.history(",
];

/// Where it does: each of these puts the policy beside it, or serves who has none.
const GUARDS: &[&str] = &[
    "src/session.rs",
    "src/work.rs",
    "src/hugegraph/graph/submit.rs",
    // A task, which is submitted with rights on all elements.
    "src/hugegraph/algorithms.rs",
    // Only who may read everything follows a graph.
    "src/explore/changes/page.rs",
];

#[test]
fn requests_read_graphs_as_their_client_may() {
    let mut found = Vec::new();
    for name in ["varve-server", "varve-session"] {
        sources(&crates()[name].join("src"), &mut found);
    }
    let mut wrong = Vec::new();
    for path in found {
        let text = fs::read_to_string(&path).expect("UTF-8");
        let is_guard = GUARDS.iter().any(|guard| path.ends_with(guard));
        let reads = |line: &&str| UNGUARDED.iter().any(|read| line.contains(read));
        if let Some(line) = text.lines().find(reads).filter(|_| !is_guard) {
            wrong.push(format!("{}: {}", path.display(), line.trim()));
        }
    }
    assert!(wrong.is_empty(), "use Session::view:\n{}", wrong.join("\n"));
}

#[test]
fn nothing_is_left_behind() {
    let mut wrong = Vec::new();
    for path in all_sources() {
        let text = fs::read_to_string(&path).expect("UTF-8");
        for (number, line) in text.lines().enumerate() {
            if let Some(word) = LEFT_BEHIND.iter().find(|word| line.contains(**word)) {
                wrong.push(format!("{}:{}: {word}", path.display(), number + 1));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
