//! Sources of rows: scans, look-ups by id, and given values.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use varve_model::many::values_of;
use varve_model::{EdgeId, EdgeLabelId, PropertyKeyId, VertexId, VertexLabelId};
use varve_view::{
    Dictionary, Elements, Flow, ScanAsk, ScanOrder, ScanPosition, ScannedEdge, ScannedElement,
    SchemaView, ViewError,
};

use super::analysis;
use super::build::Builder;
use super::child::Key;
use super::context::{Context, SharedSegments};
use super::group::{COUNTED_TOGETHER, whole};
use super::row::Row;
use super::{BATCH_MAX, BoxedOperator, GROWTH, Operator, Reset};
use crate::plan::{By, ElementKind, Name, Op};
use crate::value::{EdgeHandle, Token, VertexContent, VertexHandle, Walked};
use crate::{QueryError, Value};

/// No rows: the input of the first step of a query that begins with given values.
pub(crate) struct Nothing;

impl Operator for Nothing {
    fn next(&mut self, _: &mut Context<'_>, _: usize) -> Result<Option<Vec<Row>>, QueryError> {
        Ok(None)
    }

    fn reset(&mut self, _: Reset) {}
}

/// One row with a null value: the input of the first step of a query.
pub(crate) struct Start {
    sack: Option<Box<Value>>,
    given: bool,
}

impl Start {
    pub(crate) const fn new(sack: Option<Box<Value>>) -> Self {
        Self { sack, given: false }
    }
}

impl Operator for Start {
    fn next(&mut self, _: &mut Context<'_>, _: usize) -> Result<Option<Vec<Row>>, QueryError> {
        if std::mem::replace(&mut self.given, true) {
            return Ok(None);
        }
        Ok(Some(vec![Row {
            sack: self.sack.clone(),
            ..Row::new(Value::Null)
        }]))
    }

    fn reset(&mut self, _: Reset) {
        self.given = false;
    }
}

/// Gives its own values, once for each segment, in addition to the input's rows.
pub(crate) struct Inject {
    pub(crate) input: BoxedOperator,
    pub(crate) values: Vec<Value>,
    /// Whether the input is not read, since it has no values, as at the start of a query.
    pub(crate) first: bool,
    /// Whether the input's rows go first, as at the start of a child.
    pub(crate) behind: bool,
    pub(crate) segments: SharedSegments,
    pub(crate) given: bool,
}

impl Operator for Inject {
    fn next(
        &mut self,
        cx: &mut Context<'_>,
        demand: usize,
    ) -> Result<Option<Vec<Row>>, QueryError> {
        if self.given || self.behind {
            let before = match self.first {
                true => None,
                false => self.input.next(cx, demand)?,
            };
            if before.is_some() || self.given {
                return Ok(before);
            }
        }
        self.given = true;
        let mut rows = Vec::new();
        for segment in self.segments.each() {
            for value in &self.values {
                rows.push(whole(value.clone(), segment, cx));
            }
        }
        Ok(Some(rows))
    }

    fn reset(&mut self, how: Reset) {
        self.given = false;
        self.input.reset(how);
    }
}

/// The elements that a source gives, with labels and ids resolved. An empty list of labels means
/// all labels.
pub(crate) enum Wanted {
    /// No element.
    None,
    Vertices(Vec<VertexLabelId>),
    Edges(Vec<EdgeLabelId>),
    VertexIds(Vec<VertexId>),
    /// `given` are ids that writers gave to edges. They are stored as hidden sort values.
    EdgeIds {
        ids: Vec<EdgeId>,
        given: Vec<VertexId>,
    },
}

/// The unresolved arguments of a source.
pub(crate) struct Asked {
    pub(crate) kind: ElementKind,
    pub(crate) ids: Option<Vec<Value>>,
    pub(crate) labels: Option<Vec<Name>>,
}

impl Asked {
    /// No element.
    fn nothing() -> Self {
        Self {
            kind: ElementKind::Vertex,
            ids: Some(Vec::new()),
            labels: None,
        }
    }

