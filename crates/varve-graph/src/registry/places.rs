//! Where the graphs of a shared engine are served: each has one leader, the server that has its
//! space open.
//!
//! A graph is open here, or another server leads it, or no server does; then the first server that
//! looks for it takes it. A graph that is open here is released when the engine reports that
//! another server has taken it, since all cached state of it is then stale. Every decision is based
//! on a new read from the engine. The state here is only a hint where to ask first.

use std::sync::Arc;

use varve_kv::{Leader, Leadership, SpaceId};

use super::making::{is_in_use, is_unavailable};
use super::unopened::is_for_good;
use super::{Generations, Open, Registry, SYSTEM_GRAPH, not_found};
use crate::error::{ErrorKind, GraphError};
use crate::graph::Graph;

/// Which server serves a graph.
#[derive(Clone)]
pub enum GraphLocation {
    /// This server; no other server changes the graph.
    Here(Arc<Graph>),
    /// This server, but at the moment it cannot know whether another server has taken the lease.
    Suspended,
    /// Another server.
    There(Leader),
    /// No server is known to lead the graph. [`Registry::look`] takes it if none does.
    Nobody,
    /// There is no such graph.
    Unknown,
}

/// A change of a graph's leader, or of its stored spaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// This server has taken the graph.
    Leads {
        /// The number of times that the graph has been opened.
        term: u64,
    },
    /// Another server has taken the graph from this one, or it must be opened again.
    Lost,
    /// An old space could repeatedly not be removed; the removal is tried again.
    NotRemoved {
        /// The space, the number of attempts, and the error.
        detail: String,
    },
}

impl std::fmt::Debug for GraphLocation {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Here(graph) => write!(formatter, "Here({})", graph.name()),
            Self::Suspended => formatter.write_str("Suspended"),
            Self::There(leader) => write!(formatter, "There({leader:?})"),
            Self::Nobody => formatter.write_str("Nobody"),
            Self::Unknown => formatter.write_str("Unknown"),
        }
    }
}

