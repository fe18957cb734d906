//! The naive graph at one point of both times, as a view for queries.

use std::cmp::Ordering;

use varve_model::{
    CommitVersion, Condition, Direction, Edge, EdgeId, Element, ElementId, Properties,
    PropertyKeyId, TemporalScope, Vertex, VertexId, VertexLabelId,
};
use varve_view::{
    EdgeFound, Elements, Expand, Flow, GraphView, Meter, Neighbour, PastVersion, ScanAsk,
    ScanPosition, ScannedEdge, ScannedElement, VertexFound, ViewError,
};

use super::{Model, Point};

/// All elements that exist at a point. Every read looks at all of them.
#[derive(Debug, Clone)]
pub struct ModelView {
    vertices: Vec<Vertex>,
    edges: Vec<Edge>,
    past: Vec<(ElementId, PastVersion)>,
}

/// A key of another view.
#[derive(Debug, thiserror::Error)]
#[error("not a key of this view: {0:?}")]
struct WrongKey(Vec<u8>);

const NUMBER: u8 = 0;
const UUID: u8 = 1;
const TEXT: u8 = 2;

impl ModelView {
    /// The view of `model` at a point.
    #[must_use]
    pub fn new(model: &Model, at: Point) -> Self {
        Self::of(model.vertices(at), model.edges(at))
    }

    /// A view of these elements.
    #[must_use]
    pub const fn of(vertices: Vec<Vertex>, edges: Vec<Edge>) -> Self {
        Self {
            vertices,
            edges,
            past: Vec::new(),
        }
    }

    /// The same view with these past versions, newest first.
    #[must_use]
    pub fn with_past(self, past: Vec<(ElementId, PastVersion)>) -> Self {
        Self { past, ..self }
    }

    /// The vertices that exist.
    #[must_use]
    pub fn all_vertices(&self) -> &[Vertex] {
        &self.vertices
    }

    /// The edges that exist.
    #[must_use]
    pub fn all_edges(&self) -> &[Edge] {
        &self.edges
    }

    /// The edges of a vertex in the order of [`GraphView::neighbours`], each with its direction and
    /// its position among all edges.
    fn edges_of(&self, vertex: &VertexId, ask: &Expand<'_>) -> Vec<(Direction, usize)> {
        let mut found = Vec::new();
        for direction in [Direction::Out, Direction::In] {
            let wanted = |edge: &Edge| {
                let labels = [edge.id.label, edge.id.parent];
                let labelled =
                    ask.labels.is_empty() || labels.iter().any(|label| ask.labels.contains(label));
                labelled && edge.id.owner(direction) == vertex
            };
            let edges = self.edges.iter().enumerate();
            let mut one_way: Vec<_> = edges.filter(|(_, edge)| wanted(edge)).collect();
            one_way.sort_by_key(|(_, edge)| {
                let id = &edge.id;
                let own = match id.label == id.parent {
                    true => 0,
                    false => id.label.0,
                };
                (
                    id.parent,
                    own,
                    id.sort_values.clone(),
                    id.other(direction).clone(),
                )
            });
            found.extend(one_way.into_iter().map(|(at, _)| (direction, at)));
        }
        found.retain(|(direction, _)| ask.direction.is_none_or(|asked| asked == *direction));
        found
    }

    /// The positions of the elements of a scan, in the scan's order.
    fn scanned(&self, ask: &ScanAsk<'_>) -> Vec<usize> {
        let wanted = |properties: &Properties| {
            let ordered = ask
                .order
                .is_none_or(|order| properties.get(order.key).is_some());
            ordered && self.satisfies(ask.conditions, properties)
        };
        let properties = |at: usize| match ask.elements {
            Elements::Vertices(_) => &self.vertices[at].properties,
            Elements::Edges(_) => &self.edges[at].properties,
        };
        let labelled = |at: usize| match ask.elements {
            Elements::Vertices([]) | Elements::Edges([]) => true,
            Elements::Vertices(labels) => labels.contains(&self.vertices[at].label),
            Elements::Edges(labels) => {
                let id = &self.edges[at].id;
                labels.contains(&id.label) || labels.contains(&id.parent)
            }
        };
        let count = match ask.elements {
            Elements::Vertices(_) => self.vertices.len(),
            Elements::Edges(_) => self.edges.len(),
        };
        let mut found: Vec<usize> = (0..count).collect();
        found.retain(|at| labelled(*at) && wanted(properties(*at)));
        if let Some(order) = ask.order {
            found.sort_by(|a, b| {
                let values = [*a, *b].map(|at| properties(at).get(order.key));
                let compared = values[0].zip(values[1]).and_then(|(a, b)| a.compare(b));
                compared.unwrap_or(Ordering::Equal)
            });
            if order.descending {
                found.reverse();
            }
        }
        found
    }

