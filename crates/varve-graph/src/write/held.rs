//! Rows that a transaction has read under its latches, which exclude changes, so that it need not
//! read them twice.

use std::sync::Arc;

use varve_model::ElementId;

use crate::hash::IdMap;

/// The most bytes of rows that one transaction caches; further rows are read again.
const BYTES_MAX: usize = 4 << 20;
/// Approximate bytes of an entry beside its keys and its row.
const ELEMENT_BYTES: usize = 256;

/// The current rows of latched elements; `None` for an element without a row.
#[derive(Default)]
pub(super) struct HeldRows {
    of: IdMap<ElementId, Option<Arc<[u8]>>>,
    bytes: usize,
}

impl HeldRows {
    /// Returns the cached row of an element: unknown (`None`), no row (`Some(None)`), or the row.
    pub(super) fn get(&self, id: &ElementId) -> Option<Option<&Arc<[u8]>>> {
        self.of.get(id).map(Option::as_ref)
    }

    /// Caches the row of an element that was read after it was latched, if there is room. The
    /// element's keys have `key_bytes` bytes.
    pub(super) fn keep(&mut self, id: &ElementId, key_bytes: usize, row: Option<&Arc<[u8]>>) {
        let bytes = ELEMENT_BYTES + key_bytes + row.map_or(0, |row| row.len());
        if bytes <= BYTES_MAX - self.bytes && self.of.insert(id.clone(), row.cloned()).is_none() {
            self.bytes += bytes;
        }
    }

    /// As [`HeldRows::keep`], for a borrowed row. It is copied only if there is room and the
    /// element is not cached yet.
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