impl Registry {
    /// Whether several servers share the engine.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.engine.capabilities().shared
    }

    /// Registers `observer` for every [`Change`]; only the first call has an effect.
    pub fn observe(&self, observer: impl Fn(&str, Change) + Send + Sync + 'static) {
        // A second observer is ignored.
        let _ = self.observer.set(Box::new(observer));
    }

    pub(super) fn changed(&self, name: &str, change: Change) {
        if let Some(observer) = self.observer.get() {
            observer(name, change);
        }
    }

    /// Returns where a graph is served, as far as this server knows.
    #[must_use]
    pub fn place(&self, name: &str) -> GraphLocation {
        if name == SYSTEM_GRAPH {
            return self.system_place();
        }
        if let Some(open) = self.graphs.read().get(name) {
            return match open.graph.space().lease().leadership {
                Leadership::Held => GraphLocation::Here(Arc::clone(&open.graph)),
                Leadership::Suspended => GraphLocation::Suspended,
                Leadership::Lost => GraphLocation::Nobody,
            };
        }
        match self.followed.read().get(name) {
            Some(Some(leader)) => GraphLocation::There(leader.clone()),
            Some(None) => GraphLocation::Nobody,
            None => GraphLocation::Unknown,
        }
    }

    /// Reads from the engine where a graph is served, and takes it if no server leads it. Blocks.
    ///
    /// # Errors
    /// When the engine cannot be read, or the graph cannot be opened. A graph that could not be
    /// opened before is not tried again here, only by [`Registry::tend`].
    pub fn look(&self, name: &str) -> Result<GraphLocation, GraphError> {
        if name == SYSTEM_GRAPH {
            return self.look_at_system(false);
        }
        if let place @ (GraphLocation::Here(_) | GraphLocation::Suspended) = self.place(name) {
            return Ok(place);
        }
        let generations = self.generations()?;
        let known = generations.get(name).map_or(&[][..], Vec::as_slice);
        let place = match self.led_by(name, known) {
            Err(error) => Some(self.leader_unknown(name, known, error, false)?),
            Ok(place) => place,
        };
        // If a server has it open, perhaps this one, waiting helps, whatever the result of earlier
        // attempts.
        if place.is_none()
            && let Some(error) = self.cannot_be_opened(name)
        {
            return Err(error);
        }
        place.map_or_else(|| self.lead(name), Ok)
    }

    /// Checks all graphs: adds those that other servers have created, removes those that they have
    /// dropped or taken over, and takes those without a leader. Each error is reported with the
    /// graph's name.
    pub fn tend(&self, report: &dyn Fn(&str, &GraphError)) {
        let stored = match self.generations() {
            Ok(stored) => stored,
            Err(error) => return report("", &error),
        };
        for name in self.open_names() {
            self.let_go_if_lost(&name);
        }
        self.follow_only(&stored);
        for (name, generations) in &stored {
            let held = self.graphs.read().get(name).map(|open| open.generation);
            if let Some(held) = held {
                let oldest = generations.first().map(|(oldest, _)| *oldest);
                if oldest.is_some_and(|oldest| oldest < held)
                    && let Err(error) = self.clear_below(name)
                {
                    report(name, &error);
                }
                continue;
            }
            if let Err(error) = self.look_again(name, generations) {
                report(name, &error);
            }
        }
        self.replicas.keep_only(|name| self.has(name));
        if let Err(error) = self.tend_system() {
            report(SYSTEM_GRAPH, &error);
        }
        if let Some(mut doomed) = self.doomed.try_lock() {
            self.reap(&mut doomed);
        }
    }

    /// The first check of all graphs. A graph that another server leads or has just released is no
    /// error. Nor is a graph that cannot be opened; the first [`Registry::tend`] reports it.
    pub(super) fn look_at_all(&self) -> Result<(), GraphError> {
        for (name, generations) in self.generations()? {
            match self.look_again(&name, &generations) {
                Err(_) if self.why_unopened(&name).is_some() => {}
                looked => looked?,
            }
        }
        Ok(())
    }

    /// Reads who leads a graph, and takes it if no server does, unless it could not be opened a
    /// short time ago.
    pub(super) fn look_again(
        &self,
        name: &str,
        generations: &[(u32, SpaceId)],
    ) -> Result<(), GraphError> {
        let place = match self.led_by(name, generations) {
            Err(error) if is_for_good(&error) && self.unopened.rests(name) => return Ok(()),
            Err(error) => Some(self.leader_unknown(name, generations, error, true)?),
            Ok(place) => place,
        };
        match place {
            None if !self.unopened.rests(name) => self.lead(name).map(drop),
            Some(GraphLocation::There(leader)) => {
                self.unopened.is_led(name, leader.term);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn follow_only(&self, stored: &Generations) {
        let mut followed = self.followed.write();
        followed.retain(|name, _| stored.contains_key(name));
        drop(followed);
        self.unopened.keep_only(|name| stored.contains_key(name));
    }

    /// Reads who leads a graph with these spaces. Returns `None` if it may be taken.
    fn led_by(
        &self,
        name: &str,
        generations: &[(u32, SpaceId)],
    ) -> Result<Option<GraphLocation>, GraphError> {
        self.let_go_if_lost(name);
        if generations.is_empty() {
            self.followed.write().remove(name);
            self.unopened.forget(name);
            return Ok(Some(GraphLocation::Unknown));
        }
        // An older space of a graph that another server leads must not be taken: the leader removes
        // it.
        for (_, space) in generations {
            match self.engine.leader(&space.name)? {
                Some(leader) if leader.is_self || leader.address.is_empty() => {
                    // This server is opening the space, or a previous process at the same address
                    // had it and its lease has not expired yet.
                    return Ok(Some(self.followed_by(name, None)));
                }
                Some(leader) => return Ok(Some(self.followed_by(name, Some(leader)))),
                None => {}
            }
        }
        Ok(None)
    }

    /// Handles an error of reading a graph's leader: the graph cannot be opened, unless the error
    /// is temporary. The error is recorded if `anew` is true or none is known.
    fn leader_unknown(
        &self,
        name: &str,
        generations: &[(u32, SpaceId)],
        error: GraphError,
        anew: bool,
    ) -> Result<GraphLocation, GraphError> {
        if is_for_good(&error) {
            let stored = self.generations()?;
            let place = self.followed_by(name, None);
            // A space that was removed since the listing is no error.
            if stored.get(name).map(Vec::as_slice) != Some(generations) {
                return Ok(place);
            }
            return Err(match self.cannot_be_opened(name) {
                Some(known) if !anew => known,
                _ => self.note_unopened(name, error),
            });
        }
        match error.kind == ErrorKind::Elsewhere || is_in_use(&error) {
            true => Ok(self.followed_by(name, None)),
            // The cluster is unavailable; what is known about other servers stays.
            false => Err(error),
        }
    }

    /// Records the leader of a graph that is not open here.
    fn followed_by(&self, name: &str, leader: Option<Leader>) -> GraphLocation {
        let mut followed = self.followed.write();
        if self.graphs.read().contains_key(name) {
            // The graph was opened here meanwhile.
            drop(followed);
            return self.place(name);
        }
        followed.insert(name.to_owned(), leader.clone());
        leader.map_or(GraphLocation::Nobody, GraphLocation::There)
    }

    /// Opens a graph that no server leads.
    fn lead(&self, name: &str) -> Result<GraphLocation, GraphError> {
        // The lock is held while a graph is opened, created or dropped, which may take long; then
        // the caller tries again later. A server that is stopping takes no graph.
        let doomed = self.doomed.try_lock();
        let Some(mut doomed) = doomed.filter(|_| !self.is_closed()) else {
            return Ok(self.followed_by(name, None));
        };
        if self.graphs.read().contains_key(name) {
            return Ok(self.place(name));
        }
        let generations = self.generations()?.remove(name).unwrap_or_default();
        let opened = self.open_oldest(name, &generations, &mut doomed);
        let place = match opened {
            Ok(Some(open)) => {
                let term = open.graph.space().lease().term;
                let mut followed = self.followed.write();
                self.graphs.write().insert(name.to_owned(), open);
                followed.remove(name);
                drop(followed);
                self.unopened.forget(name);
                self.changed(name, Change::Leads { term });
                self.place(name)
            }
            Ok(None) => {
                self.followed.write().remove(name);
                GraphLocation::Unknown
            }
            // Another server was faster, or the lost space is still in use.
            Err(error) if error.kind == ErrorKind::Elsewhere || is_in_use(&error) => {
                self.followed_by(name, None)
            }
            Err(error) => {
                let place = self.followed_by(name, None);
                // A space that was removed since the listing is no error.
                if !is_unavailable(&error) || self.generations()?.get(name) == Some(&generations) {
                    return Err(self.note_unopened(name, error));
                }
                place
            }
        };
        self.reap(&mut doomed);
        Ok(place)
    }

    /// Releases a graph that another server has taken.
    fn let_go_if_lost(&self, name: &str) {
        let is_lost = |open: &Open| open.graph.space().lease().leadership == Leadership::Lost;
        if !self.graphs.read().get(name).is_some_and(is_lost) {
            return;
        }
        let mut followed = self.followed.write();
        let mut graphs = self.graphs.write();
        let Some(open) = graphs.get(name).filter(|open| is_lost(open)).cloned() else {
            return;
        };
        graphs.remove(name);
        followed.insert(name.to_owned(), None);
        drop((followed, graphs));
        self.empty_caches();
        self.changed(name, Change::Lost);
        open.graph.tasks().stop();
    }

    /// Creates a graph if there is none with that name on any server.
    ///
    /// # Errors
    /// As [`Registry::create`], except [`ErrorKind::Existed`].
    pub fn ensure(&self, name: &str) -> Result<(), GraphError> {
        if !matches!(self.place(name), GraphLocation::Unknown) {
            return Ok(());
        }
        match self.create(name) {
            Err(error) if error.kind == ErrorKind::Existed => Ok(()),
            made => made.map(drop),
        }
    }

    /// Returns the error for a graph that is not open here.
    pub(super) fn not_open(&self, name: &str) -> GraphError {
        let leader = match self.followed.read().get(name) {
            None => return not_found(name),
            Some(leader) => leader.clone(),
        };
        let message = match leader {
            Some(leader) => format!("Graph '{name}' is led by the server at {}", leader.address),
            None => match self.cannot_be_opened(name) {
                Some(error) => return error,
                None => format!("Graph '{name}' is led by no server for the moment"),
            },
        };
        GraphError::new(ErrorKind::Elsewhere, message)
    }
}
