//! `/cluster`: the leaders of the graphs and of the users, as known to this server.

use varve_graph::registry::{GraphLocation, SYSTEM_GRAPH};

use crate::json::JsonWriter;
use crate::request::RequestContext;
use crate::respond::{HandlerResult, Response};
use crate::route::{Class, Handler, Route, Scope};

/// The routes of this module.
pub(crate) static ROUTES: &[Route] = &[Route::get("cluster", Handler::Inline(cluster))
    .reads(Scope::Server)
    .of("cluster", "ClusterAPI")
    .class(Class::Control)];

/// Reads only memory, so that it answers even if the store or other servers are away.
fn cluster(context: &RequestContext) -> HandlerResult {
    let graphs = context.state().graphs();
    let mut json = JsonWriter::with_capacity(256);
    json.begin_object();
    json.key("shared").boolean(graphs.is_shared());
    json.key("graphs").begin_array();
    let system = graphs.is_shared() && context.state().auth().is_some();
    let users = system.then(|| SYSTEM_GRAPH.to_owned());
    for name in graphs.names().into_iter().chain(users) {
        let place = graphs.place(&name);
        let (state, term) = match &place {
            GraphLocation::Here(graph) => ("leader", Some(graph.space().lease().term)),
            GraphLocation::Suspended => ("suspended", None),
            GraphLocation::There(leader) => ("follower", Some(leader.term)),
            GraphLocation::Nobody if graphs.why_unopened(&name).is_some() => ("failed", None),
            GraphLocation::Nobody => ("waiting", None),
            // The graph was dropped meanwhile.
            GraphLocation::Unknown => continue,
        };
        json.begin_object();
        json.key("name").string(&name);
        json.key("state").string(state);
        if let Some(term) = term {
            json.key("term").unsigned(term);
        }
        if let GraphLocation::There(leader) = &place {
            json.key("leader").string(&leader.address);
        }
        // The reason of an embedded engine may name files.
        if let GraphLocation::Nobody = place
            && graphs.is_shared()
            && let Some(reason) = graphs.why_unopened(&name)
        {
            json.key("reason").string(&reason);
        }
        json.end_object();
    }
    json.end_array().end_object();
    Ok(Response::ok(json.finish()))
}