    pub(crate) fn wanted(&self, schema: &dyn SchemaView) -> Wanted {
        analysis::wanted(schema, self.kind, &self.ids, &self.labels)
    }
}

/// A property or the label, which a source gives instead of the element.
pub(crate) enum Column {
    /// All values of a property key.
    Property(Key),
    Label,
}

impl Column {
    pub(crate) fn new(by: &By, builder: &Builder<'_>) -> Option<Self> {
        match by {
            By::Key(name) => Some(Self::Property(builder.key(name))),
            By::Token(Token::Label) => Some(Self::Label),
            _ => None,
        }
    }

    /// Calls `give` with the values of a scanned element.
    fn each(&self, cx: &Context<'_>, found: &ScannedElement<'_>, give: &mut dyn FnMut(Value)) {
        match self {
            Self::Property(key) => {
                let Some((id, data_type)) = key.known() else {
                    return;
                };
                let properties = match found {
                    ScannedElement::Vertex { vertex, .. } => vertex.properties,
                    ScannedElement::Edge(edge) => edge.properties,
                };
                for one in values_of(properties.get(id)) {
                    give(Value::of_property(one.value, data_type));
                }
            }
            Self::Label => give(Value::text(match found {
                ScannedElement::Vertex { vertex, .. } => cx.vertex_label(vertex.label),
                ScannedElement::Edge(edge) => cx.edge_label(edge.label),
            })),
        }
    }
}

/// Gives elements, once for each input row.
pub(crate) struct Source {
    input: BoxedOperator,
    /// If set, values of this column are given instead of the elements.
    pub(crate) column: Option<Column>,
    asked: Asked,
    wanted: Wanted,
    conditions: Vec<varve_model::Condition>,
    /// The requested order of the elements, and a flag that becomes false if no index provides it.
    order: Option<(ScanOrder, Rc<Cell<bool>>)>,
    rows: std::vec::IntoIter<Row>,
    current: Option<(Row, Option<ScanPosition>)>,
    /// The fewest elements to read at once. Grows with each batch; at most [`BATCH_MAX`] are read.
    at_once: usize,
}

impl Source {
    /// The source of an [`Op::Source`] step; for any other step, a source without elements.
    pub(crate) fn of(op: &Op, input: BoxedOperator, builder: &Builder<'_>) -> Self {
        let (asked, conditions) = match op {
            Op::Source {
                kind,
                ids,
                labels,
                conditions,
            } => {
                let asked = Asked {
                    kind: *kind,
                    ids: ids.clone(),
                    labels: labels.clone(),
                };
                (asked, conditions.clone())
            }
            _ => (Asked::nothing(), Vec::new()),
        };
        let wanted = asked.wanted(builder.schema);
        Self {
            input,
            column: None,
            asked,
            wanted,
            conditions,
            order: None,
            rows: Vec::new().into_iter(),
            current: None,
            at_once: 1,
        }
    }

    /// Requests an order. If a scan finds that no index provides it, `in_order` becomes false.
    pub(crate) fn order_by(&mut self, order: ScanOrder, in_order: &Rc<Cell<bool>>) {
        self.order = Some((order, Rc::clone(in_order)));
    }

    fn by_ids(&self, cx: &mut Context<'_>, row: &Row) -> Result<Vec<Row>, QueryError> {
        let found = match &self.wanted {
            Wanted::VertexIds(ids) => {
                let vertex =
                    |id: &VertexId| Value::Vertex(Arc::new(VertexHandle::new(id.clone(), None)));
                let vertices: Vec<Value> = ids.iter().map(vertex).collect();
                cx.fetch(vertices.iter())?;
                let exists = |value: &Value| match value {
                    Value::Vertex(vertex) => vertex.content().flatten().is_some(),
                    _ => false,
                };
                vertices.into_iter().filter(exists).collect()
            }
            Wanted::EdgeIds { ids, given } => {
                let mut found = edges_of_ids(cx, ids)?;
                if !given.is_empty() && cx.schema.is_open() {
                    found.append(&mut edges_given(cx, given)?);
                }
                found
            }
            _ => Vec::new(),
        };
        Ok(found
            .into_iter()
            .map(|value| row.at(value, cx.track))
            .collect())
    }

