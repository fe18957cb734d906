//! Primitive values.

use std::borrow::Cow;

use super::{BigDecimal, BigInteger, PropertyValueHeader};
use crate::json::{Encode, Fields, JsonError, Millis, RawJson, Reader, Writer};
use crate::types::PrimitiveDefCategory;

/// A primitive value. Its kind is stated explicitly, since JSON has only one kind of number.
#[derive(Debug, Clone, PartialEq)]
pub struct PrimitivePropertyValue {
    /// The type of the value.
    pub header: PropertyValueHeader,
    /// The kind of value.
    pub category: PrimitiveDefCategory,
    /// The value, of that kind; `None` is Java's null.
    pub value: Option<Primitive>,
}

/// One value.
#[derive(Debug, Clone, PartialEq)]
pub enum Primitive {
    /// True or false.
    Boolean(bool),
    /// 8 bits, signed.
    Byte(i8),
    /// A character that is a single UTF-16 code unit.
    Char(char),
    /// 16 bits, signed.
    Short(i16),
    /// 32 bits, signed.
    Int(i32),
    /// 64 bits, signed.
    Long(i64),
    /// Single precision.
    Float(f32),
    /// Double precision.
    Double(f64),
    /// A whole number of any size.
    BigInteger(BigInteger),
    /// A decimal number of any size.
    BigDecimal(BigDecimal),
    /// Text.
    String(String),
    /// A point in time.
    Date(Millis),
    /// Any JSON value, of the type `object`.
    Object(RawJson),
}

impl Primitive {
    /// The kind of value.
    #[must_use]
    pub fn category(&self) -> PrimitiveDefCategory {
        match self {
            Self::Boolean(_) => PrimitiveDefCategory::Boolean,
            Self::Byte(_) => PrimitiveDefCategory::Byte,
            Self::Char(_) => PrimitiveDefCategory::Char,
            Self::Short(_) => PrimitiveDefCategory::Short,
            Self::Int(_) => PrimitiveDefCategory::Int,
            Self::Long(_) => PrimitiveDefCategory::Long,
            Self::Float(_) => PrimitiveDefCategory::Float,
            Self::Double(_) => PrimitiveDefCategory::Double,
            Self::BigInteger(_) => PrimitiveDefCategory::BigInteger,
            Self::BigDecimal(_) => PrimitiveDefCategory::BigDecimal,
            Self::String(_) => PrimitiveDefCategory::String,
            Self::Date(_) => PrimitiveDefCategory::Date,
            Self::Object(_) => PrimitiveDefCategory::Unknown,
        }
    }

    /// Decodes a value of `category` from one JSON value.
    fn decode(reader: &mut Reader<'_>, category: PrimitiveDefCategory) -> Result<Self, JsonError> {
        match category {
            PrimitiveDefCategory::Boolean => reader.boolean().map(Self::Boolean),
            PrimitiveDefCategory::Byte => narrow(reader, category).map(Self::Byte),
            PrimitiveDefCategory::Short => narrow(reader, category).map(Self::Short),
            PrimitiveDefCategory::Int => narrow(reader, category).map(Self::Int),
            PrimitiveDefCategory::Long => reader.integer().map(Self::Long),
            PrimitiveDefCategory::Char => character(reader).map(Self::Char),
            PrimitiveDefCategory::Float => parsed(reader, category).map(Self::Float),
            PrimitiveDefCategory::Double => parsed(reader, category).map(Self::Double),
            PrimitiveDefCategory::BigInteger => {
                let number = number_text(reader)?;
                let number = BigInteger::from_text(&number).map(Self::BigInteger);
                number.ok_or_else(|| wanted(reader, category))
            }
            PrimitiveDefCategory::BigDecimal => {
                let number = number_text(reader)?;
                let number = BigDecimal::from_text(&number).map(Self::BigDecimal);
                number.ok_or_else(|| wanted(reader, category))
            }
            PrimitiveDefCategory::String => {
                let text = reader.string()?;
                Ok(Self::String(text.into_owned()))
            }
            PrimitiveDefCategory::Date => crate::json::Decode::decode(reader).map(Self::Date),
            PrimitiveDefCategory::Unknown => crate::json::Decode::decode(reader).map(Self::Object),
        }
    }
}

fn wanted(reader: &Reader<'_>, category: PrimitiveDefCategory) -> JsonError {
    reader.error(format!("a value of {} was expected", category.name()))
}

fn narrow<T: TryFrom<i64>>(
    reader: &mut Reader<'_>,
    category: PrimitiveDefCategory,
) -> Result<T, JsonError> {
    let value = reader.integer()?;
    T::try_from(value).map_err(|_| wanted(reader, category))
}

