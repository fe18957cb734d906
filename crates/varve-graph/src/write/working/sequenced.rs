//! Sequenced updates: a change with a period is applied to every state of the element in the
//! period.
//!
//! SQL:2011 calls this `FOR PORTION OF`. Each state keeps what the change does not name, so a
//! correction of the past brings no old value into the present. Decision:
//! `docs/decisions/0013-sequenced-updates.md`.

use std::borrow::Cow;
use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use varve_encoding::row;
use varve_kv::{Flow, Reader, ReaderExt};
use varve_model::{CommitVersion, ElementId, Instant, Period, VertexLabelId};

use super::{Outcome, WorkingSet};
use crate::error::{ErrorKind, GraphError};
use crate::limits::STATES_PER_UPDATE_MAX;
use crate::read::{Events, Span};
use crate::rows::{content_of, decode_element, sides};
use crate::write::{EndCheck, Gaps, Modifier, WritePeriod};

/// A part of a request's period, and the content that an element has in it.
#[derive(Debug, Clone)]
pub(in crate::write) struct Part {
    pub(in crate::write) period: WritePeriod,
    /// `None` = it does not exist.
    pub(in crate::write) content: Option<Vec<u8>>,
    /// Whether this request creates the state, so that its label's time to live starts here. A
    /// changed state keeps its own end. Without a content: whether the request deletes what is
    /// stored.
    pub(in crate::write) is_new: bool,
}

impl Part {
    /// The state of the element in this part; `None` in a gap.
    pub(super) fn state(&self) -> Option<(WritePeriod, &[u8])> {
        Some((self.period, self.content.as_deref()?))
    }

    /// Whether the element is deleted in this part.
    pub(super) fn is_end(&self) -> bool {
        self.content.is_none() && self.is_new
    }
}

impl WorkingSet<'_> {
    /// The outcome of a put after whose period the element does not exist.
    pub(super) fn put_and_end<'a>(
        &self,
        id: &ElementId,
        content: Cow<'a, [u8]>,
    ) -> Result<Outcome<'a>, GraphError> {
        let Some(to) = self.period.to else {
            return Ok(Outcome::Put(content));
        };
        let mut has_later = false;
        visit_states_from(self.reader, id, to, &mut |_| {
            has_later = true;
            Flow::Break(())
        })?;
        if !has_later {
            return Ok(Outcome::Put(content));
        }
        let put = Part {
            period: self.period,
            content: Some(content.into_owned()),
            is_new: true,
        };
        let end = Part {
            period: WritePeriod {
                from: Some(to),
                to: None,
            },
            content: None,
            is_new: true,
        };
        Ok(Outcome::Parts(vec![put, end]))
    }

    /// Applies a change to each state that the element at `at` has in the period of the mutation.
    pub(super) fn modify_parts(
        &mut self,
        at: usize,
        keys: u32,
        ends: EndCheck,
        (gaps, modify): (Gaps, &Modifier),
    ) -> Result<(), GraphError> {
        let mut changed: Vec<Part> = Vec::new();
        for part in self.parts(at)? {
            let part = match (&part.content, gaps) {
                (None, Gaps::Keep) => part,
                _ => self.modify_part(at, keys, ends, part, modify)?,
            };
            match changed.last_mut() {
                Some(last) if last.content == part.content && last.is_new == part.is_new => {
                    last.period.to = part.period.to;
                }
                _ => changed.push(part),
            }
        }
        let states = changed.iter().filter(|part| part.content.is_some());
        match states.count() {
            // The modifier returns the error for a missing element.
            0 => {
                modify(None)?;
            }
            count => check_count(&self.elements[at].id, count)?,
        }
        self.elements[at].outcome = Outcome::Parts(changed);
        Ok(())
    }

    /// Applies a change to the state of one part, or to its absence.
    fn modify_part(
        &self,
        at: usize,
        keys: u32,
        ends: EndCheck,
        part: Part,
        modify: &Modifier,
    ) -> Result<Part, GraphError> {
        let id = &*self.elements[at].id;
        let old = part.content.as_deref();
        let state = old.map(|content| decode_element(id, content)).transpose()?;
        let new = Cow::Owned(content_of(&modify(state)?));
        let within = self.span(part.period);
        let content = self.with_ends(id, keys, new, (ends, within))?.into_owned();
        let keeps_label = match (old, id) {
            (None, _) => false,
            // Its label is part of its id.
            (Some(_), ElementId::Edge(_)) => true,
            (Some(old), ElementId::Vertex(_)) => {
                row::vertex_label(old)? == row::vertex_label(&content)?
            }
        };
        Ok(Part {
            period: part.period,
            content: Some(content),
            is_new: part.is_new || !keeps_label,
        })
    }

    /// Returns the stored states and gaps of an element within a period. A state that the writer
    /// may not read is a gap.
    pub(super) fn shown_parts(
        &self,
        id: &ElementId,
        within: Period,
    ) -> Result<Vec<Part>, GraphError> {
        let mut parts = stored_parts(self.reader, id, within)?;
        for part in &mut parts {
            let at = part.period.from.unwrap_or(within.from);
            if let Some(content) = &part.content
                && self.is_hidden(id, content, at)?
            {
                part.content = None;
            }
        }
        Ok(parts)
    }

    /// Returns the states and gaps of the element at `at` within its period, after the earlier
    /// mutations of this request.
    fn parts(&mut self, at: usize) -> Result<Vec<Part>, GraphError> {
        let period = self.period;
        let whole = |content: Option<Vec<u8>>| {
            let is_new = content.is_some();
            vec![Part {
                period,
                content,
                is_new,
            }]
        };
        Ok(
            match std::mem::replace(&mut self.elements[at].outcome, Outcome::Untouched) {
                Outcome::Untouched => {
                    let id = &self.elements[at].id;
                    let stored = self.shown_parts(id, self.span(period))?;
                    // A state that starts with the commit does not know its instant yet.
                    let bound = |part: Part| Part {
                        period: WritePeriod {
                            from: part
                                .period
                                .from
                                .filter(|from| period.from.is_some() || *from > self.now),
                            to: part.period.to.filter(|to| *to < Instant::FOREVER),
                        },
                        ..part
                    };
                    stored.into_iter().map(bound).collect()
                }
                Outcome::Put(content) => whole(Some(content.into_owned())),
                Outcome::Delete => whole(None),
                Outcome::Parts(mut parts) => {
                    parts.retain(|part| !part.is_end());
                    parts
                }
            },
        )
    }
}

