//! The schema elements that a client may see: those that a right on their type names, and those
//! that are used by the elements that it may read.

use std::sync::Arc;

use varve_auth::{Names, Permission, ResourceType};
use varve_graph::registry::ServedGraph;
use varve_graph::schema::Schema;
use varve_model::schema::IndexBase;
use varve_model::{EdgeLabel, IndexLabel, PropertyKey, PropertyKeyId, VertexLabel};
use varve_session::{Identity, Session};
use varve_view::{AccessPolicy, Coverage};

use crate::errors::ApiError;
use crate::request::RequestContext;

/// A schema, and the part of it that a client may see.
pub(crate) struct Sight {
    pub(super) schema: Arc<Schema>,
    /// `None` = everything.
    bounds: Option<Bounds>,
}

pub(crate) struct Bounds {
    property_keys: Names,
    vertex_labels: Names,
    edge_labels: Names,
    index_labels: Names,
    /// `None` = everything.
    elements: Option<Arc<AccessPolicy>>,
}

impl Sight {
    /// Reads the schema and the client's rights for the graph that the path names.
    pub(super) fn of(context: &RequestContext) -> Result<Self, ApiError> {
        let served = context.served()?;
        Ok(Self::of_client(&context.session, &served))
    }

    /// What the client of a session may see of a graph's schema.
    pub(crate) fn of_client(session: &Session, served: &ServedGraph) -> Self {
        let bounds = match session.identity() {
            Identity::User(user) if !user.rights.is_administrator() => {
                let names = |kind| {
                    let graph = served.graph.name();
                    user.rights.names(graph, Permission::Read, kind)
                };
                Some(Bounds {
                    property_keys: names(ResourceType::PropertyKey),
                    vertex_labels: names(ResourceType::VertexLabel),
                    edge_labels: names(ResourceType::EdgeLabel),
                    index_labels: names(ResourceType::IndexLabel),
                    elements: session.access_to(served),
                })
            }
            _ => None,
        };
        Self {
            schema: served.graph.schema(),
            bounds,
        }
    }

    /// An empty schema.
    pub(crate) fn of_nothing() -> Self {
        Self {
            schema: Arc::default(),
            bounds: None,
        }
    }

    /// Whether the client may see the whole schema.
    pub(crate) const fn is_whole(&self) -> bool {
        self.bounds.is_none()
    }

    pub(crate) fn shows(&self, element: &impl Seen) -> bool {
        let bounds = self.bounds.as_ref();
        bounds.is_none_or(|bounds| element.is_in(bounds, &self.schema))
    }
}

impl Bounds {
    fn has_vertices(&self, label: &VertexLabel) -> bool {
        let elements = self.elements.as_ref();
        elements.is_none_or(|access| *access.read.vertex(label.id) != Coverage::Nothing)
    }

    fn has_edges(&self, label: &EdgeLabel) -> bool {
        let elements = self.elements.as_ref();
        elements.is_none_or(|access| {
            let ends = label
                .link
                .iter()
                .flat_map(|(source, target)| [source, target]);
            let mut hidden = ends.map(|end| *access.read.vertex(*end) == Coverage::Nothing);
            *access.read.edge(label.id) != Coverage::Nothing && !hidden.any(|hidden| hidden)
        })
    }

    fn uses(&self, schema: &Schema, key: PropertyKeyId) -> bool {
        // Queries see other properties than those that are stored.
        let presentation = schema.presentation();
        let of_vertices = |label: &Arc<VertexLabel>| {
            let presented = presentation.map_or(&[][..], |it| it.vertex_keys(label.id));
            let has_key = label.properties.contains(&key) || presented.binary_search(&key).is_ok();
            has_key && self.has_vertices(label)
        };
        let of_edges = |label: &Arc<EdgeLabel>| {
            let presented = presentation.map_or(&[][..], |it| it.edge_keys(label.id));
            let has_key = label.properties.contains(&key) || presented.binary_search(&key).is_ok();
            has_key && self.has_edges(label)
        };
        self.elements.is_none()
            || schema.all_vertex_labels().any(of_vertices)
            || schema.all_edge_labels().any(of_edges)
    }
}

/// A schema element that only some clients may see.
pub(crate) trait Seen {
    fn is_in(&self, bounds: &Bounds, schema: &Schema) -> bool;
}

impl Seen for PropertyKey {
    fn is_in(&self, bounds: &Bounds, schema: &Schema) -> bool {
        bounds.property_keys.contain(&self.name) || bounds.uses(schema, self.id)
    }
}

impl Seen for VertexLabel {
    fn is_in(&self, bounds: &Bounds, _: &Schema) -> bool {
        bounds.vertex_labels.contain(&self.name) || bounds.has_vertices(self)
    }
}

impl Seen for EdgeLabel {
    fn is_in(&self, bounds: &Bounds, _: &Schema) -> bool {
        bounds.edge_labels.contain(&self.name) || bounds.has_edges(self)
    }
}

impl Seen for IndexLabel {
    fn is_in(&self, bounds: &Bounds, schema: &Schema) -> bool {
        let has_elements = match self.base {
            IndexBase::Vertex(id) => {
                let label = schema.vertex_label(id);
                label.is_some_and(|label| bounds.has_vertices(label))
            }
            IndexBase::Edge(id) => {
                let label = schema.edge_label(id);
                label.is_some_and(|label| bounds.has_edges(label))
            }
            IndexBase::Olap => bounds.elements.is_none(),
        };
        bounds.index_labels.contain(&self.name) || has_elements
    }
}
