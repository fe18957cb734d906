//! Equivalence: the equality of `dedup`, of groups and of map keys.

use std::hash::{Hash, Hasher};
use std::mem::discriminant;

use super::{DateTime, Path, Tree, Value, Walked};

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
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
            (Self::Text(a), Self::Text(b)) => a == b,
            (Self::Bytes(a), Self::Bytes(b)) => a == b,
            (Self::Uuid(a), Self::Uuid(b)) => a == b,
            (Self::DateTime(a), Self::DateTime(b)) => a == b,
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
    fn hash<H: Hasher>(&self, state: &mut H) {
        discriminant(self).hash(state);
        match self {
            Self::Null | Self::Profile(_) => {}
            Self::Bool(value) => value.hash(state),
            Self::Byte(value) => value.hash(state),
            Self::Short(value) => value.hash(state),
            Self::Int(value) => value.hash(state),
            Self::Long(value) => value.hash(state),
            Self::BigInt(value) => value.hash(state),
            Self::Float(value) => bits32(*value).hash(state),
            Self::Double(value) => bits64(*value).hash(state),
            Self::BigDecimal(value) => value.hash(state),
            Self::Text(value) => value.hash(state),
            Self::Bytes(value) => value.hash(state),
            Self::Uuid(value) => value.hash(state),
            Self::DateTime(value) => value.micros.hash(state),
            Self::List(items) => items.hash(state),
            // The hash must not depend on the order of the members.
            Self::Set(items) => sum_of_hashes(items.iter()).hash(state),
            Self::Map(map) => sum_of_hashes(map.iter()).hash(state),
            Self::Entry(entry) => entry.hash(state),
            Self::Vertex(vertex) => vertex.id().hash(state),
            Self::Edge(edge, _) => edge.id.hash(state),
            Self::VertexProperty(property) => {
                property.vertex.id().hash(state);
                property.value.hash(state);
            }
            Self::Property(property) => {
                property.name.hash(state);
                property.value.hash(state);
            }
            Self::Path(path) => path.objects.hash(state),
            Self::Tree(tree) => sum_of_hashes(tree.0.keys()).hash(state),
            Self::Graph(graph) => sum_of_hashes(graph.edges.iter()).hash(state),
            Self::Token(token) => token.hash(state),
        }
    }
}

impl PartialEq for DateTime {
    fn eq(&self, other: &Self) -> bool {
        self.micros == other.micros
    }
}

impl Eq for DateTime {}

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

/// A hash that does not depend on the order of the members.
fn sum_of_hashes<T: Hash>(members: impl Iterator<Item = T>) -> u64 {
    let hash = |member: T| {
        let mut hasher = rustc_hash::FxHasher::default();
        member.hash(&mut hasher);
        hasher.finish()
    };
    members.map(hash).fold(0, u64::wrapping_add)
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
