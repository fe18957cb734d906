//! Reads of the model.

use std::collections::{BTreeMap, BTreeSet};

use varve_model::{
    CommitVersion, Direction, Edge, EdgeLabelId, Element, ElementId, IndexLabel, Instant, Period,
    Value, Vertex, VertexId, VertexLabelId,
};

use super::{Event, Model, Point};

/// One version of an element, as an entry of its history.
#[derive(Debug, Clone, PartialEq)]
pub struct Past {
    /// The commit version.
    pub version: CommitVersion,
    /// The valid period.
    pub period: Period,
    /// The state; `None` for a deletion.
    pub state: Option<Element>,
    /// A deletion of nothing, which a graph need not list.
    pub idle: bool,
}

impl Model {
    /// Every element that exists at a point, ascending by id. Goes through the events in commit
    /// order: each visible event that covers the instant sets the state of its element.
    #[must_use]
    pub fn elements(&self, at: Point) -> Vec<Element> {
        let version = self.whole(at.version);
        let counts = |event: &&Event| event.version <= version && event.period.covers(at.valid);
        let mut states: BTreeMap<&ElementId, Option<&Element>> = BTreeMap::new();
        for event in self.events.iter().filter(counts) {
            states.insert(&event.id, event.state.as_ref());
        }
        states.into_values().flatten().cloned().collect()
    }

    /// Every vertex that exists at a point, ascending by id.
    #[must_use]
    pub fn vertices(&self, at: Point) -> Vec<Vertex> {
        let elements = self.elements(at).into_iter();
        let vertices = elements.filter_map(|element| match element {
            Element::Vertex(vertex) => Some(vertex),
            Element::Edge(_) => None,
        });
        vertices.collect()
    }

    /// Every edge that exists at a point, ascending by id.
    #[must_use]
    pub fn edges(&self, at: Point) -> Vec<Edge> {
        let elements = self.elements(at).into_iter();
        let edges = elements.filter_map(|element| match element {
            Element::Edge(edge) => Some(edge),
            Element::Vertex(_) => None,
        });
        edges.collect()
    }

    /// The vertices of a label.
    #[must_use]
    pub fn vertices_of(&self, label: VertexLabelId, at: Point) -> Vec<Vertex> {
        let mut vertices = self.vertices(at);
        vertices.retain(|vertex| vertex.label == label);
        vertices
    }

    /// The edges of a label, or of a parent label's sub labels.
    #[must_use]
    pub fn edges_of(&self, label: EdgeLabelId, at: Point) -> Vec<Edge> {
        let mut edges = self.edges(at);
        edges.retain(|edge| edge.id.label == label || edge.id.parent == label);
        edges
    }

    /// The edges of a vertex in one direction, in the order of their keys: parent label, own label
    /// (edges of the parent label itself first), sort values, other vertex.
    #[must_use]
    pub fn adjacent(&self, vertex: &VertexId, direction: Direction, at: Point) -> Vec<Edge> {
        let mut edges = self.edges(at);
        edges.retain(|edge| edge.id.owner(direction) == vertex);
        edges.sort_by_key(|edge| {
            let id = &edge.id;
            let own = if id.label == id.parent {
                EdgeLabelId(0)
            } else {
                id.label
            };
            let sort = id.sort_values.as_bytes().to_vec();
            (id.parent, own, sort, id.other(direction).clone())
        });
        edges
    }

    /// The states of an element along valid time as of T, ascending, each with the version of its
    /// deciding event.
    #[must_use]
    pub fn timeline(
        &self,
        id: &ElementId,
        version: CommitVersion,
    ) -> Vec<(Period, CommitVersion, Element)> {
        let own = self.events.iter().filter(|event| event.id == *id);
        let ends: BTreeSet<Instant> = own
            .flat_map(|event| [event.period.from, event.period.to])
            .collect();
        let ends: Vec<Instant> = ends.into_iter().collect();
        let mut spells: Vec<(Period, CommitVersion, Element)> = Vec::new();
        for part in ends.windows(2) {
            let period = Period {
                from: part[0],
                to: part[1],
            };
            let at = Point {
                valid: period.from,
                version,
            };
            let Some(event) = self.deciding(id, at) else {
                continue;
            };
            let Some(state) = &event.state else { continue };
            match spells.last_mut() {
                Some((before, version, _))
                    if *version == event.version && before.to == period.from =>
                {
                    before.to = period.to;
                }
                _ => spells.push((period, event.version, state.clone())),
            }
        }
        spells
    }

    /// The history of an element as of T, newest first.
    #[must_use]
    pub fn history(&self, id: &ElementId, version: CommitVersion) -> Vec<Past> {
        let version = self.whole(version);
        let of_element = self.events.iter().filter(|event| event.id == *id);
        let mut events: Vec<_> = of_element
            .filter(|event| event.version <= version)
            .collect();
        events.sort_by_key(|event| std::cmp::Reverse(event.version));
        let past = |event: &Event| Past {
            version: event.version,
            period: event.period,
            state: event.state.clone(),
            idle: event.idle,
        };
        events.into_iter().map(past).collect()
    }
}

/// The values of an index's fields, if the index covers the element and the element has all of
/// them.
pub(super) fn tuple(label: &IndexLabel, element: &Element) -> Option<Vec<Value>> {
    use varve_model::schema::IndexBase;
    let covered = match (label.base, element) {
        (IndexBase::Vertex(base), Element::Vertex(vertex)) => base == vertex.label,
        (IndexBase::Edge(base), Element::Edge(edge)) => base == edge.id.label,
        _ => false,
    };
    let fields = label.fields.iter();
    let values: Option<Vec<Value>> = fields
        .map(|field| element.properties().get(*field).cloned())
        .collect();
    values.filter(|_| covered)
}
