//! The `varve` binary: the server and the tools around it.
//!
//! This crate makes the choices that a process makes once: allocator, storage engine, layers of
//! options, signals and logging. Over the network, the tools use only the public REST API, so that
//! they work with any server of that API.

#[cfg(feature = "jemalloc")]
mod allocator;
mod backup;
mod bench;
mod changes;
mod cli;
mod config;
mod data;
mod dump;
mod engines;
mod load;
mod logging;
mod metadata;
mod rest;
mod sample;
mod serve;
mod users;
mod verify;

use std::process::ExitCode;

use clap::Parser as _;

use cli::{Cli, Command};

/// The error of a command, printed as the last line on standard error.
type CommandError = Box<dyn std::error::Error + Send + Sync>;

/// Arms a fail point, for tests of crashes and failing disks.
const FAIL_POINT: &str = "VARVE_FAIL_POINT";

/// Restricts all files that this process creates to its user: files 0600, folders 0700, including
/// those of the storage engine.
fn keep_files_private() {
    use rustix::fs::Mode;
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
}

/// The exit code of a command whose input does not exist, and of a wrong command line.
const NOTHING_DONE: u8 = 2;

/// The exit code of a command that completed and found a problem.
const NOT_ALL_WELL: u8 = 3;

fn main() -> ExitCode {
    keep_files_private();
    varve_server::version::set_commit(env!("VARVE_BUILT_COMMIT"));
    #[cfg(feature = "jemalloc")]
    varve_session::budget::memory::measure_by(allocator::allocated);
    if let Err(error) = arm_fail_point() {
        eprintln!("varve: {error}");
        return ExitCode::FAILURE;
    }
    let result = match Cli::parse().command {
        Command::Serve(arguments) => serve::run(&arguments),
        Command::Load(arguments) => load::run(&arguments),
        Command::Sample(arguments) => sample::run(&arguments),
        Command::Dump(arguments) => dump::run(&arguments),
        Command::Changes(arguments) => changes::run(&arguments),
        Command::Verify(arguments) => verify::run(&arguments),
        Command::User(arguments) => users::run(&arguments),
        Command::RecoverLog(arguments) => engines::recover_log(&arguments),
        Command::Backup(arguments) => backup::backup(&arguments),
        Command::Backups(arguments) => backup::list(&arguments),
        Command::Restore(arguments) => backup::restore(&arguments),
        Command::ChangeConsistency(arguments) => change_consistency(&arguments),
        Command::Bench(arguments) => Err(bench::become_tool(&arguments)),
        Command::Config(arguments) => print_config(&arguments),
        Command::Completions(arguments) => print(&cli::completions(arguments.shell)),
        Command::Man => cli::manual()
            .map_err(CommandError::from)
            .and_then(|page| print(&page)),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            eprintln!("varve: {error}");
            match error.downcast_ref() {
                Some(varve_kv::KvError::Missing { .. }) => ExitCode::from(NOTHING_DONE),
                _ => ExitCode::FAILURE,
            }
        }
    }
}

fn arm_fail_point() -> Result<(), CommandError> {
    let Some(text) = std::env::var_os(FAIL_POINT) else {
        return Ok(());
    };
    let text = text
        .to_str()
        .ok_or_else(|| format!("{FAIL_POINT} must be text"))?;
    varve_kv::fail_point::arm(text).map_err(|error| format!("{FAIL_POINT}={text}: {error}"))?;
    eprintln!("varve: {FAIL_POINT}={text}: this process is told to fail");
    Ok(())
}

fn change_consistency(
    arguments: &cli::ChangeConsistencyArguments,
) -> Result<ExitCode, CommandError> {
    println!(
        "{}",
        engines::change_consistency(&arguments.options.load()?)?
    );
    Ok(ExitCode::SUCCESS)
}

fn print(text: &[u8]) -> Result<ExitCode, CommandError> {
    use std::io::Write as _;
    std::io::stdout().write_all(text)?;
    Ok(ExitCode::SUCCESS)
}

fn print_config(arguments: &cli::ConfigArguments) -> Result<ExitCode, CommandError> {
    let text = if arguments.markdown {
        config::markdown()
    } else {
        config::toml_text(&arguments.options.load()?)
    };
    print!("{text}");
    Ok(ExitCode::SUCCESS)
}
