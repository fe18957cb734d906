//! Types of attributes: primitives, collections, enums.

use super::{AttributeTypeDefCategory, CollectionDefCategory, PrimitiveDefCategory};
use crate::json::{Decode, Encode, Field, Fields, JsonError, Reader, Writer, json_object};

json_object! {
    /// The members of every attribute type.
    pub struct AttributeTypeHeader {
        /// The version of this object's structure.
        header_version: Option<i64> = "headerVersion",
        /// The version of the definition.
        version: i64 = "version",
        /// The version for people, such as `1.0`.
        version_name: Option<String> = "versionName",
        /// Opaque, case-sensitive; not always a UUID.
        guid: Option<String> = "guid",
        /// Unique among attribute types.
        name: Option<String> = "name",
        /// Prose.
        description: Option<String> = "description",
        /// The glossary term that describes it.
        description_guid: Option<String> = "descriptionGUID",
    }
}

/// The type of an attribute.
#[derive(Debug, Clone, PartialEq)]
pub struct AttributeTypeDef {
    /// The common members.
    pub header: AttributeTypeHeader,
    /// The kind, with the members of that kind.
    pub kind: AttributeTypeKind,
}

/// The kind of an attribute type.
#[derive(Debug, Clone, PartialEq)]
pub enum AttributeTypeKind {
    /// A single value.
    Primitive(PrimitiveDef),
    /// Several values.
    Collection(CollectionDef),
    /// One of a list of values.
    Enum(EnumDef),
}

json_object! {
    /// The members of primitive attribute types.
    pub struct PrimitiveDef {
        /// The kind of value; `None` counts as unknown.
        category: Option<PrimitiveDefCategory> = "primitiveDefCategory",
    }
}

json_object! {
    /// The members of collection attribute types.
    pub struct CollectionDef {
        /// The kind of collection.
        category: Option<CollectionDefCategory> = "collectionDefCategory",
        /// The number of argument types: two for a map, one for an array.
        argument_count: i32 = "argumentCount",
        /// The types of its keys and values, or of its elements.
        argument_types: Vec<PrimitiveDefCategory> = "argumentTypes",
    }
}

json_object! {
    /// The members of enum attribute types.
    pub struct EnumDef {
        /// The values.
        elements: Vec<EnumElementDef> = "elementDefs",
        /// The value of an instance without one.
        default_value: Option<EnumElementDef> = "defaultValue",
    }
}

json_object! {
    /// One value of an enum.
    pub struct EnumElementDef {
        /// The version of this object's structure.
        header_version: Option<i64> = "headerVersion",
        /// Its number.
        ordinal: i32 = "ordinal",
        /// Its name.
        value: Option<String> = "value",
        /// Prose.
        description: Option<String> = "description",
        /// The glossary term that describes it.
        description_guid: Option<String> = "descriptionGUID",
    }
}

impl AttributeTypeDef {
    /// The GUID; empty if the definition has none.
    #[must_use]
    pub fn guid(&self) -> &str {
        self.header.guid.as_deref().unwrap_or_default()
    }

    /// The name; empty if the definition has none.
    #[must_use]
    pub fn name(&self) -> &str {
        self.header.name.as_deref().unwrap_or_default()
    }

    /// The category, which follows from the kind.
    #[must_use]
    pub fn category(&self) -> AttributeTypeDefCategory {
        match &self.kind {
            AttributeTypeKind::Primitive(_) => AttributeTypeDefCategory::Primitive,
            AttributeTypeKind::Collection(_) => AttributeTypeDefCategory::Collection,
            AttributeTypeKind::Enum(_) => AttributeTypeDefCategory::Enum,
        }
    }

    /// The kind of primitive value, for a primitive type.
    #[must_use]
    pub fn primitive(&self) -> Option<PrimitiveDefCategory> {
        match &self.kind {
            AttributeTypeKind::Primitive(primitive) => {
                Some(primitive.category.unwrap_or(PrimitiveDefCategory::Unknown))
            }
            _ => None,
        }
    }

    /// Whether `other` is the same attribute type with the same kind of values. An enum may have
    /// other elements, since stored values have their own names and numbers.
    pub(super) fn has_same_values(&self, other: &Self) -> bool {
        use AttributeTypeKind as Kind;
        let are_alike = match (&self.kind, &other.kind) {
            (Kind::Primitive(_), Kind::Primitive(_)) => self.primitive() == other.primitive(),
            (Kind::Collection(one), Kind::Collection(other)) => {
                one.category == other.category && one.argument_types == other.argument_types
            }
            (Kind::Enum(_), Kind::Enum(_)) => true,
            _ => false,
        };
        are_alike && self.guid() == other.guid()
    }

    /// The name of its Java class.
    #[must_use]
    pub fn class(&self) -> &'static str {
        match &self.kind {
            AttributeTypeKind::Primitive(_) => "PrimitiveDef",
            AttributeTypeKind::Collection(_) => "CollectionDef",
            AttributeTypeKind::Enum(_) => "EnumDef",
        }
    }
}

impl EnumDef {
    /// The value with this number.
    #[must_use]
    pub fn by_ordinal(&self, ordinal: i32) -> Option<&EnumElementDef> {
        self.elements
            .iter()
            .find(|element| element.ordinal == ordinal)
    }

    /// The value with this name.
    #[must_use]
    pub fn by_name(&self, name: &str) -> Option<&EnumElementDef> {
        self.elements
            .iter()
            .find(|element| element.value.as_deref() == Some(name))
    }
}

impl AttributeTypeKind {
    fn fields(&self) -> &dyn Fields {
        match self {
            Self::Primitive(fields) => fields,
            Self::Collection(fields) => fields,
            Self::Enum(fields) => fields,
        }
    }

    fn fields_mut(&mut self) -> &mut dyn Fields {
        match self {
            Self::Primitive(fields) => fields,
            Self::Collection(fields) => fields,
            Self::Enum(fields) => fields,
        }
    }
}

impl Decode for AttributeTypeDef {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
        let kind = match reader.class()?.as_deref() {
            Some("PrimitiveDef") => AttributeTypeKind::Primitive(PrimitiveDef::default()),
            Some("CollectionDef") => AttributeTypeKind::Collection(CollectionDef::default()),
            Some("EnumDef") => AttributeTypeKind::Enum(EnumDef::default()),
            _ => {
                let wanted = "class must be one of PrimitiveDef, CollectionDef, EnumDef";
                return Err(reader.error(wanted));
            }
        };
        let header = AttributeTypeHeader::default();
        let mut def = Self { header, kind };
        reader.object(|reader, key| {
            if !def.header.read_field(key, reader)?
                && !def.kind.fields_mut().read_field(key, reader)?
            {
                reader.skip()?;
            }
            Ok(())
        })?;
        Ok(def)
    }
}

impl Encode for AttributeTypeDef {
    fn encode(&self, writer: &mut Writer) {
        writer.object(|writer| {
            writer.class(self.class());
            self.header.write_fields(writer);
            writer.key("category");
            Some(self.category()).write(writer);
            self.kind.fields().write_fields(writer);
        });
    }
}
