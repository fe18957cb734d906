//! The deletion of changes by age, or after the option is switched off.
//!
//! The note of [`super::kept`] is written before rows are deleted, so that no reader relies on rows
//! that are being deleted, and again afterwards. So a deletion that was interrupted continues after
//! a restart, as does the deletion of all changes after the option was switched off.

use std::sync::Arc;

use varve_encoding::change;
use varve_encoding::tables::CHANGE;
use varve_kv::{ClusteringRange, Flow, ScanRequest, fail_point};
use varve_model::CommitVersion;

use crate::error::GraphError;
use crate::graph::Graph;
use crate::write::commit_internal;

/// Rows that are read, or deleted, in one step.
const STEP_ROWS: usize = 2_000;

/// Deletes the rows of changes that are past retention, and those that an interrupted deletion
/// left. Returns the number of deleted rows.
///
/// # Errors
/// When the store fails.
pub(crate) fn forget(graph: &Arc<Graph>) -> Result<usize, GraphError> {
    let (kept, notes) = (graph.kept_changes(), graph.notes());
    let (from, had_rest) = (kept.oldest(), kept.has_rest());
    let horizon = kept.horizon(graph.now()).max(from);
    if horizon > from {
        kept.put(&notes, horizon, true)?;
    }
    let forgotten = match (had_rest, horizon > from) {
        (true, _) => forget_anywhere(graph, horizon)?,
        (false, true) => forget_between(graph, from, horizon)?,
        (false, false) => return Ok(0),
    };
    kept.put(&notes, horizon, false)?;
    Ok(forgotten)
}

type RowKey = (Vec<u8>, Vec<u8>);

/// Scans the whole table, and deletes all rows up to `horizon`.
fn forget_anywhere(graph: &Arc<Graph>, horizon: CommitVersion) -> Result<usize, GraphError> {
    let (mut after, mut forgotten): (Option<RowKey>, _) = (None, 0);
    loop {
        let (mut rows, mut seen, mut damaged) = (Vec::new(), 0, None);
        let from = after
            .as_ref()
            .map(|(partition, key)| (&partition[..], &key[..]));
        let mut last = None;
        graph.reader().scan_table(CHANGE, from, &mut |row| {
            seen += 1;
            let key = (row.partition.to_vec(), row.clustering.to_vec());
            match change::split(row.clustering) {
                Ok((version, _)) if version <= horizon => rows.push(key.clone()),
                Ok(_) => {}
                Err(error) => damaged = Some(error),
            }
            last = Some(key);
            match damaged.is_some() || seen == STEP_ROWS {
                true => Flow::Break(()),
                false => Flow::Continue(()),
            }
        })?;
        damaged.map_or(Ok(()), Err)?;
        let rows: Vec<_> = rows
            .iter()
            .map(|(partition, key)| (&partition[..], &key[..]))
            .collect();
        delete(graph, &rows)?;
        forgotten += rows.len();
        if last.is_none() {
            return Ok(forgotten);
        }
        after = last;
    }
}

/// Deletes the rows from one version up to another.
fn forget_between(
    graph: &Arc<Graph>,
    from: CommitVersion,
    horizon: CommitVersion,
) -> Result<usize, GraphError> {
    let (mut partition, mut after) = (Some(change::partition(from)), Vec::new());
    let mut forgotten = 0;
    while let Some(at) = partition.filter(|at| change::first_of(*at) <= horizon) {
        let range = ClusteringRange {
            from: std::mem::take(&mut after),
            to: Some(change::clustering(horizon.next(), 0).to_vec()),
        };
        let request = ScanRequest {
            table: CHANGE,
            partition: &at,
            range: &range,
            reverse: false,
        };
        let mut keys = Vec::new();
        graph.reader().scan(request, &mut |clustering, _| {
            keys.push(clustering.to_vec());
            match keys.len() < STEP_ROWS {
                true => Flow::Continue(()),
                false => Flow::Break(()),
            }
        })?;
        let rows: Vec<_> = keys.iter().map(|key| (&at[..], &key[..])).collect();
        delete(graph, &rows)?;
        let is_full = keys.len() == STEP_ROWS;
        forgotten += keys.len();
        match keys.pop() {
            // After a full step, further rows may follow the deleted ones.
            Some(last) if is_full => {
                after = last;
                after.push(0);
            }
            _ => partition = change::next(at),
        }
    }
    Ok(forgotten)
}

