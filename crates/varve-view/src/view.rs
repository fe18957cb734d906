//! The trait through which queries read a graph.

use std::ops::ControlFlow;

use varve_model::{
    Condition, Direction, EdgeId, EdgeLabelId, Element, ElementId, Properties, PropertyKeyId,
    TemporalScope, VertexId, VertexLabelId,
};

use crate::{
    Dictionary, Elements, Meter, PastVersion, ScanAsk, ScanPosition, ScannedElement, ViewError,
};

/// Edges in one piece of a scan of all.
const PIECE: usize = 65_536;

/// What a visitor answers: go on, or stop here.
pub type Flow = ControlFlow<()>;

/// Which neighbours a query asks for.
#[derive(Debug, Clone, Copy, Default)]
pub struct Expand<'a> {
    /// Which way the edges are walked; `None` = both.
    pub direction: Option<Direction>,
    /// Edge labels; a parent label stands for its sub labels. Empty = all.
    pub labels: &'a [EdgeLabelId],
    /// Properties of the edges that the visitor wants to see, ascending. Empty = none are read.
    pub properties: &'a [PropertyKeyId],
}

/// An edge as it is seen from one of its ends, and the vertex at the other end. The same edge is
/// seen twice from a vertex that it joins with itself, once in each direction.
#[derive(Debug, Clone, Copy)]
pub struct Neighbour<'a> {
    /// Which way the edge is walked.
    pub direction: Direction,
    /// The edge's label.
    pub label: EdgeLabelId,
    /// The edge's key at the vertex it is seen from ([`GraphView::edge_id`]).
    pub edge: &'a [u8],
    /// The vertex key of the other end.
    pub other: &'a [u8],
    /// The label of the other end.
    pub other_label: VertexLabelId,
    /// Those of [`Expand::properties`] that the edge has. Whole numbers may come as LONG.
    pub properties: &'a Properties,
}

/// A vertex that exists.
#[derive(Debug, Clone, Copy)]
pub struct VertexFound<'a> {
    /// Its label.
    pub label: VertexLabelId,
    /// Those of the properties asked for that it has. Whole numbers may come as LONG.
    pub properties: &'a Properties,
}

/// An edge that exists.
#[derive(Debug, Clone, Copy)]
pub struct EdgeFound<'a> {
    /// The label of its source.
    pub source_label: VertexLabelId,
    /// The label of its target.
    pub target_label: VertexLabelId,
    /// Those of the properties asked for that it has. Whole numbers may come as LONG.
    pub properties: &'a Properties,
}

/// One committed state of a graph at one point of both times.
///
/// A **vertex key** is a byte string that stands for a vertex id: equal keys are equal ids, and
/// keys sort as the ids do. Only the view knows what the bytes mean. An edge may exist where one of
/// its ends does not; so a neighbour need not be a vertex that exists.
///
/// Every call charges the [`Meter`] with the rows it looks at, whether or not they show.
pub trait GraphView: Send + Sync {
    /// Appends the key of a vertex id.
    fn put_vertex_key(&self, id: &VertexId, out: &mut Vec<u8>);

    /// The id that a vertex key stands for.
    ///
    /// # Errors
    /// When the key is none.
    fn vertex_id(&self, key: &[u8]) -> Result<VertexId, ViewError>;

    /// The id of an edge that [`GraphView::neighbours`] showed at the vertex `from`.
    ///
    /// # Errors
    /// When the keys are none.
    fn edge_id(&self, from: &[u8], edge: &[u8]) -> Result<EdgeId, ViewError>;

