//! Profiles 23 and 24: changes of type. Entities lose their properties, get a subtype, and get
//! their type back.

use varve_omrs::instances::InstanceProperties;
use varve_omrs::requests::{InstancePropertiesRequest, TypeDefChangeRequest};
use varve_omrs::types::TypeDefSummary;

use super::super::answer::ENTITY;
use super::super::client::Failure;
use super::super::plan::PlannedType;
use super::super::profile::{Profile as P, Row};
use super::super::suite::Suite;

/// Finds the entities for all three passes, and removes the properties of those that get a subtype.
pub(super) fn without_properties(suite: &mut Suite, of: &PlannedType) -> Result<(), Failure> {
    let guids = suite.own(of)?;
    suite.keys.own.insert(of.name.clone(), guids.clone());
    if of.sub_type.is_none() {
        return Ok(());
    }
    let row = Row::new(P::EntityUpdate, "nullPropertiesForEntities");
    suite.step(row, |suite, row| {
        let body = InstancePropertiesRequest {
            properties: Some(InstanceProperties::default()),
        };
        suite.each((row, &ENTITY), &guids, Some(&body), |guid| {
            format!("/instances/entity/{guid}/properties")
        })
    })
}

/// Changes the type to its first subtype.
pub(super) fn to_sub_type(suite: &mut Suite, of: &PlannedType) -> Result<(), Failure> {
    let Some(sub_type) = &of.sub_type else {
        return Ok(());
    };
    let row = Row::new(P::EntityRetype, "reTypeEntitySub");
    change_type(suite, of, row, (&of.summary, sub_type))
}

/// Changes the supertype to the type. The suite names the supertype as the current type, whatever
/// the actual type is.
pub(super) fn from_super_type(suite: &mut Suite, of: &PlannedType) -> Result<(), Failure> {
    let Some(super_type) = &of.super_type else {
        return Ok(());
    };
    let row = Row::new(P::EntityRetype, "reTypeEntitySuper");
    change_type(suite, of, row, (super_type, &of.summary))
}

fn change_type(
    suite: &mut Suite,
    of: &PlannedType,
    row: Row,
    (current, new): (&TypeDefSummary, &TypeDefSummary),
) -> Result<(), Failure> {
    suite.step(row, |suite, row| {
        let body = TypeDefChangeRequest {
            current: Some(current.clone()),
            new: Some(new.clone()),
        };
        let guids = suite.keys.own.get(&of.name).cloned().unwrap_or_default();
        suite.each((row, &ENTITY), &guids, Some(&body), |guid| {
            format!("/instances/entity/{guid}/type")
        })
    })
}

/// Relationships are only searched, since no relationship type has a subtype.
pub(super) fn relationships(suite: &mut Suite, of: &PlannedType) -> Result<(), Failure> {
    suite.own(of).map(drop)
}