/// Returns the stored states and gaps of an element within a period; adjacent ones differ.
///
/// # Errors
/// [`ErrorKind::LimitExceeded`] when there are too many states; or when the store fails or is
/// damaged.
pub(super) fn stored_parts(
    reader: &dyn Reader,
    id: &ElementId,
    within: Period,
) -> Result<Vec<Part>, GraphError> {
    with_events(reader, id, |events| {
        let spans = events.spans(within, &mut || Flow::Continue(()))?;
        let contents = Contents::of(events, id, versions_of(&spans))?;
        let mut parts = Parts(Vec::new());
        let mut reached = within.from;
        for span in spans {
            let Period { from, to } = span.period;
            parts.add(reached, from, None);
            parts.add(from, to, contents.get(span.version));
            // Checked before more is copied. Each part is a state, or a gap after one.
            check_count(id, parts.0.len() / 2)?;
            reached = to;
        }
        parts.add(reached, within.to, None);
        Ok(parts.0)
    })
}

/// Returns the labels of a vertex within a period, however many states it has; adjacent states with
/// the same label are one. `row` is its current row.
///
/// # Errors
/// When the store fails or is damaged.
pub(super) fn stored_labels(
    reader: &dyn Reader,
    id: &ElementId,
    row: Option<&[u8]>,
    within: Period,
) -> Result<Vec<(Period, VertexLabelId)>, GraphError> {
    with_events_of(reader, id, row, |events| {
        let spans = events.spans(within, &mut || Flow::Continue(()))?;
        let mut labels = FxHashMap::default();
        let mut read = Ok(());
        events.visit_contents(
            versions_of(&spans),
            &mut |version, content| match row::vertex_label(content) {
                Ok(label) => {
                    labels.insert(version, label);
                    Flow::Continue(())
                }
                Err(error) => {
                    read = Err(error);
                    Flow::Break(())
                }
            },
        )?;
        read?;
        let mut found: Vec<(Period, VertexLabelId)> = Vec::new();
        for span in spans {
            let Some(label) = labels.get(&span.version).copied() else {
                continue;
            };
            match found.last_mut() {
                Some((period, last)) if *last == label && period.to == span.period.from => {
                    period.to = span.period.to;
                }
                _ => found.push((span.period, label)),
            }
        }
        Ok(found)
    })
}

/// Visits the content of each state that an element has from an instant on.
///
/// # Errors
/// When the store fails or is damaged.
pub(crate) fn visit_states_from(
    reader: &dyn Reader,
    id: &ElementId,
    from: Instant,
    visit: &mut dyn FnMut(&[u8]) -> Flow,
) -> Result<(), GraphError> {
    let to = Instant::FOREVER;
    with_events(reader, id, |events| {
        let spans = events.spans(Period { from, to }, &mut || Flow::Continue(()))?;
        events.visit_contents(versions_of(&spans), &mut |_, content| visit(content))
    })
}

/// Returns the parts of a period in which an element does not exist.
///
/// # Errors
/// When the store fails or is damaged.
pub(super) fn absences(
    reader: &dyn Reader,
    id: &ElementId,
    within: Period,
) -> Result<Vec<Period>, GraphError> {
    with_events(reader, id, |events| {
        let mut spans = events.spans(within, &mut || Flow::Continue(()))?;
        spans.retain(|span| span.is_state);
        let starts = spans.iter().map(|span| span.period.from);
        let ends = spans.iter().map(|span| span.period.to);
        let gaps = std::iter::once(within.from).chain(ends);
        let gaps = gaps.zip(starts.chain([within.to]));
        Ok(gaps
            .filter_map(|(from, to)| Period::new(from, to))
            .collect())
    })
}

