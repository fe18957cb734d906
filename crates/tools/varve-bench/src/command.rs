//! The command line of `varve bench`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, ensure};
use clap::{Args, Subcommand};

use crate::api::result::ResultFile;
use crate::api::{self, ApiArguments, report, table};
use crate::metadata::{self, MetadataArguments};
use crate::owned::{self, Ending, Program};
use crate::result::put;
#[cfg(feature = "rocksdb")]
use crate::serve::VerifyStore;
use crate::wait::Wait;

/// `varve bench`
#[derive(Debug, Args)]
pub struct BenchArguments {
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
    /// Run every scenario on the server, on the engine alone and on a bare HTTP server, and compare
    /// the results
    #[cfg(feature = "rocksdb")]
    Limits {
        /// The server's binary [default: this one]
        #[arg(long)]
        varve: Option<PathBuf>,
        /// When a write is acknowledged: sync, interval:<ms> or none
        #[arg(long, default_value = "none", value_name = "MODE")]
        durability: String,
        /// Requests of each scenario, in percent of the usual number
        #[arg(long, default_value_t = 100)]
        percent: u64,
        /// Threads that call the engines; with durability sync, as many as the scenario has users
        #[arg(long, default_value_t = 1, value_name = "N")]
        engine_threads: usize,
        /// Verify the server's store at the end (`varve verify`); a problem fails the run
        #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
        verify_store: VerifyStore,
        /// Write the results to this file
        #[arg(long, value_name = "FILE")]
        json: Option<PathBuf>,
        /// Write the tables to this file
        #[arg(long, value_name = "FILE")]
        markdown: Option<PathBuf>,
    },
    /// Read the present from a store with one version of each element, and from one with several
    #[cfg(feature = "rocksdb")]
    History {
        /// Vertices; each has ten edges
        #[arg(long, default_value_t = 50_000, value_parser = clap::value_parser!(u64).range(1..))]
        vertices: u64,
        /// Versions in the second store
        #[arg(long, default_value_t = 10)]
        versions: u32,
    },
    /// Copy a stored graph into memory and run algorithms on it: CPU time and memory, compared with
    /// the limits
    #[cfg(feature = "rocksdb")]
    Algorithms {
        /// Vertices of the graph
        #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..))]
        vertices: u64,
        /// Edges of the graph
        #[arg(long, default_value_t = 10_000_000)]
        edges: u64,
    },
    /// Load many elements through the REST API: rate, memory, restart
    #[cfg(feature = "rocksdb")]
    Volume {
        /// The server's binary [default: this one]
        #[arg(long)]
        varve: Option<PathBuf>,
        /// When a write is acknowledged: sync, interval:<ms> or none
        #[arg(long, default_value = "sync", value_name = "MODE")]
        durability: String,
        /// Vertices to load
        #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..))]
        vertices: u64,
        /// Edges to load
        #[arg(long, default_value_t = 10_000_000)]
        edges: u64,
        /// Verify the server's store at the end (`varve verify`); a problem fails the run
        #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
        verify_store: VerifyStore,
    },
    /// The bare HTTP server that `limits` measures
    #[cfg(feature = "rocksdb")]
    #[command(hide = true)]
    Bare {
        /// Status of every answer
        #[arg(long)]
        status: u16,
        /// File with the body of every answer
        #[arg(long)]
        body: PathBuf,
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

/// Runs the command in this process.
///
/// # Errors
/// When the command fails; a missed threshold is an exit code instead.
pub fn run(arguments: &BenchArguments, program: Program) -> Result<ExitCode> {
    owned::set_program(program);
    match &arguments.command {
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
        #[cfg(feature = "rocksdb")]
        Command::Limits { .. }
        | Command::History { .. }
        | Command::Algorithms { .. }
        | Command::Volume { .. }
        | Command::Bare { .. } => ceilings(&arguments.command)?,
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

/// Runs a command that measures ceilings; other commands do nothing.
#[cfg(feature = "rocksdb")]
fn ceilings(command: &Command) -> Result<()> {
    match command {
        Command::Limits {
            varve,
            durability,
            percent,
            engine_threads,
            verify_store,
            json,
            markdown,
        } => crate::ceilings::limits::run(&crate::ceilings::limits::Options {
            varve: binary(varve.as_ref())?,
            durability: durability.clone(),
            percent: *percent,
            engine_threads: (*engine_threads).max(1),
            verify_store: *verify_store,
            json: json.clone(),
            markdown: markdown.clone(),
        })?,
        Command::History { vertices, versions } => {
            crate::ceilings::history::run(*vertices, *versions)?;
        }
        Command::Algorithms { vertices, edges } => {
            crate::ceilings::algorithms::run(*vertices, *edges)?;
        }
        Command::Volume {
            varve,
            durability,
            vertices,
            edges,
            verify_store,
        } => {
            let varve = binary(varve.as_ref())?;
            crate::ceilings::volume::run(&varve, durability, *vertices, *edges, *verify_store)?;
        }
        Command::Bare { status, body } => crate::ceilings::bare::serve(*status, body)?,
        _ => {}
    }
    Ok(())
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

/// The server's binary: the one named, or this one.
#[cfg(feature = "rocksdb")]
fn binary(named: Option<&PathBuf>) -> Result<PathBuf> {
    Ok(match named {
        Some(path) => path.clone(),
        None => std::env::current_exe()?,
    })
}
