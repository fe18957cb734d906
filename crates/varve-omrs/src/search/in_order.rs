//! A plan that visits the results in their order, and ends when the page is full.
//!
//! Indexes have only the start of long values, so a walk may visit several instances whose order it
//! does not know ([`Step::alike`]). These are buffered, and sorted by their whole values.

use super::access::Access;
use super::collected::{SortedCandidate, cut, sort};
use super::turn::{Asked, Next, Turn, go_on};
use super::{Meter, Order, Query};
use crate::error::OmrsError;
use crate::graph_store::{Row, Step};
use crate::instances::InstancePropertyValue;
use crate::matching::{Condition, SortValue, Target};
use crate::store::Candidate;

/// Walks that together visit the results in their order, one after the other.
pub(super) struct InOrder {
    segments: Vec<Segment>,
    segment: usize,
    after: Option<Vec<u8>>,
    filling: Filling,
}

/// A walk of which only some instances may be results.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Segment {
    pub(super) access: Access,
    pub(super) reverse: bool,
    pub(super) only: Only,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Only {
    All,
    /// Instances without a value of this property.
    Missing(String),
    /// Instances with a value of this property, which the walk visits one after the other.
    Present(String),
}

/// The end of a page in this plan.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mark {
    /// The position of the walk in the plan.
    segment: usize,
    /// The position after which to continue; `None` = the start of the walk.
    pub(super) after: Option<Vec<u8>>,
    /// The number of results from there that were on earlier pages.
    skip: usize,
}

/// The page so far.
struct Filling {
    order: Order,
    segment: usize,
    /// The number of results found, with those before the page.
    found: usize,
    page: Vec<Candidate>,
    /// The memory of the page and of `tied`, in bytes.
    held: usize,
    /// The position of the instance visited last.
    passed: Option<Vec<u8>>,
    /// The results visited last, whose order the walk does not know.
    tied: Option<Tied>,
    /// The end of the page, when it is full.
    last: Option<Mark>,
    is_too_much: bool,
}

struct Tied {
    alike: Vec<u8>,
    /// The position before the first of the tied results.
    before: Option<Vec<u8>>,
    members: Vec<SortedCandidate>,
}

impl Segment {
    pub(super) fn all(access: Access, reverse: bool) -> Self {
        Self {
            access,
            reverse,
            only: Only::All,
        }
    }
}

impl Only {
    fn left_out(&self, instance: &Row<'_>, reverse: bool) -> Option<Next> {
        let is_missing = |name: &str| {
            let value = Target::of(instance).property(name);
            SortValue::of_value(value.as_deref()).is_missing()
        };
        match self {
            Self::Missing(name) if !is_missing(name) => Some(Next::GoOn),
            // In descending order, instances without a value come last.
            Self::Present(name) if is_missing(name) => {
                Some(if reverse { Next::EndWalk } else { Next::GoOn })
            }
            _ => None,
        }
    }
}

impl InOrder {
    pub(super) fn new(order: Order, segments: Vec<Segment>) -> Self {
        Self {
            segments,
            segment: 0,
            after: None,
            filling: Filling {
                order,
                segment: 0,
                found: 0,
                page: Vec::new(),
                held: 0,
                passed: None,
                tied: None,
                last: None,
                is_too_much: false,
            },
        }
    }

    /// Continues after the first `offset` results, where an earlier page ended.
    pub(super) fn resume(&mut self, mark: &Mark, offset: usize) {
        self.segment = mark.segment;
        self.after.clone_from(&mark.after);
        self.filling.passed.clone_from(&mark.after);
        self.filling.found = offset.saturating_sub(mark.skip);
    }

    /// The bytes that the plan holds.
    pub(super) fn held(&self) -> usize {
        self.filling.held
    }

    pub(super) fn go_on(
        &mut self,
        asked: Asked<'_>,
        meter: &Meter,
        budget: &mut usize,
    ) -> Result<Turn, OmrsError> {
        let (_, types, query) = asked;
        while let Some(segment) = self.segments.get(self.segment) {
            let filling = &mut self.filling;
            filling.segment = self.segment;
            let mut is_full = false;
            let of_value = OfValue::new(&segment.access, query);
            let mut look = |step: Step<'_>| {
                if let Some(left_out) = segment.only.left_out(step.instance, segment.reverse) {
                    return left_out;
                }
                is_full = filling.settle_before(step.alike, query, meter);
                let mut all_fail = false;
                if !is_full {
                    let is_taken = query.takes(types, step.instance);
                    all_fail = !is_taken && step.alike.is_none() && of_value.fails(step.instance);
                    is_full = filling.look(step, is_taken, query, meter);
                }
                match (is_full, all_fail) {
                    (true, _) => Next::Full,
                    (false, true) => Next::PassSameValue,
                    (false, false) => Next::GoOn,
                }
            };
            let walk = (&segment.access, segment.reverse);
            let cost = (meter, &mut *budget);
            let is_at_end = go_on(asked, walk, &mut self.after, cost, &mut look)?;
            if is_at_end && !is_full {
                is_full = self.filling.settle_before(None, query, meter);
            }
            if self.filling.is_too_much {
                return Ok(Turn::TooMuch);
            }
            if is_full {
                return Ok(Turn::Done);
            }
            if !is_at_end {
                return Ok(Turn::Unfinished);
            }
            self.segment += 1;
            self.filling.passed = None;
            if *budget == 0 && self.segment < self.segments.len() {
                return Ok(Turn::Unfinished);
            }
        }
        Ok(Turn::Done)
    }

    /// Returns the page and its end.
    pub(super) fn answer(self) -> (Vec<Candidate>, Option<Mark>) {
        (self.filling.page, self.filling.last)
    }
}

