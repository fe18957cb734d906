//! A view whose elements the program that opens the graph presents ([`Presentation`]).

mod scan;

use varve_encoding::key;
use varve_model::{
    Condition, EdgeId, Element, ElementId, Instant, Properties, PropertyKeyId, TemporalScope,
    VertexId, VertexLabelId,
};
use varve_view::{
    EdgeFound, Expand, Flow, GraphView, Meter, Neighbour, PastVersion, ScanAsk, ScanPosition,
    ScannedElement, ViewError,
};

use super::graph_view::StoredView;
use crate::error::GraphError;
use crate::schema::{Presentation, PresentedElement, PresentedLabel};

/// A view that shows elements as they are presented.
pub(super) struct PresentedView<'v> {
    pub(super) stored: StoredView<'v>,
    pub(super) presentation: &'v Presentation,
}

/// The properties that a caller asks for.
struct Asked<'a> {
    /// The presented ones and others, ascending; `None` = all.
    keys: Option<&'a [PropertyKeyId]>,
    /// The stored properties to read, ascending.
    stored: Vec<PropertyKeyId>,
    /// Whether any of them is presented.
    contents: bool,
}

impl<'a> Asked<'a> {
    fn new(presentation: &Presentation, keys: Option<&'a [PropertyKeyId]>) -> Self {
        let is_presented = |key: &PropertyKeyId| Presentation::has_id(*key);
        let contents = keys.is_none_or(|keys| keys.iter().any(is_presented));
        let parts = presentation.presenter().stored_keys(contents);
        let others = keys.unwrap_or_default().iter();
        let others = others.filter(|key| !is_presented(key) && !presentation.replaces(**key));
        let mut stored: Vec<PropertyKeyId> = parts.iter().chain(others).copied().collect();
        stored.sort_unstable();
        stored.dedup();
        Self {
            keys,
            stored,
            contents,
        }
    }

    fn wants(&self, key: PropertyKeyId) -> bool {
        self.keys
            .is_none_or(|keys| keys.binary_search(&key).is_ok())
    }
}

impl PresentedView<'_> {
    /// The properties of an element as they are presented; `None` if queries do not see it.
    fn present(
        &self,
        element: &PresentedElement<'_>,
        asked: &Asked<'_>,
    ) -> Result<Option<Properties>, ViewError> {
        let mut properties = Properties::new();
        for (key, value) in element.stored.iter() {
            if asked.wants(key) && !self.presentation.replaces(key) {
                properties.set(key, value.clone());
            }
        }
        let give = &mut |name: &str, value| {
            if let Some(key) = self.presentation.key_named(name)
                && asked.wants(key.id)
            {
                properties.set(key.id, value);
            }
        };
        let presenter = self.presentation.presenter();
        let is_seen = presenter.present(element, asked.contents, give)?;
        Ok(is_seen.then_some(properties))
    }

    /// An element with all its properties as they are presented.
    fn whole(&self, element: Element) -> Result<Option<Element>, ViewError> {
        let asked = Asked::new(self.presentation, None);
        let (id, label, stored) = match &element {
            Element::Vertex(vertex) => (
                ElementId::Vertex(vertex.id.clone()),
                PresentedLabel::Vertex(vertex.label),
                &vertex.properties,
            ),
            Element::Edge(edge) => (
                ElementId::Edge(edge.id.clone()),
                PresentedLabel::Edge(edge.id.label),
                &edge.properties,
            ),
        };
        let seen = PresentedElement {
            id: &|| Ok(id.clone()),
            label,
            stored,
        };
        let Some(presented) = self.present(&seen, &asked)? else {
            return Ok(None);
        };
        let mut element = element;
        match &mut element {
            Element::Vertex(vertex) => vertex.properties = presented,
            Element::Edge(edge) => edge.properties = presented,
        }
        Ok(Some(element))
    }
}

/// The vertex with a key.
fn vertex_of(key: &[u8]) -> Result<ElementId, GraphError> {
    Ok(ElementId::Vertex(key::decode_vertex_id(key)?))
}

/// The edge with a key at a vertex.
fn edge_of(from: &[u8], edge: &[u8]) -> Result<ElementId, GraphError> {
    Ok(ElementId::Edge(key::decode_edge(from, edge)?.0))
}