/// The text of a number. Big numbers, and those that JSON lacks (`NaN`, `Infinity`), may be
/// strings.
fn number_text<'a>(reader: &mut Reader<'a>) -> Result<Cow<'a, str>, JsonError> {
    if reader.at_string()? {
        reader.string()
    } else {
        reader.number().map(Cow::Borrowed)
    }
}

/// Reads a floating-point number. A number too large for its kind is refused, not read as infinite.
fn parsed<T: std::str::FromStr + Floating>(
    reader: &mut Reader<'_>,
    category: PrimitiveDefCategory,
) -> Result<T, JsonError> {
    let is_string = reader.at_string()?;
    let text = number_text(reader)?;
    let is_special = ["NaN", "Infinity", "-Infinity"].contains(&text.as_ref());
    let value: Option<T> = text.parse().ok();
    value
        .filter(|value| {
            if is_string {
                is_special
            } else {
                value.is_number()
            }
        })
        .ok_or_else(|| wanted(reader, category))
}

trait Floating {
    fn is_number(&self) -> bool;
}

impl Floating for f32 {
    fn is_number(&self) -> bool {
        self.is_finite()
    }
}

impl Floating for f64 {
    fn is_number(&self) -> bool {
        self.is_finite()
    }
}

fn character(reader: &mut Reader<'_>) -> Result<char, JsonError> {
    let text = reader.string()?;
    let mut characters = text.chars();
    match (characters.next(), characters.next()) {
        (Some(character), None) if character.len_utf16() == 1 => Ok(character),
        _ => Err(wanted(reader, PrimitiveDefCategory::Char)),
    }
}

impl Encode for Primitive {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::Boolean(value) => writer.boolean(*value),
            Self::Byte(value) => writer.integer(i64::from(*value)),
            Self::Short(value) => writer.integer(i64::from(*value)),
            Self::Int(value) => writer.integer(i64::from(*value)),
            Self::Long(value) => writer.integer(*value),
            Self::Char(value) => writer.string(value.encode_utf8(&mut [0; 4])),
            Self::Float(value) if value.is_finite() => writer.raw(&format!("{value:?}")),
            Self::Double(value) if value.is_finite() => writer.raw(&format!("{value:?}")),
            Self::Float(value) => writer.string(special(f64::from(*value))),
            Self::Double(value) => writer.string(special(*value)),
            Self::BigInteger(value) => writer.raw(value.text()),
            Self::BigDecimal(value) => writer.raw(value.text()),
            Self::String(value) => writer.string(value),
            Self::Date(value) => value.encode(writer),
            Self::Object(value) => value.encode(writer),
        }
    }
}

fn special(value: f64) -> &'static str {
    if value.is_nan() {
        "NaN"
    } else if value > 0.0 {
        "Infinity"
    } else {
        "-Infinity"
    }
}

/// A primitive value that is being decoded. The category may follow the value.
#[derive(Default)]
pub(super) struct PrimitiveParts<'a> {
    pub(super) header: PropertyValueHeader,
    category: Option<PrimitiveDefCategory>,
    /// The position of the value.
    value: Option<Reader<'a>>,
}

impl<'a> PrimitiveParts<'a> {
    pub(super) fn read_field(
        &mut self,
        key: &str,
        reader: &mut Reader<'a>,
    ) -> Result<(), JsonError> {
        match key {
            "primitiveDefCategory" => {
                self.category = Some(crate::json::Decode::decode(reader)?);
                Ok(())
            }
            "primitiveValue" => {
                self.value = Some(reader.clone());
                reader.skip()
            }
            _ if self.header.read_field(key, reader)? => Ok(()),
            _ => reader.skip(),
        }
    }

    /// Decodes the value. Without a category, the kind follows from the JSON.
    pub(super) fn finish(self) -> Result<PrimitivePropertyValue, JsonError> {
        let category = self.category.unwrap_or(PrimitiveDefCategory::Unknown);
        let value = self.value.map(|mut reader| {
            Primitive::decode(&mut reader, category).map_err(|error| error.in_key("primitiveValue"))
        });
        Ok(PrimitivePropertyValue {
            header: self.header,
            category,
            value: value.transpose()?,
        })
    }
}

impl PrimitivePropertyValue {
    /// A value of this kind, without a stated type.
    #[must_use]
    pub fn of(value: Primitive) -> Self {
        Self {
            header: PropertyValueHeader::default(),
            category: value.category(),
            value: Some(value),
        }
    }

    pub(super) fn write_fields(&self, writer: &mut Writer) {
        self.header.write_fields(writer);
        writer.known_key("\"primitiveDefCategory\":");
        self.category.encode(writer);
        if let Some(value) = &self.value {
            writer.known_key("\"primitiveValue\":");
            value.encode(writer);
        }
    }
}
