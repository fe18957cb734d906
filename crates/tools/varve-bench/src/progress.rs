//! Progress of a run, on standard error: a line that is overwritten on a terminal, lines elsewhere.
//!
//! A line that cannot be shown is no reason to end a measurement.

use std::io::{IsTerminal as _, Write as _};

/// Back to the begin of the terminal's line, which is emptied.
const CLEAR: &str = "\r\x1b[K";

/// Whether and how it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Not at all.
    Quiet,
    /// One line that is overwritten.
    Terminal,
    /// Standard error is no terminal: lines are kept.
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

    /// A line that the next one overwrites on a terminal.
    pub(crate) fn show(self, line: &str) {
        match self {
            Self::Quiet => {}
            Self::Terminal => {
                let _ = write!(std::io::stderr(), "{CLEAR}{line}");
            }
            Self::Log => self.say(line),
        }
    }

    /// A line that stays.
    pub(crate) fn say(self, line: &str) {
        if self != Self::Quiet {
            self.end();
            let _ = writeln!(std::io::stderr(), "{line}");
        }
    }

    /// The last line makes room.
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
