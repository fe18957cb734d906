//! Which spaces must be removed, and their removal.
//!
//! On a shared engine, another server may have removed a space meanwhile and created one with the
//! same name, which is a graph with all its data. So a space to remove is known by its [`SpaceId`],
//! not by its name. It is removed only if it has the drop mark, which is permanent, or if the graph
//! is open here in an older space without a mark.

use varve_encoding::tables::{COUNTER, META, TABLES};
use varve_kv::{Batch, Durability, Flow, KvError, ReaderExt, Row, Space, SpaceId, TableId};

use super::{Change, Registry, parse_space_name};
use crate::error::GraphError;

/// Partition key of settings in the `meta` table.
const SETTINGS: &[u8] = b"s";
/// Clustering key of the drop mark.
const DROPPED: &[u8] = b"dropped";
/// The number of failed removals at which a space that is in use is first reported. Later reports
/// come each time the number has doubled.
const IN_USE_REPORTED: u32 = 8;

/// A space to be removed.
#[derive(Debug)]
pub(super) struct Doomed {
    space: SpaceId,
    /// How often its removal failed.
    refusals: u32,
}

impl Registry {
    /// Removes the doomed spaces that are no longer in use. The others stay, and the next call
    /// tries again.
    pub(super) fn reap(&self, doomed: &mut Vec<Doomed>) {
        self.reap_reporting(doomed, &mut |_, _| {});
    }

    /// As [`Registry::reap`]; `failed` is called for each space that could not be removed although
    /// it is not in use.
    fn reap_reporting(&self, doomed: &mut Vec<Doomed>, failed: &mut dyn FnMut(&SpaceId, KvError)) {
        doomed.retain_mut(|doomed| {
            let space = &doomed.space;
            if self.is_shared() && !self.marked.lock().contains(space) {
                // The server that opens the graph next decides.
                return false;
            }
            // A space without an incarnation was never opened, and no other process creates spaces.
            let incarnation = Some(&*space.incarnation).filter(|it| !it.is_empty());
            let removed = self.engine.drop_space(&space.name, incarnation);
            let Err(error) = removed else {
                self.marked.lock().remove(space);
                return false;
            };
            doomed.refusals = doomed.refusals.saturating_add(1);
            let in_use = matches!(
                error,
                KvError::Unavailable { .. } | KvError::InUse { .. } | KvError::Led { .. }
            );
            self.report_refusal(doomed, in_use, &error);
            if !in_use {
                failed(&doomed.space, error);
            }
            true
        });
    }

    /// Tries again to remove spaces. Does nothing if the engine is shared: [`Registry::tend`] then
    /// does it.
    pub fn retry_removals(&self) {
        if self.is_shared() {
            return;
        }
        if let Some(mut doomed) = self.doomed.try_lock() {
            self.reap(&mut doomed);
        }
    }

    /// As [`Registry::reap`], after a stored change of `name`. On a shared engine a failed removal
    /// is no error, since any server removes the space later.
    pub(super) fn reap_changed(
        &self,
        name: &str,
        doomed: &mut Vec<Doomed>,
    ) -> Result<(), GraphError> {
        let mut failure = None;
        self.reap_reporting(doomed, &mut |space, error| {
            if is_of(name, &space.name) && !self.is_shared() {
                failure = Some(error);
            }
        });
        failure.map_or(Ok(()), |error| {
            let part = "The graph's data is deleted, but its files cannot be removed yet";
            Err(GraphError::from(error).after_part(part))
        })
    }

    /// Removes a graph that cannot be opened, and so cannot get the drop mark. The newest space is
    /// removed first, so that after a crash no space of a failed clear is taken for the graph. On a
    /// shared engine this fails if another server has the graph open.
    pub(super) fn drop_unopened(
        &self,
        name: &str,
        doomed: &mut Vec<Doomed>,
    ) -> Result<(), GraphError> {
        self.reap(doomed);
        if self.is_shared() {
            self.engine.clear_begun(&|space| is_of(name, space))?;
        }
        for space in self.spaces_of(name)?.into_iter().rev() {
            let incarnation = Some(&*space.incarnation).filter(|_| self.is_shared());
            self.engine.drop_space(&space.name, incarnation)?;
            self.marked.lock().remove(&space);
            doomed.retain(|doomed| doomed.space.name != space.name);
        }
        self.followed.write().remove(name);
        self.unopened.forget(name);
        Ok(())
    }

