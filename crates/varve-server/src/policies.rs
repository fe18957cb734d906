//! What the client of a request may do with the elements of a graph.
//!
//! Who may do everything has no policy, and reads the plain view: that takes one look at the
//! client's rights. For others the rights are compiled against the schema, once until either
//! changes. A policy is handed to the view and to the write as an argument; nothing else filters.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::Value as Json;
use varve_auth::{Permission, Principal, Reach, ResourceType, Rights};
use varve_graph::GraphError;
use varve_graph::read::View;
use varve_graph::registry::ServedGraph;
use varve_graph::schema::Schema;
use varve_model::{Condition, EdgeLabelId, TemporalScope, VertexLabelId};
use varve_view::{AccessPolicy, ElementPolicy};

use crate::hugegraph::condition_of_right;
use crate::identity::Identity;
use crate::request::RequestContext;

/// Policies that are kept.
const KEPT_MAX: usize = 1_024;

/// What is asked of elements.
const PERMISSIONS: [Permission; 3] = [Permission::Read, Permission::Write, Permission::Delete];
const KINDS: [ResourceType; 2] = [ResourceType::Vertex, ResourceType::Edge];

/// The policies of users on graphs, as they were compiled last.
#[derive(Debug, Default)]
pub(crate) struct Policies {
    /// By user and graph.
    kept: Mutex<HashMap<(String, String), CachedPolicy>>,
}

#[derive(Debug)]
struct CachedPolicy {
    principal: Arc<Principal>,
    schema: Arc<Schema>,
    policy: Arc<AccessPolicy>,
}

impl Policies {
    /// What a user may do with the elements of a graph; `None` = everything.
    pub(crate) fn of(
        &self,
        principal: &Arc<Principal>,
        graph: &str,
        schema: &Arc<Schema>,
    ) -> Option<Arc<AccessPolicy>> {
        if is_unbounded(&principal.rights, graph) {
            return None;
        }
        let key = (principal.name.clone(), graph.to_owned());
        let is_of = |kept: &&CachedPolicy| {
            Arc::ptr_eq(&kept.principal, principal) && Arc::ptr_eq(&kept.schema, schema)
        };
        if let Some(known) = self.kept.lock().get(&key).filter(is_of) {
            return Some(Arc::clone(&known.policy));
        }
        // Not under the lock: regular expressions take a while.
        let policy = Arc::new(compile(&principal.rights, graph, schema));
        let mut kept = self.kept.lock();
        if kept.len() >= KEPT_MAX {
            kept.clear();
        }
        let one = CachedPolicy {
            principal: Arc::clone(principal),
            schema: Arc::clone(schema),
            policy: Arc::clone(&policy),
        };
        kept.insert(key, one);
        Some(policy)
    }
}

/// Whether everything may be done with the elements of a graph.
fn is_unbounded(rights: &Rights, graph: &str) -> bool {
    let all = |permission| {
        let mut kinds = KINDS.into_iter();
        kinds.all(|kind| rights.reach(graph, permission, kind) == Reach::All)
    };
    rights.is_administrator() || PERMISSIONS.into_iter().all(all)
}

/// The rights on elements, as the labels and properties of a schema say them. Labels that were
/// removed are among them: the past has their elements.
fn compile(rights: &Rights, graph: &str, schema: &Schema) -> AccessPolicy {
    let vertices: Vec<(VertexLabelId, &str)> = schema
        .vertex_labels_ever()
        .map(|label| (label.id, label.name.as_str()))
        .collect();
    let edges: Vec<(EdgeLabelId, &str)> = schema
        .edge_labels_ever()
        .map(|label| (label.id, label.name.as_str()))
        .collect();
    let conditions = |name: &str, value: &Json| -> Option<Vec<Condition>> {
        condition_of_right(schema, name, value)
    };
    let of = |permission| ElementPolicy {
        vertices: rights.coverage(
            (graph, permission, ResourceType::Vertex),
            &vertices,
            &conditions,
        ),
        edges: rights.coverage((graph, permission, ResourceType::Edge), &edges, &conditions),
    };
    AccessPolicy {
        read: of(Permission::Read),
        write: of(Permission::Write),
        delete: of(Permission::Delete),
    }
}

impl RequestContext {
    /// What the client may do with the elements of a graph; `None` = everything.
    pub(crate) fn access_to(&self, served: &ServedGraph) -> Option<Arc<AccessPolicy>> {
        match self.identity() {
            Identity::Anybody => None,
            Identity::Unknown => Some(Arc::default()),
            Identity::User(principal) | Identity::Certified(principal, _) => {
                let graph = served.graph.name();
                self.state().policies().of(principal, graph, &served.schema)
            }
        }
    }

    /// The graph as the client may see it, at a point of both times: the only way from a request to
    /// a view.
    pub(crate) fn view(
        &self,
        served: &ServedGraph,
        scope: TemporalScope,
    ) -> Result<View, GraphError> {
        let view = served.graph.view(scope)?;
        Ok(view.guarded_by(self.access_to(served).as_ref()))
    }
}
