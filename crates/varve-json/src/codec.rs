//! Values that can be read from JSON and written to it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::{JsonError, Limits, Pieces, Reader, Writer};

/// A value that can be read.
pub trait Decode: Sized {
    /// Reads the value that begins here.
    ///
    /// # Errors
    /// When the next value is not such a value.
    fn decode(reader: &mut Reader<'_>) -> Result<Self, JsonError>;
}

/// A value that can be written.
pub trait Encode {
    /// Writes the value.
    fn encode(&self, writer: &mut Writer);
}

/// A value that can be a property of an object, and may be left out.
pub trait Field: Sized {
    /// Whether the property is left out when the object is written.
    fn is_absent(&self) -> bool;

    /// Reads the property's value.
    ///
    /// # Errors
    /// When the next value is not such a value.
    fn read(reader: &mut Reader<'_>) -> Result<Self, JsonError>;

    /// Writes the property's value.
    fn write(&self, writer: &mut Writer);
}

/// Reads a whole document.
///
/// # Errors
/// When it is over the limits, is not JSON, or not such a value.
pub fn decode<T: Decode>(document: &[u8], limits: Limits) -> Result<T, JsonError> {
    let mut reader = Reader::new(document, limits)?;
    let value = T::decode(&mut reader)?;
    reader.end()?;
    Ok(value)
}

/// Writes a whole document.
#[must_use]
pub fn encode<T: Encode + ?Sized>(value: &T) -> Vec<u8> {
    let mut writer = Writer::new();
    value.encode(&mut writer);
    writer.finish()
}

/// Writes a whole document of at most `most` bytes; `None` when it has more.
#[must_use]
pub fn encode_within<T: Encode + ?Sized>(value: &T, most: usize) -> Option<Pieces> {
    let mut writer = Writer::within(most);
    value.encode(&mut writer);
    (!writer.is_over()).then(|| writer.finish_in_pieces())
}

impl Decode for String {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
        reader.string().map(std::borrow::Cow::into_owned)
    }
}

impl Encode for String {
    fn encode(&self, writer: &mut Writer) {
        writer.string(self);
    }
}

impl Decode for i64 {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
        reader.integer()
    }
}

impl Encode for i64 {
    fn encode(&self, writer: &mut Writer) {
        writer.integer(*self);
    }
}

impl Decode for i32 {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
        let value = reader.integer()?;
        Self::try_from(value)
            .map_err(|_| reader.error("a whole number of at most 32 bits was expected"))
    }
}

impl Encode for i32 {
    fn encode(&self, writer: &mut Writer) {
        writer.integer(i64::from(*self));
    }
}

impl Decode for bool {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
        reader.boolean()
    }
}

impl Encode for bool {
    fn encode(&self, writer: &mut Writer) {
        writer.boolean(*self);
    }
}

impl<T: Decode> Decode for Arc<T> {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
        T::decode(reader).map(Self::new)
    }
}

impl<T: Encode> Encode for Arc<T> {
    fn encode(&self, writer: &mut Writer) {
        T::encode(self, writer);
    }
}

impl<T: Decode> Decode for Box<T> {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
        T::decode(reader).map(Self::new)
    }
}

impl<T: Encode> Encode for Box<T> {
    fn encode(&self, writer: &mut Writer) {
        T::encode(self, writer);
    }
}

/// Java's primitive types have no null and are always written.
macro_rules! always_written {
    ($($type:ty),*) => {$(
        impl Field for $type {
            fn is_absent(&self) -> bool {
                false
            }

            fn read(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
                Self::decode(reader)
            }

            fn write(&self, writer: &mut Writer) {
                self.encode(writer);
            }
        }
    )*};
}

always_written!(i32, i64, bool);

impl<T: Decode + Encode> Field for Option<T> {
    fn is_absent(&self) -> bool {
        self.is_none()
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
        T::decode(reader).map(Some)
    }

    fn write(&self, writer: &mut Writer) {
        if let Some(value) = self {
            value.encode(writer);
        }
    }
}

/// The number of elements after which the length of the rest of a list is estimated.
const SAMPLE: usize = 16;

/// An empty list is written as a missing one.
impl<T: Decode + Encode> Field for Vec<T> {
    fn is_absent(&self) -> bool {
        self.is_empty()
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
        let mut elements = Self::new();
        reader.list(|reader| {
            elements.push(T::decode(reader)?);
            Ok(())
        })?;
        Ok(elements)
    }

    fn write(&self, writer: &mut Writer) {
        writer.list(|writer| {
            let begin = writer.len();
            for (at, element) in self.iter().enumerate() {
                if at == SAMPLE {
                    // As long as those before, on average, so that the buffer does not grow step by
                    // step.
                    let rest = (writer.len() - begin) / SAMPLE * (self.len() - SAMPLE);
                    writer.expect(rest);
                }
                element.encode(writer);
            }
        });
    }
}

/// An empty map is written as a missing one; a property that is `null` counts as missing.
impl<T: Decode + Encode> Field for BTreeMap<String, T> {
    fn is_absent(&self) -> bool {
        self.is_empty()
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
        let mut map = Self::new();
        reader.object(|reader, key| {
            map.insert(key.to_owned(), T::decode(reader)?);
            Ok(())
        })?;
        Ok(map)
    }

    fn write(&self, writer: &mut Writer) {
        writer.object(|writer| {
            for (key, value) in self {
                writer.key(key);
                value.encode(writer);
            }
        });
    }
}
