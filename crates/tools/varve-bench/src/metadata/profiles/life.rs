//! Profiles 20, 21 and 25 to 32: new homes, new GUIDs, deletion, restoring and purging.

use varve_omrs::types::InstanceStatus;

use super::super::answer::{Guids, NOTHING};
use super::super::client::{Failure, escaped};
use super::super::plan::PlannedType;
use super::super::profile::Row;
use super::super::suite::Suite;
use super::request::{Search, of_home, taken_for};

/// Makes the repository the home of half of the reference copies.
pub(super) fn re_home(suite: &mut Suite, of: &PlannedType) -> Result<(), Failure> {
    let family = of.family;
    suite.step(family.re_home, |suite, row| {
        let half = suite.instances() / 2;
        if half == 0 {
            // A page size of zero would request all.
            return Ok(());
        }
        let guids = suite.copied(of, half)?;
        let (from, to) = (escaped(&suite.copies), escaped(&suite.home));
        let new = format!("newHomeMetadataCollectionId={to}");
        let name = "newHomeMetadataCollectionName=varve-bench";
        let body = taken_for(of);
        suite.each((row, &family.answer), &guids, Some(&body), |guid| {
            format!("/instances/{}/{guid}/home/{from}?{new}&{name}", family.one)
        })
    })
}

pub(super) fn re_identify(suite: &mut Suite, of: &PlannedType) -> Result<(), Failure> {
    let family = of.family;
    suite.step(family.re_identify, |suite, row| {
        for guid in suite.own(of)?.iter() {
            let (one, guid, new) = (family.one, escaped(guid), suite.guid());
            let path = format!("/instances/{one}/{guid}/identity?{}={new}", family.new_guid);
            suite.change((row, &family.answer), &path, &taken_for(of))?;
        }
        Ok(())
    })
}

/// Deletes instances, so that they can be restored; of entities only those with the initial status.
pub(super) fn delete(suite: &mut Suite, of: &PlannedType) -> Result<(), Failure> {
    suite.step(of.family.delete, |suite, row| {
        let statuses: &[InstanceStatus] = match of.family.one {
            "entity" => &[of.initial_status],
            _ => &[],
        };
        let search = Search {
            statuses,
            ..Search::first(&of.guid, suite.instances())
        };
        let home = of_home(&suite.home);
        let found = suite.with(of.family, &search, Some(home))?;
        delete_each(suite, of, row, &found)
    })
}

fn delete_each(
    suite: &mut Suite,
    of: &PlannedType,
    row: Row,
    guids: &Guids,
) -> Result<(), Failure> {
    let body = taken_for(of);
    suite.each((row, &of.family.answer), guids, Some(&body), |guid| {
        format!("/instances/{}/{guid}/delete", of.family.one)
    })
}

pub(super) fn restore(suite: &mut Suite, of: &PlannedType) -> Result<(), Failure> {
    let family = of.family;
    suite.step(family.restore, |suite, row| {
        let search = Search {
            statuses: &[InstanceStatus::Deleted],
            ..Search::first(&of.guid, suite.instances())
        };
        let found = suite.with(family, &search, None)?;
        suite.each((row, &family.answer), &found, None, |guid| {
            format!("/instances/{}/{guid}/restore", family.one)
        })
    })
}

/// First pass of the purge: finds instances and reference copies, and deletes the instances.
pub(super) fn delete_all(suite: &mut Suite, of: &PlannedType) -> Result<(), Failure> {
    let own = suite.own(of)?;
    let copies = suite.copied(of, suite.instances())?;
    suite.keys.own.insert(of.name.clone(), own.clone());
    suite.keys.copies.insert(of.name.clone(), copies);
    suite.step(of.family.delete, |suite, row| {
        delete_each(suite, of, row, &own)
    })
}

/// Second pass of the purge: purges the deleted instances and the reference copies.
pub(super) fn purge(suite: &mut Suite, of: &PlannedType) -> Result<(), Failure> {
    let (family, body) = (of.family, taken_for(of));
    suite.step(family.purge, |suite, row| {
        let own = suite.keys.own.remove(&of.name);
        let guids = suite.keys.not_purged(own);
        suite.each((row, &NOTHING), &guids, Some(&body), |guid| {
            format!("/instances/{}/{guid}/purge", family.one)
        })
    })?;
    suite.step(family.purge_copy, |suite, row| {
        let copies = suite.keys.copies.remove(&of.name);
        let guids = suite.keys.not_purged(copies);
        let home = format!("homeMetadataCollectionId={}", escaped(&suite.copies));
        suite.each((row, &NOTHING), &guids, Some(&body), |guid| {
            format!(
                "/instances/{}/reference-copy/{guid}/purge?{home}",
                family.many
            )
        })
    })
}

impl super::super::suite::Keys {
    /// The GUIDs, except those that were purged for a supertype.
    fn not_purged(&mut self, guids: Option<Guids>) -> Guids {
        let is_new = |guid: &&str| self.purged.insert((*guid).into());
        guids.unwrap_or_default().iter().filter(is_new).collect()
    }
}
