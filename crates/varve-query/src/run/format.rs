//! Steps that combine a value with results of children or labelled values: `concat`, `merge`,
//! `format`.

use super::build::{Builder, batch};
use super::child::{Child, Key, Reader};
use super::context::Context;
use super::row::Row;
use super::{BoxedOperator, element, map};
use crate::plan::{By, Combination, FormatPart, Plan};
use crate::{QueryError, Value};

/// The longest text that `format` makes, in bytes.
const TEXT_BYTES_MAX: usize = 1 << 20;

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
            cx.tick(0)?;
            let value = (function.apply)(&row.value, &own)?;
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
    Ok(batch(input, move |cx, rows| {
        cx.fetch_rows(&rows)?;
        let read = readers
            .iter_mut()
            .map(|reader| reader.read(cx, &rows))
            .collect::<Result<Vec<_>, _>>()?;
        let mut out = Vec::with_capacity(rows.len());
        for (at, row) in rows.into_iter().enumerate() {
            let mut text = Some(String::new());
            for part in &parts {
                let value = match part {
                    Part::Text(part) => Some(part.clone()),
                    Part::Variable(key) => variable(cx, &row, key).map(|value| value.to_string()),
                    Part::Read(reader) => read[*reader][at].as_ref().map(Value::to_string),
                };
                text = text.zip(value).map(|(text, value)| text + &value);
                if text
                    .as_ref()
                    .is_some_and(|text| text.len() > TEXT_BYTES_MAX)
                {
                    return Err(QueryError::invalid(format!(
                        "A text that format() makes may have {TEXT_BYTES_MAX} bytes"
                    )));
                }
            }
            if let Some(text) = text {
                out.push(row.at(Value::text(&text), cx.track));
            }
        }
        Ok(out)
    }))
}

/// The property with this name, else the labelled value with it.
fn variable(cx: &Context<'_>, row: &Row, key: &Key) -> Option<Value> {
    let own = match row.value {
        Value::Vertex(_) | Value::Edge(..) => element::property(cx, &row.value, key),
        _ => None,
    };
    own.or_else(|| map::labelled(cx, row, None, &key.name))
}
