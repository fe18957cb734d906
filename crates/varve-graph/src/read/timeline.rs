//! An element's states along valid time, without overlap, at one transaction time.

use std::collections::{BTreeMap, BTreeSet};

use varve_kv::{Flow, Reader, ReaderExt};
use varve_model::{CommitVersion, Element, ElementId, Instant, Period, TemporalScope};

use super::View;
use super::events::visit_events_of;
use crate::error::GraphError;
use crate::rows::{Side, decode_element, sides};

/// A state of an element, with a period in which its event decides.
#[derive(Debug, Clone, PartialEq)]
pub struct Spell {
    /// The period in which the state holds.
    pub period: Period,
    /// The commit version of the event that decides.
    pub version: CommitVersion,
    /// The state.
    pub element: Element,
}

/// Some of an element's states along valid time.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeline {
    /// The states, in ascending order. In gaps the element does not exist.
    pub spells: Vec<Spell>,
    /// Where the next page starts, if there is one.
    pub next: Option<Instant>,
}

impl View {
    /// Returns the first `limit` states of `id` within `within` at this view's transaction time.
    /// `looked` is called for each event. After a break the result is incomplete and must not be
    /// used. The cost is one step for each event.
    ///
    /// # Errors
    /// When the store fails or is damaged.
    pub fn timeline(
        &self,
        id: &ElementId,
        within: Period,
        limit: usize,
        looked: &mut dyn FnMut() -> Flow,
    ) -> Result<Timeline, GraphError> {
        if self.guard.is_none() {
            return self.stored_timeline(id, within, limit, looked);
        }
        let mut shown = Timeline {
            spells: Vec::new(),
            next: Some(within.from),
        };
        while let Some(from) = shown.next.take() {
            let rest = Period { from, ..within };
            let part = self.stored_timeline(id, rest, limit.max(1), looked)?;
            for spell in part.spells {
                let begins = TemporalScope {
                    valid: Some(spell.period.from),
                    transaction: None,
                };
                let decides = spell.period.covers(self.valid());
                if !self.shows_state_at(&spell.element, begins, decides)? {
                    continue;
                }
                if shown.spells.len() == limit {
                    shown.next = Some(spell.period.from);
                    return Ok(shown);
                }
                shown.spells.push(spell);
            }
            shown.next = part.next;
        }
        Ok(shown)
    }

    fn stored_timeline(
        &self,
        id: &ElementId,
        within: Period,
        limit: usize,
        looked: &mut dyn FnMut() -> Flow,
    ) -> Result<Timeline, GraphError> {
        let (table, sides) = sides(id);
        let side = &sides[0];
        let row = self
            .reader()
            .get(table, &side.partition, &side.clustering)?;
        let of = Events {
            reader: self.reader(),
            side,
            row: row.as_deref(),
            newest: self.version(),
        };
        let mut all = of.spans(within, looked)?;
        all.retain(|span| span.is_state);
        let next = all.get(limit).map(|span| span.period.from);
        all.truncate(limit);
        let mut elements = BTreeMap::new();
        let mut decoded = Ok(());
        let versions = all.iter().map(|span| span.version).collect();
        of.visit_contents(
            versions,
            &mut |version, content| match decode_element(id, content) {
                Ok(element) => {
                    elements.insert(version, element);
                    looked()
                }
                Err(error) => {
                    decoded = Err(error);
                    Flow::Break(())
                }
            },
        )?;
        decoded?;
        // A content is missing only if `looked` broke.
        let spell = |span: &Span| {
            elements.get(&span.version).map(|element| Spell {
                period: span.period,
                version: span.version,
                element: element.clone(),
            })
        };
        let spells = all.iter().filter_map(spell).collect();
        Ok(Timeline { spells, next })
    }
}

/// A period in which one event decides.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    pub(crate) period: Period,
    pub(crate) version: CommitVersion,
    /// Whether the event is a put.
    pub(crate) is_state: bool,
}

