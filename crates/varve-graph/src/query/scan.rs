//! Scans of the graph view: their plans, and how they are read piece by piece.
//!
//! A scan differs from a listing in three ways:
//!
//! - It may require an order, which an index must provide.
//! - A label that may have matches and has no index refuses the scan. A listing leaves such a label
//!   out, as HugeGraph does.
//! - It has no capacity: the meter of the query bounds it.

use std::sync::Arc;

use varve_encoding::index::{IndexId, partition};
use varve_encoding::tables::{EDGE, EVENT_INDEX, INDEX, VERTEX};
use varve_kv::{ClusteringRange, Flow, TableId};
use varve_model::schema::IndexBase;
use varve_model::{
    Condition, EdgeLabel, EdgeLabelId, PropertyKeyId, VertexId, VertexLabel, VertexLabelId,
};
use varve_view::{Coverage, Elements, ScanAsk, ScanPosition};

use super::alternatives::{in_order, usable};
use super::delivery::Delivery;
use super::filter::Filter;
use super::merge;
use super::page::Bookmark;
use super::plan::{Alternative, ElementLabel, Leg, Page, Parts, Plan, Source, fingerprint};
use super::planner;
use super::resolver::Resolver;
use super::run::{RowVisitor, Run};
use crate::schema::{Schema, SchemaElement};
use crate::{ErrorKind, GraphError};

/// The fewest vertices that a scan must demand before it may read the whole table for one label.
const WHOLE_TABLE_DEMAND: usize = 1_024;
/// The most other vertex labels that the graph may have for such a scan.
const OTHER_LABELS_MAX: usize = 16;
/// The most vertices of other labels that such a scan may read.
const OTHERS_MAX: usize = 4_096;

/// Passes the elements of the scan to `visit`, as specified by [`varve_view::GraphView::scan`].
pub(crate) fn scan(
    resolver: &dyn Resolver,
    schema: &Schema,
    ask: &ScanAsk<'_>,
    from: Option<&ScanPosition>,
    demand: usize,
    visit: &mut RowVisitor<'_>,
) -> Result<Option<ScanPosition>, GraphError> {
    let bookmark = from.map(|place| Bookmark::from_bytes(place.bytes()));
    let bookmark = bookmark.transpose()?;
    let page = bookmark.as_ref().map_or(Page::First, Page::From);
    let (scope, reader) = (resolver.scope(), resolver.reader());
    let parts = match whole_table(resolver, schema, ask, (bookmark.as_ref(), demand))? {
        Some(leg) => vec![Alternative::only(vec![leg])],
        None => parts(resolver, schema, ask)?,
    };
    let plan = Plan::choose(parts, ask.conditions, scope, reader, page)?;
    let mut run = run(resolver, ask, demand.max(1));
    let (first, position) = match &bookmark {
        Some(bookmark) => (bookmark.leg as usize, bookmark.position.as_slice()),
        None => (0, [].as_slice()),
    };
    run.walk(&plan.legs, first, position, visit)?;
    let next = run.delivery.finish(plan.fingerprint, plan.choices)?;
    Ok(next.map(|bookmark| ScanPosition::new(bookmark.to_bytes())))
}

/// Passes the ends of every edge to `visit`, as specified by [`varve_view::GraphView::edge_ends`].
pub(crate) fn edge_ends(
    resolver: &dyn Resolver,
    visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
) -> Result<(), GraphError> {
    let mut run = Run {
        resolver,
        table: EDGE,
        filter: Filter::new(&[]),
        delivery: Delivery::piece(usize::MAX),
        walked: 0,
    };
    run.edge_ends(visit).map(drop)
}

/// Returns the leg that reads the whole table, if that is cheaper for all vertices of one label
/// than a get for each entry of the label index. It is cheaper if many vertices are demanded, and
/// the other labels have few vertices and fewer than this label. A scan that began this way
/// continues this way.
fn whole_table(
    resolver: &dyn Resolver,
    schema: &Schema,
    ask: &ScanAsk<'_>,
    (bookmark, demand): (Option<&Bookmark>, usize),
) -> Result<Option<Leg>, GraphError> {
    let Elements::Vertices([label]) = ask.elements else {
        return Ok(None);
    };
    let is_plain = ask.conditions.is_empty() && ask.order.is_none();
    if !is_plain || !resolver.scope().is_now() {
        return Ok(None);
    }
    let leg = Leg {
        label: Some(ElementLabel::Vertex(*label)),
        ..Leg::of(Source::All)
    };
    let serves = match bookmark {
        Some(bookmark) => {
            let own = fingerprint(std::slice::from_ref(&leg), &[], resolver.scope());
            bookmark.plan == own
        }
        None => demand >= WHOLE_TABLE_DEMAND && has_most_vertices(resolver, schema, *label)?,
    };
    Ok(serves.then_some(leg))
}

