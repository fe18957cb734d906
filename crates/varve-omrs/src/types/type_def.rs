//! Definitions of the types of entities, relationships and classifications.

use std::collections::BTreeMap;

use super::{
    AttributeTypeDef, ClassificationPropagationRule, InstanceStatus, RelationshipEndCardinality,
    TypeDefAttribute, TypeDefCategory, TypeDefStatus,
};
use crate::json::{Decode, Encode, Fields, JsonError, Millis, Reader, Writer, json_object};

json_object! {
    /// How other definitions name a type.
    pub struct TypeDefLink {
        /// The version of this object's structure.
        header_version: Option<i64> = "headerVersion",
        /// Opaque, case-sensitive; not always a UUID.
        guid: Option<String> = "guid",
        /// Unique among types.
        name: Option<String> = "name",
        /// Whether it is still to be used.
        status: Option<TypeDefStatus> = "status",
        /// The type to use in its place.
        replaced_by_type_guid: Option<String> = "replacedByTypeGUID",
        /// The name of the type to use in its place.
        replaced_by_type_name: Option<String> = "replacedByTypeName",
    }
}

impl TypeDefLink {
    /// The GUID; empty where there is none.
    #[must_use]
    pub fn guid(&self) -> &str {
        self.guid.as_deref().unwrap_or_default()
    }

    /// The name; empty where there is none.
    #[must_use]
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or_default()
    }
}

json_object! {
    /// Which type, in which version.
    pub struct TypeDefSummary {
        @base
        /// Which type.
        link: TypeDefLink;
        /// The version of the definition, which patches raise.
        version: i64 = "version",
        /// The version as people write it, `1.0`.
        version_name: Option<String> = "versionName",
        /// What it is a type of.
        category: Option<TypeDefCategory> = "category",
    }
}

json_object! {
    /// What types of all kinds have beside their kind.
    pub struct TypeDefBody {
        @base
        /// Which type, in which version.
        summary: TypeDefSummary;
        /// The type it inherits from.
        super_type: Option<TypeDefLink> = "superType",
        /// Prose.
        description: Option<String> = "description",
        /// The glossary term that describes it.
        description_guid: Option<String> = "descriptionGUID",
        /// Where it was first defined: the GUID of an archive or of a metadata collection.
        origin: Option<String> = "origin",
        /// Who defined it.
        created_by: Option<String> = "createdBy",
        /// Who changed it last.
        updated_by: Option<String> = "updatedBy",
        /// When it was defined.
        create_time: Option<Millis> = "createTime",
        /// When it was changed last.
        update_time: Option<Millis> = "updateTime",
        /// Properties of the definition itself.
        options: BTreeMap<String, String> = "options",
        /// What other standards call it.
        external_standard_mappings: Vec<ExternalStandardMapping> = "externalStandardMappings",
        /// Which status its instances may have.
        valid_statuses: Vec<InstanceStatus> = "validInstanceStatusList",
        /// Which status its instances begin with.
        initial_status: Option<InstanceStatus> = "initialStatus",
        /// The properties it gives its instances, beside those of its supertypes.
        attributes: Vec<TypeDefAttribute> = "propertiesDefinition",
    }
}

json_object! {
    /// What another standard calls a type or an attribute.
    pub struct ExternalStandardMapping {
        /// The version of this object's structure.
        header_version: Option<i64> = "headerVersion",
        /// The standard's name.
        standard_name: Option<String> = "standardName",
        /// Who publishes it.
        standard_organization: Option<String> = "standardOrganization",
        /// The name there.
        standard_type_name: Option<String> = "standardTypeName",
    }
}

/// A type of entities, relationships or classifications.
#[derive(Debug, Clone, PartialEq)]
pub struct TypeDef {
    /// What all types have.
    pub body: TypeDefBody,
    /// What it is a type of.
    pub kind: TypeDefKind,
}

/// What a type is a type of, and what only such types have.
#[derive(Debug, Clone, PartialEq)]
pub enum TypeDefKind {
    /// Entities.
    Entity,
    /// Relationships.
    Relationship(Box<RelationshipKind>),
    /// Classifications.
    Classification(ClassificationKind),
}

json_object! {
    /// What only types of relationships have.
    pub struct RelationshipKind {
        /// Which way classifications spread.
        propagation_rule: Option<ClassificationPropagationRule> = "propagationRule",
        /// The first end.
        end_1: Option<RelationshipEndDef> = "endDef1",
        /// The second end.
        end_2: Option<RelationshipEndDef> = "endDef2",
        /// Whether two entities may be linked more than once.
        multi_link: bool = "multiLink",
    }
}

