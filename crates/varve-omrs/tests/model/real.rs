//! The repository, called by values.

use std::fmt::Debug;

use varve_omrs::OmrsError;
use varve_omrs::instances::{EntityDetail, Relationship};
use varve_omrs::json::{Limits, Millis, Shared, decode, encode};
use varve_omrs::repository::{InstanceGraph, Repository};
use varve_omrs::requests::{
    ClassificationListResponse, ClassificationProxyRequest, ClassificationRequest,
    ClassificationWithEntityRequest, EntityDetailResponse, EntityListResponse,
    EntitySummaryResponse, HistoryRequest, InstanceGraphResponse, InstancePropertiesRequest,
    RelationshipListResponse, RelationshipResponse, Response,
};

use crate::call::{Answer, At, InstanceKind, Read, Write};

type Rendered = Result<Answer, OmrsError>;

fn then(at: At) -> Option<HistoryRequest> {
    at.map(|at: Millis| HistoryRequest {
        as_of_time: Some(at),
    })
}

/// A part of the graph as it is rendered, as it is and as it can be read.
fn graph(graph: InstanceGraph) -> Answer {
    let InstanceGraph {
        entities,
        relationships,
    } = graph;
    check_response(&InstanceGraphResponse::ok(
        entities.clone(),
        relationships.clone(),
    ));
    Answer::Graph(unshared(entities), unshared(relationships))
}

fn unshared<T: Clone>(list: Vec<Shared<T>>) -> Vec<T> {
    list.iter().map(|one| T::clone(one)).collect()
}

/// Entities that are rendered as they are stored: their JSON is checked before anybody has looked
/// at them.
fn entities(list: Vec<Shared<EntityDetail>>) -> Answer {
    check_response(&EntityListResponse::ok(0, 0, None, list.clone()));
    Answer::Entities(unshared(list))
}

/// The same of relationships.
fn relationships(list: Vec<Shared<Relationship>>) -> Answer {
    check_response(&RelationshipListResponse::ok(0, 0, None, list.clone()));
    Answer::Relationships(unshared(list))
}

fn shared<T>(list: Vec<T>) -> Vec<Shared<T>> {
    list.into_iter().map(Shared::from).collect()
}

fn entity(entity: EntityDetail) -> Answer {
    Answer::Entity(Some(entity))
}

fn relationship(relationship: Relationship) -> Answer {
    Answer::Relationship(Some(relationship))
}

fn nothing((): ()) -> Answer {
    Answer::Nothing
}

/// Makes a call that reads, and checks how its answer is rendered.
pub(crate) fn read(of: &Repository, read: &Read) -> Rendered {
    let rendered = answered(of, read);
    if let Ok(answer) = &rendered {
        check_rendered(answer.clone());
    }
    rendered
}

/// An answer is rendered as what it holds, byte for byte: what stands in it several times is
/// written once and copied, and classifications are written straight from what is stored, while
/// what is read back shares nothing.
fn check_rendered(answer: Answer) {
    match answer {
        Answer::Nothing => {}
        Answer::Entity(entity) => check_response(&EntityDetailResponse::ok(entity)),
        Answer::Summary(entity) => check_response(&EntitySummaryResponse::ok(Some(entity))),
        Answer::Entities(list) => {
            check_response(&EntityListResponse::ok(0, 0, None, shared(list)));
        }
        Answer::Relationship(one) => check_response(&RelationshipResponse::ok(one)),
        Answer::Relationships(list) => {
            check_response(&RelationshipListResponse::ok(0, 0, None, shared(list)));
        }
        Answer::Graph(entities, relationships) => {
            let rendered = InstanceGraphResponse::ok(shared(entities), shared(relationships));
            check_response(&rendered);
        }
        Answer::Classifications(list) => check_response(&ClassificationListResponse::ok(list)),
    }
}

fn check_response<R: Response + PartialEq + Debug>(response: &R) {
    let rendered = encode(response);
    let read: R = decode(&rendered, Limits::DEFAULT).expect("what is rendered can be read");
    let again = encode(&read);
    assert_eq!(String::from_utf8(again), String::from_utf8(rendered));
    assert_eq!(&read, response);
}

