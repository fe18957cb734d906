//! Conditions on the nodes of steps, checked before the nodes are made.
//!
//! A condition that reads one property depends on its value alone. So it is evaluated once for each
//! value, and the property is read without the rest of the node.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use varve_model::{Direction as Walked, EdgeLabelId, Properties, VertexLabelId};
use varve_view::{Dictionary, Neighbour};

use super::{Cx, ROWS};
use crate::error::Outcome;
use crate::plan::{Expand, NodeCondition};
use crate::value::{Content, Node, Value};

/// Values of a dictionary; with more, it is begun anew.
const VALUES_MAX: usize = 4_096;
/// The most nodes whose results are remembered; then all are forgotten.
const NODES_MAX: usize = 262_144;
/// Nodes that are remembered before it is seen whether that is of use.
const TRIED: usize = 16_384;
/// One of so many nodes must have been remembered.
const OF_USE: usize = 16;
/// The longest key that is remembered.
const KEY_MAX: usize = 23;
/// Bytes of a remembered result.
const RESULT_BYTES: usize = 40;

/// A key of a node, with its length.
type ShortKey = (u8, [u8; KEY_MAX]);

fn short(key: &[u8]) -> Option<ShortKey> {
    let mut short = [0; KEY_MAX];
    short.get_mut(..key.len())?.copy_from_slice(key);
    Some((key.len() as u8, short))
}

/// The results of a condition.
#[derive(Default)]
pub(super) struct Results {
    /// The property's values, and the result for each.
    values: Dictionary,
    of_values: Vec<bool>,
    /// The result for nodes that lack the property.
    of_none: Option<bool>,
    /// The results for nodes; `None` while a node is being read.
    known: HashMap<ShortKey, Option<bool>, foldhash::fast::RandomState>,
    asked: usize,
    met: usize,
}

impl Results {
    /// Whether the condition holds for each of some nodes, by their keys.
    pub(super) fn of(
        &mut self,
        cx: Cx<'_>,
        (slot, condition): (usize, &NodeCondition),
        keys: &[&[u8]],
    ) -> Outcome<Vec<bool>> {
        let mut results = vec![false; keys.len()];
        let remembers = self.asked < TRIED || self.met * OF_USE >= self.asked;
        self.make_room(cx, remembers)?;
        self.asked += keys.len();
        // The nodes that have to be read, and those that are the same as one of them.
        let (mut unknown, mut again): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
        for (at, key) in keys.iter().enumerate() {
            let Some(key) = short(key).filter(|_| remembers) else {
                unknown.push(at);
                continue;
            };
            match self.known.entry(key) {
                Entry::Vacant(place) => {
                    place.insert(None);
                    unknown.push(at);
                }
                Entry::Occupied(known) => match known.get() {
                    Some(holds) => results[at] = *holds,
                    None => again.push(at),
                },
            }
        }
        self.met += keys.len() - unknown.len();
        let remembered = unknown
            .iter()
            .filter(|at| remembers && keys[**at].len() <= KEY_MAX);
        cx.graph().meter.hold(remembered.count() * RESULT_BYTES)?;
        for (at, holds) in unknown
            .iter()
            .zip(self.read(cx, (slot, condition), keys, &unknown)?)
        {
            results[*at] = holds;
            if let Some(key) = short(keys[*at]).filter(|_| remembers) {
                self.known.insert(key, Some(holds));
            }
        }
        for at in again {
            let known = short(keys[at]).and_then(|key| self.known.get(&key));
            results[at] = known.copied().flatten().unwrap_or(false);
        }
        Ok(results)
    }

    /// Forgets results that are of no use, or too many.
    fn make_room(&mut self, cx: Cx<'_>, remembers: bool) -> Outcome<()> {
        let meter = cx.graph().meter;
        if !remembers || self.known.len() >= NODES_MAX {
            meter.release(self.known.len() * RESULT_BYTES);
            self.known = HashMap::default();
        }
        if self.values.values().len() >= VALUES_MAX {
            meter.release(self.values.bytes());
            self.values = Dictionary::default();
            self.of_values.clear();
        }
        Ok(())
    }

