//! What all operators of one query share.

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

/// What one query runs on.
pub(crate) struct Context<'q> {
    pub(crate) view: &'q dyn GraphView,
    pub(crate) schema: &'q dyn SchemaView,
    /// The view, if the query may change the graph.
    pub(crate) writer: Option<&'q dyn GraphWriter>,
    pub(crate) meter: &'q Meter,
    pub(crate) track: Track,
    /// Properties that any step reads, ascending.
    pub(crate) projection: Vec<PropertyKeyId>,
    pub(crate) effects: IndexMap<Name, Effect>,
    /// Whether equal rows become one: those that have no label yet.
    pub(crate) merges: bool,
    /// How sacks become one at a barrier.
    pub(crate) sack_merge: Option<Operator>,
    /// Whether equal rows that meet at a barrier count once.
    pub(crate) once: bool,
    pub(crate) random: Random,
    /// Rows since the clock was looked at.
    pub(crate) ticks: std::cell::Cell<usize>,
}

/// A side effect: a value under a name.
#[derive(Debug, Clone)]
pub(crate) struct Effect {
    pub(crate) value: Value,
    /// How a step's value joins it; `None` = as the step says.
    pub(crate) operator: Option<Operator>,
}

/// The segments of the child that is running. Operators of one child share it.
#[derive(Debug, Default)]
pub(crate) struct Segments {
    pub(crate) count: std::cell::Cell<u32>,
    /// Segments whose further rows nobody needs.
    pub(crate) closed: RefCell<Vec<bool>>,
    /// Segments that have a row, where only those count.
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

    /// From now on only segments count that [`Segments::touch`] names.
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

    /// The segments for which a step that makes one value of all has to make one.
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

/// Rows between two looks at the clock, in steps that read nothing.
const CHECK_EVERY: usize = 1_024;
/// A text of so many bytes counts wherever a copy of it stays.
const LONG_TEXT_BYTES: usize = 1_024;

/// Bytes that a copy of a value takes beside the value: only texts are copied, all else is shared.
pub(crate) fn copied_bytes(value: &Value) -> usize {
    match value {
        Value::Text(text) if text.is_heap_allocated() => text.len(),
        _ => 0,
    }
}

impl Context<'_> {
    /// Properties that any step reads, ascending. A query that writes reads all that there are by
    /// now.
    pub(crate) fn projection(&self) -> Cow<'_, [PropertyKeyId]> {
        match self.writer {
            Some(writer) => Cow::Owned(writer.property_keys()),
            None => Cow::Borrowed(&self.projection),
        }
    }

    /// Counts rows that a step made without reading; now and then looks at the clock.
    pub(crate) fn tick(&self, rows: usize) -> Result<(), QueryError> {
        let ticks = self.ticks.get() + rows + 1;
        self.ticks.set(ticks);
        if ticks >= CHECK_EVERY {
            self.ticks.set(0);
            self.meter.check()?;
        }
        Ok(())
    }

    /// Holds bytes for so many copies of a value; called before they are made.
    pub(crate) fn hold_values(&self, value: &Value, bulk: u64) -> Result<(), QueryError> {
        let bulk = usize::try_from(bulk).unwrap_or(usize::MAX);
        let bytes = size_of::<Value>() + copied_bytes(value);
        Ok(self.meter.hold(bulk.saturating_mul(bytes))?)
    }

    /// Holds what a value takes as a place of a path.
    pub(crate) fn hold_place(&self, value: &Value) -> Result<(), QueryError> {
        match self.track {
            Track::Path => self.hold_long(value),
            _ => Ok(()),
        }
    }

    /// Holds a long text for a copy of it that stays, in a path or in a map, until the query ends.
    pub(crate) fn hold_long(&self, value: &Value) -> Result<(), QueryError> {
        match copied_bytes(value) {
            bytes if bytes >= LONG_TEXT_BYTES => Ok(self.meter.hold(bytes)?),
            _ => Ok(()),
        }
    }

    /// Reads the content of every vertex among these that is not read yet.
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

    /// Reads each of these once, however often it is there.
    fn fill(&self, unread: &[&Arc<VertexHandle>]) -> Result<(), QueryError> {
        if unread.is_empty() {
            return Ok(());
        }
        let mut bytes = Vec::with_capacity(unread.len() * 12);
        // The vertices that come first with their id, and the others with the place of theirs.
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

    /// Reads an edge again that was changed since it was read.
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

    /// The name of a vertex label; empty where the schema has none.
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

    /// The name of an edge label; empty where the schema has none.
    pub(crate) fn edge_label(&self, id: EdgeLabelId) -> &str {
        self.schema
            .edge_label(id)
            .map_or("", |label| label.name.as_str())
    }
}

/// Numbers that look random: the generator of Java's `Random`, so that a seed gives what it gives
/// in the reference.
#[derive(Debug)]
pub(crate) struct Random(u64);

impl Random {
    const MULTIPLIER: u64 = 0x0005_deec_e66d;
    const MASK: u64 = (1 << 48) - 1;

    pub(crate) const fn new(seed: u64) -> Self {
        Self((seed ^ Self::MULTIPLIER) & Self::MASK)
    }

    /// A number of so many bits, at most 32.
    const fn bits(&mut self, bits: u32) -> u64 {
        self.0 = self.0.wrapping_mul(Self::MULTIPLIER).wrapping_add(0xb) & Self::MASK;
        self.0 >> (48 - bits)
    }

    /// Below `bound`, which is not 0.
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
            // The last numbers, which are not enough for every remainder, are drawn again.
            if number - number % wide + (wide - 1) < 1 << 31 {
                break number % wide;
            }
        };
        usize::try_from(drawn).unwrap_or(0)
    }

    /// In `[0, 1)`.
    #[allow(clippy::cast_precision_loss, reason = "53 bits are kept")]
    pub(crate) const fn fraction(&mut self) -> f64 {
        let number = (self.bits(26) << 27) + self.bits(27);
        number as f64 / (1_u64 << 53) as f64
    }
}
