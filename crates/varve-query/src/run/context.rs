//! State that all operators of one query share.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::hash_map::Entry;
use std::rc::Rc;
use std::sync::Arc;

use indexmap::IndexMap;
use varve_model::{
    EdgeId, EdgeLabel, EdgeLabelId, ElementId, PropertyKeyId, VertexId, VertexLabelId,
};
use varve_view::{GraphView, GraphWriter, Meter, SchemaView};

use super::SeededMap;
use super::row::{Row, Track};
use crate::plan::{Name, Operator};
use crate::value::{EdgeHandle, NewerEdge, VertexContent, VertexHandle};
use crate::{QueryError, Value};

/// The context of one query.
pub(crate) struct Context<'q> {
    pub(crate) view: &'q dyn GraphView,
    pub(crate) schema: &'q dyn SchemaView,
    /// The writer of the same view; `None` if the query may not change the graph.
    pub(crate) writer: Option<&'q dyn GraphWriter>,
    pub(crate) meter: &'q Meter,
    pub(crate) track: Track,
    /// The initial sack of rows.
    pub(crate) sack: Option<Box<Value>>,
    /// Properties that any step reads, ascending.
    pub(crate) projection: Vec<PropertyKeyId>,
    pub(crate) effects: IndexMap<Name, Effect>,
    /// Whether equal rows without a path or a sack are merged.
    pub(crate) merges: bool,
    /// The operator that combines the sacks of equal rows at a barrier.
    pub(crate) sack_merge: Option<Operator>,
    /// Whether equal rows that meet at a barrier count as one traverser.
    pub(crate) once: bool,
    pub(crate) random: Random,
    /// Rows processed since the clock was read.
    pub(crate) ticks: std::cell::Cell<usize>,
}

/// A side effect: a value under a name.
#[derive(Debug, Clone)]
pub(crate) struct Effect {
    pub(crate) value: Value,
    /// How a step's value is combined with it; `None` = by the step's own rule.
    pub(crate) operator: Option<Operator>,
}

/// The segments of the child that is running. Operators of one child share it.
#[derive(Debug, Default)]
pub(crate) struct Segments {
    pub(crate) count: std::cell::Cell<u32>,
    /// Segments of which no more rows are needed.
    pub(crate) closed: RefCell<Vec<bool>>,
    /// Segments that have a row, if only those count.
    pub(crate) touched: RefCell<Option<Vec<bool>>>,
}

pub(crate) type SharedSegments = Rc<Segments>;

impl Segments {
    pub(crate) fn one() -> SharedSegments {
        let segments = Self::default();
        segments.count.set(1);
        Rc::new(segments)
    }

    pub(crate) fn begin(&self, count: u32) {
        self.count.set(count);
        self.closed.borrow_mut().clear();
    }

    /// Begins a batch in which only segments count that [`Segments::touch`] names.
    pub(crate) fn begin_touched(&self, count: u32) {
        self.begin(count);
        *self.touched.borrow_mut() = Some(vec![false; count as usize]);
    }

    pub(crate) fn touch(&self, segment: u32) {
        if let Some(touched) = self.touched.borrow_mut().as_mut()
            && let Some(touched) = touched.get_mut(segment as usize)
        {
            *touched = true;
        }
    }

    /// The segments for which a reducing step must give a value.
    pub(crate) fn each(&self) -> Vec<u32> {
        let all = 0..self.count.get();
        match self.touched.borrow().as_ref() {
            Some(touched) => all
                .filter(|at| touched.get(*at as usize) == Some(&true))
                .collect(),
            None => all.collect(),
        }
    }

    pub(crate) fn close(&self, segment: u32) {
        let mut closed = self.closed.borrow_mut();
        let at = segment as usize;
        if closed.len() <= at {
            closed.resize(at + 1, false);
        }
        closed[at] = true;
    }

    pub(crate) fn is_closed(&self, segment: u32) -> bool {
        let closed = self.closed.borrow();
        closed.get(segment as usize).copied().unwrap_or(false)
    }
}

/// Rows between two readings of the clock, in steps that do not read the graph.
const CHECK_EVERY: usize = 1_024;
/// Bytes of a text whose copy counts as one row, for the check of the clock.
pub(crate) const BYTES_A_ROW: usize = 1_024;
/// Texts of at least this many bytes are charged for each copy that a path or a map stores.
const LONG_TEXT_BYTES: usize = 1_024;

/// Heap bytes of a copy of a value: only a text is copied, other content is shared.
pub(crate) fn copied_bytes(value: &Value) -> usize {
    match value {
        Value::Text(text) if text.is_heap_allocated() => text.len(),
        _ => 0,
    }
}