/// Whether a label has more vertices than all other labels together, and those have at most
/// [`OTHERS_MAX`], by the label indexes. False if a label has no label index.
fn has_most_vertices(
    resolver: &dyn Resolver,
    schema: &Schema,
    label: VertexLabelId,
) -> Result<bool, GraphError> {
    let usable = |own: &Arc<VertexLabel>| own.enable_label_index && own.is_visible();
    if !schema.vertex_label(label).is_some_and(usable) {
        return Ok(false);
    }
    let others = schema.vertex_labels_ever().filter(|own| own.id != label);
    let others: Vec<_> = others.take(OTHER_LABELS_MAX + 1).collect();
    if others.len() > OTHER_LABELS_MAX || others.iter().any(|other| !other.enable_label_index) {
        return Ok(false);
    }
    let mut indexes = Vec::new();
    for other in others {
        let index = IndexId::VertexLabel(other.id);
        if has_entries(resolver, index)? {
            indexes.push(index);
        }
    }
    if indexes.is_empty() {
        return Ok(true);
    }
    // Count the other labels up to this label's number.
    let own = entries(resolver, IndexId::VertexLabel(label), OTHERS_MAX + 1)?;
    let mut counted = 0;
    for index in indexes {
        counted += entries(resolver, index, own - counted)?;
        if counted >= own {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Estimates how many elements [`scan`] would read, up to `most`.
pub(crate) fn estimate(
    resolver: &dyn Resolver,
    schema: &Schema,
    ask: &ScanAsk<'_>,
    most: usize,
) -> Result<usize, GraphError> {
    let (scope, reader) = (resolver.scope(), resolver.reader());
    let parts = parts(resolver, schema, ask)?;
    let plan = Plan::choose(parts, ask.conditions, scope, reader, Page::None)?;
    let mut counted = 0;
    for leg in &plan.legs {
        if counted >= most {
            break;
        }
        match &leg.source {
            Source::Vertices(ids) => counted += ids.len(),
            Source::Entries(entries) => {
                let past = (!scope.is_now()).then_some(EVENT_INDEX);
                for table in [Some(INDEX), past].into_iter().flatten() {
                    for partition in &entries.partitions {
                        let left = most.saturating_sub(counted);
                        let found = merge::count(reader, table, partition, &entries.range, left)?;
                        resolver.looked(found)?;
                        counted += found;
                    }
                }
            }
            Source::All | Source::EdgesOfLabel { .. } | Source::Adjacent { .. } => {
                let mut run = run(resolver, ask, most - counted);
                run.walk(std::slice::from_ref(leg), 0, &[], &mut |_| {
                    counted += 1;
                    Ok(Flow::Continue(()))
                })?;
            }
        }
    }
    Ok(counted.min(most))
}

fn run<'a>(resolver: &'a dyn Resolver, ask: &ScanAsk<'_>, demand: usize) -> Run<'a> {
    Run {
        resolver,
        table: table(ask),
        filter: Filter::new(ask.conditions),
        delivery: Delivery::piece(demand),
        walked: 0,
    }
}

fn table(ask: &ScanAsk<'_>) -> TableId {
    match ask.elements {
        Elements::Vertices(_) => VERTEX,
        Elements::Edges(_) => EDGE,
    }
}

/// A label whose elements a scan visits.
struct OfLabel<'a> {
    base: IndexBase,
    label: ElementLabel,
    name: &'a str,
    properties: &'a [PropertyKeyId],
    /// The label index, if there is one.
    index: Option<IndexId>,
    /// Whether the label has not been removed.
    is_visible: bool,
    /// The leg that lists all its elements, or the reason why there is none.
    listing: Result<Leg, GraphError>,
    /// The ids that the conditions give.
    ids: Option<Vec<VertexId>>,
}

/// Returns the parts of a scan's plan.
fn parts(resolver: &dyn Resolver, schema: &Schema, ask: &ScanAsk<'_>) -> Result<Parts, GraphError> {
    planner::refuse_hidden(schema, ask.conditions)?;
    let is_plain = ask.conditions.is_empty() && ask.order.is_none();
    let labels = match ask.elements {
        Elements::Vertices([]) | Elements::Edges([]) if is_plain => {
            return Ok(vec![Alternative::only(vec![Leg::of(Source::All)])]);
        }
        Elements::Vertices(ids) => vertex_labels(schema, ids, ask.conditions),
        Elements::Edges(ids) => edge_labels(schema, ids),
    };
    let mut parts = Parts::new();
    for label in labels {
        parts.extend(label.part(resolver, schema, ask)?);
    }
    match ask.order {
        Some(_) if parts.len() > 1 => Err(no_index("Only the elements of one label have an order")),
        _ => Ok(parts),
    }
}

/// Returns the vertex labels with these ids; all labels if `ids` is empty.
fn vertex_labels<'a>(
    schema: &'a Schema,
    ids: &[VertexLabelId],
    conditions: &[Condition],
) -> Vec<OfLabel<'a>> {
    let mut labels: Vec<_> = match ids {
        [] => schema.vertex_labels_ever().collect(),
        ids => ids
            .iter()
            .filter_map(|id| schema.vertex_label(*id))
            .collect(),
    };
    labels.sort_by_key(|label| label.id);
    labels.dedup_by_key(|label| label.id);
    let of_label = |label: &'a Arc<VertexLabel>| OfLabel {
        base: IndexBase::Vertex(label.id),
        label: ElementLabel::Vertex(label.id),
        name: &label.name,
        properties: &label.properties,
        index: label
            .enable_label_index
            .then_some(IndexId::VertexLabel(label.id)),
        is_visible: label.is_visible(),
        listing: planner::vertex_label_listing(label),
        ids: planner::primary_key_ids(label, conditions),
    };
    labels.into_iter().map(of_label).collect()
}

