//! Scans of nodes, and look-ups by id.

use std::borrow::Cow;
use std::sync::Arc;

use varve_model::value::Uuid;
use varve_model::{Cardinality, DataType, VertexId, VertexLabelId};
use varve_view::{Elements, ScanOrder, ScannedElement};

use super::batch::ROWS;
use super::expand::Results;
use super::ordered::Order;
use super::pages::Pages;
use super::{Batch, BoxedOperator, Cx, Operator};
use crate::error::Outcome;
use crate::filters::LabelFilter;
use crate::lookups::conditions;
use crate::numbers::{HASH_MIN, whole};
use crate::plan::{IdLookup, IdOf, LookupBy, NodeScan};
use crate::value::{Node, Value};

/// Nodes of the first page.
const PAGE_MIN: usize = 32;

/// Gives the nodes of some labels for each row.
pub(crate) struct Scan<'p> {
    input: BoxedOperator<'p>,
    scan: &'p NodeScan,
    /// The input rows, and the first of them that is not done.
    waiting: (Batch, usize),
    running: Option<Running>,
    /// Rows, and the nodes that were looked up for them.
    found: Option<(Batch, Vec<Arc<Node>>)>,
    /// Nodes of a page: few at first, so that a small limit reads little.
    page: usize,
    /// The first page, if it was read to see whether it comes in an order.
    first: Option<Batch>,
    /// Whether the last page came in the order that was asked for.
    is_in_order: bool,
    /// Bytes of the rows that were given last.
    held: usize,
    /// The results of the scan's condition.
    results: Results,
}

/// A scan for some rows.
struct Running {
    rows: Batch,
    pages: Pages<VertexLabelId>,
}

