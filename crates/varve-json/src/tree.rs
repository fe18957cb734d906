//! JSON as a tree: numbers as they are written, so that no digit is lost, and members in order.

use std::borrow::Cow;

use crate::{JsonError, Limits, Reader};

/// A JSON value that borrows from its text.
#[derive(Debug, Clone, PartialEq)]
pub enum Json<'t> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// The number's own text.
    Number(&'t str),
    /// A string, unescaped.
    String(Cow<'t, str>),
    /// An array.
    Array(Vec<Json<'t>>),
    /// An object: its members in the order in which they are written.
    Object(Vec<(Cow<'t, str>, Json<'t>)>),
}

impl<'t> Json<'t> {
    /// Reads a document that is one value.
    ///
    /// # Errors
    /// When it is no JSON, or over the limits.
    pub fn read(document: &'t [u8], limits: Limits) -> Result<Self, JsonError> {
        let mut reader = Reader::new(document, limits)?;
        let value = reader.tree()?;
        reader.end()?;
        Ok(value)
    }

    /// Removes and returns the first member with this name.
    pub fn take(members: &mut Vec<(Cow<'t, str>, Self)>, name: &str) -> Option<Self> {
        let at = members.iter().position(|(key, _)| key == name)?;
        Some(members.remove(at).1)
    }
}

impl<'t> Reader<'t> {
    /// Reads the next value, whatever it is.
    ///
    /// # Errors
    /// When it is malformed or over the limits.
    pub fn tree(&mut self) -> Result<Json<'t>, JsonError> {
        Ok(match self.peek()? {
            b'{' => Json::Object(self.members()?),
            b'[' => {
                let mut elements = Vec::new();
                self.list(|reader| {
                    elements.push(reader.tree()?);
                    Ok(())
                })?;
                Json::Array(elements)
            }
            b'"' => Json::String(self.string()?),
            b't' | b'f' => Json::Bool(self.boolean()?),
            b'n' => {
                self.count()?;
                self.word("null")?;
                Json::Null
            }
            _ => Json::Number(self.number()?),
        })
    }

    /// The members of an object, also those that are `null`.
    fn members(&mut self) -> Result<Vec<(Cow<'t, str>, Json<'t>)>, JsonError> {
        self.open(b'{', "an object")?;
        let mut members = Vec::new();
        let mut more = !self.is_empty(b'}')?;
        while more {
            let name = self.name()?;
            let value = self.tree().map_err(|error| error.in_key(&name))?;
            members.push((name, value));
            more = self.another(b'}')?;
        }
        Ok(members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Fault;

    fn read(text: &str) -> Result<Json<'_>, JsonError> {
        Json::read(text.as_bytes(), Limits::DEFAULT)
    }

    #[test]
    fn numbers_keep_their_digits_and_members_their_order() {
        let text = r#"{"b":1.0,"a":[1,-5,9007199254740993,null,true],"c":{"x":"\u4e2d\n"}}"#;
        let Ok(Json::Object(mut members)) = read(text) else {
            panic!("an object");
        };
        let names: Vec<_> = members.iter().map(|(name, _)| &**name).collect();
        assert_eq!(names, ["b", "a", "c"]);
        assert_eq!(Json::take(&mut members, "b"), Some(Json::Number("1.0")));
        let elements = vec![
            Json::Number("1"),
            Json::Number("-5"),
            Json::Number("9007199254740993"),
            Json::Null,
            Json::Bool(true),
        ];
        assert_eq!(Json::take(&mut members, "a"), Some(Json::Array(elements)));
        let inner = vec![("x".into(), Json::String("中\n".into()))];
        assert_eq!(members, [("c".into(), Json::Object(inner))]);
        assert_eq!(read(r#""\ud83d\ude00""#), Ok(Json::String("😀".into())));
    }

    #[test]
    fn what_is_not_json_or_over_a_limit_is_refused() {
        for text in [
            "",
            "{",
            "[1,]",
            "{\"a\" 1}",
            "1 2",
            "nul",
            "\"open",
            "1.2.3",
            "{a:1}",
        ] {
            assert_eq!(read(text).unwrap_err().fault(), Fault::Malformed, "{text}");
        }
        let deep = "[".repeat(1000);
        assert_eq!(read(&deep).unwrap_err().fault(), Fault::TooDeep);
        let few = Limits {
            values: 3,
            ..Limits::DEFAULT
        };
        let error = Json::read(b"[1,null,2]", few).unwrap_err();
        assert_eq!(error.fault(), Fault::TooMany);
    }
}
