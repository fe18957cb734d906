//! What steps along relationships share: ends, labels and types.

use std::sync::Arc;

use varve_model::{Direction as Walked, VertexId};
use varve_view::Neighbour;

use super::Cx;
use crate::error::Outcome;
use crate::expression::Expr;
use crate::plan::slots;
use crate::tree::Direction;
use crate::value::{Node, Relationship, Value};

/// Reads, in one batch, the properties that an expression reads of the rows' elements.
pub(super) fn prefetch<'r>(
    cx: Cx<'_>,
    expr: &Expr,
    rows: impl Iterator<Item = &'r [Value]> + Clone,
) -> Outcome<()> {
    if rows.clone().nth(1).is_none() {
        return Ok(());
    }
    let mut wanted = Vec::new();
    owners(expr, &mut wanted);
    wanted.sort_unstable();
    wanted.dedup();
    for slot in wanted {
        let (mut nodes, mut relationships) = (Vec::new(), Vec::new());
        for row in rows.clone() {
            match row.get(slot) {
                Some(Value::Node(node)) => nodes.push(node),
                Some(Value::Relationship(one)) => relationships.push(one),
                _ => {}
            }
        }
        cx.graph().fetch(nodes, &cx.keys())?;
        cx.graph().fetch_relationships(relationships, &cx.keys())?;
    }
    Ok(())
}

/// The slots whose properties an expression reads.
fn owners(expr: &Expr, wanted: &mut Vec<usize>) {
    match expr {
        Expr::Property(subject, _) | Expr::Index(subject, _) => {
            if let Expr::Slot(slot) = **subject {
                wanted.push(slot);
            }
        }
        Expr::MapProjection(one) => {
            if let Expr::Slot(slot) = one.subject {
                wanted.push(slot);
            }
        }
        Expr::Call(function, arguments) if function.name == "properties" => {
            if let [Expr::Slot(slot)] = &**arguments {
                wanted.push(*slot);
            }
        }
        _ => {}
    }
    slots::operands(expr, &mut |operand| owners(operand, wanted));
}

/// The direction to read; `None` = both.
pub(super) const fn walked(direction: Direction) -> Option<Walked> {
    match direction {
        Direction::Right => Some(Walked::Out),
        Direction::Left => Some(Walked::In),
        Direction::Either | Direction::Both => None,
    }
}

/// Whether a relationship was seen before in its other direction: a loop has two.
pub(super) fn is_second_sight(
    from: &Node,
    direction: Option<Walked>,
    seen: &Neighbour<'_>,
) -> bool {
    *seen.other == *from.key && direction.is_none() && seen.direction == Walked::In
}

/// The node at the other end.
pub(super) fn other_node(cx: Cx<'_>, from: &Arc<Node>, seen: &Neighbour<'_>) -> Outcome<Arc<Node>> {
    match *seen.other == *from.key {
        true => Ok(Arc::clone(from)),
        false => cx.node(seen.other, seen.other_label),
    }
}

/// A relationship that was seen at a node, and the node at its other end.
pub(super) fn step(
    cx: Cx<'_>,
    from: &Arc<Node>,
    seen: &Neighbour<'_>,
) -> Outcome<(Arc<Relationship>, Arc<Node>)> {
    let other = other_node(cx, from, seen)?;
    let id = cx.view().edge_id(&from.key, seen.edge)?;
    let (start, end) = match seen.direction {
        Walked::Out => (Arc::clone(from), Arc::clone(&other)),
        Walked::In => (Arc::clone(&other), Arc::clone(from)),
    };
    let relationship = Relationship::new(id, start, end).within(cx.snapshot());
    Ok((Arc::new(relationship), other))
}

/// Whether a relationship is one of those in some slots of a row.
pub(super) fn is_used(one: &Relationship, unlike: &[usize], row: &[Value]) -> bool {
    let is_it = |value: &Value| matches!(value, Value::Relationship(other) if **other == *one);
    unlike.iter().any(|slot| match row.get(*slot) {
        Some(Value::List(items)) => items.iter().any(is_it),
        Some(value) => is_it(value),
        None => false,
    })
}

/// Whether a relationship that is seen at a node may be one of those in some slots of a row: one of
/// them has the same ends.
pub(super) fn may_be_used(
    from: &Node,
    seen: &Neighbour<'_>,
    unlike: &[usize],
    row: &[Value],
) -> bool {
    let has_ends = |value: &Value| match value {
        Value::Relationship(one) => {
            let (start, end) = (&*one.start.key, &*one.end.key);
            (start == &*from.key && end == seen.other) || (end == &*from.key && start == seen.other)
        }
        _ => false,
    };
    unlike.iter().any(|slot| match row.get(*slot) {
        Some(Value::List(items)) => items.iter().any(has_ends),
        Some(value) => has_ends(value),
        None => false,
    })
}

/// A value that must be a node; `None` if it is null.
pub(super) fn node_of(value: Option<&Value>) -> Outcome<Option<&Arc<Node>>> {
    match value {
        Some(Value::Node(node)) => Ok(Some(node)),
        None | Some(Value::Null) => Ok(None),
        Some(other) => {
            let message = format!("expected a node, but got {}", other.type_name());
            Err(crate::error::type_error("InvalidArgumentType", message))
        }
    }
}

/// The id of a node.
pub(super) fn vertex_id(cx: Cx<'_>, node: &Node) -> Outcome<VertexId> {
    Ok(cx.graph().view.vertex_id(&node.key)?)
}
