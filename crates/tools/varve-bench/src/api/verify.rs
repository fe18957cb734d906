//! Reads back the acknowledged writes of a row. A row with missing data is an error row.

use std::collections::BTreeSet;

use anyhow::Result;
use serde_json::Value;

use super::measure::Acknowledged;
use super::payload::VertexKind;
use super::row::Ran;
use super::scenario::{Data, GraphAddress, Need, Scenario};
use super::target::Target;
use crate::random::Random;
use crate::result::Verification;

type Properties = Vec<(String, Value)>;

/// Reads back the acknowledged elements of a row, or a random sample of `limit`.
///
/// # Errors
/// When the server does not answer.
pub(crate) fn read_back(
    target: &mut Target,
    data: &Data,
    scenario: Scenario,
    ran: &Ran,
    limit: u64,
) -> Result<Verification> {
    let numbers = drawn(&ran.acknowledged, limit, data.naming.seed);
    let checked = numbers.len() as u64;
    let mut verification = Verification {
        acknowledged: ran.acknowledged_items,
        checked,
        method: match checked {
            _ if scenario.is_schema() => format!("{checked} names, each read once"),
            _ if checked == ran.acknowledged_items => "all read by id".to_owned(),
            _ => format!("{checked} of them, chosen at random, read by id"),
        },
        ..Verification::default()
    };
    for number in numbers {
        let (path, properties) = wanted(&target.place, data, scenario, number);
        let answer = target.probe.ask("GET", &path, None)?;
        if answer.status != 200 {
            verification.missing += 1;
            continue;
        }
        let found = answer.json()?["properties"].take();
        let is_there = |(name, value): &(String, Value)| found[name] == *value;
        verification.wrong += u64::from(!properties.iter().all(is_there));
    }
    Ok(verification)
}

/// The numbers to read, ascending and without duplicates: all acknowledged ones, or a random sample
/// of `limit`.
fn drawn(acknowledged: &[Acknowledged], limit: u64, seed: u64) -> Vec<u64> {
    let mut requests = acknowledged.to_vec();
    requests.sort_unstable_by_key(|request| request.first);
    // Names of the schema and overwritten vertices are written repeatedly.
    requests.dedup_by_key(|request| request.first);
    let total: u64 = requests.iter().map(|it| u64::from(it.count)).sum();
    let mut chosen = Vec::new();
    let mut before = 0;
    let mut places = places(total, limit.min(total), seed).into_iter().peekable();
    for request in requests {
        let end = before + u64::from(request.count);
        while let Some(place) = places.next_if(|place| *place < end) {
            chosen.push(request.first + place - before);
        }
        before = end;
    }
    chosen
}

/// A uniformly random set of `count` numbers below `total`, by Floyd's algorithm.
fn places(total: u64, count: u64, seed: u64) -> BTreeSet<u64> {
    let mut random = Random::new(seed);
    let mut places = BTreeSet::new();
    for last in total - count..total {
        let place = random.below(last + 1);
        if !places.insert(place) {
            places.insert(last);
        }
    }
    places
}

/// The path of an element, and the properties that it must have.
fn wanted(
    place: &GraphAddress,
    data: &Data,
    scenario: Scenario,
    number: u64,
) -> (String, Properties) {
    let (naming, base) = (&data.naming, &place.base);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let vertex = |kind| {
        format!(
            "{base}/graph/vertices/%22{}%22",
            text(&naming.id(kind, number))
        )
    };
    let schema = |what: &str| format!("{base}/schema/{what}{}", text(&naming.name(number)));
    match (scenario, scenario.inserts()) {
        (_, Some(Need::Vertices(kind))) => (vertex(kind), naming.properties(kind, number)),
        (_, Some(_)) => {
            let (source, right) = naming.ends(number, data.sizes.vertices);
            let [source, right] = [source, right].map(|at| text(&naming.id(VertexKind::Plain, at)));
            let middle = &place.edge_middle;
            let path = format!("{base}/graph/edges/S{source}{middle}S{right}");
            let since = ("bsince".to_owned(), naming.since(number).into());
            (path, vec![since])
        }
        (Scenario::PropertyKeys, _) => (schema("propertykeys/bk"), Vec::new()),
        (Scenario::VertexLabels, _) => (schema("vertexlabels/bv"), Vec::new()),
        (Scenario::EdgeLabels, _) => (schema("edgelabels/be"), Vec::new()),
        // Which write of a vertex was the last is unknown, and so is the content.
        _ => (vertex(VertexKind::Plain), Vec::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn request(first: u64, count: u32) -> Acknowledged {
        Acknowledged { first, count }
    }

    #[test]
    fn all_is_read_when_it_is_not_too_much() {
        let acknowledged = [request(10, 3), request(20, 2)];
        let all = [10, 11, 12, 20, 21];
        assert_eq!(drawn(&acknowledged, 5, 1), all);
        assert_eq!(drawn(&acknowledged, 50, 1), all);
        assert!(drawn(&[], 3, 1).is_empty());
    }

    #[test]
    fn a_sample_has_as_many_as_were_asked_for_and_none_twice() {
        let acknowledged = [request(100, 400), request(1_000, 600)];
        for limit in [1, 500, 999] {
            for seed in 0..20 {
                let some = drawn(&acknowledged, limit, seed);
                assert_eq!(some.len() as u64, limit);
                assert!(some.is_sorted_by(|a, b| a < b), "{some:?}");
                let there = |it: &u64| (100..500).contains(it) || (1_000..1_600).contains(it);
                assert!(some.iter().all(there));
            }
        }
    }

    #[test]
    fn names_that_were_asked_for_again_are_read_once() {
        let acknowledged: Vec<_> = (0..600).map(|at| request(at % 3, 1)).collect();
        assert_eq!(drawn(&acknowledged, 1_000, 1), [0, 1, 2]);
    }
}