fn answered(of: &Repository, read: &Read) -> Rendered {
    use InstanceKind::{Entity, Relationship};
    match read {
        Read::IsKnown(Entity, guid) => of.is_entity_known(guid).map(Answer::Entity),
        Read::IsKnown(Relationship, guid) => {
            of.is_relationship_known(guid).map(Answer::Relationship)
        }
        Read::Summary(guid) => of.get_entity_summary(guid).map(Answer::Summary),
        Read::Get(Entity, guid, at) => of.get_entity_detail(guid, then(*at).as_ref()).map(entity),
        Read::Get(Relationship, guid, at) => of
            .get_relationship(guid, then(*at).as_ref())
            .map(relationship),
        Read::History(Entity, guid, range) => of
            .get_entity_detail_history(guid, range)
            .map(Answer::Entities),
        Read::History(Relationship, guid, range) => of
            .get_relationship_history(guid, range)
            .map(Answer::Relationships),
        Read::HomeClassifications(guid, at) => of
            .get_home_classifications(guid, then(*at).as_ref())
            .map(Answer::Classifications),
        Read::RelationshipsForEntity(guid, request) => {
            let found = of.get_relationships_for_entity(guid, request);
            found.map(relationships)
        }
        Read::FindEntities(request) => of.find_entities(request).map(entities),
        Read::FindEntitiesByProperty(request) => {
            of.find_entities_by_property(request).map(entities)
        }
        Read::FindEntitiesByClassification(name, request) => of
            .find_entities_by_classification(name, request)
            .map(entities),
        Read::FindEntitiesByValue(criteria, request) => of
            .find_entities_by_property_value(criteria, request)
            .map(entities),
        Read::FindRelationships(request) => of.find_relationships(request).map(relationships),
        Read::FindRelationshipsByProperty(request) => {
            let found = of.find_relationships_by_property(request);
            found.map(relationships)
        }
        Read::FindRelationshipsByValue(criteria, request) => of
            .find_relationships_by_property_value(criteria, request)
            .map(relationships),
        Read::Linking(start, end, request) => {
            of.get_linking_entities(start, end, request).map(graph)
        }
        Read::Neighborhood(guid, level, request) => {
            of.get_entity_neighborhood(guid, *level, request).map(graph)
        }
        Read::Related(guid, request) => of.get_related_entities(guid, request).map(entities),
    }
}

/// Makes a call that writes, for a user.
pub(crate) fn write(of: &Repository, user: &str, write: &Write) -> Rendered {
    let with = |properties: Option<varve_omrs::instances::InstanceProperties>| {
        InstancePropertiesRequest { properties }
    };
    match write {
        Write::AddEntity(_, request) => of.add_entity(user, request.clone()).map(entity),
        Write::AddExternalEntity(_, request) => {
            of.add_external_entity(user, request.clone()).map(entity)
        }
        Write::AddEntityProxy(proxy) => of.add_entity_proxy(user, proxy.clone()).map(nothing),
        Write::AddRelationship(_, request) => {
            of.add_relationship(user, request.clone()).map(relationship)
        }
        Write::AddExternalRelationship(_, request) => of
            .add_external_relationship(user, request.clone())
            .map(relationship),
        Write::Classify(guid, name, properties) => of
            .classify_entity(user, guid, name, with(properties.clone()))
            .map(entity),
        Write::ClassifyInFull(guid, name, request) => of
            .classify_entity_detailed(user, guid, name, request.clone())
            .map(entity),
        Write::Declassify(guid, name) => of.declassify_entity(user, guid, name).map(entity),
        Write::UpdateClassification(guid, name, properties) => of
            .update_entity_classification(user, guid, name, with(Some(properties.clone())))
            .map(entity),
        Write::ClassifyProxy(..)
        | Write::ClassifyProxyInFull(..)
        | Write::DeclassifyProxy(..)
        | Write::UpdateProxyClassification(..) => write_proxy(of, user, write),
        Write::SaveEntityCopy(_)
        | Write::DeleteEntityCopy(_)
        | Write::PurgeEntityCopy(_)
        | Write::SaveRelationshipCopy(_)
        | Write::DeleteRelationshipCopy(_)
        | Write::PurgeRelationshipCopy(_)
        | Write::SaveClassificationCopy(..)
        | Write::PurgeClassificationCopy(..)
        | Write::SaveCopies(_) => write_copy(of, user, write),
        _ => match kind_of(write) {
            InstanceKind::Entity => write_entity(of, user, write),
            InstanceKind::Relationship => write_relationship(of, user, write),
        },
    }
}

fn kind_of(write: &Write) -> InstanceKind {
    match write {
        Write::UpdateStatus(kind, ..)
        | Write::UpdateProperties(kind, ..)
        | Write::Undo(kind, _)
        | Write::Delete(kind, ..)
        | Write::Purge(kind, ..)
        | Write::Restore(kind, _)
        | Write::ReIdentify(kind, ..)
        | Write::ReType(kind, ..)
        | Write::ReHome(kind, ..)
        | Write::PurgeCopyById(kind, ..)
        | Write::RefreshCopy(kind, ..) => *kind,
        other => unreachable!("{other:?} is made for one kind only"),
    }
}

