//! Writing entities, and what is written in the same way to entities and relationships.

use varve_omrs::Exception;
use varve_omrs::instances::{
    EntityDetail, EntityProxy, InstanceHeader, InstanceProperties, InstanceProvenanceType,
};
use varve_omrs::requests::{
    EntityCreateRequest, TypeDefChangeRequest, TypeDefValidationForRequest,
};
use varve_omrs::types::{InstanceStatus, TypeDefCategory};
use varve_omrs::validate;

use super::header::{not_deleted, unknown, valid_from};
use super::{InstanceState, Naive, class, ends, given};
use crate::call::{Answer, Answered, InstanceKind};

impl InstanceState {
    pub(super) fn header_mut(&mut self) -> &mut InstanceHeader {
        match self {
            Self::Entity(entity) => &mut entity.header,
            Self::Proxy(proxy) => &mut proxy.header,
            Self::Relationship(relationship) => &mut relationship.header,
        }
    }

    fn properties_mut(&mut self) -> &mut Option<InstanceProperties> {
        match self {
            Self::Entity(entity) => &mut entity.properties,
            Self::Proxy(proxy) => &mut proxy.unique_properties,
            Self::Relationship(relationship) => &mut relationship.properties,
        }
    }
}

impl InstanceKind {
    pub(super) fn category(self) -> TypeDefCategory {
        match self {
            Self::Entity => TypeDefCategory::Entity,
            Self::Relationship => TypeDefCategory::Relationship,
        }
    }
}

impl Naive {
    pub(super) fn add_entity(
        &mut self,
        user: &str,
        request: &EntityCreateRequest,
        external: bool,
    ) -> Answered {
        let source = source(
            external,
            request.metadata_collection_id.as_deref(),
            request.metadata_collection_name.as_deref(),
        )?;
        let guid = request.type_guid.as_deref().unwrap_or_default();
        given(guid)?;
        let index = self
            .types
            .instance_type_by_guid(TypeDefCategory::Entity, guid, "");
        let index = index.map_err(class)?;
        let properties = self.complete(index, request.properties.as_ref())?;
        let mut classifications = Vec::new();
        for asked in &request.classifications {
            let one = self.new_classification(user, index, asked, source)?;
            classifications.push(one);
        }
        let status = validate::initial_status(&self.types, index, request.status);
        let status = status.map_err(class)?;
        let entity = EntityDetail {
            header: InstanceHeader {
                audit: self.new_audit(user, index, status, source),
                guid: Some(self.next_guid.clone()),
                ..Default::default()
            },
            classifications: classifications.into(),
            properties,
        };
        self.put_now(InstanceState::Entity(entity))
    }

    pub(super) fn add_proxy(&mut self, proxy: &EntityProxy) -> Answered {
        self.check_proxy(proxy)?;
        self.keep_proxy(proxy);
        Ok(Answer::Nothing)
    }

    /// Refuses a proxy of what is homed here, and one that is no proxy of its type.
    pub(super) fn check_proxy(&self, proxy: &EntityProxy) -> Result<(), Exception> {
        given(proxy.header.guid())?;
        validate::entity_proxy(&self.types, proxy, &self.home.0).map_err(class)?;
        Ok(())
    }

    /// Refuses what tells of an entity that is not here, if that is homed here or it is no proxy.
    pub(super) fn check_unknown(&self, proxy: &EntityProxy) -> Result<(), Exception> {
        if proxy.header.audit.metadata_collection_id.as_ref() == Some(&self.home.0) {
            return Err(Exception::EntityNotKnown);
        }
        self.check_proxy(proxy)
    }

    /// Keeps a proxy unless something better is known: the entity, or a newer proxy.
    /// Classifications that are homed here stay as they are.
    pub(super) fn keep_proxy(&mut self, proxy: &EntityProxy) {
        let guid = proxy.header.guid();
        let is_better = match self.state(InstanceKind::Entity, guid, None) {
            None => true,
            Some(InstanceState::Proxy(known)) => {
                known.header.audit.version < proxy.header.audit.version
            }
            Some(_) => false,
        };
        if is_better {
            let proxy = self.with_own(proxy);
            let at = valid_from(&proxy.header.audit, &proxy.classifications);
            self.put_since(at, InstanceState::Proxy(proxy));
        }
    }

