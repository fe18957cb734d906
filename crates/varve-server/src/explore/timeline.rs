//! `…/explore/timeline`: when elements begin, end and change, and when that was recorded.

use std::collections::{BTreeMap, HashSet};

use serde::Deserialize;
use varve_model::{CommitVersion, EdgeId, ElementId, Instant, VertexId};
use varve_view::Flow;

use super::bodies::{at_most, edge_ids, limit, vertex_ids};
use super::output::Answer;
use super::read_request::{ReadRequest, write_instant};
use super::versions::Versions;
use crate::errors::ApiError;
use crate::request::RequestContext;
use crate::respond::HandlerResult;

/// The default of `buckets`, the most entries in each list of an answer.
const BUCKETS: i64 = 200;

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Body {
    vertices: Vec<String>,
    edges: Vec<String>,
    /// Whether to include all edges that ever connected two of the vertices.
    between: bool,
    buckets: Option<i64>,
}

/// How many elements begin, end and change at an instant of valid time.
#[derive(Debug, Default, Clone, Copy)]
struct Turn {
    begins: u64,
    ends: u64,
    changes: u64,
}

/// The numbers of changes that a commit recorded.
#[derive(Debug, Default, Clone, Copy)]
struct Recorded {
    puts: u64,
    deletes: u64,
    corrections: u64,
}

/// The counts of all elements read so far.
#[derive(Default)]
struct Seen {
    valid: BTreeMap<Instant, Turn>,
    recorded: BTreeMap<CommitVersion, Recorded>,
}

impl Seen {
    fn add(&mut self, versions: &Versions) {
        for (at, version) in versions.all.iter().enumerate() {
            let recorded = self.recorded.entry(version.version).or_default();
            match version.element {
                Some(_) => recorded.puts += 1,
                None => recorded.deletes += 1,
            }
            recorded.corrections += u64::from(versions.is_correction(at));
        }
        let exists = |version: usize| versions.all[version].element.is_some();
        // The end of the previous state. It is counted once the next state is known: as a change if
        // the next state begins there, else as an end.
        let mut open: Option<Instant> = None;
        for piece in versions
            .pieces()
            .iter()
            .filter(|piece| exists(piece.version))
        {
            let turn = match open {
                Some(end) if end == piece.period.from => {
                    let turn = self.valid.entry(end).or_default();
                    turn.changes += 1;
                    None
                }
                ended => Some(ended),
            };
            if let Some(ended) = turn {
                self.end(ended);
                self.valid.entry(piece.period.from).or_default().begins += 1;
            }
            open = Some(piece.period.to);
        }
        self.end(open);
        self.valid.remove(&Instant::MIN);
    }

    fn end(&mut self, at: Option<Instant>) {
        if let Some(end) = at.filter(|end| *end != Instant::FOREVER) {
            self.valid.entry(end).or_default().ends += 1;
        }
    }
}

/// Answers with the instants at which elements begin, end or change.
pub(super) fn timeline(context: &RequestContext) -> HandlerResult {
    let body: Body = context.json_object()?;
    let request = ReadRequest::of(context)?;
    let limits = request.limits();
    let count = body.vertices.len() + body.edges.len();
    at_most("elements", count, limits.elements_max, "elements_max")?;
    let bounds = (1, limits.buckets_max);
    let buckets = limit(
        "buckets",
        body.buckets.unwrap_or(BUCKETS),
        bounds,
        "buckets_max",
    )?;
    let (vertices, mut edges) = (vertex_ids(&body.vertices)?, edge_ids(&body.edges)?);
    let (mut seen, mut truncated) = (Seen::default(), false);
    if body.between {
        let known: HashSet<EdgeId> = edges.iter().cloned().collect();
        let (among, more) = edges_ever_among(&request, &vertices)?;
        edges.extend(among.into_iter().filter(|id| !known.contains(id)));
        truncated = more;
    }
    let vertices = vertices.into_iter().map(ElementId::Vertex);
    let edges = edges.into_iter().map(ElementId::Edge);
    for id in vertices.chain(edges) {
        context.check_deadline()?;
        let every = request.snapshot.every();
        let versions = Versions::of(every, &id, limits.versions_max, &request.meter);
        let versions = request.or_refuse(versions)?;
        truncated |= versions.truncated;
        seen.add(&versions);
    }
    let mut answer = Answer::start(&request);
    let exact = seen.valid.len() <= buckets && seen.recorded.len() <= buckets;
    write_valid(&mut answer, &seen, buckets);
    write_recorded(&mut answer, &seen, buckets);
    answer.json().key("exact").boolean(exact);
    Ok(answer.finish(truncated))
}

