//! JSON text as a sequence of pieces, so that a long value that occurs in many documents is in
//! memory once.

use bytes::Bytes;

/// A UTF-8 text in pieces. A clone shares their bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pieces {
    pieces: Vec<Bytes>,
    length: usize,
}

impl Pieces {
    pub(crate) fn with_capacity(pieces: usize) -> Self {
        Self {
            pieces: Vec::with_capacity(pieces),
            length: 0,
        }
    }

    /// Adds a piece; one without bytes is left out.
    pub(crate) fn push(&mut self, piece: Bytes) {
        if !piece.is_empty() {
            self.length += piece.len();
            self.pieces.push(piece);
        }
    }

    /// The length of the text in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether the text is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The pieces in order.
    pub fn iter(&self) -> impl Iterator<Item = &Bytes> {
        self.pieces.iter()
    }

    /// Whether the text equals this one.
    #[must_use]
    pub fn is(&self, text: &[u8]) -> bool {
        match &self.pieces[..] {
            [only] => &**only == text,
            _ => self.length == text.len() && self.joined() == text,
        }
    }

    /// The text in one buffer.
    #[must_use]
    pub fn joined(&self) -> Vec<u8> {
        let mut joined = Vec::with_capacity(self.length);
        self.pieces
            .iter()
            .for_each(|piece| joined.extend_from_slice(piece));
        joined
    }
}

impl From<Bytes> for Pieces {
    fn from(piece: Bytes) -> Self {
        let mut pieces = Self::with_capacity(1);
        pieces.push(piece);
        pieces
    }
}

impl From<Pieces> for Vec<Bytes> {
    fn from(pieces: Pieces) -> Self {
        pieces.pieces
    }
}
