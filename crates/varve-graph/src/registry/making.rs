//! Which space is a graph's: creates a space, and distinguishes it from spaces that other servers
//! create or have left behind.
//!
//! On a shared engine, listing the spaces and creating one are two steps, and other servers may act
//! between them. So a server takes the new generation from a listing without an unmarked space,
//! checks that no other server has the new space, and lists again. If two servers create the same
//! graph at once, the later one finds the space of the earlier one, and gives up its own by the
//! drop mark. If it crashes before that, two spaces without a mark remain. One of them was never
//! written to, so the other is the graph.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::MutexGuard;
use varve_encoding::tables::TABLES;
use varve_kv::{KvError, Leadership, Space, SpaceId, fail_point};

use super::removal::{Doomed, doom, has_content, is_marked, mark_dropped, unmark};
use super::{Open, Registry, existed, parse_space_name, space_name};
use crate::error::{ErrorKind, GraphError};
use crate::graph::Graph;
use crate::schema::{SchemaMode, put_mode};

/// How often the creation of a graph is tried while another server creates or removes it, and the
/// time between two attempts.
const CREATE_TRIES: u32 = 50;
const CREATE_WAIT: Duration = Duration::from_millis(200);

/// The spaces of one graph in one listing.
struct Listed {
    /// The spaces that are not known to have the drop mark, by generation.
    unmarked: Vec<(u32, SpaceId)>,
    /// The generation after the newest of all.
    next: u32,
}

impl Registry {
    /// Lists all spaces of a graph, by generation.
    fn all_of(&self, name: &str) -> Result<Vec<(u32, SpaceId)>, GraphError> {
        let mut all: Vec<(u32, SpaceId)> = Vec::new();
        for space in self.engine.spaces()? {
            let generation = match parse_space_name(&space.name) {
                Some((graph, generation)) if graph == name => generation,
                _ => continue,
            };
            all.push((generation, space));
        }
        all.sort_unstable();
        Ok(all)
    }

    /// Lists all spaces of a graph, oldest first.
    pub(super) fn spaces_of(&self, name: &str) -> Result<Vec<SpaceId>, GraphError> {
        let all = self.all_of(name)?.into_iter();
        Ok(all.map(|(_, space)| space).collect())
    }

    fn listed(&self, name: &str) -> Result<Listed, GraphError> {
        let mut all = self.all_of(name)?;
        let next = all.last().map_or(0, |(newest, _)| newest + 1);
        let marked = self.marked.lock();
        all.retain(|(_, space)| !marked.contains(space));
        Ok(Listed {
            unmarked: all,
            next,
        })
    }

    /// Lists the spaces of a graph that come after `generation` and have no known mark.
    pub(super) fn newer_than(
        &self,
        name: &str,
        generation: u32,
    ) -> Result<Vec<SpaceId>, GraphError> {
        let unmarked = self.listed(name)?.unmarked.into_iter();
        let newer = unmarked.filter(|(known, _)| *known > generation);
        Ok(newer.map(|(_, space)| space).collect())
    }

    /// Returns an error if there are already as many graphs as allowed.
    pub(super) fn check_room(&self, name: &str) -> Result<(), GraphError> {
        let (graphs, most) = (self.names().len(), self.options.limits.graphs_max);
        if graphs < most {
            return Ok(());
        }
        let message = format!(
            "The graph '{name}' is not created: there are {graphs} graphs, and limits.graphs_max is {most}"
        );
        Err(GraphError::new(ErrorKind::LimitExceeded, message))
    }

