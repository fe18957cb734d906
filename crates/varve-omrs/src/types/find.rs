//! Finds types.

use std::sync::Arc;

use super::{
    AttributeTypeDef, AttributeTypeDefCategory, Catalogue, ExternalStandardMapping, ResolvedType,
    TypeDef, TypeDefCategory, TypeDefGallery, TypeIndex,
};
use crate::error::{Message, OmrsError};

impl Catalogue {
    /// The definition of the type with this GUID.
    ///
    /// # Errors
    /// `TypeDefNotKnownException`.
    pub fn type_by_guid(&self, guid: &str) -> Result<&Arc<TypeDef>, OmrsError> {
        let found = self.by_guid(guid).map(|index| self.get(index).def());
        found.ok_or_else(|| OmrsError::new(Message::UnknownTypeGuid, &[guid]))
    }

    /// The definition of the type with this name.
    ///
    /// # Errors
    /// `TypeDefNotKnownException`.
    pub fn type_by_name(&self, name: &str) -> Result<&Arc<TypeDef>, OmrsError> {
        let found = self.by_name(name).map(|index| self.get(index).def());
        found.ok_or_else(|| OmrsError::new(Message::UnknownTypeName, &[name]))
    }

    /// The types and the attribute types whose names satisfy `matches`.
    pub fn find_by_name(&self, mut matches: impl FnMut(&str) -> bool) -> TypeDefGallery {
        let attribute_types = self.attribute_types();
        let types = self.types();
        TypeDefGallery {
            attribute_types: attribute_types
                .filter(|def| matches(def.name()))
                .map(|def| AttributeTypeDef::clone(def))
                .collect(),
            types: types
                .filter(|(_, found)| matches(found.name()))
                .map(|(_, found)| TypeDef::clone(found.def()))
                .collect(),
        }
    }

    /// The types of a category, in the order in which they were added.
    pub fn of_category(
        &self,
        category: TypeDefCategory,
    ) -> impl Iterator<Item = (TypeIndex, &ResolvedType)> {
        self.types()
            .filter(move |(_, found)| found.def().category() == category)
    }

    /// The attribute types of a category, in the order in which they were added.
    pub fn attribute_types_of_category(
        &self,
        category: AttributeTypeDefCategory,
    ) -> impl Iterator<Item = &Arc<AttributeTypeDef>> {
        self.attribute_types()
            .filter(move |def| def.category() == category)
    }

    /// The types whose instances have all the properties in `names`, their own or inherited.
    pub fn with_properties<'a>(
        &'a self,
        names: &'a [String],
    ) -> impl Iterator<Item = (TypeIndex, &'a ResolvedType)> {
        self.types()
            .filter(move |(_, found)| names.iter().all(|name| found.property(name).is_some()))
    }

    /// The types that are mapped to another standard: at least one mapping, of the type or of an
    /// attribute that the type itself defines, has all given values.
    ///
    /// # Errors
    /// `InvalidParameterException` when no value is given.
    pub fn of_standard<'a>(
        &'a self,
        standard: Option<&'a str>,
        organization: Option<&'a str>,
        identifier: Option<&'a str>,
    ) -> Result<impl Iterator<Item = (TypeIndex, &'a ResolvedType)>, OmrsError> {
        if standard.or(organization).or(identifier).is_none() {
            let names = "standard, organization, identifier";
            return Err(OmrsError::of_parameter(
                Message::MissingParameter,
                "standard",
                &[names],
            ));
        }
        let fits = |wanted: Option<&str>, found: &Option<String>| {
            wanted.is_none_or(|wanted| found.as_deref() == Some(wanted))
        };
        let matches = move |mapping: &ExternalStandardMapping| {
            fits(standard, &mapping.standard_name)
                && fits(organization, &mapping.standard_organization)
                && fits(identifier, &mapping.standard_type_name)
        };
        Ok(self.types().filter(move |(_, found)| {
            let body = &found.def().body;
            let attributes = body.attributes.iter();
            let of_attributes = attributes.flat_map(|of| &of.external_standard_mappings);
            let mut mappings = body.external_standard_mappings.iter().chain(of_attributes);
            mappings.any(matches)
        }))
    }
}
