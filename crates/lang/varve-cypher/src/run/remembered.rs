//! Conditions on one node, which are evaluated once for each node.

use std::collections::HashMap;
use std::sync::Arc;

use super::Cx;
use crate::error::Outcome;
use crate::expression::Expr;
use crate::plan::slots::{is_fixed, reads};
use crate::value::{Node, Value};

/// The most nodes whose results are remembered; then all are forgotten.
const NODES_MAX: usize = 262_144;
/// Nodes that are remembered before it is seen whether that is of use.
const TRIED: usize = 4_096;
/// One of so many nodes must have been remembered.
const OF_USE: usize = 16;
/// Bytes of a remembered result.
const RESULT_BYTES: usize = 40;

/// Results of a condition that depends on one node alone.
pub(super) struct Remembered {
    slot: usize,
    /// By the node's address. The node is kept, so that no other gets its address.
    known: HashMap<*const Node, (Arc<Node>, bool), foldhash::fast::RandomState>,
    asked: usize,
    met: usize,
}

impl Remembered {
    /// `None` if the condition reads more than one slot, or can be different for equal nodes.
    pub(super) fn of(condition: &Expr) -> Option<Remembered> {
        let mut slots = Vec::new();
        reads(condition, &[], &mut |slot| slots.push(slot));
        slots.dedup();
        let [slot] = *slots else {
            return None;
        };
        is_fixed(condition).then(|| Remembered {
            slot,
            known: HashMap::default(),
            asked: 0,
            met: 0,
        })
    }

    /// Whether the condition holds for a row.
    pub(super) fn holds(&mut self, cx: Cx<'_>, condition: &Expr, row: &[Value]) -> Outcome<bool> {
        let Some(Value::Node(node)) = row.get(self.slot) else {
            return cx.holds(condition, row);
        };
        let address = Arc::as_ptr(node);
        self.asked += 1;
        if let Some((_, holds)) = self.known.get(&address) {
            self.met += 1;
            return Ok(*holds);
        }
        let holds = cx.holds(condition, row)?;
        let is_of_use = self.asked < TRIED || self.met * OF_USE >= self.asked;
        let meter = cx.graph().meter;
        if self.known.len() >= NODES_MAX || !is_of_use {
            meter.release(self.known.len() * RESULT_BYTES);
            self.known.clear();
        }
        if is_of_use {
            meter.hold(RESULT_BYTES)?;
            self.known.insert(address, (Arc::clone(node), holds));
        }
        Ok(holds)
    }

    /// Whether the result for a row is known.
    pub(super) fn knows(&self, row: &[Value]) -> bool {
        match row.get(self.slot) {
            Some(Value::Node(node)) => self.known.contains_key(&Arc::as_ptr(node)),
            _ => false,
        }
    }
}