    /// A proxy with those classifications that are homed here as they are known here.
    pub(super) fn with_own(&self, proxy: &EntityProxy) -> EntityProxy {
        let classifications = self.carried_with(proxy.header.guid(), &proxy.classifications);
        EntityProxy {
            classifications: classifications.into(),
            ..proxy.clone()
        }
    }

    /// Writes a state as of now, and answers with what a read gives.
    pub(super) fn put_now(&mut self, state: InstanceState) -> Answered {
        let guid = state.header().guid().to_owned();
        let kind = state.kind();
        self.put(state);
        Ok(self.answer(kind, &guid))
    }

    fn answer(&self, kind: InstanceKind, guid: &str) -> Answer {
        match self.state(kind, guid, None) {
            Some(InstanceState::Entity(entity)) => Answer::Entity(Some(entity.clone())),
            Some(InstanceState::Relationship(of)) => {
                Answer::Relationship(Some(self.shown(of, None)))
            }
            _ => Answer::Nothing,
        }
    }

    /// An instance that is to be changed: there, not deleted, ours.
    fn changeable(&self, kind: InstanceKind, guid: &str) -> Result<InstanceState, Exception> {
        let state = self.present(kind, guid)?;
        self.unlocked(state.header())?;
        Ok(state)
    }

    /// An instance that is there, in whole, and not deleted. A proxy cannot be changed, whether it
    /// is deleted or not.
    pub(super) fn present(
        &self,
        kind: InstanceKind,
        guid: &str,
    ) -> Result<InstanceState, Exception> {
        given(guid)?;
        match self.state(kind, guid, None) {
            None => Err(unknown(kind)),
            Some(InstanceState::Proxy(_)) => Err(Exception::InvalidParameter),
            Some(state) if state.header().audit.is_deleted() => Err(unknown(kind)),
            Some(state) => Ok(state.clone()),
        }
    }

    /// An instance that is there, in whole.
    fn known(&self, kind: InstanceKind, guid: &str) -> Result<&InstanceState, Exception> {
        given(guid)?;
        match self.state(kind, guid, None) {
            None | Some(InstanceState::Proxy(_)) => Err(unknown(kind)),
            Some(state) => Ok(state),
        }
    }

    /// An instance that must be deleted already.
    fn deleted(&self, kind: InstanceKind, guid: &str) -> Result<InstanceState, Exception> {
        let state = self.known(kind, guid)?;
        if !state.header().audit.is_deleted() {
            return Err(not_deleted(kind));
        }
        self.unlocked(state.header())?;
        Ok(state.clone())
    }

    pub(super) fn update_status(
        &mut self,
        user: &str,
        kind: InstanceKind,
        guid: &str,
        status: InstanceStatus,
    ) -> Answered {
        let mut state = self.changeable(kind, guid)?;
        let index = self.type_of(&state.header().audit);
        let status = validate::new_status(&self.types, index, Some(status)).map_err(class)?;
        let audit = &mut state.header_mut().audit;
        audit.status = Some(status);
        self.touch(audit, user);
        self.put_now(state)
    }

    pub(super) fn update_properties(
        &mut self,
        user: &str,
        kind: InstanceKind,
        guid: &str,
        properties: &InstanceProperties,
    ) -> Answered {
        let mut state = self.changeable(kind, guid)?;
        let index = self.type_of(&state.header().audit);
        *state.properties_mut() = self.complete(index, Some(properties))?;
        self.touch(&mut state.header_mut().audit, user);
        self.put_now(state)
    }

    /// Brings back the properties and the status of the version before, of those in which it was
    /// not deleted; without one nothing changes. A status that its type does not have any more
    /// stays away.
    pub(super) fn undo(&mut self, user: &str, kind: InstanceKind, guid: &str) -> Answered {
        let mut state = self.changeable(kind, guid)?;
        let version = state.header().audit.version;
        let mut of = self.log.iter().filter(|event| event.state.is(kind, guid));
        let earlier = of.rfind(|event| {
            let audit = &event.state.header().audit;
            audit.version < version && !audit.is_deleted()
        });
        let Some(mut earlier) = earlier.map(|event| event.state.clone()) else {
            return Ok(self.answer(kind, guid));
        };
        *state.properties_mut() = earlier.properties_mut().clone();
        let index = self.type_of(&state.header().audit);
        let audit = &mut state.header_mut().audit;
        let status = earlier.header().audit.status;
        if validate::new_status(&self.types, index, status).is_ok() {
            audit.status = status;
            audit.status_on_delete = earlier.header().audit.status_on_delete;
        }
        self.touch(audit, user);
        self.put_now(state)
    }

