//! Log lines on standard error: time, level, target and message, as text or as one JSON object a
//! line.

use std::ffi::OsString;
use std::io::IsTerminal as _;

use tracing::Level;

use crate::config::{LogConfig, LogFormat};

/// Starts logging as the options say. Only the first call of a process counts.
pub(crate) fn start(config: &LogConfig) {
    start_at(config, level(config));
}

/// Starts logging for a command that opens a data folder: warnings and errors, or only errors if
/// the configured level is `error`. The user should see what opening the folder drops or skips.
pub(crate) fn start_for_command(config: &LogConfig) {
    start_at(config, level(config).min(Level::WARN));
}

fn level(config: &LogConfig) -> Level {
    config.level.parse().unwrap_or(Level::INFO)
}

fn start_at(config: &LogConfig, level: Level) {
    let plain = declines_colour(std::env::var_os("NO_COLOR"));
    let lines = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal() && !plain);
    let started = match config.format {
        LogFormat::Text => lines.try_init(),
        LogFormat::Json => lines.json().flatten_event(true).try_init(),
    };
    if started.is_err() {
        tracing::debug!("logging was started before");
    }
}

/// Whether the user declines colours, as <https://no-color.org> defines it.
fn declines_colour(no_color: Option<OsString>) -> bool {
    no_color.is_some_and(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_color_says_no_to_colours_unless_it_is_empty() {
        let declines = |value: &str| declines_colour(Some(value.into()));
        assert!(declines("1") && declines("0") && !declines(""));
        assert!(!declines_colour(None));
    }
}
