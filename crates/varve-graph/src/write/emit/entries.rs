//! The index entries of an element's states: which entries a commit puts, moves to the index of the
//! past, or deletes.

use std::sync::Arc;

use varve_encoding::index::{IndexId, plain_partition};
use varve_encoding::key;
use varve_encoding::row::{self, RowKind};
use varve_encoding::tables::{EVENT_INDEX, INDEX};
use varve_kv::TableId;
use varve_model::schema::{IndexType, Retention};
use varve_model::{EdgeLabelId, Element, ElementId, IndexLabel, Properties, VertexLabelId};

use super::{Emitter, pair_of};
use crate::commit::PairHash;
use crate::error::GraphError;
use crate::index::{
    DerivedEntries, IndexEntry, derived_entries, entries, may_have_derived, vertex_label_entry,
};
use crate::rows::{Current, decode_element};
use crate::schema::Schema;

impl Emitter<'_> {
    /// Puts the entries of a new state into these indexes.
    pub(super) fn put_index_entries(
        &mut self,
        indexes: &[Arc<IndexLabel>],
        id: &ElementId,
        content: &[u8],
    ) -> Result<(), GraphError> {
        self.put_derived(INDEX, id, content)?;
        if indexes.is_empty() {
            return Ok(());
        }
        let element = decode_element(id, content)?;
        for index in indexes {
            for entry in entries(index, id, element.properties()) {
                self.batch
                    .put(INDEX, &entry.partition, &entry.clustering, &[]);
            }
        }
        Ok(())
    }

    /// Puts the entries of a state into the derived indexes.
    pub(super) fn put_derived(
        &mut self,
        table: TableId,
        id: &ElementId,
        content: &[u8],
    ) -> Result<(), GraphError> {
        if !may_have_derived(self.context.deriver, id) {
            return Ok(());
        }
        for (partition, clustering) in self.derived(id, content)?.iter() {
            self.batch.put(table, partition, clustering, &[]);
        }
        Ok(())
    }

    fn derived(&self, id: &ElementId, content: &[u8]) -> Result<DerivedEntries, GraphError> {
        derived_entries(self.context.deriver, id, content)
    }

    pub(super) fn lists_vertices(&self, label: VertexLabelId) -> bool {
        let label = self.context.schema.vertex_label(label);
        label.is_some_and(|label| label.enable_label_index)
    }

    /// Replaces the entries of the old current row by those of the new one. Entries that the new
    /// row does not have leave the index of the present only if no future state can need them
    /// (`quiet`).
    pub(super) fn move_entries(
        &mut self,
        id: &ElementId,
        old: Option<&Current>,
        new: Option<&[u8]>,
        quiet: bool,
        retention: Retention,
    ) -> Result<(), GraphError> {
        let old = old.filter(|old| old.header.kind == RowKind::Put);
        let old_entries = match old {
            Some(old) => self.entries(id, &old.content)?,
            None => Vec::new(),
        };
        let new_entries = match new {
            Some(new) => self.entries(id, new)?,
            None => Vec::new(),
        };
        let certain = quiet && old.is_none_or(|old| old.header.until == old.header.to);
        for entry in old_entries
            .iter()
            .filter(|entry| !new_entries.contains(entry))
        {
            if certain {
                self.batch
                    .delete(INDEX, &entry.partition, &entry.clustering);
            }
            if retention != Retention::None && !entry.unique {
                self.batch
                    .put(EVENT_INDEX, &entry.partition, &entry.clustering, &[]);
            }
        }
        for entry in new_entries
            .iter()
            .filter(|entry| !old_entries.contains(entry))
        {
            self.batch
                .put(INDEX, &entry.partition, &entry.clustering, &[]);
        }
        self.move_derived(id, old, new, certain, retention)?;
        if new.is_some() && old.is_none() {
            self.put_edge_pair(id);
        }
        Ok(())
    }

    /// As [`Emitter::move_entries`], for derived indexes.
    fn move_derived(
        &mut self,
        id: &ElementId,
        old: Option<&Current>,
        new: Option<&[u8]>,
        certain: bool,
        retention: Retention,
    ) -> Result<(), GraphError> {
        if !may_have_derived(self.context.deriver, id) {
            return Ok(());
        }
        let none = || Ok(DerivedEntries::default());
        let mut old = old.map_or_else(none, |old| self.derived(id, &old.content))?;
        let mut new = new.map_or_else(none, |new| self.derived(id, new))?;
        let (mut gone, batch) = (Vec::new(), &mut self.batch);
        DerivedEntries::compare(
            &mut old,
            &mut new,
            |partition, clustering| gone.push((partition, clustering)),
            |partition, clustering| {
                batch.put(INDEX, partition, clustering, &[]);
            },
        );
        for (partition, clustering) in gone {
            if certain {
                self.batch.delete(INDEX, partition, clustering);
            }
            if retention != Retention::None {
                self.batch.put(EVENT_INDEX, partition, clustering, &[]);
            }
        }
        Ok(())
    }

    /// Puts the (edge label, source) entry of an edge unless it is known to be in the index.
    pub(super) fn put_edge_pair(&mut self, id: &ElementId) {
        if let ElementId::Edge(edge) = id {
            self.put_pair(edge.label, &key::vertex_id(&edge.source));
        }
    }

    pub(super) fn put_pair(&mut self, label: EdgeLabelId, source: &[u8]) {
        let pair = pair_of(label, source, &mut self.pair);
        if !(self.context.known_pair)(pair) {
            self.put_new_pair(label, source, pair);
        }
    }

    /// Puts a new entry, if the label has a label index.
    pub(super) fn put_new_pair(&mut self, label: EdgeLabelId, source: &[u8], pair: PairHash) {
        let known = self.context.schema.edge_label(label);
        let enabled = known.is_some_and(|label| label.enable_label_index);
        if enabled && self.new_pairs.insert(pair) {
            let partition = plain_partition(IndexId::EdgeLabel(label));
            let clustering: [&[u8]; 2] = [&[key::ELEMENT_VERTEX], source];
            self.batch.put_parts(INDEX, &partition, &clustering, &[]);
        }
    }

    /// Returns the index entries of a state of `id`, including the one in the vertex label index.
    pub(crate) fn entries(
        &self,
        id: &ElementId,
        content: &[u8],
    ) -> Result<Vec<IndexEntry>, GraphError> {
        let schema = self.context.schema;
        match id {
            ElementId::Vertex(vertex) => {
                let label = row::vertex_label(content)?;
                if schema.indexes_of_vertex_label(label).is_empty() {
                    let listed = self.lists_vertices(label);
                    let entry = listed.then(|| vertex_label_entry(label, vertex));
                    return Ok(entry.into_iter().collect());
                }
            }
            ElementId::Edge(edge) if schema.indexes_of_edge_label(edge.label).is_empty() => {
                return Ok(Vec::new());
            }
            ElementId::Edge(_) => {}
        }
        let element = decode_element(id, content)?;
        Ok(entries_of(self.context.schema, id, &element))
    }
}

