//! A repository written from the contract in the simplest way: every state that ever was, in one
//! list, whole; a search looks at all instances.
//!
//! Where the contract leaves something open, it says so at the place.

mod classifications;
mod copies;
mod entities;
mod graph;
mod header;
mod history;
mod matching;
pub(crate) mod order;
mod relationships;
mod search;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use varve_omrs::Exception;
use varve_omrs::OmrsError;
use varve_omrs::instances::{
    Classification, EntityDetail, EntityProxy, InstanceHeader, Relationship,
};
use varve_omrs::json::{Millis, Shared};
use varve_omrs::requests::ClassificationRequest;
use varve_omrs::types::Catalogue;

use crate::call::{Answered, At, InstanceKind, Read, Write};

/// An instance as it was from some time on.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum InstanceState {
    Entity(EntityDetail),
    /// All that is known of the entity.
    Proxy(EntityProxy),
    Relationship(Relationship),
}

/// A state, and from when on it holds, until another that was written later.
#[derive(Debug, Clone)]
struct Event {
    at: Millis,
    state: InstanceState,
}

/// The repository.
pub(crate) struct Naive {
    pub(crate) types: Catalogue,
    /// The metadata collection: id and name.
    pub(crate) home: (String, String),
    /// What time it is.
    pub(crate) now: Millis,
    /// The GUID that the next new instance gets: the real repository's choice.
    pub(crate) next_guid: String,
    /// In the order in which they were written.
    log: Vec<Event>,
}

impl InstanceState {
    pub(crate) fn header(&self) -> &InstanceHeader {
        match self {
            Self::Entity(entity) => &entity.header,
            Self::Proxy(proxy) => &proxy.header,
            Self::Relationship(relationship) => &relationship.header,
        }
    }

    fn kind(&self) -> InstanceKind {
        match self {
            Self::Entity(_) | Self::Proxy(_) => InstanceKind::Entity,
            Self::Relationship(_) => InstanceKind::Relationship,
        }
    }

    fn is(&self, kind: InstanceKind, guid: &str) -> bool {
        self.kind() == kind && self.header().guid() == guid
    }
}

impl Naive {
    pub(crate) fn new(types: Catalogue, home: (&str, &str)) -> Self {
        Self {
            types,
            home: (home.0.to_owned(), home.1.to_owned()),
            now: Millis(0),
            next_guid: String::new(),
            log: Vec::new(),
        }
    }

    /// The state of an instance: the one that was written last among those that hold from `at` or
    /// earlier.
    fn state(&self, kind: InstanceKind, guid: &str, at: At) -> Option<&InstanceState> {
        let at = at.unwrap_or(self.now);
        let mut of = self.log.iter().filter(|event| event.at <= at);
        let last = of.rfind(|event| event.state.is(kind, guid));
        last.map(|event| &event.state)
    }

    /// What is known of an instance now.
    pub(crate) fn header(&self, kind: InstanceKind, guid: &str) -> Option<&InstanceHeader> {
        self.state(kind, guid, None).map(InstanceState::header)
    }

    /// What is known now of the two ends of a relationship.
    pub(crate) fn ends(&self, guid: &str) -> [Option<Shared<EntityProxy>>; 2] {
        match self.state(InstanceKind::Relationship, guid, None) {
            Some(InstanceState::Relationship(of)) => {
                let shown = self.shown(of, None);
                [shown.entity_one, shown.entity_two]
            }
            _ => [None, None],
        }
    }

    /// The classifications that an entity carries now.
    pub(crate) fn classifications(&self, guid: &str) -> &[Classification] {
        match self.state(InstanceKind::Entity, guid, None) {
            Some(InstanceState::Entity(entity)) => &entity.classifications,
            Some(InstanceState::Proxy(proxy)) => &proxy.classifications,
            _ => &[],
        }
    }

    /// All GUIDs that are or were in use.
    fn guids(&self, kind: InstanceKind) -> BTreeSet<String> {
        let of = self.log.iter().filter(|event| event.state.kind() == kind);
        of.map(|event| event.state.header().guid().to_owned())
            .collect()
    }

