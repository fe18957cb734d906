//! Rules that fuse several steps into one: counts without elements, limits within expansions,
//! orders that an index provides.

use varve_model::{Cardinality, DataType};
use varve_view::SchemaView;

use crate::Value;
use crate::plan::{By, Counted, End, Expanded, Fused, Name, Op, Ordering, Plan, Reduce, Scope};
use crate::predicate::{Predicate, Test};
use crate::value::Token;

/// Applies the rules to the steps of one plan, whose children are already rewritten.
pub(super) fn fuse(ops: &mut Vec<Op>) {
    for op in ops.iter_mut() {
        match op {
            Op::Where { child, not } => *not ^= existence(child),
            Op::Junction { children, .. } => children.iter_mut().for_each(first_only),
            _ => {}
        }
    }
    counts(ops);
    limits(ops);
}

/// Applies the rules for the beginning of a query.
pub(super) fn fuse_beginning(ops: &mut Vec<Op>, schema: &dyn SchemaView, paths: bool) {
    count_of_source(ops);
    if !paths {
        column_of_source(ops, schema);
        degrees_of_neighbours(ops);
    }
    ordered_source(ops, schema);
}

fn is_count(op: &Op) -> bool {
    let (reduce, scope) = (Reduce::Count, Scope::Global);
    matches!(op, Op::Reduce { reduce: own, scope: own_scope } if (*own, *own_scope) == (reduce, scope))
}

/// `out().count()` needs degrees only.
fn counts(ops: &mut Vec<Op>) {
    let mut at = 0;
    while at + 1 < ops.len() {
        if let Op::Expand {
            direction, labels, ..
        } = &ops[at]
            && is_count(&ops[at + 1])
        {
            ops[at] = Op::Fused(Fused::Degrees {
                direction: *direction,
                labels: labels.clone(),
                most: u64::MAX,
                through: None,
            });
            ops.remove(at + 1);
        }
        at += 1;
    }
}

/// `out().limit(n)` needs at most n results for each vertex.
fn limits(ops: &mut [Op]) {
    for at in 0..ops.len() {
        let Op::Range {
            high: Some(high),
            scope: Scope::Global,
            ..
        } = ops[at]
        else {
            continue;
        };
        // The steps in between give one value for each input value.
        if let Some(before) = ops[..at].iter().rposition(|op| !gives_one(op)) {
            at_most(&mut ops[before], high);
        }
    }
}

const fn gives_one(op: &Op) -> bool {
    matches!(
        op,
        Op::As(_)
            | Op::Identity
            | Op::Id
            | Op::Label
            | Op::EndVertex(End::Out | End::In | End::Other)
    )
}

fn at_most(op: &mut Op, most: u64) {
    if let Op::Expand {
        direction,
        labels,
        to,
    } = op
    {
        *op = Op::Fused(Fused::Few {
            direction: *direction,
            labels: std::mem::take(labels),
            to: *to,
            most: most.max(1),
        });
    }
}

/// Limits the last expansion of a child to one result, where only the existence of a result
/// matters.
fn first_only(child: &mut Plan) {
    if let Some(last) = child.ops.last_mut() {
        at_most(last, 1);
    }
}

/// The part of a count that a predicate depends on.
enum Asked {
    /// Whether it is zero.
    None,
    /// Whether it is not zero.
    Some,
    /// The count, up to this number.
    UpTo(u64),
}

fn asked(predicate: &Predicate) -> Option<Asked> {
    let Predicate::Test(test, bound) = predicate else {
        return None;
    };
    let bound = match bound {
        Value::Int(_) | Value::Long(_) => u64::try_from(bound.as_long()?).ok()?,
        _ => return None,
    };
    Some(match (test, bound) {
        (Test::Eq | Test::Lte, 0) | (Test::Lt, 1) => Asked::None,
        (Test::Neq | Test::Gt, 0) | (Test::Gte, 1) => Asked::Some,
        (Test::Eq | Test::Neq | Test::Lt | Test::Lte | Test::Gt | Test::Gte, bound) => {
            Asked::UpTo(bound.checked_add(1)?)
        }
        _ => return None,
    })
}

/// Rewrites a child plan that is only tested for a result. Returns whether the test is now negated:
/// `out().count().is(0)` means that `out()` has no result.
fn existence(child: &mut Plan) -> bool {
    let mut contrary = false;
    if let [.., count, Op::Is(predicate)] = child.ops.as_mut_slice()
        && (is_count(count) || matches!(count, Op::Fused(Fused::Degrees { .. })))
        && let Some(asked) = asked(predicate)
    {
        match (asked, count) {
            (Asked::UpTo(bound), Op::Fused(Fused::Degrees { most, .. })) => *most = bound,
            (Asked::UpTo(_), _) => {}
            (asked, count) => {
                contrary = matches!(asked, Asked::None);
                let expanded = match count {
                    Op::Fused(Fused::Degrees {
                        direction, labels, ..
                    }) => Some(Op::Expand {
                        direction: *direction,
                        labels: std::mem::take(labels),
                        to: Expanded::Edges,
                    }),
                    _ => None,
                };
                child.ops.truncate(child.ops.len() - 2);
                child.ops.extend(expanded);
            }
        }
    }
    first_only(child);
    contrary
}

/// `out().out().count()` needs the keys of neighbours and their degrees, not the neighbours. This
/// rule is for the query itself only: in a child, [`existence`] recognizes a single expansion.
fn degrees_of_neighbours(ops: &mut Vec<Op>) {
    for at in 1..ops.len() {
        if let [
            Op::Expand {
                direction,
                labels,
                to: Expanded::Vertices,
            },
            Op::Fused(Fused::Degrees { through, .. }),
        ] = &mut ops[at - 1..=at]
        {
            *through = Some((*direction, std::mem::take(labels)));
            ops.remove(at - 1);
            return;
        }
    }
}

