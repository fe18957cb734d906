//! Where pages ended, so that the next page goes on there.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use super::Query;
use super::in_order::Mark;
use crate::json::Millis;
use crate::types::Catalogue;

/// The most bytes that are remembered, about.
const BYTES_MAX: usize = 16 << 20;
/// The longest query that is remembered, in bytes of its description.
const QUERY_BYTES_MAX: usize = 4 << 10;
/// What an entry takes beside its content, about.
const ENTRY_BYTES: usize = 200;

/// Where a page ended.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum PageEnd {
    /// In a walk.
    Walk {
        /// Which way of the query's it was.
        way: usize,
        /// Where in it.
        mark: Mark,
    },
    /// In a list of GUIDs that are all that is asked for, in order.
    List(Arc<[String]>),
}

/// A query, and what it was asked of. Answers to equal keys are parts of the same list.
#[derive(Debug, Clone)]
pub(super) struct Key {
    query: String,
    at: Option<Millis>,
    state: u64,
    /// Held, so that no other catalogue can be at its address.
    types: Arc<Catalogue>,
}

impl Key {
    /// None when the state is not known, or the query is too long to be remembered.
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

/// What was asked, of which time, and how many results came before.
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
    /// Those that were added first come first.
    oldest: VecDeque<Slot>,
    bytes: usize,
}

/// Where pages ended, for as many queries as there is room for. A place counts only while the state
/// is the one that the page was read in: then going on there gives exactly what counting from the
/// start would.
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

    /// Keeps the place after the first `offset` results.
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
