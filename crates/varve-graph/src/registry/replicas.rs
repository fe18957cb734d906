//! Graphs that other servers lead, followed for reading; also those that this server leads, since
//! a replica shows one committed state on an engine without snapshots.
//!
//! A replica is a graph as of one position of its leader: it never changes, so it needs no
//! invalidation. Reads of a later state take a new replica, which shares with the one before what
//! has not changed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use varve_model::CommitVersion;

use super::{Registry, ServedGraph};
use crate::commit::{AskLeader, Position};
use crate::error::GraphError;
use crate::graph::Graph;

/// A graph as of one position of its leader.
pub struct Replica {
    served: Arc<ServedGraph>,
    /// The leader's position.
    pub position: Position,
    /// When the leader was asked: the replica shows every write that was acknowledged before.
    pub asked: Instant,
}

impl Replica {
    /// The graph for one request: [`Graph::standing`] tells whether its answer may be used.
    #[must_use]
    pub fn for_request(&self) -> Arc<ServedGraph> {
        let schema = Arc::clone(&self.served.schema);
        match self.served.graph.for_request() {
            Some(graph) => Arc::new(ServedGraph { graph, schema }),
            None => Arc::clone(&self.served),
        }
    }
}

/// The newest replica of each graph that is followed, by the graph's name.
#[derive(Default)]
pub(super) struct Replicas(Mutex<BTreeMap<String, Arc<Replica>>>);

impl Replicas {
    /// Removes the replicas of the graphs for which `are_followed` returns false.
    pub(super) fn keep_only(&self, are_followed: impl Fn(&str) -> bool) {
        self.0.lock().retain(|name, _| are_followed(name));
    }

    fn of(&self, name: &str) -> Option<Arc<Replica>> {
        self.0.lock().get(name).cloned()
    }
}

impl Registry {
    /// The newest replica of a graph, if its leader was asked after `since` and it has every commit
    /// up to `version`.
    #[must_use]
    pub fn replica(
        &self,
        name: &str,
        since: Option<Instant>,
        version: CommitVersion,
    ) -> Option<Arc<Replica>> {
        let replica = self.replicas.of(name)?;
        let is_new = since.is_none_or(|since| replica.asked >= since);
        (is_new && replica.position.version >= version).then_some(replica)
    }

    /// Follows a graph at `position`, which its leader gave when it was asked at `asked`. Returns
    /// the newest replica, which may be a later one. Blocks.
    ///
    /// # Errors
    /// When the store fails or is damaged, or the space is gone.
    pub fn follow(
        &self,
        name: &str,
        (position, asked): (Position, Instant),
        leader: &Arc<dyn AskLeader>,
    ) -> Result<Arc<Replica>, GraphError> {
        let before = self.replicas.of(name);
        let is_of_leader = |before: &&Arc<Replica>| {
            let of = |position: &Position| (position.space.clone(), position.term);
            of(&before.position) == of(&position)
        };
        let before = before.as_ref().filter(is_of_leader);
        let served = match before.filter(|before| before.position == position) {
            Some(same) => Arc::clone(&same.served),
            None => {
                let tables = &varve_encoding::tables::TABLES;
                let space = self.engine.follow(&position.space, tables)?;
                let at = (position.clone(), Arc::clone(leader));
                let of = before.map(|before| &*before.served.graph);
                let graph = Graph::follow(name, space, &self.options, at, of)?;
                let schema = graph.schema();
                Arc::new(ServedGraph { graph, schema })
            }
        };
        let replica = Arc::new(Replica {
            served,
            position,
            asked,
        });
        let mut replicas = self.replicas.0.lock();
        match replicas.get(name) {
            Some(later) if later.asked > asked => Ok(Arc::clone(later)),
            _ => {
                replicas.insert(name.to_owned(), Arc::clone(&replica));
                Ok(replica)
            }
        }
    }

    /// The position of a graph that this server leads.
    ///
    /// # Errors
    /// As [`Registry::get`] and [`Graph::position`].
    pub fn position(&self, name: &str) -> Result<Position, GraphError> {
        let open = self.open_of(name)?;
        open.graph.position(open.space())
    }
}

#[cfg(test)]
mod tests;
