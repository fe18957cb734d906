//! `/cluster`: who leads which graph, as this server knows it.

use varve_graph::registry::Place;

use crate::errors::HandlerResult;
use crate::json::JsonWriter;
use crate::request::RequestContext;
use crate::respond::Response;
use crate::route::{Class, Handler, Route, Scope};

/// The routes of this room.
pub(crate) static ROUTES: &[Route] = &[Route::get("cluster", Handler::Inline(cluster))
    .reads(Scope::Server)
    .of("cluster", "ClusterAPI")
    .class(Class::Control)];

/// From memory only, so that it answers whatever is away.
fn cluster(context: &RequestContext) -> HandlerResult {
    let graphs = context.state().graphs();
    let mut json = JsonWriter::with_capacity(256);
    json.begin_object();
    json.key("shared").boolean(graphs.is_shared());
    json.key("graphs").begin_array();
    for name in graphs.names() {
        let place = graphs.place(&name);
        let (state, term) = match &place {
            Place::Here(graph) => ("leader", Some(graph.space().term())),
            Place::Suspended => ("suspended", None),
            Place::There(leader) => ("follower", Some(leader.term)),
            Place::Nobody if graphs.why_unopened(&name).is_some() => ("failed", None),
            Place::Nobody => ("waiting", None),
            // It went meanwhile.
            Place::Unknown => continue,
        };
        json.begin_object();
        json.key("name").string(&name);
        json.key("state").string(state);
        if let Some(term) = term {
            json.key("term").unsigned(term);
        }
        if let Place::There(leader) = &place {
            json.key("leader").string(&leader.address);
        }
        // That of an embedded engine names files.
        if let Place::Nobody = place
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