impl<'p> Scan<'p> {
    pub(crate) fn new(input: BoxedOperator<'p>, scan: &'p NodeScan) -> Scan<'p> {
        Scan {
            input,
            scan,
            waiting: (Batch::default(), 0),
            running: None,
            found: None,
            page: PAGE_MIN,
            first: None,
            is_in_order: false,
            held: 0,
            results: Results::of_distinct(),
        }
    }

    /// The index order in which a scan for one row can read the nodes, if there may be one.
    fn order(&self, cx: Cx<'_>, order: &Order<'_>) -> Option<ScanOrder> {
        let (schema, scan) = (cx.graph().schema, self.scan);
        let name = order.key_of(scan.node)?;
        if cx.shared.plan.writes || scan.id.is_some() || scan.by.iter().any(|by| by.key != *name) {
            return None;
        }
        let key = schema.property_key_named(name)?;
        // No comparison is true for a NaN, which may be at both ends of an index, or for a list,
        // which an open graph may have under any key.
        let is_compared = scan.by.iter().any(|by| by.how != LookupBy::Among);
        let is_line = match key.data_type {
            DataType::Float | DataType::Double => is_compared,
            other => other.is_rangeable() && (is_compared || !schema.is_open()),
        };
        let labels = LabelFilter::new(scan.labels.as_ref()).list(schema)?;
        let [label] = *labels else {
            return None;
        };
        let of = schema.vertex_label(label)?;
        let must_have = of.properties.contains(&key.id) && !of.nullable_keys.contains(&key.id);
        let has_value = order.has_value || !scan.by.is_empty() || must_have;
        let is_ordered = schema.vertex_subtypes(label).is_empty()
            && key.cardinality == Cardinality::Single
            && schema.has_vertex_order(label, key.id);
        (is_line && has_value && is_ordered).then_some(ScanOrder {
            key: key.id,
            descending: order.descending,
        })
    }

    /// Reads all input rows; whether there is only one.
    fn has_one_row(&mut self, cx: Cx<'_>) -> Outcome<bool> {
        let (batch, _) = &mut self.waiting;
        while batch.len() < 2 {
            match self.input.next(cx)? {
                Some(next) if batch.is_empty() => *batch = next,
                Some(next) => next.rows().for_each(|(row, count)| batch.push(row, count)),
                None => break,
            }
        }
        Ok(batch.len() == 1)
    }

    /// Begins the next scan: for one row if the scan depends on it, else for a batch.
    fn start(&mut self, cx: Cx<'_>) -> Outcome<bool> {
        let (batch, done) = &mut self.waiting;
        if *done == batch.len() {
            match self.input.next(cx)? {
                Some(next) => (*batch, *done) = (next, 0),
                None => return Ok(false),
            }
            if batch.is_empty() {
                return Ok(true);
            }
        }
        let is_same = self.scan.by.is_empty() && self.scan.id.is_none();
        let rows = match is_same {
            true if *done == 0 && batch.len() <= ROWS => std::mem::take(batch),
            true => {
                let end = batch.len().min(*done + ROWS);
                let mut some = Batch::new(batch.width());
                for at in *done..end {
                    some.push(batch.row(at), batch.count(at));
                }
                *done = end;
                some
            }
            false => {
                let mut one = Batch::new(batch.width());
                one.push(batch.row(*done), batch.count(*done));
                *done += 1;
                one
            }
        };
        let ids = self.scan.id.as_ref();
        if let Some(ids) = ids
            .map(|look_up| ids_of(cx, look_up, rows.row(0)))
            .transpose()?
            .flatten()
        {
            self.found = Some((rows, existing(cx, &ids)?));
            return Ok(true);
        }
        let schema = cx.graph().schema;
        let mut filter = LabelFilter::new(self.scan.labels.as_ref());
        let labels = filter.list(schema);
        if labels.as_ref().is_some_and(Vec::is_empty) {
            return Ok(true);
        }
        let by = self.scan.by.iter().map(|by| {
            let value = cx.evaluate(&by.value, rows.row(0))?;
            Ok((by, value))
        });
        let Some(conditions) = conditions(cx.graph().schema, by)? else {
            return Ok(true);
        };
        self.running = Some(Running {
            rows,
            pages: Pages::new(labels.unwrap_or_default(), conditions),
        });
        Ok(true)
    }

    /// Each row with each of the nodes that have the labels.
    fn joined(&self, cx: Cx<'_>, rows: &Batch, nodes: Vec<Arc<Node>>) -> Batch {
        let mut filter = LabelFilter::new(self.scan.labels.as_ref());
        let mut out = Batch::new(rows.width());
        for node in nodes {
            if !filter.holds(cx.graph().schema, node.label) {
                continue;
            }
            let node = Value::Node(node);
            for (row, count) in rows.rows() {
                out.push(row, count);
                let last = out.len() - 1;
                if let Some(slot) = out.row_mut(last).get_mut(self.scan.node) {
                    *slot = node.clone();
                }
            }
        }
        out
    }

    /// A page of the running scan.
    fn page(&mut self, cx: Cx<'_>) -> Outcome<Batch> {
        let graph = cx.graph();
        let Some(mut running) = self.running.take() else {
            return Ok(Batch::default());
        };
        let page = (4 * ROWS / running.rows.len().max(1)).clamp(4, self.page);
        self.page = (4 * self.page).min(ROWS);
        let keys = match self.scan.reads_properties {
            true => cx.keys(),
            false => Cow::Borrowed(&[][..]),
        };
        let mut filter = LabelFilter::new(self.scan.labels.as_ref());
        let mut nodes: Vec<Arc<Node>> = Vec::new();
        let (mut bytes, mut unchecked) = (Vec::new(), Vec::new());
        let has_more = running.pages.next(
            cx,
            |labels| Elements::Vertices(labels),
            (&keys, page),
            |found| {
                if let ScannedElement::Vertex { key, vertex } = found
                    && filter.holds(graph.schema, vertex.label)
                {
                    if self.scan.condition.is_some() {
                        bytes.extend_from_slice(key);
                        unchecked.push((bytes.len(), vertex.label));
                        return Ok(());
                    }
                    let node = cx.node(key, vertex.label)?;
                    if self.scan.reads_properties {
                        graph.found(&node, vertex);
                    }
                    nodes.push(node);
                }
                Ok(())
            },
        )?;
        if let Some(condition) = &self.scan.condition {
            let starts = std::iter::once(0).chain(unchecked.iter().map(|(end, _)| *end));
            let keys = starts
                .zip(&unchecked)
                .map(|(start, (end, _))| &bytes[start..*end]);
            let keys: Vec<&[u8]> = keys.collect();
            let holds = self.results.of(cx, (self.scan.node, condition), &keys)?;
            for at in (0..keys.len()).filter(|at| holds[*at]) {
                nodes.push(cx.node(keys[at], unchecked[at].1)?);
            }
        }
        self.is_in_order = running.pages.is_in_order();
        let out = self.joined(cx, &running.rows, nodes);
        if has_more {
            self.running = Some(running);
        }
        Ok(out)
    }
}