/// Whether the stored states of an element have this content throughout a period.
///
/// # Errors
/// When the store fails or is damaged.
pub(super) fn is_stored(
    reader: &dyn Reader,
    id: &ElementId,
    within: Period,
    content: &[u8],
) -> Result<bool, GraphError> {
    with_events(reader, id, |events| {
        let spans = events.spans(within, &mut || Flow::Continue(()))?;
        let mut reached = within.from;
        for span in &spans {
            if !span.is_state || span.period.from != reached {
                return Ok(false);
            }
            reached = span.period.to;
        }
        let mut same = reached == within.to;
        events.visit_contents(versions_of(&spans), &mut |_, stored| {
            same &= stored == content;
            match same {
                true => Flow::Continue(()),
                false => Flow::Break(()),
            }
        })?;
        Ok(same)
    })
}

fn versions_of(spans: &[Span]) -> BTreeSet<CommitVersion> {
    let states = spans.iter().filter(|span| span.is_state);
    states.map(|span| span.version).collect()
}

/// Calls `work` with the committed events of an element.
fn with_events<T>(
    reader: &dyn Reader,
    id: &ElementId,
    work: impl FnOnce(&Events<'_>) -> Result<T, GraphError>,
) -> Result<T, GraphError> {
    let row = current_row(reader, id)?;
    with_events_of(reader, id, row.as_deref(), work)
}

/// As [`with_events`], for an element whose current row is known.
fn with_events_of<T>(
    reader: &dyn Reader,
    id: &ElementId,
    row: Option<&[u8]>,
    work: impl FnOnce(&Events<'_>) -> Result<T, GraphError>,
) -> Result<T, GraphError> {
    let (_, sides) = sides(id);
    work(&Events {
        reader,
        side: &sides[0],
        row,
        newest: CommitVersion::MAX,
    })
}

/// Reads the current row of an element.
pub(super) fn current_row(
    reader: &dyn Reader,
    id: &ElementId,
) -> Result<Option<Vec<u8>>, GraphError> {
    let (table, sides) = sides(id);
    let side = &sides[0];
    Ok(reader.get(table, &side.partition, &side.clustering)?)
}

/// Parts that are being collected, in ascending order.
struct Parts(Vec<Part>);

impl Parts {
    fn add(&mut self, from: Instant, to: Instant, content: Option<&[u8]>) {
        match self.0.last_mut() {
            _ if from >= to => {}
            Some(last) if last.content.as_deref() == content => last.period.to = Some(to),
            _ => self.0.push(Part {
                period: WritePeriod {
                    from: Some(from),
                    to: Some(to),
                },
                content: content.map(<[u8]>::to_vec),
                is_new: false,
            }),
        }
    }
}

/// The contents of an element's events; a content that many events have is stored once.
#[derive(Default)]
struct Contents {
    numbers: FxHashMap<Vec<u8>, usize>,
    by_version: FxHashMap<CommitVersion, usize>,
    contents: Vec<Vec<u8>>,
}

impl Contents {
    fn of(
        events: &Events<'_>,
        id: &ElementId,
        versions: BTreeSet<CommitVersion>,
    ) -> Result<Self, GraphError> {
        let mut found = Self::default();
        let mut few = Ok(());
        events.visit_contents(versions, &mut |version, content| {
            found.add(version, content);
            few = check_count(id, found.contents.len());
            match few {
                Ok(()) => Flow::Continue(()),
                Err(_) => Flow::Break(()),
            }
        })?;
        few.map(|()| found)
    }

    fn add(&mut self, version: CommitVersion, content: &[u8]) {
        let number = match self.numbers.get(content) {
            Some(number) => *number,
            None => {
                let number = self.contents.len();
                self.contents.push(content.to_vec());
                self.numbers.insert(content.to_vec(), number);
                number
            }
        };
        self.by_version.insert(version, number);
    }

    /// Returns the content of a put; `None` for a delete.
    fn get(&self, version: CommitVersion) -> Option<&[u8]> {
        let number = self.by_version.get(&version)?;
        Some(&self.contents[*number])
    }
}

/// Returns the content of the first state among `parts`.
pub(super) fn first_state(parts: &[Part]) -> Option<&[u8]> {
    parts.iter().find_map(|part| Some(part.state()?.1))
}

/// Refuses more states than one update may change.
fn check_count(id: &ElementId, count: usize) -> Result<(), GraphError> {
    if count <= STATES_PER_UPDATE_MAX {
        return Ok(());
    }
    Err(GraphError::new(
        ErrorKind::LimitExceeded,
        format!(
            "'{id}' has more than {STATES_PER_UPDATE_MAX} different states between the valid_from and the valid_to, the most that one update may change: update shorter periods"
        ),
    ))
}
