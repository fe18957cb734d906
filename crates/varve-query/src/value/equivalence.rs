//! Equivalence: the equality of `dedup`, of groups and of map keys.

use std::hash::{BuildHasher, Hash, Hasher};
use std::mem::discriminant;
use std::sync::OnceLock;

use foldhash::fast::RandomState;
use indexmap::Equivalent;
use varve_view::work::{go_on, go_on_bytes};

use super::number::Number;
use super::{Path, Tree, Value, Walked};

/// A value to look up in a set or among the keys of a map by [`Value::equals`]. Values that are
/// equal have equal hashes.
pub(super) struct Equal<'v>(pub(super) &'v Value);

impl Hash for Equal<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl Equivalent<Value> for Equal<'_> {
    fn equivalent(&self, key: &Value) -> bool {
        self.0.equals(key)
    }
}

impl PartialEq for Value {
    /// Ends early, with false, once the query is over.
    fn eq(&self, other: &Self) -> bool {
        if self.is_deep() && !go_on(1) {
            return false;
        }
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Byte(a), Self::Byte(b)) => a == b,
            (Self::Short(a), Self::Short(b)) => a == b,
            (Self::Int(a), Self::Int(b)) => a == b,
            (Self::Long(a), Self::Long(b)) => a == b,
            (Self::BigInt(a), Self::BigInt(b)) => a == b,
            (Self::Float(a), Self::Float(b)) => bits32(*a) == bits32(*b),
            (Self::Double(a), Self::Double(b)) => bits64(*a) == bits64(*b),
            (Self::BigDecimal(a), Self::BigDecimal(b)) => a == b,
            (Self::Text(a), Self::Text(b)) => a.len() == b.len() && go_on_bytes(a.len()) && a == b,
            (Self::Bytes(a), Self::Bytes(b)) => {
                a.len() == b.len() && go_on_bytes(a.len()) && a == b
            }
            (Self::Uuid(a), Self::Uuid(b)) => a == b,
            (Self::DateTime(a), Self::DateTime(b)) => a == b,
            (Self::Duration(a), Self::Duration(b)) => a == b,
            (Self::List(a), Self::List(b)) => a == b,
            (Self::Set(a), Self::Set(b)) => a == b,
            (Self::Map(a), Self::Map(b)) => a == b,
            (Self::Entry(a), Self::Entry(b)) => a == b,
            (Self::Vertex(a), Self::Vertex(b)) => {
                a.id() == b.id() && a.other_state() == b.other_state()
            }
            (Self::Edge(a, _), Self::Edge(b, _)) => {
                a.id == b.id && a.other_state() == b.other_state()
            }
            (Self::VertexProperty(a), Self::VertexProperty(b)) => {
                a.vertex.id() == b.vertex.id()
                    && a.vertex.other_state() == b.vertex.other_state()
                    && (a.key, a.number) == (b.key, b.number)
                    && a.value == b.value
            }
            (Self::Property(a), Self::Property(b)) => a.name == b.name && a.value == b.value,
            (Self::Path(a), Self::Path(b)) => a == b,
            (Self::Tree(a), Self::Tree(b)) => a == b,
            (Self::Graph(a), Self::Graph(b)) => a == b,
            (Self::Profile(a), Self::Profile(b)) => a == b,
            (Self::Token(a), Self::Token(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for Value {}

impl Value {
    /// Whether this has members, which may be shared and thus be more than they take in memory.
    pub(super) const fn is_deep(&self) -> bool {
        matches!(
            self,
            Self::List(_)
                | Self::Set(_)
                | Self::Map(_)
                | Self::Entry(_)
                | Self::Path(_)
                | Self::Tree(_)
                | Self::Graph(_)
        )
    }

    /// Whether a step can distinguish this value from an equal one. A property of an edge leads
    /// back to its owner, and a walked edge to the vertex that it was walked from. The same holds
    /// for a value that contains one.
    pub(crate) fn leads_back(&self) -> bool {
        match self {
            Self::Property(_) => true,
            Self::Edge(_, walked) => !matches!(walked, Walked::No),
            Self::List(items) => items.iter().any(Self::leads_back),
            Self::Set(items) => items.iter().any(Self::leads_back),
            Self::Map(map) => {
                let mut entries = map.iter();
                entries.any(|(key, value)| key.leads_back() || value.leads_back())
            }
            Self::Entry(entry) => entry.0.leads_back() || entry.1.leads_back(),
            Self::Path(path) => path.objects.iter().any(Self::leads_back),
            Self::Tree(tree) => tree.leads_back(),
            Self::Graph(graph) => graph.edges.iter().any(Self::leads_back),
            _ => false,
        }
    }
}

impl Tree {
    fn leads_back(&self) -> bool {
        let mut branches = self.0.iter();
        branches.any(|(key, below)| key.leads_back() || below.leads_back())
    }
}

impl Hash for Value {
    /// Hashes numbers by value, so that equal numbers of any width have equal hashes. Ends early
    /// once the query is over.
    fn hash<H: Hasher>(&self, state: &mut H) {
        if let Some(number) = Number::of(self) {
            return number.hash_by_value(state);
        }
        discriminant(self).hash(state);
        if self.is_deep() && !go_on(1) {
            return;
        }
        match self {
            Self::Text(text) if go_on_bytes(text.len()) => text.hash(state),
            Self::Bytes(bytes) if go_on_bytes(bytes.len()) => bytes.hash(state),
            Self::Bool(value) => value.hash(state),
            Self::Uuid(value) => value.hash(state),
            Self::DateTime(value) => value.hash(state),
            Self::Duration(value) => value.hash(state),
            Self::List(items) => items.hash(state),
            // The hash must not depend on the order of the members.
            Self::Set(items) => sum_of_hashes(items.iter()).hash(state),
            Self::Map(map) => sum_of_hashes(map.iter()).hash(state),
            Self::Entry(entry) => entry.hash(state),
            Self::Vertex(vertex) => vertex.id().hash(state),
            Self::Edge(edge, _) => edge.id.hash(state),
            Self::VertexProperty(property) => {
                property.vertex.id().hash(state);
                (property.key, property.number).hash(state);
            }
            Self::Property(property) => {
                property.name.hash(state);
                property.value.hash(state);
            }
            Self::Path(path) => {
                path.objects.hash(state);
                path.labels.hash(state);
            }
            Self::Tree(tree) => tree.hash(state),
            Self::Graph(graph) => sum_of_hashes(graph.members()).hash(state),
            Self::Token(token) => token.hash(state),
            _ => {}
        }
    }
}

impl Hash for Tree {
    fn hash<H: Hasher>(&self, state: &mut H) {
        sum_of_hashes(self.0.iter()).hash(state);
    }
}

impl PartialEq for Path {
    fn eq(&self, other: &Self) -> bool {
        self.objects == other.objects && self.labels == other.labels
    }
}

impl PartialEq for Tree {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

/// A hash that does not depend on the order of the members. The seed is random for each process, so
/// that a client cannot construct collisions.
fn sum_of_hashes<T: Hash>(members: impl Iterator<Item = T>) -> u64 {
    static SEED: OnceLock<RandomState> = OnceLock::new();
    let seed = SEED.get_or_init(RandomState::default);
    let hashes = members.map(|member| seed.hash_one(member));
    hashes.fold(0, u64::wrapping_add)
}

/// All NaNs are equal; 0.0 and -0.0 differ.
fn bits32(value: f32) -> u32 {
    match value.is_nan() {
        true => f32::NAN.to_bits(),
        false => value.to_bits(),
    }
}

fn bits64(value: f64) -> u64 {
    match value.is_nan() {
        true => f64::NAN.to_bits(),
        false => value.to_bits(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use num_bigint::BigInt;
    use varve_model::Decimal;
    use varve_view::{CancelToken, Meter, MeterLimits};

    use super::*;

    fn hash(value: &Value) -> u64 {
        static SEED: OnceLock<RandomState> = OnceLock::new();
        SEED.get_or_init(RandomState::default).hash_one(value)
    }

    fn decimal(text: &str) -> Value {
        Value::BigDecimal(Arc::new(Decimal::parse(text).expect(text)))
    }

    #[test]
    fn equal_numbers_have_equal_hashes() {
        let big = |number: i128| Value::BigInt(Arc::new(BigInt::from(number)));
        let equal = [
            vec![
                Value::Byte(1),
                Value::Short(1),
                Value::Int(1),
                Value::Long(1),
                big(1),
                Value::Float(1.0),
                Value::Double(1.0),
                decimal("1"),
                decimal("1.000"),
            ],
            vec![
                Value::Double(0.0),
                Value::Double(-0.0),
                Value::Int(0),
                decimal("0.00"),
            ],
            vec![Value::Double(0.1), decimal("0.1"), decimal("0.10")],
            vec![Value::Float(0.5), Value::Double(0.5), decimal("0.5")],
            vec![
                Value::Long(1 << 62),
                Value::Double(4_611_686_018_427_387_904.0),
            ],
            // As in Java, this DOUBLE is not 10^23 but the whole number that it stands for.
            vec![
                Value::Double(1e23),
                decimal("99999999999999991611392"),
                big(99_999_999_999_999_991_611_392),
            ],
            vec![decimal("1E23"), big(10_i128.pow(23))],
            vec![Value::Double(f64::INFINITY), Value::Float(f32::INFINITY)],
        ];
        for (at, class) in equal.iter().enumerate() {
            for a in class {
                for b in class {
                    assert!(a.equals(b), "{} {}", a.shown(), b.shown());
                    assert_eq!(hash(a), hash(b), "{} {}", a.shown(), b.shown());
                }
                let others = equal.iter().enumerate().filter(|(other, _)| *other != at);
                for b in others.flat_map(|(_, class)| class) {
                    assert!(!a.equals(b), "{} {}", a.shown(), b.shown());
                }
            }
        }
        let set = |of: fn(i32) -> Value| Value::set((0..100).map(of));
        let longs = set(|number| Value::Long(number.into()));
        assert!(set(Value::Int).equals(&longs));
        assert!(longs.equals(&set(|number| Value::Double(number.into()))));
        assert!(!longs.equals(&set(|number| Value::Int(number + 1))));
    }

    #[test]
    fn sets_of_numbers_of_unlike_widths_are_compared_by_look_up() {
        // With a search for each member this takes hours.
        let ints = Value::set((0..1_000_000).map(Value::Int));
        let longs = Value::set((0..1_000_000).map(Value::Long));
        assert!(ints.equals(&longs));
        let map =
            |of: fn(i64) -> Value| Value::map((0..100_000).map(|number| (of(number), Value::Null)));
        let doubles = map(|number| Value::Double(number as f64));
        assert!(map(Value::Long).equals(&doubles));
    }

    #[test]
    fn work_on_shared_values_ends_with_the_query() {
        let shared = || {
            let leaf = Value::text(&"a".repeat(1_000));
            (0..60).fold(leaf, |below, _| Value::list(vec![below.clone(), below]))
        };
        let sets = || {
            (0..60).fold(Value::Int(1), |below, _| {
                Value::set([below.clone(), Value::list(vec![below.clone(), below])])
            })
        };
        let token = CancelToken::default();
        token.cancel();
        let meter = Meter::new(MeterLimits::NONE, token);
        let makers: [&dyn Fn() -> Value; 2] = [&shared, &sets];
        for make in makers {
            let _watched = meter.watched();
            let (a, b) = (make(), make());
            // Each of these takes 2^60 steps if nothing ends it.
            hash(&a);
            let _ = (a == b, a.equals(&b), a.order(&b), a.compare(&b));
            assert!(varve_view::work::is_over());
        }
    }
}
