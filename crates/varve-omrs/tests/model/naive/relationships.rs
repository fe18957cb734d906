//! Writing relationships, and how they are shown.

use varve_omrs::Exception;
use varve_omrs::instances::{EntityDetail, EntityProxy, InstanceHeader, Relationship};
use varve_omrs::json::Shared;
use varve_omrs::requests::{RelationshipCreateRequest, TypeDefValidationForRequest};
use varve_omrs::types::TypeDefCategory;
use varve_omrs::validate;

use super::entities::source;
use super::{InstanceState, Naive, class, given};
use crate::call::{Answered, At, InstanceKind};

impl Naive {
    /// Every relationship at a time, with its ends as they are shown.
    pub(super) fn relationships(&self, at: At) -> Vec<Relationship> {
        let all = self.all(InstanceKind::Relationship, at).into_iter();
        all.filter_map(|state| match state {
            InstanceState::Relationship(of) => Some(self.shown(of, at)),
            _ => None,
        })
        .collect()
    }

    /// What stands for an entity at an end.
    pub(super) fn proxy(&self, entity: &EntityDetail) -> EntityProxy {
        let index = self.type_of(&entity.header.audit);
        let unique = entity
            .properties
            .as_ref()
            .map(|properties| validate::unique_properties(&self.types, index, properties));
        EntityProxy {
            header: entity.header.clone(),
            classifications: entity.classifications.clone(),
            unique_properties: unique.filter(|unique| !unique.values.is_empty()),
        }
    }

    /// A relationship with its ends as the entities are at the time. Where nothing is known of one
    /// then, the end is as it was written.
    pub(super) fn shown(&self, of: &Relationship, at: At) -> Relationship {
        let end = |end: &Option<Shared<EntityProxy>>| {
            let guid = end.as_ref()?.header.guid();
            match self.state(InstanceKind::Entity, guid, at) {
                Some(InstanceState::Entity(entity)) => Some(self.proxy(entity).into()),
                Some(InstanceState::Proxy(proxy)) => Some(proxy.clone().into()),
                _ => end.clone(),
            }
        };
        Relationship {
            entity_one: end(&of.entity_one),
            entity_two: end(&of.entity_two),
            ..of.clone()
        }
    }

    pub(super) fn add_relationship(
        &mut self,
        user: &str,
        request: &RelationshipCreateRequest,
        external: bool,
    ) -> Answered {
        let source = source(
            external,
            request.metadata_collection_id.as_deref(),
            request.metadata_collection_name.as_deref(),
        )?;
        let guid = request.type_guid.as_deref().unwrap_or_default();
        given(guid)?;
        let ends = [&request.entity_one_guid, &request.entity_two_guid];
        let ends = ends.map(|end| end.as_deref().unwrap_or_default());
        ends.iter().try_for_each(|end| given(end))?;
        let category = TypeDefCategory::Relationship;
        let index = self.types.instance_type_by_guid(category, guid, "");
        let index = index.map_err(class)?;
        let properties = self.complete(index, request.properties.as_ref())?;
        let status = validate::initial_status(&self.types, index, request.status);
        let status = status.map_err(class)?;
        let [one, two] = [self.end(ends[0])?, self.end(ends[1])?];
        let types = [&one, &two].map(|end| self.type_of(&end.header.audit));
        validate::relationship_ends(&self.types, index, types).map_err(class)?;
        let relationship = Relationship {
            header: InstanceHeader {
                audit: self.new_audit(user, index, status, source),
                guid: Some(self.next_guid.clone()),
                ..Default::default()
            },
            properties,
            entity_one: Some(one.into()),
            entity_two: Some(two.into()),
        };
        self.put_now(InstanceState::Relationship(relationship))
    }

    /// The entity at an end: there, as a proxy at least, and not deleted.
    fn end(&self, guid: &str) -> Result<EntityProxy, Exception> {
        match self.state(InstanceKind::Entity, guid, None) {
            Some(InstanceState::Entity(entity)) if !entity.header.audit.is_deleted() => {
                Ok(self.proxy(entity))
            }
            Some(InstanceState::Proxy(proxy)) if !proxy.header.audit.is_deleted() => {
                Ok(proxy.clone())
            }
            _ => Err(Exception::EntityNotKnown),
        }
    }

    pub(super) fn delete_relationship(
        &mut self,
        user: &str,
        guid: &str,
        of: &TypeDefValidationForRequest,
    ) -> Answered {
        let state = self.to_delete(InstanceKind::Relationship, guid, of)?;
        self.soft_delete(user, state)
    }
}
