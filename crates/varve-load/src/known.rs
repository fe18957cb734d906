//! The identities of the rows of a load: how many elements the rows are, and which ids two labels
//! share.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, HashSet};

use rustc_hash::FxBuildHasher;

use crate::catalogue::Catalogue;
use crate::element::{Element, Period, hash_of};

/// The most elements and states that are kept, seven eighths of tables of 300 MB. Rows after that
/// count as elements.
const HASHES_MAX: usize = (1 << 24) / 8 * 7;
/// The most ids of all labels that are kept, seven eighths of a table of 300 MB.
const IDS_MAX: usize = (1 << 25) / 8 * 7;

/// What a row has in common with others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Mark {
    /// A hash of the element's identity.
    element: u64,
    /// A hash of the valid time.
    state: u64,
}

impl Mark {
    /// The mark of an element; `None` if no other row can be of the same element.
    pub fn of(element: &Element) -> Option<Self> {
        let known = element.identity?;
        let state = match element.period == Period::default() {
            true => 0,
            false => hash_of(&element.period),
        };
        let element = known;
        Some(Self { element, state })
    }
}

/// The number of stored rows, by what they did.
#[derive(Debug, Default)]
pub struct Counts {
    /// Elements: rows that were the first of theirs.
    pub elements: u64,
    /// Rows with a further state of an element, of another valid time.
    pub states: u64,
    /// Rows that replaced an earlier row: the same element and the same valid time.
    pub replaced: u64,
    /// By element: the state of its first row.
    known: HashMap<u64, u64, FxBuildHasher>,
    /// The further states.
    others: HashSet<Mark, FxBuildHasher>,
}

impl Counts {
    /// Counts a stored row.
    pub fn add(&mut self, mark: Option<Mark>) {
        let kept = self.known.len() + self.others.len();
        let Some(mark) = mark.filter(|_| kept < HASHES_MAX) else {
            self.elements += 1;
            return;
        };
        match self.known.entry(mark.element) {
            Entry::Vacant(entry) => {
                entry.insert(mark.state);
                self.elements += 1;
            }
            Entry::Occupied(entry) => {
                let is_new = *entry.get() != mark.state && self.others.insert(mark);
                match is_new {
                    true => self.states += 1,
                    false => self.replaced += 1,
                }
            }
        }
    }
}

/// The labels whose ids the writer chooses, and which of them has which id. Such ids are unique in
/// the graph: a vertex of one label would replace that of another.
#[derive(Debug, Default)]
pub struct Owners {
    labels: Vec<String>,
    known: HashSet<u64>,
    /// The edges that end with a row.
    ended: HashSet<u64>,
}

impl Owners {
    /// No ids, for a load of vertices of these labels.
    pub fn new<'a>(labels: impl Iterator<Item = &'a str>, catalogue: &Catalogue) -> Self {
        let own = |label: &&str| {
            let label = catalogue.vertex_label(label);
            label.is_ok_and(|label| label.id_strategy.starts_with("CUSTOMIZE"))
        };
        let labels: BTreeSet<&str> = labels.filter(own).collect();
        Self {
            labels: labels.into_iter().map(str::to_owned).collect(),
            known: HashSet::new(),
            ended: HashSet::new(),
        }
    }

    /// Notes that an edge ends with a row.
    ///
    /// # Errors
    /// When another row has ended it.
    pub(crate) fn end(&mut self, label: &str, identity: Option<u64>) -> Result<(), String> {
        let known = identity.ok_or_else(|| {
            format!("edges of '{label}' have no keys, so none that is stored can be ended")
        })?;
        if self.ended.len() >= IDS_MAX {
            return Err(format!(
                "more than {IDS_MAX} edges that end (valid_to_ends_edge)"
            ));
        }
        match self.ended.insert(hash_of(&(known, label))) {
            true => Ok(()),
            false => Err(
                "a second row of the same edge: with valid_to_ends_edge, an edge has one row"
                    .to_owned(),
            ),
        }
    }

    /// Notes that a vertex of `label` has an id, which `identity` stands for.
    ///
    /// # Errors
    /// When a vertex of another label has it.
    pub fn claim(&mut self, label: &str, identity: Option<u64>) -> Result<(), String> {
        let Some(known) = identity.filter(|_| self.labels.len() > 1) else {
            return Ok(());
        };
        let mut others = self.labels.iter().filter(|other| *other != label);
        if let Some(other) = others.find(|other| self.known.contains(&hash_of(&(known, *other)))) {
            return Err(format!(
                "a row of label '{other}' has the same id; ids are unique in a graph, so give the \
                 labels primary keys"
            ));
        }
        if self.known.len() < IDS_MAX && self.labels.iter().any(|own| own == label) {
            self.known.insert(hash_of(&(known, label)));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::{Action, Period};

    #[test]
    fn a_row_is_an_element_a_state_or_a_replacement() {
        let mut counts = Counts::default();
        for (identity, from) in [(1, ""), (2, ""), (1, "2020"), (1, ""), (1, "2020")] {
            let from = Some(from.to_owned()).filter(|text| !text.is_empty());
            let element = Element {
                action: Action::Put,
                json: String::new(),
                identity: Some(identity),
                period: Period { from, to: None },
                ends: false,
            };
            counts.add(Mark::of(&element));
        }
        counts.add(None);
        let counted = (counts.elements, counts.states, counts.replaced);
        assert_eq!(counted, (3, 1, 2));
    }

    #[test]
    fn an_id_belongs_to_one_label() {
        let schema = r#"{"vertexlabels": [
            {"name": "a", "id_strategy": "CUSTOMIZE_NUMBER"},
            {"name": "b", "id_strategy": "CUSTOMIZE_NUMBER"},
            {"name": "c", "id_strategy": "PRIMARY_KEY", "primary_keys": ["k"]}]}"#;
        let catalogue = Catalogue::from_text(schema);
        let mut owners = Owners::new(["a", "b", "c", "a"].into_iter(), &catalogue);
        assert_eq!(owners.claim("a", Some(1)), Ok(()));
        assert_eq!(owners.claim("a", Some(1)), Ok(()));
        let refused = owners.claim("b", Some(1)).unwrap_err();
        assert!(refused.contains("label 'a'"), "{refused}");
        assert_eq!(owners.claim("b", Some(2)), Ok(()));
        assert!(owners.claim("a", Some(2)).is_err());
    }
}
