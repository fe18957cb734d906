//! Cuts rows into as few batches as possible.
//!
//! A batch may contain rows of any valid time, but only one state of each element. So the second
//! state of an element goes to the second batch, the third to the third, and these are sent in
//! order.

use std::collections::HashMap;
use std::ops::Range;

use rustc_hash::FxBuildHasher;

use crate::element::{Action, Element, Period};
use crate::known::Mark;

/// The kind of the elements of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchKind {
    /// Vertices.
    Vertices,
    /// Edges.
    Edges,
}

/// A row that was not loaded.
#[derive(Debug)]
pub struct BadRow {
    /// The line in its file.
    pub line: u64,
    /// Why it was not loaded.
    pub reason: String,
}

/// An element to send, and the row that it comes from.
#[derive(Debug)]
pub struct Sending {
    /// The row's line.
    pub line: u64,
    /// The byte range of the row in its file.
    pub bytes: Range<u64>,
    /// The JSON of the element; for a deletion, the path of the element.
    pub json: String,
    /// What it has in common with other rows.
    pub mark: Option<Mark>,
    /// Whether the store has acknowledged it.
    pub stored: bool,
}

/// Rows of one input, in its order.
#[derive(Debug)]
pub struct Batch {
    /// The number of the input.
    pub input: usize,
    /// The action for all elements of the batch.
    pub action: Action,
    /// The elements.
    pub elements: Vec<Sending>,
    /// Rows that could not be converted to elements.
    pub bad: Vec<BadRow>,
}

/// The batches that are being filled, in the order in which they must be sent.
pub struct Batches {
    /// The number of the input.
    input: usize,
    /// The most rows in all batches together.
    rows_max: usize,
    rows: usize,
    open: Vec<Batch>,
    /// By identity: the last batch with the element, and the period of its row in that batch.
    places: HashMap<u64, (usize, Period), FxBuildHasher>,
}

impl Batches {
    /// No batches.
    #[must_use]
    pub fn new(input: usize, rows_max: usize) -> Self {
        Self {
            input,
            rows_max: rows_max.max(1),
            rows: 0,
            open: Vec::new(),
            places: HashMap::default(),
        }
    }

    /// Adds a row that became an element, with its mark, its line and its byte range.
    pub fn add(&mut self, element: Element, mark: Option<Mark>, line: u64, bytes: Range<u64>) {
        let seen = element.identity.and_then(|known| self.places.get(&known));
        let first = match seen {
            None => 0,
            // Of two rows with the same period the server keeps the later one.
            Some((place, period)) if *period == element.period => *place,
            Some((place, _)) => place + 1,
        };
        let place = self.place(first, element.action);
        if let Some(known) = element.identity {
            self.places.insert(known, (place, element.period));
        }
        self.open[place].elements.push(Sending {
            line,
            bytes,
            json: element.json,
            mark,
            stored: false,
        });
        self.rows += 1;
    }

    /// Adds a row that could not be converted to an element.
    pub fn add_bad(&mut self, row: BadRow) {
        let place = match self.open.is_empty() {
            true => self.place(0, Action::Put),
            false => 0,
        };
        self.open[place].bad.push(row);
        self.rows += 1;
    }

    /// Whether the batches have enough rows to be sent.
    #[must_use]
    pub fn are_full(&self) -> bool {
        self.rows >= self.rows_max
    }

    /// Takes all batches.
    pub fn take(&mut self) -> Vec<Batch> {
        self.rows = 0;
        self.places.clear();
        std::mem::take(&mut self.open)
    }

    /// The index of the first batch at or after `first` with this action; adds a batch if there is
    /// none.
    fn place(&mut self, first: usize, action: Action) -> usize {
        let mut open = self.open.iter().enumerate().skip(first);
        if let Some((place, _)) = open.find(|(_, batch)| batch.action == action) {
            return place;
        }
        self.open.push(Batch {
            input: self.input,
            action,
            elements: Vec::new(),
            bad: Vec::new(),
        });
        self.open.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds an element. The rest of its name, after the first letter, is the start of its period.
    fn add(batches: &mut Batches, name: &str, identity: Option<u64>, action: Action) {
        let from = Some(name[1..].to_owned());
        let element = Element {
            action,
            json: name.to_owned(),
            identity,
            period: Period { from, to: None },
            ends: false,
        };
        batches.add(element, None, 1, 0..1);
    }

    fn taken(batches: &mut Batches) -> Vec<String> {
        let taken = batches.take().into_iter();
        taken
            .map(|batch| {
                let names = batch.elements.iter().map(|element| element.json.as_str());
                format!("{:?} {}", batch.action, names.collect::<Vec<_>>().join(","))
            })
            .collect()
    }

    #[test]
    fn an_element_is_once_in_a_batch_and_its_states_keep_their_order() {
        let mut batches = Batches::new(0, 7);
        for (name, identity) in [
            ("a1", 1),
            ("a2", 1),
            ("b1", 2),
            ("c1", 3),
            ("c2", 3),
            ("c3", 3),
        ] {
            add(&mut batches, name, Some(identity), Action::Put);
        }
        add(&mut batches, "new", None, Action::Put);
        assert!(batches.are_full());
        assert_eq!(
            taken(&mut batches),
            ["Put a1,b1,c1,new", "Put a2,c2", "Put c3"]
        );
        assert!(!batches.are_full() && batches.take().is_empty());
    }

    #[test]
    fn rows_of_an_element_with_the_same_period_stay_together() {
        let mut batches = Batches::new(0, 10);
        for name in ["a1", "a1", "a2", "a2"] {
            add(&mut batches, name, Some(1), Action::Put);
        }
        assert_eq!(taken(&mut batches), ["Put a1,a1", "Put a2,a2"]);
    }

    #[test]
    fn a_deletion_stands_between_the_states_around_it() {
        let mut batches = Batches::new(0, 10);
        add(&mut batches, "a1", Some(1), Action::Put);
        add(&mut batches, "a-", Some(1), Action::Delete);
        add(&mut batches, "a2", Some(1), Action::Put);
        add(&mut batches, "b1", Some(2), Action::Put);
        add(&mut batches, "b-", Some(2), Action::Delete);
        assert_eq!(taken(&mut batches), ["Put a1,b1", "Delete a-,b-", "Put a2"]);
        batches.add_bad(BadRow {
            line: 1,
            reason: "no".to_owned(),
        });
        assert_eq!(batches.take()[0].bad.len(), 1);
    }
}