    /// As [`Source::look`]. If no index serves the order, it is dropped; then, if no index serves
    /// the conditions, they are dropped. Later steps sort and filter instead.
    fn scan(
        &mut self,
        cx: &mut Context<'_>,
        row: &Row,
        from: Option<&ScanPosition>,
        demand: usize,
    ) -> Result<(Vec<Row>, Option<ScanPosition>), QueryError> {
        match self.look(cx, row, from, demand) {
            Err(QueryError::View(ViewError::NoIndex(_))) if self.order.is_some() => {
                if let Some((_, in_order)) = self.order.take() {
                    in_order.set(false);
                }
                self.scan(cx, row, from, demand)
            }
            Err(QueryError::View(ViewError::NoIndex(_))) if !self.conditions.is_empty() => {
                self.conditions.clear();
                self.look(cx, row, from, demand)
            }
            looked => looked,
        }
    }

    /// For each input row, calls `give` for each element that has the property, with the dictionary
    /// number of the property's first value. The source must have neither ids nor an order.
    ///
    /// # Errors
    /// As [`varve_view::GraphView::scan_values`], also when no index serves the conditions; and
    /// when the input fails.
    pub(crate) fn each_value(
        &mut self,
        cx: &mut Context<'_>,
        property: PropertyKeyId,
        dictionary: &mut Dictionary,
        give: &mut dyn FnMut(&Row, u32),
    ) -> Result<(), QueryError> {
        while let Some(rows) = self.input.next(cx, BATCH_MAX)? {
            for row in &rows {
                let elements = match &self.wanted {
                    Wanted::Vertices(labels) => Elements::Vertices(labels),
                    Wanted::Edges(labels) => Elements::Edges(labels),
                    _ => continue,
                };
                let ask = ScanAsk {
                    elements,
                    conditions: &self.conditions,
                    order: None,
                    properties: &[],
                };
                let mut from = None;
                loop {
                    let place = (from.as_ref(), COUNTED_TOGETHER);
                    let visit = &mut |number| give(row, number);
                    let (view, meter) = (cx.view, cx.meter);
                    from = view.scan_values(&ask, property, place, dictionary, meter, visit)?;
                    if from.is_none() {
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// The next elements, and the position at which the scan continues; `None` at the end. Elements
    /// of given ids come all at once.
    fn look(
        &self,
        cx: &mut Context<'_>,
        row: &Row,
        from: Option<&ScanPosition>,
        demand: usize,
    ) -> Result<(Vec<Row>, Option<ScanPosition>), QueryError> {
        let elements = match &self.wanted {
            Wanted::Vertices(labels) => Elements::Vertices(labels),
            Wanted::Edges(labels) => Elements::Edges(labels),
            _ => return Ok((self.by_ids(cx, row)?, None)),
        };
        let ask = ScanAsk {
            elements,
            conditions: &self.conditions,
            order: self.order.as_ref().map(|(order, _)| *order),
            properties: &cx.projection(),
        };
        let mut rows = Vec::new();
        let mut failed = None;
        let (track, shared) = (cx.track, &*cx);
        let mut add = |found: &ScannedElement<'_>| {
            let mut give = |value| rows.push(row.at(value, track));
            match &self.column {
                Some(column) => column.each(shared, found, &mut give),
                None => give(value_of(shared, found)?),
            }
            Ok(())
        };
        let place = cx.view.scan(
            &ask,
            from,
            demand,
            cx.meter,
            &mut |found| match add(found) {
                Ok(()) => Flow::Continue(()),
                Err(error) => {
                    failed = Some(error);
                    Flow::Break(())
                }
            },
        )?;
        match failed {
            Some(error) => Err(error),
            None => Ok((rows, place)),
        }
    }
}

impl Operator for Source {
    fn next(
        &mut self,
        cx: &mut Context<'_>,
        demand: usize,
    ) -> Result<Option<Vec<Row>>, QueryError> {
        if matches!(self.wanted, Wanted::None) && cx.writer.is_none() {
            return Ok(None);
        }
        if self.current.is_none() {
            if self.rows.len() == 0 {
                match self.input.next(cx, demand)? {
                    Some(rows) => self.rows = rows.into_iter(),
                    None => return Ok(None),
                }
            }
            self.current = self.rows.next().map(|row| (row, None));
            if let Some(writer) = cx.writer {
                // The query itself may have created the labels meanwhile.
                self.wanted = self.asked.wanted(writer);
            }
        }
        let Some((row, from)) = self.current.take() else {
            return Ok(Some(Vec::new()));
        };
        let demand = demand.max(self.at_once).min(BATCH_MAX);
        self.at_once = demand.saturating_mul(GROWTH);
        let (rows, place) = self.scan(cx, &row, from.as_ref(), demand)?;
        self.current = place.map(|place| (row, Some(place)));
        Ok(Some(rows))
    }

    fn reset(&mut self, how: Reset) {
        self.rows = Vec::new().into_iter();
        self.current = None;
        self.at_once = 1;
        self.input.reset(how);
    }
}

/// Converts a scanned element.
pub(crate) fn value_of(cx: &Context<'_>, found: &ScannedElement<'_>) -> Result<Value, QueryError> {
    let view = cx.view;
    Ok(match found {
        ScannedElement::Vertex { key, vertex } => {
            let content = VertexContent {
                label: vertex.label,
                properties: vertex.properties.clone(),
            };
            let id = view.vertex_id(key)?;
            Value::Vertex(Arc::new(VertexHandle::read(id, content)))
        }
        ScannedElement::Edge(edge) => Value::Edge(Arc::new(scanned(cx, edge)?), Walked::No),
    })
}

fn scanned(cx: &Context<'_>, edge: &ScannedEdge<'_>) -> Result<EdgeHandle, QueryError> {
    let id = cx.view.edge_id(edge.source, edge.edge)?;
    Ok(EdgeHandle {
        label_name: cx.edge_label(edge.label).into(),
        is_given: cx.is_given(&id),
        id,
        source_label: edge.source_label,
        target_label: edge.target_label,
        properties: edge.properties.clone(),
        newer: crate::value::NewerEdge::default(),
    })
}

/// The edges whose writers gave them these ids.
fn edges_given(cx: &Context<'_>, given: &[VertexId]) -> Result<Vec<Value>, QueryError> {
    let mut ids = Vec::new();
    for id in given {
        cx.view
            .edges_given(id, cx.meter, &mut |edge| ids.push(edge))?;
    }
    edges_of_ids(cx, &ids)
}

/// The edges with these ids that exist, in the order of the ids.
pub(crate) fn edges_of_ids(cx: &Context<'_>, ids: &[EdgeId]) -> Result<Vec<Value>, QueryError> {
    let mut found: Vec<Option<Value>> = vec![None; ids.len()];
    cx.view
        .edges(ids, &cx.projection(), cx.meter, &mut |at, edge| {
            let handle = EdgeHandle {
                label_name: cx.edge_label(ids[at].label).into(),
                id: ids[at].clone(),
                is_given: cx.is_given(&ids[at]),
                source_label: edge.source_label,
                target_label: edge.target_label,
                properties: edge.properties.clone(),
                newer: crate::value::NewerEdge::default(),
            };
            found[at] = Some(Value::Edge(Arc::new(handle), Walked::No));
        })?;
    Ok(found.into_iter().flatten().collect())
}

impl Wanted {
    pub(crate) const fn of_kind(kind: ElementKind) -> Self {
        match kind {
            ElementKind::Vertex => Self::Vertices(Vec::new()),
            ElementKind::Edge => Self::Edges(Vec::new()),
        }
    }
}
