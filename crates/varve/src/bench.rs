//! `varve bench`: the load tool is a program of its own, which is installed beside this one.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use crate::CommandError;
use crate::cli::BenchArguments;

/// The name of the load tool.
const TOOL: &str = "varve-bench";

/// Replaces this process by the load tool. Returns only if that fails.
pub(crate) fn become_tool(arguments: &BenchArguments) -> CommandError {
    let tool = match std::env::current_exe() {
        Ok(own) => own.with_file_name(TOOL),
        Err(error) => return format!("the folder of this program: {error}").into(),
    };
    let error = Command::new(&tool).args(&arguments.words).exec();
    let tool = tool.display();
    match error.kind() {
        io::ErrorKind::NotFound => format!(
            "{tool} does not exist: install the load tool beside this program (`make build` builds \
             both)"
        ),
        _ => format!("starting {tool}: {error}"),
    }
    .into()
}
