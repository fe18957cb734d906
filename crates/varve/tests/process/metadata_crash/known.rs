//! What a writer knows of its instances.

use serde_json::Value as Json;

/// Entities or relationships.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InstanceKind {
    Entity,
    Relationship,
}

impl InstanceKind {
    /// In paths.
    pub(super) const fn one(self) -> &'static str {
        match self {
            Self::Entity => "entity",
            Self::Relationship => "relationship",
        }
    }

    /// The property of an answer with many.
    pub(super) const fn many(self) -> &'static str {
        match self {
            Self::Entity => "entities",
            Self::Relationship => "relationships",
        }
    }
}

/// An instance as it was acknowledged.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub(super) kind: InstanceKind,
    pub(super) of: (&'static str, &'static str),
    /// Every state that was acknowledged, oldest first.
    pub(super) states: Vec<Json>,
    /// A change of it was sent and not answered.
    pub(super) in_doubt: bool,
    /// It was given another GUID: a state that says so, which was acknowledged and not reported.
    pub(super) unreported: bool,
    /// Its home is elsewhere.
    pub(super) is_copy: bool,
    /// A relationship holds it, so it is not deleted.
    pub(super) is_end: bool,
    /// It was purged; nothing may be left.
    pub(super) purged: bool,
}

impl Known {
    pub(super) fn last(&self) -> &Json {
        self.states.last().expect("an instance has a state")
    }

    pub(super) fn is_deleted(&self) -> bool {
        self.last()["status"] == "DELETED"
    }

    /// Whether it has that type now.
    pub(super) fn is_of(&self, of: (&str, &str)) -> bool {
        self.last()["type"]["typeDefName"] == of.0
    }

    pub(super) fn is_classified(&self) -> bool {
        let carried = self.last()["classifications"].as_array();
        carried.is_some_and(|carried| !carried.is_empty())
    }
}

/// A state without what is rendered of others: the ends of a relationship are but their GUIDs.
pub(super) fn of_itself(mut state: Json) -> Json {
    for end in ["entityOneProxy", "entityTwoProxy"] {
        if let Some(proxy) = state.get_mut(end) {
            *proxy = proxy["guid"].clone();
        }
    }
    state
}
