//! Checks index entries.

use std::sync::Arc;

use varve_encoding::index::{KIND_DERIVED, element_key, ordered_len, values_len};
use varve_encoding::key;
use varve_encoding::tables::{EVENT_INDEX, INDEX};
use varve_kv::{KvError, TableId};
use varve_model::schema::IndexType;
use varve_model::{Element, ElementId, IndexLabel, IndexLabelId};

use super::elements::state_now;
use super::{Check, Wrong};
use crate::index::{self, IndexEntry, derived_entries, edge_label_entry, vertex_label_entry};
use crate::schema::is_queryable;

/// First byte of the partition keys of an index label's entries.
const KIND_INDEX_LABEL: u8 = 1;

impl Check<'_> {
    /// Returns the entries that a state of an element must have: in complete index labels, and in
    /// its label index.
    fn entries(&self, element: &Element) -> Vec<IndexEntry> {
        let id = element.id();
        let mut all = Vec::new();
        let labels: &[Arc<IndexLabel>] = match element {
            Element::Vertex(vertex) => {
                let label = self.schema.vertex_label(vertex.label);
                if label.is_some_and(|label| label.enable_label_index) {
                    all.push(vertex_label_entry(vertex.label, &vertex.id));
                }
                self.schema.indexes_of_vertex_label(vertex.label)
            }
            Element::Edge(edge) => {
                let label = self.schema.edge_label(edge.id.label);
                if label.is_some_and(|label| label.enable_label_index) {
                    all.push(edge_label_entry(&edge.id));
                }
                self.schema.indexes_of_edge_label(edge.id.label)
            }
        };
        for label in labels.iter().filter(|label| is_queryable(label)) {
            all.extend(index::entries(label, &id, element.properties()));
        }
        all
    }

    /// Checks that a present state has all its entries in the index of the present.
    pub(super) fn present_entries(
        &mut self,
        element: &Element,
        content: &[u8],
    ) -> Result<(), Wrong> {
        for entry in self.entries(element) {
            let IndexEntry {
                partition,
                clustering,
                ..
            } = entry;
            let known = self.entry.as_ref();
            if known.is_some_and(|(one, other)| *one == partition && *other == clustering) {
                continue;
            }
            match self.in_index(INDEX, &partition, &clustering)? {
                true => self.entry = Some((partition, clustering)),
                false => self.missing(&element.id(), &partition),
            }
        }
        let id = element.id();
        for (partition, clustering) in derived_entries(self.deriver, &id, content)?.iter() {
            if !self.in_index(INDEX, partition, clustering)? {
                self.missing(&id, partition);
            }
        }
        Ok(())
    }

    /// Checks that a past state has all its entries in one of the two indexes.
    pub(super) fn past_entries(&mut self, element: &Element, content: &[u8]) -> Result<(), Wrong> {
        if !self.keeps_all(element) {
            return Ok(());
        }
        for entry in self.entries(element) {
            let (partition, clustering) = (&entry.partition, &entry.clustering);
            // A unique value that was given up has no entry.
            if !entry.unique && !self.in_either(partition, clustering)? {
                self.missing(&element.id(), partition);
            }
        }
        let id = element.id();
        for (partition, clustering) in derived_entries(self.deriver, &id, content)?.iter() {
            if !self.in_either(partition, clustering)? {
                self.missing(&id, partition);
            }
        }
        Ok(())
    }

    fn in_either(&self, partition: &[u8], clustering: &[u8]) -> Result<bool, Wrong> {
        Ok(self.in_index(INDEX, partition, clustering)?
            || self.in_index(EVENT_INDEX, partition, clustering)?)
    }

    fn in_index(
        &self,
        table: TableId,
        partition: &[u8],
        clustering: &[u8],
    ) -> Result<bool, KvError> {
        self.reader
            .get_with(table, partition, clustering, &mut |_| {})
    }

    fn missing(&mut self, id: &ElementId, partition: &[u8]) {
        let hex: String = partition.iter().map(|byte| format!("{byte:02x}")).collect();
        self.problem(|| format!("{id}: it has no entry in the index partition {hex}"));
    }

    pub(super) fn index_row(
        &mut self,
        table: TableId,
        partition: &[u8],
        clustering: &[u8],
    ) -> Result<(), Wrong> {
        if table == INDEX {
            self.report.index_entries += 1;
        } else {
            self.report.event_index_entries += 1;
        }
        if partition.first() == Some(&KIND_DERIVED) {
            key::decode_ordered_element(&clustering[values_len(clustering)..])?;
            return Ok(());
        }
        let values = (0..).map_while(|skipped| element_key(clustering, skipped));
        let element = values
            .take_while(|rest| !rest.is_empty())
            .find(|rest| ordered_len(rest).is_none());
        let damaged = || Wrong::Damage("not an index entry".to_owned());
        let id = key::decode_element(element.ok_or_else(damaged)?)?;
        if table == INDEX && self.is_unique(partition) {
            self.claim(partition, id)?;
        }
        Ok(())
    }

    fn is_unique(&self, partition: &[u8]) -> bool {
        self.index_of(partition)
            .is_some_and(|label| label.index_type == IndexType::Unique)
    }

    fn index_of(&self, partition: &[u8]) -> Option<&Arc<IndexLabel>> {
        let (kind, rest) = partition.split_first()?;
        let (id, _) = rest.split_first_chunk::<4>()?;
        let id = IndexLabelId(u32::from_be_bytes(*id));
        let label = (*kind == KIND_INDEX_LABEL).then(|| self.schema.index_label(id))??;
        is_queryable(label).then_some(label)
    }

    /// Checks that at most one element has a unique value now; the entries of one value are
    /// consecutive.
    fn claim(&mut self, partition: &[u8], id: ElementId) -> Result<(), Wrong> {
        let Some(element) = state_now(self, &id)? else {
            return Ok(());
        };
        let Some(label) = self.index_of(partition) else {
            return Ok(());
        };
        let own = index::entries(label, &id, element.properties());
        if !own.iter().any(|entry| entry.partition == partition) {
            return Ok(());
        }
        match &self.claimed {
            Some((claimed, holder)) if claimed == partition => {
                let problem = format!(
                    "{holder} and {id} hold the same unique values of {}",
                    label.name
                );
                self.problem(|| problem);
            }
            _ => self.claimed = Some((partition.to_vec(), id)),
        }
        Ok(())
    }
}
