//! Instances as they are told: relationships with what is known of their ends.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::error::{Message, OmrsError};
use crate::instances::{EntityDetail, EntityProxy, Relationship};
use crate::json::{Millis, Shared};
use crate::search::{Limits, Meter, entity_bytes};
use crate::store::{Read, Store, StoredEntity, StoredRelationship, Version};
use crate::types::{Catalogue, TypeDefCategory};
use crate::validate::{instance_type, unique_properties};

/// What stands for the entities at the ends of relationships, at one reader's point of time. Each is read and made once: in
/// one answer the same entity is an end of many relationships.
pub(crate) struct Ends<'a> {
    read: &'a dyn Read,
    types: &'a Catalogue,
    meter: Meter,
    known: FxHashMap<String, Shared<EntityProxy>>,
}

impl<'a> Ends<'a> {
    /// Nothing is known at first. What is kept counts against the bytes that `limits` allow to be held.
    pub(crate) fn new(read: &'a dyn Read, types: &'a Catalogue, limits: &Limits) -> Self {
        Self {
            read,
            types,
            meter: Meter::new(limits),
            known: FxHashMap::default(),
        }
    }

    /// Takes an entity that was read already, as it is at the reader's point of time.
    pub(crate) fn take(&mut self, entity: &EntityDetail) {
        let proxy = proxy_of(self.types, entity);
        self.known
            .insert(entity.header.guid().to_owned(), proxy.into());
    }

    /// A relationship with its ends.
    ///
    /// # Errors
    /// When the store fails, or lost an end; when the ends take more memory than is allowed.
    pub(crate) fn rendered(
        &mut self,
        stored: StoredRelationship,
    ) -> Result<Relationship, OmrsError> {
        let [one, two] = &stored.ends;
        let entity_one = Some(self.end(&stored, one)?);
        let entity_two = Some(self.end(&stored, two)?);
        Ok(Relationship {
            header: stored.header,
            properties: stored.properties,
            entity_one,
            entity_two,
        })
    }

    fn end(
        &mut self,
        of: &StoredRelationship,
        guid: &str,
    ) -> Result<Shared<EntityProxy>, OmrsError> {
        if let Some(known) = self.known.get(guid) {
            return Ok(known.clone());
        }
        let entity = self.read.entity(guid)?.ok_or_else(|| lost(of, guid))?;
        let proxy = match entity {
            StoredEntity::Proxy(proxy) => proxy,
            StoredEntity::Detail(entity) => proxy_of(self.types, &entity),
        };
        let unique = proxy.unique_properties.as_ref();
        self.meter
            .hold(entity_bytes(&proxy.header, &proxy.classifications, unique))?;
        let proxy = Shared::new(proxy);
        self.known.insert(guid.to_owned(), proxy.clone());
        Ok(proxy)
    }
}

/// A relationship with the proxies of its ends as they are at the reader's point of time.
///
/// # Errors
/// When the store fails, or lost an end.
pub(crate) fn rendered(
    read: &dyn Read,
    types: &Catalogue,
    stored: StoredRelationship,
) -> Result<Relationship, OmrsError> {
    Ends::new(read, types, &Limits::default()).rendered(stored)
}

/// States of a relationship, each with the proxies of its ends as they were when it began.
///
/// # Errors
/// When the store fails, or lost an end.
pub(super) fn rendered_states(
    store: &dyn Store,
    types: &Catalogue,
    states: Vec<Version<StoredRelationship>>,
) -> Result<Vec<Relationship>, OmrsError> {
    let mut times: BTreeMap<String, Vec<Millis>> = BTreeMap::new();
    for version in &states {
        for end in &version.state.ends {
            times.entry(end.clone()).or_default().push(version.from);
        }
    }
    let mut known: FxHashMap<(&str, Millis), Shared<EntityProxy>> = FxHashMap::default();
    for (guid, times) in &times {
        let mut last: Option<(Shared<StoredEntity>, Shared<EntityProxy>)> = None;
        for (at, entity) in times.iter().zip(store.entity_at(guid, times)?) {
            let Some(entity) = entity else {
                continue;
            };
            let proxy = match (&last, &*entity) {
                (Some((of, proxy)), _) if of.is_same(&entity) => proxy.clone(),
                (_, StoredEntity::Proxy(proxy)) => proxy.clone().into(),
                (_, StoredEntity::Detail(entity)) => proxy_of(types, entity).into(),
            };
            last = Some((entity, proxy.clone()));
            known.insert((guid, *at), proxy);
        }
    }
    let told = |version: Version<StoredRelationship>| {
        let stored = version.state;
        let end = |guid: &String| {
            let proxy = known.get(&(guid, version.from)).cloned();
            proxy.ok_or_else(|| lost(&stored, guid)).map(Some)
        };
        let (entity_one, entity_two) = (end(&stored.ends[0])?, end(&stored.ends[1])?);
        Ok(Relationship {
            header: stored.header,
            properties: stored.properties,
            entity_one,
            entity_two,
        })
    };
    states.into_iter().map(told).collect()
}

fn lost(of: &StoredRelationship, end: &str) -> OmrsError {
    let words = format!("relationship {} lost its end {end}", of.header.guid());
    OmrsError::new(Message::LogicError, &[&words])
}

/// What stands for an entity at the end of a relationship.
fn proxy_of(types: &Catalogue, entity: &EntityDetail) -> EntityProxy {
    let header = &entity.header;
    // A type that was removed since cannot be asked which of its properties are unique.
    let of = instance_type(types, &header.audit, TypeDefCategory::Entity).ok();
    let unique = of
        .zip(entity.properties.as_ref())
        .map(|(of, properties)| unique_properties(types, of, properties))
        .filter(|unique| !unique.values.is_empty());
    EntityProxy {
        header: header.clone(),
        classifications: entity.classifications.clone(),
        unique_properties: unique,
    }
}
