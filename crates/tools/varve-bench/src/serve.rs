//! A server of our own: started for a run, verified after it, and ended with it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use anyhow::{Context, Result};
use clap::ValueEnum;

use crate::owned::{Folder, Process};

/// The largest store that is verified after a run by default, in bytes.
const VERIFIED_BYTES: u64 = 4 << 30;
/// The exit code of `varve verify` when it found problems.
const PROBLEMS_FOUND: i32 = 3;

/// The process and its data. Dropping it ends the process and removes the data.
#[derive(Debug)]
pub(crate) struct Served {
    /// `None` once it was stopped.
    process: Option<Process>,
    pub(crate) pid: u32,
    pub(crate) url: String,
    binary: PathBuf,
    /// The common arguments of `serve` and `verify`: the data, and the options.
    options: Vec<String>,
    data: Folder,
}

/// Whether the store is verified after a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum VerifyStore {
    /// When it has at most 4 GiB
    #[default]
    Auto,
    Always,
    Never,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Verified {
    /// What was found, or why the store was not verified.
    pub(crate) text: String,
    /// The reason for which the run fails, if any.
    pub(crate) failure: Option<&'static str>,
}

impl Verified {
    /// The result for the output and the exit status of `varve verify`.
    fn of(said: &str, status: ExitStatus) -> Self {
        let (text, failure) = match status.code() {
            Some(0) => (format!("store verified: {said}"), None),
            Some(PROBLEMS_FOUND) => (
                format!("store verified, with problems: {said}"),
                Some("the store has problems"),
            ),
            _ => (
                format!("store could not be verified: {status}; {said}"),
                Some("the store could not be verified"),
            ),
        };
        Self { text, failure }
    }

    fn left_out(why: &str) -> Self {
        Self {
            text: format!("store not verified: {why}"),
            failure: None,
        }
    }
}

impl Served {
    /// Starts `binary serve` on a free port with an empty data folder. The server ends with the
    /// calling thread.
    ///
    /// # Errors
    /// When it does not start; the message has its last output.
    pub(crate) fn start(binary: &Path, durability: &str, settings: &[String]) -> Result<Self> {
        let data = Folder::new()?;
        let mut options = vec!["--data-dir".to_owned(), data.path().display().to_string()];
        for setting in settings {
            options.extend(["--set".to_owned(), setting.clone()]);
        }
        let mut command = Command::new(binary);
        command.args(["serve", "--listen", "127.0.0.1:0"]);
        command.args(["--durability", durability]).args(&options);
        let (process, url) = listening(&command)?;
        Ok(Self {
            pid: process.id(),
            process: Some(process),
            url,
            binary: binary.to_owned(),
            options,
            data,
        })
    }

    /// Stops the server in order, and verifies its store with its own binary.
    ///
    /// # Errors
    /// When the server does not stop in order, or the verification cannot run.
    pub(crate) fn verify(&mut self, wanted: VerifyStore) -> Result<Verified> {
        if wanted == VerifyStore::Never {
            return Ok(Verified::left_out("--verify-store never"));
        }
        if let Some(process) = self.process.take() {
            process.stop()?;
        }
        let bytes = size(self.data.path())?;
        if bytes == 0 {
            return Ok(Verified::left_out("its server leaves nothing on disk"));
        }
        if wanted == VerifyStore::Auto && bytes > VERIFIED_BYTES {
            let why = "it has over 4 GiB (--verify-store always)";
            return Ok(Verified::left_out(why));
        }
        eprintln!("verifying the store …");
        let mut command = Command::new(&self.binary);
        command.arg("verify").args(&self.options);
        let (process, lines) = Process::start(&command)?;
        let lines: Vec<String> = lines.collect::<Result<_, _>>()?;
        Ok(Verified::of(&lines.join("; "), process.wait()?))
    }
}

/// Starts a server and waits until it prints its address.
///
/// # Errors
/// When it ends before that.
pub(crate) fn listening(command: &Command) -> Result<(Process, String)> {
    let (process, mut lines) = Process::start(command)?;
    let url = lines.by_ref().map_while(Result::ok).find_map(|line| {
        let schemes = ["http://", "https://"];
        let rest = &line[schemes.iter().find_map(|scheme| line.find(scheme))?..];
        let end = rest.find(|c: char| c.is_whitespace()).unwrap_or(rest.len());
        Some(rest[..end].trim_end_matches('/').to_owned())
    });
    // Later output must be read, or the server would block on a full pipe.
    std::thread::spawn(move || lines.for_each(drop));
    let program = Path::new(command.get_program()).display();
    let url = url.with_context(|| format!("{program} ended before it printed its address"))?;
    Ok((process, url))
}

/// Bytes of all files below a folder.
fn size(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        let entry = entry?;
        bytes += match entry.file_type()?.is_dir() {
            true => size(&entry.path())?,
            false => entry.metadata()?.len(),
        };
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;

    #[test]
    fn problems_are_distinguished_from_a_wrong_command_line() {
        let of =
            |code: i32, said: &str| Verified::of(said, ExitStatus::from_raw(code << 8)).failure;
        let problems = Some("the store has problems");
        assert_eq!(of(0, "g: 1 vertices, 0 problems"), None);
        assert_eq!(of(3, "g: 1 vertices, 1 problems"), problems);
        for (code, said) in [(2, ""), (1, ""), (1, "g: 1 vertices, 0 problems")] {
            let failure = of(code, said);
            assert_eq!(failure, Some("the store could not be verified"), "{code}");
        }
    }
}
