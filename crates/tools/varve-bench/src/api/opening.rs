//! Finds the server of a run, and prepares its graph.

use anyhow::{Context, Result, bail};

use super::options::ApiArguments;
use super::payload::Naming;
use super::prefix;
use super::scenario::GREMLIN;
use super::target::Target;

/// Finds a server of HugeGraph's API, and creates the schema of the scenarios in its graph. Returns
/// the server, the naming of this run's elements, and whether an earlier run used the same prefix.
///
/// # Errors
/// When there is no server or graph, the graph has a different schema, no unused prefix was found,
/// or the options contradict each other.
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
    // This comes first: without the graph, the server's answers about elements mean nothing.
    target.ensure_graph()?;
    let (prefix, is_used) = prefix::of_run(arguments, &mut target)?;
    let naming = Naming {
        prefix,
        seed: arguments.common.seed,
    };
    target.prepare(&naming).context("preparing the graph")?;
    if arguments.plan()?.iter().any(|row| row.scenario.is_social()) {
        let prepared = target.prepare_social();
        prepared.context("preparing the social graph")?;
    }
    Ok((target, naming, is_used))
}

/// Finds a server with Gremlin as its only API, and creates nothing in it. The result is as that of
/// [`prepared`]; an earlier run always counts as having used the prefix.
///
/// # Errors
/// When there is no server or traversal source, a row is no Gremlin query, or the options
/// contradict each other.
pub(crate) fn gremlin_server(
    arguments: &ApiArguments,
    url: &str,
    pid: Option<u32>,
) -> Result<(Target, Naming, bool)> {
    let rows = arguments.plan()?;
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
