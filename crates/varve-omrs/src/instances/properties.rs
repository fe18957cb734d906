//! The properties of instances and their values.

use std::collections::BTreeMap;

use super::primitive::PrimitiveParts;
use super::{Primitive, PrimitivePropertyValue};
use crate::json::{Decode, Encode, Fields, JsonError, Millis, Reader, Writer, json_object};

json_object! {
    /// Properties by name, and the period in which they are effective. The period is plain data; no
    /// call evaluates it.
    pub struct InstanceProperties {
        @class "InstanceProperties";
        /// The version of this object's structure.
        header_version: Option<i64> = "headerVersion",
        /// The start of the period.
        effective_from: Option<Millis> = "effectiveFromTime",
        /// The end of the period.
        effective_to: Option<Millis> = "effectiveToTime",
        /// The values.
        values: BTreeMap<String, InstancePropertyValue> = "instanceProperties",
    }
}

json_object! {
    /// The type of a property value. Clients may leave it out.
    pub struct PropertyValueHeader {
        /// The version of this object's structure.
        header_version: Option<i64> = "headerVersion",
        /// The GUID of the attribute type.
        type_guid: Option<String> = "typeGUID",
        /// The name of the attribute type.
        type_name: Option<String> = "typeName",
    }
}

/// The value of a property.
#[derive(Debug, Clone, PartialEq)]
pub enum InstancePropertyValue {
    /// One value.
    Primitive(PrimitivePropertyValue),
    /// A value of an enum.
    Enum(EnumPropertyValue),
    /// Values by the names of the struct's fields.
    Struct(StructPropertyValue),
    /// Values by key.
    Map(MapPropertyValue),
    /// Values in order.
    Array(ArrayPropertyValue),
}

json_object! {
    /// A value of an enum.
    pub struct EnumPropertyValue {
        @base
        /// The type of the value.
        header: PropertyValueHeader;
        /// The value's number.
        ordinal: i32 = "ordinal",
        /// The value's name.
        symbolic_name: Option<String> = "symbolicName",
        /// Prose.
        description: Option<String> = "description",
    }
}

json_object! {
    /// A struct.
    pub struct StructPropertyValue {
        @base
        /// The type of the value.
        header: PropertyValueHeader;
        /// The values by the names of the fields.
        attributes: Option<InstanceProperties> = "attributes",
    }
}

json_object! {
    /// A map.
    pub struct MapPropertyValue {
        @base
        /// The type of the value.
        header: PropertyValueHeader;
        /// The values by key.
        values: Option<InstanceProperties> = "mapValues",
    }
}

json_object! {
    /// An array.
    pub struct ArrayPropertyValue {
        @base
        /// The type of the value.
        header: PropertyValueHeader;
        /// The number of elements.
        count: i32 = "arrayCount",
        /// The elements by their positions, `0`, `1` …
        values: Option<InstanceProperties> = "arrayValues",
    }
}

impl InstanceProperties {
    /// The property `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&InstancePropertyValue> {
        self.values.get(name)
    }

    /// Adds a property, or replaces the one with the same name.
    #[must_use]
    pub fn with(mut self, name: &str, value: InstancePropertyValue) -> Self {
        self.values.insert(name.to_owned(), value);
        self
    }
}

impl ArrayPropertyValue {
    /// The elements in order: those at the positions `0`, `1` … up to the first gap.
    pub fn elements(&self) -> impl Iterator<Item = &InstancePropertyValue> {
        let values = self.values.as_ref();
        (0..).map_while(move |position: usize| values?.get(&position.to_string()))
    }
}

impl InstancePropertyValue {
    /// Makes a string.
    #[must_use]
    pub fn string(text: &str) -> Self {
        Self::primitive(Primitive::String(text.to_owned()))
    }

    /// Makes a primitive value.
    #[must_use]
    pub fn primitive(value: Primitive) -> Self {
        Self::Primitive(PrimitivePropertyValue::of(value))
    }

    /// The type of the value.
    #[must_use]
    pub fn header(&self) -> &PropertyValueHeader {
        match self {
            Self::Primitive(value) => &value.header,
            Self::Enum(value) => &value.header,
            Self::Struct(value) => &value.header,
            Self::Map(value) => &value.header,
            Self::Array(value) => &value.header,
        }
    }

    /// The type of the value, to change it.
    pub fn header_mut(&mut self) -> &mut PropertyValueHeader {
        match self {
            Self::Primitive(value) => &mut value.header,
            Self::Enum(value) => &mut value.header,
            Self::Struct(value) => &mut value.header,
            Self::Map(value) => &mut value.header,
            Self::Array(value) => &mut value.header,
        }
    }

    /// The names of its Java class and of its category.
    #[must_use]
    pub fn class(&self) -> (&'static str, &'static str) {
        match self {
            Self::Primitive(_) => ("PrimitivePropertyValue", "PRIMITIVE"),
            Self::Enum(_) => ("EnumPropertyValue", "ENUM"),
            Self::Struct(_) => ("StructPropertyValue", "STRUCT"),
            Self::Map(_) => ("MapPropertyValue", "MAP"),
            Self::Array(_) => ("ArrayPropertyValue", "ARRAY"),
        }
    }
}

impl Decode for InstancePropertyValue {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
        match reader.class()?.as_deref() {
            Some("PrimitivePropertyValue") => {
                let mut parts = PrimitiveParts::default();
                members(reader, |reader, key| parts.read_field(key, reader))?;
                parts.finish().map(Self::Primitive)
            }
            Some("EnumPropertyValue") => EnumPropertyValue::decode(reader).map(Self::Enum),
            Some("StructPropertyValue") => StructPropertyValue::decode(reader).map(Self::Struct),
            Some("MapPropertyValue") => MapPropertyValue::decode(reader).map(Self::Map),
            Some("ArrayPropertyValue") => ArrayPropertyValue::decode(reader).map(Self::Array),
            _ => Err(reader.error(
                "class must be one of PrimitivePropertyValue, EnumPropertyValue, \
                 StructPropertyValue, MapPropertyValue, ArrayPropertyValue",
            )),
        }
    }
}

/// Calls [`Reader::object`], with the document's lifetime named in the closure.
fn members<'a>(
    reader: &mut Reader<'a>,
    member: impl FnMut(&mut Reader<'a>, &str) -> Result<(), JsonError>,
) -> Result<(), JsonError> {
    reader.object(member)
}

impl Encode for InstancePropertyValue {
    fn encode(&self, writer: &mut Writer) {
        let (class, category) = self.class();
        writer.object(|writer| {
            writer.class(class);
            writer.known_key("\"instancePropertyCategory\":");
            writer.string(category);
            match self {
                Self::Primitive(value) => value.write_fields(writer),
                Self::Enum(value) => value.write_fields(writer),
                Self::Struct(value) => value.write_fields(writer),
                Self::Map(value) => value.write_fields(writer),
                Self::Array(value) => value.write_fields(writer),
            }
        });
    }
}
