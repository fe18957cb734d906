//! Profiles 7, 8, 10 and 11: new properties, and undoing the update.

use varve_omrs::requests::InstancePropertiesRequest;

use super::super::client::{Failure, escaped};
use super::super::plan::PlannedType;
use super::super::suite::Suite;
use super::request::{Search, updated};

/// Updates the properties of instances. Types without attributes are not even searched.
pub(super) fn properties(suite: &mut Suite, of: &PlannedType) -> Result<(), Failure> {
    if !of.declares_attributes {
        return Ok(());
    }
    let family = of.family;
    suite.step(family.update, |suite, row| {
        for (number, guid) in suite.own(of)?.iter().enumerate() {
            let properties = suite.values.properties(&of.set, number as u64);
            if properties.is_none() {
                break;
            }
            let body = InstancePropertiesRequest { properties };
            let path = format!("/instances/{}/{}/properties", family.one, escaped(guid));
            suite.change((row, &family.answer), &path, &body)?;
        }
        Ok(())
    })
}

pub(super) fn undo(suite: &mut Suite, of: &PlannedType) -> Result<(), Failure> {
    let family = of.family;
    suite.step(family.undo, |suite, row| {
        let search = Search::first(&of.guid, suite.instances());
        let body = (family.find)(&search, Some(updated(&suite.home)));
        let path = format!("/instances/{}", family.many);
        let found = (family.searches.find, &family.list);
        let found = suite.search(found, &path, &*body, search.size)?;
        suite.each((row, &family.answer), &found.guids, None, |guid| {
            format!("/instances/{}/{guid}/previous", family.one)
        })
    })
}
