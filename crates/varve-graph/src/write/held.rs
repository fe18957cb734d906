//! Rows that a transaction has read and keeps as they are by its latches, so that nothing is read
//! twice.

use std::sync::Arc;

use varve_model::ElementId;

use crate::hash::IdMap;

/// The most bytes of rows that one transaction keeps. What has no room is read again.
const BYTES_MAX: usize = 4 << 20;
/// What an element takes beside its keys and its row, about.
const ELEMENT_BYTES: usize = 256;

/// The current rows of latched elements; none for those that have no row.
#[derive(Default)]
pub(super) struct HeldRows {
    of: IdMap<ElementId, Option<Arc<[u8]>>>,
    bytes: usize,
}

impl HeldRows {
    /// What is known of an element's row: nothing, that there is none, or the row.
    pub(super) fn get(&self, id: &ElementId) -> Option<Option<&Arc<[u8]>>> {
        self.of.get(id).map(Option::as_ref)
    }

    /// Keeps the row of an element, whose keys have so many bytes, that was read after it was
    /// latched, if there is room.
    pub(super) fn keep(&mut self, id: &ElementId, key_bytes: usize, row: Option<&Arc<[u8]>>) {
        let bytes = ELEMENT_BYTES + key_bytes + row.map_or(0, |row| row.len());
        if bytes <= BYTES_MAX - self.bytes && self.of.insert(id.clone(), row.cloned()).is_none() {
            self.bytes += bytes;
        }
    }

    /// [`HeldRows::keep`] of a row at hand, which is copied if there is room, and none of the
    /// element's yet.
    pub(super) fn keep_copy(&mut self, id: &ElementId, key_bytes: usize, row: &[u8]) {
        let bytes = ELEMENT_BYTES + key_bytes + row.len();
        if bytes <= BYTES_MAX - self.bytes && !self.of.contains_key(id) {
            self.keep(id, key_bytes, Some(&Arc::from(row)));
        }
    }
}

#[cfg(test)]
mod tests {
    use varve_model::VertexId;

    use super::*;

    #[test]
    fn rows_are_kept_as_long_as_there_is_room() {
        let id = |number: i64| ElementId::Vertex(VertexId::Number(number));
        let mut rows = HeldRows::default();
        let half: Arc<[u8]> = vec![1; BYTES_MAX / 2].into();
        rows.keep(&id(1), 10, Some(&half));
        rows.keep(&id(2), 10, Some(&half));
        rows.keep(&id(3), 10, None);
        assert_eq!(rows.get(&id(1)), Some(Some(&half)));
        assert_eq!(rows.get(&id(2)), None);
        assert_eq!(rows.get(&id(3)), Some(None));
        rows.keep(&id(1), 10, Some(&half));
        for number in 4..100_000 {
            rows.keep(&id(number), 10, None);
        }
        assert!(rows.bytes <= BYTES_MAX);
    }
}
