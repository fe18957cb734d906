//! `varve serve`: opens the data, starts the listeners, runs until a signal.

use std::process::ExitCode;

use varve_server::AppState;

use crate::CommandError;
use crate::cli::ServeArguments;
use crate::logging;

/// Serves until SIGTERM or SIGINT, then answers what is in work and closes the data.
pub(crate) fn run(arguments: &ServeArguments) -> Result<ExitCode, CommandError> {
    let config = arguments.load()?;
    logging::start(&config.log.level);
    let state = AppState::new(config.server.clone())?;
    let server = varve_server::start(&state)?;
    println!(
        "varve {} serves on http://{}",
        env!("CARGO_PKG_VERSION"),
        server.address()
    );
    server.run_until_signal()?;
    Ok(ExitCode::SUCCESS)
}
