//! Clearing a property of offline analysis: removes its values from the present and planned states
//! of all vertices. History keeps them.

use std::sync::Arc;

use varve_encoding::row::{self, Header};
use varve_encoding::tables::VERTEX;
use varve_encoding::{DecodeError, key};
use varve_kv::Row;
use varve_model::{ElementId, PropertyKeyId};

use super::each_chunk;
use crate::element::remove_olap_value;
use crate::error::{ErrorKind, GraphError};
use crate::graph::Graph;
use crate::tasks::TaskProgress;
use crate::write::{WritePeriod, WriteRequest};

/// Removes the property from every vertex that has it, or may have it at a later instant.
///
/// # Errors
/// When the task was cancelled or the store fails.
pub(super) fn clear(
    graph: &Arc<Graph>,
    key: PropertyKeyId,
    progress: &TaskProgress,
) -> Result<(), GraphError> {
    let of_row = |row: &Row<'_>| holder(key, row.partition, row.value).map_err(GraphError::from);
    each_chunk(graph, VERTEX, progress, &of_row, &mut |ids| {
        clear_each(graph, key, &ids)?;
        progress.add(ids.len() as u64);
        Ok(())
    })
}

/// The vertex of a row, if it may have the property. A vertex whose row does not decide for ever
/// may have it later.
fn holder(
    key: PropertyKeyId,
    partition: &[u8],
    value: &[u8],
) -> Result<Option<ElementId>, DecodeError> {
    if row::decides_always(value) {
        let (_, content) = Header::decode(value)?;
        let (_, mut properties) = row::vertex_parts(content)?;
        loop {
            match properties.next_property()? {
                None => return Ok(None),
                Some((of, _)) if of == key => break,
                Some(_) => {}
            }
        }
    }
    let id = key::decode_vertex_id(partition)?;
    Ok(Some(ElementId::Vertex(id)))
}

/// Changes the vertices in one commit. Halves the batch after [`ErrorKind::NotFound`], to leave out
/// vertices that were deleted meanwhile.
fn clear_each(graph: &Arc<Graph>, key: PropertyKeyId, ids: &[ElementId]) -> Result<(), GraphError> {
    if ids.is_empty() {
        return Ok(());
    }
    let removal = |id: &ElementId| remove_olap_value(id.clone(), key);
    let request = WriteRequest {
        mutations: ids.iter().map(removal).collect(),
        period: WritePeriod {
            from: Some(graph.now()),
            to: None,
        },
        skip_unchanged: true,
        ..WriteRequest::default()
    };
    match graph.write_now(&request) {
        Ok(_) => Ok(()),
        Err(error) if error.kind == ErrorKind::NotFound && ids.len() > 1 => {
            let (first, second) = ids.split_at(ids.len() / 2);
            clear_each(graph, key, first)?;
            clear_each(graph, key, second)
        }
        Err(error) if error.kind == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}
