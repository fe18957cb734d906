//! Looking instances up at one point of time.

use std::ops::ControlFlow;
use std::sync::Arc;

use varve_encoding::index::known_start;
use varve_encoding::key;
use varve_encoding::row::{PropertyReader, edge_parts, vertex_parts};
use varve_graph::GraphError;
use varve_graph::read::{DerivedStep, DerivedWalk, View};
use varve_kv::{ClusteringRange, Flow};
use varve_model::{EdgeId, EdgeLabelId, ElementId, Instant, VertexId};

use super::decode::{Decoder, LastClassifications, Parts, standing};
use super::entries::{Kind, named_first};
use super::plan::{behind_values, is_described, plan};
use super::state::State;
use crate::error::{Message, OmrsError};
use crate::instances::EntityProxy;
use crate::json::Shared;
use crate::store::{
    Link, Read, Standing, Step, StoredEntity, StoredInstance, StoredRelationship, Subject,
    TextHint, ToldEntity, ToldRelationship, Visit, Walk, WalkBy,
};
use crate::types::{Catalogue, TypeIndex};

impl State {
    pub(super) fn decoder(&self) -> Decoder<'_> {
        Decoder {
            types: &self.types,
            made: &self.made,
        }
    }

    /// The entity that a vertex's content holds, and its type.
    pub(super) fn entity(
        &self,
        guid: &str,
        content: &[u8],
    ) -> Result<(StoredEntity, Option<TypeIndex>), GraphError> {
        self.entity_after(guid, content, None)
    }

    /// The same; what is equal to the state read before is shared with it.
    pub(super) fn entity_after(
        &self,
        guid: &str,
        content: &[u8],
        last: Option<&mut LastClassifications>,
    ) -> Result<(StoredEntity, Option<TypeIndex>), GraphError> {
        let (label, properties) = vertex_parts(content)?;
        let of = self.entity_type(label.0);
        let parts = Parts::of(properties, self.keys)?;
        let of_type = self.resolved(of);
        let entity = self.decoder().entity(guid, of_type, &parts, last)?;
        Ok((entity, of))
    }

    /// The relationship that an edge's content holds, and its type.
    pub(super) fn relationship(
        &self,
        id: &EdgeId,
        content: &[u8],
    ) -> Result<(StoredRelationship, Option<TypeIndex>), GraphError> {
        let (_, _, properties) = edge_parts(content)?;
        let of = self.relationship_type(id.label.0);
        let parts = Parts::of(properties, self.keys)?;
        let ends = [guid_of(&id.source)?, guid_of(&id.target)?];
        let guid = &id.sort_values;
        let relationship = Decoder::relationship(guid, self.resolved(of), ends, &parts)?;
        Ok((relationship, of))
    }

    /// How it stands with the instance that these properties hold.
    fn standing(&self, properties: PropertyReader<'_>) -> Result<Standing, GraphError> {
        let parts = Parts::of(properties, self.keys)?;
        Ok(standing(parts.header)?)
    }

    /// The instance that an element's content holds, and its type.
    fn instance(
        &self,
        id: &ElementId,
        content: &[u8],
    ) -> Result<(StoredInstance, Option<TypeIndex>), GraphError> {
        Ok(match id {
            ElementId::Vertex(id) => {
                let (entity, of) = self.entity(guid_of(id)?, content)?;
                (StoredInstance::Entity(entity), of)
            }
            ElementId::Edge(id) => {
                let (relationship, of) = self.relationship(id, content)?;
                (StoredInstance::Relationship(relationship), of)
            }
        })
    }

    /// Walks as of `at` with `walker`, which runs a walk over entries.
    pub(super) fn walk(
        &self,
        walk: &Walk<'_>,
        at: Option<Instant>,
        visit: Visit<'_>,
        walker: Walker<'_>,
    ) -> Result<(), OmrsError> {
        let Some(parts) = plan(self, walk, at) else {
            let words = "a walk was asked for that no index serves";
            return Err(OmrsError::new(Message::LogicError, &[words]));
        };
        let (mut failed, mut is_over) = (None, false);
        for part in parts {
            let derived = DerivedWalk {
                index: part.index,
                firsts: &part.firsts,
                range: part.range,
                reverse: part.reverse,
                after: part.after,
                unchecked: true,
            };
            walker(&derived, &mut |step: DerivedStep<'_>| {
                let shown = self.show(walk, &step, visit);
                let flow = shown.unwrap_or_else(|error| {
                    failed = Some(error);
                    Flow::Break(())
                });
                is_over = flow.is_break();
                flow
            })?;
            if is_over {
                break;
            }
        }
        failed.map_or(Ok(()), Err)
    }

    fn show(
        &self,
        walk: &Walk<'_>,
        step: &DerivedStep<'_>,
        visit: Visit<'_>,
    ) -> Result<Flow, OmrsError> {
        let (instance, own) = self.instance(step.id, step.content)?;
        if !is_described(self, walk, own, &instance, step.clustering) {
            return Ok(Flow::Continue(()));
        }
        let place = step.clustering;
        let alike = match walk.by {
            WalkBy::Property(_) => known_start(place),
            _ => None,
        };
        visit(Step {
            place,
            alike,
            instance,
        })
    }
}

