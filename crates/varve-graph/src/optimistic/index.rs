//! The index of a transaction's own changes: by kind, by label, and by the values of properties.
//!
//! It offers candidates, and a scan checks each. So entries of former values may stay when an
//! element changes again, and hash collisions do no harm.

use std::collections::BTreeSet;

use varve_model::{Edge, Predicate, Properties, PropertyKeyId, Value, Vertex};
use varve_view::{Elements, ScanAsk};

use crate::hash;

/// The parts of a term's first byte: the kind of element, and what the term is about.
const VERTEX: u8 = 0;
const EDGE: u8 = 1;
const KIND: u8 = 0;
const LABEL: u8 = 2;
const VALUE: u8 = 4;
/// Elements with a value that [`term`] gives no bytes for.
const OTHER: u8 = 6;

/// The positions of changed elements in [`super::TransactionState::order`], by the hashes of their
/// terms.
#[derive(Default)]
pub(super) struct ChangeIndex {
    entries: BTreeSet<(u64, usize)>,
}

impl ChangeIndex {
    /// Adds the current terms of a vertex.
    pub(super) fn add_vertex(&mut self, place: usize, vertex: &Vertex) {
        self.add(KIND | VERTEX, 0, &[], place);
        self.add(LABEL | VERTEX, vertex.label.0, &[], place);
        self.add_values(VERTEX, place, &vertex.properties);
    }

    /// Adds the current terms of an edge.
    pub(super) fn add_edge(&mut self, place: usize, edge: &Edge) {
        self.add(KIND | EDGE, 0, &[], place);
        self.add(LABEL | EDGE, edge.id.label.0, &[], place);
        self.add(LABEL | EDGE, edge.id.parent.0, &[], place);
        self.add_values(EDGE, place, &edge.properties);
    }

    fn add_values(&mut self, kind: u8, place: usize, properties: &Properties) {
        for (key, value) in properties.iter() {
            match value {
                // The element is a candidate for each of the values.
                Value::Many(many) => {
                    for one in many.values() {
                        self.add_value(kind, key, &one.value, place);
                    }
                }
                value => self.add_value(kind, key, value, place),
            }
        }
    }

    fn add_value(&mut self, kind: u8, key: PropertyKeyId, value: &Value, place: usize) {
        match term(value) {
            Some(term) => self.add(VALUE | kind, key.0, &term, place),
            None => self.add(OTHER | kind, key.0, &[], place),
        }
    }

    fn add(&mut self, what: u8, id: u32, value: &[u8], place: usize) {
        self.entries.insert((hash_of(what, id, value), place));
    }

    /// The first `most` positions of candidates from `from` on, ascending.
    pub(super) fn candidates(&self, ask: &ScanAsk<'_>, from: usize, most: usize) -> Vec<usize> {
        let hashes = hashes(ask);
        let mut places = Vec::new();
        for hash in &hashes {
            let of_hash = self.entries.range((*hash, from)..=(*hash, usize::MAX));
            places.extend(of_hash.take(most).map(|(_, place)| *place));
        }
        if hashes.len() > 1 {
            places.sort_unstable();
            places.dedup();
            places.truncate(most);
        }
        places
    }
}

/// Hashes whose entries include all elements that match the request.
fn hashes(ask: &ScanAsk<'_>) -> Vec<u64> {
    let (kind, labels): (u8, Vec<u32>) = match ask.elements {
        Elements::Vertices(labels) => (VERTEX, labels.iter().map(|label| label.0).collect()),
        Elements::Edges(labels) => (EDGE, labels.iter().map(|label| label.0).collect()),
    };
    let values_of = |predicate: &Predicate| -> Option<Vec<Vec<u8>>> {
        match predicate {
            Predicate::Eq(value) => Some(vec![term(value)?]),
            Predicate::Within(values) => values.iter().map(term).collect(),
            _ => None,
        }
    };
    let mut by_value = ask.conditions.iter().filter_map(|condition| {
        let values = values_of(&condition.predicate)?;
        let (key, hash) = (condition.key.0, |value: &Vec<u8>| {
            hash_of(VALUE | kind, condition.key.0, value)
        });
        let mut hashes: Vec<u64> = values.iter().map(hash).collect();
        hashes.push(hash_of(OTHER | kind, key, &[]));
        Some(hashes)
    });
    match (by_value.next(), labels.as_slice()) {
        (Some(hashes), _) => hashes,
        (None, []) => vec![hash_of(KIND | kind, 0, &[])],
        (None, labels) => {
            let hash = |label: &u32| hash_of(LABEL | kind, *label, &[]);
            labels.iter().map(hash).collect()
        }
    }
}