    /// Every instance of a kind at a time.
    fn all(&self, kind: InstanceKind, at: At) -> Vec<&InstanceState> {
        let guids = self.guids(kind);
        guids
            .iter()
            .filter_map(|guid| self.state(kind, guid, at))
            .collect()
    }

    fn entities(&self, at: At) -> Vec<&EntityDetail> {
        let all = self.all(InstanceKind::Entity, at).into_iter();
        all.filter_map(|state| match state {
            InstanceState::Entity(entity) => Some(entity),
            _ => None,
        })
        .collect()
    }

    /// Writes a state as of now.
    fn put(&mut self, state: InstanceState) {
        self.log.push(Event {
            at: self.now,
            state,
        });
    }

    /// The time that another repository names for a new state of an instance, unless it has not
    /// come or the state that is known began then or later.
    fn since(&self, at: Option<Millis>, kind: InstanceKind, guid: &str) -> Option<Millis> {
        let last = self.log.iter().rfind(|event| event.state.is(kind, guid));
        at.filter(|at| *at <= self.now && last.is_none_or(|last| last.at < *at))
    }

    /// Writes a state that holds from a time on that another repository names; from now on if that
    /// cannot be.
    fn put_since(&mut self, at: Option<Millis>, state: InstanceState) {
        let at = self.since(at, state.kind(), state.header().guid());
        self.log.push(Event {
            at: at.unwrap_or(self.now),
            state,
        });
    }

    /// Removes an instance and all that is known of its past.
    fn remove(&mut self, kind: InstanceKind, guid: &str) {
        self.log.retain(|event| !event.state.is(kind, guid));
    }

    /// The GUIDs of the relationships that have an entity at one end now.
    fn attached(&self, guid: &str) -> Vec<String> {
        let relationships = self.relationships(None).into_iter();
        relationships
            .filter(|of| ends(of).contains(&guid.to_owned()))
            .map(|of| of.header.guid().to_owned())
            .collect()
    }

    /// Removes the relationships that have an entity at one end. Of those that had it once, the
    /// states of then go.
    fn remove_attached(&mut self, guid: &str) {
        for attached in self.attached(guid) {
            self.remove(InstanceKind::Relationship, &attached);
        }
        self.log.retain(|event| match &event.state {
            InstanceState::Relationship(of) => !ends(of).iter().any(|end| end == guid),
            _ => true,
        });
    }

    /// Makes a call that reads.
    pub(crate) fn read(&self, read: &Read) -> Answered {
        match read {
            Read::IsKnown(kind, guid) => self.is_known(*kind, guid),
            Read::Summary(guid) => self.summary(guid),
            Read::Get(InstanceKind::Entity, guid, at) => self.get_entity(guid, *at),
            Read::Get(InstanceKind::Relationship, guid, at) => self.get_relationship(guid, *at),
            Read::History(kind, guid, range) => self.history(*kind, guid, range),
            Read::HomeClassifications(guid, at) => self.home_classifications(guid, *at),
            Read::RelationshipsForEntity(guid, request) => self.of_entity(guid, request),
            Read::FindEntities(request) => self.find_entities(request),
            Read::FindEntitiesByProperty(request) => self.find_entities_by_property(request),
            Read::FindEntitiesByClassification(name, request) => {
                self.find_entities_by_classification(name, request)
            }
            Read::FindEntitiesByValue(criteria, request) => {
                self.find_entities_by_value(criteria, request)
            }
            Read::FindRelationships(request) => self.find_relationships(request),
            Read::FindRelationshipsByProperty(request) => {
                self.find_relationships_by_property(request)
            }
            Read::FindRelationshipsByValue(criteria, request) => {
                self.find_relationships_by_value(criteria, request)
            }
            Read::Linking(start, end, request) => self.linking(start, end, request),
            Read::Neighborhood(guid, level, request) => self.neighborhood(guid, *level, request),
            Read::Related(guid, request) => self.related(guid, request),
        }
    }

    /// Makes a call that writes, for a user. What fails changes nothing.
    pub(crate) fn write(&mut self, user: &str, write: &Write) -> Answered {
        let before = self.log.clone();
        let answer = self.write_or_fail(user, write);
        if answer.is_err() {
            self.log = before;
        }
        answer
    }

