//! The trait through which queries read a graph.

use std::ops::ControlFlow;

use varve_model::{
    Condition, Direction, EdgeId, EdgeLabelId, Element, ElementId, Instant, Properties,
    PropertyKeyId, TemporalScope, VertexId, VertexLabelId,
};

use crate::{
    Dictionary, Elements, ErrorKind, Meter, PastVersion, ScanAsk, ScanPosition, ScannedElement,
    ViewError,
};

/// Edges in one piece of a scan of all edges.
const PIECE: usize = 65_536;

/// A visitor's answer: continue or stop.
pub type Flow = ControlFlow<()>;

/// Which neighbours a query reads.
#[derive(Debug, Clone, Copy, Default)]
pub struct Expand<'a> {
    /// The direction in which edges are walked; `None` = both.
    pub direction: Option<Direction>,
    /// Edge labels; a PARENT label includes its SUB labels. Empty = all.
    pub labels: &'a [EdgeLabelId],
    /// Properties of the edges that are read, ascending. Empty = none.
    pub properties: &'a [PropertyKeyId],
}

/// An edge from the point of view of one of its ends, and the vertex at the other end. An edge from
/// a vertex to itself comes twice, once in each direction.
#[derive(Debug, Clone, Copy)]
pub struct Neighbour<'a> {
    /// The direction in which the edge is walked.
    pub direction: Direction,
    /// The edge's label.
    pub label: EdgeLabelId,
    /// The edge's key on the side from which it is walked ([`GraphView::edge_id`]).
    pub edge: &'a [u8],
    /// The vertex key of the other end.
    pub other: &'a [u8],
    /// The label of the other end.
    pub other_label: VertexLabelId,
    /// Those of [`Expand::properties`] that the edge has. Whole numbers may come as LONG.
    pub properties: &'a Properties,
}

/// A number of edges of one vertex that are alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    /// The direction in which they are walked.
    pub direction: Direction,
    /// Their label.
    pub label: EdgeLabelId,
    /// The label of their other ends.
    pub other_label: VertexLabelId,
    /// Whether their other end is the vertex itself.
    pub is_loop: bool,
    /// How many they are; at least one.
    pub edges: u64,
}

impl Counted {
    /// One edge that was seen at the vertex `from`.
    #[must_use]
    pub fn one(from: &[u8], seen: &Neighbour<'_>) -> Counted {
        Counted {
            direction: seen.direction,
            label: seen.label,
            other_label: seen.other_label,
            is_loop: seen.other == from,
            edges: 1,
        }
    }
}

/// A vertex that exists.
#[derive(Debug, Clone, Copy)]
pub struct VertexFound<'a> {
    /// Its label.
    pub label: VertexLabelId,
    /// The requested properties that it has. Whole numbers may come as LONG.
    pub properties: &'a Properties,
}

/// An edge that exists.
#[derive(Debug, Clone, Copy)]
pub struct EdgeFound<'a> {
    /// The label of its source.
    pub source_label: VertexLabelId,
    /// The label of its target.
    pub target_label: VertexLabelId,
    /// The requested properties that it has. Whole numbers may come as LONG.
    pub properties: &'a Properties,
}

/// One committed state of a graph at one point of both times.
///
/// A **vertex key** is a byte string that represents a vertex id: equal keys mean equal ids, and
/// keys have the order of their ids. Only the view knows the format. An edge may exist without its
/// ends, so a neighbour need not be an existing vertex.
///
/// Every call charges the rows that it reads to the [`Meter`], whether or not they match.
pub trait GraphView: Send + Sync {
    /// Appends the key of a vertex id.
    fn put_vertex_key(&self, id: &VertexId, out: &mut Vec<u8>);

    /// Decodes a vertex key.
    ///
    /// # Errors
    /// When the bytes are not a vertex key.
    fn vertex_id(&self, key: &[u8]) -> Result<VertexId, ViewError>;

    /// Decodes the id of an edge that [`GraphView::neighbours`] visited at the vertex `from`.
    ///
    /// # Errors
    /// When the bytes are not keys of a vertex and an edge.
    fn edge_id(&self, from: &[u8], edge: &[u8]) -> Result<EdgeId, ViewError>;

