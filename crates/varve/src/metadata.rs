//! The metadata repository of `varve serve`: opened over its graph, where it is enabled.

use std::sync::Arc;

use varve_graph::Registry;
use varve_omrs::graph_store::GraphStore;
use varve_omrs::repository::{Options, Repository};
use varve_server::Metadata;

use crate::CommandError;
use crate::config::Config;

/// Opens the repository; its graph is made if it is missing. None when it is not enabled.
pub(crate) fn open(
    config: &Config,
    graphs: &Arc<Registry>,
) -> Result<Option<Metadata>, CommandError> {
    let omrs = &config.omrs;
    if !omrs.enabled {
        return Ok(None);
    }
    let graph = graphs.get_or_create(&omrs.graph)?;
    let id = omrs.metadata_collection_id.as_str();
    let options = Options {
        metadata_collection_id: (!id.is_empty()).then(|| id.to_owned()),
        metadata_collection_name: omrs.metadata_collection_name.clone(),
        base_url: omrs.url_base(&config.server),
    };
    let repository = Repository::open(Arc::new(GraphStore::open(graph)), options)?;
    Ok(Some(Metadata {
        repository: Arc::new(repository),
        graph: omrs.graph.clone(),
        server_names: omrs.server_names.clone(),
        limits: omrs.limits(&config.server),
    }))
}
