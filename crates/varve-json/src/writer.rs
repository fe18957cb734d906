//! Writes JSON into a byte buffer. Long JSON that exists already is shared instead of copied.

use bytes::Bytes;

use crate::{Pieces, write_string};

/// The most bytes that are reserved at once, unless the buffer has more already.
const EXPECTED_BYTES_MAX: usize = 1 << 20;
/// From this length in bytes on, existing JSON is shared instead of copied. A piece of its own
/// costs about as much, until it is sent, as copying this many bytes.
const HANDED_OVER_MIN: usize = 1024;

/// A buffer that JSON is written into. It puts the commas; the caller keeps the nesting right
/// (checked in debug builds).
#[derive(Debug)]
pub struct Writer {
    /// The JSON that was written or copied.
    buffer: Vec<u8>,
    /// The shared pieces, each with its position in the buffer.
    handed_over: Vec<(usize, Bytes)>,
    /// The length of the shared pieces in bytes.
    handed_over_bytes: usize,
    /// Whether a comma is due before the next key or value.
    comma: bool,
    depth: usize,
    /// The most bytes that the writer accepts.
    most: usize,
    is_over: bool,
}

impl Default for Writer {
    fn default() -> Self {
        Self::within(usize::MAX)
    }
}

impl Writer {
    /// An empty buffer.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty buffer with a capacity of `bytes`.
    #[must_use]
    pub fn with_capacity(bytes: usize) -> Self {
        Self {
            buffer: Vec::with_capacity(bytes),
            ..Self::default()
        }
    }

    /// An empty buffer for at most `most` bytes. Once there are more, further objects, lists and
    /// ready-made JSON are left out.
    #[must_use]
    pub fn within(most: usize) -> Self {
        Self {
            buffer: Vec::new(),
            handed_over: Vec::new(),
            handed_over_bytes: 0,
            comma: false,
            depth: 0,
            most,
            is_over: false,
        }
    }

    /// The finished bytes.
    #[must_use]
    pub fn finish(self) -> Vec<u8> {
        if self.handed_over.is_empty() {
            debug_assert_eq!(self.depth, 0, "every object and list is closed");
            return self.buffer;
        }
        self.finish_in_pieces().joined()
    }

    /// The finished JSON, in which shared pieces stay shared.
    #[must_use]
    pub fn finish_in_pieces(self) -> Pieces {
        debug_assert_eq!(self.depth, 0, "every object and list is closed");
        let mut pieces = Pieces::with_capacity(2 * self.handed_over.len() + 1);
        let copied = Bytes::from(self.buffer);
        let mut from = 0;
        for (to, handed_over) in self.handed_over {
            pieces.push(copied.slice(from..to));
            pieces.push(handed_over);
            from = to;
        }
        pieces.push(copied.slice(from..));
        pieces
    }

    /// [`Writer::finish_in_pieces`] without spare capacity.
    #[must_use]
    pub fn finish_to_keep(mut self) -> Pieces {
        self.buffer.shrink_to_fit();
        self.finish_in_pieces()
    }