/// The events of an element up to a transaction time.
pub(crate) struct Events<'r> {
    pub(crate) reader: &'r dyn Reader,
    pub(crate) side: &'r Side,
    pub(crate) row: Option<&'r [u8]>,
    pub(crate) newest: CommitVersion,
}

impl Events<'_> {
    /// Returns the periods within `within` and the event that decides in each, ascending. In a gap
    /// no event applies. `looked` is called for each event, and a break ends the work.
    pub(crate) fn spans(
        &self,
        within: Period,
        looked: &mut dyn FnMut() -> Flow,
    ) -> Result<Vec<Span>, GraphError> {
        let mut spans = Vec::new();
        let mut open = Open::of(within);
        visit_events_of(self.reader, self.side, self.row, &mut |event| {
            if event.version <= self.newest {
                open.take(event.period, |period| {
                    spans.push(Span {
                        period,
                        version: event.version,
                        is_state: event.content.is_some(),
                    });
                });
            }
            match open.0.is_empty() {
                true => Flow::Break(()),
                false => looked(),
            }
        })?;
        spans.sort_unstable_by_key(|span| span.period.from);
        Ok(spans)
    }

    /// Visits the contents of the puts with these versions, newest first, until `visit` breaks.
    pub(crate) fn visit_contents(
        &self,
        mut wanted: BTreeSet<CommitVersion>,
        visit: &mut dyn FnMut(CommitVersion, &[u8]) -> Flow,
    ) -> Result<(), GraphError> {
        if wanted.is_empty() {
            return Ok(());
        }
        visit_events_of(self.reader, self.side, self.row, &mut |event| {
            let flow = match event.content {
                Some(content) if wanted.remove(&event.version) => visit(event.version, content),
                _ => Flow::Continue(()),
            };
            match wanted.is_empty() {
                true => Flow::Break(()),
                false => flow,
            }
        })
    }
}

/// The parts of valid time for which no event was found yet, by their start.
struct Open(BTreeMap<Instant, Instant>);

impl Open {
    fn of(within: Period) -> Self {
        Self(BTreeMap::from([(within.from, within.to)]))
    }

    /// Removes the parts that `period` covers, and passes them to `taken`.
    fn take(&mut self, period: Period, mut taken: impl FnMut(Period)) {
        if period.from >= period.to {
            return;
        }
        let before = self.0.range(..period.from).next_back();
        let first = before.map_or(period.from, |(from, _)| *from);
        let touched: Vec<Period> = self
            .0
            .range(first..period.to)
            .map(|(from, to)| Period {
                from: *from,
                to: *to,
            })
            .filter(|open| open.overlaps(period))
            .collect();
        for open in touched {
            self.0.remove(&open.from);
            if open.from < period.from {
                self.0.insert(open.from, period.from);
            }
            if period.to < open.to {
                self.0.insert(period.to, open.to);
            }
            taken(Period {
                from: open.from.max(period.from),
                to: open.to.min(period.to),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_instant_is_taken_by_the_first_period_that_covers_it() {
        let mut random = 11_u64;
        let mut below = |bound: u64| {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % bound
        };
        for _ in 0..200 {
            let within = Period {
                from: Instant(3),
                to: Instant(37),
            };
            let mut open = Open::of(within);
            let mut owner = [None; 40];
            let mut expected = [None; 40];
            for number in 0..20 {
                let from = Instant(below(40) as i64);
                // Some are empty, as those of late events.
                let to = from.plus_micros(below(9) as i64);
                let period = Period { from, to };
                open.take(period, |part| {
                    for at in part.from.0..part.to.0 {
                        assert_eq!(owner[at as usize], None, "{part:?}");
                        owner[at as usize] = Some(number);
                    }
                });
                for (at, expected) in (0..).zip(&mut expected) {
                    let is_covered = period.covers(Instant(at)) && within.covers(Instant(at));
                    if is_covered && expected.is_none() {
                        *expected = Some(number);
                    }
                }
            }
            assert_eq!(owner, expected);
        }
    }
}
