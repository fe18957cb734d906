//! What is kept of instances, and the little of them that walks along relationships look at.

use compact_str::CompactString;

use crate::instances::{
    Classification, EntityDetail, EntityProxy, InstanceHeader, InstanceProperties,
};
use crate::json::Millis;
use crate::types::{Catalogue, InstanceStatus, TypeIndex};

/// An entity as it is kept.
#[derive(Debug, Clone, PartialEq)]
pub enum StoredEntity {
    /// All of it is known.
    Detail(EntityDetail),
    /// Only what stands for it at the end of a relationship is known.
    Proxy(EntityProxy),
}

impl StoredEntity {
    /// What is known of it.
    #[must_use]
    pub fn header(&self) -> &InstanceHeader {
        match self {
            Self::Detail(entity) => &entity.header,
            Self::Proxy(entity) => &entity.header,
        }
    }

    /// What is known of it, to change it.
    pub fn header_mut(&mut self) -> &mut InstanceHeader {
        match self {
            Self::Detail(entity) => &mut entity.header,
            Self::Proxy(entity) => &mut entity.header,
        }
    }

    /// The classifications it carries.
    #[must_use]
    pub fn classifications(&self) -> &[Classification] {
        match self {
            Self::Detail(entity) => &entity.classifications,
            Self::Proxy(entity) => &entity.classifications,
        }
    }

    /// The classifications it carries, to change them.
    pub fn classifications_mut(&mut self) -> &mut Vec<Classification> {
        match self {
            Self::Detail(entity) => &mut entity.classifications,
            Self::Proxy(entity) => &mut entity.classifications,
        }
    }

    /// Its properties, of a proxy the unique ones.
    #[must_use]
    pub fn properties(&self) -> Option<&InstanceProperties> {
        match self {
            Self::Detail(entity) => entity.properties.as_ref(),
            Self::Proxy(entity) => entity.unique_properties.as_ref(),
        }
    }
}

/// A relationship as it is stored: its ends are read from the entities when it is rendered.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredRelationship {
    /// What is known of it.
    pub header: InstanceHeader,
    /// Its properties.
    pub properties: Option<InstanceProperties>,
    /// The GUIDs of the entities at its two ends.
    pub ends: [String; 2],
}

/// What a walk that only passes by has to know of a relationship.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The relationship's GUID.
    pub guid: CompactString,
    /// The GUIDs of the entities at its two ends.
    pub ends: [CompactString; 2],
    /// Its type.
    pub of: Option<TypeIndex>,
    /// Where it stands in its life.
    pub status: Option<InstanceStatus>,
}

impl Link {
    /// The link that a relationship is.
    #[must_use]
    pub fn of(types: &Catalogue, relationship: &StoredRelationship) -> Self {
        let audit = &relationship.header.audit;
        Self {
            guid: relationship.header.guid().into(),
            ends: relationship.ends.each_ref().map(CompactString::from),
            of: types.by_name(audit.type_name()),
            status: audit.status,
        }
    }
}

/// What a walk that only passes by has to know of an entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LifeStatus {
    /// Only a proxy of it is known.
    pub is_proxy: bool,
    /// Where it stands in its life.
    pub status: Option<InstanceStatus>,
}

impl LifeStatus {
    /// Whether it is deleted, which it is until it is restored or purged.
    #[must_use]
    pub fn is_deleted(self) -> bool {
        self.status == Some(InstanceStatus::Deleted)
    }
}

impl From<&InstanceHeader> for LifeStatus {
    /// That of an instance which is no proxy.
    fn from(header: &InstanceHeader) -> Self {
        Self {
            is_proxy: false,
            status: header.audit.status,
        }
    }
}

impl From<&StoredEntity> for LifeStatus {
    fn from(entity: &StoredEntity) -> Self {
        Self {
            is_proxy: matches!(entity, StoredEntity::Proxy(_)),
            ..Self::from(entity.header())
        }
    }
}

/// One of the two kinds of instances that have a GUID.
#[derive(Debug, Clone, PartialEq)]
pub enum StoredInstance {
    /// An entity.
    Entity(StoredEntity),
    /// A relationship.
    Relationship(StoredRelationship),
}

/// A state in an instance's history.
#[derive(Debug, Clone, PartialEq)]
pub struct Version<T> {
    /// From when on it held. Two states may share a millisecond; the later one comes later in the
    /// list.
    pub from: Millis,
    /// Until when (exclusive); `None` = it still does.
    pub to: Option<Millis>,
    /// What it was.
    pub state: T,
}

impl<T> Version<T> {
    /// The same time, of something else.
    #[must_use]
    pub fn with<U>(&self, state: U) -> Version<U> {
        Version {
            from: self.from,
            to: self.to,
            state,
        }
    }
}
