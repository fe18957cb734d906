//! The ends of a request's edges: whether they exist, and with which labels.

use std::borrow::Cow;
use varve_kv::ReaderExt;

use varve_encoding::key;
use varve_encoding::row;
use varve_encoding::tables::VERTEX;
use varve_model::{EdgeId, ElementId, VertexId, VertexLabelId};

use super::{Outcome, WorkingSet};
use crate::commit::VertexMark;
use crate::element::check_link;
use crate::error::GraphError;
use crate::hash::IdMap;
use crate::write::EndCheck;
use crate::write::keys::RowKeys;

impl WorkingSet<'_> {
    /// Reads the labels of ends that are not known. A vertex whose row alone does not decide is
    /// read later.
    pub(super) fn read_ends_ahead(&mut self) -> Result<(), GraphError> {
        let ends = |number: u32| match self.keys.of(number) {
            // The labels may differ at another instant.
            _ if self.request.period_of(number as usize).from.is_some() => None,
            RowKeys::Edge { source, target, .. } => Some([source, target]),
            RowKeys::Vertex { .. } => None,
        };
        let mut unknown: Vec<&[u8]> = Vec::new();
        for (number, known) in (0..).zip(&self.ends) {
            let Some([source, target]) = ends(number) else {
                continue;
            };
            unknown.extend(known.0.is_none().then_some(source));
            unknown.extend(known.1.is_none().then_some(target));
        }
        unknown.sort_unstable();
        unknown.dedup();
        let places = unknown.iter();
        let places: Vec<_> = places
            .map(|end| (VERTEX, *end, key::VERTEX_CLUSTERING))
            .collect();
        // Vertices that this request creates.
        let new = self.reader.known_absent(&places);
        let rows = places.iter().zip(new).filter(|(_, is_new)| !is_new);
        let rows: Vec<(&[u8], &[u8])> = rows.map(|(row, _)| (row.1, row.2)).collect();
        if rows.is_empty() {
            return Ok(());
        }
        let mut labels: IdMap<&[u8], VertexLabelId> = IdMap::default();
        for ((partition, _), row) in rows.iter().zip(self.reader.multi_get(VERTEX, &rows)?) {
            let label = row
                .map(|row| self.label_reported(partition, &row))
                .transpose()?;
            if let Some(label) = label.flatten() {
                labels.insert(partition, label);
            }
        }
        let mut found = Vec::with_capacity(self.ends.len());
        for (number, known) in (0..).zip(&self.ends) {
            let of = |partition: &[u8]| labels.get(partition).copied();
            found.push(match ends(number) {
                Some([source, target]) => (known.0.or(of(source)), known.1.or(of(target))),
                None => *known,
            });
        }
        self.ends = found;
        Ok(())
    }

    /// Checks that both ends of an edge exist with labels that the edge's label links. Returns the
    /// edge's content, with the ends' labels filled in if the writer did not name them.
    pub(super) fn with_ends<'c>(
        &self,
        id: &ElementId,
        keys: u32,
        content: Cow<'c, [u8]>,
        ends: EndCheck,
    ) -> Result<Cow<'c, [u8]>, GraphError> {
        let (EndCheck::Exist { labels_given }, ElementId::Edge(id)) = (ends, id) else {
            return Ok(content);
        };
        let RowKeys::Edge { source, target, .. } = self.keys.of(keys) else {
            return Ok(content);
        };
        let (named, properties) = row::edge_ends(&content)?;
        let known = self.ends.get(keys as usize).copied().unwrap_or_default();
        let stored = (
            self.end_label(&id.source, source, known.0)?,
            self.end_label(&id.target, target, known.1)?,
        );
        if labels_given && stored != named {
            return Err(self.unmatched(id, named, stored));
        }
        check_link(self.schema, id.label, stored)?;
        if stored == named {
            return Ok(content);
        }
        let mut own = Vec::with_capacity(content.len() + 8);
        key::put_schema_id(stored.0.0, &mut own);
        key::put_schema_id(stored.1.0, &mut own);
        own.extend_from_slice(properties);
        Ok(Cow::Owned(own))
    }

    /// Returns the label of an existing vertex. `known` is its label if this request does not
    /// change it.
    fn end_label(
        &self,
        id: &VertexId,
        partition: &[u8],
        known: Option<VertexLabelId>,
    ) -> Result<VertexLabelId, GraphError> {
        let label = self.stored_end_label(id, partition, known)?;
        match self.may_join(partition, label)? {
            true => Ok(label),
            false => Err(self.missing_end(id)),
        }
    }

    pub(super) fn missing_end(&self, id: &VertexId) -> GraphError {
        GraphError::invalid(match self.period.from {
            // HugeGraph's message; HugeGraph has no valid time.
            None => format!("Invalid vertex id '{id}'"),
            Some(_) => format!("The vertex '{id}' does not exist then (at the valid_from)"),
        })
    }

    fn stored_end_label(
        &self,
        id: &VertexId,
        partition: &[u8],
        known: Option<VertexLabelId>,
    ) -> Result<VertexLabelId, GraphError> {
        let missing = || self.missing_end(id);
        if self.has_vertices {
            match self.outcome_at(RowKeys::Vertex { partition }) {
                Some(Outcome::Put(content)) => return Ok(row::vertex_label(content)?),
                Some(Outcome::Parts(parts)) => {
                    let part = parts
                        .iter()
                        .find(|it| self.span(it.period).covers(self.valid));
                    let content = part.and_then(|part| part.content.as_ref());
                    return Ok(row::vertex_label(content.ok_or_else(missing)?)?);
                }
                Some(Outcome::Delete) => return Err(missing()),
                Some(Outcome::Untouched) | None => {}
            }
        }
        if let Some(label) = known {
            return Ok(label);
        }
        let mut label = None;
        if self.period.from.is_none() {
            self.reader
                .get_with(VERTEX, partition, key::VERTEX_CLUSTERING, &mut |row| {
                    label = self.label_reported(partition, row).transpose();
                })?;
        }
        if let Some(label) = label.transpose()? {
            return Ok(label);
        }
        let resolved = self
            .resolve(&ElementId::Vertex(id.clone()))?
            .ok_or_else(missing)?;
        Ok(row::vertex_label(&resolved.content)?)
    }

    /// Returns and caches the label in a vertex's row; `None` if the row alone does not decide.
    fn label_reported(
        &self,
        partition: &[u8],
        row: &[u8],
    ) -> Result<Option<VertexLabelId>, GraphError> {
        if !row::decides_always(row) {
            return Ok(None);
        }
        let (_, content) = row::Header::decode(row)?;
        let label = row::vertex_label(content)?;
        if let Some(mark) = VertexMark::new(partition, label) {
            self.graph.known_vertices().remember(mark);
        }
        Ok(Some(label))
    }

    fn unmatched(
        &self,
        edge: &EdgeId,
        named: (VertexLabelId, VertexLabelId),
        stored: (VertexLabelId, VertexLabelId),
    ) -> GraphError {
        match stored.0 == named.0 {
            true => self.unmatched_end(&edge.target, named.1, stored.1),
            false => self.unmatched_end(&edge.source, named.0, stored.0),
        }
    }

    /// The error for an edge that names another label for an end than it has.
    pub(super) fn unmatched_end(
        &self,
        end: &VertexId,
        named: VertexLabelId,
        stored: VertexLabelId,
    ) -> GraphError {
        let name = |label| self.schema.vertex_label_name(label);
        GraphError::invalid(format!(
            "The label of vertex '{end}' is unmatched, users expect label '{}', actual label stored is '{}'",
            name(named),
            name(stored)
        ))
    }
}
