//! Progress of a run, on standard error: a line that is overwritten on a terminal, lines elsewhere.
//!
//! Errors of the output are ignored, since they are no reason to end a measurement.

use std::io::{IsTerminal as _, Write as _};

/// Returns to the start of the terminal's line and clears it.
const CLEAR: &str = "\r\x1b[K";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Not shown.
    Quiet,
    /// Also a line that is overwritten each time.
    Terminal,
    /// Lines, since standard error is no terminal.
    Log,
}

impl Progress {
    pub(crate) fn new(quiet: bool) -> Self {
        match (quiet, std::io::stderr().is_terminal()) {
            (true, _) => Self::Quiet,
            (false, true) => Self::Terminal,
            (false, false) => Self::Log,
        }
    }

    /// Shows a line on a terminal, which the next one overwrites.
    pub(crate) fn show(self, line: &str) {
        if self == Self::Terminal {
            let _ = write!(std::io::stderr(), "{CLEAR}{line}");
        }
    }

    /// Shows a line that is not overwritten.
    pub(crate) fn say(self, line: &str) {
        if self != Self::Quiet {
            self.show("");
            let _ = writeln!(std::io::stderr(), "{line}");
        }
    }
}

pub(crate) fn warn(text: &str) {
    Progress::new(false).say(&format!("warning: {text}"));
}
