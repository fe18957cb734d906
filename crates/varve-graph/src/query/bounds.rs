//! Bounds as intervals of ordered value bytes.

use varve_encoding::index::{self, INDEXED_BYTES_MAX};
use varve_kv::ClusteringRange;
use varve_kv::range::prefix_end;
use varve_model::predicate::Kind;
use varve_model::{Bounds, DataType, Value};

/// Returns intervals that contain the ordered bytes of every value that the bounds contain, and may
/// contain others; `None` if values of the type have no order.
pub(super) fn near(bounds: &Bounds, data_type: DataType) -> Option<Vec<ClusteringRange>> {
    let is_any = data_type == DataType::Object;
    let is_real = matches!(data_type, DataType::Float | DataType::Double);
    let mut found = Vec::new();
    match bounds.kind()? {
        Kind::Text if is_any || data_type == DataType::Text => {
            found.push(texts(bounds)?);
            if is_any {
                // A language may read a UUID as its text.
                found.push(of_kind(&index::ordered(&Value::Uuid(0))));
            }
        }
        Kind::Number if is_any || data_type.is_number() => {
            if is_any || !is_real {
                found.extend(wholes(bounds));
            }
            if is_any || is_real {
                found.push(reals(bounds)?);
            }
        }
        Kind::Date if is_any || data_type == DataType::Date => found.extend(wholes(bounds)),
        _ => return None,
    }
    if is_any {
        // Values that have no ordered bytes of their own.
        let mut missing = Vec::new();
        index::put_ordered(None, &mut missing);
        found.insert(0, of_kind(&missing));
    }
    Some(found)
}

/// All values of one kind.
fn of_kind(some: &[u8]) -> ClusteringRange {
    ClusteringRange::prefix(&some[..1])
}

/// An interval within the values of one kind.
fn within(some: &[u8], from: Option<Vec<u8>>, to: Option<Vec<u8>>) -> ClusteringRange {
    let all = of_kind(some);
    ClusteringRange {
        from: from.unwrap_or(all.from),
        to: match to {
            Some(to) => prefix_end(&to),
            None => all.to,
        },
    }
}

fn texts(bounds: &Bounds) -> Option<ClusteringRange> {
    let prefix = |text: &str| {
        let mut bytes = Vec::new();
        index::put_text_prefix(text, &mut bytes);
        bytes
    };
    let text = |value: &Value| match value {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    };
    let from = match &bounds.from {
        Some(from) => Some(prefix(&text(from)?)),
        None => None,
    };
    let to = match &bounds.to {
        // Longer texts with this start have no order.
        Some(to) => match text(to)? {
            to if to.len() > INDEXED_BYTES_MAX => Some(prefix(&to)),
            to => Some(index::ordered(&Value::Text(to))),
        },
        None => None,
    };
    Some(within(&prefix(""), from, to))
}

/// Whole numbers and dates; `None` if no whole number is within.
#[allow(
    clippy::cast_possible_truncation,
    reason = "what is beyond is the outermost number"
)]
fn wholes(bounds: &Bounds) -> Option<ClusteringRange> {
    let whole = |value: &Value, round: fn(f64) -> f64| match value.as_i64() {
        Some(number) => index::ordered(&Value::Long(number)),
        None => {
            let number = round(value.as_f64().unwrap_or_default());
            index::ordered(&Value::Long(number as i64))
        }
    };
    let from = bounds.from.as_ref().map(|from| whole(from, f64::ceil));
    let to = bounds.to.as_ref().map(|to| whole(to, f64::floor));
    let range = within(&index::ordered(&Value::Long(0)), from, to);
    (!range.is_empty()).then_some(range)
}

fn reals(bounds: &Bounds) -> Option<ClusteringRange> {
    // A zero of either sign equals the other.
    let real = |value: &Value, zero: f64| {
        let number = value.as_f64()?;
        let number = if number == 0.0 { zero } else { number };
        Some(index::ordered(&Value::Double(number)))
    };
    let from = match &bounds.from {
        Some(from) => Some(real(from, -0.0)?),
        None => None,
    };
    let to = match &bounds.to {
        Some(to) => Some(real(to, 0.0)?),
        None => None,
    };
    Some(within(&index::ordered(&Value::Double(0.0)), from, to))
}

#[cfg(test)]
mod tests {
    use super::*;
    use varve_model::{Datum, Predicate};

    fn values() -> Vec<Value> {
        let numbers = [-9.5, -1.0, -0.0, 0.0, 0.5, 3.0, 9e15, f64::INFINITY];
        let wholes = [i64::MIN, -7, -1, 0, 1, 3, 1 << 53, (1 << 53) + 1, i64::MAX];
        let long = "x".repeat(INDEXED_BYTES_MAX);
        let texts = ["", "a", "a\0", "ab", "b", "é", &long];
        let longer = [format!("{long}a"), format!("{long}b"), format!("{long}\0")];
        let texts = texts.into_iter().map(str::to_owned).chain(longer);
        let mut all: Vec<Value> = texts.map(Value::Text).collect();
        all.extend(numbers.map(Value::Double));
        all.extend(wholes.map(Value::Long));
        all.extend([Value::Date(3), Value::Boolean(true), Value::Uuid(7)]);
        all.extend([Value::Short(3), Value::Blob(vec![1]), Value::Float(0.1)]);
        let text = Datum::Text("ab".into());
        let objects = [Datum::Int(2), Datum::Float(0.5), text, Datum::Null];
        all.extend(objects.map(|datum| Value::Object(Box::new(datum))));
        all
    }

    #[test]
    fn intervals_have_every_value_that_the_bounds_contain() {
        let mut narrow = 0;
        for a in values() {
            for b in values() {
                let (from, to) = (Some(a.clone()), Some(b.clone()));
                for (from, to) in [(from.clone(), to), (from.clone(), None), (None, from)] {
                    let is_of_one = from.as_ref().zip(to.as_ref());
                    let is_of_one = is_of_one.is_none_or(|(a, b)| Kind::of(a) == Kind::of(b));
                    let bounds = Bounds { from, to };
                    if !is_of_one || bounds.kind().is_none_or(|kind| kind == Kind::Boolean) {
                        continue;
                    }
                    let ranges = near(&bounds, DataType::Object).expect("an order");
                    let holds = Predicate::Near(bounds.clone());
                    for value in values() {
                        let bytes = index::ordered(&value);
                        let found = ranges.iter().any(|range| range.contains(&bytes));
                        let wanted = holds.holds(&value, &|_, _| false);
                        assert!(found || !wanted, "{bounds:?} {value:?}");
                        narrow += usize::from(!found);
                    }
                }
            }
        }
        assert!(narrow > 10_000, "{narrow}");
    }
}
