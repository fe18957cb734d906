//! The ends of a request's edges: whether they exist, and with which labels.

use std::borrow::Cow;
use varve_kv::ReaderExt;

use varve_encoding::key;
use varve_encoding::row;
use varve_encoding::tables::VERTEX;
use varve_model::time::offset_text;
use varve_model::{EdgeId, ElementId, Instant, Period, VertexId, VertexLabelId};

use super::sequenced::{absences, stored_labels, stored_parts};
use super::{Outcome, Working, WorkingSet};
use crate::commit::VertexMark;
use crate::element::check_link;
use crate::error::GraphError;
use crate::hash::IdMap;
use crate::write::EndCheck;
use crate::write::keys::RowKeys;

fn instant_text(Instant(micros): Instant) -> String {
    let nanos = micros.rem_euclid(1_000_000) * 1_000;
    offset_text(
        micros.div_euclid(1_000_000),
        u32::try_from(nanos).unwrap_or(0),
        0,
    )
}

impl WorkingSet<'_> {
    /// Reads the rows of ends whose labels are not known, or are asked for at another instant. A
    /// vertex whose row alone does not decide is read later.
    pub(super) fn read_ends_ahead(&mut self) -> Result<(), GraphError> {
        let mut unknown: Vec<&[u8]> = Vec::new();
        for (number, known) in (0..).zip(&self.ends) {
            let RowKeys::Edge { source, target, .. } = self.keys.of(number) else {
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
        let read = self.reader.multi_get(VERTEX, &rows)?;
        let mut labels: IdMap<&[u8], VertexLabelId> = IdMap::default();
        for ((partition, _), row) in rows.iter().zip(&read) {
            let label = row.as_deref();
            let label = label.map(|row| self.label_reported(partition, row));
            if let Some(label) = label.transpose()?.flatten() {
                labels.insert(partition, label);
            }
        }
        let mut found = Vec::with_capacity(self.ends.len());
        for (number, known) in (0..).zip(&self.ends) {
            let of = |partition: &[u8]| labels.get(partition).copied();
            found.push(match self.keys.of(number) {
                RowKeys::Edge { source, target, .. } if !self.is_dated(number) => {
                    (known.0.or(of(source)), known.1.or(of(target)))
                }
                _ => *known,
            });
        }
        self.ends = found;
        let partitions = rows.into_iter().map(|row| Box::from(row.0));
        self.end_rows = partitions.zip(read).collect();
        Ok(())
    }

    /// Whether a mutation begins at another instant than now: labels may differ then.
    pub(super) fn is_dated(&self, number: u32) -> bool {
        self.request.period_of(number as usize).from.is_some()
    }

    /// Checks that both ends of an edge exist in all of `within`, with labels that the edge's label
    /// links. Returns the edge's content, with the ends' labels filled in if the writer did not
    /// name them.
    pub(super) fn with_ends<'c>(
        &self,
        element: &ElementId,
        keys: u32,
        content: Cow<'c, [u8]>,
        (ends, within): (EndCheck, Period),
    ) -> Result<Cow<'c, [u8]>, GraphError> {
        let (EndCheck::Exist { labels_given }, ElementId::Edge(id)) = (ends, element) else {
            return Ok(content);
        };
        let RowKeys::Edge { source, target, .. } = self.keys.of(keys) else {
            return Ok(content);
        };
        let (named, properties) = row::edge_ends(&content)?;
        let known = self.ends.get(keys as usize).copied().unwrap_or_default();
        let within = || self.living(element, &content, within);
        let stored = (
            self.end_label(&id.source, source, known.0, &within)?,
            self.end_label(&id.target, target, known.1, &within)?,
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

    /// Checks the ends of an edge that gets `content` in the period of the mutation, wherever the
    /// edge did not exist before. A time to live is not judged: it may end that of an end first.
    pub(super) fn check_extension(
        &self,
        at: usize,
        keys: u32,
        content: &[u8],
    ) -> Result<(), GraphError> {
        let working = &self.elements[at];
        let (ElementId::Edge(id), RowKeys::Edge { source, target, .. }) =
            (&*working.id, self.keys.of(keys))
        else {
            return Ok(());
        };
        let within = self.span(self.period);
        let current = working.current.as_ref();
        if current.is_some_and(|current| self.decides(&current.header, within))
            || self.labels.of(&working.id, content)?.ttl > 0
        {
            return Ok(());
        }
        let gaps = match &working.outcome {
            Outcome::Put(_) => Vec::new(),
            Outcome::Parts(parts) => {
                let gaps = parts.iter().filter(|part| part.content.is_none());
                gaps.map(|part| self.span(part.period)).collect()
            }
            Outcome::Delete => vec![within],
            Outcome::Untouched => absences(self.reader, &working.id, within)?,
        };
        let (named, _) = row::edge_ends(content)?;
        for gap in gaps {
            let stored = (
                self.label_within(&id.source, source, gap)?,
                self.label_within(&id.target, target, gap)?,
            );
            if stored != named {
                return Err(self.unmatched(id, named, stored));
            }
        }
        Ok(())
    }

    /// The part of a period in which an edge exists that is written for it: its label's time to
    /// live may end it. It includes the start, also where that time is over.
    fn living(&self, id: &ElementId, content: &[u8], within: Period) -> Result<Period, GraphError> {
        let Some(ttl) = self.labels.of(id, content)?.ttl_of(id, content)? else {
            return Ok(within);
        };
        let end = ttl.end(within.from).max(within.from.plus_micros(1));
        let to = within.to.min(end);
        Ok(Period { to, ..within })
    }

    /// Returns the label of a vertex that exists in all of a period. `known` is its label if this
    /// request does not change it.
    fn end_label(
        &self,
        id: &VertexId,
        partition: &[u8],
        known: Option<VertexLabelId>,
        within: &dyn Fn() -> Result<Period, GraphError>,
    ) -> Result<VertexLabelId, GraphError> {
        let label = match self.lasting_label(partition, known)? {
            Some(label) => label,
            None => self.label_within(id, partition, within()?)?,
        };
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

    /// The label of a vertex, if one look-up shows that it exists in the whole period of the
    /// mutation.
    fn lasting_label(
        &self,
        partition: &[u8],
        known: Option<VertexLabelId>,
    ) -> Result<Option<VertexLabelId>, GraphError> {
        if let Some(own) = self.own_end(partition) {
            return match &own.outcome {
                Outcome::Put(content) if own.period == self.period => {
                    Ok(Some(row::vertex_label(content)?))
                }
                _ => Ok(None),
            };
        }
        if known.is_some() || self.period.from.is_some() {
            return Ok(known);
        }
        let mut label = None;
        self.reader
            .get_with(VERTEX, partition, key::VERTEX_CLUSTERING, &mut |row| {
                label = self.label_reported(partition, row).transpose();
            })?;
        label.transpose()
    }

    /// Returns a vertex that this request has changed so far.
    fn own_end(&self, partition: &[u8]) -> Option<&Working<'_>> {
        if !self.has_vertices {
            return None;
        }
        let own = self.working_at(RowKeys::Vertex { partition })?;
        (!matches!(own.outcome, Outcome::Untouched)).then_some(own)
    }

    /// Returns the label that a vertex has in all of a period. Where that label has a time to live,
    /// only the start is judged: as in HugeGraph, the edges of a vertex stay when its time is over.
    fn label_within(
        &self,
        id: &VertexId,
        partition: &[u8],
        within: Period,
    ) -> Result<VertexLabelId, GraphError> {
        let states = self.labels_within(id, partition, within)?;
        self.lasting(id, states, within)
    }

    /// The label that a vertex with these states has in all of a period.
    pub(super) fn lasting(
        &self,
        id: &VertexId,
        states: Vec<(Period, VertexLabelId)>,
        within: Period,
    ) -> Result<VertexLabelId, GraphError> {
        let mut states = states.into_iter();
        let first = states.next().filter(|first| first.0.from <= within.from);
        let (
            Period {
                to: mut reached, ..
            },
            label,
        ) = first.ok_or_else(|| self.missing_end(id))?;
        let known = self.schema.vertex_label(label);
        if known.is_some_and(|known| known.ttl > 0) {
            return Ok(label);
        }
        for (period, next) in states {
            if period.from > reached {
                break;
            }
            if next != label {
                return Err(self.other_label(id, (label, next), period.from));
            }
            reached = period.to;
        }
        match reached < within.to {
            true => Err(self.ends_early(id, reached)),
            false => Ok(label),
        }
    }

    /// Returns the labels of a vertex within a period, after the earlier mutations of this request.
    fn labels_within(
        &self,
        id: &VertexId,
        partition: &[u8],
        within: Period,
    ) -> Result<Vec<(Period, VertexLabelId)>, GraphError> {
        let clip = |from: Instant, to: Instant| {
            Period::new(from.max(within.from), to.min(within.to)).into_iter()
        };
        let Some(own) = self.own_end(partition) else {
            return self.stored_labels_within(id, partition, within);
        };
        let written = self.span(own.period);
        let mut found = Vec::new();
        for before in clip(within.from, written.from) {
            found.extend(self.stored_labels_within(id, partition, before)?);
        }
        for (period, content) in own.states() {
            let (period, label) = (self.span(period), row::vertex_label(content)?);
            found.extend(clip(period.from, period.to).map(|period| (period, label)));
        }
        for after in clip(written.to, within.to) {
            found.extend(self.stored_labels_within(id, partition, after)?);
        }
        Ok(found)
    }

    /// As [`stored_labels`], with one read if the current row decides, and without the states that
    /// the writer may not know.
    pub(super) fn stored_labels_within(
        &self,
        id: &VertexId,
        partition: &[u8],
        within: Period,
    ) -> Result<Vec<(Period, VertexLabelId)>, GraphError> {
        let row = match self.end_rows.get(partition) {
            Some(row) => row.as_deref().map(Cow::Borrowed),
            None => {
                let row = self.reader.get(VERTEX, partition, key::VERTEX_CLUSTERING)?;
                row.map(Cow::Owned)
            }
        };
        if let Some(row) = &row {
            let (header, content) = row::Header::decode(row)?;
            if self.decides(&header, within) {
                let label = row::vertex_label(content)?;
                let is_known = self.may_join_with(partition, (content, label), within.from)?;
                return Ok(is_known.then_some((within, label)).into_iter().collect());
            }
        }
        let id = ElementId::Vertex(id.clone());
        if self.access().is_none() {
            return stored_labels(self.reader, &id, row.as_deref(), within);
        }
        let mut known = Vec::new();
        for part in stored_parts(self.reader, &id, within)? {
            let Some(content) = &part.content else {
                continue;
            };
            let (period, label) = (self.span(part.period), row::vertex_label(content)?);
            if self.may_join_with(partition, (content, label), period.from)? {
                known.push((period, label));
            }
        }
        Ok(known)
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

    /// The error for an edge that would outlive its end.
    fn ends_early(&self, id: &VertexId, at: Instant) -> GraphError {
        GraphError::invalid(format!(
            "The vertex '{id}' does not exist in the whole period of the edge: it ends at {}",
            instant_text(at)
        ))
    }

    /// The error for an end that gets another label in the period of the edge.
    fn other_label(
        &self,
        id: &VertexId,
        (label, next): (VertexLabelId, VertexLabelId),
        at: Instant,
    ) -> GraphError {
        let name = |label| self.schema.vertex_label_name(label);
        GraphError::invalid(format!(
            "The vertex '{id}' does not keep its label '{}' in the whole period of the edge: it has '{}' from {}",
            name(label),
            name(next),
            instant_text(at)
        ))
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
        let named = self.schema.vertex_label_name(named);
        self.unmatched_name(end, named, stored)
    }

    /// As [`WorkingSet::unmatched_end`], of a label that the schema may lack.
    pub(super) fn unmatched_name(
        &self,
        end: &VertexId,
        named: &str,
        stored: VertexLabelId,
    ) -> GraphError {
        let stored = self.schema.vertex_label_name(stored);
        GraphError::invalid(format!(
            "The label of vertex '{end}' is unmatched, users expect label '{named}', actual label stored is '{stored}'"
        ))
    }
}
