//! Classifications of entities. A change of one leaves version and update time of the entity alone.

use varve_omrs::Exception;
use varve_omrs::instances::{
    Classification, ClassificationOrigin, EntityDetail, EntityProxy, InstanceProperties,
};
use varve_omrs::requests::ClassificationRequest;
use varve_omrs::types::{InstanceStatus, TypeIndex};
use varve_omrs::validate;

use super::{InstanceState, Naive, class, given};
use crate::call::{Answer, Answered, At, InstanceKind};

impl Naive {
    /// A classification as it is when made: its own header, in version 1.
    pub(super) fn new_classification(
        &self,
        user: &str,
        entity: TypeIndex,
        asked: &Classification,
        source: Option<(&str, Option<&str>)>,
    ) -> Result<Classification, Exception> {
        let properties = asked.properties.clone();
        let (index, properties) =
            validate::classification(&self.types, entity, asked.name(), properties)
                .map_err(class)?;
        let status = self.types.get(index).def().body.initial_status;
        let status = status.unwrap_or(InstanceStatus::Active);
        Ok(Classification {
            audit: self.new_audit(user, index, status, source),
            name: asked.name.clone(),
            properties,
            origin: asked.origin.or(Some(ClassificationOrigin::Assigned)),
            origin_guid: asked.origin_guid.clone(),
        })
    }

    /// The entity whose classifications are to be changed, which may be homed anywhere.
    fn to_classify(
        &self,
        guid: &str,
        name: &str,
        properties: Option<&InstanceProperties>,
    ) -> Result<EntityDetail, Exception> {
        given(guid)?;
        self.given_classification(name, properties)?;
        match self.present(InstanceKind::Entity, guid)? {
            InstanceState::Entity(entity) => Ok(entity),
            _ => Err(Exception::EntityNotKnown),
        }
    }

    /// What a call says of a classification is looked at before the entity.
    fn given_classification(
        &self,
        name: &str,
        properties: Option<&InstanceProperties>,
    ) -> Result<(), Exception> {
        let index = self.types.classification_by_name(name);
        let index = index.map_err(|_| Exception::InvalidParameter)?;
        self.complete(index, properties).map(|_| ())
    }

    pub(super) fn classify(
        &mut self,
        user: &str,
        guid: &str,
        name: &str,
        properties: Option<&InstanceProperties>,
    ) -> Answered {
        let request = ClassificationRequest {
            properties: properties.cloned(),
            ..Default::default()
        };
        self.classify_in_full(user, guid, name, &request)
    }

    pub(super) fn classify_in_full(
        &mut self,
        user: &str,
        guid: &str,
        name: &str,
        request: &ClassificationRequest,
    ) -> Answered {
        let entity = self.to_classify(guid, name, request.properties.as_ref())?;
        let mut state = InstanceState::Entity(entity);
        self.give(user, &mut state, name, request)?;
        self.put_now(state)
    }

    /// Gives an entity a classification that it has not.
    fn give(
        &self,
        user: &str,
        entity: &mut InstanceState,
        name: &str,
        request: &ClassificationRequest,
    ) -> Result<Classification, Exception> {
        let asked = Classification {
            name: Some(name.to_owned()),
            properties: request.properties.clone(),
            origin: request.origin,
            origin_guid: request.origin_guid.clone(),
            ..Default::default()
        };
        let source = request.metadata_collection_id.as_deref();
        let source = source.map(|home| (home, request.metadata_collection_name.as_deref()));
        let source = source.filter(|(home, _)| *home != self.home.0);
        let index = self.type_of(&entity.header().audit);
        let new = self.new_classification(user, index, &asked, source)?;
        let carried = carried_by(entity);
        if carried.iter().any(|one| one.name() == name) {
            return Err(Exception::ClassificationError);
        }
        carried.push(new.clone());
        Ok(new)
    }

    /// Of an entity that is not here, the proxy is kept with it.
    pub(super) fn classify_proxy(
        &mut self,
        user: &str,
        proxy: &EntityProxy,
        name: &str,
        request: &ClassificationRequest,
    ) -> Answered {
        given(proxy.header.guid())?;
        self.given_classification(name, request.properties.as_ref())?;
        let mut state = match self.state(InstanceKind::Entity, proxy.header.guid(), None) {
            Some(_) => self.proxy_to_classify(proxy, name, None)?,
            None => {
                self.check_unknown(proxy)?;
                InstanceState::Proxy(self.with_own(proxy))
            }
        };
        let new = self.give(user, &mut state, name, request)?;
        self.put(state);
        Ok(Answer::Classifications(vec![new]))
    }

