//! Conditions on properties as an index looks them up.
//!
//! An index gives all elements that satisfy a condition, and may give others: the filter behind the
//! scan checks again. So bounds are closed, and those of one key are one condition.

use varve_model::{Bounds, Condition, DataType, Predicate, PropertyKeyId, Value as Stored};
use varve_view::SchemaView;

use crate::error::Outcome;
use crate::numbers::whole;
use crate::plan::{LookupBy, PropertyLookup};
use crate::temporal::LocalDateTime;
use crate::value::Value;

/// The conditions of a scan by lookups with their values; `None` if no element satisfies them.
///
/// # Errors
/// Those of the values.
pub(crate) fn conditions<'b>(
    schema: &dyn SchemaView,
    by: impl IntoIterator<Item = Outcome<(&'b PropertyLookup, Value)>>,
) -> Outcome<Option<Vec<Condition>>> {
    let mut all: Vec<Condition> = Vec::new();
    for one in by {
        let (by, value) = one?;
        match looked(schema, by, &value) {
            Looked::By(one) => put(&mut all, one),
            Looked::Nothing => return Ok(None),
            Looked::Unserved => {}
        }
    }
    Ok(Some(all))
}

/// Adds a condition, or narrows the bounds that are there for its key. An element of an open graph
/// may have several values of a key; then it satisfies none of Cypher's comparisons.
fn put(all: &mut Vec<Condition>, one: Condition) {
    let Predicate::Near(new) = &one.predicate else {
        all.push(one);
        return;
    };
    let same = all.iter_mut().find_map(|own| match &mut own.predicate {
        Predicate::Near(bounds) if own.key == one.key && bounds.kind() == new.kind() => {
            Some(bounds)
        }
        _ => None,
    });
    let Some(bounds) = same else {
        all.push(one);
        return;
    };
    for (own, new, greater) in [
        (&mut bounds.from, &new.from, true),
        (&mut bounds.to, &new.to, false),
    ] {
        let Some(new) = new else { continue };
        let is_narrower = match own {
            None => true,
            Some(own) => new.compare(own).is_some_and(|order| match greater {
                true => order.is_gt(),
                false => order.is_lt(),
            }),
        };
        if is_narrower {
            *own = Some(new.clone());
        }
    }
}

/// What a condition on a property looks up.
pub(crate) enum Looked {
    /// An index may serve it.
    By(Condition),
    /// No element has such a value.
    Nothing,
    /// No index serves it.
    Unserved,
}

/// What a condition looks up whose value is known.
pub(crate) fn looked(schema: &dyn SchemaView, by: &PropertyLookup, value: &Value) -> Looked {
    let one = |value: &Value| condition(schema, &by.key, value);
    let items = match (value, by.how) {
        (Value::Null, _) => return Looked::Nothing,
        (Value::List(items), LookupBy::Among) => items,
        // The filter reports what is no list.
        (_, LookupBy::Among) => return Looked::Unserved,
        (value, LookupBy::Equal) => return one(value).map_or(Looked::Unserved, Looked::By),
        (value, _) => return range(schema, by, value).map_or(Looked::Unserved, Looked::By),
    };
    let (mut key, mut values) = (None, Vec::with_capacity(items.len()));
    for item in items.iter().filter(|item| !matches!(item, Value::Null)) {
        let Some(Condition {
            key: own,
            predicate: Predicate::Eq(value),
        }) = one(item)
        else {
            return Looked::Unserved;
        };
        key = Some(own);
        values.push(value);
    }
    match key {
        None => Looked::Nothing,
        Some(key) => Looked::By(Condition {
            key,
            predicate: Predicate::Within(values),
        }),
    }
}

/// Whether [`looked`] finds a condition for the usual values of a key of this type. Dates and
/// lists under a key with values of several types are not looked up.
pub(crate) fn serves(data_type: DataType) -> bool {
    matches!(
        data_type,
        DataType::Text | DataType::Object | DataType::Boolean
    ) || data_type.is_number()
}

