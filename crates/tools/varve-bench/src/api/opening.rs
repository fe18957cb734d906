//! Finds the server of a run, and prepares its graph.

use anyhow::{Context, Result, bail};

use super::options::ApiArguments;
use super::payload::Naming;
use super::prefix;
use super::scenario::GREMLIN;
use super::target::Target;

/// A server of HugeGraph's API whose graph has the schema of the scenarios, the names of this run's
/// elements, and whether an earlier run used the same prefix.
///
/// # Errors
/// When there is no server or graph, or the graph has a different schema.
pub(crate) fn prepared(
    arguments: &ApiArguments,
    url: &str,
    pid: Option<u32>,
) -> Result<(Target, Naming, bool)> {
    let mut target = Target::find(
        (url, &arguments.common.trust),
        &arguments.graph,
        arguments.paths,
        pid,
    )?;
    // First of all: without its graph, a server's answers about elements mean nothing.
    target.ensure_graph()?;
    let (prefix, is_used) = prefix::of_run(arguments, &mut target)?;
    let naming = Naming {
        prefix,
        seed: arguments.common.seed,
    };
    target.prepare(&naming).context("preparing the graph")?;
    if arguments.rows()?.iter().any(|row| row.scenario.is_social()) {
        let prepared = target.prepare_social();
        prepared.context("preparing the social graph")?;
    }
    Ok((target, naming, is_used))
}

/// A server with Gremlin as its only API; nothing is created in it.
///
/// # Errors
/// When there is no server, or a row is no Gremlin query.
pub(crate) fn gremlin_server(
    arguments: &ApiArguments,
    url: &str,
    pid: Option<u32>,
) -> Result<(Target, Naming, bool)> {
    let rows = arguments.rows()?;
    let other = rows.iter().find(|row| !GREMLIN.contains(&row.scenario));
    if let Some(row) = other {
        bail!(
            "--gremlin-server: {} is no Gremlin query",
            row.scenario.name()
        );
    }
    let target = Target::gremlin_server((url, &arguments.common.trust), &arguments.graph, pid)?;
    let naming = Naming {
        prefix: arguments.run_prefix.unwrap_or_default(),
        seed: arguments.common.seed,
    };
    Ok((target, naming, true))
}