    pub(super) fn delete_entity(
        &mut self,
        user: &str,
        guid: &str,
        of: &TypeDefValidationForRequest,
    ) -> Answered {
        let state = self.to_delete(InstanceKind::Entity, guid, of)?;
        for attached in self.attached(guid) {
            let of = self.state(InstanceKind::Relationship, &attached, None);
            let Some(of) = of.cloned() else { continue };
            if !self.is_ours(&of.header().audit) {
                self.remove(InstanceKind::Relationship, &attached);
            } else if !of.header().audit.is_deleted() {
                self.soft_delete(user, of)?;
            }
        }
        self.soft_delete(user, state)
    }

    /// An instance that is to be deleted.
    pub(super) fn to_delete(
        &self,
        kind: InstanceKind,
        guid: &str,
        of: &TypeDefValidationForRequest,
    ) -> Result<InstanceState, Exception> {
        named(guid, of)?;
        let state = self.changeable(kind, guid)?;
        self.expect_type(&state, of)?;
        Ok(state)
    }

    pub(super) fn soft_delete(&mut self, user: &str, mut state: InstanceState) -> Answered {
        let audit = &mut state.header_mut().audit;
        audit.status_on_delete = audit.status;
        audit.status = Some(InstanceStatus::Deleted);
        self.touch(audit, user);
        self.put_now(state)
    }

    pub(super) fn purge(
        &mut self,
        kind: InstanceKind,
        guid: &str,
        of: &TypeDefValidationForRequest,
    ) -> Answered {
        named(guid, of)?;
        let state = self.known(kind, guid)?;
        self.unlocked(state.header())?;
        self.expect_type(state, of)?;
        self.deleted(kind, guid)?;
        if kind == InstanceKind::Entity {
            self.remove_attached(guid);
        }
        self.remove(kind, guid);
        Ok(Answer::Nothing)
    }

    pub(super) fn restore(&mut self, user: &str, kind: InstanceKind, guid: &str) -> Answered {
        let mut state = self.deleted(kind, guid)?;
        let audit = &mut state.header_mut().audit;
        audit.status = audit.status_on_delete.take();
        self.touch(audit, user);
        self.put_now(state)
    }

    /// The old GUID is as if deleted; the new one goes on, and relationships follow it.
    pub(super) fn re_identify(
        &mut self,
        user: &str,
        kind: InstanceKind,
        old: &str,
        new: &str,
        of: &TypeDefValidationForRequest,
    ) -> Answered {
        given(new)?;
        named(old, of)?;
        let state = self.changeable(kind, old)?;
        self.expect_type(&state, of)?;
        if self.state(kind, new, None).is_some() {
            return Err(Exception::InvalidParameter);
        }
        let mut renamed = state.clone();
        self.soft_delete(user, state)?;
        let header = renamed.header_mut();
        header.guid = Some(new.to_owned());
        header.re_identified_from_guid = Some(old.to_owned());
        // It is read here from now on.
        header.instance_url = None;
        self.touch(&mut header.audit, user);
        let answer = self.put_now(renamed.clone());
        if let InstanceState::Entity(entity) = &renamed {
            self.re_point(old, &self.proxy(entity));
        }
        answer
    }

    /// Puts another entity at the ends of relationships.
    fn re_point(&mut self, old: &str, new: &EntityProxy) {
        for attached in self.attached(old) {
            let of = self.state(InstanceKind::Relationship, &attached, None);
            let Some(InstanceState::Relationship(mut of)) = of.cloned() else {
                continue;
            };
            let [one, two] = ends(&of);
            if one == old {
                of.entity_one = Some(new.clone().into());
            }
            if two == old {
                of.entity_two = Some(new.clone().into());
            }
            self.put(InstanceState::Relationship(of));
        }
    }