    /// What is known of the entity that a proxy stands for.
    fn proxy_to_classify(
        &self,
        proxy: &EntityProxy,
        name: &str,
        properties: Option<&InstanceProperties>,
    ) -> Result<InstanceState, Exception> {
        given(proxy.header.guid())?;
        self.given_classification(name, properties)?;
        let known = self.state(InstanceKind::Entity, proxy.header.guid(), None);
        let known = known.filter(|known| !known.header().audit.is_deleted());
        known.cloned().ok_or(Exception::EntityNotKnown)
    }

    pub(super) fn declassify_proxy(&mut self, proxy: &EntityProxy, name: &str) -> Answered {
        let mut state = self.proxy_to_classify(proxy, name, None)?;
        let carried = carried_by(&mut state);
        let taken = self.ours_of(carried, name)?;
        carried.retain(|one| one.name() != name);
        self.put(state);
        Ok(Answer::Classifications(vec![taken]))
    }

    pub(super) fn update_proxy_classification(
        &mut self,
        user: &str,
        proxy: &EntityProxy,
        name: &str,
        properties: &InstanceProperties,
    ) -> Answered {
        let mut state = self.proxy_to_classify(proxy, name, Some(properties))?;
        let carried = carried_by(&mut state);
        let mut changed = self.ours_of(carried, name)?;
        let index = self.type_of(&changed.audit);
        changed.properties = self.complete(index, Some(properties))?;
        self.touch(&mut changed.audit, user);
        carried.retain(|one| one.name() != name);
        carried.push(changed.clone());
        self.put(state);
        Ok(Answer::Classifications(vec![changed]))
    }

    pub(super) fn declassify(&mut self, guid: &str, name: &str) -> Answered {
        let mut entity = self.to_classify(guid, name, None)?;
        self.carried(&entity, name)?;
        entity.classifications.retain(|one| one.name() != name);
        self.put_now(InstanceState::Entity(entity))
    }

    /// The classification with this name, which the entity must have, and which is homed here.
    fn carried(&self, entity: &EntityDetail, name: &str) -> Result<Classification, Exception> {
        self.ours_of(&entity.classifications, name)
    }

    fn ours_of(&self, all: &[Classification], name: &str) -> Result<Classification, Exception> {
        self.types.classification_by_name(name).map_err(class)?;
        let carried = all.iter().find(|one| one.name() == name).cloned();
        let carried = carried.ok_or(Exception::ClassificationError)?;
        if !self.is_ours(&carried.audit) {
            return Err(Exception::InvalidParameter);
        }
        Ok(carried)
    }

    pub(super) fn update_classification(
        &mut self,
        user: &str,
        guid: &str,
        name: &str,
        properties: &InstanceProperties,
    ) -> Answered {
        let mut entity = self.to_classify(guid, name, Some(properties))?;
        let mut changed = self.carried(&entity, name)?;
        let index = self.type_of(&changed.audit);
        changed.properties = self.complete(index, Some(properties))?;
        self.touch(&mut changed.audit, user);
        entity.classifications.retain(|one| one.name() != name);
        entity.classifications.push(changed);
        self.put_now(InstanceState::Entity(entity))
    }

    /// Those classifications whose home is here, or that are replicated here for an external
    /// source, whatever the home of the entity is.
    pub(super) fn home_classifications(&self, guid: &str, at: At) -> Answered {
        given(guid)?;
        self.not_in_future(at)?;
        let entity = self.state(InstanceKind::Entity, guid, at);
        let entity = entity.filter(|entity| !entity.header().audit.is_deleted());
        let classifications = match entity {
            Some(InstanceState::Entity(entity)) => &entity.classifications,
            Some(InstanceState::Proxy(proxy)) => &proxy.classifications,
            _ => return Err(Exception::EntityNotKnown),
        };
        let ours = classifications.iter();
        let ours = ours.filter(|one| self.is_ours(&one.audit));
        Ok(Answer::Classifications(ours.cloned().collect()))
    }
}

/// The classifications of an entity, or of what stands for it.
fn carried_by(entity: &mut InstanceState) -> &mut Vec<Classification> {
    match entity {
        InstanceState::Entity(entity) => &mut entity.classifications,
        InstanceState::Proxy(proxy) => &mut proxy.classifications,
        InstanceState::Relationship(_) => unreachable!("relationships carry no classifications"),
    }
}
