//! Equality and comparison of predicates, and the total order of `order()`.

use std::cmp::Ordering;

use super::Value;
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
    /// Equality of predicates: numbers are equal by value, of any width; NaN equals nothing.
    #[must_use]
    pub fn equals(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::List(a), Self::List(b)) => {
                a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| a.equals(b))
            }
            (Self::Set(a), Self::Set(b)) => {
                a.len() == b.len()
                    && a.iter()
                        .all(|a| b.contains(a) || b.iter().any(|b| a.equals(b)))
            }
            (Self::Map(a), Self::Map(b)) => {
                let same = |(key, value): (&Self, &Self)| {
                    let exact = b.get(key);
                    let other = exact.or_else(|| {
                        let found = b.iter().find(|(other, _)| key.equals(other));
                        found.map(|(_, value)| value)
                    });
                    other.is_some_and(|other| value.equals(other))
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

    /// The order of predicates, which exists only within a family of values.
    #[must_use]
    pub fn compare(&self, other: &Self) -> Comparison {
        if let (Some(a), Some(b)) = (Number::of(self), Number::of(other)) {
            return a.compare(&b).map_or(Comparison::None, Comparison::Ordered);
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
        }
    }

    /// The total order of `order()` and of `min` and `max` over mixed values: null, truth values,
    /// numbers with NaN last, instants, texts, UUIDs, vertices, edges, properties, paths, sets,
    /// lists, maps.
    #[must_use]
    pub fn order(&self, other: &Self) -> Ordering {
        if let (Some(a), Some(b)) = (Number::of(self), Number::of(other)) {
            return a.order(&b);
        }
        match (self, other) {
            (Self::Bool(a), Self::Bool(b)) => a.cmp(b),
            (Self::DateTime(a), Self::DateTime(b)) => a.micros.cmp(&b.micros),
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
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
                let sorted = |set: &super::ValueSet| {
                    let mut items: Vec<Self> = set.iter().cloned().collect();
                    items.sort_by(Self::order);
                    items
                };
                pairwise(&sorted(a), &sorted(b))
            }
            (Self::Map(a), Self::Map(b)) => {
                let sorted = |map: &super::ValueMap| {
                    let entry =
                        |(key, value): (&Self, &Self)| Self::list(vec![key.clone(), value.clone()]);
                    let mut items: Vec<Self> = map.iter().map(entry).collect();
                    items.sort_by(Self::order);
                    items
                };
                pairwise(&sorted(a), &sorted(b))
            }
            (Self::Entry(a), Self::Entry(b)) => a.0.order(&b.0).then_with(|| a.1.order(&b.1)),
            (Self::Token(a), Self::Token(b)) => a.to_string().cmp(&b.to_string()),
            (Self::Token(a), Self::Text(b)) => a.to_string().as_str().cmp(b.as_str()),
            (Self::Text(a), Self::Token(b)) => a.as_str().cmp(b.to_string().as_str()),
            _ => self.family().cmp(&other.family()),
        }
    }
}

fn pairwise(a: &[Value], b: &[Value]) -> Ordering {
    let mut pairs = a.iter().zip(b);
    let first = pairs.find_map(|(a, b)| match a.order(b) {
        Ordering::Equal => None,
        other => Some(other),
    });
    first.unwrap_or_else(|| a.len().cmp(&b.len()))
}
