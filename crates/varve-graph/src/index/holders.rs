//! The holders of a value of a unique index.

use varve_encoding::key;
use varve_encoding::tables::INDEX;
use varve_kv::{ClusteringRange, Flow, Reader, ScanRequest};
use varve_model::ElementId;

use crate::error::GraphError;

/// The elements with an entry in a partition of a unique index: they have, had or will have its
/// values. Usually there are none or one. Whether an element has the values at an instant depends
/// on its state then.
pub(crate) fn holders(reader: &dyn Reader, partition: &[u8]) -> Result<Vec<ElementId>, GraphError> {
    let mut holders = Vec::new();
    let range = ClusteringRange::all();
    let request = ScanRequest {
        table: INDEX,
        partition,
        range: &range,
        reverse: false,
    };
    reader.scan(request, &mut |element, _| {
        holders.push(key::decode_element(element));
        Flow::Continue(())
    })?;
    Ok(holders.into_iter().collect::<Result<_, _>>()?)
}
