//! The rules of an element's label for a write: whether the label may be used, and when the written
//! state ends.

use varve_encoding::row::{self, RowKind};
use varve_encoding::value::ValueRef;
use varve_model::schema::{IndexBase, Retention};
use varve_model::{ElementId, Instant, PropertyKeyId};

use super::WritePeriod;
use super::emit::EventPeriod;
use super::labels::Label;
use crate::commit::{End, EndOf};
use crate::error::GraphError;
use crate::rows::Current;
use crate::schema::SchemaKind;

/// The inputs of the rules about periods.
#[derive(Clone, Copy)]
pub(super) struct LabelRules {
    /// The commit's instant of now.
    pub(super) now: Instant,
    pub(super) period: WritePeriod,
}

/// A time to live in milliseconds, and the instant from which it counts; `None` if no property has
/// that instant.
#[derive(Clone, Copy)]
pub(super) struct Ttl {
    millis: i64,
    start: Option<Instant>,
}

impl Ttl {
    /// The instant at which the time is over for a state that begins at `from`.
    pub(super) fn end(self, from: Instant) -> Instant {
        let start = self.start.unwrap_or(from);
        start.plus_micros(self.millis.saturating_mul(1_000))
    }
}

impl Label<'_> {
    /// Refuses a new element whose label is removed or being removed: the request may have been
    /// read with an older schema. An element is not new if the current row has a state and, for a
    /// vertex, the same label.
    pub(super) fn check(&self, current: Option<&Current>) -> Result<(), GraphError> {
        if self.is_usable {
            return Ok(());
        }
        let put = current.filter(|current| current.header.kind == RowKind::Put);
        let (is_there, kind) = match self.base {
            IndexBase::Vertex(own) => {
                let had = put.map(|put| row::vertex_label(&put.content)).transpose()?;
                (had == Some(own), SchemaKind::VertexLabel)
            }
            _ => (put.is_some(), SchemaKind::EdgeLabel),
        };
        match is_there {
            true => Ok(()),
            false => Err(kind.undefined(self.name)),
        }
    }

    /// Returns the time to live of an element with this content; `None` if its label has none.
    pub(super) fn ttl_of(&self, id: &ElementId, content: &[u8]) -> Result<Option<Ttl>, GraphError> {
        if self.ttl <= 0 {
            return Ok(None);
        }
        let start = match self.ttl_start {
            Some(key) => date(id, content, key)?,
            None => None,
        };
        let millis = self.ttl;
        Ok(Some(Ttl { millis, start }))
    }
}

impl LabelRules {
    /// Returns the period of a put, shortened by the label's time to live; `None` if it would be
    /// empty. If a put without `valid_from` ends at or before now, it starts with its time to live
    /// instead of with its commit: it is stored as part of the past. A label that keeps no history
    /// has no past: for it the period of such a put is empty.
    ///
    /// # Errors
    /// For a label that keeps no history, if the request has `valid_from` or `valid_to`.
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
            let start = from.unwrap_or(self.now);
            period.to = period.to.min(ttl.end(start));
            if from.is_none() && period.to <= self.now && retention != Retention::None {
                period.from = Some(ttl.start.unwrap_or(start));
            }
        }
        Ok((period.from.unwrap_or(self.now) < period.to).then_some(period))
    }

    /// Returns the end of a period that starts with the commit. If the commit is made after this
    /// end, there is nothing to store. Returns `None` if the period has another start or no end.
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

/// Reads the instant of a DATE property; `None` if the element has no such value.
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
