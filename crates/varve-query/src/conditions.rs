//! The conditions of a query on a graph with a declared schema.
//!
//! Their labels and keys must exist, and their values are converted to the types of the keys, as
//! writing converts them. Open graphs compare values as they are.

use std::borrow::Cow;

use varve_model::{DataType, PropertyKey};
use varve_view::SchemaView;

use crate::plan::write::Write;
use crate::plan::{ElementKind, Expanded, Name, Op, Plan, Scope};
use crate::predicate::{Predicate, Test};
use crate::value::Token;
use crate::{QueryError, Value};

/// What the input of a step is, as far as the plan tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Input {
    /// Elements, all of this kind if it is known.
    Elements(Option<ElementKind>),
    /// Elements or other values.
    Unknown,
    /// No elements, such as maps.
    Other,
}

/// The plan with its conditions converted.
///
/// # Errors
/// For a label or a key that does not exist, and for a value that does not fit its key.
pub(crate) fn converted<'p>(
    plan: &'p Plan,
    schema: &dyn SchemaView,
) -> Result<Cow<'p, Plan>, QueryError> {
    if !schema.is_strict() {
        return Ok(Cow::Borrowed(plan));
    }
    let mut has_conditions = false;
    plan.walk(&mut |op| has_conditions |= is_condition(op));
    if !has_conditions {
        return Ok(Cow::Borrowed(plan));
    }
    let mut plan = plan.clone();
    convert(&mut plan, Input::Other, schema)?;
    Ok(Cow::Owned(plan))
}

const fn is_condition(op: &Op) -> bool {
    matches!(
        op,
        Op::HasProperty { .. } | Op::HasPropertyChild { .. } | Op::HasToken { .. }
    )
}

fn convert(plan: &mut Plan, mut input: Input, schema: &dyn SchemaView) -> Result<(), QueryError> {
    for op in &mut plan.ops {
        match op {
            Op::HasProperty { key, predicate } => {
                if let Some(key) = key_of(key, input, schema)? {
                    convert_predicate(predicate, &mut |value| match of_key(value, key, schema) {
                        Err(_) if input == Input::Unknown => Ok(()),
                        Ok(Some(converted)) => {
                            *value = converted;
                            Ok(())
                        }
                        Ok(None) => Ok(()),
                        Err(error) => Err(error),
                    })?;
                }
            }
            Op::HasPropertyChild { key, .. } => drop(key_of(key, input, schema)?),
            Op::HasToken {
                token: Token::Label,
                predicate,
            } => {
                if let Input::Elements(kind) = input {
                    check_labels(predicate, kind, schema)?;
                }
            }
            _ => {}
        }
        let within = of_children(op, input);
        for child in op.children_mut() {
            convert(child, within, schema)?;
        }
        input = after(op, input);
    }
    Ok(())
}

/// The key of a condition; `None` if the condition may be one on a map.
fn key_of<'s>(
    name: &Name,
    input: Input,
    schema: &'s dyn SchemaView,
) -> Result<Option<&'s PropertyKey>, QueryError> {
    let key = schema.property_key_named(name);
    match input {
        Input::Other => Ok(None),
        Input::Elements(_) if key.is_none() => Err(QueryError::invalid(format!(
            "Undefined property key: '{name}'"
        ))),
        Input::Elements(_) | Input::Unknown => Ok(key),
    }
}

fn check_labels(
    predicate: &Predicate,
    kind: Option<ElementKind>,
    schema: &dyn SchemaView,
) -> Result<(), QueryError> {
    let names: &[Value] = match predicate {
        Predicate::Test(Test::Within, Value::List(names)) => names,
        Predicate::Test(Test::Eq, name) => std::slice::from_ref(name),
        // Other predicates compare labels as texts.
        _ => return Ok(()),
    };
    for name in names {
        let Value::Text(name) = name else { continue };
        let of_vertices = kind != Some(ElementKind::Edge);
        let of_edges = kind != Some(ElementKind::Vertex);
        let exists = of_vertices && schema.vertex_label_named(name).is_some()
            || of_edges && schema.edge_label_named(name).is_some();
        if !exists {
            let which = match kind {
                Some(ElementKind::Vertex) => "vertex label",
                Some(ElementKind::Edge) => "edge label",
                None => "label",
            };
            return Err(QueryError::invalid(format!("Undefined {which}: '{name}'")));
        }
    }
    Ok(())
}

