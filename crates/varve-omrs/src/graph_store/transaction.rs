//! Transactions that change instances.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use compact_str::CompactString;
use varve_encoding::row::vertex_label;
use varve_graph::GraphError;
use varve_graph::read::Event;
use varve_graph::write;
use varve_kv::Flow;
use varve_model::id::{EDGE_ID_BYTES_MAX, VERTEX_ID_BYTES_MAX};
use varve_model::{EdgeId, EdgeLabelId, ElementId, Instant};

use super::decode::{Parts, life_status, version};
use super::encode::Encoder;
use super::history::edges_of;
use super::read::{relationship_first, vertex_of};
use super::state::TypesInGraph;
use crate::error::{Message, OmrsError};
use crate::instances::{EntityDetail, EntityProxy, InstanceHeader};
use crate::json::{Millis, Shared};
use crate::store::{StoredEntity, StoredRelationship, VisitHead};
use crate::types::{InstanceStatus, TypeIndex};

/// The prefix of the name under which a relationship is latched. No vertex's key begins with it.
const RELATIONSHIP: u8 = b'r';

/// The name under which a relationship is latched.
pub(super) fn held_name(guid: &str) -> Vec<u8> {
    [&[RELATIONSHIP], guid.as_bytes()].concat()
}

/// Changes instances. Its reads see its own changes. Either all changes are committed or none.
pub struct GraphTransaction<'a, 'g> {
    inner: &'a mut write::Transaction<'g>,
    state: Arc<TypesInGraph>,
    /// The present edge of each relationship that this transaction has looked up or written, by
    /// GUID.
    edges: RefCell<HashMap<String, Option<EdgeId>>>,
    /// The committed candidates for the present edge of a relationship, by GUID.
    listed: RefCell<HashMap<String, Vec<EdgeId>>>,
    /// The start of each state that this transaction has written.
    starts: HashMap<ElementId, Millis>,
}

impl<'a, 'g> GraphTransaction<'a, 'g> {
    pub(super) fn new(inner: &'a mut write::Transaction<'g>, state: Arc<TypesInGraph>) -> Self {
        Self {
            inner,
            state,
            edges: RefCell::default(),
            listed: RefCell::default(),
            starts: HashMap::new(),
        }
    }

    /// The present edge of the relationship with this GUID.
    fn edge(&self, guid: &str) -> Result<Option<EdgeId>, OmrsError> {
        if let Some(edge) = self.edges.borrow().get(guid) {
            return Ok(edge.clone());
        }
        let mut found = None;
        for id in self.listed_edges(guid)? {
            if self.inner.with_edge(&id, &mut |_| {})? {
                found = Some(id);
                break;
            }
        }
        let mut edges = self.edges.borrow_mut();
        edges.insert(guid.to_owned(), found.clone());
        Ok(found)
    }

    /// The committed candidates for the present edge of the relationship with this GUID. Latches
    /// its name.
    fn listed_edges(&self, guid: &str) -> Result<Vec<EdgeId>, OmrsError> {
        if let Some(listed) = self.listed.borrow().get(guid) {
            return Ok(listed.clone());
        }
        self.inner.hold(&held_name(guid))?;
        let (index, first) = relationship_first(guid);
        let present = self.inner.present_derived(index, &first)?;
        let found: Vec<EdgeId> = edges_of(present, guid).collect();
        let mut listed = self.listed.borrow_mut();
        listed.insert(guid.to_owned(), found.clone());
        Ok(found)
    }

    /// Every committed edge that is, or was, the relationship with this GUID.
    fn ever_edges(&self, guid: &str) -> Result<Vec<EdgeId>, OmrsError> {
        let mut edges = self.listed_edges(guid)?;
        let (index, first) = relationship_first(guid);
        edges.extend(edges_of(self.inner.past_derived(index, &first)?, guid));
        edges.sort_unstable();
        edges.dedup();
        Ok(edges)
    }

