//! Implements [`GraphView`], the interface of queries, for the stored elements of a [`View`].

use std::cell::{Cell, RefCell};
use std::ops::Deref;

use varve_encoding::DecodeError;
use varve_encoding::counts::{EdgeCount, edge_counts};
use varve_encoding::row::PropertyReader;
use varve_encoding::tables::{EDGE, EVENT_INDEX, INDEX, VERTEX};
use varve_encoding::value::{is_many, take_value};
use varve_encoding::{key, row};
use varve_kv::{ClusteringRange, PartitionRange, TableId};
use varve_model::schema::EdgeLabelType;
use varve_model::sortable::given_id;
use varve_model::{
    Condition, Direction, EdgeId, EdgeLabelId, Element, ElementId, Instant, Properties,
    PropertyKeyId, TemporalScope, VertexId, VertexLabelId,
};
use varve_view::{
    Counted, Dictionary, EdgeFound, Elements, Expand, Flow, GraphView, Meter, Neighbour,
    PastVersion, ScanAsk, ScanPosition, ScannedEdge, ScannedElement, VertexFound, ViewError,
};

use super::adjacency::Adjacent;
use super::derived::derived_elements;
use super::many::{RowPlace, borrowed};
use super::metered::Metered;
use super::view::View;
use crate::error::GraphError;
use crate::index::{GIVEN_EDGE_IDS, given_first, tokenizer};
use crate::query::{self, FoundRow, RowKey, pick};
use crate::schema::Schema;

/// Elements that are read together. Before each such read the meter checks the clock, the cancel
/// token and the memory of the query.
const READ_TOGETHER: usize = 1_024;

/// Reports damage as an error of the view.
fn damage(error: DecodeError) -> ViewError {
    GraphError::from(error).into()
}

/// A view that shows elements as they are stored.
#[derive(Clone, Copy)]
pub(super) struct StoredView<'v>(pub(super) &'v View);

impl Deref for StoredView<'_> {
    type Target = View;

    fn deref(&self) -> &View {
        self.0
    }
}

