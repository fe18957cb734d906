//! Sorted rows that are cheap to copy: the structure behind a table of the in-memory engine.
//!
//! Rows are in sorted chunks behind shared pointers. A clone shares every chunk; a change to a
//! clone copies only the list of chunks and the changed chunk. So a snapshot costs nothing, and a
//! writer changes everything in place while there is no snapshot. Suited to some millions of rows;
//! beyond that the list of chunks itself is long.

use std::sync::Arc;

/// A chunk is split in two when it has grown to this many rows.
const CHUNK_MAX: usize = 256;

#[derive(Debug, Clone)]
struct Row {
    key: Arc<[u8]>,
    value: Arc<[u8]>,
}

/// Rows in ascending order of their keys. No chunk is ever empty.
#[derive(Debug, Clone, Default)]
pub(super) struct Rows {
    chunks: Arc<Vec<Arc<Vec<Row>>>>,
}

impl Rows {
    pub(super) fn get(&self, key: &[u8]) -> Option<&[u8]> {
        let chunk = self.chunks.get(self.chunk_of(key))?;
        let at = chunk.binary_search_by(|row| row.key[..].cmp(key)).ok()?;
        Some(&chunk[at].value)
    }

    pub(super) fn len(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.len()).sum()
    }

    pub(super) fn put(&mut self, key: &[u8], value: &[u8]) {
        let at = self.chunk_of(key);
        let chunks = Arc::make_mut(&mut self.chunks);
        if chunks.is_empty() {
            chunks.push(Arc::default());
        }
        let chunk = Arc::make_mut(&mut chunks[at]);
        match chunk.binary_search_by(|row| row.key[..].cmp(key)) {
            Ok(found) => chunk[found].value = value.into(),
            Err(place) => {
                let row = Row {
                    key: key.into(),
                    value: value.into(),
                };
                chunk.insert(place, row);
                if chunk.len() == CHUNK_MAX {
                    // Rows that arrive in ascending order leave full chunks behind.
                    let keep = if place + 1 == CHUNK_MAX {
                        CHUNK_MAX - 1
                    } else {
                        CHUNK_MAX / 2
                    };
                    let upper = chunk.split_off(keep);
                    chunks.insert(at + 1, Arc::new(upper));
                }
            }
        }
    }

    pub(super) fn delete(&mut self, key: &[u8]) {
        if self.get(key).is_none() {
            return;
        }
        let at = self.chunk_of(key);
        let chunks = Arc::make_mut(&mut self.chunks);
        let chunk = Arc::make_mut(&mut chunks[at]);
        if let Ok(found) = chunk.binary_search_by(|row| row.key[..].cmp(key)) {
            chunk.remove(found);
        }
        if chunk.is_empty() {
            chunks.remove(at);
        }
    }

    /// The rows with `from <= key`, and `key < to` if there is a `to`.
    pub(super) fn range<'a>(&'a self, from: &[u8], to: Option<&[u8]>) -> Range<'a> {
        let front = self.position(from);
        let back = match to {
            Some(to) => self.position(to).max(front),
            None => (self.chunks.len(), 0),
        };
        Range {
            chunks: &self.chunks,
            front,
            back,
        }
    }

    /// Returns the index of the chunk that contains `key` or would contain it; 0 if there are none.
    fn chunk_of(&self, key: &[u8]) -> usize {
        self.chunks
            .partition_point(|chunk| &chunk[0].key[..] <= key)
            .saturating_sub(1)
    }

    /// Returns the position of the first row with a key of at least `key`, as (chunk, index in it);
    /// `(number of chunks, 0)` past the end.
    fn position(&self, key: &[u8]) -> (usize, usize) {
        let at = self.chunk_of(key);
        let Some(chunk) = self.chunks.get(at) else {
            return (0, 0);
        };
        let place = chunk.partition_point(|row| &row.key[..] < key);
        if place == chunk.len() {
            (at + 1, 0)
        } else {
            (at, place)
        }
    }
}

/// Iterator over a range of rows, from both ends.
#[derive(Debug)]
pub(super) struct Range<'a> {
    chunks: &'a [Arc<Vec<Row>>],
    /// The next row from the front.
    front: (usize, usize),
    /// The row after the next row from the back.
    back: (usize, usize),
}

impl<'a> Iterator for Range<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        if self.front >= self.back {
            return None;
        }
        let (chunk, place) = self.front;
        let row = &self.chunks[chunk][place];
        self.front = if place + 1 == self.chunks[chunk].len() {
            (chunk + 1, 0)
        } else {
            (chunk, place + 1)
        };
        Some((&row.key, &row.value))
    }
}

impl DoubleEndedIterator for Range<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        if self.front >= self.back {
            return None;
        }
        let (chunk, place) = self.back;
        self.back = if place == 0 {
            (chunk - 1, self.chunks[chunk - 1].len() - 1)
        } else {
            (chunk, place - 1)
        };
        let row = &self.chunks[self.back.0][self.back.1];
        Some((&row.key, &row.value))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn key(n: u32) -> Vec<u8> {
        n.to_be_bytes().to_vec()
    }

    #[test]
    fn behaves_as_a_sorted_map_and_copies_stay_as_they_were() {
        let mut rows = Rows::default();
        let mut model = BTreeMap::new();
        let mut copies = Vec::new();
        let mut state = 1u32;
        for step in 0..20_000u32 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let n = (state >> 8) % 3_000;
            if step % 3 == 0 {
                rows.delete(&key(n));
                model.remove(&key(n));
            } else {
                rows.put(&key(n), &key(step));
                model.insert(key(n), key(step));
            }
            if step % 4_000 == 0 {
                copies.push((rows.clone(), model.clone()));
            }
        }
        copies.push((rows, model));
        for (rows, model) in &copies {
            for (from, to) in [(0, 3_000), (17, 18), (500, 2_500), (2_999, 0)] {
                let got: Vec<_> = rows.range(&key(from), Some(&key(to))).collect();
                let mut backwards: Vec<_> = rows.range(&key(from), Some(&key(to))).rev().collect();
                backwards.reverse();
                let expected: Vec<_> = model
                    .iter()
                    .filter(|(k, _)| **k >= key(from) && **k < key(to))
                    .map(|(k, v)| (&k[..], &v[..]))
                    .collect();
                assert_eq!(got, expected);
                assert_eq!(backwards, expected);
            }
            assert!(rows.range(&[], None).count() == model.len());
            for n in 0..3_000 {
                assert_eq!(rows.get(&key(n)), model.get(&key(n)).map(|v| &v[..]));
            }
        }
    }

    #[test]
    fn both_ends_meet() {
        let mut rows = Rows::default();
        for n in 0..1_000 {
            rows.put(&key(n), &[]);
        }
        let mut range = rows.range(&[], None);
        let mut seen = 0;
        while range.next().is_some() {
            seen += 1;
            seen += usize::from(range.next_back().is_some());
        }
        assert_eq!(seen, 1_000);
    }
}
