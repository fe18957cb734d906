//! A server of our own: started for a run, verified after it, and ended with it.

use std::fmt;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;
use flate2::Crc;

use crate::owned::{Ending, Folder, Process};

/// The largest store that is verified after a run by default, in bytes.
const VERIFIED_BYTES: u64 = 4 << 30;
/// The exit code of `varve verify` when it found problems.
const PROBLEMS_FOUND: i32 = 3;
/// The exit code with the same meaning in older versions. A wrong command line has it, too, but
/// then nothing is printed on standard output.
const PROBLEMS_FOUND_BEFORE: i32 = 2;

/// The process and its data. Dropping it ends the process and removes the data, unless they are
/// kept.
#[derive(Debug)]
pub(crate) struct Served {
    /// `None` once it was stopped.
    process: Option<Process>,
    pid: u32,
    pub(crate) url: String,
    binary: PathBuf,
    /// The common arguments of `serve` and `verify`: the data, and the options.
    options: Vec<String>,
    durability: String,
    data: Data,
}

/// The location of a server's data.
#[derive(Debug)]
enum Data {
    Temporary(Folder),
    Kept(PathBuf),
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

/// The result of verifying a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verified {
    /// The output of `varve verify`.
    Sound(String),
    Problems(String),
    /// The exit status and the output.
    Failed(String),
    /// Why the store was not verified.
    LeftOut(String),
}

impl Verified {
    /// The result for the output and the exit status of `varve verify`.
    fn of(said: String, status: ExitStatus) -> Self {
        match status.code() {
            Some(0) => Self::Sound(said),
            Some(PROBLEMS_FOUND) => Self::Problems(said),
            Some(PROBLEMS_FOUND_BEFORE) if !said.is_empty() => Self::Problems(said),
            _ => Self::Failed(format!("{status}; {said}")),
        }
    }

    /// The reason for which the run fails, if any.
    pub(crate) const fn failure(&self) -> Option<&'static str> {
        match self {
            Self::Problems(_) => Some("the store has problems"),
            Self::Failed(_) => Some("the store could not be verified"),
            Self::Sound(_) | Self::LeftOut(_) => None,
        }
    }
}

impl fmt::Display for Verified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sound(said) => write!(f, "store verified: {said}"),
            Self::Problems(said) => write!(f, "store verified, with problems: {said}"),
            Self::Failed(how) => write!(f, "store could not be verified: {how}"),
            Self::LeftOut(why) => write!(f, "store not verified: {why}"),
        }
    }
}

impl Data {
    fn folder(&self) -> &Path {
        match self {
            Self::Temporary(folder) => folder.path(),
            Self::Kept(folder) => folder,
        }
    }
}

/// Data that is kept after its server has ended.
#[derive(Debug, Clone)]
pub(crate) struct KeptData {
    pub(crate) folder: PathBuf,
    /// Whether an earlier server left the data; otherwise the folder must be empty.
    pub(crate) again: bool,
}

impl KeptData {
    fn checked(self) -> Result<PathBuf> {
        let path = self.folder.display();
        fs::create_dir_all(&self.folder).with_context(|| format!("making the folder {path}"))?;
        let mut entries = fs::read_dir(&self.folder).with_context(|| format!("reading {path}"))?;
        let is_empty = entries.next().is_none();
        ensure!(
            self.again || is_empty,
            "{path} is not empty: use --continue to continue the earlier run there"
        );
        ensure!(
            !(self.again && is_empty),
            "{path} is empty: there is no run to continue"
        );
        Ok(self.folder)
    }
}

/// The version and the checksum of a server's binary, since builds of one version differ.
///
/// # Errors
/// When the binary does not print its version, or cannot be read.
pub(crate) fn version(binary: &Path) -> Result<String> {
    let path = binary.display();
    let version = Command::new(binary).arg("--version").output();
    let version = version.with_context(|| format!("asking {path} for its version"))?;
    ensure!(
        version.status.success(),
        "{path} --version: {}",
        String::from_utf8_lossy(&version.stderr)
    );
    let mut sum = Crc::new();
    sum.update(&fs::read(binary).with_context(|| format!("reading {path}"))?);
    let name = String::from_utf8_lossy(&version.stdout);
    Ok(format!("{} (CRC-32 {:08x})", name.trim(), sum.sum()))
}

impl Served {
    /// Starts `binary serve` on a free port with an empty data folder. The server ends with the
    /// calling thread.
    ///
    /// # Errors
    /// When it does not start; the message has its last output.
    pub(crate) fn start(binary: &Path, durability: &str, settings: &[String]) -> Result<Self> {
        let data = Data::Temporary(Folder::new()?);
        Self::start_on(data, binary, durability, settings)
    }

