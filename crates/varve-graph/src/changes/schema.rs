//! Changes of the schema in the list of changes.
//!
//! A change of the schema is not a commit. The batch that stores it writes a note with what it
//! changes; before the change becomes visible, a commit lists that and removes the note. So a
//! follower sees a label before its elements. After a crash in between, the graph lists the change
//! when it is opened.

use std::sync::Arc;

use varve_kv::Batch;

use crate::deadline;
use crate::error::GraphError;
use crate::graph::Graph;
use crate::notes;
use crate::schema::SchemaKind;
use crate::write::commit_unlatched;

/// The name of the note.
const NOTE: &str = "changes.schema";
/// Bytes of an element in the note: its kind and its id.
const BYTES: usize = 5;

/// An element of the schema.
type Changed = (SchemaKind, u32);

/// Adds a note with changed elements to a batch.
pub(crate) fn note_schema(batch: &mut Batch, changed: &[Changed]) {
    let mut note = Vec::with_capacity(changed.len() * BYTES);
    for (kind, id) in changed {
        note.push(kind.byte());
        note.extend_from_slice(&id.to_be_bytes());
    }
    notes::put_into(batch, NOTE, &note);
}

fn read_note(note: &[u8]) -> Vec<Changed> {
    let each = note.chunks_exact(BYTES).filter_map(|entry| {
        let (kind, id) = entry.split_first()?;
        let id = u32::from_be_bytes(id.try_into().ok()?);
        Some((SchemaKind::from_byte(*kind)?, id))
    });
    each.collect()
}

/// Where the graph keeps changes: lists those that a crash left, and all further ones as the
/// catalogue makes them.
///
/// # Errors
/// When the store fails.
pub(crate) fn list_schema(graph: &Arc<Graph>) -> Result<(), GraphError> {
    if !graph.keeps_changes() {
        return Ok(());
    }
    if let Some(note) = graph.notes().get(NOTE)? {
        list(graph, &read_note(&note))?;
    }
    let graph_of = Arc::downgrade(graph);
    graph.catalogue().list_by(Box::new(move |changed| {
        let graph = graph_of.upgrade();
        graph.is_some_and(|graph| list(&graph, changed).is_ok())
    }));
    Ok(())
}

/// Lists changes of the schema, and removes the note of them.
fn list(graph: &Arc<Graph>, changed: &[Changed]) -> Result<(), GraphError> {
    let ticket = commit_unlatched(graph, |emitter| {
        for (kind, id) in changed {
            emitter.touch_schema(kind.byte(), *id);
        }
        notes::remove_by(&mut emitter.batch, NOTE);
        Ok(())
    })?;
    // Waits past the request's deadline: whether it is listed must be known.
    deadline::without_end(|| ticket.wait())?;
    Ok(())
}