    pub(super) fn re_type(
        &mut self,
        user: &str,
        kind: InstanceKind,
        guid: &str,
        change: &TypeDefChangeRequest,
    ) -> Answered {
        given(guid)?;
        let (Some(current), Some(new)) = (&change.current, &change.new) else {
            return Err(Exception::InvalidParameter);
        };
        for summary in [current, new] {
            given(summary.link.guid())?;
        }
        let of_kind = |guid: &str| self.types.instance_type_by_guid(kind.category(), guid, "");
        let new = of_kind(new.link.guid()).map_err(class)?;
        // The type it is said to have must be one, no more: who found it by a search may have
        // another in mind.
        of_kind(current.link.guid()).map_err(class)?;
        let mut state = self.changeable(kind, guid)?;
        let properties = state.properties_mut().clone();
        *state.properties_mut() = self.complete(new, properties.as_ref())?;
        if let InstanceState::Entity(entity) = &state {
            for one in &entity.classifications {
                let of = self.types.classification_by_name(one.name());
                if !self.types.allows(new, of.map_err(class)?) {
                    return Err(Exception::ClassificationError);
                }
            }
        }
        let statuses = &self.types.get(new).def().body.valid_statuses;
        if state
            .header()
            .audit
            .status
            .is_none_or(|of| !statuses.contains(&of))
        {
            state.header_mut().audit.status = self.types.get(new).def().body.initial_status;
        }
        if let InstanceState::Relationship(of) = &state {
            let mut types = Vec::new();
            for guid in ends(of) {
                let end = self
                    .state(InstanceKind::Entity, &guid, None)
                    .ok_or(Exception::EntityNotKnown)?;
                types.push(self.type_of(&end.header().audit));
            }
            validate::relationship_ends(&self.types, new, [types[0], types[1]]).map_err(class)?;
        }
        let audit = &mut state.header_mut().audit;
        audit.instance_type = Some(self.types.get(new).instance_type().clone());
        self.touch(audit, user);
        self.put_now(state)
    }

    pub(super) fn re_home(
        &mut self,
        user: &str,
        kind: InstanceKind,
        guid: &str,
        [home, new]: [&str; 2],
        name: Option<&str>,
        of: &TypeDefValidationForRequest,
    ) -> Answered {
        given(guid)?;
        given(home)?;
        given(new)?;
        named(guid, of)?;
        if new != self.home.0 {
            return Err(Exception::InvalidParameter);
        }
        let mut state = self.present(kind, guid)?;
        if self.is_ours(&state.header().audit) {
            return Err(Exception::InvalidParameter);
        }
        self.expect_type(&state, of)?;
        let audit = &mut state.header_mut().audit;
        audit.provenance = Some(InstanceProvenanceType::LocalCohort);
        audit.metadata_collection_id = Some(new.to_owned());
        audit.metadata_collection_name = Some(name.unwrap_or(&self.home.1).to_owned());
        self.touch(audit, user);
        self.put_now(state)
    }

    pub(super) fn complete(
        &self,
        index: varve_omrs::types::TypeIndex,
        properties: Option<&InstanceProperties>,
    ) -> Result<Option<InstanceProperties>, Exception> {
        let complete = |of: &InstanceProperties| {
            validate::completed_properties(&self.types, index, of.clone()).map_err(class)
        };
        properties.map(complete).transpose()
    }
}

/// Refuses a call that does not say which instance of which type it is about.
pub(super) fn named(guid: &str, of: &TypeDefValidationForRequest) -> Result<(), Exception> {
    given(guid)?;
    given(of.type_guid.as_deref().unwrap_or_default())?;
    given(of.type_name.as_deref().unwrap_or_default())
}

/// The external source that a request for a new instance names.
pub(super) fn source<'a>(
    external: bool,
    home: Option<&'a str>,
    name: Option<&'a str>,
) -> Result<Option<(&'a str, Option<&'a str>)>, Exception> {
    if !external {
        return Ok(None);
    }
    given(home.unwrap_or_default())?;
    Ok(home.map(|home| (home, name)))
}
