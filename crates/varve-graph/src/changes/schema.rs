//! Schema changes in the list of changes.
//!
//! A schema change is not a commit. The batch that stores it also writes a note that names the
//! changed schema elements. Before the change becomes visible, a commit lists them and removes the
//! note, so a follower sees a label before its elements. If the process crashes before this commit,
//! the graph lists the change when it is opened again. If the commit fails, the change becomes
//! visible all the same, and the next schema change lists it too.

use std::sync::Arc;

use crate::deadline;
use crate::error::GraphError;
use crate::graph::Graph;
use crate::notes;
use crate::schema::{CHANGED_NOTE, Changed, changed_in};
use crate::write::commit_unlatched;

/// Lists the schema changes that are still in the note, and makes the catalogue list all later
/// ones. Does nothing if the graph keeps no list of changes.
///
/// # Errors
/// When the store fails.
pub(crate) fn list_schema(graph: &Arc<Graph>) -> Result<(), GraphError> {
    if !graph.keeps_changes() {
        return Ok(());
    }
    if let Some(note) = graph.notes().get(CHANGED_NOTE)? {
        list(graph, &changed_in(&note))?;
    }
    let graph_of = Arc::downgrade(graph);
    graph.catalogue().list_by(Box::new(move |changed| {
        let graph = graph_of.upgrade();
        graph.is_some_and(|graph| list(&graph, changed).is_ok())
    }));
    Ok(())
}

/// Lists schema changes in a commit that also removes the note. Returns when the commit is stored.
fn list(graph: &Arc<Graph>, changed: &[Changed]) -> Result<(), GraphError> {
    let ticket = commit_unlatched(graph, |emitter| {
        for (kind, id) in changed {
            emitter.touch_schema(kind.byte(), *id);
        }
        notes::remove_by(&mut emitter.batch, CHANGED_NOTE);
        Ok(())
    })?;
    // Without a deadline, since the caller must know whether the change is listed.
    deadline::without_end(|| ticket.wait())?;
    Ok(())
}
