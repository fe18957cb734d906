//! An element as it is sent: its JSON, its identity, its valid time.

use std::hash::{Hash, Hasher as _};

use serde_json::{Map, Value as Json};
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

/// The valid time of an element, as texts for the server; `None` = from now, or for ever.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Period {
    /// Its start.
    pub from: Option<String>,
    /// Its end.
    pub to: Option<String>,
}

impl Period {
    /// Writes the period into the JSON of an element to store.
    pub fn write_to(&self, element: &mut Map<String, Json>) {
        for (name, instant) in [("valid_from", &self.from), ("valid_to", &self.to)] {
            if let Some(text) = instant {
                element.insert(name.to_owned(), Json::from(text.as_str()));
            }
        }
    }
}

/// An element ready to send.
#[derive(Debug, PartialEq, Eq)]
pub struct Element {
    /// The action.
    pub action: Action,
    /// The JSON with the valid time; for a deletion, the part of the path after the resource.
    pub json: String,
    /// A hash of the element's identity; `None` for an element that is new in any case: a vertex
    /// that gets its id when it is stored, or an edge with a hidden sort value.
    pub identity: Option<u64>,
    /// The valid time.
    pub period: Period,
    /// Whether it ends with its valid time, whatever is stored of it.
    pub ends: bool,
}

/// A hash of the parts that identify an element.
#[must_use]
pub fn identity(parts: &[&Json]) -> u64 {
    let mut text = String::new();
    for part in parts {
        text.push_str(&part.to_string());
        text.push('\n');
    }
    xxh3_64(text.as_bytes())
}

/// A hash of a value.
pub(crate) fn hash_of(value: &impl Hash) -> u64 {
    let mut hasher = Xxh3Default::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// The action for an element.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Action {
    /// Store the whole element.
    #[default]
    Put,
    /// Delete the element: only in dumps with history.
    Delete,
}
