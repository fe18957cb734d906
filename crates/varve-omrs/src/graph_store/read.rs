//! Looks up instances at one point of time.

use std::ops::ControlFlow;
use std::sync::Arc;

use varve_encoding::index::known_start;
use varve_encoding::key;
use varve_encoding::row::{PropertyReader, edge_parts, vertex_parts};
use varve_graph::GraphError;
use varve_graph::read::{DerivedStep, DerivedWalk, View};
use varve_kv::{ClusteringRange, Flow};
use varve_model::{EdgeId, EdgeLabelId, ElementId, Instant, VertexId};

use super::decode::{Decoder, LastClassifications, Parts, life_status};
use super::indexes::{IndexKind, named_first};
use super::plan::{behind_values, is_described, plan};
use super::state::TypesInGraph;
use crate::error::{Message, OmrsError};
use crate::instances::{EntityDetail, EntityProxy};
use crate::json::Shared;
use crate::store::{
    Candidate, CandidateRow, LifeStatus, Link, Read, RenderedEntity, RenderedRelationship, Step,
    StoredEntity, StoredRelationship, Subject, TestText, TextHint, Visit, VisitLink, VisitLinkAt,
    Walk, WalkBy,
};
use crate::types::{Catalogue, TypeIndex};

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
    fn life_status(&self, properties: PropertyReader<'_>) -> Result<LifeStatus, GraphError> {
        let parts = Parts::of(properties, self.keys)?;
        Ok(life_status(parts.header)?)
    }

    /// Runs a walk as of `at`; `walker` scans the index entries.
    pub(super) fn walk(
        &self,
        walk: &Walk<'_>,
        at: Option<Instant>,
        visit: Visit<'_>,
        walker: Walker<'_>,
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
        kept: &CandidateRow,
    ) -> Result<Option<Shared<EntityDetail>>, OmrsError> {
        match &kept.id {
            ElementId::Vertex(id) => Ok(self.rendered_detail(guid_of(id)?, &kept.content)?),
            ElementId::Edge(_) => Ok(None),
        }
    }

    /// The same for a relationship.
    pub(super) fn candidate_relationship(
        &self,
        kept: CandidateRow,
    ) -> Result<Option<RenderedRelationship>, OmrsError> {
        match kept.id {
            ElementId::Vertex(_) => Ok(None),
            ElementId::Edge(id) => Ok(Some(self.rendered_relationship(id, &kept.content)?)),
        }
    }
}

/// Scans a range of derived index entries.
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

/// The id of an entity's vertex.
pub(super) fn vertex_of(guid: &str) -> VertexId {
    VertexId::text(guid)
}

/// The index and the partition of a relationship's edges.
pub(super) fn relationship_first(guid: &str) -> (u32, Vec<u8>) {
    let index = IndexKind::Relationship.number(Subject::Relationships);
    (index, named_first(guid))
}

/// A reader at a view's point of time.
pub(super) struct GraphReader {
    pub(super) view: View,
    pub(super) state: Arc<TypesInGraph>,
}

/// The number of entities whose links are read at once: most entities on a walk have few.
const LINKS_AT_ONCE: usize = 16;

/// The edge with this clustering key at a vertex. An edge that begins and ends there is stored
/// twice; `None` for the second one.
fn edge_once(owner: &[u8], clustering: &[u8]) -> Result<Option<EdgeId>, GraphError> {
    let (id, side) = key::decode_edge(owner, clustering)?;
    let is_again = side == varve_model::Direction::In && id.source == id.target;
    Ok((!is_again).then_some(id))
}

/// Called with an edge and its content.
type ShowEdge<'s> = &'s mut dyn FnMut(EdgeId, &[u8]) -> Result<Flow, OmrsError>;

impl GraphReader {
    /// Calls `show` with the edge of the relationship with this GUID.
    fn with_relationship(
        &self,
        guid: &str,
        show: &mut dyn FnMut(&EdgeId, &[u8]),
    ) -> Result<(), OmrsError> {
        let (index, first) = relationship_first(guid);
        let walk = DerivedWalk {
            index,
            firsts: &[first],
            range: ClusteringRange::all(),
            reverse: false,
            after: None,
            unchecked: true,
        };
        Ok(self.view.walk_derived(&walk, &mut |step| match step.id {
            ElementId::Edge(id) if id.sort_values == guid => {
                show(id, step.content);
                Flow::Break(())
            }
            _ => Flow::Continue(()),
        })?)
    }

