//! A cache of page ends, so that the next page continues there.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use super::Query;
use super::in_order::Mark;
use crate::json::Millis;
use crate::types::Catalogue;

/// The most memory of the cache, in bytes, about.
const BYTES_MAX: usize = 16 << 20;
/// The longest query that is cached, in bytes of its description.
const QUERY_BYTES_MAX: usize = 4 << 10;
/// The memory of an entry beside its content, in bytes, about.
const ENTRY_BYTES: usize = 200;

/// The end of a page.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum PageEnd {
    /// In a plan that walks in order.
    Walk {
        /// The index of the plan.
        way: usize,
        /// The position in the plan.
        mark: Mark,
    },
    /// In the list of the GUIDs of all results, in order.
    List(Arc<[String]>),
}

/// A query, with the time and the state at which it ran. Pages with equal keys are parts of the
/// same list of results.
#[derive(Debug, Clone)]
pub(super) struct Key {
    query: String,
    at: Option<Millis>,
    state: u64,
    /// Held, so that no other catalogue can be at its address.
    types: Arc<Catalogue>,
}

impl Key {
    /// `None` when the page has no size, the state is not known, or the query is too long to be
    /// cached.
    pub(super) fn of(
        query: &Query,
        at: Option<Millis>,
        state: Option<u64>,
        types: &Arc<Catalogue>,
    ) -> Option<Self> {
        query.page.size?;
        let state = state?;
        let Query {
            subject,
            types: of,
            find,
            classifications,
            condition,
            order,
            page: _,
            effort: _,
        } = query;
        let statuses = &find.statuses;
        let parts = (subject, of, statuses, classifications, order, condition);
        let query = format!("{parts:?}");
        (query.len() <= QUERY_BYTES_MAX).then(|| Self {
            query,
            at,
            state,
            types: Arc::clone(types),
        })
    }
}

/// The query, its time, and the number of results before the page.
type Slot = (String, Option<Millis>, usize);

#[derive(Debug)]
struct Entry {
    state: u64,
    types: Arc<Catalogue>,
    place: PageEnd,
}

#[derive(Debug, Default)]
struct Entries {
    by_slot: HashMap<Slot, Entry>,
    /// In the order in which they were added.
    oldest: VecDeque<Slot>,
    bytes: usize,
}

/// The ends of recent pages, as long as there is room. An entry is valid while the state is the one
/// in which the page was read. Continuing there gives the same results as counting from the start.
#[derive(Debug, Default)]
pub struct Memory {
    entries: Mutex<Entries>,
}

impl Memory {
    pub(super) fn place(&self, key: &Key, offset: usize) -> Option<PageEnd> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = (key.query.clone(), key.at, offset);
        let entry = entries.by_slot.get(&slot)?;
        let is_same = entry.state == key.state && Arc::ptr_eq(&entry.types, &key.types);
        is_same.then(|| entry.place.clone())
    }

    /// Caches the end of the page after the first `offset` results.
    pub(super) fn remember(&self, key: Key, offset: usize, place: PageEnd) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = (key.query, key.at, offset);
        let entry = Entry {
            state: key.state,
            types: key.types,
            place,
        };
        entries.bytes += bytes(&slot, &entry);
        match entries.by_slot.insert(slot.clone(), entry) {
            Some(old) => entries.bytes -= bytes(&slot, &old),
            None => entries.oldest.push_back(slot),
        }
        while entries.bytes > BYTES_MAX
            && let Some(oldest) = entries.oldest.pop_front()
        {
            if let Some(old) = entries.by_slot.remove(&oldest) {
                entries.bytes -= bytes(&oldest, &old);
            }
        }
    }
}

fn bytes(slot: &Slot, entry: &Entry) -> usize {
    let place = match &entry.place {
        PageEnd::Walk { mark, .. } => mark.after.as_ref().map_or(0, Vec::len),
        PageEnd::List(guids) => guids.iter().map(|guid| guid.len() + 24).sum(),
    };
    ENTRY_BYTES + 2 * slot.0.len() + place
}