    /// Reports a space that cannot be removed: at once, unless it is still in use, and again each
    /// time the number of failures has doubled.
    fn report_refusal(&self, doomed: &Doomed, in_use: bool, error: &KvError) {
        let refusals = doomed.refusals;
        let too_few = in_use && refusals < IN_USE_REPORTED;
        if too_few || !refusals.is_power_of_two() {
            return;
        }
        let Doomed { space, .. } = doomed;
        let name = parse_space_name(&space.name).map_or(&*space.name, |(name, _)| name);
        let detail = format!(
            "space '{}' was not removed in {refusals} attempts: {error}",
            space.name
        );
        self.changed(name, Change::NotRemoved { detail });
    }

    /// Removes what failed changes left behind, before a graph gets its drop mark or a new space.
    /// On a shared engine it also looks for what other servers left. As long as another unmarked
    /// space exists, the graph cannot be changed, since that space would be taken for the graph.
    pub(super) fn clear_the_way(
        &self,
        name: &str,
        doomed: &mut Vec<Doomed>,
    ) -> Result<(), GraphError> {
        let held = self.graphs.read().get(name).cloned();
        if let Some(held) = held.filter(|_| self.is_shared()) {
            // Done before the listing, so that the listing contains every space that this
            // completes.
            self.engine.clear_begun(&|space| is_of(name, space))?;
            let newer = self.newer_than(name, held.generation)?;
            if !newer.is_empty() {
                // A mark whose write has an unknown outcome must have no effect once these spaces
                // are gone.
                unmark(&**held.graph.space())?;
            }
            for space in newer {
                self.discard(name, &space, doomed)?;
            }
        }
        let mut in_the_way = None;
        self.reap_reporting(doomed, &mut |space, error| {
            if is_of(name, &space.name) && !self.marked.lock().contains(space) {
                in_the_way = Some(error);
            }
        });
        in_the_way.map_or(Ok(()), |error| Err(error.into()))
    }
}

/// Whether a space belongs to a graph.
fn is_of(name: &str, space: &str) -> bool {
    parse_space_name(space).is_some_and(|(graph, _)| graph == name)
}

/// Adds a space to those that must be removed.
pub(super) fn doom(doomed: &mut Vec<Doomed>, space: SpaceId) {
    if !doomed.iter().any(|known| known.space == space) {
        doomed.push(Doomed { space, refusals: 0 });
    }
}

/// Whether a space has the drop mark.
pub(crate) fn is_marked(space: &dyn Space) -> Result<bool, KvError> {
    Ok(space.get(META, SETTINGS, DROPPED)?.is_some())
}

/// Puts the drop mark into a space, so that the space is not the graph after a crash.
pub(super) fn mark_dropped(space: &dyn Space) -> Result<(), GraphError> {
    let mut mark = Batch::new();
    mark.put(META, SETTINGS, DROPPED, b"");
    Ok(space.write(&mark, Durability::Sync)?)
}

/// Ensures that a delayed write does not put the drop mark into a space later.
pub(super) fn unmark(space: &dyn Space) -> Result<(), GraphError> {
    let mut mark = Batch::new();
    mark.delete(META, SETTINGS, DROPPED);
    Ok(space.write(&mark, Durability::Sync)?)
}

