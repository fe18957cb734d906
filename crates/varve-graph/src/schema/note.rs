//! The note that names the changed schema elements until the list of changes has them
//! ([`crate::changes`]). It is stored in the same batch as the change itself.

use varve_kv::Batch;

use super::SchemaKind;
use crate::notes;

/// The name of the note.
pub(crate) const CHANGED_NOTE: &str = "changes.schema";
/// Bytes of a schema element in the note: its kind and its id.
const BYTES: usize = 5;

/// The kind and the id of a changed schema element.
pub(crate) type Changed = (SchemaKind, u32);

/// Adds the note with changed schema elements to a batch. It replaces an earlier note.
pub(super) fn note_changed(batch: &mut Batch, changed: &[Changed]) {
    let mut note = Vec::with_capacity(changed.len() * BYTES);
    for (kind, id) in changed {
        note.push(kind.byte());
        note.extend_from_slice(&id.to_be_bytes());
    }
    notes::put_into(batch, CHANGED_NOTE, &note);
}

/// The changed schema elements that a note names.
pub(crate) fn changed_in(note: &[u8]) -> Vec<Changed> {
    let each = note.chunks_exact(BYTES).filter_map(|entry| {
        let (kind, id) = entry.split_first()?;
        let id = u32::from_be_bytes(id.try_into().ok()?);
        Some((SchemaKind::from_byte(*kind)?, id))
    });
    each.collect()
}