impl Scan<'_> {
    /// The next rows, which may be none; `None` at the end.
    fn some(&mut self, cx: Cx<'_>) -> Outcome<Option<Batch>> {
        if let Some(first) = self.first.take() {
            return Ok(Some(first));
        }
        if let Some((rows, nodes)) = self.found.take() {
            return Ok(Some(self.joined(cx, &rows, nodes)));
        }
        if self.running.is_some() {
            return self.page(cx).map(Some);
        }
        Ok(self.start(cx)?.then(Batch::default))
    }
}

impl Operator for Scan<'_> {
    fn comes_in(&mut self, cx: Cx<'_>, order: &Order<'_>) -> Outcome<bool> {
        let Some(order) = self.order(cx, order) else {
            return Ok(false);
        };
        if !self.has_one_row(cx)? || !self.start(cx)? {
            return Ok(false);
        }
        let Some(running) = &mut self.running else {
            return Ok(false);
        };
        running.pages.set_order(order);
        self.first = Some(self.page(cx)?);
        Ok(self.is_in_order)
    }

    fn next(&mut self, cx: Cx<'_>) -> Outcome<Option<Batch>> {
        let meter = cx.graph().meter;
        meter.release(std::mem::take(&mut self.held));
        while let Some(out) = self.some(cx)? {
            if !out.is_empty() {
                self.held = out.bytes();
                meter.hold(self.held)?;
                return Ok(Some(out));
            }
        }
        Ok(None)
    }
}

/// The ids that a look-up may mean; `None` if any node may have one of its numbers, since that is a
/// hash. The filters behind the scan check them again.
fn ids_of(cx: Cx<'_>, look_up: &IdLookup, row: &[Value]) -> Outcome<Option<Vec<VertexId>>> {
    let value = cx.evaluate(&look_up.value, row)?;
    let items = match (&value, look_up.is_list) {
        (Value::List(items), true) => &items[..],
        (_, true) => &[],
        (one, false) => std::slice::from_ref(one),
    };
    let mut ids = Vec::with_capacity(items.len());
    for item in items {
        match (item, look_up.of) {
            (Value::String(text), IdOf::Text) => {
                ids.extend(text.parse().ok().map(VertexId::Number));
                ids.extend(Uuid::parse(text).map(|uuid| VertexId::Uuid(uuid.0)));
                if (1..=varve_model::id::VERTEX_ID_BYTES_MAX).contains(&text.len()) {
                    ids.push(VertexId::text(text));
                }
            }
            (Value::Integer(number), IdOf::Number) if *number >= HASH_MIN => return Ok(None),
            (Value::Integer(number), IdOf::Number) => ids.push(VertexId::Number(*number)),
            // 1.0 = 1 is true.
            (Value::Float(number), IdOf::Number) => match whole(*number) {
                Some(number) if number >= HASH_MIN => return Ok(None),
                number => ids.extend(number.map(VertexId::Number)),
            },
            (Value::Node(node), IdOf::Node) => ids.push(cx.graph().view.vertex_id(&node.key)?),
            _ => {}
        }
    }
    ids.sort_unstable();
    ids.dedup();
    Ok(Some(ids))
}

/// Those nodes of some ids that exist.
fn existing(cx: Cx<'_>, ids: &[VertexId]) -> Outcome<Vec<Arc<Node>>> {
    let graph = cx.graph();
    let mut keys = Vec::with_capacity(ids.len());
    for id in ids {
        let mut key = Vec::new();
        cx.view().put_vertex_key(id, &mut key);
        keys.push(key);
    }
    let slices: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
    let mut nodes = Vec::with_capacity(ids.len());
    cx.view()
        .vertices(&slices, &[], graph.meter, &mut |at, label, _| {
            let node = Node::new(slices[at], label).within(cx.snapshot());
            nodes.push(Arc::new(node));
        })?;
    Ok(nodes)
}