/// Returns the edge labels with these ids, and their SUB labels; all labels if `ids` is empty.
fn edge_labels<'a>(schema: &'a Schema, ids: &[EdgeLabelId]) -> Vec<OfLabel<'a>> {
    let known = ids.iter().filter_map(|id| schema.edge_label(*id));
    let mut labels: Vec<_> = match ids {
        [] => schema.edge_labels_ever().collect(),
        _ => known
            .flat_map(|label| planner::with_sub_labels(schema, label, &[]))
            .collect(),
    };
    labels.sort_by_key(|label| label.id);
    labels.dedup_by_key(|label| label.id);
    let of_label = |label: &'a Arc<EdgeLabel>| OfLabel {
        base: IndexBase::Edge(label.id),
        label: ElementLabel::Edge(label.id),
        name: &label.name,
        properties: &label.properties,
        index: label
            .enable_label_index
            .then_some(IndexId::EdgeLabel(label.id)),
        is_visible: label.is_visible(),
        listing: planner::edge_label_listing(label),
        ids: None,
    };
    labels.into_iter().map(of_label).collect()
}

impl OfLabel<'_> {
    /// Returns the alternatives that serve the scan for this label; `None` if no element can match.
    fn part(
        self,
        resolver: &dyn Resolver,
        schema: &Schema,
        ask: &ScanAsk<'_>,
    ) -> Result<Option<Vec<Alternative>>, GraphError> {
        if (!self.is_visible && resolver.scope().is_now()) || self.is_hidden(resolver) {
            return Ok(None);
        }
        let conditions = ask.conditions;
        let mut keys = conditions.iter().map(|condition| condition.key);
        let mut keys = keys.by_ref().chain(ask.order.map(|order| order.key));
        let is_vertex = matches!(self.base, IndexBase::Vertex(_));
        let may_have =
            |key| self.properties.contains(&key) || (is_vertex && schema.is_olap_key(key));
        if !keys.all(may_have) {
            return Ok(None);
        }
        let found = match (ask.order, self.ids) {
            (None, _) if conditions.is_empty() => {
                return self.listing.map(|leg| Some(Alternative::only(vec![leg])));
            }
            (None, Some(ids)) => {
                let leg = Leg {
                    label: Some(self.label),
                    ..Leg::of(Source::Vertices(ids))
                };
                return Ok(Some(Alternative::only(vec![leg])));
            }
            (None, None) => usable(schema, self.base, self.label, conditions),
            (Some(order), _) => in_order(schema, self.base, self.label, conditions, order),
        };
        if !found.alternatives.is_empty() {
            return Ok(Some(found.alternatives));
        }
        match self.index {
            Some(index) if !has_entries(resolver, index)? => Ok(None),
            _ => Err(no_index(&format!(
                "No index of label '{}' serves the conditions or the order",
                self.name
            ))),
        }
    }
}

impl OfLabel<'_> {
    /// Whether the policy hides all elements of the label.
    fn is_hidden(&self, resolver: &dyn Resolver) -> bool {
        resolver.policy().is_some_and(|policy| {
            let coverage = match self.label {
                ElementLabel::Vertex(label) => policy.vertex(label),
                ElementLabel::Edge(label) => policy.edge(label),
            };
            *coverage == Coverage::Nothing
        })
    }
}

/// Whether a label index has an entry, so that the label may have elements.
fn has_entries(resolver: &dyn Resolver, index: IndexId) -> Result<bool, GraphError> {
    Ok(entries(resolver, index, 1)? > 0)
}

/// Counts the entries of a label index, up to `most`.
fn entries(resolver: &dyn Resolver, index: IndexId, most: usize) -> Result<usize, GraphError> {
    let partition = partition(index, 0, &[]);
    let past = (!resolver.scope().is_now()).then_some(EVENT_INDEX);
    let mut counted = 0;
    for table in [Some(INDEX), past].into_iter().flatten() {
        let (all, left) = (ClusteringRange::all(), most - counted);
        counted += merge::count(resolver.reader(), table, &partition, &all, left)?;
    }
    Ok(counted)
}

fn no_index(message: &str) -> GraphError {
    GraphError::new(ErrorKind::NoIndex, message)
}