/// `V().count()` needs no elements.
fn count_of_source(ops: &mut Vec<Op>) {
    if let [
        Op::Source {
            kind,
            ids: None,
            labels,
            conditions,
        },
        count,
        ..,
    ] = ops.as_slice()
        && conditions.is_empty()
        && is_count(count)
    {
        let (kind, labels) = (*kind, labels.clone());
        ops.splice(..2, [Op::Fused(Fused::Elements { kind, labels })]);
    }
}

fn is_single(schema: &dyn SchemaView, key: &Name) -> bool {
    let key = schema.property_key_named(key);
    key.is_some_and(|key| key.cardinality == Cardinality::Single)
}

/// The key of the property that a step reads from each element, if the key has a single value.
fn values_of<'o>(op: &'o Op, schema: &dyn SchemaView) -> Option<&'o Name> {
    match op {
        Op::Values(keys) => match keys.as_slice() {
            [key] => Some(key).filter(|key| is_single(schema, key)),
            _ => None,
        },
        _ => None,
    }
}

/// The key of the property by which a step counts elements, if the key has a single value.
fn counts_by<'o>(op: &'o Op, schema: &dyn SchemaView) -> Option<&'o Name> {
    match op {
        Op::GroupCount {
            key: By::Key(key),
            into: None,
        } => Some(key).filter(|key| is_single(schema, key)),
        _ => None,
    }
}

/// `out().values(k)` and `out().groupCount().by(k)` read a property of each neighbour, not the
/// neighbours.
pub(super) fn values_of_neighbours(ops: &mut Vec<Op>, schema: &dyn SchemaView) {
    let mut at = 1;
    while at < ops.len() {
        if let [
            Op::Expand {
                direction,
                labels,
                to: Expanded::Vertices,
            },
            step,
            ..,
        ] = &ops[at - 1..]
        {
            let (direction, labels) = (*direction, labels.clone());
            let fused = if let Some(key) = values_of(step, schema).cloned() {
                Some(Fused::NeighbourValues {
                    direction,
                    labels,
                    key,
                })
            } else {
                let of = Counted::Neighbours { direction, labels };
                let key = counts_by(step, schema).cloned();
                key.map(|key| Fused::Counts { of, key })
            };
            if let Some(fused) = fused {
                ops.splice(at - 1..=at, [Op::Fused(fused)]);
            }
        }
        at += 1;
    }
}

/// `V().values(k)` and `V().groupCount().by(k)` read a property of each element, not the elements.
fn column_of_source(ops: &mut Vec<Op>, schema: &dyn SchemaView) {
    let [source @ Op::Source { ids: None, .. }, step, ..] = ops.as_mut_slice() else {
        return;
    };
    let source = Box::new(source.clone());
    let by_label = |key: &By| matches!(key, By::Token(Token::Label));
    let (fused, read) = if let Some(key) = counts_by(step, schema).cloned() {
        let of = Counted::Source(source);
        (Fused::Counts { of, key }, 2)
    } else if let Some(key) = values_of(step, schema).cloned() {
        let by = By::Key(key);
        (Fused::Column { source, by }, 2)
    } else {
        let by = By::Token(Token::Label);
        match step {
            Op::Label => (Fused::Column { source, by }, 2),
            // `groupCount` remains and counts the labels.
            Op::GroupCount { key, into: None } if by_label(key) => {
                *key = By::Identity;
                (Fused::Column { source, by }, 1)
            }
            _ => return,
        }
    };
    ops.splice(..read, [Op::Fused(fused)]);
}

/// Fuses a source, filters on one property, and an order by the same property, if a limit follows.
/// An index may provide the order. If none does, the operator sorts the rows.
fn ordered_source(ops: &mut Vec<Op>, schema: &dyn SchemaView) {
    let Some(Op::Source {
        ids: None,
        labels: Some(labels),
        ..
    }) = ops.first()
    else {
        return;
    };
    let Some(at) = ops.iter().position(|op| matches!(op, Op::Order { .. })) else {
        return;
    };
    let (Some(Op::Order { by, scope }), [_]) = (ops.get(at), labels.as_slice()) else {
        return;
    };
    let [(By::Key(key), way)] = by.as_slice() else {
        return;
    };
    let is_filter = |op: &Op| matches!(op, Op::HasProperty { key: own, .. } if own == key);
    let rest = ops[at + 1..].iter().find(|op| !gives_one(op));
    let is_cut = matches!(
        rest,
        Some(Op::Range {
            high: Some(_),
            scope: Scope::Global,
            ..
        })
    );
    let fits = *scope == Scope::Global
        && *way != Ordering::Shuffled
        && is_cut
        && ops[1..at].iter().all(is_filter)
        && schema
            .property_key_named(key)
            .is_some_and(|key| is_ordered(key.data_type) && key.cardinality == Cardinality::Single);
    if fits {
        let (key, descending) = (key.clone(), *way == Ordering::Descending);
        let source = Plan::new(ops[..at].to_vec());
        let ordered = Op::Fused(Fused::Ordered {
            source,
            key,
            descending,
        });
        ops.splice(..=at, [ordered]);
    }
}

/// Whether queries and indexes order the values of this type in the same way.
const fn is_ordered(data_type: DataType) -> bool {
    matches!(
        data_type,
        DataType::Byte | DataType::Int | DataType::Long | DataType::Date
    )
}
