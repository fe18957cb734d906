//! The layers of the configuration: how they are merged, and how their errors name the source.

use toml::{Table, Value};

use super::{Config, ConfigError, SECTIONS, Section};

/// The prefix of environment variables that set options.
const ENVIRONMENT_PREFIX: &str = "VARVE_";

/// An error in a file, with file and line; the message of `error` names the key.
pub(super) fn file_error(name: &str, text: &str, error: &toml::de::Error) -> ConfigError {
    let at = error.span().map_or(0, |span| span.start);
    let line = text.as_bytes()[..at.min(text.len())]
        .iter()
        .filter(|byte| **byte == b'\n')
        .count()
        + 1;
    let source = text.lines().nth(line - 1).unwrap_or_default().trim();
    ConfigError::new(format!(
        "{name}:{line}: {} (at `{source}`)",
        error.message()
    ))
}

/// Merges `layer` into `table`; its options take precedence.
pub(super) fn merge(table: &mut Table, layer: Table) {
    for (section, options) in layer {
        match (table.get_mut(&section), options) {
            (Some(Value::Table(below)), Value::Table(options)) => merge(below, options),
            (_, options) => {
                table.insert(section, options);
            }
        }
    }
}

/// The table of a section; the name of a nested section has a dot.
pub(super) fn section_of<'a>(table: &'a Table, name: &str) -> Option<&'a Table> {
    name.split('.')
        .try_fold(table, |table, part| table.get(part)?.as_table())
}

fn section_of_mut<'a>(table: &'a mut Table, name: &str) -> Option<&'a mut Table> {
    name.split('.')
        .try_fold(table, |table, part| table.get_mut(part)?.as_table_mut())
}

/// Variables with the prefix that are not options, but belong to this program or to its scripts and
/// tests. A name that ends in `_` covers all variables with that prefix.
const NOT_OPTIONS: &[&str] = &[
    "BIN",
    // Set by Cargo for tests of this crate: the commit that `build.rs` found.
    "BUILT_COMMIT",
    "CASSANDRA_ADDRESSES",
    "CASSANDRA_DIR",
    "ADMIN_PASSWORD",
    "PASSWORD",
    "TOKEN",
    "USER",
    "CASSANDRA_EXTRA",
    "CASSANDRA_HEAP",
    "CASSANDRA_JIT",
    "CASSANDRA_NAMESPACES",
    "CASSANDRA_NODES",
    "CASSANDRA_PORT",
    "CASSANDRA_DATACENTERS",
    "CASSANDRA_TLS",
    "CASSANDRA_WAIT",
    "CLUSTER_",
    "COMMIT",
    "COST_",
    "CRASH_",
    "CUT_",
    "POWER_",
    "DIST_",
    "ENGINE",
    "EXAMPLE_FLAGS",
    "FAIL_POINT",
    "FAIL_POINT_HITS",
    "FUZZ_",
    "GREMLIN_FAILED",
    "GREMLIN_FEATURES",
    "GREMLIN_SEED",
    "GREMLIN_TRAVERSALS",
    "HOSTILE_",
    "IDLE_CONNECTIONS",
    "JAVA_OPTIONS",
    "LIMITED_",
    "LOGIN_ROUNDS",
    "METADATA_CRASH_",
    "MODEL_",
    "OMRS_MODEL_",
    "REQUIRE_",
    "RESULTS",
    // Which build of RocksDB the programs are linked with (scripts/rocksdb.sh).
    "ROCKSDB",
    "SEED",
    "SERVERS_TRIES",
    "SESSION_SECONDS",
    "TEST_",
    "TINKERGRAPH_",
    "TRAVERSAL_",
    "UI_",
    "UPDATE_",
    "TCK_",
];