/// The edges that ever ran between these vertices, and whether there may be more.
fn edges_ever_among(
    request: &ReadRequest<'_>,
    vertices: &[VertexId],
) -> Result<(Vec<EdgeId>, bool), ApiError> {
    let limits = request.limits();
    let set: HashSet<&VertexId> = vertices.iter().collect();
    let mut edges = HashSet::new();
    let (mut left, mut truncated) = (limits.between_rows_max, false);
    for source in vertices {
        request.context.check_deadline()?;
        let (mut own, mut late) = (limits.count_max, Ok(()));
        // Hidden edges count only as time.
        let mut looked = |is_shown: bool| {
            late = request.context.check_deadline();
            own = own.saturating_sub(usize::from(is_shown));
            left = left.saturating_sub(usize::from(is_shown));
            truncated |= own == 0 || left == 0;
            match late.is_err() || own == 0 || left == 0 {
                true => Flow::Break(()),
                false => Flow::Continue(()),
            }
        };
        let mut more = false;
        request
            .snapshot
            .ever_edges_of(source, &mut looked, &mut |id| {
                if !set.contains(&id.target) {
                    return Flow::Continue(());
                }
                more = edges.len() >= limits.elements_max;
                if !more {
                    edges.insert(id);
                }
                match more {
                    true => Flow::Break(()),
                    false => Flow::Continue(()),
                }
            })?;
        late?;
        truncated |= more;
    }
    let mut edges: Vec<EdgeId> = edges.into_iter().collect();
    edges.sort_unstable();
    Ok((edges, truncated))
}

/// How many consecutive instants or commits are merged into one entry.
const fn merged(count: usize, buckets: usize) -> usize {
    match count.div_ceil(buckets) {
        0 => 1,
        each => each,
    }
}

fn write_valid(answer: &mut Answer<'_>, seen: &Seen, buckets: usize) {
    let all: Vec<(Instant, Turn)> = seen.valid.iter().map(|(at, turn)| (*at, *turn)).collect();
    let json = answer.json();
    json.key("valid").begin_array();
    for bucket in all.chunks(merged(all.len(), buckets)) {
        let ([(first, _), ..], [.., (last, _)]) = (bucket, bucket) else {
            continue;
        };
        let sum = |of: fn(&Turn) -> u64| bucket.iter().map(|(_, turn)| of(turn)).sum();
        json.begin_object();
        write_instant(json, "at", *first);
        write_instant(json, "last", *last);
        json.key("begins").unsigned(sum(|turn| turn.begins));
        json.key("ends").unsigned(sum(|turn| turn.ends));
        json.key("changes").unsigned(sum(|turn| turn.changes));
        json.end_object();
    }
    json.end_array();
}

fn write_recorded(answer: &mut Answer<'_>, seen: &Seen, buckets: usize) {
    let all = seen.recorded.iter();
    let all: Vec<(CommitVersion, Recorded)> = all.map(|(at, of)| (*at, *of)).collect();
    let json = answer.json();
    json.key("recorded").begin_array();
    for bucket in all.chunks(merged(all.len(), buckets)) {
        let ([(first, _), ..], [.., (last, _)]) = (bucket, bucket) else {
            continue;
        };
        let sum = |of: fn(&Recorded) -> u64| bucket.iter().map(|(_, each)| of(each)).sum();
        json.begin_object();
        write_instant(json, "at", first.instant());
        write_instant(json, "last", last.instant());
        json.key("version").string(&first.to_string());
        json.key("last_version").string(&last.to_string());
        json.key("puts").unsigned(sum(|each| each.puts));
        json.key("deletes").unsigned(sum(|each| each.deletes));
        json.key("corrections")
            .unsigned(sum(|each| each.corrections));
        json.end_object();
    }
    json.end_array();
}
