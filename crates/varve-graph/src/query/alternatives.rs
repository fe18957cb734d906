//! Which indexes of a label serve the conditions of a query, and which entries to scan.

use std::sync::Arc;

use varve_encoding::index::{self, IndexId};
use varve_kv::ClusteringRange;
use varve_model::schema::{IndexBase, IndexType};
use varve_model::{Cardinality, Condition, DataType, IndexLabel, Predicate, PropertyKeyId, Value};

use super::intervals::{behind, intersect, intervals, ordered_as};
use super::plan::{Alternative, ElementLabel, Entries, Leg, Source};
use varve_view::ScanOrder;

use super::intervals::all_values;
use crate::index::tokenizer;
use crate::schema::{Schema, is_queryable};

/// The most legs or partitions that a product of `within` lists may give. The filter checks the
/// remaining fields.
const COMBINATIONS_MAX: usize = 1024;

/// The indexes of one label that narrow a query.
#[derive(Debug, Default)]
pub(super) struct Usable {
    /// One alternative for each index, by ascending id of the index label.
    pub(super) alternatives: Vec<Alternative>,
    /// An index that would serve the query if its build were complete.
    pub(super) incomplete: Option<Arc<IndexLabel>>,
}

/// Returns the alternatives that the indexes on `base` offer for `conditions`.
pub(super) fn usable(
    schema: &Schema,
    base: IndexBase,
    label: ElementLabel,
    conditions: &[Condition],
) -> Usable {
    let indexes = match base {
        IndexBase::Vertex(id) => schema.indexes_of_vertex_label(id),
        IndexBase::Edge(id) => schema.indexes_of_edge_label(id),
        IndexBase::Olap => &[],
    };
    let searched = searched_collections(schema, indexes);
    let mut usable = Usable::default();
    for index in indexes {
        let Some((sources, covered)) = sources(schema, index, conditions) else {
            continue;
        };
        if !is_queryable(index) {
            usable.incomplete.get_or_insert_with(|| Arc::clone(index));
            continue;
        }
        let legs = sources.into_iter().map(|entries| Leg {
            source: Source::Entries(entries),
            label: Some(label),
            searched: searched.clone(),
        });
        usable.alternatives.push(Alternative {
            legs: legs.collect(),
            covered,
        });
    }
    usable
}

/// Returns the alternatives by which the indexes on `base` list the elements in the order of a
/// number or date.
pub(super) fn in_order(
    schema: &Schema,
    base: IndexBase,
    label: ElementLabel,
    conditions: &[Condition],
    order: ScanOrder,
) -> Usable {
    let indexes = match base {
        IndexBase::Vertex(id) => schema.indexes_of_vertex_label(id),
        IndexBase::Edge(id) => schema.indexes_of_edge_label(id),
        IndexBase::Olap => &[],
    };
    let mut usable = Usable::default();
    for index in indexes.iter().filter(|index| is_queryable(index)) {
        let Some(entries) = ordered_entries(schema, index, conditions, order) else {
            continue;
        };
        let legs = entries.into_iter().map(|entries| Leg {
            source: Source::Entries(entries),
            label: Some(label),
            searched: Vec::new(),
        });
        usable.alternatives.push(Alternative {
            legs: legs.collect(),
            covered: 1,
        });
    }
    usable
}

/// Returns the entries of one index in the order of a property. The conditions must give exactly
/// one value for each field before it.
fn ordered_entries(
    schema: &Schema,
    index: &Arc<IndexLabel>,
    conditions: &[Condition],
    order: ScanOrder,
) -> Option<Vec<Entries>> {
    let data_type = data_type(schema, order.key);
    if is_collection(schema, order.key) || !data_type.is_rangeable() {
        return None;
    }
    let before = index.fields.iter().position(|field| *field == order.key)?;
    let mut given = Vec::with_capacity(before);
    for field in &index.fields[..before] {
        let values = equal_values(schema, *field, conditions)?;
        given.push(<[Vec<u8>; 1]>::try_from(values).ok()?.concat());
    }
    let (first, prefix, values) = match index.index_type {
        IndexType::Range => (Vec::new(), Vec::new(), 1),
        IndexType::Shard => (Vec::new(), given.concat(), index.fields.len()),
        IndexType::Secondary => {
            let (first, further) = given.split_first()?;
            (first.clone(), further.concat(), index.fields.len() - 1)
        }
        IndexType::Search | IndexType::Unique => return None,
    };
    let narrowed = ranges_of(schema, order.key, conditions).map(|(ranges, _)| ranges);
    let mut ranges = narrowed.unwrap_or_else(|| vec![all_values(data_type)]);
    ranges.sort_by(|a, b| a.from.cmp(&b.from));
    if order.descending {
        ranges.reverse();
    }
    let partitions = partitions(index, &[first]);
    let entries = ranges.iter().map(|range| Entries {
        partitions: partitions.clone(),
        range: behind(&prefix, range),
        values,
        reverse: order.descending,
        check: Some(Arc::clone(index)),
    });
    Some(entries.collect())
}

