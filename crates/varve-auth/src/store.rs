//! The store of the directory: a graph with one vertex for each entry. The vertex holds the entry
//! as JSON.
//!
//! Entries other than secrets keep their history, so that rights can be read as of any time. Of
//! secrets only the present state is stored.

use std::sync::Arc;

use varve_graph::schema::{NewPropertyKey, NewVertexLabel};
use varve_graph::write::{Missing, Mutation, WriteRequest};
use varve_graph::{ErrorKind, Graph, GraphError};
use varve_model::schema::IdStrategy;
use varve_model::time::TemporalScope;
use varve_model::{ElementId, Properties, PropertyKeyId, Value, Vertex, VertexId, VertexLabelId};
use varve_view::{Elements, Flow, GraphView, Meter, ScanAsk, ScannedElement};

use crate::directory::{Change, Directory, Entry};

/// The label of entries with history: all but secrets.
const ENTRY: &str = "entry";

/// The label of secrets, which have no history.
const SECRET: &str = "secret";

/// The property that holds an entry as JSON.
const BODY: &str = "body";

/// A graph that stores a directory, and nothing else.
pub struct Store {
    graph: Arc<Graph>,
    body: PropertyKeyId,
    entry: VertexLabelId,
    secret: VertexLabelId,
}

impl Store {
    /// Opens a graph that is empty or already stores a directory. Creates the schema unless the
    /// graph has a property key `body`.
    ///
    /// # Errors
    /// When the graph has a part of the schema only, or the store fails.
    pub fn open(graph: Arc<Graph>) -> Result<Self, GraphError> {
        if graph.schema().property_key_by_name(BODY).is_none() {
            let catalogue = graph.catalogue();
            catalogue.create_property_key(NewPropertyKey::named(BODY))?;
            for (name, history) in [(ENTRY, None), (SECRET, Some("none".to_owned()))] {
                catalogue.create_vertex_label(NewVertexLabel {
                    id_strategy: Some(IdStrategy::CustomizeString),
                    properties: vec![BODY.to_owned()],
                    history,
                    ..NewVertexLabel::named(name)
                })?;
            }
        }
        let schema = graph.schema();
        let missing = || GraphError::new(ErrorKind::Storage, "The graph keeps no directory");
        let label = |name| schema.vertex_label_by_name(name).ok_or_else(missing);
        Ok(Self {
            body: schema.property_key_by_name(BODY).ok_or_else(missing)?.id,
            entry: label(ENTRY)?.id,
            secret: label(SECRET)?.id,
            graph,
        })
    }

    /// Whether this server leads the graph, as far as it knows. Only the leader changes it.
    pub(crate) fn is_led(&self) -> bool {
        self.graph.is_led()
    }

    /// The number of times the graph has been opened, by any server; 0 if the engine is not
    /// shared.
    pub(crate) fn term(&self) -> u64 {
        self.graph.space().lease().term
    }

    /// The directory at a point of both times. A past directory lacks the secrets that were
    /// changed or removed since.
    ///
    /// # Errors
    /// As [`Graph::view`], and when the store fails, or an entry cannot be decoded.
    pub fn load(&self, scope: TemporalScope) -> Result<Directory, GraphError> {
        let view = self.graph.view(scope)?;
        let labels = [self.entry, self.secret];
        let ask = ScanAsk {
            elements: Elements::Vertices(&labels),
            conditions: &[],
            order: None,
            properties: &[self.body],
        };
        let (mut bodies, mut place) = (Vec::new(), None);
        loop {
            let mut visit = |found: &ScannedElement<'_>| {
                if let ScannedElement::Vertex { vertex, .. } = found
                    && let Some(Value::Text(body)) = vertex.properties.get(self.body)
                {
                    bodies.push(body.clone());
                }
                Flow::Continue(())
            };
            let next = view.scan(&ask, place.as_ref(), 1_000, &Meter::unlimited(), &mut visit);
            place = next.map_err(|error| {
                GraphError::new(ErrorKind::Storage, format!("The directory: {error}"))
            })?;
            if place.is_none() {
                break;
            }
        }
        let entries = bodies.iter().map(|body| {
            serde_json::from_str::<Entry>(body).map_err(|error| {
                GraphError::new(
                    ErrorKind::Storage,
                    format!("An entry of the directory cannot be read: {error}"),
                )
            })
        });
        Ok(Directory::of(entries.collect::<Result<Vec<_>, _>>()?))
    }

    /// Stores all changes or none, and waits until they are stored. Removing an absent entry is no
    /// error.
    ///
    /// # Errors
    /// As [`Graph::write_now`].
    pub fn commit(&self, changes: &[Change]) -> Result<(), GraphError> {
        let mutations = changes.iter().map(|change| match change {
            Change::Put(entry) => self.put(entry),
            Change::Remove(entry) => Ok(Mutation::Delete {
                id: ElementId::Vertex(vertex_id(entry)),
                missing: Missing::Ignore,
            }),
        });
        let mutations = mutations.collect::<Result<Vec<_>, GraphError>>()?;
        self.graph.write_now(&WriteRequest {
            mutations,
            ..WriteRequest::default()
        })?;
        Ok(())
    }

    fn put(&self, entry: &Entry) -> Result<Mutation, GraphError> {
        let body = serde_json::to_string(entry).map_err(|error| {
            GraphError::new(ErrorKind::InvalidArgument, format!("An entry: {error}"))
        })?;
        let properties: Properties = [(self.body, Value::Text(body))].into_iter().collect();
        Ok(Mutation::PutVertex {
            vertex: Vertex {
                id: vertex_id(entry),
                label: match entry.is_secret() {
                    true => self.secret,
                    false => self.entry,
                },
                properties,
            },
            fresh: false,
        })
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Store")
    }
}

fn vertex_id(entry: &Entry) -> VertexId {
    VertexId::text(&entry.key())
}