    /// Visits the edges of many vertices, each with the position of its vertex in `from`. Vertices
    /// come in the order given; the edges of one come in storage order: OUT before IN, then by
    /// label id, sort values and other vertex. A break ends the visits of that vertex only.
    ///
    /// # Errors
    /// Over a limit of the meter, or when the store fails.
    fn neighbours(
        &self,
        from: &[&[u8]],
        ask: &Expand<'_>,
        meter: &Meter,
        visit: &mut dyn FnMut(usize, &Neighbour<'_>) -> Flow,
    ) -> Result<(), ViewError>;

    /// Calls `found` for each of these vertices that exists, with its position, its label and those
    /// of `properties` (ascending) that it has, in no order. Whole numbers may come as LONG.
    ///
    /// # Errors
    /// As [`GraphView::neighbours`].
    fn vertices(
        &self,
        keys: &[&[u8]],
        properties: &[PropertyKeyId],
        meter: &Meter,
        found: &mut dyn FnMut(usize, VertexLabelId, Properties),
    ) -> Result<(), ViewError>;

    /// Calls `found` for each of these vertices that has the property, with its position and the
    /// number of its first value in the dictionary, in no order.
    ///
    /// # Errors
    /// As [`GraphView::neighbours`], and over the meter's bytes.
    fn vertex_values(
        &self,
        keys: &[&[u8]],
        property: PropertyKeyId,
        dictionary: &mut Dictionary,
        meter: &Meter,
        found: &mut dyn FnMut(usize, u32),
    ) -> Result<(), ViewError> {
        let mut outcome = Ok(());
        let show = &mut |at: usize, _, properties: Properties| {
            let value = properties.get(property).filter(|_| outcome.is_ok());
            match value.map(|value| dictionary.number_of(value, meter)) {
                Some(Ok(number)) => found(at, number),
                Some(Err(error)) => outcome = Err(error),
                None => {}
            }
        };
        self.vertices(keys, &[property], meter, show)?;
        outcome
    }

    /// Visits the elements asked for from a place on, until `demand` of them (at least one) were
    /// visited or the visitor breaks. Returns where to go on, or `None` when no more will come.
    /// Each element comes once; the elements of one scan in pieces are those of one in a whole.
    ///
    /// With conditions or an order, each label that can have such elements must have an index that
    /// narrows by a condition or has the order. The other conditions are checked on each element.
    ///
    /// # Errors
    /// [`ViewError::NoIndex`]; as [`GraphView::neighbours`]; and when the place is not of this ask.
    fn scan(
        &self,
        ask: &ScanAsk<'_>,
        from: Option<&ScanPosition>,
        demand: usize,
        meter: &Meter,
        visit: &mut dyn FnMut(&ScannedElement<'_>) -> Flow,
    ) -> Result<Option<ScanPosition>, ViewError>;

    /// As [`GraphView::scan`], but visits the number that the first value of a property has in the
    /// dictionary, of the elements that have it. The properties of `ask` are not read.
    ///
    /// # Errors
    /// As [`GraphView::scan`], and over the meter's bytes.
    fn scan_values(
        &self,
        ask: &ScanAsk<'_>,
        property: PropertyKeyId,
        place: (Option<&ScanPosition>, usize),
        dictionary: &mut Dictionary,
        meter: &Meter,
        visit: &mut dyn FnMut(u32),
    ) -> Result<Option<ScanPosition>, ViewError> {
        let ask = ScanAsk {
            properties: &[property],
            ..*ask
        };
        let mut outcome = Ok(());
        let show = &mut |found: &ScannedElement<'_>| {
            let properties = match found {
                ScannedElement::Vertex { vertex, .. } => vertex.properties,
                ScannedElement::Edge(edge) => edge.properties,
            };
            let value = properties.get(property);
            match value.map(|value| dictionary.number_of(value, meter)) {
                Some(Ok(number)) => visit(number),
                Some(Err(error)) => outcome = Err(error),
                None => {}
            }
            match outcome {
                Ok(()) => Flow::Continue(()),
                Err(_) => Flow::Break(()),
            }
        };
        let (from, demand) = place;
        let next = self.scan(&ask, from, demand, meter, show)?;
        outcome.map(|()| next)
    }

    /// Visits every edge once, in no order, by the vertex keys of its source and of its target,
    /// until the visitor breaks. For copies of a graph's structure: what the edges contain is not
    /// read.
    ///
    /// # Errors
    /// As [`GraphView::neighbours`].
    fn edge_ends(
        &self,
        meter: &Meter,
        visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
    ) -> Result<(), ViewError> {
        let ask = ScanAsk {
            elements: Elements::Edges(&[]),
            conditions: &[],
            order: None,
            properties: &[],
        };
        let (mut from, mut ended) = (None, false);
        loop {
            from = self.scan(&ask, from.as_ref(), PIECE, meter, &mut |found| {
                let ScannedElement::Edge(edge) = found else {
                    return Flow::Continue(());
                };
                let flow = visit(edge.source, edge.target);
                ended = flow.is_break();
                flow
            })?;
            if ended || from.is_none() {
                return Ok(());
            }
        }
    }

    /// About how many elements [`GraphView::scan`] would look at, counted up to `most`; `None` when
    /// no index serves it. Costs about as many rows.
    ///
    /// # Errors
    /// As [`GraphView::neighbours`].
    fn estimate(
        &self,
        ask: &ScanAsk<'_>,
        most: u64,
        meter: &Meter,
    ) -> Result<Option<u64>, ViewError>;

    /// Calls `found` for each of these edges that exists, with its position, in no order.
    /// `properties` (ascending) says which properties are read.
    ///
    /// # Errors
    /// As [`GraphView::neighbours`].
    fn edges(
        &self,
        ids: &[EdgeId],
        properties: &[PropertyKeyId],
        meter: &Meter,
        found: &mut dyn FnMut(usize, EdgeFound<'_>),
    ) -> Result<(), ViewError>;

    /// Calls `found` for the edges with this given id ([`varve_model::sortable::given_id`]): for
    /// all that this view shows, and perhaps for others, which [`GraphView::edges`] does not find.
    ///
    /// # Errors
    /// As [`GraphView::neighbours`].
    fn edges_given(
        &self,
        id: &VertexId,
        meter: &Meter,
        found: &mut dyn FnMut(EdgeId),
    ) -> Result<(), ViewError>;

    /// Visits the versions of an element that this view's transaction time shows, newest first; of
    /// a view that asks for a valid time those that speak of it.
    ///
    /// # Errors
    /// As [`GraphView::neighbours`].
    fn versions(
        &self,
        id: &ElementId,
        meter: &Meter,
        visit: &mut dyn FnMut(PastVersion) -> Flow,
    ) -> Result<(), ViewError>;

    /// The state of an element at another point of both times. A time that is `None` is this
    /// view's; commits that this view does not show are not seen.
    ///
    /// # Errors
    /// As [`GraphView::neighbours`].
    fn element_at(
        &self,
        id: &ElementId,
        at: TemporalScope,
        meter: &Meter,
    ) -> Result<Option<Element>, ViewError>;

    /// Whether properties that this view has read satisfy all conditions.
    fn satisfies(&self, conditions: &[Condition], properties: &Properties) -> bool;

    /// How many edges each vertex has, up to `most` each.
    ///
    /// # Errors
    /// As [`GraphView::neighbours`].
    fn degrees(
        &self,
        from: &[&[u8]],
        ask: &Expand<'_>,
        most: u64,
        meter: &Meter,
    ) -> Result<Vec<u64>, ViewError> {
        let mut degrees = vec![0; from.len()];
        let ask = Expand {
            properties: &[],
            ..*ask
        };
        self.neighbours(from, &ask, meter, &mut |at, _| {
            degrees[at] += u64::from(degrees[at] < most);
            match degrees[at] < most {
                true => Flow::Continue(()),
                false => Flow::Break(()),
            }
        })?;
        Ok(degrees)
    }
}
