//! The entries of one element in one index.

use std::collections::BTreeSet;

use varve_encoding::index::{self, IndexId};
use varve_encoding::key;
use varve_model::many::values_of;
use varve_model::schema::IndexType;
use varve_model::{EdgeId, ElementId, IndexLabel, Properties, Value, VertexId, VertexLabelId};

use super::tokenizer;

/// One row of the table `index`, or of `event_index` once no present or planned state has its
/// values.
///
/// Entries are ordered by partition, then clustering key, so sorted lists of old and new entries
/// can be compared.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IndexEntry {
    /// Partition key.
    pub partition: Vec<u8>,
    /// Clustering key.
    pub clustering: Vec<u8>,
    /// Whether the entry is of a unique index: it names a present or later holder of the values,
    /// and is never in `event_index`.
    pub unique: bool,
}

/// The entries that `label` has for the element `id` with `properties`, ascending and each once;
/// none when the index does not cover the element.
///
/// An element without the first field has no entry. In a unique index, an element that lacks one of
/// the fields has none either. Other missing fields of a secondary or shard index are stored as
/// missing. Each distinct member of a collection gets an entry, and in a search index each distinct
/// word of a text.
#[must_use]
pub fn entries(label: &IndexLabel, id: &ElementId, properties: &Properties) -> Vec<IndexEntry> {
    let mut element = Vec::with_capacity(32);
    key::put_element(id, &mut element);
    let index = IndexId::Label(label.id);
    let bucket = bucket_of(&element, label.buckets);
    let plain = |first: &[u8], clustering: Vec<u8>| IndexEntry {
        partition: index::partition(index, bucket, first),
        clustering,
        unique: false,
    };
    let Some(first) = label
        .fields
        .first()
        .and_then(|field| properties.get(*field))
    else {
        return Vec::new();
    };
    if let Some(all) = entries_of_many(label, id, properties, first) {
        return all;
    }
    match label.index_type {
        IndexType::Range => {
            let mut clustering = index::ordered(first);
            clustering.extend_from_slice(&element);
            vec![plain(&[], clustering)]
        }
        IndexType::Search => {
            let words: BTreeSet<String> = first.members().iter().flat_map(words_of).collect();
            let firsts: BTreeSet<Vec<u8>> = words
                .iter()
                .map(|word| index::ordered_token(word))
                .collect();
            firsts
                .iter()
                .map(|word| plain(word, element.clone()))
                .collect()
        }
        IndexType::Unique => unique_entry(label, properties, element)
            .into_iter()
            .collect(),
        // All values are in the clustering key, so that a range of the first one is one scan too.
        IndexType::Shard => {
            let mut further = Vec::with_capacity(element.len() + 16);
            for field in &label.fields[1..] {
                index::put_ordered(properties.get(*field), &mut further);
            }
            further.extend_from_slice(&element);
            let firsts: BTreeSet<Vec<u8>> = first.members().iter().map(index::ordered).collect();
            firsts
                .into_iter()
                .map(|value| plain(&[], [value.as_slice(), &further].concat()))
                .collect()
        }
        IndexType::Secondary => {
            let mut clustering = Vec::with_capacity(element.len() + 16);
            for field in &label.fields[1..] {
                index::put_ordered(properties.get(*field), &mut clustering);
            }
            clustering.extend_from_slice(&element);
            let firsts: BTreeSet<Vec<u8>> = first.members().iter().map(index::ordered).collect();
            firsts
                .iter()
                .map(|value| plain(value, clustering.clone()))
                .collect()
        }
    }
}

/// The entries of an element with several values of an indexed key: those of each value.
fn entries_of_many(
    label: &IndexLabel,
    id: &ElementId,
    properties: &Properties,
    first: &Value,
) -> Option<Vec<IndexEntry>> {
    let is_many = |value: &Value| matches!(value, Value::Many(_));
    let (field, value) = match label.fields.split_first()? {
        (field, _) if is_many(first) => (*field, first),
        (_, further) => further.iter().find_map(|field| {
            let value = properties.get(*field).filter(|value| is_many(value))?;
            Some((*field, value))
        })?,
    };
    let mut one_value = properties.clone();
    let mut all = BTreeSet::new();
    for one in values_of(Some(value)) {
        one_value.set(field, one.value.clone());
        all.extend(entries(label, id, &one_value));
    }
    Some(all.into_iter().collect())
}

fn words_of(value: &Value) -> Vec<String> {
    match value {
        Value::Text(text) => tokenizer::words(text),
        _ => Vec::new(),
    }
}