/// Returns the index entries of a state of `id`, including the one in the vertex label index,
/// without the (edge label, source) entry.
fn entries_of(schema: &Schema, id: &ElementId, element: &Element) -> Vec<IndexEntry> {
    let mut all = Vec::new();
    let add = |labels: &[Arc<IndexLabel>], p: &Properties, all: &mut Vec<_>| {
        for label in labels {
            all.extend(entries(label, id, p));
        }
    };
    match element {
        Element::Vertex(vertex) => {
            if schema
                .vertex_label(vertex.label)
                .is_some_and(|label| label.enable_label_index)
            {
                all.push(vertex_label_entry(vertex.label, &vertex.id));
            }
            add(
                schema.indexes_of_vertex_label(vertex.label),
                &vertex.properties,
                &mut all,
            );
        }
        Element::Edge(edge) => {
            add(
                schema.indexes_of_edge_label(edge.id.label),
                &edge.properties,
                &mut all,
            );
        }
    }
    all
}

/// Returns the entries of a state of `id` in the unique indexes among `indexes`: the values that no
/// other element may have.
pub(crate) fn unique_entries(
    indexes: &[Arc<IndexLabel>],
    id: &ElementId,
    content: &[u8],
) -> Result<Vec<(Arc<IndexLabel>, IndexEntry)>, GraphError> {
    let unique = |label: &&Arc<IndexLabel>| label.index_type == IndexType::Unique;
    if !indexes.iter().any(|label| unique(&label)) {
        return Ok(Vec::new());
    }
    let element = decode_element(id, content)?;
    let of_label = |label: &Arc<IndexLabel>| {
        let entries = entries(label, id, element.properties());
        let label = Arc::clone(label);
        entries
            .into_iter()
            .map(move |entry| (Arc::clone(&label), entry))
    };
    Ok(indexes.iter().filter(unique).flat_map(of_label).collect())
}