    /// Creates a graph that other servers may be creating, too. Releases the lock of `doomed` while
    /// it waits for them.
    pub(super) fn open_first(
        &self,
        name: &str,
        mode: SchemaMode,
        doomed: &mut MutexGuard<'_, Vec<Doomed>>,
    ) -> Result<Open, GraphError> {
        let mut last = None;
        for _ in 0..CREATE_TRIES {
            if self.graphs.read().contains_key(name) {
                return Err(existed(name));
            }
            self.clear_the_way(name, doomed)?;
            let listed = self.listed(name)?;
            if !listed.unmarked.is_empty() {
                return Err(existed(name));
            }
            self.check_room(name)?;
            match self.open_alone(name, (listed.next, mode), None, doomed) {
                Err(error) if error.kind == ErrorKind::Elsewhere => return Err(existed(name)),
                Err(error) if says_another_is_at_it(&error) || is_in_use(&error) => {
                    last = Some(error);
                }
                opened => return opened,
            }
            // Two servers that have given up for each other must not retry at the same time.
            let wait = CREATE_WAIT + jitter(CREATE_WAIT);
            MutexGuard::unlocked(doomed, || std::thread::sleep(wait));
            // A graph that is created after [`Registry::close`] would never be closed.
            self.check_not_closed(name)?;
        }
        let mut error = another_is_at_it(name);
        error.source = last.map(|last| Box::new(last) as _);
        Err(error)
    }

    /// Opens an empty space in place of `old`. It first removes what failed changes left behind, so
    /// that no unmarked space is older than the graph's own. If that cannot be removed, this fails.
    pub(super) fn open_next(
        &self,
        name: &str,
        mode: SchemaMode,
        old: Option<&Open>,
        doomed: &mut Vec<Doomed>,
    ) -> Result<Open, GraphError> {
        self.clear_the_way(name, doomed)?;
        let generation = self.listed(name)?.next;
        self.open_alone(name, (generation, mode), old, doomed)
    }

    /// Creates the space of that generation, and gives it up if another server has created one
    /// meanwhile.
    fn open_alone(
        &self,
        name: &str,
        made: (u32, SchemaMode),
        old: Option<&Open>,
        doomed: &mut Vec<Doomed>,
    ) -> Result<Open, GraphError> {
        let open = self.open_generation(name, made, doomed)?;
        match self.is_alone(&open, old) {
            Ok(true) => Ok(open),
            outcome => {
                self.give_up(open, doomed);
                outcome.and_then(|_| Err(another_is_at_it(name)))
            }
        }
    }

    /// Creates the space of that generation and opens it as an empty graph.
    fn open_generation(
        &self,
        name: &str,
        (generation, mode): (u32, SchemaMode),
        doomed: &mut Vec<Doomed>,
    ) -> Result<Open, GraphError> {
        let mut space = SpaceId {
            name: space_name(name, generation),
            incarnation: String::new(),
        };
        let opened = match self.engine.open(&space.name, TABLES, true) {
            // A space with that name that another process is creating must not be removed here.
            Err(error) if self.is_shared() => return Err(error.into()),
            opened => opened,
        };
        let graph = opened.map_err(GraphError::from).and_then(|opened| {
            space.incarnation = opened.lease().incarnation.to_owned();
            if self.is_shared() {
                self.check_fresh(name, &space, &*opened, doomed)?;
            }
            let graph = put_mode(&*opened, mode)
                .and_then(|()| Graph::open(name, Arc::clone(&opened), &self.options));
            // The space must not be taken for the graph.
            if graph.is_err() && self.is_shared() && mark_dropped(&*opened).is_ok() {
                self.note_marked(space.clone(), doomed);
            }
            graph
        });
        match graph {
            Ok(graph) => {
                fail_point::GRAPH_OPENED.pass();
                Ok(Open { graph, generation })
            }
            Err(error) => {
                if !self.is_shared() {
                    doom(doomed, space);
                }
                self.reap(doomed);
                Err(error)
            }
        }
    }

    /// Refuses a space that another server has created since the listing: a graph of that server,
    /// or one that it has dropped.
    fn check_fresh(
        &self,
        name: &str,
        space: &SpaceId,
        opened: &dyn Space,
        doomed: &mut Vec<Doomed>,
    ) -> Result<(), GraphError> {
        if opened.lease().term <= 1 {
            return Ok(());
        }
        if is_marked(opened)? {
            self.note_marked(space.clone(), doomed);
        }
        Err(another_is_at_it(name))
    }

