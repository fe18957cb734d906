//! [`GraphView`] of a [`View`]: its elements as they are stored, or as the program that opens the
//! graph presents them.
//!
//! A method of [`GraphView`] that [`StoredView`] or [`PresentedView`] implements must be passed on
//! here: otherwise the default of the trait is used.

use varve_model::{
    Condition, EdgeId, Element, ElementId, Instant, Properties, PropertyKeyId, TemporalScope,
    VertexId, VertexLabelId,
};
use varve_view::{
    Counted, Dictionary, EdgeFound, Expand, Flow, GraphView, Meter, Neighbour, PastVersion,
    ScanAsk, ScanPosition, ScannedElement, ViewError,
};

use super::graph_view::StoredView;
use super::presented::PresentedView;
use super::view::View;

impl View {
    /// Reads the elements as queries see them.
    fn queried<T>(&self, read: impl FnOnce(&dyn GraphView) -> T) -> T {
        let stored = StoredView(self);
        match self.schema().presentation() {
            None => read(&stored),
            Some(presentation) => read(&PresentedView {
                stored,
                presentation,
            }),
        }
    }
}

impl GraphView for View {
    fn put_vertex_key(&self, id: &VertexId, out: &mut Vec<u8>) {
        StoredView(self).put_vertex_key(id, out);
    }

    fn vertex_id(&self, key: &[u8]) -> Result<VertexId, ViewError> {
        StoredView(self).vertex_id(key)
    }

    fn edge_id(&self, from: &[u8], edge: &[u8]) -> Result<EdgeId, ViewError> {
        StoredView(self).edge_id(from, edge)
    }

    fn neighbours(
        &self,
        from: &[&[u8]],
        ask: &Expand<'_>,
        meter: &Meter,
        visit: &mut dyn FnMut(usize, &Neighbour<'_>) -> Flow,
    ) -> Result<(), ViewError> {
        self.queried(|view| view.neighbours(from, ask, meter, visit))
    }

    fn counts(
        &self,
        from: &[&[u8]],
        ask: &Expand<'_>,
        meter: &Meter,
        visit: &mut dyn FnMut(usize, Counted),
    ) -> Result<(), ViewError> {
        self.queried(|view| view.counts(from, ask, meter, visit))
    }

    fn degrees(
        &self,
        from: &[&[u8]],
        ask: &Expand<'_>,
        most: u64,
        meter: &Meter,
    ) -> Result<Vec<u64>, ViewError> {
        self.queried(|view| view.degrees(from, ask, most, meter))
    }

    fn vertices(
        &self,
        keys: &[&[u8]],
        properties: &[PropertyKeyId],
        meter: &Meter,
        found: &mut dyn FnMut(usize, VertexLabelId, Properties),
    ) -> Result<(), ViewError> {
        self.queried(|view| view.vertices(keys, properties, meter, found))
    }

    fn vertex_values(
        &self,
        keys: &[&[u8]],
        property: PropertyKeyId,
        dictionary: &mut Dictionary,
        meter: &Meter,
        found: &mut dyn FnMut(usize, u32),
    ) -> Result<(), ViewError> {
        self.queried(|view| view.vertex_values(keys, property, dictionary, meter, found))
    }

    fn edges(
        &self,
        ids: &[EdgeId],
        properties: &[PropertyKeyId],
        meter: &Meter,
        found: &mut dyn FnMut(usize, EdgeFound<'_>),
    ) -> Result<(), ViewError> {
        self.queried(|view| view.edges(ids, properties, meter, found))
    }

    fn scan(
        &self,
        ask: &ScanAsk<'_>,
        from: Option<&ScanPosition>,
        demand: usize,
        meter: &Meter,
        visit: &mut dyn FnMut(&ScannedElement<'_>) -> Flow,
    ) -> Result<Option<ScanPosition>, ViewError> {
        self.queried(|view| view.scan(ask, from, demand, meter, visit))
    }

    fn scan_values(
        &self,
        ask: &ScanAsk<'_>,
        property: PropertyKeyId,
        place: (Option<&ScanPosition>, usize),
        dictionary: &mut Dictionary,
        meter: &Meter,
        visit: &mut dyn FnMut(u32),
    ) -> Result<Option<ScanPosition>, ViewError> {
        self.queried(|view| view.scan_values(ask, property, place, dictionary, meter, visit))
    }

    fn edge_ends(
        &self,
        meter: &Meter,
        visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
    ) -> Result<(), ViewError> {
        self.queried(|view| view.edge_ends(meter, visit))
    }

    fn estimate(
        &self,
        ask: &ScanAsk<'_>,
        most: u64,
        meter: &Meter,
    ) -> Result<Option<u64>, ViewError> {
        self.queried(|view| view.estimate(ask, most, meter))
    }

    fn edges_given(
        &self,
        id: &VertexId,
        meter: &Meter,
        found: &mut dyn FnMut(EdgeId),
    ) -> Result<(), ViewError> {
        StoredView(self).edges_given(id, meter, found)
    }

    fn valid_at(&self) -> Option<Instant> {
        StoredView(self).valid_at()
    }

    fn at_valid(&self, at: Instant) -> Result<Box<dyn GraphView>, ViewError> {
        // With its transaction time, all points are of one state also without snapshots.
        let last = self.last_commit()?.min(self.version());
        let then = self.moved_to(TemporalScope {
            valid: Some(at),
            transaction: Some(last),
        });
        Ok(Box::new(then.remembering()))
    }

    fn versions(
        &self,
        id: &ElementId,
        meter: &Meter,
        visit: &mut dyn FnMut(PastVersion) -> Flow,
    ) -> Result<(), ViewError> {
        self.queried(|view| view.versions(id, meter, visit))
    }

    fn element_at(
        &self,
        id: &ElementId,
        at: TemporalScope,
        meter: &Meter,
    ) -> Result<Option<Element>, ViewError> {
        self.queried(|view| view.element_at(id, at, meter))
    }

    fn satisfies(&self, conditions: &[Condition], properties: &Properties) -> bool {
        StoredView(self).satisfies(conditions, properties)
    }
}
