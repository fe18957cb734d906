//! A plan that collects all results, sorts them and cuts the page.

use std::collections::HashSet;

use super::access::Access;
use super::memory::PageEnd;
use super::turn::{Asked, Next, Turn, go_on};
use super::weight::kept_bytes;
use super::{Meter, Order, Query, SortKey, guid_bytes};
use crate::error::OmrsError;
use crate::graph_store::{Row, Step};
use crate::matching::Target;
use crate::store::Candidate;

/// The most results whose GUIDs are cached for the following pages.
const LIST_MAX: usize = 2000;

/// Walks in any order that together visit all results.
pub(super) struct Collected {
    order: Order,
    walks: Vec<Access>,
    walk: usize,
    after: Option<Vec<u8>>,
    /// The GUIDs of the visited results, if an instance may be visited more than once.
    seen: Option<HashSet<String>>,
    found: Vec<SortedCandidate>,
    /// The memory of the results found, and of the GUIDs in `seen`, in bytes.
    held: usize,
    /// Whether results after the page were dropped.
    is_cut: bool,
}

/// A result with its sort key.
pub(super) struct SortedCandidate {
    pub(super) key: SortKey,
    pub(super) bytes: usize,
    pub(super) kept: Candidate,
}

impl SortedCandidate {
    pub(super) fn new(order: &Order, instance: &Row<'_>) -> Self {
        let kept = instance.to_candidate();
        Self {
            key: order.key(&Target::of(instance)),
            bytes: kept_bytes(&kept),
            kept,
        }
    }
}

impl Collected {
    pub(super) fn new(order: Order, walks: Vec<Access>) -> Self {
        let repeats = walks.len() > 1 || walks.iter().any(Access::repeats);
        Self {
            order,
            walks,
            walk: 0,
            after: None,
            seen: repeats.then(HashSet::new),
            found: Vec::new(),
            held: 0,
            is_cut: false,
        }
    }

    /// The bytes that the plan holds.
    pub(super) fn held(&self) -> usize {
        self.held
    }

    pub(super) fn go_on(
        &mut self,
        asked: Asked<'_>,
        meter: &Meter,
        budget: &mut usize,
    ) -> Result<Turn, OmrsError> {
        let (_, types, query) = asked;
        while let Some(access) = self.walks.get(self.walk) {
            let (seen, found, held) = (&mut self.seen, &mut self.found, &mut self.held);
            let mut is_too_much = false;
            let order = &self.order;
            let is_cut = &mut self.is_cut;
            let wanted = query
                .page
                .size
                .map(|size| query.page.offset.saturating_add(size));
            let mut look = |step: Step<'_>| {
                let instance = step.instance;
                if !query.takes(types, instance) {
                    return Next::GoOn;
                }
                let guid = instance.guid();
                if seen
                    .as_mut()
                    .is_some_and(|seen| !seen.insert(guid.to_owned()))
                {
                    return Next::GoOn;
                }
                let found_one = SortedCandidate::new(order, instance);
                let mut added = found_one.bytes;
                if seen.is_some() {
                    added += guid_bytes(guid);
                }
                found.push(found_one);
                *held += added;
                let is_pressing = !meter.has_room_for(added);
                if let Some(freed) = cut(order, wanted, found, is_pressing) {
                    *is_cut = true;
                    *held -= freed;
                    meter.release(freed);
                }
                // If there is still little room, the next cut would come soon, and cost more time
                // than this plan is worth.
                is_too_much = is_pressing && !meter.is_half_empty();
                if is_too_much { Next::Full } else { Next::GoOn }
            };
            let cost = (meter, &mut *budget);
            let walk = (access, false);
            let is_at_end = go_on(asked, walk, &mut self.after, cost, &mut look)?;
            if is_too_much {
                return Ok(Turn::TooMuch);
            }
            if !is_at_end {
                return Ok(Turn::Unfinished);
            }
            self.walk += 1;
            if *budget == 0 && self.walk < self.walks.len() {
                return Ok(Turn::Unfinished);
            }
        }
        Ok(Turn::Done)
    }

    /// Returns the page and its end.
    pub(super) fn answer(mut self, query: &Query) -> (Vec<Candidate>, Option<PageEnd>) {
        sort(&self.order, &mut self.found);
        let page = query.page;
        let is_kept = !self.is_cut && self.found.len() <= LIST_MAX;
        let place = is_kept.then(|| {
            let guids = self.found.iter();
            let guids = guids.map(|found| found.kept.guid().to_owned());
            PageEnd::List(guids.collect())
        });
        let size = page.size.unwrap_or(usize::MAX);
        let found = self.found.into_iter().skip(page.offset).take(size);
        (found.map(|found| found.kept).collect(), place)
    }
}

/// Puts results in order.
pub(super) fn sort(order: &Order, found: &mut [SortedCandidate]) {
    found.sort_unstable_by(|one, other| {
        let one = (&one.key, one.kept.guid());
        let other = (&other.key, other.kept.guid());
        order.compare(one, other)
    });
}

/// Drops the results after the first `wanted`, if there are many of them or if there is no room.
/// Returns the bytes that this freed.
pub(super) fn cut(
    order: &Order,
    wanted: Option<usize>,
    found: &mut Vec<SortedCandidate>,
    is_pressing: bool,
) -> Option<usize> {
    let wanted = wanted?;
    let most = wanted.saturating_mul(2).saturating_add(LIST_MAX);
    if found.len() <= wanted || (found.len() <= most && !is_pressing) {
        return None;
    }
    sort(order, found);
    Some(found.drain(wanted..).map(|found| found.bytes).sum())
}