json_object! {
    /// One end of a type of relationships.
    pub struct RelationshipEndDef {
        /// The version of this object's structure.
        header_version: Option<i64> = "headerVersion",
        /// Which entities may stand there: of this type and its subtypes.
        entity_type: Option<TypeDefLink> = "entityType",
        /// What the entity at the other end calls this one.
        attribute_name: Option<String> = "attributeName",
        /// Prose.
        attribute_description: Option<String> = "attributeDescription",
        /// The glossary term that describes it.
        attribute_description_guid: Option<String> = "attributeDescriptionGUID",
        /// How many there may be.
        cardinality: Option<RelationshipEndCardinality> = "attributeCardinality",
    }
}

json_object! {
    /// What only types of classifications have.
    pub struct ClassificationKind {
        /// Which entities may carry it: of these types and their subtypes; none listed = all.
        valid_entity_types: Vec<TypeDefLink> = "validEntityDefs",
        /// Whether it spreads along relationships.
        propagatable: bool = "propagatable",
    }
}

json_object! {
    /// Many definitions at once.
    pub struct TypeDefGallery {
        /// The types of attributes.
        attribute_types: Vec<AttributeTypeDef> = "attributeTypeDefs",
        /// The types.
        types: Vec<TypeDef> = "typeDefs",
    }
}

impl TypeDef {
    /// The GUID; empty where the definition has none.
    #[must_use]
    pub fn guid(&self) -> &str {
        self.body.summary.link.guid()
    }

    /// The name; empty where the definition has none.
    #[must_use]
    pub fn name(&self) -> &str {
        self.body.summary.link.name()
    }

    /// The version that patches raise.
    #[must_use]
    pub fn version(&self) -> i64 {
        self.body.summary.version
    }

    /// Its category, which follows from its kind.
    #[must_use]
    pub fn category(&self) -> TypeDefCategory {
        match self.kind {
            TypeDefKind::Entity => TypeDefCategory::Entity,
            TypeDefKind::Relationship(_) => TypeDefCategory::Relationship,
            TypeDefKind::Classification(_) => TypeDefCategory::Classification,
        }
    }

    /// The name of its Java class.
    #[must_use]
    pub fn class(&self) -> &'static str {
        match self.kind {
            TypeDefKind::Entity => "EntityDef",
            TypeDefKind::Relationship(_) => "RelationshipDef",
            TypeDefKind::Classification(_) => "ClassificationDef",
        }
    }

    /// Every link to another type, in a definition that may have any of them.
    #[must_use]
    pub fn links(&self) -> Vec<&TypeDefLink> {
        let mut links: Vec<&TypeDefLink> = self.body.super_type.iter().collect();
        match &self.kind {
            TypeDefKind::Entity => {}
            TypeDefKind::Relationship(kind) => {
                let ends = kind.end_1.iter().chain(&kind.end_2);
                links.extend(ends.filter_map(|end| end.entity_type.as_ref()));
            }
            TypeDefKind::Classification(kind) => links.extend(&kind.valid_entity_types),
        }
        links
    }

    /// Every link to another type, to be changed.
    pub(super) fn links_mut(&mut self) -> Vec<&mut TypeDefLink> {
        let mut links: Vec<&mut TypeDefLink> = self.body.super_type.iter_mut().collect();
        match &mut self.kind {
            TypeDefKind::Entity => {}
            TypeDefKind::Relationship(kind) => {
                let ends = kind.end_1.iter_mut().chain(&mut kind.end_2);
                links.extend(ends.filter_map(|end| end.entity_type.as_mut()));
            }
            TypeDefKind::Classification(kind) => links.extend(&mut kind.valid_entity_types),
        }
        links
    }
}

impl Decode for TypeDef {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
        let kind = match reader.class()?.as_deref() {
            Some("EntityDef") => TypeDefKind::Entity,
            Some("RelationshipDef") => TypeDefKind::Relationship(Box::default()),
            Some("ClassificationDef") => TypeDefKind::Classification(ClassificationKind::default()),
            _ => {
                let wanted = "class must be one of EntityDef, RelationshipDef, ClassificationDef";
                return Err(reader.error(wanted));
            }
        };
        let body = TypeDefBody::default();
        let mut def = Self { body, kind };
        reader.object(|reader, key| {
            let is_read = def.body.read_field(key, reader)?
                || match &mut def.kind {
                    TypeDefKind::Entity => false,
                    TypeDefKind::Relationship(kind) => kind.read_field(key, reader)?,
                    TypeDefKind::Classification(kind) => kind.read_field(key, reader)?,
                };
            if is_read { Ok(()) } else { reader.skip() }
        })?;
        def.body.summary.category = Some(def.category());
        Ok(def)
    }
}

impl Encode for TypeDef {
    fn encode(&self, writer: &mut Writer) {
        writer.object(|writer| {
            writer.class(self.class());
            self.body.write_fields(writer);
            match &self.kind {
                TypeDefKind::Entity => {}
                TypeDefKind::Relationship(kind) => kind.write_fields(writer),
                TypeDefKind::Classification(kind) => kind.write_fields(writer),
            }
        });
    }
}
