//! The edges of a vertex that a deletion or a purge of it takes along.

use varve_encoding::key;
use varve_encoding::tables::{EDGE, EVENT};
use varve_kv::{ClusteringRange, Flow, Reader, ScanRequest, TableId};
use varve_model::{EdgeId, VertexId};

use crate::error::{ErrorKind, GraphError};

/// Which edges of a vertex are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Those that exist now or at some later instant: what has no current row does not.
    NowOrLater,
    /// Those that ever existed, too.
    Ever,
}

/// The stored edges of `vertex`, ascending and each once.
///
/// # Errors
/// [`ErrorKind::LimitExceeded`] when there are more than `limit`; or when the store fails or is damaged.
pub(crate) fn incident_edges(
    reader: &dyn Reader,
    vertex: &VertexId,
    reach: Reach,
    limit: usize,
) -> Result<Vec<EdgeId>, GraphError> {
    let tables: &[TableId] = match reach {
        Reach::NowOrLater => &[EDGE],
        Reach::Ever => &[EDGE, EVENT],
    };
    let partition = key::vertex_id(vertex);
    let range = ClusteringRange {
        from: vec![1],
        to: None,
    };
    let mut found: Vec<EdgeId> = Vec::new();
    let mut damaged = None;
    for table in tables.iter().copied() {
        let request = ScanRequest {
            table,
            partition: &partition,
            range: &range,
            reverse: false,
        };
        reader.scan(request, &mut |clustering, _| {
            let current = match table {
                EVENT => key::split_event(clustering).map(|(current, _)| current),
                _ => Ok(clustering),
            };
            match current.and_then(|current| key::decode_edge(&partition, current)) {
                Ok((id, _)) if found.last() != Some(&id) => found.push(id),
                Ok(_) => {}
                Err(error) => damaged = Some(error),
            }
            if damaged.is_some() || found.len() > limit {
                Flow::Break(())
            } else {
                Flow::Continue(())
            }
        })?;
    }
    if let Some(error) = damaged {
        return Err(error.into());
    }
    if found.len() > limit {
        let message = format!("Vertex '{vertex}' has more than {limit} edges: delete them first");
        return Err(GraphError::new(ErrorKind::LimitExceeded, message));
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}