    /// Calls `show` with each edge at an entity once, and its content.
    fn edges_of(&self, entity: &str, show: ShowEdge<'_>) -> Result<(), OmrsError> {
        let vertex = vertex_of(entity);
        let owner = key::vertex_id(&vertex);
        let mut failed = None;
        let mut show = |clustering: &[u8], content: &[u8]| -> Result<Flow, OmrsError> {
            match edge_once(&owner, clustering)? {
                Some(id) => show(id, content),
                None => Ok(Flow::Continue(())),
            }
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
        let mut found = None;
        self.with_relationship(guid, &mut |id, content| {
            found = Some(self.state.relationship(id, content));
        })?;
        Ok(found.transpose()?.map(|(relationship, _)| relationship))
    }

    fn rendered_entity(&self, guid: &str) -> Result<Option<RenderedEntity>, OmrsError> {
        let mut found = None;
        self.view.with_vertex(&vertex_of(guid), &mut |content| {
            found = Some(self.state.rendered_entity(guid, content));
        })?;
        Ok(found.transpose()?)
    }

    fn rendered_proxy(&self, guid: &str) -> Result<Option<Shared<EntityProxy>>, OmrsError> {
        let mut found = None;
        self.view.with_vertex(&vertex_of(guid), &mut |content| {
            found = Some(self.state.rendered_proxy(guid, content));
        })?;
        Ok(found.transpose()?)
    }

    fn rendered_proxies(
        &self,
        guids: &[&str],
        show: &mut dyn FnMut(usize, Shared<EntityProxy>),
    ) -> Result<(), OmrsError> {
        let ids: Vec<VertexId> = guids.iter().map(|guid| vertex_of(guid)).collect();
        let mut failed = None;
        self.view.with_vertices(&ids, &mut |at, content| match self
            .state
            .rendered_proxy(guids[at], content)
        {
            Ok(proxy) => show(at, proxy),
            Err(error) => failed = Some(error),
        })?;
        failed.map_or(Ok(()), |error| Err(error.into()))
    }

    fn rendered_relationship(
        &self,
        link: &Link,
    ) -> Result<Option<RenderedRelationship>, OmrsError> {
        let Some(id) = self.state.edge_of(link) else {
            let relationship = self.relationship(&link.guid)?;
            return Ok(relationship.map(|found| RenderedRelationship::new(&self.types(), found)));
        };
        let mut found = None;
        self.view.with_edge(&id, &mut |content| {
            found = Some(self.state.rendered_relationship(id.clone(), content));
        })?;
        Ok(found.transpose()?)
    }

    fn kept(&self, subject: Subject, guid: &str) -> Result<Option<Candidate>, OmrsError> {
        let mut found = None;
        let mut keep = |id: ElementId, content: &[u8]| {
            let content = content.into();
            found = Some(Candidate::Row(CandidateRow { id, content }));
        };
        match subject {
            Subject::Entities => {
                let id = vertex_of(guid);
                self.view.with_vertex(&id, &mut |content| {
                    keep(ElementId::Vertex(id.clone()), content);
                })?;
            }
            Subject::Relationships => self.with_relationship(guid, &mut |id, content| {
                keep(ElementId::Edge(id.clone()), content);
            })?,
        }
        Ok(found)
    }

    fn candidate_entity(
        &self,
        kept: &CandidateRow,
    ) -> Result<Option<Shared<EntityDetail>>, OmrsError> {
        self.state.candidate_entity(kept)
    }

    fn candidate_relationship(
        &self,
        kept: CandidateRow,
    ) -> Result<Option<RenderedRelationship>, OmrsError> {
        self.state.candidate_relationship(kept)
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

    fn rendered_relationships_of(
        &self,
        entity: &str,
        of: Option<TypeIndex>,
        is_known: &dyn Fn(&str) -> bool,
        visit: &mut dyn FnMut(RenderedRelationship) -> Result<ControlFlow<()>, OmrsError>,
    ) -> Result<(), OmrsError> {
        self.edges_of(entity, &mut |id, content| {
            if !self.state.is_edge_of(&id, of) || is_known(&id.sort_values) {
                return Ok(Flow::Continue(()));
            }
            visit(self.state.rendered_relationship(id, content)?)
        })
    }

    fn links_of(&self, entity: &str, visit: VisitLink<'_>) -> Result<(), OmrsError> {
        self.edges_of(entity, &mut |id, content| {
            visit(self.state.link(id, content)?, Some(content))
        })
    }

    fn links_at_once(&self) -> usize {
        match self.view.scope().is_now() {
            true => LINKS_AT_ONCE,
            false => 1,
        }
    }

    fn links_of_each(&self, entities: &[&str], visit: VisitLinkAt<'_>) -> Result<(), OmrsError> {
        let ids: Vec<VertexId> = entities.iter().map(|guid| vertex_of(guid)).collect();
        let owners: Vec<Vec<u8>> = ids.iter().map(key::vertex_id).collect();
        let mut failed = None;
        let mut show = |at: usize, clustering: &[u8], content: &[u8]| match edge_once(
            &owners[at],
            clustering,
        )? {
            Some(id) => visit(at, self.state.link(id, content)?, Some(content)),
            None => Ok(Flow::Continue(())),
        };
        self.view.adjacent_each(&ids, &mut |at, edge| {
            if failed.is_some() {
                return Flow::Break(());
            }
            show(at, edge.clustering, edge.content).unwrap_or_else(|error| {
                failed = Some(error);
                Flow::Break(())
            })
        })?;
        failed.map_or(Ok(()), Err)
    }

    fn rendered_link(
        &self,
        link: &Link,
        content: &[u8],
    ) -> Result<RenderedRelationship, OmrsError> {
        match self.state.edge_of(link) {
            Some(id) => Ok(self.state.rendered_relationship(id, content)?),
            None => self.rendered_relationship(link)?.ok_or_else(|| {
                let words = format!("the relationship {} was lost on the way", link.guid);
                OmrsError::new(Message::LogicError, &[&words])
            }),
        }
    }

    fn life_status(&self, guid: &str) -> Result<Option<LifeStatus>, OmrsError> {
        let mut found = None;
        self.view.with_vertex(&vertex_of(guid), &mut |content| {
            let parts = vertex_parts(content).map_err(GraphError::from);
            found = Some(parts.and_then(|(_, properties)| self.state.life_status(properties)));
        })?;
        Ok(found.transpose()?)
    }

    fn glance(&self, guid: &str) -> Result<Option<(LifeStatus, Option<CandidateRow>)>, OmrsError> {
        let mut found = None;
        let id = vertex_of(guid);
        self.view.with_vertex(&id, &mut |content| {
            let parts = vertex_parts(content).map_err(GraphError::from);
            let life_status = parts.and_then(|(_, properties)| self.state.life_status(properties));
            let (id, content) = (ElementId::Vertex(id.clone()), content.into());
            found = Some(
                life_status.map(|life_status| (life_status, Some(CandidateRow { id, content }))),
            );
        })?;
        Ok(found.transpose()?)
    }

    fn rendered_kept(&self, kept: &CandidateRow) -> Result<RenderedEntity, OmrsError> {
        match &kept.id {
            ElementId::Vertex(id) => Ok(self.state.rendered_entity(guid_of(id)?, &kept.content)?),
            ElementId::Edge(_) => {
                let words = "a relationship was taken for an entity";
                Err(OmrsError::new(Message::LogicError, &[words]))
            }
        }
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

    fn matching_texts(
        &self,
        matches: TestText<'_>,
        most: usize,
    ) -> Result<Option<Vec<TextHint>>, OmrsError> {
        self.state.known_texts.matching(matches, most)
    }

    fn state(&self) -> Option<u64> {
        // If this fails, the store fails elsewhere too.
        self.view.last_commit().ok().map(|version| version.0)
    }
}

impl TypesInGraph {
    /// The edge of a link, if its type is known.
    fn edge_of(&self, link: &Link) -> Option<EdgeId> {
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
