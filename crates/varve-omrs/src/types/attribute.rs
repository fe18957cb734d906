//! Attributes: the properties that a type gives its instances.

use std::sync::Arc;

use super::{
    AttributeCardinality, AttributeTypeDef, ExternalStandardMapping, TypeDefAttributeStatus,
};
use crate::json::{Decode, Encode, JsonError, Reader, Writer, json_object};

json_object! {
    /// An attribute of a type.
    pub struct TypeDefAttribute {
        /// The version of this object's structure.
        header_version: Option<i64> = "headerVersion",
        /// The property's name.
        name: Option<String> = "attributeName",
        /// The property's type.
        attribute_type: Option<AttributeType> = "attributeType",
        /// Whether it is current, renamed or deprecated.
        status: Option<TypeDefAttributeStatus> = "attributeStatus",
        /// The attribute to use instead.
        replaced_by: Option<String> = "replacedByAttribute",
        /// Prose.
        description: Option<String> = "attributeDescription",
        /// The glossary term that describes it.
        description_guid: Option<String> = "attributeDescriptionGUID",
        /// The number of values.
        cardinality: Option<AttributeCardinality> = "attributeCardinality",
        /// The fewest values.
        values_min_count: i32 = "valuesMinCount",
        /// The most values.
        values_max_count: i32 = "valuesMaxCount",
        /// Whether searches for it should be fast.
        indexable: bool = "indexable",
        /// Whether no two instances may have the same value.
        unique: bool = "unique",
        /// The value of an instance without one, as text.
        default_value: Option<String> = "defaultValue",
        /// Its names in other standards.
        external_standard_mappings: Vec<ExternalStandardMapping> = "externalStandardMappings",
    }
}

impl TypeDefAttribute {
    /// The property's name; empty if the definition has none.
    #[must_use]
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or_default()
    }

    /// The property's type. Always present in a [`Catalogue`](super::Catalogue).
    #[must_use]
    pub fn type_def(&self) -> Option<&Arc<AttributeTypeDef>> {
        match &self.attribute_type {
            Some(AttributeType::Whole(def)) => Some(def),
            _ => None,
        }
    }
}

/// The type of an attribute in a definition.
///
/// The contract repeats the whole definition with each attribute. The built-in types have only its
/// name, and a client may do the same; the catalogue replaces it by the known definition.
#[derive(Debug, Clone, PartialEq)]
pub enum AttributeType {
    /// The definition.
    Whole(Arc<AttributeTypeDef>),
    /// The name of a known definition.
    Named(String),
}

impl Decode for AttributeType {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
        if reader.at_string()? {
            String::decode(reader).map(Self::Named)
        } else {
            Arc::decode(reader).map(Self::Whole)
        }
    }
}

impl Encode for AttributeType {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::Whole(def) => def.encode(writer),
            Self::Named(name) => writer.string(name),
        }
    }
}
