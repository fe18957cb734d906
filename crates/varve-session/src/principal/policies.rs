//! The policy of a request's client for the elements of a graph.
//!
//! A client that may do everything has no policy, and reads the plain view: that takes one check of
//! its rights. The rights of other clients are compiled against the schema, and the policy is
//! cached until either changes. A policy is an argument of the view and of the write; nothing else
//! filters.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::Value as Json;
use varve_auth::{Permission, Principal, Reach, ResourceType, Rights};
use varve_graph::registry::ServedGraph;
use varve_graph::schema::Schema;
use varve_model::{Condition, EdgeLabelId, VertexLabelId};
use varve_view::{AccessPolicy, ElementPolicy};

use super::Identity;

/// Policies that are cached.
const KEPT_MAX: usize = 1_024;

/// The permissions and resource types of a policy.
const PERMISSIONS: [Permission; 3] = [Permission::Read, Permission::Write, Permission::Delete];
const KINDS: [ResourceType; 2] = [ResourceType::Vertex, ResourceType::Edge];

/// Reads the condition of a right: the value that it names for the property of this name. `None` if
/// there is no such condition.
pub type ReadCondition = fn(&Schema, &str, &Json) -> Option<Vec<Condition>>;

/// The cached policies of users on graphs.
#[derive(Debug)]
pub struct Policies {
    read_condition: ReadCondition,
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
    /// No policies yet.
    pub fn new(read_condition: ReadCondition) -> Self {
        Self {
            read_condition,
            kept: Mutex::default(),
        }
    }

    /// The policy of a client for the elements of a graph; `None` = everything is allowed.
    pub fn of(&self, identity: &Identity, served: &ServedGraph) -> Option<Arc<AccessPolicy>> {
        match identity {
            Identity::Anybody => None,
            Identity::Unknown => Some(Arc::default()),
            Identity::User(user) => self.of_user(user, served.graph.name(), &served.schema),
        }
    }

    fn of_user(
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
        // Compiled outside the lock, since regular expressions take a while.
        let policy = Arc::new(self.compile(&principal.rights, graph, schema));
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

/// Whether the rights allow everything with the elements of a graph.
fn is_unbounded(rights: &Rights, graph: &str) -> bool {
    let all = |permission| {
        let mut kinds = KINDS.into_iter();
        kinds.all(|kind| rights.reach(graph, permission, kind) == Reach::All)
    };
    rights.is_administrator() || PERMISSIONS.into_iter().all(all)
}

impl Policies {
    /// Compiles the rights on elements for the labels and properties of a schema. Removed labels
    /// are included, since the past has their elements.
    fn compile(&self, rights: &Rights, graph: &str, schema: &Schema) -> AccessPolicy {
        let vertices: Vec<(VertexLabelId, &str)> = schema
            .vertex_labels_ever()
            .map(|label| (label.id, label.name.as_str()))
            .collect();
        let edges: Vec<(EdgeLabelId, &str)> = schema
            .edge_labels_ever()
            .map(|label| (label.id, label.name.as_str()))
            .collect();
        let conditions = |name: &str, value: &Json| -> Option<Vec<Condition>> {
            (self.read_condition)(schema, name, value)
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
}
