//! The rules of an element's label for a write: whether the label may be used, and when the written
//! state ends.

use varve_encoding::row::{self, RowKind};
use varve_encoding::value::ValueRef;
use varve_model::schema::Retention;
use varve_model::{ElementId, Instant, PropertyKeyId};

use super::WritePeriod;
use super::emit::{Current, EventPeriod};
use crate::commit::{End, EndOf};
use crate::error::GraphError;
use crate::schema::{Schema, SchemaElement, SchemaKind};

/// The inputs of the rules.
#[derive(Clone, Copy)]
pub(super) struct LabelRules<'a> {
    pub(super) schema: &'a Schema,
    /// The instant of now for the whole commit.
    pub(super) now: Instant,
    pub(super) period: WritePeriod,
}

/// A time to live in milliseconds, and the instant from which it counts if a property has it.
#[derive(Clone, Copy)]
pub(super) struct Ttl {
    millis: i64,
    start: Option<Instant>,
}

impl LabelRules<'_> {
    /// Refuses a new element whose label is removed or being removed: the request may have been
    /// read with an older schema.
    pub(super) fn check_label(
        &self,
        id: &ElementId,
        content: &[u8],
        current: Option<&Current>,
    ) -> Result<(), GraphError> {
        let put = || current.filter(|current| current.header.kind == RowKind::Put);
        match id {
            ElementId::Vertex(_) => {
                let own = row::vertex_label(content)?;
                let Some(label) = self.schema.vertex_label(own) else {
                    return Ok(());
                };
                if label.is_usable() {
                    return Ok(());
                }
                let had = put().map(|put| row::vertex_label(&put.content));
                if had.transpose()? == Some(own) {
                    return Ok(());
                }
                Err(SchemaKind::VertexLabel.undefined(&label.name))
            }
            ElementId::Edge(edge) => match self.schema.edge_label(edge.label) {
                Some(label) if !label.is_usable() && put().is_none() => {
                    Err(SchemaKind::EdgeLabel.undefined(&label.name))
                }
                _ => Ok(()),
            },
        }
    }

    /// Returns the retention of the label and its time to live.
    pub(super) fn label_rules(
        &self,
        id: &ElementId,
        content: &[u8],
    ) -> Result<(Retention, Option<Ttl>), GraphError> {
        let label = match id {
            ElementId::Vertex(_) => {
                let label = self.schema.vertex_label(row::vertex_label(content)?);
                label.map(|label| (label.retention, label.ttl, label.ttl_start_time))
            }
            ElementId::Edge(edge) => {
                let label = self.schema.edge_label(edge.label);
                label.map(|label| (label.retention, label.ttl, label.ttl_start_time))
            }
        };
        let Some((retention, ttl, start)) = label else {
            return Ok((Retention::All, None));
        };
        if ttl <= 0 {
            return Ok((retention, None));
        }
        let start = match start {
            Some(key) => date(id, content, key)?,
            None => None,
        };
        Ok((retention, Some(Ttl { millis: ttl, start })))
    }

    /// Returns the period of a put, shortened by the label's time to live; `None` if it would end
    /// before it starts. If the time to live ended before now, a put that starts with its commit is
    /// stored as part of the past.
    pub(super) fn period_of(
        &self,
        id: &ElementId,
        retention: Retention,
        ttl: Option<Ttl>,
    ) -> Result<Option<EventPeriod>, GraphError> {
        let WritePeriod { from, to } = self.period;
        if retention == Retention::None && (from.is_some() || to.is_some()) {
            return Err(GraphError::invalid(format!(
                "The label of '{id}' keeps no history: valid_from and valid_to are not supported for it"
            )));
        }
        let mut period = EventPeriod {
            from,
            to: to.unwrap_or(Instant::FOREVER),
        };
        if let Some(ttl) = ttl {
            let start = ttl.start.or(from).unwrap_or(self.now);
            let expires = start.plus_micros(ttl.millis.saturating_mul(1_000));
            period.to = period.to.min(expires);
            if from.is_none() && period.to <= self.now {
                period.from = Some(start);
            }
        }
        Ok((period.from.unwrap_or(self.now) < period.to).then_some(period))
    }
}

impl LabelRules<'_> {
    /// Returns the end of a period that starts with the commit. Once it has passed, nothing remains
    /// to be stored.
    pub(super) fn end_of(&self, period: &EventPeriod) -> Option<End> {
        let at = period.to;
        if period.from.is_some() || at == Instant::FOREVER {
            return None;
        }
        let of = if self.period.to == Some(at) {
            EndOf::ValidTo
        } else {
            EndOf::TimeToLive
        };
        Some(End { at, of })
    }
}

/// Reads the instant of a DATE property.
fn date(id: &ElementId, content: &[u8], key: PropertyKeyId) -> Result<Option<Instant>, GraphError> {
    let mut properties = match id {
        ElementId::Vertex(_) => row::vertex_parts(content)?.1,
        ElementId::Edge(_) => row::edge_parts(content)?.2,
    };
    while let Some((stored, value)) = properties.next_property()? {
        if let (true, ValueRef::Date(millis)) = (stored == key, value) {
            return Ok(Some(Instant::from_millis(millis)));
        }
    }
    Ok(None)
}