/// Runs a walk over derived entries.
pub(super) type Walker<'w> =
    &'w dyn Fn(&DerivedWalk<'_>, &mut dyn FnMut(DerivedStep<'_>) -> Flow) -> Result<(), GraphError>;

/// The GUID that a vertex has as its id.
pub(super) fn guid_of(id: &VertexId) -> Result<&str, GraphError> {
    match id {
        VertexId::Text(guid) => Ok(guid),
        other => Err(GraphError::invalid(format!(
            "Vertex '{other}' is not an entity: its id is not a text"
        ))),
    }
}

/// The vertex of an entity.
pub(super) fn vertex_of(guid: &str) -> VertexId {
    VertexId::text(guid)
}

/// What the partition of a relationship's edges is called.
pub(super) fn relationship_first(guid: &str) -> (u32, Vec<u8>) {
    let index = Kind::Relationship.number(Subject::Relationships);
    (index, named_first(guid))
}

/// Reads at a view's point of time.
pub(super) struct GraphReader {
    pub(super) view: View,
    pub(super) state: Arc<State>,
}

/// Is shown an edge and its content.
type ShowEdge<'s> = &'s mut dyn FnMut(EdgeId, &[u8]) -> Result<Flow, OmrsError>;

impl GraphReader {
    /// Shows each edge at an entity once, with its content.
    fn edges_of(&self, entity: &str, show: ShowEdge<'_>) -> Result<(), OmrsError> {
        let vertex = vertex_of(entity);
        let owner = key::vertex_id(&vertex);
        let mut failed = None;
        let mut show = |clustering: &[u8], content: &[u8]| -> Result<Flow, OmrsError> {
            let (id, side) = key::decode_edge(&owner, clustering).map_err(GraphError::from)?;
            // One that begins and ends here is stored twice.
            if side == varve_model::Direction::In && id.source == id.target {
                return Ok(Flow::Continue(()));
            }
            show(id, content)
        };
        let range = ClusteringRange::all();
        self.view.adjacent(&vertex, &range, &mut |edge| {
            show(edge.clustering, edge.content).unwrap_or_else(|error| {
                failed = Some(error);
                Flow::Break(())
            })
        })?;
        failed.map_or(Ok(()), Err)
    }
}

impl Read for GraphReader {
    fn types(&self) -> Arc<Catalogue> {
        Arc::clone(&self.state.types)
    }

    fn entity(&self, guid: &str) -> Result<Option<StoredEntity>, OmrsError> {
        let mut found = None;
        self.view.with_vertex(&vertex_of(guid), &mut |content| {
            found = Some(self.state.entity(guid, content));
        })?;
        Ok(found.transpose()?.map(|(entity, _)| entity))
    }

    fn relationship(&self, guid: &str) -> Result<Option<StoredRelationship>, OmrsError> {
        let (index, first) = relationship_first(guid);
        let walk = DerivedWalk {
            index,
            firsts: &[first],
            range: ClusteringRange::all(),
            reverse: false,
            after: None,
            unchecked: true,
        };
        let mut found = None;
        self.view.walk_derived(&walk, &mut |step| match step.id {
            ElementId::Edge(id) if id.sort_values == guid => {
                found = Some(self.state.relationship(id, step.content));
                Flow::Break(())
            }
            _ => Flow::Continue(()),
        })?;
        Ok(found.transpose()?.map(|(relationship, _)| relationship))
    }

    fn told_entity(&self, guid: &str) -> Result<Option<ToldEntity>, OmrsError> {
        let mut found = None;
        self.view.with_vertex(&vertex_of(guid), &mut |content| {
            found = Some(self.state.told_entity(guid, content));
        })?;
        Ok(found.transpose()?)
    }

    fn told_proxy(&self, guid: &str) -> Result<Option<Shared<EntityProxy>>, OmrsError> {
        let mut found = None;
        self.view.with_vertex(&vertex_of(guid), &mut |content| {
            found = Some(self.state.told_proxy(guid, content));
        })?;
        Ok(found.transpose()?)
    }

    fn told_relationship(&self, link: &Link) -> Result<Option<ToldRelationship>, OmrsError> {
        let Some(label) = link.of.and_then(|of| self.state.label(of)) else {
            let relationship = self.relationship(&link.guid)?;
            return Ok(relationship.map(|found| ToldRelationship::new(&self.types(), found)));
        };
        let [one, two] = &link.ends;
        let id = EdgeId {
            source: VertexId::Text(one.clone()),
            parent: EdgeLabelId(label),
            label: EdgeLabelId(label),
            sort_values: link.guid.clone(),
            target: VertexId::Text(two.clone()),
        };
        let mut found = None;
        self.view.with_edge(&id, &mut |content| {
            found = Some(self.state.told_relationship(id.clone(), content));
        })?;
        Ok(found.transpose()?)
    }

    fn relationships_of(
        &self,
        entity: &str,
        of: Option<TypeIndex>,
        visit: &mut dyn FnMut(StoredRelationship) -> Result<ControlFlow<()>, OmrsError>,
    ) -> Result<(), OmrsError> {
        self.edges_of(entity, &mut |id, content| {
            if !self.state.is_edge_of(&id, of) {
                return Ok(Flow::Continue(()));
            }
            visit(self.state.relationship(&id, content)?.0)
        })
    }

    fn told_relationships_of(
        &self,
        entity: &str,
        of: Option<TypeIndex>,
        is_known: &dyn Fn(&str) -> bool,
        visit: &mut dyn FnMut(ToldRelationship) -> Result<ControlFlow<()>, OmrsError>,
    ) -> Result<(), OmrsError> {
        self.edges_of(entity, &mut |id, content| {
            if !self.state.is_edge_of(&id, of) || is_known(&id.sort_values) {
                return Ok(Flow::Continue(()));
            }
            visit(self.state.told_relationship(id, content)?)
        })
    }

    fn links_of(
        &self,
        entity: &str,
        visit: &mut dyn FnMut(Link) -> Result<ControlFlow<()>, OmrsError>,
    ) -> Result<(), OmrsError> {
        self.edges_of(entity, &mut |id, content| {
            visit(self.state.link(id, content)?)
        })
    }

    fn standing(&self, guid: &str) -> Result<Option<Standing>, OmrsError> {
        let mut found = None;
        self.view.with_vertex(&vertex_of(guid), &mut |content| {
            let parts = vertex_parts(content).map_err(GraphError::from);
            found = Some(parts.and_then(|(_, properties)| self.state.standing(properties)));
        })?;
        Ok(found.transpose()?)
    }

    fn walk(&self, walk: &Walk<'_>, visit: Visit<'_>) -> Result<(), OmrsError> {
        let at = self.view.scope().valid;
        self.state.walk(walk, at, visit, &|derived, visit| {
            self.view.walk_derived(derived, visit)
        })
    }

    fn can_walk(&self, walk: &Walk<'_>) -> bool {
        plan(&self.state, walk, None).is_some()
    }

    fn behind_same_value(&self, place: &[u8]) -> Option<Vec<u8>> {
        behind_values(place)
    }

    fn texts(&self) -> Option<usize> {
        self.state.texts()
    }

    fn matching_texts(&self, matches: &dyn Fn(&str) -> bool, most: usize) -> Option<Vec<TextHint>> {
        self.state.known_texts.matching(matches, most)
    }

    fn state(&self) -> Option<u64> {
        // Without one, the store fails elsewhere too.
        self.view.last_commit().ok().map(|version| version.0)
    }
}

impl State {
    /// Whether an edge is a relationship of that type.
    pub(super) fn is_edge_of(&self, id: &EdgeId, of: Option<TypeIndex>) -> bool {
        of.is_none_or(|of| {
            let own = self.relationship_type(id.label.0);
            own.is_some_and(|own| self.types.is_a(own, of))
        })
    }
}
