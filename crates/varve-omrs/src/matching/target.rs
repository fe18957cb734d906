//! What conditions look at.

use crate::instances::{Classification, InstanceAuditHeader, InstanceHeader, InstanceProperties};
use crate::store::{StoredEntity, StoredInstance, StoredRelationship};

/// An instance as conditions see it: an entity, a relationship, or a classification.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    /// What is known of it.
    pub audit: &'a InstanceAuditHeader,
    /// What is known of it if it is no classification.
    pub header: Option<&'a InstanceHeader>,
    /// Its properties.
    pub properties: Option<&'a InstanceProperties>,
    /// The classifications it carries.
    pub classifications: &'a [Classification],
}

impl<'a> From<&'a StoredEntity> for Target<'a> {
    fn from(entity: &'a StoredEntity) -> Self {
        Self {
            audit: &entity.header().audit,
            header: Some(entity.header()),
            properties: entity.properties(),
            classifications: entity.classifications(),
        }
    }
}

impl<'a> From<&'a StoredRelationship> for Target<'a> {
    fn from(relationship: &'a StoredRelationship) -> Self {
        Self {
            audit: &relationship.header.audit,
            header: Some(&relationship.header),
            properties: relationship.properties.as_ref(),
            classifications: &[],
        }
    }
}

impl<'a> From<&'a StoredInstance> for Target<'a> {
    fn from(instance: &'a StoredInstance) -> Self {
        match instance {
            StoredInstance::Entity(entity) => entity.into(),
            StoredInstance::Relationship(relationship) => relationship.into(),
        }
    }
}

impl<'a> From<&'a Classification> for Target<'a> {
    fn from(classification: &'a Classification) -> Self {
        Self {
            audit: &classification.audit,
            header: None,
            properties: classification.properties.as_ref(),
            classifications: &[],
        }
    }
}
