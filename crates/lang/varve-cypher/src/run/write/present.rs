//! Elements of other points of valid time as those of the statement's point: a statement that reads
//! the past writes now.

use std::borrow::Cow;
use std::sync::Arc;

use crate::value::{Node, Relationship, Value};

/// The node at the statement's point.
pub(super) fn node(node: &Arc<Node>) -> Arc<Node> {
    match &node.snapshot {
        None => Arc::clone(node),
        Some(_) => Arc::new(Node::new(&node.key, node.label)),
    }
}

/// The relationship at the statement's point.
pub(super) fn relationship(one: &Arc<Relationship>) -> Arc<Relationship> {
    match &one.snapshot {
        None => Arc::clone(one),
        Some(_) => {
            let ends = (node(&one.start), node(&one.end));
            Arc::new(Relationship::new(one.id.clone(), ends.0, ends.1))
        }
    }
}

/// A value that is an element, at the statement's point.
pub(super) fn value(value: Value) -> Value {
    match &value {
        Value::Node(one) if one.snapshot.is_some() => Value::Node(node(one)),
        Value::Relationship(one) if one.snapshot.is_some() => {
            Value::Relationship(relationship(one))
        }
        _ => value,
    }
}

/// A row with its elements at the statement's point.
pub(super) fn row(row: &[Value]) -> Cow<'_, [Value]> {
    let is_past = |value: &Value| match value {
        Value::Node(one) => one.snapshot.is_some(),
        Value::Relationship(one) => one.snapshot.is_some(),
        _ => false,
    };
    match row.iter().any(is_past) {
        false => Cow::Borrowed(row),
        true => Cow::Owned(row.iter().cloned().map(value).collect()),
    }
}