/// A condition that an index can serve, if the key's values can be compared as the index does.
fn condition(schema: &dyn SchemaView, key: &str, value: &Value) -> Option<Condition> {
    let key = schema.property_key_named(key)?;
    let data_type = key.data_type;
    if let (Value::Integer(_) | Value::Float(_), DataType::Object) = (value, data_type) {
        // Numbers of several types are equal.
        let number = bound(data_type, value)?;
        let bounds = Bounds {
            from: Some(number.clone()),
            to: Some(number),
        };
        return Some(near(key.id, bounds));
    }
    let fits = match value {
        Value::String(_) => matches!(data_type, DataType::Text | DataType::Object),
        Value::Boolean(_) => matches!(data_type, DataType::Boolean | DataType::Object),
        Value::Integer(_) => data_type.is_number(),
        Value::Float(number) => data_type.is_number() && !number.is_nan(),
        _ => false,
    };
    if !fits {
        return None;
    }
    let is_whole = matches!(data_type, DataType::Byte | DataType::Int | DataType::Long);
    let stored = match (value, is_whole) {
        // A fraction equals no whole number: the filter finds nothing.
        (Value::Float(number), true) => varve_model::Value::Long(whole(*number)?),
        _ => value.to_stored().ok()?,
    };
    let converted = match data_type {
        DataType::Object => stored,
        _ => schema.condition_value(key, &stored).ok()?,
    };
    Some(Condition {
        key: key.id,
        predicate: Predicate::Eq(converted),
    })
}

/// The bounds of a comparison, if the key's values have an order with the value.
fn range(schema: &dyn SchemaView, by: &PropertyLookup, value: &Value) -> Option<Condition> {
    let key = schema.property_key_named(&by.key)?;
    let bound = bound(key.data_type, value)?;
    let (from, to) = match (by.how, bound) {
        (LookupBy::Prefix, Stored::Text(prefix)) => {
            let to = after(&prefix).map(Stored::Text);
            (Some(Stored::Text(prefix)), to)
        }
        (LookupBy::From, bound) => (Some(bound), None),
        (LookupBy::To, bound) => (None, Some(bound)),
        _ => return None,
    };
    Some(near(key.id, Bounds { from, to }))
}

fn near(key: PropertyKeyId, bounds: Bounds) -> Condition {
    Condition {
        key,
        predicate: Predicate::Near(bounds),
    }
}

/// A value as a bound of a key's values.
fn bound(data_type: DataType, value: &Value) -> Option<Stored> {
    let is_any = data_type == DataType::Object;
    match value {
        Value::String(text) if is_any || data_type == DataType::Text => {
            Some(Stored::Text(text.to_string()))
        }
        Value::Integer(number) if is_any || data_type.is_number() => Some(Stored::Long(*number)),
        Value::Float(number) if (is_any || data_type.is_number()) && !number.is_nan() => {
            Some(Stored::Double(*number))
        }
        // Stored dates have whole milliseconds, so those before the value are not after its last.
        Value::LocalDateTime(at) if is_any || data_type == DataType::Date => millis(*at),
        _ => None,
    }
}

fn millis(at: LocalDateTime) -> Option<Stored> {
    let millis = at.seconds.checked_mul(1_000)?;
    let millis = millis.checked_add(i64::from(at.nanos / 1_000_000))?;
    Some(Stored::Date(millis))
}

/// The least text, or nearly so, that is greater than all texts with a prefix.
fn after(prefix: &str) -> Option<String> {
    let mut text = prefix.to_owned();
    while let Some(last) = text.pop() {
        let next = match last {
            '\u{D7FF}' => Some('\u{E000}'),
            _ => char::from_u32(u32::from(last) + 1),
        };
        if let Some(next) = next {
            text.push(next);
            return Some(text);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_after_all_with_a_prefix() {
        for (prefix, wanted) in [
            ("", None),
            ("a", Some("b")),
            ("a\u{10FFFF}", Some("b")),
            ("\u{10FFFF}", None),
            ("x\u{D7FF}", Some("x\u{E000}")),
        ] {
            assert_eq!(after(prefix).as_deref(), wanted, "{prefix}");
        }
    }

    #[test]
    fn bounds_of_one_key_are_one_condition() {
        let mut all = Vec::new();
        let long = |number| Some(Stored::Long(number));
        for (from, to) in [
            (long(3), None),
            (None, long(9)),
            (long(5), None),
            (None, long(20)),
        ] {
            put(&mut all, near(PropertyKeyId(1), Bounds { from, to }));
        }
        let text = Some(Stored::Text("a".into()));
        put(
            &mut all,
            near(
                PropertyKeyId(1),
                Bounds {
                    from: text,
                    to: None,
                },
            ),
        );
        let (from, to) = (long(5), long(9));
        assert_eq!(all[0], near(PropertyKeyId(1), Bounds { from, to }));
        assert_eq!(all.len(), 2);
    }
}