fn searched_collections(schema: &Schema, indexes: &[Arc<IndexLabel>]) -> Vec<PropertyKeyId> {
    let searches = indexes
        .iter()
        .filter(|index| index.index_type == IndexType::Search && is_queryable(index));
    let keys = searches.flat_map(|index| index.fields.iter().copied());
    keys.filter(|key| is_collection(schema, *key)).collect()
}

pub(super) fn is_collection(schema: &Schema, key: PropertyKeyId) -> bool {
    schema
        .property_key(key)
        .is_some_and(|key| key.cardinality != Cardinality::Single)
}

fn data_type(schema: &Schema, key: PropertyKeyId) -> DataType {
    schema
        .property_key(key)
        .map_or(DataType::Text, |key| key.data_type)
}

/// Returns the entries of one index to scan, and how many conditions they cover; `None` if the
/// index serves no condition.
fn sources(
    schema: &Schema,
    index: &Arc<IndexLabel>,
    conditions: &[Condition],
) -> Option<(Vec<Entries>, usize)> {
    let first = *index.fields.first()?;
    match index.index_type {
        IndexType::Unique => None,
        IndexType::Search => search_sources(index, first, conditions),
        IndexType::Range => {
            let (ranges, covered) = ranges_of(schema, first, conditions)?;
            let partitions = partitions(index, &[Vec::new()]);
            let entries = ranges.into_iter().map(|range| Entries {
                partitions: partitions.clone(),
                range,
                values: 1,
                reverse: false,
                check: Some(Arc::clone(index)),
            });
            Some((entries.collect(), covered))
        }
        IndexType::Secondary => secondary_sources(schema, index, first, conditions),
        IndexType::Shard => shard_sources(schema, index, conditions),
    }
}

/// Returns one scan, which merges the entries of all words. So an element that has several of the
/// words comes once, and elements come in the order of their keys.
fn search_sources(
    index: &Arc<IndexLabel>,
    field: PropertyKeyId,
    conditions: &[Condition],
) -> Option<(Vec<Entries>, usize)> {
    let words = on(conditions, field).find_map(|predicate| match predicate {
        Predicate::TextContains(words) => Some(words),
        _ => None,
    })?;
    let asked = tokenizer::asked_words(words);
    let firsts: Vec<Vec<u8>> = asked
        .iter()
        .map(|word| index::ordered_token(word))
        .collect();
    let entries = Entries {
        partitions: partitions(index, &firsts),
        range: ClusteringRange::all(),
        values: 0,
        reverse: false,
        check: None,
    };
    Some((vec![entries], 1))
}

/// Returns the scans for equality on the first fields and a range on the next one. The value of the
/// first field is in the partition key, so equality on it is necessary.
fn secondary_sources(
    schema: &Schema,
    index: &Arc<IndexLabel>,
    first: PropertyKeyId,
    conditions: &[Condition],
) -> Option<(Vec<Entries>, usize)> {
    let firsts = equal_values(schema, first, conditions)?;
    let further = &index.fields[1..];
    let (ranges, covered) = prefix_ranges(schema, further, conditions, firsts.len());
    let mut entries = Vec::with_capacity(firsts.len() * ranges.len());
    for value in &firsts {
        entries.extend(ranges.iter().map(|range| Entries {
            partitions: partitions(index, std::slice::from_ref(value)),
            range: range.clone(),
            values: further.len(),
            reverse: false,
            check: Some(Arc::clone(index)),
        }));
    }
    Some((entries, 1 + covered))
}

/// Returns the scans for equality on the first fields and a range on the next one, which may also
/// be the first field.
fn shard_sources(
    schema: &Schema,
    index: &Arc<IndexLabel>,
    conditions: &[Condition],
) -> Option<(Vec<Entries>, usize)> {
    let (ranges, covered) = prefix_ranges(schema, &index.fields, conditions, 1);
    if covered == 0 {
        return None;
    }
    let partitions = partitions(index, &[Vec::new()]);
    let entries = ranges.into_iter().map(|range| Entries {
        partitions: partitions.clone(),
        range,
        values: index.fields.len(),
        reverse: false,
        check: Some(Arc::clone(index)),
    });
    Some((entries.collect(), covered))
}