    /// Visits the edges of many vertices, each with the position of its vertex in `from`. Vertices
    /// come in the order of `from`. The edges of one vertex come in storage order: OUT before IN,
    /// then by label id, sort values and other vertex. A break ends the visits of that vertex only.
    ///
    /// # Errors
    /// When a limit of the meter is exceeded, or the store fails.
    fn neighbours(
        &self,
        from: &[&[u8]],
        ask: &Expand<'_>,
        meter: &Meter,
        visit: &mut dyn FnMut(usize, &Neighbour<'_>) -> Flow,
    ) -> Result<(), ViewError>;

    /// Calls `found` for each of these vertices that exists, with its position, its label, and
    /// those of `properties` (ascending) that it has, in any order. Whole numbers may come as LONG.
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

    /// Calls `found` for each of these vertices that has the property, with its position and its
    /// first value's number in the dictionary, in any order.
    ///
    /// # Errors
    /// As [`GraphView::neighbours`], and when the meter's limit of bytes is exceeded.
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

    /// Visits the elements of `ask` from a position on, until `demand` of them (at least one) were
    /// visited or the visitor breaks. Returns the position at which to continue, or `None` at the
    /// end. Each element comes once; a scan in pieces visits the same elements as a scan in one
    /// call.
    ///
    /// With conditions or an order, each label that may have matches must have an index that serves
    /// a condition or the order. The other conditions are checked on each element.
    ///
    /// # Errors
    /// [`ViewError::NoIndex`]; as [`GraphView::neighbours`]; and when the position belongs to
    /// another `ask`.
    fn scan(
        &self,
        ask: &ScanAsk<'_>,
        from: Option<&ScanPosition>,
        demand: usize,
        meter: &Meter,
        visit: &mut dyn FnMut(&ScannedElement<'_>) -> Flow,
    ) -> Result<Option<ScanPosition>, ViewError>;

    /// As [`GraphView::scan`], but visits the dictionary number of a property's first value, for
    /// the elements that have the property. The properties of `ask` are not read.
    ///
    /// # Errors
    /// As [`GraphView::scan`], and when the meter's limit of bytes is exceeded.
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

    /// Visits every edge once, in any order, with the vertex keys of its source and its target,
    /// until the visitor breaks. It is for copies of a graph's structure and reads no contents.
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

    /// Estimates how many elements [`GraphView::scan`] would read, up to `most`; `None` if no index
    /// serves the scan. The cost is about that many rows.
    ///
    /// # Errors
    /// As [`GraphView::neighbours`].
    fn estimate(
        &self,
        ask: &ScanAsk<'_>,
        most: u64,
        meter: &Meter,
    ) -> Result<Option<u64>, ViewError>;

    /// Calls `found` for each of these edges that exists, with its position, in any order.
    /// `properties` (ascending) are the properties to read.
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
    /// all that exist in this view, and possibly for others, which [`GraphView::edges`] does not
    /// find.
    ///
    /// # Errors
    /// As [`GraphView::neighbours`].
    fn edges_given(
        &self,
        id: &VertexId,
        meter: &Meter,
        found: &mut dyn FnMut(EdgeId),
    ) -> Result<(), ViewError>;

    /// The point of valid time that this view shows: that of its scope, or when it was opened.
    /// `None` = the view does not tell.
    fn valid_at(&self) -> Option<Instant> {
        None
    }

    /// The same committed state at another point of valid time.
    ///
    /// # Errors
    /// When the view has uncommitted changes, or no other points; when the store fails.
    fn at_valid(&self, _: Instant) -> Result<Box<dyn GraphView>, ViewError> {
        let message = "This view has one point of valid time";
        Err(ViewError::failed(ErrorKind::InvalidArgument, message))
    }

    /// Whether the view shows uncommitted changes of an element. Its versions don't have them.
    fn has_uncommitted(&self, _: &ElementId) -> bool {
        false
    }

    /// Visits the versions of an element at this view's transaction time, newest first. If the view
    /// has a valid time, only versions whose period contains it are visited.
    ///
    /// # Errors
    /// As [`GraphView::neighbours`].
    fn versions(
        &self,
        id: &ElementId,
        meter: &Meter,
        visit: &mut dyn FnMut(PastVersion) -> Flow,
    ) -> Result<(), ViewError>;

    /// Reads the state of an element at another point of both times. A time that is `None` is taken
    /// from this view, and commits after this view's transaction time are not seen.
    ///
    /// # Errors
    /// As [`GraphView::neighbours`].
    fn element_at(
        &self,
        id: &ElementId,
        at: TemporalScope,
        meter: &Meter,
    ) -> Result<Option<Element>, ViewError>;

    /// Whether properties from this view satisfy all conditions.
    fn satisfies(&self, conditions: &[Condition], properties: &Properties) -> bool;

    /// Counts the edges that [`GraphView::neighbours`] visits, by direction, label, label of the
    /// other end, and whether they are loops: `visit(position of the vertex, number)`, in any
    /// order, and any number of times for edges that are alike.
    ///
    /// # Errors
    /// As [`GraphView::neighbours`].
    fn counts(
        &self,
        from: &[&[u8]],
        ask: &Expand<'_>,
        meter: &Meter,
        visit: &mut dyn FnMut(usize, Counted),
    ) -> Result<(), ViewError> {
        let ask = Expand {
            properties: &[],
            ..*ask
        };
        self.neighbours(from, &ask, meter, &mut |at, seen| {
            visit(at, Counted::one(from[at], seen));
            Flow::Continue(())
        })
    }

    /// Counts the edges of each vertex, up to `most` each.
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
