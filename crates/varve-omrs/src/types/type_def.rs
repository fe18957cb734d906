//! Definitions of the types of entities, relationships and classifications.

use std::collections::BTreeMap;

use super::{
    AttributeTypeDef, ClassificationPropagationRule, InstanceStatus, RelationshipEndCardinality,
    TypeDefAttribute, TypeDefCategory, TypeDefStatus,
};
use crate::json::{Decode, Encode, Fields, JsonError, Millis, Reader, Writer, json_object};

json_object! {
    /// A reference to a type.
    pub struct TypeDefLink {
        /// The version of this object's structure.
        header_version: Option<i64> = "headerVersion",
        /// The GUID: an opaque, case-sensitive text, not always a UUID.
        guid: Option<String> = "guid",
        /// The name, unique among types.
        name: Option<String> = "name",
        /// Whether the type is current, renamed or deprecated.
        status: Option<TypeDefStatus> = "status",
        /// The GUID of the type to use instead.
        replaced_by_type_guid: Option<String> = "replacedByTypeGUID",
        /// The name of the type to use instead.
        replaced_by_type_name: Option<String> = "replacedByTypeName",
    }
}

impl TypeDefLink {
    /// The GUID; empty if there is none.
    #[must_use]
    pub fn guid(&self) -> &str {
        self.guid.as_deref().unwrap_or_default()
    }

    /// The name; empty if there is none.
    #[must_use]
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or_default()
    }
}

json_object! {
    /// A reference to a version of a type.
    pub struct TypeDefSummary {
        @base
        /// The type.
        link: TypeDefLink;
        /// The version of the definition. A patch raises it.
        version: i64 = "version",
        /// The version for people, such as `1.0`.
        version_name: Option<String> = "versionName",
        /// The category of the type.
        category: Option<TypeDefCategory> = "category",
    }
}

json_object! {
    /// The members that types of all categories have.
    pub struct TypeDefBody {
        @base
        /// The type and its version.
        summary: TypeDefSummary;
        /// The supertype.
        super_type: Option<TypeDefLink> = "superType",
        /// The description, for people.
        description: Option<String> = "description",
        /// The GUID of the glossary term that describes the type.
        description_guid: Option<String> = "descriptionGUID",
        /// Where the type was first defined: the GUID of an archive or of a metadata collection.
        origin: Option<String> = "origin",
        /// The user who defined the type.
        created_by: Option<String> = "createdBy",
        /// The user who last changed it.
        updated_by: Option<String> = "updatedBy",
        /// When the type was defined.
        create_time: Option<Millis> = "createTime",
        /// When it was last changed.
        update_time: Option<Millis> = "updateTime",
        /// Properties of the definition itself.
        options: BTreeMap<String, String> = "options",
        /// The type's names in other standards.
        external_standard_mappings: Vec<ExternalStandardMapping> = "externalStandardMappings",
        /// The statuses that instances of the type may have.
        valid_statuses: Vec<InstanceStatus> = "validInstanceStatusList",
        /// The initial status of instances of the type.
        initial_status: Option<InstanceStatus> = "initialStatus",
        /// The type's own properties, without those of its supertypes.
        attributes: Vec<TypeDefAttribute> = "propertiesDefinition",
    }
}

json_object! {
    /// The name of a type or an attribute in another standard.
    pub struct ExternalStandardMapping {
        /// The version of this object's structure.
        header_version: Option<i64> = "headerVersion",
        /// The standard's name.
        standard_name: Option<String> = "standardName",
        /// The publisher of the standard.
        standard_organization: Option<String> = "standardOrganization",
        /// The name in the standard.
        standard_type_name: Option<String> = "standardTypeName",
    }
}

/// A type of entities, relationships or classifications.
#[derive(Debug, Clone, PartialEq)]
pub struct TypeDef {
    /// The members that all types have.
    pub body: TypeDefBody,
    /// The category, with its own members.
    pub kind: TypeDefKind,
}

/// The category of a type, with the members that only it has.
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
    /// The members of relationship types only.
    pub struct RelationshipKind {
        /// The direction in which classifications propagate.
        propagation_rule: Option<ClassificationPropagationRule> = "propagationRule",
        /// The first end.
        end_1: Option<RelationshipEndDef> = "endDef1",
        /// The second end.
        end_2: Option<RelationshipEndDef> = "endDef2",
        /// Whether two entities may have several such relationships.
        multi_link: bool = "multiLink",
    }
}

json_object! {
    /// One end of a relationship type.
    pub struct RelationshipEndDef {
        /// The version of this object's structure.
        header_version: Option<i64> = "headerVersion",
        /// The type of the entities at this end, with its subtypes.
        entity_type: Option<TypeDefLink> = "entityType",
        /// The name by which the entity at the other end refers to this end.
        attribute_name: Option<String> = "attributeName",
        /// The description of this end, for people.
        attribute_description: Option<String> = "attributeDescription",
        /// The GUID of the glossary term that describes this end.
        attribute_description_guid: Option<String> = "attributeDescriptionGUID",
        /// The number of relationships that an entity may have at this end.
        cardinality: Option<RelationshipEndCardinality> = "attributeCardinality",
    }
}

json_object! {
    /// The members of classification types only.
    pub struct ClassificationKind {
        /// The types of entities that may carry the classification, with their subtypes; empty =
        /// all types.
        valid_entity_types: Vec<TypeDefLink> = "validEntityDefs",
        /// Whether the classification propagates along relationships.
        propagatable: bool = "propagatable",
    }
}

json_object! {
    /// A set of definitions of types and attribute types.
    pub struct TypeDefGallery {
        /// The types of attributes.
        attribute_types: Vec<AttributeTypeDef> = "attributeTypeDefs",
        /// The types.
        types: Vec<TypeDef> = "typeDefs",
    }
}

impl TypeDef {
    /// The GUID; empty if the definition has none.
    #[must_use]
    pub fn guid(&self) -> &str {
        self.body.summary.link.guid()
    }

    /// The name; empty if the definition has none.
    #[must_use]
    pub fn name(&self) -> &str {
        self.body.summary.link.name()
    }

    /// The version of the definition. A patch raises it.
    #[must_use]
    pub fn version(&self) -> i64 {
        self.body.summary.version
    }

    /// The category, which follows from the kind.
    #[must_use]
    pub fn category(&self) -> TypeDefCategory {
        match self.kind {
            TypeDefKind::Entity => TypeDefCategory::Entity,
            TypeDefKind::Relationship(_) => TypeDefCategory::Relationship,
            TypeDefKind::Classification(_) => TypeDefCategory::Classification,
        }
    }

    /// The name of the definition's Java class, as in JSON.
    #[must_use]
    pub fn class(&self) -> &'static str {
        match self.kind {
            TypeDefKind::Entity => "EntityDef",
            TypeDefKind::Relationship(_) => "RelationshipDef",
            TypeDefKind::Classification(_) => "ClassificationDef",
        }
    }

    /// All references to other types: the supertype, the types of the ends, and the types of
    /// entities that a classification may be attached to. The replacing type is not among them.
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

    /// As [`TypeDef::links`], to change them.
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