impl GraphView for StoredView<'_> {
    fn put_vertex_key(&self, id: &VertexId, out: &mut Vec<u8>) {
        key::put_vertex_id(id, out);
    }

    fn vertex_id(&self, key: &[u8]) -> Result<VertexId, ViewError> {
        key::decode_vertex_id(key).map_err(damage)
    }

    fn edge_id(&self, from: &[u8], edge: &[u8]) -> Result<EdgeId, ViewError> {
        let (id, _) = key::decode_edge(from, edge).map_err(damage)?;
        Ok(id)
    }

    fn neighbours(
        &self,
        from: &[&[u8]],
        ask: &Expand<'_>,
        meter: &Meter,
        visit: &mut dyn FnMut(usize, &Neighbour<'_>) -> Flow,
    ) -> Result<(), ViewError> {
        self.edges_of(from, ask, meter, &mut |at, edge| {
            shown(edge, ask.properties, &mut |seen| visit(at, seen))
        })
    }

    fn degrees(
        &self,
        from: &[&[u8]],
        ask: &Expand<'_>,
        most: u64,
        meter: &Meter,
    ) -> Result<Vec<u64>, ViewError> {
        let mut degrees = vec![0; from.len()];
        let ranges = edge_ranges(self.schema(), ask);
        let scans = scans(from, &ranges);
        let vertex = |scan: usize| scan / ranges.len();
        let left = self.summarized(&scans, meter, &mut |scan, edges| {
            let degree: &mut u64 = &mut degrees[vertex(scan)];
            *degree = degree.saturating_add(u64::from(edges.edges)).min(most);
        })?;
        let rest: Vec<PartitionRange<'_>> = left.iter().map(|scan| scans[*scan]).collect();
        self.edges_in(&rest, &|at| vertex(left[at]), meter, &mut |at, _| {
            let degree = &mut degrees[at];
            *degree += u64::from(*degree < most);
            Ok(match *degree < most {
                true => Flow::Continue(()),
                false => Flow::Break(()),
            })
        })?;
        Ok(degrees)
    }

    fn counts(
        &self,
        from: &[&[u8]],
        ask: &Expand<'_>,
        meter: &Meter,
        visit: &mut dyn FnMut(usize, Counted),
    ) -> Result<(), ViewError> {
        let ranges = edge_ranges(self.schema(), ask);
        let scans = scans(from, &ranges);
        let vertex = |scan: usize| scan / ranges.len();
        let left = self.summarized(&scans, meter, &mut |scan, edges| {
            let loops = [(false, edges.edges - edges.loops), (true, edges.loops)];
            for (is_loop, number) in loops.into_iter().filter(|(_, number)| *number > 0) {
                let counted = Counted {
                    direction: edges.direction,
                    label: edges.label,
                    other_label: edges.other_label,
                    is_loop,
                    edges: u64::from(number),
                };
                visit(vertex(scan), counted);
            }
        })?;
        let rest: Vec<PartitionRange<'_>> = left.iter().map(|scan| scans[*scan]).collect();
        self.edges_in(&rest, &|at| vertex(left[at]), meter, &mut |at, edge| {
            shown(edge, &[], &mut |seen| {
                visit(at, Counted::one(from[at], seen));
                Flow::Continue(())
            })
        })
    }

    fn vertices(
        &self,
        keys: &[&[u8]],
        properties: &[PropertyKeyId],
        meter: &Meter,
        found: &mut dyn FnMut(usize, VertexLabelId, Properties),
    ) -> Result<(), ViewError> {
        let properties = &*self.schema().shown(properties);
        let mut failed = None;
        let show = &mut |at: usize, content: &[u8]| {
            let read = row::vertex_parts(content)
                .and_then(|(label, reader)| Ok((label, pick(reader, properties)?)));
            match read {
                Ok((label, properties)) => found(at, label, properties),
                Err(error) => failed = Some(error),
            }
        };
        self.each_vertex(keys, meter, show)?;
        failed.map_or(Ok(()), |error| Err(damage(error)))
    }

    fn vertex_values(
        &self,
        keys: &[&[u8]],
        property: PropertyKeyId,
        dictionary: &mut Dictionary,
        meter: &Meter,
        found: &mut dyn FnMut(usize, u32),
    ) -> Result<(), ViewError> {
        if self.schema().shown(&[property]).is_empty() {
            return Ok(());
        }
        let mut outcome = Ok(());
        let show = &mut |at: usize, content: &[u8]| {
            let read = row::vertex_parts(content).map_err(damage);
            let number = read
                .and_then(|(_, reader)| number_of(reader, property, dictionary, meter))
                .transpose();
            match number {
                Some(Ok(number)) => found(at, number),
                Some(Err(error)) => outcome = Err(error),
                None => {}
            }
        };
        self.each_vertex(keys, meter, show)?;
        outcome
    }

    fn edges(
        &self,
        ids: &[EdgeId],
        properties: &[PropertyKeyId],
        meter: &Meter,
        found: &mut dyn FnMut(usize, EdgeFound<'_>),
    ) -> Result<(), ViewError> {
        let key_of = |id: &EdgeId| {
            let clustering = key::edge_clustering(id, Direction::Out);
            (key::vertex_id(&id.source), clustering)
        };
        let mut failed = None;
        let mut show = |at, content: &[u8]| {
            let read = row::edge_parts(content).and_then(|(source, target, reader)| {
                Ok((source, target, pick(reader, properties)?))
            });
            match read {
                Ok((source_label, target_label, properties)) => {
                    let properties = &properties;
                    found(
                        at,
                        EdgeFound {
                            source_label,
                            target_label,
                            properties,
                        },
                    );
                }
                Err(error) => failed = Some(error),
            }
        };
        for (number, ids) in ids.chunks(READ_TOGETHER).enumerate() {
            for _ in ids {
                meter.row()?;
            }
            let keys: Vec<RowKey> = ids.iter().map(key_of).collect();
            let places = borrowed(&keys);
            let mut show = |at: usize, content: &[u8]| show(number * READ_TOGETHER + at, content);
            self.elements(EDGE, &places, &mut show)?;
        }
        failed.map_or(Ok(()), |error| Err(damage(error)))
    }

    fn scan(
        &self,
        ask: &ScanAsk<'_>,
        from: Option<&ScanPosition>,
        demand: usize,
        meter: &Meter,
        visit: &mut dyn FnMut(&ScannedElement<'_>) -> Flow,
    ) -> Result<Option<ScanPosition>, ViewError> {
        let metered = Metered::new(self, meter);
        let shown = self.schema().shown(ask.properties);
        let mut show = |row: FoundRow<'_>| Ok(scanned(row, (ask, &shown), visit)?);
        let next = query::scan(&metered, self.schema(), ask, from, demand, &mut show);
        metered.outcome(next)
    }

    fn scan_values(
        &self,
        ask: &ScanAsk<'_>,
        property: PropertyKeyId,
        (from, demand): (Option<&ScanPosition>, usize),
        dictionary: &mut Dictionary,
        meter: &Meter,
        visit: &mut dyn FnMut(u32),
    ) -> Result<Option<ScanPosition>, ViewError> {
        let metered = Metered::new(self, meter);
        let is_shown = !self.schema().shown(&[property]).is_empty();
        let mut outcome = Ok(());
        let mut show = |row: FoundRow<'_>| {
            if !is_shown {
                return Ok(Flow::Continue(()));
            }
            let reader = match ask.elements {
                Elements::Vertices(_) => row::vertex_parts(row.content)?.1,
                Elements::Edges(_) => row::edge_parts(row.content)?.2,
            };
            match number_of(reader, property, dictionary, meter).transpose() {
                Some(Ok(number)) => visit(number),
                Some(Err(error)) => {
                    outcome = Err(error);
                    return Ok(Flow::Break(()));
                }
                None => {}
            }
            Ok(Flow::Continue(()))
        };
        let next = query::scan(&metered, self.schema(), ask, from, demand, &mut show);
        let next = metered.outcome(next)?;
        outcome.map(|()| next)
    }

    fn edge_ends(
        &self,
        meter: &Meter,
        visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
    ) -> Result<(), ViewError> {
        let metered = Metered::new(self, meter);
        let walked = query::edge_ends(&metered, visit);
        metered.outcome(walked)
    }

    fn estimate(
        &self,
        ask: &ScanAsk<'_>,
        most: u64,
        meter: &Meter,
    ) -> Result<Option<u64>, ViewError> {
        let metered = Metered::new(self, meter);
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let counted = query::estimate(&metered, self.schema(), ask, most);
        match metered.outcome(counted) {
            Ok(counted) => Ok(Some(counted as u64)),
            Err(ViewError::NoIndex(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn edges_given(
        &self,
        id: &VertexId,
        meter: &Meter,
        found: &mut dyn FnMut(EdgeId),
    ) -> Result<(), ViewError> {
        let tables: &[TableId] = match self.scope().is_now() {
            true => &[INDEX],
            false => &[INDEX, EVENT_INDEX],
        };
        let first = given_first(id);
        for candidate in derived_elements(self.reader(), tables, GIVEN_EDGE_IDS, &first)? {
            meter.row()?;
            let ElementId::Edge(edge) = candidate else {
                continue;
            };
            let label = self.schema().edge_label(edge.label);
            // Nothing is known about the sort values of a removed label.
            let is_hidden = label.is_none_or(|label| label.has_hidden_sort());
            if is_hidden && given_id(&edge.sort_values).as_ref() == Some(id) {
                found(edge);
            }
        }
        Ok(())
    }

    fn valid_at(&self) -> Option<Instant> {
        Some(self.valid())
    }

    fn versions(
        &self,
        id: &ElementId,
        meter: &Meter,
        visit: &mut dyn FnMut(PastVersion) -> Flow,
    ) -> Result<(), ViewError> {
        let valid = self.scope().valid;
        let mut counted = Ok(());
        self.visit_history(id, None, &mut |past| {
            counted = meter.row();
            match counted {
                Err(_) => Flow::Break(()),
                Ok(()) if valid.is_some_and(|at| !past.period.covers(at)) => Flow::Continue(()),
                Ok(()) => visit(PastVersion {
                    version: past.version,
                    period: past.period,
                    element: past.element,
                    superseded: past.superseded,
                }),
            }
        })?;
        counted
    }

    fn element_at(
        &self,
        id: &ElementId,
        at: TemporalScope,
        meter: &Meter,
    ) -> Result<Option<Element>, ViewError> {
        meter.row()?;
        let then = self.moved_to(at);
        Ok(match id {
            ElementId::Vertex(id) => then.vertex(id)?.map(Element::Vertex),
            ElementId::Edge(id) => then.edge(id)?.map(Element::Edge),
        })
    }

    fn satisfies(&self, conditions: &[Condition], properties: &Properties) -> bool {
        let contains_words = &tokenizer::contains_words;
        let mut conditions = conditions.iter();
        conditions.all(|condition| condition.holds(properties, contains_words))
    }
}

/// Returns the dictionary's number of the first value that a row has for a property.
fn number_of(
    reader: PropertyReader<'_>,
    property: PropertyKeyId,
    dictionary: &mut Dictionary,
    meter: &Meter,
) -> Result<Option<u32>, ViewError> {
    let Some(encoded) = reader.value_of(property).map_err(damage)? else {
        return Ok(None);
    };
    let value = || match take_value(encoded) {
        Some((value, [])) => Ok(value),
        _ => Err(damage(DecodeError::new("a value", encoded, 0))),
    };
    if is_many(encoded) {
        return dictionary.number_of(&value()?, meter).map(Some);
    }
    dictionary.number(encoded, meter, value).map(Some)
}

impl View {
    /// Calls `show` for each of these vertices that exists, with its position and the content of
    /// its row, in any order.
    fn each_vertex(
        &self,
        keys: &[&[u8]],
        meter: &Meter,
        show: &mut dyn FnMut(usize, &[u8]),
    ) -> Result<(), ViewError> {
        for (number, keys) in keys.chunks(READ_TOGETHER).enumerate() {
            for _ in keys {
                meter.row()?;
            }
            let places = keys.iter().map(|key| (*key, key::VERTEX_CLUSTERING));
            let places: Vec<RowPlace<'_>> = places.collect();
            let mut show = |at: usize, content: &[u8]| show(number * READ_TOGETHER + at, content);
            self.elements(VERTEX, &places, &mut show)?;
        }
        Ok(())
    }

    /// Visits the edges of many vertices, as [`GraphView::neighbours`] does, without decoding them.
    fn edges_of(
        &self,
        from: &[&[u8]],
        ask: &Expand<'_>,
        meter: &Meter,
        show: &mut dyn FnMut(usize, Adjacent<'_>) -> Result<Flow, DecodeError>,
    ) -> Result<(), ViewError> {
        let ranges = edge_ranges(self.schema(), ask);
        let vertex = |scan: usize| match ranges.len() {
            1 => scan,
            each => scan / each,
        };
        self.edges_in(&scans(from, &ranges), &vertex, meter, show)
    }

    /// Visits the edges of some ranges, each with the number of its vertex.
    fn edges_in(
        &self,
        scans: &[PartitionRange<'_>],
        vertex: &dyn Fn(usize) -> usize,
        meter: &Meter,
        show: &mut dyn FnMut(usize, Adjacent<'_>) -> Result<Flow, DecodeError>,
    ) -> Result<(), ViewError> {
        let failed: RefCell<Option<ViewError>> = RefCell::new(None);
        let has_failed = Cell::new(false);
        let fail = |error| {
            has_failed.set(true);
            *failed.borrow_mut() = Some(error);
            Flow::Break(())
        };
        // The vertex whose visits ended before its ranges did.
        let ended = Cell::new(usize::MAX);
        let mut looked = |at| {
            if has_failed.get() || ended.get() == vertex(at) {
                return Flow::Break(());
            }
            match meter.row() {
                Ok(()) => Flow::Continue(()),
                Err(error) => fail(error),
            }
        };
        let mut look_at = |at, edge: Adjacent<'_>| match show(vertex(at), edge) {
            Ok(Flow::Continue(())) => Flow::Continue(()),
            Ok(Flow::Break(())) => {
                ended.set(vertex(at));
                Flow::Break(())
            }
            Err(error) => fail(damage(error)),
        };
        self.adjacent_ranges(scans, &mut looked, &mut look_at)?;
        failed.into_inner().map_or(Ok(()), Err)
    }

    /// Visits the numbers of edges in ranges of which the engine has summaries, and returns the
    /// positions of the other ranges. Summaries are of edges that exist now, whoever may read them.
    fn summarized(
        &self,
        scans: &[PartitionRange<'_>],
        meter: &Meter,
        visit: &mut dyn FnMut(usize, EdgeCount<'_>),
    ) -> Result<Vec<usize>, ViewError> {
        if self.access().is_some() || !self.scope().is_now() {
            return Ok((0..scans.len()).collect());
        }
        let (mut left, mut outcome) = (Vec::new(), Ok(()));
        let count = &mut |at: usize, summary: Option<&[u8]>| {
            let Some(summary) = summary.filter(|_| outcome.is_ok()) else {
                left.push(at);
                return;
            };
            outcome = meter.row();
            let is_asked = |one: &EdgeCount<'_>| one.labels.starts_with(&scans[at].range.from);
            edge_counts(summary)
                .filter(is_asked)
                .for_each(|one| visit(at, one));
        };
        let read = self.reader().summaries(EDGE, scans, count);
        read.map_err(GraphError::from)?;
        outcome.map(|()| left)
    }
}

/// Each of the ranges of each vertex.
fn scans<'r>(from: &[&'r [u8]], ranges: &'r [ClusteringRange]) -> Vec<PartitionRange<'r>> {
    let each = from.iter().flat_map(|partition| {
        let of = |range| PartitionRange { partition, range };
        ranges.iter().map(of)
    });
    each.collect()
}

/// Returns the ranges of clustering keys that contain exactly the edges of `ask`, ascending.
pub(crate) fn edge_ranges(schema: &Schema, ask: &Expand<'_>) -> Vec<ClusteringRange> {
    let directions = match ask.direction {
        None if ask.labels.is_empty() => return vec![ClusteringRange::all()],
        None => vec![Direction::Out, Direction::In],
        Some(direction) => vec![direction],
    };
    let of_direction = |direction: Direction| -> Vec<Vec<u8>> {
        match ask.labels {
            [] => vec![key::direction_prefix(direction)],
            labels => {
                let prefix = |label: &EdgeLabelId| label_prefix(schema, direction, *label);
                labels.iter().map(prefix).collect()
            }
        }
    };
    let mut prefixes: Vec<Vec<u8>> = directions.into_iter().flat_map(of_direction).collect();
    prefixes.sort_unstable();
    // A PARENT label's range includes those of its SUB labels.
    prefixes.dedup_by(|next, before| next.starts_with(before));
    let range = |prefix: &Vec<u8>| ClusteringRange::prefix(prefix);
    prefixes.iter().map(range).collect()
}

fn label_prefix(schema: &Schema, direction: Direction, label: EdgeLabelId) -> Vec<u8> {
    match schema.edge_label(label) {
        Some(parent) if parent.label_type == EdgeLabelType::Parent => {
            key::edge_label_prefix(direction, label, None)
        }
        known => {
            let parent = known.and_then(|known| known.parent).unwrap_or(label);
            key::edge_label_prefix(direction, parent, Some(label))
        }
    }
}

/// Passes an edge to a visitor of neighbours.
fn shown(
    edge: Adjacent<'_>,
    properties: &[PropertyKeyId],
    visit: &mut dyn FnMut(&Neighbour<'_>) -> Flow,
) -> Result<Flow, DecodeError> {
    let error = || DecodeError::new("an edge key", edge.clustering, 0);
    let (direction, label, other) = key::edge_parts(edge.clustering).ok_or_else(error)?;
    let (source, target, picked) = match properties {
        [] => {
            let ((source, target), _) = row::edge_ends(edge.content)?;
            (source, target, Properties::new())
        }
        properties => {
            let (source, target, reader) = row::edge_parts(edge.content)?;
            (source, target, pick(reader, properties)?)
        }
    };
    let neighbour = Neighbour {
        direction,
        label,
        edge: edge.clustering,
        other,
        other_label: match direction {
            Direction::Out => target,
            Direction::In => source,
        },
        properties: &picked,
    };
    Ok(visit(&neighbour))
}

/// Passes a scanned row to a visitor.
fn scanned(
    row: FoundRow<'_>,
    (ask, properties): (&ScanAsk<'_>, &[PropertyKeyId]),
    visit: &mut dyn FnMut(&ScannedElement<'_>) -> Flow,
) -> Result<Flow, DecodeError> {
    if let Elements::Vertices(_) = ask.elements {
        let (label, reader) = row::vertex_parts(row.content)?;
        let properties = &pick(reader, properties)?;
        return Ok(visit(&ScannedElement::Vertex {
            key: row.partition,
            vertex: VertexFound { label, properties },
        }));
    }
    let error = || DecodeError::new("an edge key", row.clustering, 0);
    let (_, label, target) = key::edge_parts(row.clustering).ok_or_else(error)?;
    let (source_label, target_label, reader) = row::edge_parts(row.content)?;
    Ok(visit(&ScannedElement::Edge(ScannedEdge {
        source: row.partition,
        target,
        edge: row.clustering,
        label,
        source_label,
        target_label,
        properties: &pick(reader, properties)?,
    })))
}