    /// Whether a new space is the only unmarked space of its graph, apart from the space that it
    /// replaces.
    fn is_alone(&self, open: &Open, old: Option<&Open>) -> Result<bool, GraphError> {
        if !self.is_shared() {
            return Ok(true);
        }
        let listed = self.listed(open.graph.name())?;
        let mut expected: Vec<SpaceId> = old.into_iter().map(Open::space).collect();
        expected.push(open.space());
        let found: Vec<SpaceId> = listed.unmarked.into_iter().map(|(_, id)| id).collect();
        Ok(found == expected)
    }

    /// Marks a space that is not needed. If that fails, the server that opens the graph next finds
    /// that the space is empty.
    pub(super) fn give_up(&self, open: Open, doomed: &mut Vec<Doomed>) {
        let space = open.space();
        match self.is_shared() {
            false => doom(doomed, space),
            true => {
                if mark_dropped(&**open.graph.space()).is_ok() {
                    self.note_marked(space, doomed);
                }
            }
        }
        drop(open);
        self.reap(doomed);
    }

    /// Opens a graph: its oldest space without a drop mark. Marked spaces are removed later, and so
    /// are the other unmarked ones, which come from changes that did not get to their mark. Returns
    /// `None` if all spaces are marked.
    ///
    /// Whether a damaged space has the mark is unknown. But a space is written to only after all
    /// older ones have the mark. So if a newer space has content, it is the graph.
    pub(super) fn open_oldest(
        &self,
        name: &str,
        generations: &[(u32, SpaceId)],
        doomed: &mut Vec<Doomed>,
    ) -> Result<Option<Open>, GraphError> {
        let mut found: Option<(u32, Arc<dyn Space>)> = None;
        let mut damaged: Vec<(&SpaceId, KvError)> = Vec::new();
        for (generation, space) in generations {
            if found.is_some() && !self.is_shared() {
                doom(doomed, space.clone());
                continue;
            }
            let (opened, is_marked) = match self.open_stored(space) {
                Err(error @ KvError::Corruption { .. }) if !self.is_shared() => {
                    damaged.push((space, error));
                    continue;
                }
                opened => opened?,
            };
            if is_marked {
                let space = SpaceId {
                    incarnation: opened.lease().incarnation.to_owned(),
                    ..space.clone()
                };
                self.note_marked(space, doomed);
                continue;
            }
            if !damaged.is_empty() && !has_content(&*opened)? {
                break;
            }
            for (dropped, _) in damaged.drain(..) {
                doom(doomed, dropped.clone());
            }
            if self.is_shared() {
                // A mark that the last leader sent may arrive late, and must have no effect then.
                unmark(&*opened)?;
            }
            found = Some(match found {
                None => (*generation, opened),
                Some(older) => self.choose(name, older, (*generation, opened), doomed)?,
            });
        }
        if let Some((_, error)) = damaged.into_iter().next() {
            return Err(error.into());
        }
        let open = |(generation, opened)| {
            let graph = Graph::open(name, opened, &self.options)?;
            Ok(Open { graph, generation })
        };
        found.map(open).transpose()
    }

    /// Opens a space and reads whether it has the drop mark.
    fn open_stored(&self, space: &SpaceId) -> Result<(Arc<dyn Space>, bool), KvError> {
        // A space that another process has removed since the listing must not be created again as
        // an empty graph.
        let opened = self.engine.open(&space.name, TABLES, !self.is_shared())?;
        let is_marked = is_marked(&*opened)?;
        Ok((opened, is_marked))
    }

    /// Returns which of two unmarked spaces, both open here, is the graph. The other one was never
    /// written to, and gets the drop mark.
    fn choose(
        &self,
        name: &str,
        older: (u32, Arc<dyn Space>),
        newer: (u32, Arc<dyn Space>),
        doomed: &mut Vec<Doomed>,
    ) -> Result<(u32, Arc<dyn Space>), GraphError> {
        let is_older = has_content(&*older.1)? || !has_content(&*newer.1)?;
        let (kept, left) = if is_older {
            (older, newer)
        } else {
            (newer, older)
        };
        if has_content(&*left.1)? {
            return Err(two_of(name));
        }
        mark_dropped(&*left.1)?;
        let space = SpaceId {
            name: space_name(name, left.0),
            incarnation: left.1.lease().incarnation.to_owned(),
        };
        self.note_marked(space, doomed);
        Ok(kept)
    }