impl Context<'_> {
    /// Properties that any step reads, ascending. A query that writes reads all that exist at this
    /// time.
    pub(crate) fn projection(&self) -> Cow<'_, [PropertyKeyId]> {
        match self.writer {
            Some(writer) => Cow::Owned(writer.property_keys()),
            None => Cow::Borrowed(&self.projection),
        }
    }

    /// The error of a query whose work was told to stop.
    pub(crate) fn over(&self) -> QueryError {
        let error = self.meter.check().err();
        QueryError::View(error.unwrap_or(varve_view::ViewError::Cancelled))
    }

    /// Counts rows that a step made without reading the graph, and checks the deadline from time to
    /// time.
    pub(crate) fn tick(&self, rows: usize) -> Result<(), QueryError> {
        let ticks = self.ticks.get() + rows + 1;
        self.ticks.set(ticks);
        if ticks >= CHECK_EVERY || varve_view::work::is_over() {
            self.ticks.set(0);
            self.meter.check()?;
        }
        Ok(())
    }

    /// Charges the bytes of `bulk` copies of a value. Called before they are made.
    pub(crate) fn hold_values(&self, value: &Value, bulk: u64) -> Result<(), QueryError> {
        let bulk = usize::try_from(bulk).unwrap_or(usize::MAX);
        let bytes = size_of::<Value>() + copied_bytes(value);
        Ok(self.meter.hold(bulk.saturating_mul(bytes))?)
    }

    /// Counts the texts of a value that a step made, so that memory is measured before a batch of
    /// long ones fills it.
    pub(crate) fn tick_made(&self, value: &Value) -> Result<(), QueryError> {
        let bytes: usize = match value {
            Value::List(items) => items.iter().map(copied_bytes).sum(),
            other => copied_bytes(other),
        };
        self.tick(bytes / BYTES_A_ROW)
    }

    /// Charges a value that is kept as a key, with its text. Returns the charged bytes.
    pub(crate) fn hold_key(&self, value: &Value) -> Result<usize, QueryError> {
        let bytes = size_of::<Value>() + copied_bytes(value);
        self.meter.hold(bytes)?;
        self.tick(copied_bytes(value) / BYTES_A_ROW)?;
        Ok(bytes)
    }

    /// Charges the bytes of a value as an object of a path.
    pub(crate) fn hold_place(&self, value: &Value) -> Result<(), QueryError> {
        match self.track {
            Track::Path => self.hold_long(value),
            _ => Ok(()),
        }
    }

    /// Charges a long text for a copy that a path or a map stores until the query ends.
    pub(crate) fn hold_long(&self, value: &Value) -> Result<(), QueryError> {
        match copied_bytes(value) {
            bytes if bytes >= LONG_TEXT_BYTES => Ok(self.meter.hold(bytes)?),
            _ => Ok(()),
        }
    }

    /// Reads the content of every vertex among these values that is unread or out of date. Also
    /// reads changed edges again.
    pub(crate) fn fetch<'r>(
        &self,
        values: impl Iterator<Item = &'r Value>,
    ) -> Result<(), QueryError> {
        let mut unread: Vec<&Arc<VertexHandle>> = Vec::new();
        for value in values {
            let vertex = match value {
                Value::Vertex(vertex) => vertex,
                Value::VertexProperty(property) => &property.vertex,
                Value::Edge(edge, _) => {
                    self.renew_edge(edge)?;
                    continue;
                }
                _ => continue,
            };
            if let Some(writer) = self.writer
                && writer.changes() > 0
            {
                vertex.renew(writer.changed_at(&ElementId::Vertex(vertex.id().clone())));
            }
            if vertex.content().is_none() {
                unread.push(vertex);
            }
        }
        self.fill(&unread)
    }

    /// Reads these vertices; handles with an equal id are read once.
    fn fill(&self, unread: &[&Arc<VertexHandle>]) -> Result<(), QueryError> {
        if unread.is_empty() {
            return Ok(());
        }
        let mut bytes = Vec::with_capacity(unread.len() * 12);
        // `firsts`: the first handle of each id, with the end of its key in `bytes`. `others`:
        // further handles, each with the index of the first one of its id.
        let mut firsts: Vec<(&Arc<VertexHandle>, usize)> = Vec::with_capacity(unread.len());
        let mut others = Vec::new();
        let mut places: SeededMap<&VertexId, usize> = SeededMap::default();
        for vertex in unread {
            match places.entry(vertex.id()) {
                Entry::Occupied(place) => others.push((vertex, *place.get())),
                Entry::Vacant(place) => {
                    place.insert(firsts.len());
                    self.view.put_vertex_key(vertex.id(), &mut bytes);
                    firsts.push((vertex, bytes.len()));
                }
            }
        }
        let mut from = 0;
        let keys: Vec<&[u8]> = firsts
            .iter()
            .map(|&(_, end)| {
                let key = &bytes[from..end];
                from = end;
                key
            })
            .collect();
        self.view.vertices(
            &keys,
            &self.projection(),
            self.meter,
            &mut |at, label, properties| {
                let content = VertexContent { label, properties };
                firsts[at].0.fill(Some(content));
            },
        )?;
        for (vertex, _) in &firsts {
            vertex.fill(None);
        }
        for (vertex, place) in others {
            vertex.fill(firsts[place].0.content().flatten().cloned());
        }
        Ok(())
    }

    /// Reads an edge again if it was changed after it was read.
    fn renew_edge(&self, edge: &Arc<EdgeHandle>) -> Result<(), QueryError> {
        let Some(writer) = self.writer.filter(|writer| writer.changes() > 0) else {
            return Ok(());
        };
        let change = writer.changed_at(&ElementId::Edge(edge.id.clone()));
        if !edge.is_older(change) {
            return Ok(());
        }
        let mut properties = varve_model::Properties::new();
        let id = std::slice::from_ref(&edge.id);
        self.view
            .edges(id, &self.projection(), self.meter, &mut |_, found| {
                properties = found.properties.clone();
            })?;
        let newer = EdgeHandle {
            id: edge.id.clone(),
            is_given: edge.is_given,
            label_name: edge.label_name.clone(),
            source_label: edge.source_label,
            target_label: edge.target_label,
            properties,
            newer: NewerEdge::default(),
        };
        edge.renew(change, Arc::new(newer));
        Ok(())
    }

    pub(crate) fn fetch_rows(&self, rows: &[Row]) -> Result<(), QueryError> {
        self.fetch(rows.iter().map(|row| &row.value))
    }

    /// The name of a vertex label; empty if the schema has no such label.
    pub(crate) fn vertex_label(&self, id: VertexLabelId) -> &str {
        self.schema
            .vertex_label(id)
            .map_or("", |label| label.name.as_str())
    }

    /// Whether the writer of an edge gave it an id of its own.
    pub(crate) fn is_given(&self, edge: &EdgeId) -> bool {
        let label = || self.schema.edge_label(edge.label);
        edge.sort_values.starts_with('~') && label().is_some_and(EdgeLabel::has_hidden_sort)
    }

    /// The name of an edge label; empty if the schema has no such label.
    pub(crate) fn edge_label(&self, id: EdgeLabelId) -> &str {
        self.schema
            .edge_label(id)
            .map_or("", |label| label.name.as_str())
    }
}

