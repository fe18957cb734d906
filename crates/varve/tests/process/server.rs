//! The binary under test, and servers that it starts.

use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) use varve_testkit::http::{Client, Response};
pub(crate) use varve_testkit::process::ServerProcess;

/// The binary under test.
pub(crate) const VARVE: &str = env!("CARGO_BIN_EXE_varve");

/// Starts a server that keeps nothing.
pub(crate) fn serve_in_memory() -> ServerProcess {
    ServerProcess::start(Command::new(VARVE).args(["serve", "--engine", "memory"]))
}

/// Starts a server on a data folder.
pub(crate) fn serve_on(data: &Path) -> ServerProcess {
    ServerProcess::start(Command::new(VARVE).arg("serve").arg("--data-dir").arg(data))
}

/// Runs the binary with `arguments`; returns its exit code and all it wrote.
pub(crate) fn run(arguments: &[&str]) -> (i32, String) {
    let output = Command::new(VARVE)
        .args(arguments)
        .output()
        .expect("the binary runs");
    let text =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    (output.status.code().unwrap_or(-1), text.concat())
}

/// A file in a folder.
pub(crate) fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).expect("a file can be written");
    path
}

/// A path as an argument.
pub(crate) fn shown(path: &Path) -> &str {
    path.to_str().expect("test paths are text")
}
