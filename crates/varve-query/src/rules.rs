//! Rules: rewrites of plans into cheaper ones with the same results.

mod fuse;
mod paths;

use varve_model::{Condition, DataType, Predicate as Stored, Value as StoredValue};
use varve_view::SchemaView;

use crate::plan::{Expanded, Name, Op, Plan};
use crate::predicate::{Predicate, Test};
use crate::value::Token;
use crate::value::number::{NumberType, converted};
use crate::{Value, plan};

/// Applies every rule to the plan of a query. `paths`: whether traversers record their paths.
#[must_use]
pub(crate) fn rewritten(plan: &Plan, schema: &dyn SchemaView, paths: bool) -> Plan {
    // Fused steps resolve labels and orders when the query starts; a write may create new ones.
    let fuses = !plan.writes();
    let mut plan = of_any(plan, schema, paths, fuses);
    if fuses {
        fuse::fuse_beginning(&mut plan.ops, schema, paths);
    }
    plan
}

/// Applies the rules that hold for the plan of a query and for the plan of a child traversal.
fn of_any(plan: &Plan, schema: &dyn SchemaView, paths: bool, fuses: bool) -> Plan {
    let mut ops: Vec<Op> = plan
        .ops
        .iter()
        .map(|op| within(op, schema, paths, fuses))
        .collect();
    if !paths {
        edges_to_vertices(&mut ops);
    }
    filters_into_source(&mut ops, schema);
    if fuses && !paths {
        fuse::values_of_neighbours(&mut ops, schema);
    }
    if fuses {
        fuse::fuse(&mut ops);
        paths::towards(&mut ops);
    }
    Plan::new(ops)
}

fn within(op: &Op, schema: &dyn SchemaView, paths: bool, fuses: bool) -> Op {
    let mut op = op.clone();
    for child in op.children_mut() {
        *child = of_any(child, schema, paths, fuses);
    }
    op
}

/// Rewrites `outE().inV()` to `out()`. A step between the two prevents that, as in
/// `outE().as('e').inV()`.
fn edges_to_vertices(ops: &mut Vec<Op>) {
    let mut at = 0;
    while at + 1 < ops.len() {
        let fits = match (&ops[at], &ops[at + 1]) {
            (
                Op::Expand {
                    direction,
                    to: Expanded::Edges,
                    ..
                },
                Op::EndVertex(end),
            ) => matches!(
                (direction, end),
                (_, plan::End::Other)
                    | (Some(varve_model::Direction::Out), plan::End::In)
                    | (Some(varve_model::Direction::In), plan::End::Out)
            ),
            _ => false,
        };
        if fits {
            ops.remove(at + 1);
            if let Op::Expand { to, .. } = &mut ops[at] {
                *to = Expanded::Vertices;
            }
        }
        at += 1;
    }
}

/// Derives the ids, the labels and the index conditions of a source from the filters after it.
fn filters_into_source(ops: &mut Vec<Op>, schema: &dyn SchemaView) {
    let mut at = 0;
    while at < ops.len() {
        if let Op::Source { ids: None, .. } = &ops[at] {
            into_source(ops, at, schema);
        }
        at += 1;
    }
}

fn into_source(ops: &mut Vec<Op>, at: usize, schema: &dyn SchemaView) {
    // The order of filters does not matter, so a label filter may follow property filters.
    let mut next = at + 1;
    let mut found: Vec<Condition> = Vec::new();
    while next < ops.len() {
        match &ops[next] {
            Op::HasToken {
                token: Token::Label,
                predicate,
            } => {
                let names = names_of(predicate);
                match names.is_some_and(|names| restrict(&mut ops[at], names)) {
                    true => drop(ops.remove(next)),
                    false => next += 1,
                }
            }
            Op::HasToken {
                token: Token::Id,
                predicate,
            } => {
                let wanted = ids_of(predicate).map(candidates);
                let Op::Source { ids, labels, .. } = &mut ops[at] else {
                    return;
                };
                // The filter stays, since it may accept fewer ids. Later label filters stay, too: a
                // source by ids does not check labels.
                if let (Some(wanted), None, None) = (wanted, &ids, &labels) {
                    *ids = Some(wanted);
                    return;
                }
                next += 1;
            }
            Op::HasProperty { key, predicate } => {
                found.extend(condition(schema, key, predicate));
                next += 1;
            }
            Op::HasKey(_) | Op::HasNot(_) => next += 1,
            _ => break,
        }
    }
    if let Op::Source { conditions, .. } = &mut ops[at] {
        *conditions = found;
    }
}

