//! The server of a measurement.

use serde::{Deserialize, Serialize};

/// A measured server.
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
    /// Its core version: `core` of `GET /versions`.
    pub core_version: Option<String>,
    /// `api` of `GET /versions`.
    pub api_version: Option<String>,
    /// Name and version of the program, if known (`service` and `version` of `GET /`).
    pub service: Option<String>,
    /// When a write is acknowledged: `sync`, `interval:<ms>`, `none`, or a description for other
    /// servers. Absent when unknown.
    pub durability: Option<String>,
    /// Its storage engine, if known.
    pub engine: Option<String>,
    /// Its process, if it runs on this machine.
    pub pid: Option<u32>,
    /// The command line of its process.
    pub command_line: Option<String>,
    /// Settings that differ from its defaults, and why.
    pub notes: Vec<String>,
}
