//! What the result files of all suites have in common: JSON, begun alike, read and written alike.

mod buckets;

use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub use buckets::Buckets;

/// Exit code when figures, answers or data are not as they must be.
pub(crate) const EXIT_FAILED: u8 = 3;

/// What a file says of itself.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Head {
    /// Files of metadata that earlier builds wrote have none.
    format: u32,
    suite: String,
}

/// Whose a file is, and the newest form of it that is known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Form {
    /// As in the file; empty of the load tests.
    pub(crate) suite: &'static str,
    /// The command that writes it.
    pub(crate) command: &'static str,
    pub(crate) oldest: u32,
    pub(crate) newest: u32,
}

impl Form {
    /// Whether a file is of this suite, as far as it can be read.
    pub(crate) fn is_of(self, path: &Path) -> Result<bool> {
        let head: Head = parse(path, &text(path)?)?;
        Ok(head.suite == self.suite)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read, is of another suite, or was written by a newer tool.
    pub(crate) fn read<F: DeserializeOwned>(self, path: &Path) -> Result<F> {
        let (text, shown) = (text(path)?, path.display());
        let head: Head = parse(path, &text)?;
        let Self {
            command,
            oldest,
            newest,
            ..
        } = self;
        ensure!(
            head.suite == self.suite,
            "{shown} is not a result of `{command}`"
        );
        ensure!(
            (oldest..=newest).contains(&head.format),
            "{shown}: form {} is not known to this tool, which knows {oldest} to {newest}",
            head.format
        );
        parse(path, &text)
    }
}

fn text(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))
}

fn parse<F: DeserializeOwned>(path: &Path, text: &str) -> Result<F> {
    serde_json::from_str(text).with_context(|| format!("{} is not a result file", path.display()))
}

/// Writes a file, readable by people: a field a line, histograms and seconds compact.
///
/// # Errors
/// When it cannot be written.
pub(crate) fn write(file: &impl Serialize, path: &Path) -> Result<()> {
    let text = serde_json::to_string_pretty(file).context("the result as JSON")?;
    let text = compact_pairs(&text) + "\n";
    // What is no file, as /dev/stdout, takes the text itself.
    if path.metadata().is_ok_and(|there| !there.is_file()) {
        return put(path, &text);
    }
    // A file beside it, so that whoever reads while a run goes on finds a whole one.
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    std::fs::write(&beside, text)
        .and_then(|()| std::fs::rename(&beside, path))
        .with_context(|| format!("writing {}", path.display()))
}

/// Writes text to a file.
///
/// # Errors
/// When it cannot be written.
pub(crate) fn put(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).with_context(|| format!("writing {}", path.display()))
}

/// Puts arrays and objects that hold only numbers on one line each; a histogram would fill
/// thousands of lines.
fn compact_pairs(pretty: &str) -> String {
    let mut out = String::with_capacity(pretty.len());
    let mut lines = pretty.lines().peekable();
    while let Some(line) = lines.next() {
        out.push_str(line);
        let in_series = line.ends_with('[') && line.trim() == "[";
        let in_second = line.trim() == "{"
            && lines
                .peek()
                .is_some_and(|next| next.trim().starts_with("\"at_s\""));
        if in_series || in_second {
            for inner in lines.by_ref() {
                let inner = inner.trim();
                if !matches!(inner, "]" | "]," | "}" | "},") {
                    out.push_str(inner);
                    continue;
                }
                out.push_str(inner);
                break;
            }
        }
        out.push('\n');
    }
    out
}
