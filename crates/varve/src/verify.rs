//! `varve verify`: checks every row of a graph against the invariants, in a running server or in
//! stored data, and repairs index entries (`--repair`).

use std::process::ExitCode;

use indicatif::ProgressBar;
use serde_json::{Value as Json, json};
use varve_graph::verify::{RepairReport, repair, verify};

use crate::backup::wait_for_job;
use crate::cli::VerifyArguments;
use crate::data;
use crate::rest::GraphClient;
use crate::{CommandError, NOT_ALL_WELL};

/// Verifies and prints the result, which also decides the exit code.
pub(crate) fn run(arguments: &VerifyArguments) -> Result<ExitCode, CommandError> {
    let sound = match &arguments.server {
        Some(server) => online(server, arguments)?,
        None => offline(arguments)?,
    };
    Ok(if sound {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(NOT_ALL_WELL)
    })
}

fn online(server: &str, arguments: &VerifyArguments) -> Result<bool, CommandError> {
    let graph = arguments.graph.as_deref().unwrap_or("hugegraph");
    let report = wait_for_job(
        &GraphClient::new(server, graph, &arguments.trust)?,
        "/admin/verify",
        &json!({ "graph": graph, "repair": arguments.repair }),
    )?;
    let problems = report.get("problems").and_then(Json::as_array);
    for problem in problems.into_iter().flatten() {
        println!("{graph}: {}", problem.as_str().unwrap_or_default());
    }
    let count = |name: &str| report.get(name).and_then(Json::as_u64).unwrap_or(0);
    print_counts(
        graph,
        &[
            count("vertices"),
            count("edges"),
            count("events"),
            count("problem_count"),
        ],
    );
    if arguments.repair {
        print_repair(graph, count("completed"), count("removed"));
    }
    Ok(count("problem_count") == 0)
}

/// Checks the checksums of all files, then all rows of all graphs, or of the named one.
fn offline(arguments: &VerifyArguments) -> Result<bool, CommandError> {
    let graphs = data::open_stored(&arguments.options.load()?)?;
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut sound = true;
    let names = match &arguments.graph {
        Some(name) => vec![name.clone()],
        None => graphs.names_with_system()?,
    };
    for name in names {
        if let Some(reason) = graphs.why_unopened(&name) {
            println!("{name}: it cannot be opened: {reason}");
            sound = false;
            continue;
        }
        let graph = graphs.get_with_system(&name)?;
        let bar = ProgressBar::new_spinner();
        let (files, report) = std::thread::scope(|scope| {
            let files = scope.spawn(|| graph.space().verify_checksums());
            let mut proceed = |rows: u64| {
                bar.set_message(format!("{name}: {rows} rows"));
                bar.tick();
                true
            };
            let report = match arguments.repair {
                true => repair(&graph, threads, &mut proceed),
                false => verify(&graph, threads, &mut proceed).map(|found| RepairReport {
                    found,
                    ..RepairReport::default()
                }),
            };
            (files.join(), report)
        });
        bar.finish_and_clear();
        let files = files.map_err(|_| "checking the files panicked")?;
        if let Err(error) = files {
            println!("{name}: {error}");
            sound = false;
        }
        let RepairReport {
            found: report,
            completed,
            removed,
        } = report?;
        for problem in &report.problems {
            println!("{name}: {problem}");
        }
        print_counts(
            &name,
            &[
                report.vertices,
                report.edges,
                report.events,
                report.problem_count,
            ],
        );
        if arguments.repair {
            print_repair(&name, completed, removed);
        }
        sound &= report.is_sound();
    }
    Ok(sound)
}

fn print_repair(graph: &str, completed: u64, removed: u64) {
    println!(
        "{graph}: entries of {completed} elements added, {removed} entries removed; verify it again"
    );
}

fn print_counts(graph: &str, counts: &[u64; 4]) {
    let [vertices, edges, events, problems] = counts;
    println!(
        "{graph}: {vertices} vertices, {edges} edges, {events} past and future versions, {problems} problems"
    );
}
