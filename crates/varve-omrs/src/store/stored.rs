//! Instances as they are stored, and the few fields that walks along relationships read.

use compact_str::CompactString;

use crate::instances::{
    Classification, EntityDetail, EntityProxy, InstanceHeader, InstanceProperties,
};
use crate::json::Millis;
use crate::types::{Catalogue, InstanceStatus, TypeIndex};

/// An entity as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub enum StoredEntity {
    /// The whole entity.
    Detail(EntityDetail),
    /// Only a proxy of the entity is known, for the ends of relationships.
    Proxy(EntityProxy),
}

impl StoredEntity {
    /// The entity's header.
    #[must_use]
    pub fn header(&self) -> &InstanceHeader {
        match self {
            Self::Detail(entity) => &entity.header,
            Self::Proxy(entity) => &entity.header,
        }
    }

    /// The entity's header, to change it.
    pub fn header_mut(&mut self) -> &mut InstanceHeader {
        match self {
            Self::Detail(entity) => &mut entity.header,
            Self::Proxy(entity) => &mut entity.header,
        }
    }

    /// The classifications that the entity carries.
    #[must_use]
    pub fn classifications(&self) -> &[Classification] {
        match self {
            Self::Detail(entity) => &entity.classifications,
            Self::Proxy(entity) => &entity.classifications,
        }
    }

    /// The classifications that the entity carries, to change them.
    pub fn classifications_mut(&mut self) -> &mut Vec<Classification> {
        match self {
            Self::Detail(entity) => &mut entity.classifications,
            Self::Proxy(entity) => &mut entity.classifications,
        }
    }

    /// The entity's properties; of a proxy, the unique ones.
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
    /// The relationship's header.
    pub header: InstanceHeader,
    /// Its properties.
    pub properties: Option<InstanceProperties>,
    /// The GUIDs of the entities at its two ends.
    pub ends: [String; 2],
}

/// The fields of a relationship that a graph query reads while it traverses it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The relationship's GUID.
    pub guid: CompactString,
    /// The GUIDs of the entities at its two ends.
    pub ends: [CompactString; 2],
    /// Its type.
    pub of: Option<TypeIndex>,
    /// The relationship's status.
    pub status: Option<InstanceStatus>,
}

impl Link {
    /// The link of a relationship.
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

/// The fields of an entity that a graph query reads while it traverses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LifeStatus {
    /// Whether only a proxy of the entity is known.
    pub is_proxy: bool,
    /// The entity's status.
    pub status: Option<InstanceStatus>,
}

impl LifeStatus {
    /// Whether the instance is deleted, and neither restored nor purged.
    #[must_use]
    pub fn is_deleted(self) -> bool {
        self.status == Some(InstanceStatus::Deleted)
    }
}

impl From<&InstanceHeader> for LifeStatus {
    /// The status of an instance that is not a proxy.
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

/// A state in an instance's history.
#[derive(Debug, Clone, PartialEq)]
pub struct Version<T> {
    /// The start of the period, inclusive. Two states may share a millisecond; the later one
    /// follows in the list.
    pub from: Millis,
    /// The end of the period, exclusive; `None` = the state still holds.
    pub to: Option<Millis>,
    /// The state.
    pub state: T,
}

impl<T> Version<T> {
    /// A version with the same period and another state.
    #[must_use]
    pub fn with<U>(&self, state: U) -> Version<U> {
        Version {
            from: self.from,
            to: self.to,
            state,
        }
    }
}