    fn write_or_fail(&mut self, user: &str, write: &Write) -> Answered {
        use InstanceKind::{Entity, Relationship};
        match write {
            Write::AddEntity(_, request) => self.add_entity(user, request, false),
            Write::AddExternalEntity(_, request) => self.add_entity(user, request, true),
            Write::AddEntityProxy(proxy) => self.add_proxy(proxy),
            Write::AddRelationship(_, request) => self.add_relationship(user, request, false),
            Write::AddExternalRelationship(_, request) => {
                self.add_relationship(user, request, true)
            }
            Write::UpdateStatus(kind, guid, status) => {
                self.update_status(user, *kind, guid, *status)
            }
            Write::UpdateProperties(kind, guid, properties) => {
                self.update_properties(user, *kind, guid, properties)
            }
            Write::Undo(kind, guid) => self.undo(user, *kind, guid),
            Write::Delete(Entity, guid, of) => self.delete_entity(user, guid, of),
            Write::Delete(Relationship, guid, of) => self.delete_relationship(user, guid, of),
            Write::Purge(kind, guid, of) => self.purge(*kind, guid, of),
            Write::Restore(kind, guid) => self.restore(user, *kind, guid),
            Write::Classify(guid, name, properties) => {
                self.classify(user, guid, name, properties.as_ref())
            }
            Write::ClassifyInFull(guid, name, request) => {
                self.classify_in_full(user, guid, name, request)
            }
            Write::Declassify(guid, name) => self.declassify(guid, name),
            Write::UpdateClassification(guid, name, properties) => {
                self.update_classification(user, guid, name, properties)
            }
            Write::ClassifyProxy(proxy, name, properties) => {
                let properties = properties.clone();
                let request = ClassificationRequest {
                    properties,
                    ..Default::default()
                };
                self.classify_proxy(user, proxy, name, &request)
            }
            Write::ClassifyProxyInFull(proxy, name, request) => {
                self.classify_proxy(user, proxy, name, request)
            }
            Write::DeclassifyProxy(proxy, name) => self.declassify_proxy(proxy, name),
            Write::UpdateProxyClassification(proxy, name, properties) => {
                self.update_proxy_classification(user, proxy, name, properties)
            }
            Write::ReIdentify(kind, old, new, of) => self.re_identify(user, *kind, old, new, of),
            Write::ReType(kind, guid, change) => self.re_type(user, *kind, guid, change),
            Write::ReHome(kind, guid, home, new, name, of) => {
                self.re_home(user, *kind, guid, [home, new], name.as_deref(), of)
            }
            Write::SaveEntityCopy(entity) => self.save_entity_copy(entity),
            Write::DeleteEntityCopy(entity) => self.delete_entity_copy(user, entity),
            Write::PurgeEntityCopy(entity) => self.remove_entity_copy(entity),
            Write::SaveRelationshipCopy(relationship) => self.save_relationship_copy(relationship),
            Write::DeleteRelationshipCopy(relationship)
            | Write::PurgeRelationshipCopy(relationship) => {
                self.remove_relationship_copy(relationship)
            }
            Write::PurgeCopyById(kind, guid, home, of) => {
                self.purge_copy_by_id(*kind, guid, home, of)
            }
            Write::RefreshCopy(kind, guid, home, of) => self.refresh_copy(*kind, guid, home, of),
            Write::SaveClassificationCopy(entity, of) => self.save_classification_copy(entity, of),
            Write::PurgeClassificationCopy(entity, of) => {
                self.purge_classification_copy(entity, of)
            }
            Write::SaveCopies(graph) => self.save_copies(graph),
        }
    }
}

/// The GUIDs of the two ends.
pub(crate) fn ends(relationship: &Relationship) -> [String; 2] {
    [&relationship.entity_one, &relationship.entity_two].map(|end| {
        let header = end.as_ref().map(|end| &end.header);
        header.map_or_else(String::new, |header| header.guid().to_owned())
    })
}

fn class(error: OmrsError) -> Exception {
    error.exception
}

/// Refuses a missing GUID.
fn given(guid: &str) -> Result<(), Exception> {
    if guid.is_empty() {
        return Err(Exception::InvalidParameter);
    }
    Ok(())
}
