//! The options of the metadata repository.

use varve_omrs::json::Limits;

use crate::config::{ConfigError, ServerConfig};
use crate::section;

section! {
    /// The open-metadata repository (Egeria OMRS), see `metadata-rest.md`.
    pub struct OmrsConfig {
        /// Whether the server is a metadata repository. If so, the repository's graph is created at
        /// the first start; the other resources can read this graph, but not change it.
        enabled: bool = false,
        /// The graph that stores the repository.
        graph: String = "metadata".to_owned(),
        /// Whether graphs that store a metadata repository can be changed through the other
        /// resources while this server does not serve that repository. Such changes are not
        /// checked: an element that is written may be no instance, and a deletion leaves no trace
        /// for the repository.
        unlock_graphs: bool = false,
        /// The names that may stand for the server in `/servers/{serverName}/…`. None: any name.
        server_names: Vec<String> = vec!["varve".to_owned()],
        /// The identity of the metadata collection. Empty: one is made at the first start. It is
        /// kept with the data and cannot be changed afterwards: with another one here the server
        /// does not start.
        metadata_collection_id: String = String::new(),
        /// The name of the metadata collection, by which instances and messages call it.
        metadata_collection_name: String = "varve".to_owned(),
        /// The start of the URLs of instances (`instanceURL`), as others reach it, with the
        /// server's name. Empty: `http://<host>:<port>/servers/<first of server_names>` of this
        /// configuration.
        base_url: String = String::new(),
        /// How deep objects and lists of a body may nest, 8 to 1024. Deeper:
        /// `InvalidParameterException`.
        max_json_depth: usize = 128,
        /// Values that a body may hold, of every kind and at every depth.
        max_json_values: usize = 1_000_000,
        /// Bytes that one text of a body may have.
        max_text_bytes: usize = 4 * 1024 * 1024,
    }
}

impl OmrsConfig {
    /// Refuses values with which the repository cannot work.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let refused = |option, reason: &str| {
            let reason = reason.to_owned();
            Err(ConfigError { option, reason })
        };
        if !(8..=1024).contains(&self.max_json_depth) {
            return refused("omrs.max_json_depth", "must be in 8..=1024");
        }
        if self.max_json_values == 0 {
            return refused("omrs.max_json_values", "must be at least 1");
        }
        if self.max_text_bytes == 0 {
            return refused("omrs.max_text_bytes", "must be at least 1");
        }
        if self.metadata_collection_name.trim().is_empty() {
            return refused("omrs.metadata_collection_name", "must not be empty");
        }
        if self.server_names.iter().any(String::is_empty) {
            return refused("omrs.server_names", "must not hold an empty name");
        }
        Ok(())
    }

    /// The limits of a body. The server's configuration bounds its length.
    pub fn limits(&self, server: &ServerConfig) -> Limits {
        Limits {
            bytes: server.max_body_bytes.max(server.max_batch_body_bytes),
            depth: self.max_json_depth,
            values: self.max_json_values,
            string_bytes: self.max_text_bytes,
        }
    }

    /// The prefix of the URLs of instances.
    pub fn url_base(&self, server: &ServerConfig) -> String {
        if !self.base_url.is_empty() {
            return self.base_url.trim_end_matches('/').to_owned();
        }
        let name = self.server_names.first().map_or("varve", String::as_str);
        let scheme = if server.tls.is_on() { "https" } else { "http" };
        format!("{scheme}://{}/servers/{name}", server.address())
    }
}