impl Filling {
    /// Takes the next instance of the walk. Returns true when the page, or the memory, is full.
    fn look(&mut self, step: Step<'_>, is_taken: bool, query: &Query, meter: &Meter) -> bool {
        let Some(alike) = step.alike else {
            self.pass(step.place);
            return is_taken && self.take_next(step, query, meter);
        };
        let passed = &self.passed;
        let tied = self.tied.get_or_insert_with(|| Tied {
            alike: alike.to_vec(),
            before: passed.clone(),
            members: Vec::new(),
        });
        if is_taken {
            let found = SortedCandidate::new(&self.order, step.instance);
            let bytes = found.bytes;
            tied.members.push(found);
            self.held += bytes;
            let is_pressing = !meter.has_room_for(bytes);
            let end = end(query).map(|end| end.saturating_sub(self.found));
            if let Some(freed) = cut(&self.order, end, &mut tied.members, is_pressing) {
                self.held -= freed;
                meter.release(freed);
            }
            self.is_too_much = is_pressing && !meter.is_half_empty();
        }
        self.pass(step.place);
        self.is_too_much
    }

    fn pass(&mut self, place: &[u8]) {
        let passed = self.passed.get_or_insert_default();
        passed.clear();
        passed.extend_from_slice(place);
    }

    fn take_next(&mut self, step: Step<'_>, query: &Query, meter: &Meter) -> bool {
        if self.found < query.page.offset {
            // The result is on an earlier page, and another one follows.
            self.found += 1;
            return false;
        }
        let found = SortedCandidate::new(&Order::Guid, step.instance);
        self.held += found.bytes;
        self.is_too_much = !meter.has_room_for(found.bytes);
        let is_full = self.take(found, query, meter);
        if is_full {
            self.last = Some(Mark {
                segment: self.segment,
                after: Some(step.place.to_vec()),
                skip: 0,
            });
        }
        is_full || self.is_too_much
    }

    /// Adds the next result, whose bytes are counted already. Returns true when the page is full.
    fn take(&mut self, found: SortedCandidate, query: &Query, meter: &Meter) -> bool {
        self.found += 1;
        if self.found > query.page.offset {
            self.page.push(found.kept);
        } else {
            self.held -= found.bytes;
            meter.release(found.bytes);
        }
        Some(self.found) == end(query)
    }

    /// Sorts and adds the tied results, unless the next instance is tied with them. Returns true
    /// when the page is full.
    fn settle_before(&mut self, alike: Option<&[u8]>, query: &Query, meter: &Meter) -> bool {
        let is_over = |tied: &mut Tied| Some(&tied.alike[..]) != alike;
        let Some(mut tied) = self.tied.take_if(is_over) else {
            return false;
        };
        sort(&self.order, &mut tied.members);
        for (at, found) in tied.members.into_iter().enumerate() {
            if self.take(found, query, meter) {
                self.last = Some(Mark {
                    segment: self.segment,
                    after: tied.before,
                    skip: at + 1,
                });
                return true;
            }
        }
        false
    }
}

/// The conditions on the value that orders the walk, each with whether it must hold.
struct OfValue<'q> {
    name: &'q str,
    conditions: Vec<(&'q Condition, bool)>,
}

impl<'q> OfValue<'q> {
    fn new(access: &'q Access, query: &'q Query) -> Self {
        let mut conditions = Vec::new();
        let Access::Property(name) = access else {
            let name = "";
            return Self { name, conditions };
        };
        if let Some(condition) = &query.condition {
            condition.of_value(name, &mut conditions);
        }
        Self { name, conditions }
    }

    /// Whether an instance fails any of these conditions, so that all instances with the same value
    /// fail too. Never for enums: those at the same position in the order may be different values.
    fn fails(&self, instance: &Row<'_>) -> bool {
        if self.conditions.is_empty() {
            return false;
        }
        let target = Target::of(instance);
        let value = target.property(self.name);
        let mut conditions = self.conditions.iter();
        !matches!(value.as_deref(), Some(InstancePropertyValue::Enum(_)))
            && conditions.any(|(condition, must)| condition.holds(&target) != *must)
    }
}

/// The number of results up to the end of the page.
fn end(query: &Query) -> Option<usize> {
    let page = query.page;
    page.size.map(|size| page.offset.saturating_add(size))
}
