//! Stored nested values of properties as the values that queries see.

use varve_encoding::datum::Token;
use varve_model::value::DateTime;
use varve_model::{Datum, Decimal, Value};

use crate::graph_store::properties::category_of;
use crate::types::{AttributeTypeDef, PrimitiveDefCategory};

/// The value of a property with this definition; `None` if it is null.
pub(super) fn value(stored: &Datum, def: Option<&AttributeTypeDef>) -> Option<Value> {
    match stored {
        Datum::Null => None,
        Datum::List(items) => stated(items),
        Datum::Map(members) => compound(members),
        plain => primitive(category_of(token(plain), def), plain),
    }
}

/// An instant in milliseconds.
pub(super) fn date(millis: i64) -> Value {
    Value::DateTime(DateTime {
        micros: millis.saturating_mul(1_000),
        offset: 0,
    })
}

fn token(plain: &Datum) -> Token<'_> {
    match plain {
        Datum::Bool(flag) => Token::Bool(*flag),
        Datum::Int(number) => Token::Int(*number),
        Datum::Float(number) => Token::Float(*number),
        Datum::Text(text) => Token::Text(text),
        _ => Token::Null,
    }
}

/// A primitive with a stated kind: the kind's number, the value, and perhaps a header.
fn stated(items: &[Datum]) -> Option<Value> {
    let [Datum::Int(number), plain, ..] = items else {
        return None;
    };
    let at = usize::try_from(*number).ok()?;
    primitive(*PrimitiveDefCategory::ALL.get(at)?, plain)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "what was a float is one again"
)]
fn primitive(category: PrimitiveDefCategory, plain: &Datum) -> Option<Value> {
    use PrimitiveDefCategory as Of;
    Some(match (category, plain) {
        (_, Datum::Bool(flag)) => Value::Boolean(*flag),
        (Of::Date, Datum::Int(millis)) => date(*millis),
        (Of::Byte | Of::Short | Of::Int, Datum::Int(number)) => match i32::try_from(*number) {
            Ok(number) => Value::Int(number),
            Err(_) => Value::Long(*number),
        },
        (_, Datum::Int(number)) => Value::Long(*number),
        (Of::Float, Datum::Float(number)) => Value::Float(*number as f32),
        (_, Datum::Float(number)) => Value::Double(*number),
        (Of::BigInteger | Of::BigDecimal, Datum::Text(digits)) => match Decimal::parse(digits) {
            Some(number) => Value::BigDecimal(Box::new(number)),
            None => Value::Text(digits.clone()),
        },
        // Arbitrary JSON is not a text: the index of the property does not have it.
        (Of::Unknown, Datum::Text(json)) => {
            Value::Map(vec![(text("json"), Value::Text(json.clone()))])
        }
        (_, Datum::Text(text)) => Value::Text(text.clone()),
        _ => return None,
    })
}

/// An enum's value, a struct, a map or an array.
fn compound(members: &[(String, Datum)]) -> Option<Value> {
    let member = |name: &str| {
        let mut members = members.iter();
        members.find(|(own, _)| own == name).map(|(_, value)| value)
    };
    if let Some(Datum::Text(symbol)) = member("s") {
        return Some(Value::Text(symbol.clone()));
    }
    if let Some(Datum::Int(ordinal)) = member("e") {
        return Some(Value::Long(*ordinal));
    }
    if let Some(items) = member("a") {
        return Some(Value::List(array(items)));
    }
    let nested = member("u").or_else(|| member("m"))?;
    let entries = values_of(nested).iter().filter_map(|(name, stored)| {
        let value = value(stored, None)?;
        Some((text(name), value))
    });
    Some(Value::Map(entries.collect()))
}

/// The items of an array, whose names are their positions.
fn array(stored: &Datum) -> Vec<Value> {
    let mut items: Vec<(usize, &Datum)> = values_of(stored)
        .iter()
        .map(|(name, stored)| (name.parse().unwrap_or(usize::MAX), stored))
        .collect();
    items.sort_by_key(|(at, _)| *at);
    let values = items
        .into_iter()
        .filter_map(|(_, stored)| value(stored, None));
    values.collect()
}

/// The values of stored properties, by name.
pub(super) fn values_of(properties: &Datum) -> &[(String, Datum)] {
    match properties.get("vs") {
        Some(Datum::Map(values)) => values,
        _ => &[],
    }
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Catalogue;

    fn map(members: &[(&str, Datum)]) -> Datum {
        let members = members.iter();
        Datum::Map(
            members
                .map(|(name, value)| ((*name).to_owned(), value.clone()))
                .collect(),
        )
    }

    fn seen(stored: &Datum) -> Option<Value> {
        value(stored, None)
    }

    #[test]
    fn nested_values_are_lists_and_maps() {
        let word = |word: &str| Datum::Text(word.to_owned());
        let items = map(&[("10", word("c")), ("2", word("b")), ("0", word("a"))]);
        let array = map(&[("a", map(&[("vs", items.clone())])), ("c", Datum::Int(3))]);
        let texts = ["a", "b", "c"].map(text).to_vec();
        assert_eq!(seen(&array), Some(Value::List(texts)));
        let of_map = map(&[("m", map(&[("vs", items)]))]);
        let entries = [("10", "c"), ("2", "b"), ("0", "a")];
        let entries = entries.map(|(name, value)| (text(name), text(value)));
        assert_eq!(seen(&of_map), Some(Value::Map(entries.to_vec())));
        let of_enum = map(&[("e", Datum::Int(1)), ("s", word("FIRST"))]);
        assert_eq!(seen(&of_enum), Some(text("FIRST")));
        assert_eq!(seen(&map(&[("e", Datum::Int(1))])), Some(Value::Long(1)));
        assert_eq!(seen(&Datum::Null), None);
    }

    #[test]
    fn primitives_have_the_kind_of_their_definition_or_their_own() {
        let types = Catalogue::built_in();
        let of_dates = types.attribute_type_by_name("date").unwrap();
        let stored = Datum::Int(1_500);
        assert_eq!(value(&stored, Some(of_dates)), Some(date(1_500)));
        assert_eq!(seen(&stored), Some(Value::Long(1_500)));
        let number = |of: PrimitiveDefCategory| {
            let at = PrimitiveDefCategory::ALL.iter().position(|own| *own == of);
            Datum::Int(i64::try_from(at.unwrap()).unwrap())
        };
        let stated = |of, value: &str| {
            seen(&Datum::List(vec![
                number(of),
                Datum::Text(value.to_owned()),
            ]))
        };
        let decimal = Value::BigDecimal(Box::new(Decimal::parse("1.50").unwrap()));
        assert_eq!(
            stated(PrimitiveDefCategory::BigDecimal, "1.50"),
            Some(decimal)
        );
        let json = Value::Map(vec![(text("json"), text("{}"))]);
        assert_eq!(stated(PrimitiveDefCategory::Unknown, "{}"), Some(json));
    }
}
