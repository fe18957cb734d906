//! Walking from entity to entity along relationships, at one point of time.
//!
//! What these queries cost is in proportion to what they touch, and bounded by the [`Limits`] of searches: each relationship
//! and each entity that is looked at counts, and so does the memory of those that are kept.

mod incident;
mod linking;
mod neighbourhood;

pub use incident::relationships_of_entity;
pub use linking::linking;
pub use neighbourhood::{RelatedQuery, SubGraph, WalkLimits, neighbourhood, related};

use std::ops::ControlFlow;

use crate::error::OmrsError;
use crate::instances::{EntityDetail, InstanceAuditHeader};
use crate::search::{Limits, Meter, entity_bytes, guid_bytes, relationship_bytes};
use crate::store::{Link, Read, StoredEntity, StoredRelationship};
use crate::types::{Catalogue, InstanceStatus, TypeIndex};

/// Decides along what a walk goes.
#[derive(Clone, Copy)]
struct Step<'a> {
    types: &'a Catalogue,
    limits: &'a WalkLimits,
}

impl<'a> Step<'a> {
    fn new(types: &'a Catalogue, limits: &'a WalkLimits) -> Self {
        Self { types, limits }
    }

    fn takes_entity(&self, entity: &EntityDetail) -> bool {
        let names = &self.limits.classifications;
        self.takes(&entity.header.audit, &self.limits.entity_types)
            && (names.is_empty()
                || names
                    .iter()
                    .any(|name| entity.classification(name).is_some()))
    }

    fn takes_relationship(&self, relationship: &StoredRelationship) -> bool {
        self.takes(&relationship.header.audit, &self.limits.relationship_types)
    }

    fn takes(&self, audit: &InstanceAuditHeader, of: &[TypeIndex]) -> bool {
        let is_of = || {
            let index = self.types.by_name(audit.type_name());
            index.is_some_and(|index| of.iter().any(|of| self.types.is_a(index, *of)))
        };
        self.takes_status(audit.status) && (of.is_empty() || is_of())
    }

    fn takes_status(&self, status: Option<InstanceStatus>) -> bool {
        let status = status.unwrap_or(InstanceStatus::Unknown);
        self.limits.find.takes(status)
    }
}

/// Goes from entities to entities.
struct Stepper<'a> {
    read: &'a dyn Read,
    step: Step<'a>,
    meter: Meter,
}

impl<'a> Stepper<'a> {
    fn new(
        read: &'a dyn Read,
        types: &'a Catalogue,
        walked: &'a WalkLimits,
        limits: &Limits,
    ) -> Self {
        Self {
            read,
            step: Step::new(types, walked),
            meter: Meter::new(limits),
        }
    }

    /// The relationships of an entity that may be walked along, in a stable order, without those that are known.
    fn relationships(
        &self,
        from: &str,
        is_known: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<StoredRelationship>, OmrsError> {
        let of = match self.step.limits.relationship_types[..] {
            [only] => Some(only),
            _ => None,
        };
        let mut found = Vec::new();
        let (meter, step) = (&self.meter, self.step);
        let mut visit = |relationship| {
            meter.examine()?;
            if step.takes_relationship(&relationship) {
                meter.hold(relationship_bytes(&relationship))?;
                found.push(relationship);
            }
            Ok(ControlFlow::Continue(()))
        };
        self.read
            .other_relationships_of(from, of, is_known, &mut visit)?;
        Ok(found)
    }

    /// The links of an entity to others that may be walked along whatever the type, in a stable order.
    fn links(&self, from: &str) -> Result<Vec<Link>, OmrsError> {
        let mut found = Vec::new();
        self.read.links_of(from, &mut |link| {
            self.meter.examine()?;
            if self.step.takes_status(link.status) {
                self.meter.hold(link_bytes(&link))?;
                found.push(link);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(found)
    }

    /// Counts a link as no longer kept.
    fn let_go_link(&self, link: &Link) {
        self.meter.release(link_bytes(link));
    }

    /// Whether the entity may be walked to whatever its type and classifications.
    fn may_enter(&self, guid: &str) -> Result<bool, OmrsError> {
        self.meter.examine()?;
        // Whoever asks keeps the GUID of each entity that it asked for.
        self.meter.hold(guid_bytes(guid))?;
        let standing = self.read.standing(guid)?;
        Ok(standing.is_some_and(|of| !of.is_proxy && self.step.takes_status(of.status)))
    }

    /// Counts a relationship as no longer kept.
    fn let_go(&self, relationship: &StoredRelationship) {
        self.meter.release(relationship_bytes(relationship));
    }

    /// Counts an entity as no longer kept.
    fn let_go_entity(&self, entity: &EntityDetail) {
        self.meter.release(bytes_of(entity));
    }

    /// The entity if it may be walked to. One of which only a proxy is known has nothing to be told.
    fn entity(&self, guid: &str) -> Result<Option<EntityDetail>, OmrsError> {
        self.meter.examine()?;
        // Whoever asks keeps the GUID of each entity that it asked for.
        self.meter.hold(guid_bytes(guid))?;
        match self.read.entity(guid)? {
            Some(StoredEntity::Detail(entity)) if self.step.takes_entity(&entity) => {
                self.meter.hold(bytes_of(&entity))?;
                Ok(Some(entity))
            }
            _ => Ok(None),
        }
    }
}

fn link_bytes(link: &Link) -> usize {
    let [one, two] = &link.ends;
    guid_bytes(&link.guid) + guid_bytes(one) + guid_bytes(two)
}

fn bytes_of(entity: &EntityDetail) -> usize {
    entity_bytes(
        &entity.header,
        &entity.classifications,
        entity.properties.as_ref(),
    )
}