fn hash_of(what: u8, id: u32, value: &[u8]) -> u64 {
    let mut bytes = Vec::with_capacity(5 + value.len());
    bytes.push(what);
    bytes.extend_from_slice(&id.to_be_bytes());
    bytes.extend_from_slice(value);
    hash::of(&bytes)
}

/// Bytes that are the same for all values that conditions treat as equal, such as numbers of
/// different width; `None` for types without such bytes.
fn term(value: &Value) -> Option<Vec<u8>> {
    Some(match value {
        Value::Text(text) => text.as_bytes().to_vec(),
        Value::Uuid(uuid) => uuid.to_be_bytes().to_vec(),
        Value::Boolean(flag) => vec![u8::from(*flag)],
        value => {
            #[allow(clippy::cast_precision_loss, reason = "equal numbers stay equal")]
            let whole = value.as_i64().map(|number| number as f64);
            whole
                .or_else(|| value.as_f64())?
                .to_bits()
                .to_be_bytes()
                .to_vec()
        }
    })
}

#[cfg(test)]
mod tests {
    use varve_model::{Condition, VertexId, VertexLabelId};

    use super::*;

    const KEY: PropertyKeyId = PropertyKeyId(7);

    fn vertex(n: usize, value: Value) -> Vertex {
        let mut properties = Properties::default();
        properties.set(KEY, value);
        Vertex {
            id: VertexId::text(&format!("v{n}")),
            label: VertexLabelId(u32::from(n.is_multiple_of(2))),
            properties,
        }
    }

    fn candidates(index: &ChangeIndex, labels: &[VertexLabelId], wanted: Predicate) -> Vec<usize> {
        let conditions = [Condition {
            key: KEY,
            predicate: wanted,
        }];
        let ask = ScanAsk {
            elements: Elements::Vertices(labels),
            conditions: &conditions,
            order: None,
            properties: &[],
        };
        index.candidates(&ask, 0, usize::MAX)
    }

    #[test]
    fn a_search_by_value_looks_at_what_has_it() {
        let mut index = ChangeIndex::default();
        for n in 0..1_000_i32 {
            let place = usize::try_from(n).expect("not negative");
            index.add_vertex(place, &vertex(place, Value::Int(n)));
        }
        let list = Value::List(vec![Value::Int(5)]);
        index.add_vertex(1_000, &vertex(1_000, list.clone()));
        // Finds equal numbers of any width, and elements whose value has no term.
        let wide = Predicate::Eq(Value::Double(5.0));
        assert_eq!(candidates(&index, &[], wide), [5, 1_000]);
        let several = Predicate::Within(vec![Value::Long(9), Value::Byte(3)]);
        assert_eq!(candidates(&index, &[], several), [3, 9, 1_000]);
        let label = &[VertexLabelId(1)];
        assert_eq!(candidates(&index, label, Predicate::Eq(list)).len(), 501);
    }

    #[test]
    fn candidates_come_in_pieces_each_once() {
        let mut index = ChangeIndex::default();
        for place in [4, 2, 0, 3, 1] {
            index.add_vertex(place, &vertex(place, Value::Int(1)));
            index.add_vertex(place, &vertex(place, Value::Int(2)));
        }
        let labels = [VertexLabelId(0), VertexLabelId(1)];
        let ask = ScanAsk {
            elements: Elements::Vertices(&labels),
            conditions: &[],
            order: None,
            properties: &[],
        };
        assert_eq!(index.candidates(&ask, 0, 2), [0, 1]);
        assert_eq!(index.candidates(&ask, 2, 2), [2, 3]);
        assert_eq!(index.candidates(&ask, 4, 2), [4]);
    }
}
