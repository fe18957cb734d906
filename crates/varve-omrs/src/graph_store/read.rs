//! Decodes the rows of instances, and walks index entries.

use varve_encoding::index::known_start;
use varve_encoding::row::{PropertyReader, edge_parts, vertex_parts};
use varve_graph::GraphError;
use varve_graph::read::{DerivedStep, DerivedWalk, View};
use varve_kv::Flow;
use varve_model::id::VERTEX_ID_BYTES_MAX;
use varve_model::{EdgeId, EdgeLabelId, ElementId, Instant, VertexId};

use super::decode::{Decoder, LastClassifications, Parts, life_status};
use super::indexes::{IndexKind, named_first};
use super::plan::{is_described, plan};
use super::row::{Step, Visit};
use super::state::TypesInGraph;
use crate::error::{Message, OmrsError};
use crate::instances::EntityDetail;
use crate::json::Shared;
use crate::store::{
    Candidate, LifeStatus, Link, RenderedRelationship, StoredEntity, StoredRelationship, Subject,
    Walk, WalkBy,
};
use crate::types::TypeIndex;

impl TypesInGraph {
    pub(super) fn decoder(&self) -> Decoder<'_> {
        Decoder {
            types: &self.types,
            made: &self.made,
        }
    }

    /// Decodes an entity from a vertex's content. Returns it with its type.
    pub(super) fn entity(
        &self,
        guid: &str,
        content: &[u8],
    ) -> Result<(StoredEntity, Option<TypeIndex>), GraphError> {
        self.entity_after(guid, content, None)
    }

    /// The same; classifications equal to those of the state read before are shared with it.
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

    /// Decodes a relationship from an edge's content. Returns it with its type.
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

    /// Decodes the header of an entity from a vertex's content.
    pub(super) fn entity_head(
        &self,
        guid: &str,
        content: &[u8],
    ) -> Result<StoredEntity, GraphError> {
        let (label, properties) = vertex_parts(content)?;
        let of = self.resolved(self.entity_type(label.0));
        let parts = Parts::of(properties, self.keys)?;
        Ok(Decoder::entity_head(guid, of, &parts)?)
    }

    /// Decodes the header of a relationship from an edge's content.
    pub(super) fn relationship_head(
        &self,
        id: &EdgeId,
        content: &[u8],
    ) -> Result<StoredRelationship, GraphError> {
        let (_, _, properties) = edge_parts(content)?;
        let of = self.resolved(self.relationship_type(id.label.0));
        let parts = Parts::of(properties, self.keys)?;
        let ends = [guid_of(&id.source)?, guid_of(&id.target)?];
        Ok(Decoder::relationship_head(
            &id.sort_values,
            of,
            ends,
            &parts,
        )?)
    }

    /// The status of the instance in an element's content.
    pub(super) fn life_status_of(
        &self,
        id: &ElementId,
        content: &[u8],
    ) -> Result<LifeStatus, GraphError> {
        self.life_status(match id {
            ElementId::Vertex(_) => vertex_parts(content)?.1,
            ElementId::Edge(_) => edge_parts(content)?.2,
        })
    }

    /// The status of the instance in these properties.
    pub(super) fn life_status(
        &self,
        properties: PropertyReader<'_>,
    ) -> Result<LifeStatus, GraphError> {
        let parts = Parts::of(properties, self.keys)?;
        Ok(life_status(parts.header)?)
    }

    /// Runs a walk as of `at`.
    pub(super) fn walk(
        &self,
        walk: &Walk<'_>,
        at: Option<Instant>,
        visit: Visit<'_>,
        view: &View,
    ) -> Result<(), OmrsError> {
        let Some(parts) = plan(self, walk, at) else {
            let words = "no index serves the requested walk";
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
            view.walk_derived(&derived, &mut |step: DerivedStep<'_>| {
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
        let row = self.row(step.id, step.content)?;
        let is_described = is_described(self, walk, &row, step.clustering);
        row.checked()?;
        if !is_described {
            return Ok(Flow::Continue(()));
        }
        let place = step.clustering;
        let alike = match walk.by {
            WalkBy::Property(_) => known_start(place),
            _ => None,
        };
        let flow = visit(Step {
            place,
            alike,
            instance: &row,
        })?;
        row.checked()?;
        Ok(flow)
    }

    /// Renders the entity of a candidate row.
    pub(super) fn candidate_entity(
        &self,
        kept: &Candidate,
    ) -> Result<Option<Shared<EntityDetail>>, OmrsError> {
        match &kept.id {
            ElementId::Vertex(id) => Ok(self.rendered_detail(guid_of(id)?, &kept.content)?),
            ElementId::Edge(_) => Ok(None),
        }
    }

    /// The same for a relationship.
    pub(super) fn candidate_relationship(
        &self,
        kept: Candidate,
    ) -> Result<Option<RenderedRelationship>, OmrsError> {
        match kept.id {
            ElementId::Vertex(_) => Ok(None),
            ElementId::Edge(id) => Ok(Some(self.rendered_relationship(id, &kept.content)?)),
        }
    }
}

/// The GUID that a vertex has as its id.
pub(super) fn guid_of(id: &VertexId) -> Result<&str, GraphError> {
    match id {
        VertexId::Text(guid) => Ok(guid),
        other => Err(GraphError::invalid(format!(
            "Vertex '{other}' is not an entity: its id is not a text"
        ))),
    }
}

/// The id of an entity's vertex. No vertex has an empty id, which stands for the GUIDs that are
/// longer than ids, so that those name no entity.
pub(super) fn vertex_of(guid: &str) -> VertexId {
    VertexId::text(match guid.len() <= VERTEX_ID_BYTES_MAX {
        true => guid,
        false => "",
    })
}

/// The index and the partition of a relationship's edges.
pub(super) fn relationship_first(guid: &str) -> (u32, Vec<u8>) {
    let index = IndexKind::Relationship.number(Subject::Relationships);
    (index, named_first(guid))
}

impl TypesInGraph {
    /// The edge of a link, if its type is known.
    pub(super) fn edge_of(&self, link: &Link) -> Option<EdgeId> {
        let label = link.of.and_then(|of| self.label(of))?;
        let [one, two] = &link.ends;
        Some(EdgeId {
            source: VertexId::Text(one.clone()),
            parent: EdgeLabelId(label),
            label: EdgeLabelId(label),
            sort_values: link.guid.clone(),
            target: VertexId::Text(two.clone()),
        })
    }

    /// Whether an edge is a relationship of that type.
    pub(super) fn is_edge_of(&self, id: &EdgeId, of: Option<TypeIndex>) -> bool {
        of.is_none_or(|of| {
            let own = self.relationship_type(id.label.0);
            own.is_some_and(|own| self.types.is_a(own, of))
        })
    }
}
