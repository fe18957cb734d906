//! Reference copies: instances that are homed elsewhere, kept as they come.

use varve_omrs::Exception;
use varve_omrs::instances::{Classification, EntityDetail, Relationship};
use varve_omrs::requests::{InstanceGraphRequest, TypeDefValidationForRequest};
use varve_omrs::types::InstanceStatus;
use varve_omrs::validate;

use super::entities::named;
use super::header::{unknown, valid_from};
use super::{InstanceState, Naive, class, ends, given};
use crate::call::{Answer, Answered, InstanceKind};

impl Naive {
    /// A copy that is older than the one that is here changes nothing; a copy of what is homed here
    /// is a conflict. Classifications that are homed here stay as they are.
    pub(super) fn save_entity_copy(&mut self, entity: &EntityDetail) -> Answered {
        validate::entity_copy(&self.types, entity, &self.home.0).map_err(class)?;
        if let Some(InstanceState::Entity(known)) =
            self.state(InstanceKind::Entity, entity.header.guid(), None)
        {
            if self.is_ours(&known.header.audit) {
                return Err(Exception::EntityConflict);
            }
            if known.header.audit.version > entity.header.audit.version {
                return Ok(Answer::Nothing);
            }
        }
        let carried = self.carried_with(entity.header.guid(), &entity.classifications);
        let entity = EntityDetail {
            classifications: carried.into(),
            ..entity.clone()
        };
        if let Some(InstanceState::Entity(known)) =
            self.state(InstanceKind::Entity, entity.header.guid(), None)
            && by_name(known) == by_name(&entity)
        {
            return Ok(Answer::Nothing);
        }
        let at = valid_from(&entity.header.audit, &entity.classifications);
        self.put_since(at, InstanceState::Entity(entity));
        Ok(Answer::Nothing)
    }

    /// Deletes a copy that has classifications or relationships that are homed here, and those
    /// relationships; removes another.
    pub(super) fn delete_entity_copy(&mut self, user: &str, entity: &EntityDetail) -> Answered {
        let guid = entity.header.guid();
        let ours: Vec<String> = self
            .attached(guid)
            .into_iter()
            .filter(|attached| {
                let state = self.state(InstanceKind::Relationship, attached, None);
                state.is_some_and(|state| self.is_ours(&state.header().audit))
            })
            .collect();
        if ours.is_empty() && self.own_classifications(guid).is_empty() {
            validate::entity_copy(&self.types, entity, &self.home.0).map_err(class)?;
            let is_ours = |known: &InstanceState| self.is_ours(&known.header().audit);
            if self
                .state(InstanceKind::Entity, guid, None)
                .is_some_and(is_ours)
            {
                return Err(Exception::HomeEntity);
            }
            self.remove_copy(InstanceKind::Entity, guid);
            return Ok(Answer::Nothing);
        }
        validate::entity_copy(&self.types, entity, &self.home.0).map_err(class)?;
        let Some(mut known) = self.state(InstanceKind::Entity, guid, None).cloned() else {
            return Ok(Answer::Nothing);
        };
        if self.is_ours(&known.header().audit) {
            return Err(Exception::HomeEntity);
        }
        for attached in self.attached(guid) {
            let state = self
                .state(InstanceKind::Relationship, &attached, None)
                .cloned();
            match state {
                Some(state) if !ours.contains(&attached) => {
                    self.remove(InstanceKind::Relationship, state.header().guid());
                }
                Some(state) if !state.header().audit.is_deleted() => {
                    self.soft_delete(user, state)?;
                }
                _ => {}
            }
        }
        let (audit, sent) = (&mut known.header_mut().audit, &entity.header.audit);
        if !audit.is_deleted() {
            if sent.version >= audit.version {
                audit.version = sent.version;
                audit.updated_by = sent.updated_by.clone();
                audit.update_time = sent.update_time;
            }
            audit.status_on_delete = audit.status;
            audit.status = Some(InstanceStatus::Deleted);
            self.put(known);
        }
        Ok(Answer::Nothing)
    }

    /// The classifications of a copy, but those that are homed here as they are known here:
    /// whatever a copy says of them.
    pub(super) fn carried_with(&self, guid: &str, given: &[Classification]) -> Vec<Classification> {
        let own = self.own_classifications(guid);
        let is_own = |one: &Classification| own.iter().any(|own| own.name() == one.name());
        let given = given.iter().filter(|one| !self.is_ours(&one.audit));
        let others: Vec<Classification> = given.filter(|one| !is_own(one)).cloned().collect();
        others.into_iter().chain(own).collect()
    }

