//! The rows in which a commit names the elements that it touches.

use varve_encoding::change::{self, Touched};
use varve_encoding::tables::CHANGE;
use varve_kv::Batch;
use varve_model::CommitVersion;

use crate::commit::Stamps;

/// The approximate limit for one piece of a commit's list, in bytes.
const PIECE_BYTES_MAX: usize = 64 * 1024;

/// The elements that a commit touches, encoded for its rows.
#[derive(Debug)]
pub(crate) struct Touches {
    /// Each begins with one byte: the number of versions, less one.
    pieces: Vec<Vec<u8>>,
    /// The position of the last element in the last piece.
    last: usize,
}

impl Touches {
    pub(crate) fn new() -> Self {
        Self {
            pieces: vec![vec![0]],
            last: 1,
        }
    }

    /// Adds an element, unless it was the last one added.
    pub(crate) fn add(&mut self, touched: &Touched<'_>) {
        let Some(piece) = self.pieces.last_mut() else {
            return;
        };
        let start = piece.len();
        touched.put(piece);
        if start > self.last && piece[start..] == piece[self.last..start] {
            piece.truncate(start);
        } else if start > PIECE_BYTES_MAX {
            let mut next = vec![0];
            next.extend_from_slice(&piece[start..]);
            piece.truncate(start);
            self.pieces.push(next);
            self.last = 1;
        } else {
            self.last = start;
        }
    }

    /// Puts the rows, whose keys lack the commit's version.
    pub(crate) fn write(self, batch: &mut Batch, stamps: &mut Stamps) {
        let versions = u8::try_from(stamps.versions() - 1).unwrap_or(u8::MAX);
        for (number, mut piece) in self.pieces.into_iter().enumerate() {
            if piece.len() == 1 {
                continue;
            }
            piece[0] = versions;
            let number = u16::try_from(number).unwrap_or(u16::MAX);
            let clustering = change::clustering(CommitVersion::ZERO, number);
            let partition = [0; change::PARTITION_BYTES];
            let at = batch.put(CHANGE, &partition, &clustering, &piece);
            stamps.change(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use varve_encoding::change::Keys;
    use varve_encoding::key;
    use varve_model::VertexId;

    use super::*;

    #[test]
    fn elements_that_come_twice_are_stored_once_wherever_a_piece_ends() {
        let keys: Vec<Vec<u8>> = (0..20_000)
            .map(|number| key::vertex_id(&VertexId::Number(number)))
            .collect();
        let mut touches = Touches::new();
        for partition in keys.iter().flat_map(|key| [key, key]) {
            touches.add(&Touched::Element(Keys {
                partition,
                clustering: key::VERTEX_CLUSTERING,
            }));
        }
        let mut stored = Vec::new();
        for piece in &touches.pieces {
            let took = change::visit(piece, &mut |each| match each {
                Touched::Element(keys) => stored.push(keys.partition.to_vec()),
                other => panic!("{other:?}"),
            });
            took.expect("a piece");
        }
        assert!(touches.pieces.len() > 1);
        assert_eq!(stored, keys);
    }
}