    /// Marks a space beside the graph's own, which is open here, so that it can be removed.
    ///
    /// # Errors
    /// When another server has it open, or it has content.
    pub(super) fn discard(
        &self,
        name: &str,
        space: &SpaceId,
        doomed: &mut Vec<Doomed>,
    ) -> Result<(), GraphError> {
        let opened = match self.engine.open(&space.name, TABLES, false) {
            Err(KvError::InUse { .. } | KvError::Led { .. }) => {
                return Err(another_is_at_it(name));
            }
            Err(error @ KvError::Unavailable { .. }) => {
                // It may have been removed since the listing.
                return Err(match self.engine.spaces()?.contains(space) {
                    true => error.into(),
                    false => another_is_at_it(name),
                });
            }
            opened => opened?,
        };
        if opened.lease().incarnation != space.incarnation {
            return Err(another_is_at_it(name));
        }
        if !is_marked(&*opened)? {
            if has_content(&*opened)? {
                return Err(two_of(name));
            }
            mark_dropped(&*opened)?;
        }
        self.note_marked(space.clone(), doomed);
        Ok(())
    }

    /// Removes older unmarked spaces of a graph that is open here. Another server created them
    /// while it created the same graph, and crashed before it noticed. No server may take them for
    /// the graph.
    pub(super) fn clear_below(&self, name: &str) -> Result<(), GraphError> {
        let Some(mut doomed) = self.doomed.try_lock() else {
            return Ok(());
        };
        let Some(open) = self.graphs.read().get(name).cloned() else {
            return Ok(());
        };
        if open.graph.space().lease().leadership != Leadership::Held {
            return Ok(());
        }
        for (generation, space) in self.listed(name)?.unmarked {
            if generation < open.generation {
                match self.discard(name, &space, &mut doomed) {
                    // It is tried again as long as the space exists.
                    Err(error) if error.kind == ErrorKind::Busy => {}
                    discarded => discarded?,
                }
            }
        }
        Ok(())
    }

    /// Records that a space has the drop mark and must be removed.
    pub(super) fn note_marked(&self, space: SpaceId, doomed: &mut Vec<Doomed>) {
        self.marked.lock().insert(space.clone());
        doom(doomed, space);
    }
}

/// Returns the engine's error, if it is the cause.
fn below(error: &GraphError) -> Option<&KvError> {
    let source = error.source.as_ref();
    source.and_then(|source| source.downcast_ref::<KvError>())
}

/// Whether the error is that a space is in use, which is temporary.
pub(super) fn is_in_use(error: &GraphError) -> bool {
    matches!(below(error), Some(KvError::InUse { .. }))
}

/// Whether the error is that a space does not exist or cannot be opened.
pub(super) fn is_unavailable(error: &GraphError) -> bool {
    matches!(below(error), Some(KvError::Unavailable { .. }))
}

fn another_is_at_it(name: &str) -> GraphError {
    let message = format!("Another server is creating, clearing or removing the graph '{name}'");
    GraphError::new(ErrorKind::Busy, message)
}

/// Whether the error is that another server is changing the graph, and not that the engine is
/// unavailable.
fn says_another_is_at_it(error: &GraphError) -> bool {
    error.kind == ErrorKind::Busy && error.source.is_none()
}

fn two_of(name: &str) -> GraphError {
    let message =
        format!("The graph '{name}' has two spaces with content; which one is current is unknown");
    GraphError::new(ErrorKind::Storage, message)
}

/// Returns a random part of `most`.
fn jitter(most: Duration) -> Duration {
    let drawn = RandomState::new().hash_one(0) % 1_000;
    most * u32::try_from(drawn).unwrap_or(0) / 1_000
}

#[cfg(test)]
mod tests;
