//! Reads back what a row's writes were acknowledged for. A row whose data is not there is an error row.

use anyhow::Result;
use serde_json::Value;

use super::choice::Random;
use super::measure::Acknowledged;
use super::payload::{ID, Kind, Naming};
use super::result::Verification;
use super::scenario::{Data, Written};
use super::target::Target;

/// An element to read, and what it must have.
struct Wanted {
    path: String,
    /// Properties and their values; empty when any content is right.
    properties: Vec<(&'static str, Value)>,
}

/// What is found of an element.
enum Found {
    Right,
    Wrong,
    Missing,
}

/// Reads back `limit` of the acknowledged elements, or all when they are no more.
///
/// # Errors
/// When the server does not answer.
pub(crate) fn read_back(
    target: &mut Target,
    data: &Data,
    written: Written,
    acknowledged: &[Acknowledged],
    items: u64,
    limit: u64,
) -> Result<Verification> {
    let mut random = Random::new(data.naming.seed);
    let all = items <= limit;
    let elements = chosen(acknowledged, limit, all, &mut random);
    let mut verification = Verification {
        acknowledged: items,
        method: match (all, written) {
            (_, Written::PropertyKeys | Written::VertexLabels | Written::EdgeLabels) => {
                "each name read once".to_owned()
            }
            (true, _) => "all read by id".to_owned(),
            (false, _) => format!("{limit} of them, chosen at random, read by id"),
        },
        ..Verification::default()
    };
    for number in elements {
        let wanted = wanted(target, data, written, number);
        verification.checked += 1;
        match look(target, &wanted)? {
            Found::Right => {}
            Found::Wrong => verification.wrong += 1,
            Found::Missing => verification.missing += 1,
        }
    }
    Ok(verification)
}

/// The numbers to read: all, or so many by chance.
fn chosen(acknowledged: &[Acknowledged], limit: u64, all: bool, random: &mut Random) -> Vec<u64> {
    let mut numbers: Vec<u64> = match all {
        true => acknowledged
            .iter()
            .flat_map(|request| (0..u64::from(request.count)).map(|at| request.first + at))
            .collect(),
        false => (0..limit)
            .filter_map(|_| {
                let request = acknowledged.get(random.below(acknowledged.len() as u64) as usize)?;
                Some(request.first + random.below(u64::from(request.count)))
            })
            .collect(),
    };
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

fn wanted(target: &Target, data: &Data, written: Written, number: u64) -> Wanted {
    let (naming, base) = (&data.naming, &target.place.base);
    let vertex = |kind: Kind, number: u64| {
        let id = text(&naming.id(kind, number));
        format!("{base}/graph/vertices/%22{id}%22")
    };
    let schema = |what: &str, letter: &str| {
        let name = String::from_utf8_lossy(&naming.name(number)).into_owned();
        format!("{base}/schema/{what}/b{letter}{name}")
    };
    let (path, properties) = match written {
        Written::Vertices(kind @ (Kind::Wide | Kind::Indexed)) => {
            (vertex(kind, number), Vec::new())
        }
        Written::Vertices(kind) => (vertex(kind, number), content(naming, number)),
        Written::Changed(kind) => (
            vertex(kind, number % data.sizes.vertices.max(1)),
            Vec::new(),
        ),
        Written::Edges => {
            let (source, right) = naming.ends(number, data.sizes.vertices);
            let [source, right] = [source, right].map(|at| text(&naming.id(Kind::Plain, at)));
            let middle = &target.place.edge_middle;
            let path = format!("{base}/graph/edges/S{source}{middle}S{right}");
            (path, vec![("bsince", naming.since(number).into())])
        }
        Written::PropertyKeys => (schema("propertykeys", "k"), Vec::new()),
        Written::VertexLabels => (schema("vertexlabels", "v"), Vec::new()),
        Written::EdgeLabels => (schema("edgelabels", "e"), Vec::new()),
    };
    Wanted { path, properties }
}

fn text(id: &[u8; ID]) -> String {
    String::from_utf8_lossy(id).into_owned()
}

fn content(naming: &Naming, number: u64) -> Vec<(&'static str, Value)> {
    let name = String::from_utf8_lossy(&naming.name(number)).into_owned();
    vec![("bname", name.into()), ("bage", naming.age(number).into())]
}

fn look(target: &mut Target, wanted: &Wanted) -> Result<Found> {
    let answer = target.probe.ask("GET", &wanted.path, None)?;
    if answer.status != 200 {
        return Ok(Found::Missing);
    }
    let element = answer.json()?;
    let properties = &element["properties"];
    let right = wanted
        .properties
        .iter()
        .all(|(name, value)| properties[name] == *value);
    Ok(if right { Found::Right } else { Found::Wrong })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_or_a_sample_is_chosen() {
        let acknowledged = [
            Acknowledged {
                first: 10,
                count: 3,
            },
            Acknowledged {
                first: 20,
                count: 2,
            },
        ];
        let mut random = Random::new(1);
        let all = chosen(&acknowledged, 5, true, &mut random);
        assert_eq!(all, [10, 11, 12, 20, 21]);
        let some = chosen(&acknowledged, 3, false, &mut random);
        assert!(!some.is_empty() && some.len() <= 3);
        assert!(some.iter().all(|number| all.contains(number)));
        assert!(chosen(&[], 3, false, &mut random).is_empty());
    }
}
