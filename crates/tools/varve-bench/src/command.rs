//! The command line of `varve-bench`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::api::{self, ApiArguments};
use crate::limits::{self, LimitsArguments};
use crate::metadata::{self, MetadataArguments};
use crate::result::{ResultFile, put};
use crate::{owned, report};

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
    Api(Box<ApiArguments>),
    /// Load a social graph and run Gremlin queries on it
    Gremlin(Box<ApiArguments>),
    /// Run Egeria's performance suite against an open-metadata repository (OMRS REST API)
    Metadata(Box<MetadataArguments>),
    /// Compare Varve with the bare engine and a bare HTTP server, in turns
    Limits(Box<LimitsArguments>),
    /// Print the tables of a result file as Markdown
    Table {
        /// JSON file that a run wrote
        file: PathBuf,
    },
    /// Write a report of result files of one suite: one self-contained HTML page
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
    /// The bare HTTP server that `limits` measures
    #[command(hide = true)]
    Bare {
        /// Status of every answer
        #[arg(long)]
        status: u16,
        /// File with the body of every answer
        #[arg(long)]
        body: PathBuf,
    },
    /// Run a program that is killed when the process that started it has ended
    #[command(hide = true)]
    Tethered {
        /// The process that starts it
        #[arg(long)]
        parent: u32,
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
        Command::Api(arguments) => return api::run(arguments),
        Command::Gremlin(arguments) => return api::run(&arguments.as_ref().clone().of_gremlin()),
        Command::Metadata(arguments) => return metadata::run(arguments),
        Command::Limits(arguments) => return limits::run(arguments),
        Command::Table { file } => print!("{}", report::table_of(&ResultFile::read(file)?)),
        Command::Report {
            files,
            output,
            markdown,
        } => {
            let report = report::of(&read(files)?)?;
            put(output, &report.html())?;
            if let Some(path) = markdown {
                put(path, &report.markdown())?;
            }
        }
        Command::Compare { files } => print!("{}", report::compare(&read(files)?)?),
        Command::Bare { status, body } => limits::bare::serve(*status, body)?,
        Command::Tethered { parent, command } => owned::become_tethered(*parent, command)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn read(files: &[PathBuf]) -> Result<Vec<ResultFile>> {
    files.iter().map(|path| ResultFile::read(path)).collect()
}
