//! Profiles 18 and 19: walks through the graph, now and as of the time before updates.

use varve_omrs::json::Millis;
use varve_omrs::requests::{
    EntityListResponse, EntityNeighborhoodFindRequest, FindRequest, InstanceGraphResponse,
    RelatedEntitiesFindRequest, RelationshipListResponse,
};

use super::super::client::{Failure, escaped};
use super::super::plan::PlannedType;
use super::super::profile::{Profile as P, Row};
use super::super::suite::Suite;
use super::family::{Entities, Listing as _};
use super::request::Search;

/// How far neighbourhoods reach.
const LEVELS: std::ops::RangeInclusive<u32> = 1..=3;

pub(super) fn now(suite: &mut Suite, of: &PlannedType) -> Result<(), Failure> {
    walk(suite, of, P::GraphQueries, None)
}

pub(super) fn history(suite: &mut Suite, of: &PlannedType) -> Result<(), Failure> {
    let as_of = suite.as_of;
    walk(suite, of, P::GraphHistoryQueries, as_of)
}

fn walk(
    suite: &mut Suite,
    of: &PlannedType,
    profile: P,
    as_of: Option<Millis>,
) -> Result<(), Failure> {
    let guids = suite.first::<Entities>(&of.guid, as_of)?;
    let page = Search {
        size: u64::from(suite.volume.page),
        as_of,
        ..Search::default()
    };
    let find = FindRequest {
        statuses: Vec::new(),
        as_of_time: as_of,
    };
    let ending = page.ending();
    suite.step(
        Row::new(profile, "getRelationshipsForEntity"),
        |suite, row| {
            for guid in &guids {
                let path = format!("/instances/entity/{}/relationships{ending}", escaped(guid));
                suite.search::<RelationshipListResponse>(row, &path, &page.of_type())?;
            }
            Ok(())
        },
    )?;
    suite.step(Row::new(profile, "getEntityNeighborhood"), |suite, row| {
        let body = EntityNeighborhoodFindRequest {
            find: find.clone(),
            ..EntityNeighborhoodFindRequest::default()
        };
        for guid in &guids {
            for level in LEVELS {
                let from = from_entity(guid);
                let path = format!("{from}/by-neighborhood{ending}?level={level}");
                suite.ask::<InstanceGraphResponse>(row, &path, &body)?;
            }
        }
        Ok(())
    })?;
    let mut related: Vec<(String, Vec<String>)> = Vec::new();
    suite.step(Row::new(profile, "getRelatedEntities"), |suite, row| {
        // The clients of the contract send the time to the path of the present.
        let body = RelatedEntitiesFindRequest {
            paged: page.paged(),
            ..RelatedEntitiesFindRequest::default()
        };
        for guid in &guids {
            let path = format!("{}/by-relationship", from_entity(guid));
            let found: EntityListResponse = suite.ask(row, &path, &body)?;
            related.push((guid.clone(), found.guids()));
        }
        Ok(())
    })?;
    suite.step(Row::new(profile, "getLinkingEntities"), |suite, row| {
        for (guid, others) in &related {
            for other in few(others) {
                let (from, to) = (from_entity(guid), escaped(other));
                let path = format!("{from}/by-linkage{ending}?endEntityGUID={to}");
                suite.ask::<InstanceGraphResponse>(row, &path, &find)?;
            }
        }
        Ok(())
    })
}

fn from_entity(guid: &str) -> String {
    format!("/instances/entities/from-entity/{}", escaped(guid))
}

/// The first, the middle and the last one; all where there are no more.
fn few(all: &[String]) -> Vec<&String> {
    match all {
        [first, .., last] if all.len() > 3 => vec![first, &all[all.len() / 2], last],
        _ => all.iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_related_entities_three_are_walked_to() {
        let all: Vec<String> = (0..10).map(|number: u32| number.to_string()).collect();
        assert_eq!(few(&all[..2]), ["0", "1"]);
        assert_eq!(few(&all[..3]), ["0", "1", "2"]);
        assert_eq!(few(&all), ["0", "5", "9"]);
        assert!(few(&[]).is_empty());
    }
}