/// Calls `each` with every value that the predicate compares properties with.
fn convert_predicate(
    predicate: &mut Predicate,
    each: &mut dyn FnMut(&mut Value) -> Result<(), QueryError>,
) -> Result<(), QueryError> {
    match predicate {
        Predicate::Test(Test::Within | Test::Without, Value::List(items)) => {
            let mut members = items.as_ref().clone();
            members.iter_mut().try_for_each(each)?;
            *items = std::sync::Arc::new(members);
            Ok(())
        }
        Predicate::Test(
            Test::Eq | Test::Neq | Test::Lt | Test::Lte | Test::Gt | Test::Gte,
            bound,
        ) => each(bound),
        Predicate::Test(..) | Predicate::Custom(_) => Ok(()),
        Predicate::And(parts) | Predicate::Or(parts) => {
            let mut parts = parts.iter_mut();
            parts.try_for_each(|part| convert_predicate(part, each))
        }
        Predicate::Not(inner) => convert_predicate(inner, each),
    }
}

/// A value as the key has it; `None` if it is compared as it is.
fn of_key(
    value: &Value,
    key: &PropertyKey,
    schema: &dyn SchemaView,
) -> Result<Option<Value>, QueryError> {
    // A collection is compared with the collection of the element, null with nothing.
    let is_whole = matches!(value, Value::Null | Value::List(_) | Value::Set(_));
    // Numbers of all widths are compared by value, but a float has lost digits.
    let is_number = match (key.data_type, value) {
        (DataType::Double, Value::Float(_)) => false,
        (DataType::Byte | DataType::Int | DataType::Long | DataType::Double, value) => {
            value.is_number()
        }
        _ => false,
    };
    if key.data_type == DataType::Object || is_whole || is_number {
        return Ok(None);
    }
    let converted = schema.condition_value(key, &value.to_stored()?)?;
    Ok(Some(Value::of_property(&converted, key.data_type)))
}

/// The input of a step's children.
fn of_children(op: &Op, input: Input) -> Input {
    match op {
        Op::Repeat(repeat) => either(input, after_all(&repeat.body, input)),
        Op::Branch { .. }
        | Op::Where { .. }
        | Op::Junction { .. }
        | Op::FlatMap { .. }
        | Op::SideEffect(_)
        | Op::Union(_)
        | Op::Coalesce(_)
        | Op::Optional(_)
        | Op::IfThenElse { .. }
        | Op::Combine { .. }
        | Op::Project { .. }
        | Op::Order {
            scope: Scope::Global,
            ..
        }
        | Op::Dedup {
            scope: Scope::Global,
            ..
        }
        | Op::Sample {
            scope: Scope::Global,
            ..
        }
        | Op::GroupCount { .. }
        | Op::Aggregate { .. }
        | Op::SackWith { .. } => input,
        Op::HasPropertyChild { .. } => Input::Other,
        _ => Input::Unknown,
    }
}

fn either(one: Input, other: Input) -> Input {
    match (one, other) {
        (one, other) if one == other => one,
        (Input::Elements(_), Input::Elements(_)) => Input::Elements(None),
        _ => Input::Unknown,
    }
}

fn after_all(plan: &Plan, input: Input) -> Input {
    plan.ops.iter().fold(input, |input, op| after(op, input))
}

fn after_each(plans: &[Plan], input: Input) -> Input {
    let each = plans.iter().map(|plan| after_all(plan, input));
    each.reduce(either).unwrap_or(Input::Other)
}

/// What a step gives.
fn after(op: &Op, input: Input) -> Input {
    const VERTICES: Input = Input::Elements(Some(ElementKind::Vertex));
    const EDGES: Input = Input::Elements(Some(ElementKind::Edge));
    match op {
        Op::Source { kind, .. } => Input::Elements(Some(*kind)),
        Op::Expand { to, .. } => match to {
            Expanded::Vertices => VERTICES,
            Expanded::Edges => EDGES,
        },
        Op::EndVertex(_) => VERTICES,
        Op::Element => Input::Elements(None),
        Op::Write(write) => match &**write {
            Write::AddVertex { .. } | Write::MergeVertex(_) => VERTICES,
            Write::AddEdge { .. } | Write::MergeEdge(_) => EDGES,
            Write::Set(_) | Write::Drop => input,
        },
        Op::Repeat(repeat) => either(input, after_all(&repeat.body, input)),
        Op::Union(plans) | Op::Coalesce(plans) => after_each(plans, input),
        Op::Optional(child) => either(input, after_all(child, input)),
        Op::FlatMap { child, .. } => after_all(child, input),
        Op::IfThenElse {
            then, otherwise, ..
        } => either(after_all(then, input), after_all(otherwise, input)),
        Op::Branch { options, .. } => {
            let each = options.iter().map(|(_, plan)| after_all(plan, input));
            each.reduce(either).unwrap_or(Input::Other)
        }
        Op::Select { labels, .. } if labels.len() == 1 => Input::Unknown,
        Op::SelectChild { .. } | Op::SelectColumn { .. } | Op::Unfold | Op::Call(_) => {
            Input::Unknown
        }
        Op::Cap(_) | Op::Bound { .. } | Op::Function(_) | Op::Fused(_) => Input::Unknown,
        op if op.passes_on() => input,
        _ => Input::Other,
    }
}
