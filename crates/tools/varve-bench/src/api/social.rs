//! The social graph of the Gremlin queries and traversers: persons who know others. A few persons
//! are known by many.

use serde_json::{Value, json};

use super::payload::Naming;
use crate::random::mix;

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

/// The indexed properties of persons, without their prefix, and the kinds of the indexes.
pub(crate) const INDEXES: [(&str, &str); 3] = [
    ("name", "SECONDARY"),
    ("age", "RANGE"),
    ("city", "SECONDARY"),
];

/// The name of the index on a property.
pub(crate) fn index_name(field: &str) -> String {
    format!("{PERSON_LABEL}_by_{field}")
}

/// The schema of the social graph: paths below `schema`, and bodies.
pub(crate) fn schema() -> Vec<(&'static str, Value)> {
    let mut schema = vec![
        (
            "propertykeys",
            json!({"name": "bcity", "data_type": "TEXT"}),
        ),
        (
            "vertexlabels",
            vertex_label(PERSON_LABEL, &["bname", "bage", "bcity"]),
        ),
        ("edgelabels", edge_label(KNOWS_LABEL, PERSON_LABEL)),
    ];
    schema.extend(INDEXES.map(|(field, kind)| {
        let body = json!({
            "name": index_name(field),
            "base_type": "VERTEX_LABEL",
            "base_value": PERSON_LABEL,
            "index_type": kind,
            "fields": [format!("b{field}")],
        });
        ("indexlabels", body)
    }));
    schema
}

/// The body that creates a vertex label.
pub(crate) fn vertex_label(name: &str, properties: &[&str]) -> Value {
    json!({"name": name, "id_strategy": "CUSTOMIZE_STRING", "properties": properties})
}

/// The body that creates an edge label between vertices of one label.
pub(crate) fn edge_label(name: &str, ends: &str) -> Value {
    json!({"name": name, "source_label": ends, "target_label": ends, "properties": ["bsince"]})
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
}
