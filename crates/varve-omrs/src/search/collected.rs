//! A way that collects all that is asked for, puts it in order and cuts it.

use std::collections::HashSet;

use super::access::Access;
use super::memory::PageEnd;
use super::turn::{Asked, Next, Turn, go_on};
use super::weight::kept_bytes;
use super::{Meter, Order, Query, SortKey, guid_bytes};
use crate::error::OmrsError;
use crate::matching::Target;
use crate::store::{Candidate, Instance};

/// The most results of which the GUIDs are kept for the pages to come.
const LIST_MAX: usize = 2000;

/// Walks in any order which together show all that is asked for.
pub(super) struct Collected {
    order: Order,
    walks: Vec<Access>,
    walk: usize,
    after: Option<Vec<u8>>,
    /// GUIDs of those that came already, where one may come more than once.
    seen: Option<HashSet<String>>,
    found: Vec<SortedCandidate>,
    /// What those that were found take in memory, in bytes, and what their GUIDs do.
    held: usize,
    /// Whether some that cannot be on the page were let go.
    is_cut: bool,
}

/// One that is asked for, and where it stands.
pub(super) struct SortedCandidate {
    pub(super) key: SortKey,
    pub(super) bytes: usize,
    pub(super) kept: Candidate,
}

impl SortedCandidate {
    pub(super) fn new(order: &Order, instance: &dyn Instance) -> Self {
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

    /// What it holds, in bytes.
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
            let mut look = |step: crate::store::Step<'_>| {
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
                // To cut again soon would cost more time than this way is worth.
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

    /// The page, and where it ends.
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

/// Lets go of those that come after the first `wanted`, now and then, or at once when there is no
/// more room. Returns the bytes that they took if it did.
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
