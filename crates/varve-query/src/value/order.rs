//! Equality and comparison of predicates, and the total order of `order()`.

use std::cmp::Ordering;

use varve_view::work::{go_on, go_on_bytes};

use super::Value;
use super::equivalence::Equal;
use super::number::Number;

/// The result of a comparison by `lt`, `gt` and the like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// The values are ordered.
    Ordered(Ordering),
    /// The values belong to families without a common order, or one is NaN.
    None,
}

impl Value {
    /// Equality of predicates: numbers are equal by value, of any width; NaN equals nothing. Ends
    /// early, with false, once the query is over.
    #[must_use]
    pub fn equals(&self, other: &Self) -> bool {
        if self.is_deep() && !go_on(1) {
            return false;
        }
        match (self, other) {
            (Self::List(a), Self::List(b)) => {
                a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| a.equals(b))
            }
            (Self::Set(a), Self::Set(b)) => {
                a.len() == b.len() && a.iter().all(|a| b.contains(&Equal(a)))
            }
            (Self::Map(a), Self::Map(b)) => {
                let same = |(key, value): (&Self, &Self)| {
                    let exact = b.get(key).or_else(|| b.get(&Equal(key)));
                    exact.is_some_and(|other| value.equals(other))
                };
                a.len() == b.len() && a.iter().all(same)
            }
            (Self::Entry(a), Self::Entry(b)) => a.0.equals(&b.0) && a.1.equals(&b.1),
            // Elements are equal by id, also in different states.
            (Self::Vertex(a), Self::Vertex(b)) => a.id() == b.id(),
            (Self::Edge(a, _), Self::Edge(b, _)) => a.id == b.id,
            _ => match (Number::of(self), Number::of(other)) {
                (Some(a), Some(b)) => a.compare(&b) == Some(Ordering::Equal),
                (None, None) => self == other,
                _ => false,
            },
        }
    }

    /// Whether a set has a member that equals this value.
    #[must_use]
    pub fn is_in(&self, set: &super::ValueSet) -> bool {
        set.contains(&Equal(self))
    }

    /// The order of predicates, which exists only within a family of values.
    #[must_use]
    pub fn compare(&self, other: &Self) -> Comparison {
        if let (Some(a), Some(b)) = (Number::of(self), Number::of(other)) {
            return a.compare(&b).map_or(Comparison::None, Comparison::Ordered);
        }
        if self.is_deep() && !go_on(1) {
            return Comparison::None;
        }
        match (self, other) {
            (Self::List(a), Self::List(b)) => {
                for (a, b) in a.iter().zip(b.iter()) {
                    match a.compare(b) {
                        Comparison::Ordered(Ordering::Equal) => {}
                        other => return other,
                    }
                }
                Comparison::Ordered(a.len().cmp(&b.len()))
            }
            _ if self.family() == other.family() => Comparison::Ordered(self.order(other)),
            _ => Comparison::None,
        }
    }

    /// The rank of a value's family in the order of mixed values.
    fn family(&self) -> u8 {
        match self {
            Self::Null => 0,
            Self::Bool(_) => 1,
            Self::Byte(_)
            | Self::Short(_)
            | Self::Int(_)
            | Self::Long(_)
            | Self::BigInt(_)
            | Self::Float(_)
            | Self::Double(_)
            | Self::BigDecimal(_) => 2,
            Self::DateTime(_) => 3,
            Self::Text(_) => 4,
            Self::Uuid(_) => 5,
            Self::Vertex(_) => 6,
            Self::Edge(..) => 7,
            Self::VertexProperty(_) => 8,
            Self::Property(_) => 9,
            Self::Path(_) => 10,
            Self::Set(_) => 11,
            Self::List(_) => 12,
            Self::Map(_) => 13,
            Self::Entry(_) => 14,
            Self::Tree(_) => 15,
            Self::Graph(_) => 16,
            Self::Token(_) => 4,
            Self::Bytes(_) => 17,
            Self::Profile(_) => 18,
            Self::Duration(_) => 19,
        }
    }

    /// The total order of `order()` and of `min` and `max` over mixed values: null, truth values,
    /// numbers with NaN last, instants, texts, UUIDs, vertices, edges, properties, paths, sets,
    /// lists, maps. Ends early once the query is over.
    #[must_use]
    pub fn order(&self, other: &Self) -> Ordering {
        if let (Some(a), Some(b)) = (Number::of(self), Number::of(other)) {
            return a.order(&b);
        }
        if self.is_deep() && !go_on(1) {
            return Ordering::Equal;
        }
        match (self, other) {
            (Self::Bool(a), Self::Bool(b)) => a.cmp(b),
            (Self::DateTime(a), Self::DateTime(b)) => a.instant().cmp(&b.instant()),
            (Self::Text(a), Self::Text(b)) => text_order(a, b),
            (Self::Duration(a), Self::Duration(b)) => a.cmp(b),
            (Self::Uuid(a), Self::Uuid(b)) => a.cmp(b),
            (Self::Bytes(a), Self::Bytes(b)) => a.cmp(b),
            (Self::Vertex(a), Self::Vertex(b)) => a.id().cmp(b.id()),
            (Self::Edge(a, _), Self::Edge(b, _)) => {
                let given = a.given_id().cmp(&b.given_id());
                given.then_with(|| a.id.cmp(&b.id))
            }
            (Self::VertexProperty(a), Self::VertexProperty(b)) => {
                let own = (a.vertex.id(), a.key, a.number);
                own.cmp(&(b.vertex.id(), b.key, b.number))
            }
            (Self::Property(a), Self::Property(b)) => {
                a.name.cmp(&b.name).then_with(|| a.value.order(&b.value))
            }
            (Self::Path(a), Self::Path(b)) => pairwise(&a.objects, &b.objects),
            (Self::List(a), Self::List(b)) => pairwise(a, b),
            (Self::Set(a), Self::Set(b)) => {
                pairwise(&sorted(a.iter().cloned()), &sorted(b.iter().cloned()))
            }
            (Self::Map(a), Self::Map(b)) => {
                let entry =
                    |(key, value): (&Self, &Self)| Self::list(vec![key.clone(), value.clone()]);
                pairwise(&sorted(a.iter().map(entry)), &sorted(b.iter().map(entry)))
            }
            (Self::Entry(a), Self::Entry(b)) => a.0.order(&b.0).then_with(|| a.1.order(&b.1)),
            (Self::Token(a), Self::Token(b)) => a.to_string().cmp(&b.to_string()),
            (Self::Token(a), Self::Text(b)) => text_order(&a.to_string(), b),
            (Self::Text(a), Self::Token(b)) => text_order(a, &b.to_string()),
            _ => self.family().cmp(&other.family()),
        }
    }
}

