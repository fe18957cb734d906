//! Steps that map one value to another.

use std::sync::Arc;

use indexmap::IndexSet;

use super::build::{Builder, batch, calculation, each};
use super::child::{Child, Key, Reader};
use super::context::Context;
use super::effect::joined;
use super::filter::scoped;
use super::row::Row;
use super::{BoxedOperator, element};
use crate::plan::{By, Name, Op, Plan, Pop};
use crate::value::{DEPTH_MAX, Path, Token, Tree, ValueMap};
use crate::{QueryError, Value};

/// A step that maps each value to at most one value.
pub(crate) fn values<F>(input: BoxedOperator, fetch: bool, mut make: F) -> BoxedOperator
where
    F: FnMut(&mut Context<'_>, &Value) -> Result<Option<Value>, QueryError> + 'static,
{
    each(input, fetch, move |cx, row, out| {
        if let Some(value) = make(cx, &row.value)? {
            out.push(row.at(value, cx.track));
        }
        Ok(())
    })
}

/// A step that maps each value to any number of values.
fn many<F>(input: BoxedOperator, fetch: bool, mut make: F) -> BoxedOperator
where
    F: FnMut(&mut Context<'_>, &Value) -> Result<Vec<Value>, QueryError> + 'static,
{
    each(input, fetch, move |cx, row, out| {
        for value in make(cx, &row.value)? {
            out.push(row.at(value, cx.track));
        }
        Ok(())
    })
}

pub(crate) fn operator(
    op: &Op,
    input: BoxedOperator,
    builder: &Builder<'_>,
) -> Result<BoxedOperator, QueryError> {
    Ok(match op {
        Op::Identity => input,
        Op::Id => token(input, Token::Id),
        Op::Label => token(input, Token::Label),
        Op::Key => token(input, Token::Key),
        Op::Value => token(input, Token::Value),
        Op::Constant(constant) => {
            let constant = constant.clone();
            values(input, false, move |_, _| Ok(Some(constant.clone())))
        }
        Op::Unfold => many(input, false, |_, value| {
            Ok(value.items().unwrap_or_else(|| vec![value.clone()]))
        }),
        Op::SelectColumn { keys } => {
            let keys = *keys;
            values(input, false, move |_, value| {
                element::column(value, keys).map(Some)
            })
        }
        Op::Index { map } => {
            let map = *map;
            values(input, false, move |_, value| {
                indexed(value, map).bounded().map(Some)
            })
        }
        Op::Fail(message) => {
            let message = message.to_string();
            values(input, false, move |_, _| {
                Err(QueryError::Fail(message.clone()))
            })
        }
        Op::Function(function) => {
            let apply = Arc::clone(&function.apply);
            values(input, false, move |cx, value| {
                let made = apply(value)?.map(Value::bounded).transpose()?;
                made.iter().try_for_each(|made| cx.tick_made(made))?;
                Ok(made)
            })
        }
        Op::Combine { children, function } => {
            super::format::combine(input, children, function, builder)?
        }
        Op::Format { parts, by } => super::format::format(input, parts, by, builder)?,
        Op::Element => values(input, false, |_, value| element::owner(value).map(Some)),
        Op::Math { expression, by } => {
            calculation(input, expression.clone(), Reader::each(by, builder)?)
        }
        other => properties(other, input, builder)?,
    })
}

/// Steps that read the properties of an element.
fn properties(
    op: &Op,
    input: BoxedOperator,
    builder: &Builder<'_>,
) -> Result<BoxedOperator, QueryError> {
    // A key given twice counts once.
    let keys = |names: &[Name]| -> Vec<Key> {
        let each: IndexSet<&Name> = names.iter().collect();
        each.into_iter().map(|name| builder.key(name)).collect()
    };
    Ok(match op {
        Op::Values(names) => {
            let keys = keys(names);
            many(input, true, move |cx, value| {
                is_element(value)?;
                let pairs = element::pairs(cx, value, &keys).into_iter();
                Ok(pairs.map(|(_, value)| value).collect())
            })
        }
        Op::Properties(names) => {
            let keys = keys(names);
            many(input, true, move |cx, value| {
                is_element(value)?;
                Ok(element::property_values(cx, value, &keys))
            })
        }
        Op::ElementMap(map) => super::element_map::operator(map, keys(&map.keys), input, builder)?,
        other => of_labels(other, input, builder)?,
    })
}

/// Steps that set labels, or read labelled values.
fn of_labels(
    op: &Op,
    input: BoxedOperator,
    builder: &Builder<'_>,
) -> Result<BoxedOperator, QueryError> {
    Ok(match op.clone() {
        Op::As(labels) => each(input, false, move |cx, mut row, out| {
            cx.hold_long(&row.value)?;
            row.label(&labels, cx.track);
            out.push(row);
            Ok(())
        }),
        Op::Bind { label, equal } => each(input, false, move |cx, mut row, out| {
            match row.labelled(&label).last() {
                None => {
                    cx.hold_long(&row.value)?;
                    row.label(std::slice::from_ref(&label), cx.track);
                }
                Some(own) if equal && !own.equals(&row.value) => return Ok(()),
                Some(_) => {}
            }
            out.push(row);
            Ok(())
        }),
        Op::Bound { labels, map } => each(input, false, move |cx, row, out| {
            let last = |label: &Name| row.labelled(label).last().map(|value| (*value).clone());
            let value = match map {
                true => {
                    let entry = |label: &Name| Some((Value::Text(label.clone()), last(label)?));
                    Some(Value::map(labels.iter().filter_map(entry)))
                }
                false => labels.first().and_then(last),
            };
            out.extend(value.map(|value| row.at(value, cx.track)));
            Ok(())
        }),
        Op::Scoped(label) => each(input, false, move |cx, row, out| {
            let value = scoped(cx, &row, &label)?;
            out.push(row.at(value, cx.track));
            Ok(())
        }),
        Op::Select { pop, labels, by } => {
            let mut readers = Reader::each(&by, builder)?;
            let distinct = labels.iter().collect::<IndexSet<_>>().len();
            each(input, false, move |cx, row, out| {
                let labels = (labels.as_slice(), distinct);
                if let Some(value) = select(cx, &row, pop, labels, &mut readers)? {
                    out.push(row.at(value, cx.track));
                }
                Ok(())
            })
        }
        Op::SelectChild { pop, child, by } => select_child(input, pop, &child, by, builder)?,
        Op::Project { keys, by } => project(input, keys, Reader::each(&by, builder)?),
        other => carried(&other, input, builder)?,
    })
}

/// Steps that read the other state of a row: its path, the rounds of a loop, its sack.
fn carried(
    op: &Op,
    input: BoxedOperator,
    builder: &Builder<'_>,
) -> Result<BoxedOperator, QueryError> {
    Ok(match op.clone() {
        Op::Path { by, from, to } => {
            let mut readers = Reader::each(&by, builder)?;
            each(input, false, move |cx, row, out| {
                for place in row.places() {
                    cx.hold_long(place)?;
                }
                let path = between(row.whole_path(), from.as_ref(), to.as_ref())?;
                if let Some(path) = read_path(cx, path, &mut readers)? {
                    let path = Value::Path(Arc::new(path)).bounded()?;
                    out.push(row.at(path, cx.track));
                }
                Ok(())
            })
        }
        Op::Loops(name) => {
            let rounds = builder
                .rounds(name.as_ref())
                .ok_or_else(|| QueryError::invalid("loops() is only known within repeat()"))?;
            values(input, false, move |_, _| {
                let rounds = i32::try_from(rounds.get()).unwrap_or(i32::MAX);
                Ok(Some(Value::Int(rounds)))
            })
        }
        Op::Sack => each(input, false, |cx, row, out| {
            let sack = row.sack.as_deref().cloned().unwrap_or_default();
            out.push(row.at(sack, cx.track));
            Ok(())
        }),
        Op::SackWith { operator, by } => {
            let mut reader = Reader::new(&by, builder)?;
            batch(input, move |cx, rows| {
                let read = reader.read(cx, &rows)?;
                let mut out = Vec::with_capacity(rows.len());
                for (mut row, value) in rows.into_iter().zip(read) {
                    if let Some(value) = value {
                        let sack = row.sack.as_deref().cloned().unwrap_or_default();
                        row.sack = Some(Box::new(joined(operator, &sack, &value)?));
                        out.push(row);
                    }
                }
                Ok(out)
            })
        }
        _ => return Err(QueryError::Unsupported("This step".to_owned())),
    })
}

fn token(input: BoxedOperator, token: Token) -> BoxedOperator {
    let fetch = token == Token::Label;
    values(input, fetch, move |cx, value| {
        element::token(cx, value, token)
    })
}

pub(crate) fn is_element(value: &Value) -> Result<(), QueryError> {
    match value {
        Value::Vertex(_) | Value::Edge(..) | Value::VertexProperty(_) => Ok(()),
        other => Err(QueryError::cast(other, "Element")),
    }
}

fn indexed(value: &Value, map: bool) -> Value {
    let items = value.items().unwrap_or_else(|| vec![value.clone()]);
    let number = |at: usize| Value::Int(i32::try_from(at).unwrap_or(i32::MAX));
    let numbered = items.into_iter().enumerate();
    match map {
        true => Value::map(numbered.map(|(at, item)| (number(at), item))),
        false => {
            let pair = |(at, item)| Value::list(vec![item, number(at)]);
            Value::list(numbered.map(pair).collect())
        }
    }
}

/// The value of a label; with `pop` all or mixed, the list of its values.
pub(crate) fn labelled(
    cx: &Context<'_>,
    row: &Row,
    pop: Option<Pop>,
    label: &Name,
) -> Option<Value> {
    if let Some(entry) = element::entry(&row.value, label) {
        return Some(entry);
    }
    if let Some(effect) = cx.effects.get(label) {
        return Some(effect.value.clone());
    }
    let values = row.labelled(label);
    if values.is_empty() {
        return None;
    }
    let all = || Value::list(values.iter().map(|value| (*value).clone()).collect());
    match pop {
        Some(Pop::All) => Some(all()),
        Some(Pop::Mixed) if values.len() > 1 => Some(all()),
        Some(Pop::First) => values.first().map(|value| (*value).clone()),
        _ => values.last().map(|value| (*value).clone()),
    }
}

/// The values of `labels`, of which `distinct` differ; `None` if one of these has no value. A label
/// that is given again keeps its value if the second has none.
fn select(
    cx: &mut Context<'_>,
    row: &Row,
    pop: Option<Pop>,
    (labels, distinct): (&[Name], usize),
    readers: &mut [Reader],
) -> Result<Option<Value>, QueryError> {
    let mut map = ValueMap::default();
    let count = readers.len();
    for (at, label) in labels.iter().enumerate() {
        let Some(value) = labelled(cx, row, pop, label) else {
            return Ok(None);
        };
        let Some(value) = readers[at % count].read_value(cx, &value)? else {
            break;
        };
        if labels.len() == 1 {
            return Ok(Some(value));
        }
        cx.hold_long(&value)?;
        map.insert(Value::Text(label.clone()), value);
    }
    if map.len() < distinct {
        return Ok(None);
    }
    Value::Map(Arc::new(map)).bounded().map(Some)
}

fn select_child(
    input: BoxedOperator,
    pop: Option<Pop>,
    child: &Plan,
    by: Option<By>,
    builder: &Builder<'_>,
) -> Result<BoxedOperator, QueryError> {
    let mut child = Child::local(child, builder)?;
    let mut reader = Reader::new(&by.unwrap_or_default(), builder)?;
    Ok(batch(input, move |cx, rows| {
        let firsts = child.firsts(cx, &rows)?;
        let mut out = Vec::with_capacity(rows.len());
        for (row, first) in rows.into_iter().zip(firsts) {
            let Some(name) = first.map(|first| first.value) else {
                continue;
            };
            let found = match (&name, &row.value) {
                (Value::Text(label), _) => labelled(cx, &row, pop, label),
                (name, map) => map.as_map().and_then(|map| map.get(name).cloned()),
            };
            let Some(found) = found else {
                continue;
            };
            if let Some(value) = reader.read_value(cx, &found)? {
                out.push(row.at(value, cx.track));
            }
        }
        Ok(out)
    }))
}

fn project(input: BoxedOperator, keys: Vec<Name>, mut readers: Vec<Reader>) -> BoxedOperator {
    batch(input, move |cx, rows| {
        let mut maps: Vec<ValueMap> = vec![ValueMap::default(); rows.len()];
        let count = readers.len();
        for (at, key) in keys.iter().enumerate() {
            let read = readers[at % count].read(cx, &rows)?;
            for (map, value) in maps.iter_mut().zip(read) {
                if let Some(value) = value {
                    cx.hold_long(&value)?;
                    map.insert(Value::Text(key.clone()), value);
                }
            }
        }
        let pairs = rows.into_iter().zip(maps);
        pairs
            .map(|(row, map)| Ok(row.at(Value::Map(Arc::new(map)).bounded()?, cx.track)))
            .collect()
    })
}

/// The part of a path from the last object with one label to the last with another.
///
/// # Errors
/// If no object has a label, or the first label comes after the second.
pub(crate) fn between(
    path: Path,
    from: Option<&Name>,
    to: Option<&Name>,
) -> Result<Path, QueryError> {
    let place = |label: Option<&Name>, end: &str| {
        let Some(label) = label else {
            return Ok(None);
        };
        let found = path.labels.iter().rposition(|own| own.contains(label));
        let missing = || QueryError::invalid(format!("The path has no {end}-label '{label}'"));
        found.ok_or_else(missing).map(Some)
    };
    let (start, end) = (place(from, "from")?, place(to, "to")?);
    let (start, end) = (
        start.unwrap_or(0),
        end.map_or(path.objects.len(), |end| end + 1),
    );
    if start >= end && (from.is_some() || to.is_some()) {
        return Err(QueryError::invalid(
            "The from-label comes after the to-label in the path",
        ));
    }
    if start == 0 && end == path.objects.len() {
        return Ok(path);
    }
    Ok(Path {
        objects: path.objects[start..end].to_vec(),
        labels: path.labels[start..end].to_vec(),
    })
}

/// Replaces each object of a path by the value that a reader reads; `None` if a reader has no
/// result.
pub(crate) fn read_path(
    cx: &mut Context<'_>,
    mut path: Path,
    readers: &mut [Reader],
) -> Result<Option<Path>, QueryError> {
    let count = readers.len();
    for (at, object) in path.objects.iter_mut().enumerate() {
        match &mut readers[at % count] {
            Reader::Identity => {}
            reader => match reader.read_value(cx, object)? {
                Some(value) => *object = value,
                None => return Ok(None),
            },
        }
    }
    Ok(Some(path))
}

/// The tree of the paths of all rows.
pub(crate) fn tree(
    cx: &mut Context<'_>,
    readers: &mut [Reader],
    rows: &[Row],
) -> Result<Value, QueryError> {
    let mut root = Tree::default();
    for row in rows {
        let path = row.whole_path();
        cx.tick(path.objects.len())?;
        if path.objects.len() > DEPTH_MAX {
            return Err(QueryError::invalid(format!(
                "A tree may be {DEPTH_MAX} levels deep"
            )));
        }
        let mut below = &mut root;
        let count = readers.len();
        for (at, object) in path.objects.into_iter().enumerate() {
            let object = match &mut readers[at % count] {
                Reader::Identity => Some(object),
                reader => reader.read_value(cx, &object)?,
            };
            // An object for which the reader has no result is omitted.
            if let Some(object) = object {
                below = below.0.entry(object).or_default();
            }
        }
    }
    Ok(Value::Tree(Arc::new(root)))
}
