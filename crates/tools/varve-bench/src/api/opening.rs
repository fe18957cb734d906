//! Finds the server of a run, and prepares its graph.

use anyhow::{Context, Result, bail};

use super::options::ApiArguments;
use super::payload::Naming;
use super::prefix;
use super::scenario::GREMLIN;
use super::target::Target;

/// A server of HugeGraph's API whose graph has the schema of the scenarios, the ids of this run,
/// and whether an earlier run had the same.
///
/// # Errors
/// Without a server or its graph, or with another schema.
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
    // First of all: without its graph a server may say anything of elements.
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

/// A server that only speaks Gremlin: nothing is created there.
///
/// # Errors
/// Without a server, or when a row is no query.
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