    fn show(
        &self,
        at: usize,
        ask: &ScanAsk<'_>,
        visit: &mut dyn FnMut(&ScannedElement<'_>) -> Flow,
    ) -> Flow {
        match ask.elements {
            Elements::Vertices(_) => {
                let vertex = &self.vertices[at];
                visit(&ScannedElement::Vertex {
                    key: &self.key(&vertex.id),
                    vertex: VertexFound {
                        label: vertex.label,
                        properties: &picked(&vertex.properties, ask.properties),
                    },
                })
            }
            Elements::Edges(_) => {
                let edge = &self.edges[at];
                visit(&ScannedElement::Edge(ScannedEdge {
                    source: &self.key(&edge.id.source),
                    target: &self.key(&edge.id.target),
                    edge: &at.to_be_bytes(),
                    label: edge.id.label,
                    source_label: edge.source_label,
                    target_label: edge.target_label,
                    properties: &picked(&edge.properties, ask.properties),
                }))
            }
        }
    }

    fn key(&self, id: &VertexId) -> Vec<u8> {
        let mut key = Vec::new();
        self.put_vertex_key(id, &mut key);
        key
    }
}

fn picked(properties: &Properties, keys: &[PropertyKeyId]) -> Properties {
    let all = properties.iter();
    let wanted = all.filter(|(key, _)| keys.contains(key));
    wanted.map(|(key, value)| (key, value.clone())).collect()
}

impl GraphView for ModelView {
    fn put_vertex_key(&self, id: &VertexId, out: &mut Vec<u8>) {
        match id {
            VertexId::Number(number) => {
                out.push(NUMBER);
                out.extend(((*number as u64) ^ (1 << 63)).to_be_bytes());
            }
            VertexId::Uuid(uuid) => {
                out.push(UUID);
                out.extend(uuid.to_be_bytes());
            }
            VertexId::Text(text) => {
                out.push(TEXT);
                out.extend((text.len() as u32).to_be_bytes());
                out.extend(text.as_bytes());
            }
        }
    }

    fn vertex_id(&self, key: &[u8]) -> Result<VertexId, ViewError> {
        let wrong = || ViewError::store(WrongKey(key.to_vec()));
        let (kind, rest) = key.split_first().ok_or_else(wrong)?;
        Ok(match *kind {
            NUMBER => {
                let bytes = rest.try_into().map_err(|_| wrong())?;
                VertexId::Number((u64::from_be_bytes(bytes) ^ (1 << 63)) as i64)
            }
            UUID => VertexId::Uuid(u128::from_be_bytes(rest.try_into().map_err(|_| wrong())?)),
            _ => {
                let text = rest.get(4..).ok_or_else(wrong)?;
                VertexId::text(std::str::from_utf8(text).map_err(|_| wrong())?)
            }
        })
    }

    fn edge_id(&self, _from: &[u8], edge: &[u8]) -> Result<EdgeId, ViewError> {
        let wrong = || ViewError::store(WrongKey(edge.to_vec()));
        let at = usize::from_be_bytes(edge.try_into().map_err(|_| wrong())?);
        let edge = self.edges.get(at).ok_or_else(wrong)?;
        Ok(edge.id.clone())
    }