    /// Whether more bytes were written than the writer accepts, so that its JSON is incomplete.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.is_over || self.len() > self.most
    }

    /// Returns what `write` writes, as a separate text. `None` if it does not fit into this writer,
    /// which then is over, too.
    pub fn apart(&mut self, write: impl FnOnce(&mut Self)) -> Option<Pieces> {
        let mut apart = Self::within(self.most.saturating_sub(self.len()));
        write(&mut apart);
        if apart.is_over() {
            self.is_over = true;
            return None;
        }
        Some(apart.finish_in_pieces())
    }

    /// The number of bytes written.
    pub(crate) fn len(&self) -> usize {
        self.buffer.len() + self.handed_over_bytes
    }

    /// Reserves space for `bytes` that are expected to follow. The reservation is bounded, since
    /// they may not follow.
    pub(crate) fn expect(&mut self, bytes: usize) {
        let room = self.most.saturating_sub(self.len());
        let bearable = EXPECTED_BYTES_MAX.max(self.buffer.len());
        self.buffer.reserve(bytes.min(room).min(bearable));
    }

    fn separate(&mut self) {
        if self.comma {
            self.buffer.push(b',');
        }
        self.comma = true;
    }

    /// Writes an object, whose properties `members` writes.
    pub fn object(&mut self, members: impl FnOnce(&mut Self)) {
        self.nest(b'{', b'}', members);
    }

    /// Writes a list, whose elements `elements` writes.
    pub fn list(&mut self, elements: impl FnOnce(&mut Self)) {
        self.nest(b'[', b']', elements);
    }

    fn nest(&mut self, open: u8, close: u8, inside: impl FnOnce(&mut Self)) {
        if self.is_over() {
            self.is_over = true;
            return;
        }
        self.separate();
        self.buffer.push(open);
        self.comma = false;
        self.depth += 1;
        inside(self);
        self.depth -= 1;
        self.buffer.push(close);
        self.comma = true;
    }

    /// Writes the property `class`, which is the first of every polymorphic object.
    pub fn class(&mut self, class: &str) {
        self.known_key("\"class\":");
        self.string(class);
    }

    /// Writes the name of a property; its value must follow.
    pub fn key(&mut self, key: &str) {
        self.string(key);
        self.buffer.push(b':');
        self.comma = false;
    }

    /// Writes the name of a property, given in quotes and with the colon; it must need no escapes.
    /// Its value must follow.
    pub fn known_key(&mut self, key: &'static str) {
        self.separate();
        self.buffer.extend_from_slice(key.as_bytes());
        self.comma = false;
    }

    /// Writes a property whose value is an object. `start` is its JSON up to the value of the last
    /// member, which `last` writes.
    pub fn known_start(&mut self, start: &str, last: impl FnOnce(&mut Self)) {
        self.separate();
        self.buffer.extend_from_slice(start.as_bytes());
        self.comma = false;
        last(self);
        self.buffer.push(b'}');
        self.comma = true;
    }

    /// Writes a string, escaped as needed.
    pub fn string(&mut self, text: &str) {
        self.separate();
        write_string(text, &mut self.buffer);
    }

    /// Writes a whole number.
    pub fn integer(&mut self, value: i64) {
        self.separate();
        let mut digits = itoa::Buffer::new();
        self.buffer
            .extend_from_slice(digits.format(value).as_bytes());
    }

    /// Writes `true` or `false`.
    pub fn boolean(&mut self, value: bool) {
        self.raw(if value { "true" } else { "false" });
    }

    /// Writes a value that is JSON already.
    pub fn raw(&mut self, json: &str) {
        self.separate();
        // Text that does not fit is not copied.
        if json.len() > self.most.saturating_sub(self.len()) {
            self.is_over = true;
            return;
        }
        self.buffer.extend_from_slice(json.as_bytes());
    }

    /// Writes a value, or members of an object, that are JSON already and that several documents
    /// may share.
    pub fn pieces(&mut self, json: &Pieces) {
        self.separate();
        if json.len() > self.most.saturating_sub(self.len()) {
            self.is_over = true;
            return;
        }
        for piece in json.iter() {
            if piece.len() < HANDED_OVER_MIN {
                self.buffer.extend_from_slice(piece);
            } else {
                self.handed_over_bytes += piece.len();
                self.handed_over.push((self.buffer.len(), piece.clone()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Writer)) -> String {
        let mut writer = Writer::new();
        write(&mut writer);
        String::from_utf8(writer.finish()).unwrap()
    }

    #[test]
    fn a_wrong_guess_costs_little() {
        let mut writer = Writer::new();
        writer.expect(1 << 32);
        assert!(writer.buffer.capacity() <= 2 * EXPECTED_BYTES_MAX);
        writer.string(&"x".repeat(2 * EXPECTED_BYTES_MAX));
        writer.expect(1 << 32);
        assert!(writer.buffer.capacity() <= 8 * EXPECTED_BYTES_MAX);
    }

    #[test]
    fn numbers_are_written_whole() {
        for number in [0, 1, -1, 42, i64::MIN, i64::MAX] {
            assert_eq!(written(|writer| writer.integer(number)), number.to_string());
        }
    }

    #[test]
    fn what_is_handed_over_stands_where_it_would_be_copied() {
        for length in [0, 1, HANDED_OVER_MIN - 3, HANDED_OVER_MIN, 5_000] {
            let long = format!("\"{}\"", "é".repeat(length / 2));
            let known = Pieces::from(Bytes::from(long.clone()));
            let write = |writer: &mut Writer, value: &dyn Fn(&mut Writer)| {
                writer.list(|writer| {
                    value(writer);
                    writer.integer(1);
                    value(writer);
                    value(writer);
                });
            };
            let mut copied = Writer::new();
            write(&mut copied, &|writer| writer.raw(&long));
            let copied = copied.finish();
            let handed_over = |most: usize| {
                let mut writer = Writer::within(most);
                write(&mut writer, &|writer| writer.pieces(&known));
                (writer.is_over(), writer.finish_in_pieces())
            };
            let (is_over, pieces) = handed_over(copied.len());
            assert!(!is_over);
            assert_eq!(pieces.len(), copied.len());
            assert_eq!(pieces.joined(), copied);
            let is_apart = long.len() >= HANDED_OVER_MIN;
            assert_eq!(pieces.iter().count(), if is_apart { 7 } else { 1 });
            // The pieces of one document as a value of another.
            let mut outer = Writer::new();
            outer.list(|writer| writer.pieces(&pieces));
            assert_eq!(outer.finish(), [b"[", &*copied, b"]"].concat());
            assert!(handed_over(copied.len() - 1).0);
            assert!(Pieces::default().is(b"") && pieces.is(&copied) && !pieces.is(b"[]"));
        }
    }

    #[test]
    fn one_that_is_over_says_so_and_takes_no_more() {
        let element = |writer: &mut Writer| {
            writer.object(|writer| {
                writer.key("text");
                writer.string("0123456789");
            });
        };
        let list = |most: usize, elements: usize| {
            let mut writer = Writer::within(most);
            writer.list(|writer| (0..elements).for_each(|_| element(writer)));
            (writer.is_over(), writer.finish().len())
        };
        let (is_over, whole) = list(usize::MAX, 10);
        assert!(!is_over);
        assert_eq!(list(whole, 10), (false, whole));
        assert!(list(whole - 1, 10).0);
        let (is_over, length) = list(whole, 1_000_000);
        assert!(is_over && length <= 2 * whole);
    }
}
