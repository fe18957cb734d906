//! Calls of a metadata collection as values, and what they answer: so that a list of them can be
//! made, kept, shortened and made again on any repository.

use std::collections::HashMap;

use varve_omrs::Exception;
use varve_omrs::instances::{
    Classification, EntityDetail, EntityProxy, EntitySummary, InstanceHeader, InstanceProperties,
    Relationship,
};
use varve_omrs::json::Millis;
use varve_omrs::requests::{
    ClassificationRequest, EntityCreateRequest, EntityFindRequest, EntityNeighborhoodFindRequest,
    EntityPropertyFindRequest, FindRequest, HistoryRangeRequest, InstanceFindRequest,
    InstanceGraphRequest, PropertyMatchFindRequest, RelatedEntitiesFindRequest,
    RelationshipCreateRequest, TypeDefChangeRequest, TypeDefValidationForRequest,
    TypeLimitedFindRequest,
};
use varve_omrs::types::InstanceStatus;

/// What a call gives. Only the class of an exception counts: clients act on nothing else.
pub(crate) type Answered = Result<Answer, Exception>;

/// A time in the past, or now.
pub(crate) type At = Option<Millis>;

/// The content of a good answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    Nothing,
    Entity(Option<EntityDetail>),
    Summary(EntitySummary),
    Entities(Vec<EntityDetail>),
    Relationship(Option<Relationship>),
    Relationships(Vec<Relationship>),
    Graph(Vec<EntityDetail>, Vec<Relationship>),
    Classifications(Vec<Classification>),
}

/// Which entity or relationship a call that is made for both kinds is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum InstanceKind {
    Entity,
    Relationship,
}

/// A call that reads.
#[derive(Debug, Clone)]
pub(crate) enum Read {
    IsKnown(InstanceKind, String),
    Summary(String),
    Get(InstanceKind, String, At),
    History(InstanceKind, String, HistoryRangeRequest),
    HomeClassifications(String, At),
    RelationshipsForEntity(String, TypeLimitedFindRequest),
    FindEntities(EntityFindRequest),
    FindEntitiesByProperty(EntityPropertyFindRequest),
    FindEntitiesByClassification(String, PropertyMatchFindRequest),
    FindEntitiesByValue(String, EntityPropertyFindRequest),
    FindRelationships(InstanceFindRequest),
    FindRelationshipsByProperty(PropertyMatchFindRequest),
    FindRelationshipsByValue(String, TypeLimitedFindRequest),
    Linking(String, String, FindRequest),
    Neighborhood(String, i32, EntityNeighborhoodFindRequest),
    Related(String, RelatedEntitiesFindRequest),
}

/// A call that writes. Where the repository chooses the GUID, the first string is what the list
/// calls the new instance.
#[derive(Debug, Clone)]
pub(crate) enum Write {
    AddEntity(String, EntityCreateRequest),
    AddExternalEntity(String, EntityCreateRequest),
    AddEntityProxy(EntityProxy),
    AddRelationship(String, RelationshipCreateRequest),
    AddExternalRelationship(String, RelationshipCreateRequest),
    UpdateStatus(InstanceKind, String, InstanceStatus),
    UpdateProperties(InstanceKind, String, InstanceProperties),
    Undo(InstanceKind, String),
    Delete(InstanceKind, String, TypeDefValidationForRequest),
    Purge(InstanceKind, String, TypeDefValidationForRequest),
    Restore(InstanceKind, String),
    Classify(String, String, Option<InstanceProperties>),
    ClassifyInFull(String, String, ClassificationRequest),
    Declassify(String, String),
    UpdateClassification(String, String, InstanceProperties),
    ClassifyProxy(EntityProxy, String, Option<InstanceProperties>),
    ClassifyProxyInFull(EntityProxy, String, ClassificationRequest),
    DeclassifyProxy(EntityProxy, String),
    UpdateProxyClassification(EntityProxy, String, InstanceProperties),
    ReIdentify(InstanceKind, String, String, TypeDefValidationForRequest),
    ReType(InstanceKind, String, TypeDefChangeRequest),
    /// GUID, home, new home, its name.
    ReHome(
        InstanceKind,
        String,
        String,
        String,
        Option<String>,
        TypeDefValidationForRequest,
    ),
    SaveEntityCopy(EntityDetail),
    DeleteEntityCopy(EntityDetail),
    PurgeEntityCopy(EntityDetail),
    SaveRelationshipCopy(Relationship),
    DeleteRelationshipCopy(Relationship),
    PurgeRelationshipCopy(Relationship),
    /// GUID, home.
    PurgeCopyById(InstanceKind, String, String, TypeDefValidationForRequest),
    RefreshCopy(InstanceKind, String, String, TypeDefValidationForRequest),
    SaveClassificationCopy(EntityDetail, Classification),
    PurgeClassificationCopy(EntityDetail, Classification),
    SaveCopies(InstanceGraphRequest),
}

/// GUIDs by what the list calls them. What is not here is a GUID itself.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names(HashMap<String, String>);