/// Returns the ranges of keys for equality on the first of `fields` and a range on the next one,
/// and how many conditions they cover. Each range will be scanned in `legs` partitions.
fn prefix_ranges(
    schema: &Schema,
    fields: &[PropertyKeyId],
    conditions: &[Condition],
    legs: usize,
) -> (Vec<ClusteringRange>, usize) {
    let mut covered = 0;
    let mut prefixes = vec![Vec::new()];
    let mut ranges = None;
    for field in fields {
        let values = equal_values(schema, *field, conditions);
        // A list for the first field is not multiplied by others.
        let is_first = covered == 0 && legs == 1;
        let values =
            values.filter(|values| is_first || fits(&[legs, prefixes.len(), values.len()]));
        let Some(values) = values else {
            ranges = ranges_of(schema, *field, conditions)
                .filter(|(ranges, _)| fits(&[legs, prefixes.len(), ranges.len()]));
            break;
        };
        prefixes = prefixes
            .iter()
            .flat_map(|prefix| {
                values
                    .iter()
                    .map(move |value| [prefix.as_slice(), value].concat())
            })
            .collect();
        covered += 1;
    }
    let (ranges, narrowed) = ranges.unwrap_or_else(|| (vec![ClusteringRange::all()], 0));
    let all = prefixes
        .iter()
        .flat_map(|prefix| ranges.iter().map(|range| behind(prefix, range)));
    (all.collect(), covered + narrowed)
}

fn fits(factors: &[usize]) -> bool {
    factors
        .iter()
        .try_fold(1_usize, |product, factor| product.checked_mul(*factor))
        .is_some_and(|all| all <= COMBINATIONS_MAX)
}

fn on(conditions: &[Condition], key: PropertyKeyId) -> impl Iterator<Item = &Predicate> {
    conditions
        .iter()
        .filter(move |condition| condition.key == key)
        .map(|condition| &condition.predicate)
}

/// Returns the ordered bytes of the values of an equality or `within` condition, in the order of
/// the query and without duplicates.
fn equal_values(
    schema: &Schema,
    key: PropertyKeyId,
    conditions: &[Condition],
) -> Option<Vec<Vec<u8>>> {
    let data_type = data_type(schema, key);
    let bytes = |value: &Value| match (data_type, value) {
        // Equal numbers of a key that takes all types have different bytes.
        (DataType::Object, Value::Text(_) | Value::Boolean(_) | Value::Uuid(_)) => {
            Some(index::ordered(value))
        }
        (DataType::Object, _) => None,
        _ => ordered_as(value, data_type),
    };
    if is_collection(schema, key) {
        return on(conditions, key).find_map(|predicate| match predicate {
            Predicate::Contains(member) => Some(vec![bytes(member)?]),
            Predicate::TextContains(words) => {
                Some(vec![index::ordered(&Value::Text(words.clone()))])
            }
            _ => None,
        });
    }
    let equal = on(conditions, key).find_map(|predicate| match predicate {
        Predicate::Eq(value) => value.equal_forms().iter().map(&bytes).collect(),
        _ => None,
    });
    equal.or_else(|| {
        on(conditions, key).find_map(|predicate| match predicate {
            Predicate::Within(values) => {
                let mut all: Vec<Vec<u8>> = Vec::with_capacity(values.len());
                for value in values.iter().flat_map(Value::equal_forms) {
                    let value = bytes(&value)?;
                    if !all.contains(&value) {
                        all.push(value);
                    }
                }
                Some(all)
            }
            _ => None,
        })
    })
}

/// Returns the intervals that contain the ordered bytes of all matching values of a property, and
/// how many conditions were used.
fn ranges_of(
    schema: &Schema,
    key: PropertyKeyId,
    conditions: &[Condition],
) -> Option<(Vec<ClusteringRange>, usize)> {
    if is_collection(schema, key) {
        return None;
    }
    let data_type = data_type(schema, key);
    let of = |predicate: &Predicate| {
        let is_served = data_type != DataType::Object || matches!(predicate, Predicate::Near(_));
        is_served.then(|| intervals(predicate, data_type)).flatten()
    };
    let mut narrowed: Option<(Vec<ClusteringRange>, usize)> = None;
    for predicate in on(conditions, key) {
        let Some(ranges) = of(predicate) else {
            continue;
        };
        narrowed = Some(match narrowed {
            // In an open graph a key may have several values, and each condition may hold for
            // another one, so intervals must not be intersected.
            Some(before) if schema.is_open() => before,
            Some((before, covered)) => (intersect(&before, &ranges), covered + 1),
            None => (ranges, 1),
        });
    }
    narrowed
}

/// Returns the partitions, in all buckets, of the entries whose first value is one of `firsts`.
fn partitions(index: &IndexLabel, firsts: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let buckets = 0..index.buckets.max(1);
    let id = IndexId::Label(index.id);
    firsts
        .iter()
        .flat_map(|first| {
            buckets
                .clone()
                .map(move |bucket| index::partition(id, bucket, first))
        })
        .collect()
}
