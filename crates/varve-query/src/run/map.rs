//! Steps that map one value to another.

use std::sync::Arc;

use compact_str::CompactString;

use super::build::{Builder, batch, calculation, each};
use super::child::{Child, Key, Reader};
use super::context::Context;
use super::effect::joined;
use super::row::Row;
use super::{BoxedOperator, element};
use crate::plan::{By, Name, Op, Plan, Pop, Tokens};
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
            values(input, false, move |_, value| apply(value))
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
    let keys =
        |names: &[Name]| -> Vec<Key> { names.iter().map(|name| builder.key(name)).collect() };
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
        Op::PropertyMap(names) => {
            let keys = keys(names);
            values(input, true, move |cx, value| {
                let properties = element::property_values(cx, value, &keys);
                Ok(Some(property_map(properties)))
            })
        }
        Op::ValueMap {
            keys: names,
            tokens,
            by,
        } => {
            let (keys, tokens) = (keys(names), *tokens);
            let mut reader = match by {
                Some(by) => Some(Reader::new(by, builder)?),
                None => None,
            };
            values(input, true, move |cx, value| {
                value_map(cx, value, &keys, tokens, reader.as_mut()).map(Some)
            })
        }
        Op::ElementMap(names) => {
            let keys = keys(names);
            values(input, true, move |cx, value| {
                Ok(Some(element_map(cx, value, &keys)?))
            })
        }
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
        Op::Select { pop, labels, by } => {
            let mut readers = Reader::each(&by, builder)?;
            each(input, false, move |cx, row, out| {
                if let Some(value) = select(cx, &row, pop, &labels, &mut readers)? {
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
                let path = between(row.whole_path(), from.as_ref(), to.as_ref());
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

fn is_element(value: &Value) -> Result<(), QueryError> {
    match value {
        Value::Vertex(_) | Value::Edge(..) | Value::VertexProperty(_) => Ok(()),
        other => Err(QueryError::cast(other, "Element")),
    }
}

fn property_map(properties: Vec<Value>) -> Value {
    let mut map = ValueMap::default();
    for property in properties {
        match &property {
            Value::VertexProperty(own) => add_to_list(&mut map, own.name.clone(), property),
            Value::Property(own) => {
                map.insert(Value::Text(own.name.clone()), property);
            }
            _ => {}
        }
    }
    Value::Map(Arc::new(map))
}

/// Adds a value to the list of a name in a map.
fn add_to_list(map: &mut ValueMap, name: CompactString, value: Value) {
    let list = map.entry(Value::Text(name));
    match list.or_insert_with(|| Value::list(Vec::new())) {
        Value::List(items) => Arc::make_mut(items).push(value),
        other => *other = value,
    }
}

/// The tokens of the id and of the label in maps of an element.
fn tokens_of(value: &Value) -> (&'static [Token], &'static [Token]) {
    match value {
        Value::VertexProperty(_) => (&[Token::Id], &[Token::Key, Token::Value]),
        _ => (&[Token::Id], &[Token::Label]),
    }
}

fn value_map(
    cx: &mut Context<'_>,
    value: &Value,
    keys: &[Key],
    tokens: Tokens,
    mut reader: Option<&mut Reader>,
) -> Result<Value, QueryError> {
    is_element(value)?;
    let mut map = ValueMap::default();
    let (ids, labels) = tokens_of(value);
    for (_, all) in [(tokens.ids, ids), (tokens.labels, labels)]
        .iter()
        .filter(|(wanted, _)| *wanted)
    {
        for token in *all {
            if let Some(own) = element::token(cx, value, *token)? {
                map.insert(Value::Token(*token), own);
            }
        }
    }
    let shown = map.len();
    for (name, own) in element::pairs(cx, value, keys) {
        match value {
            Value::Vertex(_) => add_to_list(&mut map, name, own),
            _ => {
                map.insert(Value::Text(name), own);
            }
        }
    }
    let Some(reader) = &mut reader else {
        return Ok(Value::Map(Arc::new(map)));
    };
    let mut read = ValueMap::default();
    for (at, (name, own)) in map.into_iter().enumerate() {
        let own = match at < shown {
            true => Some(own),
            false => reader.read_value(cx, &own)?,
        };
        read.extend(own.map(|own| (name, own)));
    }
    Ok(Value::Map(Arc::new(read)))
}

fn element_map(cx: &Context<'_>, value: &Value, keys: &[Key]) -> Result<Value, QueryError> {
    is_element(value)?;
    let mut map = ValueMap::default();
    let (ids, labels) = tokens_of(value);
    for token in ids.iter().chain(labels) {
        if let Some(own) = element::token(cx, value, *token)? {
            map.insert(Value::Token(*token), own);
        }
    }
    if let Value::Edge(edge, _) = value {
        for (token, direction) in [
            (Token::In, varve_model::Direction::In),
            (Token::Out, varve_model::Direction::Out),
        ] {
            let end = edge.end(direction);
            let mut own = ValueMap::default();
            for part in [Token::Id, Token::Label] {
                if let Some(part_value) = element::token(cx, &end, part)? {
                    own.insert(Value::Token(part), part_value);
                }
            }
            map.insert(Value::Token(token), Value::Map(Arc::new(own)));
        }
    }
    let pairs = element::pairs(cx, value, keys).into_iter();
    map.extend(pairs.map(|(name, own)| (Value::Text(name), own)));
    Ok(Value::Map(Arc::new(map)))
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
    if let Value::Map(map) = &row.value
        && let Some(member) = map.get(&Value::Text(label.clone()))
    {
        return Some(member.clone());
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

fn select(
    cx: &mut Context<'_>,
    row: &Row,
    pop: Option<Pop>,
    labels: &[Name],
    readers: &mut [Reader],
) -> Result<Option<Value>, QueryError> {
    let mut map = ValueMap::default();
    let count = readers.len();
    for (at, label) in labels.iter().enumerate() {
        let Some(value) = labelled(cx, row, pop, label) else {
            return Ok(None);
        };
        let Some(value) = readers[at % count].read_value(cx, &value)? else {
            return Ok(None);
        };
        if labels.len() == 1 {
            return Ok(Some(value));
        }
        cx.hold_long(&value)?;
        map.insert(Value::Text(label.clone()), value);
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
                (name, Value::Map(map)) => map.get(name).cloned(),
                _ => None,
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

/// The part of a path from the first object with one label to the last with another.
pub(crate) fn between(path: Path, from: Option<&Name>, to: Option<&Name>) -> Path {
    let has = |label: &Name| {
        let label = label.clone();
        move |own: &Vec<CompactString>| own.contains(&label)
    };
    let start = from.and_then(|label| path.labels.iter().position(has(label)));
    let end = to.and_then(|label| path.labels.iter().rposition(has(label)));
    let (start, end) = (
        start.unwrap_or(0),
        end.map_or(path.objects.len(), |end| end + 1),
    );
    if start == 0 && end == path.objects.len() {
        return path;
    }
    Path {
        objects: path.objects[start.min(end)..end].to_vec(),
        labels: path.labels[start.min(end)..end].to_vec(),
    }
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