fn write_entity(of: &Repository, user: &str, write: &Write) -> Rendered {
    match write {
        Write::UpdateStatus(_, guid, status) => of
            .update_entity_status(user, guid, Some(*status))
            .map(entity),
        Write::UpdateProperties(_, guid, properties) => {
            let request = InstancePropertiesRequest {
                properties: Some(properties.clone()),
            };
            of.update_entity_properties(user, guid, request).map(entity)
        }
        Write::Undo(_, guid) => of.undo_entity_update(user, guid).map(entity),
        Write::Delete(_, guid, expected) => of.delete_entity(user, guid, expected).map(entity),
        Write::Purge(_, guid, expected) => of.purge_entity(user, guid, expected).map(nothing),
        Write::Restore(_, guid) => of.restore_entity(user, guid).map(entity),
        Write::ReIdentify(_, guid, new, expected) => {
            of.re_identify_entity(user, guid, new, expected).map(entity)
        }
        Write::ReType(_, guid, change) => of.re_type_entity(user, guid, change).map(entity),
        Write::ReHome(_, guid, home, new, name, expected) => of
            .re_home_entity(user, guid, home, new, name.as_deref(), expected)
            .map(entity),
        Write::PurgeCopyById(_, guid, home, expected) => of
            .purge_entity_reference_copy_by_id(user, guid, home, expected)
            .map(nothing),
        Write::RefreshCopy(_, guid, home, expected) => of
            .refresh_entity_reference_copy(user, guid, home, expected)
            .map(nothing),
        other => unreachable!("{other:?} is made elsewhere"),
    }
}

fn write_relationship(of: &Repository, user: &str, write: &Write) -> Rendered {
    match write {
        Write::UpdateStatus(_, guid, status) => of
            .update_relationship_status(user, guid, Some(*status))
            .map(relationship),
        Write::UpdateProperties(_, guid, properties) => {
            let request = InstancePropertiesRequest {
                properties: Some(properties.clone()),
            };
            of.update_relationship_properties(user, guid, request)
                .map(relationship)
        }
        Write::Undo(_, guid) => of.undo_relationship_update(user, guid).map(relationship),
        Write::Delete(_, guid, expected) => of
            .delete_relationship(user, guid, expected)
            .map(relationship),
        Write::Purge(_, guid, expected) => of.purge_relationship(user, guid, expected).map(nothing),
        Write::Restore(_, guid) => of.restore_relationship(user, guid).map(relationship),
        Write::ReIdentify(_, guid, new, expected) => of
            .re_identify_relationship(user, guid, new, expected)
            .map(relationship),
        Write::ReType(_, guid, change) => of
            .re_type_relationship(user, guid, change)
            .map(relationship),
        Write::ReHome(_, guid, home, new, name, expected) => of
            .re_home_relationship(user, guid, home, new, name.as_deref(), expected)
            .map(relationship),
        Write::PurgeCopyById(_, guid, home, expected) => of
            .purge_relationship_reference_copy_by_id(user, guid, home, expected)
            .map(nothing),
        Write::RefreshCopy(_, guid, home, expected) => of
            .refresh_relationship_reference_copy(user, guid, home, expected)
            .map(nothing),
        other => unreachable!("{other:?} is made elsewhere"),
    }
}

fn write_proxy(of: &Repository, user: &str, write: &Write) -> Rendered {
    let with = |proxy: &_, classification| ClassificationProxyRequest {
        classification,
        entity: Some(Clone::clone(proxy)),
    };
    let of_properties = |properties| ClassificationRequest {
        properties,
        ..Default::default()
    };
    match write {
        Write::ClassifyProxy(proxy, name, properties) => {
            let request = with(proxy, of_properties(properties.clone()));
            of.classify_entity_proxy(user, name, request)
        }
        Write::ClassifyProxyInFull(proxy, name, request) => {
            of.classify_entity_proxy_detailed(user, name, with(proxy, request.clone()))
        }
        Write::DeclassifyProxy(proxy, name) => {
            of.declassify_entity_proxy(user, name, proxy.clone())
        }
        Write::UpdateProxyClassification(proxy, name, properties) => {
            let request = with(proxy, of_properties(Some(properties.clone())));
            of.update_entity_proxy_classification(user, name, request)
        }
        other => unreachable!("{other:?} is made elsewhere"),
    }
    .map(|one| Answer::Classifications(vec![one]))
}

fn write_copy(of: &Repository, user: &str, write: &Write) -> Rendered {
    let carried = |entity: &_, classification: &_| ClassificationWithEntityRequest {
        classification: Some(Clone::clone(classification)),
        entity: Some(Clone::clone(entity)),
        ..Default::default()
    };
    match write {
        Write::SaveEntityCopy(entity) => of.save_entity_reference_copy(user, entity.clone()),
        Write::DeleteEntityCopy(entity) => of.delete_entity_reference_copy(user, entity.clone()),
        Write::PurgeEntityCopy(entity) => of.purge_entity_reference_copy(user, entity.clone()),
        Write::SaveRelationshipCopy(relationship) => {
            of.save_relationship_reference_copy(user, relationship.clone())
        }
        Write::DeleteRelationshipCopy(relationship) => {
            of.delete_relationship_reference_copy(user, relationship.clone())
        }
        Write::PurgeRelationshipCopy(relationship) => {
            of.purge_relationship_reference_copy(user, relationship.clone())
        }
        Write::SaveClassificationCopy(entity, classification) => {
            of.save_classification_reference_copy(user, carried(entity, classification))
        }
        Write::PurgeClassificationCopy(entity, classification) => {
            of.purge_classification_reference_copy(user, carried(entity, classification))
        }
        Write::SaveCopies(graph) => of.save_instance_reference_copies(user, graph.clone()),
        other => unreachable!("{other:?} is made elsewhere"),
    }
    .map(nothing)
}