fn delete(graph: &Arc<Graph>, rows: &[(&[u8], &[u8])]) -> Result<(), GraphError> {
    if rows.is_empty() {
        return Ok(());
    }
    fail_point::CHANGES_FORGET.pass();
    commit_internal(graph, &[], &[], |emitter| {
        for (partition, clustering) in rows {
            emitter.batch.delete(CHANGE, partition, clustering);
        }
        Ok(())
    })?
    .wait()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use varve_kv::MemoryEngine;
    use varve_model::schema::Retention;
    use varve_model::{Instant, TemporalScope};
    use varve_testkit::ManualClock;

    use super::super::kept::NOTE;
    use super::*;
    use crate::graph::GraphOptions;
    use crate::registry::Registry;
    use crate::schema::NewPropertyKey;

    /// A store whose graph `g` is opened several times.
    struct Store {
        engine: Arc<MemoryEngine>,
        clock: Arc<ManualClock>,
        names: usize,
    }

    impl Store {
        fn new() -> Self {
            Self {
                engine: Arc::new(MemoryEngine::new()),
                clock: Arc::new(ManualClock::new(Instant(1_800_000_000_000_000))),
                names: 0,
            }
        }

        fn open(&self, changes: Option<Retention>, restored: u64) -> (Registry, Arc<Graph>) {
            let mut options = GraphOptions::new(Arc::clone(&self.clock) as _);
            (options.changes, options.restored) = (changes, restored);
            let graphs = Registry::open(Arc::clone(&self.engine) as _, options).expect("opens");
            let graph = graphs
                .ensure("g")
                .and_then(|_| graphs.get("g"))
                .expect("a graph");
            (graphs, graph)
        }

        /// Makes commits, one a minute: each schema change causes one.
        fn commit(&mut self, graph: &Graph, count: usize) {
            for _ in 0..count {
                self.clock.step(60_000_000);
                self.names += 1;
                let key = NewPropertyKey::named(&format!("k{}", self.names));
                graph.catalogue().create_property_key(key).expect("made");
            }
        }
    }

    fn range_of(graph: &Graph) -> (CommitVersion, CommitVersion) {
        let kept = graph.changes_kept().expect("read");
        kept.expect("they are kept")
    }

    fn rows(graph: &Graph) -> usize {
        let mut rows = 0;
        let scanned = graph.reader().scan_table(CHANGE, None, &mut |_| {
            rows += 1;
            Flow::Continue(())
        });
        scanned.expect("scanned");
        rows
    }

    fn listed(graph: &Graph, since: CommitVersion) -> Option<usize> {
        let mut commits = 0;
        let shown = graph.visit_changes(since, &mut || true, &mut |_| {
            commits += 1;
            Flow::Continue(())
        });
        shown.expect("shown").map(|_| commits)
    }

    #[test]
    fn changes_are_deleted_once_they_are_not_kept() {
        let mut store = Store::new();
        let (graphs, graph) = store.open(Some(Retention::All), 0);
        store.commit(&graph, 5);
        let (since, _) = range_of(&graph);
        assert_eq!(listed(&graph, since), Some(5));
        drop((graphs, graph));
        let (graphs, graph) = store.open(None, 0);
        assert_eq!(
            listed(&graph, since),
            Some(5),
            "a tool that only opens the store changes nothing"
        );
        drop((graphs, graph));
        let (graphs, graph) = store.open(Some(Retention::None), 0);
        assert_eq!((listed(&graph, since), rows(&graph)), (None, 5));
        drop((graphs, graph));
        // The deletion is still due when keeping is switched on again before it.
        let (graphs, graph) = store.open(Some(Retention::All), 0);
        assert_eq!(listed(&graph, since), None, "keeping has begun anew");
        store.commit(&graph, 2);
        assert_eq!(forget(&graph).expect("deleted"), 5);
        let (since, _) = range_of(&graph);
        assert_eq!((listed(&graph, since), rows(&graph)), (Some(2), 2));
        assert_eq!(forget(&graph).expect("nothing left"), 0);
        drop((graphs, graph));
        let (graphs, graph) = store.open(Some(Retention::None), 0);
        assert_eq!(forget(&graph).expect("deleted"), 2);
        assert_eq!(rows(&graph), 0);
        assert_eq!(graph.notes().get(NOTE).expect("read"), Some(Vec::new()));
        drop((graphs, graph));
        let (_graphs, graph) = store.open(None, 0);
        assert!(matches!(graph.changes_kept(), Ok(None)));
    }

    #[test]
    fn a_deletion_that_broke_off_goes_on_after_a_restart() {
        let hour = Some(Retention::For(3_600_000_000));
        let mut store = Store::new();
        let (graphs, graph) = store.open(hour, 0);
        store.commit(&graph, 100);
        let kept = graph.kept_changes();
        let horizon = kept.horizon(graph.now());
        kept.put(&graph.notes(), horizon, true).expect("noted");
        drop((graphs, graph));
        let (_graphs, graph) = store.open(hour, 0);
        let (since, oldest) = range_of(&graph);
        assert_eq!((listed(&graph, since), oldest), (None, horizon));
        let left = listed(&graph, oldest).expect("these are kept");
        assert_eq!(forget(&graph).expect("deleted"), 100 - left);
        assert_eq!((rows(&graph), listed(&graph, oldest)), (left, Some(left)));
        // Later deletions are by age alone.
        store.commit(&graph, 10);
        assert_eq!(forget(&graph).expect("deleted"), 10);
        assert_eq!(rows(&graph), left);
    }

    #[test]
    fn a_restored_copy_does_not_continue_the_changes() {
        let mut store = Store::new();
        let (graphs, graph) = store.open(Some(Retention::All), 0);
        store.commit(&graph, 3);
        let (since, _) = range_of(&graph);
        drop((graphs, graph));
        store.clock.step(1_000_000);
        for changes in [None, Some(Retention::All)] {
            let (_graphs, graph) = store.open(changes, 77);
            let (anew, oldest) = range_of(&graph);
            assert!(anew > since && anew == oldest);
            assert_eq!(listed(&graph, since), None);
        }
        let (_graphs, graph) = store.open(Some(Retention::All), 77);
        assert_eq!(forget(&graph).expect("deleted"), 3);
    }

    #[test]
    fn a_look_that_is_stopped_goes_on_where_it_was() {
        let mut store = Store::new();
        let (_graphs, graph) = store.open(Some(Retention::All), 0);
        store.commit(&graph, 4);
        let (mut since, _) = range_of(&graph);
        let newest = graph
            .view(TemporalScope::NOW)
            .and_then(|view| view.last_commit());
        let newest = newest.expect("there are commits");
        let (mut seen, mut looks) = (0, 0);
        while since < newest {
            let next = graph.visit_changes(since, &mut || false, &mut |_| {
                seen += 1;
                Flow::Continue(())
            });
            let next = next.expect("shown").expect("they are kept");
            assert!(next > since, "each look comes further");
            (since, looks) = (next, looks + 1);
        }
        assert_eq!(seen, 4);
        assert!(looks >= 4);
    }
}
