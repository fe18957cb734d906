//! Rows: values with their path, sack and count, as they flow between operators.

use std::collections::HashMap;
use std::rc::Rc;

use smallvec::SmallVec;

use super::context::{Context, copied_bytes};
use crate::plan::Name;
use crate::value::{Path, Walked};
use crate::{QueryError, Value};

/// The part of a traverser's path that rows record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Track {
    /// Nothing: rows with equal values can be merged.
    Nothing,
    /// The values with labels.
    Labels,
    /// Every value.
    Path,
}

/// A value, the number of traversers at it, and their path and sack.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) value: Value,
    /// The number of traversers that this row stands for. `u64::MAX`: that many or more, since sums
    /// and products saturate; see [`counted`].
    pub(crate) bulk: u64,
    /// In a child plan: the number under which the caller collects the results of one of its rows.
    /// Otherwise 0.
    pub(crate) segment: u32,
    pub(crate) path: Option<Rc<Step>>,
    pub(crate) sack: Option<Box<Value>>,
}

/// One object of a path, linked to the one before it.
#[derive(Debug)]
pub(crate) struct Step {
    before: Option<Rc<Step>>,
    value: Value,
    labels: SmallVec<[Name; 1]>,
}

impl Drop for Step {
    /// Unlinks a long path in a loop: recursion would exhaust the stack.
    fn drop(&mut self) {
        let mut next = self.before.take();
        while let Some(step) = next {
            match Rc::try_unwrap(step) {
                Ok(mut last) => next = last.before.take(),
                Err(_) => break,
            }
        }
    }
}

impl Row {
    pub(crate) const fn new(value: Value) -> Self {
        Self {
            value,
            bulk: 1,
            segment: 0,
            path: None,
            sack: None,
        }
    }

    /// The same traversers, at another value.
    pub(crate) fn at(&self, value: Value, track: Track) -> Self {
        let path = match track {
            Track::Path => Some(Step::after(self.path.clone(), &value)),
            _ => self.path.clone(),
        };
        Self {
            value,
            bulk: self.bulk,
            segment: self.segment,
            path,
            sack: self.sack.clone(),
        }
    }

    /// The same traversers and path, with the value as it is after a change.
    pub(crate) fn with(&self, value: Value) -> Self {
        Self {
            value,
            ..self.clone()
        }
    }

    /// A row with a path that begins at its value, and the initial sack.
    pub(crate) fn start(value: Value, cx: &Context<'_>) -> Self {
        let mut row = Self::new(value);
        if cx.track == Track::Path {
            row.path = Some(Step::after(None, &row.value));
        }
        row.sack.clone_from(&cx.sack);
        row
    }

    /// Adds labels to the current value.
    pub(crate) fn label(&mut self, labels: &[Name], track: Track) {
        let (before, mut all) = match &self.path {
            Some(step) if track == Track::Path => (step.before.clone(), step.labels.clone()),
            // If only labelled values are recorded, a second label of a value gets an entry of its
            // own.
            _ => (self.path.clone(), SmallVec::new()),
        };
        for label in labels {
            if !all.contains(label) {
                all.push(label.clone());
            }
        }
        self.path = Some(Rc::new(Step {
            before,
            value: self.value.clone(),
            labels: all,
        }));
    }

    /// The entries of the path, last to first.
    pub(crate) fn steps(&self) -> impl Iterator<Item = &Step> {
        std::iter::successors(self.path.as_deref(), |step| step.before.as_deref())
    }

    /// The values of the path, last to first.
    pub(crate) fn places(&self) -> impl Iterator<Item = &Value> {
        self.steps().map(|step| &step.value)
    }

    /// The values with a label, first to last.
    pub(crate) fn labelled(&self, label: &str) -> Vec<&Value> {
        let mut values: Vec<&Value> = self
            .steps()
            .filter(|step| step.labels.iter().any(|own| own == label))
            .map(|step| &step.value)
            .collect();
        values.reverse();
        values
    }

    /// The path as a value.
    pub(crate) fn whole_path(&self) -> Path {
        let mut path = Path::default();
        for step in self.steps() {
            path.objects.push(step.value.clone());
            path.labels.push(step.labels.to_vec());
        }
        path.objects.reverse();
        path.labels.reverse();
        path
    }

    /// Bytes of a row without its texts; shared content is not counted.
    pub(crate) const BYTES: usize = size_of::<Self>() + 64;

    /// Bytes of a row with its texts; shared content is not counted.
    pub(crate) fn bytes(&self) -> usize {
        let sack = self.sack.as_deref().map_or(0, copied_bytes);
        Self::BYTES + copied_bytes(&self.value) + sack
    }
}

/// The number of traversers, or of values, that rows stand for.
///
/// # Errors
/// If there are more than a bulk can count.
pub(crate) fn counted(bulk: u64) -> Result<u64, QueryError> {
    match bulk {
        u64::MAX => Err(QueryError::Arithmetic(
            "The traversal has more than 2^64 - 2 equal traversers: too many to count",
        )),
        bulk => Ok(bulk),
    }
}

/// The class of a value for merging: no step can distinguish equal values of one class. `None`: the
/// value must not be merged.
pub(super) fn merge_class(value: &Value) -> Option<u8> {
    match value {
        // `otherV()` of an edge depends on the direction in which the edge was walked.
        Value::Edge(_, Walked::No) => Some(0),
        Value::Edge(_, Walked::Out) => Some(1),
        Value::Edge(_, Walked::In) => Some(2),
        value => (!value.leads_back()).then_some(0),
    }
}

/// Merges equal rows, in the order of their first occurrence. Rows with a path or a sack stay as
/// they are.
pub(crate) fn merged(rows: Vec<Row>) -> Vec<Row> {
    if rows.len() < 2 {
        return rows;
    }
    let mut places: HashMap<(u32, u8, &Value), usize, foldhash::fast::RandomState> =
        HashMap::default();
    let mut bulks: Vec<u64> = Vec::with_capacity(rows.len());
    let mut keep: Vec<bool> = Vec::with_capacity(rows.len());
    for row in &rows {
        let next = bulks.len();
        let remembers = row.path.is_some() || row.sack.is_some();
        let place = match merge_class(&row.value).filter(|_| !remembers) {
            None => next,
            Some(class) => *places
                .entry((row.segment, class, &row.value))
                .or_insert(next),
        };
        keep.push(place == next);
        match place == next {
            true => bulks.push(row.bulk),
            false => bulks[place] = bulks[place].saturating_add(row.bulk),
        }
    }
    drop(places);
    let mut bulks = bulks.into_iter();
    let mut kept = Vec::with_capacity(bulks.len());
    for (mut row, keep) in rows.into_iter().zip(keep) {
        if keep {
            row.bulk = bulks.next().unwrap_or(row.bulk);
            kept.push(row);
        }
    }
    kept
}

impl Step {
    fn after(before: Option<Rc<Self>>, value: &Value) -> Rc<Self> {
        Rc::new(Self {
            before,
            value: value.clone(),
            labels: SmallVec::new(),
        })
    }
}
