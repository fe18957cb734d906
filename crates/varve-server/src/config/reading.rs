//! Which servers answer reads.

use serde::{Deserialize, Serialize};

/// Which servers answer the reads of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadConsistency {
    /// The server that leads the graph.
    #[default]
    Leader,
    /// Any server, as of a moment that is past for no longer than `staleness_ms`.
    Bounded,
}

impl ReadConsistency {
    /// The one of that name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "leader" => Some(Self::Leader),
            "bounded" => Some(Self::Bounded),
            _ => None,
        }
    }
}