/// The entry in a unique index. It has no buckets, so that equal values are in one partition.
/// Several elements may have an entry there: one may hold the values now and another from some
/// later instant on.
fn unique_entry(
    label: &IndexLabel,
    properties: &Properties,
    element: Vec<u8>,
) -> Option<IndexEntry> {
    let values: Option<Vec<&Value>> = label
        .fields
        .iter()
        .map(|field| properties.get(*field))
        .collect();
    let tuple = match label.group {
        Some(_) => index::unique_tuple_of_any(&values?),
        None => index::unique_tuple(&values?),
    };
    let owner = IndexId::Label(label.group.unwrap_or(label.id));
    Some(IndexEntry {
        partition: index::partition(owner, 0, &tuple),
        clustering: element,
        unique: true,
    })
}

/// The number of the partition, of `buckets`, that has an element's entries.
fn bucket_of(element: &[u8], buckets: u8) -> u8 {
    if buckets <= 1 {
        return 0;
    }
    let bucket = xxhash_rust::xxh3::xxh3_64(element) % u64::from(buckets);
    u8::try_from(bucket).expect("a remainder is less than its divisor, which is a u8")
}

/// The entry by which a vertex is listed under its label.
#[must_use]
pub fn vertex_label_entry(label: VertexLabelId, id: &VertexId) -> IndexEntry {
    label_entry(IndexId::VertexLabel(label), id)
}

/// The entry by which an edge is listed under its own label: it names the source vertex, not the
/// edge, so all edges of a label that leave one vertex share it.
#[must_use]
pub fn edge_label_entry(id: &EdgeId) -> IndexEntry {
    label_entry(IndexId::EdgeLabel(id.label), &id.source)
}

