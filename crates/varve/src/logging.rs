//! Log lines on standard error: time, level, where from, what.

use tracing::Level;

/// Starts logging at `level` and above. Only the first call of a process counts.
pub(crate) fn start(level: &str) {
    let level = level.parse().unwrap_or(Level::INFO);
    let started = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()))
        .try_init();
    if started.is_err() {
        tracing::debug!("logging was started before");
    }
}