impl GraphView for PresentedView<'_> {
    fn put_vertex_key(&self, id: &VertexId, out: &mut Vec<u8>) {
        self.stored.put_vertex_key(id, out);
    }

    fn vertex_id(&self, key: &[u8]) -> Result<VertexId, ViewError> {
        self.stored.vertex_id(key)
    }

    fn edge_id(&self, from: &[u8], edge: &[u8]) -> Result<EdgeId, ViewError> {
        self.stored.edge_id(from, edge)
    }

    fn neighbours(
        &self,
        from: &[&[u8]],
        ask: &Expand<'_>,
        meter: &Meter,
        visit: &mut dyn FnMut(usize, &Neighbour<'_>) -> Flow,
    ) -> Result<(), ViewError> {
        let asked = Asked::new(self.presentation, Some(ask.properties));
        let ask = Expand {
            direction: ask.direction,
            labels: ask.labels,
            properties: &asked.stored,
        };
        let mut failed = None;
        self.stored.neighbours(from, &ask, meter, &mut |at, seen| {
            if failed.is_some() {
                return Flow::Break(());
            }
            let element = PresentedElement {
                id: &|| edge_of(from[at], seen.edge),
                label: PresentedLabel::Edge(seen.label),
                stored: seen.properties,
            };
            match self.present(&element, &asked) {
                Ok(Some(properties)) => visit(
                    at,
                    &Neighbour {
                        properties: &properties,
                        ..*seen
                    },
                ),
                Ok(None) => Flow::Continue(()),
                Err(error) => {
                    failed = Some(error);
                    Flow::Break(())
                }
            }
        })?;
        failed.map_or(Ok(()), Err)
    }

    fn vertices(
        &self,
        keys: &[&[u8]],
        properties: &[PropertyKeyId],
        meter: &Meter,
        found: &mut dyn FnMut(usize, VertexLabelId, Properties),
    ) -> Result<(), ViewError> {
        let asked = Asked::new(self.presentation, Some(properties));
        let mut failed = None;
        let show = &mut |at: usize, label, stored: Properties| {
            if failed.is_some() {
                return;
            }
            let element = PresentedElement {
                id: &|| vertex_of(keys[at]),
                label: PresentedLabel::Vertex(label),
                stored: &stored,
            };
            match self.present(&element, &asked) {
                Ok(Some(properties)) => found(at, label, properties),
                Ok(None) => {}
                Err(error) => failed = Some(error),
            }
        };
        self.stored.vertices(keys, &asked.stored, meter, show)?;
        failed.map_or(Ok(()), Err)
    }

    fn edges(
        &self,
        ids: &[EdgeId],
        properties: &[PropertyKeyId],
        meter: &Meter,
        found: &mut dyn FnMut(usize, EdgeFound<'_>),
    ) -> Result<(), ViewError> {
        let asked = Asked::new(self.presentation, Some(properties));
        let mut failed = None;
        let show = &mut |at: usize, edge: EdgeFound<'_>| {
            if failed.is_some() {
                return;
            }
            let id = &ids[at];
            let element = PresentedElement {
                id: &|| Ok(ElementId::Edge(id.clone())),
                label: PresentedLabel::Edge(id.label),
                stored: edge.properties,
            };
            match self.present(&element, &asked) {
                Ok(Some(properties)) => {
                    let properties = &properties;
                    found(at, EdgeFound { properties, ..edge });
                }
                Ok(None) => {}
                Err(error) => failed = Some(error),
            }
        };
        self.stored.edges(ids, &asked.stored, meter, show)?;
        failed.map_or(Ok(()), Err)
    }

    fn scan(
        &self,
        ask: &ScanAsk<'_>,
        from: Option<&ScanPosition>,
        demand: usize,
        meter: &Meter,
        visit: &mut dyn FnMut(&ScannedElement<'_>) -> Flow,
    ) -> Result<Option<ScanPosition>, ViewError> {
        self.scan_presented(ask, from, demand, meter, visit)
    }

    fn estimate(
        &self,
        ask: &ScanAsk<'_>,
        most: u64,
        meter: &Meter,
    ) -> Result<Option<u64>, ViewError> {
        self.estimate_presented(ask, most, meter)
    }

    fn edges_given(
        &self,
        id: &VertexId,
        meter: &Meter,
        found: &mut dyn FnMut(EdgeId),
    ) -> Result<(), ViewError> {
        self.stored.edges_given(id, meter, found)
    }

    fn valid_at(&self) -> Option<Instant> {
        self.stored.valid_at()
    }

    fn versions(
        &self,
        id: &ElementId,
        meter: &Meter,
        visit: &mut dyn FnMut(PastVersion) -> Flow,
    ) -> Result<(), ViewError> {
        let mut failed = None;
        self.stored.versions(id, meter, &mut |past| {
            let element = past.element.map(|element| self.whole(element)).transpose();
            match element {
                Ok(element) => visit(PastVersion {
                    element: element.flatten(),
                    ..past
                }),
                Err(error) => {
                    failed = Some(error);
                    Flow::Break(())
                }
            }
        })?;
        failed.map_or(Ok(()), Err)
    }

    fn element_at(
        &self,
        id: &ElementId,
        at: TemporalScope,
        meter: &Meter,
    ) -> Result<Option<Element>, ViewError> {
        let found = self.stored.element_at(id, at, meter)?;
        Ok(found
            .map(|element| self.whole(element))
            .transpose()?
            .flatten())
    }

    fn satisfies(&self, conditions: &[Condition], properties: &Properties) -> bool {
        self.stored.satisfies(conditions, properties)
    }
}
