//! What conditions look at.

use crate::instances::{Classification, InstanceAuditHeader, InstanceHeader, InstanceProperties};
use crate::json::Shared;
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
    pub classifications: Carried<'a>,
}

/// The classifications that an instance carries. Those that nobody asks for by name are not made.
#[derive(Debug, Clone, Copy)]
pub struct Carried<'a>(Option<&'a Shared<Vec<Classification>>>);

impl<'a> Carried<'a> {
    /// None.
    pub const NONE: Self = Self(None);

    /// Those of an entity.
    #[must_use]
    pub fn of(entity: &'a StoredEntity) -> Self {
        Self(Some(match entity {
            StoredEntity::Detail(entity) => &entity.classifications,
            StoredEntity::Proxy(entity) => &entity.classifications,
        }))
    }

    /// Whether one of this name passes a test.
    pub fn any_named(self, name: &str, mut test: impl FnMut(&Classification) -> bool) -> bool {
        let Some(carried) = self.0 else { return false };
        let mut passes = |one: &Classification| one.name() == name && test(one);
        match carried.named(name) {
            Some(named) => named.iter().any(passes),
            None => carried.iter().any(&mut passes),
        }
    }

    /// All of them.
    pub fn iter(self) -> std::slice::Iter<'a, Classification> {
        self.0.map_or([].iter(), |carried| carried.iter())
    }
}

impl<'a> From<&'a StoredEntity> for Target<'a> {
    fn from(entity: &'a StoredEntity) -> Self {
        Self {
            audit: &entity.header().audit,
            header: Some(entity.header()),
            properties: entity.properties(),
            classifications: Carried::of(entity),
        }
    }
}

impl<'a> From<&'a StoredRelationship> for Target<'a> {
    fn from(relationship: &'a StoredRelationship) -> Self {
        Self {
            audit: &relationship.header.audit,
            header: Some(&relationship.header),
            properties: relationship.properties.as_ref(),
            classifications: Carried::NONE,
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
            classifications: Carried::NONE,
        }
    }
}
