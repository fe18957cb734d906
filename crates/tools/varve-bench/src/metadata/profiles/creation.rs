//! Profiles 1 and 3: entities and relationships, our own and reference copies.

use varve_omrs::instances::{
    EntityDetail, EntityProxy, InstanceAuditHeader, InstanceHeader, InstanceProvenanceType,
    Relationship,
};
use varve_omrs::requests::{EntityCreateRequest, RelationshipCreateRequest};
use varve_omrs::types::InstanceStatus;

use super::super::answer::{ENTITY, NOTHING, RELATIONSHIP};
use super::super::client::Failure;
use super::super::family::ENTITIES;
use super::super::plan::{EndType, PlannedType};
use super::super::profile::{Profile as P, Row};
use super::super::suite::Suite;
use super::super::values::now;

pub(super) fn entities(suite: &mut Suite, of: &PlannedType) -> Result<(), Failure> {
    suite.step(Row::new(P::EntityCreation, "addEntity"), |suite, row| {
        for number in 0..suite.instances() {
            let body = EntityCreateRequest {
                type_guid: Some(of.guid.clone()),
                properties: suite.values.properties(&of.set, number),
                ..EntityCreateRequest::default()
            };
            suite.change((row, &ENTITY), "/instances/entity", &body)?;
            suite.created += 1;
        }
        Ok(())
    })?;
    let row = Row::new(P::EntityCreation, "saveEntityReferenceCopy");
    suite.step(row, |suite, row| {
        for number in 0..suite.instances() {
            let body = EntityDetail {
                header: {
                    let audit = copy_header(suite, of);
                    with_guid(suite, audit)
                },
                classifications: Vec::new().into(),
                properties: suite.values.properties(&of.set, number),
            };
            suite.change((row, &NOTHING), "/instances/entities/reference-copy", &body)?;
            suite.created += 1;
        }
        Ok(())
    })
}

/// The header of an instance with a new GUID.
fn with_guid(suite: &mut Suite, audit: InstanceAuditHeader) -> InstanceHeader {
    InstanceHeader {
        audit,
        guid: Some(suite.guid()),
        ..InstanceHeader::default()
    }
}

/// The header of a reference copy of this type.
pub(super) fn copy_header(suite: &Suite, of: &PlannedType) -> InstanceAuditHeader {
    InstanceAuditHeader {
        instance_type: Some(of.instance_type.clone()),
        status: Some(of.initial_status),
        ..header_of_copies(suite)
    }
}

fn header_of_copies(suite: &Suite) -> InstanceAuditHeader {
    InstanceAuditHeader {
        header_version: Some(1),
        provenance: Some(InstanceProvenanceType::LocalCohort),
        metadata_collection_id: Some(suite.copies.clone()),
        created_by: Some(suite.user.clone()),
        create_time: Some(now()),
        version: 1,
        ..InstanceAuditHeader::default()
    }
}

pub(super) fn relationships(suite: &mut Suite, of: &PlannedType) -> Result<(), Failure> {
    suite.step(
        Row::new(P::RelationshipCreation, "addRelationship"),
        |suite, row| add_relationships(suite, of, row),
    )?;
    let row = Row::new(P::RelationshipCreation, "saveRelationshipReferenceCopy");
    suite.step(row, |suite, row| {
        for number in 0..suite.instances() {
            let mut ends = of.entity_types.iter().map(|end| proxy(suite, end).into());
            let (entity_one, entity_two) = (ends.next(), ends.next());
            drop(ends);
            let body = Relationship {
                header: {
                    let audit = copy_header(suite, of);
                    with_guid(suite, audit)
                },
                properties: suite.values.properties(&of.set, number),
                entity_one,
                entity_two,
            };
            suite.change(
                (row, &NOTHING),
                "/instances/relationships/reference-copy",
                &body,
            )?;
            suite.created += 1;
        }
        Ok(())
    })
}

fn add_relationships(suite: &mut Suite, of: &PlannedType, row: Row) -> Result<(), Failure> {
    let [one, two] = of.entity_types.as_slice() else {
        return Ok(());
    };
    let ones = suite.first(&ENTITIES, &one.guid, None)?;
    let twos = suite.first(&ENTITIES, &two.guid, None)?;
    for (number, (one, two)) in ones.iter().zip(twos.iter()).enumerate() {
        let body = RelationshipCreateRequest {
            type_guid: Some(of.guid.clone()),
            properties: suite.values.properties(&of.set, number as u64),
            entity_one_guid: Some(one.to_owned()),
            entity_two_guid: Some(two.to_owned()),
            ..RelationshipCreateRequest::default()
        };
        suite.change((row, &RELATIONSHIP), "/instances/relationship", &body)?;
        suite.created += 1;
    }
    // If only some types are used, those of an end may have no instances.
    match ones.len().min(twos.len()) as u64 >= suite.instances() || suite.few_types {
        true => Ok(()),
        false => Err(Failure::empty(&format!(
            "{} and {} entities to join, not {} each",
            ones.len(),
            twos.len(),
            suite.instances()
        ))),
    }
}

/// A proxy of an entity that the repository does not know.
fn proxy(suite: &mut Suite, of: &EndType) -> EntityProxy {
    let audit = InstanceAuditHeader {
        instance_type: Some(of.instance_type.clone()),
        status: Some(InstanceStatus::Active),
        ..header_of_copies(suite)
    };
    EntityProxy {
        header: with_guid(suite, audit),
        classifications: Vec::new().into(),
        unique_properties: None,
    }
}
