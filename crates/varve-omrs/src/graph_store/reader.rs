//! Looks up instances at one point of time.

use std::ops::ControlFlow;
use std::sync::Arc;

use varve_encoding::key;
use varve_encoding::row::vertex_parts;
use varve_graph::GraphError;
use varve_graph::read::{DerivedWalk, View};
use varve_kv::{ClusteringRange, Flow};
use varve_model::{EdgeId, ElementId, VertexId};

use super::plan::{behind_values, plan};
use super::read::{guid_of, relationship_first, vertex_of};
use super::row::Visit;
use super::state::TypesInGraph;
use crate::error::{Message, OmrsError};
use crate::instances::{EntityDetail, EntityProxy};
use crate::json::Shared;
use crate::store::{
    Candidate, LifeStatus, Link, RenderedEntity, RenderedRelationship, StoredEntity,
    StoredRelationship, Subject, TestText, TextHint, VisitLink, VisitLinkAt, Walk,
};
use crate::types::{Catalogue, TypeIndex};

/// Looks up instances at one point of time, in one committed state. Deleted instances (status
/// DELETED) are found too; purged ones are not.
pub struct GraphReader {
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

    /// The types by which the reader resolves every [`TypeIndex`] in its arguments. They may be
    /// newer than those that the repository knew when it opened the reader.
    pub fn types(&self) -> Arc<Catalogue> {
        Arc::clone(&self.state.types)
    }

    /// The entity with this GUID.
    ///
    /// # Errors
    /// `RepositoryErrorException` when the store fails, as with every method here.
    pub fn entity(&self, guid: &str) -> Result<Option<StoredEntity>, OmrsError> {
        let mut found = None;
        self.view.with_vertex(&vertex_of(guid), &mut |content| {
            found = Some(self.state.entity(guid, content));
        })?;
        Ok(found.transpose()?.map(|(entity, _)| entity))
    }

    /// The relationship with this GUID.
    ///
    /// # Errors
    /// As above.
    pub fn relationship(&self, guid: &str) -> Result<Option<StoredRelationship>, OmrsError> {
        let mut found = None;
        self.with_relationship(guid, &mut |id, content| {
            found = Some(self.state.relationship(id, content));
        })?;
        Ok(found.transpose()?.map(|(relationship, _)| relationship))
    }

    /// The entity with this GUID, rendered.
    ///
    /// # Errors
    /// As above.
    pub fn rendered_entity(&self, guid: &str) -> Result<Option<RenderedEntity>, OmrsError> {
        let mut found = None;
        self.view.with_vertex(&vertex_of(guid), &mut |content| {
            found = Some(self.state.rendered_entity(guid, content));
        })?;
        Ok(found.transpose()?)
    }

    /// The proxy of the entity with this GUID, rendered, for the end of a relationship.
    ///
    /// # Errors
    /// As above.
    pub fn rendered_proxy(&self, guid: &str) -> Result<Option<Shared<EntityProxy>>, OmrsError> {
        let mut found = None;
        self.view.with_vertex(&vertex_of(guid), &mut |content| {
            found = Some(self.state.rendered_proxy(guid, content));
        })?;
        Ok(found.transpose()?)
    }

