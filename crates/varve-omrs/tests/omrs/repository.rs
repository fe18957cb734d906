//! The operations of the repository.

mod classifying;
mod copies;
mod entities;
mod identity;
mod reading;
mod relationships;
mod states;
mod type_changes;
mod types;

use std::sync::Arc;

use crate::below;
use varve_omrs::graph_store::GraphStore;
use varve_omrs::instances::*;
use varve_omrs::json::Millis;
use varve_omrs::repository::{Options, Repository};
use varve_omrs::requests::*;
use varve_omrs::types::InstanceStatus;
use varve_omrs::{Exception, OmrsError};

/// A repository with what tests often need of it.
pub(crate) struct Fixture {
    pub(crate) repository: Repository,
    pub(crate) store: Arc<GraphStore>,
}

pub(crate) fn options() -> Options {
    Options {
        metadata_collection_id: None,
        metadata_collection_name: "varve".to_owned(),
        base_url: "http://host:1/servers/varve".to_owned(),
    }
}

/// Runs a test on a new repository.
fn on_new_store(test: impl Fn(&Fixture)) {
    test(&Fixture::on(below::store()));
}

/// The exception and message that a call was refused with.
fn failure<T>(result: Result<T, OmrsError>) -> (Exception, &'static str) {
    match result {
        Ok(_) => panic!("accepted"),
        Err(error) => (error.exception, error.message.id()),
    }
}

/// Properties with strings as values.
fn strings(of: &[(&str, &str)]) -> InstanceProperties {
    let mut properties = InstanceProperties::default();
    for (name, value) in of {
        properties = properties.with(name, InstancePropertyValue::string(value));
    }
    properties
}

fn as_request(properties: InstanceProperties) -> InstancePropertiesRequest {
    InstancePropertiesRequest {
        properties: Some(properties),
    }
}

/// The text of a string property.
fn text<'a>(properties: Option<&'a InstanceProperties>, name: &str) -> Option<&'a str> {
    match properties?.get(name)? {
        InstancePropertyValue::Primitive(value) => match &value.value {
            Some(Primitive::String(text)) => Some(text),
            _ => None,
        },
        _ => None,
    }
}

/// What the caller takes an instance for: what it is.
fn expected(header: &InstanceHeader) -> TypeDefValidationForRequest {
    let of = header.audit.instance_type.as_deref().unwrap();
    TypeDefValidationForRequest {
        type_guid: of.guid.clone(),
        type_name: of.name.clone(),
    }
}

fn some_type(name: &str, guid: &str) -> TypeDefValidationForRequest {
    TypeDefValidationForRequest {
        type_guid: Some(guid.to_owned()),
        type_name: Some(name.to_owned()),
    }
}

fn at(time: Millis) -> HistoryRequest {
    HistoryRequest {
        as_of_time: Some(time),
    }
}

/// The headers that a new instance of another repository comes with.
fn foreign_header(f: &Fixture, type_name: &str, guid: &str) -> InstanceHeader {
    let types = f.repository.types();
    let of = types.get(types.by_name(type_name).unwrap());
    InstanceHeader {
        audit: InstanceAuditHeader {
            header_version: Some(1),
            instance_type: Some(of.instance_type().clone()),
            provenance: Some(InstanceProvenanceType::LocalCohort),
            metadata_collection_id: Some("elsewhere".to_owned()),
            metadata_collection_name: Some("Else".to_owned()),
            created_by: Some("eve".to_owned()),
            create_time: Some(Millis(1_600_000_000_000)),
            version: 1,
            status: Some(InstanceStatus::Active),
            ..InstanceAuditHeader::default()
        },
        guid: Some(guid.to_owned()),
        ..InstanceHeader::default()
    }
}

fn foreign_entity(f: &Fixture, type_name: &str, guid: &str) -> EntityDetail {
    EntityDetail {
        header: foreign_header(f, type_name, guid),
        properties: Some(strings(&[("qualifiedName", guid)])),
        ..EntityDetail::default()
    }
}

fn foreign_proxy(f: &Fixture, type_name: &str, guid: &str) -> EntityProxy {
    EntityProxy {
        header: foreign_header(f, type_name, guid),
        unique_properties: Some(strings(&[("qualifiedName", guid)])),
        ..EntityProxy::default()
    }
}

/// A classification that another repository gave.
fn foreign_classification(f: &Fixture, name: &str) -> Classification {
    let types = f.repository.types();
    let of_type = types.by_name(name).map_or("Confidentiality", |_| name);
    Classification {
        audit: foreign_header(f, of_type, "").audit,
        name: Some(name.to_owned()),
        ..Classification::default()
    }
}

fn foreign_relationship(f: &Fixture, guid: &str, ends: [&str; 2]) -> Relationship {
    Relationship {
        header: foreign_header(f, "SemanticAssignment", guid),
        properties: Some(strings(&[("description", guid)])),
        entity_one: Some(foreign_proxy(f, "Asset", ends[0]).into()),
        entity_two: Some(foreign_proxy(f, "GlossaryTerm", ends[1]).into()),
    }
}

impl Fixture {
    pub(crate) fn on(store: Arc<GraphStore>) -> Self {
        let repository = Repository::open(Arc::clone(&store), options()).unwrap();
        Self { repository, store }
    }

    fn type_guid(&self, name: &str) -> String {
        let types = self.repository.types();
        types.get(types.by_name(name).unwrap()).guid().to_owned()
    }

    /// A request for an entity whose qualified name is `name`.
    fn request(&self, type_name: &str, name: &str) -> EntityCreateRequest {
        EntityCreateRequest {
            type_guid: Some(self.type_guid(type_name)),
            properties: Some(strings(&[("qualifiedName", name)])),
            ..EntityCreateRequest::default()
        }
    }

    /// A new entity, made by ada.
    fn entity(&self, type_name: &str, name: &str) -> EntityDetail {
        let request = self.request(type_name, name);
        self.repository.add_entity("ada", request).unwrap()
    }

    fn link_request(&self, type_name: &str, one: &str, two: &str) -> RelationshipCreateRequest {
        RelationshipCreateRequest {
            type_guid: Some(self.type_guid(type_name)),
            entity_one_guid: Some(one.to_owned()),
            entity_two_guid: Some(two.to_owned()),
            ..RelationshipCreateRequest::default()
        }
    }

    /// A new meaning of an asset, made by ada: the asset, the term, the relationship between them.
    fn meaning(&self) -> (EntityDetail, EntityDetail, Relationship) {
        let asset = self.entity("Asset", "a");
        let term = self.entity("GlossaryTerm", "t");
        let ends = [asset.header.guid(), term.header.guid()];
        let mut request = self.link_request("SemanticAssignment", ends[0], ends[1]);
        request.properties = Some(strings(&[("description", "means")]));
        let meaning = self.repository.add_relationship("ada", request).unwrap();
        (asset, term, meaning)
    }

    /// A time after all changes up to now and before all that follow.
    fn moment(&self) -> Millis {
        let moment = self.store.now();
        while self.store.now() <= moment {
            self.entity("Asset", "moment");
        }
        moment
    }
}