/// The `section.option` that an environment variable sets; `None` for variables of other purposes.
pub(super) fn environment_key(name: &str, value: &str) -> Result<Option<String>, ConfigError> {
    let Some(rest) = name.strip_prefix(ENVIRONMENT_PREFIX) else {
        return Ok(None);
    };
    if is_service_variable(rest, value) || is_of_tests(rest) {
        return Ok(None);
    }
    // Nested sections first: their variables begin with the name of the outer section, too.
    let mut sections: Vec<&Section> = SECTIONS.iter().collect();
    sections.sort_by_key(|section| std::cmp::Reverse(section.name.len()));
    for section in sections {
        let prefix = format!("{}_", section.name.replace('.', "_").to_uppercase());
        let Some(option) = rest.strip_prefix(&prefix) else {
            continue;
        };
        let option = option.to_lowercase();
        if !section.options.iter().any(|known| known.name == option) {
            let text = format!(
                "environment variable {name}: [{}] has no option '{option}'",
                section.name
            );
            return Err(ConfigError::new(text));
        }
        return Ok(Some(format!("{}.{option}", section.name)));
    }
    let names: Vec<&str> = SECTIONS.iter().map(|section| section.name).collect();
    Err(ConfigError::new(format!(
        "environment variable {name}: it names no section of the options, which are {}",
        names.join(", ")
    )))
}

fn is_of_tests(rest: &str) -> bool {
    NOT_OPTIONS
        .iter()
        .any(|known| rest == *known || (known.ends_with('_') && rest.starts_with(known)))
}

/// Whether Kubernetes sets this variable in each pod for a service called `varve` or `varve-…`:
/// `VARVE_SERVICE_HOST`, `VARVE_SERVICE_PORT[_<name>]`, `VARVE_PORT=tcp://…`,
/// `VARVE_PORT_8080_TCP[_PROTO|_PORT|_ADDR]`.
fn is_service_variable(rest: &str, value: &str) -> bool {
    const PROTOCOLS: [&str; 3] = ["TCP", "UDP", "SCTP"];
    let words: Vec<&str> = rest.split('_').collect();
    let is_of_service = words
        .windows(2)
        .any(|pair| matches!(pair, ["SERVICE", "HOST" | "PORT"]));
    let is_of_port = words.windows(3).any(|three| {
        three[0] == "PORT" && three[1].parse::<u16>().is_ok() && PROTOCOLS.contains(&three[2])
    });
    let protocol = value.split_once("://").map(|(protocol, _)| protocol);
    let is_address = words.last() == Some(&"PORT")
        && protocol.is_some_and(|text| PROTOCOLS.contains(&text.to_uppercase().as_str()));
    is_of_service || is_of_port || is_address
}

/// Sets `section.option` to `value`, parsed as the option's type.
pub(super) fn set(
    table: &mut Table,
    key: &str,
    value: &str,
    origin: &str,
) -> Result<(), ConfigError> {
    let (section, option) = key
        .rsplit_once('.')
        .ok_or_else(|| ConfigError::new(format!("{origin}: expected <section>.<option>")))?;
    let slot = section_of_mut(table, section)
        .and_then(|options| options.get_mut(option))
        .filter(|slot| !slot.is_table())
        .ok_or_else(|| ConfigError::new(format!("{origin}: there is no option '{key}'")))?;
    *slot = match slot {
        Value::String(_) => Value::String(value.to_owned()),
        Value::Array(_) if !value.trim_start().starts_with('[') => Value::Array(
            value
                .split(',')
                .map(|item| Value::String(item.trim().to_owned()))
                .collect(),
        ),
        _ => {
            let parsed: Result<Table, _> = format!("value = {value}").parse();
            let mut parsed = parsed.map_err(|_| {
                ConfigError::new(format!("{origin}: '{value}' is not a {}", slot.type_str()))
            })?;
            parsed.remove("value").expect("the line above has this key")
        }
    };
    // Checked at once, so that the error names the origin of the value.
    let checked: Result<Config, toml::de::Error> = table.clone().try_into();
    checked
        .map(drop)
        .map_err(|error| ConfigError::new(format!("{origin}: {}", error.message())))
}
