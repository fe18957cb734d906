//! Checks index entries.

use std::sync::Arc;

use varve_encoding::tables::{EVENT_INDEX, INDEX};
use varve_kv::{KvError, TableId};
use varve_model::schema::IndexType;
use varve_model::{Element, ElementId, IndexLabel, IndexLabelId};

use super::elements::state_now;
use super::prints::print;
use super::{Check, Claimed, UNINDEXED_MAX, Wrong};
use crate::index::{
    self, IndexEntry, derived_entries, edge_label_entry, has_values, vertex_label_entry,
};
use crate::schema::{DefinitionState, is_queryable};

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
        let keeps_all = self.keeps_all(element);
        for entry in self.entries(element) {
            let (partition, clustering) = (&entry.partition, &entry.clustering);
            let is_known = self.is_wanted(partition, clustering);
            // A unique value that was given up has no entry.
            let must_be = keeps_all && !entry.unique && !is_known;
            if must_be && !self.in_either(partition, clustering)? {
                self.missing(&element.id(), partition);
            }
        }
        let id = element.id();
        for (partition, clustering) in derived_entries(self.deriver, &id, content)?.iter() {
            let must_be = !self.is_wanted(partition, clustering) && keeps_all;
            if must_be && !self.in_either(partition, clustering)? {
                self.missing(&id, partition);
            }
        }
        Ok(())
    }

    /// Notes that a past state has an entry, in either index. Returns whether one is known.
    fn is_wanted(&self, partition: &[u8], clustering: &[u8]) -> bool {
        let print = print(partition, clustering);
        let known = self.known.entries.each_ref().map(|known| known.has(print));
        known.contains(&Some(true))
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
        let known = &self.known.entries[usize::from(table == EVENT_INDEX)];
        if known.has(print(partition, clustering)) == Some(true) {
            return Ok(true);
        }
        self.reader
            .get_with(table, partition, clustering, &mut |_| {})
    }

    fn missing(&mut self, id: &ElementId, partition: &[u8]) {
        let unindexed = &self.report.unindexed;
        if unindexed.last() != Some(id) && unindexed.len() < UNINDEXED_MAX {
            self.report.unindexed.push(id.clone());
        }
        let hex: String = partition.iter().map(|byte| format!("{byte:02x}")).collect();
        self.problem(|| format!("{id}: it has no entry in the index partition {hex}"));
    }

    pub(super) fn index_row(
        &mut self,
        table: TableId,
        partition: &[u8],
        clustering: &[u8],
    ) -> Result<(), Wrong> {
        let past = table == EVENT_INDEX;
        match past {
            false => self.report.index_entries += 1,
            true => self.report.event_index_entries += 1,
        }
        self.seen.entries[usize::from(past)].push(print(partition, clustering));
        let id = index::element_of(partition, clustering)?;
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
        if *kind != KIND_INDEX_LABEL {
            return None;
        }
        match self.schema.index_label(id) {
            Some(label) => is_queryable(label).then_some(label),
            None => self.part_of(id),
        }
    }

    /// A part of a definition, whose unique values are checked if all its parts are complete.
    fn part_of(&self, definition: IndexLabelId) -> Option<&Arc<IndexLabel>> {
        let mut all = self.schema.definitions().iter();
        let definition = all.find(|one| one.id == definition)?;
        if definition.state(self.schema) != DefinitionState::Complete {
            return None;
        }
        let parts = definition.parts.iter();
        let mut parts = parts.filter_map(|id| self.schema.index_label(*id));
        parts.find(|part| part.group == Some(definition.id) && is_queryable(part))
    }

    /// Checks that at most one element has a unique value now. The entries of one value are
    /// consecutive, and most values have one, so elements are read from the second entry on.
    fn claim(&mut self, partition: &[u8], id: ElementId) -> Result<(), Wrong> {
        let mut earlier = self.claimed.take().filter(|it| it.partition == partition);
        if let Some(one) = earlier.take_if(|one| !one.holds) {
            earlier = self.holds(partition, &one.id)?.then_some(one);
        }
        let holds = match &earlier {
            None => false,
            Some(holder) if self.holds(partition, &id)? => {
                let name = self.index_of(partition).map(|it| self.schema.told_name(it));
                let (holder, name) = (&holder.id, name.unwrap_or_default());
                let problem = format!("{holder} and {id} hold the same unique values of {name}");
                self.problem(|| problem);
                true
            }
            Some(_) => true,
        };
        self.claimed = Some(match earlier {
            Some(holder) => Claimed { holds, ..holder },
            None => Claimed {
                partition: partition.to_vec(),
                id,
                holds,
            },
        });
        Ok(())
    }

    /// Whether an element has the unique values of a partition now.
    fn holds(&self, partition: &[u8], id: &ElementId) -> Result<bool, Wrong> {
        let (Some(element), Some(label)) = (state_now(self, id)?, self.index_of(partition)) else {
            return Ok(false);
        };
        Ok(has_values(self.schema, label, &element, partition))
    }
}
