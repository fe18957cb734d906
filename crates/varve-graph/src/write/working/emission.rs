//! Turns the outcomes of a prepared request into events in the batch.

use std::borrow::Cow;

use varve_kv::Reader;
use varve_model::schema::{IndexBase, Retention};
use varve_model::{ElementId, Instant, Period};

use super::relabel::decides;
use super::sequenced::{Part, is_stored};
use super::{Outcome, Working};
use crate::commit::{End, EndOf, PairHash, VertexMark};
use crate::error::GraphError;
use crate::rows::{Current, sides};
use crate::write::WritePeriod;
use crate::write::emit::{Change, EmitContext, Emitter, EventPeriod};
use crate::write::keys::RowKeys;
use crate::write::label_rules::LabelRules;
use crate::write::labels::Labels;

/// A batch that is being built.
pub(super) struct Emission<'a, 's> {
    pub(super) emitter: Emitter<'a>,
    reader: &'a dyn Reader,
    labels: Labels<'s>,
    now: Instant,
    /// Whether a state that is already stored for its whole period is not written again.
    skip_unchanged: bool,
    /// The earliest end of all periods that start with the commit.
    pub(super) end: Option<End>,
    /// Whether no vertex among the elements had a row.
    pub(super) all_new: bool,
    pub(super) new_vertices: Vec<VertexMark>,
}

impl<'a, 's> Emission<'a, 's> {
    pub(super) fn new(context: EmitContext<'a>, labels: Labels<'s>, skip_unchanged: bool) -> Self {
        Self {
            reader: context.reader,
            labels,
            now: context.now,
            emitter: Emitter::new(context),
            skip_unchanged,
            end: None,
            all_new: true,
            new_vertices: Vec::new(),
        }
    }

    /// Reserves `bytes` in the batch.
    pub(super) fn reserve(&mut self, bytes: usize) {
        self.emitter.batch.reserve(bytes);
    }

    /// Writes the outcome of an element with these row keys.
    pub(super) fn element(
        &mut self,
        working: Working<'_>,
        row: RowKeys<'_>,
        new_pair: Option<PairHash>,
    ) -> Result<(), GraphError> {
        let Working {
            id,
            current,
            outcome,
            period,
            ..
        } = working;
        let rules = LabelRules {
            now: self.now,
            period,
        };
        match outcome {
            Outcome::Untouched => Ok(()),
            Outcome::Put(content) => self.put(&id, row, (current, content), new_pair, rules),
            Outcome::Parts(parts) => self.parts(&id, current, parts, rules),
            Outcome::Delete => self.delete(&id, current, rules),
        }
    }

    fn put(
        &mut self,
        id: &ElementId,
        row: RowKeys<'_>,
        (current, content): (Option<Current>, Cow<'_, [u8]>),
        new_pair: Option<PairHash>,
        rules: LabelRules,
    ) -> Result<(), GraphError> {
        let label = self.labels.of(id, &content)?;
        label.check(current.as_ref())?;
        let ttl = label.ttl_of(id, &content)?;
        let plain = rules.period == WritePeriod::default();
        if plain && current.is_none() && ttl.is_none() {
            self.emitter
                .emit_first((id, &label), row, &content, new_pair)?;
            if let (RowKeys::Vertex { partition }, IndexBase::Vertex(label)) = (row, label.base) {
                self.new_vertices.extend(VertexMark::new(partition, label));
            }
            return Ok(());
        }
        let Some(period) = rules.period_of(id, label.retention, ttl)? else {
            // Without history, a put replaces what is stored, also by nothing.
            return match label.retention {
                Retention::None => self.delete(id, current, rules),
                _ => Ok(()),
            };
        };
        if self.is_unchanged((id, current.as_ref()), &period, &content)? {
            return Ok(());
        }
        self.touch(id);
        self.end = End::first(self.end, rules.end_of(&period));
        self.emitter
            .emit(id, current, &Change::Put(&content), period)
    }

    /// Writes the states that a request gives an element in parts of a period.
    fn parts(
        &mut self,
        id: &ElementId,
        current: Option<Current>,
        parts: Vec<Part>,
        rules: LabelRules,
    ) -> Result<(), GraphError> {
        let mut events: Vec<(EventPeriod, Option<Vec<u8>>)> = Vec::new();
        for part in parts {
            let is_end = part.is_end();
            let Some(content) = part.content else {
                let (from, to) = (part.period.from, part.period.to);
                let to = to.unwrap_or(Instant::FOREVER);
                events.extend(is_end.then_some((EventPeriod { from, to }, None)));
                continue;
            };
            let rules = LabelRules {
                period: part.period,
                ..rules
            };
            let label = self.labels.of(id, &content)?;
            label.check(current.as_ref())?;
            let ttl = label.ttl_of(id, &content)?.filter(|_| part.is_new);
            // A time to live that ended before now would move the start of the state before the
            // period.
            let period = rules.period_of(id, label.retention, ttl)?;
            let Some(period) = period.filter(|period| period.from == part.period.from) else {
                continue;
            };
            if !self.is_unchanged((id, current.as_ref()), &period, &content)? {
                events.push((period, Some(content)));
            }
        }
        for (period, _) in &events {
            let end = rules.end_of(period).map(|end| match end.of {
                EndOf::ValidTo => end,
                _ => End {
                    of: EndOf::State,
                    ..end
                },
            });
            self.end = End::first(self.end, end);
        }
        if events.is_empty() {
            return Ok(());
        }
        self.touch(id);
        self.emitter.emit_several(id, current, &events)
    }

    fn delete(
        &mut self,
        id: &ElementId,
        current: Option<Current>,
        rules: LabelRules,
    ) -> Result<(), GraphError> {
        let had_row = current.is_some();
        let current = self.emitter.settled(id, current)?;
        // A deletion from now on needs a state now or later, which the settled row shows. One from
        // an earlier instant needs a state at any time: a row until now, or events.
        let reaches = match rules.period.from {
            None => current.is_some(),
            Some(_) => had_row || self.emitter.has_events(&sides(id).1[0])?,
        };
        if had_row || reaches {
            // Settling may have removed the row, also where no deletion is written.
            self.touch(id);
        }
        if !reaches {
            return Ok(());
        }
        let to = rules.period.to.unwrap_or(Instant::FOREVER);
        let period = EventPeriod {
            from: rules.period.from,
            to,
        };
        self.end = End::first(self.end, rules.end_of(&period));
        self.emitter.emit(id, current, &Change::Delete, period)
    }

    /// Records that the rows of an element change, and that it may have had rows before.
    fn touch(&mut self, id: &ElementId) {
        self.all_new &= matches!(id, ElementId::Edge(_));
    }

    /// Whether the element already has this content throughout the period and must not be written.
    fn is_unchanged(
        &self,
        (id, current): (&ElementId, Option<&Current>),
        period: &EventPeriod,
        content: &[u8],
    ) -> Result<bool, GraphError> {
        if !self.skip_unchanged {
            return Ok(false);
        }
        let within = Period {
            from: period.from.unwrap_or(self.now),
            to: period.to,
        };
        match current.filter(|row| decides(&row.header, within, self.now)) {
            Some(row) => Ok(row.content == content),
            None => is_stored(self.reader, id, within, content),
        }
    }
}