    /// The start of the present state of an element that this transaction has found.
    fn start(&self, id: &ElementId) -> Result<Option<Millis>, OmrsError> {
        if let Some(start) = self.starts.get(id) {
            return Ok(Some(*start));
        }
        let mut start = None;
        self.inner.visit_events(id, &mut |event: Event<'_>| {
            start = Some(Millis(event.period.from.millis()));
            Flow::Break(())
        })?;
        Ok(start)
    }

    fn encoder(&self) -> Encoder<'_> {
        Encoder {
            types: &self.state.types,
            keys: self.state.keys,
        }
    }

    /// The type that a header names, and its label.
    fn type_of(&self, header: &InstanceHeader) -> Result<(TypeIndex, u32), OmrsError> {
        let name = header.audit.type_name();
        let of = self.state.types.by_name(name);
        of.and_then(|of| Some((of, self.state.label(of)?)))
            .ok_or_else(|| {
                let words =
                    format!("an instance of type {name} was given, which the store does not know");
                OmrsError::new(Message::LogicError, &[&words])
            })
    }

    /// The label of an entity's vertex; 0 when there is none.
    fn label_at(&self, guid: &str) -> Result<u32, OmrsError> {
        let mut label = Ok(0);
        self.inner.with_vertex(&vertex_of(guid), &mut |content| {
            label = vertex_label(content).map(|label| label.0);
        })?;
        Ok(label.map_err(GraphError::from)?)
    }

    /// The newest state of an element whose version is lower than that given and whose status is
    /// not DELETED.
    fn earlier<T>(
        &self,
        id: &ElementId,
        below: i64,
        decode: impl Fn(&[u8]) -> Result<Option<T>, GraphError>,
    ) -> Result<Option<T>, OmrsError> {
        let state = &self.state;
        let look = |content: &[u8]| -> Result<Option<T>, GraphError> {
            let properties = match id {
                ElementId::Vertex(_) => varve_encoding::row::vertex_parts(content)?.1,
                ElementId::Edge(_) => varve_encoding::row::edge_parts(content)?.2,
            };
            let parts = Parts::of(properties, state.keys)?;
            let status = life_status(parts.header)?.status;
            if version(parts.header)? >= below || status == Some(InstanceStatus::Deleted) {
                return Ok(None);
            }
            decode(content)
        };
        let mut found = Ok(None);
        self.inner.visit_events(id, &mut |event: Event<'_>| {
            found = event.content.map_or(Ok(None), &look);
            match found {
                Ok(None) => Flow::Continue(()),
                _ => Flow::Break(()),
            }
        })?;
        Ok(found?)
    }
}

fn too_long(what: &str, most: usize) -> OmrsError {
    let fault = format!("its {what} must have 1 to {most} bytes");
    OmrsError::new(Message::InstanceTooLarge, &[&fault])
}

fn instant(time: Option<Millis>) -> Option<Instant> {
    time.map(|time| Instant::from_millis(time.0))
}

impl GraphTransaction<'_, '_> {
    /// The entity with this GUID.
    ///
    /// # Errors
    /// `RepositoryErrorException` when the store fails, as with every method here.
    pub fn entity(&self, guid: &str) -> Result<Option<StoredEntity>, OmrsError> {
        let mut found = None;
        self.inner.with_vertex(&vertex_of(guid), &mut |content| {
            found = Some(self.state.entity(guid, content));
        })?;
        Ok(found.transpose()?.map(|(entity, _)| entity))
    }

    /// The proxy of the entity with this GUID, rendered, for the end of a relationship.
    ///
    /// # Errors
    /// As above.
    pub fn rendered_proxy(&self, guid: &str) -> Result<Option<Shared<EntityProxy>>, OmrsError> {
        let mut found = None;
        self.inner.with_vertex(&vertex_of(guid), &mut |content| {
            found = Some(self.state.rendered_proxy(guid, content));
        })?;
        Ok(found.transpose()?)
    }

    /// The relationship with this GUID.
    ///
    /// # Errors
    /// As above.
    pub fn relationship(&self, guid: &str) -> Result<Option<StoredRelationship>, OmrsError> {
        let Some(id) = self.edge(guid)? else {
            return Ok(None);
        };
        let mut found = None;
        self.inner.with_edge(&id, &mut |content| {
            found = Some(self.state.relationship(&id, content));
        })?;
        Ok(found.transpose()?.map(|(relationship, _)| relationship))
    }

    /// The header of the entity with this GUID, for callers that destroy the entity. Properties,
    /// classifications and mapping properties may be missing.
    ///
    /// # Errors
    /// As above.
    pub fn entity_head(&self, guid: &str) -> Result<Option<StoredEntity>, OmrsError> {
        let mut found = None;
        self.inner.with_vertex(&vertex_of(guid), &mut |content| {
            found = Some(self.state.entity_head(guid, content));
        })?;
        Ok(found.transpose()?)
    }

