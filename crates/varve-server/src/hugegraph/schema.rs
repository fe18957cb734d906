//! `…/schema`: property keys, vertex labels, edge labels, index labels; and the jobs that rebuild
//! indexes.

mod changes;
mod handlers;
mod messages;
pub(crate) mod scripts;
mod sight;

pub(crate) use handlers::ROUTES;
pub(crate) use sight::Sight;

use crate::access;
use crate::errors::ApiError;
use crate::request::RequestContext;
use crate::route::{Handler, Verb};

/// The kinds of schema elements that [`create`] makes, in order.
pub(crate) const KINDS: [&str; 4] = ["propertykeys", "vertexlabels", "edgelabels", "indexlabels"];

/// Makes a schema element of the request's graph, as a request of the same client to the resource
/// of this kind does. An existing element with the same definition stays.
pub(crate) fn create(
    context: &RequestContext,
    kind: &str,
    element: &serde_json::Value,
) -> Result<(), ApiError> {
    let pattern = format!("graphs/{{graph}}/schema/{kind}");
    let mut routes = ROUTES.iter();
    let route = routes.find(|it| it.verb == Verb::Post && it.pattern == pattern);
    let Some((route, Handler::Pooled(handler))) = route.map(|route| (route, route.handler)) else {
        return Err(ApiError::illegal_argument(format!(
            "A schema has no '{kind}'"
        )));
    };
    access::check_identity(
        context.state(),
        route,
        context.identity(),
        context.graph_in_path(),
    )?;
    let mut element = element.clone();
    element["check_exist"] = false.into();
    let mut made = context.again(context.deadline());
    made.body = element.to_string().into();
    handler(&made)?;
    Ok(())
}

/// The schema of the request's graph, as the client sees it.
pub(crate) fn json(context: &RequestContext) -> Result<serde_json::Value, ApiError> {
    Ok(serde_json::from_slice(&handlers::text_of_all(context)?)?)
}
