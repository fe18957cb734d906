//! Profiles 20, 21 and 25 to 32: new homes, new GUIDs, deletion, restoring and purging.

use varve_omrs::types::InstanceStatus;

use super::super::answer::{Guids, Listing as _, NothingAnswer};
use super::super::client::{Failure, escaped};
use super::super::plan::PlannedType;
use super::super::profile::Row;
use super::super::suite::Suite;
use super::family::Family;
use super::request::{Search, taken_for};

/// Makes the repository the home of half of the reference copies.
pub(super) fn re_home<F: Family>(suite: &mut Suite, of: &PlannedType) -> Result<(), Failure> {
    suite.step(F::ROWS.re_home, |suite, row| {
        let half = suite.instances() / 2;
        if half == 0 {
            // A page size of zero would request all.
            return Ok(());
        }
        let guids = suite.copied::<F>(of, half)?;
        let (from, to) = (escaped(&suite.copies), escaped(&suite.home));
        for guid in guids.iter() {
            let one = format!("/instances/{}/{}", F::ONE, escaped(guid));
            let new = "newHomeMetadataCollectionId";
            let name = "newHomeMetadataCollectionName=varve-bench";
            let path = format!("{one}/home/{from}?{new}={to}&{name}");
            suite.change::<F::One>(row, &path, &taken_for(of))?;
        }
        Ok(())
    })
}

/// Gives instances new GUIDs.
pub(super) fn re_identify<F: Family>(suite: &mut Suite, of: &PlannedType) -> Result<(), Failure> {
    suite.step(F::ROWS.re_identify, |suite, row| {
        for guid in suite.own::<F>(of)?.iter() {
            let new = suite.guid();
            let one = format!("/instances/{}/{}", F::ONE, escaped(guid));
            let path = format!("{one}/identity?{}={new}", F::NEW_GUID);
            suite.change::<F::One>(row, &path, &taken_for(of))?;
        }
        Ok(())
    })
}

/// Deletes instances, so that they can be restored; of entities only those with the initial status.
pub(super) fn delete<F: Family>(suite: &mut Suite, of: &PlannedType) -> Result<(), Failure> {
    suite.step(F::ROWS.delete, |suite, row| {
        let statuses: &[InstanceStatus] = match F::ONE {
            "entity" => &[of.initial_status],
            _ => &[],
        };
        let (home, size) = (suite.home.clone(), suite.instances());
        let found = suite.homed::<F>(of, &home, size, statuses)?;
        delete_each::<F>(suite, of, row, &found)
    })
}

fn delete_each<F: Family>(
    suite: &mut Suite,
    of: &PlannedType,
    row: Row,
    guids: &Guids,
) -> Result<(), Failure> {
    for guid in guids.iter() {
        let path = format!("/instances/{}/{}/delete", F::ONE, escaped(guid));
        suite.change::<F::One>(row, &path, &taken_for(of))?;
    }
    Ok(())
}

/// Restores deleted instances.
pub(super) fn restore<F: Family>(suite: &mut Suite, of: &PlannedType) -> Result<(), Failure> {
    suite.step(F::ROWS.restore, |suite, row| {
        let search = Search {
            statuses: &[InstanceStatus::Deleted],
            ..Search::first(&of.guid, suite.instances())
        };
        let body = F::by_property(&search, None, None);
        let path = format!("/instances/{}/by-property", F::MANY);
        let found: F::Many = suite.search(F::SEARCHES.by_property, &path, &*body, search.size)?;
        for guid in found.guids().iter() {
            let path = format!("/instances/{}/{}/restore", F::ONE, escaped(guid));
            suite.get::<F::One>(row, &path)?;
        }
        Ok(())
    })
}

/// First pass of the purge: finds instances and reference copies, and deletes the instances.
pub(super) fn delete_all<F: Family>(suite: &mut Suite, of: &PlannedType) -> Result<(), Failure> {
    let own = suite.own::<F>(of)?;
    let size = suite.instances();
    let copies = suite.copied::<F>(of, size)?;
    suite.keys.own.insert(of.name.clone(), own.clone());
    suite.keys.copies.insert(of.name.clone(), copies);
    suite.step(F::ROWS.delete, |suite, row| {
        delete_each::<F>(suite, of, row, &own)
    })
}

/// Second pass of the purge: purges the deleted instances and the reference copies.
pub(super) fn purge<F: Family>(suite: &mut Suite, of: &PlannedType) -> Result<(), Failure> {
    suite.step(F::ROWS.purge, |suite, row| {
        for guid in suite.keys.take(&of.name, Keyed::Own).iter() {
            let path = format!("/instances/{}/{}/purge", F::ONE, escaped(guid));
            suite.change::<NothingAnswer>(row, &path, &taken_for(of))?;
        }
        Ok(())
    })?;
    suite.step(F::ROWS.purge_copy, |suite, row| {
        let home = escaped(&suite.copies);
        for guid in suite.keys.take(&of.name, Keyed::Copies).iter() {
            let (many, guid) = (F::MANY, escaped(guid));
            let purge = format!("/instances/{many}/reference-copy/{guid}/purge");
            let path = format!("{purge}?homeMetadataCollectionId={home}");
            suite.change::<NothingAnswer>(row, &path, &taken_for(of))?;
        }
        Ok(())
    })
}

/// The kinds of GUIDs that a pass leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keyed {
    Own,
    Copies,
}

impl super::super::suite::Keys {
    /// Takes the GUIDs found for a type, except those that were purged for a supertype.
    fn take(&mut self, name: &str, which: Keyed) -> Guids {
        let found = match which {
            Keyed::Own => self.own.remove(name),
            Keyed::Copies => self.copies.remove(name),
        };
        let guids = found.unwrap_or_default();
        let is_new = |guid: &&str| self.purged.insert((*guid).into());
        guids.iter().filter(is_new).collect()
    }
}