    /// The same for the relationship with this GUID.
    ///
    /// # Errors
    /// As above.
    pub fn relationship_head(&self, guid: &str) -> Result<Option<StoredRelationship>, OmrsError> {
        let Some(id) = self.edge(guid)? else {
            return Ok(None);
        };
        let mut found = None;
        self.inner.with_edge(&id, &mut |content| {
            found = Some(self.state.relationship_head(&id, content));
        })?;
        Ok(found.transpose()?)
    }

    /// Visits the relationships with this entity at either end, in a stable order. A relationship
    /// with the entity at both ends is visited once.
    ///
    /// # Errors
    /// As above, and what `visit` returns.
    pub fn relationships_of(
        &self,
        entity: &str,
        visit: &mut dyn FnMut(StoredRelationship) -> Result<ControlFlow<()>, OmrsError>,
    ) -> Result<(), OmrsError> {
        self.inner.edges_of(&vertex_of(entity), &mut |id, content| {
            visit(self.state.relationship(id, content)?.0)
        })
    }

    /// The time that is now for the whole transaction. In the store's finer time it is later than
    /// the start of the latest state of every instance that the transaction reads; in milliseconds
    /// the two may be equal.
    pub fn now(&self) -> Millis {
        Millis(self.inner.now().millis())
    }

    /// The newest state of an entity with a version below `version` in which it was not deleted.
    ///
    /// # Errors
    /// As [`Self::entity`].
    pub fn earlier_entity(
        &self,
        guid: &str,
        below: i64,
    ) -> Result<Option<EntityDetail>, OmrsError> {
        let vertex = vertex_of(guid);
        self.inner.with_vertex(&vertex, &mut |_| {})?;
        self.earlier(&ElementId::Vertex(vertex), below, |content| {
            Ok(match self.state.entity(guid, content)?.0 {
                StoredEntity::Detail(entity) => Some(entity),
                StoredEntity::Proxy(_) => None,
            })
        })
    }

    /// The newest state of a relationship with a version below `version` in which it was not
    /// deleted.
    ///
    /// # Errors
    /// As [`Self::entity`].
    pub fn earlier_relationship(
        &self,
        guid: &str,
        below: i64,
    ) -> Result<Option<StoredRelationship>, OmrsError> {
        let Some(id) = self.edge(guid)? else {
            return Ok(None);
        };
        let earlier = |id: &EdgeId| {
            let decode = |content: &[u8]| Ok(Some(self.state.relationship(id, content)?.0));
            self.earlier(&ElementId::Edge(id.clone()), below, decode)
        };
        let version = |of: &StoredRelationship| of.header.audit.version;
        // The states between other ends are older than those between the present ends.
        let mut best = earlier(&id)?;
        if best.as_ref().is_some_and(|best| version(best) == below - 1) {
            return Ok(best);
        }
        for other in self.ever_edges(guid)? {
            if other == id {
                continue;
            }
            if let Some(found) = earlier(&other)?
                && best
                    .as_ref()
                    .is_none_or(|best| version(best) < version(&found))
            {
                best = Some(found);
            }
        }
        Ok(best)
    }

    /// The start of an entity's present state; `None` = the entity is not known.
    ///
    /// # Errors
    /// As [`Self::entity`].
    pub fn entity_start(&self, guid: &str) -> Result<Option<Millis>, OmrsError> {
        let vertex = vertex_of(guid);
        if !self.inner.with_vertex(&vertex, &mut |_| {})? {
            return Ok(None);
        }
        self.start(&ElementId::Vertex(vertex))
    }

    /// The start of a relationship's present state; `None` = the relationship is not known.
    ///
    /// # Errors
    /// As [`Self::entity`].
    pub fn relationship_start(&self, guid: &str) -> Result<Option<Millis>, OmrsError> {
        let edge = self.edge(guid)?;
        edge.map_or(Ok(None), |edge| self.start(&ElementId::Edge(edge)))
    }

