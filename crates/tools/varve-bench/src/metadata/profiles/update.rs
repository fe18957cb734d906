//! Profiles 7, 8, 10 and 11: new properties, and undoing the update.

use varve_omrs::requests::InstancePropertiesRequest;

use super::super::answer::Listing as _;
use super::super::client::{Failure, escaped};
use super::super::plan::PlannedType;
use super::super::profile::{Profile as P, Row};
use super::super::suite::Suite;
use super::family::{Entities, Family, Relationships};
use super::request::{Search, updated};

pub(super) fn entities(suite: &mut Suite, of: &PlannedType) -> Result<(), Failure> {
    let row = Row::new(P::EntityUpdate, "updateEntityProperties");
    properties::<Entities>(suite, of, row)
}

pub(super) fn relationships(suite: &mut Suite, of: &PlannedType) -> Result<(), Failure> {
    let row = Row::new(P::RelationshipUpdate, "updateRelationshipProperties");
    properties::<Relationships>(suite, of, row)
}

/// Updates the properties of instances. Types without attributes are not even searched.
fn properties<F: Family>(suite: &mut Suite, of: &PlannedType, row: Row) -> Result<(), Failure> {
    if !of.declares_attributes {
        return Ok(());
    }
    suite.step(row, |suite, row| {
        for (number, guid) in suite.own::<F>(of)?.iter().enumerate() {
            let properties = suite.values.properties(&of.set, number as u64);
            if properties.is_none() {
                break;
            }
            let body = InstancePropertiesRequest { properties };
            let path = format!("/instances/{}/{}/properties", F::ONE, escaped(guid));
            suite.change::<F::One>(row, &path, &body)?;
        }
        Ok(())
    })
}

/// Undoes the last update of instances.
pub(super) fn undo<F: Family>(suite: &mut Suite, of: &PlannedType) -> Result<(), Failure> {
    suite.step(F::ROWS.undo, |suite, row| {
        let search = Search::first(&of.guid, suite.instances());
        let body = F::find(&search, Some(updated(&suite.home)));
        let path = format!("/instances/{}", F::MANY);
        let found: F::Many = suite.search(F::SEARCHES.find, &path, &*body, search.size)?;
        for guid in found.guids().iter() {
            let path = format!("/instances/{}/{}/previous", F::ONE, escaped(guid));
            suite.get::<F::One>(row, &path)?;
        }
        Ok(())
    })
}
