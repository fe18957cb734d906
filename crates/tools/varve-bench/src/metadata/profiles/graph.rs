//! Profiles 18 and 19: walks through the graph, now and as of the time before updates.

use varve_omrs::json::Millis;
use varve_omrs::requests::{
    EntityNeighborhoodFindRequest, FindRequest, RelatedEntitiesFindRequest,
};

use super::super::answer::{ENTITIES, GRAPH, Guids, RELATIONSHIPS};
use super::super::client::{Failure, escaped};
use super::super::plan::PlannedType;
use super::super::profile::{Profile as P, Row};
use super::super::suite::Suite;
use super::request::Search;

/// The depths of neighbourhoods, in edges.
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
    let guids = suite.first(of.family, &of.guid, as_of)?;
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
            for guid in guids.iter() {
                let path = format!("/instances/entity/{}/relationships{ending}", escaped(guid));
                suite.search((row, &RELATIONSHIPS), &path, &page.of_type(), page.size)?;
            }
            Ok(())
        },
    )?;
    suite.step(Row::new(profile, "getEntityNeighborhood"), |suite, row| {
        let body = EntityNeighborhoodFindRequest {
            find: find.clone(),
            ..EntityNeighborhoodFindRequest::default()
        };
        for guid in guids.iter() {
            for level in LEVELS {
                let from = from_entity(guid);
                let path = format!("{from}/by-neighborhood{ending}?level={level}");
                suite.find((row, &GRAPH), &path, &body, u64::MAX, true)?;
            }
        }
        Ok(())
    })?;
    let mut related: Vec<(&str, Guids)> = Vec::new();
    suite.step(Row::new(profile, "getRelatedEntities"), |suite, row| {
        // This call has no path for history: the contract's clients send the time in the body.
        let body = RelatedEntitiesFindRequest {
            paged: page.paged(),
            ..RelatedEntitiesFindRequest::default()
        };
        for guid in guids.iter() {
            let path = format!("{}/by-relationship", from_entity(guid));
            let found = suite.find((row, &ENTITIES), &path, &body, page.size, true)?;
            related.push((guid, few(&found.guids)));
        }
        Ok(())
    })?;
    suite.step(Row::new(profile, "getLinkingEntities"), |suite, row| {
        for (guid, others) in &related {
            for other in others.iter() {
                let (from, to) = (from_entity(guid), escaped(other));
                let path = format!("{from}/by-linkage{ending}?endEntityGUID={to}");
                suite.find((row, &GRAPH), &path, &find, u64::MAX, true)?;
            }
        }
        Ok(())
    })
}

fn from_entity(guid: &str) -> String {
    format!("/instances/entities/from-entity/{}", escaped(guid))
}

/// The first, the middle and the last GUID; all if there are no more than three.
fn few(all: &Guids) -> Guids {
    match all.len() {
        count @ 4.. => {
            let positions = [0, count / 2, count - 1];
            positions.into_iter().filter_map(|at| all.get(at)).collect()
        }
        _ => all.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_related_entities_three_are_walked_to() {
        let all = |count: u32| {
            let texts: Vec<String> = (0..count).map(|number| number.to_string()).collect();
            let guids: Guids = texts.iter().map(String::as_str).collect();
            let few: Vec<String> = few(&guids).iter().map(str::to_owned).collect();
            few
        };
        assert_eq!(all(2), ["0", "1"]);
        assert_eq!(all(3), ["0", "1", "2"]);
        assert_eq!(all(10), ["0", "5", "9"]);
        assert!(all(0).is_empty());
    }
}
