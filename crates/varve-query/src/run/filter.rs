//! Steps that filter rows.

use std::collections::HashSet;

use super::child::{Child, Key, Reader};
use super::context::{Context, copied_bytes};
use super::row::Row;
use super::{BoxedOperator, Operator, Reset};
use super::{element, map};
use crate::plan::Name;
use crate::predicate::{Predicate, Test};
use crate::value::{Path, Token};
use crate::{QueryError, Value};

/// Whether an element has a property that satisfies a predicate.
pub(crate) fn has_property(
    cx: &Context<'_>,
    value: &Value,
    key: &Key,
    predicate: &Predicate,
) -> Result<bool, QueryError> {
    match value {
        Value::Vertex(_) | Value::Edge(..) | Value::VertexProperty(_) => {
            element::any_property(cx, value, key, |property| predicate.holds(property))
        }
        Value::Map(map) => match map.get(&Value::Text(key.name.clone())) {
            Some(member) => predicate.holds(member),
            None => Ok(false),
        },
        Value::Property(_) => Ok(false),
        other => Err(QueryError::cast(other, "Element")),
    }
}

/// Whether the id, label, key or value of a value satisfies a predicate. An id equals a number of
/// any width, and a text that is the id's text.
pub(crate) fn has_token(
    cx: &Context<'_>,
    value: &Value,
    token: Token,
    predicate: &Predicate,
) -> Result<bool, QueryError> {
    // Only properties have a key and a value.
    if let (Token::Key | Token::Value, Value::Vertex(_) | Value::Edge(..)) = (token, value) {
        return Ok(false);
    }
    match element::token(cx, value, token)? {
        Some(own) if token == Token::Label => match labels_above(cx, value).as_slice() {
            [] => predicate.holds(&own),
            above => any_label(predicate, &own, above),
        },
        // If the predicate compares with a text, the id is compared as text.
        Some(own) if token == Token::Id && predicate.is_textual() => {
            predicate.holds(&Value::Text(own.to_text()?))
        }
        Some(own) => predicate.holds(&own),
        None => Ok(false),
    }
}

/// The labels that an element has besides its own: an edge's parent label, and supertypes.
fn labels_above(cx: &Context<'_>, value: &Value) -> Vec<Value> {
    match value {
        Value::Vertex(vertex) => {
            let label = vertex.label();
            let above = label.map_or(&[][..], |label| cx.schema.vertex_supertypes(label));
            let names = above.iter().map(|label| cx.vertex_label(*label));
            names.map(Value::text).collect()
        }
        Value::Edge(edge, _) => {
            let parent = (edge.id.parent != edge.id.label).then_some(edge.id.parent);
            let above = cx.schema.edge_supertypes(edge.id.label).iter().copied();
            let names = parent.into_iter().chain(above);
            names
                .map(|label| Value::text(cx.edge_label(label)))
                .collect()
        }
        _ => Vec::new(),
    }
}

/// Whether the labels of an element satisfy a predicate: its own, and those that it has as well.
fn any_label(predicate: &Predicate, own: &Value, above: &[Value]) -> Result<bool, QueryError> {
    let holds_of_all = |wanted: bool| -> Result<bool, QueryError> {
        for label in std::iter::once(own).chain(above) {
            if predicate.holds(label)? != wanted {
                return Ok(false);
            }
        }
        Ok(true)
    };
    Ok(match predicate {
        Predicate::Test(Test::Neq | Test::Without, _) => holds_of_all(true)?,
        Predicate::Test(Test::Eq | Test::Within, _) => !holds_of_all(false)?,
        Predicate::Test(..) | Predicate::Custom(_) => predicate.holds(own)?,
        Predicate::And(all) => {
            for each in all {
                if !any_label(each, own, above)? {
                    return Ok(false);
                }
            }
            true
        }
        Predicate::Or(any) => {
            for each in any {
                if any_label(each, own, above)? {
                    return Ok(true);
                }
            }
            false
        }
        Predicate::Not(inner) => !any_label(inner, own, above)?,
    })
}

/// Returns the rows whose entry in `keep` equals `wanted`.
pub(crate) fn keep(rows: Vec<Row>, keep: &[bool], wanted: bool) -> Vec<Row> {
    let kept = rows
        .into_iter()
        .zip(keep)
        .filter(|(_, keep)| **keep == wanted);
    kept.map(|(row, _)| row).collect()
}

/// Returns the rows for which all children (`all`), or at least one, have a result.
pub(crate) fn junction(
    cx: &mut Context<'_>,
    children: &mut [Child],
    all: bool,
    rows: Vec<Row>,
) -> Result<Vec<Row>, QueryError> {
    let mut passed = vec![all; rows.len()];
    for child in children {
        // Only rows that are still undecided.
        let open: Vec<usize> = (0..rows.len()).filter(|at| passed[*at] == all).collect();
        if open.is_empty() {
            break;
        }
        let asked: Vec<Row> = open.iter().map(|at| rows[*at].clone()).collect();
        for (at, exists) in open.into_iter().zip(child.exist(cx, &asked)?) {
            passed[at] = exists;
        }
    }
    Ok(keep(rows, &passed, true))
}

