//! Values and properties, read straight from JSON. Texts without escapes are borrowed, and only
//! values that are lists or objects become trees. The JSON reader bounds the nesting (128).

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use varve_graph::element::{RawProperty, RawValue};

/// A text, borrowed from the input when it has no escapes.
#[derive(Debug, PartialEq)]
pub(crate) struct Text<'a>(pub(crate) Cow<'a, str>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(text)))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
            fn visit_string<E: de::Error>(self, text: String) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text)))
            }
        }
        deserializer.deserialize_str(TextVisitor)
    }
}

/// Any value.
#[derive(Debug, PartialEq)]
pub(crate) struct Raw<'a>(pub(crate) RawValue<'a>);

impl<'de: 'a, 'a> Deserialize<'de> for Raw<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RawVisitor).map(Raw)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = RawValue<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }
    fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(RawValue::Null)
    }
    fn visit_bool<E: de::Error>(self, flag: bool) -> Result<Self::Value, E> {
        Ok(RawValue::Boolean(flag))
    }
    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Self::Value, E> {
        Ok(RawValue::Integer(number))
    }
    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Self::Value, E> {
        Ok(i64::try_from(number).map_or(RawValue::Unsigned(number), RawValue::Integer))
    }
    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Self::Value, E> {
        Ok(RawValue::Double(number))
    }
    fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(RawValue::Text(Cow::Borrowed(text)))
    }
    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(RawValue::Text(Cow::Owned(text.to_owned())))
    }
    fn visit_string<E: de::Error>(self, text: String) -> Result<Self::Value, E> {
        Ok(RawValue::Text(Cow::Owned(text)))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Raw(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(RawValue::List(list))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut map = Vec::new();
        while let Some((Text(name), Raw(value))) = members.next_entry()? {
            map.push((name, value));
        }
        Ok(RawValue::Map(map))
    }
}

/// The properties of an element, in the order sent.
#[derive(Debug)]
pub(crate) struct PropertiesJson<'a>(pub(crate) Vec<RawProperty<'a>>);

impl<'de: 'a, 'a> Deserialize<'de> for PropertiesJson<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut properties = Vec::new();
        deserializer.deserialize_map(Properties(&mut properties))?;
        Ok(Self(properties))
    }
}

/// Reads properties into an empty list.
pub(crate) struct Properties<'t, 'a>(pub(crate) &'t mut Vec<RawProperty<'a>>);

impl<'de: 'a, 'a> Visitor<'de> for Properties<'_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of properties")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some((Text(name), Raw(value))) = map.next_entry()? {
            self.0.push((name, value));
        }
        Ok(())
    }
}
