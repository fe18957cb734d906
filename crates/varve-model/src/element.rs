//! Vertices and edges as values: an id, a label and properties.

use crate::{EdgeId, PropertyKeyId, Value, VertexId, VertexLabelId};

/// Properties in ascending order of property-key id, each key at most once.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Properties(Vec<(PropertyKeyId, Value)>);

impl Properties {
    /// No properties.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// No properties, with room for so many.
    #[must_use]
    pub fn with_capacity(count: usize) -> Self {
        Self(Vec::with_capacity(count))
    }

    /// The value of `key`.
    #[must_use]
    pub fn get(&self, key: PropertyKeyId) -> Option<&Value> {
        self.0
            .binary_search_by_key(&key, |(id, _)| *id)
            .ok()
            .map(|at| &self.0[at].1)
    }

    /// Sets the value of `key`, replacing an old one.
    pub fn set(&mut self, key: PropertyKeyId, value: Value) {
        match self.0.binary_search_by_key(&key, |(id, _)| *id) {
            Ok(at) => self.0[at].1 = value,
            Err(at) => self.0.insert(at, (key, value)),
        }
    }

    /// Removes the value of `key` and returns it.
    pub fn remove(&mut self, key: PropertyKeyId) -> Option<Value> {
        let at = self.0.binary_search_by_key(&key, |(id, _)| *id).ok()?;
        Some(self.0.remove(at).1)
    }

    /// Whether both have the same keys with identical values ([`Value::is_identical`]).
    #[must_use]
    pub fn is_identical(&self, other: &Self) -> bool {
        let same = |((k, x), (l, y)): ((_, &Value), (_, &Value))| k == l && x.is_identical(y);
        self.len() == other.len() && self.iter().zip(other.iter()).all(same)
    }

    /// Consumes the properties and returns all pairs, ascending by key id.
    pub fn into_pairs(self) -> impl Iterator<Item = (PropertyKeyId, Value)> {
        self.0.into_iter()
    }

    /// All pairs, ascending by key id.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (PropertyKeyId, &Value)> {
        self.0.iter().map(|(id, value)| (*id, value))
    }

    /// The number of properties.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no properties.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<(PropertyKeyId, Value)> for Properties {
    fn from_iter<I: IntoIterator<Item = (PropertyKeyId, Value)>>(pairs: I) -> Self {
        let mut properties = Self::new();
        for (key, value) in pairs {
            properties.set(key, value);
        }
        properties
    }
}

/// A vertex.
#[derive(Debug, Clone, PartialEq)]
pub struct Vertex {
    /// Its id.
    pub id: VertexId,
    /// Its label.
    pub label: VertexLabelId,
    /// Its properties.
    pub properties: Properties,
}

/// An edge. Its label is part of its id. It has the labels of its ends, so that it can be rendered
/// without reading the vertices.
#[derive(Debug, Clone, PartialEq)]
pub struct Edge {
    /// Its id.
    pub id: EdgeId,
    /// Label of the source vertex.
    pub source_label: VertexLabelId,
    /// Label of the target vertex.
    pub target_label: VertexLabelId,
    /// Its properties, sort keys included.
    pub properties: Properties,
}

/// Names one element of a graph, vertex or edge.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ElementId {
    /// A vertex.
    Vertex(VertexId),
    /// An edge.
    Edge(EdgeId),
}

impl std::fmt::Display for ElementId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Vertex(id) => id.fmt(f),
            Self::Edge(id) => id.fmt(f),
        }
    }
}

/// A vertex or an edge.
#[derive(Debug, Clone, PartialEq)]
pub enum Element {
    /// A vertex.
    Vertex(Vertex),
    /// An edge.
    Edge(Edge),
}

impl Element {
    /// The element's properties.
    #[must_use]
    pub fn properties(&self) -> &Properties {
        match self {
            Self::Vertex(vertex) => &vertex.properties,
            Self::Edge(edge) => &edge.properties,
        }
    }

    /// The element's id.
    #[must_use]
    pub fn id(&self) -> ElementId {
        match self {
            Self::Vertex(vertex) => ElementId::Vertex(vertex.id.clone()),
            Self::Edge(edge) => ElementId::Edge(edge.id.clone()),
        }
    }
}
