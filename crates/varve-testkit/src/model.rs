//! The oracle: a bitemporal graph that is nothing but a list of events.
//!
//! Every answer is computed from the whole list by the definition: the state of an element at (V,
//! T) is the content of the newest event with commit version ≤ T whose period covers V. This is
//! slow, but simple enough to be checked by reading. [`plan`](Model::plan) defines the effect of a
//! write. It depends on the current instant, but not on the commit version, which the tested graph
//! assigns. [`commit`](Model::commit) then adds the events.

mod combine;
mod read;
mod view;
mod write;

use varve_model::schema::{IdStrategy, Retention};
use varve_model::{
    CommitVersion, EdgeLabel, Element, ElementId, IndexLabel, Instant, Period, PropertyKeyId,
    VertexLabel,
};

pub use combine::{Strategy, append, combine, combine_all};
pub use read::Past;
pub use view::ModelView;
pub use write::{Change, Plan, Planned, Refusal, Request};

/// One write to one element.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// The commit version.
    pub version: CommitVersion,
    /// The valid period; it may be empty if it was over before the event was stored.
    pub period: Period,
    /// The element.
    pub id: ElementId,
    /// The new state; `None` if the element does not exist.
    pub state: Option<Element>,
    /// Whether this is a deletion of nothing: no state existed in its period. A graph need not
    /// store it.
    pub idle: bool,
}

/// The part of the schema that determines the effect of writes.
#[derive(Debug, Clone, Default)]
pub struct ModelSchema {
    /// Vertex labels.
    pub vertex_labels: Vec<VertexLabel>,
    /// Edge labels.
    pub edge_labels: Vec<EdgeLabel>,
    /// Index labels.
    pub index_labels: Vec<IndexLabel>,
}

/// The rules of a label: time to live and retention.
#[derive(Debug, Clone, Copy)]
pub struct LabelRules {
    /// The time to live in milliseconds; 0 = none.
    pub ttl: i64,
    /// The DATE property with the start of the time to live.
    pub ttl_start_time: Option<PropertyKeyId>,
    /// How long the past is kept.
    pub retention: Retention,
}

impl ModelSchema {
    /// The properties that elements of the label of `element` may have.
    #[must_use]
    pub fn properties(&self, element: &Element) -> &[PropertyKeyId] {
        match element {
            Element::Vertex(vertex) => {
                let label = self
                    .vertex_labels
                    .iter()
                    .find(|label| label.id == vertex.label);
                label.map_or(&[], |label| &label.properties)
            }
            Element::Edge(edge) => {
                let label = self
                    .edge_labels
                    .iter()
                    .find(|label| label.id == edge.id.label);
                label.map_or(&[], |label| &label.properties)
            }
        }
    }

    /// Whether the server assigns the ids of an element's label.
    #[must_use]
    pub fn is_automatic(&self, element: &Element) -> bool {
        let Element::Vertex(vertex) = element else {
            return false;
        };
        let label = self
            .vertex_labels
            .iter()
            .find(|label| label.id == vertex.label);
        label.is_some_and(|label| label.id_strategy == IdStrategy::Automatic)
    }

    /// The rules of the label of `element`.
    ///
    /// # Panics
    /// When the label is unknown, which is a mistake of the test.
    #[must_use]
    pub fn rules(&self, element: &Element) -> LabelRules {
        match element {
            Element::Vertex(vertex) => {
                let mut labels = self.vertex_labels.iter();
                let label = labels.find(|label| label.id == vertex.label).unwrap();
                LabelRules {
                    ttl: label.ttl,
                    ttl_start_time: label.ttl_start_time,
                    retention: label.retention,
                }
            }
            Element::Edge(edge) => {
                let mut labels = self.edge_labels.iter();
                let label = labels.find(|label| label.id == edge.id.label).unwrap();
                LabelRules {
                    ttl: label.ttl,
                    ttl_start_time: label.ttl_start_time,
                    retention: label.retention,
                }
            }
        }
    }
}

/// The naive graph.
#[derive(Debug, Clone, Default)]
pub struct Model {
    /// All events, in the order of their commits.
    pub events: Vec<Event>,
    /// The first and the last version of each commit.
    pub commits: Vec<(CommitVersion, CommitVersion)>,
    /// The schema.
    pub schema: ModelSchema,
}

impl Model {
    /// An empty graph.
    #[must_use]
    pub fn new(schema: ModelSchema) -> Self {
        Self {
            events: Vec::new(),
            commits: Vec::new(),
            schema,
        }
    }

    /// The newest commit version; zero when there is none.
    #[must_use]
    pub fn last_version(&self) -> CommitVersion {
        self.commits
            .last()
            .map_or(CommitVersion::ZERO, |(_, last)| *last)
    }

    /// The last version that a read as of `version` sees: it sees a commit completely or not at
    /// all.
    #[must_use]
    pub fn whole(&self, version: CommitVersion) -> CommitVersion {
        let mut commits = self.commits.iter();
        let within = commits.find(|(first, last)| *first <= version && version <= *last);
        within.map_or(version, |(_, last)| *last)
    }

    /// The event that decides the element's state at (V, T), by the definition.
    #[must_use]
    pub fn deciding(&self, id: &ElementId, at: Point) -> Option<&Event> {
        let version = self.whole(at.version);
        self.events
            .iter()
            .filter(|event| event.id == *id)
            .filter(|event| event.version <= version && event.period.covers(at.valid))
            .max_by_key(|event| event.version)
    }

    /// The element's state at (V, T).
    #[must_use]
    pub fn state(&self, id: &ElementId, at: Point) -> Option<&Element> {
        self.deciding(id, at)?.state.as_ref()
    }

    /// The ids of all elements that have an event, without duplicates.
    #[must_use]
    pub fn ids(&self) -> Vec<ElementId> {
        let mut ids: Vec<ElementId> = self.events.iter().map(|event| event.id.clone()).collect();
        ids.sort();
        ids.dedup();
        ids
    }
}

/// A point of both times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Point {
    /// V: the valid instant.
    pub valid: Instant,
    /// T: the newest commit version that is visible.
    pub version: CommitVersion,
}