/// Pseudo-random numbers by the algorithm of Java's `Random`, so that a seed gives the same numbers
/// as in the reference.
#[derive(Debug)]
pub(crate) struct Random(u64);

impl Random {
    const MULTIPLIER: u64 = 0x0005_deec_e66d;
    const MASK: u64 = (1 << 48) - 1;

    pub(crate) const fn new(seed: u64) -> Self {
        Self((seed ^ Self::MULTIPLIER) & Self::MASK)
    }

    /// A number of `bits` bits, at most 32.
    const fn bits(&mut self, bits: u32) -> u64 {
        self.0 = self.0.wrapping_mul(Self::MULTIPLIER).wrapping_add(0xb) & Self::MASK;
        self.0 >> (48 - bits)
    }

    /// A number below `bound`, which is not 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let wide = bound as u64;
        if wide > u64::from(i32::MAX.cast_unsigned()) {
            #[allow(clippy::cast_possible_truncation, reason = "below a usize")]
            return ((self.bits(32) << 32 | self.bits(32)) % wide) as usize;
        }
        let drawn = loop {
            let number = self.bits(31);
            if wide.is_power_of_two() {
                break (wide * number) >> 31;
            }
            // Draws again if the number is in the last, incomplete range of remainders.
            if number - number % wide + (wide - 1) < 1 << 31 {
                break number % wide;
            }
        };
        usize::try_from(drawn).unwrap_or(0)
    }

    /// A number in `[0, 1)`.
    #[allow(clippy::cast_precision_loss, reason = "53 bits are kept")]
    pub(crate) const fn fraction(&mut self) -> f64 {
        let number = (self.bits(26) << 27) + self.bits(27);
        number as f64 / (1_u64 << 53) as f64
    }
}
