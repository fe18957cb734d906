//! Why a server could not be set up.

use varve_graph::GraphError;

use crate::config::ConfigError;
use crate::tls::TlsError;

/// Why a server could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// An option has an invalid value.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The graphs could not be opened.
    #[error("open the graphs: {0}")]
    Graphs(#[from] GraphError),
    /// The users could not be read.
    #[error("open the users: {0}")]
    Auth(#[from] varve_auth::AuthError),
    /// The certificate or its key cannot be used.
    #[error("serve TLS: {0}")]
    Tls(#[from] TlsError),
    /// A thread, a socket or a file could not be opened.
    #[error("{what}: {source}")]
    Io {
        /// The operation that failed.
        what: String,
        /// Why it failed.
        source: std::io::Error,
    },
}
