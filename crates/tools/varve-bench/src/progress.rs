//! Progress of a run, on standard error: a line that is overwritten on a terminal, lines elsewhere.
//!
//! Errors of the output are ignored, since they are no reason to end a measurement.

use std::io::{IsTerminal as _, Write as _};

/// Returns to the start of the terminal's line and clears it.
const CLEAR: &str = "\r\x1b[K";

/// How progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Not shown.
    Quiet,
    /// One line that is overwritten each time.
    Terminal,
    /// Lines, since standard error is no terminal.
    Log,
}

impl Progress {
    pub(crate) fn new(quiet: bool) -> Self {
        match (quiet, is_terminal()) {
            (true, _) => Self::Quiet,
            (false, true) => Self::Terminal,
            (false, false) => Self::Log,
        }
    }

    /// Shows a line; on a terminal the next one overwrites it.
    pub(crate) fn show(self, line: &str) {
        match self {
            Self::Quiet => {}
            Self::Terminal => {
                let _ = write!(std::io::stderr(), "{CLEAR}{line}");
            }
            Self::Log => self.say(line),
        }
    }

    /// Shows a line that is not overwritten.
    pub(crate) fn say(self, line: &str) {
        if self != Self::Quiet {
            self.end();
            let _ = writeln!(std::io::stderr(), "{line}");
        }
    }

    /// Clears the line of progress on a terminal.
    pub(crate) fn end(self) {
        if self == Self::Terminal {
            let _ = write!(std::io::stderr(), "{CLEAR}");
        }
    }
}

fn is_terminal() -> bool {
    std::io::stderr().is_terminal()
}

/// Prints a warning.
pub(crate) fn warn(text: &str) {
    let clear = if is_terminal() { CLEAR } else { "" };
    let _ = writeln!(std::io::stderr(), "{clear}warning: {text}");
}
