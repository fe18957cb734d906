//! The metadata repository of `varve serve`, which is opened on its graph if it is enabled.

use std::sync::Arc;

use varve_graph::Registry;
use varve_omrs::OmrsError;
use varve_omrs::graph_store::GraphStore;
use varve_omrs::repository::{Options, Repository};
use varve_omrs::search::{HeldBudget, Limits};
use varve_server::{LockedGraphs, Metadata, RepositoryOf};
use varve_session::budget::lanes::yield_to_others;

use crate::CommandError;
use crate::config::Config;

/// Opens the repository, and creates its graph if it is missing. Returns `None` if it is not
/// enabled. If the graphs are shared by several servers, or the graph could not be opened, the
/// repository is opened later, on first use.
pub(crate) fn open(
    config: &Config,
    graphs: &Arc<Registry>,
) -> Result<Option<Metadata>, CommandError> {
    let omrs = &config.omrs;
    if !omrs.enabled {
        return Ok(None);
    }
    graphs.ensure(&omrs.graph)?;
    let id = omrs.metadata_collection_id.as_str();
    let options = Options {
        metadata_collection_id: (!id.is_empty()).then(|| id.to_owned()),
        metadata_collection_name: omrs.metadata_collection_name.clone(),
        base_url: omrs.url_base(&config.server),
    };
    let limits = search_limits(config);
    let answer_bytes_max = limits.answer_bytes_max;
    let name = options.metadata_collection_name.clone();
    let open = move |graph| -> Result<Arc<Repository>, OmrsError> {
        let repository = Repository::open(Arc::new(GraphStore::open(graph)), options.clone())?;
        Ok(Arc::new(repository.with_limits(limits.clone())))
    };
    let opened_later = graphs.is_shared() || graphs.why_unopened(&omrs.graph).is_some();
    let repository = match opened_later {
        true => RepositoryOf::graph(name, answer_bytes_max, open),
        false => open(graphs.get(&omrs.graph)?)?.into(),
    };
    Ok(Some(Metadata {
        repository,
        graph: omrs.graph.clone(),
        server_names: omrs.server_names.clone(),
        limits: omrs.limits(&config.server),
    }))
}

/// The limits of searches. A search runs no longer than a request, since no client waits for a
/// later answer. All searches together buffer at most as many bytes as all answers may.
fn search_limits(config: &Config) -> Limits {
    Limits {
        time_max: config.server.request_timeout(),
        held_by_all: HeldBudget::new(config.server.max_held_answer_bytes),
        pause: yield_to_others,
        ..Limits::default()
    }
}

/// The graphs to which other APIs cannot write: those that store a repository which this server
/// does not serve. So a repository's history stays complete after the repository is disabled or
/// moved to another graph. Empty if `omrs.unlock_graphs` is set.
///
/// Only graphs that are open here are listed. If the graphs are shared by several servers, each
/// request is checked instead.
pub(crate) fn locked(
    config: &Config,
    graphs: &Arc<Registry>,
) -> Result<LockedGraphs, CommandError> {
    let omrs = &config.omrs;
    if graphs.is_shared() && !omrs.unlock_graphs {
        return Ok(LockedGraphs::WithRepositories);
    }
    let mut locked = Vec::new();
    for name in graphs.open_names() {
        let is_open = omrs.enabled && name == omrs.graph;
        if !omrs.unlock_graphs && !is_open && graphs.get(&name)?.deriver().is_some() {
            locked.push(name);
        }
    }
    Ok(locked.into())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_search_takes_no_longer_than_a_request_may() {
        let mut config = Config::default();
        let limits = search_limits(&config);
        assert_eq!(limits.time_max, Limits::default().time_max);
        assert_eq!(
            limits.held_by_all.max(),
            config.server.max_held_answer_bytes
        );
        config.server.request_timeout_ms = 1_500;
        let limits = search_limits(&config);
        assert_eq!(limits.time_max, Duration::from_millis(1_500));
        assert_eq!(limits.examined_max, Limits::default().examined_max);
    }
}