fn text_order(a: &str, b: &str) -> Ordering {
    match go_on_bytes(a.len().min(b.len())) {
        true => a.cmp(b),
        false => Ordering::Equal,
    }
}

fn sorted(items: impl Iterator<Item = Value>) -> Vec<Value> {
    sort(items.collect(), |a, b| a.order(b))
}

/// Sorts, with equal items in their order. Unlike the standard library's sort, this does not panic
/// if the comparisons contradict each other, as they do once the query is over.
pub fn sort<T>(items: Vec<T>, mut order: impl FnMut(&T, &T) -> Ordering) -> Vec<T> {
    let count = items.len();
    let mut precedes = |a: usize, b: usize| !go_on(1) || order(&items[a], &items[b]).is_le();
    let mut places: Vec<usize> = (0..count).collect();
    let mut merged = places.clone();
    let mut width = 1;
    while width < count {
        for start in (0..count).step_by(2 * width) {
            let middle = (start + width).min(count);
            let end = (middle + width).min(count);
            let (mut a, mut b) = (start, middle);
            for to in &mut merged[start..end] {
                let is_left = b == end || a < middle && precedes(places[a], places[b]);
                let from = if is_left { &mut a } else { &mut b };
                *to = places[*from];
                *from += 1;
            }
        }
        std::mem::swap(&mut places, &mut merged);
        width *= 2;
    }
    let mut items: Vec<Option<T>> = items.into_iter().map(Some).collect();
    let sorted = places.into_iter().filter_map(|place| items[place].take());
    sorted.collect()
}

fn pairwise(a: &[Value], b: &[Value]) -> Ordering {
    let mut pairs = a.iter().zip(b);
    let first = pairs.find_map(|(a, b)| match a.order(b) {
        Ordering::Equal => None,
        other => Some(other),
    });
    first.unwrap_or_else(|| a.len().cmp(&b.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorting_keeps_equal_items_in_their_order_and_bears_contradictions() {
        let numbers: Vec<(u32, usize)> = (0..1_000)
            .map(|at| (at * 7_919 % 101, at as usize))
            .collect();
        let mut expected = numbers.clone();
        expected.sort_by_key(|(number, _)| *number);
        assert_eq!(sort(numbers.clone(), |a, b| a.0.cmp(&b.0)), expected);
        assert_eq!(sort(Vec::<u8>::new(), Ord::cmp), []);
        let mut calls = 0;
        let contradicting = sort(numbers.clone(), |_, _| {
            calls += 1;
            match calls % 3 {
                0 => Ordering::Less,
                _ => Ordering::Greater,
            }
        });
        assert_eq!(contradicting.len(), numbers.len());
    }
}