    /// Visits the headers of the relationships of an entity, as [`Self::relationship_head`], for
    /// callers that need few of them in full.
    ///
    /// # Errors
    /// As [`Self::relationships_of`].
    pub fn relationship_heads_of(
        &self,
        entity: &str,
        visit: VisitHead<'_>,
    ) -> Result<(), OmrsError> {
        self.inner.edges_of(&vertex_of(entity), &mut |id, content| {
            let head = self.state.relationship_head(id, content)?;
            visit(&head, &|| Ok(self.state.relationship(id, content)?.0))
        })
    }

    /// Writes a new state of an entity, valid from `since` (not after now), or from now.
    ///
    /// # Errors
    /// When it is too large, or the store fails.
    pub fn put_entity(
        &mut self,
        entity: StoredEntity,
        since: Option<Millis>,
    ) -> Result<(), OmrsError> {
        let guid = entity.header().guid();
        if guid.is_empty() || guid.len() > VERTEX_ID_BYTES_MAX {
            return Err(too_long("GUID", VERTEX_ID_BYTES_MAX));
        }
        let (of, label) = self.type_of(entity.header())?;
        let of = self.state.types.get(of);
        let from = since.unwrap_or_else(|| self.now());
        let content = self.encoder().entity(from, label, of, &entity)?;
        let id = ElementId::Vertex(vertex_of(guid));
        self.inner.put(&id, content, instant(since))?;
        self.starts.insert(id, from);
        Ok(())
    }

    /// Writes a new state of a relationship. Its ends may differ from the previous ones.
    ///
    /// # Errors
    /// As [`Self::put_entity`].
    pub fn put_relationship(
        &mut self,
        relationship: StoredRelationship,
        since: Option<Millis>,
    ) -> Result<(), OmrsError> {
        let guid = relationship.header.guid().to_owned();
        let [one, two] = &relationship.ends;
        let bytes = guid.len() + one.len() + two.len();
        // The other parts of an edge's id take less than 64 bytes.
        let most = EDGE_ID_BYTES_MAX - 64;
        let is_end = |guid: &String| (1..=VERTEX_ID_BYTES_MAX).contains(&guid.len());
        if guid.is_empty() || bytes > most || !is_end(one) || !is_end(two) {
            return Err(too_long("GUID, with those of its ends,", most));
        }
        let (of, label) = self.type_of(&relationship.header)?;
        let before = self.edge(&guid)?;
        let ends = [self.label_at(one)?, self.label_at(two)?];
        let id = EdgeId {
            source: vertex_of(one),
            parent: EdgeLabelId(label),
            label: EdgeLabelId(label),
            sort_values: CompactString::new(&guid),
            target: vertex_of(two),
        };
        let of = self.state.types.get(of);
        let from = since.unwrap_or_else(|| self.now());
        let content = self.encoder().relationship(from, ends, of, &relationship)?;
        let since = instant(since);
        if let Some(before) = before.filter(|before| *before != id) {
            self.inner.delete(&ElementId::Edge(before), since)?;
        }
        let element = ElementId::Edge(id.clone());
        self.inner.put(&element, content, since)?;
        self.starts.insert(element, from);
        self.edges.borrow_mut().insert(guid, Some(id));
        Ok(())
    }

    /// Destroys an entity with its history, and every relationship that it has or had, with its
    /// history. If a relationship has other ends now, only its states with this entity at an end
    /// are destroyed.
    ///
    /// # Errors
    /// When the store fails.
    pub fn purge_entity(&mut self, guid: &str) -> Result<(), OmrsError> {
        let vertex = vertex_of(guid);
        for edge in self.inner.ever_incident(&vertex)? {
            let relationship = edge.sort_values.to_string();
            let now = self.edge(&relationship)?;
            // If the relationship's present ends are other entities, it survives, but loses its
            // states at this entity.
            if now.is_none_or(|now| now.source == vertex || now.target == vertex) {
                self.purge_relationship(&relationship)?;
            }
        }
        Ok(self.inner.purge(&ElementId::Vertex(vertex))?)
    }

    /// Destroys a relationship with its history.
    ///
    /// # Errors
    /// When the store fails.
    pub fn purge_relationship(&mut self, guid: &str) -> Result<(), OmrsError> {
        let now = self.edge(guid)?;
        let mut edges = self.ever_edges(guid)?;
        edges.extend(now);
        edges.sort_unstable();
        edges.dedup();
        for edge in edges {
            self.inner.purge(&ElementId::Edge(edge))?;
        }
        self.edges.borrow_mut().insert(guid.to_owned(), None);
        Ok(())
    }
}