    fn neighbours(
        &self,
        from: &[&[u8]],
        ask: &Expand<'_>,
        meter: &Meter,
        visit: &mut dyn FnMut(usize, &Neighbour<'_>) -> Flow,
    ) -> Result<(), ViewError> {
        for (at, key) in from.iter().enumerate() {
            let vertex = self.vertex_id(key)?;
            for (direction, number) in self.edges_of(&vertex, ask) {
                meter.row()?;
                let edge = &self.edges[number];
                let neighbour = Neighbour {
                    direction,
                    label: edge.id.label,
                    edge: &number.to_be_bytes(),
                    other: &self.key(edge.id.other(direction)),
                    other_label: match direction {
                        Direction::Out => edge.target_label,
                        Direction::In => edge.source_label,
                    },
                    properties: &picked(&edge.properties, ask.properties),
                };
                if visit(at, &neighbour).is_break() {
                    break;
                }
            }
        }
        Ok(())
    }

    fn vertices(
        &self,
        keys: &[&[u8]],
        properties: &[PropertyKeyId],
        meter: &Meter,
        found: &mut dyn FnMut(usize, VertexLabelId, Properties),
    ) -> Result<(), ViewError> {
        for (at, key) in keys.iter().enumerate() {
            meter.row()?;
            let id = self.vertex_id(key)?;
            if let Some(vertex) = self.vertices.iter().find(|vertex| vertex.id == id) {
                let properties = picked(&vertex.properties, properties);
                found(at, vertex.label, properties);
            }
        }
        Ok(())
    }

    fn scan(
        &self,
        ask: &ScanAsk<'_>,
        from: Option<&ScanPosition>,
        demand: usize,
        meter: &Meter,
        visit: &mut dyn FnMut(&ScannedElement<'_>) -> Flow,
    ) -> Result<Option<ScanPosition>, ViewError> {
        let wrong = |place: &ScanPosition| ViewError::store(WrongKey(place.bytes().to_vec()));
        let first = match from {
            None => 0,
            Some(place) => {
                let bytes = place.bytes().try_into().map_err(|_| wrong(place))?;
                usize::from_be_bytes(bytes)
            }
        };
        let found = self.scanned(ask);
        for (shown, at) in found.iter().enumerate().skip(first) {
            meter.row()?;
            let flow = self.show(*at, ask, visit);
            if flow.is_break() || shown + 1 - first >= demand.max(1) {
                let place = ScanPosition::new((shown + 1).to_be_bytes().to_vec());
                return Ok(Some(place).filter(|_| shown + 1 < found.len()));
            }
        }
        Ok(None)
    }

    fn estimate(
        &self,
        ask: &ScanAsk<'_>,
        most: u64,
        _meter: &Meter,
    ) -> Result<Option<u64>, ViewError> {
        Ok(Some(most.min(self.scanned(ask).len() as u64)))
    }

    fn edges(
        &self,
        ids: &[EdgeId],
        properties: &[PropertyKeyId],
        meter: &Meter,
        found: &mut dyn FnMut(usize, EdgeFound<'_>),
    ) -> Result<(), ViewError> {
        for (at, id) in ids.iter().enumerate() {
            meter.row()?;
            if let Some(edge) = self.edges.iter().find(|edge| edge.id == *id) {
                found(
                    at,
                    EdgeFound {
                        source_label: edge.source_label,
                        target_label: edge.target_label,
                        properties: &picked(&edge.properties, properties),
                    },
                );
            }
        }
        Ok(())
    }

    fn edges_given(
        &self,
        id: &VertexId,
        meter: &Meter,
        found: &mut dyn FnMut(EdgeId),
    ) -> Result<(), ViewError> {
        for edge in &self.edges {
            meter.row()?;
            if varve_model::sortable::given_id(&edge.id.sort_values).as_ref() == Some(id) {
                found(edge.id.clone());
            }
        }
        Ok(())
    }

    fn versions(
        &self,
        id: &ElementId,
        meter: &Meter,
        visit: &mut dyn FnMut(PastVersion) -> Flow,
    ) -> Result<(), ViewError> {
        for (_, version) in self.past.iter().filter(|(own, _)| own == id) {
            meter.row()?;
            if visit(version.clone()).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// The state in the newest version that covers the point.
    fn element_at(
        &self,
        id: &ElementId,
        at: TemporalScope,
        meter: &Meter,
    ) -> Result<Option<Element>, ViewError> {
        meter.row()?;
        let newest = at.transaction.unwrap_or(CommitVersion::MAX);
        let mut own = self.past.iter().filter(|(own, version)| {
            let covers = at.valid.is_none_or(|valid| version.period.covers(valid));
            own == id && version.version <= newest && covers
        });
        Ok(own.next().and_then(|(_, version)| version.element.clone()))
    }

    fn satisfies(&self, conditions: &[Condition], properties: &Properties) -> bool {
        let contains = |text: &str, words: &str| text.contains(words);
        let mut conditions = conditions.iter();
        conditions.all(|condition| condition.holds(properties, &contains))
    }
}