/// Returns the rows that satisfy a comparison with labelled values.
pub(crate) fn where_labels(
    cx: &mut Context<'_>,
    start: Option<&Name>,
    predicate: &Predicate,
    readers: &mut [Reader],
    rows: Vec<Row>,
) -> Result<Vec<Row>, QueryError> {
    let mut kept = Vec::with_capacity(rows.len());
    for row in rows {
        if passes(cx, start, predicate, readers, &row)? {
            kept.push(row);
        }
    }
    Ok(kept)
}

fn passes(
    cx: &mut Context<'_>,
    start: Option<&Name>,
    predicate: &Predicate,
    readers: &mut [Reader],
    row: &Row,
) -> Result<bool, QueryError> {
    let own = match start {
        Some(label) => scoped(cx, row, label)?,
        None => row.value.clone(),
    };
    let Some(own) = readers[0].read_value(cx, &own)? else {
        return Ok(false);
    };
    let mut next = 0;
    let bound = predicate.bound_by(&mut |bound| {
        let Value::Text(label) = bound else {
            return Ok(Some(bound.clone()));
        };
        let value = scoped(cx, row, label)?;
        next += 1;
        let reader = &mut readers[next % readers.len().max(1)];
        reader.read_value(cx, &value)
    })?;
    bound.map_or(Ok(false), |bound| bound.holds(&own))
}

/// The value of a label: a member of the row's map, a side effect, or a labelled value of the path.
///
/// # Errors
/// If the label has no value.
pub(crate) fn scoped(cx: &Context<'_>, row: &Row, label: &Name) -> Result<Value, QueryError> {
    map::labelled(cx, row, None, label).ok_or_else(|| without_value(label))
}

/// The error for a label without a value.
pub(super) fn without_value(label: &str) -> QueryError {
    QueryError::invalid(format!(
        "Neither the map, the side effects nor the path has a value '{label}'"
    ))
}

/// Bytes of a value that `dedup` remembers, without its text.
const KEY_BYTES: usize = size_of::<(u32, Value)>() + 48;

/// Gives the first row with each value, in each segment.
pub(crate) struct Dedup {
    pub(crate) input: BoxedOperator,
    pub(crate) labels: Vec<Name>,
    pub(crate) reader: Reader,
    pub(crate) seen: HashSet<(u32, Value), foldhash::fast::RandomState>,
    pub(crate) held: usize,
    /// Bytes of values that were forgotten, to be released in the next call.
    pub(crate) returned: usize,
}

impl Dedup {
    fn of(&mut self, cx: &mut Context<'_>, rows: &[Row]) -> Result<Vec<Option<Value>>, QueryError> {
        if self.labels.is_empty() {
            return self.reader.read(cx, rows);
        }
        let mut values = Vec::with_capacity(rows.len());
        for row in rows {
            let mut parts = Vec::with_capacity(self.labels.len());
            for label in &self.labels {
                let value = scoped(cx, row, label)?;
                parts.extend(self.reader.read_value(cx, &value)?);
            }
            let complete = parts.len() == self.labels.len();
            values.push(complete.then(|| Value::list(parts)));
        }
        Ok(values)
    }
}

impl Operator for Dedup {
    fn next(
        &mut self,
        cx: &mut Context<'_>,
        demand: usize,
    ) -> Result<Option<Vec<Row>>, QueryError> {
        let Some(rows) = self.input.next(cx, demand)? else {
            return Ok(None);
        };
        cx.meter.release(std::mem::take(&mut self.returned));
        let values = self.of(cx, &rows)?;
        let mut kept = Vec::with_capacity(rows.len());
        for (mut row, value) in rows.into_iter().zip(values) {
            let Some(value) = value else {
                continue;
            };
            let bytes = KEY_BYTES + copied_bytes(&value);
            if self.seen.insert((row.segment, value)) {
                self.held += bytes;
                cx.meter.hold(bytes)?;
                row.bulk = 1;
                kept.push(row);
            }
        }
        Ok(Some(kept))
    }

    fn reset(&mut self, how: Reset) {
        if how == Reset::All {
            self.seen.clear();
            self.returned += std::mem::take(&mut self.held);
        }
        self.input.reset(how);
    }
}

/// Whether a path has no object twice.
pub(crate) fn is_simple(path: &Path) -> bool {
    let mut seen: HashSet<&Value, foldhash::fast::RandomState> = HashSet::default();
    path.objects.iter().all(|object| seen.insert(object))
}
