//! The line that says how a row gets on, once a second on standard error.

use std::io::{IsTerminal as _, Write as _};

use super::result::Second;

/// Whether and how the line is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Not at all.
    Quiet,
    /// One line that is overwritten.
    Terminal,
}

impl Progress {
    /// Shown when a person looks on.
    pub(crate) fn new(quiet: bool) -> Self {
        match quiet || !std::io::stderr().is_terminal() {
            true => Self::Quiet,
            false => Self::Terminal,
        }
    }

    /// A second is over.
    pub(crate) fn second(self, label: &str, second: &Second, server_cpu: Option<f64>) {
        if self == Self::Quiet || second.at_s == u32::MAX {
            return;
        }
        let cpu = server_cpu.map_or(String::new(), |percent| {
            format!(", server {percent:.0} % CPU")
        });
        let line = format!(
            "{label} {}s: {} users, {}/s, median {:.2} ms, 99 % {:.2} ms, {} errors{cpu}",
            second.at_s + 1,
            second.users,
            second.samples,
            second.median_us as f64 / 1e3,
            second.line99_us as f64 / 1e3,
            second.errors,
        );
        // A line that cannot be shown is no reason to end a measurement.
        let _ = write!(std::io::stderr(), "\r\x1b[K{line}");
    }

    /// The row is over: its line makes room.
    pub(crate) fn end(self) {
        if self == Self::Terminal {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}
