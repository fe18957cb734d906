//! The command line of `varve-bench`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, ensure};
use clap::{Parser, Subcommand};

use crate::api::result::ResultFile;
use crate::api::{self, ApiArguments, report, table};
use crate::metadata::{self, MetadataArguments};
use crate::owned::{self, Ending};
use crate::result::put;
use crate::wait::Wait;

/// Load tests of servers that speak HugeGraph's REST API, and of open-metadata repositories
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run load tests against a server of HugeGraph's REST API
    Api {
        #[command(flatten)]
        arguments: Box<ApiArguments>,
        #[command(flatten)]
        wait: Wait,
    },
    /// Load a social graph and run Gremlin queries on it: the server's CPU time, compared with the
    /// limits
    Gremlin {
        #[command(flatten)]
        arguments: Box<ApiArguments>,
        #[command(flatten)]
        wait: Wait,
    },
    /// Run Egeria's performance suite against an open-metadata repository (OMRS REST API)
    Metadata {
        #[command(flatten)]
        arguments: Box<MetadataArguments>,
        #[command(flatten)]
        wait: Wait,
    },
    /// Print the Markdown table of a result file
    Table {
        /// JSON file that a run wrote
        file: PathBuf,
    },
    /// Write a report of result files: one self-contained HTML page
    Report {
        /// JSON files that runs wrote
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// The page
        #[arg(short, long, value_name = "FILE", default_value = "report.html")]
        output: PathBuf,
        /// Write the tables as Markdown too
        #[arg(long, value_name = "FILE")]
        markdown: Option<PathBuf>,
    },
    /// Print the ratios between two servers of the files, or between two files of one server, as
    /// Markdown
    Compare {
        /// JSON files that runs wrote; repetitions may be in further files
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
    /// Run a program that ends when the process that started it has ended
    #[command(hide = true)]
    Tethered {
        /// The process that starts it
        #[arg(long)]
        parent: u32,
        /// Stop the program in order instead of killing it
        #[arg(long)]
        stop: bool,
        /// The program and its arguments
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        command: Vec<OsString>,
    },
}

/// Runs the command line of this process. Prints the error if it fails.
#[must_use]
pub fn main() -> ExitCode {
    run(&Cli::parse().command).unwrap_or_else(|error| {
        eprintln!("varve-bench: {error:#}");
        ExitCode::FAILURE
    })
}

/// Runs a command.
///
/// # Errors
/// When the command fails; a missed threshold is an exit code instead.
fn run(command: &Command) -> Result<ExitCode> {
    match command {
        Command::Api { arguments, wait } => {
            wait.for_server(&arguments.common.url)?;
            return api::run(arguments);
        }
        Command::Gremlin { arguments, wait } => {
            wait.for_server(&arguments.common.url)?;
            return api::run(&arguments.as_ref().clone().of_gremlin());
        }
        Command::Metadata { arguments, wait } => {
            if arguments.from.is_empty() {
                wait.for_server(&arguments.common.url)?;
            }
            return metadata::run(arguments);
        }
        Command::Table { file } => print!("{}", table::markdown(&ResultFile::read(file)?)),
        Command::Report {
            files,
            output,
            markdown,
        } => report(files, output, markdown.as_deref())?,
        Command::Compare { files } => print!("{}", report::compare(&read(files)?)?),
        Command::Tethered {
            parent,
            stop,
            command,
        } => {
            let ending = if *stop { Ending::Stop } else { Ending::Kill };
            owned::become_tethered(*parent, ending, command)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the page, and optionally the tables, of result files of one suite.
fn report(files: &[PathBuf], page: &Path, tables: Option<&Path>) -> Result<()> {
    let is_metadata = |path: &PathBuf| metadata::FORM.is_of(path);
    let of_metadata = files.iter().map(is_metadata).collect::<Result<Vec<_>>>()?;
    ensure!(
        of_metadata.iter().all(|it| *it == of_metadata[0]),
        "files of load tests and of the open-metadata suite: make a report of each"
    );
    let (html, markdown) = match of_metadata[0] {
        true => metadata::report_of(files)?,
        false => {
            let files = read(files)?;
            (report::html(&files), report::markdown(&files))
        }
    };
    put(page, &html)?;
    tables.map_or(Ok(()), |path| put(path, &markdown))
}

fn read(files: &[PathBuf]) -> Result<Vec<ResultFile>> {
    files.iter().map(|path| ResultFile::read(path)).collect()
}
