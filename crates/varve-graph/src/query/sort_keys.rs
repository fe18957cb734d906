//! Conditions on sort keys as ranges of edge clustering keys.
//!
//! The sort values of an edge are stored as one text, joined by `!` ([`varve_model::sortable`]).
//! Texts of numbers and dates have the order of their values, and none is a prefix of another. So
//! equality on the first sort keys is a prefix of the text. A range on the next sort key, if it is
//! a number or a date, is a range after that prefix.

use compact_str::CompactString;
use varve_encoding::key;
use varve_kv::ClusteringRange;
use varve_kv::range::prefix_end;
use varve_model::{
    Condition, DataType, Direction, EdgeLabel, Predicate, PropertyKeyId, Value, sortable,
};

use crate::schema::Schema;

/// The most ranges that a product of `within` lists may give. The sort keys that are left then
/// restrict no range; the filter of the query checks their conditions.
const RANGES_MAX: usize = 256;

/// Returns ranges of clustering keys that contain every edge of `label` in `direction` that
/// satisfies the conditions on its sort keys. They may contain other edges, too.
pub(super) fn ranges(
    schema: &Schema,
    label: &EdgeLabel,
    direction: Direction,
    conditions: &[Condition],
) -> Vec<ClusteringRange> {
    let parent = label.parent.unwrap_or(label.id);
    let start = |text: &str| key::edge_sort_prefix(direction, parent, label.id, text);
    let mut joined: Vec<Vec<Value>> = vec![Vec::new()];
    for (at, sort_key) in label.sort_keys.iter().enumerate() {
        let last = at + 1 == label.sort_keys.len();
        match equal_values(schema, *sort_key, conditions) {
            Some(values) if joined.len().saturating_mul(values.len()) <= RANGES_MAX => {
                joined = joined
                    .iter()
                    .flat_map(|before| values.iter().map(|value| with(before, value)))
                    .collect();
                if last {
                    return joined
                        .iter()
                        .map(|values| whole(&start(&sortable::join_key_values(values))))
                        .collect();
                }
            }
            _ => {
                let texts = joined.iter().map(|values| followed(values));
                return texts
                    .map(|text| next_range(schema, *sort_key, conditions, &start(&text)))
                    .collect();
            }
        }
    }
    vec![ClusteringRange::prefix(&key::edge_label_prefix(
        direction,
        parent,
        Some(label.id),
    ))]
}

fn with(before: &[Value], value: &Value) -> Vec<Value> {
    let mut values = before.to_vec();
    values.push(value.clone());
    values
}

/// Returns the joined text of the first values, up to the start of the next value.
fn followed(values: &[Value]) -> CompactString {
    if values.is_empty() {
        return CompactString::default();
    }
    sortable::join_key_values(&with(values, &Value::Text(String::new())))
}

/// Returns the range of keys whose sort values are exactly `prefix`; a zero byte ends the sort
/// values.
fn whole(prefix: &[u8]) -> ClusteringRange {
    ClusteringRange::prefix(&[prefix, &[0]].concat())
}

fn equal_values(
    schema: &Schema,
    key: PropertyKeyId,
    conditions: &[Condition],
) -> Option<Vec<Value>> {
    let data_type = schema.property_key(key)?.data_type;
    let on = || {
        conditions
            .iter()
            .filter(|condition| condition.key == key)
            .map(|condition| &condition.predicate)
    };
    let equal = on().find_map(|predicate| match predicate {
        Predicate::Eq(value) => Some(value.equal_forms()),
        _ => None,
    });
    let equal = equal.or_else(|| {
        on().find_map(|predicate| match predicate {
            Predicate::Within(values) => {
                let mut distinct: Vec<Value> = Vec::with_capacity(values.len());
                for value in values.iter().flat_map(Value::equal_forms) {
                    if !distinct.iter().any(|own| own.is_identical(&value)) {
                        distinct.push(value);
                    }
                }
                Some(distinct)
            }
            _ => None,
        })
    });
    equal.filter(|values| values.iter().all(|value| has_text(value, data_type)))
}

/// Returns the range after `prefix` that satisfies the conditions on one number or date. For
/// another type, returns all keys after the prefix.
fn next_range(
    schema: &Schema,
    sort_key: PropertyKeyId,
    conditions: &[Condition],
    prefix: &[u8],
) -> ClusteringRange {
    let mut range = ClusteringRange::prefix(prefix);
    let Some(data_type) = schema.property_key(sort_key).map(|key| key.data_type) else {
        return range;
    };
    for condition in conditions
        .iter()
        .filter(|condition| condition.key == sort_key)
    {
        let (low, high) = bounds(&condition.predicate);
        if let Some((value, inclusive)) = low
            && let Some(value) = outermost(value, inclusive)
            && let Some(text) = text_of(&value, data_type)
        {
            let at = [prefix, text.as_bytes()].concat();
            let from = if inclusive { Some(at) } else { prefix_end(&at) };
            range.from = from.unwrap_or_default().max(range.from);
        }
        if let Some((value, inclusive)) = high
            && let Some(value) = outermost(value, !inclusive)
            && let Some(text) = text_of(&value, data_type)
        {
            let at = [prefix, text.as_bytes()].concat();
            let to = if inclusive { prefix_end(&at) } else { Some(at) };
            range.to = match (range.to, to) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (to, None) | (None, to) => to,
            };
        }
    }
    range
}

/// Of the values that equal a bound, the least or the greatest.
fn outermost(value: &Value, least: bool) -> Option<Value> {
    let mut forms = value.equal_forms().into_iter();
    match least {
        true => forms.next(),
        false => forms.next_back(),
    }
}

/// Whether `value` has the text that an equal value of the type `data_type` has in a sort key.
fn has_text(value: &Value, data_type: DataType) -> bool {
    match value {
        Value::Text(_) => data_type == DataType::Text,
        Value::Boolean(_) => data_type == DataType::Boolean,
        Value::Uuid(_) => data_type == DataType::Uuid,
        number => text_of(number, data_type).is_some(),
    }
}

type Bound<'a> = Option<(&'a Value, bool)>;

/// Returns the lower and upper bound of a predicate, each with whether it is inclusive.
fn bounds(predicate: &Predicate) -> (Bound<'_>, Bound<'_>) {
    match predicate {
        Predicate::Lt(value) => (None, Some((value, false))),
        Predicate::Lte(value) => (None, Some((value, true))),
        Predicate::Gt(value) => (Some((value, false)), None),
        Predicate::Gte(value) => (Some((value, true)), None),
        Predicate::Between(from, to) => (Some((from, true)), Some((to, false))),
        Predicate::Inside(from, to) => (Some((from, false)), Some((to, false))),
        _ => (None, None),
    }
}

/// Returns the sortable text of a bound; `None` if the bound is no number of the sort key's kind.
fn text_of(value: &Value, data_type: DataType) -> Option<CompactString> {
    let fits = match value {
        Value::Float(_) => data_type == DataType::Float,
        Value::Double(_) => data_type == DataType::Double,
        Value::Byte(_) | Value::Int(_) | Value::Long(_) | Value::Date(_) => {
            matches!(
                data_type,
                DataType::Byte | DataType::Int | DataType::Long | DataType::Date
            )
        }
        _ => false,
    };
    fits.then(|| sortable::key_part(value))
}
