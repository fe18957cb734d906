//! Whether a label may ever have had elements, by its label index.

use varve_encoding::index::{IndexId, partition};
use varve_encoding::tables::{EVENT_INDEX, INDEX};
use varve_kv::{ClusteringRange, Flow, ScanRequest};
use varve_model::{EdgeLabelId, VertexLabelId};

use super::View;
use crate::error::GraphError;

impl View {
    /// Whether vertices of this label may exist or may have existed at any point of both times: the
    /// label index has an entry, or there is no label index. False is certain, except for states
    /// that retention has removed.
    ///
    /// # Errors
    /// When the store fails.
    pub fn may_have_had_vertices(&self, label: VertexLabelId) -> Result<bool, GraphError> {
        let known = self.schema().vertex_label(label);
        let is_indexed = known.is_some_and(|label| label.enable_label_index);
        Ok(!is_indexed || self.has_entries(IndexId::VertexLabel(label))?)
    }

    /// As [`View::may_have_had_vertices`], for the edges of a label.
    ///
    /// # Errors
    /// As [`View::may_have_had_vertices`].
    pub fn may_have_had_edges(&self, label: EdgeLabelId) -> Result<bool, GraphError> {
        let known = self.schema().edge_label(label);
        let is_indexed = known.is_some_and(|label| label.enable_label_index);
        Ok(!is_indexed || self.has_entries(IndexId::EdgeLabel(label))?)
    }

    /// Whether a label index has an entry, of the present or the past.
    fn has_entries(&self, index: IndexId) -> Result<bool, GraphError> {
        let partition = partition(index, 0, &[]);
        let mut found = false;
        for table in [INDEX, EVENT_INDEX] {
            let request = ScanRequest {
                table,
                partition: &partition,
                range: &ClusteringRange::all(),
                reverse: false,
            };
            self.reader().scan(request, &mut |_, _| {
                found = true;
                Flow::Break(())
            })?;
            if found {
                break;
            }
        }
        Ok(found)
    }
}