/// Restricts a source to labels, and returns whether it did. A source that has labels already is
/// not changed: an edge may have both a label and its parent label, so two restrictions cannot be
/// intersected.
fn restrict(source: &mut Op, names: Vec<Name>) -> bool {
    match source {
        Op::Source { labels, .. } if labels.is_none() => {
            *labels = Some(names);
            true
        }
        _ => false,
    }
}

/// The texts that a predicate accepts, if it accepts nothing else.
fn names_of(predicate: &Predicate) -> Option<Vec<Name>> {
    match predicate {
        Predicate::Test(Test::Eq, Value::Text(name)) => Some(vec![name.clone()]),
        Predicate::Test(Test::Within, Value::List(items)) => {
            let each = items.iter().map(|item| match item {
                Value::Text(name) => Some(name.clone()),
                _ => None,
            });
            each.collect()
        }
        _ => None,
    }
}

/// The ids that a filter by these ids may accept, without repeats. A text may also stand for the
/// number or UUID that it parses to. A number of any type stands for the equal whole number. The
/// filter itself stays in the plan.
fn candidates(ids: Vec<Value>) -> Vec<Value> {
    let mut all = crate::value::ValueSet::default();
    for id in ids {
        if let Value::Text(text) = &id {
            all.extend(text.parse().map(Value::Long));
            all.extend(varve_model::value::Uuid::parse(text).map(|uuid| Value::Uuid(uuid.0)));
        }
        let whole = converted(&id, NumberType::Long).ok();
        all.insert(whole.filter(|whole| whole.equals(&id)).unwrap_or(id));
    }
    all.into_iter().collect()
}

fn ids_of(predicate: &Predicate) -> Option<Vec<Value>> {
    match predicate {
        Predicate::Test(Test::Eq, id) => Some(vec![id.clone()]),
        Predicate::Test(Test::Within, Value::List(items)) => Some(items.as_ref().clone()),
        _ => None,
    }
}

/// A predicate as a condition of the storage; `None` if the storage has no such condition.
fn condition(schema: &dyn SchemaView, key: &Name, predicate: &Predicate) -> Option<Condition> {
    let key = schema.property_key_named(key)?;
    if key.cardinality != varve_model::Cardinality::Single {
        return None;
    }
    let value = |value: &Value| stored(value, key.data_type);
    let predicate = match predicate {
        Predicate::Test(Test::Eq, bound) => Stored::Eq(value(bound)?),
        Predicate::Test(Test::Lt, bound) => Stored::Lt(value(bound)?),
        Predicate::Test(Test::Lte, bound) => Stored::Lte(value(bound)?),
        Predicate::Test(Test::Gt, bound) => Stored::Gt(value(bound)?),
        Predicate::Test(Test::Gte, bound) => Stored::Gte(value(bound)?),
        Predicate::Test(Test::Within, Value::List(items)) if !items.is_empty() => {
            Stored::Within(items.iter().map(value).collect::<Option<_>>()?)
        }
        Predicate::And(parts) => match parts.as_slice() {
            [
                Predicate::Test(Test::Gte, low),
                Predicate::Test(Test::Lt, high),
            ] => Stored::Between(value(low)?, value(high)?),
            [
                Predicate::Test(Test::Gt, low),
                Predicate::Test(Test::Lt, high),
            ] => Stored::Inside(value(low)?, value(high)?),
            _ => return None,
        },
        _ => return None,
    };
    Some(Condition {
        key: key.id,
        predicate,
    })
}

/// A value as it is stored in a property of this type; `None` if the conversion would lose
/// something.
fn stored(value: &Value, data_type: DataType) -> Option<StoredValue> {
    match (data_type, value) {
        (DataType::Boolean, Value::Bool(value)) => Some(StoredValue::Boolean(*value)),
        (DataType::Byte, number) => Some(StoredValue::Byte(i8::try_from(number.as_long()?).ok()?)),
        (DataType::Int, number) => Some(StoredValue::Int(i32::try_from(number.as_long()?).ok()?)),
        (DataType::Long, number) => Some(StoredValue::Long(number.as_long()?)),
        (DataType::Double, Value::Double(number)) => Some(StoredValue::Double(*number)),
        (DataType::Float, Value::Float(number)) => Some(StoredValue::Float(*number)),
        (DataType::Text, Value::Text(text)) => Some(StoredValue::Text(text.to_string())),
        (DataType::Date, Value::DateTime(instant)) if instant.has_whole_millis() => {
            Some(StoredValue::Date(instant.millis()))
        }
        (DataType::Uuid, Value::Uuid(uuid)) => Some(StoredValue::Uuid(*uuid)),
        _ => None,
    }
}
