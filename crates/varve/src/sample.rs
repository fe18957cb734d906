//! `varve sample load`: fills a graph of a running server with the sample of the explorer.

use std::io::Write as _;
use std::process::ExitCode;

use serde::Deserialize;

use crate::CommandError;
use crate::cli::{SampleAction, SampleArguments};
use crate::rest::GraphClient;

/// The server's answer about the sample.
#[derive(Deserialize)]
struct Loaded {
    vertices: u64,
    edges: u64,
    tour: Vec<Step>,
}

/// A step of the tour.
#[derive(Deserialize)]
struct Step {
    title: String,
    as_of: Option<String>,
    as_of_tx: Option<String>,
}

/// Loads the sample and prints its tour.
pub(crate) fn run(arguments: &SampleArguments) -> Result<ExitCode, CommandError> {
    match arguments.action {
        SampleAction::Load => load(arguments),
    }
}

fn load(arguments: &SampleArguments) -> Result<ExitCode, CommandError> {
    let client = GraphClient::of(&arguments.target)?;
    let path = client.of_graph("explore/load_sample");
    let answer = client.send("POST", &path, "{}")?;
    let loaded: Loaded = serde_json::from_str(&answer)?;
    let (vertices, edges) = (loaded.vertices, loaded.edges);
    let mut out = std::io::stdout();
    writeln!(
        out,
        "{}: {vertices} vertices and {edges} edges of the sample",
        arguments.target.graph
    )?;
    for step in loaded.tour {
        let times = [("as_of", step.as_of), ("as_of_tx", step.as_of_tx)];
        let times = times
            .into_iter()
            .filter_map(|(name, time)| Some(format!("{name}={}", time?)));
        writeln!(
            out,
            "- {} [{}]",
            step.title,
            times.collect::<Vec<_>>().join(" ")
        )?;
    }
    Ok(ExitCode::SUCCESS)
}
