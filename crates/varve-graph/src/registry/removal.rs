//! Which spaces are to be removed, and their removal.
//!
//! Where the engine is shared, another server may have removed a space since it was looked at, and
//! made one of the same name, which is a graph with all its data. So what is to be removed is a
//! [`SpaceId`], not a name; it is removed for good reason only: it has the mark, which never goes,
//! or the graph is open here in an older space without one.

use varve_encoding::tables::{COUNTER, META, TABLES};
use varve_kv::{Batch, Durability, Flow, KvError, ReaderExt, Row, Space, SpaceId, TableId};

use super::{Change, Registry, parse_space_name};
use crate::error::GraphError;

/// Partition of settings in the `meta` table.
const SETTINGS: &[u8] = b"s";
/// Clustering of the mark that a space is to be removed.
const DROPPED: &[u8] = b"dropped";
/// So often a space may still be in use before that is reported, and again at twice as often.
const IN_USE_REPORTED: u32 = 8;

/// A space that is to be removed.
#[derive(Debug)]
pub(super) struct Doomed {
    space: SpaceId,
    /// How often removing it was refused.
    refusals: u32,
}

impl Registry {
    /// Removes the doomed spaces that nobody uses any more. What cannot be removed stays, and is
    /// tried again with the next call.
    pub(super) fn reap(&self, doomed: &mut Vec<Doomed>) {
        self.reap_telling(doomed, &mut |_, _| {});
    }

    /// As [`Registry::reap`]; `failed` is called for each space that could not be removed for
    /// another reason than that somebody uses it.
    fn reap_telling(&self, doomed: &mut Vec<Doomed>, failed: &mut dyn FnMut(&SpaceId, KvError)) {
        doomed.retain_mut(|doomed| {
            let space = &doomed.space;
            if self.is_shared() && !self.marked.lock().contains(space) {
                // Whoever opens the graph next decides.
                return false;
            }
            // Without one it was not opened, and nobody else makes any.
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

    /// Tries again to remove what could not be removed. Does nothing where the engine is shared:
    /// there
    /// [`Registry::tend`] does it.
    pub fn retry_removals(&self) {
        if self.is_shared() {
            return;
        }
        if let Some(mut doomed) = self.doomed.try_lock() {
            self.reap(&mut doomed);
        }
    }

    /// As [`Registry::reap`], after a change of `name` that is stored: where spaces are removed
    /// later by whoever sees them, it did not fail because that cannot be done now.
    pub(super) fn reap_changed(
        &self,
        name: &str,
        doomed: &mut Vec<Doomed>,
    ) -> Result<(), GraphError> {
        let mut failure = None;
        self.reap_telling(doomed, &mut |space, error| {
            if is_of(name, &space.name) && !self.is_shared() {
                failure = Some(error);
            }
        });
        failure.map_or(Ok(()), |error| {
            let part = "The graph's data is gone, but its files cannot be removed yet";
            Err(GraphError::from(error).after_part(part))
        })
    }

    /// Removes a graph that cannot be opened, so cannot get the mark: the newest space first, so
    /// that after a crash no space of a failed clear is taken for the graph.
    pub(super) fn drop_unopened(
        &self,
        name: &str,
        doomed: &mut Vec<Doomed>,
    ) -> Result<(), GraphError> {
        self.reap(doomed);
        for space in self.spaces_of(name)?.into_iter().rev() {
            self.engine.drop_space(&space.name, None)?;
            self.marked.lock().remove(&space);
            doomed.retain(|doomed| doomed.space.name != space.name);
        }
        self.followed.write().remove(name);
        self.unopened.forget(name);
        Ok(())
    }

    /// Reports a space that cannot be removed: at once, unless somebody still uses it, and again
    /// whenever it was refused twice as often.
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

    /// Removes what failed changes have left, before a graph gets its mark or a new space. Where
    /// other servers may have left something too, that is looked for; as long as a space without
    /// the mark is there the graph cannot be changed: that space would be taken for the graph.
    pub(super) fn clear_the_way(
        &self,
        name: &str,
        doomed: &mut Vec<Doomed>,
    ) -> Result<(), GraphError> {
        let held = self.graphs.read().get(name).cloned();
        if let Some(held) = held.filter(|_| self.is_shared()) {
            // Before the listing: what comes to be a space meanwhile is in that.
            self.engine.clear_begun(&|space| is_of(name, space))?;
            let newer = self.newer_than(name, held.generation)?;
            if !newer.is_empty() {
                // A mark of which it is not known whether it is stored must not count once they are
                // gone.
                unmark(&**held.graph.space())?;
            }
            for space in newer {
                self.discard(name, &space, doomed)?;
            }
        }
        let mut in_the_way = None;
        self.reap_telling(doomed, &mut |space, error| {
            if is_of(name, &space.name) && !self.marked.lock().contains(space) {
                in_the_way = Some(error);
            }
        });
        in_the_way.map_or(Ok(()), |error| Err(error.into()))
    }
}

/// Whether a space is that graph's.
fn is_of(name: &str, space: &str) -> bool {
    parse_space_name(space).is_some_and(|(graph, _)| graph == name)
}

/// Adds a space to those that are to be removed.
pub(super) fn doom(doomed: &mut Vec<Doomed>, space: SpaceId) {
    if !doomed.iter().any(|known| known.space == space) {
        doomed.push(Doomed { space, refusals: 0 });
    }
}

/// Whether a space has the mark that it is to be removed.
pub(super) fn is_marked(space: &dyn Space) -> Result<bool, KvError> {
    Ok(space.get(META, SETTINGS, DROPPED)?.is_some())
}

/// Marks a space as one to be removed, so that it does not come back after a crash.
pub(super) fn mark_dropped(space: &dyn Space) -> Result<(), GraphError> {
    let mut mark = Batch::new();
    mark.put(META, SETTINGS, DROPPED, b"");
    Ok(space.write(&mark, Durability::Sync)?)
}

/// Makes sure that a space without the mark does not get it from a write of before that comes late.
pub(super) fn unmark(space: &dyn Space) -> Result<(), GraphError> {
    let mut mark = Batch::new();
    mark.delete(META, SETTINGS, DROPPED);
    Ok(space.write(&mark, Durability::Sync)?)
}

/// Whether anything was ever stored in a space but numbers that opening it may write.
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

    /// Two servers: the second one has seen the mark of a graph that the first one has removed
    /// since, and made again.
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
