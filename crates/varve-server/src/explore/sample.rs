//! `…/explore/sample`: some vertices to begin with, without an index.

use varve_model::{VertexId, VertexLabelId};
use varve_view::{Elements, Flow, ScanAsk, ScannedElement, ViewError};

use super::bodies::limit_of_query;
use super::elements::edges_among;
use super::output::Answer;
use super::read_request::ReadRequest;
use crate::request::RequestContext;
use crate::respond::HandlerResult;

/// Vertices shown unless another number is asked for.
const LIMIT: usize = 50;

/// Numbers that look random and are the same for the same seed (SplitMix64).
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        let scaled = (u128::from(mixed) * bound as u128) >> 64;
        usize::try_from(scaled).unwrap_or(0)
    }
}

pub(super) fn sample(context: &RequestContext) -> HandlerResult {
    let request = ReadRequest::of(context)?;
    let query = context.query()?;
    let most = request.limits().sample_max;
    let limit = limit_of_query(&request, LIMIT, most, "sample_max")?;
    let schema = request.schema();
    let labels: Vec<VertexLabelId> = match query.get("label").filter(|name| !name.is_empty()) {
        Some(name) => vec![schema.require_vertex_label(name)?.id],
        None => schema.all_vertex_labels().map(|label| label.id).collect(),
    };
    let seed = query.optional_integer("seed")?;
    let found = request.or_refuse(of_labels(&request, &labels, limit, seed))?;
    let truncated = found.iter().any(|(_, more)| *more);
    let chosen: Vec<VertexId> = found.into_iter().flat_map(|(ids, _)| ids).collect();
    let between = match query.boolean("between", false)? {
        true => request.or_refuse(edges_among(
            &request,
            &chosen,
            request.limits().elements_max,
        ))?,
        false => (Vec::new(), false),
    };
    let (snapshot, meter) = (&request.snapshot, &request.meter);
    let vertices = request.or_refuse(snapshot.vertices(chosen, meter))?;
    let edges = request.or_refuse(snapshot.edges(between.0, meter))?;
    let mut answer = Answer::start(&request);
    answer.states("vertices", &vertices)?;
    answer.states("edges", &edges)?;
    Ok(answer.finish(truncated || between.1))
}

/// At most `limit` vertices of labels, by label, and whether a label has more. The labels have
/// equal shares; what one does not use is left to the others.
fn of_labels(
    request: &ReadRequest<'_>,
    labels: &[VertexLabelId],
    limit: usize,
    seed: Option<i64>,
) -> Result<Vec<(Vec<VertexId>, bool)>, ViewError> {
    let mut found: Vec<(Vec<VertexId>, bool)> = vec![(Vec::new(), true); labels.len()];
    let mut left = limit;
    loop {
        let open: Vec<usize> = (0..labels.len()).filter(|at| found[*at].1).collect();
        for (done, at) in open.iter().enumerate() {
            let share = left.div_ceil(open.len() - done);
            let before = found[*at].0.len();
            found[*at] = of_label(request, labels[*at], before + share, seed)?;
            left -= found[*at].0.len() - before;
        }
        if left == 0 || open.is_empty() {
            return Ok(found);
        }
    }
}

/// Some vertices of a label, and whether it has more: the first ones, or with a seed a random
/// choice among the first that are read.
fn of_label(
    request: &ReadRequest<'_>,
    label: VertexLabelId,
    limit: usize,
    seed: Option<i64>,
) -> Result<(Vec<VertexId>, bool), ViewError> {
    let view = request.snapshot.view();
    let looked_at_most = match seed {
        None => limit + 1,
        Some(_) => request.limits().scan_max.max(limit + 1),
    };
    let mut draw = Draw(seed.unwrap_or_default().cast_unsigned() ^ u64::from(label.0));
    let labels = [label];
    let ask = ScanAsk {
        elements: Elements::Vertices(&labels),
        conditions: &[],
        order: None,
        properties: &[],
    };
    let (mut keys, mut seen): (Vec<Vec<u8>>, usize) = (Vec::new(), 0);
    view.scan(&ask, None, looked_at_most, &request.meter, &mut |found| {
        let ScannedElement::Vertex { key, .. } = found else {
            return Flow::Continue(());
        };
        seen += 1;
        if keys.len() < limit {
            keys.push(key.to_vec());
        } else if seed.is_some() {
            let place = draw.below(seen);
            if let Some(slot) = keys.get_mut(place) {
                *slot = key.to_vec();
            }
        }
        match seen < looked_at_most {
            true => Flow::Continue(()),
            false => Flow::Break(()),
        }
    })?;
    let ids = keys.iter().map(|key| view.vertex_id(key));
    Ok((ids.collect::<Result<_, _>>()?, seen > limit))
}