fn label_entry(index: IndexId, vertex: &VertexId) -> IndexEntry {
    let mut clustering = Vec::with_capacity(24);
    key::put_element(&ElementId::Vertex(vertex.clone()), &mut clustering);
    IndexEntry {
        partition: index::partition(index, 0, &[]),
        clustering,
        unique: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use varve_model::schema::{IndexBase, SchemaStatus};
    use varve_model::{Datum, IndexLabelId, PropertyKeyId};

    const A: PropertyKeyId = PropertyKeyId(1);
    const B: PropertyKeyId = PropertyKeyId(2);

    fn label(index_type: IndexType, fields: &[PropertyKeyId]) -> IndexLabel {
        IndexLabel {
            id: IndexLabelId(7),
            name: "by".into(),
            base: IndexBase::Vertex(VertexLabelId(1)),
            index_type,
            fields: fields.to_vec(),
            buckets: 1,
            group: None,
            status: SchemaStatus::Created,
            user_data: Datum::Map(Vec::new()),
        }
    }

    fn vertex(id: i64) -> ElementId {
        ElementId::Vertex(VertexId::Number(id))
    }

    fn element(id: &ElementId) -> Vec<u8> {
        let mut out = Vec::new();
        key::put_element(id, &mut out);
        out
    }

    fn properties(pairs: &[(PropertyKeyId, Value)]) -> Properties {
        pairs.iter().cloned().collect()
    }

    #[test]
    fn each_of_several_values_is_indexed() {
        let id = vertex(5);
        let mut several = properties(&[(B, Value::Int(1))]);
        for number in [7, 8, 7] {
            let meta = properties(&[(B, Value::Int(9))]);
            several.write(A, varve_model::Cardinality::List, Value::Int(number), meta);
        }
        let one = |number| properties(&[(A, Value::Int(number)), (B, Value::Int(1))]);
        for index_type in [
            IndexType::Secondary,
            IndexType::Range,
            IndexType::Shard,
            IndexType::Unique,
        ] {
            for fields in [&[A][..], &[A, B], &[B, A]] {
                let label = label(index_type, fields);
                let mut wanted = entries(&label, &id, &one(7));
                wanted.extend(entries(&label, &id, &one(8)));
                wanted.sort();
                wanted.dedup();
                assert_eq!(entries(&label, &id, &several), wanted, "{index_type:?}");
            }
        }
    }

    #[test]
    fn secondary_needs_its_first_field_only() {
        let label = label(IndexType::Secondary, &[A, B]);
        let id = vertex(5);
        assert!(entries(&label, &id, &properties(&[(B, Value::Int(1))])).is_empty());
        let found = entries(&label, &id, &properties(&[(A, Value::Int(1))]));
        assert_eq!(found.len(), 1);
        assert_eq!(
            index::element_key(&found[0].clustering, 1),
            Some(element(&id).as_slice())
        );
        let full = entries(
            &label,
            &id,
            &properties(&[(A, Value::Int(1)), (B, Value::Int(2))]),
        );
        assert_eq!(full[0].partition, found[0].partition);
        assert!(
            found[0].clustering < full[0].clustering,
            "missing sorts first"
        );
    }

    #[test]
    fn shard_entries_sort_as_their_values_one_after_the_other() {
        let label = label(IndexType::Shard, &[A, B]);
        let of = |a: i32, b: Option<i32>| {
            let mut pairs = vec![(A, Value::Int(a))];
            pairs.extend(b.map(|b| (B, Value::Int(b))));
            entries(&label, &vertex(5), &properties(&pairs)).remove(0)
        };
        let sorted = [of(-1, Some(9)), of(2, None), of(2, Some(-3)), of(3, None)];
        assert!(sorted.is_sorted());
        for entry in sorted {
            assert_eq!(entry.partition, of(0, None).partition);
            let found = index::element_key(&entry.clustering, 2);
            assert_eq!(found, Some(element(&vertex(5)).as_slice()));
        }
    }

    #[test]
    fn collections_have_an_entry_per_distinct_member() {
        let label = label(IndexType::Secondary, &[A]);
        let list = Value::List(vec![Value::Int(1), Value::Int(2), Value::Int(1)]);
        let found = entries(&label, &vertex(5), &properties(&[(A, list)]));
        assert_eq!(found.len(), 2);
        assert!(
            found.is_sorted()
                && found
                    .iter()
                    .all(|entry| entry.clustering == element(&vertex(5)))
        );
    }

    #[test]
    fn range_entries_sort_as_the_values() {
        let label = label(IndexType::Range, &[A]);
        let keys: Vec<Vec<u8>> = [-3.5, -0.0, 2.0, f64::INFINITY]
            .iter()
            .map(|v| {
                entries(&label, &vertex(1), &properties(&[(A, Value::Double(*v))]))[0]
                    .clustering
                    .clone()
            })
            .collect();
        assert!(keys.is_sorted());
    }

    #[test]
    fn search_entries_are_words() {
        let label = label(IndexType::Search, &[A]);
        let text = |text: &str| properties(&[(A, Value::Text(text.into()))]);
        assert_eq!(entries(&label, &vertex(1), &text("one two one")).len(), 3);
        assert_eq!(
            entries(&label, &vertex(1), &text("One"))[0],
            entries(&label, &vertex(1), &text("oNE"))[0]
        );
        let set = Value::Set(vec![Value::Text("one".into()), Value::Text("two".into())]);
        assert_eq!(
            entries(&label, &vertex(1), &properties(&[(A, set)])).len(),
            2
        );
    }

    #[test]
    fn unique_entries_of_equal_values_share_a_partition_whatever_the_buckets() {
        let mut label = label(IndexType::Unique, &[A, B]);
        label.buckets = 16;
        assert!(entries(&label, &vertex(1), &properties(&[(A, Value::Int(1))])).is_empty());
        let both = properties(&[(A, Value::Int(1)), (B, Value::Text("x".into()))]);
        let (one, two) = (
            entries(&label, &vertex(1), &both),
            entries(&label, &vertex(2), &both),
        );
        assert_eq!(one[0].partition, two[0].partition);
        assert_eq!(one[0].clustering, element(&vertex(1)));
    }

    #[test]
    fn buckets_spread_by_element() {
        let mut label = label(IndexType::Range, &[A]);
        label.buckets = 4;
        let partitions: BTreeSet<Vec<u8>> = (0..100)
            .map(|id| {
                entries(&label, &vertex(id), &properties(&[(A, Value::Int(1))]))[0]
                    .partition
                    .clone()
            })
            .collect();
        assert_eq!(partitions.len(), 4);
    }

    #[test]
    fn edges_of_one_source_share_their_label_entry() {
        let edge = |target: i64| EdgeId {
            source: VertexId::Number(1),
            parent: varve_model::EdgeLabelId(3),
            label: varve_model::EdgeLabelId(4),
            sort_values: "".into(),
            target: VertexId::Number(target),
        };
        assert_eq!(edge_label_entry(&edge(1)), edge_label_entry(&edge(2)));
        assert_eq!(edge_label_entry(&edge(1)).clustering, element(&vertex(1)));
        assert_ne!(
            edge_label_entry(&edge(1)),
            vertex_label_entry(VertexLabelId(4), &VertexId::Number(1))
        );
    }
}