    fn own_classifications(&self, guid: &str) -> Vec<Classification> {
        let known = match self.state(InstanceKind::Entity, guid, None) {
            Some(InstanceState::Entity(entity)) => &entity.classifications,
            Some(InstanceState::Proxy(proxy)) => &proxy.classifications,
            _ => return Vec::new(),
        };
        let own = known.iter().filter(|one| self.is_ours(&one.audit));
        own.cloned().collect()
    }

    /// Removes a copy; of an entity, with its relationships.
    fn remove_copy(&mut self, kind: InstanceKind, guid: &str) {
        if kind == InstanceKind::Entity {
            self.remove_attached(guid);
        }
        self.remove(kind, guid);
    }

    pub(super) fn remove_entity_copy(&mut self, entity: &EntityDetail) -> Answered {
        validate::entity_copy(&self.types, entity, &self.home.0).map_err(class)?;
        let guid = entity.header.guid();
        match self.state(InstanceKind::Entity, guid, None) {
            Some(known) if self.is_ours(&known.header().audit) => {
                return Err(Exception::HomeEntity);
            }
            Some(InstanceState::Entity(_)) => self.remove_copy(InstanceKind::Entity, guid),
            _ => {}
        }
        Ok(Answer::Nothing)
    }

    /// Ends of which nothing is known become proxies. It holds from when it tells, if its ends were
    /// known then.
    pub(super) fn save_relationship_copy(&mut self, relationship: &Relationship) -> Answered {
        validate::relationship_copy(&self.types, relationship, &self.home.0).map_err(class)?;
        let guid = relationship.header.guid();
        if let Some(known) = self.state(InstanceKind::Relationship, guid, None) {
            if self.is_ours(&known.header().audit) {
                return Err(Exception::RelationshipConflict);
            }
            if known.header().audit.version > relationship.header.audit.version {
                return Ok(Answer::Nothing);
            }
            if let InstanceState::Relationship(known) = known
                && known.header == relationship.header
                && known.properties == relationship.properties
                && ends(known) == ends(relationship)
            {
                return Ok(Answer::Nothing);
            }
        }
        let proxies = [&relationship.entity_one, &relationship.entity_two];
        for end in proxies.into_iter().flatten() {
            if self
                .state(InstanceKind::Entity, end.header.guid(), None)
                .is_none()
            {
                self.check_unknown(end)?;
                self.keep_proxy(end);
            }
        }
        let at = valid_from(&relationship.header.audit, &[]);
        let mut at = self.since(at, InstanceKind::Relationship, guid);
        for guid in ends(relationship) {
            at = at.filter(|at| self.state(InstanceKind::Entity, &guid, Some(*at)).is_some());
        }
        self.put_since(at, InstanceState::Relationship(relationship.clone()));
        Ok(Answer::Nothing)
    }

    pub(super) fn remove_relationship_copy(&mut self, relationship: &Relationship) -> Answered {
        validate::relationship_copy(&self.types, relationship, &self.home.0).map_err(class)?;
        let guid = relationship.header.guid();
        if let Some(known) = self.state(InstanceKind::Relationship, guid, None) {
            if self.is_ours(&known.header().audit) {
                return Err(Exception::HomeRelationship);
            }
            self.remove(InstanceKind::Relationship, guid);
        }
        Ok(Answer::Nothing)
    }

    pub(super) fn purge_copy_by_id(
        &mut self,
        kind: InstanceKind,
        guid: &str,
        home: &str,
        of: &TypeDefValidationForRequest,
    ) -> Answered {
        named(guid, of)?;
        given(home)?;
        let state = self.state(kind, guid, None).ok_or(unknown(kind))?;
        if matches!(state, InstanceState::Proxy(_)) {
            return Err(unknown(kind));
        }
        let audit = &state.header().audit;
        if self.is_ours(audit) && !audit.is_deleted() {
            return Err(homed_here(kind));
        }
        self.expect_type(state, of)?;
        self.remove_copy(kind, guid);
        Ok(Answer::Nothing)
    }

    /// There is no cohort to ask, so nothing happens.
    pub(super) fn refresh_copy(
        &self,
        kind: InstanceKind,
        guid: &str,
        home: &str,
        _of: &TypeDefValidationForRequest,
    ) -> Answered {
        given(guid)?;
        given(home)?;
        match self.state(kind, guid, None) {
            Some(known) if self.is_ours(&known.header().audit) => Err(homed_here(kind)),
            _ => Ok(Answer::Nothing),
        }
    }

