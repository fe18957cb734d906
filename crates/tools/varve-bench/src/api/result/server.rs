//! What was measured.

use serde::{Deserialize, Serialize};

/// A server measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Server {
    /// Short name, unique in the file: `varve`, `hugegraph`.
    pub name: String,
    /// Base address.
    pub url: String,
    /// The graph used.
    pub graph: String,
    /// `short` (`/graphs/g/…`) or `graph-space` (`/graphspaces/DEFAULT/graphs/g/…`).
    pub paths: String,
    /// What the server says it is: `core` of `GET /versions`.
    pub core_version: Option<String>,
    /// `api` of `GET /versions`.
    pub api_version: Option<String>,
    /// Name and version of the program as far as it says (`service` and `version` of `GET /`).
    pub service: Option<String>,
    /// When a write is acknowledged: `sync`, `interval:<ms>`, `none`; for others in words. Absent
    /// when unknown.
    pub durability: Option<String>,
    /// Engine below, if it says.
    pub engine: Option<String>,
    /// Process on this machine.
    pub pid: Option<u32>,
    /// Its command line.
    pub command_line: Option<String>,
    /// What was set differently from its defaults, and why.
    pub notes: Vec<String>,
}
