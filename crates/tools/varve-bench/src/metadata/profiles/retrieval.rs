//! Profiles 12 to 15: reading by GUID, now, as of the time before updates, and all versions.

use varve_omrs::requests::{HistoryRangeRequest, HistoryRequest, HistorySequencingOrder};

use super::super::answer::{ENTITY, Form, RELATIONSHIP, SUMMARY};
use super::super::client::Failure;
use super::super::plan::PlannedType;
use super::super::profile::{Profile as P, Row};
use super::super::suite::Suite;

/// The most versions to request: the default limit of servers of the platform.
const VERSIONS_MAX: i32 = 1_000;

/// Methods that read an instance: the name, the end of the path, and the answer.
type Reads = [(&'static str, &'static str, &'static Form)];

const READS_OF_ENTITIES: &Reads = &[
    ("isEntityKnown", "/existence", &ENTITY),
    ("getEntitySummary", "/summary", &SUMMARY),
    ("getEntityDetail", "", &ENTITY),
];
const READS_OF_RELATIONSHIPS: &Reads = &[
    ("isRelationshipKnown", "/existence", &RELATIONSHIP),
    ("getRelationship", "", &RELATIONSHIP),
];

pub(super) fn entities(suite: &mut Suite, of: &PlannedType) -> Result<(), Failure> {
    read(suite, of, P::EntityRetrieval, READS_OF_ENTITIES)
}

pub(super) fn relationships(suite: &mut Suite, of: &PlannedType) -> Result<(), Failure> {
    read(suite, of, P::RelationshipRetrieval, READS_OF_RELATIONSHIPS)
}

/// Reads each instance once by each method.
fn read(suite: &mut Suite, of: &PlannedType, profile: P, reads: &Reads) -> Result<(), Failure> {
    let guids = suite.first(of.family, &of.guid, None)?;
    for (method, ending, form) in reads {
        suite.step(Row::new(profile, method), |suite, row| {
            suite.each((row, form), &guids, None, |guid| {
                format!("/instances/{}/{guid}{ending}", of.family.one)
            })
        })?;
    }
    Ok(())
}

/// Reads each instance as of the time before updates, and all its versions.
pub(super) fn history(suite: &mut Suite, of: &PlannedType) -> Result<(), Failure> {
    let (family, as_of_time) = (of.family, suite.as_of);
    let guids = suite.first(family, &of.guid, as_of_time)?;
    let [as_of, all] = family.history;
    suite.step(as_of, |suite, row| {
        let body = HistoryRequest { as_of_time };
        suite.each((row, &family.answer), &guids, Some(&body), |guid| {
            format!("/instances/{}/{guid}/history", family.one)
        })
    })?;
    suite.step(all, |suite, row| {
        let body = HistoryRangeRequest {
            page_size: VERSIONS_MAX,
            order: Some(HistorySequencingOrder::Backwards),
            ..HistoryRangeRequest::default()
        };
        suite.each((row, &family.list), &guids, Some(&body), |guid| {
            format!("/instances/{}/{guid}/history/all", family.one)
        })
    })
}