    /// The same with data that is kept.
    ///
    /// # Errors
    /// When the server does not start, or the folder is not empty as required.
    pub(crate) fn start_keeping(
        data: KeptData,
        binary: &Path,
        durability: &str,
        settings: &[String],
    ) -> Result<Self> {
        let data = Data::Kept(data.checked()?);
        Self::start_on(data, binary, durability, settings)
    }

    fn start_on(data: Data, binary: &Path, durability: &str, settings: &[String]) -> Result<Self> {
        let mut options = vec!["--data-dir".to_owned(), data.folder().display().to_string()];
        for setting in settings {
            options.extend(["--set".to_owned(), setting.clone()]);
        }
        let mut served = Self {
            process: None,
            pid: 0,
            url: String::new(),
            binary: binary.to_owned(),
            options,
            durability: durability.to_owned(),
            data,
        };
        served.begin()?;
        Ok(served)
    }

    fn begin(&mut self) -> Result<()> {
        let mut command = Command::new(&self.binary);
        let durability = self.durability.as_str();
        command.args([
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--durability",
            durability,
        ]);
        command.args(&self.options);
        let ending = match &self.data {
            Data::Temporary(_) => Ending::Kill,
            Data::Kept(_) => Ending::Stop,
        };
        let (process, url) = listening(&command, ending, Stdio::inherit())?;
        (self.pid, self.url) = (process.id(), url);
        self.process = Some(process);
        Ok(())
    }

    pub(crate) const fn pid(&self) -> u32 {
        self.pid
    }

    /// The folder of its data.
    pub(crate) fn folder(&self) -> &Path {
        self.data.folder()
    }

    /// Stops the server in order, and verifies its store with its own binary.
    ///
    /// # Errors
    /// When the server does not stop in order, or the verification cannot run.
    pub(crate) fn verify(&mut self, wanted: VerifyStore) -> Result<Verified> {
        let left_out = |why: &str| Ok(Verified::LeftOut(why.to_owned()));
        if wanted == VerifyStore::Never {
            return left_out("--verify-store never");
        }
        if let Some(process) = self.process.take() {
            process.stop()?;
        }
        let bytes = size(self.folder())?;
        if bytes == 0 {
            return left_out("its server leaves nothing on disk");
        }
        if wanted == VerifyStore::Auto && bytes > VERIFIED_BYTES {
            return left_out(&format!(
                "it has {:.1} GiB, over {} GiB (--verify-store always)",
                bytes as f64 / (1_u64 << 30) as f64,
                VERIFIED_BYTES >> 30
            ));
        }
        eprintln!("verifying the store …");
        let mut command = Command::new(&self.binary);
        command.arg("verify").args(&self.options);
        let (said, status) = output(&command)?;
        Ok(Verified::of(said, status))
    }
}

/// Starts a server and waits until it prints its address.
///
/// # Errors
/// When it ends before that.
pub(crate) fn listening(
    command: &Command,
    ending: Ending,
    errors: Stdio,
) -> Result<(Process, String)> {
    let mut process = Process::start(command, ending, |it| {
        it.stdout(Stdio::piped()).stderr(errors)
    })?;
    let output = process.child().stdout.take().context("its output")?;
    let mut lines = BufReader::new(output).lines();
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

/// The output of a command, joined into one line, and its exit status.
fn output(command: &Command) -> Result<(String, ExitStatus)> {
    let mut process = Process::start(command, Ending::Kill, |it| it.stdout(Stdio::piped()))?;
    let output = process.child().stdout.take().context("its output")?;
    let lines: Vec<String> = BufReader::new(output).lines().collect::<Result<_, _>>()?;
    let status = process.wait()?;
    Ok((lines.join("; "), status))
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
        let of = |code: i32, said: &str| {
            let verified = Verified::of(said.to_owned(), ExitStatus::from_raw(code << 8));
            verified.failure()
        };
        let problems = Some("the store has problems");
        assert_eq!(of(0, "g: 1 vertices, 0 problems"), None);
        assert_eq!(of(3, "g: 1 vertices, 1 problems"), problems);
        assert_eq!(
            of(2, "g: 1 vertices, 1 problems"),
            problems,
            "of earlier builds"
        );
        for (code, said) in [(2, ""), (1, ""), (1, "g: 1 vertices, 0 problems")] {
            let failure = of(code, said);
            assert_eq!(failure, Some("the store could not be verified"), "{code}");
        }
    }
}
