//! `…/explore/summary`: counts and fill rates by label, and the span of both times.

use std::collections::BTreeMap;

use varve_model::schema::EdgeLabelType;
use varve_model::{CommitVersion, Instant, Period, PropertyKeyId};
use varve_view::{Elements, Flow, ScanAsk, ScannedElement, ViewError};

use super::output::Answer;
use super::read_request::{ReadRequest, write_instant};
use crate::JsonWriter;
use crate::request::RequestContext;
use crate::respond::HandlerResult;

/// Elements of a label whose properties and times are sampled.
const SAMPLED: usize = 1_000;

/// The counts of one label.
#[derive(Default)]
struct Counted {
    count: usize,
    /// Whether there are more.
    at_least: bool,
    sampled: usize,
    /// How many of the sampled elements have a property.
    with: BTreeMap<PropertyKeyId, usize>,
}

/// The times that the sampled elements span.
struct Span {
    first: CommitVersion,
    last: CommitVersion,
    earliest: Instant,
    latest: Instant,
    /// Whether all elements were read.
    is_whole: bool,
}

impl Span {
    const NOTHING: Self = Self {
        first: CommitVersion::MAX,
        last: CommitVersion::ZERO,
        earliest: Instant::FOREVER,
        latest: Instant::MIN,
        is_whole: true,
    };

    fn add(&mut self, version: CommitVersion, period: Period) {
        self.first = self.first.min(version);
        self.last = self.last.max(version);
        for bound in [period.from, period.to] {
            if bound != Instant::MIN && bound != Instant::FOREVER {
                self.earliest = self.earliest.min(bound);
                self.latest = self.latest.max(bound);
            }
        }
    }
}

pub(super) fn summary(context: &RequestContext) -> HandlerResult {
    let request = ReadRequest::of(context)?;
    let schema = request.schema();
    let keys = request.property_keys();
    let mut span = Span::NOTHING;
    let mut answer = Answer::start(&request);
    answer.json().key("vertices").begin_array();
    for label in schema.all_vertex_labels() {
        let counted = count(&request, Elements::Vertices(&[label.id]), &keys, &mut span);
        let counted = request.or_refuse(counted)?;
        let json = answer.json();
        json.begin_object().key("label").string(&label.name);
        write_counted(json, &request, &counted, &schema.seen_in_vertices(label));
        answer.growing.check()?;
    }
    answer.json().end_array().key("edges").begin_array();
    for label in schema.all_edge_labels() {
        if label.label_type == EdgeLabelType::Parent {
            continue;
        }
        let counted = count(&request, Elements::Edges(&[label.id]), &keys, &mut span);
        let counted = request.or_refuse(counted)?;
        let json = answer.json();
        json.begin_object().key("label").string(&label.name);
        for (name, end) in [
            ("source_label", label.link.map(|(source, _)| source)),
            ("target_label", label.link.map(|(_, target)| target)),
        ] {
            json.key(name);
            match end {
                Some(end) => json.string(schema.vertex_label_name(end)),
                None => json.null(),
            };
        }
        write_counted(json, &request, &counted, &schema.seen_in_edges(label));
        answer.growing.check()?;
    }
    answer.json().end_array();
    write_span(answer.json(), &span);
    write_limits(answer.json(), &request);
    Ok(answer.finish(!span.is_whole))
}

/// Counts the elements of a scan, and samples the first ones.
fn count(
    request: &ReadRequest<'_>,
    elements: Elements<'_>,
    keys: &[PropertyKeyId],
    span: &mut Span,
) -> Result<Counted, ViewError> {
    let (view, most) = (request.snapshot.view(), request.limits().count_max);
    let ask = ScanAsk {
        elements,
        conditions: &[],
        order: None,
        properties: keys,
    };
    let (mut counted, mut sampled) = (Counted::default(), Vec::new());
    let mut failed = None;
    view.scan(&ask, None, most + 1, &request.meter, &mut |found| {
        if counted.count == most {
            counted.at_least = true;
            return Flow::Break(());
        }
        counted.count += 1;
        if counted.sampled == SAMPLED {
            return Flow::Continue(());
        }
        counted.sampled += 1;
        let properties = match found {
            ScannedElement::Vertex { vertex, .. } => vertex.properties,
            ScannedElement::Edge(edge) => edge.properties,
        };
        for (key, _) in properties.iter() {
            *counted.with.entry(key).or_default() += 1;
        }
        match found.id(view) {
            Ok(id) => sampled.push(id),
            Err(error) => failed = Some(error),
        }
        Flow::Continue(())
    })?;
    failed.map_or(Ok(()), Err)?;
    span.is_whole &= !counted.at_least && counted.sampled == counted.count;
    for id in &sampled {
        let mut left = request.limits().versions_max;
        request
            .snapshot
            .every()
            .versions(id, &request.meter, &mut |past| {
                span.add(past.version, past.period);
                left = left.saturating_sub(1);
                match left {
                    0 => Flow::Break(()),
                    _ => Flow::Continue(()),
                }
            })?;
        span.is_whole &= left > 0;
    }
    Ok(counted)
}

/// Writes the counts as further members, and ends the object.
fn write_counted(
    json: &mut JsonWriter,
    request: &ReadRequest<'_>,
    counted: &Counted,
    declared: &[PropertyKeyId],
) {
    json.key("count").unsigned(counted.count as u64);
    json.key("at_least").boolean(counted.at_least);
    json.key("sampled").unsigned(counted.sampled as u64);
    json.key("fill").begin_object();
    for key in declared {
        if request.schema().hides(*key) {
            continue;
        }
        let with = counted.with.get(key).copied().unwrap_or(0);
        // A type has very many presented properties, most of which no instance has.
        if with == 0 && request.schema().presentation().is_some() {
            continue;
        }
        json.key(request.schema().property_key_name(*key));
        json.double(with as f64 / counted.sampled.max(1) as f64);
    }
    json.end_object().end_object();
}

fn write_span(json: &mut JsonWriter, span: &Span) {
    json.key("recorded").begin_object();
    for (name, version) in [("first", span.first), ("last", span.last)] {
        json.key(name);
        if span.first > span.last {
            json.null();
            continue;
        }
        json.begin_object();
        json.key("version").string(&version.to_string());
        write_instant(json, "recorded_at", version.instant());
        json.end_object();
    }
    json.end_object().key("valid").begin_object();
    // Without elements both bounds are ends of time, which are rendered as null.
    write_instant(json, "earliest", span.earliest);
    write_instant(json, "latest", span.latest);
    json.end_object();
}

fn write_limits(json: &mut JsonWriter, request: &ReadRequest<'_>) {
    json.key("limits").value(request.limits());
}
