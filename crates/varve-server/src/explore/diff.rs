//! `…/explore/diff`: compares elements at two points of both times.

use std::collections::HashSet;

use serde::Deserialize;
use varve_model::{EdgeId, ElementId, TemporalScope};
use varve_view::{Elements, Flow, ScanAsk, ViewError};

use super::bodies::{edge_ids, vertex_ids};
use super::elements::{Ids, edges_among};
use super::history::{changed, is_same};
use super::output;
use super::read_request::ReadRequest;
use super::state::State;
use crate::errors::ApiError;
use crate::request::RequestContext;
use crate::respond::{Growing, HandlerResult};
use crate::wire::time::scope_of as graph_scope_of;

/// A point of both times.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Times {
    as_of: Option<String>,
    as_of_tx: Option<String>,
}

impl Times {
    fn scope(&self) -> Result<TemporalScope, ApiError> {
        graph_scope_of(self.as_of.as_deref(), self.as_of_tx.as_deref())
    }
}

/// Which elements are compared: those of a label, or those with these ids.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Compared {
    label: Option<String>,
    vertices: Vec<String>,
    edges: Vec<String>,
    between: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    #[serde(default)]
    a: Times,
    #[serde(default)]
    b: Times,
    scope: Compared,
}

/// An element at both points.
struct Pair {
    before: Option<State>,
    after: Option<State>,
}

pub(super) fn diff(context: &RequestContext) -> HandlerResult {
    let body: Body = context.json_object()?;
    let a = ReadRequest::at(context, body.a.scope()?)?;
    let b = ReadRequest::at(context, body.b.scope()?)?;
    let (ids, truncated) = match &body.scope.label {
        Some(label) => {
            if !body.scope.vertices.is_empty() || !body.scope.edges.is_empty() {
                return Err(ApiError::illegal_argument(
                    "The scope has either a label or ids, not both",
                ));
            }
            of_label(&a, &b, label)?
        }
        None => of_ids(&a, &b, body.scope)?,
    };
    let mut pairs = Vec::new();
    for id in &ids {
        pairs.push(Pair {
            before: a.or_refuse(a.snapshot.state(id, &a.meter))?,
            after: b.or_refuse(b.snapshot.state(id, &b.meter))?,
        });
    }
    answer((&a, &b), &pairs, truncated)
}

/// The elements with these ids, and the edges among the vertices at either point.
fn of_ids(
    a: &ReadRequest<'_>,
    b: &ReadRequest<'_>,
    asked: Compared,
) -> Result<(Vec<ElementId>, bool), ApiError> {
    let asked = Ids {
        vertices: asked.vertices,
        edges: asked.edges,
        between: asked.between,
    };
    asked.check(a)?;
    let (vertices, edges) = (vertex_ids(&asked.vertices)?, edge_ids(&asked.edges)?);
    let (mut all, mut truncated) = (edges.clone(), false);
    let mut seen: HashSet<EdgeId> = edges.into_iter().collect();
    if asked.between {
        for request in [a, b] {
            let most = request.limits().elements_max;
            let (among, more) = request.or_refuse(edges_among(request, &vertices, most))?;
            truncated |= more;
            all.extend(among.into_iter().filter(|id| seen.insert(id.clone())));
        }
    }
    let vertices = vertices.into_iter().map(ElementId::Vertex);
    let ids = vertices.chain(all.into_iter().map(ElementId::Edge));
    Ok((ids.collect(), truncated))
}

/// The elements of a label at either point.
fn of_label(
    a: &ReadRequest<'_>,
    b: &ReadRequest<'_>,
    name: &str,
) -> Result<(Vec<ElementId>, bool), ApiError> {
    let schema = b.schema();
    let vertices = schema.vertex_label_by_name(name).map(|label| [label.id]);
    let edges = schema.edge_label_by_name(name).map(|label| [label.id]);
    let elements = match (&vertices, &edges) {
        (Some(labels), _) => Elements::Vertices(labels),
        (None, Some(labels)) => Elements::Edges(labels),
        (None, None) => {
            let message = format!("Undefined vertex label or edge label: '{name}'");
            return Err(ApiError::illegal_argument(message));
        }
    };
    let (mut ids, mut seen, mut truncated) = (Vec::new(), HashSet::new(), false);
    for request in [a, b] {
        let (own, more) = request.or_refuse(scanned(request, elements))?;
        truncated |= more;
        ids.extend(own.into_iter().filter(|id| seen.insert(id.clone())));
    }
    Ok((ids, truncated))
}

/// The first elements that a scan finds, and whether there are more.
fn scanned(
    request: &ReadRequest<'_>,
    elements: Elements<'_>,
) -> Result<(Vec<ElementId>, bool), ViewError> {
    let (view, most) = (request.snapshot.view(), request.limits().elements_max);
    let ask = ScanAsk {
        elements,
        conditions: &[],
        order: None,
        properties: &[],
    };
    let (mut ids, mut more) = (Vec::new(), false);
    let mut failed = None;
    view.scan(&ask, None, most + 1, &request.meter, &mut |found| {
        if ids.len() == most {
            more = true;
            return Flow::Break(());
        }
        match found.id(view) {
            Ok(id) => ids.push(id),
            Err(error) => failed = Some(error),
        }
        Flow::Continue(())
    })?;
    failed.map_or(Ok((ids, more)), Err)
}

fn answer(
    (a, b): (&ReadRequest<'_>, &ReadRequest<'_>),
    pairs: &[Pair],
    truncated: bool,
) -> HandlerResult {
    let mut growing = Growing::with_capacity(b.context, 1_024);
    let json = &mut growing.json;
    json.begin_object().key("a");
    a.snapshot.write(json);
    json.key("b");
    b.snapshot.write(json);
    let schema = b.schema();
    for (key, is_added) in [("added", true), ("removed", false)] {
        growing.json.key(key).begin_array();
        for pair in pairs {
            let state = match (&pair.before, &pair.after) {
                (None, Some(state)) if is_added => state,
                (Some(state), None) if !is_added => state,
                _ => continue,
            };
            output::state(&mut growing.json, schema, state);
            growing.check()?;
        }
        growing.json.end_array();
    }
    let mut same = 0_u64;
    growing.json.key("changed").begin_array();
    for pair in pairs {
        let (Some(before), Some(after)) = (&pair.before, &pair.after) else {
            continue;
        };
        if is_same(&before.element, &after.element) {
            same += 1;
            continue;
        }
        let json = &mut growing.json;
        json.begin_object();
        output::head(json, schema, &after.element);
        json.key("properties").begin_array();
        for key in changed(before.element.properties(), after.element.properties()) {
            if !schema.hides(key) {
                json.string(schema.property_key_name(key));
            }
        }
        json.end_array().key("before");
        output::state(json, schema, before);
        json.key("after");
        output::state(json, schema, after);
        json.end_object();
        growing.check()?;
    }
    let json = &mut growing.json;
    json.end_array().key("same").unsigned(same);
    json.key("truncated").boolean(truncated).end_object();
    Ok(growing.finish())
}