    /// Calls `show` with the proxy of each of these entities that exists, and its position in
    /// `guids`, in no order.
    ///
    /// # Errors
    /// As above.
    pub fn rendered_proxies(
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

    /// The relationship of a link that this reader has visited, rendered.
    ///
    /// # Errors
    /// As above.
    pub fn rendered_relationship(
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

    /// The candidate for the instance with this GUID.
    ///
    /// # Errors
    /// As above.
    pub fn kept(&self, subject: Subject, guid: &str) -> Result<Option<Candidate>, OmrsError> {
        let mut found = None;
        let mut keep = |id: ElementId, content: &[u8]| {
            let content = content.into();
            found = Some(Candidate { id, content });
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

    /// The entity of a candidate row, rendered; `None` if only a proxy of it is known. The row
    /// comes from this reader, or from another one at the same point of time.
    ///
    /// # Errors
    /// As above.
    pub fn candidate_entity(
        &self,
        kept: &Candidate,
    ) -> Result<Option<Shared<EntityDetail>>, OmrsError> {
        self.state.candidate_entity(kept)
    }

    /// The same for a relationship.
    ///
    /// # Errors
    /// As above.
    pub fn candidate_relationship(
        &self,
        kept: Candidate,
    ) -> Result<Option<RenderedRelationship>, OmrsError> {
        self.state.candidate_relationship(kept)
    }

    /// Visits the relationships with this entity at either end, in a stable order, limited to one
    /// type if `of` is given. A relationship with the entity at both ends is visited once.
    ///
    /// # Errors
    /// As above, and what `visit` returns.
    pub fn relationships_of(
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

    /// The same, rendered, without the relationships whose GUIDs `is_known` accepts.
    ///
    /// # Errors
    /// As above, and what `visit` returns.
    pub fn rendered_relationships_of(
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

    /// Visits the relationships of [`Self::relationships_of`] of any type, in the same order, as
    /// links, each with the content of its row, which [`Self::rendered_link`] renders without
    /// another read.
    ///
    /// # Errors
    /// As above, and what `visit` returns.
    pub fn links_of(&self, entity: &str, visit: VisitLink<'_>) -> Result<(), OmrsError> {
        self.edges_of(entity, &mut |id, content| {
            visit(self.state.link(id, content)?, content)
        })
    }

    /// The best number of entities for one call of [`Self::links_of_each`].
    pub fn links_at_once(&self) -> usize {
        match self.view.scope().is_now() {
            true => LINKS_AT_ONCE,
            false => 1,
        }
    }

    /// [`Self::links_of`] for several entities. Each link comes with the position of its entity;
    /// the links of one entity come together. A break ends the visits of that entity only.
    ///
    /// # Errors
    /// As [`Self::links_of`].
    pub fn links_of_each(
        &self,
        entities: &[&str],
        visit: VisitLinkAt<'_>,
    ) -> Result<(), OmrsError> {
        let ids: Vec<VertexId> = entities.iter().map(|guid| vertex_of(guid)).collect();
        let owners: Vec<Vec<u8>> = ids.iter().map(key::vertex_id).collect();
        let mut failed = None;
        let mut show = |at: usize, clustering: &[u8], content: &[u8]| match edge_once(
            &owners[at],
            clustering,
        )? {
            Some(id) => visit(at, self.state.link(id, content)?, content),
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

    /// The relationship of a link that was visited with this content, rendered.
    ///
    /// # Errors
    /// As above.
    pub fn rendered_link(
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

    /// The entity's status.
    ///
    /// # Errors
    /// As above.
    pub fn life_status(&self, guid: &str) -> Result<Option<LifeStatus>, OmrsError> {
        let mut found = None;
        self.view.with_vertex(&vertex_of(guid), &mut |content| {
            let parts = vertex_parts(content).map_err(GraphError::from);
            found = Some(parts.and_then(|(_, properties)| self.state.life_status(properties)));
        })?;
        Ok(found.transpose()?)
    }

    /// The entity's status, and its candidate row, which [`Self::rendered_kept`] renders without
    /// another read.
    ///
    /// # Errors
    /// As above.
    pub fn glance(&self, guid: &str) -> Result<Option<(LifeStatus, Candidate)>, OmrsError> {
        let mut found = None;
        let id = vertex_of(guid);
        self.view.with_vertex(&id, &mut |content| {
            let parts = vertex_parts(content).map_err(GraphError::from);
            let life_status = parts.and_then(|(_, properties)| self.state.life_status(properties));
            let (id, content) = (ElementId::Vertex(id.clone()), content.into());
            found = Some(life_status.map(|life_status| (life_status, Candidate { id, content })));
        })?;
        Ok(found.transpose()?)
    }

    /// The entity of a candidate row, rendered. Unlike [`Self::candidate_entity`], it includes the
    /// proxy.
    ///
    /// # Errors
    /// As above.
    pub fn rendered_kept(&self, kept: &Candidate) -> Result<RenderedEntity, OmrsError> {
        match &kept.id {
            ElementId::Vertex(id) => Ok(self.state.rendered_entity(guid_of(id)?, &kept.content)?),
            ElementId::Edge(_) => {
                let words = "a relationship was taken for an entity";
                Err(OmrsError::new(Message::LogicError, &[words]))
            }
        }
    }

    /// Visits the instances of a walk, each in its state at the point of time. Never visits an
    /// instance that does not satisfy the walk. Proxies may be left out: no search finds them.
    ///
    /// # Errors
    /// As above, and what `visit` returns.
    pub fn walk(&self, walk: &Walk<'_>, visit: Visit<'_>) -> Result<(), OmrsError> {
        let at = self.view.scope().valid;
        self.state.walk(walk, at, visit, &self.view)
    }

    /// Whether an index serves this walk. [`Self::walk`] refuses a walk that none serves.
    pub fn can_walk(&self, walk: &Walk<'_>) -> bool {
        plan(&self.state, walk, None).is_some()
    }

    /// In a walk by a property: a position for [`Walk::after`] that follows all instances with the
    /// same value as the instance at `place`. `None` = not known.
    pub fn behind_same_value(&self, place: &[u8]) -> Option<Vec<u8>> {
        behind_values(place)
    }

    /// The number of texts that [`Self::matching_texts`] would test; `None` when the reader does
    /// not know all texts, yet or ever. Texts are those of
    /// [`WalkBy::Text`](crate::store::WalkBy::Text).
    pub fn texts(&self) -> Option<usize> {
        self.state.texts()
    }

    /// All texts that pass a test, and the starts of texts that may pass. Some may belong to no
    /// instance at the point of time. `None` when more than `most` are found, or when the reader
    /// does not know all texts.
    ///
    /// # Errors
    /// What the test returns, which ends it.
    pub fn matching_texts(
        &self,
        matches: TestText<'_>,
        most: usize,
    ) -> Result<Option<Vec<TextHint>>, OmrsError> {
        self.state.known_texts.matching(matches, most)
    }

    /// A number for the committed state that is read. Two readers of now, or two of the same point
    /// of time, with the same number show the same instances at the same positions of every walk,
    /// so a walk can continue in another reader. `None` when the store fails.
    ///
    /// For a point of time in the past, only changes of the past need to change the number: purges,
    /// and writes with an earlier time.
    pub fn state(&self) -> Option<u64> {
        // If this fails, the store fails elsewhere too.
        self.view.last_commit().ok().map(|version| version.0)
    }
}
