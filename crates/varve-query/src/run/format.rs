//! Steps that combine a value with results of children or labelled values: `concat`, `merge`,
//! `format`.

use super::build::{Builder, batch};
use super::child::{Child, Key, Reader};
use super::context::Context;
use super::row::Row;
use super::{BoxedOperator, element, map};
use crate::plan::{By, Combination, FormatPart, Plan};
use crate::value::TextBuilder;
use crate::{QueryError, Value};

/// A step that applies a function to each value and the first result of each child.
pub(crate) fn combine(
    input: BoxedOperator,
    children: &[Plan],
    function: &Combination,
    builder: &Builder<'_>,
) -> Result<BoxedOperator, QueryError> {
    let mut children = children
        .iter()
        .map(|plan| Child::local(plan, builder))
        .collect::<Result<Vec<_>, _>>()?;
    let function = function.clone();
    Ok(batch(input, move |cx, rows| {
        let mut arguments: Vec<Vec<Value>> = vec![Vec::new(); rows.len()];
        for child in &mut children {
            let firsts = child.firsts(cx, &rows)?;
            for ((first, own), row) in firsts.into_iter().zip(&mut arguments).zip(&rows) {
                let Some(first) = first else {
                    return Err(QueryError::unproductive(&row.value));
                };
                own.push(first.value);
            }
        }
        let mut out = Vec::with_capacity(rows.len());
        for (row, own) in rows.into_iter().zip(arguments) {
            let value = (function.apply)(&row.value, &own)?.bounded()?;
            cx.tick_made(&value)?;
            out.push(row.at(value, cx.track));
        }
        Ok(out)
    }))
}

enum Part {
    Text(String),
    Variable(Key),
    /// The value that the reader with this index reads.
    Read(usize),
}

/// A step that makes a text from the values of variables. If a variable has no value, the row is
/// dropped.
pub(crate) fn format(
    input: BoxedOperator,
    parts: &[FormatPart],
    by: &[By],
    builder: &Builder<'_>,
) -> Result<BoxedOperator, QueryError> {
    let mut readers = Reader::each(by, builder)?;
    let count = readers.len();
    let mut next = 0..;
    let each = parts.iter().map(|part| match part {
        FormatPart::Text(text) => Part::Text(text.to_string()),
        FormatPart::Variable(name) => Part::Variable(builder.key(name)),
        FormatPart::Next => Part::Read(next.next().unwrap_or(0) % count),
    });
    let parts: Vec<Part> = each.collect();
    // A `by` that no variable needs does not run.
    readers.truncate(next.start);
    Ok(batch(input, move |cx, rows| {
        cx.fetch_rows(&rows)?;
        let read = readers
            .iter_mut()
            .map(|reader| reader.read(cx, &rows))
            .collect::<Result<Vec<_>, _>>()?;
        let mut out = Vec::with_capacity(rows.len());
        for (at, row) in rows.into_iter().enumerate() {
            let read = |reader: usize| read[reader][at].clone();
            if let Some(text) = formatted(cx, &row, &parts, read)? {
                cx.tick_made(&text)?;
                out.push(row.at(text, cx.track));
            }
        }
        Ok(out)
    }))
}

/// The text of a row; `None` if a variable has no value.
fn formatted(
    cx: &Context<'_>,
    row: &Row,
    parts: &[Part],
    read: impl Fn(usize) -> Option<Value>,
) -> Result<Option<Value>, QueryError> {
    let mut text = TextBuilder::default();
    for part in parts {
        let value = match part {
            Part::Text(part) => {
                text.push(part)?;
                continue;
            }
            Part::Variable(key) => variable(cx, row, key),
            Part::Read(reader) => read(*reader),
        };
        let Some(value) = value else {
            return Ok(None);
        };
        text.push_value(&value)?;
    }
    Ok(Some(Value::Text(text.finish())))
}

/// The property with this name, else the labelled value with it.
fn variable(cx: &Context<'_>, row: &Row, key: &Key) -> Option<Value> {
    let own = match row.value {
        Value::Vertex(_) | Value::Edge(..) => element::property(cx, &row.value, key),
        _ => None,
    };
    own.or_else(|| map::labelled(cx, row, None, &key.name))
}
