//! The social graph of the Gremlin queries and traversers: persons who know others. A few persons
//! are known by many.

use super::payload::Naming;
use crate::random::mix;

/// Vertex label of the persons.
pub(crate) const PERSON_LABEL: &str = "benchp";
/// Edge label "knows", between persons.
pub(crate) const KNOWS_LABEL: &str = "benchk";
/// Edges out of each person.
pub(crate) const KNOWN: u64 = 5;
/// The cities of persons, with equal probability; each as long as its placeholder in a template.
const CITIES: [&[u8; 5]; 8] = [
    b"Cairo", b"Delhi", b"Minsk", b"Paris", b"Perth", b"Quito", b"Seoul", b"Tunis",
];

impl Naming {
    /// The city of person `number`.
    pub(crate) fn city(&self, number: u64) -> &'static [u8; 5] {
        let chance = mix(number ^ self.seed.rotate_left(29));
        CITIES[(chance % CITIES.len() as u64) as usize]
    }

    /// The ends of edge `number` among `persons` persons. Each person knows [`KNOWN`] others. The
    /// targets follow a power law: a person's number is proportional to the cube of a uniform
    /// random number. The random numbers of one person's edges are from different fifths of the
    /// range, so that edges rarely coincide. Numbers above those of the edges are pairs of any two
    /// persons.
    pub(crate) fn acquaintance(&self, number: u64, persons: u64) -> (u64, u64) {
        let persons = persons.max(2);
        let (round, source) = (number / persons, number % persons);
        let mixed = mix(number ^ self.seed.rotate_left(41));
        let target = match round < KNOWN {
            true => {
                let chance = (mixed >> 11) as f64 / (1_u64 << 53) as f64;
                let chance = (round as f64 + chance) / KNOWN as f64;
                (persons as f64 * chance * chance * chance) as u64 % persons
            }
            false => mixed % persons,
        };
        match target == source {
            true => (source, (target + 1) % persons),
            false => (source, target),
        }
    }
}

/// The schema requests of the social graph: paths below `schema`, and bodies.
pub(crate) fn schema() -> Vec<(&'static str, String)> {
    let index = |field: &str, kind: &str| {
        let body = format!(
            r#"{{"name":"{PERSON_LABEL}_by_{field}","base_type":"VERTEX_LABEL","base_value":"{PERSON_LABEL}","index_type":"{kind}","fields":["b{field}"],"check_exist":false}}"#
        );
        ("indexlabels", body)
    };
    vec![
        (
            "propertykeys",
            r#"{"name":"bcity","data_type":"TEXT","check_exist":false}"#.to_owned(),
        ),
        (
            "vertexlabels",
            format!(
                r#"{{"name":"{PERSON_LABEL}","id_strategy":"CUSTOMIZE_STRING","properties":["bname","bage","bcity"],"check_exist":false}}"#
            ),
        ),
        (
            "edgelabels",
            format!(
                r#"{{"name":"{KNOWS_LABEL}","source_label":"{PERSON_LABEL}","target_label":"{PERSON_LABEL}","properties":["bsince"],"check_exist":false}}"#
            ),
        ),
        index("name", "SECONDARY"),
        index("age", "RANGE"),
        index("city", "SECONDARY"),
    ]
}

/// The names of the indexes that [`schema`] creates.
pub(crate) fn indexes() -> [String; 3] {
    ["name", "age", "city"].map(|field| format!("{PERSON_LABEL}_by_{field}"))
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    const NAMING: Naming = Naming {
        prefix: *b"abc",
        seed: 3,
    };

    #[test]
    fn everybody_knows_five_others_and_few_are_known_by_most() {
        let persons = 10_000;
        let edges: Vec<(u64, u64)> = (0..persons * KNOWN)
            .map(|number| NAMING.acquaintance(number, persons))
            .collect();
        assert!(edges.iter().all(|(source, target)| source != target));
        let distinct: BTreeSet<_> = edges.iter().collect();
        assert!(distinct.len() as u64 > persons * KNOWN * 99 / 100);
        let mut known_by: BTreeMap<u64, u64> = BTreeMap::new();
        for (_, target) in &edges {
            *known_by.entry(*target).or_default() += 1;
        }
        // Half of all edges end at an eighth of the persons.
        let leading: u64 = known_by.range(..persons / 8).map(|(_, count)| count).sum();
        assert!(leading > persons * KNOWN * 45 / 100, "{leading}");
    }

    #[test]
    fn schema_bodies_are_json() {
        for (_, body) in schema() {
            let _: serde_json::Value = serde_json::from_str(&body).expect("JSON");
        }
    }
}
