//! Predicates as intervals of ordered value bytes, for range scans of an index.

use varve_encoding::index;
use varve_kv::ClusteringRange;
use varve_kv::range::prefix_end;
use varve_model::{DataType, Predicate, Value};

use super::bounds::near;

/// Returns intervals that contain the ordered bytes of every value that satisfies `predicate`, in
/// the order of HugeGraph's results; `None` if an index cannot narrow it. They may contain other
/// values, too.
pub(super) fn intervals(
    predicate: &Predicate,
    data_type: DataType,
) -> Option<Vec<ClusteringRange>> {
    // Of the values that equal a bound, the least and the greatest.
    let least = |value: &Value| ordered_as(value.equal_forms().first()?, data_type);
    let greatest = |value: &Value| ordered_as(value.equal_forms().last()?, data_type);
    let one = |from: Vec<u8>, to: Option<Vec<u8>>| Some(vec![ClusteringRange { from, to }]);
    let equal = |value: &Value| {
        Some(ClusteringRange {
            from: least(value)?,
            to: prefix_end(&greatest(value)?),
        })
    };
    match predicate {
        Predicate::Eq(value) => Some(vec![equal(value)?]),
        Predicate::Within(values) => {
            let mut ranges: Vec<ClusteringRange> = Vec::with_capacity(values.len());
            for value in values {
                let range = equal(value)?;
                if !ranges.contains(&range) {
                    ranges.push(range);
                }
            }
            Some(ranges)
        }
        Predicate::Near(bounds) => near(bounds, data_type),
        _ if !data_type.is_rangeable() => None,
        Predicate::Lt(value) => one(lowest(&least(value)?), Some(least(value)?)),
        Predicate::Lte(value) => one(lowest(&least(value)?), prefix_end(&greatest(value)?)),
        Predicate::Gt(value) => one(prefix_end(&greatest(value)?)?, highest(&least(value)?)),
        Predicate::Gte(value) => one(least(value)?, highest(&least(value)?)),
        Predicate::Between(from, to) => one(least(from)?, Some(least(to)?)),
        Predicate::Inside(from, to) => one(prefix_end(&greatest(from)?)?, Some(least(to)?)),
        Predicate::Outside(low, high) => {
            let (low, high) = (least(low)?, greatest(high)?);
            let above = ClusteringRange {
                from: prefix_end(&high)?,
                to: highest(&high),
            };
            // When the bounds cross, every value matches, and the second interval must not repeat
            // the first.
            let below_end = low.min(above.from.clone());
            let below = ClusteringRange {
                from: lowest(&below_end),
                to: Some(below_end),
            };
            Some(vec![above, below])
        }
        Predicate::Neq(_) | Predicate::TextContains(_) | Predicate::Contains(_) => None,
    }
}

/// Returns the interval of all numbers or dates.
pub(super) fn all_values(data_type: DataType) -> ClusteringRange {
    let some = match data_type {
        DataType::Float | DataType::Double => index::ordered(&Value::Double(0.0)),
        _ => index::ordered(&Value::Long(0)),
    };
    ClusteringRange::prefix(&lowest(&some))
}

/// Returns the intersection of two lists of intervals, in the order of the first list.
pub(super) fn intersect(a: &[ClusteringRange], b: &[ClusteringRange]) -> Vec<ClusteringRange> {
    let pairs = a.iter().flat_map(|x| b.iter().map(move |y| (x, y)));
    let both = pairs.map(|(x, y)| ClusteringRange {
        from: x.from.clone().max(y.from.clone()),
        to: match (&x.to, &y.to) {
            (Some(x), Some(y)) => Some(x.min(y).clone()),
            (to, None) | (None, to) => to.clone(),
        },
    });
    both.filter(|range| !range.is_empty()).collect()
}

/// Puts `prefix` before both ends of a range.
pub(super) fn behind(prefix: &[u8], range: &ClusteringRange) -> ClusteringRange {
    let join = |end: &[u8]| [prefix, end].concat();
    ClusteringRange {
        from: join(&range.from),
        to: range
            .to
            .as_deref()
            .map_or_else(|| prefix_end(prefix), |to| Some(join(to))),
    }
}

