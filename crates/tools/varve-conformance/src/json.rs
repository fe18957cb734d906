//! JSON with two properties that a comparison needs and ordinary parsers discard: the order of an
//! object's keys, and the text of a number (`1.0` and `1` are different answers).

use std::borrow::Cow;
use std::fmt::{self, Write as _};

use varve_json::Limits;

/// Nesting beyond this is refused, so that a hostile answer cannot exhaust the stack.
const DEPTH_MAX: usize = 200;

/// A JSON value. Numbers keep their text, objects keep their key order.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number as it was written.
    Number(String),
    /// A string, unescaped.
    String(String),
    /// An array.
    Array(Vec<Json>),
    /// An object, keys in the order they were written.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Parses a text that is one JSON value.
    ///
    /// # Errors
    /// When the text is not JSON; the message names the byte of the error.
    pub fn parse(text: &str) -> Result<Self, String> {
        let limits = Limits {
            bytes: usize::MAX,
            depth: DEPTH_MAX,
            values: usize::MAX,
            string_bytes: usize::MAX,
        };
        let value = varve_json::Json::read(text.as_bytes(), limits);
        value
            .map(Self::from)
            .map_err(|error| format!("not JSON: {error}"))
    }

    /// The member of an object; `None` if it is missing or this is not an object.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => members.iter().find(|(k, _)| k == key).map(|(_, v)| v),
            _ => None,
        }
    }

    /// The text of a string.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The elements of an array.
    #[must_use]
    pub fn as_array(&self) -> Option<&[Self]> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The members of an object.
    #[must_use]
    pub fn as_object(&self) -> Option<&[(String, Self)]> {
        match self {
            Self::Object(members) => Some(members),
            _ => None,
        }
    }

    /// The kind of value, for messages.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::String(_) => "a string",
            Self::Array(_) => "an array",
            Self::Object(_) => "an object",
        }
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(text) => f.write_str(text),
            Self::String(text) => write_string(f, text),
            Self::Array(items) => {
                f.write_char('[')?;
                for (i, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if i == 0 { "" } else { "," })?;
                }
                f.write_char(']')
            }
            Self::Object(members) => {
                f.write_char('{')?;
                for (i, (key, value)) in members.iter().enumerate() {
                    f.write_str(if i == 0 { "" } else { "," })?;
                    write_string(f, key)?;
                    write!(f, ":{value}")?;
                }
                f.write_char('}')
            }
        }
    }
}

fn write_string(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    let mut json = Vec::new();
    varve_json::write_string(text, &mut json);
    f.write_str(&String::from_utf8_lossy(&json))
}

impl From<varve_json::Json<'_>> for Json {
    fn from(value: varve_json::Json<'_>) -> Self {
        use varve_json::Json as Borrowed;
        match value {
            Borrowed::Null => Self::Null,
            Borrowed::Bool(value) => Self::Bool(value),
            Borrowed::Number(text) => Self::Number(text.to_owned()),
            Borrowed::String(text) => Self::String(text.into_owned()),
            Borrowed::Array(items) => Self::Array(items.into_iter().map(Self::from).collect()),
            Borrowed::Object(members) => {
                let owned = |(key, value): (Cow<'_, str>, _)| (key.into_owned(), Self::from(value));
                Self::Object(members.into_iter().map(owned).collect())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_number_text_and_key_order() {
        let text = r#"{"b":1.0,"a":[1,-5,9007199254740993,null,true],"c":{"x":"\u4e2d\n\"q\""}}"#;
        let value = Json::parse(text).unwrap();
        assert_eq!(value.get("b"), Some(&Json::Number("1.0".into())));
        let keys: Vec<_> = value
            .as_object()
            .unwrap()
            .iter()
            .map(|(k, _)| k.as_str())
            .collect();
        assert_eq!(keys, ["b", "a", "c"]);
        assert_eq!(
            value.to_string(),
            "{\"b\":1.0,\"a\":[1,-5,9007199254740993,null,true],\"c\":{\"x\":\"中\\n\\\"q\\\"\"}}"
        );
    }
}
