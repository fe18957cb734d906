//! The vertices that a body names: by their ids, or by label and properties.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use serde::Deserialize;
use varve_graph::query::{self, VertexQuery};
use varve_model::VertexId;
use varve_traversal::{Search, VertexNumber};
use varve_view::Flow;

use super::bodies::{IdJson, conditions};
use super::parameters::{Ground, refused};
use crate::errors::ApiError;
use crate::hugegraph::graph::Timed;
use crate::request::RequestContext;
use crate::wire::raw::PropertiesJson;

/// The number of vertices at which the paths of a request begin, or end.
pub(super) const ENDS: RangeInclusive<usize> = 1..=10;

/// Vertices by ids, or by label and properties.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct VerticesBody<'a> {
    #[serde(default, borrow)]
    ids: Option<Vec<IdJson<'a>>>,
    #[serde(default, borrow)]
    label: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    properties: Option<PropertiesJson<'a>>,
}

impl VerticesBody<'_> {
    /// The vertices that exist, each once, in the order in which they are named or listed.
    pub(super) fn numbers(
        self,
        context: &RequestContext,
        ground: &Ground,
        search: &mut Search<'_>,
    ) -> Result<Vec<VertexNumber>, ApiError> {
        let refuse = |message: String| Err(ApiError::illegal_argument(message));
        let ids = self.ids.unwrap_or_default();
        let label = self.label.filter(|label| !label.is_empty());
        let properties = self
            .properties
            .filter(|properties| !properties.0.is_empty());
        if ids.is_empty() {
            if label.is_none() && properties.is_none() {
                return refuse("No source vertices provided".to_owned());
            }
            let shown = (shown_label(label.as_deref()), shown(properties.as_ref()));
            let found = listed(context, ground, search, label.as_deref(), properties)?;
            if found.is_empty() {
                let (label, properties) = shown;
                return refuse(format!(
                    "Not exist source vertex with label '{label}' and properties '{properties}'"
                ));
            }
            return Ok(found);
        }
        let both = |other: &str| format!("Just provide one of ids or {other} of source vertices");
        if label.is_some() {
            return refuse(both("label"));
        }
        if properties.is_some() {
            return refuse(both("properties"));
        }
        let ids = ids
            .iter()
            .map(IdJson::id)
            .collect::<Result<Vec<VertexId>, _>>()?;
        let failed = |error| refused(context, error);
        let mut numbers = Vec::with_capacity(ids.len());
        for id in &ids {
            numbers.push(search.number(id).map_err(failed)?);
        }
        let mut seen = std::collections::HashSet::new();
        numbers.retain(|number| seen.insert(*number));
        let found = search.existing(&numbers).map_err(failed)?;
        if found.is_empty() {
            let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
            return refuse(format!(
                "Not exist source vertices with ids [{}]",
                ids.join(", ")
            ));
        }
        Ok(found)
    }
}

/// The vertices with this label and these properties.
fn listed(
    context: &RequestContext,
    ground: &Ground,
    search: &mut Search<'_>,
    label: Option<&str>,
    properties: Option<PropertiesJson<'_>>,
) -> Result<Vec<VertexNumber>, ApiError> {
    let schema = ground.schema();
    let label = label.map(|name| schema.require_vertex_label(name).map(|label| label.id));
    let query = VertexQuery {
        label: label.transpose()?,
        conditions: conditions(schema, properties)?,
        limit: -1,
        ..VertexQuery::default()
    };
    let (mut numbers, mut failed) = (Vec::new(), None);
    let resolver = Timed::new(&ground.view, context);
    query::vertices(&resolver, schema, &query, &mut |id, _| {
        match search.number(id) {
            Ok(number) => numbers.push(number),
            Err(error) => failed = Some(error),
        }
        match failed {
            None => Flow::Continue(()),
            Some(_) => Flow::Break(()),
        }
    })?;
    match failed {
        None => Ok(numbers),
        Some(error) => Err(refused(context, error)),
    }
}

fn shown_label(label: Option<&str>) -> String {
    label.unwrap_or("null").to_owned()
}

/// Properties as the error message shows them.
fn shown(properties: Option<&PropertiesJson<'_>>) -> String {
    let members = properties.map_or(&[][..], |properties| &properties.0);
    let members = members
        .iter()
        .map(|(name, value)| format!("{name}={value}"));
    format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
}

/// Refuses a number of vertices that is out of range; `what` names them.
pub(super) fn check_count(
    numbers: &[VertexNumber],
    range: &RangeInclusive<usize>,
    what: &str,
) -> Result<(), ApiError> {
    if range.contains(&numbers.len()) {
        return Ok(());
    }
    Err(ApiError::illegal_argument(format!(
        "The number of {what} must in [{}, {}], but got: {}",
        range.start(),
        range.end(),
        numbers.len()
    )))
}
