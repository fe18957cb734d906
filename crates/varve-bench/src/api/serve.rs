//! A server of our own, started for a run and ended with it.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};
use flate2::Crc;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// The process and its data. The process is gone when dropped, and so is the data unless it is kept.
#[derive(Debug)]
pub(crate) struct Served {
    child: Child,
    pub(crate) url: String,
    data: Data,
}

/// Where a server's data is.
#[derive(Debug)]
enum Data {
    Temporary(TempDir),
    Kept(PathBuf),
}

/// Data that outlives its server.
#[derive(Debug, Clone)]
pub(crate) struct KeptData {
    pub(crate) folder: PathBuf,
    /// An earlier server left it; else the folder must be empty.
    pub(crate) again: bool,
}

impl KeptData {
    fn checked(self) -> Result<PathBuf> {
        let shown = self.folder.display();
        fs::create_dir_all(&self.folder).with_context(|| format!("making the folder {shown}"))?;
        let mut entries = fs::read_dir(&self.folder).with_context(|| format!("reading {shown}"))?;
        let is_empty = entries.next().is_none();
        ensure!(
            self.again || is_empty,
            "{shown} is not empty: --continue goes on with what an earlier run left there"
        );
        ensure!(
            !(self.again && is_empty),
            "{shown} is empty: there is nothing to go on with"
        );
        Ok(self.folder)
    }
}

/// Which build of the server a binary is: what it calls itself, and a sum of its bytes, as builds of one version differ.
///
/// # Errors
/// When it does not tell, or cannot be read.
pub(crate) fn version(binary: &Path) -> Result<String> {
    let shown = binary.display();
    let told = Command::new(binary).arg("--version").output();
    let told = told.with_context(|| format!("asking {shown} for its version"))?;
    ensure!(
        told.status.success(),
        "{shown} --version: {}",
        String::from_utf8_lossy(&told.stderr)
    );
    let mut sum = Crc::new();
    sum.update(&fs::read(binary).with_context(|| format!("reading {shown}"))?);
    let name = String::from_utf8_lossy(&told.stdout);
    Ok(format!("{} (CRC-32 {:08x})", name.trim(), sum.sum()))
}

impl Served {
    /// Starts `binary serve` on a free port with an empty data folder.
    ///
    /// # Errors
    /// When it does not start; its last words are in the message.
    pub(crate) fn start(binary: &Path, durability: &str, settings: &[String]) -> Result<Self> {
        let data = TempDir::new().context("a folder for the data")?;
        Self::start_on(Data::Temporary(data), binary, durability, settings)
    }

    /// The same with data that stays.
    ///
    /// # Errors
    /// When the server does not start, or the folder is not as it should be.
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
        let folder = match &data {
            Data::Temporary(folder) => folder.path(),
            Data::Kept(folder) => folder,
        };
        let mut command = Command::new(binary);
        command.args([
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--durability",
            durability,
        ]);
        command.arg("--data-dir").arg(folder);
        for setting in settings {
            command.args(["--set", setting]);
        }
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .with_context(|| format!("starting {}", binary.display()))?;
        let output = child.stdout.take().context("its output")?;
        let mut lines = BufReader::new(output).lines();
        let url = lines.by_ref().map_while(Result::ok).find_map(|line| {
            let (_, rest) = line.split_once("http://")?;
            let end = rest.find(|c: char| c.is_whitespace()).unwrap_or(rest.len());
            Some(format!("http://{}", rest[..end].trim_end_matches('/')))
        });
        // What it prints later must go somewhere, or it would stop at a full pipe.
        std::thread::spawn(move || lines.for_each(drop));
        let mut served = Self {
            child,
            url: String::new(),
            data,
        };
        match url {
            Some(url) => served.url = url,
            None => anyhow::bail!("{} ended before it said where it serves", binary.display()),
        }
        Ok(served)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = match &self.data {
            Data::Temporary(_) => self.child.kill(),
            // What was acknowledged may not all be on disk yet.
            Data::Kept(_) => {
                kill_process(Pid::from_child(&self.child), Signal::TERM).map_err(Into::into)
            }
        };
        let _ = self.child.wait();
    }
}
