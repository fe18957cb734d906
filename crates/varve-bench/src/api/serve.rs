//! A server of our own, started for a run and ended with it.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};
use tempfile::TempDir;

/// The process and its data, both gone when dropped.
#[derive(Debug)]
pub(crate) struct Served {
    child: Child,
    pub(crate) url: String,
    _data: TempDir,
}

impl Served {
    /// Starts `binary serve` on a free port with an empty data folder.
    ///
    /// # Errors
    /// When it does not start; its last words are in the message.
    pub(crate) fn start(binary: &Path, durability: &str, settings: &[String]) -> Result<Self> {
        let data = TempDir::new().context("a folder for the data")?;
        let mut command = Command::new(binary);
        command.args([
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--durability",
            durability,
        ]);
        command.arg("--data-dir").arg(data.path());
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
            _data: data,
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
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
