//! The validation of the options.

use super::{CassandraOptions, Config, ConfigError, LogConfig, MaintenanceConfig, StorageConfig};

/// The longest name of the keyspace that lists the graphs. The keyspaces of graphs append to it.
const KEYSPACE_BYTES_MAX: usize = 16;

/// The smallest `storage.front_table_bytes`: a smaller table would be flushed every few batches.
const FRONT_TABLE_BYTES_MIN: usize = 16 << 10;

/// Seconds that a server may need to open a graph whose lease has run out.
const TAKE_OVER_SECONDS: u64 = 15;

impl Config {
    /// Refuses values with which the server could not work.
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        self.kept_changes()?;
        self.whole_server()
            .validate()
            .map_err(|error| ConfigError::new(error.to_string()))?;
        self.durability()?;
        self.storage.validate()?;
        let takes_over_after = self.storage.cassandra.lease_seconds + TAKE_OVER_SECONDS;
        if self.storage.engine == "cassandra"
            && self.auth.enabled
            && u64::from(self.auth.users_copy_seconds) < takes_over_after
        {
            return Err(ConfigError::new(format!(
                "auth.users_copy_seconds must be at least {takes_over_after}: storage.cassandra.lease_seconds and \
                 {TAKE_OVER_SECONDS} more"
            )));
        }
        self.limits
            .limits()
            .validate()
            .map_err(|error| ConfigError::new(error.to_string()))?;
        self.maintenance.validate()?;
        self.omrs
            .validate()
            .map_err(|error| ConfigError::new(error.to_string()))?;
        self.log.validate()
    }
}

impl StorageConfig {
    fn validate(&self) -> Result<(), ConfigError> {
        let engine = self.engine.as_str();
        if !matches!(engine, "rocksdb" | "memory" | "cassandra") {
            let text =
                format!("storage.engine must be rocksdb, memory or cassandra, but is '{engine}'");
            return Err(ConfigError::new(text));
        }
        self.cassandra.validate()?;
        if (1..256).contains(&self.memory_mib) {
            return Err(ConfigError::new(
                "storage.memory_mib must be 0 or at least 256",
            ));
        }
        if self.front_table_bytes < FRONT_TABLE_BYTES_MIN {
            return Err(ConfigError::new(format!(
                "storage.front_table_bytes must be at least {FRONT_TABLE_BYTES_MIN}"
            )));
        }
        Ok(())
    }
}

impl LogConfig {
    fn validate(&self) -> Result<(), ConfigError> {
        let level = self.level.as_str();
        match level.parse::<tracing::Level>() {
            Ok(_) => Ok(()),
            Err(_) => Err(ConfigError::new(format!(
                "log.level must be error, warn, info, debug or trace, but is '{level}'"
            ))),
        }
    }
}

impl MaintenanceConfig {
    fn validate(&self) -> Result<(), ConfigError> {
        for (name, value, range) in [
            ("tidy_interval_ms", self.tidy_interval_ms, 10..=3_600_000),
            (
                "retention_interval_seconds",
                self.retention_interval_seconds,
                1..=604_800,
            ),
        ] {
            if !range.contains(&value) {
                let (least, most) = (range.start(), range.end());
                return Err(ConfigError::new(format!(
                    "maintenance.{name} must be in {least} to {most}, but is {value}"
                )));
            }
        }
        Ok(())
    }
}

/// An error about an option of the cluster.
fn wrong(option: &str, text: &str) -> ConfigError {
    ConfigError::new(format!("storage.cassandra.{option} must be {text}"))
}

impl CassandraOptions {
    fn validate(&self) -> Result<(), ConfigError> {
        if self.contact_points.is_empty() {
            return Err(wrong("contact_points", "at least one host:port"));
        }
        let has_port = |address: &str| {
            let port = address
                .rsplit_once(':')
                .map(|(_, port)| port.parse::<u16>());
            matches!(port, Some(Ok(1..)))
        };
        if !self.advertise.is_empty() && !has_port(&self.advertise) {
            return Err(wrong("advertise", "host:port"));
        }
        self.validate_names()?;
        self.validate_tls()?;
        if let Some(text) = consistency_refused(&self.consistency) {
            return Err(wrong("consistency", &text));
        }
        self.validate_numbers()
    }

    /// Checks the names that are used in CQL and in the cluster's topology.
    fn validate_names(&self) -> Result<(), ConfigError> {
        let name = self.keyspace.as_bytes();
        let plain = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'_';
        let named = name.first().is_some_and(u8::is_ascii_lowercase)
            && name.iter().all(plain)
            && name.len() <= KEYSPACE_BYTES_MAX;
        if !named {
            let text = "1 to 16 lower-case letters, digits and _, the first a letter";
            return Err(wrong("keyspace", text));
        }
        let datacenter = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
        let is_named = |name: &String| !name.is_empty() && name.bytes().all(datacenter);
        if !is_named(&self.datacenter) {
            return Err(wrong("datacenter", "letters, digits, _, - and ."));
        }
        let further = &self.further_datacenters;
        let mut all: Vec<&String> = further.iter().chain([&self.datacenter]).collect();
        all.sort_unstable();
        all.dedup();
        if !further.iter().all(is_named) || all.len() <= further.len() {
            let text = "different names of letters, digits, _, - and ., without datacenter";
            return Err(wrong("further_datacenters", text));
        }
        Ok(())
    }

    /// Checks that the certificate, its key and the trusted certificates are given together.
    fn validate_tls(&self) -> Result<(), ConfigError> {
        if self.tls_certificate_file.is_empty() != self.tls_key_file.is_empty() {
            return Err(wrong(
                "tls_key_file",
                "given with tls_certificate_file, and only with it",
            ));
        }
        if self.tls_trusted_file.is_empty() && !self.tls_certificate_file.is_empty() {
            return Err(wrong(
                "tls_trusted_file",
                "given where tls_certificate_file is",
            ));
        }
        Ok(())
    }

    fn validate_numbers(&self) -> Result<(), ConfigError> {
        if !(1..=9).contains(&self.replication) {
            return Err(wrong("replication", "in 1 to 9"));
        }
        if !(1..=1024).contains(&self.partition_mib) {
            return Err(wrong("partition_mib", "in 1 to 1024"));
        }
        if !(2..=3600).contains(&self.lease_seconds) {
            return Err(wrong("lease_seconds", "in 2 to 3600"));
        }
        for (option, value) in [
            ("connections_per_node", self.connections_per_node as u64),
            ("in_flight_max", self.in_flight_max as u64),
            ("request_timeout_ms", self.request_timeout_ms),
            ("io_threads", self.io_threads as u64),
        ] {
            if value == 0 {
                return Err(wrong(option, "at least 1"));
            }
        }
        Ok(())
    }
}

/// The reason why a consistency is refused; `None` if it is accepted.
fn consistency_refused(name: &str) -> Option<String> {
    let why = match name {
        "local_quorum" | "quorum" => return None,
        "any" | "one" | "two" | "three" | "local_one" => {
            "writes depend on reads, and reads of fewer than most replicas can miss acknowledged writes"
        }
        "each_quorum" => {
            "a server in one datacenter could miss a batch that another was applying, and half of it would remain; quorum \
             prevents that"
        }
        "all" => "one node that is down would stop all requests",
        "serial" | "local_serial" => {
            "these are for conditional changes, whose level follows from the other two"
        }
        _ => return Some("local_quorum or quorum".to_owned()),
    };
    Some(format!("local_quorum or quorum, not {name}: {why}"))
}
