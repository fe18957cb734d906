//! Deletions: which edges are deleted with a vertex.

use std::borrow::Cow;

use varve_encoding::key;
use varve_encoding::tables::EDGE;
use varve_kv::{ClusteringRange, ReaderExt};
use varve_model::{EdgeId, ElementId, VertexId};

use super::{Outcome, Working, WorkingSet};
use crate::commit::{LatchKey, LatchSet};
use crate::element::not_there;
use crate::error::GraphError;
use crate::write::incident::{Reach, Room, incident_edges, some_edges};
use crate::write::keys::edge_latch;
use crate::write::{Missing, Mutation, WritePeriod};

/// The fewest edges that are deleted as a range; fewer tombstones do not slow later reads.
const SWEPT_MIN: usize = 3;

impl<'a> WorkingSet<'a> {
    pub(super) fn delete(
        &mut self,
        id: &'a ElementId,
        keys: u32,
        missing: Missing,
    ) -> Result<usize, GraphError> {
        let at = self.place(Cow::Borrowed(id), keys, false)?;
        self.check_there(at, missing)?;
        if self.access().is_some() && !self.shows_a_state(at)? {
            // Treat the element as absent, so its edges stay, too.
            if let ElementId::Vertex(vertex) = id {
                self.swept.retain(|(swept, _)| swept != vertex);
            }
            return Ok(at);
        }
        self.elements[at].outcome = Outcome::Delete;
        if let ElementId::Vertex(vertex) = id {
            self.delete_incident(vertex)?;
        }
        Ok(at)
    }

    /// Whether the element at `at` has a state in the period that the writer may read.
    fn shows_a_state(&self, at: usize) -> Result<bool, GraphError> {
        let Working {
            id,
            outcome,
            period,
            ..
        } = &self.elements[at];
        match outcome {
            Outcome::Untouched => {
                let parts = self.shown_parts(id, self.span(*period))?;
                Ok(parts.iter().any(|part| part.content.is_some()))
            }
            _ => Ok(self.state(at)?.is_some()),
        }
    }

    /// Refuses to delete an element that does not exist, if `missing` says so.
    fn check_there(&self, at: usize, missing: Missing) -> Result<(), GraphError> {
        match missing == Missing::Refuse && self.state(at)?.is_none() {
            true => Err(not_there(&self.elements[at].id)),
            false => Ok(()),
        }
    }

    /// Deletes the claimed edges of `vertex`, but not the vertex.
    pub(super) fn delete_edges(
        &mut self,
        vertex: &VertexId,
        keys: u32,
        missing: Missing,
    ) -> Result<usize, GraphError> {
        let id = ElementId::Vertex(vertex.clone());
        let at = self.place(Cow::Owned(id), keys, false)?;
        self.check_there(at, missing)?;
        self.delete_incident(vertex)?;
        Ok(at)
    }

    fn delete_incident(&mut self, vertex: &VertexId) -> Result<(), GraphError> {
        let edges = self.incident(vertex);
        let numbers: Vec<u32> = edges.iter().map(|edge| self.keys.add_edge(edge)).collect();
        if !self.graph.has_states() {
            self.read_edges_ahead(&numbers)?;
        }
        for (edge, keys) in edges.into_iter().zip(numbers) {
            let at = self.place(Cow::Owned(ElementId::Edge(edge)), keys, false)?;
            self.elements[at].outcome = Outcome::Delete;
        }
        Ok(())
    }

    /// Reads the rows of edges in one call, since each call is a round trip on a cluster.
    fn read_edges_ahead(&mut self, numbers: &[u32]) -> Result<(), GraphError> {
        let Some(last) = numbers.last() else {
            return Ok(());
        };
        let rows = numbers.iter().map(|number| {
            let (_, partition, clustering) = self.keys.of(*number).first();
            (partition, clustering)
        });
        let rows: Vec<(&[u8], &[u8])> = rows.collect();
        let found = self.reader.multi_get(EDGE, &rows)?;
        self.ahead.resize(*last as usize + 1, None);
        for (number, row) in numbers.iter().zip(found) {
            self.ahead[*number as usize] = Some(row);
        }
        Ok(())
    }

    /// Finds the stored edges that are deleted with vertices, and latches each, since another
    /// commit may be deleting it with its other end. If a latch is taken, returns the latches that
    /// the next attempt must acquire first.
    pub(super) fn claim_edges(
        &mut self,
        mutations: &[Mutation],
        latches: &mut LatchSet,
    ) -> Result<Option<Vec<LatchKey>>, GraphError> {
        let reach = |period: WritePeriod| match period.from {
            Some(from) if from < self.now => Reach::Ever,
            _ => Reach::NowOrLater,
        };
        // If the request only deletes, each edge that is found loses its row: the vertex is
        // latched, so no edge is added, and this request puts none. (A commit that deletes the
        // vertex at the other end of an edge may write in this range meanwhile, but it only
        // deletes.)
        let only_deletes = self.request.is_plain()
            && mutations.iter().all(|mutation| {
                matches!(
                    mutation,
                    Mutation::Delete { .. } | Mutation::DeleteEdges { .. }
                )
            });
        for (at, mutation) in mutations.iter().enumerate() {
            let (vertex, edges, range) = match mutation {
                Mutation::Delete {
                    id: ElementId::Vertex(vertex),
                    ..
                } => {
                    let edges = incident_edges(
                        self.reader,
                        vertex,
                        reach(self.request.period_of(at)),
                        &mut self.room,
                    )?;
                    let all = ClusteringRange {
                        from: key::EDGES_FROM.to_vec(),
                        to: None,
                    };
                    (vertex, edges, all)
                }
                Mutation::DeleteEdges { vertex, from, .. } => {
                    let room = Room::of_step(self.graph.limits());
                    let (edges, rest) = some_edges(self.reader, vertex, from, room)?;
                    self.rest.clone_from(&rest);
                    let range = ClusteringRange {
                        from: from.clone(),
                        to: rest,
                    };
                    (vertex, edges, range)
                }
                _ => continue,
            };
            let keys: Vec<LatchKey> = edges.iter().map(edge_latch).collect();
            if !latches.try_add_all(keys.clone()) {
                return Ok(Some(keys));
            }
            if only_deletes && edges.len() >= SWEPT_MIN {
                self.swept.push((vertex.clone(), range));
            }
            self.incident.insert(vertex.clone(), edges);
        }
        Ok(None)
    }

    /// Returns all edges that are deleted with `vertex`: the stored edges and those of earlier
    /// mutations of this request.
    fn incident(&mut self, vertex: &VertexId) -> Vec<EdgeId> {
        let mut found = self.incident.remove(vertex).unwrap_or_default();
        let touches = |id: &EdgeId| id.source == *vertex || id.target == *vertex;
        found.extend(
            self.elements
                .iter()
                .filter_map(|working| match &*working.id {
                    ElementId::Edge(id) if touches(id) => Some(id.clone()),
                    _ => None,
                }),
        );
        found
    }
}