/// Returns a value's ordered bytes. A whole number is converted if `data_type` is FLOAT or DOUBLE;
/// `None` for a FLOAT or DOUBLE value if `data_type` has whole numbers or dates.
pub(super) fn ordered_as(value: &Value, data_type: DataType) -> Option<Vec<u8>> {
    let real = matches!(data_type, DataType::Float | DataType::Double);
    match value {
        Value::Float(_) | Value::Double(_) if data_type.is_rangeable() && !real => None,
        Value::Byte(_) | Value::Int(_) | Value::Long(_) if real => value
            .as_f64()
            .map(|number| index::ordered(&Value::Double(number))),
        other => Some(index::ordered(other)),
    }
}

/// Returns the start of the interval of all values of the same kind.
fn lowest(bytes: &[u8]) -> Vec<u8> {
    bytes[..1].to_vec()
}

/// Returns the end of the interval of all values of the same kind.
fn highest(bytes: &[u8]) -> Option<Vec<u8>> {
    prefix_end(&bytes[..1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_of_both_signs_are_in_the_same_intervals() {
        let bytes = |number: f64| index::ordered(&Value::Double(number));
        let contains = |predicate: &Predicate, number: f64| {
            let ranges = intervals(predicate, DataType::Double).expect("a range");
            let bytes = bytes(number);
            let within = |range: &ClusteringRange| {
                range.from <= bytes && range.to.as_ref().is_none_or(|to| bytes < *to)
            };
            ranges.iter().any(within)
        };
        for zero in [0.0, -0.0].map(Value::Double) {
            for number in [0.0, -0.0] {
                assert!(contains(&Predicate::Eq(zero.clone()), number));
                assert!(contains(&Predicate::Within(vec![zero.clone()]), number));
                assert!(contains(&Predicate::Lte(zero.clone()), number));
                assert!(contains(&Predicate::Gte(zero.clone()), number));
                assert!(!contains(&Predicate::Gt(zero.clone()), number));
                assert!(!contains(&Predicate::Lt(zero.clone()), number));
            }
        }
    }

    fn int(number: i32) -> Value {
        Value::Int(number)
    }

    #[test]
    fn intervals_hold_exactly_what_the_predicate_does() {
        let predicates = [
            Predicate::Eq(int(2)),
            Predicate::Lt(int(2)),
            Predicate::Lte(int(2)),
            Predicate::Gt(int(2)),
            Predicate::Gte(int(2)),
            Predicate::Between(int(-1), int(3)),
            Predicate::Inside(int(-1), int(3)),
            Predicate::Outside(int(-1), int(3)),
            Predicate::Outside(int(3), int(-1)),
            Predicate::Outside(int(2), int(2)),
            Predicate::Between(int(3), int(-1)),
            Predicate::Within(vec![int(3), int(-1), int(3)]),
            Predicate::Within(Vec::new()),
        ];
        for predicate in &predicates {
            let ranges = intervals(predicate, DataType::Int).expect("rangeable");
            for number in -6..6 {
                let mut key = index::ordered(&int(number));
                key.extend_from_slice(b"\xFFelement");
                let hits = ranges.iter().filter(|range| range.contains(&key)).count();
                let holds = predicate.holds(&int(number), &|_, _| false);
                assert_eq!(hits, usize::from(holds), "{predicate:?} of {number}");
            }
            let missing = [0x04, 0xFF];
            assert!(
                !ranges.iter().any(|range| range.contains(&missing)),
                "{predicate:?}"
            );
        }
    }

    #[test]
    fn bounds_take_the_type_of_the_property() {
        let range = &intervals(&Predicate::Gte(int(2)), DataType::Double).expect("converted")[0];
        assert!(range.contains(&index::ordered(&Value::Double(2.5))));
        assert!(!range.contains(&index::ordered(&Value::Double(1.5))));
        assert_eq!(
            intervals(&Predicate::Gte(Value::Double(1.5)), DataType::Int),
            None
        );
        assert_eq!(
            intervals(&Predicate::Gt(Value::Text("a".into())), DataType::Text),
            None
        );
    }

    #[test]
    fn intersections_keep_what_both_hold() {
        let list = |predicate: Predicate| intervals(&predicate, DataType::Int).expect("rangeable");
        let both = intersect(
            &list(Predicate::Outside(int(0), int(5))),
            &list(Predicate::Lt(int(10))),
        );
        let held: Vec<i32> = (-3..15)
            .filter(|n| {
                both.iter()
                    .any(|range| range.contains(&index::ordered(&int(*n))))
            })
            .collect();
        assert_eq!(held, [-3, -2, -1, 6, 7, 8, 9]);
    }
}
