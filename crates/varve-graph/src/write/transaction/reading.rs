//! The reads of a transaction: the committed state with the transaction's own changes over it.

use std::sync::Arc;

use varve_encoding::key;
use varve_encoding::row::{Header, RowKind};
use varve_encoding::tables::{EDGE, EVENT_INDEX, INDEX, VERTEX};
use varve_kv::{ClusteringRange, Flow, ScanRequest};
use varve_model::{Direction, EdgeId, ElementId, VertexId};

use super::super::incident::{Room, incident_ever};
use super::super::keys::edge_latch;
use super::{EdgeVisit, Outcome, Retry, Transaction};
use crate::error::GraphError;
use crate::read::{Event, derived_elements, resolve, visit_events, visit_events_of};
use crate::rows::{Current, sides};

impl Transaction<'_> {
    /// Calls `found` with the content of a vertex, if the vertex exists at the transaction's now.
    /// Returns whether it does. Takes a shared latch on the vertex.
    ///
    /// # Errors
    /// As [`Transaction::hold`], or when the store fails or is damaged.
    pub fn with_vertex(
        &self,
        id: &VertexId,
        found: &mut dyn FnMut(&[u8]),
    ) -> Result<bool, GraphError> {
        self.latch_vertex(id, false)?;
        self.element(&ElementId::Vertex(id.clone()), found)
    }

    /// As [`Transaction::with_vertex`], for an edge. Latches the edge, but not its ends.
    ///
    /// # Errors
    /// As [`Transaction::with_vertex`].
    pub fn with_edge(&self, id: &EdgeId, found: &mut dyn FnMut(&[u8])) -> Result<bool, GraphError> {
        self.latch(edge_latch(id))?;
        self.element(&ElementId::Edge(id.clone()), found)
    }

    fn element(&self, id: &ElementId, found: &mut dyn FnMut(&[u8])) -> Result<bool, GraphError> {
        if let Some(at) = self.places.get(id) {
            return Ok(match &self.changed[*at].outcome {
                Outcome::Put { content, .. } => {
                    found(content);
                    true
                }
                Outcome::Delete { .. } | Outcome::Gone => false,
            });
        }
        let Some(row) = self.row(id)? else {
            return Ok(false);
        };
        let (partition, clustering) = key::current(id);
        self.visit_row(&partition, &clustering, &row, found)
    }

    /// Reads the current row of a latched element. No other commit can change the row before this
    /// transaction ends, so it is cached while there is room.
    fn row(&self, id: &ElementId) -> Result<Option<Arc<[u8]>>, GraphError> {
        if let Some(row) = self.rows.borrow().get(id) {
            return Ok(row.cloned());
        }
        let (partition, clustering) = key::current(id);
        let table = match id {
            ElementId::Vertex(_) => VERTEX,
            ElementId::Edge(_) => EDGE,
        };
        let mut row = None;
        self.reader()
            .get_with(table, &partition, &clustering, &mut |stored| {
                row = Some(Arc::from(stored));
            })?;
        let key_bytes = partition.len() + clustering.len();
        self.rows.borrow_mut().keep(id, key_bytes, row.as_ref());
        Ok(row)
    }

    /// As [`Transaction::row`], decoded.
    pub(super) fn current(&self, id: &ElementId) -> Result<Option<Current>, GraphError> {
        let row = self.row(id)?;
        row.as_deref().map(Current::decode).transpose()
    }

    /// Calls `found` with the content that the element has at the transaction's now, if any.
    /// Returns whether it has one. If the current row does not decide now, reads the events.
    fn visit_row(
        &self,
        partition: &[u8],
        clustering: &[u8],
        row: &[u8],
        found: &mut dyn FnMut(&[u8]),
    ) -> Result<bool, GraphError> {
        let (header, content) = Header::decode(row)?;
        if header.kind == RowKind::Put && header.until > self.now {
            self.check_start(&header)?;
            found(content);
            return Ok(true);
        }
        let newest = varve_model::CommitVersion::MAX;
        let resolved = resolve(
            self.reader(),
            partition,
            clustering,
            Some(row),
            self.now,
            newest,
        )?;
        if let Some(resolved) = &resolved {
            self.check_start(&resolved.header)?;
            found(&resolved.content);
        }
        Ok(resolved.is_some())
    }

    /// Checks that a state starts before the transaction's now. If not, the state was committed
    /// after the transaction began, and the work must run again with a later now.
    fn check_start(&self, header: &Header) -> Result<(), GraphError> {
        let from = header.period().from;
        if from < self.now {
            return Ok(());
        }
        Err(self.again(Retry::Later(from)))
    }

    /// Visits the edges of a vertex in both directions, each once, until `visit` breaks. Those that
    /// this transaction put come last. Takes the exclusive latch on the vertex.
    ///
    /// # Errors
    /// As [`Transaction::with_vertex`], and what `visit` returns.
    pub fn edges_of<E: From<GraphError>>(
        &self,
        vertex: &VertexId,
        visit: EdgeVisit<'_, E>,
    ) -> Result<(), E> {
        self.latch_vertex(vertex, true)?;
        let partition = key::vertex_id(vertex);
        let range = ClusteringRange::all();
        let request = ScanRequest {
            table: EDGE,
            partition: &partition,
            range: &range,
            reverse: false,
        };
        let mut ended = Ok(Flow::Continue(()));
        let scanned = self.reader().scan(request, &mut |clustering, row| {
            ended = self.adjacent(&partition, clustering, row, visit);
            match ended {
                Ok(flow) => flow,
                Err(_) => Flow::Break(()),
            }
        });
        scanned.map_err(GraphError::from)?;
        if ended?.is_break() {
            return Ok(());
        }
        for changed in &self.changed {
            let (ElementId::Edge(id), Outcome::Put { content, .. }) =
                (&changed.id, &changed.outcome)
            else {
                continue;
            };
            let touches = id.source == *vertex || id.target == *vertex;
            if touches && visit(id, content)?.is_break() {
                return Ok(());
            }
        }
        Ok(())
    }

    fn adjacent<E: From<GraphError>>(
        &self,
        partition: &[u8],
        clustering: &[u8],
        row: &[u8],
        visit: EdgeVisit<'_, E>,
    ) -> Result<Flow, E> {
        let (id, side) = key::decode_edge(partition, clustering).map_err(GraphError::from)?;
        // An edge from a vertex to itself is stored twice.
        let again = side == Direction::In && id.source == id.target;
        let id = ElementId::Edge(id);
        if again || self.places.contains_key(&id) {
            return Ok(Flow::Continue(()));
        }
        let ElementId::Edge(edge) = &id else {
            return Ok(Flow::Continue(()));
        };
        let key_bytes = partition.len() + clustering.len();
        self.rows.borrow_mut().keep_copy(&id, key_bytes, row);
        let mut visited = Ok(Flow::Continue(()));
        self.visit_row(partition, clustering, row, &mut |content| {
            visited = visit(edge, content);
        })?;
        visited
    }

    /// Visits the committed events of an element, newest first, until `visit` breaks. This
    /// transaction must have read or changed the element before, and so have latched it.
    ///
    /// # Errors
    /// When the store fails or is damaged.
    pub fn visit_events(
        &self,
        id: &ElementId,
        visit: &mut dyn FnMut(Event<'_>) -> Flow,
    ) -> Result<(), GraphError> {
        let known = self.rows.borrow().get(id).map(Option::<&_>::cloned);
        let Some(row) = known else {
            return visit_events(self.reader(), id, visit);
        };
        let (_, sides) = sides(id);
        visit_events_of(self.reader(), &sides[0], row.as_deref(), visit)
    }

    /// Returns every element that has a committed entry in this partition of a derived index, now
    /// or in the future of valid time. The result may include elements without such an entry. The
    /// elements are not latched.
    ///
    /// # Errors
    /// When the store fails or is damaged.
    pub fn present_derived(&self, index: u32, first: &[u8]) -> Result<Vec<ElementId>, GraphError> {
        derived_elements(self.reader(), &[INDEX], index, first)
    }

    /// As [`Transaction::present_derived`], for entries of the past.
    ///
    /// # Errors
    /// As [`Transaction::present_derived`].
    pub fn past_derived(&self, index: u32, first: &[u8]) -> Result<Vec<ElementId>, GraphError> {
        derived_elements(self.reader(), &[EVENT_INDEX], index, first)
    }

    /// Returns every edge that a vertex ever had, ascending, including those of this transaction.
    /// Takes the exclusive latch on the vertex.
    ///
    /// # Errors
    /// As [`Transaction::with_vertex`]; `ErrorKind::LimitExceeded` when there are more edges than
    /// one commit may delete.
    pub fn ever_incident(&self, vertex: &VertexId) -> Result<Vec<EdgeId>, GraphError> {
        self.latch_vertex(vertex, true)?;
        let known = self.incident.borrow().get(vertex).cloned();
        let mut edges = match known {
            Some(edges) => edges,
            None => {
                let mut room = Room::of(self.graph.limits());
                let mut own = self.own_events.borrow_mut();
                let mut rows = self.rows.borrow_mut();
                let edges = incident_ever(self.reader(), vertex, &mut room, &mut own, &mut rows)?;
                let mut incident = self.incident.borrow_mut();
                incident.insert(vertex.clone(), edges.clone());
                edges
            }
        };
        let own = self.changed.iter().filter_map(|changed| match &changed.id {
            ElementId::Edge(id) if id.source == *vertex || id.target == *vertex => Some(id.clone()),
            _ => None,
        });
        edges.extend(own);
        edges.sort_unstable();
        edges.dedup();
        Ok(edges)
    }
}
