//! Profiles 12 to 15: reading by GUID, now, as of the time before updates, and all versions.

use varve_omrs::requests::{HistoryRangeRequest, HistoryRequest, HistorySequencingOrder};

use super::super::answer::{Answer, EntityAnswer, Guids, RelationshipAnswer, SummaryAnswer};
use super::super::client::{Failure, escaped};
use super::super::plan::PlannedType;
use super::super::profile::{Profile as P, Row};
use super::super::suite::Suite;
use super::family::{Entities, Family, Relationships};

/// The most versions to request: the default limit of servers of the platform.
const VERSIONS_MAX: i32 = 1_000;

pub(super) fn entities(suite: &mut Suite, of: &PlannedType) -> Result<(), Failure> {
    let guids = suite.first::<Entities>(&of.guid, None)?;
    let row = |method| Row::new(P::EntityRetrieval, method);
    each::<EntityAnswer>(suite, row("isEntityKnown"), &guids, "entity", "/existence")?;
    let summary = row("getEntitySummary");
    each::<SummaryAnswer>(suite, summary, &guids, "entity", "/summary")?;
    each::<EntityAnswer>(suite, row("getEntityDetail"), &guids, "entity", "")
}

pub(super) fn relationships(suite: &mut Suite, of: &PlannedType) -> Result<(), Failure> {
    let guids = suite.first::<Relationships>(&of.guid, None)?;
    let row = |method| Row::new(P::RelationshipRetrieval, method);
    let (known, whole) = (row("isRelationshipKnown"), row("getRelationship"));
    each::<RelationshipAnswer>(suite, known, &guids, "relationship", "/existence")?;
    each::<RelationshipAnswer>(suite, whole, &guids, "relationship", "")
}

/// Reads each instance once.
fn each<A: Answer>(
    suite: &mut Suite,
    row: Row,
    guids: &Guids,
    kind: &str,
    ending: &str,
) -> Result<(), Failure> {
    suite.step(row, |suite, row| {
        for guid in guids.iter() {
            let path = format!("/instances/{kind}/{}{ending}", escaped(guid));
            suite.get::<A>(row, &path)?;
        }
        Ok(())
    })
}

pub(super) fn entity_history(suite: &mut Suite, of: &PlannedType) -> Result<(), Failure> {
    let row = |method| Row::new(P::EntityHistoryRetrieval, method);
    let (as_of, all) = (row("getEntityDetail"), row("getEntityDetailHistory"));
    past::<Entities>(suite, of, as_of, all)
}

pub(super) fn relationship_history(suite: &mut Suite, of: &PlannedType) -> Result<(), Failure> {
    let row = |method| Row::new(P::RelationshipHistoryRetrieval, method);
    let (as_of, all) = (row("getRelationship"), row("getRelationshipHistory"));
    past::<Relationships>(suite, of, as_of, all)
}

fn past<F: Family>(
    suite: &mut Suite,
    of: &PlannedType,
    as_of_row: Row,
    all_row: Row,
) -> Result<(), Failure> {
    let as_of_time = suite.as_of;
    let guids = suite.first::<F>(&of.guid, as_of_time)?;
    suite.step(as_of_row, |suite, row| {
        let body = HistoryRequest { as_of_time };
        for guid in guids.iter() {
            let path = format!("/instances/{}/{}/history", F::ONE, escaped(guid));
            suite.change::<F::One>(row, &path, &body)?;
        }
        Ok(())
    })?;
    suite.step(all_row, |suite, row| {
        let body = HistoryRangeRequest {
            page_size: VERSIONS_MAX,
            order: Some(HistorySequencingOrder::Backwards),
            ..HistoryRangeRequest::default()
        };
        for guid in guids.iter() {
            let path = format!("/instances/{}/{}/history/all", F::ONE, escaped(guid));
            suite.change::<F::Many>(row, &path, &body)?;
        }
        Ok(())
    })
}