    /// The results for those of the nodes that are `unknown`.
    fn read(
        &mut self,
        cx: Cx<'_>,
        (slot, condition): (usize, &NodeCondition),
        keys: &[&[u8]],
        unknown: &[usize],
    ) -> Outcome<Vec<bool>> {
        let meter = cx.graph().meter;
        let keys: Vec<&[u8]> = unknown.iter().map(|at| keys[*at]).collect();
        let mut numbers: Vec<Option<u32>> = vec![None; keys.len()];
        let found = &mut |at: usize, number| numbers[at] = Some(number);
        let view = cx.view();
        view.vertex_values(&keys, condition.key, &mut self.values, meter, found)?;
        for value in &self.values.values()[self.of_values.len()..] {
            let properties = [(condition.key, value.clone())].into_iter().collect();
            self.of_values
                .push(result(cx, (slot, condition), properties)?);
        }
        let of_none = match self.of_none {
            Some(result) => result,
            None => result(cx, (slot, condition), Properties::new())?,
        };
        self.of_none = Some(of_none);
        let result = |number: Option<u32>| match number {
            Some(number) => self.of_values[number as usize],
            None => of_none,
        };
        Ok(numbers.into_iter().map(result).collect())
    }
}

/// Whether a condition holds for a node with these properties.
fn result(
    cx: Cx<'_>,
    (slot, condition): (usize, &NodeCondition),
    properties: Properties,
) -> Outcome<bool> {
    let node = Node::new(&[], VertexLabelId(0));
    let label = None;
    node.set(
        cx.graph().changes(),
        Some(Arc::new(Content { label, properties })),
    );
    let mut row = vec![Value::Null; slot + 1];
    row[slot] = Value::Node(Arc::new(node));
    cx.holds(&condition.holds, &row)
}

/// A step that waits for the result of its condition.
struct Waiting {
    /// The number of the node from which it goes.
    from: usize,
    direction: Walked,
    label: EdgeLabelId,
    other_label: VertexLabelId,
    /// Where the keys of the edge and of the other node end.
    edge_end: usize,
    other_end: usize,
}

/// Steps that wait for the results of their conditions.
#[derive(Default)]
pub(super) struct Unchecked {
    steps: Vec<Waiting>,
    bytes: Vec<u8>,
    held: usize,
}

impl Unchecked {
    pub(super) fn push(&mut self, cx: Cx<'_>, from: usize, seen: &Neighbour<'_>) -> Outcome<()> {
        self.bytes.extend_from_slice(seen.edge);
        let edge_end = self.bytes.len();
        self.bytes.extend_from_slice(seen.other);
        self.steps.push(Waiting {
            from,
            direction: seen.direction,
            label: seen.label,
            other_label: seen.other_label,
            edge_end,
            other_end: self.bytes.len(),
        });
        if self.steps.len().is_multiple_of(ROWS) {
            let bytes = self.bytes.capacity() + self.steps.capacity() * size_of::<Waiting>();
            let more = bytes.saturating_sub(self.held);
            self.held += more;
            cx.graph().meter.hold(more)?;
        }
        Ok(())
    }

    /// Passes the steps for which the condition holds to `add`, with the numbers of their nodes.
    pub(super) fn check(
        self,
        cx: Cx<'_>,
        (expand, condition): (&Expand, &NodeCondition),
        results: &mut Results,
        mut add: impl FnMut(usize, &Neighbour<'_>) -> Outcome<()>,
    ) -> Outcome<()> {
        let keys = |step: &Waiting| &self.bytes[step.edge_end..step.other_end];
        let others: Vec<&[u8]> = self.steps.iter().map(keys).collect();
        let holds = results.of(cx, (expand.to, condition), &others)?;
        let mut start = 0;
        for (step, holds) in self.steps.iter().zip(holds) {
            let edge = &self.bytes[start..step.edge_end];
            start = step.other_end;
            if holds {
                let seen = Neighbour {
                    direction: step.direction,
                    label: step.label,
                    edge,
                    other: keys(step),
                    other_label: step.other_label,
                    properties: &Properties::new(),
                };
                add(step.from, &seen)?;
            }
        }
        cx.graph().meter.release(self.held);
        Ok(())
    }
}
