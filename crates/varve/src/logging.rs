//! Log lines on standard error: time, level, target and message, as text or as one JSON object a
//! line.

use std::ffi::OsString;
use std::fmt::{self, Write as _};
use std::io::IsTerminal as _;

use tracing::Level;
use tracing::field::Field;
use tracing_subscriber::field::MakeExt as _;
use tracing_subscriber::fmt::format::{Writer, debug_fn};

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
        LogFormat::Text => lines
            .fmt_fields(debug_fn(write_field).delimited(" "))
            .try_init(),
        LogFormat::Json => lines.json().flatten_event(true).try_init(),
    };
    if started.is_err() {
        tracing::debug!("logging was started before");
    }
}

/// Writes a field of an event on one line. Names and texts that clients sent cannot begin another
/// line, nor control a terminal.
fn write_field(writer: &mut Writer<'_>, field: &Field, value: &dyn fmt::Debug) -> fmt::Result {
    if field.name() != "message" {
        write!(writer, "{field}=")?;
    }
    write!(OneLine(writer), "{value:?}")
}

/// Escapes control characters.
struct OneLine<W>(W);

impl<W: fmt::Write> fmt::Write for OneLine<W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for part in text.split_inclusive(char::is_control) {
            match part.chars().next_back().filter(|last| last.is_control()) {
                Some(last) => {
                    let plain = &part[..part.len() - last.len_utf8()];
                    write!(self.0, "{plain}{}", last.escape_default())?;
                }
                None => self.0.write_str(part)?,
            }
        }
        Ok(())
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

    #[test]
    fn what_clients_sent_stays_on_its_line() {
        let mut line = String::new();
        let name = "ann\n2026 INFO ok\r\u{1b}[31mé\u{85}\t";
        write!(OneLine(&mut line), "by={name} end").expect("written");
        assert_eq!(line, "by=ann\\n2026 INFO ok\\r\\u{1b}[31mé\\u{85}\\t end");
    }
}
