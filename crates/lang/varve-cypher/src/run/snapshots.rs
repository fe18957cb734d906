//! The points of valid time that a query reads beside its own.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use varve_model::Instant;

use super::nodes::Nodes;
use crate::error::Outcome;
use crate::value::{Graph, Snapshot};

/// Bytes of a snapshot: a view, and its table of nodes.
const SNAPSHOT_BYTES: usize = 1024;
/// The most snapshots that are kept for later rows; then all are forgotten. Elements keep theirs.
const SNAPSHOTS_MAX: usize = 64;

/// A snapshot of the running query, and the nodes that were met in it.
pub(crate) struct OpenSnapshot {
    pub(super) snapshot: Arc<Snapshot>,
    pub(super) nodes: Nodes,
}

/// The snapshots of a query, by their points of valid time: elements of the same point are the
/// same.
#[derive(Default)]
pub(crate) struct Snapshots {
    open: RefCell<BTreeMap<Instant, Rc<OpenSnapshot>>>,
    /// Bytes that are held for those that were forgotten.
    forgotten: Cell<usize>,
}

impl Snapshots {
    /// The snapshot of the graph at a point.
    ///
    /// # Errors
    /// When the view has no other points, or the query needs too much memory.
    pub(super) fn at(&self, graph: &Graph<'_>, at: Instant) -> Outcome<Rc<OpenSnapshot>> {
        if let Some(open) = self.open.borrow().get(&at) {
            return Ok(Rc::clone(open));
        }
        graph.meter.hold(SNAPSHOT_BYTES)?;
        let open = Rc::new(OpenSnapshot {
            snapshot: Arc::new(Snapshot {
                view: graph.view.at_valid(at)?,
            }),
            nodes: Nodes::default(),
        });
        let mut all = self.open.borrow_mut();
        if all.len() >= SNAPSHOTS_MAX {
            // The views live as long as elements that were found in them.
            let views = self.forgotten.get() + SNAPSHOT_BYTES * all.len();
            self.forgotten.set(views);
            graph
                .meter
                .release(all.values().map(|one| one.nodes.bytes()).sum());
            all.clear();
        }
        all.insert(at, Rc::clone(&open));
        drop(all);
        Ok(open)
    }

    /// The bytes that are held for the snapshots and their nodes.
    pub(super) fn bytes(&self) -> usize {
        let open = self.open.borrow();
        let nodes = open.values().map(|open| open.nodes.bytes());
        nodes.sum::<usize>() + SNAPSHOT_BYTES * open.len() + self.forgotten.get()
    }
}
