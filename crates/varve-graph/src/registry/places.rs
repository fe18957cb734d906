//! Where the graphs of a shared engine are served: each has one leader, the server that has its
//! space open.
//!
//! A graph is open here, or another server leads it, or nobody does; then the first server that
//! looks takes it. What is open here is let go of when the engine says that it was lost to another
//! server: whatever is remembered of it is worth nothing then. All of it is asked of the engine
//! anew; what is kept here is only where to ask first.

use std::sync::Arc;

use varve_kv::{Leader, Leadership, SpaceId};

use super::making::{is_in_use, is_unavailable};
use super::unopened::is_for_good;
use super::{Generations, Open, Registry, SYSTEM_GRAPH, not_found};
use crate::error::{ErrorKind, GraphError};
use crate::graph::Graph;

/// Where a graph is served.
#[derive(Clone)]
pub enum GraphLocation {
    /// Here, and nobody else changes it.
    Here(Arc<Graph>),
    /// Here, but whether another server leads it by now is not known for the moment.
    Suspended,
    /// Another server leads it.
    There(Leader),
    /// Nobody is known to lead it. [`Registry::look`] takes it if so.
    Nobody,
    /// There is no such graph.
    Unknown,
}

/// What changed in who leads a graph, or in what is stored of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// This server has taken it.
    Leads {
        /// How often it has been opened.
        term: u64,
    },
    /// Another server has taken it from this one, or it has to be opened anew.
    Lost,
    /// A space that it had cannot be removed for long; that is tried again.
    NotRemoved {
        /// Which one, how often it was tried, and why it failed.
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
    /// Whether other servers have the same graphs open in turn.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.engine.capabilities().shared
    }

    /// Has `observer` notified of every [`Change`]; the first one stays.
    pub fn observe(&self, observer: impl Fn(&str, Change) + Send + Sync + 'static) {
        // A second one has nothing to say: the first is notified of all.
        let _ = self.observer.set(Box::new(observer));
    }

    pub(super) fn changed(&self, name: &str, change: Change) {
        if let Some(observer) = self.observer.get() {
            observer(name, change);
        }
    }

    /// Where that graph is served, as far as is known here.
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

    /// Asks where that graph is served, and takes it if nobody leads it. Blocks.
    ///
    /// # Errors
    /// When it cannot be asked or opened. What could not be opened is not tried again here, but
    /// with [`Registry::tend`].
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
        // Where somebody has it, this server perhaps, waiting helps, whatever became of earlier
        // attempts.
        if place.is_none()
            && let Some(error) = self.cannot_be_opened(name)
        {
            return Err(error);
        }
        place.map_or_else(|| self.lead(name), Ok)
    }

    /// Looks at all graphs: learns of those that other servers have made, dropped or taken over,
    /// lets go of what is lost, and takes what nobody leads. What fails with one is reported, with
    /// the graph's name.
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
        if let Err(error) = self.tend_system() {
            report(SYSTEM_GRAPH, &error);
        }
        if let Some(mut doomed) = self.doomed.try_lock() {
            self.reap(&mut doomed);
        }
    }

    /// The first look at all graphs. What others lead, or have just left, is no failure; nor is one
    /// that cannot be opened, which is reported with the first round of tending.
    pub(super) fn look_at_all(&self) -> Result<(), GraphError> {
        for (name, generations) in self.generations()? {
            match self.look_again(&name, &generations) {
                Err(_) if self.why_unopened(&name).is_some() => {}
                looked => looked?,
            }
        }
        Ok(())
    }

    /// Learns who leads a graph, and takes it if nobody does, unless it could not be opened not
    /// long ago.
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

    /// Asks who leads a graph that is stored in these spaces. `None` when it may be taken.
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
        // Nobody who looks may take what lies below a graph that another leads: that one is to
        // remove it.
        for (_, space) in generations {
            match self.engine.leader(&space.name)? {
                Some(leader) if leader.is_self || leader.address.is_empty() => {
                    // This server is opening it, or one before it at the same place had it, and its
                    // time is not over yet.
                    return Ok(Some(self.followed_by(name, None)));
                }
                Some(leader) => return Ok(Some(self.followed_by(name, Some(leader)))),
                None => {}
            }
        }
        Ok(None)
    }

    /// The leader of a graph that was stored in these spaces is unknown: the graph cannot be
    /// opened, unless waiting is enough. Noted `anew`, or only if nothing is known yet.
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
            // What was removed since it was listed is not there, and that is no failure.
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
            // The cluster is away, and what is known of others stands.
            false => Err(error),
        }
    }

    /// Notes who leads a graph that is not open here.
    fn followed_by(&self, name: &str, leader: Option<Leader>) -> GraphLocation {
        let mut followed = self.followed.write();
        if self.graphs.read().contains_key(name) {
            // It was opened here meanwhile.
            drop(followed);
            return self.place(name);
        }
        followed.insert(name.to_owned(), leader.clone());
        leader.map_or(GraphLocation::Nobody, GraphLocation::There)
    }

    /// Opens a graph that nobody leads.
    fn lead(&self, name: &str) -> Result<GraphLocation, GraphError> {
        // Whoever opens, makes or drops a graph may take a while; who asks meanwhile asks again. A
        // server that stops takes none.
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
            // Another was faster, or somebody still uses what was lost.
            Err(error) if error.kind == ErrorKind::Elsewhere || is_in_use(&error) => {
                self.followed_by(name, None)
            }
            Err(error) => {
                let place = self.followed_by(name, None);
                // What was removed since it was listed is not there, and that is no failure.
                if !is_unavailable(&error) || self.generations()?.get(name) == Some(&generations) {
                    return Err(self.note_unopened(name, error));
                }
                place
            }
        };
        self.reap(&mut doomed);
        Ok(place)
    }

    /// Lets a graph go that another server has taken.
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

    /// Makes that graph if there is none of the name, wherever it is led then.
    ///
    /// # Errors
    /// As [`Registry::create`], but for [`ErrorKind::Existed`].
    pub fn ensure(&self, name: &str) -> Result<(), GraphError> {
        if !matches!(self.place(name), GraphLocation::Unknown) {
            return Ok(());
        }
        match self.create(name) {
            Err(error) if error.kind == ErrorKind::Existed => Ok(()),
            made => made.map(drop),
        }
    }

    /// Why there is no graph of that name here.
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