    /// Changes one classification only. Of an entity that is not here, what was sent is kept with
    /// it, if that is not ours; a deleted one stays as it is.
    pub(super) fn save_classification_copy(
        &mut self,
        entity: &EntityDetail,
        classification: &Classification,
    ) -> Answered {
        let guid = entity.header.guid();
        let is_known = self.state(InstanceKind::Entity, guid, None).is_some();
        let sent = InstanceState::Entity(EntityDetail {
            classifications: self.carried_with(guid, &entity.classifications).into(),
            ..entity.clone()
        });
        let Some(mut state) = self.classified(entity, classification, Some(sent))? else {
            return Ok(Answer::Nothing);
        };
        if state.header().audit.is_deleted() {
            return Ok(Answer::Nothing);
        }
        let (audit, classifications) = match &mut state {
            InstanceState::Entity(entity) => (&entity.header.audit, &mut entity.classifications),
            InstanceState::Proxy(proxy) => (&proxy.header.audit, &mut proxy.classifications),
            InstanceState::Relationship(_) => return Ok(Answer::Nothing),
        };
        let known = classifications
            .iter()
            .find(|one| one.name() == classification.name());
        if known.is_none_or(|known| known.audit.version < classification.audit.version) {
            classifications.retain(|one| one.name() != classification.name());
            classifications.push(classification.clone());
        } else if is_known {
            return Ok(Answer::Nothing);
        }
        let at = valid_from(audit, classifications);
        self.put_since(at, state);
        Ok(Answer::Nothing)
    }

    pub(super) fn purge_classification_copy(
        &mut self,
        entity: &EntityDetail,
        classification: &Classification,
    ) -> Answered {
        let Some(mut state) = self.classified(entity, classification, None)? else {
            return Ok(Answer::Nothing);
        };
        let classifications = match &mut state {
            InstanceState::Entity(entity) => &mut entity.classifications,
            InstanceState::Proxy(proxy) => &mut proxy.classifications,
            InstanceState::Relationship(_) => return Ok(Answer::Nothing),
        };
        let before = classifications.len();
        classifications.retain(|one| one.name() != classification.name());
        if classifications.len() < before {
            self.put(state);
        }
        Ok(Answer::Nothing)
    }

    /// The entity that a copy of a classification is for, if it is here; otherwise what was sent,
    /// if that may be kept.
    fn classified(
        &self,
        entity: &EntityDetail,
        classification: &Classification,
        sent: Option<InstanceState>,
    ) -> Result<Option<InstanceState>, Exception> {
        given(entity.header.guid())?;
        let home = classification.audit.metadata_collection_id.as_deref();
        given(home.unwrap_or_default())?;
        if home == Some(self.home.0.as_str()) {
            return Err(Exception::InvalidParameter);
        }
        let known = self
            .state(InstanceKind::Entity, entity.header.guid(), None)
            .cloned();
        let state = match (known, sent) {
            (Some(known), _) => known,
            (None, Some(sent))
                if entity.header.audit.metadata_collection_id.as_ref() != Some(&self.home.0) =>
            {
                validate::entity_copy(&self.types, entity, &self.home.0).map_err(class)?;
                sent
            }
            _ => return Ok(None),
        };
        let index = self.type_of(&state.header().audit);
        validate::classification_copy(&self.types, index, classification).map_err(class)?;
        let own = self.own_classifications(entity.header.guid());
        if own.iter().any(|one| one.name() == classification.name()) {
            return Ok(None);
        }
        Ok(Some(state))
    }

    pub(super) fn save_copies(&mut self, graph: &InstanceGraphRequest) -> Answered {
        for entity in &graph.entities {
            self.save_entity_copy(entity)?;
        }
        for relationship in &graph.relationships {
            self.save_relationship_copy(relationship)?;
        }
        Ok(Answer::Nothing)
    }
}

/// An entity with its classifications in an order that does not depend on when they came.
fn by_name(entity: &EntityDetail) -> EntityDetail {
    let mut entity = entity.clone();
    entity
        .classifications
        .sort_by(|a, b| a.name().cmp(b.name()));
    entity
}

fn homed_here(kind: InstanceKind) -> Exception {
    match kind {
        InstanceKind::Entity => Exception::HomeEntity,
        InstanceKind::Relationship => Exception::HomeRelationship,
    }
}
