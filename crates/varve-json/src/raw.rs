//! JSON that is stored unchanged.

use crate::{Decode, Encode, JsonError, Reader, Writer};

/// One JSON value that is passed on without being interpreted, such as a value of
/// `mappingProperties`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawJson(Box<str>);

impl RawJson {
    /// The text, which is one well-formed JSON value.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Returns a text as a JSON string.
    #[must_use]
    pub fn from_string(text: &str) -> Self {
        let mut writer = Writer::new();
        writer.string(text);
        let json = String::from_utf8(writer.finish()).expect("the writer writes UTF-8");
        Self(json.into())
    }
}

impl Decode for RawJson {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
        reader.raw().map(|text| Self(text.into()))
    }
}

impl Encode for RawJson {
    fn encode(&self, writer: &mut Writer) {
        writer.raw(&self.0);
    }
}