impl Names {
    pub(crate) fn insert(&mut self, name: &str, guid: &str) {
        self.0.insert(name.to_owned(), guid.to_owned());
    }

    /// The GUID that a name stands for.
    pub(crate) fn guid(&self, name: &str) -> String {
        let known = self.0.get(name).map(String::as_str);
        known.unwrap_or(name).to_owned()
    }

    fn put(&self, guid: &mut String) {
        if let Some(known) = self.0.get(guid.as_str()) {
            guid.clone_from(known);
        }
    }

    fn put_optional(&self, guid: &mut Option<String>) {
        if let Some(guid) = guid {
            self.put(guid);
        }
    }

    fn put_header(&self, header: &mut InstanceHeader) {
        self.put_optional(&mut header.guid);
    }

    fn put_relationship(&self, relationship: &mut Relationship) {
        self.put_header(&mut relationship.header);
        let ends = [&mut relationship.entity_one, &mut relationship.entity_two];
        for end in ends.into_iter().flatten() {
            self.put_header(&mut end.header);
        }
    }
}

impl Read {
    /// The call with GUIDs in the place of names.
    pub(crate) fn resolved(&self, names: &Names) -> Self {
        let mut read = self.clone();
        match &mut read {
            Self::IsKnown(_, guid)
            | Self::Summary(guid)
            | Self::Get(_, guid, _)
            | Self::History(_, guid, _)
            | Self::HomeClassifications(guid, _)
            | Self::RelationshipsForEntity(guid, _)
            | Self::Neighborhood(guid, ..)
            | Self::Related(guid, _) => names.put(guid),
            Self::Linking(start, end, _) => {
                names.put(start);
                names.put(end);
            }
            Self::FindEntities(_)
            | Self::FindEntitiesByProperty(_)
            | Self::FindEntitiesByClassification(..)
            | Self::FindEntitiesByValue(..)
            | Self::FindRelationships(_)
            | Self::FindRelationshipsByProperty(_)
            | Self::FindRelationshipsByValue(..) => {}
        }
        read
    }
}

impl Write {
    /// The call with GUIDs in the place of names.
    pub(crate) fn resolved(&self, names: &Names) -> Self {
        let mut write = self.clone();
        match &mut write {
            Self::AddEntity(..) | Self::AddExternalEntity(..) => {}
            Self::AddEntityProxy(proxy)
            | Self::ClassifyProxy(proxy, ..)
            | Self::ClassifyProxyInFull(proxy, ..)
            | Self::DeclassifyProxy(proxy, _)
            | Self::UpdateProxyClassification(proxy, ..) => names.put_header(&mut proxy.header),
            Self::AddRelationship(_, request) | Self::AddExternalRelationship(_, request) => {
                names.put_optional(&mut request.entity_one_guid);
                names.put_optional(&mut request.entity_two_guid);
            }
            Self::UpdateStatus(_, guid, _)
            | Self::UpdateProperties(_, guid, _)
            | Self::Undo(_, guid)
            | Self::Delete(_, guid, _)
            | Self::Purge(_, guid, _)
            | Self::Restore(_, guid)
            | Self::Classify(guid, ..)
            | Self::ClassifyInFull(guid, ..)
            | Self::Declassify(guid, _)
            | Self::UpdateClassification(guid, ..)
            | Self::ReType(_, guid, _)
            | Self::ReHome(_, guid, ..)
            | Self::PurgeCopyById(_, guid, ..)
            | Self::RefreshCopy(_, guid, ..) => names.put(guid),
            Self::ReIdentify(_, old, new, _) => {
                names.put(old);
                names.put(new);
            }
            Self::SaveEntityCopy(entity)
            | Self::DeleteEntityCopy(entity)
            | Self::PurgeEntityCopy(entity)
            | Self::SaveClassificationCopy(entity, _)
            | Self::PurgeClassificationCopy(entity, _) => names.put_header(&mut entity.header),
            Self::SaveRelationshipCopy(relationship)
            | Self::DeleteRelationshipCopy(relationship)
            | Self::PurgeRelationshipCopy(relationship) => names.put_relationship(relationship),
            Self::SaveCopies(graph) => {
                for entity in &mut graph.entities {
                    names.put_header(&mut entity.header);
                }
                for relationship in &mut graph.relationships {
                    names.put_relationship(relationship);
                }
            }
        }
        write
    }

    /// What the list calls the instance that the call makes.
    pub(crate) fn made(&self) -> Option<&str> {
        match self {
            Self::AddEntity(name, _)
            | Self::AddExternalEntity(name, _)
            | Self::AddRelationship(name, _)
            | Self::AddExternalRelationship(name, _) => Some(name),
            _ => None,
        }
    }
}

impl Answer {
    /// The GUID of the one instance that it holds.
    pub(crate) fn guid(&self) -> Option<&str> {
        match self {
            Self::Entity(Some(entity)) => Some(entity.header.guid()),
            Self::Relationship(Some(relationship)) => Some(relationship.header.guid()),
            _ => None,
        }
    }
}
