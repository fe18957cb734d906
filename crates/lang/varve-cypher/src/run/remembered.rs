//! Conditions on one node, which are evaluated once for each node.

use std::collections::HashMap;
use std::sync::Arc;

use super::Cx;
use crate::error::Outcome;
use crate::expression::Expr;
use crate::plan::slots::{is_random, operands, reads};
use crate::value::{Node, Value};

/// The most nodes whose results are remembered; then all are forgotten.
const NODES_MAX: usize = 262_144;
/// Bytes of a remembered result.
const RESULT_BYTES: usize = 40;

/// Results of a condition that depends on one node alone.
pub(super) struct Remembered {
    slot: usize,
    /// By the node's address. The node is kept, so that no other gets its address.
    known: HashMap<*const Node, (Arc<Node>, bool), foldhash::fast::RandomState>,
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
        })
    }

    /// Whether the condition holds for a row.
    pub(super) fn holds(&mut self, cx: Cx<'_>, condition: &Expr, row: &[Value]) -> Outcome<bool> {
        let Some(Value::Node(node)) = row.get(self.slot) else {
            return cx.holds(condition, row);
        };
        let address = Arc::as_ptr(node);
        if let Some((_, holds)) = self.known.get(&address) {
            return Ok(*holds);
        }
        let holds = cx.holds(condition, row)?;
        let meter = cx.graph().meter;
        if self.known.len() >= NODES_MAX {
            meter.release(self.known.len() * RESULT_BYTES);
            self.known.clear();
        }
        meter.hold(RESULT_BYTES)?;
        self.known.insert(address, (Arc::clone(node), holds));
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

/// Whether an expression has one value for one row, in whatever subquery.
fn is_fixed(expr: &Expr) -> bool {
    let mut fixed = !matches!(expr, Expr::Subquery(..) | Expr::Local(_)) && !is_random(expr);
    operands(expr, &mut |operand| fixed = fixed && is_fixed(operand));
    fixed
}