/// Whether a space has any content beside the settings and counters that opening it may write.
pub(super) fn has_content(space: &dyn Space) -> Result<bool, KvError> {
    for number in 0..TABLES.len() {
        let table = TableId(u8::try_from(number).expect("there are few tables"));
        let mut found = false;
        let mut visit = |row: Row<'_>| {
            if table == META && row.partition == SETTINGS {
                return Flow::Continue(());
            }
            found = true;
            Flow::Break(())
        };
        if table != COUNTER {
            space.scan_table(table, None, &mut visit)?;
        }
        if found {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use varve_encoding::tables::TABLES;
    use varve_kv::EngineExt;
    use varve_model::time::SystemClock;
    use varve_testkit::SharedMemory;

    use super::*;
    use crate::error::ErrorKind;
    use crate::graph::{Graph, GraphOptions};
    use crate::registry::GraphLocation;

    fn server(shared: &Arc<SharedMemory>, address: &str) -> Registry {
        let options = GraphOptions::new(Arc::new(SystemClock));
        Registry::open(shared.server(address), options).unwrap()
    }

    fn tend(registry: &Registry) {
        registry.tend(&|name, error| panic!("{name}: {error}"));
    }

    fn put(graph: &Graph) {
        let mut batch = Batch::new();
        batch.put(META, b"v", b"x", b"1");
        graph.space().write(&batch, Durability::Sync).unwrap();
    }

    fn holds_data(registry: &Registry) -> bool {
        let graph = registry.get("g").unwrap();
        graph.space().get(META, b"v", b"x").unwrap().is_some()
    }

    /// Two servers: the second has seen the drop mark of a graph that the first has since removed
    /// and created again.
    fn with_a_name_that_came_again() -> (Arc<SharedMemory>, Registry, Registry) {
        let shared = SharedMemory::new();
        let (a, b) = (server(&shared, "a"), server(&shared, "b"));
        for address in ["a", "b"] {
            shared.refuse_removals(address, true);
        }
        a.create("g").unwrap();
        a.drop_graph("g").unwrap();
        tend(&b);
        assert_eq!(b.doomed.lock().len(), 1, "it has seen the mark");
        shared.refuse_removals("a", false);
        tend(&a);
        put(&a.create("g").unwrap());
        assert_eq!(shared.server("c").space_names().unwrap(), ["g"]);
        (shared, a, b)
    }

    #[test]
    fn a_graph_whose_name_came_again_is_seen_and_never_removed() {
        let (shared, a, b) = with_a_name_that_came_again();
        tend(&b);
        assert!(
            matches!(b.place("g"), GraphLocation::There(_)),
            "{:?}",
            b.place("g")
        );
        assert_eq!(b.stored_names().unwrap(), ["g"]);
        shared.refuse_removals("b", false);
        a.close();
        tend(&b);
        assert!(holds_data(&b));
        assert!(b.doomed.lock().is_empty() && b.marked.lock().is_empty());
    }

    #[test]
    fn a_server_that_stops_removes_no_graph_whose_name_came_again() {
        let (shared, a, b) = with_a_name_that_came_again();
        shared.refuse_removals("b", false);
        a.close();
        b.close();
        assert!(holds_data(&server(&shared, "c")));
    }

    #[test]
    fn a_graph_that_was_removed_since_it_was_listed_does_not_come_back() {
        let shared = SharedMemory::new();
        let (a, b) = (server(&shared, "a"), server(&shared, "b"));
        a.create("g").unwrap();
        let stored = b.generations().unwrap();
        a.drop_graph("g").unwrap();
        let opened = b.open_oldest("g", &stored["g"], &mut Vec::new());
        assert!(opened.is_err());
        assert!(shared.server("c").space_names().unwrap().is_empty());
    }

    #[test]
    fn what_another_server_left_is_removed_before_the_graph_gets_its_mark() {
        let shared = SharedMemory::new();
        let a = server(&shared, "a");
        put(&a.create("g").unwrap());
        let left = shared.server("b").open("_1_g", TABLES, true).unwrap();
        let error = a.drop_graph("g").expect_err("it is still open there");
        assert_eq!(error.kind, ErrorKind::Busy);
        assert!(a.clear("g").is_err() && holds_data(&a));
        drop(left);
        put(&a.clear("g").unwrap());
        a.close();
        assert!(holds_data(&server(&shared, "c")));
    }

    #[test]
    fn what_was_begun_and_not_made_does_not_outlive_the_graph() {
        let shared = SharedMemory::new();
        let a = server(&shared, "a");
        a.create("g").unwrap();
        a.create("h").unwrap();
        shared.begin("_1_g");
        shared.begin("_1_h");
        a.drop_graph("g").unwrap();
        assert!(
            !shared.finish("_1_g", TABLES),
            "an empty graph would be back"
        );
        assert!(shared.finish("_1_h", TABLES), "it is another graph's");
        tend(&a);
        assert_eq!(a.stored_names().unwrap(), ["h"]);
    }

    #[test]
    fn what_is_newer_than_a_graph_that_is_not_held_any_more_is_left_to_others() {
        let shared = SharedMemory::new();
        let (a, b) = (server(&shared, "a"), server(&shared, "b"));
        a.create("g").unwrap();
        shared.refuse_removals("a", true);
        let left = shared.server("b").open("_1_g", TABLES, true).unwrap();
        assert!(a.clear("g").is_err(), "what is left is in the way");
        drop(left);
        shared.expire("g");
        tend(&b);
        put(&b.clear("g").unwrap());
        shared.refuse_removals("a", false);
        tend(&a);
        b.close();
        a.close();
        assert!(holds_data(&server(&shared, "c")));
    }
}
