//! Reads back the acknowledged writes of a row. A row with missing data is an error row.

use std::collections::BTreeSet;

use anyhow::Result;
use serde_json::Value;

use super::measure::Acknowledged;
use super::payload::{ID, Naming, VertexKind};
use super::scenario::{Data, Written};
use super::target::Target;
use crate::random::Random;
use crate::result::Verification;

/// Property names and values.
type Properties = Vec<(String, Value)>;

/// The elements of a row to read back.
pub(crate) struct Back<'a> {
    pub(crate) written: Written,
    /// The acknowledged requests, or a sample of them that suffices for `limit`.
    pub(crate) acknowledged: &'a [Acknowledged],
    /// Elements of all acknowledged requests.
    pub(crate) items: u64,
    /// The most elements to read.
    pub(crate) limit: u64,
}

/// An element to read, and its expected content.
struct Wanted {
    path: String,
    /// Its properties; if there are none, any content is right.
    properties: Properties,
}

/// The result of reading an element back.
enum ReadBack {
    Right,
    Wrong,
    Missing,
}

/// Reads back the acknowledged elements, or a sample of them.
///
/// # Errors
/// When the server does not answer.
pub(crate) fn read_back(target: &mut Target, data: &Data, back: &Back<'_>) -> Result<Verification> {
    let (elements, method) = chosen(target, data, back);
    let mut verification = Verification {
        acknowledged: back.items,
        method,
        ..Verification::default()
    };
    for wanted in elements {
        verification.checked += 1;
        match look(target, &wanted)? {
            ReadBack::Right => {}
            ReadBack::Wrong => verification.wrong += 1,
            ReadBack::Missing => verification.missing += 1,
        }
    }
    Ok(verification)
}

/// The elements to read, and a description of their choice.
fn chosen(target: &Target, data: &Data, back: &Back<'_>) -> (Vec<Wanted>, String) {
    let numbers = drawn(back.acknowledged, back.limit, data.naming.seed);
    let count = numbers.len() as u64;
    let method = match back.written {
        Written::PropertyKeys | Written::VertexLabels | Written::EdgeLabels => {
            format!("{count} names, each read once")
        }
        _ if count == back.items => "all read by id".to_owned(),
        _ => format!("{count} of them, chosen at random, read by id"),
    };
    let wanted = |number: &u64| wanted(target, data, back.written, *number);
    (numbers.iter().map(wanted).collect(), method)
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

fn wanted(target: &Target, data: &Data, written: Written, number: u64) -> Wanted {
    let (naming, base) = (&data.naming, &target.place.base);
    let schema = |what: &str, letter: &str| {
        let name = String::from_utf8_lossy(&naming.name(number)).into_owned();
        (format!("{base}/schema/{what}/b{letter}{name}"), Vec::new())
    };
    let (path, properties) = match written {
        Written::Vertices(kind) => (
            vertex_path(target, naming, kind, number),
            naming.properties(kind, number),
        ),
        // Which write was the last is unknown, and so is the content.
        Written::Overwritten => (
            vertex_path(target, naming, VertexKind::Plain, number),
            Vec::new(),
        ),
        Written::Edges => {
            let (source, right) = naming.ends(number, data.sizes.vertices);
            let [source, right] = [source, right].map(|at| text(&naming.id(VertexKind::Plain, at)));
            let middle = &target.place.edge_middle;
            let path = format!("{base}/graph/edges/S{source}{middle}S{right}");
            let since = ("bsince".to_owned(), naming.since(number).into());
            (path, vec![since])
        }
        Written::PropertyKeys => schema("propertykeys", "k"),
        Written::VertexLabels => schema("vertexlabels", "v"),
        Written::EdgeLabels => schema("edgelabels", "e"),
    };
    Wanted { path, properties }
}

fn vertex_path(target: &Target, naming: &Naming, kind: VertexKind, number: u64) -> String {
    let (base, id) = (&target.place.base, text(&naming.id(kind, number)));
    format!("{base}/graph/vertices/%22{id}%22")
}

fn text(id: &[u8; ID]) -> String {
    String::from_utf8_lossy(id).into_owned()
}

fn look(target: &mut Target, wanted: &Wanted) -> Result<ReadBack> {
    let answer = target.probe.ask("GET", &wanted.path, None)?;
    if answer.status != 200 {
        return Ok(ReadBack::Missing);
    }
    let element = answer.json()?;
    let found = &element["properties"];
    let has = |(name, value): &(String, Value)| found[name] == *value;
    Ok(match wanted.properties.iter().all(has) {
        true => ReadBack::Right,
        false => ReadBack::Wrong,
    })
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
