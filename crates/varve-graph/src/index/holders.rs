//! Who holds a value of a unique index.

use varve_encoding::key;
use varve_encoding::tables::INDEX;
use varve_kv::{ClusteringRange, Flow, Reader, ScanRequest};
use varve_model::ElementId;

use crate::error::GraphError;

/// The elements that have, had or will have the values of a unique index's partition: usually none
/// or one. Its state at an instant says whether it has them then.
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
